"""The application, and what its commands share: options, loading, and errors."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, fields, is_dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

import typer

from .. import __version__
from ._choices import Missing, PlanFormat
from ._options import How, Metrics, Output, Places, Quiet, flag, option, several, word, wrong
from ._output import check_outputs, emit, form_of, say, visible, written

if TYPE_CHECKING:
    import pandas as pd

    from ..evalset import EvalSet


app = typer.Typer(
    name="mtmeta",
    help="Evaluate metrics of machine translation against human scores.",
    epilog="\b\nExample:\n  mtmeta rank teaching",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


#: Options by the name of the parameter that they set; those named differently in Python, then those of all commands.
_OPTIONS = {"metrics": "--metric", "rng": "--seed", "n_jobs": "--jobs", "kinds": "--perturbation", "parts": "--table"}
_OPTIONS |= {"base_url": "--mirror", "human_systems": "--human-system"}


def _guarded(command: Callable[..., None]) -> Callable[..., None]:
    """Turn faults of the data, and an interrupt, into one line on stderr and an exit code.

    A parameter that is a dataclass stands for the options that are its fields; a choice is passed on as a word.
    """
    bundles: dict[str, Any] = {}
    parameters: list[inspect.Parameter] = []
    forms: Any = None
    hints = get_type_hints(command, include_extras=True)
    for name, parameter in inspect.signature(command).parameters.items():
        if is_dataclass(hints[name]):
            bundles[name] = hints[name]
            parts, of = inspect.signature(hints[name]).parameters, get_type_hints(hints[name], include_extras=True)
        else:
            parts, of = {name: parameter}, hints
        forms = get_args(get_args(of["how"])[0])[0] if "how" in of else forms
        parameters += [one.replace(kind=one.KEYWORD_ONLY, annotation=of[part]) for part, one in parts.items()]
    for parameter in parameters:
        about = (get_args(parameter.annotation) or (None,))[-1]
        if isinstance(about, typer.models.OptionInfo):
            named = about.param_decls or (f"--{parameter.name.replace('_', '-')}",)
            _OPTIONS.setdefault(parameter.name, named[0])

    def safe(**options: Any) -> None:
        options = {name: str(value) if isinstance(value, StrEnum) else value for name, value in options.items()}
        try:
            check_outputs(options)
            if options.get("how", "") is None:
                output, kinds = options.get("output"), PlanFormat if options.get("example") else forms
                several = isinstance(output, list)
                options["how"] = [form_of(path, kinds) for path in output] if several else form_of(output, kinds)
            made = {name: kind(**{f.name: options.pop(f.name) for f in fields(kind)}) for name, kind in bundles.items()}
            command(**options, **made)
        except KeyboardInterrupt:
            typer.echo("mtmeta: interrupted", err=True)
            raise typer.Exit(130) from None
        except (ValueError, TypeError, OSError, MemoryError) as error:
            raise typer.Exit(complain(error)) from None

    safe.__name__, safe.__doc__ = command.__name__, command.__doc__
    safe.__signature__ = inspect.Signature(parameters)
    safe.__annotations__ = {p.name: p.annotation for p in parameters}
    return safe


def command(example: str, name: str | None = None, group: typer.Typer = app) -> Callable:
    """Return a decorator that makes a function a command, with an example at the end of its help."""
    return lambda function: group.command(name, epilog=f"\b\nExample:\n  mtmeta {example}")(_guarded(function))


def complain(error: Exception) -> int:
    """Report an error on stderr; return the exit code."""
    typer.echo(f"mtmeta: error: {_reason(error)}", err=True)
    return 1


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return visible(f"{error.filename}: {error.strerror}.")
    if isinstance(error, MemoryError):
        return visible(f"not enough memory. {error}".strip())
    return visible(in_options(" ".join(str(error).splitlines())))


def in_options(message: str) -> str:
    """Return a message of the package in words of the command line.

    Options stand for parameters (``missing='nan'`` is --missing nan), and advice "(in Python: ...)" is left out.
    """
    names = "|".join(_OPTIONS)
    message = re.sub(r",? \(in Python: ([^()]|\([^()]*\))*\)", "", message)
    message = re.sub(rf"`({names})`", lambda found: _OPTIONS[found[1]], message)
    given = rf"(?<![\w.'\"-])({names})=(?:'([^']*)'|(\d[\d.]*)|…)?"
    return re.sub(given, lambda found: " ".join(filter(None, (_OPTIONS[found[1]], found[2] or found[3]))), message)


def full(scores: str) -> str:
    """Return the whole path of a file or folder, because chapters run in another one; names of sets stay."""
    from ..datasets import path_of

    path = Path(scores)
    return str(path.resolve()) if path_of(scores) in (path, path.parent) else scores


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"mtmeta {__version__}")
        raise typer.Exit


#: A file of more bytes takes seconds to read.
_LARGE_FILE = 5_000_000
#: No more findings about a set are shown on the way.
_FINDINGS = 3


@dataclass(frozen=True)
class _Choice:
    metric: Metrics = None


@dataclass(frozen=True)
class Source:
    """Options that choose what is loaded, and how."""

    metrics_from: several(
        "Add metrics: a folder of files NAME-src.seg.score or NAME-refA.seg.score", "DIR|SET", "none"
    ) = None
    annotation: word("Which human scores to use, such as mqm or da-sqm.", "NAME", "mqm if there is one") = None
    reference: word(
        "The reference that metrics were scored against; it is not ranked.", "NAME", "the published one"
    ) = None
    missing: option(Missing, "What to do if a system lacks a segment: refuse, or leave the cell unscored.") = "raise"
    columns: word("Names of the columns in your table: system=Sys,human=mqm.", "NAME=COLUMN,...", "as they are") = None
    system: several("Use only this system") = None
    exclude_system: several("Leave this system out, such as a human translator", default="none") = None
    human_system: several("Treat this system as a human translator", default="as the set says") = None

    def load(self, names: Sequence[str], quiet: bool, *, any_kind: bool = False, **options: Any) -> list[Any]:
        """Load all sets that the names stand for, of translations or of any kind; report what was left out of them."""
        from ..datasets import load_all, load_any

        options |= {name: getattr(self, name) for name in ("reference", "annotation", "missing")}
        options |= {"metrics": getattr(self, "metric", None), "metrics_from": self.metrics_from or ()}
        options |= {"columns": self._columns(), "human_systems": self.human_system or ()}
        for name in filter(os.path.isfile, names):
            size = os.path.getsize(name)
            say(quiet or size < _LARGE_FILE, f"reading {name} ({size / 1e6:.0f} MB)")
        sets = self._of_systems(
            [data for name in names for data in (load_any if any_kind else load_all)(name, **options)]
        )
        for data in sets:
            _say_left_out(quiet, data)
        return sets

    def _columns(self) -> dict[str, str]:
        pairs = [pair.partition("=") for pair in (self.columns or "").split(",") if pair]
        if not all(ours and theirs for ours, _, theirs in pairs):
            raise wrong("--columns", f"expected NAME=COLUMN,...; found {self.columns!r}.")
        return {ours.strip(): theirs for ours, _, theirs in pairs}

    def _of_systems(self, sets: list[Any]) -> list[Any]:
        """Leave out the systems that are not wanted; each must be in one of the sets."""
        from .._names import positions
        from ..evalset import EvalSet

        wanted, unwanted = self.system or [], self.exclude_system or []
        if not wanted + unwanted:
            return sets
        if not all(isinstance(data, EvalSet) for data in sets):
            raise ValueError("systems can be chosen in sets of translations only.")
        known = tuple(dict.fromkeys(system for es in sets for system in es.systems))
        positions("system", wanted + unwanted, known, repeats=True)
        kept = {system for system in wanted or known if system not in unwanted}
        return [es.select(systems=[system for system in es.systems if system in kept]) for es in sets]

    def rated(
        self, names: Sequence[str], quiet: bool, metrics: Sequence[str] | None = None, unrated: bool = False
    ) -> list[EvalSet]:
        """Load sets that must have human scores, and names of their own; say what seems wrong with these metrics.

        Systems that nobody rated are left out unless ``unrated`` keeps them.
        """
        from .._names import counted, names_of
        from ..datasets._validate import at_a_glance
        from ..evalset import as_evalset

        loaded = self.load(names, quiet)
        sets = [as_evalset(es, unrated=unrated) for es in loaded]
        for es, data in zip(sets, loaded, strict=True):
            _say_left_out(quiet, es, getattr(data, "provenance", {}).get("left_out", {}))
        names_of((es.name for es in sets), "names of sets")
        for es in sets if not quiet else ():
            found = [f"{name} {note}" if name else note for name, note in at_a_glance(es, metrics)]
            found[_FINDINGS:] = [f"{counted(n, 'finding')} more" for n in [len(found) - _FINDINGS] if n > 0]
            say(quiet, *(f"{es.name}: {line} (see mtmeta validate)" for line in found))
        return sets


def _say_left_out(quiet: bool, data: Any, said: Container[str] = ()) -> None:
    found = getattr(data, "provenance", {}).get("left_out", {})
    lines = (f"left out of {data.name}: {what} ({why})" for what, why in found.items() if what not in said)
    say(quiet, *map(in_options, lines))


@dataclass(frozen=True)
class Loading(Source, _Choice):
    """Options that choose what is loaded, and how, and metrics of it."""


@dataclass(frozen=True)
class Writing:
    """Options that say where results go, and whether messages are wanted."""

    output: Output = None
    quiet: Quiet = False

    def text(self, text: str) -> None:
        """Write a result."""
        emit(text, self.output)

    def say(self, *lines: str) -> None:
        """Write messages."""
        say(self.quiet, *lines)


@dataclass(frozen=True)
class _Form:
    how: How = None
    places: Places = 3


@dataclass(frozen=True)
class Printing(Writing, _Form):
    """Options that say where a table goes, and in which form."""

    def table(self, frame: pd.DataFrame) -> None:
        """Write a table."""
        self.text(written(frame, self.how, self.places))


_Version = flag("Print the version and exit.", "--version", is_eager=True, callback=_version)


@app.callback()
def _options(version: _Version = False) -> None:
    pass
