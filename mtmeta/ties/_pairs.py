"""Pairs of translations, numbered once for all metrics, and sorted by each metric's difference."""

from dataclasses import dataclass

import numpy as np

from .._checks import Undefined
from .._equal import ends_of_runs, merged_scores, tolerance_of_differences
from ..agreement.coefficients import first_best
from ..evalset import EvalSet


@dataclass(frozen=True)
class HumanPairs:
    """All pairs of rated translations of one segment.

    Attributes
    ----------
    first, second, segment : numpy.ndarray of int64, shape (n_pairs,)
        Positions of the two systems and of the segment.
    tied : numpy.ndarray of bool, shape (n_pairs,)
        Whether the humans tie them.
    """

    first: np.ndarray
    second: np.ndarray
    segment: np.ndarray
    tied: np.ndarray


@dataclass(frozen=True)
class MetricPairs:
    """The pairs that a metric scored, by ascending absolute difference.

    ``gains`` says what tying a pair does to acc_eq: 1 where the humans tie, -1 where the metric agrees with their
    order, else 0. ``stops`` are the numbers of pairs that can be tied: whole runs of differences that are equal, which
    means no further apart than ``tolerance``.
    """

    order: np.ndarray
    differences: np.ndarray
    gains: np.ndarray
    stops: np.ndarray
    scored: np.ndarray
    spread: float
    tolerance: float

    def best(self, weights: np.ndarray) -> tuple[float, float, float]:
        """Return the smallest of the best thresholds, acc_eq there, and the share of metric ties.

        The weights of all pairs sum to 1; a pair of weight 0 does not count.
        """
        weights = weights[self.order]
        gained, tied = (np.append(0.0, np.cumsum(v))[self.stops] for v in (self.gains * weights, weights))
        first = first_best(gained)
        stop, untied = self.stops[first], weights[self.gains < 0].sum()
        return float(self.differences[stop - 1] if stop else 0.0), float(untied + gained[first]), float(tied[first])

    def at(self, epsilon: float, weights: np.ndarray) -> float:
        """Return acc_eq at a given threshold."""
        weights, tied = weights[self.order], self.differences <= epsilon + self.tolerance
        return float(weights[tied & (self.gains > 0)].sum() + weights[~tied & (self.gains < 0)].sum())


def human_pairs(es: EvalSet) -> HumanPairs:
    """List the pairs of translations of one segment that humans rated.

    Raises
    ------
    ValueError
        If there is none.
    """
    i, j = np.triu_indices(es.shape[0], 1)
    human = merged_scores(es.human.ravel()).reshape(es.shape)
    difference = (human[i] - human[j]).T
    segment, pair = np.nonzero(~np.isnan(difference))
    if not len(segment):
        raise Undefined(f"set {es.name!r}: no segment has two rated translations.")
    return HumanPairs(i[pair], j[pair], segment, difference[segment, pair] == 0)


def metric_pairs(es: EvalSet, metric: str, pairs: HumanPairs) -> MetricPairs:
    """Sort the pairs by the metric's difference.

    Raises
    ------
    ValueError
        If the metric scored no pair.
    """
    human, scores = (merged_scores(side.ravel()).reshape(es.shape) for side in (es.human, es[metric]))
    cells = (pairs.first, pairs.segment), (pairs.second, pairs.segment)
    dh, dm = human[cells[0]] - human[cells[1]], scores[cells[0]] - scores[cells[1]]
    scored = ~np.isnan(dm)
    if not scored.any():
        raise Undefined(f"metric {metric!r} in set {es.name!r}: no segment has two rated translations with a score.")
    order = np.argsort(np.abs(dm), kind="stable")[: scored.sum()]
    gains = np.where(dh == 0, 1, np.where(dh * np.sign(dm) > 0, -1, 0)).astype(np.int8)
    used = scores[~(np.isnan(human) | np.isnan(scores))]
    differences, tolerance = np.abs(dm)[order], tolerance_of_differences(used)
    stops = 1 + ends_of_runs(differences, tolerance)
    stops = stops if differences[0] <= tolerance else np.append(0, stops)
    spread = float(np.std(used))
    return MetricPairs(order.astype(np.int32), differences, gains[order], stops, scored, spread, tolerance)


def part(
    pairs: HumanPairs, kept: np.ndarray, ordered: MetricPairs, average: str = "segment"
) -> tuple[np.ndarray, float, int, int]:
    """Return the weights of the kept pairs that a metric scored, their tie share, and how many pairs and segments.

    Raises
    ------
    ValueError
        If no pair is left.
    """
    mine = kept & ordered.scored
    if not mine.any():
        raise Undefined("no pair is left in a sub-sample. Take more data, or shares nearer to that of the data.")
    sizes = np.bincount(pairs.segment, weights=mine)
    n_filled = int((sizes > 0).sum())
    total = mine.sum() if average == "pair" else (np.maximum(sizes, 1) * n_filled)[pairs.segment]
    return mine / total, float(pairs.tied[mine].mean()), int(mine.sum()), n_filled
