"""`mtmeta run`: chapters of the book on the reader's scores."""

from pathlib import Path
from typing import Annotated

import typer
from typer import Context, Option

from .._escapes import file_name, visible
from . import _options as opt
from ._app import app, example
from ._given import OnSets, full, only, report_left_out
from ._output import say

_SCORES = "A table of translations, transcripts or ranked lists (- reads CSV or TSV from stdin), a folder, or a set."
_SOURCES = "The book's sources, by default here, above, or where the package was installed from."
Scores = Annotated[str, Option(metavar="FILE|SET", help=_SCORES)]
Jobs = Annotated[int, Option(metavar="N", min=1, help="How many chapters to execute at a time.")]
Book = Annotated[Path | None, Option(metavar="DIR", help=_SOURCES)]
Examined = Annotated[str | None, Option(metavar="NAME", help="The metric that chapters look at closely.")]
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
    metric: opt.Metric = None,
    metric_to_examine: Examined = None,
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
    given = context.obj
    data = only(given.load([scores], any_kind=True, metrics=metric, unrated="keep"), scores)
    report_left_out([data])
    stem = "stdin" if scores == "-" else Path(scores).stem if Path(scores).is_file() else scores
    name = getattr(data, "name", stem)  # transcripts have no name
    out = Path("out") / file_name(name) if out is None else out
    shown = {"how", "places", "output", "quiet"}
    changed = any(v not in (None, (), [], "raise") for option, v in given.options.items() if option not in shown)
    path = None if changed or metric or scores == "-" else full(scores)
    reads = [project / "book", *filter(None, map(path_of, [scores, *(given.options["metrics_from"] or ())]))]
    options = {"jobs": jobs, "progress": not given.options["quiet"], "reads": reads, "metric": metric_to_examine}
    outcomes = runner.run(notebooks, data, path, out, **options)
    rows = [(Path(page).name, o.status, o.seconds, o.reason or None) for page, o in outcomes.items()]
    given.write(pd.DataFrame(rows, columns=["chapter", "status", "seconds", "reason"]), places=1)
    say(f"notebooks: {out / 'notebooks'}")
    failed = any(o.status == "failed" for o in outcomes.values())
    if site and not runner.can_build():
        say("no site: jupyter-book is not installed (pip install 'mtmeta[book]')")
    elif site:
        say("building the site")
        try:
            people = ", ".join(sorted(getattr(data, "human_systems", ())))
            title = f"{name} (human translations among the systems: {people})" if people else name
            say(f"site: {runner.show(project, outcomes, out, title=title)}")
        except RuntimeError as error:
            typer.echo(f"mtmeta: error: no site: {visible(error)}", err=True)
            failed = True
    if failed:
        raise typer.Exit(1)
