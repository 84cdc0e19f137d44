"""`mtmeta run`: chapters of the book on the reader's scores."""

from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Context, Option

from .._escapes import file_name, visible
from . import _options as opt
from ._app import app, example
from ._output import emit, say, written
from ._sets import OnSets, full, load, report_left_out

_SCORES = "A table of translations, transcripts or ranked lists (- reads CSV or TSV from stdin), a folder, or a set."
_SOURCES = "The book's sources, by default here, above, or where the package was installed from."
Scores = Annotated[str, Option(metavar="FILE|SET", help=_SCORES)]
Jobs = Annotated[int, Option(metavar="N", min=1, help="How many chapters to execute at a time.")]
Book = Annotated[Path | None, Option(metavar="DIR", help=_SOURCES)]
Site = Annotated[bool, Option(help="Build a site of the book with these chapters in it.")]


@app.command(cls=OnSets, epilog=example("run 1 --scores teaching --no-site"))
def run(
    context: Context,
    chapters: opt.Chapters,
    scores: Scores,
    out: opt.Folder = None,
    jobs: Jobs = 2,
    book: Book = None,
    site: Site = True,
    how: opt.How = None,
    metric: opt.Metric = None,
    quiet: opt.Quiet = False,
) -> None:
    """Run chapters of the book on your scores.

    It needs the sources of the book, which are not in the installed package. A chapter that cannot run on these scores
    is skipped, and its page gives the reason. The exit code is 1 if a chapter fails; the others are still written. A
    second call does only what is not done yet. A table without human scores goes to the chapters on local accuracy; one
    of transcripts (system, segment, reference, transcript) or of ranked lists (system, query, item, rank, relevance) to
    chapter 8.
    """
    import pandas as pd

    from ..book import runner
    from ..datasets import path_of

    project = runner.find_project(book=book)
    notebooks = runner.chapters(project, chapters)
    data, name = _load(context.obj, scores, metric)
    out = Path("out") / file_name(name) if out is None else out
    changed = metric is not None or any(value not in (None, (), "raise") for value in context.obj.values())
    given = None if changed or scores == "-" else full(scores)
    reads = filter(None, map(path_of, [scores, *context.obj["metrics_from"]]))
    outcomes = runner.run(notebooks, data, given, out, jobs=jobs, progress=not quiet, reads=reads)
    rows = [(Path(page).name, o.status, o.seconds, o.reason or None) for page, o in outcomes.items()]
    table = pd.DataFrame(rows, columns=["chapter", "status", "seconds", "reason"])
    emit(written(table, how or "table", 1), None)
    say(f"notebooks: {out / 'notebooks'}")
    failed = any(o.status == "failed" for o in outcomes.values())
    if site and not runner.can_build():
        say("no site: jupyter-book is not installed (pip install 'mtmeta[book]')")
    elif site:
        failed |= not _site(project, outcomes, out, name)
    if failed:
        raise typer.Exit(1)


def _load(options: dict[str, Any], scores: str, metric: list[str] | None) -> tuple[Any, str]:
    """Load one set, whether or not it has human scores; return it and its name, which of transcripts is as given."""
    import pandas as pd

    sets = load(options, [scores], any_kind=True, metrics=metric, unrated="keep")
    report_left_out(sets)
    given = "stdin" if scores == "-" else Path(scores).stem if Path(scores).is_file() else scores
    names = [given if isinstance(data, pd.DataFrame) else data.name for data in sets]
    if len(sets) > 1:
        raise ValueError(f"{scores} holds {len(sets)} sets: {', '.join(names)}. Name one of them.")
    return sets[0], names[0]


def _site(project: Path, outcomes: dict, out: Path, title: str) -> bool:
    """Build the site and report where it is; return whether it succeeded."""
    from ..book import runner

    say("building the site")
    try:
        say(f"site: {runner.show(project, outcomes, out, title=title)}")
    except RuntimeError as error:
        typer.echo(f"mtmeta: error: no site: {visible(error)}", err=True)
        return False
    return True
