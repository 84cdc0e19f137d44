"""Ties: calibration, noise, sub-sampling, held-out calibration, and agreement without a threshold."""

import exact
import numpy as np
import pandas as pd
import pytest
from campaigns import WORKED, as_set, column, refuses

import mtmeta as mm
from mtmeta import agreement, ties
from mtmeta.ties._subsample import drop_probabilities


def test_pairs_that_do_not_fit_into_memory_are_refused(monkeypatch):
    monkeypatch.setattr(agreement.coefficients, "MOST_PAIRS", 2)
    refuses("at most 2 pairs of translations; found 3", mm.calibrate_ties, column([0, 0, 1], [0, 0, 1]), "m")


def test_each_threshold_stands_in_the_curve_once_with_the_coefficient_there():
    # one pair is tied in both; two are concordant, at a difference of 1
    thresholds, values = agreement.coefficients.calibration_curve(
        agreement.groups.grouped(column([0, 0, 1], [0, 0, 1]), "m", "segment")
    )
    assert (thresholds.tolist(), values.tolist()) == ([0, 1], pytest.approx([1, 1 / 3]))
    # at a difference of 1 one pair tied by the humans is gained and a concordant one is lost; at 2 one is lost
    result = mm.calibrate_ties(column([0, 0, 1], [0, 1, 2]), "m")
    assert (result.thresholds.tolist(), result.curve.tolist()) == ([0, 2], pytest.approx([2 / 3, 1 / 3]))
    rng = np.random.default_rng(0)
    es = as_set(-rng.integers(0, 4, (4, 6)).astype(float), rng.integers(0, 9, (4, 6)) / 8)
    result = mm.calibrate_ties(es, "m")
    for epsilon, value in zip(result.thresholds, result.curve, strict=True):
        again = mm.correlate(es, coefficient="acc_eq", epsilon=float(epsilon)).value[0]
        assert value == pytest.approx(again, abs=1e-12)
    assert np.diff(result.curve).all()


def test_group_sizes_without_a_small_common_multiple_fall_back_to_floats():
    sizes = [n for n in range(2, 60) if all(n % d for d in range(2, n))]  # primes
    human, rng = np.full((max(sizes), len(sizes)), np.nan), np.random.default_rng(1)
    for j, n in enumerate(sizes):
        human[:n, j] = rng.integers(0, 3, n)
    metric = rng.random(human.shape)
    cells = agreement.groups.grouped(as_set(human, metric), "m", "segment")
    assert agreement.groups.pair_weights(cells)[0].dtype == np.float64
    epsilon, value = agreement.coefficients.calibration(cells)
    assert value == pytest.approx(float(exact.accuracy(human, metric, "segment", epsilon)), abs=1e-12)


def test_options_and_shares_are_checked():
    refuses("unknown metric 'n'", mm.calibrate_ties, column(*WORKED), "n")
    assert drop_probabilities(0.0, 0.0) == drop_probabilities(1.0, 1.0) == (0, 0)
    for share, wanted, message in (
        (0.0, 0.5, r"0\.5 cannot be reached.*no pair is tied"),
        (1.0, 0.5, "no pair is untied"),
        (0.2, 60, r"`wanted` must be a share in \[0, 1\]; found 60"),
    ):
        refuses(message, drop_probabilities, share, wanted)
    for share in (True, "a", np.nan, -0.1, 1.1):
        refuses("`tie_share` must be", drop_probabilities, share, 0.5, error=(ValueError, TypeError))


def test_segments_without_an_order_to_find_are_counted():
    es = mm.EvalSet([[0, 1], [1, 1]], {"m": [[0, 0], [0, 1]]}, systems=["A", "B"])
    assert ties.expected_accuracy(es).iloc[0].tolist() == ["m", 0.5, 1, 1, 1]


def test_noise_breaks_every_tie_and_leaves_holes():
    noisy = ties.discrete_to_continuous([[0, 0, np.nan], [-1, -1, 0]], rng=1)
    assert np.isnan(noisy[0, 2])
    assert len(np.unique(noisy[~np.isnan(noisy)])) == 5
    np.testing.assert_array_equal(noisy, ties.discrete_to_continuous([[0, 0, np.nan], [-1, -1, 0]], rng=1))
    for scores, message in (
        ([1.0, 1.0 - 2**-53, 0.0], r"only 1\.11e-16 apart.*round the scores"),
        ([1e18, 1e18], r"noise of standard deviation 1 is lost in scores of 1e\+18"),
        ([np.nan], "no score"),
        ([0, np.inf], "finite"),
    ):
        refuses(message, ties.discrete_to_continuous, scores)


