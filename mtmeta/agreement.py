"""Agreement of metrics with humans: correlations, pair statistics and system-level accuracies.

Every statistic answers "does the metric order, or space, translations as humans do?". They differ in which translations
they compare: see `correlate` on grouping.
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import ndtr

from . import _agreement_kernels as _kernels
from ._checks import Undefined, check_choice, check_count, check_number, generator
from ._equal import OF_MEAN, ends_of_runs, merged_scores, tolerance_of_differences
from ._names import names_of, unknown
from ._pearson import fisher_interval, scaled
from ._resampling import units_of
from .evalset import EvalSet, as_evalset, as_sets, is_rating, metric_names

__all__ = [
    "COEFFICIENTS",
    "GROUPINGS",
    "correlate",
    "correlate_groups",
    "decompose_pearson",
    "metric_correlations",
    "pairwise_accuracy",
    "pairwise_difference_pearson",
    "partial_correlations",
    "soft_pairwise_accuracy",
]

GROUPINGS = ("none", "segment", "system")
DEGENERATE = ("drop", "zero", "nan", "raise")
_CORRELATIONS = ("pearson", "spearman")
_TIE_AWARE = ("acc_eq", "tau_eq")
_TAUS = ("tau_b", "tau_a", "tau_c", "tau_10", "tau_13", "tau_14")
#: Thresholds of ties that are chosen on the data: as here, or as the reference implementation does.
THRESHOLDS = ("calibrate", "published")
COEFFICIENTS = (*_CORRELATIONS, "kendall", *_TAUS, *_TIE_AWARE)


# -- grouping ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Grouped:
    """Scored cells of one metric, flat, cut into groups of at least two.

    Attributes
    ----------
    human, metric : numpy.ndarray, shape (n_cells,)
        Scores that differ by rounding only are one.
    starts : numpy.ndarray of int64, shape (n_groups + 1,)
    labels : tuple
        The segment or system behind each group.
    n_systems, n_segments : int
        How many systems and segments have at least one scored cell.
    tolerance : float
        Differences of the metric that are no further apart are one threshold.
    """

    human: np.ndarray
    metric: np.ndarray
    starts: np.ndarray
    labels: tuple
    n_systems: int
    n_segments: int
    tolerance: float

    @property
    def sizes(self) -> np.ndarray:
        """Number of cells in each group."""
        return np.diff(self.starts)

    @property
    def group(self) -> np.ndarray:
        """The number of each cell's group."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @property
    def human_ranks(self) -> np.ndarray:
        """Dense ranks (int64) of the human scores: equal scores, equal rank."""
        return np.unique(self.human, return_inverse=True)[1].astype(np.int64)


def grouped(es: EvalSet, metric: str, grouping: str, *, published: bool = False) -> Grouped:
    """Return the cells that humans and ``metric`` both scored, cut into groups.

    Groups with fewer than two such cells compare nothing and are left out. ``published`` keeps scores and differences
    apart that differ in their last digit.

    Raises
    ------
    ValueError
        If the grouping is unknown or no group has two scored cells.
    """
    check_choice("grouping", grouping, GROUPINGS)
    human, scores = es.human, es[metric]
    scored = ~(np.isnan(human) | np.isnan(scores))
    n_systems, n_segments = (int(scored.any(axis=axis).sum()) for axis in (1, 0))
    if grouping == "segment":
        human, scores, scored = human.T, scores.T, scored.T
    labels = {"none": ("all",), "segment": es.segments, "system": es.systems}[grouping]
    sizes = np.array([scored.sum()]) if grouping == "none" else scored.sum(axis=1)
    keep = sizes >= 2
    if not keep.any():
        raise Undefined(
            f"metric {metric!r} in set {es.name!r}: no group has two translations that humans and the metric scored "
            f"(grouping {grouping!r}, {es.shape[0]} systems, {es.shape[1]} segments, {scored.sum()} cells with both)."
        )
    cells = np.repeat(keep, sizes)
    starts = np.concatenate([[0], np.cumsum(sizes[keep])]).astype(np.int64)
    kept = tuple(itertools.compress(labels, keep))
    sides, tolerance = (human[scored], scores[scored]), 0.0
    if not published:
        sides, tolerance = map(merged_scores, sides), tolerance_of_differences(sides[1])
    return Grouped(*(side[cells] for side in sides), starts, kept, n_systems, n_segments, tolerance)


# -- coefficients on groups --------------------------------------------------------------


