"""`validate`, `rank`, `correlate` and `fetch`: whole sets of scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .. import __version__
from .._limits import MAX_COUNT, MAX_SEED
from ._choices import WITHOUT_EPSILON, Coefficient, Degenerate, Format, Grouping, Missing, Protocol, Ties
from ._common import (
    EXAMPLE,
    Annotation,
    Force,
    How,
    Metrics,
    MetricsFrom,
    MissingRows,
    Output,
    Places,
    Quiet,
    Reference,
    Sets,
    app,
    guarded,
    load_sets,
    threshold,
)
from ._output import emit, say, together

if TYPE_CHECKING:
    import pandas as pd

    from ..evalset import EvalSet


@app.command(epilog=EXAMPLE.format("validate teaching"))
@guarded
def validate(
    sets: Sets,
    metric: Metrics = None,
    metrics_from: MetricsFrom = None,
    annotation: Annotation = None,
    reference: Reference = None,
    missing: MissingRows = Missing["raise"],
    how: How = Format.table,
    places: Places = 3,
    output: Output = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Check data: what was loaded, what was left out and why, what may be wrong.

    One row is one finding: what it is about, its name, how many there are, and of how many. The exit code is 1
    if these ratings cannot rank any metric: one rated system, or one score throughout.
    """
    loaded = load_sets(sets, metric, metrics_from, annotation, reference, missing, quiet=True)
    from ..datasets import validate as findings

    emit(together({es.name: findings(es) for es in loaded}), how, places, output)


@app.command(epilog=EXAMPLE.format("rank teaching"))
@guarded
def rank(
    context: typer.Context,
    sets: Sets,
    protocol: Annotated[
        Protocol | None,
        typer.Option(help="Rank by a published protocol, over all sets together.", show_default="wmt24"),
    ] = None,
    coefficient: Annotated[
        Coefficient | None,
        typer.Option(help="Instead of a protocol: rank by one coefficient, each set alone.", show_default="pearson"),
    ] = None,
    grouping: Annotated[
        Grouping | None,
        typer.Option(
            help="Goes with --coefficient: compare any translations, those of a segment, or those of a system.",
            show_default="segment",
        ),
    ] = None,
    ties: Annotated[
        Ties | None,
        typer.Option(
            help="Goes with --protocol wmt24: what a tied pair of systems counts, one half or as published.",
            show_default="half",
        ),
    ] = None,
    n_resamples: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=MAX_COUNT,
            metavar="N",
            help="Goes with --protocol: draws of the test that forms clusters of metrics; 0 forms none.",
            show_default="1000",
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, max=MAX_SEED, metavar="N", help="Seed of these draws.", show_default="0")
    ] = None,
    metric: Metrics = None,
    metrics_from: MetricsFrom = None,
    annotation: Annotation = None,
    reference: Reference = None,
    missing: MissingRows = Missing["raise"],
    how: How = Format.table,
    places: Places = 3,
    output: Output = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Rank metrics by a published protocol or one statistic.

    The best metric comes first. Higher values are better.
    """
    by_statistic = coefficient is not None or grouping is not None
    of_protocols = {"--protocol": protocol, "--n-resamples": n_resamples, "--seed": seed, "--ties": ties}
    given = [option for option, value in of_protocols.items() if value is not None]
    if by_statistic and given:
        raise typer.BadParameter(
            "cannot go with --coefficient or --grouping.", ctx=context, param_hint=", ".join(given)
        )
    from ..protocols import PROTOCOLS
    from ..protocols import rank as rank_sets

    plan = str(protocol or Protocol.wmt24)
    has_spa = any(task.statistic == "spa" for task in PROTOCOLS[plan].tasks)
    if ties is not None and not has_spa:
        raise typer.BadParameter(
            "goes only with a protocol that has soft pairwise accuracy, such as wmt24.",
            ctx=context,
            param_hint="--ties",
        )
    loaded = load_sets(sets, metric, metrics_from, annotation, reference, missing, quiet)
    if by_statistic:
        statistic = {"coefficient": str(coefficient or "pearson"), "grouping": str(grouping or "segment")}
        frame = together({es.name: _ranked(es, metric, statistic) for es in loaded})
        signature = f"coefficient:{statistic['coefficient']}|grouping:{statistic['grouping']}|degenerate:drop"
    else:
        options = {"n_resamples": n_resamples, "rng": seed, "ties": ties and ties.value}
        options = {name: value for name, value in options.items() if value is not None}
        say(quiet, *_expected(loaded, plan, metric, n_resamples))
        result = rank_sets(loaded, protocol=plan, metrics=metric, **options)
        say(quiet, *(f"left out of the ranking: {what} ({why})" for what, why in result.left_out.items()))
        frame, signature = result.to_frame(), result.signature
    say(quiet, f"{signature}|mtmeta:{__version__}")
    emit(frame, how, places, output)


@app.command(epilog=EXAMPLE.format("correlate teaching --coefficient kendall --grouping segment --grouping none"))
@guarded
def correlate(
    context: typer.Context,
    sets: Sets,
    coefficient: Annotated[list[Coefficient], typer.Option(help="Repeatable.")] = [Coefficient.pearson],  # noqa: B006
    grouping: Annotated[
        list[Grouping],
        typer.Option(help="Compare any translations, those of a segment, or those of a system; repeatable."),
    ] = [Grouping.segment],  # noqa: B006
    degenerate: Annotated[
        Degenerate, typer.Option(help="What a group counts where humans or metric give one score throughout.")
    ] = Degenerate.drop,
    epsilon: Annotated[
        Any,
        typer.Option(
            parser=threshold,
            metavar="NUMBER|calibrate",
            help="Metric scores this close are tied; calibrate takes the best value for acc_eq and tau_eq, 0 for "
            "the others.",
        ),
    ] = "calibrate",
    metric: Metrics = None,
    metrics_from: MetricsFrom = None,
    annotation: Annotation = None,
    reference: Reference = None,
    missing: MissingRows = Missing["raise"],
    how: How = Format.table,
    places: Places = 3,
    output: Output = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Correlate metrics with human scores.

    One row per coefficient, grouping and metric.
    """
    coefficients, groupings = (list(dict.fromkeys(map(str, given))) for given in (coefficient, grouping))
    pairless = [c for c in coefficients if c in WITHOUT_EPSILON]
    if epsilon != "calibrate" and pairless:
        raise typer.BadParameter(
            f"has no meaning for {', '.join(pairless)}: no pairs are compared there.",
            ctx=context,
            param_hint="--epsilon",
        )
    import pandas as pd

    from ..agreement import correlate as correlate_set

    tables = {}
    for es in load_sets(sets, metric, metrics_from, annotation, reference, missing, quiet):
        options = {"degenerate": degenerate.value, "epsilon": epsilon}
        blocks = [
            correlate_set(es, metric, coefficient=c, grouping=g, **options) for c in coefficients for g in groupings
        ]
        tables[es.name] = pd.concat(blocks, ignore_index=True)
    say(quiet, f"degenerate:{degenerate.value}|epsilon:{epsilon}|mtmeta:{__version__}")
    emit(together(tables), how, places, output)


