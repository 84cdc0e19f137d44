"""References of chapter 1, on scores and agreement."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations

import numpy as np
import pandas as pd

from ..agreement import correlate, decompose_pearson
from ..evalset import EvalSet
from ._compare import Expected, complaints


def four() -> dict:
    from scipy.stats import kendalltau

    h, m = [5, 3, 5, 5], [6, 5, 4, 4]  # tenths: .6 - .5 is not .1 in binary
    pairs = [(h[i] - h[j], m[i] - m[j]) for i, j in combinations(range(4), 2)]
    return {
        "concordant": sum(a * b > 0 for a, b in pairs),
        "discordant": sum(a * b < 0 for a, b in pairs),
        "tau_b": kendalltau(h, m).statistic,
        "acc_eq": np.mean([np.sign(a) == np.sign(b) for a, b in pairs]),
        "acc_eq, ties to .1": np.mean([np.sign(a) == (np.sign(b) if abs(b) > 1 else 0) for a, b in pairs]),
    }


def both(answer: object, es: EvalSet) -> Iterator[str]:
    scores = np.asarray(answer)
    if scores.shape != es.shape or scores.dtype.kind not in "fiu":
        yield f"expected numbers of shape {es.shape}; found {scores.dtype} of shape {scores.shape}"
        return
    rated = np.isfinite(es.human)
    if not np.isfinite(scores[rated]).all():
        yield "it must have a score wherever the humans have one"
        return
    made = es.with_metrics({"made": np.where(rated, scores, np.nan)})
    pooled, within = (correlate(made, grouping=g)["value"][0] for g in ("none", "segment"))
    if pooled < 0.9 * np.sqrt(decompose_pearson(made)["human_between"][0]):
        yield "the correlation without grouping is too far from the ceiling"
    if within >= 0:
        yield "within segments the correlation is not negative"


def claims() -> list[str]:
    return ["c", "d"]  # a depends on the grouping, b on a number that is not reported


def right_by_chance(t: float, q: float) -> float:
    """Return the chance that metric and human say the same: both tied, or both up, or both down."""
    return t * q + 2 * (1 - t) / 2 * (1 - q) / 2


def judged_function(answer: object, right: Callable, cases: list[tuple]) -> Iterator[str]:
    """Yield what is off with a function, by its values in some cases."""
    if not callable(answer):
        yield f"expected a function; found a {type(answer).__name__}"
        return
    found, wanted = {}, {}
    for case in cases:
        name = "f(" + ", ".join(f"{x:.3g}" for x in case) + ")"
        try:
            found[name] = answer(*case)
        except Exception as error:
            yield f"{name} raises {type(error).__name__}: {error}"
            return
        wanted[name] = right(*case)
    if isinstance(next(iter(wanted.values())), dict):
        for name, value in found.items():
            yield from (f"{name}, {said}" for said in complaints(value, wanted[name]))
    else:
        yield from complaints(found, pd.Series(wanted))


def own(es: EvalSet) -> dict:
    values = {g: correlate(es, grouping=g).set_index("metric")["value"] for g in ("none", "segment")}
    ranks = pd.DataFrame(values).sort_values("none", ascending=False).rank(ascending=False, method="min")
    metric = (ranks["segment"] - ranks["none"]).sort_values(ascending=False, kind="stable").index[0]
    between = decompose_pearson(es).set_index("metric")["between"][metric]
    # A deal within segments leaves this on average, with a standard deviation of less than 1 / sqrt(n).
    return {"metric": metric, "its twin": Expected(between, 4 / np.sqrt(np.isfinite(es.human).sum()))}
