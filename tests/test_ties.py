"""Ties: calibration, noise, sub-sampling, held-out calibration, and agreement without a threshold."""

import itertools

import numpy as np
import oracle
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_agreement import as_set, campaigns, column, usable

import mtmeta as mm
from mtmeta import agreement, ties
from mtmeta.ties import _free, _held_out, _noise

WORKED = ([5, 3, 5, 5], [0.6, 0.5, 0.4, 0.4])


def test_worked_example():
    """Perrella et al. 2024, appendix F: acc_eq is 1/3, and 1/2 once everything is a tie."""
    result = mm.calibrate_ties(column([5, 3, 5, 5], [0.6, 0.5, 0.4, 0.4]), "m")
    assert result.curve[0] == pytest.approx(2 / 6)
    assert result.value == pytest.approx(3 / 6)
    # .6 - .4 is not .2 in binary: the threshold is the difference as it was computed
    assert result.epsilon == 0.6 - 0.4 != 0.2
    assert result.to_frame().columns.tolist() == ["epsilon", "value"]
    assert "acc_eq|grouping:segment" in result.signature


def test_tau_eq_uses_the_same_threshold():
    es = column([5, 3, 5, 5], [0.6, 0.5, 0.4, 0.4])
    accuracy, tau = (mm.calibrate_ties(es, "m", coefficient=c) for c in ("acc_eq", "tau_eq"))
    assert tau.epsilon == accuracy.epsilon
    np.testing.assert_allclose(tau.curve, 2 * accuracy.curve - 1)


def test_smallest_of_equally_good_thresholds_wins():
    # pairs by difference: .1 human tie, .2 and .3 concordant; epsilon .1 gets all three right
    assert mm.calibrate_ties(column([0, 0, 1], [0.0, 0.125, 0.375]), "m").epsilon == 0.125
    # nothing to gain: 0 is kept
    assert mm.calibrate_ties(column([0, 1, 2], [0.0, 0.5, 1.0]), "m").epsilon == 0


def test_one_threshold_serves_all_groups():
    # segment 1 wants ties (humans tie at difference 1), segment 2 does not (concordant at difference 1), twice
    es = mm.EvalSet([[0, 0, 0], [0, 1, 1]], {"m": [[0, 0, 0], [1, 1, 1]]}, systems=["A", "B"])
    result = mm.calibrate_ties(es, "m")
    assert result.epsilon == 0
    assert result.value == pytest.approx(2 / 3)
    assert result.curve.tolist() == pytest.approx([2 / 3, 1 / 3])


@settings(max_examples=100, deadline=None)
@given(campaigns())
def test_calibration_equals_the_oracle(campaign):
    human, metric = campaign
    for grouping in agreement.GROUPINGS:
        if not usable(human, metric, grouping):
            continue
        epsilon, value = oracle.calibrate(human, metric, grouping)
        result = mm.calibrate_ties(as_set(human, metric), "m", grouping=grouping)
        assert (result.epsilon, result.value) == (epsilon, pytest.approx(value, abs=1e-12))
        again = mm.correlate(as_set(human, metric), coefficient="acc_eq", grouping=grouping).value[0]
        assert again == pytest.approx(result.value, abs=1e-12)


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(campaigns())
def test_binned_calibration_equals_the_sorted_one(campaign):
    human, metric = campaign
    for grouping in agreement.GROUPINGS:
        if usable(human, metric, grouping):
            cells = agreement.grouped(as_set(human, metric), "m", grouping)
            weights, total = agreement._pair_weights(cells)
            assert agreement._binned_calibration(cells, weights, total) == agreement.calibration(cells)


def test_many_pairs_are_binned(monkeypatch):
    cells = agreement.grouped(column([0, 0, 1], [0, 0, 1]), "m", "segment")
    monkeypatch.setattr(agreement, "_binned_calibration", lambda *given: "binned")
    for limit, expected in ((2, "binned"), (3, "binned"), (4, (0.0, 1.0))):
        monkeypatch.setattr(agreement, "_BINNED_FROM", limit)
        assert agreement.calibration(cells) == expected


def test_whole_weights_give_each_group_the_same_say():
    human = np.array([[0, 0.0], [1, 1], [2, np.nan]])  # 3 pairs and 1
    weights, total = agreement._pair_weights(agreement.grouped(as_set(human, human), "m", "segment"))
    assert (weights.tolist(), weights.dtype, total) == ([1, 3], np.int64, 6)


def test_each_threshold_stands_in_the_curve_once():
    # one pair is tied in both; two are concordant, at a difference of 1
    thresholds, values = agreement.calibration_curve(agreement.grouped(column([0, 0, 1], [0, 0, 1]), "m", "segment"))
    assert thresholds.tolist() == [0, 1]
    assert values.tolist() == pytest.approx([1, 1 / 3])


