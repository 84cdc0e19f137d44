"""`report`: is my metric any good, on one page."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from typing import Annotated

from .._limits import MAX_COUNT, MAX_SEED
from ._common import EXAMPLE, Loading, Sets, Writing, app, guarded, number, option


class ReportFormat(StrEnum):
    """How a report is written."""

    html = "html"
    json = "json"
    md = "md"


class Unit(StrEnum):
    """What the bootstrap draws."""

    segment = "segment"
    document = "document"


_BY_SUFFIX = {".html": ReportFormat.html, ".htm": ReportFormat.html, ".json": ReportFormat.json, ".md": ReportFormat.md}


@app.command(epilog=EXAMPLE.format("report teaching --metric Judge"))
@guarded
def report(
    sets: Sets,
    how: Annotated[ReportFormat | None, option("What to write.", None, "as --output ends, or md", "--format")] = None,
    unit: Annotated[
        Unit, option("What the bootstrap draws; documents bring all their segments.", None, True, "--unit")
    ] = Unit.segment,
    n_resamples: Annotated[int, number("Draws of each interval and of each null model.", 40, MAX_COUNT)] = 200,
    seed: Annotated[int, number("Seed of these draws.", 0, MAX_SEED)] = 0,
    *,
    loading: Loading,
    writing: Writing,
) -> None:
    """Report whether a metric is any good: what may be claimed, and what may not.

    Agreement with intervals, rank among the metrics of the table, baselines, ties, systems favoured, length. The
    page needs no network. What the data do not allow is left out, with the reason. --metric says which metrics to
    report on; the others are what they are compared with. -o report.html writes the page with figures.
    """
    from ..report import report as make

    how = how or _BY_SUFFIX.get(writing.output.suffix.lower() if writing.output else ".md", ReportFormat.md)
    result = make(
        replace(loading, metric=None).rated(sets, writing.quiet),
        loading.metric,
        n_resamples=n_resamples,
        unit=unit.value,
        rng=seed,
        progress=lambda line: writing.say(f"reporting on {line}"),
    )
    writing.say(result.signature)
    write = {ReportFormat.html: result.to_html, ReportFormat.json: result.to_json, ReportFormat.md: result.to_markdown}
    writing.text(write[how]())
