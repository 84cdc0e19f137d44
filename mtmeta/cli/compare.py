"""`mtmeta compare`: test two metrics."""

from typer import Context

import mtmeta as mm

from . import _options as opt
from ._app import app, example
from ._given import OnSets
from ._output import say


@app.command(cls=OnSets, epilog=example("compare teaching Judge chrF"))
def compare(
    context: Context,
    file: opt.File,
    metrics: opt.Duel,
    coefficient: opt.Coefficient = "pearson",
    grouping: opt.Grouping = "segment",
    n_resamples: opt.Draws = 1000,
    seed: opt.Seed = 0,
) -> None:
    """Test whether one metric is better than another by more than luck.

    One row per set: the difference in agreement with its 95 % interval (units redrawn), and the two-sided p-value of
    the test that exchanges units between the metrics: whole documents where 20 are rated, otherwise segments. The
    verdict is about these systems.
    """
    import pandas as pd

    from .._enough import interval_of

    rows, options = [], {"coefficient": coefficient, "grouping": grouping, "n_resamples": n_resamples, "rng": seed}
    for es in context.obj.rated([file], metrics=metrics):
        found = mm.compare(es, metrics, **options)
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
    context.obj.write(pd.DataFrame(rows, columns=names))
