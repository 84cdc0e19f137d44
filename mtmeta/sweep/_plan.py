"""Plans: what a sweep computes, read from YAML and checked before anything runs."""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .._yaml import MAX_BYTES, parse
from ..evalset import unknown
from ._statistics import STATISTICS
from ._values import Check, Choice, Count, Flag, Number, grid, mapping, shown

#: More tasks than this are several sweeps.
MAX_TASKS = 100_000
_MAX_SEED = 2**32 - 1
#: By kind of simulation: its parameters. ``seeds`` stands beside them.
SIMULATIONS: dict[str, dict[str, Check]] = {
    "scores": {
        "n_systems": Count(2, 1_000),
        "n_segments": Count(1, 100_000),
        "n_continuous": Count(0, 1_000),
        "n_discrete": Count(0, 1_000),
    },
    "campaign": {
        "n_systems": Count(2, 1_000),
        "n_segments": Count(1, 100_000),
        "rated_share": Number(0, 1, closed="right"),
        "texts": Flag(),
        "lexical": Flag(),
        "length_effect": Number(0, 1_000, closed="left"),
    },
}
#: A plan to start from.
EXAMPLE = """\
sets:
  - teaching       # a name, or a table: my_scores.csv
  - simulate:
      seeds: {first: 0, count: 3}
      n_systems: [6, 12]
      n_segments: 100
      n_continuous: 3
      n_discrete: 1
metrics: all       # or a list
statistics:
  - correlate:
      coefficient: [pearson, kendall]
      grouping: [segment, none]
  - soft_pairwise_accuracy: {n_resamples: 100}
  - system_dependence: {n_resamples: 20}
seeds: [0, 1]      # of the statistics that draw
"""
_LOADING = ("reference", "annotation", "metrics_from", "missing")


@dataclass(frozen=True)
class Loaded:
    """Sets that `mtmeta.load_all` loads.

    Attributes
    ----------
    name : str
        As in the plan.
    options : dict
        Of `mtmeta.load_all`.
    metrics : tuple of str, optional
        Those of this set, instead of the plan's.
    """

    name: str
    options: dict[str, Any]
    metrics: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Simulated:
    """Campaigns that are simulated: every combination of parameters, with every seed."""

    kind: str
    grid: dict[str, tuple]
    seeds: tuple[int, ...]
    metrics: tuple[str, ...] | None = None

    @property
    def size(self) -> int:
        """Number of campaigns."""
        return len(self.seeds) * math.prod(map(len, self.grid.values()))

    def campaigns(self) -> Iterator[dict[str, Any]]:
        """Yield the parameters of each campaign, the seed among them."""
        for values in itertools.product(*self.grid.values(), self.seeds):
            yield dict(zip([*self.grid, "seed"], values, strict=True))


@dataclass(frozen=True)
class Plan:
    """What a sweep computes; see `read_plan`.

    Attributes
    ----------
    sets : tuple
        Sets to load and campaigns to simulate.
    metrics : tuple of str, optional
        Which metrics of each set; None for all.
    statistics : tuple of (str, dict)
        Name, and option to its values. One name may occur several times.
    seeds : tuple of int
        For statistics that draw.
    folder : Path
        What paths are relative to.
    """

    sets: tuple[Loaded | Simulated, ...]
    metrics: tuple[str, ...] | None
    statistics: tuple[tuple[str, dict[str, tuple]], ...]
    seeds: tuple[int, ...]
    folder: Path

    def combinations(self) -> Iterator[tuple[str, dict[str, Any], int | None]]:
        """Yield what is computed for each set: statistic, options, and a seed where it draws."""
        for name, options in self.statistics:
            for values in itertools.product(*options.values()):
                chosen = dict(zip(options, values, strict=True))
                for seed in self.seeds if STATISTICS[name].draws(chosen) else (None,):
                    yield name, chosen, seed


