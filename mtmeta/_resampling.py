"""Bootstrap draws of units with replacement, their description, and generators of single pieces of work.

Units are counted rather than copied if a statistic consists of sums.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ._checks import Undefined, generator

if TYPE_CHECKING:
    from .evalset import EvalSet

#: With fewer units than this, the signs of an exchange make a rough null distribution.
LEAST_UNITS = 20


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


def times_drawn(drawn: np.ndarray, n: int) -> np.ndarray:
    """Return how often each of ``n`` units was drawn in each row of ``drawn``, shape (n_resamples, n)."""
    places = drawn + n * np.arange(len(drawn))[:, None]
    return np.bincount(places.ravel(), minlength=len(drawn) * n).reshape(len(drawn), n).astype(np.float64)


def percentile_interval(draws: np.ndarray, level: float) -> np.ndarray:
    """Return the ends of the percentile interval over the first axis; NaN where nothing was ever drawn."""
    known = ~np.isnan(draws).all(axis=0)
    out = np.full((2, *draws.shape[1:]), np.nan)
    out[:, known] = np.nanquantile(draws[:, known], [(1 - level) / 2, (1 + level) / 2], axis=0)
    return out


def seed_of(rng: int | np.random.Generator | None) -> object:
    """Return the signature of the draws: their seed, or that a generator was given."""
    return "generator" if isinstance(rng, np.random.Generator) else rng


def base_seed(rng: int | np.random.Generator | None) -> int:
    """Return the number that stands for a generator or seed."""
    drawn = generator(rng)
    return int(rng) if isinstance(rng, int | np.integer) else int(drawn.integers(2**63))


def generator_of(seed: int, *parts: object) -> np.random.Generator:
    """Return the generator of one piece of work, named by ``parts``, whatever the order of the work."""
    name = "\x1f".join([str(seed), *(str(p) for p in parts)])
    return np.random.default_rng(int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), "little"))
