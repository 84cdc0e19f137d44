"""Random generators that depend on the perturbed text or ranking, not on the order of the work."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np

from .._checks import generator


def base_seed(rng: int | np.random.Generator | None) -> int:
    """Return the number that stands for a generator or seed."""
    drawn = generator(rng)
    return int(rng) if isinstance(rng, int | np.integer) else int(drawn.integers(2**63))


def generator_of(seed: int, *parts: object) -> np.random.Generator:
    """Return the generator of one piece of work, named by ``parts``."""
    name = "\x1f".join([str(seed), *(str(p) for p in parts)])
    return np.random.default_rng(int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), "little"))
