"""Run a plan, store the outcomes, and gather them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from contextlib import closing, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from .. import __version__
from .._checks import check_jobs
from .._files import keep, whole_file
from ._engines import dask_backend, engine
from ._plan import Plan, read_plan
from ._store import STORE, TABLES, Store, opened, read
from ._tasks import Task, tasks


@dataclass(frozen=True)
class Progress:
    """The progress of a sweep.

    Attributes
    ----------
    done, failed, total : int
        Numbers of tasks; ``done`` includes those that failed and those that an earlier run had done.
    seconds_left : float
        Estimate from the tasks of this run; NaN before the first.
    """

    done: int
    failed: int
    total: int
    seconds_left: float


@dataclass(frozen=True)
class Sweep:
    """The result of `run`.

    Attributes
    ----------
    tasks : pandas.DataFrame
        One row per task, in the order of the plan: ``task`` (its id), ``set, statistic, metric, options, seed, status``
        ("done" or "failed"), ``seconds, reason, resumed`` (whether an earlier run had done it).
    tables : dict of DataFrame
        By statistic: the rows of its function's table, preceded by ``set``, parameters of a simulated set as ``set_…``,
        options and ``seed``.
    signature : str
        How it was computed, in one line.
    n_damaged : int
        How many lines of ``results.jsonl`` could not be read. Their tasks were done again.
    """

    tasks: pd.DataFrame
    tables: dict[str, pd.DataFrame] = field(repr=False)
    signature: str
    n_damaged: int = 0

    def to_frame(self) -> pd.DataFrame:
        """Return the tables of all statistics in one; columns that a statistic lacks are empty there."""
        # Whole numbers stay whole where a row has none.
        frames = [
            frame.astype(dict.fromkeys(frame.select_dtypes("int64"), "Int64")).assign(statistic=name)
            for name, frame in self.tables.items()
            if len(frame)
        ]
        if not frames:
            return pd.DataFrame(columns=["set", "statistic"])
        together = pd.concat(frames, ignore_index=True)
        sets = [c for c in together if c == "set" or c.startswith("set_")]
        first = [*sets, "statistic", *(c for c in ("seed", "metric", "value") if c in together)]
        return together[[*first, *together.columns.difference(first, sort=False)]]


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
        ``tasks.csv``, which are written at the end. Tasks that are already in it are not done again, except those that
        failed. By default all outcomes stay in memory.
    n_jobs : int, optional
        Processes, as in joblib: -1 for all cores; by default 1, or the number that `joblib.parallel_config` sets. If
        that sets ``backend="dask"``, the cluster does the tasks.
    dask : str, optional
        The address of a Dask scheduler, such as ``"tcp://host:8786"``; or "local" for ``n_jobs`` workers here (by
        default one per core). Workers elsewhere need this version of the package, and the same data at the same place.
    progress : callable, optional
        Called with a `Progress` before the first task and after each.
    force : bool
        Whether to replace files of these names in ``out`` that no sweep has made. An input is never replaced.

    Returns
    -------
    Sweep

    Raises
    ------
    ValueError
        As `tasks`; also if another sweep writes to the same folder, the folder holds inputs, or files of these names
        that no sweep has made, or Dask is asked for and not installed.
    OSError
        If a result cannot be written.
    ConnectionError
        If the Dask scheduler cannot be reached, or is lost. Finished tasks are kept; run again to continue.

    Notes
    -----
    Nothing is lost if a worker is killed: Dask's nanny starts another one, and joblib's processes start anew. A task
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
    inputs = [] if isinstance(plan, Plan | Mapping) else [Path(plan)]
    plan = plan if isinstance(plan, Plan) else read_plan(plan)
    folder = None if out is None else Path(out)
    for name in (STORE, *TABLES) if folder is not None else ():
        keep([*inputs, *plan.files()], folder / name)
    todo = tasks(plan)
    with opened(folder, force=force) as store:
        before = {task.id for task in todo if store.outcomes.get(task.id, {}).get("status") == "done"}
        left = [task for task in todo if task.id not in before]
        if left:
            with dask_backend(dask, n_jobs) if dask is not None else nullcontext():
                _do(left, store, n_jobs, len(todo), progress)
        result = _gathered(todo, store, before)
        for name, frame in zip(TABLES, (result.to_frame(), result.tasks), strict=True) if folder is not None else ():
            with whole_file(folder / name) as part:
                frame.to_csv(part, index=False, lineterminator="\n")
    return result


def listed(plan: Plan | str | Path | Mapping[str, Any], out: str | Path | None = None) -> pd.DataFrame:
    """List the tasks of a plan and their status, without doing any.

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
    known = {} if out is None else read(Path(out))[0].outcomes
    rows = [{**task.about(), "status": known.get(task.id, {}).get("status", "to do")} for task in tasks(plan)]
    return pd.DataFrame(rows).astype({"seed": "Int64"})


