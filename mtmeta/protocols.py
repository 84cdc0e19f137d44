"""Ranking protocols of shared tasks and papers, as data.

A protocol is a list of tasks; a task is one statistic at one level on one language
pair (or pooled over all). `rank` computes the tasks, maps each to [0, 1] and averages.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ._checks import Undefined, check_choice, check_count, generator
from ._enough import BETTER, too_few
from ._equal import PLACES
from ._names import some_of
from ._pearson import TURNED
from .agreement import correlate, pairwise_accuracy, soft_pairwise_accuracy
from .agreement.groups import pearson_of_groups
from .agreement.spa import mean_over_pairs, order_gaps, rated_systems, shared_metrics, shared_segments, spa_gaps
from .agreement.units import common_cells, exchange_units
from .evalset import UNRATED, EvalSet, as_sets, check_ratings, is_rating
from .resampling import seed_of
from .significance.decisions import clusters, max_t, rank_sets, share_reached, square
from .significance.exchange import exchanged_coefficients, exchanged_systems, of_segments
from .significance.published import null_differences

__all__ = ["PROTOCOLS", "Protocol", "Ranking", "Task", "decided_by_one", "rank", "without_each_system"]


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
        One task over all language pairs together, instead of one for each; it counts once for every language pair.
    """

    statistic: str
    level: str
    grouping: str | None = None
    pooled: bool = False

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
        """Return the value of each metric on one set, or on all sets together if the task is pooled."""
        if self.statistic == "pairwise_accuracy":
            return pairwise_accuracy(sets, metrics)["value"].tolist()
        if self.statistic == "spa":
            return soft_pairwise_accuracy(sets, metrics, ties=ties)["value"].tolist()
        (es,) = sets
        if self.level == "system":
            return _system_pearson(es, metrics)
        options = {"grouping": self.grouping, "epsilon": "published" if ties == "published" else "calibrate"}
        return correlate(es, metrics, coefficient=self.statistic, **options)["value"].tolist()


@dataclass(frozen=True)
class Protocol:
    """A named way to rank metrics.

    Attributes
    ----------
    tasks : tuple of Task
        Tasks of each language pair, and pooled ones.
    human_systems : bool
        Whether human translations that are not the standard reference are candidates.
    """

    tasks: tuple[Task, ...]
    human_systems: bool = True


_POOLED, _GROUPED = (Task("pearson", "segment", grouping) for grouping in ("none", "segment"))
_ACC_EQ = Task("acc_eq", "segment", "segment")
_ACCURACY = Task("pairwise_accuracy", "system", pooled=True)

_SPA = Task("spa", "system")

#: Name to `Protocol`: the official rankings of three years, that of 2024 without human translations as in the table of
#: GEMBA v2, and the four of Perrella et al. 2024.
PROTOCOLS: dict[str, Protocol] = {
    "wmt23": Protocol((_ACCURACY, Task("pearson", "system"), _POOLED, _ACC_EQ)),
    "wmt24": Protocol((_SPA, _ACC_EQ)),
    "wmt25": Protocol((_SPA, _ACC_EQ)),
    "gemba-v2": Protocol((_SPA, _ACC_EQ), human_systems=False),
    "sentinels-segment": Protocol((_POOLED, _ACC_EQ)),  # their tables 1 and 3
    "sentinels-segment-grouped": Protocol((_GROUPED, _ACC_EQ)),
    "sentinels-pearson": Protocol((_POOLED,)),
    "sentinels-pearson-grouped": Protocol((_GROUPED,)),
}


