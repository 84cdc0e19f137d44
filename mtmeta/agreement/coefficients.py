"""Coefficients of agreement over groups of translations, tie calibration, and the parts of a correlation."""

import numpy as np
import pandas as pd

from .._checks import Undefined, check_choice, check_number
from .._equal import OF_MEAN, ends_of_runs
from ..evalset import EvalSet
from . import kernels
from .groups import Grouped, grouped, pair_weights, pairs_of, pearson_of_groups

DEGENERATE = ("drop", "zero")
_CORRELATIONS = ("pearson", "spearman")
_TIE_AWARE = ("acc_eq", "tau_eq")
_TAUS = ("tau_b", "tau_a", "tau_c", "tau_10", "tau_13", "tau_14")
#: Thresholds of ties that are chosen on the data: as here, or as the reference implementation does.
THRESHOLDS = ("calibrate", "published")
COEFFICIENTS = (*_CORRELATIONS, "kendall", *_TAUS, *_TIE_AWARE)


# -- coefficients of groups --------------------------------------------------------------


def check_coefficient(coefficient: str, epsilon: float | str) -> str:
    """Return the coefficient by its own name (``tau_b`` for ``kendall``), after checking it and the threshold."""
    check_choice("coefficient", coefficient, COEFFICIENTS)
    coefficient = "tau_b" if coefficient == "kendall" else coefficient
    if epsilon in THRESHOLDS:
        return coefficient
    if check_number("epsilon", epsilon) < 0:
        raise ValueError(f"`epsilon` must be a number >= 0, in units of the metric; found {epsilon!r}.")
    if coefficient in (*_CORRELATIONS, "tau_c"):
        raise ValueError(f"`epsilon` has no meaning for {coefficient!r}: it does not compare pairs up to a threshold.")
    return coefficient


def values_of_groups(cells: Grouped, coefficient: str, epsilon: float | str) -> np.ndarray:
    """Value of ``coefficient`` in each group; NaN where it is undefined."""
    if coefficient in _CORRELATIONS:
        return pearson_of_groups(*sides_of(cells, coefficient), cells.starts)
    if epsilon in THRESHOLDS:
        epsilon = threshold_of(cells, coefficient)
    elif epsilon > 0:
        epsilon += cells.tolerance
    counts = kernels.pair_counts(cells.human_ranks, cells.metric, cells.starts, epsilon)
    return taus_from_counts(cells, coefficient, counts.astype(np.float64), cells.sizes)


def sides_of(cells: Grouped, coefficient: str) -> list[np.ndarray]:
    """Return human and metric scores, or their ranks within groups for Spearman's."""
    sides = [cells.human, cells.metric]
    if coefficient == "pearson":
        return sides
    return [pd.Series(side).groupby(cells.group).rank().to_numpy() for side in sides]


def taus_from_counts(cells: Grouped, coefficient: str, counts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Turn counts of pairs, (..., n_groups, 5), of groups of these sizes into values, (..., n_groups)."""
    if coefficient != "tau_c":
        flat = kernels.taus_of_groups(kernels.VARIANTS[coefficient], counts.reshape(-1, 5))
        return flat.reshape(counts.shape[:-1])
    scores = pd.DataFrame({"human": cells.human, "metric": cells.metric})
    k = scores.groupby(cells.group).nunique().min(axis=1).to_numpy()  # distinct scores
    numerator, denominator = 2 * (counts[..., 0] - counts[..., 1]) * k, sizes**2.0 * (k - 1)
    return np.divide(numerator, denominator, out=np.full(numerator.shape, np.nan), where=denominator > 0)


def threshold_of(cells: Grouped, coefficient: str) -> float:
    """Return up to which difference ties suit the cells best; 0 for a coefficient that is not calibrated."""
    return calibration(cells)[0] + cells.tolerance if coefficient in _TIE_AWARE else 0.0


# -- tie calibration ---------------------------------------------------------------------

#: The differences of so many pairs are sorted in memory, some 100 bytes a pair.
MOST_PAIRS = 30_000_000


def first_best(curve: np.ndarray) -> int:
    """Return the position of the first of the best values; which of two equal ones is rounded up does not matter."""
    return int(np.argmax(curve >= curve.max() - OF_MEAN))


def calibration_curve(cells: Grouped) -> tuple[np.ndarray, np.ndarray]:
    """Return every threshold at which acc_eq changes (0 first, or what differs from it by rounding), and acc_eq there.

    Of differences that are equal but for rounding the threshold is the largest.
    """
    n_pairs = int((cells.sizes * (cells.sizes - 1) // 2).sum())
    if n_pairs > MOST_PAIRS:
        raise Undefined(
            f"tie calibration sorts at most {MOST_PAIRS:,} pairs of translations; found {n_pairs:,}. Use "
            "grouping='segment', or pass a number as epsilon."
        )
    weights, total = pair_weights(cells)
    group, human, metric = pairs_of(cells)
    changes = (human == 0) | (human * np.sign(metric) > 0)  # pairs that are right, or right once they are tied
    differences, gains = np.abs(metric[changes]), (np.where(human == 0, 1, -1) * weights[group])[changes]
    concordant = -gains[gains < 0].sum()
    order = np.argsort(differences)  # the order among equal differences does not matter
    differences, running = differences[order], concordant + np.cumsum(gains[order])
    ends = ends_of_runs(differences, cells.tolerance)
    thresholds, numerators = differences[ends], running[ends]
    if not len(thresholds) or differences[0] > cells.tolerance:
        thresholds, numerators = np.append(0.0, thresholds), np.append(concordant, numerators)
    changes = np.append(True, numerators[1:] != numerators[:-1])  # gains at one threshold may cancel
    return thresholds[changes], numerators[changes] / total


def calibration(cells: Grouped) -> tuple[float, float]:
    """Return the smallest epsilon that maximises acc_eq, and acc_eq there; exact, no sampling."""
    thresholds, values = calibration_curve(cells)
    best = first_best(values)
    return float(thresholds[best]), float(values[best])


# -- public ------------------------------------------------------------------------------


def mean_over_groups(
    es: EvalSet, metric: str, coefficient: str, grouping: str, epsilon: float | str, degenerate: str
) -> tuple[float, int, int, int, int]:
    """Return what `correlate` puts into a row: value, numbers of systems, segments, groups and degenerate groups."""
    cells = grouped(es, metric, grouping, published=epsilon == "published")
    values = values_of_groups(cells, coefficient, epsilon)
    undefined = np.isnan(values)
    values = np.where(undefined, 0.0, values) if degenerate == "zero" else values[~undefined]
    value = float(values.mean()) if len(values) else 0.0
    return value, cells.n_systems, cells.n_segments, len(undefined), int(undefined.sum())
