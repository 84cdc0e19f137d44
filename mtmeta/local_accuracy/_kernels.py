"""Compiled loops: permuted contexts, and tau_AP of many rankings. Slow versions stand in the tests."""

from __future__ import annotations

import numpy as np

from .._compiled import njit


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
