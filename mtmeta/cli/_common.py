"""The application, and what its commands share: options, loading, and errors."""

from __future__ import annotations

import ast
import errno
import inspect
import logging
import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .. import __version__
from .._processes import check_room
from ._choices import Format, Missing
from ._output import check_outputs, say, visible

if TYPE_CHECKING:
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


def guarded(command: Callable[..., None]) -> Callable[..., None]:
    """Turn faults of the data, and an interrupt, into one line on stderr and an exit code."""
    if command.__doc__ is None:  # python -OO drops what --help shows
        with suppress(OSError):
            command.__doc__ = ast.get_docstring(ast.parse(inspect.getsource(command)).body[0])

    @wraps(command)
    def safe(*args: Any, **options: Any) -> None:
        try:
            check_room()
            check_outputs(options)
            command(*args, **options)
        except KeyboardInterrupt:
            typer.echo("mtmeta: interrupted", err=True)
            raise typer.Exit(130) from None
        except (ValueError, TypeError, OSError, MemoryError) as error:
            raise typer.Exit(complain(error)) from None

    return safe


def complain(error: Exception) -> int:
    """Say on stderr, if it can be written to, what is wrong; return the exit code."""
    if isinstance(error, BrokenPipeError):
        return 141  # what a shell shows for a command that SIGPIPE ends
    with suppress(OSError):
        typer.echo(f"mtmeta: error: {_reason(error)}", err=True)
    return 1


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        fault = "it is closed" if error.errno == errno.EBADF else error.strerror
        return visible(f"{error.filename}: {fault}.")
    if isinstance(error, MemoryError):
        return visible(f"not enough memory. {error}".strip())
    return visible(" ".join(str(error).splitlines()))


def threshold(text: str) -> float | str:
    """Read the value of --epsilon."""
    if text == "calibrate":
        return text
    try:
        epsilon = float(text)
    except ValueError:
        epsilon = math.nan
    if not 0 <= epsilon < math.inf:
        raise typer.BadParameter(f"expected 'calibrate' or a number >= 0; found {text!r}.")
    return epsilon


def in_a_folder(path: Path | None) -> Path | None:
    """Refuse at once an output file that could not be written in the end."""
    if path is None or str(path) == "-":
        return None
    try:
        is_lost = not path.exists() and not path.resolve().parent.is_dir()
    except (OSError, RuntimeError) as error:  # a name that is too long, links in a circle
        raise typer.BadParameter(f"{str(path)[:80]!r} is no place for a file: {error.args[-1]}.") from None
    if is_lost:
        raise typer.BadParameter(f"there is no folder {str(path.parent)!r}.")
    return path


def once(names: list[str] | None) -> list[str] | None:
    return list(dict.fromkeys(names)) if names else None


def _hushed(quiet: bool) -> bool:
    if quiet:
        logging.getLogger("mtmeta").setLevel(logging.ERROR)
    return quiet


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"mtmeta {__version__}")
        raise typer.Exit


Sets = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE|SET",
        help="Tables (.csv, .tsv, .jsonl, .parquet; - reads CSV or TSV from stdin), folders, or names of sets: "
        "teaching, wmt23/zh-en; wmt23 alone means all its language pairs.",
        show_default=False,
    ),
]
Metrics = Annotated[
    list[str] | None,
    typer.Option("--metric", metavar="NAME", callback=once, help="Only this metric; repeatable.", show_default="all"),
]
MetricsFrom = Annotated[
    list[str] | None,
    typer.Option(metavar="DIR|SET", help="More metrics, from a folder of .seg.score files; repeatable."),
]
Annotation = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Which human scores, such as mqm or da-sqm.", show_default="mqm if there is"),
]
Reference = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The reference that metrics were scored against; it is no candidate.",
        show_default="the published one",
    ),
]
MissingRows = Annotated[
    Missing, typer.Option("--missing", help="A system lacks a segment: refuse, or leave the cell unscored.")
]
How = Annotated[Format, typer.Option("--format", help="tsv and json keep full precision.")]
Places = Annotated[int, typer.Option(min=0, max=17, metavar="N", help="Decimals in table, latex and md.")]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        dir_okay=False,
        writable=True,
        callback=in_a_folder,
        help="Write here.",
        show_default="standard output",
    ),
]
Force = Annotated[
    bool,
    typer.Option(
        "--force", help="Replace files that mtmeta did not write, or that were changed since; never what it reads."
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", callback=_hushed, help="No messages but errors.")]


def load_sets(
    names: Sequence[str],
    metrics: Sequence[str] | None,
    metrics_from: Sequence[str] | None,
    annotation: str | None,
    reference: str | None,
    missing: Missing,
    quiet: bool,
) -> list[EvalSet]:
    """Load all sets that the arguments stand for, and say what was left out of them."""
    from ..datasets import load_all
    from ..evalset import as_evalset

    if list(names).count("-") > 1:
        raise typer.BadParameter("standard input (-) can be read once only.")
    sets = [
        as_evalset(es)
        for name in names
        for es in load_all(
            name,
            reference=reference,
            annotation=annotation,
            metrics_from=metrics_from or (),
            metrics=metrics,
            missing=missing.value,
        )
    ]
    called = [es.name for es in sets]
    twice = sorted({name for name in called if called.count(name) > 1})
    if twice:
        raise ValueError(f"each set may occur once; found more than once: {', '.join(twice)}. Rename a file.")
    for es in sets:
        left_out = es.provenance.get("left_out", {})
        say(quiet, *(f"left out of {es.name}: {what} ({why})" for what, why in left_out.items()))
    return sets


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_version, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


EXAMPLE = "\b\nExample:\n  mtmeta {}"
