"""Is one metric better than another, or luckier? Tests of pairs of metrics, rank sets, corrections, intervals."""

from ..agreement.intervals import intervals
from .comparison import Comparison, compare
from .decisions import clusters, correct
from .leads import drivers, power

__all__ = ["Comparison", "clusters", "compare", "correct", "drivers", "intervals", "power"]
