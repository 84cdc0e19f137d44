"""`report`: is my metric any good, on one page."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from .._limits import MAX_COUNT, MAX_SEED
from ._choices import ReportFormat, Unit
from ._common import AS_ENDS, NEW_FILE, Force, Loading, Quiet, Sets, command, number, option
from ._output import emit, say


@command("report teaching --metric Judge")
def report(
    sets: Sets,
    output: option(
        list[Path] | None,
        "Write to this file; repeatable.",
        "FILE",
        "standard output",
        "--output",
        "-o",
        writable=True,
        **NEW_FILE,
    ) = None,
    how: option(ReportFormat | None, "What to write.", None, AS_ENDS.format("md"), "--format") = None,
    unit: option(
        Unit | None,
        "What the bootstrap draws and the ranking exchanges; documents bring all their segments.",
        None,
        "document where 20 are named, else segment",
        "--unit",
    ) = None,
    n_resamples: number(int, "Draws of each interval and of each null model.", 40, MAX_COUNT) = 200,
    seed: number(int, "Seed of these draws.", 0, MAX_SEED) = 0,
    *,
    loading: Loading,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Report whether a metric is any good: what may be claimed, and what may not.

    Agreement with intervals, rank among the metrics of the table, baselines, ties, systems favoured, length. The page
    needs no network. It omits what the data do not allow, and says why. --metric names the metrics to report on; the
    others serve for comparison. -o report.html writes the page with figures; -o report.html -o report.json computes
    once and writes both.
    """
    from ..report import report as make

    result = make(
        replace(loading, metric=None).rated(sets, quiet),
        loading.metric,
        n_resamples=n_resamples,
        unit=unit,
        rng=seed,
        progress=lambda line: say(quiet, f"reporting on {line}"),
    )
    say(quiet, result.signature)
    write = {"html": result.to_html, "json": result.to_json, "md": result.to_markdown}
    outputs = output or [None]
    for path, form in zip(outputs, how if isinstance(how, list) else [how] * len(outputs), strict=True):
        emit(write[form](), path)
