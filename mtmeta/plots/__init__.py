"""Figures: one function each, Axes in and out.

Colours are Okabe and Ito's, which colour-blind readers can tell apart; a marker or line style
shows the same difference a second time. Figures are white and opaque, so they can be read in a
dark theme as well.
"""

from ._agreement import rank_intervals, rank_slopes, system_differences, three_views
from ._papers import correlations_by_size, local_accuracies, tie_calibration_curves
from ._style import COLOURS, MARKERS, use_style
from ._sysdep import deviation_plane, expected_deviations

__all__ = [
    "COLOURS", "MARKERS", "correlations_by_size", "deviation_plane", "expected_deviations", "local_accuracies",
    "rank_intervals", "rank_slopes", "system_differences", "three_views", "tie_calibration_curves", "use_style",
]  # fmt: skip
