"""`validate`, `rank`, `correlate` and `fetch`: whole sets of scores."""

from __future__ import annotations

import math
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
    emit(together({es.name: _findings(es) for es in loaded}), how, places, output)


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


def _findings(es: EvalSet) -> pd.DataFrame:
    """Return what is in a set, what was left out of it, and what may be wrong with it.

    Raises
    ------
    ValueError
        If its ratings cannot rank any metric.
    """
    import numpy as np
    import pandas as pd

    _refuse_useless(es)
    rated = ~np.isnan(es.human)
    rows: list[tuple] = []

    def add(what: str, name: Any = None, count: int | None = None, of: int | None = None, note: str = "") -> None:
        rows.append((what, None if name is None else str(name), count, of, note or None))

    about = es.provenance
    add("set", es.name, note=about.get("source", ""))
    for what, name in (
        ("language pair", es.language_pair),
        ("annotation", about.get("annotation")),
        ("reference", about.get("reference")),
    ):
        if name:
            add(what, name)
    add("systems", count=es.shape[0])
    for system in sorted(es.human_systems):
        add("human translator", system, note="a candidate like the others")
    add("segments", count=es.shape[1])
    add("comparable segments", None, int((rated.sum(axis=0) > 1).sum()), es.shape[1], "two systems or more are rated")
    add("rated translations", None, int(rated.sum()), rated.size, f"{rated.mean():.1%}")
    scores = es.human[rated]
    spread = f"from {scores.min():zg} to {scores.max():zg}, {len(np.unique(scores))} distinct"
    add("human scores", note=f"{spread}; higher is better")
    for what, values in (("documents", es.documents), ("domains", es.domains)):
        if values is not None:
            distinct = list(dict.fromkeys(v for v in values if v is not None))
            add(what, count=len(distinct), note=", ".join(map(str, distinct)) if len(distinct) <= 8 else "")
    if es.texts is not None:
        for what, name, texts in (
            ("sources", None, es.texts.sources),
            *(("references", name, texts) for name, texts in es.texts.references.items()),
            ("translations", None, [t for system in es.texts.translations.values() for t in system]),
        ):
            if texts:
                whole = es.human.size if what == "translations" else es.shape[1]
                add(what, name, sum(t is not None for t in texts), whole)
    for metric in es.metrics:
        add("metric", metric, *_coverage(es, metric))
    for metric in es.system_scores.columns.drop("human"):
        if metric not in es:
            add("metric", metric, note="system scores only")
    for what, why in about.get("left_out", {}).items():
        add("left out", what, note=why)
    for name, text in _doubts(es):
        add("warning", name, note=text)
    frame = pd.DataFrame(rows, columns=["what", "name", "count", "of", "note"], dtype=object)
    return frame.astype({"count": "Int64", "of": "Int64"})


def _coverage(es: EvalSet, metric: str) -> tuple[int, int, str]:
    """Return how many translations a metric scored, of how many, and what it is."""
    import numpy as np

    holes = int(np.isnan(es[metric]).sum())
    variant = es.provenance.get("variants", {}).get(metric)
    notes = [f"{holes} hole{'s' * (holes > 1)}"] if holes else []
    if metric in es.reference_free:
        notes.append("reference-free")
    elif variant:
        notes.append(f"scored against {variant}")
    return es.human.size - holes, es.human.size, ", ".join(notes)


def _refuse_useless(es: EvalSet) -> None:
    """Raise if the ratings of a set cannot rank any metric."""
    import numpy as np

    rated = ~np.isnan(es.human)
    systems = int(rated.any(axis=1).sum())
    if systems < 2:
        raise ValueError(
            f"set {es.name!r}: metrics cannot be ranked with {systems} rated system (of {es.shape[0]}). There is "
            "nothing to compare at system level or within a segment; expected two rated systems or more."
        )
    scores = es.human[rated]
    if scores.min() == scores.max():
        raise ValueError(
            f"set {es.name!r}: every human score is {scores[0]:g}, so no metric can agree or disagree with them."
        )


def _doubts(es: EvalSet) -> list[tuple[str | None, str]]:
    """Return what may be wrong with a set: the name of what it is about, if any, and the doubt."""
    import numpy as np

    from ..agreement import correlate, pooled_pearson

    rated = ~np.isnan(es.human)
    doubts: list[tuple[str | None, str]] = [
        (system, "not one translation is rated: it counts nowhere")
        for system, some in zip(es.systems, rated.any(axis=1), strict=True)
        if not some
    ]
    if len(es.system_scores.columns) == 1:
        doubts.append((None, "no metric: there is nothing to rank or correlate"))
    if rated.any(axis=1).sum() == 2:
        doubts.append((None, "two rated systems make one pair: a correlation of system scores is 1 or -1 by force"))
    if not (rated.sum(axis=0) > 1).any():
        doubts.append((None, "no segment has two rated systems: nothing can be compared within a segment"))
    by_system = es.system_scores
    against = []
    for metric in es.metrics:
        both = int((rated & ~np.isnan(es[metric])).sum())
        if both < 2:
            doubts.append((metric, f"has scores for {both} of the rated translations"))
        elif np.nanmin(es[metric]) == np.nanmax(es[metric]):
            doubts.append((metric, "constant: all its scores are equal, so it ranks nothing"))
        else:
            r = correlate(es, metric, grouping="none")["value"].iloc[0]
            of_systems = pooled_pearson(by_system["human"].to_numpy(), by_system[metric].to_numpy())
            # Two standard errors of a correlation that is 0: a metric of pure noise is rarely accused.
            if r < -2 / math.sqrt(both) and of_systems < 0:
                found = f"{r:.3f} over translations, {of_systems:.3f} over systems"
                against.append((metric, f"correlates negatively with humans ({found}): is a high score good?"))
    if len(against) == len(es.metrics) > 1:
        return [*doubts, (None, "every metric correlates negatively with humans: is a high human score good?")]
    return doubts + against