def test_curve_is_the_coefficient_at_each_threshold():
    rng = np.random.default_rng(0)
    es = as_set(-rng.integers(0, 4, (4, 6)).astype(float), rng.integers(0, 9, (4, 6)) / 8)
    result = mm.calibrate_ties(es, "m")
    for epsilon, value in zip(result.thresholds, result.curve, strict=True):
        again = mm.correlate(es, coefficient="acc_eq", epsilon=float(epsilon)).value[0]
        assert value == pytest.approx(again, abs=1e-12)


def test_unequal_groups_weigh_the_same():
    # a segment rated for 2 systems counts as much as one rated for 3
    human = np.array([[0, 0.0], [1, 1], [2, np.nan]])
    metric = np.array([[0, 1.0], [1, 0], [2, 0]])
    value = mm.correlate(as_set(human, metric), coefficient="acc_eq", epsilon=0).value[0]
    assert value == pytest.approx((3 / 3 + 0 / 1) / 2)


def test_group_sizes_without_a_small_common_multiple_fall_back_to_floats():
    sizes = [n for n in range(2, 60) if all(n % d for d in range(2, n))]  # primes
    human = np.full((max(sizes), len(sizes)), np.nan)
    rng = np.random.default_rng(1)
    for j, n in enumerate(sizes):
        human[:n, j] = rng.integers(0, 3, n)
    metric = rng.random(human.shape)
    cells = agreement.grouped(as_set(human, metric), "m", "segment")
    assert agreement._pair_weights(cells)[0].dtype == np.float64
    epsilon, value = agreement.calibration(cells)
    assert value == pytest.approx(oracle.acc_eq(human, metric, "segment", epsilon), abs=1e-12)


def test_human_tie_share_by_hand():
    es = mm.EvalSet([[5, 1], [3, 1], [5, np.nan], [5, np.nan]], {}, systems=list("ABCD"))
    assert ties.human_tie_share(es) == pytest.approx((3 / 6 + 1) / 2)
    assert ties.human_tie_share(es, grouping="none") == pytest.approx((3 + 1) / 15)
    with pytest.raises(ValueError, match="two rated translations"):
        ties.human_tie_share(mm.EvalSet([[5, 1]], {}, systems=["A"]))


def test_options_are_checked():
    es = column([0, 1], [0, 1])
    with pytest.raises(ValueError, match="`coefficient` must be one of 'acc_eq', 'tau_eq'"):
        mm.calibrate_ties(es, "m", coefficient="pearson")
    with pytest.raises(ValueError, match="unknown metric 'n'"):
        mm.calibrate_ties(es, "n")


# -- discrete to continuous --------------------------------------------------------------

discrete = st.lists(st.integers(-25, 0), min_size=1, max_size=40)
floats = st.lists(st.floats(-1e6, 1e6).map(lambda x: round(x, 3)), min_size=1, max_size=40)


@settings(max_examples=200, deadline=None)
@given(discrete | floats, st.floats(1e-3, 1e3), st.integers(0, 5))
def test_noise_keeps_the_order_of_different_scores(scores, sigma, seed):
    scores = np.array(scores, dtype=float)
    noisy = ties.discrete_to_continuous(scores, sigma=sigma, rng=seed)
    higher = scores[:, None] > scores[None, :]
    assert (noisy[:, None] > noisy[None, :])[higher].all()
    # two scores that were equal are closer than two that were not
    apart = np.abs(noisy[:, None] - noisy[None, :])
    equal = scores[:, None] == scores[None, :]
    assert apart[equal].max() < apart[~equal].min(initial=np.inf)


@settings(max_examples=100, deadline=None)
@given(campaigns(), st.integers(0, 3))
def test_a_noisy_twin_never_calibrates_to_less(campaign, seed):
    """Scores whose gaps are multiples of the smallest: every threshold of the discrete metric has its like."""
    human, metric = campaign
    if not usable(human, metric, "segment"):
        return
    whole = np.where(np.isnan(metric), np.nan, np.floor(4 * metric))
    twin = ties.discrete_to_continuous(whole, rng=seed)
    assert (
        mm.calibrate_ties(as_set(human, twin), "m").value >= mm.calibrate_ties(as_set(human, whole), "m").value - 1e-12
    )


def test_noise_breaks_every_tie_and_leaves_holes():
    noisy = ties.discrete_to_continuous([[0, 0, np.nan], [-1, -1, 0]], rng=1)
    assert np.isnan(noisy[0, 2])
    assert len(np.unique(noisy[~np.isnan(noisy)])) == 5
    np.testing.assert_array_equal(noisy, ties.discrete_to_continuous([[0, 0, np.nan], [-1, -1, 0]], rng=1))


