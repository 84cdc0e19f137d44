"""Agreement statistics: by hand, against scipy and the slow oracle, and by their properties."""

import math

import numpy as np
import oracle
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import mtmeta as mm
from mtmeta import EvalSet, _kernels, agreement

TAUS = ("kendall", "tau_a", "tau_c", "tau_10", "tau_13", "tau_14", "tau_eq", "acc_eq")


def one(es, **options):
    return mm.correlate(es, **options).iloc[0]


def column(human, metric):
    """One segment, one system per score."""
    return EvalSet([[h] for h in human], {"m": [[m] for m in metric]}, systems=[str(i) for i in range(len(human))])


# -- by hand -----------------------------------------------------------------------------

#: Perrella et al. 2024, appendix F: C = 1, D = 2, T_h = 2, T_m = 0, T_hm = 1.
WORKED = ([5, 3, 5, 5], [0.6, 0.5, 0.4, 0.4])


@pytest.mark.parametrize(
    ("coefficient", "expected"),
    [
        ("kendall", -1 / math.sqrt(15)),
        ("tau_b", -1 / math.sqrt(15)),
        ("tau_a", -1 / 6),
        ("tau_c", 2 * (-1) / (16 * 1 / 2)),
        ("tau_10", -1 / 3),
        ("tau_13", -1 / 3),
        ("tau_14", -1 / 3),
        ("tau_eq", (1 + 1 - 2 - 2) / 6),
        ("acc_eq", 2 / 6),
    ],
)
def test_worked_example(coefficient, expected):
    options = {} if coefficient == "tau_c" else {"epsilon": 0}
    assert one(column(*WORKED), coefficient=coefficient, **options).value == pytest.approx(expected, abs=1e-15)


def test_metric_ties_count_differently_in_10_13_14():
    # pairs: (1,2) concordant, (1,3) metric tie, (2,3) concordant
    es = column([0, 1, 2], [0.1, 0.5, 0.1])
    # C: (0,1); D: (1,2); T_m: (0,2)
    assert one(es, coefficient="tau_10").value == pytest.approx(-1 / 3)
    assert math.isclose(one(es, coefficient="tau_13").value, 0)
    es = column([0, 1, 2], [0.1, 0.5, 0.5])
    # C: (0,1), (0,2); T_m: (1,2)
    values = {c: one(es, coefficient=c).value for c in ("tau_10", "tau_13", "tau_14")}
    assert values == pytest.approx({"tau_10": 1 / 3, "tau_13": 1, "tau_14": 2 / 3})


def test_storyboard_toy():
    """A metric that never read a translation against one that orders systems within segments."""
    es = EvalSet(
        [[0, -6], [-1, -7], [-1, -5]],
        {"X": [[0.9, 0.2]] * 3, "Y": [[0.5, 0.5], [0.4, 0.4], [0.4, 0.6]]},
        systems=["A", "B", "C"],
    )
    pooled = mm.correlate(es, grouping="none").set_index("metric").value
    within = mm.correlate(es, grouping="segment").set_index("metric")
    # X sees the segment alone, so its r is the root of the between-segment share of human variance:
    # total 0 + 36 + 1 + 49 + 1 + 25 - 20^2 / 6 = 136/3, between 3 (8/3)^2 + 3 (8/3)^2 = 128/3
    assert pooled["X"] == pytest.approx(math.sqrt(128 / 136), abs=1e-15)
    assert pooled["Y"] < 0
    assert within.loc["X", ["value", "n_groups", "n_degenerate"]].tolist() == [0, 2, 2]
    assert within.loc["Y", "value"] == pytest.approx(1)


def test_groupings_compare_what_they_say():
    es = EvalSet([[1, 2, 3], [3, 2, 1]], {"m": [[1, 2, 3], [1, 2, 3]]}, systems=["A", "B"])
    assert one(es, grouping="system").value == pytest.approx(0)  # +1 and -1
    assert mm.correlate_groups(es, "m", grouping="system").value.tolist() == pytest.approx([1, -1])
    assert one(es, grouping="segment").n_degenerate == 3
    assert one(es, grouping="none").value == pytest.approx(0)


