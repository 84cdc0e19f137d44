"""Checks of arguments that functions of several modules share."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

#: Draws, sizes and other counts; processes at a time; seeds.
MAX_COUNT, MAX_SEED = 1_000_000, 2**63 - 1
#: Sizes of scores that are not 0: fourth powers of these, and products of so many, neither overflow nor vanish.
SMALLEST_SCORE, LARGEST_SCORE = 1e-50, 1e50
#: What an empty score is called in the wild; upper and lower case are the same.
EMPTY = {"", "na", "nan", "none", "null"}


class Undefined(ValueError):
    """The data do not allow a request: a report says so in words and continues. Other errors are faults."""


def check_choice(parameter: str, value: object, choices: Iterable[Any]) -> None:
    """Raise ValueError unless ``value`` is one of ``choices``."""
    choices = tuple(choices)
    if value not in choices:
        raise ValueError(f"`{parameter}` must be one of {', '.join(map(repr, choices))}; found {value!r}.")


def check_count(parameter: str, value: object, low: int, high: int = MAX_COUNT) -> int:
    """Return ``value`` as an int; raise if it is none, or not from ``low`` to ``high``."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"`{parameter}` must be a whole number; found {value!r}.")
    if not low <= value <= high:
        wanted = f"at least {low}" if value < low else f"at most {high:,}"
        raise ValueError(f"`{parameter}` must be {wanted}; found {value}.")
    return int(value)


def check_number(parameter: str, value: object) -> float:
    """Return ``value`` as a float; raise if it is not a finite number."""
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


def check_scores(scores: np.ndarray, what: str, *, computed: bool = False) -> None:
    """Raise if a score is infinite, or if all are so large or small that rescaled ones would give another answer.

    One tiny score among ordinary ones, such as NLTK's BLEU of 1e-78, is as good as 0. Scores ``computed`` from checked
    ones may be larger or smaller.
    """
    size = np.nan_to_num(np.abs(scores), nan=0, posinf=np.inf)
    bad = np.isinf(size) if computed else size > LARGEST_SCORE
    if not computed and 0 < size.max(initial=0) < SMALLEST_SCORE:
        bad = size > 0
    if not bad.any():
        return
    at = tuple(np.argwhere(bad)[0])
    place = f"system number {at[0]}, segment number {at[1]}" if len(at) == 2 else f"data row {at[0] + 1}"
    if np.isinf(scores[at]):
        hint = "Write NaN (an empty cell) where a translation was not scored."
        raise ValueError(f"{what} holds an infinite score ({place}). {hint}")
    raise ValueError(
        f"{what} holds the score {scores[at]:g} ({place}). The largest must be from {SMALLEST_SCORE:g} to "
        f"{LARGEST_SCORE:g} in size: multiply all of them by the same number."
    )


def generator(rng: Any) -> np.random.Generator:
    """Return a generator from a seed, a generator or None."""
    return np.random.default_rng(rng)


def floats(values: Any, what: str) -> np.ndarray:
    """Return numbers as a new float64 array; a missing one becomes NaN. Raise for dates and anything else."""
    if isinstance(values, pd.DataFrame | pd.Series):
        values = values.to_numpy(dtype=object, na_value=np.nan, copy=True)
    try:
        given = np.array(values)
        if given.dtype.kind in "mMc":  # dates, spans of time and complex numbers, which numpy would turn into numbers
            raise TypeError(f"found {given.dtype}")
        if given.dtype == object:
            given[pd.isna(given)] = np.nan
        return np.array(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{what} must hold numbers (NaN where not scored): {error}") from None


def to_numbers(column: pd.Series) -> pd.Series:
    """Return a column as numbers, NaN for anything else; a text becomes the nearest floating-point number.

    Before pandas 3.1, `pandas.to_numeric` and the CSV reader miss that by the last bit for every third text.
    """
    numbers = pd.to_numeric(column, errors="coerce")
    if pd.api.types.is_numeric_dtype(column) or numbers.dtype.kind != "f":
        return numbers
    known, exact = numbers.notna().to_numpy(), numbers.to_numpy(copy=True)
    exact[known] = column.to_numpy(dtype=object)[known].astype(float)
    return pd.Series(exact, column.index)


def number_column(column: pd.Series, name: str) -> pd.Series:
    """Return a column as numbers, NaN for `EMPTY` cells; name the first cell that is neither."""
    if pd.api.types.is_bool_dtype(column) or column.dtype.kind in "mM":
        raise ValueError(f"column {name!r} must hold numbers; found {column.dtype}. Convert it, or leave it out.")
    if pd.api.types.is_numeric_dtype(column):
        return column
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(object)
    if column.dtype == object and column.map(lambda value: isinstance(value, bool | np.bool_)).any():
        raise ValueError(f"column {name!r} must hold numbers; found True or False. Convert it, or leave it out.")
    try:
        numbers = to_numbers(column)
    except (TypeError, OverflowError) as error:
        raise ValueError(f"column {name!r} must hold numbers; {error}.") from None
    bad = numbers.isna() & column.notna()
    bad[bad] = ~column[bad].astype(str).str.strip().str.casefold().isin(EMPTY)
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise ValueError(
            f"column {name!r} must hold numbers; found {str(column.iloc[row])[:40]!r} in data row {row + 1} "
            f"({int(bad.sum())} such cells). Leave a cell empty where there is no score; if the column is "
            "not a metric, name the metric columns."
        )
    return numbers


def numbers_of(column: pd.Series, name: str) -> np.ndarray:
    """Return a score column as float64, as `number_column` does."""
    return number_column(column, name).to_numpy(dtype=np.float64, na_value=np.nan)
