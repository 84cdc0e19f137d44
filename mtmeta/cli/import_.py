"""`mtmeta import`: what other tools wrote, as a tidy table."""

from typing import Annotated, Literal

from typer import Argument, BadParameter, Context, Option

import mtmeta as mm

from ._app import app, example
from ._given import Writes, columns_of
from ._output import say

Files = Annotated[list[str] | None, Argument(metavar="FILE", help="Files or folders; several are joined.")]
Layout = Annotated[str, Option(metavar="NAME", help="The layout of all files, by default recognised.")]
Human = Annotated[str | None, Option(metavar="COLUMN", help="The column that holds the human scores.")]
_RATERS = "Several ratings of a translation: their mean, the mean of each rater's z-scores, or a column each."
Raters = Annotated[Literal["mean", "standardise", "apart"], Option(help=_RATERS)]
Weights = Annotated[str, Option(metavar="NAME", help="Weights of MQM errors: google, unbabel or mqm.")]
Columns = Annotated[str | None, Option(metavar="system=Sys,...", help="Names of columns in your files.")]
Show = Annotated[bool, Option("--list", help="List the layouts, and read nothing.")]


@app.command("import", cls=Writes, epilog=example("import --list"))
def import_(
    context: Context,
    files: Files = None,
    layout: Layout = "auto",
    human: Human = None,
    raters: Raters = "mean",
    weights: Weights = "google",
    columns: Columns = None,
    show: Show = False,
) -> None:
    """Turn what other tools wrote into a table that the other commands take.

    Human scores may come from one file and metrics from others: they are joined by system and segment. Messages list
    what was turned, left out and joined. Without --output or --format the table is printed as CSV.
    """
    if bool(files) == show:
        raise BadParameter("give files, or --list.", param_hint="FILE")
    given = context.obj
    if show:
        given.write(mm.datasets.layouts())
        return
    if given.options["output"] is None and given.options["how"] is None:
        given.form = "csv"
    names = columns_of(columns or "")
    table = mm.datasets.read(files, layout, human=human, raters=raters, columns=names, weights=weights)
    say(*table.attrs["notes"], f"{len(table)} rows; columns: {', '.join(table)}")
    given.write(table)
