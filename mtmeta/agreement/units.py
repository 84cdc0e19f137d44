"""Units of resampling, and what each of them adds to a metric's agreement with humans."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .._checks import Undefined
from ..evalset import EvalSet, as_evalset, recomputed
from ..resampling import LEAST_UNITS, Statistic, exchange, jackknife, sums_by_unit, units_of
from .coefficients import check_coefficient, mean_over_groups, sides_of, taus_from_counts, threshold_of
from .groups import Grouped, centred
from .kernels import counts_without_each, pair_counts
from .spa import soft_pairwise_accuracy


class Units(NamedTuple):
    """What is exchanged.

    Attributes
    ----------
    unit : {"document", "block", "segment", "system"}
    of_segment : numpy.ndarray of int, shape (n_segments,) or (n_systems,)
        The number of the unit of each segment, or of each system. Units with human scores come first.
    n : int
        How many units have human scores.
    """

    unit: str
    of_segment: np.ndarray
    n: int

    def signs(self, n_resamples: int, rng: np.random.Generator) -> np.ndarray:
        """Draw 1 (kept) or -1 (exchanged) for each unit, shape (n_units, 1 + n_resamples); column 0 keeps all."""
        return exchange(int(self.of_segment.max()) + 1, n_resamples, rng)


def exchange_units(es: EvalSet, unit: str | None = None) -> Units:
    """Return the units to exchange: by default documents if at least 20 have human scores, otherwise segments."""
    rated = ~np.isnan(es.human).all(axis=int(unit == "system"))
    if unit is None:
        many = es.documents is not None and len(set(units_of(es, "document")[rated])) >= LEAST_UNITS
        unit = "document" if many else "segment"
    codes = np.arange(len(rated)) if unit == "system" else units_of(es, unit)
    places = {code: place for place, code in enumerate(dict.fromkeys([*codes[rated], *codes]))}
    return Units(unit, np.array([places[code] for code in codes]), len(set(codes[rated])))


def common_cells(es: EvalSet, names: Sequence[str]) -> EvalSet:
    """Return the set with human scores only where every metric has a score too, and systems that have one there."""
    scored = ~np.isnan([es.human, *(es[name] for name in names)]).any(axis=0)
    if not scored.any():
        raise Undefined(f"set {es.name!r}: no translation is scored by humans and all {len(names)} metrics.")
    if (scored == ~np.isnan(es.human)).all():
        return es
    return as_evalset(recomputed(es, np.where(scored, es.human, np.nan), {name: es[name] for name in names}))


def observed_values(
    es: EvalSet,
    names: Sequence[str],
    coefficient: str,
    grouping: str,
    degenerate: str,
    *,
    epsilon: str = "calibrate",
) -> np.ndarray:
    """Return the value of each metric."""
    if coefficient == "spa":
        return soft_pairwise_accuracy(es, names)["value"].to_numpy()
    options = check_coefficient(coefficient, epsilon), grouping, epsilon, degenerate
    return np.array([mean_over_groups(es, name, *options)[0] for name in names])


def mean_of_defined(values: np.ndarray) -> np.ndarray:
    """Return the mean of the defined values of each row; NaN where there is none (an undefined whole counts 0)."""
    known = ~np.isnan(values)
    n = known.sum(axis=1)
    return np.where(n > 0, np.where(known, values, 0.0).sum(axis=1) / np.maximum(n, 1), 0.0)


def without_each(cells: Grouped, coefficient: str, unit: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the value of each group, and that without each unit, shape (n_units, n_groups); NaN where undefined."""
    if coefficient in ("pearson", "spearman"):
        return jackknife(Statistic(moments(cells, coefficient, unit, n), correlations))
    place, n_groups = unit * len(cells.sizes) + cells.group, len(cells.sizes)
    inside = np.bincount(place, minlength=n * n_groups).reshape(n, n_groups)
    given = cells.human_ranks, cells.metric, cells.starts, threshold_of(cells, coefficient)
    whole, without = pair_counts(*given), counts_without_each(*given, unit, n)
    parts = (whole, cells.sizes), (without, cells.sizes - inside)
    return tuple(taus_from_counts(cells, coefficient, counts.astype(np.float64), sizes) for counts, sizes in parts)


def moments(cells: Grouped, coefficient: str, unit: np.ndarray, n: int) -> np.ndarray:
    """Return what each unit adds to the sums of 1, x, y, x^2, y^2 and xy of each group, (n_units, n_groups, 6)."""
    x, y = (centred(side, cells.starts) for side in sides_of(cells, coefficient))
    n_groups = len(cells.sizes)
    place, values = unit * n_groups + cells.group, (np.ones(len(x)), x, y, x * x, y * y, x * y)
    return sums_by_unit(place, *values, n=n * n_groups).reshape(n, n_groups, 6)


def correlations(sums: np.ndarray) -> np.ndarray:
    """Return Pearson's r from sums of 1, x, y, x^2, y^2 and xy, (..., 6); NaN where a side does not vary."""
    n, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        xx, yy, xy = xx - x * x / n, yy - y * y / n, xy - x * y / n
        varied = (n > 1) & (xx > 1e-13 * sums[..., 3]) & (yy > 1e-13 * sums[..., 4])
        return np.where(varied, np.clip(xy / np.sqrt(xx * yy), -1, 1), np.nan)


def freedom(parts: np.ndarray) -> np.ndarray:
    r"""Return the degrees of freedom with which the squares of each row estimate a variance, shape (n_rows,).

    They are :math:`\nu = 2m / (1 - m/n)` (Satterthwaite), where :math:`m = (\sum d^2)^2 / \sum d^4` of the n parts of a
    row count. Normal parts have :math:`\nu = n`, equal parts :math:`\nu = \infty`, a single part about 2.
    """
    n, fourth = parts.shape[1], (parts**4).sum(axis=1)
    counted = np.divide((parts**2).sum(axis=1) ** 2, fourth, out=np.full(len(parts), float(n)), where=fourth > 0)
    with np.errstate(divide="ignore"):
        return 2 * counted / np.maximum(0, 1 - counted / n)


def pooled_pearson_in_draws(x, y, known: np.ndarray, weights: np.ndarray, *, within: bool = False) -> np.ndarray:
    """Return Pearson's r over all known cells for each row of weights of segments; NaN where a side is constant.

    ``within`` first subtracts from each score the mean of its segment.
    """
    size = np.maximum(known.sum(axis=0), 1)

    def centre(values: np.ndarray) -> np.ndarray:
        values = np.where(known, values - values[known].mean(), 0.0)
        if within:
            rest = values - values.sum(axis=0) / size  # of equal scores, nothing but rounding is left
            values = np.where(known & (np.abs(rest) > 1e-12 * np.abs(values)), rest, 0.0)
        return values

    x, y = centre(x), centre(y)
    sums = np.stack([v.sum(axis=0) for v in (known * 1.0, x, y, x * x, y * y, x * y)], axis=-1)
    return Statistic(sums, correlations)(weights)
