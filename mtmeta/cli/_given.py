"""Options that commands share: which scores are loaded and how, and how a table is written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer import Option
from typer.core import TyperCommand

import mtmeta as mm

from . import _options as opt
from ._output import emit, form_of, say, written

if TYPE_CHECKING:
    import pandas as pd

    from ..evalset import EvalSet

#: No more findings about a set are shown on the way.
_FINDINGS = 3
_FROM = "Add metrics: a folder of files NAME-src.seg.score or NAME-refA.seg.score; repeatable."
_SCORES = "Score systems by the translations that people rated, as published (all that a metric scored, or official "
_SCORES += "scores), or adjusted for the difficulty of their segments."
_BY = "Add a row for each value of this column: domain, doc, or any column of a table."
_HUMAN = "The column with the human scores, such as adequacy; other human dimensions are left out."
_MISSING = "What to do if a system lacks a segment: refuse, or leave the cell unscored."
#: Parameters of commands that name what is read.
_READ = ("sets", "file", "files", "folder", "scores", "names")


def _loading(
    metrics_from: Annotated[list[str] | None, Option(metavar="DIR|SET", help=_FROM)] = None,
    annotation: Annotated[str | None, Option(help="Which human scores to use: mqm, esa, da-sqm …")] = None,
    reference: Annotated[str | None, Option(help="The reference that metrics saw; it is not ranked.")] = None,
    missing: Annotated[Literal["raise", "nan"], Option(help=_MISSING)] = "raise",
    columns: Annotated[str | None, Option(metavar="system=Sys,...", help="Names of columns in your table.")] = None,
    human: Annotated[str | None, Option(metavar="COLUMN", help=_HUMAN)] = None,
    by: Annotated[str | None, Option(metavar="COLUMN", help=_BY)] = None,
    system: Annotated[list[str] | None, Option(help="Use only this system; repeatable.")] = None,
    exclude_system: Annotated[list[str] | None, Option(help="Leave this system out; repeatable.")] = None,
    system_scores: Annotated[Literal["paired", "published", "adjusted"] | None, Option(help=_SCORES)] = None,
    human_system: Annotated[list[str] | None, Option(help="Treat this system as a translator; repeatable.")] = None,
) -> None:
    pass


def _writing(how: opt.How = None, places: opt.Places = 3, output: opt.Output = None, quiet: opt.Quiet = False) -> None:
    pass


def _options_of(function: Callable) -> list[Any]:
    app = typer.Typer(add_completion=False)
    app.command()(function)
    return typer.main.get_command(app).params


@dataclass
class Given:
    """The values of shared options, and what is done with them."""

    options: dict[str, Any]
    form: str

    def write(self, table: pd.DataFrame, places: int | None = None) -> None:
        """Write a table where and as the options say."""
        self.write_text(written(table, self.form, self.options["places"] if places is None else places))

    def write_text(self, text: str) -> None:
        """Write a text where the options say."""
        emit(text, self.options["output"])

    def load(self, names: Sequence[str], *, any_kind: bool = False, **more: Any) -> list[Any]:
        """Load all sets of translations, or of ``any_kind``, that these names stand for, as the options say."""
        load_sets = mm.datasets.load_any if any_kind else mm.load_all
        options = {name: self.options[name] for name in ("annotation", "reference", "missing", "metrics_from")} | more
        columns, human = columns_of(self.options["columns"] or ""), self.options["human"]
        columns |= {"human": human} if human else {}
        options |= {"columns": columns, "human_systems": self.options["human_system"]}
        if self.options["by"] and any_kind:
            raise typer.BadParameter("applies to rank, correlate, compare and systems.", param_hint="--by")
        options |= {"by": self.options["by"]} if self.options["by"] else {}
        sets = [data for name in names for data in load_sets(name, **options)]
        if how := self.options["system_scores"]:
            sets = [data.with_system_scores(how) if isinstance(data, mm.EvalSet) else data for data in sets]
        return _of_systems(sets, self.options["system"], self.options["exclude_system"])

    def rated(
        self,
        names: Sequence[str],
        *,
        only: Sequence[str] | None = None,
        metrics: Sequence[str] | None = None,
        by_system: bool = False,
    ) -> list[EvalSet]:
        """Load sets that must have human scores, or ``only`` these metrics of them; report what seems wrong.

        Systems that nobody rated are left out. ``by_system``: report also what the scores of systems depend on.
        """
        from .._names import counted, names_of
        from .._systems import of_partly_rated_segments, of_unrated_translations
        from ..datasets._validate import at_a_glance
        from ..evalset import as_evalset

        sets = [as_evalset(es) for es in self.load(names, metrics=only or None)]
        report_left_out(sets)
        names_of((es.name for es in sets), "names of sets")
        for es in sets:
            found = [f"{name} {note}" if name else note for name, note in at_a_glance(es, metrics)]
            if len(found) > _FINDINGS:
                found[_FINDINGS:] = [f"{counted(len(found) - _FINDINGS, 'finding')} more"]
            say(*(f"{es.name}: {line} (see mtmeta validate)" for line in found))
            if by_system:
                notes = of_partly_rated_segments(es), of_unrated_translations(es, only or metrics)
                say(*(f"{es.name}: {note}" for note in notes if note))
        return sets


class Writes(TyperCommand):
    """A command that writes a table: it has the options of `_writing`, and ``context.obj`` is a `Given`."""

    shared = _options_of(_writing)

    def __init__(self, *arguments: Any, params: Sequence[Any], **options: Any) -> None:
        super().__init__(*arguments, params=[*params, *self.shared], **options)

    def invoke(self, ctx: typer.Context) -> Any:
        """Check the output, then run the command."""
        read = [ctx.params.get(name) or [] for name in (*_READ, "metrics_from")]
        reads = [name for names in read for name in ([names] if isinstance(names, str | Path) else names)]
        given = {option.name: ctx.params.pop(option.name) for option in self.shared}
        form = form_of(given["output"], given["how"], reads) if "output" in given else ""
        ctx.obj = Given(given, form)
        return super().invoke(ctx)


class Loads(Writes):
    """A command that has the options of `_loading`."""

    shared = _options_of(_loading)


class OnSets(Writes):
    """A command that has the options of `_loading` and of `_writing`."""

    shared = Loads.shared + Writes.shared


def report_left_out(sets: Sequence[Any]) -> None:
    """Report what loading left out of sets, and why."""
    from ..evalset import NOT_ASKED

    for data in sets:
        found = getattr(data, "provenance", {}).get("left_out", {})
        say(*(f"left out of {data.name}: {what} ({why})" for what, why in found.items() if why != NOT_ASKED))


def together(tables: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Return tables by set as one, with a column ``set`` if there are several."""
    import pandas as pd

    if len(tables) == 1:
        return next(iter(tables.values()))
    return pd.concat([frame.assign(set=name)[["set", *frame]] for name, frame in tables.items()], ignore_index=True)


def columns_of(text: str) -> dict[str, str]:
    """Return our names of columns and theirs, as --columns lists them."""
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


def only(sets: Sequence[Any], name: str) -> Any:
    """Return the one set that a name stands for; raise if there are several."""
    if len(sets) > 1:
        raise ValueError(f"{name} holds {len(sets)} sets: {', '.join(es.name for es in sets)}. Name one of them.")
    return sets[0]


def full(scores: str) -> str:
    """Return the whole path of a file or folder, because chapters run in another one; names of sets stay."""
    path = Path(scores)
    return str(path.resolve()) if mm.datasets.path_of(scores) in (path, path.parent) else scores
