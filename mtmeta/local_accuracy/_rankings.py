"""Do contexts order the metrics alike? tau_AP between contexts (H2)."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from ._pairs import divide, mean

#: Two accuracies this close differ by rounding only, and are tied.
_TOLERANCE = 1e-12


def tau_ap(
    truth: Mapping | pd.Series | Sequence[float],
    ranking: Mapping | pd.Series | Sequence[float],
    *,
    symmetric: bool = False,
) -> float:
    r"""Compare two orders of the same items, where mistakes near the top weigh more.

    .. math::
        \tau_{AP} = \frac{2}{N-1} \sum_{i=2}^{N} \frac{C(i)}{i-1} - 1

    C(i) is the number of items above rank i of ``ranking`` that ``truth`` also puts above the item at rank i. The
    formula reads the truth only through these comparisons, so exchanging the arguments changes the value.

    Ties are treated as in tau_AP,b of Urbano and Marrero. A tied group of ``ranking`` is one step: its items are
    compared only with the items above the group, and the mean runs over the items below the top group. A pair that
    ``truth`` ties and ``ranking`` does not is wrong. Equal rankings with ties give 1. Scores within 1e-12 are tied.

    Target: the agreement of the two orders given; it estimates nothing beyond them.

    Parameters
    ----------
    truth, ranking : mapping, Series or sequence of float
        A score of each item, higher is better. Mappings and Series are aligned by name, and the items of a sequence are
        called 0, 1, 2 and so on.
    symmetric : bool
        Mean of both directions.

    Returns
    -------
    float
        In [-1, 1]; 1 for equal orders, -1 for opposite ones, 0 on average for a random ``ranking`` without ties. NaN
        where all items of ``ranking`` tie (of either, if symmetric).

    Raises
    ------
    ValueError
        If there are fewer than two items, the items differ, or a score is missing or is not a number.

    See Also
    --------
    ranking_effect : a test of whether contexts order the metrics alike.
    ranking_effect : against chance.

    References
    ----------
    Yilmaz, Aslam and Robertson 2008; Urbano and Marrero 2017 (ties).

    Examples
    --------
    The items at ranks 2, 3 and 4 have 0 of 1, 2 of 2 and 3 of 3 items above them in the right place:

    >>> from mtmeta.local_accuracy import tau_ap
    >>> round(tau_ap([4, 3, 2, 1], [3, 4, 2, 1]), 3)
    0.333
    >>> round(tau_ap([4, 3, 2, 1], [4, 3, 1, 2]), 3)
    0.778
    """
    table = tau_tables(np.array([_aligned(truth, ranking)]))[0]
    return float((table[0, 1] + table[1, 0]) / 2 if symmetric else table[0, 1])


def _aligned(truth, ranking) -> tuple[pd.Series, pd.Series]:
    x, y = (pd.Series(scores, dtype=np.float64) for scores in (truth, ranking))
    odd = sorted(map(str, set(x.index) ^ set(y.index)))
    if odd or len(x) < 2 or not (x.index.is_unique and y.index.is_unique):
        raise ValueError(f"expected the same two or more items in both rankings, each once; in one only: {odd}.")
    if x.isna().any() or y.isna().any():
        raise ValueError("a ranking holds NaN; leave that item out of both.")
    return x, y[x.index]


def check_comparable(n_metrics: int, n_contexts: int) -> None:
    """Raise unless there are two metrics and two contexts."""
    if n_metrics < 2 or n_contexts < 2:
        raise ValueError(f"orders need at least two metrics and two contexts; found {n_metrics} and {n_contexts}.")


def tau_tables(accuracy: np.ndarray) -> np.ndarray:
    """Return tau_AP between all rows of each draw, truth first; NaN for rows without an accuracy.

    Shape (n_resamples, n_rows, n_metrics) becomes (n_resamples, n_rows, n_rows).
    """
    tables = []
    for rows in accuracy:
        higher = (rows[:, None] > rows[:, :, None] + _TOLERANCE).astype(float)  # (row, item, others ranked above it)
        right = np.einsum("imn,jmn->ijm", higher, higher)
        tables.append(2 * mean(divide(right, np.broadcast_to(higher.sum(axis=2), right.shape)), 2) - 1)
    tables = np.array(tables)
    lost = np.isnan(accuracy).any(axis=2)
    tables[lost[:, :, None] | lost[:, None, :]] = np.nan
    return tables