def test_the_noise_is_gaussian_with_the_sigma_asked_for():
    scores = np.repeat([0.0, 2.0], 20_000)
    for sigma, expected in ((None, 0.1), (0.02, 0.02)):
        noise = ties.discrete_to_continuous(scores, sigma=sigma) - scores
        assert noise.std() == pytest.approx(expected, rel=0.02)
        assert (np.abs(noise) < 2 * expected).mean() == pytest.approx(0.9545, abs=0.005)
    wide = ties.discrete_to_continuous(scores, sigma=100.0) - scores  # cut: nearly uniform
    assert np.abs(wide).max() <= 0.24 * 2
    assert ties.discrete_to_continuous(np.zeros(20_000)).std() == pytest.approx(1, rel=0.02)


def test_sigma_hardly_matters_for_calibrated_accuracy():
    es = mm.load("teaching")
    sigmas = (0.05, 0.01, 0.001)
    twins = es.with_metrics({str(s): ties.discrete_to_continuous(es["Judge"], sigma=s) for s in sigmas})
    assert np.ptp(mm.correlate(twins, coefficient="acc_eq").value) < 1e-4


def test_noise_needs_room():
    with pytest.raises(ValueError, match=r"only 1\.11e-16 apart.*round the scores"):
        ties.discrete_to_continuous([1.0, 1.0 - 2**-53, 0.0])
    for sigma in (0, -1, np.inf, np.nan, "1", True):
        with pytest.raises(ValueError, match="`sigma` must be a positive number"):
            ties.discrete_to_continuous([0, 1], sigma=sigma)
    with pytest.raises(ValueError, match=r"noise of standard deviation 0\.1 is lost in scores of 1e\+18"):
        ties.discrete_to_continuous([1e18, 1e18], sigma=0.1)
    with pytest.raises(ValueError, match="no score"):
        ties.discrete_to_continuous([np.nan])
    with pytest.raises(ValueError, match="finite"):
        ties.discrete_to_continuous([0, np.inf])


def test_tie_share_counts_pairs_that_the_metric_ties_too():
    cells = agreement.grouped(column([0, 0, 1, 1], [5, 5, 1, 2]), "m", "segment")
    assert _free._tie_share(cells) == 2 / 6


# -- sub-sampling ------------------------------------------------------------------------


def test_share_formula_by_hand():
    # 40 tied and 60 untied pairs; half of the tied and a third of the untied go: 20 of 60
    assert ties.subsampled_tie_share(0.4, 0.5, 1 / 3) == pytest.approx(20 / 60)
    assert ties.drop_probabilities(0.4, 0.25) == pytest.approx((0.5, 0))  # 20 of 80
    assert ties.drop_probabilities(0.4, 0.8) == pytest.approx((0, 5 / 6))  # 40 of 50
    assert ties.drop_probabilities(0.4, 0.0) == (1, 0)
    assert ties.drop_probabilities(0.4, 1.0) == (0, 1)


@settings(max_examples=200, deadline=None)
@given(st.floats(0.01, 0.99), st.floats(0, 1))
def test_drop_probabilities_invert_the_formula_and_keep_most(share, wanted):
    p_tied, p_untied = ties.drop_probabilities(share, wanted)
    assert 0 <= p_tied <= 1
    assert 0 <= p_untied <= 1
    assert ties.subsampled_tie_share(share, p_tied, p_untied) == pytest.approx(wanted, abs=1e-9)
    assert min(p_tied, p_untied) == 0  # the kept shares have a fixed ratio: neither can grow further


def test_shares_are_checked():
    assert ties.drop_probabilities(0.0, 0.0) == ties.drop_probabilities(1.0, 1.0) == (0, 0)
    with pytest.raises(ValueError, match=r"0\.5 cannot be reached.*no pair is tied"):
        ties.drop_probabilities(0.0, 0.5)
    with pytest.raises(ValueError, match="no pair is untied"):
        ties.drop_probabilities(1.0, 0.5)
    with pytest.raises(ValueError, match=r"`wanted` must be a share in \[0, 1\]; found 60"):
        ties.drop_probabilities(0.2, 60)
    with pytest.raises(ValueError, match="no pair would be left"):
        ties.subsampled_tie_share(0.2, 1, 1)


def test_every_share_is_checked():
    for arguments, name in (((2, 0, 0), "tie_share"), ((0.2, -1, 0), "p_tied"), ((0.2, 0, True), "p_untied")):
        with pytest.raises(ValueError, match=f"`{name}` must be a share"):
            ties.subsampled_tie_share(*arguments)
    for share in (True, "a", np.nan, -0.1, 1.1):
        with pytest.raises(ValueError, match="`tie_share` must be a share"):
            ties.drop_probabilities(share, 0.5)


def test_shares_within_reach():
    assert _held_out._within_reach(0.5, [0, 0.9, None])
    for tie_share in (0.0, 1.0):  # pairs of one kind alone
        assert _held_out._within_reach(tie_share, [None, tie_share])
        assert not _held_out._within_reach(tie_share, [tie_share, 0.5])


