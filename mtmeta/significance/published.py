"""Tests as published: cells swapped between metrics (PERM-BOTH), pairs of translations swapped, Williams' t."""

import math
from collections.abc import Sequence

import numpy as np
from scipy import stats

from .._checks import Undefined
from .._equal import OF_MEAN, merged
from .._pearson import pearson, williams
from ..agreement.coefficients import calibration
from ..agreement.groups import centred, constant, grouped, pair_weights, pairs_of
from ..agreement.kernels import VARIANTS
from ..agreement.spa import one_sided_p, random_signs, rated_systems
from ..agreement.units import common_cells
from ..evalset import Computed, EvalSet
from . import kernels

PAIR_TESTS = ("acc_eq", "tau_eq")


def null_differences(
    sets: Sequence[EvalSet],
    metrics: Sequence[str],
    statistic: str,
    *,
    level: str,
    grouping: str | None = None,
    n_resamples: int = 1000,
    rng: np.random.Generator,
    ties: str = "half",
    degenerate: str = "drop",
) -> np.ndarray:
    """Return null differences of one ranking task for every pair of metrics.

    Parameters
    ----------
    sets : sequence of EvalSet
        One set, or all that a pooled pairwise accuracy runs over.
    metrics : sequence of str
        In the order that decides which metric of a pair comes first.
    statistic : str
        ``"pairwise_accuracy"``, ``"spa"`` or a coefficient.
    level : {"system", "segment"}
    grouping : str, optional
        For the segment level.
    n_resamples : int
    rng : numpy.random.Generator
    ties : {"half", "published"}
        For SPA: see `mtmeta.soft_pairwise_accuracy`.
    degenerate : {"drop", "zero"}
        What an undefined group counts.

    Returns
    -------
    numpy.ndarray, shape (n_pairs, n_resamples)
        For pairs in the order of ``numpy.triu_indices``. acc_eq swaps pairs; everything else swaps
        standardised scores, at system level those of systems. The system scores behind a pooled pairwise accuracy are
        standardised once over the systems of all sets, so that swapping also moves the offset between sets.
    """
    if statistic == "pairwise_accuracy":
        return _permute_pairwise_accuracy(sets, metrics, n_resamples, rng)
    (es,) = sets
    if level == "system" and statistic != "spa":
        scores = es.system_scores
        columns = {m: scores[[m]].to_numpy() for m in metrics}
        es, grouping = Computed(scores[["human"]].to_numpy(), columns, systems=es.systems, name=es.name), "none"
    es = common_cells(es, metrics)
    if statistic in PAIR_TESTS:
        draws = _pair_swap_draws(es, metrics, grouping, n_resamples, rng)
        return draws * 2 if statistic == "tau_eq" else draws
    if statistic == "spa":
        return permute_spa(es, metrics, n_resamples, rng, ties)
    return permute_cells(es, metrics, statistic, grouping, n_resamples, degenerate, rng)


def _permute_pairwise_accuracy(sets, metrics, n_resamples, rng) -> np.ndarray:
    first, second = (v.astype(np.int64) for v in np.triu_indices(len(metrics), 1))
    found = [rated_systems(es, metrics) for es in sets]
    human, *tables = zip(*(merged(s, OF_MEAN * np.maximum(np.abs(s), sizes)).T for s, sizes in found), strict=True)
    whole = _comparable(np.array([np.concatenate(table) for table in tables]))
    parts = np.split(whole, np.cumsum([len(h) for h in human])[:-1], axis=1)
    agreed, n_pairs = np.zeros((2, len(first), n_resamples)), 0
    for h, table in zip(human, parts, strict=True):
        table = np.ascontiguousarray(table)
        swap = np.ascontiguousarray(rng.integers(0, 2, size=(n_resamples, len(h)), dtype=np.uint8).T)
        n = len(h) * (len(h) - 1) // 2
        ranks, starts = np.unique(h, return_inverse=True)[1], np.array([0, len(h)])
        sums, counts = np.zeros((2, 2, len(first), n_resamples))
        kernels.add_swapped_tau(VARIANTS["acc_eq"], ranks, table, starts, swap, first, second, sums, counts)
        agreed += sums * n
        n_pairs += n
    return (agreed[0] - agreed[1]) / n_pairs


# -- permutation of cells (PERM-BOTH) ------------------------------------------------------


def _comparable(scores: np.ndarray) -> np.ndarray:
    """Bring rows to mean 0 and standard deviation 1 (0 if constant); make rows equal that differ only by rounding.

    A metric and its copy on another scale then tie wherever the metric ties with itself; otherwise swaps would draw
    noise.
    """
    centred, size = scores - scores.mean(axis=1, keepdims=True), np.abs(scores).max(axis=1, keepdims=True)
    spread = np.where(np.ptp(scores, axis=1, keepdims=True) > 0, centred.std(axis=1, keepdims=True), np.inf)
    return _merged(centred / spread, 16 * np.finfo(np.float64).eps * (size / spread).max())


