"""Run a plan, keep what is done, and gather it."""

from __future__ import annotations

import csv
import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from .. import __version__
from .._checks import check_jobs
from .._files import keep, whole_file
from ..evalset import unknown
from ._engines import dask_backend, engine
from ._plan import Plan
from ._sets import files
from ._store import STORE, TABLES, Store, read_outcomes
from ._tasks import Task, tasks


@dataclass(frozen=True)
class Progress:
    """How far a sweep is.

    Attributes
    ----------
    done, failed, total : int
        Tasks; ``done`` counts those that failed and those that an earlier run had done.
    seconds_left : float
        Estimate from the tasks of this run; NaN before the first.
    reason : str
        Why the last task failed; empty if it did not.
    """

    done: int
    failed: int
    total: int
    seconds_left: float
    reason: str = ""


@dataclass(frozen=True)
class Sweep:
    """The result of `run`.

    Attributes
    ----------
    tasks : pandas.DataFrame
        One row per task, in the order of the plan: ``task`` (its id), ``set, statistic, metric, options, seed, status``
        ("done" or "failed"), ``seconds, reason, resumed`` (whether an earlier run had done it).
    tables : dict of DataFrame
        By statistic: one row per row of its function's table, with ``set``, parameters of a simulated set as ``set_…``,
        options and ``seed`` in front.
    signature : str
        How it was computed, in one line.
    n_damaged : int
        How many lines of ``results.jsonl`` could not be read. Their tasks were done again.
    """

    tasks: pd.DataFrame
    tables: dict[str, pd.DataFrame] = field(repr=False)
    signature: str
    n_damaged: int = 0

    def to_frame(self, statistic: str | None = None) -> pd.DataFrame:
        """Return the table of one statistic, or all in one; columns that a statistic lacks are empty there."""
        if statistic is not None:
            if statistic not in self.tables:
                raise unknown("statistic of this sweep", statistic, list(self.tables))
            return self.tables[statistic].copy()
        frames = [_nullable(frame).assign(statistic=name) for name, frame in self.tables.items() if len(frame)]
        if not frames:
            return pd.DataFrame(columns=["set", "statistic"])
        together = pd.concat(frames, ignore_index=True)
        sets = [c for c in together if c == "set" or c.startswith("set_")]
        first = [*sets, "statistic", *(c for c in ("seed", "metric", "value") if c in together)]
        return together[[*first, *(c for c in together if c not in first)]]


def run(
    plan: Plan | str | Path | Mapping[str, Any],
    out: str | Path | None = None,
    *,
    n_jobs: int | None = None,
    dask: str | None = None,
    progress: Callable[[Progress], None] | None = None,
    force: bool = False,
) -> Sweep:
    """Run a plan: every statistic, with every combination of options, for every set and seed.

    Numbers depend neither on the number of processes, nor on the order in which they finish, nor on the backend: a task
    holds its own seed, and its result is that of the public function. A set is loaded once by each process.

    Parameters
    ----------
    plan : Plan, path or mapping
        See `read_plan`.
    out : path, optional
        A folder for ``results.jsonl``, to which the outcome of each task is appended, and for ``results.csv`` and
        ``tasks.csv``, which are written at the end. Tasks that are in it already are not done again, except those
        that failed. None keeps all in memory.
    n_jobs : int, optional
        Processes, as in joblib: -1 for all cores; None for 1, or what `joblib.parallel_config` says. If it says
        ``backend="dask"``, the cluster does the tasks.
    dask : str, optional
        The address of a Dask scheduler, such as ``"tcp://host:8786"``; or "local" for ``n_jobs`` workers here (all
        cores where that is None). Workers elsewhere need this version of the package, and the same data at
        the same place.
    progress : callable, optional
        Called with a `Progress` before the first task and after each.
    force : bool
        Whether to replace files of these names in ``out`` that are not of a sweep. An input is never replaced.

    Returns
    -------
    Sweep

    Raises
    ------
    ValueError
        As `tasks`; if another sweep writes to the same folder, or it holds files of these names that no sweep has made,
        or inputs; or if Dask is asked for and not installed.
    OSError
        If a result cannot be written.
    ConnectionError
        If the Dask scheduler cannot be reached, or is lost. What was done is kept; run again to go on.

    Notes
    -----
    A worker that is killed loses nothing: Dask's nanny starts another one, joblib's processes are started anew. A task
    that kills its worker each time fails, with that as the reason.

    Examples
    --------
    >>> import mtmeta as mm
    >>> plan = {"sets": ["teaching"], "metrics": ["BLEU", "Judge"],
    ...     "statistics": [{"correlate": {"coefficient": "kendall", "grouping": ["segment", "none"]}}]}
    >>> mm.sweep.run(plan).to_frame()[["grouping", "metric", "value"]].round(2).to_records(index=False).tolist()
    [('segment', 'BLEU', 0.23), ('segment', 'Judge', 0.38), ('none', 'BLEU', 0.24), ('none', 'Judge', 0.39)]
    """
    check_jobs(n_jobs)
    if n_jobs is not None and dask not in (None, "local"):
        raise ValueError("`n_jobs` is for processes here; the cluster has its own number of workers. Leave it out.")
    folder = None if out is None else Path(out)
    if folder is not None:
        for name in (STORE, *TABLES):
            keep(files(plan), folder / name)
    todo = tasks(plan)
    with Store(folder, force=force) as store:
        before = {task.id for task in todo if store.outcomes.get(task.id, {}).get("status") == "done"}
        left = [task for task in todo if task.id not in before]
        if left:
            with dask_backend(dask, n_jobs) if dask is not None else nullcontext():
                _do(left, store, n_jobs, len(todo), progress)
        result = _gathered(todo, store, before)
        if folder is not None:
            _write(result, folder)
    return result


