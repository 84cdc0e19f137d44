"""Significance: the toy by hand, each fast test against a slow one, calibration under a null."""

import inspect
import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import mtmeta as mm
from mtmeta import significance
from mtmeta.significance import clusters, compare, correct, intervals


def campaign(seed=0, n_systems=5, n_segments=12, grid=False, holes=False, noise=(1, 1.5, 4)):
    """Metrics that are the human score plus more and more noise."""
    rng = np.random.default_rng(seed)
    human = -rng.integers(0, 6, (n_systems, n_segments)).astype(float)
    metrics = {f"m{k}": human + s * rng.normal(size=human.shape) for k, s in enumerate(noise)}
    if grid:
        metrics = {name: np.round(values / 2) for name, values in metrics.items()}
    if holes:
        human[rng.random(human.shape) < 0.2] = np.nan
        human[:, 1] = np.nan
        human[1:, 2] = np.nan  # one rating: a group that compares nothing
    return mm.EvalSet(human, metrics, systems=[f"S{i}" for i in range(n_systems)], name="made")


def test_toy_of_eight_pairs():
    """Two metrics differ on eight pairs and the first is right on seven: 9 of 256 cases."""
    # eight segments of two systems; humans always prefer A
    human = np.array([[1.0] * 8, [0.0] * 8])
    first = np.array([[1.0] * 7 + [0], [0.0] * 7 + [1]])
    es = mm.EvalSet(human, {"first": first, "second": 1 - first}, systems=["A", "B"])
    result = compare(es, coefficient="acc_eq")
    assert result.p_values.loc["first", "second"] == pytest.approx(9 / 256)
    assert result.table[["metric", "rank", "cluster"]].to_numpy().tolist() == [["first", 1, 1], ["second", 2, 2]]
    assert result.to_frame().to_dict("records") == [
        {"better": "first", "worse": "second", "p_value": pytest.approx(9 / 256)}
    ]


@pytest.mark.parametrize("at_once", [1, 700])
@pytest.mark.parametrize("coefficient", ["pearson", "kendall"])
def test_blocks_change_no_draw(monkeypatch, coefficient, at_once):
    es = campaign(3, holes=True)
    options = {"coefficient": coefficient, "n_resamples": 9, "keep_draws": True}
    whole = compare(es, **options).draws
    for name in ("_SUMS_AT_ONCE", "_MASKS_AT_ONCE", "_BITS_AT_ONCE"):
        monkeypatch.setattr(significance, name, at_once)
    np.testing.assert_allclose(compare(es, **options).draws, whole, atol=1e-12)


def test_too_many_pairs_to_list_are_refused():
    scores = np.random.default_rng(0).normal(size=(3, 1, 6326))  # 20,005,975 pairs
    es = mm.EvalSet(scores[0], {"a": scores[1], "b": scores[2]}, systems=["A"])
    with pytest.raises(ValueError, match="has too many here"):
        significance._right_pairs(es, ["a", "b"], "none")


@pytest.mark.slow
# 128 draws are counted side by side, so here stand a part of a block, one block, and one block and a part
@pytest.mark.parametrize("n_resamples", [6, 128, 259])
def test_large_groups_take_another_road_to_the_same_draws(n_resamples):
    es = campaign(1, n_systems=2, n_segments=70, grid=True)
    cells, scores = significance._standardised(es, es.metrics, "system")
    swap = significance._swap_masks(np.random.default_rng(0), n_resamples, scores.shape[1])
    first, second = (v.astype(np.int64) for v in np.triu_indices(3, 1))
    results = []
    for road in ("masks", "counting"):
        sums, counts = np.zeros((2, 2, 3, n_resamples))
        if road == "masks":
            significance._add_tau(0, cells, scores, swap, first, second, sums, counts)
        else:
            kernel = mm._significance_kernels.swapped_tau_large
            kernel(0, cells.human_ranks, scores, cells.starts, swap, first, second, sums, counts)
        results.append((sums, counts))
    np.testing.assert_array_equal(results[0], results[1])


@pytest.mark.parametrize("coefficient", ["pearson", "kendall"])
@pytest.mark.parametrize("grouping", ["none", "segment", "system"])
@pytest.mark.parametrize("n_resamples", [60, 250])
def test_pairs_that_decide_the_clusters_are_enough(coefficient, grouping, n_resamples):
    noise = (1, 1.05, 1.1, 1.5, 1.55, 4)
    es = campaign(2, n_systems=4, n_segments=80, noise=noise)
    options = {"coefficient": coefficient, "grouping": grouping, "n_resamples": n_resamples, "rng": 3}
    every, few = compare(es, **options), compare(es, **options, pairs="clusters")
    assert every.table.equals(few.table)
    assert every.signature == few.signature
    tested = few.p_values.notna().to_numpy()
    np.testing.assert_array_equal(few.p_values.to_numpy()[tested], every.p_values.to_numpy()[tested])
    assert 0 < tested.sum() < 15


