"""`mtmeta compare`, `mtmeta power` and `mtmeta drivers`: the difference between two metrics."""

from textwrap import shorten

from typer import Context

import mtmeta as mm

from . import _options as opt
from ._app import command
from ._given import OnSets, together
from ._output import say


@command("compare teaching Judge chrF", cls=OnSets)
def compare(
    context: Context,
    file: str,
    metrics: tuple[str, str],
    coefficient: opt.Coefficient = "pearson",
    grouping: opt.Grouping = "segment",
    n_resamples: int = 1000,
    seed: int = 0,
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


@command("power teaching Judge RegressorQE --coefficient acc_eq", cls=OnSets)
def power(
    context: Context,
    file: str,
    metrics: tuple[str, str],
    coefficient: opt.Coefficient = "pearson",
    grouping: opt.Grouping = "segment",
    n_resamples: int = 1000,
    seed: int = 0,
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


@command("drivers teaching Judge chrF --top 10", cls=OnSets)
def drivers(
    context: Context,
    file: str,
    metrics: tuple[str, str],
    coefficient: opt.Coefficient = "pearson",
    grouping: opt.Grouping = "segment",
    top: int = 20,
) -> None:
    """Show the segments that drive the difference between two metrics, the most influential first.

    Each row has what a segment adds to the agreement of each metric with humans, the better metric first. The
    differences sum to the lead. A table on the screen has the beginning of each source; csv and json have all of it.
    """
    tables = {}
    for es in context.obj.rated([file], metrics=metrics):
        table = mm.significance.drivers(es, metrics, coefficient=coefficient, grouping=grouping)
        lead, (better, worse) = table["difference"].sum(), table.columns[-3:-1]
        without = f"without the {min(top, len(table))} segments by {table['difference'].iloc[top:].sum():z.3f}"
        say(f"{es.name}: {better} is ahead of {worse} by {lead:.3f}; {without}")
        if "source" in table and context.obj.form == "table":
            table["source"] = table["source"].map(lambda text: shorten(text or "", 60, placeholder=" ..."))
        tables[es.name] = table.head(top)
    context.obj.write(together(tables))
