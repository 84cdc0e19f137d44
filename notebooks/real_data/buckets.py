"""Buckets of quality, and combinations of perturbations, for the page on local accuracy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
import pandas as pd

from mtmeta._checks import check_count, numbers_of
from mtmeta.local_accuracy import metrics_of


@dataclass(frozen=True)
class QualityBuckets:
    """The result of `quality_buckets`.

    Attributes
    ----------
    labels : pandas.Series of Int64
        Bucket of each value, 1 for the lowest; ``<NA>`` where the value is missing. Its index is that of the values.
    table : pandas.DataFrame
        ``bucket, low, high, mean, n``: smallest, largest and mean value, and number of values.
    n_buckets : int
        How many buckets there are.
    """

    labels: pd.Series = field(repr=False)
    table: pd.DataFrame = field(repr=False)
    n_buckets: int

    def to_frame(self) -> pd.DataFrame:
        """Return ``table``."""
        return self.table


def quality_buckets(
    values: Sequence[float] | pd.Series | np.ndarray, n_buckets: int
) -> QualityBuckets:
    """Cut scores into buckets of equal frequency, where equal scores share a bucket.

    A tie is not split, so fewer buckets than were asked for may remain.

    Parameters
    ----------
    values : sequence of float
        Human scores, NaN where not rated.
    n_buckets : int
        How many to ask for, at least 2.

    Returns
    -------
    QualityBuckets
        Edges are the quantiles of the rated values (linear interpolation); equal edges are merged, and buckets that
        hold no value are left out.

    Raises
    ------
    TypeError, ValueError
        If a value is no number, no value is rated, or ``n_buckets`` is no whole number of at least 2.

    See Also
    --------
    local_accuracy : with the buckets as contexts.

    References
    ----------
    Deviyani and Diaz 2025, appendix A.5, which asks for 250.

    Examples
    --------
    >>> buckets = quality_buckets([-9, -5, -1, 0, 0, 0], 6)
    >>> buckets
    QualityBuckets(n_buckets=4)
    >>> buckets.labels.tolist()
    [1, 2, 3, 4, 4, 4]
    """
    n_asked = check_count("n_buckets", n_buckets, 2)
    scores = pd.Series(values)
    scores = pd.Series(numbers_of(scores, "values"), scores.index)
    ascending = np.sort(scores.dropna())
    if not len(ascending):
        raise ValueError("no value is rated.")
    # where a quantile is one of the values, it must be that value and not what rounding makes of it
    place, rest = np.divmod(np.arange(n_asked + 1) * (len(ascending) - 1), n_asked)
    step = ascending[np.minimum(place + 1, len(ascending) - 1)] - ascending[place]
    edges = np.unique(ascending[place] + step * (rest / n_asked))
    bins = pd.Series(np.searchsorted(edges[1:-1], scores), scores.index)
    labels = bins.where(scores.notna()).rank(method="dense").astype("Int64")
    grouped = scores.groupby(labels.to_numpy(dtype=np.float64, na_value=np.nan))
    table = (
        grouped.agg(low="min", high="max", mean="mean", n="size")
        .rename_axis("bucket")
        .reset_index()
    )
    table["bucket"] = table["bucket"].astype(int)
    return QualityBuckets(labels, table, len(table))


def combination_variance(
    pairs: pd.DataFrame, *, context: str | None = "system"
) -> pd.DataFrame:
    """Measure how much accuracy depends on which perturbations were combined, by their number k.

    For each k from 1 to K - 1: take all combinations of k of the K perturbations, of each the mean over contexts of the
    local accuracies, and the variance of these means over combinations. (The paper draws ten combinations for each k.)

    Target: the variance of accuracy over combinations of k of these perturbations.

    Parameters
    ----------
    pairs : pandas.DataFrame
        As for `mtmeta.local_accuracy.local_accuracy`, with a column ``perturbation`` of at least three kinds. Each text should have a pair
        for every perturbation that applies to it, not for a random four.
    context
        As for `mtmeta.local_accuracy.local_accuracy`, one column or None. Pairs without a score are left out for the metric that lacks it.

    Returns
    -------
    pandas.DataFrame
        ``metric, k, variance, expected, n_combinations, n_perturbations``. ``expected`` is the variance that overlap
        alone predicts from k = 1: a mean of k of K numbers drawn without replacement has the variance sigma**2 / k * (K
        - k) / (K - 1). Overlap does not explain a variance that falls below ``expected``.

    Raises
    ------
    TypeError, ValueError
        ValueError with fewer than three perturbations.

    See Also
    --------
    local_accuracy : the accuracies whose variance it is.

    References
    ----------
    Deviyani and Diaz 2025, appendix A.2.3 and figure 5; the expected curve is ours.

    Examples
    --------
    >>> import pandas as pd
    >>> pairs = pd.DataFrame({"segment": 1, "system": "A", "perturbation": list("abc"), "m": [1, 0, 0]})
    >>> pairs["m_perturbed"] = 0
    >>> table = combination_variance(pairs)
    >>> table["variance"].round(4).tolist()
    [0.2222, 0.0556]
    """
    metrics = metrics_of(pairs)
    scores, perturbed = (
        pairs[metrics],
        pairs[[f"{m}_perturbed" for m in metrics]].set_axis(metrics, axis=1),
    )
    keys = [
        pairs["perturbation"],
        pairs[context] if context else pd.Series("all", pairs.index),
    ]
    present = scores.notna() & perturbed.notna()
    total = keys[0].nunique()
    if total < 3:
        raise ValueError(
            f"combining perturbations needs at least three kinds; found {total}."
        )
    won, number = (
        table.groupby(keys)
        .sum()
        .unstack(fill_value=0)
        .to_numpy(dtype=float)
        .reshape(total, len(metrics), -1)
        for table in ((scores > perturbed) & present, present)
    )

    def accuracy(members: tuple[int, ...]) -> np.ndarray:
        n = number[list(members)].sum(axis=0)
        ratios = np.divide(
            won[list(members)].sum(axis=0), n, out=np.full(n.shape, np.nan), where=n > 0
        )
        return np.nanmean(ratios, axis=1)

    accuracies = {
        k: np.array([accuracy(c) for c in combinations(range(total), k)])
        for k in range(1, total)
    }
    single = accuracies[1].var(axis=0)
    rows = []
    for m, name in enumerate(metrics):
        for k, values in accuracies.items():
            expected = single[m] / k * (total - k) / (total - 1)
            rows.append((name, k, values[:, m].var(), expected, len(values), total))
    return pd.DataFrame(
        rows,
        columns=[
            "metric",
            "k",
            "variance",
            "expected",
            "n_combinations",
            "n_perturbations",
        ],
    )


def right(table: pd.DataFrame, metrics: Sequence[str]) -> pd.Series:
    """Return for each pair the share of the metrics that are right; a tie is a failure."""
    wins = [(table[m] > table[f"{m}_perturbed"]).astype(float) for m in metrics]
    return pd.concat(wins, axis=1).mean(axis=1)


def slope(
    table: pd.DataFrame, metrics: Sequence[str], groups: pd.Series, rng
) -> tuple[float, float, float]:
    """Fit a line of `right` over the column ``percentile`` within groups, and return its slope and 95 % interval.

    Segments are drawn again for the interval.
    """
    x, y = table["percentile"], right(table, metrics)
    x, y = (v - v.groupby(groups).transform("mean") for v in (x, y))
    sums = pd.DataFrame({"xy": x * y, "xx": x * x}).groupby(table["segment"]).sum()
    weights = np.full(len(sums), 1 / len(sums))
    drawn = rng.multinomial(len(sums), weights, size=999) @ sums.to_numpy()
    low, high = np.quantile(drawn[:, 0] / drawn[:, 1], [0.025, 0.975])
    return sums["xy"].sum() / sums["xx"].sum(), low, high


def slopes(
    table: pd.DataFrame, metrics: Sequence[str], rng
) -> dict[str, tuple[float, float, float]]:
    """Return the slope over all pairs of a set, within segments, and between texts with as many common words."""
    shared = pd.qcut(table["rouge1"], 20, labels=False, duplicates="drop")
    groups = {"pooled": table["lp"], "within segments": table["segment"]}
    groups |= {"equal overlap": shared}
    return {k: slope(table, metrics, g, rng) for k, g in groups.items()}
