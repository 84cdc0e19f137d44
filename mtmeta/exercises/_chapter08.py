"""References of chapter 8, on local accuracy in speech and ranking."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from .. import local_accuracy as la


def wip(spoken: pd.DataFrame, place: str) -> dict:
    from scipy.stats import chi2_contingency

    change = np.sign(spoken["wip_perturbed"] - spoken["wip"])
    right = {"rule": change < 0, "turned": change > 0, "ties": change <= 0}
    tables = {name: pd.crosstab(spoken[place], marks) for name, marks in right.items()}
    return {name: chi2_contingency(table, correction=False).statistic for name, table in tables.items()}


def size() -> dict:
    mean = 0.955
    v = 0.005 / np.sqrt(mean * (1 - mean))
    return {"V": v, "n": int(np.ceil(3.84 / v**2))}


def real(spoken: pd.DataFrame, real_speech: pd.DataFrame) -> dict:
    how = {"context": None, "metrics": la.metrics_of(real_speech), "n_resamples": 0}
    found = {"broken": la.local_accuracy(spoken, **how), "real": la.local_accuracy(real_speech, **how)}
    return {kind: table.set_index("metric")["accuracy"].idxmax() for kind, table in found.items()}


def own(spoken: pd.DataFrame, places: Sequence[str], distinct: Sequence[str]) -> dict:
    found = {c: la.ranking_effect(spoken, context=c, metrics=distinct, n_resamples=1) for c in places}
    return {c: float(table["tau_ap"].iloc[0]) for c, table in found.items()}
