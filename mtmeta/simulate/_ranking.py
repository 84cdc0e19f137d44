"""Simulated rankings: users with tastes, items, and systems that know the tastes more or less."""

from __future__ import annotations

import copy

import numpy as np
import pandas as pd

from ..rankings import Rankings
from ._random import DECIMALS, PLANTED, Draw, generator, normal, numbered, rounded

SETTINGS = PLANTED["rankings"]
N_SYSTEMS, N_QUERIES, N_ITEMS, DEPTH, SEED = 10, 50, 300, 100, 2024


def _standard(x: np.ndarray) -> np.ndarray:
    """Return the rows of ``x`` with mean 0 and standard deviation 1."""
    x = x - x.mean(axis=-1, keepdims=True)
    return x / x.std(axis=-1, keepdims=True)


def _preferences() -> np.ndarray:
    """Return the preferences of every user, standardised: (N_QUERIES, N_ITEMS)."""
    rng = generator(SEED, 41)
    popularity = _standard(normal(rng, (N_ITEMS,)))
    preference = SETTINGS["popularity"] * popularity + SETTINGS["whim"] * normal(rng, (N_QUERIES, N_ITEMS))
    for _ in range(SETTINGS["tastes"]):
        taste, trait = normal(rng, (N_QUERIES, 1)), normal(rng, (N_ITEMS,))
        preference = preference + taste * trait / SETTINGS["tastes"] ** 0.5
    return _standard(preference)


def _grades(preference: np.ndarray) -> np.ndarray:
    """Return how relevant each item is to each user: 0 to 3."""
    low, high = SETTINGS["relevant"]
    share = low + (high - low) * generator(SEED, 42).random((N_QUERIES, 1))
    place = np.argsort(np.argsort(-preference, axis=1), axis=1)
    n_relevant = np.maximum(np.round(share * N_ITEMS), 1)
    return sum((place < np.ceil(part * n_relevant)).astype(np.int64) for part in SETTINGS["grades"])


def teaching_ranking() -> Rankings:
    """Load the rankings of the book: 10 systems x 50 users, 100 of 300 items, simulated.

    A query is a user. Users have tastes and items have traits; the preference ``p`` of a user for an item is
    the sum of taste times trait, of the popularity of the item and of a whim, standardised for each user. The
    most preferred 3 to 15 % of the items are relevant: grade 1, the upper half of them 2, the upper fifth 3.
    System ``s`` of quality ``q`` scores an item with

        q p + sqrt(1 - q^2) z,

    where ``z`` is standard normal noise of its own, so that ``q`` is the correlation of score and preference; qualities
    are evenly spaced from 0.05 (near random) to 0.97 (near ideal). Its list has the items with the highest scores.

    Each call simulates the lists, in a moment; they are the same on every machine.

    Returns
    -------
    Rankings
        ``truth`` holds ``seed``, ``settings``, ``n_items``, ``quality`` by system (higher is better), and
        ``n_relevant`` by query. Items not in a list are judged too: ``qrels`` is complete.

    See Also
    --------
    teaching_speech : The simulated transcripts of the book.

    Examples
    --------
    >>> from mtmeta import simulate
    >>> simulate.teaching_ranking()
    Rankings 'teaching-ranking': 10 systems x 50 queries, 100 items a list, 15000 judged items, 1401 relevant
    """
    preference = _preferences()
    grades = _grades(preference)
    draw, (worst, best) = Draw(SEED, 43), SETTINGS["quality"]
    ladder = [best - (best - worst) * i / (N_SYSTEMS - 1) for i in range(N_SYSTEMS)]
    qualities = {name: draw.take(ladder) for name in numbered("rankings", N_SYSTEMS)}
    items = np.array([f"i{i + 1:03d}" for i in range(N_ITEMS)], dtype=object)
    queries = np.array([f"u{i + 1:03d}" for i in range(N_QUERIES)], dtype=object)
    runs = []
    for k, (name, quality) in enumerate(qualities.items()):
        noise = normal(generator(SEED, 44, k), preference.shape)
        score = np.round(quality * preference + (1 - quality**2) ** 0.5 * noise, DECIMALS)
        top = np.argsort(-score, axis=1, kind="stable")[:, :DEPTH]
        columns = {"system": name, "query": np.repeat(queries, DEPTH), "item": items[top].ravel()}
        columns["rank"] = np.tile(np.arange(1, DEPTH + 1), N_QUERIES)
        runs.append(pd.DataFrame(columns | {"score": np.take_along_axis(score, top, axis=1).ravel()}))
    judged = {"query": np.repeat(queries, N_ITEMS), "item": np.tile(items, N_QUERIES), "relevance": grades.ravel()}
    n_relevant = dict(zip(queries.tolist(), (grades > 0).sum(axis=1).tolist(), strict=True))
    truth = {"seed": SEED, "settings": copy.deepcopy(SETTINGS), "n_items": N_ITEMS}
    truth |= {"quality": rounded(qualities, qualities.values()), "n_relevant": n_relevant}
    provenance = {"source": f"simulated with seed {SEED}", "left_out": {}}
    return Rankings("teaching-ranking", pd.concat(runs, ignore_index=True), pd.DataFrame(judged), provenance, truth)
