"""Decisions on many differences at once: corrections, clusters, rank confidence sets."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import stats

from .._checks import check_choice


def correct(p_values: Sequence[float] | np.ndarray, method: str) -> np.ndarray:
    """Adjust p-values for the number of comparisons.

    Target: the same hypotheses as the given p-values; the error that is controlled is that of the whole family.

    Parameters
    ----------
    p_values : array_like
        In [0, 1]; NaN stays NaN and does not count.
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

    See Also
    --------
    compare : p-values of all pairs of metrics.

    Examples
    --------
    >>> from mtmeta.significance import correct
    >>> correct([0.01, 0.04, 0.03], "holm").tolist()
    [0.03, 0.06, 0.06]
    """
    check_choice("method", method, ("holm", "bh"))
    p = np.array(p_values, dtype=np.float64)
    known = ~np.isnan(p)
    values = p[known]
    if ((values < 0) | (values > 1)).any():
        raise ValueError("p-values must lie in [0, 1].")
    if method == "bh":
        p[known] = stats.false_discovery_control(values) if len(values) else values
        return p
    order = np.argsort(values)
    values[order] = np.minimum(np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1)), 1)
    p[known] = values
    return p


def clusters(p_values: np.ndarray, alpha: float = 0.05) -> np.ndarray:
    """Cut a sorted list of metrics into clusters by the rule of the WMT metrics task.

    Walking down from the best, a metric opens a new cluster when any metric of the current
    cluster is significantly better, p <= alpha.

    Target: the groups of metrics that the given p-values separate; it estimates no rank.

    Parameters
    ----------
    p_values : array_like, shape (n, n)
        Entry (i, j), i < j: p-value that metric i is better than metric j.
    alpha : float

    Returns
    -------
    numpy.ndarray of int
        Cluster numbers from 1, not decreasing.

    See Also
    --------
    mtmeta.compare : its table has the ranks that the data allow.
    compare : the p-values.

    Examples
    --------
    >>> import numpy as np
    >>> from mtmeta.significance import clusters
    >>> p = np.full((3, 3), np.nan)
    >>> p[0, 1], p[0, 2], p[1, 2] = .2, .01, .3
    >>> clusters(p).tolist()
    [1, 1, 2]
    """
    p = np.asarray(p_values)
    numbers, start = np.ones(len(p), dtype=int), 0
    for i in range(1, len(p)):
        if (p[start:i, i] <= alpha).any():
            start = i
            numbers[i:] += 1
    return numbers


def rank_sets(p_values: np.ndarray, alpha: float = 0.05) -> tuple[np.ndarray, np.ndarray]:
    r"""Return the ranks that the data allow for each metric of a list sorted by value, best first.

    The set of a metric is :math:`\{1 + \#\{k: k \text{ better}\}, \dots, n - \#\{k: k \text{ worse}\}\}`, where k is
    better or worse if p <= alpha. If the p-values keep the probability of any false claim "i is better than j" at
    alpha, all sets hold the true ranks of their metrics at once with probability at least 1 - alpha.

    `mtmeta.compare` and `mtmeta.rank` take the step-down procedure of Mogstad et al.: the one-sided hypotheses "i is
    not better than j" of all ordered pairs are one family, and a rejection removes one of the two hypotheses about a
    pair. P-values of ``compare(correction="maxT")`` give sets that are as wide or narrower. They step down over the
    hypotheses "i and j are equally good", and a rejection removes the pair. This controls false claims of a
    difference; that it also controls claims in the wrong direction has been seen in simulations, but is not proven.

    Target: each metric's rank by its true value, over units like those that the test exchanged.

    Parameters
    ----------
    p_values : array_like, shape (n, n)
        Entry (i, j), i < j: p-value, adjusted for the number of pairs, that metric i is not better than metric j.
    alpha : float

    Returns
    -------
    best, worst : numpy.ndarray of int
        Ranks from 1, the best.

    See Also
    --------
    clusters : groups of ranks, as published.
    mtmeta.plots.rank_intervals : a figure of them.

    References
    ----------
    Mogstad, Romano, Shaikh and Wilhelm 2024, "Inference for Ranks", section 3, and their R package csranks.

    Examples
    --------
    >>> import numpy as np
    >>> from mtmeta.significance.decisions import rank_sets
    >>> p = np.full((3, 3), np.nan)
    >>> p[0, 1], p[0, 2], p[1, 2] = .2, .01, .3
    >>> best, worst = rank_sets(p)
    >>> best.tolist(), worst.tolist()
    ([1, 1, 2], [2, 3, 3])
    """
    apart = np.triu(np.asarray(p_values) <= alpha, 1)
    return 1 + apart.sum(axis=0), len(apart) - apart.sum(axis=1)


def square(names: Sequence[str], values: np.ndarray) -> pd.DataFrame:
    """Return values of pairs of metrics as a square table; NaN on and below the diagonal."""
    table = np.full((len(names), len(names)), np.nan)
    table[np.triu_indices(len(names), 1)] = values
    return pd.DataFrame(table, index=names, columns=names)


def share_reached(draws: np.ndarray, observed: np.ndarray) -> np.ndarray:
    """Return the share of draws and observed value at least as large as observed, per row: p-values under a null.

    Values within 1e-12 of the observed one count as equal to it: they differ by rounding.
    """
    return ((draws >= observed[:, None] - 1e-12).sum(axis=1) + 1) / (draws.shape[1] + 1)


def max_t(draws: np.ndarray, observed: np.ndarray, *, one_sided: bool = False) -> np.ndarray:
    """Adjust p-values by the largest standardised difference of each draw, stepping down.

    Parameters
    ----------
    draws : numpy.ndarray, shape (n_pairs, n_resamples)
        Null differences; a column is one draw of all of them.
    observed : numpy.ndarray, shape (n_pairs,)
    one_sided : bool
        Whether the hypotheses are "the first is not better than the second" and "the second is not better than the
        first" of every pair, as in Mogstad et al. 2024, instead of "both are equally good".

    Returns
    -------
    numpy.ndarray, shape (n_pairs,)
        Each difference is divided by the root mean square of its draws. The p-value is the probability that chance
        makes any of the differences up to this one as large (Romano and Wolf 2005, step-down); it is at least that of a
        larger difference. If ``one_sided``, a difference and its negative are two, and the p-value is that of the
        difference.
    """
    spread = np.sqrt((draws**2).mean(axis=1))
    known = spread > 1e-12 * max(1.0, np.abs(observed).max(initial=0.0))
    p = np.ones(len(observed))
    size, scaled = observed[known] / spread[known], draws[known] / spread[known, None]
    if one_sided:
        size, scaled = np.append(size, -size), np.vstack([scaled, -scaled])
    else:
        size, scaled = np.abs(size), np.abs(scaled)
    order = np.argsort(size)
    largest, adjusted = np.full(draws.shape[1], -np.inf), np.empty(len(order))
    for row in order:  # from the smallest difference to the largest
        np.maximum(largest, scaled[row], out=largest)
        adjusted[row] = ((largest >= size[row] - 1e-12 * abs(size[row])).sum() + 1) / (len(largest) + 1)
    adjusted[order[::-1]] = np.maximum.accumulate(adjusted[order[::-1]])
    p[known] = adjusted[: known.sum()]
    return p
