"""The report as one page of HTML: no scripts, nothing from the network, readable on paper and on a telephone."""

from __future__ import annotations

import base64
import html
import re
from typing import TYPE_CHECKING

import pandas as pd

from .. import __version__
from ._claims import VERDICTS
from ._common import Part, Section
from ._figures import Figure, figures
from ._words import between, number, sample, tables, visible

if TYPE_CHECKING:
    from ._report import Report

#: With more metrics and sets than this, figures would make the page too large to open.
FIGURES_UP_TO = 12
_MARKS = dict(zip(VERDICTS, ("✓", "✗", "?"), strict=True))

_STYLE = """
:root { color-scheme: light dark; --ink: #1b1b1b; --soft: #555; --line: #c8c8c8; --back: #fff; --band: #f4f4f2;
  --supported: #00543d; --not: #8f2f00; --unknown: #4d4d4d; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8e8e8; --soft: #b0b0b0; --line: #555; --back: #161616;
  --band: #222; --supported: #5fd3ad; --not: #ffa06b; --unknown: #c0c0c0; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 1rem; background: var(--back); color: var(--ink);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: break-word; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: .5rem 0; } h2 { font-size: 1.25rem; margin: 2rem 0 .5rem; }
h3 { font-size: 1.05rem; margin: 1.5rem 0 .5rem; }
p { margin: .5rem 0; max-width: 46rem; } .soft { color: var(--soft); font-size: .9rem; }
.wide { overflow-x: auto; margin: .75rem 0; } .wide:focus-visible { outline: 2px solid currentColor; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--soft); padding: .25rem 0; }
caption span { display: block; position: sticky; left: 0; max-width: min(46rem, calc(100vw - 2rem)); }
th, td { border-bottom: 1px solid var(--line); padding: .3rem .6rem; text-align: left; vertical-align: top; }
thead th { border-bottom: 2px solid var(--soft); vertical-align: bottom; }
th[scope=row] { font-weight: 600; min-width: 8rem; }
td.text { min-width: 14rem; }
td.number { text-align: right; white-space: nowrap; } td.short { white-space: nowrap; }
tr.mine { background: var(--band); }
ol.claims { list-style: none; padding: 0; margin: .75rem 0; }
ol.claims li { border-left: .3rem solid var(--unknown); background: var(--band); margin: .5rem 0;
  padding: .5rem .75rem; }
ol.claims li p { margin: .15rem 0; } ol.claims .claim { font-weight: 600; } .verdict { font-weight: 700; }
ol.claims li.supported { border-color: var(--supported); } .supported .verdict { color: var(--supported); }
ol.claims li.not-supported { border-color: var(--not); } .not-supported .verdict { color: var(--not); }
figure { margin: 1rem 0; } figure img { width: min(100%, 46rem); height: auto; background: #fff; padding: .25rem; }
figcaption { color: var(--soft); font-size: .9rem; } code { overflow-wrap: anywhere; font-size: .85rem; }
@media print { :root { --ink: #000; --soft: #333; --line: #999; --back: #fff; --band: #fff; --supported: #000;
  --not: #000; --unknown: #000; color-scheme: light; } body { max-width: none; padding: 0; font-size: 9.5pt; }
  table { font-size: 8pt; } th[scope=row], td.text { min-width: 0; }
  .wide { overflow: visible; } thead { display: table-header-group; }
  tr, figure, ol.claims li { break-inside: avoid; } h2, h3 { break-after: avoid; } figure img { max-height: 11cm; } }
""".strip()


def _e(text: object) -> str:
    return html.escape(visible(text))


def page(report: Report) -> str:
    """Return the page."""
    parts = report._parts
    several = len(parts) > 1
    names = ", ".join(dict.fromkeys(part.metric for part in parts))
    sets = ", ".join(dict.fromkeys(part.es.name for part in parts))
    title = f"Is {names} any good? A report on {sets}" if len({p.metric for p in parts}) == 1 else f"Metrics on {sets}"
    body = [f"<h1>{_e(title)}</h1>", _intro(parts[0])]
    if several:
        body.append(_summary(report))
    for k, part in enumerate(parts):
        body.append(_part(part, f"p{k}", 2 + several, with_figures=len(parts) <= FIGURES_UP_TO))
    if len(parts) > FIGURES_UP_TO:
        body.append(f"<p>Figures are left out: the page reports on {len(parts)} metrics and sets.</p>")
    body.append(_foot(report))
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta name="generator" content="mtmeta {__version__}">\n<title>{_e(title)}</title>\n'
        f"<style>\n{_STYLE}\n</style>\n"
        "</head>\n<body>\n<main>\n" + "\n".join(body) + "\n</main>\n</body>\n</html>\n"
    )


