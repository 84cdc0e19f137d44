"""Exchange of whole units between two metrics: the differences to expect if it did not matter which metric is which.

A draw exchanges the scores that two metrics give each document (or segment), each with probability 1/2. Under the null
hypothesis that the two are exchangeable, the difference of the two hybrids is distributed as the observed one. All
pairs of metrics share the draws, so that their differences may be judged together.
"""

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
from scipy import stats
from scipy.special import ndtr

from .._checks import Undefined
from .._equal import OF_MEAN
from .._systems import means
from ..agreement.coefficients import check_coefficient, values_of_groups
from ..agreement.groups import grouped
from ..agreement.spa import one_sided_p, random_signs, sign_of_difference
from ..agreement.units import Units, freedom, mean_of_defined, without_each
from ..evalset import EvalSet
from ..resampling import LEAST_UNITS, totals_by_unit, units_of

#: Numbers that the sums over units may take at a time; no result depends on it.
_NUMBERS_AT_ONCE = 10_000_000


def dependence(parts: np.ndarray) -> tuple[float, float]:
    r"""Test whether neighbours are alike in what segments add to the values of metrics, shape (n_metrics, n_segments).

    With the deviation :math:`x_u` of segment u from the mean of the metrics, and then from that of the segments, the
    variance of sums is :math:`1 + 2 \sum_{k \le L} w_k \sum_u x_u \cdot x_{u+k} / \sum_u |x_u|^2` times as large as if
    segments were independent; :math:`w_k = 1 - k / (L + 1)` and L is the cube root of the number of segments. If they
    are, the products have mean 0, and their sum over its standard deviation is nearly normal.

    Returns
    -------
    p : float
        One-sided; 1 if no metric differs from another.
    ratio : float
        How many times as large the variance is.
    """
    x = parts - parts.mean(axis=0)
    x = x - x.mean(axis=1, keepdims=True)
    reach = round(x.shape[1] ** (1 / 3))
    products = [(1 - k / (reach + 1)) * (x[:, k:] * x[:, :-k]).sum(axis=0) for k in range(1, reach + 1)]
    total, spread = sum(v.sum() for v in products), np.sqrt(sum((v**2).sum() for v in products))
    if not spread > 0:
        return 1.0, 1.0
    return float(stats.norm.sf(total / spread)), float(1 + 2 * total / (x**2).sum())


def of_segments(es: EvalSet, metrics: Sequence[str], coefficient: str, grouping: str, units: Units) -> str:
    """Return what a test assumes that exchanges or redraws single segments; empty if the unit is another.

    The part of SPA that segments add is not linear; what they add to Pearson's r within segments stands for it.
    """
    if units.unit != "segment":
        return ""
    n = 0 if es.documents is None else len(set(units_of(es, "document")[~np.isnan(es.human).all(axis=0)]))
    why = f", because only {n} documents are rated" if n else ", because the set names no documents"
    text = f"The unit is a single segment{why * (n < LEAST_UNITS)}. This is right only if segments are independent"
    coefficient, grouping = ("pearson", "segment") if coefficient == "spa" else (coefficient, grouping)
    if units.n < LEAST_UNITS:
        return f"{text}, and there are too few to test that."
    p, ratio = dependence(np.array([contributions(es, name, coefficient, grouping, units) for name in metrics]))
    if p > 0.05:
        return f"{text}; a test finds no dependence between neighbours (p = {p:.3f})."
    return (
        f"{text}, but neighbours depend on each other (p = {p:.3f}): the variance of a difference is about {ratio:.1f} "
        "times as large as assumed, so the test finds too much. Name the documents; `compare` also takes unit='block'."
    )


# -- coefficients: what each unit adds to the value -----------------------------------------


