"""Local metric accuracy: hand-worked values, published values, properties, calibration of tests, errors."""

import itertools
import runpy
from pathlib import Path

import buckets
import numpy as np
import order_matrix
import pandas as pd
import pytest
from campaigns import refuses

import mtmeta as mm
from mtmeta import local_accuracy as la


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
    before = frame.copy()
    yield frame
    pd.testing.assert_frame_equal(frame, before)  # input is left as it was


def test_tau_ap_of_ircor_and_table_1_of_the_paper():
    # the values that Urbano and Marrero's own package, ircor, is tested against
    x = [0.897, 0.372, 0.908, 0.898, 0.661, 0.062, 0.177, 0.384, 0.498, 0.992]
    y = [0.82, 0.406, 0.817, 0.953, 0.673, 0.073, 0.364, 0.547, 0.589, 0.988]
    assert la.tau_ap(x, y) == pytest.approx(0.8519, abs=5e-5)
    assert la.tau_ap(dict(enumerate(x)), pd.Series(y).sample(frac=1, random_state=1)) == la.tau_ap(x, y)
    assert la.tau_ap(x, y, symmetric=True) == pytest.approx(0.8333, abs=5e-5)
    assert la.tau_ap(np.round(x, 1), np.round(y, 1), symmetric=True) == pytest.approx(0.7321, abs=5e-5)
    table = la.local_accuracy(won(TABLE_1), context="system", n_resamples=0).set_index(["metric", "context"])
    assert table["accuracy"].round(12).to_dict() == {(m, c): TABLE_1[m][c] for c in "XYZ" for m in "ABC"}
    assert table.groupby("metric")["accuracy"].mean().to_dict() == pytest.approx({"A": 0.7, "B": 0.7, "C": 0.5})
    frame = pd.concat([won({"m": {"x": 1.0}}, 60), won({"m": {"y": 0.0}}, 20).eval("segment = segment + 60")])
    table = la.local_accuracy(frame, context="system")
    assert (table["low"].tolist(), table["high"].tolist()) == ([1, 0], [1, 0])  # contexts are drawn within
    row = la.local_accuracy(frame, context=None).iloc[0]
    assert row["low"] < row["accuracy"] == 0.75 < row["high"]


def test_order_of_equals_and_of_like_contexts_and_buckets_as_many_as_ties_allow():
    orders = {"a1": "xyzw", "b1": "wzyx", "a2": "xyzw", "b2": "wzyx"}
    share = dict(zip(range(4), (0.9, 0.7, 0.5, 0.3), strict=True))
    frame = won({m: {c: share[o.index(m)] for c, o in orders.items()} for m in "xyzw"})
    result = order_matrix.tau_ap_matrix(frame, context="system")
    assert [name[0] for name in result.index[1:]] in (list("aabb"), list("bbaa"))
    assert result.loc["a1", ["a2", "b1"]].tolist() == [1, -1]
    table = la.stability(won(TABLE_1), context="system", n_resamples=200)
    assert table["metric"].tolist() == ["B", "A", "C"]  # the most robust first; of equals the higher mean
    result = la.recommend(won(TABLE_1, 200), context="system")
    assert (result.global_winner, result.to_frame() is result.table) == ("A", True)  # of equals the first by name
    summary = result.summary.set_index("metric")
    assert summary.loc["A", ["max_loss", "worst_context"]].tolist() == pytest.approx([0.6, "Z"])
    values = pd.Series(np.r_[np.zeros(100), -np.arange(1.0, 201)], index=range(100, 400))
    found = buckets.quality_buckets(values, 30)
    assert found.labels.index.equals(values.index)
    assert found.n_buckets == 21  # the ten quantiles that fall on 0 merge into one bucket
    refuses("no value is rated", buckets.quality_buckets, [np.nan], 2)


def test_natural_pairs_keep_documents_and_may_be_few():
    human = [[0, -5, np.nan], [-1, -5, -2], [-4, 0, -1]]
    scores = {"m": [[3, 1, 2], [2, 2, 2], [1, 3, np.nan]]}
    es = mm.EvalSet(human, scores, systems=list("ABC"), documents=["d", "d", "e"])
    pairs = la.natural_pairs(es)
    assert (pairs["human"] > pairs["human_worse"]).all()
    assert pairs["doc"].tolist() == ["d"] * 5 + ["e"]
    row = la.local_accuracy(pairs, context="perturbation", missing="drop").iloc[0]
    assert row[["context", "accuracy", "n_missing"]].tolist() == ["human preference", 1, 1]
    few = la.natural_pairs(es, max_per_segment=1, rng=1)
    assert (few["segment"].tolist(), len(few.merge(pairs))) == ([1, 2, 3], 3)


def test_a_guide_says_in_a_row_what_is_best_in_a_context(pairs):
    found = la.guide(pairs, parts=["recommended"], n_resamples=20)
    advice = la.recommend(pairs, context="system", n_resamples=20)
    table = found.to_frame().set_index("context")
    best = advice.table[advice.table["verdict"] == "best"].groupby("context")["metric"].agg(", ".join)
    assert (table["best"].to_dict(), table.columns[-1]) == (best.to_dict(), f"loss of {advice.global_winner}")
    losses = advice.table.query("metric == @advice.global_winner").set_index("context")["loss"]
    assert table.iloc[:, -1].to_dict() == losses.to_dict()
    assert la.scored_pairs(pairs) is pairs
    refuses("`parts` must be one of", la.guide, pairs, parts=["everything"])


