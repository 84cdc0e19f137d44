"""Large campaigns of scores alone, which benchmarks measure: quick to make, of the size of WMT23."""

import numpy as np

import mtmeta as mm

_TRAPS = 20


def score_campaign(n_systems: int, n_segments: int, n_continuous: int, n_discrete: int) -> mm.EvalSet:
    """Simulate scores: about 23 % of the pairs of translations of a segment are tied in human score, as in WMT23.

    Each segment has traps, the same for all systems; a system falls into each with a probability of its own. Metrics
    called ``C01`` and so on are linear in the errors that they detect, in the difficulty of the segment and in noise;
    ``D01`` and so on sum the weights of the errors that they detect.
    """
    rng = np.random.default_rng(0)
    shape = (n_systems, n_segments, _TRAPS)
    difficulty = 0.7 * rng.normal(size=n_segments)
    there = np.arange(_TRAPS) < rng.poisson(4.2 * np.exp(difficulty))[:, None]
    strength, rate = np.exp(0.8 * rng.normal(size=shape[1:])), 0.5 * np.exp(np.linspace(-0.9, 0.9, n_systems))
    errors = there & (rng.random(shape) < 1 - np.exp(-rate[:, None, None] * strength))
    major = rng.random(shape[1:]) < 0.28
    weights = np.where(major, 5.0, np.where(rng.random(shape[1:]) < 0.12, 0.1, 1.0))
    seen = errors & (rng.random(shape) < np.where(major, 0.75, 0.6))
    human = -((seen * weights).sum(axis=2) + (rng.random(shape[:2]) < 0.25))
    metrics = {}
    for number in range(n_continuous + n_discrete):
        share, slope = 0.2 + 0.7 * rng.random(), rng.random()
        points = ((errors & (rng.random(shape) < share)) * weights).sum(axis=2)
        if number < n_continuous:
            noise = 0.8 * rng.normal(size=(1, n_segments)) + (1.4 - share) * rng.normal(size=shape[:2])
            metrics[f"C{number + 1:02d}"] = -0.3 * points - slope * difficulty + noise
        else:
            metrics[f"D{number - n_continuous + 1:02d}"] = -np.minimum(np.floor(points), 25.0) + 0.0
    systems = [f"S{k + 1:02d}" for k in range(n_systems)]
    documents = [f"doc-{j // 12:03d}" for j in range(n_segments)]
    return mm.EvalSet(np.round(human, 1) + 0.0, metrics, systems=systems, documents=documents)
