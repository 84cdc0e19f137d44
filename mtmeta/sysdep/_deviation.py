"""Expected Deviation and SysDep, and the deviation that conditions on the human score."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from .. import _pearson
from .._checks import check_choice, check_count, check_level, generator
from ..evalset import EvalSet, as_evalset, as_sets, metric_names
from ..resampling import base_seed
from ._cells import NOTHING, ONCE, TAILS, Cells, Fits, cells_of, fit, resamples, tables_of

UNITS = ("segment", "document", "cell")
_GRID = 201


@dataclass(frozen=True)
class SystemDependence:
    """The result of `system_dependence`.

    Attributes
    ----------
    summary : pandas.DataFrame
        One row a set and metric: ``set, metric, sysdep, low, high, relative, sd, pearson, n_systems, n_paired``; in
        each set the lowest (best) ``sysdep`` first. ``sysdep`` is the largest less the smallest Expected Deviation, in
        human units; ``low`` and ``high`` its bootstrap interval, NaN without bootstrap. ``relative`` is ``sysdep``
        divided by the range of the systems' mean human scores, which is the SysDep of a constant metric; NaN where that
        is 0. ``sd`` is the standard deviation of the Expected Deviations (denominator: number of systems less one),
        which grows more slowly with the number of systems than ``sysdep`` does. ``pearson`` is the correlation over the
        paired translations without grouping, 0 for a constant metric.
    table : pandas.DataFrame
        One row a set, metric and system, best human mean first: ``set, metric, system, n_paired, n_scored, human,
        score, remapped, expected_deviation, low, high, human_rank, metric_rank, remapped_rank, metric_change,
        remapped_change``. A positive ``expected_deviation`` says that the metric overrates the system; a positive
        change, that it gains ranks.
    curves : pandas.DataFrame
        The fitted maps from metric to human score: ``set, metric, curve, score, human, low, high``; ``curve`` is
        ``"all systems"`` (f_G) or a system (its f_k, over the range of its own scores).
    draws : pandas.DataFrame
        The Expected Deviations in each resample: ``set, metric, system, draw, expected_deviation``.
    signature : str
        How it was computed, in one line.
    """

    summary: pd.DataFrame
    table: pd.DataFrame = field(repr=False)
    curves: pd.DataFrame = field(repr=False)
    draws: pd.DataFrame = field(repr=False)
    signature: str

    def to_frame(self) -> pd.DataFrame:
        """Return a copy of ``summary``."""
        return self.summary.copy()


def system_dependence(
    data: EvalSet | pd.DataFrame | Sequence[EvalSet],
    metrics: Sequence[str] | str | None = None,
    *,
    n_resamples: int = 200,
    population: str = "paired",
    unit: str = "segment",
    rng: int | np.random.Generator | None = 0,
    n_jobs: int | None = None,
) -> SystemDependence:
    r"""Ask whether one map from metric to human scores serves all systems.

    With :math:`f_G` the isotonic regression of human on metric scores over all systems and
    :math:`f_k` that over system k alone, the Expected Deviation of system k is

    .. math:: ED(k) = \frac1{N_M} \sum_j f_G(m_j^k) - \frac1{N_H} \sum_j f_k(m_j^k)
              = \frac1{N_M} \sum_j f_G(m_j^k) - \mu_H^k, \qquad
              SysDep = \max_k ED(k) - \min_k ED(k)

    in units of the human score. ED > 0: the metric overrates the system. The maps are means of the
    fits on ``n_resamples`` resamples; equal metric scores are pooled first, the map is linear between
    neighbouring scores and constant beyond the outermost.

    Target: the spread of these systems' mean deviations at this number of segments; noise adds to it.

    Parameters
    ----------
    data : EvalSet, pandas.DataFrame or sequence of EvalSet
    metrics : str or sequence of str, optional
        All metrics of each set by default; a set that lacks a named one is an error.
    n_resamples : int
        Number of resamples, at least 2; or 0: fit once, on the data, without intervals.
    population : {"paired", "full"}
        The translations over which :math:`f_G` is averaged. ``"paired"``: those with both scores; without bootstrap the
        Expected Deviations, weighted by numbers of ratings, then sum to 0. ``"full"``: all that the metric scored
        (:math:`N_M`), as in the paper; a difference between rated and unrated segments then enters every Expected
        Deviation.
    unit : {"segment", "document", "cell"}
        What the bootstrap draws: segments or documents with all their translations, or single translations as in the
        paper. If a system does well or badly throughout a document, this does not average out over the document's
        segments, and intervals from drawn segments are too narrow; draw documents where the set names some 20 or more.
        ``"cell"`` separates the translations of a segment. Their shared noise, which cancels when systems are compared,
        then widens the intervals of Expected Deviations too much; the band of a single map may become too narrow.
    rng : int, Generator or None
        All metrics get the same resamples.
    n_jobs : int, optional
        Workers of joblib: 1 by default, -1 for all cores. The result does not depend on it.

    Returns
    -------
    SystemDependence
        The 95 % intervals of Expected Deviations are percentiles of the resamples; in simulations with 200 segments
        they held the true value in 93 to 94 % of campaigns. The range of several noisy values is too large on
        average, and even larger in a resample. Each end of the interval of SysDep is therefore the outer of two bounds:
        the percentile, and twice the estimate less the other percentile; low is cut at 0. In the same simulations it
        held the true value in 92 to 98 % of campaigns where systems differ, but in only two of three where all are
        treated alike. Test equal treatment with `compare_with_null` instead.

    Raises
    ------
    ValueError
        If the metric or an option is unknown, a system has no translation with both scores, or the set does not name
        the documents that are to be drawn.

    Notes
    -----
    SysDep mixes unequal treatment with unreliability: a noisy metric that is blind to the system has a large SysDep,
    since regression to the mean underrates the best systems and overrates the worst. Read it together with
    `compare_with_null`, and a system's deviation together with `deviations_both_ways`.

    References
    ----------
    von Däniken, Deriu and Cieliebak 2025, equations 1 and 2, section 3 and appendix C.

    See Also
    --------
    compare_with_null, deviations_both_ways, favours, mtmeta.plots.expected_deviations

    Examples
    --------
    A metric that reads the human score except that it adds 2 for system B:

    >>> import numpy as np, mtmeta as mm
    >>> human = np.array([[-4., -3., -2., -1.], [-4., -3., -2., -1.], [-4., -3., -2., -1.]])
    >>> es = mm.EvalSet(human, {"m": human + [[0.], [2.], [0.]]}, systems=["A", "B", "C"])
    >>> result = mm.system_dependence(es, "m", n_resamples=0)
    >>> result.table[["system", "expected_deviation"]].round(3).to_numpy().tolist()
    [['A', -0.354], ['B', 0.708], ['C', -0.354]]
    >>> float(result.summary["sysdep"][0].round(3))
    1.062

    The same metric scores for both systems, while people score A higher by 1 throughout (:math:`f_A = f_B + 1`). The
    metric ties the two, and so it underrates A by half a point and overrates B by as much:

    >>> tied = mm.EvalSet(human[:2] + [[1.], [0.]], {"m": human[:2]}, systems=["A", "B"])
    >>> mm.system_dependence(tied, "m", n_resamples=0).table["expected_deviation"].tolist()
    [-0.5, 0.5]
    """
    if check_count("n_resamples", n_resamples, 0) == 1:
        raise ValueError("`n_resamples` is 1: an interval needs at least 2 resamples; 0 asks for none.")
    check_choice("population", population, ("paired", "full"))
    check_choice("unit", unit, UNITS)
    sets, options = as_sets(data), (n_resamples, population, unit, base_seed(rng))
    jobs = [(es, metric, *options) for es in sets for metric in metric_names(es, metrics)]
    summary, *others = tables_of(_dependence, jobs, ["set", "metric"], n_jobs)
    order = [k for k, es in enumerate(sets) for _ in metric_names(es, metrics)]
    summary = summary.iloc[np.lexsort((summary["sysdep"], order))].reset_index(drop=True)
    named = ",".join(dict.fromkeys(metric for _, metric, *_ in jobs))
    how = f"B:{n_resamples}|unit:{unit}" if n_resamples else "B:0"
    signature = f"sysdep|metric:{named}|population:{population}|{how}|set:{','.join(es.name for es in sets)}"
    return SystemDependence(summary, *others, signature)


def _dependence(
    es: EvalSet, metric: str, n_resamples: int, population: str, unit: str, seed: int
) -> tuple[pd.DataFrame, ...]:
    """Return the summary, the table of systems, the curves and the draws of one metric."""
    cells = cells_of(es, metric, paired=population == "paired", unit=unit)
    grid = np.linspace(cells.scores.min(), cells.scores.max(), _GRID)
    pooled, curves = _maps(cells, grid, n_resamples, unit, generator(seed))
    draws = pooled.deviations if n_resamples else np.empty((0, cells.n_systems))
    table = _table(es, cells, pooled, draws)
    deviations = table["expected_deviation"]
    sysdep, spread = np.ptp(deviations), np.ptp(table["human"])
    low, high = _range_interval(cells, draws)
    summary = {"sysdep": sysdep, "low": low, "high": high, "relative": sysdep / spread if spread > 0 else np.nan}
    summary["sd"] = deviations.to_numpy().std(ddof=1) if len(deviations) > 1 else np.nan
    summary["pearson"] = pearson(cells.human, cells.scores[: cells.n_paired])
    summary |= {"n_systems": cells.n_systems, "n_paired": cells.n_paired}
    curves = _curve_table([f"{name}" for name in ("all systems", *es.systems)], curves, grid, n_resamples)
    of_draws = {"system": np.repeat(es.systems, len(draws)), "draw": np.tile(np.arange(len(draws)), cells.n_systems)}
    of_draws["expected_deviation"] = draws.T.ravel()
    return pd.DataFrame([summary]), table, curves, pd.DataFrame(of_draws)


def _maps(cells: Cells, grid, n_resamples: int, unit: str, rng) -> tuple[Fits, list[tuple[Fits, np.ndarray]]]:
    """Return f_G, and the curves of f_G and of every f_k with the part of the grid that each covers."""
    unit_of, counts = resamples(cells, unit, n_resamples, rng) if n_resamples else (None, None)
    pooled = fit(cells, unit_of, counts, grid)
    curves = [(pooled, np.full(len(grid), True))]
    for k in range(cells.n_systems):
        own, own_counts = cells.of(k), None
        if n_resamples and unit == "cell":  # as in the paper: each map has resamples of its own
            unit_of, own_counts = resamples(own, unit, n_resamples, rng)
        elif n_resamples:  # the same units as for f_G; a draw without any of this system's is left out
            unit_of, own_counts = own.unit, counts[counts[:, np.unique(own.unit)].any(axis=1)]
        inside = (grid >= own.scores.min()) & (grid <= own.scores.max())
        curves.append((fit(own, unit_of, own_counts, grid), inside))
    return pooled, curves


def _range_interval(cells: Cells, draws: np.ndarray) -> tuple[float, float]:
    """Return the outer of the percentile and the mirrored bounds of the range; see `system_dependence`."""
    ranges = np.ptp(draws, axis=1) if len(draws) else np.empty(0)
    if not len(ranges) or np.isnan(ranges).mean() > TAILS[0]:
        return np.nan, np.nan
    low, high = np.nanquantile(ranges, TAILS)
    value = float(np.ptp(fit(cells).deviations))
    return max(min(low, 2 * value - high), 0.0), float(max(high, 2 * value - low))


def _table(es: EvalSet, cells: Cells, pooled: Fits, draws: np.ndarray) -> pd.DataFrame:
    table = pd.DataFrame({"system": es.systems})
    table["n_paired"] = np.bincount(cells.system[: cells.n_paired], minlength=es.shape[0])
    table["n_scored"] = np.bincount(cells.system, minlength=es.shape[0])
    for name, values in (("human", cells.human), ("score", cells.scores), ("remapped", pooled.rows)):
        table[name] = cells.system_means(values)
    table["expected_deviation"] = table["remapped"] - table["human"]
    table["low"], table["high"] = _tails(draws, TAILS) if len(draws) else (np.nan, np.nan)
    means = table[["human", "score", "remapped"]].rename(columns={"score": "metric"})
    ranks = means.rank(ascending=False, method="min").astype(int)
    table = table.join(ranks.add_suffix("_rank"))
    for name in ("metric", "remapped"):
        table[f"{name}_change"] = ranks["human"] - ranks[name]
    return table.sort_values("human", ascending=False, ignore_index=True, kind="stable")


def _curve_table(names, curves, grid, n_resamples: int) -> pd.DataFrame:
    parts = []
    for name, (fits, inside) in zip(names, curves, strict=True):
        low, high = np.quantile(fits.grid_draws, TAILS, axis=0) if n_resamples else np.full((2, len(grid)), np.nan)
        columns = {"score": grid, "human": fits.grid, "low": low, "high": high}
        parts.append(pd.DataFrame({"curve": name, **columns})[inside])
    return pd.concat(parts, ignore_index=True)


def pearson(x: np.ndarray, y: np.ndarray) -> float:
    """Return Pearson's correlation, 0 where a side is constant."""
    r = _pearson.pearson(x, y)
    return 0.0 if np.isnan(r) else float(r)


