"""Every public function either has a differential test or says why not; and every differential test tests one."""

import ast
import inspect
from functools import lru_cache
from importlib import import_module
from pathlib import Path

import pytest

import mtmeta as mm

FILES = sorted(Path(__file__).parent.glob("test_differential*.py"))

TESTED = {
    "aggregation.aggregate": "test_aggregations",
    "aggregation.aggregate_transposed": "test_transposed_references",
    "aggregation.compare_aggregations": "test_comparison_of_aggregations",
    "aggregation.downsample": "test_down_sampling",
    "aggregation.extract": "test_scores_are_those_of_sacrebleu test_scores_are_those_counted_by_hand",
    "aggregation.ratio_gap": "test_ratio_gap",
    "agreement.correlate": "test_coefficients",
    "agreement.correlate_groups": "test_coefficients",
    "agreement.decompose_pearson": "test_decomposition",
    "agreement.metric_correlations": "test_correlations_among_metrics",
    "agreement.pairwise_accuracy": "test_system_level",
    "agreement.partial_correlations": "test_correlations_among_metrics",
    "agreement.soft_pairwise_accuracy": "test_system_level",
    "datasets.mqm_weight": "test_weights_of_errors",
    "local_accuracy.accuracy_by_perturbation": "test_accuracy_by_perturbation",
    "local_accuracy.combination_variance": "test_combination_variance",
    "local_accuracy.context_effect": "test_chi_square test_permuted_contexts_against_all_permutations",
    "local_accuracy.expected_variance": "test_expected_variance",
    "local_accuracy.global_accuracy": "test_global_accuracy",
    "local_accuracy.length_metric": "test_length_metric",
    "local_accuracy.local_accuracy": "test_local_accuracy",
    "local_accuracy.natural_pairs": "test_natural_pairs",
    "local_accuracy.quality_buckets": "test_quality_buckets",
    "local_accuracy.ranking_effect": "test_order_of_metrics_against_all_permutations",
    "local_accuracy.recommend": "test_recommendation",
    "local_accuracy.stability": "test_stability",
    "local_accuracy.swap_effects": "test_swap_effects",
    "local_accuracy.tau_ap": "test_tau_ap",
    "local_accuracy.tau_ap_matrix": "test_tau_ap_matrix",
    "protocols.rank": "test_rankings_of_metrics test_p_values_of_rankings",
    "scoring.score_corpus": "test_scores_are_those_of_sacrebleu",
    "scoring.score_pairs": "test_pairs_of_texts",
    "scoring.score_ranking_pairs": "test_pairs_of_rankings",
    "scoring.score_rankings": "test_rankings",
    "scoring.score_segments": "test_scores_are_those_of_sacrebleu",
    "scoring.score_transcripts": "test_transcripts",
    "significance.clusters": "test_corrections_and_clusters",
    "significance.compare": "test_permutation_with_the_same_swaps test_permutation_against_all_swaps "
    "test_pairs_that_decide test_bootstrap test_williams test_exact_pair_swap",
    "significance.correct": "test_corrections_and_clusters test_benjamini_hochberg",
    "significance.intervals": "test_bootstrap",
    "sysdep.add_gaussian_noise": "test_nulls",
    "sysdep.add_heteroscedastic_noise": "test_nulls",
    "sysdep.centre_segments": "test_centred_segments",
    "sysdep.compare_with_null": "test_comparison_with_nulls",
    "sysdep.constant_metric": "test_nulls",
    "sysdep.detection_power": "test_power",
    "sysdep.deviations_both_ways": "test_both_ways",
    "sysdep.growth_with_systems": "test_growth",
    "sysdep.null_table": "test_comparison_with_nulls",
    "sysdep.permute_systems_within_segments": "test_nulls",
    "sysdep.permute_within_human_scores": "test_nulls",
    "sysdep.plant_bias": "test_planted_bias",
    "sysdep.resample_residuals": "test_nulls",
    "sysdep.system_dependence": "test_expected_deviation test_bootstrap_of_deviations",
    "sysdep.system_dependence_table": "test_tables",
    "sysdep.within_system_splits": "test_parts_of_a_system",
    "ties.calibrate_ties": "test_tie_calibration",
    "ties.chance_levels": "test_chance",
    "ties.discrete_to_continuous": "test_noise",
    "ties.drop_probabilities": "test_shares_after_dropping",
    "ties.expected_accuracy": "test_statistics_without_a_threshold",
    "ties.held_out_calibration": "test_held_out",
    "ties.human_tie_share": "test_human_ties",
    "ties.subsample_ties": "test_subsamples",
    "ties.subsampled_tie_share": "test_shares_after_dropping",
    "ties.tie_area": "test_statistics_without_a_threshold test_curves",
    "ties.tie_curve": "test_curves",
}

