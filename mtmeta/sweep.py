"""Sweeps: many sets, metrics, options and seeds, computed by one process, by many, or by a cluster.

`read_plan` reads a plan, `tasks` lists its tasks, `run` does them. A task is one set, one statistic, one combination of
options and one seed, and one metric if the function takes one. Outcomes are appended to one file as they come, so that
a sweep that was stopped continues where it stopped.
"""

import inspect
import io
import itertools
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
from joblib import Parallel, delayed

from . import __version__, aggregation, agreement, datasets, protocols, significance, simulate, sysdep, ties
from ._files import check_not_input, claim, digest, whole_file
from ._names import unknown
from ._yaml import read_yaml
from .evalset import EvalSet, as_evalset

__all__ = ["EXAMPLE", "STATISTICS", "Sweep", "read_plan", "run", "tasks"]

#: A plan to start from.
EXAMPLE = (Path(__file__).parent / "data" / "plan.yaml").read_text(encoding="utf-8")
STORE, TABLES = "results.jsonl", ("results.csv", "tasks.csv")
#: Functions of the package by the name of the statistic.
STATISTICS: dict[str, Callable[..., Any]] = {
    f.__name__: f
    for f in (
        *(agreement.correlate, agreement.pairwise_accuracy, agreement.soft_pairwise_accuracy, aggregation.aggregate),
        *(significance.compare, significance.intervals, protocols.rank, ties.expected_accuracy, ties.human_tie_share),
        *(sysdep.system_dependence, sysdep.compare_with_null),
    )
}


@dataclass(frozen=True)
class Sweep:
    """The result of `run`.

    Attributes
    ----------
    tasks : pandas.DataFrame
        One row per task, in the order of the plan: ``task`` (its id), ``set, statistic, metric, options, seed, status``
        ("done" or "failed"), ``seconds, reason, resumed`` (whether an earlier run had done it).
    table : pandas.DataFrame
        The rows of all tables of the functions, preceded by ``set``, parameters of a simulated set as ``set_…``,
        ``statistic``, ``seed``, ``metric``, ``value`` and options. Columns that a statistic lacks are empty there.
    signature : str
        How it was computed, in one line.
    """

    tasks: pd.DataFrame
    table: pd.DataFrame = field(repr=False)
    signature: str

    def to_frame(self) -> pd.DataFrame:
        """Return the table."""
        return self.table


@dataclass(frozen=True)
class _Task:
    """All that a process needs to do one task; ``made`` are the parameters that its set was simulated with."""

    label: str
    made: dict[str, Any]
    es: EvalSet = field(repr=False)
    statistic: str
    options: dict[str, Any]
    seed: int | None
    metrics: list[str] | None  # None: all of the set
    id: str

    def about(self) -> dict[str, Any]:
        options = json.dumps(self.options, ensure_ascii=False)
        what = {"task": self.id, "set": self.label, "statistic": self.statistic}
        return what | {"metric": ", ".join(self.metrics or ()), "options": options, "seed": self.seed}