@dataclass(frozen=True)
class Ranking:
    """The result of `rank`.

    Attributes
    ----------
    table : pandas.DataFrame
        ``metric, score, rank, best_rank, worst_rank``, best first. ``score`` is the weighted average of the tasks, each
        mapped to [0, 1]; higher is better. Metrics with equal scores share the better rank. The data allow every rank
        from ``best_rank`` to ``worst_rank``: all these sets hold the true ranks at once with probability 1 - alpha. The
        published tests give ``cluster`` instead of the two: a metric is in a later cluster when one of the cluster
        above is significantly better. If there is no resampling, the table has none of these columns.
    tasks : pandas.DataFrame
        One row per task and metric: ``task, language_pair, level, statistic, grouping, weight,
        metric, value, score, rank, n_segments``. The weights of the tasks sum to 1. ``n_segments`` is the number of
        segments that a pair of systems shares, on average; SPA is that of campaigns with as many.
    p_values : pandas.DataFrame or None
        Square, in the order of the table: the two-sided p-value that both metrics are equally good (published tests:
        one-sided, that the row metric is better); NaN on and below the diagonal.
    left_out : dict
        Metrics and systems that were left out, and why.
    signature : str
        How it was computed, in one line.
    note : str
        Why no metric is placed above another although a test was asked for (fewer than 6 segments or documents), what
        the test assumes where its unit is a single segment, and what SPA is about; empty if none of this occurs.
    """

    table: pd.DataFrame
    tasks: pd.DataFrame
    p_values: pd.DataFrame | None
    left_out: dict[str, str]
    signature: str
    note: str

    def to_frame(self) -> pd.DataFrame:
        """Return the ranking with one column per task: ``metric, score, rank, best_rank, worst_rank, <task> …``."""
        wide = self.tasks.pivot(index="metric", columns="task", values="value")
        return self.table.merge(wide[list(dict.fromkeys(self.tasks["task"]))], left_on="metric", right_index=True)


#: Tests of `rank`, by name.
METHODS = ("exchange", "published")
#: Signs that `soft_pairwise_accuracy` draws.
_SIGNS = 1000
#: With fewer systems than this, each of them decides much.
_FEWEST_SYSTEMS = 4
_WITHOUT = ["task", "set", "system", "human", "metric", "value", "without"]


def without_each_system(
    sets: EvalSet | pd.DataFrame | Sequence[EvalSet],
    metrics: Sequence[str] | None,
    task: Task | str,
    *,
    ties: str = "half",
) -> pd.DataFrame:
    """Recompute a task at system level without each system in turn.

    A single system can decide such a value, as an outlier decides a correlation (Mathur, Baldwin and Cohn 2020).

    Target: the values of the task at hand without each system.

    Parameters
    ----------
    sets : EvalSet, DataFrame or sequence of EvalSet
        The sets whose systems are left out one at a time; those with fewer than four rated systems stay whole.
    metrics : sequence of str or None
        None: all metrics that every set has.
    task : Task or str
        What to compute on all sets together; or the name of a protocol, for all its tasks at system level.
    ties : {"half", "published"}
        As in `rank`.

    Returns
    -------
    pandas.DataFrame
        One row per task, system and metric: ``task, set, system, human`` (whether it is a human translation),
        ``metric, value, without``. Higher values are better.

    Raises
    ------
    ValueError
        If the task cannot be computed on these sets.

    See Also
    --------
    rank, decided_by_one

    Examples
    --------
    >>> import mtmeta as mm
    >>> human, metric = [[0], [0.1], [0.2], [5]], [[3], [2], [1], [9]]
    >>> es = mm.EvalSet(human, {"m": metric}, systems=["A", "B", "C", "Human-B"])
    >>> found = mm.protocols.without_each_system(es, None, mm.protocols.Task("pearson", "system"))
    >>> found.round(2)[["system", "value", "without"]].to_numpy().tolist()[-1]
    ['Human-B', 0.97, -1.0]
    >>> mm.protocols.decided_by_one(found)
    ['Human-B alone decides over the sign of system pearson: m (+0.97 with it, -1.00 without)']
    """
    if isinstance(task, str):
        plan = _plan(sets, task, metrics)
        jobs = [job for job in plan.jobs if job.task.level == "system"]
        found = [without_each_system([*job.sets.values()], plan.metrics, job.task, ties=ties) for job in jobs]
        return pd.concat(found, ignore_index=True) if found else pd.DataFrame(columns=_WITHOUT)
    sets, rows = as_sets(sets), []
    metrics = shared_metrics(sets, metrics)
    value_without = _values_without(sets, metrics, task, ties)
    values = value_without(None, None)
    for k, es in enumerate(sets):
        rated = np.flatnonzero(~np.isnan(es.human).all(axis=1))
        for row in rated if len(rated) >= _FEWEST_SYSTEMS else ():
            system = es.systems[row]
            about = (task.name, es.name, system, system in es.human_systems)
            rows += [(*about, *found) for found in zip(metrics, values, value_without(k, row), strict=True)]
    return pd.DataFrame(rows, columns=_WITHOUT)


