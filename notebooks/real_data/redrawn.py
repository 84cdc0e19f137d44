"""Intervals for what a page computes: documents drawn again, all systems together."""

from __future__ import annotations

import numpy as np


def interval(es, statistic, *, seed: int, draws: int = 200) -> np.ndarray:
    """Return the lower and upper end of the 95 % interval of each number of ``statistic``.

    ``statistic`` takes the segments of one draw, as places that may repeat.
    """
    of = np.unique(es.documents, return_inverse=True)[1]
    members = [np.flatnonzero(of == k) for k in range(of.max() + 1)]
    rng, found = np.random.default_rng(seed), []
    for _ in range(draws):
        drawn = rng.integers(len(members), size=len(members))
        found.append(statistic(np.concatenate([members[k] for k in drawn])))
    return np.quantile(found, [0.025, 0.975], axis=0).T
