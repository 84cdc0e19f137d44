"""The report as one page of HTML, without scripts or anything from the network, or as Markdown: numbers and tables."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from .._escapes import markdown, visible
from ._claims import VERDICTS, by_verdict
from ._facts import PAGE, UP_TO, Claim, Findings, Section
from ._words import number, percent, sample, span

_MARKS = dict(zip(VERDICTS, ("✓", "≈", "✗", "?"), strict=True))


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
    own = [row for row in section.rows if not row.subject]
    heads = ["statistic", "value", f"{percent(level)} interval", "n", "note"]
    cells = [[r.quantity, number(r.value), span(r.low, r.high), sample(r.n, r.unit), r.note] for r in own]
    if section.key == "data":
        heads, cells = ["what", "count", "of", "note"], [[what, n, of, note] for what, n, _, of, note in cells]
    found = [Table(section.words["caption"], heads, cells)] if own else []
    if systems := list(dict.fromkeys(row.subject for row in section.rows if row.subject)):
        caption = section.words["by_system"].format(level=1 - (1 - level) / len(systems))
        cells = []
        for system in systems:
            plain, centred = (section.row(key, system) for key in ("expected", "deviation"))
            numbers = [
                text for r in (plain, centred) for text in ([number(r.value), span(r.low, r.high)] if r else "––")
            ]
            cells.append([system, *numbers, centred.note if centred else ""])
        heads = ["system", "deviation", "interval", "less difficulty", "interval", "verdict"]
        found.append(Table(caption, heads, cells))
    return found


def _wide(section: Section, metric: str) -> Table:
    """Return one row a subject; ranks go behind the value."""
    labels = {row.key: row.quantity for row in section.rows}
    keys = [key for key in labels if not key.endswith("rank")]
    values = {(row.subject, row.key): row.value for row in section.rows}
    subjects = list(dict.fromkeys(row.subject for row in section.rows))
    first = {"rank": "metric", "baselines": "metric or baseline"}[section.key]
    if first == "metric":
        subjects.sort(key=lambda subject: (values.get((subject, f"{keys[0]}.rank"), math.inf), subject))
    mine = subjects.index("" if "" in subjects else metric)  # a baseline may have the name of the metric
    rows = []
    for k, subject in enumerate(subjects):
        rows.append([f"{metric} (this metric)" if k == mine else subject])
        for key in keys:
            rank, best, worst = (values.get((subject, f"{key}.{what}rank")) for what in ("", "best_", "worst_"))
            allowed = "" if best is None else f"; {best:.0f}–{worst:.0f}"
            rows[-1].append(number(values.get((subject, key))) + ("" if rank is None else f" ({rank:.0f}{allowed})"))
    exchanged = dict.fromkeys(sample(row.n, row.unit) for row in section.rows if row.key.endswith("best_rank"))
    caption = section.words["caption"] + (f"; exchanged: {', '.join(exchanged)}" if exchanged else "")
    return Table(caption, [first, *(labels[key] for key in keys)], rows, mine)


def _claims_table(claims: Sequence[Claim], level: float) -> Table:
    """Return the claims with all that is known of them, a row a claim."""
    rows = []
    for c in by_verdict(claims):
        value = "" if math.isnan(c.value) else f"{c.statistic}: {number(c.value)}"
        rows.append([c.verdict, c.claim, value, span(c.low, c.high), sample(c.n, c.unit), c.reason, c.chapter])
    heads = ["verdict", "claim", "number", f"{percent(level)} interval", "n", "why", "chapter"]
    return Table("What to claim, and what not to", heads, rows)


def _glance(findings: Sequence[Findings]) -> Table:
    """Return the verdicts on all metrics and sets, a row a claim."""
    rows = [[row[0].claim, *map(_verdict, row)] for row in zip(*(found.claims for found in findings), strict=True)]
    return Table("Verdict on each claim", ["claim"], rows)


def _verdict(claim: Claim) -> str:
    """Return a verdict with its number."""
    value = "" if math.isnan(claim.value) else f": {number(claim.value)}"
    return f"{_MARKS[claim.verdict]} {claim.verdict}{value}"


def _because(claim: Claim) -> str:
    """Return the number that decides, and the reason for the verdict."""
    reason = claim.reason[:1].upper() + claim.reason[1:]
    if math.isnan(claim.value):
        return reason
    name = claim.statistic if claim.statistic.startswith("acc_") else claim.statistic[:1].upper() + claim.statistic[1:]
    interval = "" if math.isnan(claim.low) else f" ({span(claim.low, claim.high)})"
    n = sample(claim.n, claim.unit)
    return f"{name}: {number(claim.value)}{interval}" + (f", n = {n}" if n else "") + f". {reason}"


def _kind(cell: str) -> str:
    """Return the class that keeps numbers on one line and gives sentences room."""
    if cell and re.fullmatch(r"[–-]?[\d,.]*(e-\d+)?", cell):
        return "number"
    if len(cell) < 26 and (cell[:1].isdigit() or cell[:1] == "-"):
        return "short"
    return "text" if len(cell) > 30 else ""


def _rendered(template: str, findings: Sequence[Findings], about: dict, **options: object) -> str:
    """Return a template filled in with findings, and with what is known ``about`` the report."""
    loader = FileSystemLoader(Path(__file__).parent)
    environment = Environment(
        loader=loader,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
        **options,
    )
    environment.filters |= {"because": _because, "by_verdict": by_verdict, "claims_table": _claims_table}
    environment.filters |= {"glance": _glance, "kind": _kind, "percent": percent, "tables": tables}
    environment.filters["safe_text"] = lambda text: markdown(visible(text))
    words = {"marks": _MARKS, "most_drawn": UP_TO, "again": PAGE["page"]["again"]}
    return environment.get_template(template).render(findings=findings, **words, **about)


def as_html(findings: Sequence[Findings], **about: object) -> str:
    """Return the page; all that the template fills in is escaped, except a macro's HTML."""
    metrics, sets = (list(dict.fromkeys(getattr(found, key) for found in findings)) for key in ("metric", "set"))
    title = f"Metrics on {', '.join(sets)}"
    if len(metrics) == 1:
        title = f"Is {metrics[0]} any good? A report on {', '.join(sets)}"
    options = {"autoescape": True, "finalize": lambda value: value if hasattr(value, "__html__") else visible(value)}
    return _rendered("_page.html.j2", findings, about | {"title": title}, **options)


def as_markdown(findings: Sequence[Findings], **about: object) -> str:
    """Return the whole report without figures; its template escapes texts by the filter ``safe_text``."""
    return _rendered("_page.md.j2", findings, about)
