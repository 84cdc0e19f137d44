"""References of chapter 10, on one's own metric."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import permutations
from numbers import Number

import numpy as np
import pandas as pd

from ..agreement import correlate, correlate_groups
from ..evalset import EvalSet
from ..report import decide
from ._compare import Expected


def _inversions(order: tuple[int, ...]) -> int:
    return sum(a > b for i, a in enumerate(order) for b in order[i + 1 :])


def orders() -> dict:
    wrong = {k: np.array([_inversions(order) for order in permutations(range(k))]) for k in range(2, 6)}
    systems = next(k for k, w in wrong.items() if np.mean(w == 0) <= 0.05)
    return {"systems": systems, "wrong": max(w for w in range(11) if np.mean(wrong[5] <= w) <= 0.05)}


def hunt(answer: object) -> Iterator[str]:
    names = ("chosen", "elsewhere")
    if not isinstance(answer, Mapping) or not set(names) <= set(answer):
        yield "expected a dict with chosen and elsewhere"
        return
    shares = [answer[name] for name in names]
    if not all(isinstance(share, Number) and 0 <= share <= 1 for share in shares):
        yield "expected shares from 0 to 1; a percentage, or a count of campaigns?"
        return
    # Twenty chances of one in forty, and intervals on few segments that are a little short.
    if not 0.15 <= shares[0] <= 0.8:
        yield f"chosen: too {'low' if shares[0] < 0.5 else 'high'}; is it the best of the twenty on these segments?"
    if shares[1] > 0.2:
        yield "elsewhere: too high; are these the other segments?"


def power(es: EvalSet, metric: str) -> Expected:
    rng = np.random.default_rng(0)
    taus = correlate_groups(es, metric, coefficient="kendall")["value"].to_numpy()
    rates = {}
    for n in (10, 20, 40, 80, 160):
        drawn = rng.choice(taus, (60, n))
        means = [pd.DataFrame(d[rng.integers(n, size=(200, n))]).mean(axis=1).fillna(0) for d in drawn]
        rates[n] = np.mean([np.quantile(m, 0.025) > 0 for m in means])
    rates = pd.Series(rates)
    return Expected(rates, 4 * np.sqrt(2 * (rates * (1 - rates)).clip(lower=0.02) / 60).to_numpy())


def margin() -> dict[str, str]:
    values = np.linspace(-0.3, 0.3, 13)
    found = {}
    for value in values:
        for low in values[values <= value]:
            for high in values[values >= value]:
                before, *_, after = (decide(value, low, high, 0.0, margin)[0] for margin in (0, 0.05, 0.1, 0.2))
                found |= {before: after} if after != before else {}
    return found


def own(es: EvalSet, metric: str) -> dict:
    scores = es[metric]
    twin = es.with_metrics({"coarse": np.round(scores / (np.nanstd(scores) or 1))})
    return {name: correlate(twin, coefficient=name.lower())["value"].item() for name in ("Kendall", "Pearson")}
