"""Ties: how many there are, when a metric's difference counts as one, and what that choice is worth.

`calibrate_ties` finds the threshold that suits the data best. `discrete_to_continuous`, `subsample_ties` and
`held_out_calibration` show what such a fit rewards; `expected_accuracy` needs no threshold.
"""

from ._calibration import TieCalibration, calibrate_ties, expected_accuracy, human_tie_share, tie_curve
from ._noise import discrete_to_continuous
from ._subsample import held_out_calibration, subsample_ties

__all__ = [
    "TieCalibration", "calibrate_ties", "discrete_to_continuous", "expected_accuracy",
    "held_out_calibration", "human_tie_share", "subsample_ties", "tie_curve",
]  # fmt: skip
