"""Metrics that are copies of each other or of the human scores, in whatever units, and segments that are repeated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .evalset import EvalSet

#: A copy may differ by rounding: from a straight line by so much of the metric's range.
_ROUNDING = 1e-9
#: Two or three cells, or two values, lie on a straight line by chance.
_FEWEST_CELLS, _FEWEST_VALUES = 4, 3


def copies(es: EvalSet, metrics: Sequence[str] | None = None) -> dict[str, tuple[str, str]]:
    """Find the metrics that are the human scores, or an earlier metric, or a rising straight line of either.

    Parameters
    ----------
    es : EvalSet
    metrics : sequence of str, optional
        All by default.

    Returns
    -------
    dict
        Name of the copy to the name of its original (``"human"`` for the human scores) and a sentence without subject.

    Examples
    --------
    >>> import mtmeta as mm
    >>> es = mm.EvalSet([[1, 2], [5, 3]], {"A": [[0, 2], [4, 7]], "B": [[1, 2], [3, 4.5]]}, systems=["X", "Y"])
    >>> copies(es)
    {'B': ('A', 'is the same metric as A but for units or rounding: the two cannot differ')}
    """
    names = list(es.metrics if metrics is None else metrics)
    found: dict[str, tuple[str, str]] = {}
    human, rows = np.asarray(es.human, dtype=float), {name: np.asarray(es[name], dtype=float) for name in names}
    originals: dict[bytes, list[tuple[str, np.ndarray]]] = {}  # of the metrics that scored the same cells
    for name, own in rows.items():
        known = ~np.isnan(own)
        both, shape = known & ~np.isnan(human), _shape(own[known])
        if _on_a_line(human[both], own[both]):
            how = "equals the human scores but for units or rounding"
            found[name] = "human", f"{how}: a metric must not be made from the scores that judge it"
            continue
        group = originals.setdefault(known.tobytes(), [])
        for other, theirs in group:
            if np.array_equal(rows[other], own, equal_nan=True):
                found[name] = other, f"has the same scores as {other}: the two cannot differ"
            elif np.abs(shape - theirs).max(initial=0.0) <= 1e-6 and _on_a_line(rows[other][known], own[known]):
                found[name] = other, f"is the same metric as {other} but for units or rounding: the two cannot differ"
        if name not in found:
            group.append((name, shape))
    return found


def _shape(values: np.ndarray) -> np.ndarray:
    """Return values at mean 0 and range 1; zeros if they are constant."""
    spread = np.ptp(values) if len(values) else 0.0
    return (values - values.mean()) / spread if spread else np.zeros_like(values)


def _on_a_line(x: np.ndarray, y: np.ndarray) -> bool:
    """Return whether all points, enough of them, lie on a rising line."""
    if len(x) < _FEWEST_CELLS or np.abs(_shape(x) - _shape(y)).max() > _ROUNDING:
        return False
    return any(len(np.unique(some)) >= _FEWEST_VALUES for some in (x[: 10 * _FEWEST_CELLS], x))


def repeated(es: EvalSet) -> str:
    """Say that segments were entered several times; return an empty text if they were not.

    Few distinct scores repeat by chance. Segments count as repeated if nearly all have a copy in all scores, and ten
    times as many pairs agree as expected if systems and metrics were independent.
    """
    human = np.asarray(es.human, dtype=float)
    rows = np.concatenate([human, *(np.asarray(es[name], dtype=float) for name in es.metrics)])
    rows = np.ascontiguousarray(rows[:, ~np.isnan(human).all(axis=0)].T)
    times, n = np.array(list(Counter(row.tobytes() for row in rows).values())), len(rows)
    if len(times) > n / 2 or (times == 1).mean() > 0.1:
        return ""
    chance = np.prod([((np.unique(column, return_counts=True)[1] / n) ** 2).sum() for column in rows.T])
    if (times * (times - 1)).sum() <= 10 * n**2 * chance:
        return ""
    return (
        f"only {len(times)} of {n} rated segments differ in their scores: each is there about {n / len(times):.0f} "
        "times, and tests and intervals wrongly count each copy as a further segment"
    )
