"""From segments to systems: corpus scores, means of segment scores, bootstraps, all from the same counts.

A corpus score of BLEU, chrF or TER is a function of sums over segments. The counts are extracted once, by sacreBLEU;
the score of any subset or resample then costs one sum.
"""

from ._aggregate import Aggregation, aggregate
from ._statistics import SegmentStatistics, extract

__all__ = ["Aggregation", "SegmentStatistics", "aggregate", "extract"]
