"""The choice of perturbations decides who wins: combinations of them, and a metric that counts words."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from ._pairs import codes_of, column, divide, mean, outcomes, sums

_TEXTS = ("translation", "transcript")


def length_metric(pairs: pd.DataFrame) -> pd.DataFrame:
    """Add a metric that returns the number of words of the text, which knows nothing of quality.

    It is always right about a removed word and always wrong about an inserted or swapped one.

    Parameters
    ----------
    pairs : pandas.DataFrame
        With a column ``translation`` or ``transcript`` of texts y, and a column ``perturbed`` of texts y'.

    Returns
    -------
    pandas.DataFrame
        A copy with the columns ``length`` and ``length_perturbed``. Words are separated by blanks.

    Raises
    ------
    ValueError
        If a column is absent or has an empty cell, or there is a metric ``length`` already.

    References
    ----------
    Deviyani and Diaz 2025, appendix A.2.3.

    Examples
    --------
    >>> import pandas as pd
    >>> from mtmeta.local_accuracy import length_metric, local_accuracy
    >>> pairs = pd.DataFrame({"segment": 1, "translation": "a b c", "perturbed": ["a c", "a b d c", "b a c"]})
    >>> pairs = length_metric(pairs)
    >>> local_accuracy(pairs, context=None)["accuracy"].round(3).tolist()
    [0.333]
    """
    texts = [c for c in _TEXTS if c in pairs.columns]
    if not texts:
        raise ValueError(f"expected a column of texts, {' or '.join(_TEXTS)}.")
    lengths = {}
    for name, text in (("length", texts[0]), ("length_perturbed", "perturbed")):
        if name in pairs.columns:
            raise ValueError(f"the pairs have a column {name!r} already; drop or rename it.")
        lengths[name] = column(pairs, text).map(lambda words: float(len(str(words).split())))
    return pairs.assign(**lengths)


def combination_variance(
    pairs: pd.DataFrame,
    *,
    context: str | Sequence[str] | None = "system",
    metrics: Sequence[str] | str | None = None,
    missing: str = "raise",
) -> pd.DataFrame:
    """Measure how much accuracy depends on which perturbations were combined, by their number k.

    For each k from 1 to K - 1: take all combinations of k of the K perturbations, of each the mean over contexts of the
    local accuracies, and the variance of these means over combinations. (The paper draws ten combinations for each k.)

    Parameters
    ----------
    pairs : pandas.DataFrame
        As for `local_accuracy`, with a column ``perturbation`` of at least three kinds. Each text should have a pair
        for every perturbation that applies to it, not for a random four.
    context, metrics, missing
        As for `local_accuracy`.

    Returns
    -------
    pandas.DataFrame
        ``metric, k, variance, expected, n_combinations, n_perturbations``. ``expected`` is the variance that overlap
        alone predicts from k = 1: a mean of k of K numbers drawn without replacement has the variance sigma**2 / k * (K
        - k) / (K - 1). Overlap does not explain a variance that falls below ``expected``.

    Raises
    ------
    TypeError, ValueError
        As `local_accuracy`; ValueError with fewer than three perturbations.

    References
    ----------
    Deviyani and Diaz 2025, appendix A.2.3 and figure 5; the expected curve is ours.

    Examples
    --------
    >>> import pandas as pd
    >>> from mtmeta.local_accuracy import combination_variance
    >>> pairs = pd.DataFrame({"segment": 1, "system": "A", "perturbation": list("abc"), "m": [1, 0, 0]})
    >>> pairs["m_perturbed"] = 0
    >>> table = combination_variance(pairs)
    >>> table["variance"].round(4).tolist()
    [0.2222, 0.0556]
    """
    data = outcomes(pairs, context, metrics, missing=missing)
    kinds = codes_of(pairs, ["perturbation"])
    total = int(kinds.max()) + 1
    if total < 3:
        raise ValueError(f"combining perturbations needs at least three kinds; found {total}.")
    shape = (total, len(data.contexts), len(data.metrics))
    cell = kinds * shape[1] + data.context
    won, number = (table.reshape(shape) for table in sums(cell, total * shape[1], data.wins, data.present))

    def accuracy(members: tuple[int, ...]) -> np.ndarray:
        kept = list(members)
        return mean(divide(won[kept].sum(axis=0), number[kept].sum(axis=0)), 0)

    accuracies = {k: np.array([accuracy(c) for c in combinations(range(total), k)]) for k in range(1, total)}
    single = accuracies[1].var(axis=0)
    rows = []
    for m, name in enumerate(data.metrics):
        for k, values in accuracies.items():
            expected = single[m] / k * (total - k) / (total - 1)
            rows.append((name, k, values[:, m].var(), expected, len(values), total))
    return pd.DataFrame(rows, columns=["metric", "k", "variance", "expected", "n_combinations", "n_perturbations"])
