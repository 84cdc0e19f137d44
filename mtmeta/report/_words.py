"""How numbers and names are written."""

from __future__ import annotations

import math
from typing import Any

from ._common import Part, Section


def number(value: float | None) -> str:
    """Return a number with three decimals, large and whole ones shorter; a dash where there is none."""
    if value is None or math.isnan(value):
        return "–"
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


def visible(text: object) -> str:
    """Return ``text`` on one line, with control characters spelled out."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in str(text))


def tables(section: Section, part: Part) -> list[tuple[str, list[str], list[list[str]]]]:
    """Return the tables of a section: caption, headings, rows.

    Numbers about other subjects than the metric stand in a table of their own, one row a subject.
    """
    listed = section.key in ("rank", "baselines")
    own = [row for row in section.rows if not row["subject"]] if not listed else []
    about = section.rows if listed else [row for row in section.rows if row["subject"]]
    found = []
    level = f"{part.settings.level:.0%} interval".replace("%", " %")
    if own and section.key == "data":
        rows = [[row["quantity"], number(row["value"]), sample(row["n"], row["unit"]), row["note"]] for row in own]
        found.append((section.caption, ["what", "count", "of", "note"], rows))
    elif own:
        rows = [
            [
                row["quantity"],
                number(row["value"]),
                between(row["low"], row["high"]),
                sample(row["n"], row["unit"]),
                row["note"],
            ]
            for row in own
        ]
        found.append((section.caption, ["statistic", "value", level, "n", "note"], rows))
    if about and section.key == "system_dependence":
        rows = [[r["subject"], number(r["value"]), between(r["low"], r["high"]), r["note"]] for r in about]
        share = 1 - (1 - part.settings.level) / len(about)
        caption = (
            f"Deviation of each system in human points, less the difficulty of segments; level of intervals {share:.4g}"
        )
        found.append((caption, ["system", "deviation", "interval", "verdict"], rows))
    elif about:
        found.append(_wide(section, part, about))
    return found


def _wide(section: Section, part: Part, about: list[dict]) -> tuple[str, list[str], list[list[str]]]:
    """Return one row a subject; rank and cluster go behind the value."""
    quantities = list(
        dict.fromkeys(row["quantity"] for row in about if not row["quantity"].endswith((": rank", ": cluster")))
    )
    cells = {(row["subject"], row["quantity"]): row["value"] for row in about}
    subjects = list(dict.fromkeys(row["subject"] for row in about))
    if section.key == "rank":
        subjects.sort(key=lambda s: (cells.get((s, f"{quantities[0]}: rank"), math.inf), s))
    rows = []
    for subject in subjects:
        name = subject or part.metric
        marked = f"{name} (this metric)" if name == part.metric else name
        values = []
        for quantity in quantities:
            text = number(cells.get((subject, quantity)))
            place, group = (cells.get((subject, f"{quantity}: {what}")) for what in ("rank", "cluster"))
            places = [f"{p:.0f}" for p in (place, group) if p is not None]
            text += f" ({', '.join(places)})" if places else ""
            values.append(text)
        rows.append([marked, *values])
    return section.caption, [{"rank": "metric", "baselines": "metric or baseline"}[section.key], *quantities], rows
