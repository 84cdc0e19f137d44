"""What a difference is worth: hand cases, coverage, and bad input."""

import itertools
from io import StringIO

import numpy as np
import pandas as pd
import pytest
from campaigns import refuses
from scipy.special import expit, logit

import mtmeta as mm
from mtmeta import differences
from mtmeta.evalset import EvalSet


def of_systems(human, metric, name="unnamed"):
    """Return a set whose system scores are these."""
    systems, columns = [chr(65 + k) for k in range(len(human))], {"human": human, "m": metric}
    return EvalSet(
        np.c_[human],
        {"m": np.c_[metric]},
        systems=systems,
        name=name,
        about={"system_scores": pd.DataFrame(columns, systems)},
    )


#: Differences 1, 3, 7, 2, 6, 4; humans agree with all but the first.
HAND = of_systems([-2, -1, -3, -6], [30, 29, 27, 23])


def test_pairs_of_four_systems_and_of_systems_that_are_numbers():
    pairs = differences.system_pairs(HAND, "m")
    assert ["".join(p) for p in pairs[["first", "second"]].to_numpy()] == ["AB", "AC", "AD", "BC", "BD", "CD"]
    assert (pairs["difference"].tolist(), pairs["agreement"].tolist()) == ([1, 3, 7, 2, 6, 4], [0, 1, 1, 1, 1, 1])
    turned = differences.system_pairs(of_systems([1, 2, 3], [3, 2, 1]), "m")
    assert ["".join(p) for p in turned[["first", "second"]].to_numpy()] == ["AB", "AC", "BC"]
    assert not turned["agreement"].any()
    rising = differences.system_pairs(of_systems([1, 2, 3], [1, 2, 3]), "m")
    assert ["".join(p) for p in rising[["first", "second"]].to_numpy()] == ["BA", "CA", "CB"]  # preferred first
    es = EvalSet([[2], [1], [0]], {"m": [[1], [2], [0]]}, systems=[7, 8, 9])
    assert differences.curve(es, "m", n_resamples=5).to_frame()["n_systems"].item() == 3


def test_curve_reads_both_ways():
    found = differences.curve(mm.load("teaching"), "chrF", n_resamples=200)
    x, y = found.pairs["difference"], found.pairs["agreement"]
    assert (x * (y - expit(found.slope * x))).sum() == pytest.approx(0, abs=1e-9)
    chance, low, high = found.chance(logit(0.8) / found.slope).loc[0, ["chance", "low", "high"]]
    assert low < chance < high
    assert chance == pytest.approx(0.8)
    assert found.chance(0).to_numpy().tolist() == [[0, 0.5, 0.5, 0.5]]
    assert found.to_frame().iloc[0, 4:9].tolist() == [x.max(), 66, 12, 1, 0]
    assert "unit:system|n_resamples:200|rng:0|sets:teaching" in found.signature


def test_a_metric_turned_round():
    other = of_systems([-2, -1, -3, -6], [-30, -29, -27, -23])
    slopes = [differences.curve(es, "m", n_resamples=50).slope for es in (HAND, other)]
    assert slopes[0] == pytest.approx(-slopes[1]) != 0


def test_fewer_segments_are_those_of_the_set_and_systems_without_a_score_make_no_pair():
    es = mm.load("teaching")
    whole = differences.system_pairs(es, "Judge")
    again = differences.system_pairs(es, "Judge", n_segments=300, n_samples=2)
    assert again["sample"].tolist() == [1] * 66 + [2] * 66
    for _, sample in again.groupby("sample"):
        np.testing.assert_allclose(sample["difference"], whole["difference"], atol=1e-12)
        assert sample["agreement"].tolist() == whole["agreement"].tolist()
    one = differences.system_pairs(es, "Judge", n_segments=1, n_samples=1, rng=3)
    column = np.random.default_rng(3).choice(300, 1, replace=False)
    scores = dict(zip(es.systems, es["Judge"][:, column[0]], strict=True))
    assert one["difference"].tolist() == [abs(scores[a] - scores[b]) for a, b in one[["first", "second"]].to_numpy()]
    es = EvalSet([[1, 1], [0, 0], [2, 2]], {"m": [[3, 4], [2, np.nan], [1, 1]]}, systems=list("ABC"))
    found = differences.system_pairs(es, "m", n_segments=1, n_samples=30)
    assert set(found.groupby("sample").size()) == {1, 3}
    es = EvalSet([[1, 1], [0, np.nan]], {"m": [[3, 3], [2, 9]]}, systems=["A", "B"])  # nobody rated the 9
    assert set(differences.system_pairs(es, "m", n_segments=1, n_samples=9)["difference"]) == {1}