def contributions(es: EvalSet, metric: str, coefficient: str, grouping: str, units: Units, degenerate: str = "drop"):
    r"""Return what each unit adds to `correlate`'s value of a metric, shape (n_units,); the sum is the value.

    A unit made of whole groups adds their values over the number of all groups that count. Otherwise :math:`c_u = w_u T
    + (1 - w_u)(T - T_{-u})`, where T is the value, :math:`T_{-u}` the value without the unit, and :math:`w_u` the
    unit's share of the cells; the difference between T and the sum is distributed by :math:`w_u`. For a mean this is
    the unit's part of the sum, for any other coefficient its first-order part (the jackknife's). Ranks and thresholds
    of ties are those of the whole set.
    """
    coefficient = check_coefficient(coefficient, "calibrate")
    cells = grouped(es, metric, grouping)
    unit = units.of_segment[cells.system if units.unit == "system" else cells.segment]
    if _made_of_units(grouping, units):
        values = values_of_groups(cells, coefficient, "calibrate")
        n_counted = len(values) if degenerate == "zero" else (~np.isnan(values)).sum()
        return np.bincount(unit[cells.starts[:-1]], np.nan_to_num(values), minlength=units.n) / max(1, n_counted)
    whole, without = without_each(cells, coefficient, unit, units.n)
    if degenerate == "zero":
        whole, without = np.nan_to_num(whole), np.nan_to_num(without)
    share = np.bincount(unit, minlength=units.n) / len(unit)
    value = mean_of_defined(whole[None])[0]
    added = share * value + (1 - share) * (value - mean_of_defined(without))
    return added + share * (value - added.sum())


def exchanged_coefficients(es, metrics, coefficient, grouping, units, signs, degenerate="drop") -> np.ndarray:
    """Return the difference of each pair of metrics in each column of ``signs``, shape (2, n_pairs, 1 + n_resamples).

    The first table judges each pair alone, the second all pairs together. If the value is not a sum over units, all
    columns but the first are multiplied by `widening` for one comparison, or for all.
    """
    added = np.array([contributions(es, name, coefficient, grouping, units, degenerate) for name in metrics])
    drawn = added @ signs[: added.shape[1]]
    first, second = np.triu_indices(len(metrics), 1)
    differences = drawn[first] - drawn[second]
    both = np.broadcast_to(differences, (2, *differences.shape))
    if not _made_of_units(grouping, units):
        both, gaps = both.copy(), added[first] - added[second]
        for table, n_comparisons in zip(both, (1, len(gaps)), strict=True):
            table[:, 1:] *= widening(gaps, n_comparisons)[:, None]
    return both


def _made_of_units(grouping: str, units: Units) -> bool:
    """Say whether each unit is made of whole groups, so that a value is a sum over units."""
    return grouping == ("system" if units.unit == "system" else "segment")


def widening(gaps: np.ndarray, n_comparisons: int = 1) -> np.ndarray:
    r"""Return the factor of the null differences of each pair of metrics, shape (n_pairs,); at least 1.

    First-order parts depend on each other: a unit of great weight also changes what the others add. The factor is
    :math:`t_q(\nu) / t_q(n)`, with the `freedom` of what n units add to the difference, and q = 1 - .025 / number of
    comparisons: the largest of many differences is judged by a farther tail.
    """
    q = 1 - 0.025 / n_comparisons
    return np.maximum(1, stats.t.ppf(q, freedom(gaps)) / stats.t.ppf(q, gaps.shape[1]))


# -- statistics of systems -------------------------------------------------------------------


