"""How numbers are shown, and the tables of a section."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ._facts import Section


def number(value: float | None) -> str:
    """Return a number with three decimals, large and whole ones shorter; a dash where there is none."""
    if value is None or math.isnan(value):
        return "–"
    if abs(value) >= 1e15:
        return f"{value:.3g}"
    if (value == int(value) and abs(value) >= 2) or (value == 0 and math.copysign(1, value) < 0):
        return f"{int(value):,}"
    if 0 < abs(value) < 0.001:
        return f"{value:.1g}" if abs(value) >= 1e-12 else "0.000"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:z.3f}"


def between(low: float, high: float) -> str:
    """Return an interval in words; a dash where there is none."""
    return "–" if math.isnan(low) or math.isnan(high) else f"{number(low)} to {number(high)}"


def sample(n: Any, unit: str) -> str:
    """Return a sample size with what it counts."""
    return "" if n is None or n != n else f"{int(n):,} {unit}".strip()


def percent(level: float) -> str:
    """Return the level of an interval."""
    return f"{level:.0%}".replace("%", " %")


@dataclass(frozen=True)
class Table:
    """A table for readers; ``mine`` is the number of the row of the metric itself."""

    caption: str
    headings: list[str]
    rows: list[list[str]]
    mine: int | None = None


def tables(section: Section, metric: str, level: float) -> list[Table]:
    """Return the tables of a section; numbers about other subjects than the metric have their own table."""
    found, caption = [], section.words["caption"]
    if section.key in ("rank", "baselines"):
        return [_wide(section, metric)] if section.rows else []
    others = [row for row in section.rows if row["subject"]]
    own = [
        [r["quantity"], number(r["value"]), between(r["low"], r["high"]), sample(r["n"], r["unit"]), r["note"]]
        for r in section.rows
        if not r["subject"]
    ]
    if section.key == "data":
        own = [[what, count, of, note] for what, count, _, of, note in own]
        found.append(Table(caption, ["what", "count", "of", "note"], own))
    elif own:
        found.append(Table(caption, ["statistic", "value", f"{percent(level)} interval", "n", "note"], own))
    if others:
        systems = list(dict.fromkeys(row["subject"] for row in others))
        caption = (
            "Expected Deviation of each system in human points, as in the figure; then less the difficulty of "
            f"segments, where the level of intervals is {1 - (1 - level) / len(systems):.4g}"
        )
        cells = [[s, *_deviation(section, "expected", s), *_deviation(section, "deviation", s)] for s in systems]
        cells = [[*row, (section.row("deviation", row[0]) or {}).get("note", "")] for row in cells]
        heads = ["system", "deviation", "interval", "less difficulty", "interval", "verdict"]
        found.append(Table(caption, heads, cells))
    return found


def _deviation(section: Section, key: str, system: str) -> list[str]:
    row = section.row(key, system)
    return [number(row["value"]), between(row["low"], row["high"])] if row else ["–", "–"]


def _wide(section: Section, metric: str) -> Table:
    """Return one row a subject; ranks go behind the value."""
    labels = {row["key"]: row["quantity"] for row in section.rows}
    keys = [key for key in labels if not key.endswith("rank")]
    cells = {(row["subject"], row["key"]): row["value"] for row in section.rows}
    subjects = list(dict.fromkeys(row["subject"] for row in section.rows))
    first = {"rank": "metric", "baselines": "metric or baseline"}[section.key]
    if first == "metric":
        subjects.sort(key=lambda s: (cells.get((s, f"{keys[0]}.rank"), math.inf), s))
    mine = subjects.index("" if "" in subjects else metric)  # a baseline may have the name of the metric
    rows = []
    for k, subject in enumerate(subjects):
        rows.append([f"{metric} (this metric)" if k == mine else subject])
        for key in keys:
            rank, best, worst = (cells.get((subject, f"{key}.{what}rank")) for what in ("", "best_", "worst_"))
            allowed = "" if best is None else f"; {best:.0f}–{worst:.0f}"
            rows[-1].append(number(cells.get((subject, key))) + ("" if rank is None else f" ({rank:.0f}{allowed})"))
    exchanged = {sample(row["n"], row["unit"]): 0 for row in section.rows if row["key"].endswith("best_rank")}
    caption = section.words["caption"] + (f"; exchanged: {', '.join(exchanged)}" if exchanged else "")
    return Table(caption, [first, *(labels[key] for key in keys)], rows, mine)
