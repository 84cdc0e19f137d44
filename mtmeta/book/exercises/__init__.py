"""Checks of answers to the exercises of the chapters that do not give the answer away.

`check` compares an answer with one that it computes from the data it is given, and says in what way the answer is off:
type, rows and columns, sign, percent for share, one row of many. `mtmeta.book.sheets` writes the exercises.
"""

from ._check import Check, check, described, names

__all__ = ["Check", "check", "described", "names"]
