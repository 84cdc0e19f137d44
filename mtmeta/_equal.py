"""Which numbers are equal, because they differ by rounding only: the tolerances of all statistics with ties.

The same scores in other units, or added up in another order, differ in their last digits. No statistic may depend on
that.
"""

import numpy as np
from numpy.typing import ArrayLike

#: Scores are equal if they differ by at most this share of their size.
OF_SCORE = 1e-12
#: Means and sums are equal if they differ by at most this share of the size of the scores behind them.
OF_MEAN = 1e-12
#: Differences are equal if they differ by at most this share of the range of the scores.
OF_RANGE = 1e-9


#: Decimals of values of agreement: values that are equal to these share a rank, because only rounding tells them apart.
PLACES = 9


def merged(values: np.ndarray, tolerance: ArrayLike) -> np.ndarray:
    """Give values of a column that are equal the lowest of them.

    Two neighbours in ascending order are equal if they differ by at most the larger of their tolerances.

    Parameters
    ----------
    values : numpy.ndarray, shape (n, ...)
        NaN stays NaN.
    tolerance : array_like
        Broadcast to the shape of the values.
    """
    order = np.argsort(values, axis=0, kind="stable")
    ascending = np.take_along_axis(values, order, 0)
    allowed = np.take_along_axis(np.broadcast_to(tolerance, values.shape), order, 0)
    equal = np.diff(ascending, axis=0) <= np.maximum(allowed[1:], allowed[:-1])
    ascending[1:][equal] = -np.inf
    found = np.empty_like(ascending)
    np.put_along_axis(found, order, np.maximum.accumulate(ascending, axis=0), 0)
    return found


def merged_scores(values: np.ndarray) -> np.ndarray:
    """Give scores (n,) that differ by a few roundings one value."""
    ascending = np.sort(values)
    apart = np.diff(ascending)
    if apart.min(where=apart > 0, initial=np.inf) > OF_SCORE * max(-ascending[0], ascending[-1]):
        return values  # the usual case: no two are that close
    return merged(values, OF_SCORE * np.abs(values))


def tolerance_of_differences(scores: np.ndarray) -> float:
    """Return how far apart two differences of these scores may be and still be equal."""
    return max(OF_RANGE * float(np.ptp(scores)), OF_SCORE * float(np.abs(scores).max()))


def ends_of_runs(ascending: np.ndarray, tolerance: float) -> np.ndarray:
    """Return the position of the last of each run of equal numbers."""
    return np.flatnonzero(np.append(np.diff(ascending) > tolerance, True)[: len(ascending)])
