"""mtmeta: meta-evaluation of machine-translation metrics.

The names that most analyses need stand here; everything else is in the modules. Higher scores are better everywhere.

Data
    `load`, `load_all`, `fetch`, `validate`, `EvalSet`
Agreement of metrics with people
    `correlate`, `correlate_groups`, `decompose_pearson`, `pairwise_accuracy`, `soft_pairwise_accuracy`, `rank`
Comparing metrics
    `compare`, `intervals`, `power`, `drivers`
Comparing systems
    `compare_systems`
Ties
    `calibrate_ties`, `human_tie_share`, `subsample_ties`
System dependence
    `system_dependence`, `favours`, `compare_with_null`
Local accuracy and aggregation
    `context_effect`, `recommend`, `guide`, `aggregate`
Fewer labels
    `system_means`, `ratings_saved`
Everything about one metric
    `report`
Modules
    `aggregation`, `agreement`, `book`, `datasets`, `differences`, `estimation`, `evalset`,
    `local_accuracy`, `perturb`, `plots`, `protocols`, `raters`, `rankings`, `reporting`, `resampling`, `scoring`,
    `sentinel`, `significance`, `simulate`, `sweep`, `sysdep`, `ties`

Names are imported when they are first used, so that ``import mtmeta`` and the command line's ``--help`` do not wait
for compilers and plotting libraries.
"""

from importlib import import_module

__version__ = "0.1.0"

_MODULES = """
aggregation agreement book datasets differences estimation evalset local_accuracy perturb plots protocols
raters rankings reporting resampling scoring sentinel significance simulate sweep sysdep ties
""".split()
_OWNERS = {
    "aggregation": "aggregate",
    "agreement": "correlate correlate_groups decompose_pearson pairwise_accuracy soft_pairwise_accuracy",
    "differences": "compare_systems",
    "datasets": "fetch load load_all validate",
    "estimation": "ratings_saved system_means",
    "evalset": "EvalSet",
    "local_accuracy": "context_effect guide recommend",
    "protocols": "rank",
    "reporting": "report",
    "significance": "compare drivers intervals power",
    "sysdep": "compare_with_null favours system_dependence",
    "ties": "calibrate_ties human_tie_share subsample_ties",
}
_NAMES = {name: module for module, names in _OWNERS.items() for name in names.split()}
__all__ = [*_MODULES, *_NAMES]


def __getattr__(name: str) -> object:
    """Import a public name from the module that owns it."""
    if name in _MODULES:
        return import_module(f".{name}", __name__)
    if name in _NAMES:
        return getattr(import_module(f".{_NAMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(__all__)
