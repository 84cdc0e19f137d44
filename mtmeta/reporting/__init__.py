"""Is my metric any good? One report: agreement, rank, baselines, ties, system dependence, length, and what to claim."""

from ._report import Report, report

__all__ = ["Report", "report"]
