"""The sets of a sweep: found once by the main process, loaded once by each process that needs them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from .. import datasets, simulate
from .._arrays import digest
from ..evalset import EvalSet, as_evalset
from ._plan import Loaded, Plan, Simulated, product

_SIMULATE = {"scores": simulate.score_campaign, "campaign": simulate.campaign}
Metrics = tuple[str, ...] | None


@dataclass(frozen=True)
class Source:
    """The origin of a set; small, hashable, sent with every task."""

    label: str  # what the set is called in the results
    name: str  # for `mtmeta.load_all`, or the kind of simulation
    options: tuple[tuple[str, Any], ...]  # of the function that loads or simulates it
    part: int = 0  # which of several sets that are loaded together; -1 for a simulation


@lru_cache(maxsize=8)
def _made(name: str, options: tuple[tuple[str, Any], ...], simulated: bool) -> tuple[EvalSet, ...]:
    if simulated:
        return (_SIMULATE[name](**dict(options)),)
    return tuple(map(as_evalset, datasets.load_all(name, **dict(options))))


#: Forget what was loaded.
forget = _made.cache_clear


def load(source: Source) -> EvalSet:
    """Return a set; a process keeps the last few, since the tasks of a set follow each other."""
    return _made(source.name, source.options, source.part < 0)[source.part]


def checked(source: Source, expected: str, metrics: Metrics, texts: bool) -> EvalSet:
    """Return a set; raise ValueError unless its data are those that the sweep was planned with."""
    for _ in range(2):
        if fingerprint(source, metrics, texts) == expected:
            return load(source)
        forget()
    raise ValueError(
        f"set {source.label!r}: the data are not those that the sweep was planned with. A file has changed since, or "
        "differs on the machine that ran this. Run the sweep again."
    )


def found(plan: Plan) -> Iterator[tuple[Source, Metrics]]:
    """Yield every set of a plan, and the metrics that the plan wants of it."""
    for one in plan.sets:
        for source in _loaded(one, plan.full) if isinstance(one, Loaded) else _simulated(one):
            yield source, one.metrics or plan.metrics


def _loaded(one: Loaded, full: Callable[[str], str]) -> Iterator[Source]:
    name, given = full(one.name), one.given("name", "metrics")
    options = tuple((k, tuple(map(full, v)) if k == "metrics_from" else v) for k, v in given.items())
    shown = ", ".join(f"{k}={v if isinstance(v, str) else '+'.join(v)}" for k, v in given.items())
    ending = f" ({shown})" if shown else ""
    sets = _made(name, options, False)
    for part, es in enumerate(sets):
        pair = es.name.rpartition("/")[2]
        label = f"{one.name}/{pair}" if len(sets) > 1 else one.name if Path(name).exists() else es.name
        if len(sets) == 1 or Path(name).is_file():  # a table is read whole; other sets are loaded one by one
            yield Source(label + ending, name, options, part)
        else:
            yield Source(label + ending, f"{name}/{pair}", options)


def _simulated(one: Simulated) -> Iterator[Source]:
    for parameters in product(one.grid):
        shown = ",".join(f"{key}={value}" for key, value in parameters.items())
        yield Source(f"simulated {one.simulate.kind} ({shown})", one.simulate.kind, tuple(parameters.items()), -1)


def metric_names(source: Source, *, system: bool = False) -> tuple[str, ...]:
    """Return the metrics of a set; with ``system`` also those that have system scores alone."""
    if source.part < 0:  # the smallest campaign of the kind has the same metrics
        which = {k: v for k, v in source.options if k in ("n_continuous", "n_discrete", "texts", "lexical")}
        return _made(source.name, tuple({**which, "n_systems": 2, "n_segments": 2}.items()), True)[0].metrics
    es = load(source)
    return tuple(es.system_scores.columns.drop("human")) if system else es.metrics


#: Computed once for each set that is in memory, since many tasks read the same part.
_known: WeakKeyDictionary[EvalSet, dict[tuple, str]] = WeakKeyDictionary()


def fingerprint(source: Source, metrics: Metrics, texts: bool) -> str:
    """Return a hash of the texts, or of the human scores and those of some metrics; of a simulation, of its recipe."""
    if source.part < 0:
        return digest([source.name, sorted(source.options)])
    es = load(source)
    known = _known.setdefault(es, {})
    if (metrics, texts) not in known:
        known[metrics, texts] = _checksum(es, metrics, texts)
    return known[metrics, texts]


def _checksum(es: EvalSet, metrics: Metrics, texts: bool) -> str:
    about = [es.language_pair, es.systems, es.segments, es.documents, sorted(es.human_systems)]
    if texts:
        kinds = () if es.texts is None else (es.texts.sources, es.texts.references, es.texts.translations)
        return digest([about, kinds])
    system = es.system_scores
    names = list(system.columns.drop("human") if metrics is None else metrics)
    known = [name for name in ("human", *names) if name in system]
    arrays = [es.human, system[known].to_numpy(), *(es[name] for name in names if name in es)]
    return digest([about, names, [digest(array) for array in arrays]])
