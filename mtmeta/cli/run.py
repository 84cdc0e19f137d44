"""`mtmeta run`: chapters of the book on the reader's scores."""

from pathlib import Path

import typer
from typer import Context

from .._escapes import file_name, visible
from ._app import command
from ._given import OnSets, full, only, report_left_out
from ._output import say


@command("run 1 --scores teaching --no-site", cls=OnSets)
def run(
    context: Context,
    chapters: list[str],
    scores: str,
    out: Path | None = None,
    jobs: int = 2,
    book: Path | None = None,
    site: bool = True,
    metric: list[str] | None = None,
    metric_to_examine: str | None = None,
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
