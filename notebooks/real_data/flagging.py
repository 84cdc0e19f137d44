"""Finding the worst translations, and the systems that a ranking needs, for the page on sentinels."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import roc_auc_score

import mtmeta as mm


def worst_tenth(scores: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return which scores are in the lowest tenth; ties are broken at random."""
    order = np.lexsort((rng.random(scores.size), scores.ravel()))
    return np.isin(np.arange(scores.size), order[: scores.size // 10])


def caught(
    es, name: str, rng: np.random.Generator, worst: str = "most points"
) -> float:
    """Return the share of the worst tenth by people that is in a metric's worst tenth.

    The worst translations have the most points; or the most points per character of the
    source ("per character"); or the most points in each of twenty groups of sources of
    similar length, in which the metric's tenth is taken as well ("similar length").
    """
    human, scores, length = es.human, es[name], -es["source length"][0]
    if worst == "per character":
        human = human / length
    groups = 20 if worst == "similar length" else 1
    found = total = 0
    for group in np.array_split(np.argsort(length, kind="stable"), groups):
        tenth = worst_tenth(human[:, group], rng)
        found += (tenth & worst_tenth(scores[:, group], rng)).sum()
        total += tenth.sum()
    return found / total


def area(es, name: str, rng: np.random.Generator) -> float:
    """Return the area under the curve of a metric that looks for the worst tenth."""
    return roc_auc_score(worst_tenth(es.human, rng), -es[name].ravel())


def leads(es, columns, names, rng: np.random.Generator) -> list[float]:
    """Return the lead of each but the last metric over the last: share found, and area."""
    worst = worst_tenth(es.human[:, columns], rng)
    scores = [es[n][:, columns] for n in names]
    share = [(worst & worst_tenth(s, rng)).sum() / worst.sum() for s in scores]
    under = [roc_auc_score(worst, -s.ravel()) for s in scores]
    return [v[k] - v[-1] for k in range(len(names) - 1) for v in (share, under)]


def halves(es, rng: np.random.Generator) -> list:
    """Return two parts with half of the documents each."""
    documents = np.unique(es.documents)
    first = rng.permutation(documents)[: len(documents) // 2]
    chosen = np.isin(es.documents, first)
    parts = (np.flatnonzero(chosen), np.flatnonzero(~chosen))
    return [es.select(segments=[es.segments[j] for j in part]) for part in parts]


def stability(es, metrics, n: int, grouping: str, rng, draws: int = 20) -> float:
    """Return the mean rank correlation of a ranking from n systems with that from all."""
    full = mm.correlate(es, metrics, grouping=grouping)["value"]
    found = []
    for _ in range(draws):
        chosen = set(rng.choice(es.systems, n, replace=False))
        part = es.select(systems=[s for s in es.systems if s in chosen])
        few = mm.correlate(part, metrics, grouping=grouping)["value"]
        found.append(few.corr(full, method="spearman"))
    return np.mean(found)
