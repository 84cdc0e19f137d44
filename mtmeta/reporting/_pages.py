"""The report as one page of HTML, without scripts or anything from the network, or as Markdown: numbers and tables."""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from .._escapes import Markup, fill, markdown, visible
from ._claims import VERDICTS, by_verdict
from ._facts import PAGE, UP_TO, Figure, Findings, Section

if TYPE_CHECKING:
    from ._report import Report

_MARKS = dict(zip(VERDICTS, ("✓", "≈", "✗", "?"), strict=True))


def number(value: float | None) -> str:
    """Return a number with three decimals, large and whole ones shorter; a dash where there is none."""
    if value is None or math.isnan(value):
        return "–"
    if abs(value) >= 1e15:
        return f"{value:.3g}"
    if abs(value) >= 1000 or (value == int(value) and abs(value) >= 2):
        return f"{value:,.0f}"
    return f"{value:.1g}" if 1e-12 <= abs(value) < 0.001 else f"{value:z.3f}"


def _span(row: dict) -> str:
    """Return the interval of a row in words; a dash where there is none."""
    return "–" if math.isnan(row["low"] + row["high"]) else f"{number(row['low'])} to {number(row['high'])}"


def sample(n: int | None, unit: str) -> str:
    """Return a sample size with what it counts."""
    return "" if n is None else f"{n:,} {unit}".strip()


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
    if section.key in ("rank", "baselines"):
        return [_wide(section, metric)] if section.rows else []
    own = [row for row in section.rows if not row["subject"]]
    heads = ["statistic", "value", f"{percent(level)} interval", "n", "note"]
    cells = [[r["quantity"], number(r["value"]), _span(r), sample(r["n"], r["unit"]), r["note"]] for r in own]
    if section.key == "data":
        heads, cells = ["what", "count", "of", "note"], [[what, n, of, note] for what, n, _, of, note in cells]
    found = [Table(section.words["caption"], heads, cells)] if own else []
    if systems := list(dict.fromkeys(row["subject"] for row in section.rows if row["subject"])):
        caption = section.words["by_system"].format(level=1 - (1 - level) / len(systems))
        none = {"value": None, "low": math.nan, "high": math.nan, "note": ""}
        cells = []
        for system in systems:
            plain, centred = (section.row(key, system) or none for key in ("expected", "deviation"))
            numbers = number(plain["value"]), _span(plain), number(centred["value"]), _span(centred)
            cells.append([system, *numbers, centred["note"]])
        heads = ["system", "deviation", "interval", "less difficulty", "interval", "verdict"]
        found.append(Table(caption, heads, cells))
    return found


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


# -- HTML --------------------------------------------------------------------------------


def _fill(piece: str, **values: object) -> Markup:
    return fill(PAGE["html"][piece], **values)


def as_html(report: Report) -> str:
    """Return the page."""
    findings, several = report.findings, len(report.findings) > 1
    metrics = list(dict.fromkeys(found.metric for found in findings))
    sets = ", ".join(dict.fromkeys(found.set for found in findings))
    body, tag = ([_summary(findings)], "h3") if several else ([], "h2")
    for k, found in enumerate(findings):
        if several:
            pair = f", {found.language_pair}" if found.language_pair else ""
            body.append(_fill("part", key=f"p{k}", metric=found.metric, set=found.set, pair=pair))
        body.append(_fill("claims", tag=tag, items=[_claim(claim) for claim in by_verdict(found.claims)]))
        links = [_fill("link", key=f"p{k}-{name}", text=one.words["title"]) for name, one in found.sections.items()]
        body.append(_fill("contents", links=[_fill("entry", link=link) for link in links]))
        for name, section in found.sections.items():
            shown = map(_table, tables(section, found.metric, report.level))
            body.append(_section(section, shown, tag, f"p{k}-{name}", found.figures.get(name)))
    if len(findings) > UP_TO:
        body.append(_fill("no_figures", n=len(findings)))
    title = f"Metrics on {sets}" if len(metrics) > 1 else f"Is {metrics[0]} any good? A report on {sets}"
    style = Markup(Path(__file__).with_name("_page.css").read_text(encoding="utf-8").strip())
    about = {name: getattr(report, name) for name in ("version", "seed", "signature")} | PAGE["page"]
    return _fill("page", title=title, style=style, level=percent(report.level), body=body, **about)


