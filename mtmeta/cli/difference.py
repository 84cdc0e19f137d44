"""`mtmeta difference`: what a difference in the scores of a metric is worth."""

from typing import Annotated

from typer import Argument, Context, Option

import mtmeta as mm

from ._app import app, example
from ._given import OnSets
from ._output import say

Metric = Annotated[str, Argument(metavar="METRIC", help="The metric, as the scores call it.")]
Delta = Annotated[float, Argument(metavar="DELTA", min=0, help="How much it prefers one system.")]
_CURVE = "Fit the curve to these scores, not to WMT23's; repeatable."
Curve = Annotated[list[str] | None, Option("--set", metavar="FILE|SET", help=_CURVE)]
Segments = Annotated[int | None, Option(metavar="N", help="How many segments are averaged, by default all.")]


@app.command(cls=OnSets, epilog=example("difference chrF 1.2"))
def difference(
    context: Context,
    name: Metric,
    delta: Delta,
    sets: Curve = None,
    segments: Segments = None,
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