def test_pearson_hand_value():
    # deviations (-1, 0, 1) and (-1, 1, 0): r = 1/2
    assert one(column([1, 2, 3], [1, 3, 2])).value == pytest.approx(0.5, abs=1e-15)


# -- undefined groups, holes, single ratings ------------------------------------------------


@pytest.fixture
def half_constant():
    """Segment 1: perfect agreement. Segment 2: the metric is constant."""
    return EvalSet([[1, 1], [2, 2]], {"m": [[1, 5], [2, 5]]}, systems=["A", "B"])


@pytest.mark.parametrize("coefficient", ["pearson", "spearman", "kendall", "tau_c"])
def test_degenerate_groups(half_constant, coefficient):
    def value(**options):
        return one(half_constant, coefficient=coefficient, **options)

    assert value().value == pytest.approx(1)
    assert value().n_degenerate == 1
    assert value().n_groups == 2
    assert value(degenerate="zero").value == pytest.approx(0.5)
    assert math.isnan(value(degenerate="nan").value)
    with pytest.raises(ValueError, match="undefined in 1 of 2 groups, the first of them 2"):
        value(degenerate="raise")


def test_constant_metric_has_value_0_and_says_so():
    es = EvalSet([[1, 2], [2, 1]], {"m": [[5, 5], [5, 5]]}, systems=["A", "B"])
    for grouping in agreement.GROUPINGS:
        row = one(es, grouping=grouping)
        assert row.value == 0
        assert row.n_degenerate == row.n_groups > 0


def test_holes_on_either_side_are_left_out_and_counted():
    es = EvalSet(
        [[1, 2, np.nan], [2, np.nan, 1], [3, np.nan, np.nan]],
        {"m": [[1, 5, 1], [3, 5, 1], [np.nan, 5, 1]]},
        systems=["A", "B", "C"],
    )
    row = one(es, grouping="segment")
    # segment 1: A, B remain; segment 2 and 3 have one rating each and compare nothing
    assert row.n_groups == 1
    assert row.value == pytest.approx(1)
    assert (row.n_systems, row.n_segments) == (2, 3)


def test_no_group_with_two_scores_is_an_error():
    es = EvalSet([[1, np.nan], [np.nan, 2]], {"m": [[1, 1], [1, 1]]}, systems=["A", "B"])
    with pytest.raises(ValueError, match="no group has two translations"):
        mm.correlate(es)


def test_one_system_cannot_be_grouped_by_segment():
    es = EvalSet([[1, 2]], {"m": [[1, 2]]}, systems=["A"])
    with pytest.raises(ValueError, match="1 systems, 2 segments"):
        mm.correlate(es)
    assert one(es, grouping="system").value == pytest.approx(1)


def test_options_are_checked():
    es = column([1, 2], [1, 2])
    with pytest.raises(ValueError, match="`grouping` must be one of 'none', 'segment', 'system'; found 'item'"):
        mm.correlate(es, grouping="item")
    with pytest.raises(ValueError, match="`coefficient` must be one of"):
        mm.correlate(es, coefficient="r")
    with pytest.raises(ValueError, match="`degenerate` must be one of"):
        mm.correlate(es, degenerate="ignore")
    with pytest.raises(ValueError, match="has no meaning for 'pearson'"):
        mm.correlate(es, epsilon=0.1)
    with pytest.raises(ValueError, match=">= 0"):
        mm.correlate(es, coefficient="acc_eq", epsilon=-1)
    with pytest.raises(TypeError, match="'calibrate' or a number"):
        mm.correlate(es, coefficient="acc_eq", epsilon="auto")
    with pytest.raises(ValueError, match="unknown metric 'M'"):
        mm.correlate(es, ["M"])
    with pytest.raises(TypeError, match="found list"):
        mm.correlate([1, 2])


