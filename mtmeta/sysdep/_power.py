"""How deviations depend on the number of segments and of systems, and how often a planted bias is found."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from .._checks import Undefined, check_count, check_number, generator
from .._names import unknown
from ..evalset import EvalSet, as_evalset
from ._cells import NOTHING, Cells, cells_of
from ._deviation import intervals_both_ways


def _in_metric_units(bias: float, cells: Cells) -> float:
    """Return ``bias`` cov(m, h) / var(h); raise where the metric does not rise with the human score."""
    h, m = cells.human - cells.human.mean(), cells.scores - cells.scores.mean()
    covariance, square_h, square_m = h @ m, h @ h, m @ m
    if not covariance > NOTHING * np.sqrt(square_h * square_m):
        raise Undefined("the metric does not rise with the human score, so a bias in human units has no size.")
    return float(bias * (covariance / square_h))


def plant_bias(es: EvalSet | pd.DataFrame, metric: str, system: str, bias: float) -> EvalSet:
    """Make a metric favour one system by ``bias`` human points: raise its scores by ``bias`` cov(m, h) / var(h)."""
    es = as_evalset(es)
    if system not in es.systems:
        raise unknown("system", system, es.systems)
    scores = es[metric].copy()
    scores[es.systems.index(system)] += _in_metric_units(check_number("bias", bias), cells_of(es, metric))
    return es.with_metrics({metric: scores})


def detection_power(
    es: EvalSet | pd.DataFrame,
    metric: str,
    system: str,
    *,
    biases: Sequence[float] = (0.0, 1.0, 2.0),
    sizes: Sequence[int] = (50, 100, 200, 400),
    n_campaigns: int = 50,
    n_resamples: int = 100,
    rng: int | np.random.Generator | None = 0,
) -> pd.DataFrame:
    """Return how often a bias planted in one system is found, by its size and the number of segments.

    Each campaign draws this many segments of the set with replacement; the bias counts as found if the interval of the
    system's deviation lies above 0 (see `deviations_both_ways`). Redrawing one set takes its own chance deviations for
    true, so the rate at bias 0 is not a rate of false alarms.

    Target: the probability that the criterion finds a bias of this size in campaigns with this number of segments.

    Parameters
    ----------
    es : EvalSet or pandas.DataFrame
    metric, system : str
    biases : sequence of float
        In human units; negative disfavours. Every score of the system is raised by ``bias * b``, where b = cov(m, h) /
        var(h) converts units of human score into units of the metric. The rate at 0 is that of the set as it is.
    sizes : sequence of int
        Numbers of segments.
    n_campaigns, n_resamples : int
        Campaigns per bias and size, and resamples within each. All biases see the same campaigns.
    rng : int, Generator or None

    Returns
    -------
    pandas.DataFrame
        ``bias, n_segments, criterion, rate, n_campaigns``; ``criterion`` is ``"forward"``, ``"reverse"`` or ``"both"``.

    Raises
    ------
    ValueError
        If the metric or the system is unknown, or the metric does not rise with the human score.

    See Also
    --------
    mtmeta.plots.detection_curves : a figure of it.

    Examples
    --------
    >>> import mtmeta as mm
    >>> power = mm.sysdep.detection_power(
    ...     mm.load("teaching"), "Regressor", "Kelp", biases=[5], sizes=[200], n_campaigns=5, n_resamples=50)
    >>> float(power.set_index("criterion").loc["both", "rate"])
    1.0
    """
    es = as_evalset(es)
    n_campaigns, n_resamples = check_count("n_campaigns", n_campaigns, 1), check_count("n_resamples", n_resamples, 2)
    rng = generator(rng)
    sets = {bias: plant_bias(es, metric, system, bias) for bias in biases}
    rated = np.flatnonzero((~np.isnan(es.human) & ~np.isnan(es[metric])).all(axis=0))
    if not len(rated):
        raise Undefined("no segment has both scores for every system, so none can be drawn.")
    k, rows = es.systems.index(system), []
    for size in sizes:
        found = {bias: np.zeros(3) for bias in biases}
        for _ in range(n_campaigns):
            drawn = rng.choice(rated, check_count("sizes", size, 2))
            seed = int(rng.integers(2**63))
            for bias, planted in sets.items():
                campaign = EvalSet(planted.human[:, drawn], {metric: planted[metric][:, drawn]}, systems=es.systems)
                forward, reverse = intervals_both_ways(cells_of(campaign, metric), n_resamples, 0.95, seed)
                above = [forward[0, k] > 0, reverse[0, k] > 0]
                found[bias] += [*above, all(above)]
        rows += [
            [bias, size, criterion, rate, n_campaigns]
            for bias in biases
            for criterion, rate in zip(("forward", "reverse", "both"), found[bias] / n_campaigns, strict=True)
        ]
    return pd.DataFrame(rows, columns=["bias", "n_segments", "criterion", "rate", "n_campaigns"])
