"""`mtmeta systems` and `mtmeta difference`: is one system better than another, and what is a difference worth."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer
from typer import Context

import mtmeta as mm

from ._app import command
from ._given import OnSets, report_left_out, together
from ._output import say

if TYPE_CHECKING:
    import pandas as pd

#: Level of the tests of which the last message speaks.
_ALPHA = 0.05


@command("systems Ember Aster teaching", cls=OnSets)
def systems(
    context: Context,
    names: list[str],
    every: bool = False,
    figure: Path | None = None,
    metric: list[str] | None = None,
    n_resamples: int = 1000,
    seed: int = 0,
) -> None:
    """Test by each metric whether one system is better than another.

    Positive differences favour the first system. Intervals redraw documents if the set names 20, otherwise segments;
    p-values exchange the two systems in them. people_agree: how often the raters of WMT23 preferred the system that the
    metric preferred by so much, for metrics of WMT23. Human scores are not needed.
    """
    if len(names) != (1 if every else 3):
        expected, found = "the scores alone" if every else "two systems and the scores", " ".join(names)
        raise typer.BadParameter(f"expected {expected}; found {found!r}.", param_hint="SYSTEM SYSTEM FILE|SET")
    if figure is not None and (not every or len(metric or ()) != 1):
        raise typer.BadParameter("goes with --all and one --metric.", param_hint="--figure")
    sets = context.obj.load(names[-1:], metrics=metric or None, unrated="keep")
    report_left_out(sets)
    options = {"metrics": metric, "n_resamples": n_resamples, "rng": seed}
    tables = {es.name: mm.compare_systems(es, *names[:-1], **options) for es in sets}
    table = together(tables)
    for name, found in tables.items() if not every else ():
        _conclude(name, found[found["metric"] != "human"], *names[:2])
    if table["people_agree"].isna().all():
        say("people_agree is empty: no metric here has a curve of WMT23 for as many segments (see mtmeta difference)")
    if figure is not None:
        mm.plots.system_differences(table[table["metric"] == metric[0]]).figure.savefig(figure, bbox_inches="tight")
        say(f"figure: {figure}")
    say(f"draws:{n_resamples}|seed:{seed}|level:0.95{'|correction:maxT' * every}|mtmeta:{mm.__version__}")
    context.obj.write(table)


def _conclude(name: str, table: pd.DataFrame, first: str, second: str) -> None:
    """Report by how many metrics each of the two systems is better, and by how many of these significantly."""
    told = []
    for system, gaps in ((first, table["difference"]), (second, -table["difference"])):
        sure = ((gaps > 0) & (table["p"] < _ALPHA)).sum()
        told.append(f"{system} is better by {(gaps > 0).sum()} of {len(table)} metrics ({sure} with p < {_ALPHA:g})")
    say(f"{name}: {', '.join(told)}")


@command("difference chrF 1.2", cls=OnSets)
def difference(
    context: Context,
    name: str,
    delta: float,
    sets: list[str] | None = None,
    segments: int | None = None,
) -> None:
    """Print how often humans prefer the system that a metric prefers by this much.

    Prints the chance, by a logistic curve through 1/2 at 0, its 95 % interval for other systems, and the difference at
    which the chance is .8. The curves of WMT23 have 249 pairs of systems and MQM ratings. They are for 30, 100, 300 and
    all segments (557 or more; 0 in the column n_segments), and the next smaller one counts. BLEU, chrF and other
    metrics whose system scores are not means of segment scores have only the curve for all. The interval is too narrow
    for a new campaign, because only systems are redrawn. With a human translation a curve does not hold.
    """
    import numpy as np
    from scipy.special import expit, logit

    if sets:
        loaded = context.obj.rated(sets, metrics=[name], by_system=True)
        row = mm.differences.curve(loaded, name, n_segments=segments).to_frame()
        row.insert(1, "n_segments", segments or 0)
    else:
        row = mm.differences.wmt23_curve(name, n_segments=segments)
    slopes = row.loc[0, ["slope", "low", "high"]].to_numpy(dtype=float)
    largest, n_human, agreed = (row.at[0, name] for name in ("largest", "n_human", "human_agreement"))
    far = f"no two systems of the curve differ by more than {largest:.4g}. Is this the same scale?"
    say(
        f"{far} Beyond that the chance is an extrapolation." if delta > largest else "",
        "The curve is for two machine translations. If one of the two is a human translation, do not use it: "
        + (f"there humans agreed with {agreed:.0%} of {n_human} differences." if n_human else "it has no such pair."),
        "The interval redraws systems, not campaigns; for a new campaign it is too narrow.",
    )
    (chance, low, high), needed = expit(slopes * delta), logit(0.8) / slopes[0] if slopes[0] > 0 else np.inf
    found = row[["metric", "n_segments"]].assign(difference=delta, chance=chance, low=low, high=high, needed_80=needed)
    context.obj.write(found.join(row[["n_pairs", "n_systems", "n_sets"]]))
