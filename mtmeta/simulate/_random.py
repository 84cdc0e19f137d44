"""Random draws that are the same on every machine.

Only ``Generator(PCG64).random()`` is used; every distribution is an explicit transform of uniforms.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import ndtri


def generator(seed: int, *stream: int) -> np.random.Generator:
    """Return the generator of a numbered stream of ``seed``."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, *stream])))


def normal(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Return standard normal draws by inversion."""
    return ndtri(np.clip(rng.random(shape), 1e-12, 1 - 1e-12))


class Draw:
    """One stream of uniforms, and choices made from it."""

    def __init__(self, seed: int, *stream: int) -> None:
        self._rng = generator(seed, *stream)
        self._block: list[float] = []

    def uniform(self) -> float:
        """Return a uniform draw in [0, 1)."""
        if not self._block:
            self._block = self._rng.random(256).tolist()[::-1]
        return self._block.pop()

    def chance(self, probability: float) -> bool:
        """Return True with this probability."""
        return self.uniform() < probability

    def pick(self, options: Sequence[Any]) -> Any:
        """Return one of ``options``, all equally likely."""
        return options[int(self.uniform() * len(options))]

    def weighted(self, options: Sequence[Any], weights: Sequence[float]) -> Any:
        """Return one of ``options`` with probability proportional to its weight."""
        u = self.uniform() * math.fsum(weights)
        for option, weight in zip(options, weights, strict=True):
            u -= weight
            if u < 0:
                return option
        return options[-1]

    def integer(self, low: int, high: int) -> int:
        """Return an integer from ``low`` to ``high``, both included."""
        return low + int(self.uniform() * (high - low + 1))

    def poisson(self, mean: float) -> int:
        """Return a Poisson count by inversion."""
        u, k = self.uniform(), 0
        term = math.exp(-mean)
        total = term
        while u > total and k < 200:
            k += 1
            term *= mean / k
            total += term
        return k

    def normal(self) -> float:
        """Return a standard normal draw by inversion."""
        return float(ndtri(min(max(self.uniform(), 1e-12), 1 - 1e-12)))
