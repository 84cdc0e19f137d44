"""`mtmeta power`: how many segments and systems a difference between two metrics needs."""

from typer import Context

import mtmeta as mm

from . import _options as opt
from ._app import app, example
from ._given import OnSets, together
from ._output import say


@app.command(cls=OnSets, epilog=example("power teaching Judge RegressorQE --coefficient acc_eq"))
def power(
    context: Context,
    file: opt.File,
    metrics: opt.Duel,
    coefficient: opt.Coefficient = "pearson",
    grouping: opt.Grouping = "segment",
    n_resamples: opt.Draws = 1000,
    seed: opt.Seed = 0,
) -> None:
    """Estimate how many segments and how many systems it takes to show a difference of this size.

    Four rows per set: how often the difference is found with the segments and systems at hand, and how many are needed
    for a power of .8, with its 95 % interval; first for these systems, then for others of their kind. An empty number
    means that more systems alone are not enough, an empty "high" that no upper limit is known. The difference at hand
    counts as the true one. A pilot with fewer segments than the column "pilot" says is too small to plan with.
    """
    tables, options = {}, {"coefficient": coefficient, "grouping": grouping, "n_resamples": n_resamples, "rng": seed}
    for es in context.obj.rated([file], metrics=metrics):
        tables[es.name] = mm.significance.power(es, metrics, **options)
        n, pilot = tables[es.name].loc[0, ["n_segments", "pilot"]]
        small = f"{es.name}: {n} segments are too few for a pilot, so the numbers needed are unreliable; take at least"
        say(f"{small} {pilot}, if the difference is as large as it looks." if n < pilot else "")
    context.obj.write(together(tables).replace(float("inf"), float("nan")))  # JSON has no infinity
