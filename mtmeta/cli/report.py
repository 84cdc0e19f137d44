"""`mtmeta report`: is my metric any good, on one page."""

from pathlib import Path
from typing import Literal, get_args

from typer import Context

import mtmeta as mm

from ._app import command
from ._given import Loads
from ._output import emit, form_of, say

FORMS = Literal["md", "html", "json"]


@command("report teaching --metric Judge", cls=Loads)
def report(
    context: Context,
    sets: list[str],
    output: list[Path] | None = None,
    how: FORMS | None = None,
    n_resamples: int = 200,
    seed: int = 0,
    metric: list[str] | None = None,
    quiet: bool = False,
) -> None:
    """Report whether a metric is any good: what may be claimed, and what may not.

    Agreement with intervals, rank among the metrics of the table, baselines, ties, systems favoured, length. The page
    needs no network. It omits what the data do not allow, and gives the reason. --metric names the metrics to report
    on; the others serve for comparison. -o report.html writes the page with figures; -o report.html -o report.json
    computes once and writes both.
    """
    outputs = output or [None]
    read = [*sets, *context.obj.options["metrics_from"]]
    forms = [form_of(path, how, read, get_args(FORMS)) for path in outputs]
    data = context.obj.rated(sets)
    options = {"n_resamples": n_resamples, "rng": seed}
    result = mm.report(data, metric, **options, progress=lambda line: say(f"reporting on {line}"))
    say(result.signature)
    write = {"html": result.to_html, "json": result.to_json, "md": result.to_markdown}
    for path, form in zip(outputs, forms, strict=True):
        emit(write[form](), path)