def _do(
    left: list[Task], store: Store, n_jobs: int | None, total: int, progress: Callable[[Progress], None] | None
) -> None:
    """Do tasks and store each outcome as it comes."""
    progress = progress or (lambda _: None)
    start, kept, failed = time.monotonic(), total - len(left), 0
    progress(Progress(kept, 0, total, float("nan")))
    with closing(engine(left, n_jobs)) as outcomes:
        for n_done, (number, outcome) in enumerate(outcomes, 1):
            store.append(left[number].id, outcome, left[number].about())
            failed += outcome["status"] == "failed"
            rest = (time.monotonic() - start) / n_done * (len(left) - n_done)
            progress(Progress(kept + n_done, failed, total, rest))


def _gathered(todo: list[Task], store: Store, before: set[str]) -> Sweep:
    """Return outcomes as tables, in the order of the plan."""
    blank = {"status": "", "seconds": 0.0, "reason": ""}
    outcomes = [blank | store.outcomes[task.id] for task in todo]
    about = [task.about() | {key: found[key] for key in blank} for task, found in zip(todo, outcomes, strict=True)]
    frame = pd.DataFrame(about).astype({"seed": "Int64"})
    frame["resumed"] = frame["task"].isin(before)
    done = [(task, found) for task, found in zip(todo, outcomes, strict=True) if found["status"] == "done"]
    names = dict.fromkeys(task.statistic for task, _ in done)
    tables = {name: _table([one for one in done if one[0].statistic == name]) for name in names}
    counts = f"tasks:{len(todo)}|done:{len(done)}|failed:{len(todo) - len(done)}"
    return Sweep(frame, tables, f"sweep|{counts}|mtmeta:{__version__}", store.damaged)


def _table(several: list[tuple[Task, dict[str, Any]]]) -> pd.DataFrame:
    """Return the outcomes of one statistic as one table; the first columns name set, options and seed."""
    rows: list[dict[str, Any]] = []
    front: dict[str, None] = {"set": None}
    own: dict[str, None] = {}
    for task, outcome in several:
        options = {k: json.dumps(v) if isinstance(v, tuple) else v for k, v in task.options.items()}
        simulated = {f"set_{k}": v for k, v in task.source.options if task.source.part < 0}
        about = {"set": task.source.label, **simulated, **options, **({} if task.seed is None else {"seed": task.seed})}
        front |= dict.fromkeys(about)
        own |= dict.fromkeys(outcome["columns"])
        rows += [about | dict(zip(outcome["columns"], row, strict=True)) for row in outcome["rows"]]
    # A column that the table has itself, such as the coefficient, is not repeated.
    columns = sorted(front.keys() - own.keys(), key=lambda c: (c == "seed", not c.startswith("set"), [*front].index(c)))
    return pd.DataFrame({c: _column([row.get(c) for row in rows], c == "seed") for c in [*columns, *own]})


def _column(values: list[Any], nullable: bool) -> pd.Series:
    """Return values as a column: numbers as numbers, with NaN where one is missing."""
    kinds = {*map(type, values)}
    if kinds == {int, type(None)} or nullable:
        return pd.Series(values, dtype="Int64")
    number = None if kinds in ({int}, {bool}) else "float64" if kinds <= {int, float, type(None)} else "object"
    return pd.Series(values, dtype=number)
