"""Large campaigns of scores alone, for benchmarks and for power and null experiments."""

from __future__ import annotations

import numpy as np
from scipy.stats import poisson

from .._checks import MAX_SEED, check_count
from ..evalset import EvalSet
from ._random import DECIMALS, Draw, generator, normal, rounded
from ._sentences import document_lengths

_TRAPS = 20


def score_campaign(
    n_systems: int = 15, n_segments: int = 1177, n_continuous: int = 27, n_discrete: int = 3, seed: int = 0
) -> EvalSet:
    """Simulate a campaign of scores without texts: as large as needed, in a moment.

    Each segment has traps, the same for all systems; system ``k`` falls into one with probability ``1 - exp(-rate[k] *
    strength)``. A rater misses errors and marks correct words. Continuous metrics are linear in the errors they detect,
    in the difficulty of the segment and in noise; discrete ones sum the weights of the errors they detect. By default,
    23 % of the pairs of translations of a segment are tied in human score, as in WMT23.

    Parameters
    ----------
    n_systems, n_segments : int
        Sizes, at least 1.
    n_continuous, n_discrete : int
        Numbers of metrics, called ``C01`` … and ``D01`` …; they differ in how well they detect errors
        and in how much they depend on difficulty.
    seed : int
        The same seed gives the same scores.

    Returns
    -------
    EvalSet
        No texts and no spans. ``truth`` holds ``seed``, ``penalty`` (n_systems, n_segments), ``rate``,
        ``difficulty``, and per metric ``detection`` and ``difficulty_coefficient``.

    Raises
    ------
    TypeError
        If an argument is not a whole number.
    ValueError
        If a size is below 1, or a number of metrics or the seed negative.

    See Also
    --------
    campaign : the translations that are scored.

    Examples
    --------
    >>> from mtmeta import simulate
    >>> es = simulate.score_campaign(4, 50, n_continuous=2, n_discrete=1, seed=1)
    >>> es
    EvalSet 'scores': 4 systems x 50 segments, 3 metrics, 200 of 200 translations rated
    """
    n_systems, n_segments = check_count("n_systems", n_systems, 1), check_count("n_segments", n_segments, 1)
    n_continuous, n_discrete = check_count("n_continuous", n_continuous, 0), check_count("n_discrete", n_discrete, 0)
    seed = check_count("seed", seed, 0, MAX_SEED)
    rng = generator(seed, 20)
    shape = (n_systems, n_segments, _TRAPS)
    difficulty = 0.7 * normal(rng, (n_segments,))
    n_traps = poisson.ppf(rng.random(n_segments), 4.2 * np.exp(difficulty))  # by inversion; there are 20 at most
    there = np.arange(_TRAPS) < n_traps[:, None]
    strength = np.exp(0.8 * normal(rng, shape[1:]))
    rate = 0.5 * np.exp(1.8 * (rng.permuted(np.arange(n_systems)) / n_systems - 0.5))
    errors = there & (rng.random(shape) < 1 - np.exp(-rate[:, None, None] * strength))
    major = rng.random(shape[1:]) < 0.28
    weights = np.where(major, 5.0, np.where(rng.random(shape[1:]) < 0.12, 0.1, 1.0))
    penalty = (errors * weights).sum(axis=2)
    seen = errors & (rng.random(shape) < np.where(major, 0.75, 0.6))
    human = -((seen * weights).sum(axis=2) + (rng.random(shape[:2]) < 0.25))

    lengths = document_lengths(Draw(seed, 22), n_segments)
    documents = [f"doc-{i + 1:03d}" for i, n in enumerate(lengths) for _ in range(n)]
    systems = [f"S{k + 1:02d}" for k in range(n_systems)]
    truth = {"seed": seed, "penalty": np.round(penalty, 1), "rate": rounded(systems, rate)}
    truth |= {"difficulty": np.round(difficulty, DECIMALS), "detection": {}, "difficulty_coefficient": {}}

    metrics: dict[str, np.ndarray] = {}
    for number in range(n_continuous + n_discrete):
        own = generator(seed, 21, number)
        continuous = number < n_continuous
        name = f"C{number + 1:02d}" if continuous else f"D{number - n_continuous + 1:02d}"
        share, slope = 0.2 + 0.7 * own.random(), own.random()
        found = errors & (own.random(shape[1:]) < share) if number % 2 else errors & (own.random(shape) < share)
        points = (found * weights).sum(axis=2)
        if continuous:
            noise = 0.8 * normal(own, (1, n_segments)) + (1.4 - share) * normal(own, shape[:2])
            metrics[name] = np.round(-0.3 * points - slope * difficulty + noise, DECIMALS)
        else:
            metrics[name] = -np.minimum(np.floor(points), 25.0) + 0.0
        truth["detection"][name] = round(share, DECIMALS)
        truth["difficulty_coefficient"][name] = round(slope, DECIMALS) if continuous else 0.0
    about = {"truth": truth, "provenance": {"source": f"simulated scores with seed {seed}", "left_out": {}}}
    parts = {"systems": systems, "name": "scores", "documents": documents, "domains": ["simulated"] * n_segments}
    return EvalSet(np.round(human, 1) + 0.0, metrics, **parts, about=about)
