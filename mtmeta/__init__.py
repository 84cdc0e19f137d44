"""mtmeta: meta-evaluation of machine-translation metrics."""

from .evalset import EvalSet

__version__ = "0.1.0"
__all__ = ["EvalSet"]
