"""Discrete metrics made continuous by noise that keeps the order of different scores."""

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from .._checks import check_scores, generator

#: Noise is cut at this share of the smallest gap between two different scores: below a quarter, with room for rounding.
_CUT = 0.24
#: The standard deviation as a share of that gap: the cut lies at 4.8 of them.
_SIGMA = 0.05


def discrete_to_continuous(scores: ArrayLike, *, rng: int | np.random.Generator | None = 0) -> np.ndarray:
    r"""Break the ties of a discrete metric with Gaussian noise, and change nothing else.

    Returns :math:`m + z` with :math:`z \sim N(0, \sigma^2)` cut a little below a quarter of the
    smallest gap :math:`g` between two different scores, :math:`|z| \le 0.24\,g`, and :math:`\sigma = g/20`, so that the
    cut lies at 4.8 standard deviations. If no two scores differ, there is no cut, and :math:`\sigma = 1`. Then

    1. :math:`m_a > m_b` implies :math:`m_a + z_a > m_b + z_b`: no order changes; 2. two scores that were equal differ
    by less than :math:`g/2`, two that were not by more, so a threshold can restore every tie of the discrete metric and
    no other. With tie calibration on the test data, acc_eq of the result is therefore never below that of ``m`` at
    :math:`\epsilon = 0`.

    Where all gaps are multiples of :math:`g`, as for error counts, differences of the discrete metric are
    at least :math:`g` apart, those of the result move by less than :math:`g/2`, and the second point
    holds for every threshold: calibrated acc_eq can only rise.

    Parameters
    ----------
    scores : array_like
        Scores of a discrete metric, of any shape, in its own units; NaN stays NaN.
    rng : None, int or numpy.random.Generator

    Returns
    -------
    numpy.ndarray of float64
        Of the same shape. Both properties are checked on the sums.

    Raises
    ------
    ValueError
        If there is no score, a score is infinite, or scores are so large, or different ones so close together, that
        floating-point numbers leave no room for noise.

    See Also
    --------
    calibrate_ties : give a continuous metric ties instead.

    References
    ----------
    Perrella et al. 2024, section 4.4: SENTINEL_GEMBA and SENTINEL_MATESE. The paper does not state their sigma. The
    properties above do not depend on it, nor does calibrated acc_eq as long as the cut takes no effect.

    Examples
    --------
    >>> import numpy as np
    >>> from mtmeta import ties
    >>> noisy = ties.discrete_to_continuous([[-1, 0, 0], [-5, -1, -1]], rng=0)
    >>> (np.round(noisy) + 0.0).tolist(), len(np.unique(noisy))
    ([[-1.0, 0.0, 0.0], [-5.0, -1.0, -1.0]], 6)
    """
    scores = np.asarray(scores, dtype=np.float64)
    there = ~np.isnan(scores)
    values = np.unique(scores[there])
    if not len(values):
        raise ValueError("there is no score to add noise to: all are NaN, or the array is empty.")
    check_scores(values, "the array")
    gap = float(np.diff(values).min()) if len(values) > 1 else np.inf
    sigma = _SIGMA * gap if len(values) > 1 else 1.0
    if _CUT * gap < 64 * np.spacing(np.abs(values).max()):
        raise ValueError(f"two different scores are only {gap:.3g} apart, too close for noise: round the scores first.")
    if len(values) == 1 and sigma < 64 * np.spacing(np.abs(values[0])):
        raise ValueError(f"noise of standard deviation 1 is lost in scores of {values[0]:.3g}.")
    cut = _CUT * gap / sigma
    noise = stats.truncnorm.rvs(-cut, cut, scale=sigma, size=int(there.sum()), random_state=generator(rng))
    noisy = np.full(scores.shape, np.nan)
    noisy[there] = scores[there] + noise
    return noisy
