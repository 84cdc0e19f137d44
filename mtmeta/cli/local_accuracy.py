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
from ._given import Writes, only
from ._output import say, written

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
UNSCORED = Literal["raise", "drop"]

_PAIRS = "Pairs: segment, system, and for each metric M the columns M and M_perturbed, higher is better. Or texts: "
_PAIRS += "segment, system, reference, and translation or transcript; they are perturbed and scored. Or a set."
_CONTEXT = "Column whose values, or those of several together, are the contexts; repeatable."
_MISSING = "What to do if a metric lacks a score: refuse, or leave the pair out for this metric."
Pairs = Annotated[str, Argument(metavar="FILE|SET", help=_PAIRS)]
Contexts = Annotated[list[str] | None, Option("--context", metavar="COLUMN", help=_CONTEXT, show_default="system")]
Part = Annotated[Literal["guide", *PARTS], Option("--table", help="Print all tables, or this one.")]
Missing = Annotated[UNSCORED, Option(help=_MISSING)]
Draws = Annotated[int, Option(metavar="N", min=99, help="Draws of the bootstrap and of the permutations.")]


@app.command("local-accuracy", cls=Writes, epilog=example("local-accuracy teaching-ranking --metric map --metric P_10"))
def local_accuracy(
    context: typer.Context,
    file: Pairs,
    contexts: Contexts = None,
    metric: opt.Metric = None,
    part: Part = "guide",
    missing: Missing = "raise",
    n_resamples: Draws = 1000,
    seed: opt.Seed = 0,
) -> None:
    """Find which metric to use in which context: local metric accuracy.

    A metric is right about a pair if it scores the text above its degraded version. Per context: accuracies with
    intervals, whether the context matters, the best metric and those that cannot be told apart from it, and stability.
    """
    given, contexts = context.obj, contexts or ["system"]
    if given.form not in ("table", "json") and part == "guide":
        text = f"{given.form} holds one table; choose one with --table, or --format json for all."
        raise typer.BadParameter(text, param_hint="--format")
    from .._enough import FEWEST_UNITS
    from .._names import counted, some_of

    data = _read(file)
    made = mm.local_accuracy.scored_pairs(data, metric, rng=seed)
    options = {"missing": missing, "n_resamples": n_resamples, "rng": seed}
    parts = None if part == "guide" else [part]
    found = mm.local_accuracy.guide(made, context=contexts, metrics=metric, parts=parts, **options)
    if unused := _unused(data, made, {*contexts, "segment"}):
        say(f"left out of {file}: {', '.join(map(repr, unused))} (a metric M needs the columns M and M_perturbed)")
    n_texts, n_left_out = (made.attrs.get(what, 0) for what in ("n_texts", "n_left_out"))
    if n_left_out:
        say(f"left out of {file}: {n_left_out} of {n_texts + n_left_out} rows (no text or no reference)")
    if "accuracy" in found.tables:
        without = found.tables["accuracy"].query("low.isna() and accuracy.notna()")["context"].unique()
        where = f"{counted(len(without), 'context')} ({some_of(map(str, without))})"
        few = f"cannot be told: {where} with fewer than {FEWEST_UNITS} segments, too few for an interval"
        say(few if len(without) else "")
    if n_texts:
        say(f"perturbed {n_texts} texts, {len(made)} pairs")
    say(f"{found.signature}|mtmeta:{mm.__version__}")
    if part != "guide":
        given.write(found.tables[part])
    elif given.form == "json":
        content = {name: json.loads(written(frame, "json")) for name, frame in found.tables.items()}
        given.write_text(json.dumps(content, ensure_ascii=False, indent=2) + "\n")
    else:
        places = given.options["places"]
        tables = found.tables | {"accuracy": _by_context(found.tables["accuracy"], places)}
        shown = (f"{PARTS[name]}\n\n{written(frame, 'table', places)}" for name, frame in tables.items())
        given.write_text("\n".join(shown))


def _unused(data: Any, pairs: pd.DataFrame, used: set[str]) -> list[str]:
    """Return the columns of numbers in a table that belong to no metric."""
    import pandas as pd

    from ..evalset import RESERVED

    metrics = mm.local_accuracy.metrics_of(pairs)
    used |= {*RESERVED, *metrics, *(f"{metric}_perturbed" for metric in metrics)}
    numbers = data.select_dtypes("number") if isinstance(data, pd.DataFrame) else ()
    return [column for column in numbers if column not in used]


def _read(name: str) -> Any:
    """Return the table of a file, or a set."""
    if name == "-" or Path(name).suffix.lower() in mm.datasets.SUFFIXES:
        return mm.datasets.read_table(name)
    return only(mm.datasets.load_any(name), name)


def _by_context(table: pd.DataFrame, places: int) -> pd.DataFrame:
    """Return accuracies as they are read: one row a context, one column a metric."""
    half = (table["high"] - table["low"]) / 2
    texts = [f"{a:.{places}f}" + f" ±{h:.{places}f}" * (h == h) for a, h in zip(table["accuracy"], half, strict=True)]
    wide = table.assign(text=texts).pivot(index="context", columns="metric", values="text")
    sizes = table.groupby("context", sort=False)["n_pairs"].max()
    wide = wide.loc[sizes.index, list(table["metric"].unique())].reset_index().rename_axis(columns=None)
    return wide.assign(n_pairs=sizes.to_numpy())
