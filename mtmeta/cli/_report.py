"""`report`: is my metric any good, on one page."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from .._limits import MAX_COUNT, MAX_SEED
from ._choices import Missing
from ._common import (
    EXAMPLE,
    Annotation,
    Force,
    Metrics,
    MetricsFrom,
    MissingRows,
    Output,
    Quiet,
    Reference,
    Sets,
    app,
    guarded,
    load_sets,
)
from ._output import emit_text, say


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
    metric: Metrics = None,
    how: Annotated[
        ReportFormat | None, typer.Option("--format", help="What to write.", show_default="as --output ends, or md")
    ] = None,
    unit: Annotated[
        Unit, typer.Option("--unit", help="What the bootstrap draws; documents bring all their segments.")
    ] = Unit.segment,
    n_resamples: Annotated[
        int, typer.Option(min=40, max=MAX_COUNT, metavar="N", help="Draws of each interval and of each null model.")
    ] = 200,
    seed: Annotated[int, typer.Option(min=0, max=MAX_SEED, metavar="N", help="Seed of these draws.")] = 0,
    metrics_from: MetricsFrom = None,
    annotation: Annotation = None,
    reference: Reference = None,
    missing: MissingRows = Missing["raise"],
    output: Output = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Report whether a metric is any good: what may be claimed, and what may not.

    Agreement with intervals, rank among the metrics of the table, baselines, ties, systems favoured, length. The
    page needs no network. What the data do not allow is left out, with the reason. --metric says which metrics to
    report on; the others are what they are compared with. -o report.html writes the page with figures.
    """
    from ..report import report as make

    if how is None:
        how = _BY_SUFFIX.get(output.suffix.lower(), ReportFormat.md) if output is not None else ReportFormat.md
    loaded = load_sets(sets, None, metrics_from, annotation, reference, missing, quiet)
    result = make(
        loaded,
        metric,
        n_resamples=n_resamples,
        unit=unit.value,
        rng=seed,
        progress=lambda line: say(quiet, f"reporting on {line}"),
    )
    say(quiet, result.signature)
    write = {ReportFormat.html: result.to_html, ReportFormat.json: result.to_json, ReportFormat.md: result.to_markdown}
    emit_text(write[how](), output)
