"""`mtmeta systems`: test by each metric whether one system is better than another."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Context, Option

import mtmeta as mm

from . import _options as opt
from ._app import app, example
from ._given import OnSets, report_left_out, together
from ._output import say

if TYPE_CHECKING:
    import pandas as pd

Names = Annotated[list[str], Argument(metavar="SYSTEM SYSTEM FILE|SET", help="Two systems, then the scores.")]
All = Annotated[bool, Option("--all", help="Compare all pairs of systems; name only the scores.")]
_FIGURE = "With --all and one --metric: draw the differences of all pairs."
Figure = Annotated[Path | None, Option(metavar="FILE", dir_okay=False, help=_FIGURE)]
#: Level of the tests of which the last message speaks.
_ALPHA = 0.05


@app.command(cls=OnSets, epilog=example("systems Ember Aster teaching"))
def systems(
    context: Context,
    names: Names,
    every: All = False,
    figure: Figure = None,
    metric: opt.Metric = None,
    n_resamples: opt.Draws = 1000,
    seed: opt.Seed = 0,
) -> None:
    """Test by each metric whether one system is better than another.

    Positive differences favour the first system. Intervals redraw documents if the set names 20, otherwise segments;
    p-values exchange the two systems in them. people_agree: how often the raters of WMT23 preferred the system that the
    metric preferred by so much, for metrics of WMT23. Human scores are not needed.
    """
    if len(names) != (1 if every else 3):
        expected, found = "the scores alone" if every else "two systems and the scores", " ".join(names)
        raise typer.BadParameter(f"expected {expected}; found {found!r}.", param_hint="SYSTEM SYSTEM FILE|SET")
    if figure is not None and (not every or len(metric or ()) != 1):
        raise typer.BadParameter("goes with --all and one --metric.", param_hint="--figure")
    sets = context.obj.load(names[-1:], metrics=metric or None, unrated="keep")
    report_left_out(sets)
    options = {"metrics": metric, "n_resamples": n_resamples, "rng": seed}
    tables = {es.name: mm.compare_systems(es, *names[:-1], **options) for es in sets}
    table = together(tables)
    for name, found in tables.items() if not every else ():
        _conclude(name, found[found["metric"] != "human"], *names[:2])
    if table["people_agree"].isna().all():
        say("people_agree is empty: no metric here has a curve of WMT23 for as many segments (see mtmeta difference)")
    if figure is not None:
        mm.plots.system_differences(table[table["metric"] == metric[0]]).figure.savefig(figure, bbox_inches="tight")
        say(f"figure: {figure}")
    say(f"draws:{n_resamples}|seed:{seed}|level:0.95{'|correction:maxT' * every}|mtmeta:{mm.__version__}")
    context.obj.write(table)


def _conclude(name: str, table: pd.DataFrame, first: str, second: str) -> None:
    """Report by how many metrics each of the two systems is better, and by how many of these significantly."""
    told = []
    for system, gaps in ((first, table["difference"]), (second, -table["difference"])):
        sure = ((gaps > 0) & (table["p"] < _ALPHA)).sum()
        told.append(f"{system} is better by {(gaps > 0).sum()} of {len(table)} metrics ({sure} with p < {_ALPHA:g})")
    say(f"{name}: {', '.join(told)}")
