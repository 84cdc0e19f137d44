"""What is derived from pairs and scores: buckets of quality, natural pairs, swaps, lengths, combined perturbations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations, product

import numpy as np
import pandas as pd

from .._checks import check_count, generator, numbers_of
from .._tables import check_table
from ..evalset import EvalSet, as_evalset
from ._pairs import codes_of, divide, mean, outcomes, sums


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


def quality_buckets(values: Sequence[float] | pd.Series | np.ndarray, n_buckets: int) -> QualityBuckets:
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
    >>> from mtmeta.local_accuracy import quality_buckets
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
    table = grouped.agg(low="min", high="max", mean="mean", n="size").rename_axis("bucket").reset_index()
    table["bucket"] = table["bucket"].astype(int)
    return QualityBuckets(labels, table, len(table))


def natural_pairs(
    es: EvalSet | pd.DataFrame,
    *,
    metrics: Sequence[str] | None = None,
    max_per_segment: int | None = None,
    rng: int | np.random.Generator | None = 0,
) -> pd.DataFrame:
    """Pair real translations of the same segment that humans scored differently, as a pairs table.

    The better translation takes the place of y, the worse one that of y'. Equal scores never make a pair.

    Parameters
    ----------
    es : EvalSet or pandas.DataFrame
    metrics, rng
        As for `local_accuracy`.
    max_per_segment : int, optional
        Draw at most this many pairs of a segment, at random.

    Returns
    -------
    pandas.DataFrame
        ``segment, system`` (the better one), ``worse, perturbation`` (``"human preference"``), ``human,
        human_worse``; ``lp, doc, domain`` where the set has them; ``M`` and ``M_perturbed`` for each metric, NaN where
        not scored.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range, a metric is unknown, or no pair is left.

    See Also
    --------
    mtmeta.perturb.perturb_table : make the worse text instead.
    local_accuracy : the accuracy on such pairs.

    References
    ----------
    Deviyani and Diaz 2025, limitations (its degradations may be too easy).

    Examples
    --------
    >>> import mtmeta as mm
    >>> es = mm.EvalSet([[0, -6], [-1, -6]], {"X": [[.9, .2], [.8, .3]]}, systems=["A", "B"])
    >>> mm.local_accuracy.natural_pairs(es)[["system", "worse", "X", "X_perturbed"]].values.tolist()
    [['A', 'B', 0.9, 0.8]]
    """
    es = as_evalset(es).select(metrics=metrics)
    i, j = np.triu_indices(es.shape[0], 1)
    difference = (es.human[i] - es.human[j]).T
    segment, pair = np.nonzero(np.abs(difference) > 0)
    if max_per_segment is not None:
        drawn = pd.Series(generator(rng).random(len(pair))).groupby(segment).rank(method="first")
        kept = drawn <= check_count("max_per_segment", max_per_segment, 1)
        segment, pair = segment[kept], pair[kept]
    if not len(pair):
        raise ValueError(f"set {es.name!r}: humans scored no two translations of a segment differently.")
    first = difference[segment, pair] > 0
    frame = es.to_frame().filter(["segment", "system", "human", "doc", "domain", *es.metrics])
    sides = (np.where(first, one[pair], other[pair]) for one, other in ((i, j), (j, i)))
    better, worse = (frame.iloc[system * es.shape[1] + segment].reset_index(drop=True) for system in sides)
    table = better[["segment", "system"]].assign(worse=worse["system"], perturbation="human preference")
    table = table.assign(human=better["human"], human_worse=worse["human"])
    if es.language_pair:
        table["lp"] = es.language_pair
    table = table.join(better.filter(["doc", "domain"]))
    for name in es.metrics:
        table[name], table[f"{name}_perturbed"] = better[name], worse[name]
    return table


def swap_effects(pairs: pd.DataFrame, *, context: str | Sequence[str] | None = None) -> pd.DataFrame:
    """Count how many swaps of items lower, keep or raise each measure of a ranking.

    A swap of two random items need not do harm. If a measure does not fall, local accuracy calls it wrong, rightly or
    not.

    Target: the shares of swaps of these rankings; it estimates nothing beyond them.

    Parameters
    ----------
    pairs : pandas.DataFrame
        As for `local_accuracy`; any task.
    context : str or sequence of str, optional
        Columns to count within, such as ``"perturbation"``.

    Returns
    -------
    pandas.DataFrame
        ``context`` (the values joined with `` / ``; ``"all"`` without), ``metric, lowered, kept, raised`` (numbers of
        pairs), ``share_lowered, share_kept, share_raised``, ``n_pairs``. Pairs without a score are not counted.

    Raises
    ------
    TypeError, ValueError
        If a column or metric is unknown, or a score is no number.

    See Also
    --------
    mtmeta.perturb.perturb_rankings : the swaps.

    References
    ----------
    Deviyani and Diaz 2025, section 4.2, takes a swapped ranking for a worse one.

    Examples
    --------
    >>> import pandas as pd
    >>> from mtmeta.local_accuracy import swap_effects
    >>> pairs = pd.DataFrame({"segment": list("1234"), "RR": [1, .5, .5, .2], "RR_perturbed": .5})
    >>> swap_effects(pairs)[["lowered", "kept", "raised"]].values.tolist()
    [[1, 2, 1]]
    """
    data = outcomes(pairs, context, None, missing="drop")
    counts = sums(data.context, len(data.contexts), data.wins, data.tied, data.present - data.wins - data.tied)
    table = pd.DataFrame(product(data.metrics, data.contexts), columns=["metric", "context"])[["context", "metric"]]
    counts = {word: number.T.ravel() for word, number in zip(("lowered", "kept", "raised"), counts, strict=True)}
    counts = pd.DataFrame(counts, dtype=np.int64)
    n_pairs = counts.sum(axis=1)
    return pd.concat([table, counts, counts.div(n_pairs, axis=0).add_prefix("share_")], axis=1).assign(n_pairs=n_pairs)


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
    TypeError, ValueError
        If ``pairs`` is no DataFrame, a column is absent or holds no text, or there is a metric ``length`` already.

    See Also
    --------
    local_accuracy : measure it beside real metrics.
    mtmeta.scoring.score_pairs : real metrics.

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
    names = {"length": "translation" if "translation" in pairs else "transcript", "length_perturbed": "perturbed"}
    check_table(pairs, texts=[*names.values()], new=[*names], name="pairs")
    return pairs.assign(**{new: pairs[old].str.split().str.len().astype(float) for new, old in names.items()})


def combination_variance(pairs: pd.DataFrame, *, context: str | Sequence[str] | None = "system") -> pd.DataFrame:
    """Measure how much accuracy depends on which perturbations were combined, by their number k.

    For each k from 1 to K - 1: take all combinations of k of the K perturbations, of each the mean over contexts of the
    local accuracies, and the variance of these means over combinations. (The paper draws ten combinations for each k.)

    Target: the variance of accuracy over combinations of k of these perturbations.

    Parameters
    ----------
    pairs : pandas.DataFrame
        As for `local_accuracy`, with a column ``perturbation`` of at least three kinds. Each text should have a pair
        for every perturbation that applies to it, not for a random four.
    context
        As for `local_accuracy`. Pairs without a score are left out for the metric that lacks it.

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

    See Also
    --------
    local_accuracy : the accuracies whose variance it is.

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
    data = outcomes(pairs, context, None, missing="drop")
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
