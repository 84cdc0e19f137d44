"""Means of the scores of systems, as they are or corrected for the difficulty of their segments."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ._checks import Undefined
from ._names import counted

if TYPE_CHECKING:
    from .evalset import EvalSet

#: Which translations a system's score is computed from.
SCORES = ("paired", "published", "adjusted")


def means(values: np.ndarray, axis: int = 1) -> np.ndarray:
    """Return the mean of the known scores of each row or column; NaN where there is none."""
    n = (~np.isnan(values)).sum(axis=axis)
    return np.divide(np.nansum(values, axis=axis), n, out=np.full(len(n), np.nan), where=n > 0)


def adjusted_means(values: np.ndarray) -> np.ndarray:
    r"""Return the mean that each row would have over all columns, by a two-way fit of rows and columns.

    The fit minimises :math:`\sum (y_{ij} - a_i - b_j)^2` over the known scores; a row gets
    :math:`a_i + \bar b`, and NaN if it has no score.
    """
    known = ~np.isnan(values)
    rows, columns = known.any(axis=1), known.any(axis=0)
    known, scores = known[np.ix_(rows, columns)].astype(float), np.nan_to_num(values[np.ix_(rows, columns)])
    n = known.sum(axis=0)
    left = np.diag(known.sum(axis=1)) - (known / n) @ known.T
    found, _, rank, _ = np.linalg.lstsq(left, scores.sum(axis=1) - known @ (scores.sum(axis=0) / n), rcond=1e-9)
    if rank < len(found) - 1:
        raise Undefined("some systems share no segment with the others, directly or through a third system.")
    adjusted = np.full(len(values), np.nan)
    adjusted[rows] = found + ((scores - known * found[:, None]).sum(axis=0) / n).mean()
    return adjusted


def of_unrated_translations(es: EvalSet, metrics: Sequence[str] | None = None) -> str:
    """Name the metrics that order systems differently by rated translations and by all; "" if there are none."""
    from ._pearson import pearson

    if np.isnan(es.human).all():
        return ""
    found, ways = {}, [es.with_system_scores(how) for how in ("paired", "published")]
    metrics = [metric for metric in (es.metrics if metrics is None else metrics) if metric in es]
    for metric in metrics:
        tables = [way.system_scores_of(metric) for way in ways]
        known = ~(tables[0].isna() | tables[1].isna()).any(axis=1)
        orders = [table[known].rank().to_numpy() for table in tables]
        values = [float(pearson(*table[known].to_numpy().T)) for table in tables] if known.sum() > 1 else [math.nan]
        if (orders[0] != orders[1]).any() and not np.isnan(values).any():
            found[metric] = values
    if not found:
        return ""
    most = max(found, key=lambda metric: abs(np.subtract(*found[metric])))
    rated, whole = found[most]
    how_many = "" if len(metrics) == 1 else f"{len(found)} of {counted(len(metrics), 'metric')} (most of all {most})"
    of_all = "all" if es._system_scores is None else "the official scores"
    counting = {"published": f"{of_all} count", "paired": "the rated ones count", "adjusted": "they are adjusted"}
    return (
        f"{how_many or most}: rated translations alone order the systems in another way than all do "
        f"(Pearson of systems {rated:+.2f}, over all {whole:+.2f}); here {counting[es.scores]} (--system-scores)"
    )


def of_partly_rated_segments(es: EvalSet) -> str:
    """Say how many segments were rated for some systems only; "" if that does not change the order of systems."""
    rated = ~np.isnan(es.human)
    here, whole = rated.any(axis=0), rated[rated.any(axis=1)].all(axis=0)
    if es.scores == "adjusted" or whole[here].all() or rated.sum(axis=0).max() < 2:
        return ""
    some = f"{(here & ~whole).sum()} of the {here.sum()} rated segments are rated for some systems only"
    try:
        sides = [mean(es.human)[rated.any(axis=1)] for mean in (means, adjusted_means)]
    except Undefined:
        return f"{some}, and some systems share no segment with the others: their means cannot be compared"
    first, second = (np.where(np.abs(d) > 1e-9 * np.ptp(v), d, 0.0) for v in sides for d in [v[:, None] - v])
    if (first * second >= 0).all():
        return ""
    changed = "and this changes the order of systems: easy segments raise a mean"
    return f"{some}, {changed} (--system-scores adjusted corrects for that)"
