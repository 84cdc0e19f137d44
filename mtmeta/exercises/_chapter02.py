"""References of chapter 2, on significance."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from ..agreement import correlate
from ..evalset import EvalSet
from ..significance import Comparison, intervals
from ._compare import Expected


def ties() -> float:
    from scipy.stats import binomtest

    return binomtest(9, 10, alternative="greater").pvalue


def copies(answer: object) -> Iterator[str]:
    from scipy import stats

    if not isinstance(answer, pd.DataFrame) or not {"alarms", "claims"} <= set(answer) or len(answer) < 5:
        yield "expected a table with the columns alarms and claims, and five rows or more"
        return
    alarms, claims = (answer[name].astype(float) for name in ("alarms", "claims"))
    if ((alarms < 0) | (alarms > 703)).any():
        yield "alarms: expected counts of 703 comparisons"
    elif (alarms <= 1).all():
        yield "alarms: a share of the comparisons? expected their number"
    else:  # one in twenty of all comparisons
        limit = stats.t.isf(0.0005, len(alarms) - 1) * max(alarms.sem(), 1.0)
        if abs(alarms.mean() - 35.15) > limit:
            yield f"alarms: on average too {'many' if alarms.mean() > 35.15 else 'few'} for metrics that are all equal"
    if ((claims < 0) | (claims > alarms)).any():
        yield "claims: a correction leaves some of the alarms, or none"
    elif stats.binom.sf((claims > 0).sum() - 1, len(claims), 0.05) < 0.0005:
        yield "claims: max-T should leave none in 95 % of the repetitions"


def systems(es: EvalSet) -> Expected:
    best = correlate(es).set_index("metric")["value"].idxmax()
    drawn = [intervals(es, [best], unit=u, n_resamples=300, rng=0) for u in ("segment", "both")]
    table = pd.concat(drawn).set_axis(["segments", "both"])[["low", "high"]]
    # The quantile at .025 of 300 normal draws has a standard error of .15 sd: .08 of half the interval.
    half = (table["high"] - table["low"]).to_numpy()[:, None] / 2
    return Expected(table, 4 * np.sqrt(2) * 0.08 * half * np.ones((1, 2)))


def own(es: EvalSet, ranking: Comparison) -> dict:
    first, second = ranking.table["value"][:2]
    return {
        "p": ranking.p_values.iloc[0, 1],
        "segments": es.shape[1] * (1.96 * np.std(ranking.draws[0]) / (first - second)) ** 2,
    }