def deviations_both_ways(
    es: EvalSet | pd.DataFrame,
    metric: str,
    *,
    n_resamples: int = 1000,
    unit: str = "segment",
    level: float = 0.95,
    rng: int | np.random.Generator | None = 0,
) -> pd.DataFrame:
    r"""Compare each system's deviation given the metric with its deviation given the human score.

    The forward deviation is the Expected Deviation, :math:`\overline{f_G(m^k)} - \bar h^k` with
    :math:`f_G(m) = E[h|m]`. The reverse deviation regresses the other way, :math:`g(h) = E[m|h]`, isotonic too:

    .. math:: R(k) = (\overline{m^k} - \overline{g(h^k)}) \,/\, b, \qquad b = cov(m, h) / var(h)

    in human units, positive where the metric favours the system. Noise in the metric makes the forward deviation
    negative for good systems and positive for bad ones; noise in the human score does the opposite to the reverse
    deviation. A system is therefore called favoured (disfavoured) only where both are above (below) 0. A metric that
    follows the difficulty of segments more or less closely than it follows quality misleads both; pass
    `centre_segments(es)` to rule this out.

    Target: each system's mean deviation over segments like these, given the metric and given the human score.

    Parameters
    ----------
    es : EvalSet or pandas.DataFrame
    metric : str
    n_resamples : int
        Resamples for the intervals, at least 2. Verdicts change with the seed unless several resamples lie in each
        tail: at level ``1 - .05 / K``, 4,000 resamples leave 100 / K beyond each bound.
    unit : {"segment", "document", "cell"}
        What is resampled; see `system_dependence`.
    level : float
        Nominal coverage of each interval. If there is only noise, a system that is treated like the others gets a
        verdict in at most ``1 - level`` of campaigns, and at least one of K systems does in up to K times as many. For
        a verdict on a whole campaign use ``1 - .05 / K``.
    rng : int, Generator or None

    Returns
    -------
    pandas.DataFrame
        ``system, human, forward, forward_low, forward_high, reverse, reverse_low, reverse_high, verdict``, best human
        mean first; ``verdict`` is ``"favoured"``, ``"disfavoured"`` or ``"undecided"``. Each map is fitted once, on the
        translations with both scores. If the metric does not rise with the human score (b <= 0), the reverse columns
        are NaN and every verdict is undecided.

    Raises
    ------
    ValueError
        As `system_dependence`.

    See Also
    --------
    favours : which systems are favoured, whatever the direction.
    mtmeta.plots.deviation_plane : a figure of it.

    References
    ----------
    The forward deviation: von Däniken, Deriu and Cieliebak 2025, equation 1. That two regressions disagree
    about individuals: Galton 1886.

    Examples
    --------
    >>> import mtmeta as mm
    >>> both = mm.sysdep.deviations_both_ways(mm.load("teaching"), "Biased", n_resamples=200)
    >>> both.loc[both["verdict"] == "favoured", "system"].tolist()
    ['Fjord']
    """
    es = as_evalset(es)
    check_choice("unit", unit, UNITS)
    cells = cells_of(es, metric, least=2, unit=unit)
    n_resamples, whole = check_count("n_resamples", n_resamples, 2), np.zeros(cells.n_paired, np.int64)
    forward, reverse = (way(cells, whole, ONCE)[0] for way in (_forward, _reverse))
    bounds = intervals_both_ways(cells, n_resamples, check_level(level), rng, unit)
    columns = {"system": es.systems, "human": cells.system_means(cells.human)}
    for name, value, (low, high) in zip(("forward", "reverse"), (forward, reverse), bounds, strict=True):
        columns |= {name: value, f"{name}_low": low, f"{name}_high": high}
    table = pd.DataFrame(columns)
    favoured = (table["forward_low"] > 0) & (table["reverse_low"] > 0)
    disfavoured = (table["forward_high"] < 0) & (table["reverse_high"] < 0)
    table["verdict"] = np.select([favoured, disfavoured], ["favoured", "disfavoured"], "undecided")
    return table.sort_values("human", ascending=False, ignore_index=True, kind="stable")


