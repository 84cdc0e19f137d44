"""`mtmeta compare`: test two metrics."""

from typing import Annotated, Literal

from typer import Context, Option

import mtmeta as mm

from . import _options as opt
from ._app import app, example
from ._output import emit, form_of, say, written
from ._sets import OnSets, duel, exchanged

_UNIT = "What to exchange and redraw; a block is a run of neighbouring segments."
_BY_SIZE = "document where 20 are rated, otherwise segment"
Unit = Annotated[Literal["segment", "block", "document"] | None, Option(help=_UNIT, show_default=_BY_SIZE)]


@app.command(cls=OnSets, epilog=example("compare teaching Judge chrF"))
def compare(
    context: Context,
    file: opt.File,
    metrics: opt.Duel,
    coefficient: opt.Coefficient = "pearson",
    grouping: opt.Grouping = "segment",
    unit: Unit = None,
    n_resamples: opt.Draws = 1000,
    seed: opt.Seed = 0,
    how: opt.How = None,
    places: opt.Places = 3,
    output: opt.Output = None,
    quiet: opt.Quiet = False,
) -> None:
    """Test whether one metric is better than another by more than luck.

    One row per set: the difference in agreement with its 95 % interval (units redrawn), and the two-sided p-value of
    the test that exchanges units between the metrics. The verdict is about these systems.
    """
    import pandas as pd

    from .._enough import interval_of

    form, rows = form_of(output, how, [file, *context.obj["metrics_from"]]), []
    options = {"coefficient": coefficient, "grouping": grouping, "n_resamples": n_resamples, "rng": seed}
    for es in duel(context.obj, file, metrics):
        found = mm.compare(es, metrics, unit=exchanged(es, unit), **options)
        (better, worse), (upper, lower) = found.table["metric"], found.table["value"]
        of, n = found.table.loc[0, ["unit", "n_units"]]
        redrawn = mm.compare(es, [better, worse], unit=of, method="bootstrap", **options)
        low, high = interval_of(upper - lower, redrawn.draws[0], 0.95, n, (-2, 2))
        p = found.p_values.loc[better, worse]
        verdict = f"{better} is better" if p <= 0.05 else "cannot be told"
        ends = f", 95 % from {low:.3f} to {high:.3f}" if low == low else ""
        lead = f"{better} is ahead of {worse} by {upper - lower:.3f}{ends}"
        assumed = "; if segments are independent" * (of == "segment")
        say(f"{es.name}: {verdict}: {lead} (p = {p:.3f}, {n} {of}s exchanged{assumed})")
        say(f"{es.name}: {found.note}" if found.note else "")
        rows.append((es.name, verdict, better, worse, upper - lower, low, high, p, of, n))
    names = ["set", "verdict", "better", "worse", "difference", "low", "high", "p_value", "unit", "n_units"]
    emit(written(pd.DataFrame(rows, columns=names), form, places), output)
