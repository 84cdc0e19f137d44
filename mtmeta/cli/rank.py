"""`mtmeta rank`: rank metrics by a published protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer
from typer import Context, Option

import mtmeta as mm

from . import _options as opt
from ._app import app, example
from ._output import emit, form_of, say, written
from ._sets import OnSets, rated

if TYPE_CHECKING:
    from ..evalset import EvalSet

_SENTINELS = ["sentinels-segment", "sentinels-segment-grouped", "sentinels-pearson", "sentinels-pearson-grouped"]
PROTOCOLS = Literal["wmt23", "wmt24", "gemba-v2", *_SENTINELS]
METHODS = Literal["exchange", "published", "published-by-pair"]
_TIES = "Count a tied pair of systems (SPA) as one half, or as published, which also calibrates acc_eq so."
_METHOD = "Exchange documents or segments to get rank confidence sets, or test as published to get clusters."
Protocol = Annotated[PROTOCOLS, Option(help="Which published ranking to compute, over all sets together.")]
Ties = Annotated[Literal["half", "published"] | None, Option(help=_TIES, show_default="half")]
Draws = Annotated[int, Option(metavar="N", help="Draws of the test that shows which ranks are possible; 0 skips it.")]
Method = Annotated[METHODS, Option(help=_METHOD)]


@app.command(cls=OnSets, epilog=example("rank teaching"))
def rank(
    context: Context,
    sets: opt.Sets,
    protocol: Protocol = "wmt23",
    ties: Ties = None,
    n_resamples: Draws = 1000,
    method: Method = "exchange",
    seed: opt.Seed = 0,
    metric: opt.Metric = None,
    how: opt.How = None,
    places: opt.Places = 3,
    output: opt.Output = None,
    quiet: opt.Quiet = False,
) -> None:
    """Rank metrics by a published protocol.

    The best metric comes first. Higher values are better. The column decided_by names the systems each of which alone
    decides over the sign of a value of the metric at system level, or over its being first there. To rank by one
    coefficient, see mtmeta correlate --wide.
    """
    from ..evalset import UNRATED
    from ..protocols import PROTOCOLS, decided_by_one, deciding_systems, without_each_system

    form = form_of(output, how, [*sets, *context.obj["metrics_from"]])
    if ties is not None and not any(task.statistic in ("spa", "acc_eq") for task in PROTOCOLS[protocol].tasks):
        text = "goes only with a protocol that counts ties (SPA or acc_eq), such as wmt24."
        raise typer.BadParameter(text, param_hint="--ties")
    loaded = rated(context.obj, sets, only=metric)
    say(*(_partly_rated(es, protocol) for es in loaded))
    options = {"n_resamples": n_resamples, "method": method, "rng": seed, "ties": ties or "half"}
    result = mm.rank(loaded, protocol=protocol, metrics=metric, **options)
    left_out = {what: why for what, why in result.left_out.items() if why != UNRATED}  # reported already
    say(*(f"left out of the ranking: {what} ({why})" for what, why in left_out.items()))
    without = without_each_system(loaded, metric, protocol, ties=ties or "half")
    say(*decided_by_one(without), result.note, f"{result.signature}|mtmeta:{mm.__version__}")
    table, decided = result.to_frame(), deciding_systems(without)
    if decided or form in ("json", "csv", "tsv"):
        table.insert(len(result.table.columns), "decided_by", table["metric"].map(decided).astype(object))
    emit(written(table, form, places), output)


def _partly_rated(es: EvalSet, protocol: str) -> str:
    """Return a message that says what a protocol compares where segments are rated for some systems only."""
    rated = es.human == es.human  # NaN is not rated
    here, whole = rated.any(axis=0), rated[rated.any(axis=1)].all(axis=0)
    of_systems = [task.statistic for task in mm.protocols.PROTOCOLS[protocol].tasks if task.level == "system"]
    if not of_systems or whole[here].all():
        return ""
    how = "a system's score is the mean over those rated for it"
    how = "a pair of systems is compared where both are rated" if of_systems[0] == "spa" else how
    n = (here & ~whole).sum()
    return f"{es.name}: {n} of the {here.sum()} rated segments are rated for some systems only; {how}"
