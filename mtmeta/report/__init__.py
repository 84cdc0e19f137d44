"""Is my metric any good? One report: agreement, rank, baselines, ties, system dependence, length, and what to claim."""

from ._claims import decide
from ._report import SECTIONS, Report, claims, report

__all__ = ["SECTIONS", "Report", "claims", "decide", "report"]
