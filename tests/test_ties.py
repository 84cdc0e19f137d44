"""Tie calibration: the worked example, the slow oracle, and its limits."""

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from test_agreement import as_set, campaigns, column, usable

import mtmeta as mm
from mtmeta import agreement, ties


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


@settings(max_examples=100, deadline=None)
@given(campaigns())
def test_binned_calibration_equals_the_sorted_one(campaign):
    human, metric = campaign
    for grouping in agreement.GROUPINGS:
        if usable(human, metric, grouping):
            cells = agreement.grouped(as_set(human, metric), "m", grouping)
            weights, total = agreement._pair_weights(cells)
            assert agreement._binned_calibration(cells, weights, total) == agreement.calibration(cells)


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