def read_plan(plan: str | Path | Mapping[str, Any]) -> Plan:
    """Read and check a plan.

    Parameters
    ----------
    plan : str, pathlib.Path or mapping
        A YAML file; or its content, with paths relative to the working directory. Four keys:

        - ``sets``: a list. An entry is what `mtmeta.load_all` takes (a set name, or a table; relative to the plan's
          folder); or a mapping with that as ``name``, with ``reference``, ``annotation``, ``metrics_from`` or
          ``missing`` as in `mtmeta.load`, and with ``metrics`` for this set alone; or ``simulate``, a mapping:
          ``kind``, "scores" (`mtmeta.simulate.score_campaign`, the default) or "campaign"
          (`mtmeta.simulate.campaign`), ``seeds``, and
          parameters of that function.
        - ``metrics``: "all", the default, or a list.
        - ``statistics``: a list. An entry is the name of a statistic, or a mapping of it to options.
        - ``seeds``: of the statistics that draw; by default 0. A number, a list, or ``{first: 0, count: 100}``. (Soft
          pairwise accuracy was published with 4.)

        A list of values of a parameter or option makes a grid: each is combined with each.

    Returns
    -------
    Plan

    Raises
    ------
    TypeError
        If ``plan`` is neither a path nor a mapping.
    ValueError
        If the file cannot be read as YAML; if a key, statistic, option or choice is unknown, a number out of bounds,
        something given twice; or if the sweep would have more than 100,000 tasks. The message names the place.

    Examples
    --------
    >>> import mtmeta as mm
    >>> plan = mm.sweep.read_plan({"sets": ["teaching"],
    ...     "statistics": [{"correlate": {"coefficient": ["pearson", "kendall"]}}]})
    >>> [options for _, options, _ in plan.combinations()]
    [{'coefficient': 'pearson'}, {'coefficient': 'kendall'}]
    >>> mm.sweep.read_plan({"sets": ["teaching"], "statistics": ["corelate"]})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: statistics[0]: unknown statistic 'corelate'. Did you mean 'correlate'? ...
    """
    if isinstance(plan, Mapping):
        return _plan(plan, Path.cwd())
    if not isinstance(plan, (str, os.PathLike)):
        raise TypeError(f"`plan` must be the path of a YAML file, or a mapping; found {type(plan).__name__}.")
    path = Path(plan)
    try:
        if not path.is_file():
            raise ValueError("there is no such file." if not path.exists() else "not a file.")
        with path.open("rb") as stream:
            text = stream.read(MAX_BYTES + 1).decode("utf-8-sig")
        return _plan(parse(text), path.resolve().parent)
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: not UTF-8: {error.reason} at byte {error.start}.") from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _plan(content: Any, folder: Path) -> Plan:
    given = mapping("plan", content, ("sets", "metrics", "statistics", "seeds"))
    for key in ("sets", "statistics"):
        if key not in given:
            raise ValueError(f"the plan has no {key!r}; it needs sets and statistics.")
    sets = tuple(_set(f"sets[{k}]", one) for k, one in enumerate(_listed("sets", given["sets"])))
    entries = given["statistics"]
    if isinstance(entries, Mapping):
        entries = [{name: options} for name, options in entries.items()]
    statistics = tuple(_statistic(f"statistics[{k}]", one) for k, one in enumerate(_listed("statistics", entries)))
    seeds = _seeds("seeds", given.get("seeds", 0))
    plan = Plan(sets, _metrics("metrics", given.get("metrics", "all")), statistics, seeds, folder)
    _check_size(plan)
    return plan


def _check_size(plan: Plan) -> None:
    """Refuse a product that is too large before anything is listed."""
    n_sets = sum(one.size if isinstance(one, Simulated) else 1 for one in plan.sets)
    refuse_too_many(n_sets * sum(math.prod(map(len, options.values())) for _, options in plan.statistics))
    refuse_too_many(n_sets * sum(1 for _ in itertools.islice(plan.combinations(), MAX_TASKS + 1)))


def refuse_too_many(n_tasks: int) -> None:
    if n_tasks > MAX_TASKS:
        raise ValueError(
            f"the sweep would have {n_tasks:,} tasks or more; at most {MAX_TASKS:,} are allowed. Split the plan."
        )


def _listed(where: str, value: Any) -> Sequence[Any]:
    if not isinstance(value, (list, tuple)) or not value:
        raise ValueError(f"{where}: expected a list with at least one entry; found {shown(value)}.")
    if len(value) > MAX_TASKS:
        raise ValueError(f"{where}: {len(value):,} entries are more than a sweep can have tasks.")
    return value