def _intro(part: Part) -> str:
    level = f"{part.settings.level:.0%}".replace("%", " %")
    return (
        "<p>Whether a metric is any good depends on what it is for. Each claim below has its own answer, with the "
        f"number that decides, its {level} interval and n. Higher is better unless it says so. Each claim is tested "
        "alone; nothing is corrected for their number.</p>"
    )


def _summary(report: Report) -> str:
    claims = report.claims
    heads = ["claim", *(f"{p.es.name}: {p.metric}" for p in report._parts)]
    rows = []
    by_part = claims.groupby(["set", "metric"], sort=False)["verdict"].agg(list)
    columns = [by_part[(p.es.name, p.metric)] for p in report._parts]
    for k, claim in enumerate(claims["claim"].drop_duplicates()):
        rows.append([claim, *(f"{_MARKS[c[k]]} {c[k]}" for c in columns)])
    return "<h2>All at a glance</h2>\n" + _table("Verdict on each claim", heads, rows)


def _part(part: Part, key: str, level: int, *, with_figures: bool) -> str:
    tag = f"h{level}"
    out = []
    if level == 3:
        pair = f", {part.es.language_pair}" if part.es.language_pair else ""
        out.append(f'<h2 id="{key}">{_e(part.metric)} on {_e(part.es.name)}{_e(pair)}</h2>')
    out += [f"<{tag}>What to claim, and what not to</{tag}>", _claims(part)]
    drawn = figures(part) if with_figures else {}
    for section in part.sections.values():
        out.append(_section(section, part, tag, drawn.get(section.key)))
    return "\n".join(out)


def _claims(part: Part) -> str:
    items = []
    for verdict in VERDICTS:
        for claim in (c for c in part.claims if c["verdict"] == verdict):
            numbers = ""
            if not pd.isna(claim["value"]):
                span = "" if pd.isna(claim["low"]) else f" ({between(claim['low'], claim['high'])})"
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


def _section(section: Section, part: Part, tag: str, figure: Figure | None) -> str:
    out = [f"<{tag}>{_e(section.title)}</{tag}>"]
    if section.rows:
        out += [f"<p>{_e(text)}</p>" for text in section.text]
    out += [_table(*table) for table in tables(section, part)]
    if figure is not None:
        image = base64.b64encode(figure.png).decode()
        out.append(
            f'<figure><img alt="{_e(figure.alt)}" src="data:image/png;base64,{image}">'
            f"<figcaption>{_e(figure.caption)}</figcaption></figure>"
        )
    if section.skipped:
        items = "".join(f"<li>{_e(what)}: {_e(why)}</li>" for what, why in section.skipped)
        out.append(f'<p class="soft">Not computed:</p><ul class="soft">{items}</ul>')
    out.append(f'<p class="soft">More in the chapter {_e(section.chapter)}.</p>')
    return "\n".join(out)


def _table(caption: str, headings: list[str], rows: list[list[str]]) -> str:
    head = "".join(f'<th scope="col">{_e(h)}</th>' for h in headings)
    lines = []
    for first, *rest in rows:
        mine = ' class="mine"' if first.endswith(" (this metric)") else ""
        cells = "".join(f"<td{_number_class(cell)}>{_e(cell)}</td>" for cell in rest)
        lines.append(f'<tr{mine}><th scope="row">{_e(first)}</th>{cells}</tr>')
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{_e(caption)}"><table>'
        f"<caption><span>{_e(caption)}</span></caption><thead><tr>{head}</tr></thead>\n<tbody>\n"
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


def _foot(report: Report) -> str:
    return (
        f"<h2>How this was computed</h2>\n<p>mtmeta {_e(__version__)}, seed {report.seed}. The same table, version and "
        f"seed give the same numbers. Chapters are those of the book that comes with mtmeta.</p>\n"
        f"<p><code>{_e(report.signature)}</code></p>"
    )
