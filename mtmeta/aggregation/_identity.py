"""Ratio of sums against mean of ratios."""

from collections.abc import Sequence

import numpy as np
import pandas as pd


def ratio_gap(matches: Sequence[float] | np.ndarray, lengths: Sequence[float] | np.ndarray) -> pd.Series:
    r"""Split the difference between a ratio of sums and a mean of ratios.

    With matches :math:`m_i`, lengths :math:`w_i` and ratios :math:`r_i = m_i / w_i` of n segments,

    .. math:: \frac{\sum m_i}{\sum w_i} - \frac1n \sum r_i
              = \frac{\frac1n\sum w_i r_i - \bar w \bar r}{\bar w} = \frac{\mathrm{Cov}(w, r)}{\bar w}.

    The two agree if length and quality are uncorrelated, as when all segments are equally long or equally good.

    Target: the gap of the counts at hand; it estimates nothing beyond them.

    Parameters
    ----------
    matches, lengths : array_like, shape (n_segments,)
        Such as matched and proposed n-grams.

    Returns
    -------
    pandas.Series
        ``ratio_of_sums, mean_of_ratios, gap`` (the first less the second), ``covariance`` (of length and ratio over
        segments, divided by n, not n - 1), ``mean_length``.

    Raises
    ------
    ValueError
        If shapes differ, nothing is given, a number is not finite, or a length is not positive: its ratio would be
        undefined.

    See Also
    --------
    aggregate : both aggregations of real metrics.
    mtmeta.plots.ratio_bars : a figure of the two.

    References
    ----------
    Cavalin, Domingues and Pinhanez 2024, equations 1 to 3.

    Examples
    --------
    >>> from mtmeta.aggregation import ratio_gap
    >>> found = ratio_gap([1, 9], [2, 10])
    >>> found[["ratio_of_sums", "mean_of_ratios", "gap"]].round(3).tolist()
    [0.833, 0.7, 0.133]
    >>> round(float(found.covariance / found.mean_length), 3)
    0.133
    """
    m, w = np.asarray(matches, dtype=np.float64), np.asarray(lengths, dtype=np.float64)
    if m.ndim != 1 or m.shape != w.shape or not len(m):
        raise ValueError(f"matches and lengths must be equally long and not empty; found shapes {m.shape}, {w.shape}.")
    if len(bad := np.flatnonzero(~(np.isfinite(m) & np.isfinite(w) & (w > 0)))):
        i = bad[0]
        raise ValueError(f"segment number {i + 1} has no ratio: {m[i]:g} / {w[i]:g}. Leave it out of both.")
    ratios = m / w
    whole, mean = m.sum() / w.sum(), ratios.mean()
    covariance = ((w - w.mean()) * (ratios - mean)).mean()
    found = {"ratio_of_sums": whole, "mean_of_ratios": mean, "gap": whole - mean}
    return pd.Series(found | {"covariance": covariance, "mean_length": w.mean()})
