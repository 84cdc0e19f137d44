"""`run`: chapters of the book on the reader's scores."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .. import __version__
from .._files import whole_file
from ._choices import Format, Missing
from ._common import (
    EXAMPLE,
    How,
    HumanProtocol,
    Metrics,
    MetricsFrom,
    MissingRows,
    Quiet,
    Reference,
    app,
    guarded,
    load_sets,
)
from ._output import emit, say, visible

if TYPE_CHECKING:
    from ..evalset import EvalSet


@app.command(epilog=EXAMPLE.format("run 1 --scores teaching --no-site"))
@guarded
def run(
    chapters: Annotated[
        list[str],
        typer.Argument(metavar="CHAPTER|all", help="Numbers or names of chapters, such as 4.", show_default=False),
    ],
    scores: Annotated[
        str,
        typer.Option(
            metavar="FILE|SET",
            help="A table (.csv, .tsv, .jsonl, .parquet; - reads CSV or TSV from stdin), a folder, or the name of a "
            "set with one language pair.",
            show_default=False,
        ),
    ],
    metric: Metrics = None,
    metrics_from: MetricsFrom = None,
    human_protocol: HumanProtocol = None,
    reference: Reference = None,
    missing: MissingRows = Missing["raise"],
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", file_okay=False, help="Write here: notebooks/ and site/.", show_default="out/ and a name"
        ),
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, metavar="N", help="Chapters executed at a time.")] = 2,
    site: Annotated[bool, typer.Option(help="Build a site of the book with these chapters in it.")] = True,
    how: How = Format.table,
    quiet: Quiet = False,
) -> None:
    """Run chapters of the book on your scores.

    It needs a clone of the book, found from here upward or where the package was installed from. A chapter that
    cannot run on these scores is skipped, and its page says why. The exit code is 1 if a chapter fails; the others
    are there all the same. Given again, the command does only what is not done yet.
    """
    import pandas as pd

    from .. import runner

    project = runner.find_project()
    notebooks = runner.chapters(project, chapters)
    sets = load_sets([scores], metric, metrics_from, human_protocol, reference, missing, quiet)
    if len(sets) > 1:
        raise ValueError(f"{scores} holds {len(sets)} sets: {', '.join(es.name for es in sets)}. Name one of them.")
    es = sets[0]
    out = Path("out") / _file_name(es) if out is None else out
    chosen = bool(metric or metrics_from or human_protocol or reference) or missing is Missing.nan or scores == "-"
    campaign = _table(es, out) if chosen else _full(scores)
    outcomes = runner.run(notebooks, es, campaign, out, version=__version__, jobs=jobs, progress=not quiet)
    rows = [(Path(page).name, o.status, o.seconds, o.reason or None) for page, o in outcomes.items()]
    emit(pd.DataFrame(rows, columns=["chapter", "status", "seconds", "reason"]), how, 1, None)
    say(quiet, f"notebooks: {out / 'notebooks'}")
    failed = any(o.status == "failed" for o in outcomes.values())
    if site:
        title = f"{es.name}: {es.shape[0]} systems x {es.shape[1]} segments, {len(es.metrics)} metrics"
        failed |= not _site(runner, project, outcomes, out, title, quiet)
    if failed:
        raise typer.Exit(1)


def _site(runner, project: Path, outcomes: dict, out: Path, title: str, quiet: bool) -> bool:
    """Build the site and say where it is; tell whether that went well, or cannot be done here."""
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


def _file_name(es: EvalSet) -> str:
    """Return the name of a set as the name of a file."""
    return "".join(c if c.isalnum() or c in "-_." else "-" for c in es.name).lstrip(".") or "scores"


def _full(scores: str) -> str:
    """Return the whole path of a file or folder, because chapters run in another one; names of sets stay."""
    from ..datasets import _SETS, _SIMULATED

    path = Path(scores)
    is_name = scores.partition("/")[0] in {*_SETS, *_SIMULATED, "wmt23"}
    is_folder = path.is_dir() or (path.parent != Path() and path.parent.is_dir())
    return str(path.resolve()) if path.is_file() or (is_folder and not is_name) else scores


def _table(es: EvalSet, out: Path) -> str:
    """Write what was chosen of a set as a table, and return its whole path."""
    path = (out / "scores" / f"{_file_name(es)}.parquet").resolve()
    with whole_file(path) as part:
        es.to_frame().to_parquet(part, index=False)
    return str(path)