def _values_without(sets: list[EvalSet], metrics: Sequence[str], task: Task, ties: str) -> Callable:
    """Return a function of the number of a set and the row of a system: the values of a task without this system."""
    if task.statistic == "pearson":
        (es,) = sets
        return lambda _, row: _system_pearson(es, metrics, without=row)
    # what is said about two systems does not depend on the others
    if task.statistic == "spa":
        rng = generator(4)
        gaps = [spa_gaps(es, metrics, n_resamples=_SIGNS, ties=ties, rng=rng)[0] for es in sets]
    else:
        gaps = order_gaps(sets, metrics)
    pairs = [np.array(np.triu_indices(es.shape[0], 1)) for es in sets]

    def without(k, row):
        kept = [part[:, (pairs[j] != row).all(axis=0)] if j == k else part for j, part in enumerate(gaps)]
        return mean_over_pairs(kept, metrics)[0].tolist()

    return without


def decided_by_one(table: pd.DataFrame) -> list[str]:
    """Say which single systems decide the sign of a value, or which metric is first.

    Target: the values at hand without each system; it estimates nothing about other systems.

    Parameters
    ----------
    table : pandas.DataFrame
        The result of `without_each_system`, perhaps for several tasks.

    Returns
    -------
    list of str
        One sentence per system without which a value changes its sign and moves by more than .2, and one per task whose
        first metric would not be first without some system.

    See Also
    --------
    without_each_system : ranks without each system.

    Examples
    --------
    >>> import pandas as pd
    >>> from mtmeta.protocols import decided_by_one
    >>> table = pd.DataFrame({"task": "system pearson", "set": "s", "system": "X", "human": False,
    ...     "metric": ["A", "B"], "value": [0.9, 0.8], "without": [0.5, 0.7]})
    >>> decided_by_one(table)
    ['A is first by system pearson (0.900); but without X B is (0.700, against 0.500)']
    """
    found, firsts, several = [], {}, table["set"].nunique() > 1
    for (task, name, system), part in table.groupby(["task", "set", "system"], sort=False):
        where = f"{task}{f' of {name}' * several}"
        who = f"{system}{' (a human translation)' * bool(part['human'].any())}"
        turned, first, other = _decided(part)
        if len(turned):
            values = (f"{m} ({v:+.2f} with it, {w:+.2f} without)" for m, v, w in turned.iloc[:, -3:].to_numpy())
            found.append(f"{who} alone decides over the sign of {where}: {some_of(values)}")
        if other is not None:
            best = f"{first['metric']} is first by {where} ({first['value']:.3f}); but "
            rival = f"without {who} {other['metric']} is ({other['without']:.3f}, against {first['without']:.3f})"
            firsts.setdefault(best, []).append(rival)
    return found + [best + some_of(rivals, 2) for best, rivals in firsts.items()]


def deciding_systems(table: pd.DataFrame) -> dict[str, str]:
    """Return, for each metric of which `decided_by_one` speaks, the systems that decide over its sign or its lead."""
    found: dict[str, dict[str, None]] = {}
    for (_, _, system), part in table.groupby(["task", "set", "system"], sort=False):
        turned, first, other = _decided(part)
        for metric in [*turned["metric"], *([] if other is None else [first["metric"]])]:
            found.setdefault(metric, {})[system] = None
    return {metric: ", ".join(systems) for metric, systems in found.items()}


def _decided(part: pd.DataFrame) -> tuple[pd.DataFrame, pd.Series, pd.Series | None]:
    """Return the values whose sign a system decides, the first one, and the one that would be first without it."""
    turned = part[(part["value"] * part["without"] < 0) & ((part["value"] - part["without"]).abs() > TURNED)]
    first, other = (part.loc[part[column].idxmax()] for column in ("value", "without"))
    return turned, first, other if first["without"] < other["without"] - 1e-9 else None


def _system_pearson(es: EvalSet, metrics: Sequence[str], without: int | None = None) -> list[float]:
    """Pearson's r of the scores of all systems but one; 0 where a side is constant, as WMT counts it."""
    values = []
    for metric in metrics:
        scores = es.system_scores_of(metric).to_numpy()
        scores = scores if without is None else np.delete(scores, without, axis=0)
        human, mine = scores[~np.isnan(scores).any(axis=1)].T
        if len(human) < 2:
            raise ValueError(f"set {es.name!r}: a system-level correlation needs two systems; found {len(human)}.")
        r = pearson_of_groups(human, mine, np.array([0, len(human)]))[0]
        values.append(0.0 if np.isnan(r) else float(r))
    return values


