"""Malformed, odd and hostile inputs: every case makes its files and states what they mean, or how they are refused."""

from ._archives import ARCHIVES
from ._case import Case, snapshot
from ._options import OPTIONS
from ._tables import TABLES
from ._trees import TREES

__all__ = ["CASES", "OPTIONS", "snapshot"]

CASES: tuple[Case, ...] = (*TABLES, *TREES, *ARCHIVES)
