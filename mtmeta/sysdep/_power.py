"""How deviations depend on the number of segments and of systems, and how often a planted bias is found."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from .._checks import Undefined, check_count, check_number, generator
from .._names import unknown
from ..evalset import EvalSet, as_evalset
from ._cells import NOTHING, Cells, cells_of, fit
from ._deviation import intervals_both_ways


def _spread(deviations: np.ndarray) -> tuple[float, float]:
    """Return the range and the standard deviation."""
    return float(np.ptp(deviations)), float(deviations.std(ddof=1))


def _mean_spread(spreads: list[tuple[float, float]]) -> tuple[float, float]:
    """Return the mean range and the root mean variance, which does not depend on the number of values."""
    ranges, sds = np.array(spreads).T
    return ranges.mean(), float(np.sqrt((sds**2).mean()))


def within_system_splits(
    es: EvalSet | pd.DataFrame,
    metric: str,
    *,
    parts: Sequence[int] = (2, 3, 5, 10, 15),
    n_splits: int = 20,
    rng: int | np.random.Generator | None = 0,
) -> pd.DataFrame:
    r"""Compare deviations among random parts of one system with deviations among systems, at equal size.

    Each system's paired translations are split at random into P parts of n; the deviation of a part is
    :math:`\overline{f_k(m)} - \bar h` over the part, with :math:`f_k` fitted to the whole system. These are compared
    with the deviations :math:`\overline{f_G(m)} - \bar h` of P systems drawn at random, with n translations each.

    Target: the deviation that noise alone produces among parts of one system, at this number of segments.

    Parameters
    ----------
    es : EvalSet or pandas.DataFrame
    metric : str
    parts : sequence of int
        Numbers of parts, at least 2. The paper does not say how many it used.
    n_splits : int
        Random splits per system.
    rng : int, Generator or None

    Returns
    -------
    pandas.DataFrame
        ``parts, n_segments, within_range, within_sd, across_range, across_sd, n_splits``: over systems and splits,
        the mean range of the P deviations and the root of their mean variance, in human units; ``n_segments`` is the
        mean size of a part. The across columns are NaN where P exceeds the number of systems.

    Raises
    ------
    ValueError
        If a number of parts is below 2 or a system has fewer paired translations than parts.

    See Also
    --------
    mtmeta.system_dependence : across systems.

    References
    ----------
    von Däniken, Deriu and Cieliebak 2025, appendix D.

    Examples
    --------
    >>> import mtmeta as mm
    >>> table = mm.sysdep.within_system_splits(mm.load("teaching"), "Judge", parts=[2, 10], n_splits=5)
    >>> bool(table["within_range"].is_monotonic_increasing)
    True
    """
    es = as_evalset(es)
    cells = cells_of(es, metric)
    rng = generator(rng)
    n_splits = check_count("n_splits", n_splits, 1)
    smallest = int(np.bincount(cells.system).min())
    for p in parts:
        if check_count("parts", p, 2) > smallest:
            raise ValueError(f"cannot split into {p} parts: one system has {smallest} translations with both scores.")
    own = [cells.of(k) for k in range(cells.n_systems)]
    own_residuals = [fit(one).rows - one.human for one in own]
    pooled = fit(cells).rows - cells.human
    pooled_residuals = [pooled[cells.system == k] for k in range(cells.n_systems)]
    rows = []
    for p in parts:
        within = [_spread(_part_means(r, p, rng)) for r in own_residuals for _ in range(n_splits)]
        across = [_spread(_system_means(pooled_residuals, p, rng)) for _ in range(n_splits * cells.n_systems)]
        size = cells.n_paired / cells.n_systems / p
        rows.append([p, size, *_mean_spread(within), *_mean_spread(across), n_splits])
    names = ["parts", "n_segments", "within_range", "within_sd", "across_range", "across_sd", "n_splits"]
    return pd.DataFrame(rows, columns=names)


def _part_means(residuals: np.ndarray, parts: int, rng) -> np.ndarray:
    return np.array([part.mean() for part in np.array_split(rng.permutation(residuals), parts)])


def _system_means(residuals: list[np.ndarray], parts: int, rng) -> np.ndarray:
    if parts > len(residuals):
        return np.full(parts, np.nan)
    chosen = rng.choice(len(residuals), parts, replace=False)
    return np.array([rng.permutation(residuals[k])[: max(1, len(residuals[k]) // parts)].mean() for k in chosen])


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
