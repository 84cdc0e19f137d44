"""The exercises of the chapters: notebooks without solutions, and checks that do not give the answer away.

`export` writes a chapter's exercises as a notebook that runs by itself: what of the chapter they need, each statement,
an empty cell for the answer and a `check`. It reads the chapter's own notebook, so that statements, solutions and
checks have one source. `check` compares an answer with one that it computes from the data it is given, and says in
what way the answer is off: type, rows and columns, sign, percent for share, one row of many.

The command line has it as ``mtmeta exercises``.
"""

from ._check import Check, check, described, names
from ._export import Exercise, export, read, to_notebook

__all__ = ["Check", "Exercise", "check", "described", "export", "names", "read", "to_notebook"]