def intervals_both_ways(
    cells: Cells, n_resamples: int, level: float, rng, how: str = "segment"
) -> tuple[np.ndarray, np.ndarray]:
    """Return the intervals of the forward and the reverse deviations, each of shape (2, n_systems)."""
    unit, counts = resamples(cells, how, n_resamples, generator(rng))
    tails = [(1 - level) / 2, (1 + level) / 2]
    return tuple(_tails(way(cells, unit, counts), tails) for way in (_forward, _reverse))


def _tails(draws: np.ndarray, tails: list[float]) -> np.ndarray:
    """Return the quantiles of each column; NaN where more draws than a tail holds are undefined."""
    undefined = np.isnan(draws).mean(axis=0) > tails[0]
    filled = np.where(undefined, 0.0, draws)
    return np.where(undefined, np.nan, np.nanquantile(filled, tails, axis=0))


def _forward(cells: Cells, unit: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return mean f_G(m) less mean h of each system in each draw, shape (n_resamples, n_systems)."""
    return fit(cells, unit, counts).deviations


def _reverse(cells: Cells, unit: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return (mean m less mean g(h)) / b of each system in each draw; NaN where b <= 0, or 0 but for rounding."""
    backward = fit(replace(cells, human=cells.scores, scores=cells.human), unit, counts).deviations
    h, m = cells.human - cells.human.mean(), cells.scores - cells.scores.mean()
    sums = [np.bincount(unit, v, counts.shape[1]) for v in (np.ones(len(h)), h, m, h**2, m**2, h * m)]
    n, *totals = (counts @ np.transpose(sums)).T
    mean_h, mean_m, square_h, square_m, product = (total / n for total in totals)
    variance, covariance = square_h - mean_h**2, product - mean_h * mean_m
    rises = (variance > NOTHING * square_h) & (covariance > NOTHING * np.sqrt(square_h * square_m))
    slope = np.divide(covariance, variance, out=np.full(len(counts), np.nan), where=rises)
    return -backward / slope[:, None]
