"""`exercises`: the exercises of chapters as notebooks without solutions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ._common import EXAMPLE, Force, Quiet, app, guarded
from ._output import say


@app.command(epilog=EXAMPLE.format("exercises 1 --out sheets"))
@guarded
def exercises(
    chapters: Annotated[
        list[str],
        typer.Argument(metavar="CHAPTER|all", help="Numbers or names of chapters, such as 4.", show_default=False),
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", file_okay=False, help="Write here.")] = Path("exercises"),
    scores: Annotated[
        str | None,
        typer.Option(metavar="FILE|SET", help="Put these into the notebooks as the data.", show_default="the book's"),
    ] = None,
    solutions: Annotated[bool, typer.Option("--solutions", help="With the solutions: the lecturer's copy.")] = False,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Write the exercises of chapters as notebooks without solutions.

    Each runs by itself, offline: what the exercises need of the chapter, the statements, cells for the answers, and
    checks that say what is off but not the answer. It needs a clone of the book, as `mtmeta run` does. A notebook that
    is there and has been changed is not overwritten.
    """
    from .. import runner
    from ..exercises import export
    from ._run import full

    found = runner.chapters(runner.find_project(), chapters)
    campaign = None if scores is None else full(scores)
    for path in export(found.values(), out, solutions=solutions, campaign=campaign, force=force):
        say(quiet, f"written: {path}")