def test_tidy_table_goes_in_directly():
    es = column([1, 2, 3], [1, 3, 2])
    assert one(es.to_frame()).value == one(es).value


# -- against others ------------------------------------------------------------------------


@st.composite
def campaigns(draw, holes=True):
    """Small score matrices with ties, holes and grids that do not exist in binary."""
    n_systems, n_segments = draw(st.integers(2, 5)), draw(st.integers(1, 6))
    human = st.integers(-4, 0).map(float)
    metric = st.one_of(st.integers(0, 5).map(lambda k: k / 10), st.floats(-1, 1))
    hole = st.just(np.nan)

    def matrix(values):
        cell = st.one_of(values, values, values, hole) if holes else values
        return np.array([[draw(cell) for _ in range(n_segments)] for _ in range(n_systems)])

    return matrix(human), matrix(metric)


def as_set(human, metric):
    return EvalSet(human, {"m": metric}, systems=[f"S{i}" for i in range(len(human))])


def usable(human, metric, grouping):
    return any(True for _ in oracle.groups(human, metric, grouping))


@settings(max_examples=150, deadline=None)
@given(campaigns(), st.sampled_from(agreement.GROUPINGS), st.sampled_from([0.0, 0.1, 0.25]))
def test_pair_counts_equal_the_oracle(campaign, grouping, epsilon):
    human, metric = campaign
    if not usable(human, metric, grouping):
        return
    cells = agreement.grouped(as_set(human, metric), "m", grouping)
    counts = _kernels.pair_counts(cells.human_ranks, cells.metric, cells.starts, epsilon)
    assert counts.tolist() == [oracle.pair_counts(h, m, epsilon) for h, m in oracle.groups(human, metric, grouping)]


@settings(max_examples=100, deadline=None)
@given(campaigns(), st.sampled_from(agreement.GROUPINGS))
def test_correlations_equal_scipy(campaign, grouping):
    human, metric = campaign
    if not usable(human, metric, grouping):
        return
    es = as_set(human, metric)
    for name, function in (("pearson", stats.pearsonr), ("spearman", stats.spearmanr), ("kendall", stats.kendalltau)):
        expected = []
        for h, m in oracle.groups(human, metric, grouping):
            nearly = np.ptp(m) < 1e-9 * max(1, np.abs(m).max())  # where scipy itself is unsure
            if nearly and np.ptp(m) > 0:
                return
            expected.append(np.nan if np.ptp(h) == 0 or np.ptp(m) == 0 else function(h, m)[0])
        values = mm.correlate_groups(es, "m", coefficient=name, grouping=grouping).value
        np.testing.assert_allclose(values, expected, atol=1e-9)


@settings(max_examples=60, deadline=None)
@given(campaigns(holes=False))
def test_tau_c_equals_scipy(campaign):
    human, metric = (v.reshape(-1, 1) for v in campaign)
    if np.ptp(human) == 0 or np.ptp(metric) == 0:
        return
    expected = stats.kendalltau(human.ravel(), metric.ravel(), variant="c")[0]
    assert one(as_set(human, metric), coefficient="tau_c").value == pytest.approx(expected, abs=1e-12)


# -- properties ----------------------------------------------------------------------------


@settings(max_examples=50, deadline=None)
@given(campaigns(), st.sampled_from(("spearman", "kendall", "tau_a", "tau_c", "tau_10", "tau_13", "tau_14")))
def test_rank_statistics_ignore_monotone_maps(campaign, coefficient):
    human, metric = campaign
    if not usable(human, metric, "segment"):
        return
    before = one(as_set(human, metric), coefficient=coefficient)
    # order-preserving and one to one: each distinct score becomes the cube of its rank
    ranks = np.full_like(metric, np.nan)
    scored = ~np.isnan(metric)
    ranks[scored] = np.unique(metric[scored], return_inverse=True)[1]
    after = one(as_set(human, ranks**3 - 5), coefficient=coefficient)
    assert after.value == pytest.approx(before.value, abs=1e-12)
    assert after.n_degenerate == before.n_degenerate


