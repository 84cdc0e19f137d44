"""`report`: is my metric any good, on one page."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from .._limits import MAX_COUNT, MAX_SEED
from ._choices import ReportFormat, Unit
from ._common import Loading, command
from ._options import Quiet, Sets, form, new_file, number, option
from ._output import emit, say


@command("report teaching --metric Judge")
def report(
    sets: Sets,
    output: new_file(list[Path] | None, "Write to this file; repeatable.", "standard output", "--output", "-o") = None,
    how: form(ReportFormat, "What to write.", "md") = None,
    unit: option(
        Unit | None,
        "What the bootstrap draws and the ranking exchanges; documents bring all their segments.",
        default="document where 20 are named, else segment",
    ) = None,
    n_resamples: number(int, "Draws of each interval and of each null model.", 40, MAX_COUNT) = 200,
    seed: number(int, "Seed of these draws.", 0, MAX_SEED) = 0,
    *,
    loading: Loading,
    quiet: Quiet = False,
) -> None:
    """Report whether a metric is any good: what may be claimed, and what may not.

    Agreement with intervals, rank among the metrics of the table, baselines, ties, systems favoured, length. The page
    needs no network. It omits what the data do not allow, and says why. --metric names the metrics to report on; the
    others serve for comparison. -o report.html writes the page with figures; -o report.html -o report.json computes
    once and writes both.
    """
    from ..reporting import report as make

    data = replace(loading, metric=None).rated(sets, quiet)
    options = {"n_resamples": n_resamples, "unit": unit, "rng": seed}
    result = make(data, loading.metric, **options, progress=lambda line: say(quiet, f"reporting on {line}"))
    say(quiet, result.signature)
    write = {"html": result.to_html, "json": result.to_json, "md": result.to_markdown}
    outputs = output or [None]
    for path, kind in zip(outputs, how if isinstance(how, list) else [how] * len(outputs), strict=True):
        emit(write[kind](), path)
