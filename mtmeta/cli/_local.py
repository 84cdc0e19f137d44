"""`local-accuracy`: which metric for which context."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import __version__
from .._limits import MAX_COUNT, MAX_JOBS, MAX_SEED
from ._choices import Format, PairTies, Part, Task, Unscored
from ._common import Printing, command
from ._options import Metrics, argument, number, option, several, wrong
from ._output import written

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


@command("local-accuracy teaching-ranking --metric map --metric P_10", "local-accuracy")
def local_accuracy(
    file: argument(
        str,
        "FILE|SET",
        "Pairs: segment, system, and for each metric M the columns M and M_perturbed, higher is better. Or texts: "
        "segment, system, reference, and translation or transcript; they are perturbed and scored. Or the name of a "
        "set with texts or rankings.",
    ),
    context: several("Column whose values, or those of several together, are the contexts", "COLUMN", "system") = None,
    metric: Metrics = None,
    part: option(Part, "Print all tables, or this one.", None, True, "--table") = "guide",
    task: option(Task | None, "What the texts are.", default="as the columns say") = None,
    language: option(str | None, "Language of the texts.", "CODE", "that of the set, or en") = None,
    perturbation: several("Perturb texts in this way only", "KIND") = None,
    ties: option(PairTies, "What equal scores count in accuracy and stability: nothing, or one half.") = "failure",
    missing: option(
        Unscored, "What to do if a metric lacks a score: refuse, or leave the pair out for this metric."
    ) = "raise",
    unit: option(str, "Column whose values are resampled whole, such as doc or speaker.", "COLUMN") = "segment",
    n_resamples: number(int, "Draws of the bootstrap and of the permutations.", 99, MAX_COUNT) = 1000,
    seed: number(int, "Seed of perturbations and resamples.", 0, MAX_SEED) = 0,
    jobs: number(int, "Processes that score texts; -1 for all cores.", -MAX_JOBS, MAX_JOBS) = 1,
    *,
    printing: Printing,
) -> None:
    """Say which metric to use in which context: local metric accuracy.

    A metric is right about a pair if it scores the text above its degraded version. Per context: accuracies with
    intervals, whether the context matters, the best metric and those that cannot be told apart from it, and stability.
    """
    if printing.how in ("tsv", "csv") and part == "guide":
        raise wrong("--format", f"{printing.how} holds one table; choose one with --table, or --format json for all.")
    from .._enough import FEWEST_UNITS
    from .._names import counted, some_of
    from ..local_accuracy import guide, scored_pairs

    data = _read(file)
    progress = not printing.quiet and sys.stderr.isatty()
    texts = {"task": task, "language": language, "kinds": perturbation}
    made = scored_pairs(data, metric, **texts, rng=seed, n_jobs=jobs, progress=progress)
    found = guide(
        made.table, context=context or ["system"], metrics=metric, parts=None if part == "guide" else [part],
        ties=ties, missing=missing, unit=unit, n_resamples=n_resamples, rng=seed,
    )  # fmt: skip
    if unused := _unused(data, made.table, {*(context or ()), unit}):
        pattern = "a metric M needs the columns M and M_perturbed"
        printing.say(f"left out of {file}: {', '.join(map(repr, unused))} ({pattern})")
    if made.n_left_out:
        every = made.n_texts + made.n_left_out
        printing.say(f"left out of {file}: {made.n_left_out} of {every} rows (no text or no reference)")
    if "accuracy" in found.tables and (few := _few(found.tables["accuracy"])):
        where = f"{counted(len(few), 'context')} ({some_of(map(str, few))})"
        printing.say(f"cannot be told: {where} with fewer than {FEWEST_UNITS} {unit}s, too few for an interval")
    if made.n_texts is not None:
        printing.say(f"perturbed {made.n_texts} texts, {len(made.table)} pairs")
    printing.say(f"{found.signature}|mtmeta:{__version__}")
    printing.text(_written(found.tables, part, printing.how, printing.places))


def _written(tables: dict[str, pd.DataFrame], part: str, how: Format, places: int) -> str:
    """Return one part of a guide as text, or all with their titles."""
    if part != "guide":
        return written(tables[part], how, places)
    if how == "json":
        content = {name: json.loads(written(frame, how, places)) for name, frame in tables.items()}
        return json.dumps(content, ensure_ascii=False, indent=2) + "\n"
    tables["accuracy"] = _by_context(tables["accuracy"], places)
    title = {"table": "{}\n\n", "md": "## {}\n\n", "latex": "% {}\n"}[how]
    return "\n".join(title.format(_PARTS[name]) + written(frame, how, places) for name, frame in tables.items())


def _few(table: pd.DataFrame) -> list:
    """Return the contexts in which a metric has too few units for an interval."""
    return list(dict.fromkeys(table.loc[table["low"].isna() & table["accuracy"].notna(), "context"]))


def _unused(data: Any, pairs: pd.DataFrame, used: set[str]) -> list[str]:
    """Return the columns of numbers in a table that belong to no metric."""
    import pandas as pd

    from ..evalset import RESERVED
    from ..local_accuracy import metrics_of

    if not isinstance(data, pd.DataFrame):
        return []
    metrics = metrics_of(pairs)
    used |= {*RESERVED, *metrics, *(f"{metric}_perturbed" for metric in metrics)}
    return [column for column in data.select_dtypes("number") if column not in used]


def _read(name: str) -> Any:
    """Return the table of a file, or a set."""
    from ..datasets import SUFFIXES, load_any, read_table

    if name == "-" or Path(name).suffix.lower() in SUFFIXES:
        return read_table(name)
    found = load_any(name)
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
