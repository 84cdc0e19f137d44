"""Raters err: how good a metric can look against one of them."""

from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd

from ._checks import Undefined, check_choice, check_count, generator
from ._names import counted
from .evalset import EvalSet, as_evalset, metric_names
from .resampling import Statistic, bootstrap, percentile_interval, units_of

__all__ = ["ceiling"]

#: A variance that is a smaller share of the squares is 0 but for rounding.
NOTHING = 1e-12


def ceiling(
    es: EvalSet | pd.DataFrame,
    metrics: Sequence[str] | str | None = None,
    *,
    n_resamples: int = 1000,
    unit: str = "segment",
    rng: int | np.random.Generator | None = 0,
) -> pd.DataFrame:
    r"""Return correlations of metrics with one rating, and with the quality that several ratings have in common.

    A rating is :math:`h = q + e`. Noise in it lowers every correlation: no metric can exceed :math:`\sqrt{\rho}`, the
    **ceiling**, where the reliability :math:`\rho` is the correlation of two ratings. The correlation with quality is

    .. math:: r_{mq} = r_{mh} / \sqrt{\rho}

    where :math:`r_{mh}` is the mean over ratings, and :math:`\rho` the mean over pairs of ratings. It is also the share
    of the ceiling that the metric reaches.

    Both means assume that all raters err equally. If they do not, ``corrected`` is too high, because an arithmetic mean
    exceeds the geometric one: with errors of sd 1 and 3 it is .76 instead of .70 (chapter 12), and on the three ratings
    of WMT23's sets at most .003 too high.

    Target: the correlation with one rating, and with the mean of endlessly many such ratings, over translations
    like these.

    Parameters
    ----------
    es : EvalSet or pandas.DataFrame
        With the columns ``human_2`` … beside ``human``; see `EvalSet.ratings`. Correlations are Pearson's over the
        translations that have all ratings and all these metrics. `mtmeta.sysdep.centre_segments(es)` takes out what all
        translations of a segment share.
    metrics : sequence of str, optional
        By default all metrics that are not ratings.
    n_resamples : int
        At least 2.
    unit : {"segment", "document"}
        What is redrawn. Take documents where the set names some 20 or more.
    rng : int, Generator or None

    Returns
    -------
    pandas.DataFrame
        ``metric, value, corrected, low, high, reliability, reliability_low, reliability_high, n_ratings,
        n_translations``, highest first; ``value`` is :math:`r_{mh}`, and ``corrected`` is :math:`r_{mq}`, whose
        95 % percentile interval has the error of the reliability in it. ``corrected`` is not cut at 1, and NaN where
        the reliability is not above 0 or the metric is constant.

    Raises
    ------
    ValueError
        If a metric is unknown, there is only one rating, or a rating is constant.

    See Also
    --------
    mtmeta.correlate : what metrics get.

    References
    ----------
    Spearman 1904. On raters who differ: Knowles and Lo 2024; on stable rankings: Riley et al. 2024.

    Examples
    --------
    Quality 2 or -2, errors of 1 point that are independent of it and of each other: the reliability is 4 / 5. The
    quality itself has a correlation of only :math:`\sqrt{4/5}` with a rating.

    >>> import mtmeta as mm
    >>> q, e, f = [2, 2, 2, 2, -2, -2, -2, -2], [1, 1, -1, -1] * 2, [1, -1] * 4
    >>> one, two = ([a + b for a, b in zip(q, error)] for error in (e, f))
    >>> es = mm.EvalSet([one], {"human_2": [two], "quality": [q]}, systems=["A"])
    >>> mm.raters.ceiling(es)[["value", "corrected", "reliability"]].round(3).to_numpy().tolist()
    [[0.894, 1.0, 0.8]]
    """
    es = as_evalset(es)
    check_choice("unit", unit, ("segment", "document"))
    n_resamples, rng = check_count("n_resamples", n_resamples, 2), generator(rng)
    names = metric_names(es, metrics)
    n_ratings = len(es.ratings)
    if n_ratings < 2:
        raise Undefined(
            f"set {es.name!r} has one rating of each translation; at least two are needed. Further ratings are columns "
            "called human_2, human_3 and so on."
        )
    scores = np.array([*es.ratings, *(es[name] for name in names)])
    usable = ~np.isnan(scores).any(axis=0)
    rows = scores[:, usable]
    if not rows.size or (np.ptp(rows[:n_ratings], axis=1) == 0).any():
        raise Undefined(f"on the {counted(rows.shape[1], 'translation')} with all scores, a rating is constant.")
    rows = np.vstack([np.ones(rows.shape[1]), rows - rows.mean(axis=1, keepdims=True)])
    unit_of = np.unique(units_of(es, unit)[np.nonzero(usable)[1]], return_inverse=True)[1]
    n_units = unit_of.max() + 1
    products = np.einsum("ai,bi->iab", rows, rows)
    sums = np.array([products[unit_of == u].sum(axis=0) for u in range(n_units)])
    correlations = Statistic(sums, partial(_correlations, n_ratings=n_ratings))
    (value,), (reliability,) = correlations(np.ones((1, n_units)))
    values, reliabilities = correlations(bootstrap(n_units, n_resamples, rng))
    low, high = percentile_interval(_corrected(values, reliabilities), 0.95)
    bounds = percentile_interval(reliabilities, 0.95)
    columns = {"value": value, "corrected": _corrected(value, reliability), "low": low, "high": high}
    columns |= {"reliability": reliability, "reliability_low": bounds[0], "reliability_high": bounds[1]}
    table = pd.DataFrame({"metric": names, **columns, "n_ratings": n_ratings, "n_translations": rows.shape[1]})
    return table.sort_values("value", ascending=False, ignore_index=True, kind="stable")


def _correlations(sums: np.ndarray, n_ratings: int) -> tuple[np.ndarray, np.ndarray]:
    """Return each metric's mean correlation with the ratings, and the mean correlation of pairs of ratings.

    ``sums`` (n_draws, n_columns, n_columns) are of products of columns: 1, the ratings, and the metrics.
    """
    n, square = sums[:, 0, 0], sums[:, 1:, 1:]
    mean = sums[:, 0, 1:] / n[:, None]
    covariance = square / n[:, None, None] - mean[:, :, None] * mean[:, None, :]
    variance = np.diagonal(covariance, axis1=1, axis2=2)
    spread = np.sqrt(np.where(variance > NOTHING * np.diagonal(square, axis1=1, axis2=2), variance, np.nan))
    r = covariance / (spread[:, :, None] * spread[:, None, :])
    first, second = np.triu_indices(n_ratings, 1)
    return r[:, n_ratings:, :n_ratings].mean(axis=2), r[:, first, second].mean(axis=1)


def _corrected(value: np.ndarray, reliability: np.ndarray) -> np.ndarray:
    """Return correlations divided by the root of the reliability; NaN where that is not above 0."""
    root = np.sqrt(np.where(reliability > 0, reliability, np.nan))
    return value / root[..., None]
