"""From texts to the metric to use: perturb, score, measure by context, compare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from .._checks import check_choice
from .._resampling import seed_of
from ..evalset import EvalSet
from ..perturb import perturb_rankings, perturb_table
from ..rankings import Rankings
from ..scoring import RANKING_MEASURES, score_pairs, score_ranking_pairs
from ._accuracy import local_accuracy
from ._effects import context_effect, ranking_effect
from ._pairs import SUFFIX, metrics_of
from ._stability import Recommendation, recommend, stability

PARTS = ("accuracy", "effect", "order", "recommended", "stability")
_TEXTS = {"translation": "translation", "speech": "transcript"}


@dataclass(frozen=True)
class Guide:
    """The result of `guide`, which says what it holds."""

    tables: dict[str, pd.DataFrame]
    pairs: pd.DataFrame
    n_texts: int | None
    n_left_out: int
    signature: str

    def to_frame(self) -> pd.DataFrame:
        """Return the first of the tables."""
        return next(iter(self.tables.values()))


def guide(
    data: pd.DataFrame | EvalSet | Rankings,
    *,
    context: str | Sequence[str] = "system",
    metrics: Sequence[str] | None = None,
    parts: Sequence[str] | None = None,
    task: str | None = None,
    language: str | None = None,
    kinds: Sequence[str] | None = None,
    ties: str = "failure",
    missing: str = "raise",
    unit: str = "segment",
    n_resamples: int = 1000,
    rng: int | np.random.Generator | None = 0,
    n_jobs: int = 1,
    progress: bool = False,
) -> Guide:
    """Perturb texts, score them, and say which metric to use in which context.

    Parameters
    ----------
    data : DataFrame, EvalSet or Rankings
        Texts: ``segment, system, reference``, and ``translation`` or ``transcript``. Rankings: items are swapped. Or
        pairs with scores.
    context, metrics, ties, missing, unit, n_resamples, rng
        As for `local_accuracy`.
    parts : sequence of {"accuracy", "effect", "order", "recommended", "stability"}, optional
        By default all for which there are enough contexts and metrics.
    task, language, kinds, n_jobs, progress
        Of texts, as for `mtmeta.perturb.perturb_table`. By default what the columns and the set say, and English.

    Returns
    -------
    Guide
        ``tables`` by part: `local_accuracy`; `context_effect` and `ranking_effect` by permutation; of `recommend` one
        row a context: the best metric, those like it, what the global winner loses; `stability`. ``pairs`` with their
        scores, ``n_texts`` perturbed, ``n_left_out`` without a text or reference, ``signature``.

    Raises
    ------
    TypeError, ValueError
        As the functions named.

    Examples
    --------
    >>> import mtmeta as mm
    >>> lists = mm.datasets.load_rankings("teaching-ranking")
    >>> found = mm.local_accuracy.guide(lists, metrics=["map", "P_10"], n_resamples=99)
    >>> found.tables["recommended"]["best"][0]
    'map'
    """
    for part in parts or ():
        check_choice("parts", part, PARTS)
    pairs, n_texts, n_left_out = _scored(data, metrics, task, language, kinds, rng, n_jobs, progress)
    columns = [context] if isinstance(context, str) else list(context)
    contexts = len(pairs[[c for c in columns if c in pairs]].drop_duplicates()) > 1
    both = contexts and len(metrics or metrics_of(pairs)) > 1
    possible = {"accuracy": True, "effect": contexts, "order": both, "recommended": both, "stability": contexts}
    counted: dict[str, Any] = {"context": columns, "metrics": metrics, "missing": missing, "unit": unit}
    counted |= {"n_resamples": n_resamples, "rng": rng}
    tied = counted | {"ties": ties}
    make = {
        "accuracy": lambda: local_accuracy(pairs, **tied),
        "effect": lambda: context_effect(pairs, **counted).drop(columns=["p_value", "n_contexts", "n_resamples"]),
        "order": lambda: ranking_effect(pairs, **counted).drop(columns="n_resamples"),
        "recommended": lambda: _by_context(recommend(pairs, **tied)),
        "stability": lambda: stability(pairs, **tied),
    }
    wanted = parts or [part for part in PARTS if possible[part]]
    signature = f"average:segment|ties:{ties}|unit:{unit}|draws:{n_resamples}|seed:{seed_of(rng)}"
    return Guide({part: make[part]() for part in wanted}, pairs, n_texts, n_left_out, signature)


def _scored(data, metrics, task, language, kinds, rng, n_jobs, progress) -> tuple[pd.DataFrame, int | None, int]:
    """Return pairs with scores, the number of texts they were made of, and that of rows left out."""
    check_choice("task", task, (*_TEXTS, None))
    if not isinstance(data, pd.DataFrame | EvalSet | Rankings):
        raise TypeError(f"`data` must be a DataFrame, an EvalSet or Rankings; found {type(data).__name__}.")
    given = {"a task": task, "a language": language, "a kind of perturbation": kinds}
    if isinstance(data, EvalSet):
        language = language or (data.language_pair or "").rpartition("-")[2]
        data = data.to_frame().drop(columns=[*data.metrics, *data.further_ratings])
    if isinstance(data, Rankings) or any(f"{c}{SUFFIX}" in data for c in data):
        if wrong := [what for what, value in given.items() if value]:
            raise ValueError(f"there are no texts to perturb, so {wrong[0]} has no meaning.")
        if not isinstance(data, Rankings):
            return data, None, 0
        swapped = perturb_rankings(data.runs, rng=rng)
        return score_ranking_pairs(data.runs, swapped, data.qrels, metrics or RANKING_MEASURES), None, 0
    tasks = [t for t, column in _TEXTS.items() if column in data and t == (task or t)]
    if "reference" not in data or not tasks:
        raise ValueError(
            "the table has neither pairs (for a metric M the columns M and M_perturbed) nor texts ("
            f"{_TEXTS.get(task, 'translation or transcript')}, and reference). Found: {', '.join(map(str, data))}."
        )
    texts = data.dropna(subset=[_TEXTS[tasks[0]], "reference"]).reset_index(drop=True)
    task, language = tasks[0], language or "en"
    perturbed = perturb_table(texts, task=task, language=language, kinds=kinds, rng=rng, n_jobs=n_jobs)
    pairs = score_pairs(perturbed, metrics, task=task, n_jobs=n_jobs, progress=progress)
    return pairs, len(texts), len(data) - len(texts)


def _by_context(result: Recommendation) -> pd.DataFrame:
    """Return one row a context: the best metric, those like it, and what the global winner loses."""
    rows = []
    for name, part in result.table.groupby("context", sort=False):
        best = part[part["verdict"] == "best"]
        alike = part.loc[part["verdict"] == "cannot be told apart", "metric"]
        loss = part.loc[part["metric"] == result.global_winner, "loss"].iloc[0]
        accuracy = best["accuracy"].max()  # NaN where units are too few to name a best metric
        rows.append((name, ", ".join(best["metric"]), accuracy, ", ".join(alike), loss))
    columns = ["context", "best", "accuracy", "cannot be told apart", f"loss of {result.global_winner}"]
    return pd.DataFrame(rows, columns=columns)
