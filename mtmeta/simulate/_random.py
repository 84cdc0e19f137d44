"""The planted settings, and random draws that are the same on every machine.

All draws use ``Generator(PCG64).random()``; every distribution is an explicit transform of uniforms.
"""

import math
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import ndtri

DATA = Path(__file__).parents[1] / "data"
#: The planted settings by section.
PLANTED: dict[str, Any] = tomllib.loads((DATA / "simulated.toml").read_text("utf-8"))
DECIMALS = 6


def system_names(n_systems: int) -> list[str]:
    """Return names of systems; after the known ones, with numbers."""
    known = PLANTED["systems"]["campaign"].split()
    return [*known[:n_systems], *(f"System{i + 1}" for i in range(len(known), n_systems))]


def rounded(names: Iterable[str], values: Iterable[float]) -> dict[str, float]:
    """Return numbers by name as they are written."""
    return {name: round(float(value), DECIMALS) + 0.0 for name, value in zip(names, values, strict=True)}


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

    def uniform(self) -> float:
        """Return a uniform draw in [0, 1)."""
        return self._rng.random()

    def chance(self, probability: float) -> bool:
        """Return True with this probability."""
        return self.uniform() < probability

    def pick(self, options: Sequence[Any]) -> Any:
        """Return one of ``options``, all equally likely."""
        return options[int(self.uniform() * len(options))]

    def take(self, left: list[Any]) -> Any:
        """Take one of ``left`` away, all equally likely, and return it."""
        return left.pop(int(self.uniform() * len(left)))

    def between(self, bounds: Sequence[float]) -> float:
        """Return a number between two."""
        return bounds[0] + (bounds[1] - bounds[0]) * self.uniform()

    def weighted(self, options: Sequence[Any], weights: Sequence[float]) -> Any:
        """Return one of ``options`` with probability proportional to its weight."""
        u = self.uniform() * math.fsum(weights)
        for option, weight in zip(options, weights, strict=True):
            u -= weight
            if u < 0:
                return option
        return options[-1]

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
