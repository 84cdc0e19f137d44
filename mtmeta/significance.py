"""Is one metric better than another, or luckier? Tests on pairs of metrics, clusters, corrections.

Each test asks "is the metric with the higher value really better?", so p-values are one-sided
and stand above the diagonal of a table sorted by value.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from scipy import stats

from . import _significance_kernels as _kernels
from ._agreement_kernels import VARIANTS
from ._checks import Undefined, check_count, check_level, generator
from ._pearson import pearson, scaled, williams
from ._resampling import units_of
from .agreement import (
    Grouped,
    _centre,
    _check_coefficient,
    _metric_names,
    _one_sided_p,
    _pair_weights,
    _scale,
    calibration,
    check_choice,
    grouped,
    mean_over_groups,
    rated_systems,
    sign_of_difference,
    soft_pairwise_accuracy,
)
from .evalset import Computed, EvalSet, as_evalset

__all__ = ["Comparison", "clusters", "compare", "correct", "intervals"]

METHODS = ("permutation", "exact", "pair-swap", "williams", "bootstrap")
_PAIR_TESTS = ("acc_eq", "tau_eq")
#: Largest group whose pairs fit the bit masks well.
_MASKED_UP_TO = 64
#: Numbers that sums of cells, masks as numbers, and masks of pairs (bytes) may take at a time; no result depends on it.
_SUMS_AT_ONCE, _MASKS_AT_ONCE, _BITS_AT_ONCE = 20_000_000, 8_000_000, 64_000_000


@dataclass(frozen=True)
class Comparison:
    """The result of `compare`.

    Attributes
    ----------
    table : pandas.DataFrame
        ``metric, value, rank, cluster``, best first. A metric is in a later cluster when a metric
        of the cluster above is significantly better; inside a cluster nothing is claimed.
    p_values : pandas.DataFrame
        Square, in the order of the table: the p-value that the row metric is better than the
        column metric; NaN on and below the diagonal.
    signature : str
        How it was computed, in one line.
    draws : numpy.ndarray or None
        Null (or bootstrap) differences, shape ``(n_pairs, n_resamples)``, in the order of
        ``pairs``; kept on request.
    pairs : list of (str, str)
        The better and the worse metric of each row of ``draws``.
    """

    table: pd.DataFrame
    p_values: pd.DataFrame
    signature: str
    draws: np.ndarray | None = field(default=None, repr=False)
    pairs: list[tuple[str, str]] = field(default_factory=list, repr=False)

    def to_frame(self) -> pd.DataFrame:
        """Return the p-values as a tidy table: ``better, worse, p_value``."""
        i, j = np.triu_indices(len(self.p_values), 1)
        names = self.p_values.index.to_numpy()
        return pd.DataFrame({"better": names[i], "worse": names[j], "p_value": self.p_values.to_numpy()[i, j]})


# -- decisions ---------------------------------------------------------------------------


def correct(p_values: Sequence[float] | np.ndarray, method: str) -> np.ndarray:
    """Adjust p-values for the number of comparisons.

    Parameters
    ----------
    p_values : array_like
        In [0, 1]; NaN is passed through and does not count.
    method : {"holm", "bh"}
        ``"holm"``: probability of any false claim (Holm 1979). ``"bh"``: expected share of false
        claims (Benjamini and Hochberg 1995).

    Returns
    -------
    numpy.ndarray
        Adjusted p-values of the same shape; compare them with alpha.

    Raises
    ------
    ValueError
        If the method is unknown or a value lies outside [0, 1].

    Examples
    --------
    >>> from mtmeta.significance import correct
    >>> correct([0.01, 0.04, 0.03], "holm").tolist()
    [0.03, 0.06, 0.06]
    """
    check_choice("method", method, ("holm", "bh"))
    p = np.array(p_values, dtype=np.float64)
    known = ~np.isnan(p)
    if ((p[known] < 0) | (p[known] > 1)).any():
        raise ValueError("p-values must lie in [0, 1].")
    values = p[known]
    order = np.argsort(values)
    n = len(values)
    if method == "bh":
        p[known] = stats.false_discovery_control(values) if n else values
        return p
    adjusted = np.maximum.accumulate(values[order] * (n - np.arange(n)))
    values[order] = np.minimum(adjusted, 1)
    p[known] = values
    return p


def clusters(p_values: np.ndarray, alpha: float = 0.05) -> np.ndarray:
    """Cut a sorted list of metrics into clusters by the rule of the WMT metrics task.

    Walking down from the best, a metric opens a new cluster when any metric of the current
    cluster is significantly better, p <= alpha.

    Parameters
    ----------
    p_values : array_like, shape (n, n)
        Entry (i, j), i < j: p-value that metric i is better than metric j.
    alpha : float

    Returns
    -------
    numpy.ndarray of int
        Cluster numbers from 1, not decreasing.

    Raises
    ------
    ValueError
        If the table is not square or alpha lies outside (0, 1).

    Examples
    --------
    >>> import numpy as np
    >>> from mtmeta.significance import clusters
    >>> p = np.full((3, 3), np.nan)
    >>> p[0, 1], p[0, 2], p[1, 2] = .2, .01, .3
    >>> clusters(p).tolist()
    [1, 1, 2]
    """
    p = np.asarray(p_values, dtype=np.float64)
    if p.ndim != 2 or p.shape[0] != p.shape[1]:
        raise ValueError(f"the table of p-values must be square; found shape {p.shape}.")
    if not 0 < alpha < 1:
        raise ValueError(f"`alpha` must lie in (0, 1); found {alpha!r}.")
    numbers, start = np.ones(len(p), dtype=int), 0
    for i in range(1, len(p)):
        if (p[start:i, i] <= alpha).any():
            start = i
            numbers[i:] += 1
    return numbers


def _p_from_draws(draws: np.ndarray, observed: np.ndarray, convention: str) -> np.ndarray:
    """Return the share of null draws at least as large as observed, per row."""
    return _p_from_count(_n_reached(draws, observed), draws.shape[1], convention)


def _n_reached(draws: np.ndarray, observed: np.ndarray) -> np.ndarray:
    """Count the draws at least as large as observed, per row.

    Values within 1e-12 of the observed one count as equal to it: they differ by rounding.
    """
    return (draws >= observed[:, None] - 1e-12).sum(axis=1)


def _p_from_count(reached: np.ndarray, n: int, convention: str) -> np.ndarray:
    return reached / n if convention == "published" else (reached + 1) / (n + 1)


# -- compare -----------------------------------------------------------------------------


def compare(
    es: EvalSet | pd.DataFrame,
    metrics: Sequence[str] | None = None,
    *,
    coefficient: str = "pearson",
    grouping: str = "segment",
    method: str | None = None,
    n_resamples: int = 1000,
    unit: str = "segment",
    p_value: str = "plus_one",
    correction: str | None = None,
    alpha: float = 0.05,
    degenerate: str = "drop",
    pairs: str = "all",
    keep_draws: bool = False,
    rng: int | np.random.Generator | None = 0,
) -> Comparison:
    r"""Test for every pair of metrics whether the better one is better by more than luck.

    Parameters
    ----------
    es : EvalSet or pandas.DataFrame
    metrics : sequence of str, optional
        All by default. They are compared on the cells that humans and all of them scored.
    coefficient : str
        As in `mtmeta.correlate`, or ``"spa"`` (soft pairwise accuracy, which has no grouping).
    grouping : {"none", "segment", "system"}
    method : str, optional
        - ``"permutation"`` (PERM-BOTH): both metrics are brought to mean 0 and standard deviation 1
          over all cells, then each cell is swapped between them with probability 1/2, and both
          hybrids are scored. Null hypothesis: it does not matter which metric scored a cell.
          The default for Pearson, the Kendall family (except tau_c) and SPA.
        - ``"exact"``: for acc_eq and tau_eq, their default. Both metrics' ties are calibrated once;
          each *pair* of translations that only one of them gets right is a fair coin under the
          null, so the null distribution is a sum of signs: binomial where groups have equal
          sizes, by convolution where not. Nothing is drawn. Pairs that share a translation are
          not independent, so with many systems its p-values are too small: among equally good
          metrics with 12 systems, chapter 2 finds some 40 % of them at or below .05 where a valid
          test has 10 %. Prefer ``"bootstrap"`` for claims; this is what rankings publish.
        - ``"pair-swap"``: the same null, by drawing, as published.
        - ``"williams"``: Williams' t for two dependent correlations; Pearson without grouping.
        - ``"bootstrap"``: resample and take the share of draws in which the difference is not
          positive. Any coefficient.
    n_resamples : int
        Number of draws of a method that draws.
    unit : {"segment", "system", "both", "document"}
        What the bootstrap draws with replacement; documents bring all their segments.
    p_value : {"plus_one", "published"}
        (count + 1) / (n + 1), never 0; or count / n, as in published rankings.
    correction : {None, "holm", "bh"}
        For the number of pairs; see `correct`.
    alpha : float
        Level of the clusters.
    degenerate : {"drop", "zero"}
        What an undefined group counts; see `mtmeta.correlate`.
    pairs : {"all", "clusters"}
        Whether to test every pair, or only until the clusters are decided: p-values that are not needed stay
        NaN, among them those that are known to exceed alpha before the last draw. The draws and the clusters are
        the same; for many metrics it takes a fraction of the time. Permutation only.
    keep_draws : bool
        Whether to return the draws.
    rng : None, int or numpy.random.Generator
        Seed of the draws. The result does not depend on the number of threads.

    Returns
    -------
    Comparison

    Raises
    ------
    ValueError
        If an option is unknown, a method does not fit the coefficient, or fewer than two metrics are
        there to compare.

    References
    ----------
    Deutsch, Dror and Roth 2021 (PERM-BOTH, bootstrap); Deutsch, Foster and Freitag 2023 (pair
    swap); Williams 1959; Freitag et al. 2023 (clusters).

    Examples
    --------
    >>> import numpy as np, mtmeta as mm
    >>> rng = np.random.default_rng(0)
    >>> h = rng.normal(size=(5, 60))
    >>> es = mm.EvalSet(h, {"good": h + rng.normal(size=h.shape), "noise": rng.normal(size=h.shape)},
    ...     systems=list("ABCDE"))
    >>> mm.compare(es).table[["metric", "cluster"]].to_records(index=False).tolist()
    [('good', 1), ('noise', 2)]
    """
    es = as_evalset(es)
    names = _metric_names(es, metrics)
    if len(names) < 2:
        raise ValueError(f"a comparison needs at least two metrics; found {len(names)}.")
    exact = "spa" if coefficient == "spa" else _check_coefficient(coefficient, "calibrate")
    method = method or ("exact" if exact in _PAIR_TESTS else "permutation")
    _check_options(method, exact, grouping, unit, p_value, correction, degenerate, n_resamples)
    check_choice("pairs", pairs, ("all", "clusters"))
    if pairs == "clusters" and (method != "permutation" or exact == "spa" or correction or keep_draws):
        raise ValueError(
            "`pairs='clusters'` needs the permutation test of a correlation, and neither a correction, which counts "
            "all pairs, nor the draws of all pairs. Use pairs='all'."
        )
    es = _common_cells(es, names)
    values = _observed(es, names, coefficient, grouping, degenerate)
    order = sorted(range(len(names)), key=lambda k: (-values[k], names[k]))
    names, values = [names[k] for k in order], values[order]
    first, second = np.triu_indices(len(names), 1)
    observed = values[first] - values[second]
    draws = None
    if pairs == "clusters":
        options = (exact, grouping, n_resamples, degenerate, p_value, alpha)
        p = _deciding_p_values(es, names, values, *options, generator(rng))
    elif method == "williams":
        p = _williams(es, names)[first, second]
    elif method == "exact":
        p = _exact_pair_swap(es, names, grouping)
    else:
        draws = _draws(es, names, exact, grouping, method, n_resamples, unit, degenerate, generator(rng))
        null = -draws if method == "bootstrap" else draws
        p = _p_from_draws(null, np.zeros_like(observed) if method == "bootstrap" else observed, p_value)
    if correction is not None:
        p = correct(p, correction)
    square = np.full((len(names), len(names)), np.nan)
    square[first, second] = p
    table = pd.DataFrame({"metric": names, "value": values})
    table["rank"] = table["value"].rank(ascending=False, method="min").astype(int)
    table["cluster"] = clusters(square, alpha)
    seed = "generator" if isinstance(rng, np.random.Generator) else rng
    drawn = "" if method in ("exact", "williams") else f"|draws:{n_resamples}|seed:{seed}|p:{p_value}"
    redrawn = f"|unit:{unit}" if method == "bootstrap" else ""
    signature = (
        f"{coefficient}|grouping:{grouping}|method:{method}{redrawn}{drawn}|correction:{correction}"
        f"|alpha:{alpha}|degenerate:{degenerate}|metrics:{len(names)}|set:{es.name}"
    )
    both = [(names[i], names[j]) for i, j in zip(first, second, strict=True)]
    p_frame = pd.DataFrame(square, index=names, columns=names)
    return Comparison(table, p_frame, signature, draws if keep_draws else None, both)


def _check_options(method, coefficient, grouping, unit, p_value, correction, degenerate, n_resamples) -> None:
    check_choice("method", method, METHODS)
    check_choice("grouping", grouping, ("none", "segment", "system"))
    check_choice("unit", unit, ("segment", "system", "both", "document"))
    check_choice("p_value", p_value, ("plus_one", "published"))
    check_choice("correction", correction, (None, "holm", "bh"))
    check_choice("degenerate", degenerate, ("drop", "zero"))
    check_count("n_resamples", n_resamples, 1)  # without draws there is no p-value
    fits = {
        "permutation": coefficient in ("pearson", "spa", *VARIANTS) and coefficient not in _PAIR_TESTS,
        "exact": coefficient in _PAIR_TESTS,
        "pair-swap": coefficient in _PAIR_TESTS,
        "williams": coefficient == "pearson" and grouping == "none",
        "bootstrap": True,
    }
    if not fits[method]:
        usable = [m for m, ok in fits.items() if ok]
        raise ValueError(
            f"method {method!r} does not fit coefficient {coefficient!r} with grouping {grouping!r}; "
            f"these do: {', '.join(map(repr, usable))}."
        )


def _common_cells(es: EvalSet, names: Sequence[str]) -> EvalSet:
    """Return the set with human scores only where every metric has a score too."""
    scored = ~np.isnan(es.human)
    for name in names:
        scored &= ~np.isnan(es[name])
    if not scored.any():
        raise Undefined(f"set {es.name!r}: no translation is scored by humans and all {len(names)} metrics.")
    if (scored == ~np.isnan(es.human)).all():
        return es
    return Computed(
        np.where(scored, es.human, np.nan),
        {name: es[name] for name in names},
        systems=es.systems,
        segments=es.segments,
        name=es.name,
        documents=es.documents,
    )


def _observed(es: EvalSet, names: Sequence[str], coefficient: str, grouping: str, degenerate: str) -> np.ndarray:
    if coefficient == "spa":
        return soft_pairwise_accuracy(es, names)["value"].to_numpy()
    exact = _check_coefficient(coefficient, "calibrate")
    return np.array([mean_over_groups(es, name, exact, grouping, "calibrate", degenerate)[0] for name in names])


def _draws(es, names, coefficient, grouping, method, n_resamples, unit, degenerate, rng) -> np.ndarray:
    """Return the null (or bootstrap) difference of every pair of metrics in every draw."""
    if method == "pair-swap":
        return _pair_swap_draws(es, names, grouping, n_resamples, rng) * (2 if coefficient == "tau_eq" else 1)
    if method == "bootstrap":
        values = _bootstrap(es, names, coefficient, grouping, n_resamples, unit, degenerate, rng)
        first, second = np.triu_indices(len(names), 1)
        return values[first] - values[second]
    if coefficient == "spa":
        return _permute_spa(es, names, n_resamples, rng)
    return _permute(es, names, coefficient, grouping, n_resamples, degenerate, rng)


def null_differences(
    sets: Sequence[EvalSet],
    metrics: Sequence[str],
    statistic: str,
    *,
    level: str,
    grouping: str | None = None,
    n_resamples: int = 1000,
    rng: np.random.Generator,
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

    Returns
    -------
    numpy.ndarray, shape (n_pairs, n_resamples)
        For pairs in the order of ``numpy.triu_indices``. acc_eq swaps pairs; everything else swaps
        scores, at system level those of systems, standardised within each set.
    """
    if statistic == "pairwise_accuracy":
        return _permute_pairwise_accuracy(sets, metrics, n_resamples, rng)
    (es,) = sets
    if level == "system" and statistic != "spa":
        scores = es.system_scores
        columns = {m: scores[[m]].to_numpy() for m in metrics}
        es, grouping = Computed(scores[["human"]].to_numpy(), columns, systems=es.systems, name=es.name), "none"
    es = _common_cells(es, metrics)
    method = "pair-swap" if statistic in _PAIR_TESTS else "permutation"
    exact = statistic if statistic == "spa" else _check_coefficient(statistic, "calibrate")
    return _draws(es, metrics, exact, grouping, method, n_resamples, "segments", "drop", rng)


