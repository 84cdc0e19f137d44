"""`mtmeta local-accuracy`: which metric for which context."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer import Argument, Option

import mtmeta as mm

from . import _options as opt
from ._app import app, example
from ._output import emit, form_of, say, written

if TYPE_CHECKING:
    import pandas as pd

#: Parts of the guide, in the order in which they are printed, with their titles.
PARTS = {
    "accuracy": "Accuracy: share of pairs whose better text scores higher (± half the 95 % interval)",
    "effect": "Does accuracy depend on the context? (Cramér's V, beside what chance gives)",
    "order": "Does the order of metrics? (tau_AP, beside what chance gives)",
    "recommended": "Which metric for which context",
    "stability": "How stable is each metric over contexts? (sd_noise: what sampling alone gives)",
}
TIES, UNSCORED, TASKS = Literal["failure", "half"], Literal["raise", "drop"], Literal["translation", "speech"]

_PAIRS = "Pairs: segment, system, and for each metric M the columns M and M_perturbed, higher is better. Or texts: "
_PAIRS += "segment, system, reference, and translation or transcript; they are perturbed and scored. Or a set."
_CONTEXT = "Column whose values, or those of several together, are the contexts; repeatable."
_MISSING = "What to do if a metric lacks a score: refuse, or leave the pair out for this metric."
_UNIT = "Column whose values are resampled whole, such as doc or speaker."
Pairs = Annotated[str, Argument(metavar="FILE|SET", help=_PAIRS)]
Context = Annotated[list[str] | None, Option(metavar="COLUMN", help=_CONTEXT, show_default="system")]
Part = Annotated[Literal["guide", *PARTS], Option("--table", help="Print all tables, or this one.")]
Task = Annotated[TASKS | None, Option(help="What the texts are, by default what the columns say.")]
Language = Annotated[str | None, Option(metavar="CODE", help="Language of the texts, by default of the set, or en.")]
Perturbation = Annotated[list[str] | None, Option(metavar="KIND", help="Perturb only in this way; repeatable.")]
Ties = Annotated[TIES, Option(help="What equal scores count: nothing, or one half.")]
Missing = Annotated[UNSCORED, Option(help=_MISSING)]
Unit = Annotated[str, Option(metavar="COLUMN", help=_UNIT)]
Draws = Annotated[int, Option(metavar="N", min=99, help="Draws of the bootstrap and of the permutations.")]


@app.command("local-accuracy", epilog=example("local-accuracy teaching-ranking --metric map --metric P_10"))
def local_accuracy(
    file: Pairs,
    context: Context = None,
    metric: opt.Metric = None,
    part: Part = "guide",
    task: Task = None,
    language: Language = None,
    perturbation: Perturbation = None,
    ties: Ties = "failure",
    missing: Missing = "raise",
    unit: Unit = "segment",
    n_resamples: Draws = 1000,
    seed: opt.Seed = 0,
    how: opt.How = None,
    places: opt.Places = 3,
    output: opt.Output = None,
    quiet: opt.Quiet = False,
) -> None:
    """Find which metric to use in which context: local metric accuracy.

    A metric is right about a pair if it scores the text above its degraded version. Per context: accuracies with
    intervals, whether the context matters, the best metric and those that cannot be told apart from it, and stability.
    """
    form = form_of(output, how, [file])
    if form in ("tsv", "csv") and part == "guide":
        text = f"{form} holds one table; choose one with --table, or --format json for all."
        raise typer.BadParameter(text, param_hint="--format")
    from .._enough import FEWEST_UNITS
    from .._names import counted, some_of

    data = _read(file)
    texts = {"task": task, "language": language, "kinds": perturbation}
    made = mm.local_accuracy.scored_pairs(data, metric, **texts, rng=seed)
    options = {"ties": ties, "missing": missing, "unit": unit, "n_resamples": n_resamples, "rng": seed}
    parts = None if part == "guide" else [part]
    found = mm.local_accuracy.guide(made.table, context=context or ["system"], metrics=metric, parts=parts, **options)
    if unused := _unused(data, made.table, {*(context or ()), unit}):
        say(f"left out of {file}: {', '.join(map(repr, unused))} (a metric M needs the columns M and M_perturbed)")
    if made.n_left_out:
        every = made.n_texts + made.n_left_out
        say(f"left out of {file}: {made.n_left_out} of {every} rows (no text or no reference)")
    if "accuracy" in found.tables and (few := _few(found.tables["accuracy"])):
        where = f"{counted(len(few), 'context')} ({some_of(map(str, few))})"
        say(f"cannot be told: {where} with fewer than {FEWEST_UNITS} {unit}s, too few for an interval")
    if made.n_texts is not None:
        say(f"perturbed {made.n_texts} texts, {len(made.table)} pairs")
    say(f"{found.signature}|mtmeta:{mm.__version__}")
    emit(_written(found.tables, part, form, places), output)


def _written(tables: dict[str, pd.DataFrame], part: str, how: str, places: int) -> str:
    """Return one part of a guide as text, or all with their titles."""
    if part != "guide":
        return written(tables[part], how, places)
    if how == "json":
        content = {name: json.loads(written(frame, how)) for name, frame in tables.items()}
        return json.dumps(content, ensure_ascii=False, indent=2) + "\n"
    tables["accuracy"] = _by_context(tables["accuracy"], places)
    title = {"table": "{}\n\n", "md": "## {}\n\n", "latex": "% {}\n"}[how]
    return "\n".join(title.format(PARTS[name]) + written(frame, how, places) for name, frame in tables.items())


def _few(table: pd.DataFrame) -> list:
    """Return the contexts in which a metric has too few units for an interval."""
    return list(dict.fromkeys(table.loc[table["low"].isna() & table["accuracy"].notna(), "context"]))


def _unused(data: Any, pairs: pd.DataFrame, used: set[str]) -> list[str]:
    """Return the columns of numbers in a table that belong to no metric."""
    import pandas as pd

    from ..evalset import RESERVED

    if not isinstance(data, pd.DataFrame):
        return []
    metrics = mm.local_accuracy.metrics_of(pairs)
    used |= {*RESERVED, *metrics, *(f"{metric}_perturbed" for metric in metrics)}
    return [column for column in data.select_dtypes("number") if column not in used]


def _read(name: str) -> Any:
    """Return the table of a file, or a set."""
    if name == "-" or Path(name).suffix.lower() in mm.datasets.SUFFIXES:
        return mm.datasets.read_table(name)
    found = mm.datasets.load_any(name)
    if len(found) > 1:
        raise ValueError(f"{name} holds {len(found)} sets: {', '.join(es.name for es in found)}. Name one of them.")
    return found[0]


def _by_context(table: pd.DataFrame, places: int) -> pd.DataFrame:
    """Return accuracies as they are read: one row a context, one column a metric."""
    half = (table["high"] - table["low"]) / 2
    texts = [f"{a:.{places}f}" + f" ±{h:.{places}f}" * (h == h) for a, h in zip(table["accuracy"], half, strict=True)]
    wide = table.assign(text=texts).pivot(index="context", columns="metric", values="text")
    order = dict.fromkeys(table["metric"])
    sizes = table.groupby("context", sort=False)["n_pairs"].max()
    wide = wide.loc[sizes.index, list(order)].reset_index().rename_axis(columns=None)
    return wide.assign(n_pairs=sizes.to_numpy())