def _merged(rows: np.ndarray, tolerance: float) -> np.ndarray:
    """Give values at most ``tolerance`` apart the lowest of them, unless one row holds two of them."""
    order = np.argsort(rows, axis=None, kind="stable")
    values, row = rows.ravel()[order], order // rows.shape[1]
    level = np.cumsum(np.diff(values, prepend=values[:1]) > tolerance)
    by_row = np.lexsort((row, level))
    two = (np.diff(level[by_row]) == 0) & (np.diff(row[by_row]) == 0) & (np.diff(values[by_row]) > 0)
    apart = np.zeros(level[-1] + 1, dtype=bool)
    apart[level[by_row][1:][two]] = True
    merged = np.empty_like(values)
    merged[order] = np.where(apart[level], values, values[np.searchsorted(level, level)])
    return merged.reshape(rows.shape)


def permute_cells(es, names, coefficient, grouping, n_resamples, degenerate, rng) -> np.ndarray:
    """Return the difference of the two hybrids of each pair of metrics in each draw, shape (n_pairs, n_resamples)."""
    by_metric = [grouped(es, name, grouping) for name in names]
    cells, scores = by_metric[0], _comparable(np.array([of.metric for of in by_metric]))
    # one mask of cells after another is drawn; they are used cell by cell, (n_cells, n_resamples)
    swap = np.ascontiguousarray(rng.integers(0, 2, size=(n_resamples, scores.shape[1]), dtype=np.uint8).T)
    first, second = (v.astype(np.int64) for v in np.triu_indices(len(names), 1))
    sums, counts = np.zeros((2, 2, len(first), n_resamples))
    if coefficient == "pearson":
        _add_pearson(cells, scores, swap, first, second, sums, counts)
    else:
        ranks, variant = cells.human_ranks, VARIANTS[coefficient]
        kernels.add_swapped_tau(variant, ranks, scores, cells.starts, swap, first, second, sums, counts)
    if degenerate == "zero":
        counts = np.full_like(counts, len(cells.sizes))
    means = np.divide(sums, counts, out=np.zeros_like(sums), where=counts > 0)
    return means[0] - means[1]


def _add_pearson(cells, scores, swap, first, second, sums, counts) -> None:
    """Add up both hybrids' correlations over groups, as `kernels.add_swapped_tau` does for other coefficients."""
    human = centred(cells.human, cells.starts)
    moments = np.stack([scores, scores**2, scores * human], axis=1)
    total, squares = (np.add.reduceat(v, cells.starts[:-1], axis=-1) for v in (moments, human**2))
    for g in np.flatnonzero(~constant(cells.human, cells.starts)):
        part = slice(cells.starts[g], cells.starts[g + 1])
        inside = moments[:, :, part] @ swap[part].astype(np.float64)
        # the sums below are differences of these: anything this much smaller is rounding
        least = 1e-13 * (total[first, 1, g] + total[second, 1, g])[:, None]
        for side, (a, b) in enumerate(((first, second), (second, first))):
            s, ss, sh = (total[a, :, g, None] - inside[a] + inside[b]).swapaxes(0, 1)
            variance = ss - s * s / cells.sizes[g]
            varied = variance > least
            size = np.sqrt(np.where(varied, variance * squares[g], 1.0))
            sums[side] += np.where(varied, sh / size, 0.0)
            counts[side] += varied


def permute_spa(es, names, n_resamples, rng, ties) -> np.ndarray:
    """Return the difference of the two hybrids' SPA of each pair of metrics in each draw."""
    columns = ~np.isnan(es.human).all(axis=0)
    human = es.human[:, columns]
    if np.isnan(human).any():
        raise Undefined(
            "the permutation test of SPA needs segments that are rated for all systems or for none; "
            f"{int(np.isnan(human).any(axis=0).sum())} segments are rated for some. Use method='exchange'."
        )
    scores = np.array([es[name][:, columns] for name in names])
    scores = _comparable(scores.reshape(len(scores), -1)).reshape(scores.shape)
    n_metrics, n_systems, n_segments = scores.shape
    # the published seed, as in soft_pairwise_accuracy; column 0 adds up the observed sums
    signs = random_signs(np.random.default_rng(4), 1000, n_segments)
    human_p = one_sided_p(human, np.ones(human.shape, dtype=bool), signs, ties)
    signs = np.vstack([np.ones(n_segments), signs])
    flat = scores.reshape(-1, n_segments)
    total = (flat @ signs.T).reshape(n_metrics, n_systems, -1)
    first, second = (v.astype(np.int64) for v in np.triu_indices(n_metrics, 1))
    tolerance = 1e-11 * np.abs(scores).sum(axis=2).max()
    draws, values = np.empty((len(first), n_resamples)), np.empty((2, len(first)))
    for k in range(n_resamples):
        swap = rng.integers(0, 2, size=(n_systems, n_segments), dtype=np.uint8)
        inside = ((scores * swap).reshape(-1, n_segments) @ signs.T).reshape(total.shape)
        kernels.swapped_spa(inside, total, human_p, ties == "half", first, second, tolerance, values)
        draws[:, k] = values[0] - values[1]
    return draws


