"""Random generators that depend on what is perturbed, and not on the order of the work."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np


def base_seed(rng: int | np.random.Generator | None) -> int:
    """Return the number that stands for a generator or seed."""
    if isinstance(rng, bool) or not (rng is None or isinstance(rng, int | np.integer | np.random.Generator)):
        raise TypeError(f"`rng` must be None, a whole number or a numpy Generator; found {rng!r}.")
    if rng is None or isinstance(rng, np.random.Generator):
        return int(np.random.default_rng(rng).integers(2**63))
    return int(rng)


def generator_of(seed: int, *parts: object) -> np.random.Generator:
    """Return the generator of one piece of work, named by ``parts``."""
    name = "\x1f".join([str(seed), *(str(p) for p in parts)])
    return np.random.default_rng(int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), "little"))
