"""Significance: the toy by hand, each fast test against a slow one, calibration under a null."""

import itertools

import numpy as np
import pandas as pd
import pytest
from campaigns import refuses
from scipy import stats

import mtmeta as mm
from mtmeta import agreement, resampling, significance
from mtmeta._equal import merged
from mtmeta.significance import clusters, compare, correct, intervals
from mtmeta.significance.decisions import rank_sets
from mtmeta.significance.systems import of_other_systems


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


@pytest.mark.parametrize("statistic", ["pairwise_accuracy", "pearson", "spa"])
@pytest.mark.parametrize("holes", [False, True])
def test_systems_are_those_of_hybrids(statistic, holes):
    es = campaign(4, n_systems=6, n_segments=20, noise=(2, 3, 8))
    human = np.array(es.human)
    human[:, :4] = np.nan
    if holes:
        human[0, 5] = np.nan
    scales = zip(es.metrics, (1, 30, 0.1), strict=True)
    es = mm.EvalSet(human, {m: 5 + s * es[m] for m, s in scales}, systems=es.systems)
    units = agreement.units.exchange_units(es, "segment")
    signs = units.signs(6, np.random.default_rng(3))  # column 0 exchanges nothing
    draws = significance.exchange.exchanged_systems(es, list(es.metrics), statistic, units, signs)
    rated = ~np.isnan(human)
    parts = {m: (es[m] - es[m][rated].mean()) / es[m][rated].std() for m in es.metrics}
    z = mm.EvalSet(human, parts, systems=es.systems)
    pairs = [("m0", "m1"), ("m0", "m2"), ("m1", "m2")]
    for row, (a, b) in zip(draws, pairs, strict=True):
        for value, swap in zip(row, signs[units.of_segment].T < 0, strict=True):
            mixed = z.with_metrics({"x": np.where(swap, z[b], z[a]), "y": np.where(swap, z[a], z[b])})
            if statistic == "pearson":
                x, y = mixed.system_scores.corr().loc["human", ["x", "y"]]
            elif statistic == "spa":
                x, y = (spa_of_normal_p(mixed, m) for m in "xy")
            else:
                x, y = mm.pairwise_accuracy(mixed)["value"]
            assert value == pytest.approx(x - y, abs=1e-12)


def spa_of_normal_p(es, metric):
    """Return SPA with p-values of normal approximations to the sign flips of the metric's segment differences."""
    signs = np.rint(np.random.default_rng(4).random((1000, 16), dtype=np.float32)) * 2 - 1
    gaps = []
    for i, j in itertools.combinations(range(es.shape[0]), 2):
        human, mine = (v[i, 4:] - v[j, 4:] for v in (es.human, es[metric]))
        mine, human = np.where(np.isnan(human), 0, mine), np.nan_to_num(human)
        null, observed = signs @ human, human.sum()
        p = ((null > observed + 1e-9).mean() + (null >= observed - 1e-9).mean()) / 2
        gaps.append(abs(p - stats.norm.sf(mine.sum() / np.sqrt((mine**2).sum()))))
    return 1 - np.mean(gaps)


def test_official_system_scores_are_kept():
    """Where a system's score is not the mean of its segments, the difference is spread over them."""
    es = campaign(1, n_systems=4)
    table = es.system_scores.assign(m0=[9.0, 1, 2, 3])
    official = mm.EvalSet(es.human, {m: es[m] for m in es.metrics}, systems=es.systems, about={"system_scores": table})
    units = agreement.units.exchange_units(official)
    kept = np.ones((units.n, 1))
    for statistic in ("pearson", "pairwise_accuracy"):
        found = significance.exchange.exchanged_systems(official, ["m0", "m1"], statistic, units, kept)[0, 0]
        if statistic == "pearson":
            m0, m1 = table.corr().loc["human", ["m0", "m1"]]
        else:
            m0, m1 = mm.pairwise_accuracy(official, ["m0", "m1"])["value"]
        assert found == pytest.approx(m0 - m1, abs=1e-12)


