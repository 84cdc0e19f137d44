"""The report as one page of HTML, without scripts or anything from the network, or as Markdown."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from .._escapes import Markup, fill, markdown, visible
from ._claims import VERDICTS, by_verdict
from ._display import Table, between, number, percent, sample, tables
from ._facts import AGAIN, HTML, UP_TO, Facts, Figure, Findings, Section

_MARKS = dict(zip(VERDICTS, ("✓", "≈", "✗", "?"), strict=True))


def _fill(piece: str, **values: object) -> Markup:
    return fill(HTML[piece], **values)


def as_html(report: Facts) -> str:
    """Return the page."""
    findings = report.findings
    metrics = list(dict.fromkeys(found.metric for found in findings))
    sets = ", ".join(dict.fromkeys(found.set for found in findings))
    body = [_summary(findings)] if len(findings) > 1 else []
    for k, found in enumerate(findings):
        if len(findings) > 1:
            pair = f", {found.language_pair}" if found.language_pair else ""
            body.append(_fill("part", key=f"p{k}", metric=found.metric, set=found.set, pair=pair))
        tag = "h3" if len(findings) > 1 else "h2"
        body.append(_fill("claims", tag=tag, items=[_claim(claim) for claim in by_verdict(found.claims)]))
        links = [_fill("link", key=f"p{k}-{name}", text=one.words["title"]) for name, one in found.sections.items()]
        body.append(_fill("contents", links=[_fill("entry", link=link) for link in links]))
        for name, section in found.sections.items():
            shown = tables(section, found.metric, report.level)
            body.append(_section(section, shown, tag, f"p{k}-{name}", found.figures.get(name)))
    if len(findings) > UP_TO:
        body.append(_fill("no_figures", n=len(findings)))
    title = f"Metrics on {sets}" if len(metrics) > 1 else f"Is {metrics[0]} any good? A report on {sets}"
    style = Markup(Path(__file__).with_name("_page.css").read_text(encoding="utf-8").strip())
    about = {"version": report.version, "seed": report.seed, "signature": report.signature}
    return _fill("page", title=title, style=style, level=percent(report.level), body=body, again=AGAIN, **about)


def _summary(findings: Sequence[Findings]) -> Markup:
    names = (f"{found.set}: {found.metric}" for found in findings)
    heads = ["claim", *(_fill("link", key=f"p{k}", text=name) for k, name in enumerate(names))]
    rows = [
        [claims[0]["claim"], *map(_glance, claims)]
        for claims in zip(*(found.claims for found in findings), strict=True)
    ]
    return _fill("several", table=_table(Table("Verdict on each claim", heads, rows)))


def _glance(claim: dict) -> str:
    """Return a verdict with its number."""
    value = "" if np.isnan(claim["value"]) else f": {number(claim['value'])}"
    return f"{_MARKS[claim['verdict']]} {claim['verdict']}{value}"


def _claim(claim: dict) -> Markup:
    verdict, reason, numbers = claim["verdict"], claim["reason"], ""
    if not np.isnan(claim["value"]):
        span = "" if np.isnan(claim["low"]) else f" ({between(claim['low'], claim['high'])})"
        n = sample(claim["n"], claim["unit"])
        numbers = f"{claim['statistic']}: {number(claim['value'])}{span}" + (f", n = {n}" if n else "") + ". "
    words = {"numbers": numbers if numbers.startswith("acc_") else numbers[:1].upper() + numbers[1:]}
    words |= {"reason": reason[:1].upper() + reason[1:], "verdict": verdict.capitalize(), "mark": _MARKS[verdict]}
    return _fill("claim", **claim | words, kind=verdict.replace(" ", "-"))


def _section(section: Section, shown: Sequence[Table], tag: str, key: str, figure: Figure | None) -> Markup:
    body = [_fill("text", text=text) for text in section.sentences] + [_table(table) for table in shown]
    if figure is not None:
        image = base64.b64encode(figure.png).decode()
        body.append(_fill("figure", alt=figure.alt, image=image, caption=figure.caption))
    if section.skipped:
        body.append(_fill("skipped", items=[_fill("reason", **row) for row in section.skipped]))
    words = {name: section.words[name] for name in ("title", "chapter")}
    return _fill("section", tag=tag, key=key, body=body, **words)


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
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join(
        "| " + " | ".join(cell if k == 1 else _safe(cell) for cell in line) + " |" for k, line in enumerate(lines)
    )


def as_markdown(report: Facts) -> str:
    """Return the whole report."""
    out = ["# Is this metric any good?"]
    for found in report.findings:
        out.append(f"## {_safe(found.metric)} on {_safe(found.set)}")
        out.append("### What to claim, and what not to")
        rows = []
        for c in by_verdict(found.claims):
            value = "" if np.isnan(c["value"]) else f"{c['statistic']}: {number(c['value'])}"
            size = between(c["low"], c["high"]), sample(c["n"], c["unit"])
            rows.append([c["verdict"], c["claim"], value, *size, c["reason"], c["chapter"]])
        interval = f"{percent(report.level)} interval"
        out.append(_markdown_table(["verdict", "claim", "number", interval, "n", "why", "chapter"], rows))
        for section in found.sections.values():
            out.append(f"### {_safe(section.words['title'])}")
            out += [_safe(line) for line in section.sentences]
            for table in tables(section, found.metric, report.level):
                out += [f"{_safe(table.caption)}:", _markdown_table(table.headings, table.rows)]
            if section.skipped:
                out.append("Not computed:")
                out.append("\n".join(f"- {_safe(row['what'])}: {_safe(row['reason'])}" for row in section.skipped))
    out += [
        "## How this was computed",
        f"mtmeta {_safe(report.version)}, seed {report.seed}. {AGAIN}",
        _safe(report.signature),
    ]
    return "\n\n".join(out) + "\n"