def test_noise_that_changes_an_order_is_caught():
    scores = np.array([0.0, 1, 1, 2])
    _noise._check_order(scores, np.array([0, 1, 1.4, 2]))
    for noisy in ([0, 1, 1.9, 1.5], [1.2, 1, 1.1, 2], [0, 1, 1.5, 2]):  # overtaken; below; as far apart as two scores
        with pytest.raises(ValueError, match="reaches from one score to the next"):
            _noise._check_order(scores, np.array(noisy))


def pair_list(human):
    """All rated pairs of a segment as (segment, i, j), segments outermost."""
    n_systems, n_segments = np.shape(human)
    pairs = [(g, i, j) for g in range(n_segments) for i, j in itertools.combinations(range(n_systems), 2)]
    return [(g, i, j) for g, i, j in pairs if not np.isnan(human[i][g] - human[j][g])]


def slow_accuracy(human, metric, pairs, epsilon, average):
    """acc_eq over listed pairs, pair by pair."""
    right = {}
    for g, i, j in pairs:
        dh, dm = human[i][g] - human[j][g], metric[i][g] - metric[j][g]
        said = 0 if abs(dm) <= epsilon else np.sign(dm)
        right.setdefault(g, []).append(said == np.sign(dh))
    if average == "pair":
        return float(np.mean([r for group in right.values() for r in group]))
    return float(np.mean([np.mean(group) for group in right.values()]))


def slow_calibration(human, metric, pairs, average):
    """Try 0 and every difference among the pairs; the smallest of the best."""
    differences = {0.0} | {abs(metric[i][g] - metric[j][g]) for g, i, j in pairs}
    tried = [(slow_accuracy(human, metric, pairs, e, average), e) for e in sorted(differences)]
    best = max(value for value, _ in tried)
    return next((epsilon, value) for value, epsilon in tried if value >= best - 1e-12)


@settings(max_examples=60, deadline=None)
@given(campaigns(), st.integers(0, 3), st.sampled_from(["segment", "pair"]))
def test_subsampling_equals_the_slow_version(campaign, seed, average):
    human, metric = campaign
    pairs = pair_list(human)
    scored = [not np.isnan(metric[i][g] - metric[j][g]) for g, i, j in pairs]
    tied = np.array([human[i][g] == human[j][g] for g, i, j in pairs])
    if len(set(tied)) < 2:  # a tied and an untied pair are needed
        return
    uniforms = np.random.default_rng(seed).random(len(pairs))
    for share in (0.1, 0.5):
        p_tied, p_untied = ties.drop_probabilities(tied.mean(), share)
        kept = [
            pair
            for pair, u, t, s in zip(pairs, uniforms, tied, scored, strict=True)
            if s and u >= (p_tied if t else p_untied)
        ]
        if not kept:
            with pytest.raises(ValueError, match=r"no segment has two rated|no pair is left|no score at all"):
                ties.subsample_ties(as_set(human, metric), shares=[share], n_draws=1, rng=seed)
            continue
        table = ties.subsample_ties(as_set(human, metric), shares=[share], n_draws=1, average=average, rng=seed)
        row = table.iloc[0]
        epsilon, value = slow_calibration(human, metric, kept, average)
        assert (row.epsilon, row.value) == (pytest.approx(epsilon, abs=0), pytest.approx(value, abs=1e-12))
        segments = {g for g, _, _ in kept}
        assert (row.n_pairs, row.n_segments) == (len(kept), len(segments))
        assert row.n_empty == len({p[0] for p, s in zip(pairs, scored, strict=True) if s}) - len(segments)
        assert row.tie_share == pytest.approx(np.mean([human[i][g] == human[j][g] for g, i, j in kept]))


@pytest.fixture(scope="module")
def campaign():
    es = mm.load("teaching")
    names = ("Regressor", "chrF", "Judge", "Tagger")
    twins = {f"{name} twin": ties.discrete_to_continuous(es[name]) for name in ("Judge", "Tagger")}
    return es.with_metrics({name: es[name] for name in names} | twins | {"constant": 0 * es.human})


def test_subsampling_at_the_share_of_the_data_changes_nothing(campaign):
    # all segments have the same number of pairs, so the mean over segments is the share of all pairs
    share = ties.human_tie_share(campaign)
    table = ties.subsample_ties(campaign, shares=[share], n_draws=2).set_index(["draw", "metric"])
    expected = mm.correlate(campaign, coefficient="acc_eq").set_index("metric").value
    for draw in (0, 1):
        np.testing.assert_allclose(table.loc[draw].value, expected, atol=1e-12)
    assert (table[["p_tied", "p_untied"]].abs() < 1e-12).all(axis=None)
    epsilon = [mm.calibrate_ties(campaign, name).epsilon for name in campaign.metrics]
    assert table.loc[0].epsilon.tolist() == epsilon