def _summary(findings: Sequence[Findings]) -> Markup:
    names = (f"{found.set}: {found.metric}" for found in findings)
    heads = ["claim", *(_fill("link", key=f"p{k}", text=name) for k, name in enumerate(names))]
    claims = zip(*(found.claims for found in findings), strict=True)
    rows = [[row[0]["claim"], *map(_glance, row)] for row in claims]
    return _fill("several", table=_table(Table("Verdict on each claim", heads, rows)))


def _glance(claim: dict) -> str:
    """Return a verdict with its number."""
    value = "" if math.isnan(claim["value"]) else f": {number(claim['value'])}"
    return f"{_MARKS[claim['verdict']]} {claim['verdict']}{value}"


def _claim(claim: dict) -> Markup:
    verdict, reason, numbers = claim["verdict"], claim["reason"], ""
    if not math.isnan(claim["value"]):
        span = "" if math.isnan(claim["low"]) else f" ({_span(claim)})"
        n = sample(claim["n"], claim["unit"])
        numbers = f"{claim['statistic']}: {number(claim['value'])}{span}" + (f", n = {n}" if n else "") + ". "
    words = {"numbers": numbers if numbers.startswith("acc_") else numbers[:1].upper() + numbers[1:]}
    words |= {"reason": reason[:1].upper() + reason[1:], "verdict": verdict.capitalize(), "mark": _MARKS[verdict]}
    return _fill("claim", **claim | words, kind=verdict.replace(" ", "-"))


def _section(section: Section, shown: Iterable[Markup], tag: str, key: str, figure: Figure | None) -> Markup:
    body = [*(_fill("text", text=text) for text in section.sentences), *shown]
    if figure is not None:
        image = base64.b64encode(figure.png).decode()
        body.append(_fill("figure", alt=figure.alt, image=image, caption=figure.caption))
    if section.skipped:
        body.append(_fill("skipped", items=[_fill("reason", **row) for row in section.skipped]))
    title, chapter = section.words["title"], section.words["chapter"]
    return _fill("section", tag=tag, key=key, body=body, title=title, chapter=chapter)


def _table(table: Table) -> Markup:
    rows = []
    for k, (first, *rest) in enumerate(table.rows):
        cells = [_fill("cell", kind=_kind(cell), text=cell) for cell in rest]
        rows.append(_fill("row", mine=Markup(' class="mine"' if k == table.mine else ""), first=first, cells=cells))
    return _fill("table", caption=table.caption, head=[_fill("heading", text=h) for h in table.headings], rows=rows)


def _kind(cell: str) -> Markup:
    """Return the class that keeps numbers on one line and gives sentences room."""
    if cell and re.fullmatch(r"[–-]?[\d,.]*(e-\d+)?", cell):
        return Markup(' class="number"')
    if len(cell) < 26 and (cell[:1].isdigit() or cell[:1] == "-"):
        return Markup(' class="short"')
    return Markup(' class="text"' if len(cell) > 30 else "")


def _safe(text: object) -> str:
    return markdown(visible(text))


def _markdown_table(headings: list[str], rows: list[list[str]]) -> str:
    lines = [map(_safe, headings), ["---"] * len(headings), *(map(_safe, row) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def as_markdown(report: Report) -> str:
    """Return the whole report."""
    out = ["# Is this metric any good?"]
    for found in report.findings:
        out += [f"## {_safe(found.metric)} on {_safe(found.set)}", "### What to claim, and what not to"]
        rows = []
        for c in by_verdict(found.claims):
            value = "" if math.isnan(c["value"]) else f"{c['statistic']}: {number(c['value'])}"
            n = sample(c["n"], c["unit"])
            rows.append([c["verdict"], c["claim"], value, _span(c), n, c["reason"], c["chapter"]])
        interval = f"{percent(report.level)} interval"
        out.append(_markdown_table(["verdict", "claim", "number", interval, "n", "why", "chapter"], rows))
        for section in found.sections.values():
            out += [f"### {_safe(section.words['title'])}", *map(_safe, section.sentences)]
            for table in tables(section, found.metric, report.level):
                out += [f"{_safe(table.caption)}:", _markdown_table(table.headings, table.rows)]
            if section.skipped:
                left_out = (f"- {_safe(row['what'])}: {_safe(row['reason'])}" for row in section.skipped)
                out += ["Not computed:", "\n".join(left_out)]
    about = f"mtmeta {_safe(report.version)}, seed {report.seed}. {PAGE['page']['again']}"
    out += ["## How this was computed", about, _safe(report.signature)]
    return "\n\n".join(out) + "\n"
