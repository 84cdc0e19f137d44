"""Local metric accuracy (equations 1 and 2)."""

from collections.abc import Sequence
from itertools import product

import numpy as np
import pandas as pd

from .._checks import check_count, generator
from .._enough import interval_of
from ._pairs import outcomes, sums, tally


def local_accuracy(
    pairs: pd.DataFrame,
    *,
    context: str | Sequence[str] | None,
    metrics: Sequence[str] | str | None = None,
    ties: str = "failure",
    missing: str = "raise",
    unit: str = "segment",
    n_resamples: int = 1000,
    rng: int | np.random.Generator | None = 0,
) -> pd.DataFrame:
    r"""Measure in each context how often a metric scores a text above its degraded version.

    .. math::
        \mathrm{ACC}_\mu(Q_x) = \frac{1}{|Q_x|} \sum_{\langle y, y' \rangle \in Q_x}
        \mathbb{1}\left[\mu(x, y) > \mu(x, y')\right], \qquad
        \mathrm{ACC}_\mu(Q) = \frac{1}{|X|} \sum_{x \in X} \mathrm{ACC}_\mu(Q_x)

    Target: the probability that the metric prefers the better text of a pair, over pairs like these in each
    context.

    Parameters
    ----------
    pairs : pandas.DataFrame
        One row a pair: ``segment`` (the input x; for rankings the query), columns of context, and for every metric M
        the columns ``M`` (score of y) and ``M_perturbed`` (score of y'). Higher is better in both. Where there is a
        column ``lp``, equal segment names of two language pairs are two segments.
    context : str, sequence of str or None
        Column whose values are the contexts; several are combined, their values joined with `` / ``; None: one
        context, ``"all"``, that is global accuracy.
    metrics : sequence of str, optional
        All by default.
    ties : {"failure", "half"}
        How much a pair with equal scores counts: nothing, as in equation 1, or one half, as a coin would earn.
    missing : {"raise", "drop"}
        How to treat a pair that a metric did not score (NaN): as an error, or leave it out for this metric and count it
        in ``n_missing``.
    unit : str
        Column of what the bootstrap draws whole, such as ``"doc"`` or ``"speaker"``; segments must not straddle units.
        Segments of one document are alike: with some 20 documents or more, draw these. On WMT23 that widens intervals
        by system by a median of 0 % (en-de) to 16 % (zh-en).
    n_resamples : int
        Bootstrap draws of the 95 % interval; 0 for none.
    rng : None, int or numpy.random.Generator

    Returns
    -------
    pandas.DataFrame
        ``context, metric, accuracy, tie_rate, n_pairs, n_segments, n_missing, low, high``. Accuracy is in [0, 1],
        higher is better; a metric that is blind to the difference scores 0 with ``ties="failure"``, and a fair coin
        0.5. The interval is a percentile bootstrap over units, drawn within contexts where each unit lies in one. Below
        20 units it is extended to Student's t; with 6 to 19 units that are all alike it is the exact one of a share;
        with fewer than 6 there is none (NaN), because six coins can agree in one case of 32.

    Raises
    ------
    TypeError
        If ``pairs`` is not a DataFrame.
    ValueError
        If a score is not a number, a column, metric or option is unknown, a context is empty, or a score is missing and
        not to be dropped.

    See Also
    --------
    context_effect : do the contexts differ by more than chance?
    recommend : which metric to use in which context.
    guide : all of it from texts.

    References
    ----------
    Deviyani and Diaz 2025, section 3, equations 1 and 2.

    Examples
    --------
    >>> import pandas as pd
    >>> from mtmeta.local_accuracy import local_accuracy
    >>> pairs = pd.DataFrame({"segment": list("1122"), "system": list("ABAB"),
    ...     "chrF": [.6, .5, .7, .4], "chrF_perturbed": .5})
    >>> local_accuracy(pairs, context="system").iloc[:, :5]
      context metric  accuracy  tie_rate  n_pairs
    0       A   chrF       1.0       0.0        2
    1       B   chrF       0.0       0.5        2
    """
    n_resamples = check_count("n_resamples", n_resamples, 0)
    data = outcomes(pairs, context, metrics, ties=ties, missing=missing, unit=unit)
    summed, n_contexts = tally(data), len(data.contexts)
    n_pairs, n_missing = sums(data.context, n_contexts, data.present, ~data.present)
    (n_segments,) = sums(summed.context, n_contexts, summed.count)
    draws = summed.draws(n_resamples, generator(rng))
    low, high = interval_of(summed.accuracy(), draws, 0.95, summed.n_units(), (0, 1))
    table = pd.DataFrame(product(data.contexts, data.metrics), columns=["context", "metric"])
    values = (summed.accuracy(), summed.tie_rate(), n_pairs, n_segments, n_missing, low, high)
    names = "accuracy tie_rate n_pairs n_segments n_missing low high".split()
    table = table.assign(**{name: value.ravel() for name, value in zip(names, values, strict=True)})
    return table.astype(dict.fromkeys(names[2:5], np.int64))
