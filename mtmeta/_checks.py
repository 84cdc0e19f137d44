"""Checks of arguments that functions of several modules share."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd


def check_count(parameter: str, value: object, low: int) -> int:
    """Return ``value`` as an int; raise if it is none or below ``low``."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"`{parameter}` must be a whole number; found {value!r}.")
    if value < low:
        raise ValueError(f"`{parameter}` must be at least {low}; found {value}.")
    return int(value)


def check_number(parameter: str, value: object) -> float:
    """Return ``value`` as a float; raise if it is no finite number."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise TypeError(f"`{parameter}` must be a number; found {value!r}.")
    if not np.isfinite(value):
        raise ValueError(f"`{parameter}` must be finite; found {value!r}.")
    return float(value)


def check_level(level: float) -> float:
    """Return ``level``; raise unless it lies in (0, 1)."""
    if not 0 < check_number("level", level) < 1:
        raise ValueError(f"`level` must lie in (0, 1); found {level!r}.")
    return level


def generator(rng: Any) -> np.random.Generator:
    """Return a generator from a seed, a generator or None."""
    if rng is not None and not isinstance(rng, (int, np.integer, np.random.Generator)):
        raise TypeError(f"`rng` must be None, a whole number or a numpy Generator; found {rng!r}.")
    return np.random.default_rng(rng)


def to_numbers(column: pd.Series) -> pd.Series:
    """Return a column as numbers, NaN for what is none; of a text, the number nearest to it.

    Before pandas 3.1, `pandas.to_numeric` and the CSV reader miss that by the last bit for every third text.
    """
    numbers = pd.to_numeric(column, errors="coerce")
    if pd.api.types.is_numeric_dtype(column) or numbers.dtype.kind != "f":
        return numbers
    known = numbers.notna() | column.map(_overflows)
    numbers[known] = [float(value) for value in column[known]]
    return numbers


def _overflows(value: object) -> bool:
    """Tell whether a text is a number too large for a float, which some versions of pandas take for none."""
    try:
        return isinstance(value, str) and math.isinf(float(value))
    except ValueError:
        return False
