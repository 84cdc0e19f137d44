"""Plans: what a sweep computes, read from YAML and checked before anything runs."""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, Field, PrivateAttr, ValidationError, create_model

from .. import datasets
from .._files import read_text
from .._yaml import parse
from ._statistics import STATISTICS
from ._types import MAX_TASKS, Keys, Several, count, grid, number, problem, shown

#: A plan to start from.
EXAMPLE = (Path(__file__).parents[1] / "data" / "plan.yaml").read_text(encoding="utf-8")


def product(options: Mapping[str, tuple]) -> Iterator[dict[str, Any]]:
    """Yield every combination of values."""
    for values in itertools.product(*options.values()):
        yield dict(zip(options, values, strict=True))


def _check_name(name: str) -> str:
    if not name or "\0" in name or name == "-":
        raise ValueError(f"{shown(name)} is no name; several processes cannot read standard input (-).")
    return name


def _spelled_out(seeds: Any) -> Any:
    """Return seeds that are given as a range as a list."""
    if not isinstance(seeds, Mapping):
        return seeds
    given = Range.model_validate(seeds)
    return list(range(given.first, given.first + given.count))


class Range(Keys):
    """Seeds from the first on."""

    first: count(0, 2**32 - 1) = 0
    count: count(1, MAX_TASKS)


_Name = Annotated[str, Field(strict=True), AfterValidator(_check_name)]
_Metrics = Annotated[grid(_Name), AfterValidator(lambda names: None if names == ("all",) else names)]
_Seeds = Annotated[grid(count(0, 2**32 - 1)), BeforeValidator(_spelled_out)]
_Switch = Annotated[bool, Field(strict=True)]


class Loaded(Keys):
    """Sets that `mtmeta.load_all` loads, with its options, and metrics instead of the plan's."""

    name: _Name
    reference: _Name = None
    annotation: _Name = None
    metrics_from: grid(_Name) = None
    missing: Literal["raise", "nan"] = None
    metrics: _Metrics = None
    size: ClassVar[int] = 1


class _Sized(Keys):
    seeds: _Seeds = (0,)
    n_systems: grid(count(2, 1_000)) = None
    n_segments: grid(count(1, 100_000)) = None


class Scores(_Sized):
    """Campaigns of scores alone."""

    kind: Literal["scores", "campaign"] = "scores"
    n_continuous: grid(count(0, 1_000)) = None
    n_discrete: grid(count(0, 1_000)) = None


class Campaign(_Sized):
    """Campaigns with texts and errors."""

    kind: Literal["campaign"]
    rated_share: grid(number(gt=0, le=1)) = None
    texts: grid(_Switch) = None
    lexical: grid(_Switch) = None
    length_effect: grid(number(ge=0, lt=1_000)) = None


def _simulation(given: Any) -> Scores | Campaign:
    of_texts = isinstance(given, Mapping) and given.get("kind") == "campaign"
    return (Campaign if of_texts else Scores).model_validate(given)


class Simulated(Keys):
    """Campaigns that are simulated: every combination of parameters, with every seed."""

    simulate: Annotated[Any, AfterValidator(_simulation)]
    metrics: _Metrics = None

    @property
    def grid(self) -> dict[str, tuple]:
        """Values of each parameter, the seed among them."""
        return {**self.simulate.given("kind", "seeds"), "seed": self.simulate.seeds}

    @property
    def size(self) -> int:
        """Number of campaigns."""
        return math.prod(map(len, self.grid.values()))


def _set(entry: Any) -> Loaded | Simulated:
    if isinstance(entry, str):
        return Loaded.model_validate({"name": entry})
    simulated = isinstance(entry, Mapping) and "simulate" in entry
    return (Simulated if simulated else Loaded).model_validate(entry)


def _model(name: str, types: Mapping[str, Any]) -> type[Keys]:
    return create_model(name, __base__=Keys, **{key: (kind, None) for key, kind in types.items()})


_Chosen = _model("chosen", {name: _model(name, one.options) for name, one in STATISTICS.items()})


def _statistic(entry: Any) -> tuple[str, dict[str, tuple]]:
    if isinstance(entry, str):
        entry = {entry: None}
    if not isinstance(entry, Mapping) or len(entry) != 1:
        raise ValueError(f"expected the name of a statistic, or that with its options; found {shown(entry)}.")
    chosen = _Chosen.model_validate({name: {} if options is None else options for name, options in entry.items()})
    ((name, options),) = chosen.given().items()
    return name, options.given()


class Plan(Keys):
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
    """

    sets: Several[Annotated[Any, AfterValidator(_set)]]
    metrics: _Metrics = None
    statistics: Several[Annotated[Any, AfterValidator(_statistic)]]
    seeds: _Seeds = (0,)
    #: What paths are relative to.
    _folder: Path = PrivateAttr(default_factory=Path.cwd)

    def combinations(self) -> Iterator[tuple[str, dict[str, Any], int | None]]:
        """Yield what is computed for each set: statistic, options, and a seed if it draws."""
        for name, options in self.statistics:
            for chosen in product(options):
                for seed in self.seeds if STATISTICS[name].draws(chosen) else (None,):
                    yield name, chosen, seed

    def files(self) -> list[Path]:
        """Return the files and folders that the plan names: tables, and those of more metrics."""
        sets = [one for one in self.sets if isinstance(one, Loaded)]
        return [Path(self.full(name)) for one in sets for name in (one.name, *(one.metrics_from or ()))]

    def full(self, name: str) -> str:
        """Return a path of the plan as an absolute one, because other processes work in other folders; names stay."""
        if datasets.is_name(name):
            return name
        path = self._folder / os.path.expanduser(name)
        there = path.exists() or (path.parent != self._folder and path.parent.is_dir())  # or folder/language pair
        return str(path.resolve()) if there else name


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
          pairwise accuracy was published with 4.) Where only the defaults of a function say that nothing is drawn,
          each seed gives the same.

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
    ValueError: statistics[0]: unknown key 'corelate'. Did you mean 'correlate'? ...
    """
    if isinstance(plan, Mapping):
        return _plan(plan, Path.cwd())
    path = Path(plan)
    text = read_text(path)
    try:
        return _plan(parse(text), path.resolve().parent)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _plan(content: Any, folder: Path) -> Plan:
    try:
        plan = Plan.model_validate(content)
    except ValidationError as error:
        raise ValueError(problem(error)) from None
    plan._folder = folder
    n_each = sum(1 for _ in itertools.islice(plan.combinations(), MAX_TASKS + 1))
    refuse_too_many(n_each * sum(one.size for one in plan.sets))
    return plan


def refuse_too_many(n_tasks: int) -> None:
    if n_tasks > MAX_TASKS:
        raise ValueError(
            f"the sweep would have {n_tasks:,} tasks or more; at most {MAX_TASKS:,} are allowed. Split the plan."
        )