def test_bad_input():
    es = mm.load("teaching")
    curve, pairs = differences.curve, differences.system_pairs
    refuses("unknown metric in set 'teaching': 'chrf'. Did you mean 'chrF'", curve, es, "chrf")
    refuses("gives all systems of a set one score", curve, es, "SourceOnly")
    refuses("humans agree with all of the 1 differences", curve, of_systems([1, 0], [1, 0]), "m")
    refuses("a name of its own; found 'unnamed', 'unnamed'", pairs, [HAND, HAND], "m")
    refuses("`n_segments` must be at most 300; found 301", pairs, es, "Judge", n_segments=301)
    refuses("`n_samples` must be at least 1", pairs, es, "Judge", n_segments=5, n_samples=0)
    official = pd.DataFrame({"m": [5, 6]}, ["A", "B"])
    for metrics in ({"m": [[1], [2]]}, {}):
        corpus = EvalSet([[1], [0]], metrics, systems=["A", "B"], about={"system_scores": official})
        refuses("not means of segment scores, so fewer segments have none", pairs, corpus, "m", n_segments=1)
    found = curve(HAND, "m", n_resamples=5)
    refuses("`difference` must be at least 0", found.chance, [1, -1])


def test_curves_of_wmt23_are_shipped():
    assert differences.wmt23_curve("BLEU")["n_segments"].tolist() == [0]
    sizes = [differences.wmt23_curve("COMET", n_segments=n)["n_segments"].item() for n in (30, 99, 100, 556, 557, 2000)]
    assert sizes == [30, 30, 100, 300, 0, 0]
    slopes = [differences.wmt23_curve("COMET", n_segments=n)["slope"].item() for n in (30, 100, 300, 557)]
    assert slopes == sorted(slopes)
    refuses("unknown metric in WMT23: 'chrf'. Did you mean 'chrF'", differences.wmt23_curve, "chrf")
    why = "no curve of 'chrF' for 100 segments; the smallest is for 557. Fit a curve .*--set my_scores.csv"
    refuses(why, differences.wmt23_curve, "chrF", n_segments=100)


def test_pairs_with_a_human_translation_are_named():
    es = mm.EvalSet(
        [[3], [2], [1], [0]], {"m": [[1], [3], [2], [0]]}, systems=["refA", *"BCD"], about={"human_systems": ["refA"]}
    )
    pairs = differences.system_pairs(es, "m")
    assert pairs["human"].tolist() == ["refA" in pair for pair in zip(pairs["first"], pairs["second"], strict=True)]
    row = differences.curve(es, "m", n_resamples=5).to_frame().loc[0]
    assert (row["n_human"], row["human_agreement"], row["largest"]) == (3, pytest.approx(1 / 3), 3)
    below = mm.EvalSet(
        [[3], [2], [1], [0]], {"m": [[-9], [3], [2], [1]]}, systems=es.systems, about={"human_systems": ["refA"]}
    )
    row = differences.curve(below, "m", n_resamples=5).to_frame().loc[0]  # 12 occurs with the human translation alone
    assert (row["human_agreement"], row["largest"]) == (0, 2)
    row = differences.wmt23_curve("chrF").loc[0]
    assert (row["n_human"], row["human_agreement"]) == (12, pytest.approx(7 / 12, rel=1e-4))


def test_curves_of_wmt23_are_recomputed(data_dir):
    sets = mm.load_all("wmt23")
    for metric, n_segments in (("chrF", None), ("COMET", None), ("COMET", 100)):
        options = {"n_segments": n_segments}
        stored = differences.wmt23_curve(metric, **options)
        again = differences.curve(sets, metric, n_samples=10, **options).to_frame()
        stored, again = (table.drop(columns=["metric", "n_segments"], errors="ignore") for table in (stored, again))
        np.testing.assert_allclose(stored, again, rtol=1e-4)


def two_systems(gaps, documents=None, name="m"):
    """Return a set without human scores of two systems whose scores differ by these gaps."""
    nobody = np.full((2, len(gaps)), np.nan)
    scores = np.array([gaps, np.zeros(len(gaps))])
    return EvalSet(nobody, {name: scores}, systems=["A", "B"], documents=documents, unrated="keep")


