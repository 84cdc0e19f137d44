"""Compiled loops: permuted contexts, and tau_AP of many rankings. Slow versions stand in the tests."""

from __future__ import annotations

import numpy as np

from .._compiled import njit

#: Two accuracies this close differ by rounding only, and are tied.
TOLERANCE = 1e-12


@njit
def permuted_sums(labels, starts, wins, counts, n_contexts, n_resamples, rng):
    """Shuffle the labels of units within blocks, and sum wins and counts by label.

    ``starts`` cuts the units into blocks; ``wins`` and ``counts`` have shape (n_units, n_metrics). Returns two arrays
    of shape (n_resamples, n_contexts, n_metrics).
    """
    n_units, n_metrics = wins.shape
    won = np.zeros((n_resamples, n_contexts, n_metrics))
    number = np.zeros((n_resamples, n_contexts, n_metrics))
    shuffled = labels.copy()
    for b in range(n_resamples):
        for g in range(len(starts) - 1):
            for i in range(starts[g + 1] - 1, starts[g], -1):
                j = starts[g] + int(rng.random() * (i - starts[g] + 1))
                shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
        for u in range(n_units):
            for m in range(n_metrics):
                won[b, shuffled[u], m] += wins[u, m]
                number[b, shuffled[u], m] += counts[u, m]
    return won, number


@njit
def tau_ap(truth, ranking):
    """tau_AP of ``ranking`` given ``truth`` (scores, high first), tied groups as one, one direction; NaN if all tie."""
    n = len(truth)
    total, below_top = 0.0, 0
    for i in range(n):
        above, right = 0, 0
        for j in range(n):
            if ranking[j] > ranking[i] + TOLERANCE:
                above += 1
                if truth[j] > truth[i] + TOLERANCE:
                    right += 1
        if above:
            total += right / above
            below_top += 1
    return 2 * total / below_top - 1 if below_top else np.nan


@njit
def tau_tables(accuracies):
    """Return tau_AP between all rows of each draw: (n_resamples, n_rows, n_metrics) to (n_resamples, n_rows, n_rows).

    The first index of a table is the truth.
    """
    n_resamples, n_rows, _ = accuracies.shape
    out = np.empty((n_resamples, n_rows, n_rows))
    for b in range(n_resamples):
        for i in range(n_rows):
            for j in range(n_rows):
                out[b, i, j] = tau_ap(accuracies[b, i], accuracies[b, j])
    return out
