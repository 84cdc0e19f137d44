"""`exercises`: the exercises of chapters as notebooks without solutions."""

from __future__ import annotations

from pathlib import Path

from ._common import Chapters, Force, Quiet, command, flag, folder, full, option
from ._output import say


@command("exercises 1 --out sheets")
def exercises(
    chapters: Chapters,
    out: folder(Path, "Write into this folder.") = Path("exercises"),
    scores: option(str | None, "Put these scores into the notebooks.", "FILE|SET", "the book's") = None,
    solutions: flag("Include the solutions, for the lecturer.", "--solutions") = False,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Write the exercises of chapters as notebooks without solutions.

    Each runs by itself, offline: the cells of the chapter that the exercises need, the statements, cells for the
    answers, and checks that say what is wrong but not the answer. It needs a clone of the book, as `mtmeta run` does. A
    notebook that is there and has been changed is not overwritten.
    """
    from .. import runner
    from ..exercises import export

    found = runner.chapters(runner.find_project(), chapters)
    campaign = None if scores is None else full(scores)
    for path in export(found.values(), out, solutions=solutions, campaign=campaign, force=force):
        say(quiet, f"written: {path}")
