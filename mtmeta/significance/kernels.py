"""Compiled loops behind the permutation tests, on flat arrays cut into groups as in `mtmeta.agreement.kernels`."""

import math

import numpy as np

from .._compiled import njit, prange
from ..agreement.kernels import pair_counts, tau_from_counts, taus_of_groups

#: In groups up to this size all pairs are compared; larger ones are sorted.
FEW_CELLS = 16


@njit
def _tau(variant, human, metric, edges):
    """Return the coefficient of one group; ``edges`` is (0, its size)."""
    n = len(human)
    if n > FEW_CELLS:
        return taus_of_groups(variant, pair_counts(human, metric, edges, 0.0))[0]
    c, d, untied_human, untied_metric = 0, 0, 0, 0
    for i in range(n):
        for j in range(i):
            dh, dm = human[i] - human[j], metric[i] - metric[j]
            c += dh * dm > 0
            d += dh * dm < 0
            untied_human += dh != 0
            untied_metric += dm != 0
    pairs = n * (n - 1) // 2
    return tau_from_counts(variant, float(c), float(d), float(untied_metric), float(untied_human), float(pairs))


@njit(parallel=True)
def add_swapped_tau(variant, human, scores, starts, swap, first, second, sums, counts):
    """Add a tau of both hybrids of each group, for every pair of metrics and draw.

    Parameters
    ----------
    variant : int
        See `tau_from_counts`.
    human : int64, (n_cells,)
        Dense ranks.
    scores : float64, (n_metrics, n_cells)
    starts : int64, (n_groups + 1,)
        Where each group of cells begins.
    swap : uint8, (n_cells, n_resamples)
        Which cells the two metrics swap.
    first, second : int64, (n_pairs,)
        The metrics of each pair.
    sums, counts : float64, (2, n_pairs, n_resamples)
        Sum of the values and number of groups where they are defined; added to.
    """
    n_resamples = swap.shape[1]
    for task in prange(len(first) * n_resamples):
        p, k = task // n_resamples, task % n_resamples
        for side in range(2):
            hybrid = np.where(swap[:, k] == side, scores[first[p]], scores[second[p]])
            for g in range(len(starts) - 1):
                part = slice(starts[g], starts[g + 1])
                edges = np.array([0, starts[g + 1] - starts[g]])
                tau = _tau(variant, human[part], hybrid[part], edges)
                if not math.isnan(tau):
                    sums[side, p, k] += tau
                    counts[side, p, k] += 1.0


@njit(parallel=True)
def swapped_spa(inside, total, human_p, half, first, second, tolerance, values):
    """Compute SPA of both hybrids for every pair of metrics, in one draw of the swap mask.

    Parameters
    ----------
    inside, total : float64, (n_metrics, n_systems, 1 + n_signs)
        Signed sums over the masked and over all segments; entry 0 has all signs +1, the observed sum.
    human_p : float64, (n_system_pairs,)
    half : bool
        Whether a signed sum that equals the observed one counts one half, otherwise one.
    first, second : int64, (n_pairs,)
    tolerance : float
        Sums this close are equal.
    values : float64, (2, n_pairs)
        Receives the SPA of each hybrid.
    """
    _, n_systems, n_columns = inside.shape
    n_signs = n_columns - 1
    for p in prange(len(first)):
        a, b = first[p], second[p]
        hybrid = np.empty((n_systems, n_columns))
        for side in range(2):
            x, y = (a, b) if side == 0 else (b, a)
            for i in range(n_systems):
                for k in range(n_columns):
                    hybrid[i, k] = total[x, i, k] - inside[x, i, k] + inside[y, i, k]
            distance = 0.0
            pair = 0
            for i in range(n_systems):
                for j in range(i + 1, n_systems):
                    observed = hybrid[i, 0] - hybrid[j, 0]
                    above, not_below = 0, 0
                    for k in range(1, n_columns):
                        null = hybrid[i, k] - hybrid[j, k]
                        above += null > observed + tolerance
                        not_below += null >= observed - tolerance
                    reached = 0.5 * (above + not_below) if half else float(not_below)
                    distance += abs(human_p[pair] - reached / n_signs)
                    pair += 1
            values[side, p] = 1.0 - distance / pair
