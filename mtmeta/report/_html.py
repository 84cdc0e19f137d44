"""The report as one page of HTML: no scripts, nothing from the network, readable on paper and on a telephone."""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from .._escapes import visible
from ._claims import VERDICTS, by_verdict
from ._display import AGAIN, Table, between, number, percent, sample, tables
from ._facts import Facts, Figure, Findings, Section
from ._figures import UP_TO

_MARKS = dict(zip(VERDICTS, ("✓", "✗", "?"), strict=True))

_STYLE = Path(__file__).with_name("_page.css").read_text(encoding="utf-8").strip()


def _e(text: object) -> str:
    return html.escape(visible(text))


def page(report: Facts) -> str:
    """Return the page."""
    several = len(report.findings) > 1
    metrics = list(dict.fromkeys(found.metric for found in report.findings))
    sets = ", ".join(dict.fromkeys(found.set for found in report.findings))
    title = f"Metrics on {sets}" if len(metrics) > 1 else f"Is {metrics[0]} any good? A report on {sets}"
    body = [f"<h1>{_e(title)}</h1>", _intro(report.level)]
    if several:
        body.append(_summary(report.findings))
    body += [_part(found, report.level, f"p{k}", 2 + several) for k, found in enumerate(report.findings)]
    if len(report.findings) > UP_TO:
        body.append(f"<p>Figures are left out: the page reports on {len(report.findings)} metrics and sets.</p>")
    body.append(_foot(report))
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta name="generator" content="mtmeta {_e(report.version)}">\n<title>{_e(title)}</title>\n'
        f"<style>\n{_STYLE}\n</style>\n"
        "</head>\n<body>\n<main>\n" + "\n".join(body) + "\n</main>\n</body>\n</html>\n"
    )


def _intro(level: float) -> str:
    return (
        "<p>Whether a metric is any good depends on what it is for. Each claim below has its own answer, with the "
        f"number that decides, its {percent(level)} interval and n. Higher is better unless it says so. Each claim is "
        "tested alone; nothing is corrected for their number.</p>"
    )


def _summary(findings: Sequence[Findings]) -> str:
    heads = ["claim", *(f"{found.set}: {found.metric}" for found in findings)]
    rows = [
        [claims[0]["claim"], *(f"{_MARKS[c['verdict']]} {c['verdict']}" for c in claims)]
        for claims in zip(*(found.claims for found in findings), strict=True)
    ]
    return "<h2>All at a glance</h2>\n" + _table(Table("Verdict on each claim", heads, rows))


def _part(found: Findings, level: float, key: str, depth: int) -> str:
    tag = f"h{depth}"
    out = []
    if depth == 3:
        pair = f", {found.language_pair}" if found.language_pair else ""
        out.append(f'<h2 id="{key}">{_e(found.metric)} on {_e(found.set)}{_e(pair)}</h2>')
    out += [f"<{tag}>What to claim, and what not to</{tag}>", _claims(found.claims)]
    for name, section in found.sections.items():
        shown = tables(section, found.metric, level)
        out.append(_section(section, shown, tag, found.figures.get(name)))
    return "\n".join(out)


def _claims(claims: Sequence[dict]) -> str:
    items = []
    for claim in by_verdict(claims):
        verdict, numbers = claim["verdict"], ""
        if not np.isnan(claim["value"]):
            span = "" if np.isnan(claim["low"]) else f" ({between(claim['low'], claim['high'])})"
            n = sample(claim["n"], claim["unit"])
            numbers = f"{claim['statistic']}: {number(claim['value'])}{span}" + (f", n = {n}" if n else "") + ". "
        reason = claim["reason"][:1].upper() + claim["reason"][1:]
        items.append(
            f'<li class="{verdict.replace(" ", "-")}"><p>'
            f'<span class="verdict">{_MARKS[verdict]} {verdict.capitalize()}:</span> '
            f'<span class="claim">{_e(claim["claim"])}</span></p>'
            f"<p>{_e(numbers[:1].upper() + numbers[1:] if numbers[:4] != 'acc_' else numbers)}{_e(reason)}.</p>"
            f'<p class="soft">Explained in the chapter {_e(claim["chapter"])}.</p></li>'
        )
    return '<ol class="claims">\n' + "\n".join(items) + "\n</ol>"


def _section(section: Section, shown: Sequence[Table], tag: str, figure: Figure | None) -> str:
    out = [f"<{tag}>{_e(section.words['title'])}</{tag}>"]
    out += [f"<p>{_e(text)}</p>" for text in section.sentences]
    out += [_table(table) for table in shown]
    if figure is not None:
        image = base64.b64encode(figure.png).decode()
        out.append(
            f'<figure><img alt="{_e(figure.alt)}" src="data:image/png;base64,{image}">'
            f"<figcaption>{_e(figure.caption)}</figcaption></figure>"
        )
    if section.skipped:
        items = "".join(f"<li>{_e(row['what'])}: {_e(row['reason'])}</li>" for row in section.skipped)
        out.append(f'<p class="soft">Not computed:</p><ul class="soft">{items}</ul>')
    chapter = section.words["chapter"]
    out.append(f'<p class="soft">More in the chapter {_e(chapter)}.</p>')
    return "\n".join(out)


def _table(table: Table) -> str:
    caption, head = _e(table.caption), "".join(f'<th scope="col">{_e(h)}</th>' for h in table.headings)
    lines = []
    for k, (first, *rest) in enumerate(table.rows):
        mine = ' class="mine"' if k == table.mine else ""
        cells = "".join(f"<td{_number_class(cell)}>{_e(cell)}</td>" for cell in rest)
        lines.append(f'<tr{mine}><th scope="row">{_e(first)}</th>{cells}</tr>')
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{caption}"><table>'
        f"<caption><span>{caption}</span></caption><thead><tr>{head}</tr></thead>\n<tbody>\n"
        + "\n".join(lines)
        + "\n</tbody></table></div>"
    )


def _number_class(cell: str) -> str:
    """Return the class that keeps numbers on one line and gives sentences room."""
    if cell and re.fullmatch(r"[–-]?[\d,.]*(e-\d+)?", cell):
        return ' class="number"'
    if len(cell) < 26 and (cell[:1].isdigit() or cell[:1] == "-"):
        return ' class="short"'
    return ' class="text"' if len(cell) > 30 else ""


def _foot(report: Facts) -> str:
    return (
        f"<h2>How this was computed</h2>\n<p>mtmeta {_e(report.version)}, seed {report.seed}. {AGAIN} "
        "Chapters are those of the book that comes with mtmeta.</p>\n"
        f"<p><code>{_e(report.signature)}</code></p>"
    )