# -- pair swap of acc_eq -----------------------------------------------------------------


def _right_pairs(es: EvalSet, names: Sequence[str], grouping: str) -> tuple[np.ndarray, np.ndarray, float]:
    """Return which pairs each metric gets right, each pair's weight, and the total weight."""
    cells = [grouped(es, name, grouping, published=True) for name in names]
    n_pairs = cells[0].sizes * (cells[0].sizes - 1) // 2
    if n_pairs.sum() > 20_000_000:
        raise Undefined(f"grouping {grouping!r} has too many pairs for the pair-swap test. Use method='exchange'.")
    weights, total = pair_weights(cells[0])
    right = []
    for c in cells:
        group, dh, dm = pairs_of(c)
        right.append(np.where(np.abs(dm) <= calibration(c)[0], 0, np.sign(dm)) == np.sign(dh))
    return np.array(right), weights[group], total


def _differences(es, names, grouping):
    """Return per pair of metrics and weight class how often only the first, only the second is right."""
    right, weights, total = _right_pairs(es, names, grouping)
    classes = np.unique(weights)
    first, second = np.triu_indices(len(names), 1)
    only = []
    for weight in classes:
        part = right[:, weights == weight].astype(np.float32)
        both = np.rint(part @ part.T).astype(np.int64)  # float32 sums of 0 and 1 are exact up to 2^24 terms
        only.append(np.diag(both)[:, None] - both)
    only = np.stack(only, axis=-1)
    return only[first, second], only[second, first], classes, total


def _pair_swap_draws(es, names, grouping, n_resamples, rng) -> np.ndarray:
    only_first, only_second, classes, total = _differences(es, names, grouping)
    draws = np.zeros((len(only_first), n_resamples))
    for c, weight in enumerate(classes):
        n = only_first[:, c] + only_second[:, c]
        heads = rng.binomial(n[:, None], 0.5, size=draws.shape)
        draws += weight * (2.0 * heads - n[:, None]) / total
    return draws


def exact_pair_swap(es, names, grouping) -> np.ndarray:
    """Return P(sum of fair signs >= observed sum) for every pair of metrics."""
    only_first, only_second, classes, _ = _differences(es, names, grouping)
    if len(classes) == 1:
        return stats.binom.sf(only_first[:, 0] - 1, only_first[:, 0] + only_second[:, 0], 0.5)
    if classes.dtype != np.int64:
        raise Undefined("group sizes without a small common multiple have no exact pair swap. Use method='exchange'.")
    step = math.gcd(*map(int, classes))
    weights = classes // step
    observed = (only_first - only_second) @ weights
    return np.array([_sign_sum_tail(w, weights, o) for w, o in zip(only_first + only_second, observed, strict=True)])


def _sign_sum_tail(counts: np.ndarray, weights: np.ndarray, observed: int) -> float:
    """Return P(S >= observed), S the sum of counts[c] fair signs of size weights[c], for all c.

    The characteristic function of S is the product of cos(weight t)^count; its Fourier transform on
    a circle longer than the support (or than 26 standard deviations, beyond which less than 1e-36
    lies) gives the distribution, to an absolute error near 1e-15.
    """
    support = int(counts @ weights)
    if support == 0:
        return 1.0
    reach = min(support, int(13 * math.sqrt(float(counts @ weights.astype(np.float64) ** 2))) + 1)
    if observed > reach:
        return 0.0
    n = 1 << (2 * reach + 1).bit_length()
    t = 2 * np.pi * np.arange(n // 2 + 1) / n
    characteristic = np.prod([np.cos(w * t) ** int(c) for w, c in zip(weights, counts, strict=True)], axis=0)
    mass = np.fft.irfft(characteristic, n)
    values = np.arange(n)
    values[values > n // 2] -= n
    return float(np.clip(mass[values >= observed].sum(), 0, 1))


# -- Williams ----------------------------------------------------------------------------


def williams_p(es: EvalSet, names: Sequence[str]) -> np.ndarray:
    """Return one-sided p-values of Williams' test for correlations that share the human scores."""
    cells = [grouped(es, name, "none") for name in names]
    n = len(cells[0].human)
    if n < 4:
        raise Undefined(f"Williams' test needs at least 4 translations; found {n}.")
    sides = np.vstack([cells[0].human, *[c.metric for c in cells]])
    if (np.ptp(sides, axis=1) == 0).any():
        raise Undefined("Williams' test needs scores that vary; one of the metrics, or the humans, are constant.")
    r = pearson(sides[:, None], sides[None])
    return williams(r[0, 1:, None], r[0, None, 1:], r[1:, 1:], n)
