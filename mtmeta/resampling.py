"""The resampling engine: cut into units, draw weights of units, compute the statistic from weighted sums.

Most statistics of this package are functions of sums over segments, so no resample is ever copied: a bootstrap draw is
a row of weights (how often each unit was drawn), and the statistic follows from the weighted sums. Three steps:

1. **Units.** ``units = units_of(es, "document")`` numbers the unit of each segment, shape (n_segments,).
2. **Weights.** `bootstrap` draws how often each unit is taken, shape (n_resamples, n_units); `exchange` draws signs.
3. **Statistic.** ``Statistic(sums, value)`` holds what each unit adds, shape (n_units, ...), and the function from
   weighted sums, shape (n_draws, ...), to values. Call it with weights. `jackknife` leaves out one unit at a time.

The interval then comes from `percentile_interval` or `mtmeta._enough.interval_of`, or from a variance by
`fisher_interval`.

Examples
--------
The mean of four segments in two documents, with its bootstrap draws and without each document:

>>> import numpy as np
>>> scores, units = np.array([1.0, 3.0, 5.0, 7.0]), np.array([0, 0, 1, 1])
>>> mean = Statistic(sums_by_unit(units, np.ones(4), scores), lambda s: s[:, 1] / s[:, 0])
>>> whole, without = jackknife(mean)
>>> float(whole), without.tolist()
(4.0, [6.0, 2.0])
>>> draws = mean(bootstrap(2, 1000, np.random.default_rng(0)))
>>> sorted(set(draws.tolist()))
[2.0, 4.0, 6.0]
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy import stats

from ._checks import Undefined, generator

if TYPE_CHECKING:
    from .evalset import EvalSet

#: With fewer units than this, the signs of an exchange make a rough null distribution.
LEAST_UNITS = 20


# -- units and statistics ----------------------------------------------------------------


def units_of(es: EvalSet, unit: str) -> np.ndarray:
    """Return the number of the unit that each segment belongs to: its own, or that of its document or block.

    Blocks are runs of as many rated segments as leave at least 20 of them.
    """
    if unit == "block":
        place = np.cumsum(~np.isnan(es.human).all(axis=0)) - 1
        return np.maximum(place, 0) // max(1, (place[-1] + 1) // LEAST_UNITS)
    if unit != "document":
        return np.arange(es.shape[1])
    if es.documents is None:
        raise Undefined(f"set {es.name!r} does not say which document a segment is from; use unit='segment'.")
    return pd.factorize(pd.Series(es.documents, dtype=object), use_na_sentinel=False)[0]


def sums_by_unit(place: np.ndarray, *values: np.ndarray, n: int | None = None) -> np.ndarray:
    """Add up each array, (n_items,), by the unit of each item, ``place``; shape (n_units, n_arrays)."""
    n = int(place.max()) + 1 if n is None else n
    return np.stack([np.bincount(place, v, minlength=n) for v in values], axis=1)


def totals_by_unit(values: np.ndarray, unit: np.ndarray) -> np.ndarray:
    """Add up the last axis, segments, by the unit of each segment; shape (..., n_units)."""
    order = np.argsort(unit, kind="stable")
    starts = np.searchsorted(unit[order], np.arange(unit.max() + 1))
    return np.add.reduceat(values[..., order].astype(np.float64, copy=False), starts, axis=-1)


@dataclass(frozen=True)
class Statistic:
    """A statistic that follows from sums over units.

    Attributes
    ----------
    sums : numpy.ndarray, shape (n_units, ...)
        What each unit adds.
    value : callable
        Turns sums of weighted units, shape (n_draws, ...), into values, shape (n_draws, ...); NaN where undefined.
    """

    sums: np.ndarray
    value: Callable[[np.ndarray], np.ndarray]

    def __call__(self, weights: np.ndarray) -> np.ndarray:
        """Return the value for each row of weights, shape (n_draws, n_units)."""
        return self.value(np.tensordot(weights, self.sums, 1))


# -- weights -----------------------------------------------------------------------------


def bootstrap(n_units: int, n_resamples: int, rng: np.random.Generator, strata: np.ndarray | None = None) -> np.ndarray:
    """Draw units with replacement; return how often each was drawn, shape (n_resamples, n_units).

    ``strata`` (n_units,) names the part within which a unit is redrawn; each part keeps its size in every draw.
    """
    if strata is None:
        return times_drawn(rng.integers(n_units, size=(n_resamples, n_units)), n_units)
    weights = np.empty((n_resamples, n_units))
    for stratum in np.unique(strata):
        members = strata == stratum
        n = int(members.sum())
        weights[:, members] = rng.multinomial(n, np.full(n, 1 / n), size=n_resamples)
    return weights


def times_drawn(drawn: np.ndarray, n: int) -> np.ndarray:
    """Return how often each of ``n`` units was drawn in each row of ``drawn``, shape (n_resamples, n)."""
    places = drawn + n * np.arange(len(drawn))[:, None]
    return np.bincount(places.ravel(), minlength=len(drawn) * n).reshape(len(drawn), n).astype(np.float64)


def exchange(n_units: int, n_resamples: int, rng: np.random.Generator) -> np.ndarray:
    """Draw 1 (kept) or -1 (exchanged) for each unit, shape (n_units, 1 + n_resamples); column 0 keeps all."""
    drawn = 1.0 - 2.0 * rng.integers(0, 2, size=(n_resamples, n_units), dtype=np.int8).T
    return np.hstack([np.ones((n_units, 1)), drawn])


def jackknife(statistic: Statistic) -> tuple[np.ndarray, np.ndarray]:
    """Return the value of all units, and the values without each unit, shape (n_units, ...)."""
    total = statistic.sums.sum(axis=0)
    return statistic.value(total[None])[0], statistic.value(total - statistic.sums)


# -- intervals ---------------------------------------------------------------------------


def percentile_interval(draws: np.ndarray, level: float) -> np.ndarray:
    """Return the ends of the percentile interval over the first axis; NaN where nothing was ever drawn."""
    known = ~np.isnan(draws).all(axis=0)
    out = np.full((2, *draws.shape[1:]), np.nan)
    out[:, known] = np.nanquantile(draws[:, known], [(1 - level) / 2, (1 + level) / 2], axis=0)
    return out


def fisher_interval(values, variances, coefficient: str, known, level: float) -> tuple[np.ndarray, np.ndarray]:
    r"""Return the ends of intervals around the values on the scale of Fisher's z, with t of ``known`` freedom.

    .. math:: \tanh\left(\operatorname{artanh} r \pm t \frac{s}{1 - r^2}\right)

    with the standard error s of r. For acc_eq and SPA, which lie in [0, 1], r = 2 value - 1. If r is 1 or -1, the
    interval is :math:`r \pm ts`, within [-1, 1].
    """
    scale = 2.0 if coefficient in ("acc_eq", "spa") else 1.0
    r = scale * values - (scale - 1)
    reach = stats.t.ppf((1 + level) / 2, known) * scale * np.sqrt(variances)
    inside = 1 - r**2 > 1e-12
    z, slope = np.arctanh(np.where(inside, r, 0.0)), np.where(inside, 1 - r**2, 1.0)
    ends = [np.where(inside, np.tanh(z + s * reach / slope), np.clip(r + s * reach, -1, 1)) for s in (-1, 1)]
    low, high = ((end + scale - 1) / scale for end in ends)
    return low, high


def fisher_p_value(values, variances, known) -> np.ndarray:
    """Return two-sided p-values of correlations of 0, which agree with `fisher_interval`."""
    inside = 1 - values**2 > 1e-12
    z, slope = np.where(inside, np.arctanh(np.where(inside, values, 0.0)), values), np.where(inside, 1 - values**2, 1.0)
    error = np.sqrt(variances) / slope
    t = np.divide(np.abs(z), error, out=np.where(z == 0, 0.0, np.inf), where=error > 0)
    return 2 * stats.t.sf(t, known)


# -- seeds -------------------------------------------------------------------------------


def seed_of(rng: int | np.random.Generator | None) -> object:
    """Return the signature of the draws: their seed, or that a generator was given."""
    return "generator" if isinstance(rng, np.random.Generator) else rng


def base_seed(rng: int | np.random.Generator | None) -> int:
    """Return an integer seed derived from ``rng``."""
    drawn = generator(rng)
    return int(rng) if isinstance(rng, int | np.integer) else int(drawn.integers(2**63))


def generator_of(seed: int, *parts: object) -> np.random.Generator:
    """Return the generator of one piece of work, named by ``parts``, whatever the order of the work."""
    name = "\x1f".join([str(seed), *(str(p) for p in parts)])
    return np.random.default_rng(int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), "little"))
