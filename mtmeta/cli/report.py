"""`mtmeta report`: is my metric any good, on one page."""

from pathlib import Path
from typing import Annotated, Literal, get_args

from typer import Context, Option

import mtmeta as mm

from . import _options as opt
from ._app import app, example
from ._given import Loads
from ._output import emit, form_of, say

FORMS = Literal["md", "html", "json"]
_OUTPUT = "Write to this file; repeatable."
Outputs = Annotated[list[Path] | None, Option("--output", "-o", metavar="FILE", dir_okay=False, help=_OUTPUT)]
How = Annotated[FORMS | None, Option("--format", show_default="as --output ends, otherwise md")]


@app.command(cls=Loads, epilog=example("report teaching --metric Judge"))
def report(
    context: Context,
    sets: opt.Sets,
    output: Outputs = None,
    how: How = None,
    n_resamples: opt.Draws = 200,
    seed: opt.Seed = 0,
    metric: opt.Metric = None,
    quiet: opt.Quiet = False,
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
