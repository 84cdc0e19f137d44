"""Null models that make up the noise of a metric, for the page on system dependence.

Each is a function that ``null=`` of `mtmeta.compare_with_null` takes. It yields draws without end: the human scores by
row, the distinct metric scores, and which of them each row has.
"""

import itertools
from collections.abc import Iterator

import numpy as np
from scipy.optimize import isotonic_regression
from scipy.special import ndtri

from mtmeta.sysdep._cells import NOTHING, Cells
from mtmeta.sysdep._deviation import pearson
from mtmeta.sysdep._nulls import Draws, moved, places, strata_of


def gaussian(
    cells: Cells, rng: np.random.Generator, min_stratum: int, unit: str
) -> Draws:
    r"""Draw :math:`r z + \sqrt{1 - r^2}\, e` for a standardised human score z and standard normal noise e.

    r is the metric's Pearson correlation without grouping.
    """
    h = (cells.human - cells.human.mean()) / (cells.human.std() or 1.0)
    r = pearson(cells.human, cells.scores)
    return _with_noise(cells, r * h, np.sqrt(1 - r**2), _normal(cells, rng, 30, unit))


def heteroscedastic(
    cells: Cells, rng: np.random.Generator, min_stratum: int, unit: str
) -> Draws:
    """Draw Gaussian noise with the metric's mean and spread at each human score."""
    mean, sd = np.empty(cells.n_paired), np.empty(cells.n_paired)
    for rows in strata_of(cells.human, min_stratum):
        mean[rows], sd[rows] = cells.scores[rows].mean(), cells.scores[rows].std()
    return _with_noise(cells, mean, sd, _normal(cells, rng, min_stratum, unit))


def residuals(
    cells: Cells, rng: np.random.Generator, min_stratum: int, unit: str
) -> Draws:
    """Draw the metric's isotonic regression on the human score plus residuals of all translations."""
    _, at, sizes = np.unique(cells.human, return_inverse=True, return_counts=True)
    means = np.bincount(at, cells.scores) / sizes
    fitted = isotonic_regression(means, weights=sizes).x[at]
    left = cells.scores - fitted
    single = (rng.choice(left, len(left)) for _ in itertools.count())
    whole = (left[rows] for rows in moved(cells, rng))
    return _with_noise(cells, fitted, 1.0, single if unit == "cell" else whole)


NULLS = (gaussian, heteroscedastic, residuals)


def _normal(
    cells: Cells, rng: np.random.Generator, min_stratum: int, unit: str
) -> Iterator[np.ndarray]:
    """Yield standard normal noise: new, or the metric's own as normal scores, moved in whole units."""
    if unit == "cell":
        return (rng.standard_normal(cells.n_paired) for _ in itertools.count())
    rank, _, first, size = places(cells, strata_of(cells.human, min_stratum), rng)
    normal = ndtri((rank + 0.5) / size)
    square = np.bincount(first, normal**2)[first] / size  # few scores have less than 1
    normal /= np.sqrt(np.maximum(square, NOTHING))
    return (normal[rows] for rows in moved(cells, rng))


def _with_noise(
    cells: Cells, mean: np.ndarray, sd: np.ndarray | float, noise: Iterator[np.ndarray]
) -> Draws:
    """Yield draws with the metric scores ``mean + sd * noise``."""
    return (
        (cells.human, *np.unique(mean + sd * one, return_inverse=True)) for one in noise
    )
