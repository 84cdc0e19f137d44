"""Commands on sets of scores: the options that say what is loaded, and how it is loaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer import Option
from typer.core import TyperCommand

import mtmeta as mm

from ._output import say

if TYPE_CHECKING:
    from ..evalset import EvalSet

#: No more findings about a set are shown on the way.
_FINDINGS = 3
_FROM = "Add metrics: a folder of files NAME-src.seg.score or NAME-refA.seg.score; repeatable."
_MISSING = "What to do if a system lacks a segment: refuse, or leave the cell unscored."


def _loading(
    metrics_from: Annotated[list[str] | None, Option(metavar="DIR|SET", help=_FROM)] = None,
    annotation: Annotated[str | None, Option(help="Which human scores to use, by default mqm.")] = None,
    reference: Annotated[str | None, Option(help="The reference that metrics saw; it is not ranked.")] = None,
    missing: Annotated[Literal["raise", "nan"], Option(help=_MISSING)] = "raise",
    columns: Annotated[str | None, Option(metavar="system=Sys,...", help="Names of columns in your table.")] = None,
    system: Annotated[list[str] | None, Option(help="Use only this system; repeatable.")] = None,
    exclude_system: Annotated[list[str] | None, Option(help="Leave this system out; repeatable.")] = None,
    human_system: Annotated[list[str] | None, Option(help="Treat this system as a translator; repeatable.")] = None,
) -> None:
    pass


_app = typer.Typer(add_completion=False)
_app.command()(_loading)
_OPTIONS = typer.main.get_command(_app).params


class OnSets(TyperCommand):
    """A command that has the options of `_loading`, too: their values are in ``context.obj``, and `load` takes them."""

    def __init__(self, *arguments: Any, params: Sequence[Any], **options: Any) -> None:
        super().__init__(*arguments, params=[*params, *_OPTIONS], **options)

    def invoke(self, ctx: typer.Context) -> Any:
        """Run the command."""
        ctx.obj = {option.name: ctx.params.pop(option.name) for option in _OPTIONS}
        return super().invoke(ctx)


def load(options: Mapping[str, Any], names: Sequence[str], *, any_kind: bool = False, **more: Any) -> list[Any]:
    """Load all sets of translations, or of ``any_kind``, that these names stand for, as the options say."""
    load_sets = mm.datasets.load_any if any_kind else mm.load_all
    given = {name: options[name] for name in ("annotation", "reference", "missing", "metrics_from")} | more
    given |= {"columns": _columns(options["columns"] or ""), "human_systems": options["human_system"]}
    sets = [data for name in names for data in load_sets(name, **given)]
    return _of_systems(sets, options["system"], options["exclude_system"])


def rated(
    options: Mapping[str, Any],
    names: Sequence[str],
    *,
    only: Sequence[str] | None = None,
    metrics: Sequence[str] | None = None,
) -> list[EvalSet]:
    """Load sets that must have human scores, or ``only`` these metrics of them; report what seems wrong with metrics.

    Systems that nobody rated are left out.
    """
    from .._names import counted, names_of
    from ..datasets._validate import at_a_glance
    from ..evalset import as_evalset

    sets = [as_evalset(es) for es in load(options, names, metrics=only or None)]
    report_left_out(sets)
    names_of((es.name for es in sets), "names of sets")
    for es in sets:
        found = [f"{name} {note}" if name else note for name, note in at_a_glance(es, metrics)]
        if len(found) > _FINDINGS:
            found[_FINDINGS:] = [f"{counted(len(found) - _FINDINGS, 'finding')} more"]
        say(*(f"{es.name}: {line} (see mtmeta validate)" for line in found))
    return sets


def duel(options: Mapping[str, Any], name: str, metrics: Sequence[str]) -> list[EvalSet]:
    """Load the sets on which two metrics are compared."""
    if len(set(metrics)) != 2:
        raise typer.BadParameter(f"expected two metrics; found {len(set(metrics))}.", param_hint="METRIC")
    return rated(options, [name], metrics=metrics)


def report_left_out(sets: Sequence[Any]) -> None:
    """Report what loading left out of sets, and why."""
    for data in sets:
        found = getattr(data, "provenance", {}).get("left_out", {})
        say(*(f"left out of {data.name}: {what} ({why})" for what, why in found.items()))


def _columns(text: str) -> dict[str, str]:
    pairs = [pair.partition("=") for pair in text.split(",") if pair]
    if not all(ours and theirs for ours, _, theirs in pairs):
        raise typer.BadParameter(f"expected NAME=COLUMN,...; found {text!r}.", param_hint="--columns")
    return {ours.strip(): theirs for ours, _, theirs in pairs}


def _of_systems(sets: list[Any], wanted: Sequence[str], unwanted: Sequence[str]) -> list[Any]:
    """Leave out the systems that are not wanted; each must be in one of the sets."""
    if not wanted and not unwanted:
        return sets
    if not all(isinstance(data, mm.EvalSet) for data in sets):
        raise ValueError("systems can be chosen in sets of translations only.")
    from .._names import positions

    known = tuple(dict.fromkeys(system for es in sets for system in es.systems))
    positions("system", [*wanted, *unwanted], known, repeats=True)
    kept = {system for system in wanted or known if system not in unwanted}
    return [es.select(systems=[system for system in es.systems if system in kept]) for es in sets]


def exchanged(es: EvalSet, unit: str | None = None) -> str:
    """Return what is exchanged and redrawn in a set; raise if there are no two of them."""
    from ..agreement.units import exchange_units

    units = exchange_units(es, unit)
    if units.n < 2:
        raise ValueError(
            f"{es.name}: one {units.unit} is rated, so there is nothing to exchange or redraw. An interval and a test "
            "need ratings of two or more."
        )
    return units.unit


def full(scores: str) -> str:
    """Return the whole path of a file or folder, because chapters run in another one; names of sets stay."""
    path = Path(scores)
    return str(path.resolve()) if mm.datasets.path_of(scores) in (path, path.parent) else scores