@settings(max_examples=50, deadline=None)
@given(campaigns(), st.sampled_from(agreement.COEFFICIENTS), st.sampled_from(agreement.GROUPINGS), st.randoms())
def test_order_of_systems_and_segments_does_not_matter(campaign, coefficient, grouping, random):
    human, metric = campaign
    if not usable(human, metric, grouping):
        return
    es = as_set(human, metric)
    systems, segments = list(es.systems), list(es.segments)
    random.shuffle(systems)
    random.shuffle(segments)
    shuffled = es.select(systems=systems, segments=segments)
    options = {"coefficient": coefficient, "grouping": grouping}
    assert one(shuffled, **options).value == pytest.approx(one(es, **options).value, abs=1e-9)


@settings(max_examples=80, deadline=None)
@given(campaigns(), st.sampled_from(agreement.COEFFICIENTS), st.sampled_from(agreement.GROUPINGS))
def test_bounds(campaign, coefficient, grouping):
    human, metric = campaign
    if usable(human, metric, grouping):
        value = one(as_set(human, metric), coefficient=coefficient, grouping=grouping).value
        assert (0 if coefficient == "acc_eq" else -1) <= value <= 1


@pytest.mark.parametrize("grouping", agreement.GROUPINGS)
@pytest.mark.parametrize("coefficient", [*agreement.COEFFICIENTS])
def test_perfect_and_anti_perfect_metric(coefficient, grouping):
    human = np.array([[0.0, -1, -5, -2], [-3, -4, -1.5, -6], [-7, -2.5, -8, -9]])
    good, bad = as_set(human, 2 * human + 3), as_set(human, -human)
    options = {"coefficient": coefficient, "grouping": grouping}
    assert one(good, **options).value == pytest.approx(1)
    if coefficient == "tau_c":
        assert one(bad, **options).value == pytest.approx(-1)
    elif coefficient in ("acc_eq", "tau_eq"):
        assert one(bad, epsilon=0, **options).value == (0 if coefficient == "acc_eq" else -1)
    else:
        assert one(bad, **options).value == pytest.approx(-1)


@settings(max_examples=80, deadline=None)
@given(campaigns(), st.sampled_from(agreement.GROUPINGS))
def test_constant_metric_scores_the_human_tie_share(campaign, grouping):
    human, _ = campaign
    constant = np.where(np.isnan(human), np.nan, 0.5)
    if usable(human, constant, grouping):
        value = one(as_set(human, constant), coefficient="acc_eq", grouping=grouping).value
        assert value == pytest.approx(mm.ties.human_tie_share(as_set(human, constant), grouping=grouping))


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e150, 1e300])
def test_extreme_scales(scale):
    human, metric = np.array([[1.0, 2, 4], [3, 1, 2]]), np.array([[1.0, 3, 2], [2, 1, 5]])
    expected = one(as_set(human, metric), grouping="none").value
    assert one(as_set(human * scale, metric / scale), grouping="none").value == pytest.approx(expected, rel=1e-12)


def test_large_offset_does_not_cost_precision():
    rng = np.random.default_rng(1)
    human, metric = rng.random((3, 200)), rng.random((3, 200))
    expected = one(as_set(human, metric), grouping="none").value
    assert one(as_set(human, metric + 2.0**20), grouping="none").value == pytest.approx(expected, abs=1e-9)


