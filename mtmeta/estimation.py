"""Mean human scores of systems from few ratings and a metric, and what the metric saves in ratings."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from ._checks import Undefined, check_choice, check_level
from .evalset import EvalSet, as_evalset, metric_names
from .resampling import totals_by_unit, units_of

__all__ = ["Estimate", "ratings_saved", "system_means"]

UNITS = ("segment", "document")
#: A sum of squared deviations that is a smaller share of the squares is 0 but for rounding.
_NOTHING = 1e-24
_NUMBERS = ["value", "low", "high", "se", "weight", "saved", "n_rated", "n_segments"]


@dataclass(frozen=True)
class Estimate:
    """The result of `system_means`.

    Attributes
    ----------
    metric : str or None
    table : pandas.DataFrame
        One row a system, in the order of the set: ``system, value, low, high, se, weight, saved, n_rated, n_segments``.
        ``value``, ``low``, ``high`` and ``se`` are in human units, ``weight`` in human units per unit of the metric.
        ``saved`` is the share of its variance that the metric takes from the estimate, below 0 if it adds some: the
        share of ratings saved where few of the segments are rated. NaN where too little is rated, or it is 0 / 0.
    pairs : pandas.DataFrame
        One row a pair of systems: ``first, second`` and the columns of ``table`` from ``value`` on. ``value`` is the
        mean of the first less that of the second, over the segments that are rated for both.
    signature : str
        How it was computed, in one line.
    """

    metric: str | None
    table: pd.DataFrame
    pairs: pd.DataFrame = field(repr=False)
    signature: str

    def to_frame(self) -> pd.DataFrame:
        """Return a copy of ``table``."""
        return self.table.copy()


def system_means(
    es: EvalSet | pd.DataFrame,
    metric: str | None = None,
    *,
    unit: str = "segment",
    level: float = 0.95,
) -> Estimate:
    r"""Estimate each system's mean human score from the segments that are rated, with the metric's help.

    The metric scored all :math:`N` segments of a system, people rated :math:`n` of them, drawn at random. With bars for
    means over the rated segments,

    .. math:: \hat\mu = \bar h - \lambda\, (\bar m - \bar M), \qquad \bar M = \frac1N \sum_j m_j,

    so that a draw of segments that are too easy is corrected as far as the metric sees it. This holds for any weight
    :math:`\lambda` and any metric: a poor one widens the interval and shifts nothing. The tuned weight is the
    least-squares slope of human on metric scores, of the system itself (or of the pair) over its rated segments.

    Target: the mean human score of all segments of the set.

    Parameters
    ----------
    es : EvalSet or pandas.DataFrame
        NaN in ``human`` is not rated. Translations without a score of the metric are left out, rated or not.
    metric : str, optional
        By default none: the mean of the ratings alone.
    unit : {"segment", "document"}
        What was drawn whole to be rated.
    level : float
        Nominal coverage of the intervals.

    Returns
    -------
    Estimate

    Raises
    ------
    ValueError
        If a name or option is unknown, no system has enough ratings, or whole documents should have been drawn and one
        is rated in part.

    See Also
    --------
    ratings_saved : how many ratings that is worth.
    mtmeta.correlate : the correlation on which it depends.

    Notes
    -----
    With residuals :math:`e = h - \lambda m`, the variance is :math:`(1 - n/N)\, s_e^2 / n`. Intervals use Student's t,
    and a weight costs a degree of freedom. This is the regression estimator of survey sampling and the control variate
    of Chaganty et al. 2018. PPI++ of Angelopoulos et al. 2023 estimates the mean of the population instead, with
    :math:`\lambda (1 - n/N)` as its weight.

    Two systems are compared by their differences on the segments that are rated for both, with a weight of the pair's
    own. That holds if the same segments were drawn for both, or each system's independently.

    References
    ----------
    Chaganty, Mussmann and Liang 2018; Angelopoulos, Duchi and Zrnic 2023.
    Saldías Fuentes et al. 2022, the nearest ancestor in machine translation.

    Examples
    --------
    Four of eight segments are rated, which the metric scores 3 on average; over all eight it is 2. A point of the
    metric is worth 2 points, so the mean of the ratings, 6, is 2 too high:

    >>> import numpy as np, mtmeta as mm
    >>> human = [[9, 7, 5, 3, np.nan, np.nan, np.nan, np.nan]]
    >>> es = mm.EvalSet(human, {"m": [[4, 4, 2, 2, 2, 0, 2, 0]]}, systems=["A"])
    >>> mm.system_means(es, "m").table[["value", "se", "weight", "saved"]].round(2).to_numpy().tolist()
    [[4.0, 0.5, 2.0, 0.7]]
    >>> mm.system_means(es).table[["value", "se"]].round(2).to_numpy().tolist()
    [[6.0, 0.91]]
    """
    es = as_evalset(es, unrated=True)
    scores = np.zeros(es.shape) if metric is None else es[metric]
    check_choice("unit", unit, UNITS)
    human = np.where(np.isnan(scores), np.nan, es.human)
    design = units_of(es, unit), metric is not None, check_level(level)
    if unit == "document":
        _check_whole(es, ~np.isnan(human), ~np.isnan(scores), design[0])
    found = _estimates(human, scores, *design)
    if np.isnan(found["value"]).all():
        raise Undefined(f"no system has enough {unit}s with ratings: two, or three with a metric.")
    first, second = np.triu_indices(len(human), 1)
    gaps = _estimates(human[first] - human[second], scores[first] - scores[second], *design)
    names = np.array(es.systems, dtype=object)
    table = pd.DataFrame({"system": names} | found)
    pairs = pd.DataFrame({"first": names[first], "second": names[second]} | gaps)
    signature = f"estimate|metric:{metric}|weight:tuned|target:set|unit:{unit}|set:{es.name}"
    return Estimate(metric, table, pairs, signature)


def _check_whole(es: EvalSet, rated: np.ndarray, scored: np.ndarray, unit: np.ndarray) -> None:
    """Raise if a document is rated in part."""
    for system, own, every in zip(es.systems, rated, scored, strict=True):
        if partly := set(unit[own]) & set(unit[every & ~own]):
            name = es.documents[int(np.flatnonzero(unit == min(partly))[0])]
            raise Undefined(
                f"document {name!r} of system {system!r} is rated in part ({len(partly)} such documents), so documents "
                "were not drawn whole; use unit='segment'."
            )


def _estimates(human, scores, unit: np.ndarray, tuned: bool, level: float) -> dict[str, np.ndarray]:
    """Return the columns `_NUMBERS` of the estimated means of rows of human scores; ``tuned`` by the metric or not."""
    rated, scored = ~np.isnan(human), ~np.isnan(scores)
    y, m = np.nan_to_num(human), np.nan_to_num(scores)
    n, of = ((totals_by_unit(cells, unit) > 0).sum(axis=1) for cells in (rated, scored))  # units
    free = n - 1 - tuned
    known = (n > 1) & (free > 0)
    n, free = np.maximum(n, 2), np.maximum(free, 1)
    weight = _slopes(y, m, rated) if tuned else np.zeros((len(y), 1))
    value = _means(y, rated) - weight * (_means(m, rated) - _means(m, scored))
    share = np.sqrt(n / (n - 1) * (1 - np.minimum(n / np.maximum(of, 1), 1))) / _sizes(rated)[:, 0]
    adds = (totals_by_unit(_centred(rest, rated), unit) for rest in (y - weight * m, y))
    variance, alone = ((share[:, None] * one) ** 2 for one in adds)
    variance, alone = variance.sum(axis=1) * (free + tuned) / free, alone.sum(axis=1)
    half = stdtrit(free, (1 + level) / 2) * np.sqrt(variance)
    value, weight = value[:, 0], weight[:, 0]
    saved = 1 - np.divide(variance, alone, out=np.full(len(alone), np.nan), where=alone > 0)
    found = (value, value - half, value + half, np.sqrt(variance), weight, saved)
    columns = dict(zip(_NUMBERS, (np.where(known, column, np.nan) for column in found), strict=False))
    return columns | {"n_rated": rated.sum(axis=1), "n_segments": scored.sum(axis=1)}


def _sizes(known: np.ndarray) -> np.ndarray:
    return np.maximum(known.sum(axis=1, keepdims=True), 1)


def _means(values: np.ndarray, known: np.ndarray) -> np.ndarray:
    return np.where(known, values, 0.0).sum(axis=1, keepdims=True) / _sizes(known)


def _centred(values: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Return what rows differ from their means by: 0 where a value is not known, or all are alike but for rounding."""
    left = np.where(known, values - _means(values, known), 0.0)
    squares = np.where(known, values**2, 0.0).sum(axis=1, keepdims=True)
    return np.where((left**2).sum(axis=1, keepdims=True) > _NOTHING * squares, left, 0.0)