def test_null_differences_are_wider_where_few_units_count_and_skewed_scores_are_noted():
    """One unit of six counts alone: 2.4 degrees of freedom, not 6. Equal and normal gaps need nothing."""
    one, equal, none = [1, 0, 0, 0, 0, 0], [1, -1, 1, 1, -1, 1], [0.0] * 6
    found = significance.exchange.widening(np.array([one, equal, none], dtype=float))
    np.testing.assert_allclose(found, [stats.t.isf(0.025, 2.4) / stats.t.isf(0.025, 6), 1, 1])
    of_many = significance.exchange.widening(np.array([one], dtype=float), 10)
    assert of_many == pytest.approx(stats.t.isf(0.0025, 2.4) / stats.t.isf(0.0025, 6))
    es = campaign(5, n_segments=60)
    tail = mm.EvalSet(es.human, {"m0": es["m0"], "tail": np.exp(es["m1"])}, systems=es.systems)
    skewness = stats.skew(tail["tail"], axis=None)
    assert skewness > 2
    note = compare(tail, grouping="none", n_resamples=9).note
    assert f"tail ({skewness:.1f})" in note
    for options in ({"coefficient": "kendall", "grouping": "none"}, {}, {"grouping": "none", "method": "bootstrap"}):
        assert "skewed" not in compare(tail, **options, n_resamples=9).note
    assert "skewed" not in compare(es, grouping="none", n_resamples=9).note
    flat = mm.EvalSet(es.human, {"m0": es["m0"], "flat": np.full(es.shape, 1e50)}, systems=es.systems)
    assert "skewed" not in compare(flat, grouping="none", n_resamples=9).note


def along_a_text(seed, rho, n_segments=200):
    """Return metrics without documents whose noise grows and falls along the text."""
    rng = np.random.default_rng(seed)
    human, columns = rng.normal(size=(5, n_segments)), {}
    for name in "ab":
        level = [rng.normal()]
        for new in np.sqrt(1 - rho**2) * rng.normal(size=n_segments - 1):
            level.append(rho * level[-1] + new)
        columns[name] = human + np.exp(level) * rng.normal(size=human.shape)
    return mm.EvalSet(human, columns, systems=list("ABCDE"))


def test_dependence_of_neighbours_by_its_definition():
    rng = np.random.default_rng(0)
    parts = rng.normal(size=(3, 30)) + rng.normal(size=30)
    x = parts - parts.mean(axis=0)
    x = x - x.mean(axis=1)[:, None]
    products = [(1 - k / 4) * sum(x[m, u] * x[m, u + k] for m in range(3)) for k in (1, 2, 3) for u in range(30 - k)]
    p, ratio = significance.exchange.dependence(parts)
    assert p == pytest.approx(stats.norm.sf(sum(products) / np.sqrt(sum(v**2 for v in products))))
    assert ratio == pytest.approx(1 + 2 * sum(products) / (x**2).sum())
    assert significance.exchange.dependence(np.ones((2, 30))) == (1, 1)


