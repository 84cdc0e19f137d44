"""Figures: one function each, Axes in and out.

Colours are Okabe and Ito's, which colour-blind readers can tell apart; a marker or line style
shows the same difference a second time. Figures are white and opaque, so they can be read in a
dark theme as well.
"""

from ._aggregation import correlations_by_size, ratio_bars
from ._agreement import (
    decomposition,
    learning_curves,
    rank_intervals,
    rank_slopes,
    resampling_units,
    system_differences,
    three_views,
)
from ._local import local_accuracies, tau_ap_against_chance
from ._style import COLOURS, MARKERS, use_style
from ._sysdep import deviation_plane, expected_deviations, sysdep_against_null
from ._ties import tie_baselines, tie_calibration_curves

__all__ = [
    "COLOURS", "MARKERS", "correlations_by_size", "decomposition", "deviation_plane",
    "expected_deviations", "learning_curves", "local_accuracies", "rank_intervals", "rank_slopes", "ratio_bars",
    "resampling_units", "sysdep_against_null", "system_differences",
    "tau_ap_against_chance", "three_views", "tie_baselines", "tie_calibration_curves", "use_style",
]  # fmt: skip