def listed(plan: Plan | str | Path | Mapping[str, Any], out: str | Path | None = None) -> pd.DataFrame:
    """List the tasks of a plan, and what is done of them, without doing any.

    Parameters
    ----------
    plan, out
        As for `run`.

    Returns
    -------
    pandas.DataFrame
        ``task, set, statistic, metric, options, seed, status`` ("to do", "done" or "failed").

    Raises
    ------
    ValueError
        As `tasks`.

    Examples
    --------
    >>> import mtmeta as mm
    >>> plan = {"sets": ["teaching"], "statistics": ["rank"], "seeds": {"first": 0, "count": 3}}
    >>> mm.sweep.listed(plan)[["set", "statistic", "seed", "status"]].to_records(index=False).tolist()
    [('teaching', 'rank', 0, 'to do'), ('teaching', 'rank', 1, 'to do'), ('teaching', 'rank', 2, 'to do')]
    """
    known = {} if out is None else read_outcomes(Path(out))
    rows = [{**task.about(), "status": known.get(task.id, {}).get("status", "to do")} for task in tasks(plan)]
    return pd.DataFrame(rows).astype({"seed": "Int64"})


def _do(
    left: list[Task], store: Store, n_jobs: int | None, total: int, progress: Callable[[Progress], None] | None
) -> None:
    """Do tasks and store each outcome as it comes."""
    start, kept, failed = time.monotonic(), total - len(left), 0
    if progress:
        progress(Progress(kept, 0, total, float("nan")))
    with closing(engine(left, n_jobs)) as outcomes:
        for n_done, (number, outcome) in enumerate(outcomes, 1):
            store.append(left[number].id, outcome, left[number].about())
            failed += outcome["status"] == "failed"
            if progress:
                rest = (time.monotonic() - start) / n_done * (len(left) - n_done)
                progress(Progress(kept + n_done, failed, total, rest, outcome.get("reason", "")))


def _gathered(todo: Iterable[Task], store: Store, before: set[str]) -> Sweep:
    """Return outcomes as tables, in the order of the plan."""
    rows = []
    parts: dict[str, list[tuple[Task, dict[str, Any]]]] = {}
    for task in todo:
        outcome = store.outcomes[task.id]
        about = {"status": outcome["status"], "seconds": outcome["seconds"], "reason": outcome.get("reason", "")}
        rows.append({**task.about(), **about, "resumed": task.id in before})
        if outcome["status"] == "done":
            parts.setdefault(task.statistic, []).append((task, outcome))
    tables = {name: _table(several) for name, several in parts.items()}
    counts = Counter(row["status"] for row in rows)
    signature = f"sweep|tasks:{len(rows)}|done:{counts['done']}|failed:{counts['failed']}|mtmeta:{__version__}"
    return Sweep(pd.DataFrame(rows).astype({"seed": "Int64"}), tables, signature, store.damaged)


def _table(several: list[tuple[Task, dict[str, Any]]]) -> pd.DataFrame:
    """Return the outcomes of one statistic as one table."""
    own = list(dict.fromkeys(c for _, outcome in several for c in outcome["columns"]))
    # What a table says itself, such as the coefficient, is not said twice.
    in_front: dict[str, None] = {}
    for task, _ in several:
        in_front |= dict.fromkeys([*task.source.columns, *task.options])
    front = [c for c in sorted(in_front, key=lambda c: not c.startswith("set")) if c not in own]
    seeded = any(task.seed is not None for task, _ in several)
    data: dict[str, list[Any]] = {c: [] for c in [*front, *(["seed"] if seeded else []), *own]}
    for task, outcome in several:
        n = len(outcome["rows"])
        fixed = {**task.source.columns, **{k: _cell(v) for k, v in task.options.items()}, "seed": task.seed}
        columns = dict(zip(outcome["columns"], zip(*outcome["rows"], strict=True), strict=True)) if n else {}
        for name, values in data.items():
            values.extend(columns[name] if name in columns else [fixed.get(name) if name not in own else None] * n)
    frame = pd.DataFrame({name: _column(values) for name, values in data.items()})
    return frame.astype({"seed": "Int64"}) if seeded else frame


def _cell(value: Any) -> Any:
    """Return the value of an option as one cell."""
    return json.dumps(value) if isinstance(value, (tuple, list)) else value


def _column(values: list[Any]) -> pd.Series:
    """Return values as a column: numbers as numbers, with NaN where one is missing."""
    kinds = {type(v) for v in values}
    if kinds == {int} or kinds == {bool}:
        return pd.Series(values)
    if kinds == {int, type(None)}:
        return pd.Series(values, dtype="Int64")
    if kinds <= {int, float, type(None)}:
        return pd.Series([float("nan") if v is None else v for v in values], dtype="float64")
    return pd.Series(values, dtype="object")


def _nullable(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose whole numbers stay whole where a row has none."""
    return frame.astype(dict.fromkeys(frame.select_dtypes("int64"), "Int64"))


def _write(result: Sweep, folder: Path) -> None:
    for name, frame in zip(TABLES, (result.to_frame(), result.tasks), strict=True):
        with whole_file(folder / name) as part:
            frame.to_csv(part, index=False, quoting=csv.QUOTE_MINIMAL, lineterminator="\n")
