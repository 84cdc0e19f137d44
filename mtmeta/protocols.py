"""Ranking protocols of shared tasks and papers, written down as data.

A protocol is a list of weighted tasks; a task is one statistic at one level on one language
pair (or pooled over all). `rank` computes the tasks, maps each to [0, 1] and averages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ._checks import check_count, generator
from .agreement import (
    _pearson,
    as_sets,
    check_choice,
    correlate,
    pairwise_accuracy,
    shared_metrics,
    soft_pairwise_accuracy,
)
from .evalset import EvalSet
from .significance import _p_from_draws, clusters, null_differences

__all__ = ["PROTOCOLS", "Protocol", "Ranking", "Task", "rank"]


@dataclass(frozen=True)
class Task:
    """One column of a ranking.

    Attributes
    ----------
    statistic : str
        ``pairwise_accuracy``, ``spa``, ``pearson``, or a coefficient of `correlate`.
    level : {"system", "segment"}
    grouping : str or None
        Grouping of a segment-level task.
    pooled : bool
        One task over all language pairs together, instead of one for each.
    weight : float
        Weight relative to the other tasks of the same language pair; a pooled task counts
        once for every language pair.
    """

    statistic: str
    level: str
    grouping: str | None = None
    pooled: bool = False
    weight: float = 1.0

    @property
    def is_correlation(self) -> bool:
        """Whether the value lies in [-1, 1] and is mapped to (value + 1) / 2 for averaging."""
        return self.statistic not in ("pairwise_accuracy", "spa", "acc_eq")

    @property
    def name(self) -> str:
        """Short label, such as ``segment acc_eq (segment grouping)``."""
        grouping = "" if self.grouping is None else f" ({self.grouping} grouping)"
        return f"{self.level} {self.statistic}{grouping}"

    def values(self, sets: Sequence[EvalSet], metrics: Sequence[str], *, ties: str = "half") -> list[float]:
        """Return the value of each metric on one set, or where the task is pooled on all sets together."""
        if self.statistic == "pairwise_accuracy":
            return pairwise_accuracy(sets, metrics)["value"].tolist()
        if self.statistic == "spa":
            return soft_pairwise_accuracy(sets, metrics, ties=ties)["value"].tolist()
        (es,) = sets
        if self.level == "system":
            return _system_pearson(es, metrics)
        return correlate(es, metrics, coefficient=self.statistic, grouping=self.grouping)["value"].tolist()


@dataclass(frozen=True)
class Protocol:
    """A named way to rank metrics.

    Attributes
    ----------
    tasks : tuple of Task
        Tasks of each language pair, and pooled ones.
    human_systems : bool
        Whether human translations that are not the standard reference are candidates.
    description, source : str
        What it is, and where it was published.
    """

    tasks: tuple[Task, ...]
    human_systems: bool
    description: str
    source: str


_ACC_EQ = Task("acc_eq", "segment", "segment")
_SENTINELS = "Perrella et al. 2024"

#: Name to `Protocol`.
PROTOCOLS: dict[str, Protocol] = {
    "wmt23": Protocol(
        (
            Task("pairwise_accuracy", "system", pooled=True),
            Task("pearson", "system"),
            Task("pearson", "segment", "none"),
            _ACC_EQ,
        ),
        True,
        "official ranking of the WMT23 metrics task: pooled pairwise accuracy (weight 1/4) and, for each language "
        "pair, system-level Pearson, pooled segment-level Pearson and acc_eq",
        "Freitag et al. 2023",
    ),
    "wmt24": Protocol(
        (Task("spa", "system"), _ACC_EQ),
        False,
        "official ranking of the WMT24 metrics task: soft pairwise accuracy and acc_eq for each language pair, "
        "human translations left out",
        "Freitag et al. 2024; Thompson et al. 2024",
    ),
    "sentinels-segment": Protocol(
        (Task("pearson", "segment", "none"), _ACC_EQ),
        True,
        "segment-level tasks of WMT23: pooled Pearson and acc_eq",
        f"{_SENTINELS}, tables 1 and 3",
    ),
    "sentinels-segment-grouped": Protocol(
        (Task("pearson", "segment", "segment"), _ACC_EQ),
        True,
        "segment-level tasks of WMT23 with Pearson grouped by segment",
        f"{_SENTINELS}, published rankings",
    ),
    "sentinels-pearson": Protocol(
        (Task("pearson", "segment", "none"),), True, "pooled segment-level Pearson", f"{_SENTINELS}, published rankings"
    ),
    "sentinels-pearson-grouped": Protocol(
        (Task("pearson", "segment", "segment"),),
        True,
        "segment-level Pearson grouped by segment",
        f"{_SENTINELS}, published rankings",
    ),
}


@dataclass(frozen=True)
class Ranking:
    """The result of `rank`.

    Attributes
    ----------
    table : pandas.DataFrame
        ``metric, score, rank, cluster``, best first. ``score`` is the weighted average of the tasks,
        each mapped to [0, 1]; higher is better. Metrics with equal scores share the better rank.
        A metric is in a later cluster when one of the cluster above is significantly better.
        Without resampling there is no column ``cluster``.
    tasks : pandas.DataFrame
        One row per task and metric: ``task, language_pair, level, statistic, grouping, weight,
        metric, value, score, rank``. The weights of the tasks sum to 1.
    p_values : pandas.DataFrame or None
        Square, in the order of the table: p-value that the row metric's score is higher by more
        than luck; NaN on and below the diagonal.
    left_out : dict
        Metrics and systems that took no part, and why.
    signature : str
        How it was computed, in one line.
    """

    table: pd.DataFrame
    tasks: pd.DataFrame
    p_values: pd.DataFrame | None
    left_out: dict[str, str]
    signature: str

    def to_frame(self) -> pd.DataFrame:
        """Return the ranking with one column per task: ``metric, score, rank, [cluster,] <task> …``."""
        wide = self.tasks.pivot(index="metric", columns="task", values="value")
        return self.table.merge(wide[list(dict.fromkeys(self.tasks["task"]))], left_on="metric", right_index=True)


def _machine_only(es: EvalSet) -> EvalSet:
    return es.select(systems=[s for s in es.systems if s not in es.human_systems])


def _system_pearson(es: EvalSet, metrics: Sequence[str]) -> list[float]:
    """Pearson's r of system scores; 0 where a side is constant, as WMT counts it."""
    values = []
    for metric in metrics:
        scores = es.system_scores[["human", metric]].dropna().to_numpy()
        if len(scores) < 2:
            raise ValueError(f"set {es.name!r}: a system-level correlation needs two systems; found {len(scores)}.")
        r = _pearson(scores[:, 0], scores[:, 1], np.array([0, len(scores)]))[0]
        values.append(0.0 if np.isnan(r) else float(r))
    return values


