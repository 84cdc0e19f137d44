"""`mtmeta class`: a data set a student, and marks."""

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from . import _options as opt
from ._app import Program, app
from ._output import emit, say, written

Names = Annotated[Path | None, Option(exists=True, dir_okay=False, help="A file with the names, one a line.")]
Plant = Annotated[str, Option(metavar="LIST", help="What to plant, separated by commas.")]
Out = Annotated[Path, Option("--out", "-o", metavar="DIR", file_okay=False, help="Write into this folder.")]
Written = Annotated[Path, Argument(metavar="CLASS", exists=True, file_okay=False, help="The folder of the class.")]
Answers = Annotated[Path, Argument(metavar="ANSWERS", exists=True, file_okay=False, help="A folder with the answers.")]

_EXAMPLE = "\b\nExample:\n  printf 'Ada\\nBo\\n' > names.txt\n  mtmeta class --students names.txt -o class\n"
_EXAMPLE += "  mtmeta class check class class"
room = typer.Typer(cls=Program, context_settings={"help_option_names": ["-h", "--help"]})


@room.callback(invoke_without_command=True, epilog=_EXAMPLE)
def make(
    context: typer.Context,
    students: Names = None,
    plant: Plant = "favour,ties,sentinel",
    out: Out = Path("class"),
    seed: opt.Seed = 1,
) -> None:
    """Write a simulated campaign and a sheet for each student of a class.

    Each campaign has its own systems, scores and planted facts; truths.json, which is for the lecturer, has them all.
    The planted facts are a metric that favours a system (favour), one that calls different translations equal (ties),
    and one that reads no translation (sentinel).
    """
    if context.invoked_subcommand:
        return
    if students is None:
        raise typer.BadParameter("give a file with the names of the students.", param_hint="--students")
    from ..book import students as room_of

    names = [line for line in students.read_text(encoding="utf-8").splitlines() if line.strip()]
    folders = room_of.write(names, plant.split(","), out, seed=seed)
    say(*(f"written: {folder}" for folder in folders), f"for the lecturer: {out / room_of.TRUTHS}")


@room.command(epilog=_EXAMPLE)
def check(folder: Written, answers: Answers) -> None:
    """Mark the answers: one point for each planted fact that was found."""
    from ..book import students

    emit(written(students.mark(folder, answers), "table"), None)


app.add_typer(room, name="class")
