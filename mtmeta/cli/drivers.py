"""`mtmeta drivers`: the segments that drive a difference between two metrics."""

from textwrap import shorten
from typing import Annotated

from typer import Context, Option

import mtmeta as mm

from . import _options as opt
from ._app import app, example
from ._given import OnSets, together
from ._output import say


@app.command(cls=OnSets, epilog=example("drivers teaching Judge chrF --top 10"))
def drivers(
    context: Context,
    file: opt.File,
    metrics: opt.Duel,
    coefficient: opt.Coefficient = "pearson",
    grouping: opt.Grouping = "segment",
    top: Annotated[int, Option(metavar="N", min=1, help="How many segments to show.")] = 20,
) -> None:
    """Show the segments that drive the difference between two metrics, the most influential first.

    Each row has what a segment adds to the agreement of each metric with humans, the better metric first. The
    differences sum to the lead. A table on the screen has the beginning of each source; csv and json have all of it.
    """
    tables = {}
    for es in context.obj.rated([file], metrics=metrics):
        table = mm.significance.drivers(es, metrics, coefficient=coefficient, grouping=grouping)
        lead, (better, worse) = table["difference"].sum(), table.columns[-3:-1]
        without = f"without the {min(top, len(table))} segments by {table['difference'].iloc[top:].sum():z.3f}"
        say(f"{es.name}: {better} is ahead of {worse} by {lead:.3f}; {without}")
        if "source" in table and context.obj.form == "table":
            table["source"] = table["source"].map(lambda text: shorten(text or "", 60, placeholder=" ..."))
        tables[es.name] = table.head(top)
    context.obj.write(together(tables))