# -- decomposition -----------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(campaigns(), st.sampled_from(("segment", "system")))
def test_parts_sum_to_pooled_pearson(campaign, by):
    human, metric = campaign
    es = as_set(human, metric) if usable(human, metric, "none") else None
    if es is None or one(es, grouping="none").n_degenerate:
        return
    row = agreement.decompose_pearson(es, by=by).iloc[0]
    assert row.value == pytest.approx(one(es, grouping="none").value, abs=1e-12)
    assert row["between"] + row["within"] == pytest.approx(row.value, abs=1e-12)
    assert -1e-12 <= row.human_between <= 1 + 1e-12
    assert -1e-12 <= row.metric_between <= 1 + 1e-12


def test_decomposition_by_hand():
    # human means 0 and -6 by segment; metric X lives between segments only
    es = EvalSet([[1, -5], [-1, -7]], {"X": [[1, 0], [1, 0]]}, systems=["A", "B"])
    row = agreement.decompose_pearson(es).iloc[0]
    # centred human (4, -2, 2, -4): sum of squares 40, between (3, -3, 3, -3): 36; metric all between
    assert row.human_between == pytest.approx(36 / 40)
    assert row.metric_between == pytest.approx(1)
    assert row["between"] == pytest.approx(6 / math.sqrt(40))
    assert row["within"] == pytest.approx(0, abs=1e-15)


def test_decomposition_refuses_a_constant():
    with pytest.raises(ValueError, match="metric 'm': all scores are equal"):
        agreement.decompose_pearson(column([1, 2], [1, 1]))
    with pytest.raises(ValueError, match="human: all scores are equal"):
        agreement.decompose_pearson(column([1, 1], [1, 2]))


def test_decomposition_counts_groups_and_cells():
    nan = np.nan
    human = [[0, 1, nan, 2], [2, nan, nan, 2], [5, 3, nan, 1]]
    es = EvalSet(human, {"m": [[1, 2, 3, 4], [3, 2, 1, 2], [3, 5, 1, 0]]}, systems=["A", "B", "C"])
    assert agreement.decompose_pearson(es).iloc[0][["n_groups", "n_cells"]].tolist() == [3, 8]
    assert agreement.decompose_pearson(es, by="system").iloc[0][["n_groups", "n_cells"]].tolist() == [3, 8]


def test_pearson_is_cut_where_rounding_takes_it_beyond_1():
    # without the cut r is 1 + 2^-52
    assert one(column([0, 0, 1], [1, 1, 4])).value == 1
    assert one(column([0, 0, 1], [1, 1, -2])).value == -1


# -- system level ------------------------------------------------------------------------


def test_system_level_takes_the_metrics_asked_for_or_those_that_all_sets_have():
    first = EvalSet([[3], [2]], {"a": [[2], [3]], "b": [[2], [3]]}, systems=["A", "B"], name="1")
    second = EvalSet([[3], [2]], {"b": [[2], [1]], "c": [[2], [1]]}, systems=["A", "B"], name="2")
    assert mm.pairwise_accuracy([first, second]).iloc[0].tolist() == ["b", 0.5, 2, 2]
    assert mm.pairwise_accuracy([first, second], "b").iloc[0].tolist() == ["b", 0.5, 2, 2]
    assert mm.pairwise_accuracy(first, ["b", "a"]).metric.tolist() == ["b", "a"]
    with pytest.raises(ValueError, match="unknown metric in set '2': 'a'"):
        mm.pairwise_accuracy([first, second], "a")
    with pytest.raises(ValueError, match="no metric in common"):
        mm.pairwise_accuracy([first, EvalSet([[1], [2]], {"d": [[1], [2]]}, systems=["A", "B"])])


def test_a_metric_with_system_scores_alone_has_no_soft_accuracy():
    scores = pd.DataFrame({"human": [3.0, 2], "a": [2.0, 1]}, index=["A", "B"])
    es = EvalSet([[3, 3], [2, 2]], {"m": [[2, 1], [3, 1]]}, systems=["A", "B"], system_scores=scores)
    assert mm.pairwise_accuracy(es, "a").value[0] == 1
    with pytest.raises(ValueError, match="unknown metric in set 'unnamed': 'a'"):
        mm.soft_pairwise_accuracy(es, "a")
    assert mm.soft_pairwise_accuracy(es).metric.tolist() == ["m"]


