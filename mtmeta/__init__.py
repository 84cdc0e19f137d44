"""mtmeta: meta-evaluation of machine-translation metrics."""

from . import agreement, protocols, ties
from .agreement import correlate, correlate_groups, pairwise_accuracy, soft_pairwise_accuracy
from .evalset import EvalSet, Texts
from .protocols import rank
from .ties import calibrate_ties

__version__ = "0.1.0"
__all__ = [
    "EvalSet",
    "Texts",
    "agreement",
    "calibrate_ties",
    "correlate",
    "correlate_groups",
    "pairwise_accuracy",
    "protocols",
    "rank",
    "soft_pairwise_accuracy",
    "ties",
]
