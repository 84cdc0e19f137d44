"""Compiled loops behind the agreement statistics, on flat arrays cut into groups.

A grouped array holds its groups one after the other; ``starts`` (int64, n_groups + 1) gives
where each begins and where the last ends. The slow and obvious versions that these are
tested against stand in ``tests/support/exact.py``.
"""

import math

import numpy as np

from .._compiled import njit

#: Columns of `pair_counts`: concordant, discordant, tied in human only, in metric only, in both.
CONCORDANT, DISCORDANT, TIED_HUMAN, TIED_METRIC, TIED_BOTH = range(5)


@njit
def _add_pairs(human, metric, order, epsilon, tree, below, seen, counts):
    """Add to ``counts`` (5,) the pairs of the cells in ``order``, which ascends by metric.

    ``tree``, ``below`` and ``seen`` are left at 0.
    """
    n_ranks = len(below)
    left = 0
    for i in range(len(order)):
        rank, score = human[order[i]], metric[order[i]]
        while score - metric[order[left]] > epsilon:
            entering = human[order[left]]
            below[entering] += 1
            k = entering + 1
            while k <= n_ranks:
                tree[k] += 1
                k += k & -k
            left += 1
        lower = 0
        k = rank
        while k > 0:
            lower += tree[k]
            k -= k & -k
        tied_both = seen[rank] - below[rank]
        counts[0] += lower
        counts[1] += left - lower - below[rank]
        counts[2] += below[rank]
        counts[3] += i - left - tied_both
        counts[4] += tied_both
        seen[rank] += 1
    tree[:] = 0
    below[:] = 0
    seen[:] = 0


@njit
def counts_without_each(human, metric, starts, epsilon, unit, n_units):
    """Count as `pair_counts` does, without each unit in turn; int64 (n_units, n_groups, 5).

    ``unit`` (int64, (n_cells,)) is the unit of each cell.
    """
    counts = np.zeros((n_units, len(starts) - 1, 5), dtype=np.int64)
    n_ranks = human.max() + 1 if len(human) else 0
    tree, (below, seen) = np.zeros(n_ranks + 1, dtype=np.int64), np.zeros((2, n_ranks), dtype=np.int64)
    for g in range(len(starts) - 1):
        part = slice(starts[g], starts[g + 1])
        order = np.argsort(metric[part], kind="mergesort")
        for u in range(n_units):
            left = order[unit[part][order] != u]
            _add_pairs(human[part], metric[part], left, epsilon, tree, below, seen, counts[u, g])
    return counts


@njit
def pair_counts(human: np.ndarray, metric: np.ndarray, starts: np.ndarray, epsilon: float) -> np.ndarray:
    """Count the kinds of pairs in each group, O(n log n) a group.

    ``human`` holds dense ranks (int64, 0 … k-1). Two metric scores are tied when they differ
    by at most ``epsilon``. Rows are visited in order of their metric score; those further
    than ``epsilon`` below the current one are counted in a Fenwick tree over human ranks.
    """
    return counts_without_each(human, metric, starts, epsilon, np.full(len(human), -1), 1)[0]


#: Numbers of the coefficients in `tau_from_counts`.
VARIANTS = {"tau_b": 0, "tau_a": 1, "tau_10": 2, "tau_13": 3, "tau_14": 4, "tau_eq": 5, "acc_eq": 6}


@njit
def tau_from_counts(variant, c, d, untied_metric, untied_human, pairs):
    """Return the coefficient with this number in `VARIANTS`; NaN where it is undefined."""
    tied_metric = untied_human - c - d  # in metric only
    tied_both = pairs - untied_metric - tied_metric
    if variant == 0:
        numerator, denominator = c - d, math.sqrt(untied_metric * untied_human)
    elif variant == 1:
        numerator, denominator = c - d, pairs
    elif variant == 2:
        numerator, denominator = c - d - tied_metric, untied_human
    elif variant == 3:
        numerator, denominator = c - d, c + d
    elif variant == 4:
        numerator, denominator = c - d, untied_human
    elif variant == 5:
        numerator, denominator = 2 * (c + tied_both) - pairs, pairs
    else:
        numerator, denominator = c + tied_both, pairs
    return numerator / denominator if denominator > 0 else math.nan


@njit
def taus_of_groups(variant, counts):
    """Return the coefficient of each group from its counts of kinds of pairs (float64, (n_groups, 5))."""
    values = np.empty(len(counts))
    for g in range(len(counts)):
        c, d, tied_human, tied_metric, tied_both = counts[g]
        pairs = c + d + tied_human + tied_metric + tied_both
        values[g] = tau_from_counts(variant, c, d, pairs - tied_metric - tied_both, c + d + tied_metric, pairs)
    return values