NO_NUMBER = "reads, writes, checks or names; computes no statistic"
DRAWS = "draws what its own tests check property by property; a second version would be a second simulator"
MADE_OF = "puts together statistics that are tested under their own names"
MODEL = "a trained model; its tests compare training with what the libraries give"
#: By name, or by module for modules that compute no statistic at all.
NOT_TESTED = {
    "aggregation.explain_reference_shape": NO_NUMBER,
    "datasets.fetch": NO_NUMBER,
    "datasets.load": NO_NUMBER,
    "datasets.load_all": NO_NUMBER,
    "datasets.load_news": NO_NUMBER,
    "datasets.locate": NO_NUMBER,
    "datasets.train_recommenders": MODEL,
    "evalset.as_evalset": NO_NUMBER,
    "exercises": NO_NUMBER,
    "local_accuracy.metrics_of": NO_NUMBER,
    "perturb": "returns texts and orders, no numbers, but for shares of what could be perturbed",
    "plots": "draws what was computed; the tests read the drawn data back",
    "protocols.published": "printed numbers, as published",
    "protocols.recompute": MADE_OF,
    "report.claims": MADE_OF,
    "report.decide": "a rule of four comparisons, tested case by case",
    "report.report": MADE_OF,
    "runner": NO_NUMBER,
    "scoring.add_scores": NO_NUMBER,
    "scoring.available_metrics": NO_NUMBER,
    "scoring.check_references": NO_NUMBER,
    "scoring.explain_reference_shape": NO_NUMBER,
    "scoring.read_scores": NO_NUMBER,
    "scoring.score_neural": MODEL,
    "scoring.score_with_command": NO_NUMBER,
    "scoring.scorer": NO_NUMBER,
    "scoring.signature": NO_NUMBER,
    "sentinel": MODEL,
    "simulate": DRAWS,
    "sweep": MADE_OF,
}


def public_functions():
    """Return the public functions by module, as in the API reference."""
    found = set()
    for module in mm._MODULES:
        names = import_module(f"mtmeta.{module}").__all__
        found |= {f"{module}.{n}" for n in names if inspect.isfunction(getattr(import_module(f"mtmeta.{module}"), n))}
    return found


@lru_cache
def differential_tests():
    """Return the tests of the differential files: name to the names that the file uses."""
    found = {}
    for path in FILES:
        if path != Path(__file__):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            used = {n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute)}
            for node in tree.body:
                if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                    assert node.name not in found, f"two tests are called {node.name}"
                    found[node.name] = used
    return found


def test_each_public_function_is_tested_or_says_why_not():
    lacking = {
        name
        for name in public_functions()
        if name not in TESTED and name not in NOT_TESTED and name.split(".")[0] not in NOT_TESTED
    }
    assert not lacking, "write a differential test, or say in NOT_TESTED why there is none"


def test_what_is_listed_exists():
    names, modules = public_functions(), set(mm._MODULES)
    assert set(TESTED) <= names
    assert set(NOT_TESTED) <= names | modules
    assert not set(TESTED) & set(NOT_TESTED)
    assert {f"{module}.{name}" for name, module in mm._NAMES.items()} & names <= set(TESTED) | set(NOT_TESTED)


@pytest.mark.parametrize("name", TESTED)
def test_its_tests_exist_and_use_it(name):
    found = differential_tests()
    for test in TESTED[name].split():
        assert test in found
        assert name.split(".")[1] in found[test]


def test_each_differential_test_is_listed():
    listed = {test for names in TESTED.values() for test in names.split()}
    assert set(differential_tests()) - listed == {"test_the_campaigns_are_awkward"}
