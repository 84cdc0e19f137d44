"""`report`: is my metric any good, on one page."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from .._limits import MAX_COUNT, MAX_SEED
from ._choices import ReportFormat, Unit
from ._common import AS_ENDS, Loading, Sets, Writing, command, number, option


@command("report teaching --metric Judge")
def report(
    sets: Sets,
    how: Annotated[ReportFormat | None, option("What to write.", None, AS_ENDS.format("md"), "--format")] = None,
    unit: Annotated[
        Unit | None,
        option(
            "What the bootstrap draws and the ranking exchanges; documents bring all their segments.",
            None,
            "document where 20 are named, else segment",
            "--unit",
        ),
    ] = None,
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

    result = make(
        replace(loading, metric=None).rated(sets, writing.quiet),
        loading.metric,
        n_resamples=n_resamples,
        unit=unit,
        rng=seed,
        progress=lambda line: writing.say(f"reporting on {line}"),
    )
    writing.say(result.signature)
    write = {"html": result.to_html, "json": result.to_json, "md": result.to_markdown}
    writing.text(write[how]())
