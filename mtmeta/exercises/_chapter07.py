"""References of chapter 7, on local accuracy in translation."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from .. import local_accuracy as la
from ..evalset import EvalSet


def _mean_of_segments(right: pd.Series, pairs: pd.DataFrame) -> float:
    return right.groupby(pairs["segment"]).mean().mean()


def ties(four: pd.DataFrame) -> pd.DataFrame:
    pairs = la.length_metric(four)
    rows = {}
    for m in la.metrics_of(pairs):
        before, after = pairs[m], pairs[f"{m}_perturbed"]
        strict = (before > after).astype(float)
        rows[m] = [_mean_of_segments(x, pairs) for x in (strict, strict + (before == after) / 2)]
    return pd.DataFrame(rows, index=["failure", "half"]).T


def claim(four: pd.DataFrame, es: EvalSet) -> dict:
    part = four[four["segment"].isin(es.segments[:25])]
    test = la.ranking_effect(part, context="system", n_resamples=499, rng=0).loc[0]
    return {"tau_ap": test["tau_ap"], "may": bool(test["p_value"] <= 0.05)}


def own(four: pd.DataFrame, contexts: Sequence[str]) -> dict:
    winner = la.recommend(four, context=contexts[0], n_resamples=19, rng=0).global_winner
    losses = {}
    for context in contexts:
        local = la.local_accuracy(four, context=context, n_resamples=0)
        table = local.pivot(index="context", columns="metric", values="accuracy")
        losses[context] = (table.max(axis=1) - table[winner]).max()
    return {"winner": winner, "losses": losses}
