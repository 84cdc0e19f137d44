"""References of chapter 6, on ties."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from .. import ties
from ..agreement import correlate
from ..evalset import EvalSet
from ._chapter01 import judged_function, right_by_chance
from ._compare import Expected


def toy() -> dict:
    q, right = np.array([0, 1, 4, 6]) / 6, np.array([1, 2, 1, 3]) / 6
    area = ((right[1:] + right[:-1]) / 2 * np.diff(q)).sum()
    return {"area": area, "chance": ((1 - 0.5) / 2 + 0.5) / 2}


def chance(answer: object) -> Iterator[str]:
    yield from judged_function(answer, _by_chance, [(0.25, 0.0), (0.25, 0.5), (0.6, 0.5), (0.6, 1.0)])


def _by_chance(t: float, q: float) -> dict:
    concordant = discordant = (1 - t) * (1 - q) / 2
    balance, untied = concordant - discordant, 1 - t
    return {
        "tau_a": balance,
        "tau_10": (balance - untied * q) / untied,
        "tau_14": balance / untied,
        "tau_eq": 2 * right_by_chance(t, q) - 1,
        "expected": (concordant + untied * q / 2) / untied,
    }


def halves(field: EvalSet, t: float, n_resamples: int) -> Expected:
    shares = [t / 2, t, min(2 * t, max(0.95, (1 + t) / 2))]
    means, errors = {}, {}
    for size in (0.1, 0.5, 0.9):
        found = ties.held_out_calibration(field, held_out=size, shares=shares, n_resamples=n_resamples, rng=0)
        by_draw = found.groupby(["share", "draw"])["loss"].mean().groupby("share")
        means[f"{size:.0%}"], errors[f"{size:.0%}"] = by_draw.mean(), by_draw.sem()
    rows = ["half", "own", "double"]
    return Expected(pd.DataFrame(means).set_axis(rows), 5 * np.sqrt(2) * pd.DataFrame(errors).set_axis(rows))


def own(field: EvalSet, metric: str) -> dict:
    from scipy.stats import kendalltau

    accuracy = correlate(field, coefficient="acc_eq").set_index("metric")["value"]
    expected = ties.expected_accuracy(field).set_index("metric")["value"]
    return {
        "tie share": ties.human_tie_share(field),
        "gain": accuracy[f"{metric} + noise"] - accuracy[metric],
        "tau": kendalltau(accuracy, expected[accuracy.index]).statistic,
    }
