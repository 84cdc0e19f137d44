"""Say in what way an answer differs from the expected one, without telling that."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

from ..._names import some_of

#: Three significant digits are enough, and so are three decimals.
RELATIVE, DECIMALS = 0.005, 3
SHOWN = 4


class NoAnswer(Exception):
    """Raised by a reference where the data have no answer."""


@dataclass(frozen=True)
class Expected:
    """An answer that depends on chance, with the margin that chance is given: a number, or a table like `value`."""

    value: Any
    margin: Any


def complaints(answer: Any, expected: Any) -> Iterator[str]:
    """Yield what is off with an answer, one phrase each; nothing if it is right.

    Parameters
    ----------
    answer : object
        What is to be judged.
    expected : number, str, bool, list of str, mapping, Series, DataFrame or Expected
        The right answer. A list stands for a set of names; a mapping is judged entry by entry; tables by their labels,
        in any order, and what an answer has beyond them is ignored.

    Yields
    ------
    str
        Never holds an expected number.
    """
    margin = 0.0
    if isinstance(expected, Expected):
        expected, margin = expected.value, expected.margin
    if isinstance(expected, Mapping):
        yield from _entries(answer, expected)
    elif isinstance(expected, pd.Series | pd.DataFrame):
        yield from _tables(answer, expected, margin)
    elif isinstance(expected, list | set | frozenset):
        yield from _names(answer, expected)
    elif isinstance(expected, bool | np.bool_ | str):
        kind, wanted = (str, "a name") if isinstance(expected, str) else (bool | np.bool_, "True or False")
        if not isinstance(answer, kind):
            yield _other_kind(wanted, answer)
        elif answer != expected:
            yield f"it is not {answer!r}"
    else:
        yield from _number(answer, expected, margin)


def is_open(answer: Any) -> bool:
    """Tell whether nothing has been answered: ``...``, None, or a dict of only these."""
    values = answer.values() if isinstance(answer, Mapping) else [answer]
    return all(value is None or value is ... for value in values)


def _other_kind(wanted: str, answer: Any) -> str:
    """Say that an answer is of another kind than the one that is wanted."""
    return f"expected {wanted}; found a {type(answer).__name__}"


def _listed(labels: Iterable) -> str:
    return some_of(map(str, labels), SHOWN)


def _entries(answer: Any, expected: Mapping) -> Iterator[str]:
    if isinstance(answer, pd.Series):
        answer = answer.to_dict()
    if not isinstance(answer, Mapping):
        yield _other_kind(f"a dict with {_listed(expected)}", answer)
        return
    for key, right in expected.items():
        if key not in answer:
            yield f"{key}: missing; found {_listed(answer) or 'nothing'}"
        elif is_open(answer[key]):
            yield f"{key}: not answered yet"
        else:
            yield from (f"{key}: {said}" for said in complaints(answer[key], right))


def _names(answer: Any, expected: list) -> Iterator[str]:
    letters = bool(expected) and all(re.fullmatch("[a-z]", str(name)) for name in expected)
    if isinstance(answer, str) and letters:
        answer = re.findall(r"\w", answer)
    if not isinstance(answer, list | tuple | set | frozenset | pd.Index | np.ndarray):
        yield _other_kind("a list of names", answer)
        return
    found, right = {str(a).lower() if letters else str(a) for a in answer}, set(map(str, expected))
    if extra := sorted(found - right):
        yield f"{len(extra)} too many: {_listed(extra)}"
    if lacking := right - found:
        yield f"{len(lacking)} missing"


def _number(answer: Any, expected: float, margin: float) -> Iterator[str]:
    if isinstance(answer, bool | np.bool_) or not isinstance(answer, Real):
        yield _other_kind("a number", answer)
        return
    counted = isinstance(expected, int | np.integer) and not margin
    if answer != expected and (counted or not _close(answer, expected, margin)):
        a, e = np.array([answer], dtype=float), np.array([expected], dtype=float)
        yield "off by one" if counted and abs(a - e) == 1 else _slip(a, e) or _direction(a[0], e[0])


def _close(a: Any, e: Any, margin: Any = 0.0) -> Any:
    a, e = np.asarray(a, dtype=float), np.asarray(e, dtype=float)
    near = np.abs(a - e) <= np.maximum(margin, np.maximum(RELATIVE * np.abs(e), 1e-9))
    rounded = np.isclose(a, np.round(e, DECIMALS), rtol=0, atol=1e-9)
    return near | rounded | (a == e) | (np.isnan(a) & np.isnan(e))


def _direction(a: float, e: float) -> str:
    if np.isnan(a):
        return "undefined (nan), but there is a value"
    if np.isnan(e):
        return "a number, where the right answer is undefined (nan)"
    return "too high" if a > e else "too low"


def _slip(a: np.ndarray, e: np.ndarray) -> str:
    """Return the typical slip that explains all of some wrong values together; "" if none does."""
    slips = {
        "the sign is the other way round": -e,
        "100 times too large: a percentage where a share is asked for?": 100 * e,
        "100 times too small: a share where a percentage is asked for?": e / 100,
        "the complement: one minus what is asked for": 1 - e,
    }
    return next((said for said, made in slips.items() if np.isfinite(a).any() and _close(a, made).all()), "")


def _as_table(answer: Any, expected: pd.Series | pd.DataFrame) -> pd.DataFrame | None:
    """Return an answer in the form of the expected one, labels as text, or None."""
    if isinstance(expected, pd.Series) and isinstance(answer, Mapping):
        answer = pd.Series(dict(answer), dtype=object)
    if not isinstance(answer, type(expected)):
        return None
    answer, rows = _named(answer), set(map(_text, expected.index))
    for column in answer if not rows <= set(answer.index) else ():  # the names of the rows may stand in a column
        if rows <= set(answer[column].map(_text)):
            return answer.set_axis(answer[column].map(_text))
    return answer


def _named(table: pd.Series | pd.DataFrame) -> pd.DataFrame:
    """Return a table with all labels as text; the values of a Series are its column "value"."""
    table = table.to_frame("value") if isinstance(table, pd.Series) else table
    return table.set_axis([*map(_text, table.index)]).set_axis([*map(_text, table.columns)], axis=1)


def _text(label: Any) -> str:
    if isinstance(label, float | np.floating) and float(label).is_integer():
        label = int(label)
    return ", ".join(map(_text, label)) if isinstance(label, tuple) else str(label)


def _tables(answer: Any, expected: pd.Series | pd.DataFrame, margin: Any) -> Iterator[str]:
    found = _as_table(answer, expected)
    if found is None:
        yield _other_kind(f"a {'DataFrame' if isinstance(expected, pd.DataFrame) else 'Series or a dict'}", answer)
        return
    margin = np.broadcast_to(np.asarray(margin, dtype=float), expected.shape).reshape(len(expected), -1)
    expected = _named(expected)
    for kind, own, theirs in (("column", [*expected], [*found]), ("row", expected.index, found.index)):
        if lacking := [label for label in own if label not in theirs]:
            yield f"no {kind} {_listed(lacking)}; found {_listed(theirs)}"
            return
    try:
        values = found.loc[expected.index, expected.columns].to_numpy(dtype=float, na_value=np.nan)
        right = expected.to_numpy(dtype=float).reshape(values.shape)
    except (TypeError, ValueError):
        yield "the table must hold one number for each row and column"
        return
    wrong = ~_close(values, right, margin)
    if wrong.any() and (said := _slip(values, right)):
        yield said
        return
    for k in np.flatnonzero(wrong.any(axis=0)):
        off, a, e = np.flatnonzero(wrong[:, k]), values[:, k], right[:, k]
        cells = [f"{expected.index[i]} ({_direction(a[i], e[i])})" for i in off]
        where = "" if list(expected.columns) == ["value"] else f"column {expected.columns[k]}: "
        yield where + (_slip(a, e) or f"{len(off)} of {len(e)} rows are off: {_listed(cells)}")
