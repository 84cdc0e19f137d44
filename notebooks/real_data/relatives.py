"""Calibration error of each system and errors of a sign, for the page on system dependence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from sklearn.isotonic import IsotonicRegression

from mtmeta import EvalSet


def calibration_errors(es: EvalSet, metric: str, n_levels: int = 10) -> pd.DataFrame:
    """Return the deviation (ED) and the expected calibration error (ECE) of each system.

    One isotonic curve of all systems maps the metric to human scores. The ECE adds up the sizes of a system's
    deviations over levels of the metric with equally many translations, so it is at least the size of ED.
    """
    rated = ~(np.isnan(es.human) | np.isnan(es[metric]))
    x, y = es[metric][rated], es.human[rated]
    curve = IsotonicRegression(out_of_bounds="clip").fit(x, y)
    level = pd.qcut(x, n_levels, labels=False, duplicates="drop")
    system = np.array(es.systems)[np.nonzero(rated)[0]]
    table = pd.DataFrame(
        {"system": system, "level": level, "gap": curve.predict(x) - y}
    )
    by_system = table.groupby("system")["gap"]
    sums = table.groupby(["system", "level"])["gap"].sum().abs()
    error = sums.groupby("system").sum() / by_system.count()
    return pd.DataFrame({"ED": by_system.mean(), "ECE": error}).loc[list(es.systems)]


def _order(scores: np.ndarray) -> np.ndarray:
    """Return the sign of the difference of each pair of systems."""
    i, j = np.triu_indices(len(scores), 1)
    means = scores.mean(axis=1)
    return np.sign(means[i] - means[j])


def sign_errors(
    es: EvalSet,
    judges: Mapping[str, np.ndarray],
    sizes: Sequence[int],
    n_halves: int,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Return the share of pairs of systems that each judge orders otherwise than people do in other documents.

    The documents are halved at random. Human scores of one half say which order is right; the judges see the scores
    of some segments of the other half, as many as ``sizes`` (rows) say. Means over halves.
    """
    documents, whole = np.array(es.documents), ~np.isnan(es.human).any(axis=0)
    found = []
    for _ in range(n_halves):
        some = rng.permutation(np.unique(documents))
        here = np.isin(documents, some[: len(some) // 2])
        right = _order(es.human[:, whole & ~here])
        drawn = rng.permutation(np.flatnonzero(whole & here))
        found.append(
            {
                (n, name): (_order(scores[:, drawn[:n]]) != right).mean()
                for n in sizes
                for name, scores in judges.items()
            }
        )
    means = pd.DataFrame(found).mean()
    means.index = pd.MultiIndex.from_tuples(means.index)
    return means.unstack()[list(judges)]
