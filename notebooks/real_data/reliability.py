"""Krippendorff's alpha: how reliable single ratings are, for the page on raters."""

import numpy as np


def krippendorff_alpha(ratings) -> float:
    r"""Return Krippendorff's alpha of numbers (interval data).

    .. math:: \alpha = 1 - \frac{D_o}{D_e}, \qquad
              D_o = \frac1n \sum_i \frac{1}{n_i - 1} \sum_{a \ne b} (h_{ai} - h_{bi})^2

    with :math:`n_i` ratings of item i and n in all; :math:`D_e` is the mean of
    :math:`(h_s - h_t)^2` over any two ratings. See Krippendorff 2011.

    Parameters
    ----------
    ratings : array_like, shape (n_raters, n_items)
        NaN: not rated. Items with fewer than two ratings are left out.

    Returns
    -------
    float
        1: raters agree; 0: as if ratings had been dealt out at random; NaN if all
        ratings are equal. Raters of different strictness lower it.

    Examples
    --------
    The observed disagreement is 2 / 6, the expected one 130 / 30.

    >>> round(krippendorff_alpha([[0, 2, 3], [0, 3, 3]]), 4)
    0.9231
    """
    values = np.asarray(ratings, dtype=float)
    values = values[:, (~np.isnan(values)).sum(axis=0) > 1]
    n = (~np.isnan(values)).sum(axis=0)
    observed = (np.nanvar(values, axis=0) * n**2 / (n - 1)).sum() / n.sum()
    expected = np.nanvar(values) * n.sum() / (n.sum() - 1)
    return float(1 - observed / expected) if expected > 0 else np.nan