def test_subsampling_reaches_the_wanted_shares(campaign):
    table = ties.subsample_ties(campaign, ["Judge"], n_draws=10)
    assert sorted(set(table.share)) == [k / 20 for k in range(13)]
    assert table.groupby("share").size().eq(10).all()
    standard_error = np.sqrt(table.share * (1 - table.share) / table.n_pairs)
    assert ((table.tie_share - table.share).abs() <= 4.5 * standard_error + 1e-12).all()
    # nothing is dropped twice, and least near the share of the data
    assert table.groupby("share").n_pairs.mean().idxmax() == 0.25


def test_what_a_constant_gets_under_both_averages(campaign):
    options = {"metrics": ["constant"], "shares": [0, 0.1, 0.6], "n_draws": 3}
    by_pair = ties.subsample_ties(campaign, average="pair", **options)
    np.testing.assert_allclose(by_pair.value, by_pair.tie_share, atol=1e-12)
    np.testing.assert_allclose(by_pair.human_ties, by_pair.tie_share, atol=1e-12)
    by_segment = ties.subsample_ties(campaign, average="segment", **options)
    np.testing.assert_allclose(by_segment.human_ties, by_segment.value, atol=1e-12)
    assert (by_segment.value - by_segment.tie_share).abs().max() > 0.01
    assert by_segment.n_empty.max() > 0  # at 0 a segment that humans tie throughout is gone
    assert by_segment.epsilon_sd.isna().all()


def test_without_human_ties_discrete_metrics_want_none(campaign):
    table = ties.subsample_ties(campaign, shares=[0, 0.6], n_draws=3)
    none, many = (table[table.share == share].groupby("metric") for share in (0, 0.6))
    assert none.epsilon.max()["Judge"] == 0
    assert (none.value.mean()[["Judge twin", "Tagger twin"]].to_numpy() > none.value.mean()[["Judge", "Tagger"]]).all()
    assert (many.metric_ties.mean() > none.metric_ties.mean())[["Regressor", "chrF", "Judge"]].all()


def test_subsamples_of_one_draw_are_nested_and_draws_differ(campaign):
    pairs = ties._pairs.human_pairs(campaign)
    uniforms = np.random.default_rng(0).random(len(pairs.tied))
    kept = {share: ties._subsample.keep(pairs, uniforms, share)[0] for share in (0.05, 0.2, 0.3, 0.6)}
    assert (kept[0.05] <= kept[0.2]).all()
    assert (kept[0.6] <= kept[0.3]).all()
    table = ties.subsample_ties(campaign, ["chrF"], shares=[0.6], n_draws=2)
    assert table.value.nunique() == 2
    assert table.equals(ties.subsample_ties(campaign, ["chrF"], shares=[0.6], n_draws=2))


def test_a_metric_with_holes_is_compared_on_its_own_pairs():
    human = np.array([[0.0, 0], [0, 1], [1, 2]])
    holes = np.array([[0.0, np.nan], [1, 1], [2, np.nan]])
    es = mm.EvalSet(human, {"all": human, "holes": holes}, systems=list("ABC"))
    table = ties.subsample_ties(es, shares=[1 / 6], n_draws=1).set_index("metric")
    assert table.n_pairs.to_dict() == {"all": 6, "holes": 3}
    assert table.tie_share.to_dict() == pytest.approx({"all": 1 / 6, "holes": 1 / 3})
    assert table.human_ties.to_dict() == pytest.approx({"all": 1 / 6, "holes": 1 / 3})
    assert table.n_segments.to_dict() == {"all": 2, "holes": 1}


def test_thresholds_in_standard_deviations():
    es = column([0, 0, 1], [0, 0.125, 0.375]).with_metrics({"m": [[0], [0.125], [0.375]], "flat": np.ones((3, 1))})
    table = ties.subsample_ties(es, shares=[1 / 3], n_draws=1).set_index("metric")
    assert table.loc["m", "epsilon"] == 0.125
    assert table.loc["m", "epsilon_sd"] == pytest.approx(0.125 / np.std([0, 0.125, 0.375]))
    assert np.isnan(table.loc["flat", "epsilon_sd"])


def test_each_metric_counts_the_pairs_that_it_scored():
    rng = np.random.default_rng(5)
    human, scores = rng.integers(0, 3, (4, 12)).astype(float), rng.random((3, 4, 12))
    scores[1, 0, :3], scores[2, 2, 6:] = np.nan, np.nan
    es = as_set(human, scores[0]).with_metrics(dict(zip("abc", scores, strict=True)))
    options = {"shares": [0.2], "n_draws": 2}
    together = ties.subsample_ties(es, ["a", "b", "c"], **options)
    alone = pd.concat(ties.subsample_ties(es, [name], **options) for name in "abc")
    in_order = (table.sort_values(["draw", "metric"], ignore_index=True) for table in (together, alone))
    pd.testing.assert_frame_equal(*in_order)
    assert together["n_pairs"].nunique() > 1