@pytest.fixture(scope="module")
def campaign():
    es = mm.load("teaching")
    names = ("Regressor", "chrF", "Judge", "Tagger")
    twins = {f"{name} twin": ties.discrete_to_continuous(es[name]) for name in ("Judge", "Tagger")}
    return es.with_metrics({name: es[name] for name in names} | twins | {"constant": 0 * es.human})


def test_default_shares_and_thresholds_in_standard_deviations(campaign):
    table = ties.subsample_ties(campaign, ["Judge"], n_resamples=10)
    assert table.groupby("share").size().to_dict() == {k / 20: 10 for k in range(13)}
    assert table.groupby("share").n_pairs.mean().idxmax() == 0.25  # least is dropped near the share of the data
    es = column([0, 0, 1], [0, 0.125, 0.375]).with_metrics({"m": [[0], [0.125], [0.375]], "flat": np.ones((3, 1))})
    table = ties.subsample_ties(es, shares=[1 / 3], n_resamples=1).set_index("metric")
    assert table.loc["m", "epsilon"] == 0.125
    assert table.loc["m", "epsilon_sd"] == pytest.approx(0.125 / np.std([0, 0.125, 0.375]))
    assert np.isnan(table.loc["flat", "epsilon_sd"])


def test_each_metric_counts_its_own_pairs_and_options_are_checked(campaign):
    rng = np.random.default_rng(5)
    human, scores = rng.integers(0, 3, (4, 12)).astype(float), rng.random((3, 4, 12))
    scores[1, 0, :3], scores[2, 2, 6:] = np.nan, np.nan
    es = as_set(human, scores[0]).with_metrics(dict(zip("abc", scores, strict=True)))
    options = {"shares": [0.2], "n_resamples": 2}
    together = ties.subsample_ties(es, ["a", "b", "c"], **options)
    alone = pd.concat(ties.subsample_ties(es, [name], **options) for name in "abc")
    in_order = (table.sort_values(["draw", "metric"], ignore_index=True) for table in (together, alone))
    pd.testing.assert_frame_equal(*in_order)
    assert together["n_pairs"].nunique() > 1
    for es, options, message in (
        (campaign, {"average": "mean"}, "`average` must be one of 'segment', 'pair'"),
        *((campaign, {"n_resamples": n}, "`n_resamples` must be") for n in (0, 1.5, True)),
        (campaign, {"metrics": "judge"}, "unknown metric 'judge'"),
        (mm.EvalSet([[0, 1]], {"m": [[0, 1]]}, systems=["A"]), {}, "no segment has two rated translations"),
        # the metric scored the tied pair alone
        (column([0, 0, 1], [0, 1, np.nan]), {"shares": [0]}, "no pair is left in a sub-sample"),
    ):
        refuses(message, ties.subsample_ties, es, error=(ValueError, TypeError), **options)


def test_held_out_ties_move_the_threshold_not_the_test(campaign):
    table = ties.held_out_calibration(campaign, shares=[0, 0.3, 0.6], n_resamples=4)
    assert table.loss.min() > -1e-12
    assert table.groupby(["metric", "draw"]).in_sample.nunique().eq(1).all()
    mean = table.groupby(["metric", "share"]).mean(numeric_only=True)
    assert mean.tie_share.loc["chrF"].tolist() == pytest.approx([0, 0.3, 0.6], abs=0.02)
    assert mean.epsilon.loc["chrF"].is_monotonic_increasing
    # far from the tie share of the test part, the threshold costs more
    assert mean.loss["chrF", 0.6] > mean.loss["chrF", 0.3]
    for held_out in (0, 0.001, 1, 1.5):
        refuses("cannot be split", ties.held_out_calibration, campaign, held_out=held_out)
    refuses("`n_resamples`", ties.held_out_calibration, campaign, shares=None, n_resamples=-1)


