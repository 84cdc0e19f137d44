"""The sets of a sweep: found once by the main process, loaded once by each process that needs them."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from .. import datasets, simulate
from ..evalset import EvalSet, as_evalset
from ._plan import Loaded, Plan, Simulated, read_plan

_SIMULATE = {"scores": simulate.score_campaign, "campaign": simulate.campaign}


@dataclass(frozen=True)
class Source:
    """Where a process gets a set from; small, hashable, sent with every task.

    Attributes
    ----------
    label : str
        What the set is called in the results.
    name : str
        For `mtmeta.load_all`, or the kind of simulation.
    options : tuple of (str, object)
        Of the function that loads or simulates it.
    part : int
        Which of several sets that are loaded together; -1 for a simulation.
    """

    label: str
    name: str
    options: tuple[tuple[str, Any], ...]
    part: int = 0

    @property
    def columns(self) -> dict[str, Any]:
        """What the results say of the set."""
        parameters = dict(self.options) if self.part < 0 else {}
        return {"set": self.label, **{f"set_{key}": value for key, value in parameters.items()}}


@lru_cache(maxsize=4)
def _load_together(name: str, options: tuple[tuple[str, Any], ...]) -> tuple[EvalSet, ...]:
    return tuple(map(as_evalset, datasets.load_all(name, **dict(options))))


@lru_cache(maxsize=4)
def _simulate(kind: str, options: tuple[tuple[str, Any], ...]) -> EvalSet:
    return _SIMULATE[kind](**dict(options))


def load(source: Source) -> EvalSet:
    """Return a set; a process keeps the last few, since the tasks of a set follow each other."""
    if source.part < 0:
        return _simulate(source.name, source.options)
    return _load_together(source.name, source.options)[source.part]


def forget() -> None:
    """Forget what was loaded: a file may have changed since."""
    _load_together.cache_clear()


def checked(source: Source, expected: str, metrics: tuple[str, ...] | None, texts: bool) -> EvalSet:
    """Return a set whose data are those that the sweep was planned with.

    Raises
    ------
    ValueError
        If they are not: the file has changed, or this process is on another machine with another file.
    """
    for _ in range(2):
        es = load(source)
        if source.part < 0 or checksum(es, metrics, texts) == expected:
            return es
        forget()
    raise ValueError(
        f"set {source.label!r}: the data are not those that the sweep was planned with. A file has changed since, or "
        "differs on the machine that ran this. Run the sweep again."
    )


def found(plan: Plan) -> Iterator[tuple[Source, tuple[str, ...] | None]]:
    """Yield every set of a plan, and the metrics that the plan wants of it."""
    labels: set[str] = set()
    for one in plan.sets:
        metrics = one.metrics or plan.metrics
        for source in _loaded(one, plan.folder) if isinstance(one, Loaded) else _simulated(one):
            if source.label in labels:
                raise ValueError(f"set {source.label!r} is given twice.")
            labels.add(source.label)
            yield source, metrics


def files(plan: Plan | str | Path | Mapping[str, Any]) -> list[Path]:
    """Return the files and folders that a plan names: its own, tables, and those of more metrics."""
    own = [] if isinstance(plan, Plan | Mapping) else [Path(plan)]
    plan = plan if isinstance(plan, Plan) else read_plan(plan)
    sets = [one for one in plan.sets if isinstance(one, Loaded)]
    named = [name for one in sets for name in (one.name, *one.options.get("metrics_from", ()))]
    return [*own, *(Path(_full(name, plan.folder)) for name in named)]


def _loaded(one: Loaded, folder: Path) -> Iterator[Source]:
    name = _full(one.name, folder)
    options = dict(one.options)
    if "metrics_from" in options:
        options["metrics_from"] = tuple(_full(given, folder) for given in options["metrics_from"])
    chosen = tuple(options.items())
    sets = _load_together(name, chosen)
    if len(sets) == 1:
        label = one.name if Path(name).exists() else sets[0].name
        yield Source(_with_options(label, one.options), name, chosen)
        return
    for part, es in enumerate(sets):
        pair = es.name.rpartition("/")[2]
        label = _with_options(f"{one.name}/{pair}", one.options)
        # A folder or known set gives its parts one by one; a table is read whole.
        alone = not Path(name).is_file()
        yield Source(label, f"{name}/{pair}" if alone else name, chosen, 0 if alone else part)


def _with_options(label: str, options: dict[str, Any]) -> str:
    shown = ", ".join(f"{k}={v if isinstance(v, str) else '+'.join(v)}" for k, v in options.items())
    return f"{label} ({shown})" if shown else label


def _full(name: str, folder: Path) -> str:
    """Return a path of the plan as a whole path, because other processes work in other folders; names stay."""
    if datasets.is_name(name):
        return name
    path = folder / os.path.expanduser(name)
    there = path.exists() or (path.parent != folder and path.parent.is_dir())  # the latter: folder/language pair
    return str(path.resolve()) if there else name


def _simulated(one: Simulated) -> Iterator[Source]:
    for parameters in one.campaigns():
        shown = ",".join(f"{key}={value}" for key, value in parameters.items())
        yield Source(f"simulated {one.kind} ({shown})", one.kind, tuple(parameters.items()), -1)


@lru_cache(maxsize=64)
def _simulated_metrics(kind: str, options: tuple[tuple[str, Any], ...]) -> tuple[str, ...]:
    """Return the metrics of a kind of campaign, from the smallest one there is."""
    return _SIMULATE[kind](**{**dict(options), "n_systems": 2, "n_segments": 2}).metrics


def metric_names(source: Source, *, system: bool = False) -> tuple[str, ...]:
    """Return the metrics of a set; with ``system`` also those that have system scores alone."""
    if source.part < 0:
        which = tuple((k, v) for k, v in source.options if k in ("n_continuous", "n_discrete", "texts", "lexical"))
        return _simulated_metrics(source.name, which)
    es = load(source)
    return tuple(es.system_scores.columns.drop("human")) if system else es.metrics


def fingerprint(source: Source, metrics: tuple[str, ...] | None, texts: bool) -> str:
    """Return a hash of the part of a set that a task reads; of a simulation, of what it is made from."""
    if source.part < 0:
        return _digest([source.name, sorted(source.options)])
    return checksum(load(source), metrics, texts)


#: Computed once for each set that is in memory, since many tasks read the same part.
_checksums: WeakKeyDictionary[EvalSet, dict[tuple, str]] = WeakKeyDictionary()


def checksum(es: EvalSet, metrics: tuple[str, ...] | None, texts: bool) -> str:
    """Return a hash of the texts, or of the human scores and those of some metrics."""
    known = _checksums.setdefault(es, {})
    if (metrics, texts) not in known:
        known[metrics, texts] = _checksum(es, metrics, texts)
    return known[metrics, texts]


def _checksum(es: EvalSet, metrics: tuple[str, ...] | None, texts: bool) -> str:
    about = [es.language_pair, es.systems, es.segments, es.documents, sorted(es.human_systems)]
    if texts:
        kinds = () if es.texts is None else (es.texts.sources, es.texts.references, es.texts.translations)
        return _digest([about, kinds])
    system = es.system_scores
    names = list(system.columns.drop("human")) if metrics is None else list(metrics)
    known = [name for name in names if name in system]
    arrays = [es.human, system[["human", *known]].to_numpy(), *(es[name] for name in names if name in es)]
    return _digest([about, names], *arrays)


def _digest(about: Any, *arrays: np.ndarray) -> str:
    digest = hashlib.sha256(json.dumps(about, default=str, ensure_ascii=True).encode())
    for array in arrays:
        digest.update(f"{array.shape}".encode())
        digest.update(np.ascontiguousarray(array, dtype=np.float64).tobytes())
    return digest.hexdigest()