def rank(
    list_of_es: EvalSet | pd.DataFrame | Sequence[EvalSet],
    *,
    protocol: str = "wmt23",
    metrics: Sequence[str] | None = None,
    ties: str = "half",
    method: str = "exchange",
    n_resamples: int = 1000,
    alpha: float = 0.05,
    rng: int | np.random.Generator | None = 0,
) -> Ranking:
    r"""Rank metrics by a published protocol.

    The score is :math:`\sum_t w_t s_t / \sum_t w_t` over tasks t, where s is (r + 1) / 2 for a
    correlation r and the value itself for an accuracy.

    Target: the protocol's weighted average over its tasks, for these systems and segments like these.

    Parameters
    ----------
    list_of_es : EvalSet, DataFrame or sequence of EvalSet
        One set per language pair.
    protocol : str
        A name in ``PROTOCOLS``. ``"wmt23"`` takes pairwise accuracy, pooled (weight 1/4), and for each language pair
        Pearson of systems, Pearson of segments without grouping, and acc_eq; ``"wmt24"`` SPA and acc_eq;
        ``"wmt25"`` the same two, most language pairs being rated with ESA instead of MQM, which the set decides and
        not the protocol. All keep a human translation that is not the reference, as the organisers' task sets of 2023
        and 2024 do (for 2025 we do not know); ``"gemba-v2"`` is ``"wmt24"`` without human translations, as in the
        table published with GEMBA v2. At segment level alone,
        ``"sentinels-segment"`` takes Pearson and acc_eq, ``"sentinels-pearson"`` Pearson; both also with Pearson
        ``-grouped`` by segment.
    metrics : sequence of str, optional
        By default all metrics that every set has at the levels needed; the others are listed
        in ``left_out``.
    ties : {"half", "published"}
        How SPA counts ties, see `soft_pairwise_accuracy`, and how acc_eq calibrates them, see ``epsilon`` of
        `mtmeta.correlate`. ``"published"``: both as the reference implementation does.
    method : {"exchange", "published"}
        ``"exchange"``: rank confidence sets from exchanging whole documents, or segments where a set names fewer than
        20 documents; the tasks of a set share the draws. ``"published"``: clusters from the tests that WMT uses, on
        cells, pairs and systems; see `mtmeta.compare`. This test of SPA is costly: minutes for 30 metrics.
        For the pooled pairwise accuracy they standardise each metric once over the systems of all language pairs, so
        that a metric that scores one language pair higher than another is at a disadvantage.
    n_resamples : int
        Draws of the test; 0 for no test.
    alpha : float
        Level of the rank sets or clusters.
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

    See Also
    --------
    mtmeta.compare : is one metric better than another?
    without_each_system : does one system decide the rank?
    mtmeta.plots.rank_intervals : a figure of the ranks.

    Notes
    -----
    The published tests treat dependent scores as independent, above all the pair swap of acc_eq. On three simulated
    sets of eight systems, it found one of two equally good metrics better at the two-sided level .05 in 17 of 80
    campaigns of 30 segments, and in 12 of 80 campaigns of 60.

    If the score of a system is not the mean of its segments, as with corpus BLEU, the exchange adds the difference to
    each of its segments. The p-values of hybrids inside SPA are normal approximations to the published sign flips.

    References
    ----------
    Freitag et al. 2023 (``wmt23``), Thompson et al. 2024 (SPA), Perrella et al. 2024
    (``sentinels-*``), Mogstad, Romano, Shaikh and Wilhelm 2024 (rank sets).

    Examples
    --------
    >>> import mtmeta as mm
    >>> es = mm.EvalSet([[0, -6], [-1, -7], [-1, -5]], systems=["A", "B", "C"],
    ...     metrics={"X": [[.9, .2]] * 3, "Y": [[.5, .5], [.4, .4], [.4, .6]]})
    >>> mm.rank(es, protocol="sentinels-pearson-grouped", n_resamples=0).table.to_records(index=False).tolist()
    [('Y', 1.0, 1), ('X', 0.5, 2)]
    """
    check_choice("method", method, METHODS)
    check_count("n_resamples", n_resamples, 0)
    plan = _plan(list_of_es, protocol, metrics)
    tasks, p_values, notes, of_units = _score(plan, ties), None, [], ""
    table = (tasks["weight"] * tasks["score"]).groupby(tasks["metric"]).sum().rename("score").reset_index()
    table["rank"] = table["score"].round(PLACES).rank(ascending=False, method="min").astype(int)
    table = table.sort_values(["rank", "metric"], ignore_index=True)
    if n_resamples and len(table) > 1:
        units = [exchange_units(es) for es in plan.sets.values()]
        few = too_few(sum(of.n for of in units), units[0].unit, BETTER)
        notes += [f"cannot be told: {few}"] if few else []
    signature = f"protocol:{protocol}|pairs:{','.join(plan.sets)}|metrics:{len(plan.metrics)}|degenerate:drop"
    if any(job.task.statistic == "spa" for job in plan.jobs):
        sizes = some_of(f"{shared_segments(es)} segments ({pair})" for pair, es in plan.sets.items())
        notes.append(f"SPA depends on the number of segments: values and ranks are about campaigns with {sizes}.")
        signature += f"|spa ties:{ties}"
    if n_resamples and len(table) > 1:
        if method == "exchange":
            p_values, ranks, of_units, assumed = _exchange_test(plan, table, n_resamples, alpha, generator(rng))
            table["best_rank"], table["worst_rank"] = ranks
            notes += assumed
        else:
            p_values = _published_test(plan, table, ties, n_resamples, generator(rng))
            table["cluster"] = 1 if few else clusters(p_values, alpha)
    if n_resamples:
        signature += f"|method:{method}{of_units}|draws:{n_resamples}|seed:{seed_of(rng)}|alpha:{alpha}"
    return Ranking(table, tasks, p_values, plan.left_out, signature, " ".join(notes))