@pytest.mark.parametrize("holes", [False, True])
def test_a_hundred_thousand_draws_agree_with_the_exact_test(holes):
    es = campaign(5, n_segments=40, holes=holes, noise=(1, 1.2, 1.3, 1.4))
    exact = compare(es, coefficient="acc_eq").to_frame()
    drawn = compare(es, coefficient="acc_eq", method="pair-swap", n_resamples=100_000, p_value="published").to_frame()
    error = np.sqrt(exact["p_value"] * (1 - exact["p_value"]) / 100_000)
    assert ((exact["p_value"] - drawn["p_value"]).abs() <= 4.5 * error + 1e-9).all()
    assert exact["p_value"].between(0.001, 0.999).sum() >= 3  # the comparison has something to compare


def test_tau_eq_and_acc_eq_give_the_same_p_values():
    es = campaign(2)
    for method in ("exact", "pair-swap"):
        p = [compare(es, coefficient=c, method=method, rng=1).p_values for c in ("acc_eq", "tau_eq")]
        pd.testing.assert_frame_equal(*p)


def test_spa_draws_equal_the_obvious_computation():
    es = campaign(4, n_systems=4, n_segments=20)
    result = compare(es, coefficient="spa", n_resamples=8, keep_draws=True, rng=3)
    rng = np.random.default_rng(3)
    masks = [rng.integers(0, 2, size=es.shape, dtype=np.uint8).astype(bool) for _ in range(8)]
    for draws, (a, b) in zip(result.draws, result.pairs, strict=True):
        x, y = ((es[m] - es[m].mean()) / es[m].std() for m in (a, b))
        for value, mask in zip(draws, masks, strict=True):
            hybrids = {"first": np.where(mask, y, x), "second": np.where(mask, x, y)}
            mixed = mm.EvalSet(es.human, hybrids, systems=es.systems)
            expected = mm.soft_pairwise_accuracy(mixed)["value"]
            assert value == pytest.approx(expected[0] - expected[1], abs=1e-12)


def test_a_copy_on_another_scale_is_the_same_metric():
    """Standardised scores of the two differ by rounding, which swapping must not take for a difference."""
    es = campaign(1, grid=True)
    twins = es.with_metrics({"a": es["m0"], "b": 100 * es["m0"] / 3 + 7})
    for coefficient in ("kendall", "tau_10", "pearson"):
        draws = compare(twins, coefficient=coefficient, n_resamples=20, keep_draws=True).draws
        np.testing.assert_allclose(draws, 0, atol=1e-12)


