"""Agreement of metrics with humans: correlations, pair statistics and system-level accuracies.

Every statistic answers "does the metric order, or space, translations as humans do?". They differ in which translations
they compare: see `correlate` on grouping.
"""

from .coefficients import COEFFICIENTS
from .correlations import correlate, correlate_groups, decompose_pearson
from .groups import GROUPINGS
from .spa import pairwise_accuracy, soft_pairwise_accuracy

__all__ = [
    "COEFFICIENTS", "GROUPINGS", "correlate", "correlate_groups", "decompose_pearson",
    "pairwise_accuracy", "soft_pairwise_accuracy",
]  # fmt: skip
