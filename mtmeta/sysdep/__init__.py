"""System dependence: whether a metric treats all systems alike, and what chance would show."""

from ._cells import centre_segments
from ._deviation import SystemDependence, deviations_both_ways, system_dependence, system_dependence_table
from ._favours import Favours, favours
from ._nulls import (
    NULLS,
    NullComparison,
    add_gaussian_noise,
    add_heteroscedastic_noise,
    compare_with_null,
    constant_metric,
    null_table,
    permute_systems_within_segments,
    permute_within_human_scores,
    resample_residuals,
)
from ._parts import growth_with_systems, within_system_splits
from ._power import detection_power, plant_bias

__all__ = [
    "NULLS",
    "Favours",
    "NullComparison",
    "SystemDependence",
    "add_gaussian_noise",
    "add_heteroscedastic_noise",
    "centre_segments",
    "compare_with_null",
    "constant_metric",
    "detection_power",
    "deviations_both_ways",
    "favours",
    "growth_with_systems",
    "null_table",
    "permute_systems_within_segments",
    "permute_within_human_scores",
    "plant_bias",
    "resample_residuals",
    "system_dependence",
    "system_dependence_table",
    "within_system_splits",
]
