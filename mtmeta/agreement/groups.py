"""Scored cells cut into groups, and arithmetic within groups.

A grouped array holds its groups one after the other; ``starts`` (int64, n_groups + 1) gives where each begins and where
the last ends.
"""

import itertools
import math
from dataclasses import dataclass

import numpy as np

from .._checks import Undefined, check_choice
from .._equal import merged_scores, tolerance_of_differences
from ..evalset import EvalSet

GROUPINGS = ("none", "segment", "system")


@dataclass(frozen=True)
class Grouped:
    """Scored cells of one metric, flat, cut into groups of at least two.

    Attributes
    ----------
    human, metric : numpy.ndarray, shape (n_cells,)
        Scores that differ by rounding only are one.
    system, segment : numpy.ndarray of int, shape (n_cells,)
        Positions in the set.
    starts : numpy.ndarray of int64, shape (n_groups + 1,)
    labels : tuple
        The segment or system behind each group.
    n_systems, n_segments : int
        How many systems and segments have at least one scored cell.
    tolerance : float
        Differences of the metric that are no further apart are one threshold.
    """

    human: np.ndarray
    metric: np.ndarray
    system: np.ndarray
    segment: np.ndarray
    starts: np.ndarray
    labels: tuple
    n_systems: int
    n_segments: int
    tolerance: float

    @property
    def sizes(self) -> np.ndarray:
        """Number of cells in each group."""
        return np.diff(self.starts)

    @property
    def group(self) -> np.ndarray:
        """The number of each cell's group."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @property
    def human_ranks(self) -> np.ndarray:
        """Dense ranks (int64) of the human scores: equal scores, equal rank."""
        return np.unique(self.human, return_inverse=True)[1].astype(np.int64)


def grouped(es: EvalSet, metric: str, grouping: str, *, published: bool = False) -> Grouped:
    """Return the cells that humans and ``metric`` both scored, cut into groups.

    Groups with fewer than two such cells compare nothing and are left out. ``published`` keeps scores and differences
    apart that differ in their last digit.

    Raises
    ------
    ValueError
        If the grouping is unknown or no group has two scored cells.
    """
    check_choice("grouping", grouping, GROUPINGS)
    scored = ~(np.isnan(es.human) | np.isnan(es[metric]))
    cells = [es.human, es[metric], *np.indices(scored.shape)]
    n_systems, n_segments = (int(scored.any(axis=axis).sum()) for axis in (1, 0))
    if grouping == "segment":
        scored, cells = scored.T, [values.T for values in cells]
    labels = {"none": ("all",), "segment": es.segments, "system": es.systems}[grouping]
    sizes = np.array([scored.sum()]) if grouping == "none" else scored.sum(axis=1)
    keep = sizes >= 2
    if not keep.any():
        raise Undefined(
            f"metric {metric!r} in set {es.name!r}: no group has two translations that humans and the metric scored "
            f"(grouping {grouping!r}, {es.shape[0]} systems, {es.shape[1]} segments, {scored.sum()} cells with both)."
        )
    starts = np.concatenate([[0], np.cumsum(sizes[keep])]).astype(np.int64)
    kept = tuple(itertools.compress(labels, keep))
    cells, tolerance = [values[scored] for values in cells], 0.0
    if not published:
        tolerance, cells[:2] = tolerance_of_differences(cells[1]), map(merged_scores, cells[:2])
    of_groups = np.repeat(keep, sizes)
    return Grouped(*(values[of_groups] for values in cells), starts, kept, n_systems, n_segments, tolerance)


def centred(values: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Subtract each group's mean, twice: the second pass removes the first one's rounding."""
    sizes = np.diff(starts)
    for _ in range(2):
        values = values - np.repeat(np.add.reduceat(values, starts[:-1]) / sizes, sizes)
    return values


def constant(values: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return which groups hold one value only."""
    return np.maximum.reduceat(values, starts[:-1]) == np.minimum.reduceat(values, starts[:-1])


def pearson_of_groups(human: np.ndarray, metric: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Pearson's r of each group; NaN where a side is constant."""
    x, y = (centred(side, starts) for side in (human, metric))
    xy, xx, yy = (np.add.reduceat(p, starts[:-1]) for p in (x * y, x * x, y * y))
    defined = ~(constant(human, starts) | constant(metric, starts)) & (xx * yy > 0)
    return np.clip(np.divide(xy, np.sqrt(xx * yy), out=np.full(len(xy), np.nan), where=defined), -1, 1)


def pairs_of(cells: Grouped) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the group of every pair of cells, and the human and the metric difference, each (n_pairs,)."""
    pairs = {n: np.array(np.triu_indices(n, 1)) for n in np.unique(cells.sizes)}
    of_groups = [start + pairs[n] for start, n in zip(cells.starts, cells.sizes, strict=False)]
    (first, second), n_pairs = np.hstack(of_groups), cells.sizes * (cells.sizes - 1) // 2
    group = np.repeat(np.arange(len(n_pairs)), n_pairs)
    return group, cells.human[first] - cells.human[second], cells.metric[first] - cells.metric[second]


def pair_weights(cells: Grouped) -> tuple[np.ndarray, float]:
    """Weights that give each group the same say, and their total per unit of acc_eq.

    Weights are whole numbers where they fit, so that sums are exact and equal candidates tie; otherwise 1 / pairs.
    """
    pairs = [int(n) * (int(n) - 1) // 2 for n in cells.sizes]
    unit = math.lcm(*set(pairs))
    if unit * len(pairs) < 2**62:
        return np.array([unit // n for n in pairs], dtype=np.int64), float(unit * len(pairs))
    return 1.0 / np.array(pairs, dtype=np.float64), float(len(pairs))
