"""References of chapter 7, on local accuracy in translation."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from .. import local_accuracy as la
from .. import scoring
from ..evalset import EvalSet
from ._check import NoAnswer
from ._compare import Expected


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


def case(four: pd.DataFrame, es: EvalSet) -> pd.DataFrame:
    part = four[four["segment"].isin(es.segments[:40])]
    fewer = part.drop(columns=[c for m in la.metrics_of(four) for c in (m, f"{m}_perturbed")])
    found = {}
    metrics = ["bleu", "chrf", "ter", "rouge1"]
    scored = {  # "True" would cost another round of scoring, and has nothing to go wrong that these have not
        "False": part,
        "perturbed": scoring.score_pairs(fewer, metrics, lowercase="perturbed"),
    }
    for name, pairs in scored.items():
        right = {m: pairs[m] > pairs[f"{m}_perturbed"] for m in metrics}
        found[name] = {m: _mean_of_segments(r.astype(float), pairs) for m, r in right.items()}
    return pd.DataFrame(found)


def length(by_kind: pd.DataFrame, field: Sequence[str]) -> dict:
    single = by_kind.pivot(index="context", columns="metric", values="accuracy")
    if "removal" not in single.index:
        raise NoAnswer("nothing was removed from a text")
    wins = {}
    for k in range(1, len(single) + 1):
        best = [single.loc[list(c)].mean().idxmax() for c in combinations(single.index, k)]
        wins[k] = np.mean([name == "length" for name in best])
    rest = single.drop("removal").mean()
    behind = (rest[list(field)] - rest["length"]).to_numpy()
    ahead = (single.loc["removal", "length"] - single.loc["removal", list(field)]).to_numpy()
    share = np.max(np.clip(behind / (behind + ahead), 0, 1)) if (ahead > 0).all() else np.nan
    return {"wins": pd.Series(wins), "removals": Expected(share, 0.005)}


def size(four: pd.DataFrame) -> Expected:
    segments = sorted(four["segment"].unique(), key=list(four["segment"].unique()).index)
    found = {}
    for n in (25, 50, 100, 200):
        if n <= len(segments):
            part = four[four["segment"].isin(segments[:n])]
            stable = la.stability(part, context="system", n_resamples=99, rng=0)
            found[n] = stable.set_index("metric")["range_noise"]
    table = pd.DataFrame(found)
    # Other segments, and the mean of 99 draws: a range varies by a third of itself.
    return Expected(table, 0.15 * table)


def own(four: pd.DataFrame, contexts: Sequence[str]) -> dict:
    winner = la.recommend(four, context=contexts[0], n_resamples=19, rng=0).global_winner
    losses = {}
    for context in contexts:
        local = la.local_accuracy(four, context=context, n_resamples=0)
        table = local.pivot(index="context", columns="metric", values="accuracy")
        losses[context] = (table.max(axis=1) - table[winner]).max()
    return {"winner": winner, "losses": losses}