def test_subsampling_options_are_checked(campaign):
    with pytest.raises(ValueError, match="`average` must be one of 'segment', 'pair'"):
        ties.subsample_ties(campaign, average="mean")
    for n_draws in (0, 1.5, True):
        with pytest.raises(ValueError, match="`n_draws` must be a positive integer"):
            ties.subsample_ties(campaign, n_draws=n_draws)
    with pytest.raises(ValueError, match="`shares` must name at least one"):
        ties.subsample_ties(campaign, shares=[])
    with pytest.raises(ValueError, match="unknown metric 'judge'"):
        ties.subsample_ties(campaign, "judge")
    with pytest.raises(ValueError, match="no segment has two rated translations"):
        ties.subsample_ties(mm.EvalSet([[0, 1]], {"m": [[0, 1]]}, systems=["A"]))
    with pytest.raises(ValueError, match="no pair is left in a sub-sample"):
        ties.subsample_ties(column([0, 0, 1], [0, 1, np.nan]), shares=[0])  # the metric scored the tied pair alone


# -- held-out calibration ----------------------------------------------------------------


def test_held_out_calibration_is_calibration_here_and_evaluation_there(campaign):
    table = ties.held_out_calibration(campaign, ["chrF", "Judge"], held_out=0.3, shares=None, n_draws=1, rng=7)
    segments = np.random.default_rng(7).permutation(np.arange(300))[:90]
    away = campaign.select(segments=[campaign.segments[k] for k in sorted(segments)])
    here = campaign.select(segments=[s for k, s in enumerate(campaign.segments) if k not in set(segments)])
    for row in table.itertuples():
        assert row.epsilon == mm.calibrate_ties(away, row.metric).epsilon
        again = mm.correlate(here, row.metric, coefficient="acc_eq", epsilon=row.epsilon).value[0]
        assert row.value == pytest.approx(again, abs=1e-12)
        own = mm.calibrate_ties(here, row.metric)
        assert (row.in_sample, row.in_sample_epsilon) == (pytest.approx(own.value, abs=1e-12), own.epsilon)
        assert row.loss == pytest.approx(own.value - again, abs=1e-12)
        assert (row.n_segments, row.n_segments_test) == (90, 210)
        assert (row.n_pairs, row.n_pairs_test) == (90 * 66, 210 * 66)
        assert (row.tie_share, row.test_tie_share) == pytest.approx([ties.human_tie_share(x) for x in (away, here)])
        assert np.isnan(row.share)


def test_held_out_ties_move_the_threshold_not_the_test(campaign):
    table = ties.held_out_calibration(campaign, shares=[0, 0.3, 0.6], n_draws=4)
    assert table.loss.min() > -1e-12
    assert table.groupby(["metric", "draw"]).in_sample.nunique().eq(1).all()
    mean = table.groupby(["metric", "share"]).mean(numeric_only=True)
    assert mean.tie_share.loc["chrF"].tolist() == pytest.approx([0, 0.3, 0.6], abs=0.02)
    assert mean.epsilon.loc["chrF"].is_monotonic_increasing
    # far from the tie share of the test part, the threshold costs more
    assert mean.loss["chrF", 0.6] > mean.loss["chrF", 0.3]


def test_held_out_options_are_checked(campaign):
    for held_out in (0, 1, True, "half"):
        with pytest.raises(ValueError, match="`held_out` must be a share"):
            ties.held_out_calibration(campaign, held_out=held_out)
    with pytest.raises(ValueError, match="cannot be split"):
        ties.held_out_calibration(campaign, held_out=0.001)
    with pytest.raises(ValueError, match="`n_draws`"):
        ties.held_out_calibration(campaign, shares=None, n_draws=-1)


# -- without a threshold -----------------------------------------------------------------


def test_expected_accuracy_by_hand():
    # one concordant, two discordant, three human ties
    assert ties.expected_accuracy(column(*WORKED)).iloc[0].tolist() == ["m", pytest.approx(1 / 3), 3, 1, 0]
    half = ties.expected_accuracy(column(*WORKED), human_ties="half").iloc[0]
    assert half.tolist() == ["m", pytest.approx((1 + 3 / 2) / 6), 6, 1, 0]
    # the second segment has no order to find
    es = mm.EvalSet([[0, 1], [1, 1]], {"m": [[0, 0], [0, 1]]}, systems="AB")
    assert ties.expected_accuracy(es).iloc[0].tolist() == ["m", 0.5, 1, 1, 1]
    with pytest.raises(ValueError, match="humans tie every pair"):
        ties.expected_accuracy(es.select(segments=[2]))
    with pytest.raises(ValueError, match="`human_ties` must be one of"):
        ties.expected_accuracy(es, human_ties="zero")


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(campaigns())
def test_expected_accuracy_is_a_tau(campaign):
    human, metric = campaign
    for grouping in agreement.GROUPINGS:
        if not usable(human, metric, grouping):
            continue
        es = as_set(human, metric)
        half = ties.expected_accuracy(es, grouping=grouping, human_ties="half").value[0]
        tau_a = mm.correlate(es, coefficient="tau_a", grouping=grouping).value[0]
        assert half == pytest.approx((1 + tau_a) / 2, abs=1e-12)
        tau_14 = mm.correlate_groups(es, "m", coefficient="tau_14", grouping=grouping).value
        if tau_14.notna().any():
            value = ties.expected_accuracy(es, grouping=grouping).value[0]
            assert value == pytest.approx((1 + tau_14.mean()) / 2, abs=1e-12)


