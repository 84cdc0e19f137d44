"""The application, and how it reports errors."""

import re
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from .. import __version__
from .._escapes import visible

#: Options by what messages of the package call them: parameters of functions.
_OPTIONS = {"metrics": "--metric", "rng": "--seed", "n_jobs": "--jobs"}
_OPTIONS |= {"human_systems": "--human-system"}
_OPTIONS |= {
    name: f"--{name.replace('_', '-')}"
    for name in "annotation columns human metrics_from missing n_resamples protocol raters reference weights".split()
}


def sentence(error: Exception) -> str:
    """Return the message of an error on one line; where it names parameters of the package, it names options."""
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return visible(f"{error.filename}: {error.strerror}.")
    if isinstance(error, ModuleNotFoundError):
        return f"{error.name} is not installed: pip install 'mtmeta[book]'"
    message = " ".join(str(error).splitlines()) or "there is not enough memory."
    names = "|".join(_OPTIONS)
    message = re.sub(rf"`({names})`", lambda found: _OPTIONS[found[1]], message)
    return visible(re.sub(rf"\b({names})='([^']*)'", lambda found: f"{_OPTIONS[found[1]]} {found[2]}", message))


class Program(TyperGroup):
    """A command line that reports wrong data in one sentence, with the exit code of wrong usage."""

    def main(self, *arguments: Any, **options: Any) -> Any:
        """Run the command line."""
        try:
            return super().main(*arguments, **options)
        except (ValueError, TypeError, OSError, MemoryError, ModuleNotFoundError) as error:
            typer.echo(f"mtmeta: error: {sentence(error)}", err=True)
            sys.exit(2)


def example(line: str) -> str:
    """Return the end of a help text: a command that works without a network."""
    return f"\b\nExample:\n  mtmeta {line}"


app = typer.Typer(
    name="mtmeta",
    cls=Program,
    help="Evaluate metrics of machine translation against human scores.",
    epilog=example("rank teaching"),
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"mtmeta {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    pass
