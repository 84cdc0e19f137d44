"""Pearson correlations of many rows or columns at once, and a test of two of them."""

import numpy as np
from scipy import stats

#: One system decides over a correlation whose sign it turns, moving it by more than this.
TURNED = 0.2


def pearson(x: np.ndarray, y: np.ndarray, axis: int = -1, *, tolerance: float = 0.0) -> np.ndarray:
    """Return Pearson's r along an axis; NaN where a side is constant. The arrays are broadcast.

    A side that varies by no more than a share ``tolerance`` of its size is constant: means of equal numbers may.
    """
    varied = [np.ptp(v, axis=axis) > tolerance * np.abs(v).max(axis=axis) for v in (x, y)]
    varied = varied[0] & varied[1]
    x, y = x - x.mean(axis=axis, keepdims=True), y - y.mean(axis=axis, keepdims=True)
    spread = np.sqrt((x**2).sum(axis=axis) * (y**2).sum(axis=axis))
    return np.divide((x * y).sum(axis=axis), spread, out=np.full(spread.shape, np.nan), where=varied & (spread > 0))


def williams(r1: np.ndarray, r2: np.ndarray, r12: np.ndarray, n: int) -> np.ndarray:
    """Return one-sided p-values of Williams' test that ``r1`` is larger than ``r2``; .5 where they are equal.

    ``r1`` and ``r2`` are correlations of two scores with the same third one, ``r12`` that of the two with each other,
    all over ``n`` points.
    """
    determinant = 1 - r1**2 - r2**2 - r12**2 + 2 * r1 * r2 * r12
    spread = 2 * determinant * (n - 1) / (n - 3) + (r1 + r2) ** 2 / 4 * (1 - r12) ** 3
    with np.errstate(divide="ignore", invalid="ignore"):
        t = (r1 - r2) * np.sqrt((n - 1) * (1 + r12) / spread)
    return np.where(np.isclose(r1, r2, atol=1e-15, rtol=0), 0.5, stats.t.sf(t, n - 3))