def test_a_hybrid_without_spread_counts_nothing():
    """Where all cells go to the constant metric, sums of what is left are rounding."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        human, scores = rng.normal(size=(2, 1, 9))
        es = mm.EvalSet(human, {"m": scores, "flat": np.full((1, 9), 0.1)}, systems=["S"])
        options = {"grouping": "none", "n_resamples": 3000, "keep_draws": True, "rng": seed}
        draws = compare(es, **options).draws[0]
        swapped = np.random.default_rng(seed).integers(0, 2, size=(3000, 9), dtype=np.uint8).sum(axis=1)
        r = abs(np.corrcoef(human, scores)[0, 1])
        np.testing.assert_allclose(np.abs(draws[np.isin(swapped, (0, 9))]), r, rtol=0, atol=1e-12)


def test_identical_metrics_are_not_told_apart():
    es = campaign(0)
    twins = mm.EvalSet(es.human, {"a": es["m0"], "b": es["m0"]}, systems=es.systems)
    for options in ({"coefficient": "acc_eq"}, {"coefficient": "pearson"}, {"coefficient": "kendall"}):
        result = compare(twins, **options)
        assert result.p_values.loc["a", "b"] > 0.4, options
        assert result.table["rank"].tolist() == [1, 1]
    assert compare(twins, grouping="none", method="williams").p_values.loc["a", "b"] == 0.5


def test_p_value_conventions():
    es = campaign(1, n_segments=60, noise=(0.1, 9))
    p = [compare(es, n_resamples=99, p_value=c).p_values.loc["m0", "m1"] for c in ("plus_one", "published")]
    assert p == [pytest.approx(1 / 100), 0]


def test_a_constant_metric_is_compared_without_nonsense():
    es = campaign(0)
    flat = mm.EvalSet(es.human, {"m0": es["m0"], "flat": np.ones(es.shape)}, systems=es.systems)
    p = compare(flat).p_values.loc["m0", "flat"]
    assert 0 < p < 0.05


def test_metrics_are_compared_on_the_cells_that_all_scored():
    es = campaign(0)
    hole = es["m1"].copy()
    hole[0, :6] = np.nan
    with_hole = mm.EvalSet(es.human, {"m0": es["m0"], "m1": hole}, systems=es.systems)
    values = compare(with_hole, n_resamples=10).table.set_index("metric")["value"]
    human = np.where(np.isnan(hole), np.nan, es.human)
    same = mm.EvalSet(human, {"m0": es["m0"]}, systems=es.systems)
    assert values["m0"] == mm.correlate(same)["value"][0] != mm.correlate(es, "m0")["value"][0]


def test_correction_raises_p_values():
    es = campaign(0, noise=(1, 1.2, 1.5, 2))
    plain, holm = (compare(es, coefficient="acc_eq", correction=c).to_frame()["p_value"] for c in (None, "holm"))
    np.testing.assert_allclose(holm, correct(plain, "holm"))
    assert "correction:holm" in compare(es, coefficient="acc_eq", correction="holm").signature


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "wald"}, "`method` must be one of"),
        ({"n_resamples": 0}, "`n_resamples` must be at least 1; found 0"),
        ({"coefficient": "acc_eq", "method": "permutation"}, "does not fit coefficient 'acc_eq'"),
        ({"coefficient": "spearman"}, "these do: 'bootstrap'"),
        ({"method": "williams"}, "does not fit coefficient 'pearson' with grouping 'segment'"),
        ({"method": "bootstrap", "unit": "document"}, "does not say which document"),
        ({"correction": "fdr"}, "`correction` must be one of"),
        ({"metrics": ["m0"]}, "at least two metrics"),
        ({"p_value": "raw"}, "`p_value` must be one of"),
        ({"pairs": "clusters", "method": "bootstrap"}, "`pairs='clusters'` needs the permutation test"),
        ({"pairs": "clusters", "correction": "holm"}, "`pairs='clusters'` needs the permutation test"),
        ({"pairs": "clusters", "keep_draws": True}, "`pairs='clusters'` needs the permutation test"),
        ({"pairs": "clusters", "coefficient": "acc_eq"}, "`pairs='clusters'` needs the permutation test"),
    ],
)
def test_refusals(options, message):
    with pytest.raises(ValueError, match=message):
        compare(campaign(0), **options)


def test_signatures_and_defaults():
    es = campaign(0, noise=(1, 4))
    tail = "correction:None|alpha:0.05|degenerate:drop|metrics:2|set:made"
    assert compare(es).signature == (f"pearson|grouping:segment|method:permutation|draws:1000|seed:0|p:plus_one|{tail}")
    assert compare(es, coefficient="acc_eq").signature == f"acc_eq|grouping:segment|method:exact|{tail}"
    few = {"n_resamples": 3, "rng": np.random.default_rng(0), "p_value": "published", "method": "bootstrap"}
    assert compare(es, **few).signature == (
        f"pearson|grouping:segment|method:bootstrap|unit:segment|draws:3|seed:generator|p:published|{tail}"
    )
    assert compare(es, n_resamples=9).draws is None
    assert intervals(es, n_resamples=20).equals(intervals(es, n_resamples=20, rng=0, level=0.95, unit="segment"))
    assert inspect.signature(intervals).parameters["n_resamples"].default == 1000


def test_system_scores_that_only_rounding_tells_apart_become_one():
    scores = np.array([2.0, 1, 0, 1 + 1e-15, 1e-14])
    assert significance._tied(scores, np.ones(5)).tolist() == [2, 1, 0, 1, 0]


def test_rows_are_brought_to_one_scale():
    rows = significance._comparable(np.array([[1.0, 2, 3], [5, 5, 5], [40, 20, 0]]))
    root = math.sqrt(1.5)
    np.testing.assert_allclose(rows, [[-root, 0, root], [0, 0, 0], [root, 0, -root]], atol=1e-15)
    # far from 0, a small spread makes much of rounding: 3 x and x are the same all the same
    x = 1e6 + np.random.default_rng(0).permutation(40) / 10
    first, second = significance._comparable(np.array([x, 3 * x]))
    assert (first == second).all()
    assert (np.argsort(first) == np.argsort(x)).all()


@pytest.mark.parametrize("counts", [[10, 100], [7, 0], [3, 4]])
def test_tail_of_a_sum_of_signs(counts):
    weights = np.array([1, 1000])
    heads = [np.arange(n + 1) for n in counts]
    sums = np.add.outer(*(w * (2 * h - n) for w, h, n in zip(weights, heads, counts, strict=True)))
    mass = np.multiply.outer(*(stats.binom.pmf(h, n, 0.5) for h, n in zip(heads, counts, strict=True)))
    support = int(weights @ counts)
    for observed in (-support, 0, 1, support // 20, support // 2, support, support + 1):
        tail = significance._sign_sum_tail(np.array(counts), weights, observed)
        assert tail == pytest.approx(mass[sums >= observed].sum(), abs=1e-13)


def test_edges_of_corrections_and_clusters():
    p = np.full((4, 4), np.nan)
    p[0, 1], p[0, 2], p[0, 3], p[1, 2], p[1, 3], p[2, 3] = 0.3, 0.2, 0.001, 0.04, 0.001, 0.6
    # 2 is beaten by 1, a member of the first cluster, though not by the best
    assert clusters(p).tolist() == [1, 1, 2, 2]
    assert correct([np.nan], "bh").tolist() == pytest.approx([np.nan], nan_ok=True)
    assert correct([0.01, np.nan, 0.04], "holm").tolist() == pytest.approx([0.02, np.nan, 0.04], nan_ok=True)
    assert correct([0, 1], "holm").tolist() == [0, 1]
    assert clusters(np.full((1, 1), np.nan)).tolist() == [1]
    assert clusters([[np.nan, 0.05], [np.nan, np.nan]]).tolist() == [1, 2]  # alpha itself is significant
    for function, given, options, message in (
        *((correct, [bad, 0.5], {"method": "holm"}, "must lie in") for bad in (-0.1, 1.1, 2)),
        (correct, [0.5], {"method": "bonferroni"}, "`method` must be one of 'holm', 'bh'"),
        *((clusters, np.eye(2), {"alpha": alpha}, "alpha") for alpha in (0, 1, np.nan)),
        *((clusters, table, {}, "square") for table in (np.zeros((2, 3)), np.zeros(4))),
    ):
        with pytest.raises(ValueError, match=message):
            function(given, **options)


def test_what_cannot_be_tested_is_refused():
    nan = np.nan
    es = campaign(0, n_systems=3, n_segments=5, noise=(1, 2))
    human = np.array(es.human)
    human[1, 2] = nan
    holes = mm.EvalSet(human, {m: es[m] for m in es.metrics}, systems=es.systems)
    with pytest.raises(ValueError, match=r"rated for all systems or for none; 1 segments are rated for some"):
        compare(holes, coefficient="spa")
    three = es.select(systems=es.systems[:1], segments=es.segments[:3])
    with pytest.raises(ValueError, match="at least 4 translations; found 3"):
        compare(three, grouping="none", method="williams")
    four = es.select(systems=es.systems[:1], segments=es.segments[:4])
    assert 0 < compare(four, grouping="none", method="williams").p_values.iloc[0, 1] <= 1
    flat = mm.EvalSet(es.human, {"m0": es["m0"], "flat": np.ones(es.shape)}, systems=es.systems)
    with pytest.raises(ValueError, match="are constant"):
        compare(flat, grouping="none", method="williams")
    apart = mm.EvalSet([[1, 2]] * 2, {"a": [[1, nan]] * 2, "b": [[nan, 1]] * 2}, systems=["A", "B"])
    with pytest.raises(ValueError, match="no translation is scored by humans and all 2 metrics"):
        compare(apart)
    human = np.full((10, 10), nan)
    human[:2, 0] = 1, 2  # a draw has both with probability .4
    lonely = mm.EvalSet(human, {"m": campaign(0, 10, 10)["m0"]}, systems=list("ABCDEFGHIJ"))
    with pytest.raises(ValueError, match=r"undefined in 2\d of 40 bootstrap draws; the set is too small"):
        intervals(lonely, unit="both", n_resamples=40)


def test_intervals_of_equally_good_metrics_stand_by_name():
    es = campaign(0, noise=(1,))
    twins = mm.EvalSet(es.human, {"b": es["m0"], "a": es["m0"]}, systems=es.systems)
    assert intervals(twins, n_resamples=2)["metric"].tolist() == ["a", "b"]
    assert intervals(campaign(1, noise=(4, 1)), n_resamples=2)["metric"].tolist() == ["m1", "m0"]
    for level in (0, 1, 95):
        with pytest.raises(ValueError, match="`level` must lie in"):
            intervals(twins, level=level)


def test_near_scores_become_equal_unless_one_metric_tells_them_apart():
    rows = np.array([[0.0, 3.0], [0.2, 5.0]])
    assert significance._merged(rows, 0.5).tolist() == [[0, 3], [0, 5]]
    rows = np.array([[0.0, 0.4], [0.2, 5.0]])  # the first has two that are near
    assert significance._merged(rows, 0.5).tolist() == rows.tolist()
