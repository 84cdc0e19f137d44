"""`local-accuracy`: which metric for which context."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
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
_TEXT_COLUMNS = {"translation": "translation", "speech": "transcript"}


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
    texts = {"task": task, "language": language, "perturbation": perturbation}
    pairs = _pairs(file, metric, texts, seed, jobs, quiet)
    options = {"metrics": metric, "missing": missing.value, "unit": unit, "rng": seed, "n_resamples": n_resamples}
    wanted = list(_PARTS) if part is Part.guide else [part.value]
    tables = _local_tables(pairs, columns or ["system"], wanted, average.value, ties.value, options)
    say(quiet, f"average:{average}|ties:{ties}|unit:{unit}|draws:{n_resamples}|seed:{seed}|mtmeta:{__version__}")
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


def _pairs(name: str, metrics: Sequence[str] | None, texts: dict[str, Any], seed: int, jobs: int, quiet: bool):
    """Return pairs from a file or a set; perturb and score them where they are texts or rankings."""
    from ..datasets import load
    from ..datasets._common import Options
    from ..datasets._tables import SUFFIXES, read_table
    from ..evalset import EvalSet, Rankings

    is_file = name == "-" or Path(name).suffix.lower() in SUFFIXES
    loaded = read_table(name, Options())[0] if is_file else load(name)
    language = None
    if isinstance(loaded, EvalSet):
        language = (loaded.language_pair or "").rpartition("-")[2]
        loaded = loaded.to_frame().drop(columns=list(loaded.metrics))
    is_pairs = isinstance(loaded, Rankings) or any(f"{c}_perturbed" in loaded for c in loaded)
    if is_pairs and (given := [what for what, value in texts.items() if value]):
        raise ValueError(f"{name} holds no texts to perturb, so --{given[0]} has no meaning.")
    if isinstance(loaded, Rankings):
        from ..perturb import perturb_rankings
        from ..scoring import RANKING_MEASURES, score_ranking_pairs

        swapped = perturb_rankings(loaded.runs, rng=seed)
        return score_ranking_pairs(loaded.runs, swapped, loaded.qrels, metrics or RANKING_MEASURES)
    if is_pairs:
        return loaded
    texts = texts | {"language": texts["language"] or language or "en"}
    return _scored_pairs(loaded, name, metrics, texts, seed, jobs, quiet)


def _scored_pairs(frame, name, metrics, texts, seed, jobs, quiet) -> pd.DataFrame:
    """Perturb and score texts."""
    from ..perturb import perturb_table
    from ..scoring import score_pairs

    wanted = texts["task"] and str(texts["task"])
    tasks = [t for t, column in _TEXT_COLUMNS.items() if column in frame and t == (wanted or t)]
    if "reference" not in frame or not tasks:
        column = _TEXT_COLUMNS[wanted] if wanted else "translation or transcript"
        raise ValueError(
            f"{name} has neither pairs (for a metric M the columns M and M_perturbed) nor texts ({column}, and "
            f"reference). Found: {', '.join(map(str, frame.columns))}."
        )
    task, column = tasks[0], _TEXT_COLUMNS[tasks[0]]
    whole = frame[[column, "reference"]].notna().all(axis=1)
    if not whole.all():
        say(quiet, f"left out of {name}: {(~whole).sum()} of {len(frame)} rows (no {column} or no reference)")
    rows = frame[whole].reset_index(drop=True)
    options = {"language": texts["language"], "kinds": texts["perturbation"], "rng": seed, "n_jobs": jobs}
    perturbed = perturb_table(rows, task=task, **options)
    say(quiet, f"perturbed {len(rows)} texts, {len(perturbed)} pairs; scoring them")
    return score_pairs(perturbed, metrics, task=task, n_jobs=jobs, progress=not quiet and sys.stderr.isatty())


def _local_tables(
    pairs: pd.DataFrame, columns: list[str], wanted: list[str], average: str, ties: str, options: dict[str, Any]
) -> dict[str, pd.DataFrame]:
    """Return the wanted parts of the guide; those that compare are left out where there is nothing to compare."""
    from .. import local_accuracy as la

    several_contexts = len(pairs[[c for c in columns if c in pairs]].drop_duplicates()) > 1
    several_metrics = len(options["metrics"] or la.metrics_of(pairs)) > 1
    possible = {"effect": several_contexts, "stability": several_contexts}
    possible |= dict.fromkeys(("order", "recommended"), several_contexts and several_metrics)
    counted = options | {"context": columns}
    averaged = counted | {"average": average}
    make = {
        "accuracy": lambda: la.local_accuracy(pairs, **averaged, ties=ties),
        "effect": lambda: la.context_effect(pairs, **counted).drop(columns=["p_value", "n_contexts", "n_resamples"]),
        "order": lambda: la.ranking_effect(pairs, **counted).drop(columns="n_resamples"),
        "recommended": lambda: _recommended(la.recommend(pairs, **averaged, ties=ties)),
        "stability": lambda: la.stability(pairs, **averaged, ties=ties),
    }
    # what was asked for alone is computed, or fails with its reason
    return {name: make[name]() for name in wanted if len(wanted) == 1 or possible.get(name, True)}


def _recommended(result: Any) -> pd.DataFrame:
    """Return one row a context: the best metric, those like it, and what the global winner loses."""
    import pandas as pd

    rows = []
    for name, part in result.table.groupby("context", sort=False):
        best = part[part["verdict"] == "best"]
        alike = part.loc[part["verdict"] == "cannot be told apart", "metric"]
        loss = float(part.loc[part["metric"] == result.global_winner, "loss"].iloc[0])
        rows.append((name, ", ".join(best["metric"]), float(best["accuracy"].iloc[0]), ", ".join(alike), loss))
    columns = ["context", "best", "accuracy", "cannot be told apart", f"loss of {result.global_winner}"]
    return pd.DataFrame(rows, columns=columns)


def _by_context(table: pd.DataFrame, places: int) -> pd.DataFrame:
    """Return accuracies as they are read: one row a context, one column a metric."""
    half = (table["high"] - table["low"]) / 2
    texts = [f"{a:.{places}f} ±{h:.{places}f}" for a, h in zip(table["accuracy"], half, strict=True)]
    wide = table.assign(text=texts).pivot(index="context", columns="metric", values="text")
    order = dict.fromkeys(table["metric"])
    sizes = table.groupby("context", sort=False)["n_pairs"].max()
    wide = wide.loc[sizes.index, list(order)].reset_index().rename_axis(columns=None)
    return wide.assign(n_pairs=sizes.to_numpy())