@pytest.mark.parametrize(("n", "bound"), [(1, 0), (3, 0), (5, 0), (6, 0.08), (12, 0.08), (20, 0.08)])
def test_a_coin_is_rarely_worse_than_a_coin(n, bound):
    """400 contexts of n pairs and three coins; of contexts with 3 pairs, .34 once had a coin that was called worse."""
    wins = np.random.default_rng(n).random((400 * n, 3)) < 0.5
    pairs = pd.DataFrame({"segment": range(len(wins)), "system": np.arange(len(wins)) // n})
    pairs = pairs.assign(**{f"m{k}": wins[:, k] * 1.0 for k in range(3)}, **{f"m{k}_perturbed": 0.5 for k in range(3)})
    found = la.recommend(pairs, context="system", n_resamples=200)
    assert (found.table["verdict"] == "worse").groupby(found.table["context"]).any().mean() <= bound
    assert (found.table["verdict"] == "best").any() == (n >= 6)
    accuracy = la.local_accuracy(pairs, context="system", n_resamples=200)
    ends = accuracy[["low", "high"]]
    assert ends.isna().to_numpy().all() if n < 6 else (ends["high"] - ends["low"]).min() > 0.01
    covered = ((ends["low"] <= 0.5) & (ends["high"] >= 0.5)).mean()
    assert n < 6 or covered >= 0.92
    advice = la.guide(pairs, parts=["recommended"], n_resamples=20).to_frame()
    assert ((advice["best"] == "") & advice["accuracy"].isna()).all() == (n < 6)


@pytest.mark.parametrize(("change", "options", "match"), [
    ({}, {"metrics": []}, "the list of metrics is empty"),
    ({}, {"ties": "drop"}, "`ties` must be one of"), ({}, {"missing": "zero"}, "`missing` must be one of"),
    ({}, {"n_resamples": -1}, "`n_resamples` must be at least 0"),
    ({"m1": "high"}, {}, "'m1' must hold numbers; found 'high'"), ({}, {"unit": "system"}, "cannot be the unit"),
    ({"domain": None}, {"context": "domain"}, "the column 'domain' is empty in 600 of 600"),
    ({"m1": np.inf}, {}, "the column 'm1' holds an infinite score"),
    ({"m2": lambda t: t["m2"].mask(t["segment"] < 10)}, {}, r"'m2' lacks a score in 150 of 600 .*missing='drop'"),
    ({"m1": np.nan}, {"missing": "drop"}, "metric 'm1' scored no pair at all"),
])  # fmt: skip
def test_errors_say_what_was_found(pairs, change, options, match):
    refuses(match, la.local_accuracy, pairs.assign(**change), **{"context": "system"} | options)


def test_errors_of_shape(pairs):
    bare = pairs[["segment", "system", "m1"]]
    refuses(r"two columns are expected, M and M_perturbed; found \['segment'", la.local_accuracy, bare, context=None)
    refuses("unknown column 'segment'", la.local_accuracy, pairs.drop(columns="segment"), context=None)
    named = pairs.replace({"system": {"V": "V / W"}})
    named["domain"] = np.where(named["system"] == "W", "chat / V", "chat")
    refuses("two contexts would get one name", la.local_accuracy, named, context=["domain", "system"])
    refuses("has no row", la.local_accuracy, pairs[:0], context=None)
    refuses(
        "metrics and two contexts; found 1 and 5", order_matrix.tau_ap_matrix, pairs, context="system", metrics="m1"
    )
    lost = pairs.assign(m1=pairs["m1"].mask(pairs["system"] == "W"))
    refuses("'m1' scored no pair in context 'W'; drop either", la.recommend, lost, context="system", missing="drop")
    whole = pairs.replace({"system": {"V": "global"}})
    refuses("a context is called 'global'", order_matrix.tau_ap_matrix, whole, context="system")
    refuses("lacks the column 'transcript'", la.length_metric, pairs)
    scored = pairs.assign(transcript="a b", perturbed="a", length=2.0)
    refuses("has a column 'length' already", la.length_metric, scored)
    refuses("in one only: \\['c', 'd'\\]", la.tau_ap, {"a": 1, "b": 2, "c": 3}, {"a": 1, "b": 2, "d": 3})
    refuses("the same two or more items", la.tau_ap, [1], [1])
    refuses("holds NaN", la.tau_ap, [1, np.nan], [1, 2])
    refuses("could not convert string to float", la.tau_ap, ["x", "y"], [1, 2])


def test_scores_of_any_size_are_compared():
    # NLTK's BLEU of one sentence: orders without a match count 2.2e-308
    scores = {"bleu_nltk": [3e-231, 3e-78, 0.5, 3e-155], "bleu_nltk_perturbed": [0.0, 1e-150, 0.6, 3e-156]}
    pairs = pd.DataFrame({"segment": [1, 2, 3, 4], "system": "A", **scores})
    assert la.local_accuracy(pairs, context="system", n_resamples=9)["accuracy"].tolist() == [0.75]


@pytest.mark.exhaustive
def test_the_stored_campaigns_of_chapter_7_are_recomputed():
    path = Path(__file__).resolve().parents[1] / "tools" / "calibration" / "local_accuracy.py"
    tool = runpy.run_path(str(path))
    stored = pd.read_csv(tool["WHERE"])
    assert stored["seed"].tolist() == list(range(1, 21))
    for seed in (1, 20):
        pd.testing.assert_frame_equal(
            pd.DataFrame([tool["outcome"](seed)]), stored[stored["seed"] == seed].reset_index(drop=True), atol=1e-6
        )