def test_two_systems_are_exchanged_in_whole_units():
    gaps = [3.0, 1, 2, -1, 2, 4, -2, 1]
    row = mm.compare_systems(two_systems(gaps), "A", "B", n_resamples=20_000).iloc[0]
    every = np.array(list(itertools.product([1, -1], repeat=8))) @ gaps
    exact = (np.abs(every) >= sum(gaps)).mean()
    assert (row["difference"], row["n"], row["unit"]) == (np.mean(gaps), 8, "segment")
    assert row["p"] == pytest.approx(exact, abs=0.01)
    turned = mm.compare_systems(two_systems(gaps), "B", "A", n_resamples=20_000).iloc[0]
    assert [turned[k] for k in ("difference", "low", "high")] == [-row["difference"], -row["high"], -row["low"]]
    student = 2.3646 * np.std(gaps, ddof=1) / np.sqrt(8)  # few units: at least as long as Student's
    assert row["low"] <= row["difference"] - student + 0.02
    documents = [str(k // 4) for k in range(80)]
    row = mm.compare_systems(two_systems(np.repeat(gaps, 10), documents), "A", "B").iloc[0]
    assert (row["n"], row["unit"]) == (20, "document")


def test_few_units_have_no_p_value_and_wmt23_has_curves_of_its_own_metrics_only():
    row = mm.compare_systems(two_systems([1.0, 2, 3, 4, 5]), "A", "B").iloc[0]
    assert (row["difference"], row[["low", "high", "p"]].isna().all()) == (3, True)
    slope = differences.wmt23_curve("COMET", n_segments=100).loc[0, "slope"]
    agreed = mm.compare_systems(two_systems([0.004, 0.006] * 50, name="COMET"), "A", "B")["people_agree"][0]
    assert agreed == pytest.approx(expit(0.005 * slope))
    for es in (two_systems([0.005] * 10, name="COMET"), two_systems([9.0] * 100, name="COMET")):
        assert np.isnan(mm.compare_systems(es, "A", "B")["people_agree"][0])  # too few segments, no such difference


def test_all_pairs_are_corrected_together():
    es = mm.load("teaching").select(systems=["Aster", "Dune", "Ember", "Kelp"], metrics=["Judge"])
    every = mm.compare_systems(es)
    assert every.groupby("metric").size().to_dict() == {"human": 6, "Judge": 6}
    raised = set()
    for row in every.itertuples():
        alone = mm.compare_systems(es, row.first, row.second).set_index("metric").loc[row.metric]
        assert (alone["difference"], alone["low"], alone["p"] <= row.p) == (row.difference, row.low, True)
        raised |= {row.metric} if alone["p"] < row.p else set()
    assert raised == {"human", "Judge"}
    aster, means = every.query("metric == 'Judge' and first == 'Aster'")["difference"], es["Judge"].mean(axis=1)
    assert aster.tolist() == pytest.approx((means[0] - means[1:]).tolist())
    refuses("unknown system None", mm.compare_systems, es, "Aster")
    refuses("'Ember'", mm.compare_systems, es, "Aster", "Embers")
    x = np.random.default_rng(1).normal(size=(3, 24)).cumsum(axis=0)
    x[0, 12:] = x[2, :9] = np.nan  # the first and the third share too few segments, so two pairs are left
    every, one = (mm.compare_systems(EvalSet(x, {"m": x}, systems=list("ABC")), *pair) for pair in ((), "BC"))
    assert every["p"][2] > one["p"][0]


def test_the_command_on_systems(command_line, tmp_path):
    code, out, err = command_line("systems", "Ember", "Aster", "teaching", "--format", "csv")
    table = pd.read_csv(StringIO(out))
    assert (code, table["metric"].tolist()) == (0, ["human", *mm.load("teaching").metrics])
    assert "teaching: Ember is better by 8 of 10 metrics (8 with p < 0.05), Aster is better by 1 of 10 metrics" in err
    texts = mm.load("teaching").to_frame().drop(columns="human")
    texts.to_csv(tmp_path / "unrated.csv", index=False)
    asked = ("--metric", "chrF", "--format", "csv")
    code, out, _ = command_line("systems", "Ember", "Aster", tmp_path / "unrated.csv", *asked)
    assert (code, pd.read_csv(StringIO(out))["metric"].tolist()) == (0, ["chrF"])
    code, out, _ = command_line("systems", "--all", "--figure", tmp_path / "f.png", tmp_path / "unrated.csv", *asked)
    assert (code, len(pd.read_csv(StringIO(out))), (tmp_path / "f.png").stat().st_size > 5000) == (0, 66, True)
    assert command_line("systems", "Ember", "teaching")[0] == 2
    assert command_line("systems", "Ember", "Aster", "teaching", "--figure", tmp_path / "g.png")[0] == 2
