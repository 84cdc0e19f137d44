"""What is derived from pairs and scores: buckets of quality, natural pairs, swaps, lengths, combined perturbations."""

from collections.abc import Sequence
from itertools import product

import numpy as np
import pandas as pd

from .._checks import check_count, generator
from .._tables import check_table
from ..evalset import EvalSet, as_evalset
from ._pairs import outcomes, sums


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
        If a column or metric is unknown, or a score is not a number.

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
        If ``pairs`` is not a DataFrame, a column is absent or holds no text, or there is a metric ``length`` already.

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
