"""`mtmeta rank`: rank metrics by a published protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from typer import Context, Option

import mtmeta as mm

from . import _options as opt
from ._app import app, example
from ._given import OnSets, together
from ._output import say

if TYPE_CHECKING:
    import pandas as pd

    from ..evalset import EvalSet

_SENTINELS = ["sentinels-segment", "sentinels-segment-grouped", "sentinels-pearson", "sentinels-pearson-grouped"]
PROTOCOLS = Literal["wmt23", "wmt24", "wmt25", "gemba-v2", *_SENTINELS]
Protocol = Annotated[PROTOCOLS, Option(help="Which published ranking to compute, over all sets together.")]
Draws = Annotated[int, Option(metavar="N", help="Draws of the test that shows which ranks are possible; 0 skips it.")]


@app.command(cls=OnSets, epilog=example("rank teaching"))
def rank(
    context: Context,
    sets: opt.Sets,
    protocol: Protocol = "wmt23",
    n_resamples: Draws = 1000,
    seed: opt.Seed = 0,
    metric: opt.Metric = None,
) -> None:
    """Rank metrics by a published protocol.

    The best metric comes first. Higher values are better. The column decided_by names the systems each of which alone
    decides over the sign of a value of the metric at system level, or over its being first there. To rank by one
    coefficient, see mtmeta correlate --wide.
    """
    from ..evalset import UNRATED
    from ..protocols import decided_by_one, deciding_systems, without_each_system

    of_systems = {task.statistic for task in mm.protocols.PROTOCOLS[protocol].tasks if task.level == "system"}
    loaded = context.obj.rated(sets, only=metric, by_system=bool(of_systems - {"spa"}))
    if context.obj.options["by"]:
        context.obj.write(_by_part(loaded, protocol, metric, n_resamples, seed))
        return
    result = mm.rank(loaded, protocol=protocol, metrics=metric, n_resamples=n_resamples, rng=seed)
    left_out = {what: why for what, why in result.left_out.items() if why != UNRATED}  # reported already
    say(*(f"left out of the ranking: {what} ({why})" for what, why in left_out.items()))
    without = without_each_system(loaded, metric, protocol)
    say(*decided_by_one(without), result.note, f"{result.signature}|mtmeta:{mm.__version__}")
    table, decided = result.to_frame(), deciding_systems(without)
    if decided or context.obj.form in ("json", "csv", "tsv"):
        table.insert(len(result.table.columns), "decided_by", table["metric"].map(decided).astype(object))
    context.obj.write(table)


def _by_part(sets: list[EvalSet], protocol: str, metric: list[str] | None, n_resamples: int, seed: int) -> pd.DataFrame:
    """Return the ranking of each set by itself, without the values of its tasks."""
    tables = {}
    for es in sets:
        try:
            result = mm.rank(es, protocol=protocol, metrics=metric, n_resamples=n_resamples, rng=seed)
        except ValueError as error:  # a part may be too small
            say(f"left out: {es.name}: {error}")
            continue
        tables[es.name] = result.table
        say(f"{es.name}: {result.signature}|mtmeta:{mm.__version__}")
    return together(tables)