@dataclass(frozen=True)
class _Job:
    """A task on the set of one language pair, or on all sets if it is pooled."""

    task: Task
    pair: str  # "all" if pooled
    sets: dict[str, EvalSet]  # by language pair
    weight: float

    @property
    def scale(self) -> float:
        """How much the score of a metric changes with the value of this task."""
        return self.weight / (1 + self.task.is_correlation)


@dataclass(frozen=True)
class _Plan:
    """What `rank` computes, and on what."""

    sets: dict[str, EvalSet]  # by language pair
    metrics: list[str]
    jobs: list[_Job]
    left_out: dict[str, str]


def _plan(data: EvalSet | pd.DataFrame | Sequence[EvalSet], protocol: str, metrics: Sequence[str] | None) -> _Plan:
    """Check the sets, and return the tasks of a protocol on each language pair; their weights sum to 1."""
    check_choice("protocol", protocol, list(PROTOCOLS))
    rules, sets = PROTOCOLS[protocol], as_sets(data)
    pairs = [es.language_pair or es.name for es in sets]
    if len(set(pairs)) != len(pairs):
        raise ValueError(f"each language pair may occur once; found {', '.join(map(repr, pairs))}.")
    found = ((es.name, es.provenance.get("left_out", {})) for es in sets)
    left_out = {f"{name}: {what}": why for name, own in found for what, why in own.items() if why == UNRATED}
    if not rules.human_systems:
        for es in sets:
            left_out |= {f"{es.name}: system {s!r}": "human translation" for s in sorted(es.human_systems)}
        sets = [es.select(systems=[s for s in es.systems if s not in es.human_systems]) for es in sets]
    for es in sets:
        check_ratings(es)
        if _within(rules.tasks) and not ((~np.isnan(es.human)).sum(axis=0) > 1).any():
            raise Undefined(
                f"set {es.name!r}: no segment has two rated systems, so nothing can be compared within a segment, as "
                f"protocol={protocol!r} does. Pass protocol='sentinels-pearson', which compares any translations; for "
                "scores of systems: mtmeta correlate --level system (in Python: mm.pairwise_accuracy)."
            )
    chosen = shared_metrics(sets, metrics, level="segment")
    if metrics is None:
        for es in sets:
            absent = [m for m in es.system_scores.columns if not is_rating(m) and m not in ("human", *chosen)]
            left_out |= {f"{es.name}: metric {m!r}": "not in every set at segment level" for m in absent}
    by_pair = dict(zip(pairs, sets, strict=True))
    jobs = []
    for task in rules.tasks:
        groups = {"all": by_pair} if task.pooled else {pair: {pair: es} for pair, es in by_pair.items()}
        n = len(rules.tasks) * len(sets)  # a pooled task counts once for every language pair
        jobs += [_Job(task, pair, group, len(group) / n) for pair, group in groups.items()]
    return _Plan(by_pair, chosen, jobs, left_out)


