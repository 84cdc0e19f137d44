"""Local metric accuracy: hand-worked values, published values, properties, calibration of tests, errors."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import mtmeta as mm
from mtmeta import local_accuracy as la
from mtmeta.local_accuracy import _kernels
from mtmeta.local_accuracy._effects import arrange, chi_square, permuted
from mtmeta.local_accuracy._pairs import cells, outcomes


def won(accuracies: dict[str, dict[str, float]], n: int = 10) -> pd.DataFrame:
    """Return pairs with exactly these accuracies: metric, context, share of n segments that are won."""
    blocks = []
    for context in next(iter(accuracies.values())):
        block = pd.DataFrame({"segment": np.arange(n), "system": context})
        for metric, shares in accuracies.items():
            block[metric] = (np.arange(n) < round(n * shares[context])).astype(float)
            block[f"{metric}_perturbed"] = 0.5
        blocks.append(block)
    return pd.concat(blocks, ignore_index=True)


#: The paper's table 1.
TABLE_1 = {
    m: dict(zip("XYZ", row, strict=True))
    for m, row in {"A": (0.9, 0.9, 0.3), "B": (0.7,) * 3, "C": (0.3, 0.3, 0.9)}.items()
}


@pytest.fixture
def pairs():
    """Return 40 segments, 5 systems, 3 pairs a text, 4 metrics of which one is coarse, so that it ties."""
    rng = np.random.default_rng(1)
    index = itertools.product(range(40), list("VWXYZ"), ["insertion", "removal", "swapping"])
    frame = pd.DataFrame(index, columns=["segment", "system", "perturbation"])
    frame["domain"] = np.where(frame["segment"] % 4 == 0, "chat", "news")
    for k, name in enumerate(["m1", "m2", "m3", "coarse"]):
        frame[name] = rng.normal(size=len(frame)) + 0.4 * k
        frame[f"{name}_perturbed"] = rng.normal(size=len(frame))
    frame[["coarse", "coarse_perturbed"]] = frame[["coarse", "coarse_perturbed"]].round()
    return frame


# -- accuracy ----------------------------------------------------------------------------


def test_table_1_of_the_paper():
    pairs = won(TABLE_1)
    local = la.local_accuracy(pairs, context="system", n_resamples=0)
    found = local.pivot(index="metric", columns="context", values="accuracy")
    assert found.to_dict("index") == {m: pytest.approx(row) for m, row in TABLE_1.items()}
    both = la.global_accuracy(pairs, context="system", n_resamples=0)
    assert both.set_index(["context", "metric"])["accuracy"].to_dict() == pytest.approx(
        {(c, m): v for c in ("all pairs", "mean of contexts") for m, v in (("A", 0.7), ("B", 0.7), ("C", 0.5))}
    )


# -- tau_AP ------------------------------------------------------------------------------


def test_tau_ap_by_hand():
    """N = 4: sums of C(i) / (i - 1) over ranks 2 to 4, times 2/3, less 1."""
    truth = {"a": 4, "b": 3, "c": 2, "d": 1}
    assert la.tau_ap(truth, truth) == 1
    assert la.tau_ap(truth, {k: -v for k, v in truth.items()}) == -1
    # b a c d: 0/1 + 2/2 + 3/3 = 2; a b d c: 1/1 + 2/2 + 2/3 = 8/3: a mistake at the top costs more
    assert la.tau_ap(truth, {"b": 4, "a": 3, "c": 2, "d": 1}) == pytest.approx(2 * 2 / 3 - 1)
    assert la.tau_ap(truth, {"a": 4, "b": 3, "d": 2, "c": 1}) == pytest.approx(2 * (8 / 3) / 3 - 1)
    # c a b d against a b c d: 0/1 + 1/2 + 3/3 = 3/2; the other way round, a b c d against c a b d: 1/1 + 0/2 + 3/3 = 2
    moved = {"c": 4, "a": 3, "b": 2, "d": 1}
    assert la.tau_ap(truth, moved) == pytest.approx(0)
    assert la.tau_ap(moved, truth) == pytest.approx(1 / 3)
    assert la.tau_ap(truth, moved, symmetric=True) == pytest.approx(1 / 6)