def test_tie_curve_of_the_worked_example():
    # six pairs; nothing tied: 1 right. Equal scores tied: 2. The three differences of .1 tied too: 1. All: 3
    curve = ties.tie_curve(column(*WORKED), "m")
    assert curve.metric_ties.tolist() == pytest.approx([0, 1 / 6, 4 / 6, 1])
    assert curve.value.tolist() == pytest.approx([1 / 6, 2 / 6, 1 / 6, 3 / 6])
    assert curve.epsilon.tolist() == pytest.approx([np.nan, 0, 0.1, 0.2], nan_ok=True)
    area = (1 / 6 + 2 / 6) / 2 * 1 / 6 + (2 / 6 + 1 / 6) / 2 * 3 / 6 + (1 / 6 + 3 / 6) / 2 * 2 / 6
    row = ties.tie_area(column(*WORKED)).iloc[0]
    assert row.value == pytest.approx(area)
    assert (row.chance, row.best) == (pytest.approx(3 / 8), pytest.approx((1 + 1 - 1 / 2) / 2))
    assert (row.tie_share, row.n_pairs, row.n_groups) == (0.5, 6, 1)


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(campaigns())
def test_tie_curve_goes_through_acc_eq_and_below_the_best(campaign):
    human, metric = campaign
    for grouping in agreement.GROUPINGS:
        if not usable(human, metric, grouping):
            continue
        es = as_set(human, metric)
        curve = ties.tie_curve(es, "m", grouping=grouping)
        for row in curve.iloc[1:].itertuples():
            expected = mm.correlate(es, coefficient="acc_eq", grouping=grouping, epsilon=row.epsilon).value[0]
            assert row.value == pytest.approx(expected, abs=1e-9)
        row = ties.tie_area(es, grouping=grouping).iloc[0]
        assert (curve.value <= 1 - (curve.metric_ties - row.tie_share).abs() + 1e-9).all()
        assert -1e-9 <= row.value <= row.best + 1e-9
        assert np.isnan(row.skill) == (row.tie_share == 1)


def test_areas_of_metrics_that_know_nothing_and_all(campaign):
    rng = np.random.default_rng(0)
    noise = {f"noise {k}": rng.normal(size=campaign.shape) for k in range(40)}
    table = ties.tie_area(campaign.with_metrics({"flat": 0 * campaign.human, "humans": campaign.human} | noise))
    skill = table.set_index("metric").skill
    assert (skill["flat"], skill["humans"]) == (pytest.approx(0, abs=1e-12), pytest.approx(1))
    assert abs(skill.iloc[2:].mean()) < 4 * skill.iloc[2:].sem()
    accuracy = ties.expected_accuracy(campaign.with_metrics({"flat": 0 * campaign.human} | noise)).value
    assert accuracy[0] == 0.5
    assert abs(accuracy[1:].mean() - 0.5) < 4 * accuracy[1:].sem()


def test_what_changes_nothing(campaign):
    es = campaign.with_metrics({"m": campaign["chrF"]})
    stretched = campaign.with_metrics({"m": 8 * campaign["chrF"] - 64})
    curved = campaign.with_metrics({"m": np.exp(campaign["chrF"] / 10)})
    per_segment = campaign.with_metrics({"m": campaign["chrF"] * np.arange(1, 301)})
    value = ties.expected_accuracy(es).value[0]
    for other in (stretched, curved, per_segment):
        assert ties.expected_accuracy(other).value[0] == value
    rank = ties.tie_area(es, scale="rank").value[0]
    for other in (stretched, curved):
        assert ties.tie_area(other, scale="rank").value[0] == rank
    area = ties.tie_area(es).value[0]
    assert ties.tie_area(stretched).value[0] == pytest.approx(area, abs=1e-4)
    assert abs(ties.tie_area(curved).value[0] - area) > 1e-3