def read_plan(plan: str | Path | Mapping[str, Any]) -> dict[str, Any]:
    """Read a plan and check its keys; what an option may be is checked by the function that takes it.

    Parameters
    ----------
    plan : str, pathlib.Path or mapping
        A YAML file, or its content:

        - ``sets``: a list. An entry is what `mtmeta.load_all` takes (paths are relative to the plan's folder, or to the
          working directory), a mapping with that as ``name`` and options of `mtmeta.load`, or ``simulate``: a mapping
          with ``seeds`` and parameters of `mtmeta.simulate.campaign`, without texts by default.
        - ``metrics``: "all", the default, or a list.
        - ``statistics``: a list. An entry is a name in ``STATISTICS``, or a mapping of it to options of its function.
        - ``seeds``: of the statistics that draw; a number (0 by default), a list, or ``{first: 0, count: 100}``.

        A list of values of a parameter or an option makes a grid: each is combined with each.

    Returns
    -------
    dict
        The four keys, complete. ``statistics`` is a list of (name, options); ``folder`` is what paths are relative to,
        ``files`` are the tables that the plan may name.

    Raises
    ------
    TypeError
        If ``plan`` is neither a path nor a mapping.
    ValueError
        If the file cannot be read as YAML, or a key, statistic or option is unknown. The message names the place.

    See Also
    --------
    tasks, run

    Examples
    --------
    >>> import mtmeta as mm
    >>> mm.sweep.read_plan({"sets": ["teaching"], "statistics": [{"correlate": {"grouping": "none"}}]})["statistics"]
    [('correlate', {'grouping': 'none'})]
    >>> mm.sweep.read_plan({"sets": ["teaching"], "statistics": ["corelate"]})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: statistics: unknown statistic 'corelate'. Did you mean 'correlate'? ...
    """
    if isinstance(plan, Mapping):
        return _checked(plan, Path.cwd())
    path = Path(plan)
    content = read_yaml(path)
    try:
        return _checked(content, path.resolve().parent)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _checked(given: Any, folder: Path) -> dict[str, Any]:
    blank = {"sets": [], "metrics": "all", "statistics": [], "seeds": 0}
    _check_keys("the plan", given, blank)
    plan = blank | dict(given) | {"folder": folder}
    for key in ("sets", "statistics"):
        if not isinstance(plan[key], list | tuple) or not plan[key]:
            raise ValueError(f"{key}: expected a list of at least one entry; found {plan[key]!r:.80}.")
    entries = [one if isinstance(one, Mapping) else {one: {}} for one in plan["statistics"]]
    plan["statistics"] = [(name, options or {}) for one in entries for name, options in one.items()]
    for name, options in plan["statistics"]:
        if name not in STATISTICS:
            raise ValueError(f"statistics: {unknown('statistic', name, list(STATISTICS))}")
        _check_keys(f"statistics: {name}", options, [*inspect.signature(STATISTICS[name]).parameters][1:])
    plan["sets"] = [one if isinstance(one, Mapping) else {"name": one} for one in plan["sets"]]
    for one in plan["sets"]:
        if "simulate" in one:
            made = one["simulate"] or {}
            _check_keys("simulate", made, ["seeds", *inspect.signature(simulate.campaign).parameters])
        elif not isinstance(one.get("name"), str):
            raise ValueError(f"sets: expected a name or a mapping with `name` or `simulate`; found {one!r:.80}.")
    plan["files"] = [folder / one["name"] for one in plan["sets"] if "name" in one]
    return plan


def _check_keys(where: str, given: Any, known: Sequence[str]) -> None:
    if not isinstance(given, Mapping):
        raise ValueError(f"{where}: expected keys with values; found {given!r:.80}.")
    for key in given:
        if key not in known:
            raise ValueError(f"{where}: {unknown('key', key, list(known))}")


def _seeds(given: Any) -> list[int]:
    if isinstance(given, Mapping):
        return list(range(given.get("first", 0), given.get("first", 0) + given["count"]))
    return list(given) if isinstance(given, list | tuple) else [given]


def _grid(options: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    values = [value if isinstance(value, list | tuple) else [value] for value in options.values()]
    yield from (dict(zip(options, chosen, strict=True)) for chosen in itertools.product(*values))


def _sets(plan: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any], EvalSet]]:
    """Yield the label of each set, the parameters that it was simulated with, and the set."""
    for one in plan["sets"]:
        if "simulate" in one:
            made = dict(one["simulate"] or {})
            for chosen in _grid(made | {"seed": _seeds(made.pop("seeds", 0))}):
                shown = ",".join(f"{key}={value}" for key, value in chosen.items())
                yield f"simulated scores ({shown})", chosen, simulate.campaign(**{"texts": False} | chosen)
            continue
        name, options = one["name"], {key: value for key, value in one.items() if key != "name"}
        path = plan["folder"] / os.path.expanduser(name)
        shown = f" ({', '.join(f'{k}={v}' for k, v in options.items())})" if options else ""
        sets = datasets.load_all(str(path.resolve()) if path.exists() else name, **options)
        for es in sets:
            part = "" if len(sets) == 1 else f"/{es.name.rpartition('/')[2]}"
            yield f"{name}{part}{shown}", {}, as_evalset(es)


