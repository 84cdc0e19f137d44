"""Simulated rankings: users with tastes, items, and systems that know the tastes more or less."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import pandas as pd

from .._checks import check_count
from .._limits import MAX_SEED
from ..rankings import Rankings
from ._random import DECIMALS, PLANTED, Draw, generator, normal, numbered, rounded

SETTINGS = PLANTED["rankings"]


def _standard(x: np.ndarray) -> np.ndarray:
    """Return the rows of ``x`` with mean 0 and standard deviation 1."""
    x = x - x.mean(axis=-1, keepdims=True)
    return x / x.std(axis=-1, keepdims=True)


def _preferences(seed: int, n_queries: int, n_items: int) -> np.ndarray:
    """Return the preferences of every user, standardised: (n_queries, n_items)."""
    rng = generator(seed, 41)
    popularity = _standard(normal(rng, (n_items,)))
    preference = SETTINGS["popularity"] * popularity + SETTINGS["whim"] * normal(rng, (n_queries, n_items))
    for _ in range(SETTINGS["tastes"]):
        taste, trait = normal(rng, (n_queries, 1)), normal(rng, (n_items,))
        preference = preference + taste * trait / SETTINGS["tastes"] ** 0.5
    return _standard(preference)


def _grades(seed: int, preference: np.ndarray) -> np.ndarray:
    """Return how relevant each item is to each user: 0 to 3."""
    n_queries, n_items = preference.shape
    low, high = SETTINGS["relevant"]
    share = low + (high - low) * generator(seed, 42).random((n_queries, 1))
    place = np.argsort(np.argsort(-preference, axis=1), axis=1)
    n_relevant = np.maximum(np.round(share * n_items), 1)
    return sum((place < np.ceil(part * n_relevant)).astype(np.int64) for part in SETTINGS["grades"])


def rankings(
    *, n_systems: int = 10, n_queries: int = 50, n_items: int = 300, depth: int = 100, seed: int = 2024
) -> Rankings:
    """Simulate recommendations to users whose preferences are known.

    A query is a user. Users have tastes and items have traits; the preference ``p`` of a user for an item is
    the sum of taste times trait, of the popularity of the item and of a whim, standardised for each user. The
    most preferred 3 to 15 % of the items are relevant: grade 1, the upper half of them 2, the upper fifth 3.
    System ``s`` of quality ``q`` scores an item with

        q p + sqrt(1 - q^2) z,

    where ``z`` is standard normal noise of its own, so that ``q`` is the correlation of score and preference; qualities
    are evenly spaced from 0.05 (near random) to 0.97 (near ideal). Its list has the items with the highest scores.

    Parameters
    ----------
    n_systems, n_queries : int
        Sizes, at least 1.
    n_items : int
        Items that every system ranks, all of them judged for every query; at least 2.
    depth : int
        Items per list, at most ``n_items``.
    seed : int
        The same seed gives the same lists, on every machine.

    Returns
    -------
    Rankings
        ``truth`` holds ``seed``, ``settings``, ``n_items``, ``quality`` by system (higher is better), and
        ``n_relevant`` by query. Items not in a list are judged too: ``qrels`` is complete.

    Raises
    ------
    TypeError
        If an argument is not a whole number.
    ValueError
        If a size is too small, the seed negative, or ``depth`` above ``n_items``.

    Examples
    --------
    >>> from mtmeta import simulate
    >>> simulate.rankings(n_systems=2, n_queries=3, n_items=40, depth=10, seed=1)  # doctest: +ELLIPSIS
    Rankings 'rankings': 2 systems x 3 queries, 10 items a list, 120 judged items, ... relevant
    """
    n_systems, n_queries = check_count("n_systems", n_systems, 1), check_count("n_queries", n_queries, 1)
    n_items, depth = check_count("n_items", n_items, 2), check_count("depth", depth, 1)
    seed = check_count("seed", seed, 0, MAX_SEED)
    if depth > n_items:
        raise ValueError(f"`depth` must be at most `n_items`, {n_items}; found {depth}.")
    preference = _preferences(seed, n_queries, n_items)
    grades = _grades(seed, preference)
    draw, (worst, best) = Draw(seed, 43), SETTINGS["quality"]
    ladder = [best - (best - worst) * i / max(n_systems - 1, 1) for i in range(n_systems)]
    qualities = {name: draw.take(ladder) for name in numbered("rankings", n_systems)}
    items = np.array([f"i{i + 1:03d}" for i in range(n_items)], dtype=object)
    queries = np.array([f"u{i + 1:03d}" for i in range(n_queries)], dtype=object)
    runs = []
    for k, (name, quality) in enumerate(qualities.items()):
        noise = normal(generator(seed, 44, k), preference.shape)
        score = np.round(quality * preference + (1 - quality**2) ** 0.5 * noise, DECIMALS)
        top = np.argsort(-score, axis=1, kind="stable")[:, :depth]
        columns = {"system": name, "query": np.repeat(queries, depth), "item": items[top].ravel()}
        columns["rank"] = np.tile(np.arange(1, depth + 1), n_queries)
        runs.append(pd.DataFrame(columns | {"score": np.take_along_axis(score, top, axis=1).ravel()}))
    judged = {"query": np.repeat(queries, n_items), "item": np.tile(items, n_queries), "relevance": grades.ravel()}
    n_relevant = dict(zip(queries.tolist(), (grades > 0).sum(axis=1).tolist(), strict=True))
    truth = {"seed": seed, "settings": copy.deepcopy(SETTINGS), "n_items": n_items}
    truth |= {"quality": rounded(qualities, qualities.values()), "n_relevant": n_relevant}
    provenance = {"source": f"simulated with seed {seed}", "left_out": {}}
    return Rankings("rankings", pd.concat(runs, ignore_index=True), pd.DataFrame(judged), provenance, truth)


def teaching_ranking() -> Rankings:
    """Load the rankings of the book: 10 systems x 50 users, 100 of 300 items, simulated.

    Each call simulates them, in a moment; they are the same on every machine.

    Returns
    -------
    Rankings
        The same as ``rankings()``, under the name ``teaching-ranking``.

    Examples
    --------
    >>> from mtmeta import simulate
    >>> simulate.teaching_ranking()
    Rankings 'teaching-ranking': 10 systems x 50 queries, 100 items a list, 15000 judged items, 1401 relevant
    """
    return replace(rankings(), name="teaching-ranking")
