"""The report as one page of HTML, without scripts or anything from the network, or as Markdown: numbers and tables."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from .._escapes import markdown, visible
from ._claims import VERDICTS, by_verdict
from ._facts import LEVEL, PAGE, Claim, Part, Section

_MARKS = dict(zip(VERDICTS, ("✓", "+", "≈", "✗", "?"), strict=True))


class Table(NamedTuple):
    """A table for readers; ``mine`` is the number of the row of the metric itself."""

    caption: str
    headings: list[str]
    rows: list[list[str]]
    mine: int | None = None


def number(value: float) -> str:
    """Return a number with three decimals, large and whole ones shorter; a dash where there is none."""
    if math.isnan(value):
        return "–"
    if abs(value) >= 1000 or value == int(value):
        return f"{value:z,.0f}" if abs(value) < 1e15 else f"{value:.3g}"
    return f"{value:.1g}" if 1e-12 <= abs(value) < 0.001 else f"{value:z.3f}"


def span(low: float, high: float) -> str:
    """Return an interval in words; a dash where there is none."""
    return "–" if math.isnan(low + high) else f"{number(low)} to {number(high)}"


def sample(n: int | None, unit: str) -> str:
    """Return a sample size with the name of its unit, which is given in the plural; nothing where there is none."""
    if n is None:
        return ""
    first, *rest = unit.split(" ")
    return " ".join(filter(None, [f"{n:,}", first.removesuffix("s") if n == 1 else first, *rest]))


def tables(part: Part, section: Section) -> list[Table]:
    """Return the tables of a section; numbers about other subjects than the metric have their own table."""
    if section.key in ("rank", "baselines"):
        return [_wide(part, section)] if section.rows else []
    found = []
    for about in ("", "system"):
        rows = [row for row in section.rows if bool(row.subject) == bool(about)]
        cells = [[r.quantity, number(r.value), span(r.low, r.high), sample(r.n, r.unit), r.note] for r in rows]
        heads = ["statistic", "value", f"{LEVEL:.0%} interval", "n", "note"]
        if about:
            heads, cells = [about, *heads], [[row.subject, *line] for row, line in zip(rows, cells, strict=True)]
        if rows:
            found.append(Table(PAGE["sections"][section.key]["caption"], heads, cells))
    return found


def _wide(part: Part, section: Section) -> Table:
    """Return one row a subject, and one column a quantity."""
    cells = {(row.subject, row.quantity): row for row in section.rows}
    subjects, quantities = (list(dict.fromkeys(names)) for names in zip(*cells, strict=True))
    mine, rows = subjects.index("" if "" in subjects else part.metric), []
    for k, subject in enumerate(subjects):
        rows.append([f"{part.metric} (this metric)" if k == mine else subject])
        for row in (cells.get((subject, quantity)) for quantity in quantities):
            ends = "" if row is None or math.isnan(row.low + row.high) else f" ({span(row.low, row.high)})"
            rows[-1].append(number(row.value) + ends if row else "–")
    exchanged = {sample(row.n, row.unit) for row in section.rows if row.key == "rank"}
    caption = PAGE["sections"][section.key]["caption"] + "".join(f"; exchanged: {units}" for units in exchanged)
    return Table(caption, ["metric", *quantities], rows, mine)


def _glance(parts: Sequence[Part]) -> Table:
    """Return the verdicts on all metrics and sets, a row a claim."""
    rows = [[row[0].claim, *map(_verdict, row)] for row in zip(*(part.claims for part in parts), strict=True)]
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
    interval = "" if math.isnan(claim.low) else f" ({span(claim.low, claim.high)})"
    n = f", n = {sample(claim.n, claim.unit)}" if claim.n else ""
    return f"{claim.statistic}: {number(claim.value)}{interval}{n}. {reason}"


def _rendered(template: str, parts: Sequence[Part], about: Mapping[str, object], **options: object) -> str:
    """Return a template filled in with the parts, and with what is known ``about`` the report."""
    loader, blocks = FileSystemLoader(Path(__file__).parent), {"trim_blocks": True, "lstrip_blocks": True}
    environment = Environment(loader=loader, undefined=StrictUndefined, keep_trailing_newline=True, **blocks, **options)
    environment.filters |= {"because": _because, "by_verdict": by_verdict, "glance": _glance}
    environment.filters["safe_text"] = lambda text: markdown(visible(text))
    environment.globals |= {"marks": _MARKS, "page": PAGE["page"], "words": PAGE["sections"], "tables": tables}
    return environment.get_template(template).render(parts=parts, **about)


def as_html(parts: Sequence[Part], figures: Sequence[Mapping], **about: object) -> str:
    """Return the page; all that the template fills in is escaped, except a macro's HTML."""
    metrics, sets = (list(dict.fromkeys(names)) for names in zip(*((p.metric, p.es.name) for p in parts), strict=True))
    title = f"Is {metrics[0]} any good? A report on" if len(metrics) == 1 else "Metrics on"
    about |= {"title": f"{title} {', '.join(sets)}", "figures": figures}
    finalize = lambda value: value if hasattr(value, "__html__") else visible(value)  # noqa: E731
    return _rendered("_page.html.j2", parts, about, autoescape=True, finalize=finalize)


def as_markdown(parts: Sequence[Part], **about: object) -> str:
    """Return the whole report without figures; its template escapes texts by the filter ``safe_text``."""
    return _rendered("_page.md.j2", parts, about)
