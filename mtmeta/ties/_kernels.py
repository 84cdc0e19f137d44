"""The compiled loop of tie calibration on sub-samples. Its slow version is in ``tests/test_ties.py``."""

from __future__ import annotations

import numpy as np

from .._compiled import njit

#: Two values of acc_eq this close differ by rounding only.
TOLERANCE = 1e-12


@njit(nogil=True)
def best_threshold(
    order: np.ndarray, differences: np.ndarray, gains: np.ndarray, weights: np.ndarray
) -> tuple[float, float, float]:
    """Find the smallest threshold with the highest acc_eq over weighted pairs.

    ``order`` lists pairs by ascending metric difference; ``differences`` and ``gains`` (int8: 1 where the humans tie,
    -1 where the metric agrees with their order, else 0) are in the same order. ``weights``, in the numbering of the
    pairs, sum to 1; a pair of weight 0 does not count. Returns the threshold, acc_eq there, and the weight of metric
    ties.
    """
    n = len(order)
    running = 0.0
    for k in range(n):
        if gains[k] < 0:
            running += weights[order[k]]
    best, epsilon, tied, best_tied = running, 0.0, 0.0, 0.0
    for k in range(n):
        weight = weights[order[k]]
        running += gains[k] * weight
        tied += weight
        if k + 1 < n and differences[k + 1] == differences[k]:
            continue
        if differences[k] == 0.0 or running > best + TOLERANCE:
            best, epsilon, best_tied = running, differences[k], tied
    return epsilon, best, best_tied