def _name(where: str, value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{where}: expected a name; found {shown(value)}. Quote what YAML takes for something else.")
    if not value or "\0" in value:
        raise ValueError(f"{where}: {shown(value)} is no name.")
    return value


def _set(where: str, entry: Any) -> Loaded | Simulated:
    if isinstance(entry, str):
        return Loaded(_set_name(where, entry), {})
    given = mapping(where, entry, ("simulate", "name", *_LOADING, "metrics"))
    metrics = _metrics(f"{where}.metrics", given["metrics"]) if "metrics" in given else None
    if "simulate" in given:
        if extra := [key for key in given if key not in ("simulate", "metrics")]:
            raise ValueError(f"{where}: {extra[0]!r} does not go with 'simulate'.")
        return _simulated(f"{where}.simulate", given["simulate"], metrics)
    if "name" not in given:
        raise ValueError(f"{where}: expected 'name' or 'simulate'.")
    options: dict[str, Any] = {key: _name(f"{where}.{key}", given[key]) for key in _LOADING[:2] if key in given}
    if "metrics_from" in given:
        place, value = f"{where}.metrics_from", given["metrics_from"]
        several = [value] if isinstance(value, str) else _listed(place, value)
        options["metrics_from"] = tuple(_name(f"{place}[{k}]", one) for k, one in enumerate(several))
    if "missing" in given:
        options["missing"] = Choice(("raise", "nan"))(f"{where}.missing", given["missing"])
    return Loaded(_set_name(f"{where}.name", given["name"]), options, metrics)


def _set_name(where: str, value: Any) -> str:
    if _name(where, value) == "-":
        raise ValueError(f"{where}: standard input (-) cannot be read by several processes; name a file.")
    return value


def _simulated(where: str, value: Any, metrics: tuple[str, ...] | None) -> Simulated:
    of_any = {key for parameters in SIMULATIONS.values() for key in parameters}
    given = mapping(where, value, ("kind", "seeds", *sorted(of_any)))
    kind = Choice(tuple(SIMULATIONS))(f"{where}.kind", given.pop("kind", "scores"))
    seeds = _seeds(f"{where}.seeds", given.pop("seeds", 0))
    parameters = SIMULATIONS[str(kind)]
    for key in given:
        if key not in parameters:
            raise ValueError(f"{where}: {unknown(f'parameter of kind {kind!r}:', key, list(parameters))}")
    values = {key: grid(f"{where}.{key}", given[key], check) for key, check in parameters.items() if key in given}
    made = Simulated(str(kind), values, seeds, metrics)
    refuse_too_many(made.size)
    return made


def _metrics(where: str, value: Any) -> tuple[str, ...] | None:
    if isinstance(value, str):
        return None if value == "all" else (_name(where, value),)
    names = [_name(f"{where}[{k}]", one) for k, one in enumerate(_listed(where, value))]
    if twice := [name for name in names if names.count(name) > 1]:
        raise ValueError(f"{where}: {twice[0]!r} is given twice.")
    return tuple(names)


def _statistic(where: str, entry: Any) -> tuple[str, dict[str, tuple]]:
    if isinstance(entry, Mapping) and len(entry) == 1:
        ((name, options),) = entry.items()
    elif isinstance(entry, str):
        name, options = entry, None
    else:
        raise ValueError(f"{where}: expected the name of a statistic, or that with its options; found {shown(entry)}.")
    if not isinstance(name, str) or name not in STATISTICS:
        raise ValueError(
            f"{where}: {unknown('statistic', name if isinstance(name, str) else shown(name), [*STATISTICS])}"
        )
    known = STATISTICS[name].options
    where = f"{where}.{name}"
    given = {} if options is None else mapping(where, options, [*known])
    return name, {key: grid(f"{where}.{key}", given[key], check) for key, check in known.items() if key in given}


def _seeds(where: str, value: Any) -> tuple[int, ...]:
    seed = Count(0, _MAX_SEED)
    if not isinstance(value, Mapping):
        return grid(where, value, seed)
    given = mapping(where, value, ("first", "count"))
    first = seed(f"{where}.first", given.get("first", 0))
    count = Count(1, MAX_TASKS)(f"{where}.count", given.get("count"))
    seed(f"{where}: the last seed", first + count - 1)
    return tuple(range(first, first + count))
