"""The resampling engine: weights, statistics of weighted sums, and the intervals that need no copies of the data."""

import itertools

import numpy as np
import pytest

import mtmeta as mm
from mtmeta import resampling
from mtmeta.agreement import intervals as _intervals


def test_weights_count_drawn_units_and_strata_keep_their_sizes():
    weights = resampling.bootstrap(5, 200, np.random.default_rng(0))
    drawn = np.random.default_rng(0).integers(5, size=(200, 5))
    assert weights.tolist() == [[(row == unit).sum() for unit in range(5)] for row in drawn]
    strata = np.array([1, 0, 1, 0, 1])
    weights = resampling.bootstrap(5, 200, np.random.default_rng(0), strata)
    assert set(weights[:, strata == 1].sum(axis=1)) == {3}
    assert set(weights[:, strata == 0].sum(axis=1)) == {2}


def test_exchange_keeps_all_units_in_its_first_column():
    signs = resampling.exchange(4, 500, np.random.default_rng(0))
    assert signs.shape == (4, 501)
    assert (signs[:, 0] == 1).all()
    assert set(np.unique(signs)) == {-1.0, 1.0}
    assert abs(signs[:, 1:].mean()) < 0.1


def test_jackknife_leaves_out_one_unit_at_a_time():
    x, units = np.array([1.0, 2, 4, 8, 16]), np.array([0, 1, 1, 2, 2])
    mean = resampling.Statistic(resampling.sums_by_unit(units, np.ones(5), x), lambda s: s[:, 1] / s[:, 0])
    whole, without = resampling.jackknife(mean)
    assert whole == x.mean()
    assert without.tolist() == [x[units != unit].mean() for unit in range(3)]
    assert mean(1 - np.eye(3)).tolist() == without.tolist()


@pytest.mark.parametrize("degenerate", ["drop", "zero"])
def test_weighted_sums_give_the_values_of_copied_segments(degenerate):
    rng = np.random.default_rng(1)
    human = rng.integers(0, 4, size=(4, 24)).astype(float)
    human[rng.random(human.shape) < 0.2] = np.nan
    scores = np.round(np.nan_to_num(human) + rng.normal(size=human.shape))
    scores[:, :3] = scores[3] = 1.0
    metrics = {"m": scores, "untied": scores + rng.normal(size=human.shape)}
    es = mm.EvalSet(human, metrics, systems=list("ABCD"), documents=np.arange(24) // 2)
    cases = [*itertools.product(["pearson", "tau_b", "acc_eq", "tau_eq", "tau_c"], ["segment"])]
    for coefficient, grouping in [*cases, ("pearson", "none"), ("pearson", "system")]:
        for unit in ("segment", "document"):
            given = es, [*metrics], coefficient, grouping, 40, unit, degenerate
            copied = _intervals._recomputed(*given, np.random.default_rng(2))
            copied = copied[:, ~np.isnan(copied[0])]
            found = _intervals.bootstrap(*given, np.random.default_rng(2))
            np.testing.assert_allclose(found, copied, atol=1e-12, err_msg=f"{coefficient} {grouping} {unit}")
