"""System dependence: against scikit-learn, against the paper, and by properties."""

import noise_nulls
import numpy as np
import pandas as pd
import pytest
from campaigns import refuses
from scipy import stats
from sklearn.isotonic import IsotonicRegression

import mtmeta as mm
from mtmeta import sysdep
from mtmeta.sysdep import _deviation, _nulls
from mtmeta.sysdep._cells import cells_of, resamples
from mtmeta.sysdep._nulls import strata_of

PLAIN = {"n_resamples": 0}


def campaign(seed=0, n_systems=5, n_segments=60, *, ties=False, missing=0.0, noise=1.0):
    rng = np.random.default_rng(seed)
    human = -rng.integers(0, 8, (n_systems, n_segments)).astype(float) - np.arange(n_systems)[:, None]
    scores = human + noise * rng.normal(size=human.shape)
    scores = np.round(scores / 3) if ties else scores
    human[rng.random(human.shape) < missing] = np.nan
    names = {"systems": [f"S{k}" for k in range(n_systems)], "documents": [f"d{j // 4}" for j in range(n_segments)]}
    return mm.EvalSet(human, {"m": scores}, **names)


def by_system(result):
    return result.table.set_index("system")["expected_deviation"]


def slow_fit(x, y, weights, points):
    """Fit on copies of the rows, as the paper's listing does."""
    copies = np.repeat(np.arange(len(y)), weights)
    model = IsotonicRegression(increasing=True, out_of_bounds="clip").fit(x[copies], y[copies])
    return model.predict(points)


def test_deviations_ranks_and_changes_by_hand():
    # f_G pools A and B at each score: f_G(0) = (-4 - 2)/2 = -3, f_G(1) = (-1 - 1)/2 = -1
    es = mm.EvalSet([[-4, -1], [-2, -1]], {"m": [[0, 1], [0, 1]]}, systems=["A", "B"])
    result = mm.system_dependence(es, "m", **PLAIN)
    table, row = result.table.set_index("system"), result.summary.iloc[0]
    assert (table["remapped"].tolist(), table["expected_deviation"].to_dict()) == ([-2, -2], {"A": 0.5, "B": -0.5})
    assert tuple(row[["sysdep", "relative", "sd"]]) == (1, 1, pytest.approx(np.sqrt(0.5)))
    assert table["human_rank"].to_dict() == {"A": 2, "B": 1}
    assert np.isnan([row["low"], row["high"], *table["low"]]).all()
    es = mm.EvalSet([[0, 0], [-1, -1], [-2, -2]], {"m": [[0.5, 0.5], [0.1, 0.1], [0.9, 0.9]]}, systems=["A", "B", "C"])
    table = mm.system_dependence(es, "m", **PLAIN).table
    assert (table["system"].tolist(), table["metric_rank"].tolist()) == (["A", "B", "C"], [2, 3, 1])
    assert table["metric_change"].tolist() == [-1, -1, 2]
    assert table["remapped_rank"].tolist() == [1, 1, 1]  # no increasing map keeps that order
    assert table["remapped_change"].tolist() == [0, 1, 2]


def test_documents_must_be_named_and_tables_begin_with_the_best_system():
    es = mm.EvalSet(campaign().human, {"m": campaign()["m"]}, systems=list("ABCDE"))
    for function in (mm.system_dependence, sysdep.deviations_both_ways, sysdep.compare_with_null):
        refuses("does not say which document a segment is from", function, es, "m", unit="document", n_resamples=39)
    es = mm.EvalSet([[-2, -2], [0, -1], [-1, 0]], {"m": [[0.9, 0.1], [0.5, 0.5], [0.1, 0.2]]}, systems=["A", "B", "C"])
    for table in (
        mm.system_dependence(es, "m", **PLAIN).table,
        sysdep.deviations_both_ways(es, "m", n_resamples=5),
        sysdep.compare_with_null(es, "m", null="systems", n_resamples=39).table,
    ):
        assert (table["system"].tolist(), table.index.tolist()) == (["B", "C", "A"], [0, 1, 2])


