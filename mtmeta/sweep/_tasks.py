"""Tasks (one set, one statistic, one combination of options, one seed) and their outcomes."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numba
import pandas as pd
from threadpoolctl import ThreadpoolController

from .. import __version__
from .._names import unknown
from . import _sets
from ._plan import Plan, read_plan, refuse_too_many
from ._statistics import STATISTICS


@dataclass(frozen=True)
class Task:
    """One unit of work, with all that a process needs to do it.

    Attributes
    ----------
    id : str
        Hash of the other attributes and the version of the package.
    source : Source
        The set.
    statistic : str
    options : dict
        As in the plan; other options have the function's defaults.
    metrics : tuple of str, optional
        One, or all that are compared; None for all of the set, () if the task reads none.
    seed : int, optional
        None if nothing is drawn.
    data : str
        Hash of the part of the set that the task reads.
    version : str
        Of the package.
    """

    id: str
    source: _sets.Source
    statistic: str
    options: dict[str, Any]
    metrics: tuple[str, ...] | None
    seed: int | None
    data: str
    version: str = __version__

    def about(self) -> dict[str, Any]:
        """Return what the task is, as it is listed."""
        what = {"task": self.id, "set": self.source.label, "statistic": self.statistic}
        options = json.dumps(self.options, ensure_ascii=False)
        return what | {"metric": ", ".join(self.metrics or ()), "options": options, "seed": self.seed}


def tasks(plan: Plan | str | Path | Mapping[str, Any]) -> list[Task]:
    """Return the tasks of a plan, set by set.

    Sets are loaded, because their metrics and the checksum of their data belong to the task: a task is done again only
    if its part of the data, its options, its seed or the version of the package have changed.

    Parameters
    ----------
    plan : Plan, path or mapping
        See `read_plan`.

    Returns
    -------
    list of Task

    Raises
    ------
    ValueError
        As `read_plan`; and if a set cannot be loaded, lacks a metric, or two tasks are the same.

    Examples
    --------
    >>> import mtmeta as mm
    >>> plan = {"sets": ["teaching"], "metrics": ["BLEU", "Judge"], "statistics": ["calibrate_ties", "compare"],
    ...     "seeds": [0, 1]}
    >>> [(task.statistic, task.metrics, task.seed) for task in mm.sweep.tasks(plan)]
    [('calibrate_ties', ('BLEU',), None), ('calibrate_ties', ('Judge',), None),
     ('compare', ('BLEU', 'Judge'), 0), ('compare', ('BLEU', 'Judge'), 1)]
    """
    plan = plan if isinstance(plan, Plan) else read_plan(plan)
    made: dict[str, Task] = {}
    _sets.forget()  # a file may have changed since it was loaded
    for source, wanted in _sets.found(plan):
        for name, options, seed in plan.combinations():
            for metrics in _metrics(source, wanted, name):
                data = _sets.fingerprint(source, metrics, STATISTICS[name].texts)
                content = [__version__, source.label, name, options, metrics, seed, data]
                key = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:20]
                task = Task(key, source, name, options, metrics, seed, data, __version__)
                if key in made:
                    options = task.about()["options"]
                    raise ValueError(f"set {source.label!r}, statistic {name!r}: {options} is asked for twice.")
                made[key] = task
                refuse_too_many(len(made))
    return list(made.values())


def _metrics(source: _sets.Source, wanted: _sets.Metrics, name: str) -> Sequence[_sets.Metrics]:
    """Return the metrics of each task of a statistic."""
    if (how := STATISTICS[name].metrics) == "none":
        return [()]
    there = _sets.metric_names(source, system=how == "system")
    for metric in wanted or ():
        if metric not in there:
            raise ValueError(f"set {source.label!r}: {unknown('metric', metric, there)}")
    if not there:
        raise ValueError(f"set {source.label!r} has no metric, which {name} needs.")
    return [(metric,) for metric in wanted or there] if how == "one" else [wanted]


# -- doing one ---------------------------------------------------------------------------

#: The kernels use a thread pool that must not be entered by two threads at once.
_lock = threading.Lock()


_pools = lru_cache(maxsize=1)(ThreadpoolController)


@contextmanager
def _threads(n_threads: int | None) -> Iterator[None]:
    """Keep linear algebra on one thread, as threads could reorder sums, and the kernels on ``n_threads``."""
    before = numba.get_num_threads()
    with _lock, _pools().limit(limits=1, user_api="blas"):
        try:
            numba.set_num_threads(before if n_threads is None else min(n_threads, before))
            yield
        finally:
            numba.set_num_threads(before)


def perform(task: Task, n_threads: int | None = None) -> dict[str, Any]:
    """Do a task and return its outcome, ready for the store: a table, or the reason why there is none."""
    start = time.perf_counter()
    statistic = STATISTICS[task.statistic]
    try:
        if task.version != __version__:
            raise ValueError(f"this process has mtmeta {__version__}; the sweep was planned with {task.version}.")
        with _threads(n_threads):
            es = _sets.checked(task.source, task.data, task.metrics, statistic.texts)
            content = _content(statistic.compute(es, task.metrics, task.options, task.seed))
    except Exception as error:  # whatever one task fails of must not take the others along
        return failure(error, time.perf_counter() - start)
    return {"status": "done", "seconds": round(time.perf_counter() - start, 3), **content}


def failure(error: BaseException | str, seconds: float = 0.0) -> dict[str, Any]:
    """Return the outcome of a task that failed."""
    kind = "" if isinstance(error, (str, ValueError)) else f"{type(error).__name__}: "
    reason = " ".join(f"{kind}{error}".split())[:500]
    return {"status": "failed", "seconds": round(seconds, 3), "reason": reason or "no reason was given"}


def _content(frame: pd.DataFrame) -> dict[str, Any]:
    """Return a table as lists of plain values, None for a missing one."""
    plain = frame.astype(object).where(frame.notna(), None)
    return {"columns": [str(c) for c in frame.columns], "rows": plain.to_numpy(dtype=object).tolist()}
