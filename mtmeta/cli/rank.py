"""`mtmeta rank`: rank metrics by a published protocol."""

from typing import Annotated, Literal

from typer import Context, Option

import mtmeta as mm

from . import _options as opt
from ._app import app, example
from ._given import OnSets, together
from ._output import say

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
    parted, tables = context.obj.options["by"] is not None, {}
    for group in [[es] for es in loaded] if parted else [loaded]:
        name = group[0].name
        try:
            result = mm.rank(group, protocol=protocol, metrics=metric, n_resamples=n_resamples, rng=seed)
        except ValueError as error:
            if not parted:
                raise
            say(f"left out: {name}: {error}")  # a part may be too small
            continue
        left_out = {what: why for what, why in result.left_out.items() if why != UNRATED}  # reported already
        say(*(f"left out of the ranking: {what} ({why})" for what, why in left_out.items()))
        without = without_each_system(group, metric, protocol)
        about = f"{name}: " if parted else ""
        say(*decided_by_one(without), result.note, f"{about}{result.signature}|mtmeta:{mm.__version__}")
        table, decided = result.to_frame(), deciding_systems(without)
        if decided or context.obj.form in ("json", "csv", "tsv"):
            table.insert(len(result.table.columns), "decided_by", table["metric"].map(decided).astype(object))
        tables[name] = table
    context.obj.write(together(tables))
