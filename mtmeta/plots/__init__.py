"""Figures: one function each, Axes in and out.

Colours are Okabe and Ito's, which colour-blind readers can tell apart; a marker or line style
always says the same thing a second time. Figures are white and opaque, so they read in a dark
theme too.
"""

from ._agreement import decomposition, rank_slopes, three_views, tie_baselines
from ._ledger import ledger_differences
from ._significance import null_distribution, resampling_units
from ._style import COLOURS, MARKERS, use_style

__all__ = [
    "COLOURS",
    "MARKERS",
    "decomposition",
    "ledger_differences",
    "null_distribution",
    "rank_slopes",
    "resampling_units",
    "three_views",
    "tie_baselines",
    "use_style",
]
