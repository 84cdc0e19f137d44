"""Figures: one function each, Axes in and out.

Colours are Okabe and Ito's, which colour-blind readers can tell apart; a marker or line style
always says the same thing a second time. Figures are white and opaque, so they read in a dark
theme too.
"""

from ._aggregation import correlations_by_size, paired_differences, ratio_bars, score_grid, three_columns
from ._agreement import (
    decomposition,
    learning_curves,
    ledger_differences,
    parts_plane,
    rank_intervals,
    rank_slopes,
    resampling_units,
    score_against_length,
    three_views,
)
from ._local import (
    accuracy_by_quality,
    local_accuracies,
    swap_effect_bars,
    tau_ap_against_chance,
    tau_ap_heatmap,
    variance_by_combination,
)
from ._style import COLOURS, MARKERS, use_style
from ._sysdep import (
    detection_curves,
    deviation_plane,
    expected_deviations,
    parts_of_systems,
    sysdep_against_correlation,
    sysdep_against_null,
    system_curves,
)
from ._ties import tie_baselines, tie_calibration_curves

__all__ = [
    "COLOURS", "MARKERS", "accuracy_by_quality", "correlations_by_size", "decomposition",
    "detection_curves", "deviation_plane", "expected_deviations",
    "learning_curves", "ledger_differences", "local_accuracies", "paired_differences", "parts_of_systems",
    "parts_plane", "rank_intervals", "rank_slopes", "ratio_bars", "resampling_units", "score_against_length",
    "score_grid", "swap_effect_bars", "sysdep_against_correlation", "sysdep_against_null", "system_curves",
    "tau_ap_against_chance", "tau_ap_heatmap", "three_columns", "three_views", "tie_baselines",
    "tie_calibration_curves", "use_style", "variance_by_combination",
]  # fmt: skip