def _slopes(y: np.ndarray, m: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Return the least-squares slopes, a column; 0 where the metric is constant."""
    y, m = _centred(y, known), _centred(m, known)
    both, squares = (y * m).sum(axis=1, keepdims=True), (m**2).sum(axis=1, keepdims=True)
    return np.divide(both, squares, out=np.zeros_like(both), where=squares > 0)


def ratings_saved(
    es: EvalSet | pd.DataFrame,
    metrics: Sequence[str] | str | None = None,
    *,
    unit: str = "segment",
    level: float = 0.95,
) -> pd.DataFrame:
    r"""Return the share of ratings that each metric saves, where few of the segments are rated.

    With :math:`s_h^2` the variance of a system's human scores and :math:`s_e^2` that of their residuals on the metric
    (:math:`n - 2` degrees of freedom), the mean of a system needs :math:`s_e^2 / s_h^2` of the ratings that it would
    need without metric, for an interval of the same width:

    .. math:: saved = 1 - \sum_k s_{e,k}^2 \Big/ \sum_k s_{h,k}^2 , \qquad \text{for one system about } r_k^2 ,

    where :math:`r_k` is Pearson's correlation over the segments of system k. ``difference`` is the same for the
    differences of two systems on a segment, over all pairs of systems.

    Target: the share of ratings that the metric saves in a set of very many segments like these.

    Parameters
    ----------
    es : EvalSet or pandas.DataFrame
        Translations count that are rated and scored by every metric named.
    metrics : sequence of str, optional
        All by default.
    unit : {"segment", "document"}
        What is taken as drawn whole, for the intervals.
    level : float
        Nominal coverage.

    Returns
    -------
    pandas.DataFrame
        One row a metric: ``metric, mean, mean_low, mean_high, difference, difference_low, difference_high, pairing,
        n_systems, n_segments``. Higher is better; below 0 the metric costs ratings. ``pairing`` is what it saves to
        rate the same segments for both systems of a pair, rather than a draw of its own for each, without a metric:
        1 less the mean variance of human differences over twice the mean variance of human scores. ``difference`` and
        ``pairing`` are NaN without a pair of systems that has three segments.

    Raises
    ------
    ValueError
        If a name or option is unknown, or there are too few ratings, or they do not vary.

    See Also
    --------
    system_means : mean ratings that a metric corrects.
    mtmeta.raters.ceiling : what a second rater would get.

    Notes
    -----
    If only :math:`N` segments are scored, n ratings with the metric do what :math:`n'` do without, where
    :math:`1/n' - 1/N = (1 - saved)\, (1/n - 1/N)`: a part of the uncertainty goes without a metric, since less is left
    to rate.

    Intervals are linearised: with :math:`\varepsilon_u` and :math:`v_u` what unit u adds to the two sums, the standard
    error is the root of :math:`\frac{G}{G-1} \sum_u (\varepsilon_u - R v_u)^2` over :math:`\sum_u v_u`, where
    :math:`R = 1 - saved` and G is the number of units.

    Examples
    --------
    >>> import mtmeta as mm
    >>> table = mm.estimation.ratings_saved(mm.load("teaching"), ["chrF", "Judge"])
    >>> table[["metric", "mean", "difference", "pairing"]].round(2).to_numpy().tolist()
    [['chrF', 0.1, 0.07, 0.41], ['Judge', 0.2, 0.15, 0.41]]
    """
    es = as_evalset(es)
    names = metric_names(es, metrics)
    check_choice("unit", unit, UNITS)
    check_level(level)
    known = ~np.isnan(es.human) & np.all([~np.isnan(es[name]) for name in names], axis=0)
    first, second = np.triu_indices(len(known), 1)
    groups = units_of(es, unit)

    def sides(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return a row a system and a row a pair of systems; NaN where a score is missing."""
        rows = np.where(known, values, np.nan)
        return rows, rows[first] - rows[second]

    human, found = sides(es.human), []
    alone = [_by_unit(h, None, groups) for h in human]
    if not alone[0].sum() > 0:
        raise Undefined("too few ratings that differ: a system needs three segments that are rated and scored.")
    n = np.unique(groups[known.any(axis=0)]).size
    reach = stdtrit(n - 1, (1 + level) / 2) * np.sqrt(n / (n - 1)) if n > 1 else np.nan
    counts = [int(((~np.isnan(h)).sum(axis=1) > 2).sum()) for h in human]  # of systems and pairs
    own, of_pairs = (v.sum() / (count or np.nan) for v, count in zip(alone, counts, strict=True))
    pairing = 1 - of_pairs / (2 * own)
    size = {"n_systems": counts[0], "n_segments": int(known.any(axis=0).sum())}
    for name in names:
        row = {"metric": name}
        for what, h, m, v in zip(("mean", "difference"), human, sides(es[name]), alone, strict=True):
            left, total = _by_unit(h, m, groups), v.sum() or np.nan
            ratio = left.sum() / total
            half = reach * np.sqrt(((left - ratio * v) ** 2).sum()) / total
            row |= {what: 1 - ratio, f"{what}_low": 1 - ratio - half, f"{what}_high": 1 - ratio + half}
        found.append(row | {"pairing": pairing} | size)
    return pd.DataFrame(found)


def _by_unit(y: np.ndarray, m: np.ndarray | None, groups: np.ndarray) -> np.ndarray:
    """Return what each unit adds to the sum over rows of the variance of y, or of its residuals on m."""
    kept = (~np.isnan(y)).sum(axis=1) > 2
    known, lost = ~np.isnan(y[kept]), 1
    left = _centred(y[kept], known)
    if m is not None:
        left, lost = left - _slopes(y[kept], m[kept], known) * _centred(m[kept], known), 2
    return np.bincount(groups, (left**2 / (known.sum(axis=1, keepdims=True) - lost)).sum(axis=0))
