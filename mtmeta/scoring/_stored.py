"""Scores that someone computed already: read them, and join them to translations by name."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from .._checks import check_scores, to_numbers

__all__ = ["add_scores", "read_scores"]

_KEYS = ["system", "segment"]


def read_scores(path: str | Path, *, name: str | None = None) -> pd.DataFrame:
    r"""Read stored segment scores.

    Parameters
    ----------
    path : str or pathlib.Path
        A table with a header (``.csv``, ``.tsv``) and columns ``system, segment`` and one per metric; or a file of
        mt-metrics-eval, ``METRIC-REFERENCE.seg.score``, with lines ``system<tab>score`` in segment order.
    name : str, optional
        What to call the metric of a ``.seg.score`` file; by default the part of the file name before the last hyphen.

    Returns
    -------
    pandas.DataFrame
        ``system, segment`` and one column per metric; NaN where not scored. Segments of a ``.seg.score`` file are
        numbered from 1.

    Raises
    ------
    ValueError
        If the file cannot be read, lacks a column, a score is no number, a (system, segment) pair occurs twice, or
        systems of a ``.seg.score`` file have different numbers of lines.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from mtmeta.scoring import read_scores
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "Mine-refA.seg.score")
    ...     _ = path.write_text("A\t.5\nA\tNone\nB\t.7\nB\t.1\n")
    ...     table = read_scores(path)
    >>> table.Mine.tolist()
    [0.5, nan, 0.7, 0.1]
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ValueError(f"cannot read {path}: {error.strerror or error}.") from None
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not UTF-8. Save it as UTF-8.") from None
    if path.name.endswith(".seg.score"):
        return _seg_score(text, path, name or path.name.removesuffix(".seg.score").rpartition("-")[0] or path.stem)
    if path.suffix not in (".csv", ".tsv"):
        raise ValueError(f"{path.name}: expected a file that ends in .csv, .tsv or .seg.score.")
    separator = "," if path.suffix == ".csv" else "\t"
    columns = pd.read_csv(io.StringIO(text), sep=separator, nrows=0).columns
    frame = pd.read_csv(io.StringIO(text), sep=separator, dtype=dict.fromkeys(columns.difference(["segment"]), str))
    _check(frame, str(path))
    for column in frame.columns.difference(_KEYS):
        frame[column] = _numbers(frame[column], f"{path}, column {column!r}")
    return frame


def _numbers(column: pd.Series, where: str) -> pd.Series:
    numbers = to_numbers(column)
    bad = numbers.isna() & column.notna() & ~column.astype(str).str.strip().isin(["", "None"])
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise ValueError(f"{where}: {str(column.iloc[row])[:40]!r} in data row {row + 1} is no number.")
    check_scores(numbers.to_numpy(dtype=float), where)
    return numbers.astype(float)


def _check(frame: pd.DataFrame, where: str) -> None:
    absent = [c for c in _KEYS if c not in frame]
    if absent or len(frame.columns) < 3:
        raise ValueError(
            f"{where}: expected columns 'system', 'segment' and one per metric; found {', '.join(map(repr, frame))}."
        )
    twice = frame.duplicated(_KEYS)
    if twice.any():
        row = frame.loc[twice].iloc[0]
        raise ValueError(f"{where}: (system, segment) = {(row.system, row.segment)!r} occurs more than once.")


def _seg_score(text: str, path: Path, name: str) -> pd.DataFrame:
    lines = [line.removesuffix("\r").split("\t") for line in text.removesuffix("\n").split("\n")]
    wrong = [i for i, line in enumerate(lines, 1) if len(line) != 2]
    if wrong:
        raise ValueError(f"{path}, line {wrong[0]}: expected `system<tab>score`.")
    frame = pd.DataFrame(lines, columns=["system", name])
    sizes = frame.groupby("system", sort=False).size()
    if sizes.nunique() > 1:
        raise ValueError(
            f"{path}: {sizes.idxmin()!r} has {sizes.min()} lines and {sizes.idxmax()!r} {sizes.max()}; lines are "
            "segments, so all systems must have as many."
        )
    frame.insert(1, "segment", frame.groupby("system").cumcount() + 1)
    frame[name] = _numbers(frame[name], str(path))
    return frame


def add_scores(frame: pd.DataFrame, scores: pd.DataFrame, *, missing: str = "raise") -> pd.DataFrame:
    """Join stored scores to a tidy table by system and segment, never by position.

    Parameters
    ----------
    frame : pandas.DataFrame
        A tidy table, such as ``es.to_frame()``.
    scores : pandas.DataFrame
        As returned by `read_scores`; rows may come in any order, and may be more than the table has.
    missing : {"raise", "nan"}
        What to do where the table has a translation that was not scored.

    Returns
    -------
    pandas.DataFrame
        A copy of the table with the new columns; `mtmeta.EvalSet.from_frame` takes it.

    Raises
    ------
    TypeError
        If either is no DataFrame.
    ValueError
        If a column is missing or already there, a pair occurs twice, or a translation has no score.

    Examples
    --------
    >>> import pandas as pd
    >>> from mtmeta.scoring import add_scores
    >>> table = pd.DataFrame({"system": ["A", "B"], "segment": [1, 1], "human": [0, -1]})
    >>> mine = pd.DataFrame({"system": ["B", "A"], "segment": [1, 1], "Mine": [.2, .9]})
    >>> add_scores(table, mine).Mine.tolist()
    [0.9, 0.2]
    """
    for what, value in (("frame", frame), ("scores", scores)):
        if not isinstance(value, pd.DataFrame):
            raise TypeError(f"`{what}` must be a pandas DataFrame; found {type(value).__name__}.")
    if missing not in ("raise", "nan"):
        raise ValueError(f"`missing` must be 'raise' or 'nan'; found {missing!r}.")
    _check(frame, "the table")
    _check(scores, "the scores")
    new: Sequence[str] = [c for c in scores if c not in _KEYS]
    there = [c for c in new if c in frame]
    if there:
        raise ValueError(f"the table has a column {there[0]!r} already. Rename the new one.")
    if frame["segment"].dtype != scores["segment"].dtype:
        scores = scores.assign(segment=scores["segment"].astype(str))
        keys = frame[_KEYS].assign(segment=frame["segment"].astype(str))
    else:
        keys = frame[_KEYS]
    joined = keys.merge(scores, on=_KEYS, how="left", indicator=True, validate="one_to_one")
    absent = (joined["_merge"] == "left_only").to_numpy()
    if absent.any() and missing == "raise":
        row = frame[absent].iloc[0]
        raise ValueError(
            f"{int(absent.sum())} of {len(frame)} translations have no stored score, the first of them "
            f"system {row.system!r}, segment {row.segment!r}. Check the names, or pass missing='nan'."
        )
    return frame.assign(**{c: joined[c].to_numpy() for c in new})
