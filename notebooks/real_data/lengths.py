"""What scores have to do with the length of a translation, for the page on sentinels."""

from __future__ import annotations

import numpy as np


def lengths_of(es) -> np.ndarray:
    """Return the number of characters of each translation."""
    texts = [es.texts.translations[system] for system in es.systems]
    return np.array([[len(text) for text in row] for row in texts], dtype=float)


def scores_of(es, name: str) -> np.ndarray:
    """Return human scores or those of a metric."""
    return es.human if name == "human" else es[name]


def _effects(length, score, human) -> list[float]:
    pooled = np.corrcoef(length.ravel(), score.ravel())[0, 1]
    inner = [(v - v.mean(axis=0)).ravel() for v in (length, score, human)]
    (_, ls, lh), (_, _, hs), _ = np.corrcoef(inner)
    if hs > 1 - 1e-9:
        return [pooled, ls, np.nan]
    return [pooled, ls, (ls - lh * hs) / np.sqrt((1 - lh**2) * (1 - hs**2))]


def effects(es, name: str) -> list[float]:
    """Correlate scores with length: pooled, within segments, and there with the human score held constant."""
    return _effects(lengths_of(es), scores_of(es, name), es.human)


def error_of(es, name: str, rng: np.random.Generator, draws: int = 100) -> float:
    """Return the standard error of the last of the three effects, over segments drawn again."""
    columns = lengths_of(es), scores_of(es, name), es.human
    n = es.shape[1]
    picks = [rng.integers(n, size=n) for _ in range(draws)]
    found = [_effects(*(v[:, p] for v in columns)) for p in picks]
    return np.std(found, axis=0)[2]


def _in_longest_tenth(es) -> np.ndarray:
    length = lengths_of(es).ravel()
    return length >= np.quantile(length, 0.9)


def top_share(es, name: str, least: float, rng: np.random.Generator) -> float:
    """Return the share of the longest tenth among the best translations of a metric.

    There are as many best ones as people score ``least`` or higher; ties are broken at random.
    """
    scores = scores_of(es, name).ravel()
    n = int((es.human >= least).sum())
    top = np.lexsort((rng.random(len(scores)), -scores))[:n]
    is_top = np.isin(np.arange(len(scores)), top)
    return is_top[_in_longest_tenth(es)].mean()


def at_equal_length(es, name: str) -> dict[str, float]:
    """Correlate with people over all translations, in three ways.

    As they are; with the length of the source held constant; and less the means of
    twentieths of the sources, sorted by length.
    """
    n, y, x = (v.ravel() for v in (es["source length"], es.human, es[name]))
    (_, nx, ny), (_, _, xy), _ = np.corrcoef([n, x, y])
    line = (xy - nx * ny) / np.sqrt((1 - nx**2) * (1 - ny**2))
    places = np.argsort(np.argsort(es["source length"][0], kind="stable"))
    twentieth = np.tile(20 * places // es.shape[1], es.shape[0])
    left = [
        v - (np.bincount(twentieth, v) / np.bincount(twentieth))[twentieth]
        for v in (x, y)
    ]
    similar = np.corrcoef(left)[0, 1]
    return {"pooled": xy, "length constant": line, "similar length": similar}


def beyond_length(es, name: str) -> tuple[float, float]:
    """Return the share of the variance of human scores that a metric explains, and what it adds to that of length."""
    n, y, x = (v.ravel() for v in (es["source length"], es.human, es[name]))
    (_, nx, ny), (_, _, xy), _ = np.corrcoef([n, x, y])
    both = (ny**2 + xy**2 - 2 * nx * ny * xy) / (1 - nx**2)
    return xy**2, both - ny**2
