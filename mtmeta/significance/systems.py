"""Statistics of means of systems: their values in resamples of segments, for other systems, and by chance."""

from functools import partial
from math import factorial

import numpy as np
from scipy.stats import permutation_test

from .._equal import OF_MEAN, merged
from .._pearson import pearson
from ..agreement.spa import sign_of_difference
from ..resampling import fisher_interval


def system_means(values: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return each system's mean in each draw, shape (n_systems, n_resamples); NaN where it has no score."""
    scored = ~np.isnan(values)
    values = np.where(scored, values, 0.0)
    sums, sizes = values @ counts.T, scored.astype(float) @ counts.T
    means = np.divide(sums, sizes, out=np.full(sums.shape, np.nan), where=sizes > 0)
    return merged(means, OF_MEAN * np.abs(values).max(axis=1, keepdims=True))


def pair_accuracy(human: np.ndarray, metric: np.ndarray) -> np.ndarray:
    """Return the share of pairs of systems ordered alike in each column; NaN where a score is not known.

    Both have shape (n_systems, n_columns).
    """
    i, j = np.triu_indices(len(human), 1)
    agreed = sign_of_difference(human[i], human[j]) == sign_of_difference(metric[i], metric[j])
    known = ~np.isnan(human + metric).any(axis=0) & (len(i) > 0)
    return np.where(known, agreed.sum(axis=0) / max(1, len(i)), np.nan)


def order_p_value(human: np.ndarray, metric: np.ndarray, seed: int, n_resamples: int = 9999) -> tuple[float, str]:
    """Return the share of orders of the systems that agree with humans at least as well, and how they were drawn."""
    k = len(human)

    def accuracy(metric: np.ndarray, axis: int) -> np.ndarray:
        return pair_accuracy(human[:, None], np.atleast_2d(metric).T)

    options = {"n_resamples": n_resamples, "random_state": np.random.default_rng(seed), "vectorized": True}
    found = permutation_test((metric,), accuracy, permutation_type="pairings", alternative="greater", **options)
    n = len(found.null_distribution)
    return found.pvalue, f"all {n} orders of {k} systems" if n == factorial(k) else f"{n} random orders of {k} systems"


#: Statistics of means of systems by name, with the scales of their intervals.
STATISTICS = {"pearson": (partial(pearson, axis=0), "pearson"), "pairwise_accuracy": (pair_accuracy, "acc_eq")}


def of_other_systems(human: np.ndarray, metric: np.ndarray, name: str, level: float) -> tuple[float, float, float]:
    """Return a statistic and its jackknife interval over systems, at least as long as that from resampled segments.

    Column 0 of the means of systems is that of the data, the others are those of resamples.
    """
    (statistic, scale), k = STATISTICS[name], len(human)
    value, *drawn = statistic(human, metric)
    without = [statistic(*(np.delete(v[:, :1], s, axis=0) for v in (human, metric)))[0] for s in range(k)]
    variance = max((k - 1) * np.var(without), np.var([v for v in drawn if not np.isnan(v)] or [0.0]))
    return value, *fisher_interval(value, variance, scale, k - 1, level)
