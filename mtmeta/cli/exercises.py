"""`mtmeta exercises`: exercises of chapters as notebooks without solutions."""

from pathlib import Path
from typing import Annotated

from typer import Option

from . import _options as opt
from ._app import app, example
from ._output import say

Solutions = Annotated[bool, Option("--solutions", help="Include the solutions, for the lecturer.")]


@app.command(epilog=example("exercises 1 --out sheets"))
def exercises(
    chapters: opt.Chapters,
    out: opt.Folder = Path("exercises"),
    solutions: Solutions = False,
    quiet: opt.Quiet = False,
) -> None:
    """Write the exercises of chapters as notebooks without solutions.

    Each runs by itself, offline: the cells of the chapter that the exercises need, the statements, cells for the
    answers, and checks that name what is wrong but not the answer. It needs a clone of the book, as `mtmeta run` does.
    A notebook that is there and has been changed is not overwritten.
    """
    from ..book import runner, sheets

    found = runner.chapters(runner.find_project(), chapters)
    for path in sheets.export(found.values(), out, solutions=solutions):
        say(f"written: {path}")