def test_normal_draws_have_the_moments_of_the_null_and_an_interval_is_the_outer_of_two():
    draws = np.random.default_rng(0).normal(size=(4000, 3)) * [1, 2, 3] + [0, 4, 12]
    ranges = _nulls._normal_ranges(draws)  # last less first, nearly always: mean 12, variance 1 + 9
    assert [ranges.mean(), ranges.std()] == pytest.approx([12, 10**0.5], rel=0.04)
    assert np.quantile(ranges, [0.001, 0.999]) == pytest.approx(12 + np.array([-3.09, 3.09]) * 10**0.5, abs=0.7)
    es = campaign(3, n_segments=120)
    result = sysdep.compare_with_null(es, "m", n_resamples=1000, min_stratum=5)
    row = result.summary.iloc[0]
    assert row["p_normal"] == pytest.approx(row["p_value"], abs=0.06)
    far = mm.EvalSet(es.human, {"m": es["m"] + 9.0 * (np.arange(5) == 4)[:, None]}, systems=es.systems)
    assert sysdep.compare_with_null(far, "m", n_resamples=39).summary["p_normal"][0] == pytest.approx(2 / 20_000)
    cells = cells_of(campaign(3), "m")
    value = np.ptp(mm.system_dependence(campaign(3), "m", **PLAIN).table["expected_deviation"])
    shape = np.array([0.0, 0.3, 0.1, 0.5, 1.0])
    for width, expected in ((1.2 * value, (0.8, 1.2)), (0.9 * value, (0.9, 1.1)), (3 * value, (0.0, 3.0))):
        bounds = _deviation._range_interval(cells, width * np.tile(shape, (9, 1)))
        assert bounds == pytest.approx(np.multiply(expected, value))


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("how", ["cell", "segment", "document"])
@pytest.mark.parametrize("population", ["paired", "full"])
def test_fast_path_is_scikit_learn_in_a_loop(ties, how, population):
    es = campaign(1, ties=ties, missing=0.2)
    result = mm.system_dependence(es, "m", n_resamples=25, population=population, unit=how, rng=7)
    cells = cells_of(es, "m", paired=population == "paired", unit=how)
    assert how != "document" or (cells.unit == cells.segment // 4).all()
    unit, counts = resamples(cells, how, 25, np.random.default_rng(7))
    x = cells.scores[: cells.n_paired]
    fits = [slow_fit(x, cells.human, c[unit[: cells.n_paired]], cells.scores) for c in counts]
    expected = cells.system_means(np.mean(fits, axis=0)) - cells.system_means(cells.human)
    np.testing.assert_allclose(by_system(result)[list(es.systems)], expected, atol=1e-10, rtol=0)
    draws = result.draws.pivot(index="draw", columns="system", values="expected_deviation")[list(es.systems)].to_numpy()
    for draw, fitted, count in zip(draws, fits, counts, strict=True):
        weights = count[unit]
        for k in range(es.shape[0]):
            own, rated = cells.system == k, cells.system[: cells.n_paired] == k
            mean = np.average(fitted[own], weights=weights[own])
            human = np.average(cells.human[rated], weights=weights[: cells.n_paired][rated])
            assert draw[k] == pytest.approx(mean - human, abs=1e-10)


@pytest.mark.parametrize("unit", ["segment", "cell"])
def test_curves_are_scikit_learn_in_a_loop(unit):
    es, rng = campaign(2, n_systems=3, ties=True), np.random.default_rng(3)
    result, cells = mm.system_dependence(es, "m", n_resamples=30, unit=unit, rng=3), cells_of(es, "m")
    units, counts = resamples(cells, unit, 30, rng)  # those of the map of all
    for k, name in enumerate(es.systems):
        keep, own = cells.system == k, result.curves[result.curves["curve"] == name]
        # segments are those of all maps; cells are drawn anew for each
        drawn = counts[:, units[keep]] if unit == "segment" else resamples(cells.of(k), unit, 30, rng)[1]
        fits = [slow_fit(cells.scores[keep], cells.human[keep], c, own["score"].to_numpy()) for c in drawn]
        expected = [np.mean(fits, axis=0), *np.quantile(fits, [0.025, 0.975], axis=0)]
        np.testing.assert_allclose(own[["human", "low", "high"]].T, expected, atol=1e-10)


def test_one_rating_one_system_and_missing_scores():
    human = np.array(campaign(8).human)
    human[1, 1:] = np.nan
    es = mm.EvalSet(human, {"m": campaign(8)["m"]}, systems=list("ABCDE"))
    for how in ("cell", "segment"):
        result = mm.system_dependence(es, "m", n_resamples=50, unit=how)
        table = result.table.set_index("system")
        assert table.loc["B", "n_paired"] == 1
        # it is in two of three resamples only, so it has no interval, and neither has the range
        assert 0.2 < result.draws.query("system == 'B'")["expected_deviation"].isna().mean() < 0.5
        assert np.isfinite(table.loc["B", "expected_deviation"])
        assert table[["low", "high"]].isna().any(axis=1).to_dict() == {k: k == "B" for k in table.index}
        assert np.isfinite(result.summary["sysdep"][0])
        assert np.isnan(result.summary["low"][0])
    one = campaign().select(systems=["S1"])
    result = mm.system_dependence(one, "m", n_resamples=20)
    assert (result.summary["sysdep"][0], np.isnan(result.summary["sd"][0])) == (0, True)
    for function in (sysdep.compare_with_null, sysdep.deviations_both_ways):
        refuses("has one system; there is no other to compare it with", function, one, "m")
    human, scores = np.array(campaign(9).human), np.array(campaign(9)["m"])
    human[0, :10], scores[1, :5] = np.nan, np.nan
    es = mm.EvalSet(human, {"m": scores}, systems=list("ABCDE"))
    table = mm.system_dependence(es, "m", population="full", n_resamples=0).table.set_index("system")
    assert table.loc["A", ["n_paired", "n_scored"]].tolist() == [50, 60]
    assert table.loc["B", ["n_paired", "n_scored"]].tolist() == [55, 55]
    scores[0] = np.nan
    bare = mm.EvalSet(human, {"m": scores}, systems=list("ABCDE"))
    refuses(r"no translation of 'A' has both .*es\.select", mm.system_dependence, bare, "m")


@pytest.mark.parametrize(("call", "match"), [
    (lambda es: mm.system_dependence(es, "x"), "unknown metric 'x'"),
    (lambda es: mm.system_dependence(es, population="all"), "`population` must be one of 'paired', 'full'; found"),
    (lambda es: mm.system_dependence(es, unit="system"), "`unit` must be one of"),
    (lambda es: mm.system_dependence(es, n_resamples=2.5), "`n_resamples` must be a whole number"),
    (lambda es: mm.system_dependence(es, n_resamples=1), "an interval needs at least 2 resamples"),
    (lambda es: sysdep.compare_with_null(es, "m", null="x"), "`null` must be one of"),
    (lambda es: sysdep.compare_with_null(es, "m", n_resamples=38), r"as low as \.05; use at least 39"),
    (lambda es: sysdep.compare_with_null(es, "m", min_stratum=1), "at least 2"),
    (lambda es: mm.system_dependence([]), "expected at least one set"),
    (lambda es: mm.system_dependence(es, []), "nothing would be left"),
    (lambda es: sysdep.deviations_both_ways(es, "m", n_resamples=1), "at least 2"),
])  # fmt: skip
def test_arguments_are_checked(call, match):
    refuses(match, call, campaign(), error=(ValueError, TypeError))


def test_seed_and_workers_do_not_matter_to_the_result():
    sets, (first, same, other) = [campaign(1), campaign(2)], map(np.random.default_rng, (3, 3, 4))
    rngs = {"seed": 5, "again": 5, "another": 6, "generator": first, "alike": same, "unlike": other}
    found = {k: mm.system_dependence(sets, n_resamples=20, rng=rng).summary for k, rng in rngs.items()}
    for k, equal, differs in (("seed", "again", "another"), ("generator", "alike", "unlike")):
        pd.testing.assert_frame_equal(found[k], found[equal])
        assert not found[k].equals(found[differs])
    shared = mm.system_dependence(sets, n_resamples=20, rng=5, n_jobs=2).summary
    pd.testing.assert_frame_equal(found["seed"], shared)
    single = mm.system_dependence(sets[0], "m", n_resamples=20, rng=5).summary
    pd.testing.assert_frame_equal(shared[:1], single)
    assert single[["n_systems", "n_paired"]].to_numpy().tolist() == [[5, 300]]


def test_a_verdict_needs_both_intervals_on_one_side_of_zero(monkeypatch):
    both = {"low": ([-0.5, 0.1, 0.1, -3, -3, -3], [0.1, 0.1, -0.5, -3, -3, -3])}
    both["high"] = ([1, 1, 1, 0.5, -0.1, -0.1], [1, 1, 1, -0.1, -0.1, 0.5])
    bounds = [np.array([both["low"][k], both["high"][k]]) for k in (0, 1)]
    monkeypatch.setattr(_deviation, "intervals_both_ways", lambda *given: bounds)
    table = sysdep.deviations_both_ways(campaign(2, n_systems=6), "m").set_index("system")
    words = ["undecided", "favoured", "undecided", "undecided", "disfavoured", "undecided"]
    assert table["verdict"].sort_index().tolist() == words


def test_smallest_numbers_of_draws_and_a_null_without_a_test():
    refuses("at least 2; found 1", sysdep.compare_with_null, campaign(), "m", null="constant", n_resamples=1)
    result = sysdep.compare_with_null(campaign(), "m", null="constant", n_resamples=2)
    assert np.isnan(result.summary["p_value"][0])
    assert result.summary["verdict"][0] == "not tested"
    assert result.draws["sysdep"].tolist() == pytest.approx([np.ptp(campaign().human.mean(axis=1))] * 2)


def test_centred_scores_are_equal_where_they_should_be_in_any_order_of_systems():
    rng = np.random.default_rng(3)
    human = rng.integers(-25, 1, (7, 400)) / 4  # sevenths of quarters are rounded
    order = rng.permutation(7)
    first, second = (
        sysdep.centre_segments(mm.EvalSet(h, {"m": 1e-40 * h}, systems=list("ABCDEFG"))) for h in (human, human[order])
    )
    np.testing.assert_array_equal(first.human[order], second.human)
    exact = 28 * human - (4 * human).sum(axis=0)
    for found in (first.human, first["m"]):
        assert len(np.unique(found)) == len(np.unique(exact))
    np.testing.assert_allclose(first.human, exact / 28, atol=1e-11)


def test_whole_segments_are_centred_and_a_null_finds_a_planted_bias():
    human, scores = np.array(campaign(19).human), np.array(campaign(19)["m"])
    human[2, 7], scores[1, 9] = np.nan, np.nan
    es = mm.EvalSet(human, {"m": scores}, systems=list("ABCDE"))
    centred = sysdep.centre_segments(es)
    assert [s for s in es.segments if s not in centred.segments] == [8, 10]
    assert centred.provenance["left_out"] == {"segments": 2}
    scores[0] = np.nan
    with pytest.raises(ValueError, match="no segment of 'unnamed' has scores by humans and 'm' for every system"):
        sysdep.centre_segments(mm.EvalSet(human, {"m": scores}, systems=list("ABCDE")))
    es = campaign(13, n_segments=300, noise=1.0)
    scores = es["m"] + 3.0 * (np.arange(5) == 4)[:, None]  # the worst system, overrated
    biased = sysdep.compare_with_null(mm.EvalSet(es.human, {"m": scores}, systems=es.systems), "m", n_resamples=99)
    assert tuple(biased.summary.loc[0, ["verdict", "p_value"]]) == ("more than the null explains", pytest.approx(0.02))
    rng = np.random.default_rng(0)
    rater = mm.EvalSet(es.human + rng.normal(0, 3, es.shape), {"m": es["m"]}, systems=es.systems)
    assert sysdep.compare_with_null(rater, "m", n_resamples=99).summary["verdict"][0] == "less than the null explains"


def test_comparison_with_a_null_by_hand():
    es = campaign(3, n_systems=3, n_segments=40)
    one, same = (sysdep.permute_within_human_scores(es, "m", **seed)["m"] for seed in ({}, {"rng": 0}))
    np.testing.assert_array_equal(one, same)
    result = sysdep.compare_with_null(es, "m", n_resamples=39, min_stratum=5, rng=4)
    cells, rng = cells_of(es, "m"), np.random.default_rng(4)
    strata, draws = strata_of(cells.human, 5), []
    for _ in range(39):
        order = np.empty(120, dtype=int)
        for stratum in strata:
            order[stratum] = rng.permutation(stratum)
        null = mm.EvalSet(es.human, {"m": cells.scores[order].reshape(3, 40)}, systems=es.systems)
        draws.append(by_system(mm.system_dependence(null, "m", **PLAIN))[list(es.systems)].to_numpy())
    ours = result.table.set_index("system").loc[list(es.systems)]
    np.testing.assert_allclose(ours["null_mean"], np.mean(draws, axis=0), atol=1e-10)
    expected = np.quantile(draws, [0.025, 0.975], axis=0)
    np.testing.assert_allclose(ours[["null_low", "null_high"]].T, expected, atol=1e-10)
    np.testing.assert_allclose(result.draws["sysdep"], np.ptp(draws, axis=1), atol=1e-10)
    np.testing.assert_allclose(result.draws["sd"], np.std(draws, axis=1, ddof=1), atol=1e-10)
    row = result.summary.iloc[0]
    assert [row.null_low, row.null_high] == pytest.approx(np.quantile(np.ptp(draws, axis=1), [0.025, 0.975]), abs=1e-10)
    assert (row.sd_null_mean, row.n_systems, row.n_paired) == (pytest.approx(result.draws["sd"].mean()), 3, 120)


def test_two_sided_p_values_by_hand_and_of_people_who_tie_everything():
    draws = np.array([1.0, 2, 3, 4])
    # with itself, 3 of 5 are as large and 4 of 5 as small: twice either is more than 1
    for value, expected in ((3.0, 1), (9.0, 2 / 5), (0.0, 2 / 5), (4 + 1e-13, 4 / 5), (1 - 1e-13, 4 / 5)):
        assert _nulls._two_sided(value, draws) == pytest.approx(expected)
    assert _nulls._two_sided(4e9 + 1e-4, 1e9 * draws) == pytest.approx(2 * 2 / 5)
    es = mm.EvalSet(np.zeros((2, 30)), {"m": np.random.default_rng(0).random((2, 30))}, systems=["A", "B"])
    result = sysdep.compare_with_null(es, "m", null=noise_nulls.gaussian, n_resamples=39)
    assert (*result.summary.loc[0, ["sysdep", "p_value"]], np.isfinite(result.draws["sysdep"]).all()) == (0, 1, True)


def test_a_slope_that_is_zero_but_for_rounding_is_none_and_a_bias_is_worth_the_same_anywhere():
    """In tenths the covariance is exactly 0; in binary it comes out a little above."""
    human = np.array([[4, 1, 0, 6], [4, 0, 2, 5], [3, 0, 1, 1]]) / 10
    scores = np.array([[3, 6, 2, 2], [6, 6, 0, 6], [1, 5, 1, 2]]) / 10
    assert (human - human.mean()).ravel() @ (scores - scores.mean()).ravel() > 0
    es = mm.EvalSet(human, {"m": scores}, systems=["A", "B", "C"])
    assert sysdep.deviations_both_ways(es, "m", n_resamples=2)["reverse"].isna().all()


# -- several ratings --------------------------------------------------------------------------


def rated_twice(seed, *, favour=0.0, curve=False, n_segments=150):
    """Return a set of six systems, two ratings and a metric that favours S2; or one that stops counting."""
    rng = np.random.default_rng(seed)
    quality = -rng.exponential(2, (6, n_segments)) * np.linspace(0.5, 2, 6)[:, None]
    first, second, noise = rng.normal(size=(3, *quality.shape))
    scores = np.maximum(quality, -4) if curve else quality.copy()
    scores[2] += favour
    columns = {"human_2": quality + 1.5 * second, "m": scores + noise}
    names = {"systems": [f"S{k}" for k in range(6)], "documents": [f"d{j // 5}" for j in range(n_segments)]}
    return mm.EvalSet(quality + 1.5 * first, columns, **names)


def test_a_favour_needs_three_curves_and_one_that_fits():
    """Quality that stops counting is fair: a line finds favours; all three do not, and the check rejects the line."""
    bent = sysdep.favours(rated_twice(5, curve=True, n_segments=400), "m", n_resamples=199)
    assert bent.table["p_line"].min() <= 0.05 < bent.p_value
    assert bent.fit[1] < 0.001
    assert bent.table.loc[3, ["system", "p_value"]].tolist() == ["S4", 1]  # the curves contradict each other
    es = rated_twice(6, favour=1.0)
    found = sysdep.favours(es, "m", n_resamples=199)
    table = found.table.set_index("system")
    columns = table[["p_line", "p_quadratic", "p_cubic"]]
    assert (table["p_value"] >= columns.max(axis=1)).all()
    assert (table.loc["S2", "verdict"], max(found.fit.values()) > 0.05) == ("favoured", True)
    one = sysdep.favours(es, "m", degree=2, n_resamples=199)
    assert one.table[["favour", "low", "high"]].equals(found.table[["favour", "low", "high"]])
    assert one.draws.tolist() == found.draws.tolist()
    assert one.table["p_value"].tolist() == found.table["p_quadratic"].tolist()
    assert (sysdep.favours(es, "m", n_resamples=199, n_metrics=50).table["verdict"] == "undecided").all()
    scores = sysdep.centre_segments(es)["m"].mean(axis=1)
    own = table["favour"].reindex(es.systems).to_numpy() * found.slope * 6 / 5
    rest = [np.delete(scores, k) for k in range(6)]
    turned = [sum((scores[k] > rest[k]) != (scores[k] - own[k] > rest[k])) for k in range(6)]
    assert table["turned"].reindex(es.systems).tolist() == turned


def test_a_check_of_the_curve_holds_its_level_for_a_line_and_is_undefined_for_two_values():
    lines = [sysdep.favours(rated_twice(s, favour=1.0), "m", degree=1, n_resamples=2).fit[1] for s in range(100)]
    assert 0 <= np.mean(np.array(lines) <= 0.05) <= 0.13
    es = rated_twice(4)
    binary = mm.EvalSet(np.sign(es.human), {"human_2": np.sign(es["human_2"]), "m": es["m"]}, systems=es.systems)
    assert np.isnan(sysdep.favours(binary, "m", degree=1, n_resamples=5).fit[1])


def test_the_check_of_a_line_segment_by_segment():
    """Steps of one rating beside what a line leaves of the other; both ratings serve as instruments in turn."""
    es, left = rated_twice(5, curve=True, n_segments=40), []
    ratings = (es.ratings - es.ratings.mean(axis=1, keepdims=True)).round(12)
    given = [h - h.mean(axis=1, keepdims=True) for h in ratings]
    cuts = np.quantile(es.ratings, [0.25, 0.5, 0.75], method="higher")
    steps = [[(h >= cut) - (h >= cut).mean(axis=0) for cut in cuts] for h in es.ratings]
    steps = [[step - step.mean(axis=1, keepdims=True) for step in of] for of in steps]
    m = es["m"] - es["m"].mean(axis=0)
    m = m - m.mean(axis=1, keepdims=True)
    turns = [(0, 1), (1, 0)]
    slope = sum((given[b] * m).sum() for _, b in turns) / sum((given[b] * given[a]).sum() for a, b in turns)
    for step in range(3):
        share = sum((steps[b][step] * given[a]).sum() for a, b in turns)
        share /= sum((given[b] * given[a]).sum() for a, b in turns)
        rest = [(steps[b][step] - share * given[b]) * (m - slope * given[a]) for a, b in turns]
        left.append(sum(rest).sum(axis=0))
    test = 40 * np.mean(left, axis=1) @ np.linalg.solve(np.cov(left, bias=True), np.mean(left, axis=1)) * 37 / (40 * 3)
    found = sysdep.favours(es, "m", degree=1, n_resamples=2, unit="segment").fit[1]
    assert found == pytest.approx(stats.f.sf(test, 3, 37), rel=1e-6)


def test_a_slope_that_follows_the_source_is_no_favour_once_the_source_is_given():
    es = rated_twice(7, n_segments=400)
    steep = np.exp(np.random.default_rng(7).normal(size=400))
    es = es.with_metrics({"human_2": es["human_2"], "m": steep * es["m"]})
    plain, given = (sysdep.favours(es, "m", covariates=c, n_resamples=199) for c in ((), [steep]))
    size = [np.ptp(one.draws, axis=1).mean() for one in (plain, given)]
    assert size[1] < size[0]
    assert given.p_value > 0.05
    assert sysdep.favours(es, "m", covariates="mean", n_resamples=5).fit.keys() == {1, 2, 3}
    refuses("`covariates` must be one of", sysdep.favours, es, "m", covariates="size")
    refuses("has no sources", sysdep.favours, es, "m", covariates="length")
    refuses("for each of the 400 segments", sysdep.favours, es, "m", covariates=[np.ones(400)])


def test_favours_without_human_points_and_those_that_cannot_be_estimated():
    es = rated_twice(3)
    result = sysdep.favours(es.with_metrics({"human_2": es["human_2"], "m": -es["m"]}), "m", n_resamples=50)
    assert result.slope < 0
    assert result.to_frame().equals(result.table)
    assert result.table[["favour", "low", "high"]].isna().all(axis=None)
    assert (result.table["verdict"] == "undecided").all()
    assert 0 < result.p_value <= 1
    constant = es.with_metrics({"human_2": es["human_2"], "m": 0 * es["m"]})
    assert sysdep.favours(constant, "m", n_resamples=5).table["favour"].isna().all()
    blind = np.tile(np.random.default_rng(0).normal(size=es.shape[1]), (6, 1))  # sums of it are 0 but for rounding
    blind = es.with_metrics({"human_2": es["human_2"], "m": blind})
    assert sysdep.favours(blind, "m", n_resamples=5).table["favour"].isna().all()
    assert mm.system_dependence(constant, "m", n_resamples=5).summary["pearson"].item() == 0
    es = rated_twice(4)
    once = mm.EvalSet(es.human, {"m": es["m"]}, systems=es.systems)
    refuses("has 1 rating of each translation and 6 systems", sysdep.favours, once, "m")
    refuses("2 ratings of each translation and 1 system;", sysdep.favours, es.select(systems=["S1"]), "m")
    refuses("unknown metric 'n'", sysdep.favours, es, "n")
    refuses("`degree` must be one of 1, 2, 3", sysdep.favours, es, "m", degree=0)
    refuses("`unit` must be one of", sysdep.favours, es, "m", unit="cell")
    refuses("fewer than two segments", sysdep.favours, es.select(segments=es.segments[:1]), "m")
    binary = mm.EvalSet(np.sign(es.human), {"human_2": np.sign(es["human_2"]), "m": es["m"]}, systems=es.systems)
    refuses("do not go together", sysdep.favours, binary, "m", degree=3)


def test_a_perfect_metric_fails_the_null_of_one_rating():
    es, rng = rated_twice(5, n_segments=400), np.random.default_rng(5)
    quality = np.mean([es.human, es["human_2"]], axis=0)  # for truth, with fresh ratings of it
    ratings = quality + 2 * rng.normal(size=(2, *quality.shape))
    perfect = mm.EvalSet(ratings[0], {"human_2": ratings[1], "m": quality}, systems=es.systems)
    nulls = sysdep.compare_with_null(perfect, "m", n_resamples=99).summary
    assert nulls["verdict"].tolist() == ["less than the null explains"]
