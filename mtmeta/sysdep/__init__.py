"""System dependence: whether a metric treats all systems alike, and what chance would show."""

from ._cells import centre_segments
from ._deviation import SystemDependence, deviations_both_ways, system_dependence
from ._favours import Favours, favours
from ._nulls import NULLS, NullComparison, compare_with_null, permute_within_human_scores

__all__ = [
    "NULLS", "Favours", "NullComparison", "SystemDependence", "centre_segments", "compare_with_null",
    "deviations_both_ways", "favours", "permute_within_human_scores", "system_dependence",
]  # fmt: skip