@pytest.mark.parametrize("name", ["Judge", "Tagger"])
def test_a_noisy_twin_gains_nothing_without_a_threshold(campaign, name):
    twins = {f"twin {k}": ties.discrete_to_continuous(campaign[name], rng=k) for k in range(40)}
    es = campaign.with_metrics({name: campaign[name]} | twins)
    for table in (ties.expected_accuracy(es), ties.tie_area(es)):
        difference = table.value.iloc[1:] - table.value.iloc[0]
        assert abs(difference.mean()) < 4 * difference.sem()
    # ranks blow the noise up to the size of a step, so there the twin loses
    ranks = ties.tie_area(es, scale="rank").value
    assert (ranks.iloc[1:] < ranks.iloc[0]).all()
    calibrated = mm.correlate(es, coefficient="acc_eq").value
    assert (calibrated.iloc[1:] >= calibrated.iloc[0] - 1e-12).all()


# -- chance levels -----------------------------------------------------------------------


@pytest.mark.slow
def test_chance_levels(campaign):
    table = ties.chance_levels(campaign, n_draws=30).set_index("coefficient")
    t = ties.human_tie_share(campaign)
    constant = {"tau_a": 0, "tau_b": 0, "tau_10": -1, "tau_13": 0, "tau_eq": 2 * t - 1, "acc_eq": t}
    constant |= {"acc_eq, calibrated": t, "expected_accuracy": 0.5, "tie_area": (1 + t) / 4}
    assert table.constant[list(constant)].to_dict() == pytest.approx(constant, abs=1e-12)
    assert table.undefined[["tau_a", "tau_b", "tau_13", "acc_eq"]].tolist() == [0, 1, 1, 0]
    known = table[table.expected_noise.notna()]
    assert ((known.noise - known.expected_noise).abs() < 4 * known.noise_se).all()
    assert len(known) == len(table) - 1
    # random ties cost a tau_10, and nothing elsewhere: a third of the pairs is tied
    assert table.levels["tau_10"] == pytest.approx(-1 / 3, abs=4 * table.levels_se["tau_10"])
    assert table.levels["acc_eq"] == pytest.approx(1 / 3, abs=4 * table.levels_se["acc_eq"])
    assert (table.levels[["tau_a", "tau_13", "tau_14"]].abs() < 4 * table.levels_se["tau_13"]).all()


def test_chance_level_options_are_checked(campaign):
    for options in ({"n_draws": 1}, {"n_levels": 1}, {"n_draws": 2.5}):
        with pytest.raises(ValueError, match="whole number of at least 2"):
            ties.chance_levels(campaign, **options)


# -- published ---------------------------------------------------------------------------


@pytest.mark.data
def test_table_11_of_the_sentinels_paper():
    """Perrella et al. 2024, table 11, cells of WMT23 in per cent; 42.8 is with the human system, 13 in all."""
    sets = {es.language_pair: es for es in mm.load_all("wmt23")}
    share = {pair: round(100 * ties.human_tie_share(es), 1) for pair, es in sets.items()}
    assert share == {"en-de": 23.1, "he-en": 42.8, "zh-en": 24.0}
    hebrew = sets["he-en"]
    machines = hebrew.select(systems=[s for s in hebrew.systems if s not in hebrew.human_systems])
    assert round(100 * ties.human_tie_share(machines), 1) == 42.1


@pytest.mark.data
def test_first_claim_of_figure_2():
    """Perrella et al. 2024, section 4.5: without human ties the twin is second, GEMBA-MQM second to last."""
    es = mm.load("wmt23/zh-en")
    names = ["XCOMET-Ensemble", "MetricX-23", "CometKiwi", "COMET", "BLEURT-20", "GEMBA-MQM", "MaTESe"]
    twin = {"SENTINEL-GEMBA": ties.discrete_to_continuous(es["GEMBA-MQM"])}
    table = ties.subsample_ties(es.with_metrics({m: es[m] for m in names} | twin), shares=[0], n_draws=1)
    order = table.sort_values("value", ascending=False).metric.tolist()
    assert (order[0], order[1], order[-2]) == ("XCOMET-Ensemble", "SENTINEL-GEMBA", "GEMBA-MQM")
    assert table.set_index("metric").epsilon["GEMBA-MQM"] == 0


def test_a_part_without_the_ties_that_are_wanted_is_drawn_again():
    # one segment in ten has a tie, so most parts of three segments have none
    human = np.tile([[0.0], [1.0]], 20)
    human[1, ::10] = 0
    es = mm.EvalSet(human, {"m": human + np.linspace(0, 0.1, 20)}, systems=["A", "B"])
    table = ties.held_out_calibration(es, held_out=0.15, shares=[0.5], n_draws=8, rng=0)
    assert table["tie_share"].between(0, 1).all()
    assert (ties.held_out_calibration(es, held_out=0.15, shares=None, n_draws=8, rng=0)["tie_share"] == 0).any()
    untied = es.select(segments=range(2, 11))
    with pytest.raises(ValueError, match=r"the tie shares 0\.5 cannot be reached: 100 parts of 4 segments"):
        ties.held_out_calibration(untied, shares=[0.5])
