"""Agreement statistics, correlations along an axis and Williams' test: by hand, and by their properties."""

import exact
import numpy as np
import pandas as pd
import pytest
from campaigns import as_set, column, refuses, source_only
from scipy import stats

import mtmeta as mm
from mtmeta import EvalSet, agreement
from mtmeta._pearson import pearson, williams


def one(es, **options):
    return mm.correlate(es, **options).iloc[0]


@pytest.fixture
def half_constant():
    """Segment 1: perfect agreement. Segment 2: the metric is constant."""
    return EvalSet([[1, 1], [2, 2]], {"m": [[1, 5], [2, 5]]}, systems=["A", "B"])


@pytest.mark.parametrize("coefficient", ["pearson", "spearman", "kendall", "tau_c"])
def test_degenerate_groups(half_constant, coefficient):
    for degenerate, expected in (("drop", 1), ("zero", 0.5)):
        row = one(half_constant, coefficient=coefficient, degenerate=degenerate)
        assert [row.value, row.n_degenerate, row.n_groups] == [pytest.approx(expected), 1, 2]


@pytest.mark.parametrize(("options", "message"), [
    ({"grouping": "item"}, "`grouping` must be one of 'none', 'segment', 'system'; found 'item'"),
    ({"coefficient": "r"}, "`coefficient` must be one of"), ({"degenerate": "ignore"}, "`degenerate` must be one of"),
    ({"epsilon": 0.1}, "has no meaning for 'pearson'"), ({"coefficient": "acc_eq", "epsilon": -1}, ">= 0"),
    ({"coefficient": "acc_eq", "epsilon": "auto"}, "`epsilon` must be a number"),
    ({"metrics": ["M"]}, "unknown metric 'M'"), ({"es": [1, 2]}, "found list"),
])  # fmt: skip
def test_options_are_checked(options, message):
    error = TypeError if "auto" in options.values() or "es" in options else ValueError
    refuses(message, mm.correlate, error=error, **{"es": column([1, 2], [1, 2]), **options})


def test_pearson_is_cut_at_1_and_its_parts_by_hand():
    # from the means of segments: humans (2, 1, -3) and (1, 0, -1), metric (1, 0, -1) twice; between, 37.5 and 6
    es = EvalSet([[0, -6], [-1, -7], [-5, -8]], {"m": [[3, 1], [2, 0], [1, -1]]}, systems=list("ABC"))
    parts = agreement.decompose_pearson(es).iloc[0]
    shares = parts["human_between"], parts["metric_between"]
    assert [parts["within"], *shares] == pytest.approx([7 / np.sqrt(53.5 * 10), 37.5 / 53.5, 6 / 10])
    # without the cut r is 1 + 2^-52
    assert (one(column([0, 0, 1], [1, 1, 4])).value, one(column([0, 0, 1], [1, 1, -2])).value) == (1, -1)


def test_system_level_takes_the_metrics_asked_for_or_those_that_all_sets_have():
    first = EvalSet([[3], [2]], {"a": [[2], [3]], "b": [[2], [3]]}, systems=["A", "B"], name="1")
    second = EvalSet([[3], [2]], {"b": [[2], [1]], "c": [[2], [1]]}, systems=["A", "B"], name="2")
    assert mm.pairwise_accuracy([first, second]).iloc[0].tolist() == ["b", 0.5, 2, 2]
    assert mm.pairwise_accuracy([first, second], "b").iloc[0].tolist() == ["b", 0.5, 2, 2]
    assert mm.pairwise_accuracy(first, ["b", "a"]).metric.tolist() == ["b", "a"]
    refuses("unknown metric in set '2': 'a'", mm.pairwise_accuracy, [first, second], "a")
    apart = [first, EvalSet([[1], [2]], {"d": [[1], [2]]}, systems=["A", "B"])]
    refuses("no metric in common", mm.pairwise_accuracy, apart)
    refuses("empty list", mm.pairwise_accuracy, [])
    scores = pd.DataFrame({"human": [3.0, 2], "a": [2.0, 1]}, index=["A", "B"])
    es = EvalSet([[3, 3], [2, 2]], {"m": [[2, 1], [3, 1]]}, systems=["A", "B"], about={"system_scores": scores})
    assert mm.pairwise_accuracy(es, "a").value[0] == 1
    refuses("unknown metric in set 'unnamed': 'a'", mm.soft_pairwise_accuracy, es, "a")
    assert mm.soft_pairwise_accuracy(es).metric.tolist() == ["m"]


