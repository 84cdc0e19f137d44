"""Agreement, ties and system dependence against their definitions in exact arithmetic, on 2,000 awkward campaigns."""

import itertools

import exact
import numpy as np
import pytest
import recomputed
from campaigns import KINDS, VALUES, campaigns, checks, comparable, grouped, near, refuses

import mtmeta as mm
from mtmeta import agreement, significance

pytestmark = pytest.mark.slow


@checks(agreement.correlate, agreement.correlate_groups)
def test_coefficients(numbers):
    for number, human, metric, es in campaigns(numbers):
        for grouping in agreement.GROUPINGS:
            if not comparable(human, metric, grouping):
                refuses("no group has two translations", mm.correlate, es, grouping=grouping)
                continue
            groups = exact.groups(human, metric, grouping)
            differences = [abs(a - b) for _, m in groups for a, b in itertools.pairwise(m)]
            for coefficient in agreement.COEFFICIENTS:
                plain = coefficient in ("pearson", "spearman", "tau_c")
                epsilon = 0.0 if plain else differences[number % len(differences)]
                options = {} if plain else {"epsilon": epsilon}
                reach = epsilon + exact.tolerance(human, metric) if epsilon else 0.0
                expected = exact.in_groups(coefficient, human, metric, grouping, reach)
                table = mm.correlate_groups(es, "m", coefficient=coefficient, grouping=grouping, **options)
                for value, wanted in zip(table["value"], expected, strict=True):
                    near(value, wanted, f"{number} {coefficient} {grouping}")
                known = [v for v in expected if v is not None]
                row = mm.correlate(es, coefficient=coefficient, grouping=grouping, **options).iloc[0]
                near(row["value"], np.mean(known) if known else 0.0, f"{number} {coefficient} {grouping}")
                assert (row["n_groups"], row["n_degenerate"]) == (len(expected), len(expected) - len(known))
                both = ~(np.isnan(human) | np.isnan(metric))
                assert (row["n_systems"], row["n_segments"]) == tuple(both.any(axis=k).sum() for k in (1, 0))


@checks(mm.calibrate_ties)
def test_tie_calibration(numbers):
    for number, human, metric, es, grouping in grouped(numbers):
        found = mm.calibrate_ties(es, "m", grouping=grouping)
        epsilon, value = exact.calibrate(human, metric, grouping)
        near(found.epsilon, epsilon, f"{number} {grouping}", exact.tolerance(human, metric))
        near(found.value, float(value), number, 1e-12)


@checks(mm.ties.expected_accuracy)
def test_statistics_without_a_threshold(numbers):
    for number, human, metric, es, grouping in grouped(numbers):
        expected = exact.expected_accuracy(human, metric, grouping)
        if expected is None:
            refuses("humans tie every pair", mm.ties.expected_accuracy, es, grouping=grouping)
        else:
            near(mm.ties.expected_accuracy(es, grouping=grouping)["value"][0], expected, number, 1e-12)


@checks(agreement.decompose_pearson)
def test_decomposition(numbers):
    for number, human, metric, es in campaigns(numbers):
        both = ~(np.isnan(human) | np.isnan(metric))
        expected = exact.decomposition(human, metric) if both.sum() > 1 else None
        if expected is None:
            with pytest.raises(ValueError, match=r"fewer than two translations|all scores are equal"):
                mm.agreement.decompose_pearson(es)
            continue
        row = mm.agreement.decompose_pearson(es).iloc[0]
        columns = ("value", "between", "within", "human_between", "metric_between")
        for column, wanted in zip(columns, expected, strict=True):
            near(row[column], wanted, f"{number} {column}")
        assert (row["n_groups"], row["n_cells"]) == (both.any(axis=0).sum(), both.sum())


@checks()
def test_correlations_among_metrics(numbers):
    for number, human, metric, es in campaigns(numbers):
        third = np.random.default_rng(number).normal(size=human.shape)
        es = mm.EvalSet(human, {"m": metric, "g": third}, systems=es.systems)
        rated = ~np.isnan(human).all(axis=1)
        human, metric, third = human[rated], metric[rated], third[rated]  # systems that nobody rated are left out
        both = ~np.isnan(metric)
        if not both.any():
            continue
        r = exact.pearson(metric[both], third[both]) if both.any() else None
        near(recomputed.metric_correlations(es, ["m", "g"]).loc["m", "g"], r, number)


@checks(agreement.pairwise_accuracy, agreement.soft_pairwise_accuracy)
def test_system_level(numbers):
    for number, human, metric, es in campaigns(numbers):
        if "both ends" in KINDS[number % len(KINDS)]:  # a float cannot hold their means
            continue
        expected = exact.pairwise_accuracy(human, metric)
        if expected is None:
            refuses("no set has two systems|no metric in common", mm.pairwise_accuracy, es)
        else:
            near(mm.pairwise_accuracy(es)["value"][0], expected, number, 1e-12)
        n_signs, columns = 15, int((~np.isnan(human)).any(axis=0).sum())
        signs = np.rint(np.random.default_rng(number).random((n_signs, columns), dtype=np.float32)) * 2 - 1
        expected = exact.soft_pairwise_accuracy(human, metric, signs)
        if expected is None:
            refuses("two systems", mm.soft_pairwise_accuracy, es, n_resamples=n_signs, rng=number)
        else:
            near(mm.soft_pairwise_accuracy(es, n_resamples=n_signs, rng=number)["value"][0], expected, number, 1e-12)


@checks(significance.compare)
def test_exact_pair_swap(numbers):
    tested = 0
    for number, human, metric, es in campaigns(numbers):
        if human.size > 9 or not comparable(human, metric, "segment"):
            continue
        other = VALUES["tenths"](np.random.default_rng(number), human.shape)
        other[np.isnan(metric)] = np.nan
        es = mm.EvalSet(human, {"m": metric, "n": other}, systems=es.systems)
        found = mm.compare(es, coefficient="acc_eq", method="published")
        first, second = found.table["metric"]
        cells = (agreement.groups.grouped(es, name, "segment", published=True) for name in (first, second))
        epsilons = [agreement.coefficients.calibration(of)[0] for of in cells]
        expected = exact.pair_swap_p(es.human, es[first], es[second], "segment", epsilons)
        near(found.p_values.loc[first, second], expected, number, 1e-12)
        tested += 1
    assert tested > len(numbers) / 10


@checks(significance.clusters, significance.correct)
def test_corrections_and_clusters(numbers):
    for number in numbers:
        rng = np.random.default_rng([7, number])
        n = int(rng.integers(1, 8))
        p = np.round(rng.random(n) ** 3, int(rng.integers(1, 5)))
        np.testing.assert_allclose(significance.correct(p, "holm"), exact.holm(p.tolist()), atol=1e-15)
        order = np.argsort(p).tolist()  # Benjamini and Hochberg step up: the smallest n p / k from one's own place on
        stepped = [min(min(1.0, n * p[j] / (k + 1)) for k, j in enumerate(order) if p[j] >= value) for value in p]
        np.testing.assert_allclose(significance.correct(p, "bh"), stepped, atol=1e-15)
        square = np.round(rng.random((n, n)) ** 2, 2)
        assert significance.clusters(square, 0.05).tolist() == exact.clusters(square.tolist(), 0.05)