def _scale(values: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Multiply each group by the power of two that brings its largest magnitude to [0.5, 1)."""
    largest = np.maximum.reduceat(np.abs(values), starts[:-1])
    return np.ldexp(values, -np.repeat(np.frexp(largest)[1], np.diff(starts)))


def _centre(values: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Subtract each group's mean, twice: the second pass removes the first one's rounding."""
    sizes = np.diff(starts)
    for _ in range(2):
        values = values - np.repeat(np.add.reduceat(values, starts[:-1]) / sizes, sizes)
    return values


def _centred(values: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return deviations from the mean of the group, each group near 1 in size."""
    return _centre(_scale(values, starts), starts)


def _deviations(values: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return deviations from the mean of the group, the largest of all brought to [0.5, 1); 0 in constant groups."""
    values = np.where(np.repeat(_constant(values, starts), np.diff(starts)), 0.0, _centre(values, starts))
    return _scale(values, np.array([0, len(values)]))


def _constant(values: np.ndarray, starts: np.ndarray) -> np.ndarray:
    return np.maximum.reduceat(values, starts[:-1]) == np.minimum.reduceat(values, starts[:-1])


def _pearson(human: np.ndarray, metric: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Pearson's r of each group; NaN where a side is constant."""
    x, y = (_centred(side, starts) for side in (human, metric))
    xy, xx, yy = (np.add.reduceat(p, starts[:-1]) for p in (x * y, x * x, y * y))
    undefined = _constant(human, starts) | _constant(metric, starts)
    r = np.full(len(xy), np.nan)
    np.divide(xy, np.sqrt(xx * yy), out=r, where=~undefined)
    return np.clip(r, -1, 1)


def _taus_from_counts(cells: Grouped, coefficient: str, counts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Turn counts of pairs, (..., n_groups, 5), of groups of these sizes into values, (..., n_groups)."""
    if coefficient != "tau_c":
        flat = _kernels.taus_of_groups(_kernels.VARIANTS[coefficient], counts.reshape(-1, 5))
        return flat.reshape(counts.shape[:-1])
    scores = pd.DataFrame({"human": cells.human, "metric": cells.metric})
    k = scores.groupby(cells.group).nunique().min(axis=1).to_numpy()  # distinct scores
    numerator, denominator = 2 * (counts[..., 0] - counts[..., 1]) * k, sizes**2.0 * (k - 1)
    return np.divide(numerator, denominator, out=np.full(numerator.shape, np.nan), where=denominator > 0)


def _values(cells: Grouped, coefficient: str, epsilon: float | str) -> np.ndarray:
    """Value of ``coefficient`` in each group; NaN where it is undefined."""
    if coefficient in _CORRELATIONS:
        return _pearson(*_sides(cells, coefficient), cells.starts)
    if epsilon in THRESHOLDS:
        epsilon = _threshold(cells, coefficient)
    elif epsilon > 0:
        epsilon += cells.tolerance
    counts = _kernels.pair_counts(cells.human_ranks, cells.metric, cells.starts, epsilon)
    return _taus_from_counts(cells, coefficient, counts.astype(np.float64), cells.sizes)


def _sides(cells: Grouped, coefficient: str) -> list[np.ndarray]:
    """Return human and metric scores, or their ranks within groups for Spearman's."""
    sides = [cells.human, cells.metric]
    if coefficient == "pearson":
        return sides
    return [pd.Series(side).groupby(cells.group).rank().to_numpy() for side in sides]


def _threshold(cells: Grouped, coefficient: str) -> float:
    """Return up to which difference ties suit the cells best; 0 for a coefficient that is not calibrated."""
    return calibration(cells)[0] + cells.tolerance if coefficient in _TIE_AWARE else 0.0


def _check_coefficient(coefficient: str, epsilon: float | str) -> str:
    check_choice("coefficient", coefficient, COEFFICIENTS)
    coefficient = "tau_b" if coefficient == "kendall" else coefficient
    if epsilon in THRESHOLDS:
        return coefficient
    if check_number("epsilon", epsilon) < 0:
        raise ValueError(f"`epsilon` must be a number >= 0, in units of the metric; found {epsilon!r}.")
    if coefficient in (*_CORRELATIONS, "tau_c"):
        raise ValueError(f"`epsilon` has no meaning for {coefficient!r}: it does not compare pairs up to a threshold.")
    return coefficient


def _pairs(starts: np.ndarray) -> np.ndarray:
    """Return the positions of the first and the second cell of every pair, shape (2, n_pairs)."""
    return np.hstack([start + np.triu_indices(end - start, 1) for start, end in itertools.pairwise(starts)])


# -- tie calibration ---------------------------------------------------------------------

#: From this many pairs on, differences are binned first instead of being sorted all at once.
_BINNED_FROM = 1_000_000


def _pair_weights(cells: Grouped) -> tuple[np.ndarray, float]:
    """Weights that give each group the same say, and their total per unit of acc_eq.

    Weights are whole numbers where they fit, so that sums are exact and equal candidates tie; otherwise 1 / pairs.
    """
    pairs = [int(n) * (int(n) - 1) // 2 for n in cells.sizes]
    unit = math.lcm(*set(pairs))
    if unit * len(pairs) < 2**62:
        return np.array([unit // n for n in pairs], dtype=np.int64), float(unit * len(pairs))
    return 1.0 / np.array(pairs, dtype=np.float64), float(len(pairs))


def _running_sums(differences, gains, start, tolerance):
    """Return the largest of each run of equal differences, ascending, and the sum of ``gains`` up to it."""
    order = np.argsort(differences)  # the order among equal differences does not matter
    differences, running = differences[order], start + np.cumsum(gains[order])
    ends = ends_of_runs(differences, tolerance)
    return differences[ends], running[ends]


def first_best(curve: np.ndarray) -> int:
    """Return the position of the first of the best values; which of two equal ones is rounded up does not matter."""
    return int(np.argmax(curve >= curve.max() - OF_MEAN))


def calibration_curve(cells: Grouped) -> tuple[np.ndarray, np.ndarray]:
    """Return every threshold at which acc_eq changes (0 first, or what differs from it by rounding), and acc_eq there.

    Of differences that are equal but for rounding the threshold is the largest.
    """
    weights, total = _pair_weights(cells)
    every, size = np.ones(_kernels.N_BINS, dtype=bool), int((cells.sizes * (cells.sizes - 1) // 2).sum())
    differences, gains = _kernels.tie_gains(cells.human_ranks, cells.metric, cells.starts, weights, every, size)
    concordant = -gains[gains < 0].sum()
    thresholds, numerators = _running_sums(differences, gains, concordant, cells.tolerance)
    if not len(thresholds) or differences.min() > cells.tolerance:
        thresholds, numerators = np.append(0.0, thresholds), np.append(concordant, numerators)
    changes = np.append(True, numerators[1:] != numerators[:-1])  # gains at one threshold may cancel
    return thresholds[changes], numerators[changes] / total


def calibration(cells: Grouped) -> tuple[float, float]:
    """Return the smallest epsilon that maximises acc_eq, and acc_eq there; exact, no sampling."""
    n_pairs = int((cells.sizes * (cells.sizes - 1) // 2).sum())
    weights, total = _pair_weights(cells)
    if n_pairs < _BINNED_FROM or weights.dtype != np.int64:
        thresholds, values = calibration_curve(cells)
        best = first_best(values)
        return float(thresholds[best]), float(values[best])
    return _binned_calibration(cells, weights, total)


def _binned_calibration(cells: Grouped, weights: np.ndarray, total: float) -> tuple[float, float]:
    """Do the work of `calibration` without holding all pairs.

    One pass sums gains per bin of the difference. Bins between which a run of equal differences extends form a block.
    Within a block the running sum can rise by no more than the block's positive gains, so only blocks that could hold
    the maximum are listed and sorted.
    """
    ranks = cells.human_ranks
    *sums, lowest, highest = _kernels.binned_tie_gains(ranks, cells.metric, cells.starts, weights)
    used = np.flatnonzero(np.add(*sums))
    if not len(used):
        return 0.0, 0.0
    apart = np.append(True, lowest[used[1:]] - highest[used[:-1]] > cells.tolerance)
    rises, falls = (np.add.reduceat(part[used], np.flatnonzero(apart)) for part in sums)
    block = np.full(_kernels.N_BINS, -1)
    block[used] = np.cumsum(apart) - 1
    concordant = falls.sum()
    after = concordant + np.cumsum(rises - falls)
    before = np.append(concordant, after[:-1])
    zero = lowest[used[0]] <= cells.tolerance  # some differences are 0 but for rounding
    best, epsilon = -1 if zero else int(concordant), 0.0
    wanted = (before + rises >= max(best, after.max())) & (rises > 0)
    wanted[0] |= zero
    size = int(((rises + falls)[wanted] // int(weights.min())).sum())
    bins = np.isin(block, np.flatnonzero(wanted))
    listed = _kernels.tie_gains(ranks, cells.metric, cells.starts, weights, bins, size)
    blocks = block[listed[0].view(np.int64) >> _kernels.BIN_SHIFT]
    for b in np.flatnonzero(wanted):
        inside = blocks == b
        thresholds, running = _running_sums(listed[0][inside], listed[1][inside], before[b], cells.tolerance)
        if running.max() > best:
            best, epsilon = int(running.max()), float(thresholds[np.argmax(running)])
    return epsilon, best / total


# -- public ------------------------------------------------------------------------------


def correlate(
    es: EvalSet | pd.DataFrame,
    metrics: Sequence[str] | str | None = None,
    *,
    coefficient: str = "pearson",
    grouping: str = "segment",
    degenerate: str = "drop",
    epsilon: float | str = "calibrate",
) -> pd.DataFrame:
    r"""Correlate metrics with human scores over chosen groups of translations.

    The coefficient is computed within each group and the groups are averaged, unweighted.
    ``grouping="none"`` compares any two translations; ``"segment"`` only translations of the
    same segment ("which system did better here?"); ``"system"`` only translations by the same
    system ("which of its translations are worse?").

    Target: the mean coefficient over groups (segments, systems or all translations) like those given, scored by
    these raters.

    Parameters
    ----------
    es : EvalSet or pandas.DataFrame
        The scores; a tidy table is converted.
    metrics : str or sequence of str, optional
        Which metrics; all by default.
    coefficient : str
        With C concordant and D discordant pairs, pairs tied in human only :math:`T_h`, in
        metric only :math:`T_m`, in both :math:`T_{hm}`, n cells, k the smaller number of
        distinct scores:

        - ``pearson``: linear correlation; ``spearman``: of average ranks
        - ``kendall``, ``tau_b``: :math:`(C-D)/\sqrt{(C+D+T_h)(C+D+T_m)}`
        - ``tau_a``: :math:`(C-D)/\text{pairs}`
        - ``tau_c``: :math:`2(C-D)/(n^2(k-1)/k)`
        - ``tau_10``: :math:`(C-D-T_m)/(C+D+T_m)`; ``tau_13``: :math:`(C-D)/(C+D)`;
          ``tau_14``: :math:`(C-D)/(C+D+T_m)`
        - ``acc_eq``: :math:`(C+T_{hm})/\text{pairs}`, in [0, 1]
        - ``tau_eq``: :math:`(C+T_{hm}-D-T_h-T_m)/\text{pairs} = 2\,acc_{eq}-1`
    grouping : {"none", "segment", "system"}
    degenerate : {"drop", "zero", "nan", "raise"}
        How an undefined group (a side is constant) counts: not at all (WMT practice; if no group is left the value is
        0), as 0, as NaN for the whole value, or as an error. ``n_degenerate`` always counts it.
    epsilon : "calibrate", "published" or float
        Two metric scores at most ``epsilon`` apart, in units of the metric, are tied. By default ``acc_eq`` and
        ``tau_eq`` use the value, one for all groups, that is best on these same data (tie calibration); the other
        coefficients use 0. Scores, or differences, that are equal but for rounding are equal: differences that are no
        further apart than 1e-9 of the range of the metric. ``"published"`` calibrates as the reference implementation
        does, which keeps them apart, so that the value depends on the unit of the metric.

    Returns
    -------
    pandas.DataFrame
        One row per metric, in the order asked for: ``metric, coefficient, grouping, value,
        n_systems, n_segments, n_groups, n_degenerate``. Higher values are better. ``n_groups``
        counts groups with at least two scored cells, degenerate ones included.

    Raises
    ------
    TypeError
        If the data are no set or table, or ``epsilon`` is no number.
    ValueError
        If a name or option is unknown, no group has two scored cells, or a group is
        degenerate under ``degenerate="raise"``.

    References
    ----------
    Perrella et al. 2024, section 3 (grouping) and equation 1 (tau_b), equation 2 (acc_eq);
    Deutsch, Foster and Freitag 2023 (variants of tau, tie calibration).

    Examples
    --------
    The metric X has never read a translation; Y knows which system is better:

    >>> import mtmeta as mm
    >>> es = mm.EvalSet([[0, -6], [-1, -7], [-1, -5]], systems=["A", "B", "C"],
    ...     metrics={"X": [[.9, .2]] * 3, "Y": [[.5, .5], [.4, .4], [.4, .6]]})
    >>> mm.correlate(es, grouping="none")[["metric", "value"]].round(3).to_records(index=False).tolist()
    [('X', 0.97), ('Y', -0.217)]
    >>> mm.correlate(es, grouping="segment")[["metric", "value", "n_degenerate"]].to_records(index=False).tolist()
    [('X', 0.0, 2), ('Y', 1.0, 0)]
    """
    es = as_evalset(es)
    check_choice("degenerate", degenerate, DEGENERATE)
    exact = _check_coefficient(coefficient, epsilon)
    rows = [
        (metric, coefficient, grouping, *mean_over_groups(es, metric, exact, grouping, epsilon, degenerate))
        for metric in metric_names(es, metrics)
    ]
    columns = ["metric", "coefficient", "grouping", "value", "n_systems", "n_segments", "n_groups", "n_degenerate"]
    return pd.DataFrame(rows, columns=columns)


def mean_over_groups(
    es: EvalSet, metric: str, coefficient: str, grouping: str, epsilon: float | str, degenerate: str
) -> tuple[float, int, int, int, int]:
    """Return what `correlate` puts into a row: value, numbers of systems, segments, groups and degenerate groups."""
    cells = grouped(es, metric, grouping, published=epsilon == "published")
    values = _values(cells, coefficient, epsilon)
    undefined = np.isnan(values)
    if degenerate == "raise" and undefined.any():
        raise Undefined(
            f"{coefficient} of metric {metric!r} is undefined in {undefined.sum()} of {len(values)} groups, "
            f"the first of them {cells.labels[int(np.argmax(undefined))]!r}: a side of it is constant."
        )
    if degenerate == "zero":
        values = np.where(undefined, 0.0, values)
    elif degenerate == "drop":
        values = values[~undefined]
    value = float(values.mean()) if len(values) else 0.0
    return value, cells.n_systems, cells.n_segments, len(undefined), int(undefined.sum())


def correlate_groups(
    es: EvalSet | pd.DataFrame,
    metric: str,
    *,
    coefficient: str = "pearson",
    grouping: str = "segment",
    epsilon: float | str = "calibrate",
) -> pd.DataFrame:
    """Return the coefficient of every single group that `correlate` averages.

    Target: the coefficient of each group at hand; with few translations a group alone says little about others.

    Parameters
    ----------
    es, metric, coefficient, grouping, epsilon
        As in `correlate`, for one metric.

    Returns
    -------
    pandas.DataFrame
        One row per group: ``group`` (segment or system), ``value`` (NaN where undefined; higher
        is better), ``n`` (scored cells in the group).

    Raises
    ------
    ValueError, TypeError
        As `correlate`.

    Examples
    --------
    >>> import mtmeta as mm
    >>> es = mm.EvalSet([[0, -6], [-1, -7]], {"Y": [[.5, .5], [.4, .5]]}, systems=["A", "B"])
    >>> mm.correlate_groups(es, "Y").to_records(index=False).tolist()
    [(1, 1.0, 2), (2, nan, 2)]
    """
    es = as_evalset(es)
    exact = _check_coefficient(coefficient, epsilon)
    metric_names(es, metric)
    cells = grouped(es, metric, grouping, published=epsilon == "published")
    return pd.DataFrame({"group": cells.labels, "value": _values(cells, exact, epsilon), "n": cells.sizes})


def decompose_pearson(es: EvalSet | pd.DataFrame, metrics: Sequence[str] | str | None = None) -> pd.DataFrame:
    r"""Split the pooled Pearson correlation into a part between segments and a part within.

    With h and m the human and metric scores of the cells that have both, bars for segment
    means, the covariance splits as :math:`\sum (h-\bar h)(m-\bar m) =
    \sum (\bar h_s-\bar h)(\bar m_s-\bar m) + \sum (h-\bar h_s)(m-\bar m_s)`. Dividing by the
    pooled standard deviations gives ``value = between + within``: *between* is what a metric earns by knowing how hard
    each segment s is, *within* what it earns by telling the translations of a segment apart.

    Target: the parts of the pooled correlation over translations like these, by these systems.

    Parameters
    ----------
    es, metrics
        As in `correlate`.

    Returns
    -------
    pandas.DataFrame
        ``metric, value`` (pooled Pearson; higher is better), ``between, within`` (they sum to
        ``value``), ``human_between, metric_between`` (share of each side's variance that lies
        between segments, in [0, 1]), ``n_groups, n_cells``. A metric that is constant throughout
        counts 0, as in `correlate`, and its share is NaN.

    Raises
    ------
    ValueError
        If a name is unknown, or humans are constant throughout.

    Examples
    --------
    >>> import mtmeta as mm
    >>> es = mm.EvalSet([[0, -6], [-1, -7]], {"X": [[.9, .2], [.9, .2]]}, systems=["A", "B"])
    >>> row = mm.agreement.decompose_pearson(es).iloc[0]
    >>> [round(float(row[c]), 3) for c in ("value", "between", "within")]
    [0.986, 0.986, 0.0]
    """
    es = as_evalset(es)
    rows = []
    for metric in metric_names(es, metrics):
        scored = ~(np.isnan(es.human) | np.isnan(es[metric]))
        if scored.sum() < 2:
            raise Undefined(f"metric {metric!r}: fewer than two translations are scored by both humans and the metric.")
        pooled = np.array([0, scored.sum()])
        h, m = (v.T[scored.T] for v in (es.human, es[metric]))
        if h.max() == h.min():
            raise Undefined("human: all scores are equal, so a correlation is undefined.")
        constant = m.max() == m.min()
        h, m = (_centred(side, pooled) for side in (h, m))
        sizes = scored.sum(axis=0)
        starts = np.concatenate([[0], np.cumsum(sizes[sizes > 0])])
        inner_h, inner_m = _centre(h, starts), _centre(m, starts)
        outer_h, outer_m = h - inner_h, m - inner_m
        parts, shares = (0.0, 0.0, 0.0), (outer_h @ outer_h / (h @ h), math.nan)
        if not constant:
            unit = math.sqrt(h @ h) * math.sqrt(m @ m)
            parts = h @ m / unit, outer_h @ outer_m / unit, inner_h @ inner_m / unit
            shares = shares[0], outer_m @ outer_m / (m @ m)
        rows.append((metric, *parts, *shares, len(starts) - 1, len(h)))
    columns = ["metric", "value", "between", "within", "human_between", "metric_between", "n_groups", "n_cells"]
    return pd.DataFrame(rows, columns=columns)


def pairwise_difference_pearson(es: EvalSet | pd.DataFrame, metrics: Sequence[str] | str | None = None) -> pd.DataFrame:
    r"""Correlate the differences between translations of a segment, over all pairs of all segments.

    .. math:: \mathrm{PDP} = \frac{\sum_s \sum_{a \ne b} \Delta h \, \Delta m}
        {\sqrt{\sum_s \sum_{a \ne b} (\Delta h)^2 \; \sum_s \sum_{a \ne b} (\Delta m)^2}}

    with :math:`\Delta h = h_{as} - h_{bs}`, and m alike. Both orders of a pair count, so differences have mean 0 and
    the order of the systems does not matter. Within a segment of :math:`n_s` translations the sum of products of
    differences is :math:`2 n_s` times that of deviations from the segment's mean. If all segments have equally many,
    PDP is therefore the part *within* of `decompose_pearson`, divided by
    :math:`\sqrt{(1 - \mathit{human\_between})(1 - \mathit{metric\_between})}`.

    Target: the correlation of differences between two of these systems on segments like these.

    Parameters
    ----------
    es, metrics
        As in `correlate`.

    Returns
    -------
    pandas.DataFrame
        ``metric, value`` (in [-1, 1]; higher is better; 0 for a metric that never tells two translations of a segment
        apart), ``n_pairs`` (each counted once), ``n_groups``.

    Raises
    ------
    ValueError
        If a name is unknown, no segment has two scored translations, or humans tie all pairs.

    References
    ----------
    DiIanni and Deutsch 2025, "Don't Sweat the Small Stuff", propose the correlation of pairwise differences.

    Examples
    --------
    >>> import mtmeta as mm
    >>> es = mm.EvalSet([[0, -6], [-1, -7], [-1, -5]], {"Y": [[.5, .5], [.4, .4], [.4, .5]]}, systems=list("ABC"))
    >>> float(mm.agreement.pairwise_difference_pearson(es).value[0].round(3))
    0.884
    """
    es = as_evalset(es)
    rows = []
    for metric in metric_names(es, metrics):
        cells = grouped(es, metric, "segment")
        sizes, value = cells.sizes, 0.0
        weights = np.repeat(sizes, sizes)
        h, m = (_deviations(v, cells.starts) for v in (cells.human, cells.metric))
        if not h.any():
            raise Undefined(f"metric {metric!r}: humans tie every pair that it scored, so there is no difference.")
        if m.any():
            value = float(weights @ (h * m) / math.sqrt((weights @ h**2) * (weights @ m**2)))
        rows.append((metric, value, int((sizes * (sizes - 1) // 2).sum()), len(sizes)))
    return pd.DataFrame(rows, columns=["metric", "value", "n_pairs", "n_groups"])


def metric_correlations(es: EvalSet | pd.DataFrame, metrics: Sequence[str] | str | None = None) -> pd.DataFrame:
    """Correlate metrics with each other, over all translations at once.

    Human scores play no part, so translations that nobody rated count as well, though not systems that nobody rated.
    To leave all unrated translations out, select the rated segments first.

    Target: the correlation of two metrics over translations like these, by these systems.

    Parameters
    ----------
    es, metrics
        As in `correlate`.

    Returns
    -------
    pandas.DataFrame
        Square and symmetric: Pearson's r of each pair of metrics, over the translations that both
        scored. NaN where one of them is constant there.

    Raises
    ------
    ValueError
        If a metric is unknown or listed twice.

    References
    ----------
    Perrella et al. 2024, figures 4 to 6.

    Examples
    --------
    >>> import mtmeta as mm
    >>> es = mm.EvalSet([[0, 1, 2]], {"a": [[1, 2, 3]], "b": [[3, 2, 1]]}, systems=["A"])
    >>> mm.agreement.metric_correlations(es).round(2).to_numpy().tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    es = as_evalset(es)
    names = metric_names(es, metrics)
    r = np.full((len(names), len(names)), np.nan)
    for i, j in itertools.combinations_with_replacement(range(len(names)), 2):
        r[i, j] = r[j, i] = pooled_pearson(es[names[i]], es[names[j]])
    return pd.DataFrame(r, index=names, columns=names)


def pooled_pearson(x: np.ndarray, y: np.ndarray) -> float:
    """Return Pearson's r over the cells that both have; NaN where one of them is constant there."""
    both = ~(np.isnan(x) | np.isnan(y))
    return float(_pearson(x[both], y[both], np.array([0, both.sum()]))[0]) if both.any() else np.nan


def partial_correlations(
    es: EvalSet | pd.DataFrame, given: str, metrics: Sequence[str] | str | None = None
) -> pd.DataFrame:
    r"""Correlate metrics with humans over all translations, less what a given metric explains.

    .. math:: r_{hm \cdot g} = \frac{r_{hm} - r_{hg} r_{mg}}{\sqrt{(1 - r_{hg}^2)(1 - r_{mg}^2)}}

    is the Pearson correlation of the residuals of human score h and metric m after a linear regression of each on g. If
    g is a source sentinel, a metric earns only what it knows beyond the difficulty that the sentinel sees.

    Target: the partial correlation over translations like these, by these systems.

    Parameters
    ----------
    es, metrics
        As in `correlate`.
    given : str
        The metric to hold constant.

    Returns
    -------
    pandas.DataFrame
        ``metric, given, value`` (pooled Pearson), ``with_given`` (:math:`r_{mg}`), ``partial``, ``n_cells``; higher
        is better. ``partial`` is NaN for the given metric itself and wherever a side is constant.

    Raises
    ------
    ValueError
        If a metric is unknown or listed twice.

    Examples
    --------
    >>> import mtmeta as mm
    >>> es = mm.load("teaching")
    >>> row = mm.agreement.partial_correlations(es, "SourceOnly", ["RegressorQE"]).iloc[0]
    >>> bool(row["partial"] < row["value"])
    True
    """
    es = as_evalset(es)
    metric_names(es, given)
    rows = []
    for name in metric_names(es, metrics):
        every = ~np.isnan([es.human, es[name], es[given]]).any(axis=0)
        h, m, g = es.human[every], es[name][every], es[given][every]
        hm, hg, mg = pooled_pearson(h, m), pooled_pearson(h, g), pooled_pearson(m, g)
        left = (1 - hg**2) * (1 - mg**2)
        partial = (hm - hg * mg) / math.sqrt(left) if left > 1e-12 else np.nan
        rows.append((name, given, hm, mg, partial, len(h)))
    return pd.DataFrame(rows, columns=["metric", "given", "value", "with_given", "partial", "n_cells"])


# -- system level ------------------------------------------------------------------------


def shared_metrics(sets: Sequence[EvalSet], metrics: Sequence[str] | str | None, *, level: str = "system") -> list[str]:
    """Return the metrics asked for, or else those that every set has at this level."""
    known_names = [list(es.system_scores.columns.drop("human")) for es in sets]
    names = [[m for m in known if m in es or level == "system"] for es, known in zip(sets, known_names, strict=True)]
    if metrics is None:
        own = [m for m in names[0] if not is_rating(m)]
        found = [m for m in own if all(m in other for other in names[1:])]
        if not found:
            raise ValueError("the sets have no metric in common.")
        return found
    metrics = list(names_of([metrics] if isinstance(metrics, str) else metrics, "metrics"))
    for metric in metrics:
        for es, known in zip(sets, names, strict=True):
            if metric not in known:
                raise unknown(f"metric in set {es.name!r}:", metric, known)
    return metrics


def sign_of_difference(first: np.ndarray, second: np.ndarray, size: np.ndarray | float = 0.0) -> np.ndarray:
    """Return the signs of differences between system scores, 0 where only rounding tells the two apart.

    ``size`` is the magnitude of the averaged scores, since it decides how a mean near 0 is rounded.
    """
    difference = first - second
    tolerance = OF_MEAN * np.maximum(np.maximum(np.abs(first), np.abs(second)), size)
    return np.where(np.abs(difference) <= tolerance, 0.0, np.sign(difference))


def system_scores(es: EvalSet, columns: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the scores of systems, and the mean size of the segment scores behind them, (n_systems, n_columns)."""
    scores, sizes = es.system_scores[list(columns)].to_numpy(), np.zeros((es.shape[0], len(columns)))
    for k, column in enumerate(columns):
        if column == "human" or column in es:
            values = np.abs(es.human if column == "human" else es[column])
            sizes[:, k] = np.nansum(values, axis=1) / np.maximum((~np.isnan(values)).sum(axis=1), 1)
    return scores, sizes


def rated_systems(es: EvalSet, columns: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return what `system_scores` does, of the systems that have all of these."""
    scores, sizes = system_scores(es, columns)
    whole = ~np.isnan(scores).any(axis=1)
    return scores[whole], sizes[whole]


def pairwise_accuracy(
    es: EvalSet | pd.DataFrame | Sequence[EvalSet], metrics: Sequence[str] | str | None = None
) -> pd.DataFrame:
    """Return the share of system pairs that a metric orders as humans do.

    Pairs are formed within each set and pooled over sets (language pairs). A pair counts when the difference of system
    scores has the same sign for both; a tie agrees with a tie only. Scores are tied if they differ by less than 1e-12
    of their size, or of the size of the segment scores behind them: rounding alone moves equal means that far apart.

    Target: the share of pairs of these systems that the metric orders as the mean of these human scores does.

    Parameters
    ----------
    es : EvalSet, DataFrame or sequence of EvalSet
    metrics : str or sequence of str, optional
        By default all metrics with system scores in every set.

    Returns
    -------
    pandas.DataFrame
        ``metric, value`` (in [0, 1]; higher is better; a coin gets 1/2), ``n_pairs, n_sets``.

    Raises
    ------
    ValueError
        If a metric is unknown, or no set has two systems with scores.

    References
    ----------
    Kocmi et al. 2021, "To Ship or Not to Ship", equation 1.

    Examples
    --------
    >>> import mtmeta as mm
    >>> es = mm.EvalSet([[0, -6], [-1, -7]], {"Y": [[.5, .5], [.4, .4]]}, systems=["A", "B"])
    >>> mm.pairwise_accuracy(es).to_records(index=False).tolist()
    [('Y', 1.0, 1, 1)]
    """
    sets = as_sets(es)
    names = shared_metrics(sets, metrics)
    values, n_pairs = mean_over_pairs(order_gaps(sets, names), names)
    return pd.DataFrame({"metric": names, "value": values, "n_pairs": n_pairs, "n_sets": len(sets)})


def order_gaps(sets: Sequence[EvalSet], names: Sequence[str]) -> list[np.ndarray]:
    """Return 1 where a metric orders a pair of systems differently from the humans, else 0, as `spa_gaps` does."""
    found = []
    for one in sets:
        scores, sizes = system_scores(one, ["human", *names])
        i, j = np.triu_indices(len(scores), 1)
        human, *mine = sign_of_difference(scores[i], scores[j], np.maximum(sizes[i], sizes[j])).T
        known = ~np.isnan(scores[i] - scores[j]).T
        found.append(np.where(known[0] & known[1:], human != np.array(mine).reshape(len(names), len(i)), np.nan))
    return found


def mean_over_pairs(gaps: Sequence[np.ndarray], names: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return 1 less the mean gap of each metric over the pairs of systems of all sets, and the number of these."""
    total, n_pairs = (sum(part) for part in zip(*((np.nansum(g, 1), (~np.isnan(g)).sum(1)) for g in gaps), strict=True))
    if not n_pairs.all():
        name = names[int(np.argmin(n_pairs))]
        raise Undefined(
            f"metric {name!r}: no set has two systems that both humans and the metric scored (SPA: on one segment)."
        )
    return (n_pairs - total) / n_pairs, n_pairs


def soft_pairwise_accuracy(
    es: EvalSet | pd.DataFrame | Sequence[EvalSet],
    metrics: Sequence[str] | str | None = None,
    *,
    n_segments: int | None = None,
    n_resamples: int = 1000,
    ties: str = "half",
    rng: int | np.random.Generator | None = 4,
) -> pd.DataFrame:
    r"""Return how well a metric's confidence in each system comparison matches the humans'.

    For each pair of systems a paired permutation test (random signs on the segment
    differences) gives the one-sided p-value that the first is better, once from human and
    once from metric scores. :math:`SPA = 1 - \text{mean}_{i<j} |p^h_{ij} - p^m_{ij}|`.
    The same signs serve all pairs and both sides. A pair uses the segments on which both
    systems have both scores. Pairs are pooled over sets.

    Target: the SPA expected *of campaigns with as many segments*. P-values depend on the number of segments, so SPA has
    no value of its own for a metric: with more segments it tends to the share of pairs in the right order. Compare
    values of equal ``n_segments`` only. To compare campaigns of different sizes, name a number that each of them
    exceeds.

    Parameters
    ----------
    es, metrics
        As in `pairwise_accuracy`; metrics need segment scores.
    n_segments : int, optional
        Estimate the expected SPA of campaigns with so many segments: the mean over random subsets of so many of the
        segments that humans and the metric scored in each set, at most two thirds of them, with normal p-values in
        place of random signs (Notes).
    n_resamples : int
        Number of random sign vectors, or of random subsets.
    ties : {"half", "published"}
        How much a draw that equals the observed difference counts. ``"half"``: one half, so that swapping the systems
        turns p into 1 - p and their order does not matter. ``"published"``: one, as in the WMT24 implementation; the
        value of a metric that ties systems then depends on the order in which they are listed. (That implementation
        sums in single precision, where rounding decides which draws are equal; here equal sums are equal.)
    rng : None, int or numpy.random.Generator
        Seed of the signs; 4 is the published one.

    Returns
    -------
    pandas.DataFrame
        ``metric, value`` (in [0, 1]; higher is better), ``n_segments, n_pairs, n_sets, n_resamples``. ``n_segments`` is
        the mean number of segments that a pair of systems shares, rounded. If a number of segments was asked for, there
        are also ``low, high``: the 95 % interval of the expected SPA of these systems on so many segments like these.

    Raises
    ------
    ValueError
        If an option is unknown, a set has no two systems scored on a common segment, or too few rated segments for
        ``n_segments``.

    Warns
    -----
    UserWarning
        If the numbers of segments of two metrics differ by more than a tenth, as with a metric that lacks scores.

    Notes
    -----
    SPA of n segments is a symmetric function of them, so its mean over all subsets of n of N independent segments has
    the expected SPA of a campaign with n segments as its expectation (it is a U-statistic). The variance of that mean
    is the infinitesimal jackknife's: with :math:`c_s` the covariance of SPA in a subset with whether it has segment s,
    :math:`\frac{N-1}{N} \left(\frac{N}{N-n}\right)^2 \sum c_s^2`, less what the finite number of subsets adds; if a
    set names documents, the :math:`c_s` of a document are added before they are squared. The interval is symmetric on
    the scale of Fisher's z of 2 value - 1. Six metrics of each language pair of WMT23 served as populations: intervals
    for 50 and 100 segments from 150 and 300, drawn singly or in documents, held the expected SPA in .92 to .99 of 360
    cases for each of 24 settings, .95 on average. Bootstrap intervals of SPA (`mtmeta.significance.intervals`) hold
    that of campaigns of their own size only.

    References
    ----------
    Thompson, Mathur, Deutsch and Khayrallah 2024, "Improving Statistical Significance in Human
    Evaluation of Automatic Metrics via Soft Pairwise Accuracy". Wager, Hastie and Efron 2014 (variance).

    See Also
    --------
    pairwise_accuracy : does not depend on the number of segments, except by noise.

    Examples
    --------
    >>> import mtmeta as mm
    >>> es = mm.EvalSet([[0, -6], [-1, -7]], {"Y": [[.5, .5], [.5, .5]]}, systems=["A", "B"])
    >>> float(mm.soft_pairwise_accuracy(es).value.iloc[0]) > 0.5
    True
    >>> es = mm.load("teaching")
    >>> found = [mm.soft_pairwise_accuracy(es, "BLEU", n_segments=n) for n in (30, 100, 200)]
    >>> [round(float(table["value"].iloc[0]), 2) for table in found]
    [0.79, 0.85, 0.88]
    """
    check_choice("ties", ties, ("half", "published"))
    check_count("n_resamples", n_resamples, 1)
    sets = as_sets(es)
    names = shared_metrics(sets, metrics, level="segment")
    if n_segments is not None:
        if ties != "half":
            raise ValueError("`n_segments` goes with ties='half': its p-values are normal.")
        return _expected_spa(sets, names, n_segments, n_resamples, generator(rng))
    rng = generator(rng)
    parts = [spa_gaps(one, names, n_resamples=n_resamples, ties=ties, rng=rng) for one in sets]
    values, n_pairs = mean_over_pairs([gaps for gaps, _ in parts], names)
    shared = np.rint(sum(n.sum(axis=1) for _, n in parts) / n_pairs).astype(int)
    table = pd.DataFrame({"metric": names, "value": values, "n_segments": shared, "n_pairs": n_pairs})
    table = table.assign(n_sets=len(sets), n_resamples=n_resamples)
    fewest, most = (
        table.loc[at, ["metric", "n_segments"]] for at in (table["n_segments"].idxmin(), table["n_segments"].idxmax())
    )
    if most["n_segments"] > 1.1 * fewest["n_segments"]:
        warnings.warn(
            f"SPA depends on the number of segments, and a pair of systems has {fewest['n_segments']} with scores of "
            f"{fewest['metric']!r} but {most['n_segments']} with scores of {most['metric']!r}. Do not compare these "
            "values; select segments that all metrics scored, or pass n_segments=.",
            stacklevel=2,
        )
    return table


def spa_gaps(
    es: EvalSet, names: Sequence[str], *, n_resamples: int, ties: str, rng: int | np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return how far each metric's p-value of each pair is from the humans', and the number of segments of each pair.

    Both have shape (n_metrics, n_pairs), with pairs in the order of ``numpy.triu_indices``. The first is NaN for a pair
    without a common scored segment.
    """
    rated, gaps, shared, human_p = ~np.isnan(es.human), [], [], {}
    columns = rated.any(axis=0)
    signs, (i, j) = _random_signs(generator(rng), n_resamples, columns.sum()), np.triu_indices(es.shape[0], 1)
    for name in names:
        scored = (rated & ~np.isnan(es[name]))[:, columns]
        key = scored.tobytes()
        if key not in human_p:
            human_p[key] = _one_sided_p(es.human[:, columns], scored, signs, ties)
        mine = _one_sided_p(es[name][:, columns], scored, signs, ties)
        gaps.append(np.abs(human_p[key] - mine))
        shared.append((scored[i] & scored[j]).sum(axis=1))
    return np.array(gaps), np.array(shared)


def shared_segments(es: EvalSet) -> int:
    """Return on how many segments two rated systems are both rated, on average over pairs."""
    rated = (~np.isnan(es.human)).astype(np.int64)
    shared = (rated @ rated.T)[np.triu_indices(len(rated), 1)]
    return round(shared.sum() / max(1, (shared > 0).sum()))


def _expected_spa(sets, names, n_segments: int, n_resamples: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return the mean SPA over random subsets of segments of each set, with its interval."""
    check_count("n_segments", n_segments, 1)
    seed = int(rng.integers(2**32))
    parts = {name: np.zeros(3) for name in names}  # sums over sets: pairs, value, variance
    for one, name in itertools.product(sets, names):
        rated = ~(np.isnan(one.human) | np.isnan(one[name])).all(axis=0)
        total, n_pairs = int(rated.sum()), one.shape[0] * (one.shape[0] - 1) // 2
        if n_segments > 2 * total / 3:
            raise ValueError(
                f"set {one.name!r}, metric {name!r}: {total} segments are scored; `n_segments` may be at most two "
                f"thirds, {2 * total // 3}; found {n_segments}."
            )
        # the same subsets for all metrics with as many scores
        draws = np.random.default_rng(seed).random((n_resamples, total))
        times, share = np.zeros((n_resamples, total)), n_segments / total
        np.put_along_axis(times, draws.argpartition(n_segments - 1, axis=1)[:, :n_segments], 1.0, axis=1)
        part = one.select(segments=itertools.compress(one.segments, rated))
        values = spa_in_draws(part, name, times)
        if np.isnan(values).any():
            raise Undefined(f"metric {name!r}: some {n_segments} segments have no scores of any two systems.")
        units = units_of(part, "segment" if one.documents is None else "document")
        moved = np.bincount(units, (times - share).T @ (values - values.mean())) / n_resamples
        sizes = np.bincount(units)
        of_draws = share * (1 - share) * (sizes * (total - sizes)).sum() / (total - 1) * values.var() / n_resamples
        variance = max(0.0, (total - 1) / total / (1 - share) ** 2 * ((moved**2).sum() - of_draws))
        parts[name] += n_pairs, n_pairs * values.mean(), n_pairs**2 * variance
    n_pairs, value, variance = np.array(list(parts.values())).T
    value, variance = value / n_pairs, variance / n_pairs**2
    low, high = fisher_interval(value, variance, "spa", np.inf, 0.95)
    table = pd.DataFrame({"metric": names, "value": value, "low": low, "high": high, "n_segments": n_segments})
    return table.assign(n_pairs=n_pairs.astype(int), n_sets=len(sets), n_resamples=n_resamples)


def _random_signs(rng: np.random.Generator, n_resamples: int, n_segments: int) -> np.ndarray:
    """Draw 1 or -1 for each segment, as the WMT24 implementation does, shape (n_resamples, n_segments)."""
    return np.rint(rng.random((n_resamples, n_segments), dtype=np.float32)).astype(np.float64) * 2 - 1


def _one_sided_p(scores: np.ndarray, scored: np.ndarray, signs: np.ndarray, ties: str) -> np.ndarray:
    """Return p that system i is better than system j by chance, for i < j in order.

    NaN for a pair without a common scored segment.
    """
    x = np.where(scored, scores, 0.0)
    i, j = np.triu_indices(len(x), 1)
    sums, totals, sizes = x @ signs.T, x.sum(axis=1), np.abs(x).sum(axis=1)
    null, observed = sums[i] - sums[j], totals[i] - totals[j]
    shared = scored[i] & scored[j]
    for k in np.flatnonzero((scored[i] != scored[j]).any(axis=1)):  # holes differ: use what both have
        difference = np.where(shared[k], x[i[k]] - x[j[k]], 0)
        null[k], observed[k] = signs @ difference, difference.sum()
    tolerance = OF_MEAN * (sizes[i] + sizes[j])  # sums this close differ by rounding only
    p = (null >= (observed - tolerance)[:, None]).mean(axis=1)
    if ties == "half":
        p = (p + (null > (observed + tolerance)[:, None]).mean(axis=1)) / 2
    return np.where(shared.any(axis=1), p, np.nan)


def spa_in_draws(es: EvalSet, metric: str, counts: np.ndarray) -> np.ndarray:
    """Return soft pairwise accuracy in each draw of segments, with normal p-values in place of random signs.

    The sum of n differences with random signs has mean 0, and the sum of their squares as its variance.
    """
    i, j = np.triu_indices(es.shape[0], 1)
    known = ~np.isnan(es.human[i] + es.human[j] + es[metric][i] + es[metric][j])
    p = []
    for values in (es.human, es[metric]):
        values = scaled(np.where(np.isnan(values), 0.0, values), None)[0]
        d = np.where(known, values[i] - values[j], 0.0)
        sums, squares = counts @ d.T, counts @ (d * d).T
        p.append(ndtr(np.divide(sums, np.sqrt(squares), out=np.zeros_like(sums), where=squares > 0)))
    gaps, shared = np.abs(p[0] - p[1]), counts @ known.T > 0
    n = shared.sum(axis=1)
    return np.divide(np.where(shared, 1 - gaps, 0.0).sum(axis=1), n, out=np.full(len(n), np.nan), where=n > 0)
