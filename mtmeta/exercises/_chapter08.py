"""References of chapter 8, on local accuracy in speech and ranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from .. import local_accuracy as la
from .. import perturb, scoring
from ._compare import Expected


def _chi2(right: pd.Series, context: pd.Series) -> float:
    from scipy.stats import chi2_contingency

    return chi2_contingency(pd.crosstab(context, right), correction=False).statistic


def wip(spoken: pd.DataFrame, place: str) -> dict:
    import jiwer

    own = {}
    for column in ("transcript", "perturbed"):
        texts = list(zip(spoken["reference"], spoken[column], strict=True))
        done = {pair: jiwer.process_words(*pair) for pair in set(texts)}
        own[column] = pd.DataFrame([(done[pair].wip, -done[pair].wil) for pair in texts], index=spoken.index)
    (w, v), (w_after, v_after) = ([own[c][k] for k in (0, 1)] for c in ("transcript", "perturbed"))
    right = {"wip": w > w_after, "wil": v > v_after, "upside down": w < w_after, "ties succeed": w >= w_after}
    chi2 = pd.Series({name: _chi2(r, spoken[place]) for name, r in right.items()})
    return {"apart": int((right["wip"] != right["wil"]).sum()), "chi2": chi2}


def recall(swapped: Mapping[str, pd.DataFrame], scores: pd.DataFrame) -> pd.DataFrame:
    from scipy.stats import kendalltau

    pairs, rows = swapped["random"], {}
    for k in (5, 10, 15, 20, 30):
        p, r = (np.sign(pairs[m] - pairs[f"{m}_perturbed"]) > 0 for m in (f"P_{k}", f"recall_{k}"))
        means = scores.groupby("system")[[f"P_{k}", f"recall_{k}"]].mean()
        rows[k] = [(p ^ r).sum(), kendalltau(means[f"P_{k}"], means[f"recall_{k}"]).statistic]
    return pd.DataFrame(rows, index=["pairs apart", "tau of systems"]).T


def swaps(runs: pd.DataFrame, qrels: pd.DataFrame) -> Expected:
    rows: dict[tuple[str, int], list[Any]] = {}
    lists = runs[["system", "query"]].drop_duplicates().shape[0]  # three rows are enough to tell; each costs a second
    for how, numbers in (("degrade", (1, 5)), ("random", (5,))):
        for n in numbers:
            made = perturb.perturb_rankings(runs, qrels, n_swaps=n, how=how, rng=0)
            made = scoring.score_ranking_pairs(runs, made, qrels, ["map", "P_5"])
            change = {m: made[f"{m}_perturbed"] - made[m] for m in ("map", "P_5")}
            rows[how, n] = [(change["map"] != 0).mean(), (change["P_5"] != 0).mean(), (change["map"] > 0).mean()]
    table = pd.DataFrame(rows, index=["map notices", "P_5 notices", "map raised"]).T
    # Two samples of shares of that many lists; 1 / n allows for a share near 0 or 1.
    spread = np.sqrt(2 * (table * (1 - table) + 1 / lists) / lists)
    return Expected(table, 4 * spread)


def size() -> pd.DataFrame:
    from scipy.stats import chi2

    mean = 0.955
    v = 0.005 / np.sqrt(mean * (1 - mean))
    rows = {n: [n * v**2, chi2.sf(n * v**2, 1), v] for n in (1_000, 10_000, 100_000, 1_000_000)}
    return pd.DataFrame(rows, index=["chi2", "p", "V"]).T


def own(spoken: pd.DataFrame, real_speech: pd.DataFrame, distinct: Sequence[str], place: str) -> dict:
    local = la.local_accuracy(spoken, context=place, metrics=distinct, n_resamples=0)
    real = la.local_accuracy(real_speech, context=None, metrics=distinct, n_resamples=0)
    return {
        "broken": local.groupby("metric", sort=False)["accuracy"].mean().idxmax(),
        "real": real.set_index("metric")["accuracy"].idxmax(),
    }