def test_a_test_on_single_segments_says_what_it_assumes_and_whether_neighbours_depend_on_each_other():
    """Without documents, neighbours that depend on each other made it reject too often without a word."""
    es = along_a_text(0, 0.9)
    options = {"coefficient": "kendall", "n_resamples": 9}
    for method in ("exchange", "bootstrap"):
        note = compare(es, method=method, **options).note
        assert "names no documents" in note
        assert "neighbours depend on each other" in note
    mixed = es.select(segments=np.random.default_rng(1).permutation(es.segments).tolist())
    note = compare(mixed, **options).note
    assert "names no documents" in note
    assert "no dependence" in note
    columns = {m: es[m] for m in "ab"}
    for n_documents, expected in ((19, "only 19 documents are rated"), (20, None)):
        documents = [str(k * n_documents // 200) for k in range(200)]
        named = mm.EvalSet(es.human, columns, systems=es.systems, documents=documents)
        note = compare(named, **options).note
        assert (expected in note) if expected else note == ""
    assert "too few" in compare(es.select(segments=es.segments[:12]), **options).note
    assert compare(es, method="published", **options).note == ""


def test_blocks_are_runs_of_rated_segments():
    es = along_a_text(0, 0.9, n_segments=47)
    human = np.array(es.human)
    human[:, [0, 20]] = np.nan  # 45 are rated: 22 blocks of two, and one of one
    es = mm.EvalSet(human, {m: es[m] for m in "ab"}, systems=es.systems)
    assert resampling.units_of(es, "block").tolist()[:6] == [0, 0, 0, 1, 1, 2]
    table = compare(es, unit="block", n_resamples=9).table
    assert set(zip(table["unit"], table["n_units"], strict=True)) == {("block", 23)}
    named = mm.EvalSet(
        human, {m: es[m] for m in "ab"}, systems=es.systems, documents=resampling.units_of(es, "block").tolist()
    )
    for method in ("exchange", "bootstrap"):
        p = [
            compare(s, unit=u, method=method, n_resamples=99).p_values for s, u in ((es, "block"), (named, "document"))
        ]
        pd.testing.assert_frame_equal(*p)


def slow_max_t(draws, observed):
    """Adjust p-values by the definition: a difference against the largest of those that are not larger."""
    spread = np.sqrt((draws**2).mean(axis=1))
    t, null = np.abs(observed) / spread, np.abs(draws) / spread[:, None]
    raw = [((null[t <= size].max(axis=0) >= size).sum() + 1) / (draws.shape[1] + 1) for size in t]
    return [max(p for p, other in zip(raw, t, strict=True) if other >= size) for size in t]


def test_max_t_and_rank_sets_by_their_definitions():
    rng = np.random.default_rng(0)
    for n in (2, 3, 5):
        first, second = np.triu_indices(n, 1)
        values, draws = np.sort(rng.normal(size=n))[::-1], rng.normal(size=(n, 99)) / 2
        observed, null = values[first] - values[second], draws[first] - draws[second]
        p = significance.decisions.max_t(null, observed)
        np.testing.assert_allclose(p, slow_max_t(null, observed))
        square = np.full((n, n), np.nan)
        square[first, second] = p
        best, worst = rank_sets(square, 0.3)
        told = {(i, j) for i, j, value in zip(first, second, p, strict=True) if value <= 0.3}
        assert best.tolist() == [1 + sum((i, j) in told for i in range(n)) for j in range(n)]
        assert worst.tolist() == [n - sum((i, j) in told for j in range(n)) for i in range(n)]
    assert significance.decisions.max_t(np.zeros((1, 9)), np.zeros(1)).tolist() == [1]


#: Means and standard errors in mathematics of 37 countries of the OECD, PISA 2018, best first: Japan, Korea, Estonia …
PISA = np.array([pair.split() for pair in (
    "526.97 2.47, 525.93 3.12, 523.41 1.74, 519.23 2.63, 515.65 2.60, 515.31 2.91, 512.02 2.36, 509.40 1.74, "
    "508.90 1.36, 508.07 2.26, 507.30 1.97, 502.39 2.65, 501.77 2.56, 500.96 2.22, 500.04 2.65, 499.63 2.20, "
    "499.47 2.46, 498.94 2.97, 496.13 1.96, 495.41 2.32, 495.19 1.95, 494.49 1.71, 492.49 2.68, 491.36 1.94, "
    "486.59 2.78, 486.16 2.56, 483.42 1.10, 481.39 1.46, 481.19 1.95, 481.08 2.32, 478.24 3.24, 463.03 3.50, "
    "453.51 2.26, 451.37 3.09, 417.41 2.42, 408.80 2.49, 390.93 2.99"
).split(", ")], dtype=float)  # fmt: skip


def stepped_down(null, t, alpha):
    """Return which ordered pairs are told apart, by the loop of Mogstad et al. over one-sided hypotheses."""
    left, n_above = ~np.eye(len(t), dtype=bool), int(alpha * (null.shape[-1] + 1))
    flat = null.reshape(-1, null.shape[-1])
    while True:
        largest = np.sort(flat[left.ravel()].max(axis=0))[::-1]
        rejected = left & (t > largest[n_above - 1])
        if not rejected.any():
            return ~left & ~np.eye(len(t), dtype=bool)
        left &= ~rejected


def test_rank_sets_step_down_over_ordered_pairs_as_in_the_paper():
    """The example of csranks: Korea's set has 7 ranks, and 6 if a rejection removed both directions of a pair."""
    (means, errors), (i, j) = PISA.T, np.triu_indices(len(PISA), 1)
    scores = np.random.default_rng(0).normal(size=(len(PISA), 10_000)) * errors[:, None]
    draws, observed, sets = scores[i] - scores[j], means[i] - means[j], {}
    for one_sided in (True, False):
        square = np.full((len(PISA), len(PISA)), np.nan)
        square[i, j] = significance.decisions.max_t(draws, observed, one_sided=one_sided)
        sets[one_sided] = np.array(rank_sets(square)).T
    assert sets[True][:3].tolist() == [[1, 6], [1, 7], [1, 6]]
    assert sets[False][1].tolist() == [1, 6]
    assert ((sets[True][:, 0] <= sets[False][:, 0]) & (sets[False][:, 1] <= sets[True][:, 1])).all()
    gaps = scores[:, None, :2000] - scores[None, :, :2000]
    spread = np.sqrt((gaps**2).mean(axis=2)) + np.eye(len(PISA))
    told = stepped_down(gaps / spread[..., None], (means[:, None] - means) / spread, 0.05)
    square[i, j] = significance.decisions.max_t(draws[:, :2000], observed, one_sided=True)
    best, worst = rank_sets(square)
    assert best.tolist() == (1 + told.sum(axis=0)).tolist()
    assert worst.tolist() == (len(PISA) - told.sum(axis=1)).tolist()


def test_rank_sets_step_down_over_ordered_pairs_with_and_without_draws():
    """Holm over both directions of three pairs: after one rejection, five hypotheses are left, not two pairs."""
    p = np.array([0.001, 0.018, 0.5])
    found = significance.comparison._directed(significance.comparison._Test(p, "cell", 9))
    np.testing.assert_allclose(found, [0.003, 0.045, 1])
    np.testing.assert_allclose(correct(p, "holm")[1], 0.036)
    drawn = np.random.default_rng(0).normal(size=(3, 99)), np.array([0.5, 1, 2])
    found = significance.comparison._directed(significance.comparison._Test(p, "cell", 9, None, *drawn))
    assert found.tolist() == significance.decisions.max_t(*drawn, one_sided=True).tolist()
    assert found.tolist() != significance.decisions.max_t(*drawn).tolist()


def test_too_many_pairs_are_refused_and_tau_eq_has_the_p_values_of_acc_eq():
    scores = np.random.default_rng(0).normal(size=(3, 1, 6326))  # 20,005,975 pairs
    es = mm.EvalSet(scores[0], {"a": scores[1], "b": scores[2]}, systems=["A"])
    refuses("has too many pairs", significance.published._right_pairs, es, ["a", "b"], "none")
    es = campaign(2)
    for method in ("published", "exchange"):
        p = [compare(es, coefficient=c, method=method, rng=1).p_values for c in ("acc_eq", "tau_eq")]
        pd.testing.assert_frame_equal(*p)


def test_copies_are_the_same_metric_on_any_scale():
    """Standardised scores of the two differ by rounding, which swapping must not take for a difference."""
    es = campaign(1, grid=True)
    twins = es.with_metrics({"a": es["m0"], "b": 100 * es["m0"] / 3 + 7})
    for coefficient in ("kendall", "tau_10", "pearson"):
        for method in ("published", "exchange"):
            options = {"coefficient": coefficient, "method": method, "n_resamples": 20}
            np.testing.assert_allclose(compare(twins, **options).draws, 0, atol=1e-12)
    es = campaign(0)
    twins = mm.EvalSet(es.human, {"a": es["m0"], "b": es["m0"]}, systems=es.systems)
    for options in ({"coefficient": "acc_eq"}, {"coefficient": "pearson"}, {"coefficient": "kendall"}):
        result = compare(twins, **options)
        assert result.p_values.loc["a", "b"] == 1, options
        assert result.table[["rank", "best_rank", "worst_rank"]].to_numpy().tolist() == [[1, 1, 2], [1, 1, 2]]
    assert compare(twins, grouping="none", method="williams").p_values.loc["a", "b"] == 1


def test_common_cells_and_corrections():
    es = campaign(0)
    hole = es["m1"].copy()
    hole[0, :6] = np.nan
    with_hole = mm.EvalSet(es.human, {"m0": es["m0"], "m1": hole}, systems=es.systems)
    values = compare(with_hole, n_resamples=10).table.set_index("metric")["value"]
    same = mm.EvalSet(np.where(np.isnan(hole), np.nan, es.human), {"m0": es["m0"]}, systems=es.systems)
    assert values["m0"] == mm.correlate(same)["value"][0] != mm.correlate(es, "m0")["value"][0]
    es = campaign(0, noise=(1, 1.2, 1.5, 2))
    plain, holm = (compare(es, coefficient="acc_eq", correction=c).to_frame()["p_value"] for c in (None, "holm"))
    largest = compare(es, coefficient="acc_eq", correction="maxT").to_frame()["p_value"]
    assert ((plain <= largest) & (largest <= holm + 0.02)).all()
    assert (plain < largest).any()
    np.testing.assert_allclose(holm, correct(plain, "holm"))


@pytest.mark.parametrize(("options", "message"), [
    ({"method": "wald"}, "`method` must be one of"),
    ({"n_resamples": 0}, "`n_resamples` must be at least 1; found 0"),
    ({"coefficient": "spearman", "method": "published"}, "there is no published test for 'spearman'"),
    ({"method": "williams"}, "for Pearson correlations without grouping"),
    ({"unit": "document"}, "does not say which document"),
    ({"unit": "both"}, "`unit` must be one of None, 'segment', 'block', 'document', 'system'"),
    ({"correction": "maxT", "method": "published"}, "needs draws of all pairs at once"),
    ({"method": "bootstrap", "unit": "document"}, "does not say which document"),
    ({"correction": "fdr"}, "`correction` must be one of"),
    ({"metrics": ["m0"]}, "at least two metrics"),
])  # fmt: skip
def test_refusals(options, message):
    refuses(message, compare, campaign(0), **options)


def test_scores_are_brought_to_one_scale_and_tied_where_rounding_parts_them():
    scores = np.array([2.0, 1, 0, 1 + 1e-15, 1e-14])  # of systems; two pairs differ by rounding alone
    assert merged(scores[:, None], 1e-12).ravel().tolist() == [2, 1, 0, 1, 0]
    # far from 0, a small spread makes much of rounding: 3 x and x are the same all the same
    x = 1e6 + np.random.default_rng(0).permutation(40) / 10
    first, second = significance.published._comparable(np.array([x, 3 * x]))
    assert (first == second).all()
    assert (np.argsort(first) == np.argsort(x)).all()


@pytest.mark.parametrize("counts", [[10, 100], [7, 0], [3, 4]])
def test_tail_of_a_sum_of_signs(counts):
    weights, heads = np.array([1, 1000]), [np.arange(n + 1) for n in counts]
    sums = np.add.outer(*(w * (2 * h - n) for w, h, n in zip(weights, heads, counts, strict=True)))
    mass = np.multiply.outer(*(stats.binom.pmf(h, n, 0.5) for h, n in zip(heads, counts, strict=True)))
    support = int(weights @ counts)
    for observed in (-support, 0, 1, support // 20, support // 2, support, support + 1):
        tail = significance.published._sign_sum_tail(np.array(counts), weights, observed)
        assert tail == pytest.approx(mass[sums >= observed].sum(), abs=1e-13)


def test_edges_of_corrections_and_clusters():
    p = np.full((4, 4), np.nan)
    p[0, 1], p[0, 2], p[0, 3], p[1, 2], p[1, 3], p[2, 3] = 0.3, 0.2, 0.001, 0.04, 0.001, 0.6
    # 2 is beaten by 1, a member of the first cluster, though not by the best
    assert clusters(p).tolist() == [1, 1, 2, 2]
    assert correct([np.nan], "bh").tolist() == pytest.approx([np.nan], nan_ok=True)
    assert correct([0.01, np.nan, 0.04], "holm").tolist() == pytest.approx([0.02, np.nan, 0.04], nan_ok=True)
    assert (correct([0, 1], "holm").tolist(), clusters(np.full((1, 1), np.nan)).tolist()) == ([0, 1], [1])
    assert clusters([[np.nan, 0.05], [np.nan, np.nan]]).tolist() == [1, 2]  # alpha itself is significant
    for function, given, options, message in (
        *((correct, [bad, 0.5], {"method": "holm"}, "must lie in") for bad in (-0.1, 1.1, 2)),
        (correct, [0.5], {"method": "bonferroni"}, "`method` must be one of 'holm', 'bh'"),
    ):
        refuses(message, function, given, **options)


def test_what_cannot_be_tested_is_refused():
    nan, es = np.nan, campaign(0, n_systems=3, n_segments=5, noise=(1, 2))
    human = np.array(es.human)
    human[1, 2] = nan
    holes = mm.EvalSet(human, {m: es[m] for m in es.metrics}, systems=es.systems)
    with pytest.raises(ValueError, match=r"rated for all systems or for none; 1 segments are rated for some"):
        compare(holes, coefficient="spa", method="published")
    assert 0 < compare(holes, coefficient="spa").p_values.iloc[0, 1] <= 1
    three = es.select(systems=es.systems[:1], segments=es.segments[:3])
    refuses("at least 4 translations; found 3", compare, three, grouping="none", method="williams")
    four = es.select(systems=es.systems[:1], segments=es.segments[:4])
    assert 0 < compare(four, grouping="none", method="williams").p_values.iloc[0, 1] <= 1
    flat = mm.EvalSet(es.human, {"m0": es["m0"], "flat": np.ones(es.shape)}, systems=es.systems)
    refuses("are constant", compare, flat, grouping="none", method="williams")
    apart = mm.EvalSet([[1, 2]] * 2, {"a": [[1, nan]] * 2, "b": [[nan, 1]] * 2}, systems=["A", "B"])
    refuses("no translation is scored by humans and all 2 metrics", compare, apart)
    human, official = np.full((10, 10), nan), pd.DataFrame({"human": np.arange(10.0)}, list("ABCDEFGHIJ"))
    human[:2, 0] = 1, 2  # a draw has both with probability .4
    scores = dict.fromkeys("ab", campaign(0, 10, 10)["m0"])
    lonely = mm.EvalSet(human, scores, systems=list("ABCDEFGHIJ"), about={"system_scores": official})
    with pytest.raises(ValueError, match=r"undefined in 2\d of 40 bootstrap draws; the set is too small"):
        compare(lonely, unit="both", method="bootstrap", n_resamples=40)
    refuses("compare a system with its own copy", compare, es, coefficient="acc_eq", unit="both", method="bootstrap")


def test_equally_good_metrics_stand_by_name_and_near_scores_become_equal():
    es = campaign(0, noise=(1,))
    twins = mm.EvalSet(es.human, {"b": es["m0"], "a": es["m0"]}, systems=es.systems)
    assert intervals(twins, n_resamples=2)["metric"].tolist() == ["a", "b"]
    assert intervals(campaign(1, noise=(4, 1)), n_resamples=2)["metric"].tolist() == ["m1", "m0"]
    for level in (0, 1, 95):
        refuses("`level` must lie in", intervals, twins, level=level)
    rows = np.array([[0.0, 3.0], [0.2, 5.0]])
    assert significance.published._merged(rows, 0.5).tolist() == [[0, 3], [0, 5]]
    rows = np.array([[0.0, 0.4], [0.2, 5.0]])  # the first has two that are near
    assert significance.published._merged(rows, 0.5).tolist() == rows.tolist()


def test_drivers_of_a_mean_over_segments_by_hand():
    """Segment 1 has r = 1 and -1, segment 2 the same r for both: all of the lead is in segment 1."""
    human = [[0, 0, np.nan], [1, 1, np.nan], [2, 2, np.nan]]  # nobody rated segment 3
    es = mm.EvalSet(human, {"good": human, "poor": [[2, 0, 0], [1, 1, 0], [0, 2, 0]]}, systems=[*"ABC"])
    table = mm.significance.drivers(es, ["poor", "good"])
    assert list(table.columns) == ["segment", "good", "poor", "difference"]
    assert table.to_numpy().tolist() == pytest.approx(np.array([[1, 0.5, -0.5, 1.0], [2, 0.5, 0.5, 0.0]]))


def test_power_is_that_of_the_normal_distribution_and_of_t():
    es, names = mm.load("teaching"), ["Judge", "RegressorQE"]
    table = mm.significance.power(es, names, coefficient="acc_eq")

    def lead(part):
        values = mm.correlate(part, names, coefficient="acc_eq")["value"]
        return values[0] - values[1]

    of_texts = mm.compare(es, names, coefficient="acc_eq").draws.var()
    of_systems = 11 * np.var([lead(es.select(systems=[s for s in es.systems if s != one])) for one in es.systems])
    z = lead(es) / np.sqrt(of_texts)
    assert table["power"][0] == pytest.approx(stats.norm.sf(1.959964 - z) + stats.norm.cdf(-1.959964 - z))
    z, limit = lead(es) / np.sqrt(of_texts + of_systems), stats.t.ppf(0.975, 11)
    assert table["power"][2] == pytest.approx(stats.norm.sf(limit - z) + stats.norm.cdf(-limit - z))
    assert table["power"][1] == pytest.approx(0.8, abs=0.005)
    assert table["n_segments"][1] > 300
    z = lead(es) / np.sqrt(of_texts)
    ends = z + np.array([1, -1]) * 1.959964 * np.sqrt(1 + z**2 / 600)
    ends = 300 * ((1.959964 + stats.norm.ppf(0.8)) / ends) ** 2
    assert table.loc[1, ["low", "high"]].tolist() == pytest.approx(np.ceil(ends), rel=1e-4)
    assert table.loc[[0, 2], ["low", "high"]].isna().all(axis=None)
    assert table["pilot"].tolist() == [np.ceil(300 * (1.959964 / z) ** 2)] * 4
    easy = mm.significance.power(es, ["Judge", "BLEU"])
    assert 0.8 <= easy["power"][3] < 0.85
    assert easy["n_systems"][3] > 1
    with pytest.raises(ValueError, match=r"has the same scores as a: .* No number of segments or systems"):
        mm.significance.power(es.with_metrics({"a": es["BLEU"], "b": es["BLEU"]}), ["a", "b"])
    with pytest.raises(ValueError, match="the jackknife over systems needs three; found 2"):
        mm.significance.power(es.select(systems=es.systems[:2]), names)


def test_sums_of_contributions_agree_with_real_exchange():
    """Pearson without grouping: p-values by first-order parts and by scoring 4,000 pairs of hybrids are near."""
    es = campaign(3, n_systems=6, n_segments=80, noise=(2, 2.1))
    z = mm.EvalSet(es.human, {m: (es[m] - es[m].mean()) / es[m].std() for m in es.metrics}, systems=es.systems)
    result = compare(es, grouping="none", n_resamples=4000, rng=3)
    a, b = result.to_frame().loc[0, ["better", "worse"]]
    h, x, y = es.human - es.human.mean(), z[a], z[b]
    observed = result.table["value"][0] - result.table["value"][1]
    reached = 0
    signs = agreement.units.exchange_units(es, "segment").signs(4000, np.random.default_rng(3))
    for swap in signs[:, 1:].T < 0:
        hybrids = np.where(swap, y, x), np.where(swap, x, y)
        r = [(v * h).mean() / v.std() / h.std() for v in hybrids]
        reached += abs(r[0] - r[1]) >= observed
    assert 0.02 < reached / 4000 < 0.98
    assert result.p_values.loc[a, b] == pytest.approx(reached / 4000, abs=0.01)


def test_interval_over_other_systems_is_the_jackknife_on_the_scale_of_fisher():
    """Leaving out each of five systems; t has four degrees of freedom."""
    human, metric = np.array([1.0, 2, 3, 4, 6]), np.array([2.0, 1, 4, 3, 5])
    value, low, high = of_other_systems(human[:, None], metric[:, None], "pearson", 0.95)
    r = np.corrcoef(human, metric)[0, 1]
    without = [np.corrcoef(np.delete(human, s), np.delete(metric, s))[0, 1] for s in range(5)]
    reach = stats.t.ppf(0.975, 4) * np.sqrt(4 / 5 * ((without - np.mean(without)) ** 2).sum()) / (1 - r**2)
    assert (value, low, high) == pytest.approx((r, *np.tanh(np.arctanh(r) + reach * np.array([-1, 1]))))