def _tasks(plan: Mapping[str, Any]) -> list[_Task]:
    made: dict[str, _Task] = {}
    wanted = None if plan["metrics"] == "all" else list(plan["metrics"])
    for label, made_with, es in _sets(plan):
        data = digest(es.to_frame().to_csv().encode() + repr(es.system_scores.to_numpy().tolist()).encode())
        for name, given in plan["statistics"]:
            parameters = inspect.signature(STATISTICS[name]).parameters
            metrics = wanted if "metrics" in parameters else None
            draws = "rng" in parameters and (name != "correlate" or given.get("interval"))
            for options, seed in itertools.product(_grid(given), _seeds(plan["seeds"]) if draws else [None]):
                key = digest([__version__, label, data, name, options, metrics, seed])[:20]
                made[key] = _Task(label, made_with, es, name, options, seed, metrics, key)
    return list(made.values())


def tasks(plan: str | Path | Mapping[str, Any], out: str | Path | None = None) -> pd.DataFrame:
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
        As `read_plan`; and if a set cannot be loaded, or two tasks are the same.

    See Also
    --------
    run

    Examples
    --------
    >>> import mtmeta as mm
    >>> plan = {"sets": ["teaching"], "statistics": ["rank"], "seeds": {"first": 0, "count": 3}}
    >>> mm.sweep.tasks(plan)[["set", "statistic", "seed", "status"]].to_records(index=False).tolist()
    [('teaching', 'rank', 0, 'to do'), ('teaching', 'rank', 1, 'to do'), ('teaching', 'rank', 2, 'to do')]
    """
    known = _read(None if out is None else Path(out) / STORE)
    todo = _tasks(read_plan(plan))
    rows = [task.about() | {"status": known.get(task.id, {}).get("status", "to do")} for task in todo]
    return pd.DataFrame(rows).astype({"seed": "Int64"})


def run(
    plan: str | Path | Mapping[str, Any],
    out: str | Path | None = None,
    *,
    n_jobs: int | None = None,
    progress: Callable[[int, int, int], None] | None = None,
) -> Sweep:
    """Run a plan: every statistic, with every combination of options, for every set and seed.

    Numbers do not depend on the number of processes or on the order in which they finish: a task holds its own seed,
    and its result is that of the public function.

    Parameters
    ----------
    plan : path or mapping
        See `read_plan`.
    out : path, optional
        A folder that is new, empty, or of an earlier sweep. The outcome of each task is appended to
        ``results.jsonl``; ``results.csv`` and ``tasks.csv`` are written at the end. Tasks that are already in it are
        not done again, except those that failed. By default all outcomes stay in memory.
    n_jobs : int, optional
        Processes, as in joblib: -1 for all cores; by default 1, or the number that `joblib.parallel_config` sets.
        Other backends, such as Dask's, are chosen there.
    progress : callable, optional
        Called with the numbers of tasks that are done, that failed, and in all, before the first task and after each.

    Returns
    -------
    Sweep

    Raises
    ------
    ValueError
        As `tasks`; also if the folder holds something else, or an output would replace an input.

    See Also
    --------
    tasks, read_plan

    Examples
    --------
    >>> import mtmeta as mm
    >>> plan = {"sets": ["teaching"], "metrics": ["BLEU", "Judge"],
    ...     "statistics": [{"correlate": {"coefficient": "kendall", "grouping": ["segment", "none"]}}]}
    >>> mm.sweep.run(plan).to_frame()[["grouping", "metric", "value"]].round(2).to_records(index=False).tolist()
    [('segment', 'BLEU', 0.23), ('segment', 'Judge', 0.38), ('none', 'BLEU', 0.24), ('none', 'Judge', 0.39)]
    """
    checked = read_plan(plan)
    folder = None if out is None else Path(out)
    inputs = [*checked["files"]] if isinstance(plan, Mapping) else [*checked["files"], Path(plan)]
    for name in (STORE, *TABLES) if folder is not None else ():
        check_not_input(folder / name, inputs)
    todo = _tasks(checked)
    known = _read(folder and folder / STORE)
    before = {task.id for task in todo if known.get(task.id, {}).get("status") == "done"}
    left = [task for task in todo if task.id not in before]
    report = progress or (lambda *_: None)
    report(len(before), n_failed := 0, len(todo))
    if folder is not None:
        claim(folder, STORE)
    with io.StringIO() if folder is None else (folder / STORE).open("a", encoding="utf-8") as store:
        store.write("\n" if known else "")  # a line may have been cut
        outcomes = Parallel(n_jobs, batch_size=1, return_as="generator_unordered")(map(delayed(_perform), left))
        for n, outcome in enumerate(outcomes, len(before) + 1):
            line = json.dumps(outcome)
            store.write(line + "\n")
            store.flush()
            known[outcome["task"]] = json.loads(line)
            report(n, n_failed := n_failed + (outcome["status"] == "failed"), len(todo))
    result = _gathered(todo, known, before)
    for name, frame in zip(TABLES, (result.to_frame(), result.tasks), strict=True) if folder is not None else ():
        with whole_file(folder / name) as part:
            frame.to_csv(part, index=False, lineterminator="\n")
    return result


def _read(path: Path | None) -> dict[str, dict[str, Any]]:
    """Return the last outcome of each task; a damaged line counts as not done."""
    known = {}
    for line in path.read_bytes().splitlines() if path is not None and path.is_file() else ():
        with suppress(ValueError, KeyError, TypeError):
            record = json.loads(line)
            known[record["task"]] = record
    return known


def _perform(task: _Task) -> dict[str, Any]:
    """Do a task and return its outcome, ready for the store: a table, or the reason why there is none."""
    start, about = time.perf_counter(), task.about()
    try:
        options = task.options | ({} if task.seed is None else {"rng": task.seed})
        options |= {"metrics": task.metrics} if task.metrics else {}
        result = STATISTICS[task.statistic](task.es, **options)
        table = getattr(result, "summary", getattr(result, "table", result))
        frame = table if isinstance(table, pd.DataFrame) else pd.DataFrame({"value": [table]})
        rows = frame.astype(object).where(frame.notna(), None).drop(columns="set", errors="ignore").to_dict("records")
        found = {"status": "done", "rows": json.loads(json.dumps(rows, default=lambda value: value.item()))}
    except Exception as error:  # whatever one task fails of must not take the others along
        kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
        found = {"status": "failed", "reason": " ".join(f"{kind}{error}".split())[:500]}
    return about | found | {"seconds": round(time.perf_counter() - start, 3)}


def _gathered(todo: list[_Task], known: Mapping[str, dict[str, Any]], before: set[str]) -> Sweep:
    """Return outcomes as tables, in the order of the plan."""
    blank = {"status": "", "seconds": 0.0, "reason": ""}
    about = [task.about() | {key: known[task.id].get(key, value) for key, value in blank.items()} for task in todo]
    frame = pd.DataFrame(about).astype({"seed": "Int64"})
    frame["resumed"] = frame["task"].isin(before)
    rows: list[dict[str, Any]] = []
    for task in todo:
        of = {"set": task.label} | {f"set_{name}": value for name, value in task.made.items()}
        of |= {"statistic": task.statistic, "seed": task.seed, "metric": None, "value": None} | task.options
        rows += [of | row for row in known[task.id].get("rows", ())]
    table = pd.DataFrame(rows, columns=None if rows else ["set", "statistic"]).convert_dtypes()
    n_done = int((frame["status"] == "done").sum())
    counts = f"tasks:{len(todo)}|done:{n_done}|failed:{len(todo) - n_done}"
    return Sweep(frame, table, f"sweep|{counts}|mtmeta:{__version__}")