#: Signs that `soft_pairwise_accuracy` draws.
_SIGNS = 1000


def cost(sets: Sequence[EvalSet], protocol: str, n_metrics: int, n_resamples: int) -> tuple[float, float]:
    """Return about how many seconds and bytes `rank` takes on two cores.

    It counts the steps of the inner loops, which follow from sizes alone; what a step takes was measured.
    """
    seconds = size = 0.0
    pairs = n_metrics * (n_metrics - 1) / 2 if n_resamples else 0
    for task in PROTOCOLS[protocol].tasks:
        for es in sets:
            k, n = es.shape
            cells, duels = k * n, k * (k - 1) / 2
            if task.statistic == "spa":
                steps = 2e-8 * _SIGNS * duels * (n_metrics + 1)
                draw = 1e-2 + 6e-10 * _SIGNS * pairs * duels + 5e-11 * _SIGNS * n_metrics * cells
                held = 20.0 * _SIGNS * duels
            elif task.statistic == "acc_eq":
                steps, draw, held = 2e-7 * n_metrics * duels * n, 1e-8 * pairs, (5 * n_metrics + 50) * duels * n
            elif task.level == "segment":
                groups = n if task.grouping == "segment" else 1
                steps, held = 0.0, 2.0 * n_resamples * cells
                draw = 6e-9 * n_metrics * cells + 3e-9 * pairs * groups
            else:
                continue
            seconds += steps + (n_resamples * draw if pairs else 0.0)
            size = max(size, held + 8 * pairs * n_resamples)
    return seconds, size


