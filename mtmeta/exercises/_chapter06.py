"""References of chapter 6, on ties."""

from __future__ import annotations

import numpy as np

from .. import ties
from ..agreement import correlate
from ..evalset import EvalSet
from ._compare import Expected


def third(es: EvalSet, metric: str) -> dict:
    i, j = np.triu_indices(es.shape[0], 1)
    dh, dm = es.human[i] - es.human[j], es[metric][i] - es[metric][j]
    n, tied = (~np.isnan(dh)).sum(), (dh == 0).sum()
    both, alone = ((dm == 0) & (dh == 0)).sum(), ((dm == 0) & ~np.isnan(dh) & (dh != 0)).sum()
    return {"u": 1 / 3, "share": float(tied * alone / (tied * alone + 2 * both * (n - tied)))}


def hurt() -> dict:
    from scipy.stats import norm

    # Two differences, 1 and 1.1, with noise of standard deviation .05 on both scores: the best cut lies between them,
    # and in-sample calibration finds a slightly better one.
    return {"metric": 1.0, "twin": Expected(float(norm.cdf(0.05 / (0.05 * np.sqrt(2)))), 0.05)}


def claims() -> list:
    return ["b", "d"]


def own(field: EvalSet, metric: str) -> dict:
    from scipy.stats import kendalltau

    accuracy = correlate(field, coefficient="acc_eq").set_index("metric")["value"]
    expected = ties.expected_accuracy(field).set_index("metric")["value"]
    return {
        "tie share": ties.human_tie_share(field),
        "gain": accuracy[f"{metric} + noise"] - accuracy[metric],
        "tau": kendalltau(accuracy, expected[accuracy.index]).statistic,
    }
