"""Checks of input tables: their columns, cells and rows."""

from collections.abc import Sequence

import numpy as np
import pandas as pd


def _called(name: str) -> str:
    """Return the name of a parameter in backticks, and other words as they are."""
    return f"`{name}`" if name.isidentifier() else name


def check_table(
    frame: pd.DataFrame, columns: Sequence[str] = (), *, texts: Sequence[str] = (), new: Sequence[str] = (),
    name: str = "frame",
) -> None:  # fmt: skip
    """Refuse a table without rows or one of these columns, empty cells in them, and texts that are not strings.

    Columns that are ``new`` are to be added, so the table must not have them.
    """
    what = _called(name)
    if not isinstance(frame, pd.DataFrame):
        raise TypeError(f"{what} must be a pandas DataFrame; found {type(frame).__name__}.")
    for column in [*texts, *columns]:
        if column not in frame:
            raise ValueError(f"{what} lacks the column {column!r}; it has {', '.join(map(repr, frame.columns))}.")
    for column in new:
        if column in frame:
            raise ValueError(f"{what} has a column {column!r} already. Drop or rename it.")
    if frame.empty:
        raise ValueError(f"{what} has no rows.")
    for column in texts:
        wrong = np.flatnonzero([not isinstance(value, str) for value in frame[column]])
        if len(wrong):
            raise ValueError(
                f"column {column!r} of {what} holds {frame[column].iloc[wrong[0]]!r} in row {wrong[0] + 1} and no "
                f"text in {len(wrong)} of {len(frame)} rows. Leave these rows out."
            )
    for column in columns:
        wrong = np.flatnonzero(frame[column].isna())
        if len(wrong):
            raise ValueError(
                f"column {column!r} of {what} is empty in {len(wrong)} rows, the first row {wrong[0] + 1}."
            )


def check_once(frame: pd.DataFrame, keys: Sequence[str], name: str) -> None:
    """Refuse a table in which two rows have the same values in these columns."""
    for row in frame.loc[frame.duplicated([*keys]), [*keys]].head(1).to_dict("records"):
        found = ", ".join(f"{key} {value!r}" for key, value in row.items())
        raise ValueError(f"{_called(name)} has several rows of {found}; expected one.")