def rank(
    list_of_es: EvalSet | pd.DataFrame | Sequence[EvalSet],
    *,
    protocol: str = "wmt23",
    metrics: Sequence[str] | None = None,
    ties: str = "half",
    n_resamples: int = 1000,
    p_value: str = "plus_one",
    alpha: float = 0.05,
    rng: int | np.random.Generator | None = 0,
) -> Ranking:
    r"""Rank metrics by a published protocol.

    The score is :math:`\sum_t w_t s_t / \sum_t w_t` over tasks t, where s is (r + 1) / 2 for a
    correlation r and the value itself for an accuracy.

    Parameters
    ----------
    list_of_es : EvalSet, DataFrame or sequence of EvalSet
        One set per language pair.
    protocol : str
        A name in ``PROTOCOLS``: ``"wmt23"``, ``"wmt24"``, ``"sentinels-segment"``,
        ``"sentinels-segment-grouped"``, ``"sentinels-pearson"``, ``"sentinels-pearson-grouped"``.
    metrics : sequence of str, optional
        By default all metrics that every set has at the levels needed; the others are listed
        in ``left_out``.
    ties : {"half", "published"}
        For protocols with SPA: see `soft_pairwise_accuracy`.
    n_resamples : int
        Draws of the permutation test behind clusters and p-values; 0 does without. SPA is costly to
        resample: minutes for 30 metrics on a WMT test set.
    p_value : {"plus_one", "published"}
        See `mtmeta.compare`.
    alpha : float
        Level of the clusters.
    rng : None, int or numpy.random.Generator
        Seed of the draws. (SPA's own signs have the published seed.)

    Returns
    -------
    Ranking

    Raises
    ------
    ValueError
        If an option or metric is unknown, a language pair occurs twice, or a task cannot be
        computed on these sets.

    Notes
    -----
    The published protocols test acc_eq by a pair swap, which takes dependent pairs for independent (see
    `mtmeta.compare`), so p-values of rankings that hold acc_eq are too small. Of two equally good metrics on three
    simulated sets of eight systems, one was found better at the two-sided level .05 in 17 of 80 campaigns of 30
    segments, and in 12 of 80 campaigns of 60.

    References
    ----------
    Freitag et al. 2023 (``wmt23``), Thompson et al. 2024 (SPA), Perrella et al. 2024
    (``sentinels-*``).

    Examples
    --------
    >>> import mtmeta as mm
    >>> es = mm.EvalSet([[0, -6], [-1, -7], [-1, -5]], systems=["A", "B", "C"],
    ...     metrics={"X": [[.9, .2]] * 3, "Y": [[.5, .5], [.4, .4], [.4, .6]]})
    >>> mm.rank(es, protocol="sentinels-pearson-grouped", n_resamples=0).table.to_records(index=False).tolist()
    [('Y', 1.0, 1), ('X', 0.5, 2)]
    """
    check_choice("protocol", protocol, list(PROTOCOLS))
    check_choice("p_value", p_value, ("plus_one", "published"))
    check_count("n_resamples", n_resamples, 0)
    plan = PROTOCOLS[protocol]
    sets = as_sets(list_of_es)
    pairs = [es.language_pair or es.name for es in sets]
    if len(set(pairs)) != len(pairs):
        raise ValueError(f"each language pair may occur once; found {', '.join(map(repr, pairs))}.")
    left_out = {}
    if not plan.human_systems:
        for es in sets:
            left_out |= {f"{es.name}: system {s!r}": "human translation" for s in sorted(es.human_systems)}
        sets = [_machine_only(es) for es in sets]
    level = "segment" if any(t.level == "segment" or t.statistic == "spa" for t in plan.tasks) else "system"
    chosen = shared_metrics(sets, metrics, level=level)
    if metrics is None:
        for es in sets:
            absent = [m for m in es.system_scores.columns if m != "human" and m not in chosen]
            left_out |= {f"{es.name}: metric {m!r}": f"not in every set at {level} level" for m in absent}
    jobs = [
        (task, pair, group)
        for task in plan.tasks
        for pair, group in ([("all", sets)] if task.pooled else zip(pairs, ([es] for es in sets), strict=True))
    ]
    rows = []
    for task, pair, group in jobs:
        values = pd.Series(task.values(group, chosen, ties=ties))
        scores = (values + 1) / 2 if task.is_correlation else values
        places = values.rank(ascending=False, method="min").astype(int)
        about = (f"{pair} {task.name}", pair, task.level, task.statistic, task.grouping, task.weight * len(group))
        rows += [(*about, *row) for row in zip(chosen, values, scores, places, strict=True)]
    columns = ["task", "language_pair", "level", "statistic", "grouping", "weight", "metric", "value", "score", "rank"]
    tasks = pd.DataFrame(rows, columns=columns)
    tasks["weight"] /= tasks.drop_duplicates("task")["weight"].sum()
    score = (tasks["weight"] * tasks["score"]).groupby(tasks["metric"]).sum()
    table = pd.DataFrame({"metric": score.index, "score": score.to_numpy()})
    table = table.sort_values(["score", "metric"], ascending=[False, True], ignore_index=True)
    table["rank"] = table["score"].rank(ascending=False, method="min").astype(int)
    p_values = None
    if n_resamples and len(table) > 1:
        weights = tasks.drop_duplicates("task")["weight"].to_numpy()
        p_values = _p_values(table, jobs, weights, n_resamples, p_value, generator(rng))
        table["cluster"] = clusters(p_values.to_numpy(), alpha)
    spa = f"|spa ties:{ties}" if any(t.statistic == "spa" for t in plan.tasks) else ""
    seed = "generator" if isinstance(rng, np.random.Generator) else rng
    drawn = f"|draws:{n_resamples}|seed:{seed}|p:{p_value}|alpha:{alpha}" if n_resamples else ""
    signature = f"protocol:{protocol}|pairs:{','.join(pairs)}|metrics:{len(chosen)}|degenerate:drop{spa}{drawn}"
    return Ranking(table, tasks, p_values, left_out, signature)


def _p_values(
    table: pd.DataFrame, jobs: list, weights: np.ndarray, n_resamples: int, p_value: str, rng
) -> pd.DataFrame:
    """Return the p-values of the weighted average: the tasks' null differences, weighted and added."""
    names = table["metric"].tolist()
    first, second = np.triu_indices(len(names), 1)
    draws = np.zeros((len(first), n_resamples))
    for (task, _, group), weight in zip(jobs, weights, strict=True):
        scale = weight / 2 if task.is_correlation else weight
        options = {"level": task.level, "grouping": task.grouping, "n_resamples": n_resamples, "rng": rng}
        draws += scale * null_differences(group, names, task.statistic, **options)
    score = table["score"].to_numpy()
    square = np.full((len(names), len(names)), np.nan)
    square[first, second] = _p_from_draws(draws, score[first] - score[second], p_value)
    return pd.DataFrame(square, index=names, columns=names)
