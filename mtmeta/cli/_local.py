"""`local-accuracy`: which metric for which context."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .. import __version__
from .._limits import MAX_COUNT, MAX_JOBS, MAX_SEED
from ._choices import Average, Format, PairTies, Part, Task, Unscored
from ._common import EXAMPLE, Force, How, Metrics, Output, Places, Quiet, app, guarded, once
from ._output import emit, emit_text, say, written

if TYPE_CHECKING:
    import pandas as pd


#: Parts of the guide, in the order in which they are printed, with their titles.
_PARTS = {
    "accuracy": "Accuracy: share of pairs whose better text scores higher (± half the 95 % interval)",
    "effect": "Does accuracy depend on the context? (Cramér's V, beside what chance gives)",
    "order": "Does the order of metrics? (tau_AP, beside what chance gives)",
    "recommended": "Which metric for which context",
    "stability": "How stable is each metric over contexts? (sd_noise: what sampling alone gives)",
}


@app.command("local-accuracy", epilog=EXAMPLE.format("local-accuracy teaching-ranking --metric map --metric P_10"))
@guarded
def local_accuracy(
    context: typer.Context,
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE|SET",
            help="Pairs: segment, system, and for each metric M the columns M and M_perturbed, higher is better. Or "
            "texts: segment, system, reference, and translation or transcript; they are perturbed and scored. Or the "
            "name of a set with texts or rankings.",
            show_default=False,
        ),
    ],
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--context",
            metavar="COLUMN",
            callback=once,
            help="Its values are the contexts; several are combined.",
            show_default="system",
        ),
    ] = None,
    metric: Metrics = None,
    part: Annotated[Part, typer.Option("--table", help="All tables, or one.")] = Part.guide,
    task: Annotated[
        Task | None, typer.Option(help="Goes with texts: what they are.", show_default="as the columns say")
    ] = None,
    language: Annotated[
        str | None,
        typer.Option(metavar="CODE", help="Goes with texts: their language.", show_default="that of the set, or en"),
    ] = None,
    perturbation: Annotated[
        list[str] | None,
        typer.Option(metavar="KIND", callback=once, help="Goes with texts: only this; repeatable.", show_default="all"),
    ] = None,
    average: Annotated[
        Average, typer.Option(help="What counts the same: each segment of a context, or each pair.")
    ] = Average.segment,
    ties: Annotated[
        PairTies, typer.Option(help="What equal scores count: nothing, or one half (in accuracy and stability).")
    ] = PairTies.failure,
    missing: Annotated[
        Unscored, typer.Option(help="A metric lacks a score: refuse, or leave the pair out for this metric.")
    ] = Unscored["raise"],
    unit: Annotated[
        str, typer.Option(metavar="COLUMN", help="What is resampled whole, such as doc or speaker.")
    ] = "segment",
    n_resamples: Annotated[
        int, typer.Option(min=99, max=MAX_COUNT, metavar="N", help="Of bootstrap and permutations.")
    ] = 1000,
    seed: Annotated[
        int, typer.Option(min=0, max=MAX_SEED, metavar="N", help="Seed of perturbations and resamples.")
    ] = 0,
    jobs: Annotated[
        int,
        typer.Option(min=-MAX_JOBS, max=MAX_JOBS, metavar="N", help="Processes that score texts; -1 for all cores."),
    ] = 1,
    how: How = Format.table,
    places: Places = 3,
    output: Output = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Say which metric to use in which context: local metric accuracy.

    A metric is right about a pair if it scores the text above its degraded version. Per context: accuracies with
    intervals, whether the context matters, the best metric and those that cannot be told apart from it, and stability.
    """
    if how is Format.tsv and part is Part.guide:
        raise typer.BadParameter(
            "tsv holds one table; choose one with --table, or --format json for all.",
            ctx=context,
            param_hint="--format",
        )
    if jobs == 0:
        raise typer.BadParameter(
            "expected a number of processes, or -1 for all cores.", ctx=context, param_hint="--jobs"
        )
    from ..local_accuracy import guide

    found = guide(
        _read(file), context=columns or ["system"], metrics=metric, parts=None if part is Part.guide else [part.value],
        task=task and task.value, language=language, kinds=perturbation, average=average.value, ties=ties.value,
        missing=missing.value, unit=unit, n_resamples=n_resamples, rng=seed, n_jobs=jobs,
        progress=not quiet and sys.stderr.isatty(),
    )  # fmt: skip
    if found.n_left_out:
        every = found.n_texts + found.n_left_out
        say(quiet, f"left out of {file}: {found.n_left_out} of {every} rows (no text or no reference)")
    if found.n_texts is not None:
        say(quiet, f"perturbed {found.n_texts} texts, {len(found.pairs)} pairs")
    say(quiet, f"{found.signature}|mtmeta:{__version__}")
    tables = found.tables
    if part is not Part.guide:
        emit(tables[part.value], how, places, output)
        return
    if how is Format.json:
        content = {name: json.loads(written(frame, how, places)) for name, frame in tables.items()}
        emit_text(json.dumps(content, ensure_ascii=False, indent=2) + "\n", output)
        return
    tables["accuracy"] = _by_context(tables["accuracy"], places)
    title = {Format.table: "{}\n\n", Format.md: "## {}\n\n", Format.latex: "% {}\n"}[how]
    blocks = [title.format(_PARTS[name]) + written(frame, how, places) for name, frame in tables.items()]
    emit_text("\n".join(blocks), output)


def _read(name: str) -> Any:
    """Return the table of a file, or a set."""
    from ..datasets import SUFFIXES, load, read_table

    is_file = name == "-" or Path(name).suffix.lower() in SUFFIXES
    return read_table(name) if is_file else load(name)


def _by_context(table: pd.DataFrame, places: int) -> pd.DataFrame:
    """Return accuracies as they are read: one row a context, one column a metric."""
    half = (table["high"] - table["low"]) / 2
    texts = [f"{a:.{places}f} ±{h:.{places}f}" for a, h in zip(table["accuracy"], half, strict=True)]
    wide = table.assign(text=texts).pivot(index="context", columns="metric", values="text")
    order = dict.fromkeys(table["metric"])
    sizes = table.groupby("context", sort=False)["n_pairs"].max()
    wide = wide.loc[sizes.index, list(order)].reset_index().rename_axis(columns=None)
    return wide.assign(n_pairs=sizes.to_numpy())