def test_spa_of_tied_systems_does_not_depend_on_their_order():
    es = source_only()
    turned = es.select(systems=es.systems[::-1])
    half = [mm.soft_pairwise_accuracy(s).value[0] for s in (es, turned)]
    assert half[0] == pytest.approx(half[1], abs=1e-12)
    published = [mm.soft_pairwise_accuracy(s, ties="published").value[0] for s in (es, turned)]
    assert abs(published[0] - published[1]) > 0.2


def test_spa_draws_a_thousand_signs_from_the_published_seed_and_checks_its_options():
    rng = np.random.default_rng(0)
    es = as_set(rng.normal(size=(3, 8)), rng.normal(size=(3, 8)))
    values = [mm.soft_pairwise_accuracy(es, n_resamples=20, **r).value[0] for r in ({}, {"rng": 4}, {"rng": 3})]
    assert values[0] == values[1] != values[2]
    assert mm.soft_pairwise_accuracy(es).n_resamples[0] == 1000
    es = source_only()
    refuses("`ties` must be one of 'half', 'published'", mm.soft_pairwise_accuracy, es, ties="one")
    for n_resamples in (0, 1.5, True):
        with pytest.raises((ValueError, TypeError), match="`n_resamples` must be"):
            mm.soft_pairwise_accuracy(es, n_resamples=n_resamples)


def test_spa_names_its_number_of_segments_and_warns_where_metrics_differ_in_it():
    rng = np.random.default_rng(0)
    human = rng.normal(size=(3, 40))
    m = human + rng.normal(size=human.shape)
    es = as_set(human, m)
    assert mm.soft_pairwise_accuracy(es)["n_segments"].tolist() == [40]
    assert mm.soft_pairwise_accuracy([es, es])["n_segments"].tolist() == [40]
    holes = np.where(np.arange(40) < 20, np.nan, m)
    es = EvalSet(human, {"m": m, "holes": holes}, systems=list("ABC"))
    with pytest.warns(UserWarning, match="20 with scores of 'holes' but 40 with scores of 'm'"):
        assert mm.soft_pairwise_accuracy(es)["n_segments"].tolist() == [40, 20]
    assert mm.soft_pairwise_accuracy(es.select(segments=es.segments[20:]))["n_segments"].tolist() == [20, 20]


def test_metrics_named_twice_and_means_that_only_rounding_tells_apart():
    es = column([0, 1], [0, 1])
    for function in (mm.correlate, mm.pairwise_accuracy, mm.soft_pairwise_accuracy):
        refuses("found more than once: 'm'", function, es, ["m", "m"])
    # .1 + .2 - .3 is 0, and so is the mean of two zeros
    human = [[0.1, 0.2, -0.3], [0, 0, 0], [1, 1, 1]]
    es = mm.EvalSet(human, {"m": [[5, 5, 5], [5, 5, 5], [6, 6, 6]]}, systems=list("ABC"))
    assert mm.pairwise_accuracy(es)["value"][0] == 1


def test_pearson_of_one_row_and_of_a_constant_side_and_williams():
    constant = np.full(1001, 0.1)
    assert (constant != constant.mean()).any()
    assert np.isnan(pearson(constant, np.arange(1001.0)))
    assert np.isnan(pearson(np.arange(1001.0), constant))
    assert pearson(np.array([1.0, 2, 3]), np.array([1.0, 3, 2])) == pytest.approx(0.5)
    assert stats.t.isf(williams(0.6, 0.4, 0.3, 20), 17) == pytest.approx(exact.williams(0.6, 0.4, 0.3, 20))
    assert williams(np.array(0.4), np.array(0.4), np.array(1.0), 12) == 0.5
    assert williams(np.array(0.4), np.nextafter(0.4, 1), np.array(1.0), 12) == 0.5


def test_what_only_rounding_varies_is_constant_where_it_is_asked_for():
    means = np.array([0.1 + 0.2, 0.3, 0.3]) * 2**20
    assert np.isnan(pearson(means, np.array([1.0, 2.0, 4.0]), tolerance=1e-12))
    assert not np.isnan(pearson(means, np.array([1.0, 2.0, 4.0])))