def _within(tasks: Iterable[Task]) -> bool:
    """Return whether a task compares the translations of a segment."""
    return any(task.grouping == "segment" or task.statistic == "spa" for task in tasks)


def _score(plan: _Plan, ties: str) -> pd.DataFrame:
    """Return the values, scores and ranks of all metrics by all tasks."""
    rows = []
    for job in plan.jobs:
        task = job.task
        values = pd.Series(task.values([*job.sets.values()], plan.metrics, ties=ties))
        scores = (values + 1) / 2 if task.is_correlation else values
        places = values.round(PLACES).rank(ascending=False, method="min").astype(int)
        about = (f"{job.pair} {task.name}", job.pair, task.level, task.statistic, task.grouping, job.weight)
        rows += [(*about, *row) for row in zip(plan.metrics, values, scores, places, strict=True)]
    columns = ["task", "language_pair", "level", "statistic", "grouping", "weight", "metric", "value", "score", "rank"]
    shared = {pair: shared_segments(es) for pair, es in plan.sets.items()}
    tasks = pd.DataFrame(rows, columns=columns)
    return tasks.assign(n_segments=tasks["language_pair"].map(shared | {"all": sum(shared.values())}))


def _published_test(plan: _Plan, table: pd.DataFrame, ties: str, n_resamples: int, rng) -> pd.DataFrame:
    """Return the one-sided p-values of the published tests."""
    names, score = table["metric"].tolist(), table["score"].to_numpy()
    options, null = {"n_resamples": n_resamples, "rng": rng, "ties": ties}, 0
    for job in plan.jobs:
        about = {"level": job.task.level, "grouping": job.task.grouping}
        found = null_differences([*job.sets.values()], names, job.task.statistic, **about, **options)
        null = null + found * job.scale
    first, second = np.triu_indices(len(names), 1)
    return square(names, share_reached(null, score[first] - score[second]))


def _exchange_test(
    plan: _Plan, table: pd.DataFrame, n_resamples: int, alpha: float, rng: np.random.Generator
) -> tuple[pd.DataFrame, tuple[np.ndarray, np.ndarray], str, list[str]]:
    """Return two-sided p-values, the ends of rank sets, the units that were exchanged, and what this assumes."""
    names, drawn = table["metric"].tolist(), {}
    for pair, es in plan.sets.items():  # the tasks of a set share the signs
        cells = common_cells(es, names)
        units = exchange_units(cells)
        drawn[pair] = cells, units, units.signs(n_resamples, rng)
    null = sum(_exchanged(job, names, drawn) * job.scale for job in plan.jobs)
    alone, jointly = np.broadcast_to(null, (2, *null.shape[-2:]))
    p_values = square(names, share_reached(np.abs(alone[:, 1:]), np.abs(alone[:, 0])))
    together = square(names, max_t(jointly[:, 1:], jointly[:, 0], one_sided=True))
    of_units, assumed = "".join(f"|{pair}:{units.n} {units.unit}s" for pair, (_, units, _) in drawn.items()), []
    grouping = "segment" if _within(job.task for job in plan.jobs) else "none"
    for pair, (cells, units, _) in drawn.items():
        single = of_segments(cells, names, "pearson", grouping, units)
        assumed += [f"{pair}: {single}"] if single else []
    return p_values, rank_sets(together, alpha), of_units, assumed


def _exchanged(job: _Job, names: list[str], drawn: dict) -> np.ndarray:
    """Return the differences between metrics by one task, in the data and in each draw of signs."""
    statistic = job.task.statistic
    if job.task.level == "segment":
        cells, units, signs = drawn[job.pair]
        return exchanged_coefficients(cells, names, statistic, job.task.grouping, units, signs)
    if statistic == "spa":
        cells, units, signs = drawn[job.pair]
        return exchanged_systems(cells, names, statistic, units, signs)
    sets = {pair: es if es.scores == "published" else drawn[pair][0] for pair, es in job.sets.items()}
    sizes = [len(rated_systems(es, names)[0]) for es in sets.values()]
    n_pairs = np.array([k * (k - 1) for k in sizes])
    found = [exchanged_systems(es, names, statistic, *drawn[pair][1:]) for pair, es in sets.items()]
    return sum(n * part for n, part in zip(n_pairs / n_pairs.sum(), found, strict=True))
