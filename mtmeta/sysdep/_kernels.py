"""Compiled loops behind system dependence: many isotonic fits.

scipy fits one in a call that costs more than the fit; here a resample costs one pass over the rows.
"""

from __future__ import annotations

import numpy as np

from .._compiled import njit


@njit(nogil=True)
def fit_isotonic(points, total, weight, fitted):
    """Fit an increasing step function by pooling adjacent violators, and evaluate it at every point.

    ``points`` (float64, increasing) are the distinct values of x; ``total`` and ``weight`` the weighted sum of y and
    the sum of weights at each. Points without weight lie on the line between their nearest neighbours with weight;
    those outside take the value of the nearest. ``fitted`` is written over.
    """
    n = len(points)
    sums, sizes, ends = np.empty(n), np.empty(n), np.empty(n, dtype=np.int64)
    k = 0
    for i in range(n):
        size = weight[i]
        if size == 0:
            continue
        value = total[i]
        while k > 0 and sums[k - 1] * size >= value * sizes[k - 1]:  # the block below has the higher mean
            k -= 1
            value += sums[k]
            size += sizes[k]
        sums[k], sizes[k], ends[k] = value, size, i
        k += 1
    i, last = 0, -1
    for block in range(k):
        mean = sums[block] / sizes[block]
        while i <= ends[block]:
            if weight[i] > 0:
                fitted[i] = mean
                for gap in range(last + 1, i):
                    if last < 0:
                        fitted[gap] = fitted[i]
                    else:
                        share = (points[gap] - points[last]) / (points[i] - points[last])
                        fitted[gap] = fitted[last] + share * (fitted[i] - fitted[last])
                last = i
            i += 1
    for gap in range(last + 1, n):
        fitted[gap] = fitted[last]


@njit(nogil=True)
def isotonic_draws(points, at, y, starts, known, unit, counts, kept):
    """Fit y on x isotonically in each resample, and average fit and y over each group.

    The rows of group ``g`` are those from ``starts[g]`` to ``starts[g + 1]``; only the first ``known[g]`` of them have
    a ``y``. ``at`` (int64) says at which of ``points`` each row lies. Resample ``b`` takes a row
    ``counts[b, unit[row]]`` times. Returns the sum of the fits at every point (n_points), the fits at
    ``points[kept]`` (n_resamples, n_kept), and each group's weighted mean of the fit less that of y (n_resamples,
    n_groups); NaN where a group was not drawn.
    """
    n_resamples, n_points, n_groups = len(counts), len(points), len(known)
    summed, fitted = np.zeros(n_points), np.zeros(n_points)
    at_kept, deviations = np.empty((n_resamples, len(kept))), np.full((n_resamples, n_groups), np.nan)
    for b in range(n_resamples):
        total, weight = np.zeros(n_points), np.zeros(n_points)
        y_means = np.full(n_groups, np.nan)
        for g in range(n_groups):
            y_sum, n = 0.0, 0
            for row in range(starts[g], starts[g] + known[g]):
                times = counts[b, unit[row]]
                value = times * y[row]
                total[at[row]] += value
                weight[at[row]] += times
                y_sum += value
                n += times
            if n > 0:
                y_means[g] = y_sum / n
        fit_isotonic(points, total, weight, fitted)
        for g in range(n_groups):
            fit_sum, n = 0.0, 0
            for row in range(starts[g], starts[g + 1]):
                times = counts[b, unit[row]]
                fit_sum += times * fitted[at[row]]
                n += times
            if n > 0:
                deviations[b, g] = fit_sum / n - y_means[g]
        summed += fitted
        for k in range(len(kept)):
            at_kept[b, k] = fitted[kept[k]]
    return summed, at_kept, deviations