@app.command(epilog=EXAMPLE.format("fetch --list"))
@guarded
def fetch(
    context: typer.Context,
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME", help="Sets to download.", show_default=False)
    ] = None,
    show: Annotated[bool, typer.Option("--list", help="List what can be downloaded, and download nothing.")] = False,
    mirror: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Download from a filled cache that is served here.", show_default=False),
    ] = None,
    timeout: Annotated[float, typer.Option(metavar="SECONDS", help="What one file may take.")] = 300,
    how: How = Format.table,
    places: Places = 3,
    output: Output = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Download public data sets into the cache.

    The output says where they are, under which licence, and what to cite. Files are checked by sha256. A download
    that was interrupted goes on when the command is given again.
    """
    if bool(names) == show:
        raise typer.BadParameter("give names of sets, or --list.", ctx=context, param_hint="NAME")
    import pandas as pd

    from ..datasets import available
    from ..datasets import fetch as fetch_set

    known = available()
    rows = []
    for name in dict.fromkeys(known if show else names):
        folder = None if show else fetch_set(name, base_url=mirror, progress=not quiet, timeout=timeout)
        terms = known[name]
        size = f"{terms.size / 1e6:.1f} MB, {len(terms.files)} files"
        facts = {"title": terms.title, "size": size, "licence": terms.licence}
        facts |= {"restriction": terms.restriction, "note": terms.note}
        rows += [(name, what, text) for what, text in facts.items() if text]
        rows += [(name, "cite", text) for text in terms.cite]
        rows += [] if folder is None else [(name, "folder", str(folder))]
    emit(pd.DataFrame(rows, columns=["set", "what", "text"]), how, places, output)


def _expected(sets: list[EvalSet], plan: str, metrics: list[str] | None, n_resamples: int | None) -> list[str]:
    """Say how long a ranking takes and what memory, where it is more than a moment or much."""
    from ..protocols import cost

    n_metrics = len(metrics) if metrics else max(len(es.metrics) for es in sets)
    n_resamples = 1000 if n_resamples is None else n_resamples
    seconds, size = cost(sets, plan, n_metrics, n_resamples)
    if seconds < _LONG and size < _LARGE:
        return []
    number, unit = next((seconds / s, unit) for s, unit in _UNITS if seconds < 100 * s or unit == "hours")
    memory = f" and {size / 1e9:.0f} GB of memory" if size >= _LARGE else ""
    hint = "; --n-resamples 0 forms no clusters and is faster" if n_resamples else ""
    return [f"ranking takes about {number:.0f} {unit}{memory} with two cores{hint}"]


#: From how many seconds and bytes on the command says what it will take.
_LONG, _LARGE = 10, 2e9
_UNITS = ((1, "seconds"), (60, "minutes"), (3600, "hours"))


def _ranked(es: EvalSet, metrics: Sequence[str] | None, statistic: dict[str, str]) -> pd.DataFrame:
    """Return `correlate`'s table with a column ``rank``, best first; equal values share the better rank."""
    from ..agreement import correlate

    frame = correlate(es, metrics, **statistic)
    places = frame["value"].rank(ascending=False, method="min").astype(int)
    frame.insert(frame.columns.get_loc("value") + 1, "rank", places)
    return frame.sort_values(["rank", "metric"], ignore_index=True)