def test_scores_a_10_to_the_12th_apart_are_tied():
    first, second = np.array([1.0, 2, 1]), np.array([1 + 1e-13, 1, 1 + 1e-11])
    assert agreement.sign_of_difference(first, second).tolist() == [0, 1, -1]


def test_pairwise_accuracy_pools_pairs_over_sets():
    # set 1: 3 pairs, 2 agree; set 2: 1 pair, agrees. Pooled 3/4, not the mean of 2/3 and 1.
    first = EvalSet([[3], [2], [1]], {"m": [[2], [3], [1]]}, systems=["A", "B", "C"], name="1")
    second = EvalSet([[3], [2]], {"m": [[2], [1]]}, systems=["A", "B"], name="2")
    assert mm.pairwise_accuracy([first, second]).iloc[0].tolist() == ["m", 0.75, 4, 2]


def test_a_tie_agrees_with_a_tie_only():
    es = EvalSet([[1], [1], [0]], {"m": [[2], [2], [2]]}, systems=["A", "B", "C"])
    assert mm.pairwise_accuracy(es).value.iloc[0] == pytest.approx(1 / 3)


def test_pairwise_accuracy_needs_a_pair():
    with pytest.raises(ValueError, match="two systems"):
        mm.pairwise_accuracy(EvalSet([[1]], {"m": [[1]]}, systems=["A"]))
    with pytest.raises(ValueError, match="empty list"):
        mm.pairwise_accuracy([])


def test_spa_by_enumeration():
    """Two systems, three segments: all eight sign vectors are the exact null distribution."""
    human, metric = np.array([[3.0, 1, 2], [1, 2, 0]]), np.array([[0.5, 0.1, 0.4], [0.2, 0.3, 0.4]])

    def exact_p(x):
        d = x[0] - x[1]
        draws = [float(np.dot(2 * np.array(signs) - 1, d)) for signs in np.ndindex(2, 2, 2)]
        return np.mean([(v > d.sum() + 1e-12) + 0.5 * (abs(v - d.sum()) <= 1e-12) for v in draws])

    expected = 1 - abs(exact_p(human) - exact_p(metric))
    es = EvalSet(human, {"m": metric}, systems=["A", "B"])
    value = mm.soft_pairwise_accuracy(es, n_resamples=40_000).value.iloc[0]
    assert value == pytest.approx(expected, abs=4 * math.sqrt(0.5 / 40_000))


def source_only(n_systems=6, n_segments=40):
    rng = np.random.default_rng(5)
    quality = np.arange(n_systems)[:, None]
    human = -rng.integers(0, 6, (n_systems, n_segments)) + 0.4 * quality
    return EvalSet(human, {"src": np.tile(rng.random(n_segments), (n_systems, 1))}, systems=list("ABCDEF")[:n_systems])


def test_spa_of_tied_systems_does_not_depend_on_their_order():
    es = source_only()
    turned = es.select(systems=es.systems[::-1])
    assert mm.soft_pairwise_accuracy(es).value[0] == pytest.approx(
        mm.soft_pairwise_accuracy(turned).value[0], abs=1e-12
    )
    published = [mm.soft_pairwise_accuracy(s, ties="published").value[0] for s in (es, turned)]
    assert abs(published[0] - published[1]) > 0.2


def test_spa_of_the_humans_themselves_is_1():
    es = source_only()
    twin = EvalSet(es.human, {"twin": es.human * 3 - 1}, systems=es.systems)
    assert mm.soft_pairwise_accuracy(twin).value[0] == 1


def test_spa_with_unequal_holes_uses_common_segments():
    rng = np.random.default_rng(2)
    human = rng.random((3, 30))
    human[0, :5] = human[1, 3:9] = np.nan
    es = EvalSet(human, {"m": human + 0.01 * rng.random((3, 30))}, systems=["A", "B", "C"])
    assert 0.9 < mm.soft_pairwise_accuracy(es).value[0] <= 1


