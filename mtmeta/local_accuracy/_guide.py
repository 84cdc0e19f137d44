"""From texts to the metric to use: perturb, score, measure by context, compare."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from .._checks import check_choice
from ..evalset import EvalSet
from ..perturb import perturb_rankings, perturb_table
from ..rankings import Rankings
from ..resampling import seed_of
from ..scoring import RANKING_MEASURES, score_pairs, score_ranking_pairs, tokenizer_of
from ._accuracy import local_accuracy
from ._effects import context_effect, ranking_effect
from ._pairs import SUFFIX, metrics_of
from ._stability import Recommendation, recommend, stability

PARTS = ("accuracy", "effect", "order", "recommended", "stability")
_TEXTS = {"translation": "translation", "speech": "transcript"}


def scored_pairs(
    data: pd.DataFrame | EvalSet | Rankings,
    metrics: Sequence[str] | None = None,
    *,
    rng: int | np.random.Generator | None = 0,
) -> pd.DataFrame:
    """Perturb texts or rankings and score both versions; return pairs that are scored already as they are.

    Parameters
    ----------
    data : DataFrame, EvalSet or Rankings
        Texts: ``segment, system, reference``, and ``translation`` or ``transcript``; in the target language of the set
        if it names one, otherwise in English. Rankings: items are swapped. Or pairs with scores.
    metrics : sequence of str, optional
        As for `mtmeta.scoring.score_pairs`, or for rankings `mtmeta.scoring.score_ranking_pairs`.
    rng : None, int or numpy.random.Generator

    Returns
    -------
    pandas.DataFrame
        The pairs with their scores, as `local_accuracy` and `guide` take them. Where texts were perturbed, its
        ``attrs`` have ``n_texts``, how many, and ``n_left_out``, how many rows have no text or no reference.

    Raises
    ------
    TypeError, ValueError
        If a table holds neither pairs nor texts, or as the functions named.

    See Also
    --------
    guide, local_accuracy

    Examples
    --------
    >>> import mtmeta as mm
    >>> pairs = mm.local_accuracy.scored_pairs(mm.datasets.load_rankings("teaching-ranking"), ["map", "P_10"])
    >>> mm.local_accuracy.metrics_of(pairs)
    ['map', 'P_10']
    """
    language = "en"
    if isinstance(data, EvalSet):
        language = (data.language_pair or "").rpartition("-")[2] or language
        data = data.to_frame().drop(columns=[*data.metrics, *data.further_ratings])
    if isinstance(data, Rankings):
        swapped = perturb_rankings(data.runs, rng=rng)
        return score_ranking_pairs(data.runs, swapped, data.qrels, metrics or RANKING_MEASURES)
    if any(f"{c}{SUFFIX}" in data for c in data):
        return data
    task = next((task for task, column in _TEXTS.items() if column in data), None)
    if "reference" not in data or task is None:
        raise ValueError(
            "the table has neither pairs (for a metric M the columns M and M_perturbed) nor texts (translation or "
            f"transcript, and reference). Found: {', '.join(map(str, data))}."
        )
    texts = data.dropna(subset=[_TEXTS[task], "reference"]).reset_index(drop=True)
    perturbed = perturb_table(texts, task=task, language=language, rng=rng)
    pairs = score_pairs(perturbed, metrics, task=task, tokenize=tokenizer_of(language))
    pairs.attrs |= {"n_texts": len(texts), "n_left_out": len(data) - len(texts)}
    return pairs


@dataclass(frozen=True)
class Guide:
    """The result of `guide`.

    Attributes
    ----------
    tables : dict of str to pandas.DataFrame
        By part: ``accuracy``, `local_accuracy`; ``effect`` and ``order``, `context_effect` and `ranking_effect` by
        permutation; ``recommended``, of `recommend` one row a context with the best metric, those like it, and what the
        global winner loses; ``stability``, `stability`.
    signature : str
        How they were computed, in one line.
    """

    tables: dict[str, pd.DataFrame]
    signature: str

    def to_frame(self) -> pd.DataFrame:
        """Return the first of the tables."""
        return next(iter(self.tables.values()))


def guide(
    pairs: pd.DataFrame,
    *,
    context: str | Sequence[str] = "system",
    metrics: Sequence[str] | None = None,
    parts: Sequence[str] | None = None,
    ties: str = "failure",
    missing: str = "raise",
    unit: str = "segment",
    n_resamples: int = 1000,
    rng: int | np.random.Generator | None = 0,
) -> Guide:
    """Return which metric to use in which context, and the accuracies and tests behind this advice.

    Target: the metric with the highest accuracy in each context, over items like those given.

    Parameters
    ----------
    pairs : pandas.DataFrame
        As for `local_accuracy`; `scored_pairs` makes them from texts or rankings.
    context, metrics, ties, missing, unit, n_resamples, rng
        As for `local_accuracy`.
    parts : sequence of {"accuracy", "effect", "order", "recommended", "stability"}, optional
        By default all for which there are enough contexts and metrics.

    Returns
    -------
    Guide

    Raises
    ------
    TypeError, ValueError
        As `local_accuracy`, or if a part is unknown.

    See Also
    --------
    scored_pairs, local_accuracy, context_effect, ranking_effect, recommend, stability

    Examples
    --------
    >>> import pandas as pd
    >>> from mtmeta.local_accuracy import guide
    >>> pairs = pd.DataFrame({"segment": range(40), "system": ["A", "B"] * 20,
    ...     "m": [1, 0] * 20, "m_perturbed": .5, "n": [0, 1] * 20, "n_perturbed": .5})
    >>> guide(pairs, n_resamples=99).tables["recommended"][["context", "best"]].values.tolist()
    [['A', 'm'], ['B', 'n']]
    """
    for part in parts or ():
        check_choice("parts", part, PARTS)
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
    return Guide({part: make[part]() for part in wanted}, signature)


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