def test_a_metric_in_other_units_has_one_threshold_one_rank_and_no_advantage(teaching):
    es = teaching.with_metrics({"m": teaching["Regressor"].round(2), "chrF": teaching["chrF"]})
    copies = {name: scale * es["m"] + offset for name, scale, offset in (("a", 0.1, 0), ("b", 1 / 3, 50))}
    es = es.with_metrics({name: es[name] for name in es.metrics} | copies)
    for coefficient in ("acc_eq", "tau_eq", "kendall"):
        value = mm.correlate(es, coefficient=coefficient).set_index("metric")["value"]
        assert value["m"] == value["a"] == value["b"]
        found = mm.compare(es, coefficient=coefficient, n_resamples=50)
        ranks = found.table.set_index("metric").loc[["m", "a", "b"]]
        assert ranks["rank"].nunique() == ranks["best_rank"].nunique() == ranks["worst_rank"].nunique() == 1
        p_values = [found.p_values[y].get(x) for x in "mab" for y in "mab"]
        assert {p for p in p_values if not np.isnan(p)} == {1.0}
    assert mm.calibrate_ties(es, "a").epsilon == pytest.approx(mm.calibrate_ties(es, "m").epsilon / 10)
    apart = {m: len(mm.calibrate_ties(es, m).thresholds) for m in ("m", "a", "b")}
    assert len(set(apart.values())) == 1
    table = mm.rank(es, protocol="wmt24", n_resamples=50).table.set_index("metric")
    assert (
        table.loc[["m", "a", "b"], ["score", "rank", "best_rank", "worst_rank"]].round(12).nunique().tolist() == [1] * 4
    )
    # the reference implementation keeps differences apart that differ in their last digit
    published = mm.correlate(es, ["m", "a"], coefficient="acc_eq", epsilon="published")["value"]
    assert published[0] != published[1]
    assert mm.correlate_groups(es, "a", coefficient="acc_eq", epsilon="published")["value"].mean() == published[1]
    task = mm.protocols.Task("acc_eq", "segment", "segment")
    assert task.values([es], ["m", "a"], ties="published") == published.tolist()
    assert (
        mm.compare(es, coefficient="acc_eq", method="published").table.set_index("metric")["value"]["a"] == published[1]
    )


def test_centred_scores_tie_where_they_should(teaching):
    """Subtracting means makes 1,152 numbers of the 809 that are meant; humans then tie as in whole numbers."""
    human, n = teaching.human, len(teaching.systems)
    whole = np.rint(1000 * n * human) - np.rint(1000 * human).sum(axis=0)
    rest = human - human.mean(axis=0)
    assert (len(np.unique(rest)), len(np.unique(whole))) == (1152, 809)
    sets = (mm.evalset.Computed(h, {"m": teaching["Judge"]}, systems=teaching.systems) for h in (rest, whole))
    one, other = ([mm.correlate(es, coefficient=c, grouping="none")["value"][0] for c in ("kendall", "acc_eq")]
                  for es in sets)  # fmt: skip
    assert one == other


def test_differences_equal_to_a_given_threshold_are_tied():
    es = mm.EvalSet([[0], [1], [2]], {"m": [[0.1], [0.2], [0.3]]}, systems=list("ABC"))  # .3 - .2 < .1 < .2 - .1
    value = {e: mm.correlate(es, coefficient="acc_eq", epsilon=e)["value"][0] for e in (0.05, 0.1, 0.2)}
    assert value == {0.05: 1, 0.1: pytest.approx(1 / 3), 0.2: 0}
    assert mm.calibrate_ties(es, "m").thresholds == pytest.approx([0, 0.1, 0.2])


def test_thresholds_closer_than_a_billionth_of_the_range_are_one():
    """Humans tie the first segment only. A threshold between the two differences would be right about both."""
    for apart, best in ((1e-8, 1.0), (1e-10, 0.5)):
        es = mm.EvalSet([[0, 0], [0, 1]], {"m": [[0, 0], [1, 1 + apart]]}, systems=["A", "B"])
        assert mm.calibrate_ties(es, "m").value == best
        assert mm.correlate(es, ["m"], coefficient="acc_eq")["value"].tolist() == [best]


def test_a_part_without_the_ties_that_are_wanted_is_drawn_again():
    # one segment in ten has a tie, so most parts of three segments have none
    human = np.tile([[0.0], [1.0]], 20)
    human[1, ::10] = 0
    es = mm.EvalSet(human, {"m": human + np.linspace(0, 0.1, 20)}, systems=["A", "B"])
    table = ties.held_out_calibration(es, held_out=0.15, shares=[0.5], n_resamples=8, rng=0)
    assert table["tie_share"].between(0, 1).all()
    assert (ties.held_out_calibration(es, held_out=0.15, shares=None, n_resamples=8, rng=0)["tie_share"] == 0).any()
    message = r"the tie shares 0\.5 cannot be reached: 100 parts of 4 segments"
    refuses(message, ties.held_out_calibration, es.select(segments=range(2, 11)), shares=[0.5])