def test_spa_is_seeded_and_leaves_global_state_alone():
    es = source_only()
    state = np.random.get_state()[1].tolist()  # noqa: NPY002
    first = mm.soft_pairwise_accuracy(es, n_resamples=50, rng=1).value[0]
    assert first == mm.soft_pairwise_accuracy(es, n_resamples=50, rng=1).value[0]
    assert np.random.get_state()[1].tolist() == state  # noqa: NPY002


def test_spa_draws_a_thousand_signs_from_the_published_seed():
    rng = np.random.default_rng(0)
    es = as_set(rng.normal(size=(3, 8)), rng.normal(size=(3, 8)))
    values = [mm.soft_pairwise_accuracy(es, n_resamples=20, **r).value[0] for r in ({}, {"rng": 4}, {"rng": 3})]
    assert values[0] == values[1] != values[2]
    assert mm.soft_pairwise_accuracy(es).n_resamples[0] == 1000


def test_spa_checks_its_options():
    es = source_only()
    with pytest.raises(ValueError, match="`ties` must be one of 'half', 'published'"):
        mm.soft_pairwise_accuracy(es, ties="one")
    for n_resamples in (0, 1.5, True):
        with pytest.raises(ValueError, match="positive integer"):
            mm.soft_pairwise_accuracy(es, n_resamples=n_resamples)


def test_a_metric_named_twice_is_refused():
    es = column([0, 1], [0, 1])
    for function in (mm.correlate, mm.pairwise_accuracy, mm.soft_pairwise_accuracy):
        with pytest.raises(ValueError, match="found more than once: 'm'"):
            function(es, ["m", "m"])


# Metrics with metrics


def test_metric_correlations_count_unrated_translations():
    human = np.array([[0.0, -1.0, np.nan, np.nan]])
    a, b = np.array([[1.0, 2.0, 4.0, 8.0]]), np.array([[1.0, 3.0, np.nan, 5.0]])
    es = mm.EvalSet(human, {"a": a, "b": b, "c": np.zeros((1, 4))}, systems=["A"])
    matrix = mm.agreement.metric_correlations(es)
    assert matrix.loc["a", "b"] == pytest.approx(stats.pearsonr([1, 2, 8], [1, 3, 5])[0])
    assert matrix.loc["a", "b"] == matrix.loc["b", "a"]
    assert np.isnan(matrix.loc["a", "c"])


def test_partial_correlation_is_that_of_the_residuals():
    rng = np.random.default_rng(0)
    g = rng.normal(size=(3, 50))
    h, m = g + rng.normal(size=g.shape), 2 * g + rng.normal(size=g.shape)
    es = mm.EvalSet(h, {"m": m, "g": g}, systems=list("ABC"))
    table = mm.agreement.partial_correlations(es, "g").set_index("metric")

    def left(values):
        line = stats.linregress(g.ravel(), values.ravel())
        return values.ravel() - line.slope * g.ravel()

    assert table.loc["m", "partial"] == pytest.approx(stats.pearsonr(left(h), left(m))[0])
    assert table.loc["m", "value"] == pytest.approx(stats.pearsonr(h.ravel(), m.ravel())[0])
    assert np.isnan(table.loc["g", "partial"])
    with pytest.raises(ValueError, match="unknown metric 'x'"):
        mm.agreement.partial_correlations(es, "x")


def test_means_that_only_rounding_tells_apart_are_tied():
    """.1 + .2 - .3 is 0, and so is the mean of two zeros."""
    human = [[0.1, 0.2, -0.3], [0, 0, 0], [1, 1, 1]]
    es = mm.EvalSet(human, {"m": [[5, 5, 5], [5, 5, 5], [6, 6, 6]]}, systems=list("ABC"))
    assert mm.pairwise_accuracy(es)["value"][0] == 1