def exchanged_systems(es: EvalSet, metrics: Sequence[str], statistic: str, units: Units, signs) -> np.ndarray:
    """Return what `exchanged_coefficients` does for a statistic of systems: their means are those of hybrids.

    Parameters
    ----------
    statistic : {"pairwise_accuracy", "pearson", "spa"}
        If a system's score is not the mean of its segments (corpus BLEU), the first two add the difference to each of
        its segments. The p-values inside SPA are normal: the sum of a pair's segment differences over the root of their
        sum of squares, which is the standard deviation of the published sign flips.
    """
    scores = np.array([_on_one_scale(es, name, official=statistic != "spa") for name in metrics])
    if statistic == "spa":
        return _exchanged_spa(es, scores, units, signs)
    scored = ~np.isnan(scores)
    human, *own = es.system_scores[["human", *metrics]].to_numpy().T
    whole = ~np.isnan(human) & ~np.isnan(own).any(axis=0) & scored.any(axis=2).all(axis=0)
    sums, counts = (
        totals_by_unit(part[:, whole], units.of_segment) @ signs for part in (np.where(scored, scores, 0.0), scored)
    )
    human, tolerance = human[whole], OF_MEAN * (1 + np.abs(scores[scored]).max())
    i, j = np.triu_indices(len(human), 1)
    sizes = np.nan_to_num(means(np.abs(es.human[whole])))
    order = sign_of_difference(human[i], human[j], np.maximum(sizes[i], sizes[j])).astype(np.float64)
    centred = (human - human.mean()) / (np.abs(human).max(initial=0.0) or 1.0)

    def value(means: np.ndarray) -> np.ndarray:  # of hybrids, (n_systems, n_draws)
        if statistic == "pearson":
            means = means - means.mean(axis=0)
            squares = (means**2).sum(axis=0) * (centred @ centred)
            return np.divide(
                centred @ means, np.sqrt(squares), out=np.zeros(len(squares)), where=squares > tolerance**2
            )
        gaps = means[i] - means[j]
        return (np.where(np.abs(gaps) <= tolerance, 0.0, np.sign(gaps)) == order[:, None]).mean(axis=0)

    return np.array(
        [
            value(plus / n) - value(minus / m)
            for (plus, minus), (n, m) in zip(_hybrids(sums), _hybrids(counts), strict=True)
        ]
    )


def _on_one_scale(es: EvalSet, metric: str, *, official: bool) -> np.ndarray:
    """Return a metric's cells at mean 0 and standard deviation 1; NaN where there is none.

    ``official`` shifts the cells of each system so that their mean is the system's score.
    """
    scores = es[metric] if es.scores == "published" else np.where(np.isnan(es.human), np.nan, es[metric])
    if official:
        shift = es.system_scores[metric].to_numpy() - means(scores)
        rounding = OF_MEAN * means(np.abs(scores))  # of a mean
        scores = scores + np.where(np.abs(shift) > rounding, shift, 0.0)[:, None]
    varied = np.nanmax(scores) > np.nanmin(scores)
    return (scores - np.nanmean(scores)) / (np.nanstd(scores) if varied else 1.0)


def _hybrids(sums: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield twice the sums of both hybrids of each pair of metrics; column 0 of ``sums`` is that of the data."""
    for a, b in itertools.combinations(sums, 2):
        both, apart = (a + b)[:, :1], a - b
        yield both + apart, both - apart


def _exchanged_spa(es, scores, units, signs) -> np.ndarray:
    scored = ~(np.isnan(es.human) | np.isnan(scores).any(axis=0))
    columns = ~np.isnan(es.human).all(axis=0)
    # the published number of signs and seed, as in `soft_pairwise_accuracy`
    flips = random_signs(np.random.default_rng(4), 1000, columns.sum())
    human = one_sided_p(es.human[:, columns], scored[:, columns], flips, "half")
    i, j = np.triu_indices(es.shape[0], 1)
    known = np.flatnonzero(~np.isnan(human))
    if not len(known):
        raise Undefined(f"set {es.name!r}: no two systems have a segment that humans and all metrics scored for both.")
    gaps = np.zeros((len(scores) * (len(scores) - 1) // 2, signs.shape[1]))
    step = max(1, _NUMBERS_AT_ONCE // (len(scores) * max(signs.shape)))
    for pairs in np.split(known, range(step, len(known), step)):
        both = (scored[i[pairs]] & scored[j[pairs]])[None]
        difference = np.where(both, scores[:, i[pairs]] - scores[:, j[pairs]], 0.0)
        sums, squares = (totals_by_unit(v, units.of_segment) @ signs for v in (difference, difference**2))
        for gap, of_sums, of_squares in zip(gaps, _hybrids(sums), _hybrids(squares), strict=True):
            for side, total, square in zip((-1, 1), of_sums, of_squares, strict=True):
                # sums and squares are twice those of a hybrid
                z = np.divide(total, np.sqrt(np.maximum(2 * square, 0)), out=np.zeros_like(total), where=square > 1e-20)
                gap += side * np.abs(human[pairs, None] - ndtr(-z)).sum(axis=0)
    return gaps / len(known)


# -- the cells that metrics share, and their values ------------------------------------------