def _permute_pairwise_accuracy(sets, metrics, n_resamples, rng) -> np.ndarray:
    first, second = (v.astype(np.int64) for v in np.triu_indices(len(metrics), 1))
    agreed, n_pairs = np.zeros((2, len(first), n_resamples)), 0
    for es in sets:
        scores, sizes = rated_systems(es, ["human", *metrics])
        human, *table = map(_tied, scores.T, sizes.T)
        table = _comparable(np.array(table))
        swap = rng.integers(0, 2, size=(n_resamples, len(scores)), dtype=np.uint8)
        n = len(scores) * (len(scores) - 1) // 2
        starts = np.array([0, len(scores)])
        masks = np.empty((1, (n + 63) // 64, 2, n_resamples), dtype=np.uint64)
        _kernels.pair_masks(np.ascontiguousarray(swap.T), starts, masks)
        sums, counts = np.zeros((2, 2, len(first), n_resamples))
        _kernels.add_swapped_tau(VARIANTS["acc_eq"], human, table, starts, masks, first, second, sums, counts)
        agreed += sums * n
        n_pairs += n
    return (agreed[0] - agreed[1]) / n_pairs


def _tied(scores: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Give system scores that `pairwise_accuracy` calls tied one value."""
    order = np.argsort(scores, kind="stable")
    ascending, tolerance = scores[order], np.maximum(sizes[order][1:], sizes[order][:-1])
    level = np.cumsum(np.append(0, sign_of_difference(ascending[1:], ascending[:-1], tolerance) != 0))
    tied = np.empty_like(scores)
    tied[order] = ascending[np.searchsorted(level, level)]
    return tied


# -- permutation of cells (PERM-BOTH) ------------------------------------------------------


def _standardised(es: EvalSet, names: Sequence[str], grouping: str) -> tuple[Grouped, np.ndarray]:
    """Return the groups, and every metric's cells at mean 0, standard deviation 1 (0 if constant)."""
    cells = [grouped(es, name, grouping) for name in names]
    return cells[0], _comparable(np.array([c.metric for c in cells]))


def _comparable(scores: np.ndarray) -> np.ndarray:
    """Bring rows to mean 0 and standard deviation 1 (0 if constant); equal where only rounding tells two rows apart.

    A metric and its copy on another scale then tie wherever the metric ties with itself; else swaps would draw noise.
    """
    centred = scaled(scores, 1)[0]
    centred = centred - centred.mean(axis=1, keepdims=True)
    varied = np.ptp(scores, axis=1, keepdims=True) > 0
    spread = np.where(varied, centred.std(axis=1, keepdims=True), 1.0)
    return _merged(np.where(varied, centred / spread, 0.0), 8 * np.finfo(np.float64).eps / spread.min())


def _merged(rows: np.ndarray, tolerance: float) -> np.ndarray:
    """Give values at most ``tolerance`` apart the lowest of them, but not where a row has two of them itself."""
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


def _swap_masks(rng: np.random.Generator, n_resamples: int, n_cells: int) -> np.ndarray:
    """Draw a mask of cells after the other; return them cell by cell, shape (n_cells, n_resamples)."""
    return np.ascontiguousarray(rng.integers(0, 2, size=(n_resamples, n_cells), dtype=np.uint8).T)


def _permute(es, names, coefficient, grouping, n_resamples, degenerate, rng) -> np.ndarray:
    cells, scores = _standardised(es, names, grouping)
    swap = _swap_masks(rng, n_resamples, scores.shape[1])
    return _swapped(cells, scores, coefficient, swap, *np.triu_indices(len(names), 1), degenerate)


def _deciding_p_values(es, names, values, coefficient, grouping, n_resamples, degenerate, p_value, alpha, rng):
    """Return the p-values of all pairs, NaN for those that `clusters` does not need."""
    cells, scores = _standardised(es, names, grouping)
    swap = _swap_masks(rng, n_resamples, scores.shape[1])
    n = len(names)
    square, start = np.full((n, n), np.nan), 0
    # one pair of Pearson correlations costs next to nothing once the sums of all metrics are there
    every = (
        _swapped(cells, scores, coefficient, swap, *np.triu_indices(n, 1), degenerate)
        if coefficient == "pearson"
        else None
    )
    blocks = [np.ascontiguousarray(part) for part in np.split(swap, range(128, n_resamples, 256), axis=1)]
    at = np.zeros((n, n), dtype=int)
    at[np.triu_indices(n, 1)] = np.arange(n * (n - 1) // 2)
    for i in range(1, n):
        above = np.arange(start, i)
        observed = values[above] - values[i]
        if every is None:
            options = (cells, scores, coefficient, blocks, above, i, degenerate)
            square[above, i] = _p_until_decided(options, observed, p_value, alpha)
        else:
            square[above, i] = _p_from_draws(every[at[above, i]], observed, p_value)
        if (square[above, i] <= alpha).any():
            start = i
    return square[np.triu_indices(n, 1)]


def _p_until_decided(options, observed, convention, alpha) -> np.ndarray:
    """Return the p-values that decide whether any of the metrics above is significantly better; NaN for the others.

    All pairs get the first block of draws, then one pair at a time the rest, the most promising first. A count of draws
    cannot fall, so a pair whose p-value would already be above alpha is left; and one significant pair is enough.
    """
    cells, scores, coefficient, blocks, above, i, degenerate = options
    n, p = sum(swap.shape[1] for swap in blocks), np.full(len(above), np.nan)
    reached = np.zeros(len(above), dtype=int)

    def draw(pairs, swap):
        second = np.full(len(pairs), i)
        null = _swapped(cells, scores, coefficient, swap, above[pairs], second, degenerate)
        reached[pairs] += _n_reached(null, observed[pairs])
        return pairs[_p_from_count(reached[pairs], n, convention) <= alpha]

    alive = draw(np.arange(len(above)), blocks[0])
    for pair in alive[np.lexsort((-observed[alive], reached[alive]))]:
        one = np.array([pair])
        for swap in blocks[1:]:
            one = draw(one, swap) if len(one) else one
        if len(one):
            p[one] = _p_from_count(reached[one], n, convention)
            break
    return p


def _swapped(cells: Grouped, scores, coefficient, swap, first, second, degenerate) -> np.ndarray:
    """Return the difference of the two hybrids of each pair of metrics in each draw, shape (n_pairs, n_resamples).

    ``swap``, (n_cells, n_resamples), says which cells the two swap.
    """
    first, second = first.astype(np.int64), second.astype(np.int64)
    sums, counts = np.zeros((2, 2, len(first), swap.shape[1]))
    if coefficient == "pearson":
        _add_pearson(cells, scores, swap, first, second, sums, counts)
    elif cells.sizes.max() <= _MASKED_UP_TO:
        _add_tau(VARIANTS[coefficient], cells, scores, swap, first, second, sums, counts)
    else:
        ranks = cells.human_ranks
        _kernels.swapped_tau_large(
            VARIANTS[coefficient], ranks, scores, cells.starts, swap, first, second, sums, counts
        )
    if degenerate == "zero":
        counts = np.full_like(counts, len(cells.sizes))
    means = np.divide(sums, counts, out=np.zeros_like(sums), where=counts > 0)
    return means[0] - means[1]


def _add_pearson(cells, scores, swap, first, second, sums, counts) -> None:
    human = _centre(_scale(cells.human, cells.starts), cells.starts)
    moments = np.stack([scores, scores**2, scores * human], axis=1)
    edges = cells.starts
    constant = np.maximum.reduceat(cells.human, edges[:-1]) == np.minimum.reduceat(cells.human, edges[:-1])
    squares = np.where(constant, 0.0, np.add.reduceat(human**2, edges[:-1]))
    total = np.add.reduceat(moments, edges[:-1], axis=2).transpose(2, 0, 1)
    block = max(1, _SUMS_AT_ONCE // (moments.shape[0] * 3 * swap.shape[1]))
    for start in range(0, len(edges) - 1, block):
        group = range(start, min(start + block, len(edges) - 1))
        inside = np.empty((len(group), *moments.shape[:2], swap.shape[1]))
        for k, g in enumerate(group):
            part = slice(edges[g], edges[g + 1])
            inside[k] = _masked_sums(moments[:, :, part], swap[part])
        chosen = slice(group.start, group.stop)
        _kernels.add_swapped_pearson(
            inside,
            np.ascontiguousarray(total[chosen]),
            squares[chosen],
            cells.sizes[chosen].astype(np.float64),
            first,
            second,
            sums,
            counts,
        )


def _masked_sums(values: np.ndarray, swap: np.ndarray) -> np.ndarray:
    """Return ``values @ swap``, some thousand cells at a time: masks as numbers take eight times their memory."""
    step = max(1, _MASKS_AT_ONCE // swap.shape[1])
    return sum(values[..., k : k + step] @ swap[k : k + step].astype(np.float64) for k in range(0, len(swap), step))


def _add_tau(variant, cells, scores, swap, first, second, sums, counts) -> None:
    largest = int(cells.sizes.max())
    n_words = (largest * (largest - 1) // 2 + 63) // 64
    scores = np.ascontiguousarray(scores)
    # groups share a launch of threads: one for each would cost more than its sums
    block = max(1, _BITS_AT_ONCE // (swap.shape[1] * 16 * n_words))
    for low in range(0, len(cells.sizes), block):
        starts = cells.starts[low : low + block + 1]
        masks = np.empty((len(starts) - 1, n_words, 2, swap.shape[1]), dtype=np.uint64)
        _kernels.pair_masks(swap, starts, masks)
        _kernels.add_swapped_tau(variant, cells.human, scores, starts, masks, first, second, sums, counts)


def _permute_spa(es, names, n_resamples, rng, n_signs: int = 1000) -> np.ndarray:
    columns = ~np.isnan(es.human).all(axis=0)
    human = es.human[:, columns]
    if np.isnan(human).any():
        raise Undefined(
            "the permutation test of SPA needs segments that are rated for all systems or for none; "
            f"{int(np.isnan(human).any(axis=0).sum())} segments are rated for some. Use method='bootstrap'."
        )
    scores = np.array([es[name][:, columns] for name in names])
    scores = _comparable(scores.reshape(len(scores), -1)).reshape(scores.shape)
    n_metrics, n_systems, n_segments = scores.shape
    # the published seed, as in soft_pairwise_accuracy; column 0 adds up the observed sums
    signs = np.rint(np.random.default_rng(4).random((n_signs, n_segments), dtype=np.float32)) * 2.0 - 1
    signs = signs.astype(np.float64)
    human_p = _one_sided_p(human, np.ones(human.shape, dtype=bool), signs, "half")
    signs = np.vstack([np.ones(n_segments), signs])
    flat = scores.reshape(-1, n_segments)
    total = (flat @ signs.T).reshape(n_metrics, n_systems, -1)
    first, second = (v.astype(np.int64) for v in np.triu_indices(n_metrics, 1))
    tolerance = 1e-11 * np.abs(scores).sum(axis=2).max()
    draws, values = np.empty((len(first), n_resamples)), np.empty((2, len(first)))
    for k in range(n_resamples):
        swap = rng.integers(0, 2, size=(n_systems, n_segments), dtype=np.uint8)
        inside = ((scores * swap).reshape(-1, n_segments) @ signs.T).reshape(total.shape)
        _kernels.swapped_spa(inside, total, human_p, first, second, tolerance, values)
        draws[:, k] = values[0] - values[1]
    return draws


# -- pair swap of acc_eq -----------------------------------------------------------------


def _right_pairs(es: EvalSet, names: Sequence[str], grouping: str) -> tuple[np.ndarray, np.ndarray, float]:
    """Return which pairs each metric gets right, each pair's weight, and the total weight."""
    cells = [grouped(es, name, grouping) for name in names]
    edges, sizes = cells[0].starts, cells[0].sizes
    if (sizes * (sizes - 1) // 2).sum() > 20_000_000:
        raise Undefined(
            f"the pair-swap test lists all pairs of translations, and grouping {grouping!r} has too many here. "
            "Use grouping='segment', or method='bootstrap'."
        )
    weights, total = _pair_weights(cells[0])
    i, j = (np.concatenate(v) for v in zip(*map(_pairs_of, edges[:-1], edges[1:]), strict=True))
    dh = np.sign(cells[0].human[i] - cells[0].human[j])
    right = np.empty((len(names), len(i)), dtype=bool)
    for k, c in enumerate(cells):
        difference = c.metric[i] - c.metric[j]
        right[k] = np.where(np.abs(difference) <= calibration(c)[0], 0, np.sign(difference)) == dh
    return right, np.repeat(weights, sizes * (sizes - 1) // 2), total


def _pairs_of(start: int, end: int) -> tuple[np.ndarray, np.ndarray]:
    i, j = np.triu_indices(int(end - start), 1)
    return i + start, j + start


def _differences(es, names, grouping):
    """Return per pair of metrics and weight class how often only the first, only the second is right."""
    right, weights, total = _right_pairs(es, names, grouping)
    classes = np.unique(weights)
    first, second = np.triu_indices(len(names), 1)
    only_first, only_second = np.empty((2, len(first), len(classes)))
    for c, weight in enumerate(classes):
        part = right[:, weights == weight].astype(np.float32)
        # float32 sums of 0 and 1 are exact up to 2^24 terms
        both = np.rint(part @ part.T).astype(np.float64)
        alone = part.sum(axis=1, dtype=np.float64)
        only_first[:, c] = alone[first] - both[first, second]
        only_second[:, c] = alone[second] - both[first, second]
    return only_first.astype(np.int64), only_second.astype(np.int64), classes, total


def _pair_swap_draws(es, names, grouping, n_resamples, rng) -> np.ndarray:
    only_first, only_second, classes, total = _differences(es, names, grouping)
    draws = np.zeros((len(only_first), n_resamples))
    for c, weight in enumerate(classes):
        n = only_first[:, c] + only_second[:, c]
        heads = rng.binomial(n[:, None], 0.5, size=draws.shape)
        draws += weight * (2.0 * heads - n[:, None]) / total
    return draws


def _exact_pair_swap(es, names, grouping) -> np.ndarray:
    """Return P(sum of fair signs >= observed sum) for every pair of metrics."""
    only_first, only_second, classes, _ = _differences(es, names, grouping)
    if len(classes) == 1:
        return stats.binom.sf(only_first[:, 0] - 1, only_first[:, 0] + only_second[:, 0], 0.5)
    if classes.dtype != np.int64:
        raise Undefined(
            "the exact pair-swap test needs group sizes with a small common multiple; these have none. "
            "Use method='pair-swap', which draws."
        )
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


def _williams(es: EvalSet, names: Sequence[str]) -> np.ndarray:
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


# -- bootstrap ---------------------------------------------------------------------------


def _resampler(es: EvalSet, unit: str, rng):
    """Return a function that draws the row and column positions of one resample."""
    n_systems, n_segments = es.shape
    units = units_of(es, unit)
    blocks = [np.flatnonzero(units == d) for d in range(units.max() + 1)] if unit == "document" else []

    def draw() -> tuple[np.ndarray, np.ndarray]:
        rows, columns = np.arange(n_systems), np.arange(n_segments)
        if unit in ("system", "both"):
            rows = rng.integers(n_systems, size=n_systems)
        if unit in ("segment", "both"):
            columns = rng.integers(n_segments, size=n_segments)
        elif blocks:
            columns = np.concatenate([blocks[d] for d in rng.integers(len(blocks), size=len(blocks))])
        return rows, columns

    return draw


def _bootstrap(es, names, coefficient, grouping, n_resamples, unit, degenerate, rng) -> np.ndarray:
    """Return each metric's value in each resample, shape (n_metrics, n_resamples); NaN where undefined."""
    draw = _resampler(es, unit, rng)
    values = np.full((len(names), n_resamples), np.nan)
    for k in range(n_resamples):
        rows, columns = draw()
        cut = np.ix_(rows, columns)
        part = _resampled_set(es.human[cut], {name: es[name][cut] for name in names})
        if part is None:
            continue
        try:
            values[:, k] = _observed(part, names, coefficient, grouping, degenerate)
        except Undefined:  # a draw without two scored cells in any group
            continue
    lost = int(np.isnan(values[0]).sum())
    if lost > n_resamples // 2:
        raise Undefined(
            f"the coefficient is undefined in {lost} of {n_resamples} bootstrap draws; the set is too small."
        )
    return values[:, ~np.isnan(values[0])]


def _resampled_set(human: np.ndarray, scores: dict[str, np.ndarray]) -> EvalSet | None:
    """Return a set of resampled scores, or None where nothing is left of one of them."""
    if np.isnan(human).all() or any(np.isnan(v).all() for v in scores.values()):
        return None
    return Computed(human, scores, systems=[str(i) for i in range(len(human))])


def intervals(
    es: EvalSet | pd.DataFrame,
    metrics: Sequence[str] | None = None,
    *,
    coefficient: str = "pearson",
    grouping: str = "segment",
    unit: str = "segment",
    level: float = 0.95,
    n_resamples: int = 1000,
    degenerate: str = "drop",
    rng: int | np.random.Generator | None = 0,
) -> pd.DataFrame:
    """Return percentile bootstrap intervals of each metric's agreement.

    What is resampled is what the interval speaks about: with ``"segments"`` the systems are
    given and other segments of the same kind might have come; with ``"both"`` other systems too.

    Parameters
    ----------
    es, metrics, coefficient, grouping, unit, n_resamples, degenerate, rng
        As in `compare`.
    level : float
        Nominal coverage, in (0, 1).

    Returns
    -------
    pandas.DataFrame
        ``metric, value, low, high, n_resamples``, best first; ``n_resamples`` counts the draws in
        which the coefficient was defined.

    Raises
    ------
    ValueError
        As `compare`.

    Notes
    -----
    Percentile intervals of few units are too short: of 40 simulated campaigns, the interval over 8 systems held the
    true Pearson correlation in 30, that over 24 systems in 35.

    References
    ----------
    Deutsch, Dror and Roth 2021 (Bootstrap-Inputs, -Systems, -Both).

    Examples
    --------
    >>> import numpy as np, mtmeta as mm
    >>> rng = np.random.default_rng(0)
    >>> h = rng.normal(size=(5, 60))
    >>> es = mm.EvalSet(h, {"m": h + rng.normal(size=h.shape)}, systems=list("ABCDE"))
    >>> row = mm.significance.intervals(es, n_resamples=200).iloc[0]
    >>> bool(row.low < row.value < row.high)
    True
    """
    es = as_evalset(es)
    names = _metric_names(es, metrics)
    exact = "spa" if coefficient == "spa" else _check_coefficient(coefficient, "calibrate")
    _check_options("bootstrap", exact, grouping, unit, "plus_one", None, degenerate, n_resamples)
    check_level(level)
    es = _common_cells(es, names)
    values = _observed(es, names, coefficient, grouping, degenerate)
    rng = generator(rng)
    draws = _bootstrap(es, names, exact, grouping, n_resamples, unit, degenerate, rng)
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2], axis=1)
    table = pd.DataFrame({"metric": names, "value": values, "low": low, "high": high, "n_resamples": draws.shape[1]})
    return table.sort_values(["value", "metric"], ascending=[False, True], ignore_index=True)
