"""`run`: chapters of the book on the reader's scores; `exercises`: their exercises as notebooks without solutions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from .._escapes import file_name
from .._limits import MAX_JOBS
from ._common import Loading, command, full
from ._options import Chapters, How, Quiet, flag, folder, number, option
from ._output import emit, inputs, say, visible, written

if TYPE_CHECKING:
    import pandas as pd

    from ..evalset import EvalSet
    from ..rankings import Rankings


@command("run 1 --scores teaching --no-site")
def run(
    context: typer.Context,
    chapters: Chapters,
    scores: option(
        str,
        "A table of translations, transcripts or ranked lists (- reads CSV or TSV from stdin), a folder, or the "
        "name of a set with one language pair.",
        "FILE|SET",
    ),
    loading: Loading,
    out: folder(Path | None, "Write notebooks/ and site/ into this folder.", "out/ and the name of the scores") = None,
    jobs: number(int, "How many chapters to execute at a time.", 1, MAX_JOBS) = 2,
    book: option(
        Path | None, "The book's sources.", "DIR", "here, above, or where the package was installed from"
    ) = None,
    site: option(bool, "Build a site of the book with these chapters in it.") = True,
    how: How = None,
    quiet: Quiet = False,
) -> None:
    """Run chapters of the book on your scores.

    It needs the sources of the book, which are not in the installed package. A chapter that cannot run on these scores
    is skipped, and its page says why. The exit code is 1 if a chapter fails; the others are still written. A second
    call does only what is not done yet. A table without human scores goes to the chapters on local accuracy; one of
    transcripts (system, segment, reference, transcript) or of ranked lists (system, query, item, rank, relevance) to
    chapter 8.
    """
    import pandas as pd

    from ..book import runner

    project = runner.find_project(book=book)
    notebooks = runner.chapters(project, chapters)
    data, name = _load(loading, scores, quiet)
    out = Path("out") / file_name(name) if out is None else out
    chosen = scores == "-" or any(given not in (None, [], "raise") for given in vars(loading).values())
    options = {"jobs": jobs, "progress": not quiet}
    read = inputs(context.params)
    outcomes = runner.run(notebooks, data, None if chosen else full(scores), out, reads=read, **options)
    rows = [(Path(page).name, o.status, o.seconds, o.reason or None) for page, o in outcomes.items()]
    emit(written(pd.DataFrame(rows, columns=["chapter", "status", "seconds", "reason"]), how, 1), None)
    say(quiet, f"notebooks: {out / 'notebooks'}")
    failed = any(o.status == "failed" for o in outcomes.values())
    if site:
        failed |= not _site(runner, project, outcomes, out, f"{name}: {runner.title(data)}", quiet)
    if failed:
        raise typer.Exit(1)


def _load(loading: Loading, scores: str, quiet: bool) -> tuple[EvalSet | pd.DataFrame | Rankings, str]:
    """Load one set, whether or not it has human scores; return it and its name, which of transcripts is as given."""
    import pandas as pd

    sets = loading.load([scores], quiet, any_kind=True, unrated="keep")
    given = "stdin" if scores == "-" else Path(scores).stem if Path(scores).is_file() else scores
    names = [given if isinstance(data, pd.DataFrame) else data.name for data in sets]
    if len(sets) > 1:
        raise ValueError(f"{scores} holds {len(sets)} sets: {', '.join(names)}. Name one of them.")
    return sets[0], names[0]


def _site(runner, project: Path, outcomes: dict, out: Path, title: str, quiet: bool) -> bool:
    """Build the site and say where it is; return whether it succeeded, or cannot be built here."""
    if not runner.can_build():
        say(quiet, "no site: jupyter-book is not installed (pip install 'mtmeta[book]')")
        return True
    say(quiet, "building the site")
    try:
        say(quiet, f"site: {runner.show(project, outcomes, out, title=title)}")
    except RuntimeError as error:
        typer.echo(f"mtmeta: error: no site: {visible(str(error))}", err=True)
        return False
    return True


@command("exercises 1 --out sheets")
def exercises(
    chapters: Chapters,
    out: folder(Path, "Write into this folder.") = Path("exercises"),
    scores: option(str | None, "Put these scores into the notebooks.", "FILE|SET", "the book's") = None,
    solutions: flag("Include the solutions, for the lecturer.", "--solutions") = False,
    quiet: Quiet = False,
) -> None:
    """Write the exercises of chapters as notebooks without solutions.

    Each runs by itself, offline: the cells of the chapter that the exercises need, the statements, cells for the
    answers, and checks that say what is wrong but not the answer. It needs a clone of the book, as `mtmeta run` does. A
    notebook that is there and has been changed is not overwritten.
    """
    from ..book import runner
    from ..book.exercises import export

    found = runner.chapters(runner.find_project(), chapters)
    campaign = None if scores is None else full(scores)
    for path in export(found.values(), out, solutions=solutions, campaign=campaign):
        say(quiet, f"written: {path}")
