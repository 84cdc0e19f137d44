"""Say in what way an answer differs from the expected one, without telling that."""

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


def complaints(answer: Any, expected: Any, sizes: Iterable[int] = ()) -> Iterator[str]:
    """Yield what is off with an answer, one phrase each; nothing if it is right.

    Parameters
    ----------
    answer : object
        What is to be judged.
    expected : number, str, bool, list of str, mapping, Series, DataFrame or Expected
        The right answer. A list stands for a set of names; a mapping is judged entry by entry; tables by their labels,
        in any order, and what an answer has beyond them is ignored.
    sizes : iterable of int
        Numbers of systems, segments and the like: an answer that is off by ``n / (n - 1)`` for one of these is told so.

    Yields
    ------
    str
        Never holds an expected number.
    """
    margin = 0.0
    if isinstance(expected, Expected):
        expected, margin = expected.value, expected.margin
    if isinstance(expected, Mapping):
        yield from _entries(answer, expected, sizes)
    elif isinstance(expected, pd.Series | pd.DataFrame):
        yield from _tables(answer, expected, margin, sizes)
    elif isinstance(expected, bool | np.bool_ | str):
        yield from _words(answer, expected)
    elif isinstance(expected, list | tuple | set | frozenset):
        yield from _names(answer, expected)
    else:
        yield from _number(answer, expected, margin, sizes)


def is_open(answer: Any) -> bool:
    """Tell whether nothing has been answered: ``...``, None, or a dict of only these."""
    values = answer.values() if isinstance(answer, Mapping) else [answer]
    return all(value is None or value is ... for value in values)


def _other_kind(wanted: str, answer: Any) -> str:
    """Say that an answer is of another kind than the one that is wanted."""
    return f"expected {wanted}; found a {type(answer).__name__}"


def _listed(labels: Iterable) -> str:
    return some_of(map(str, labels), SHOWN)


def _entries(answer: Any, expected: Mapping, sizes: Iterable[int]) -> Iterator[str]:
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
            yield from (f"{key}: {said}" for said in complaints(answer[key], right, sizes))


def _words(answer: Any, expected: bool | str) -> Iterator[str]:
    named = isinstance(expected, str)
    if not isinstance(answer, str if named else bool | np.bool_):
        yield _other_kind("a name" if named else "True or False", answer)
    elif answer != expected:
        yield f"it is not {answer!r}"


def _names(answer: Any, expected: Iterable) -> Iterator[str]:
    if not isinstance(answer, list | tuple | set | frozenset | pd.Index | np.ndarray):
        yield _other_kind("a list of names", answer)
        return
    found, right = set(map(str, answer)), set(map(str, expected))
    if extra := sorted(found - right):
        yield f"{len(extra)} too many: {_listed(extra)}"
    if lacking := right - found:
        yield f"{len(lacking)} missing"


def _number(answer: Any, expected: float, margin: float, sizes: Iterable[int]) -> Iterator[str]:
    if isinstance(answer, bool | np.bool_) or not isinstance(answer, Real):
        yield _other_kind("a number", answer)
        return
    counted = isinstance(expected, int | np.integer) and not margin
    if answer != expected and (counted or not _close(answer, expected, margin)):
        a, e = np.array([answer], dtype=float), np.array([expected], dtype=float)
        yield "off by one" if counted and abs(a - e) == 1 else _slip(a, e, margin, sizes) or _direction(a, e)


def _close(a: Any, e: Any, margin: Any) -> Any:
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


def _rescaled(e: np.ndarray, sizes: Iterable[int]) -> Iterator[tuple[np.ndarray, str]]:
    """Yield what each typical slip makes of the right values, and what to say."""
    yield -e, "the sign is the other way round"
    yield 100 * e, "100 times too large: a percentage where a share is asked for?"
    yield e / 100, "100 times too small: a share where a percentage is asked for?"
    yield 1 - e, "the complement: one minus what is asked for"
    for n in sorted({n for n in sizes if n > 1}):
        yield n / (n - 1) * e, "too large by n / (n - 1): divided by n - 1 instead of n?"
        yield (n - 1) / n * e, "too small by n / (n - 1): divided by n instead of n - 1?"


def _slip(a: np.ndarray, e: np.ndarray, margin: Any, sizes: Iterable[int]) -> str:
    """Return the slip that explains all of some values together; "" if they are right, or no slip does."""
    if _close(a, e, margin).all() or not np.isfinite(a).any():
        return ""
    for wanted, message in _rescaled(e, sizes):
        subtle = "n / (n" in message
        if (np.isclose(a, wanted, rtol=1e-5, equal_nan=True) if subtle else _close(a, wanted, 0.0)).all():
            return message
    coarse = (np.isclose(a, np.round(e, d), rtol=0, atol=1e-9).all() for d in (1, 2))
    return "rounded too much: give three decimals" if any(coarse) and (a != 0).any() else ""


def _as_table(answer: Any, expected: pd.Series | pd.DataFrame) -> pd.DataFrame | None:
    """Return an answer in the form of the expected one, labels as text, or None."""
    if isinstance(expected, pd.Series):
        if isinstance(answer, Mapping):
            answer = pd.Series(dict(answer), dtype=object)
        if isinstance(answer, pd.DataFrame) and answer.shape[1] == 1:
            answer = answer.iloc[:, 0]
        return _named(answer.to_frame("value")) if isinstance(answer, pd.Series) else None
    if not isinstance(answer, pd.DataFrame):
        return None
    answer, rows = _named(answer), set(map(_text, expected.index))
    labels = [c for c in answer if c not in map(_text, expected) and rows <= set(answer[c].map(_text))]
    return answer.set_axis(answer[labels[0]].map(_text)) if labels and not rows <= set(answer.index) else answer


def _named(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with all labels as text."""
    return table.set_axis([*map(_text, table.index)]).set_axis([*map(_text, table.columns)], axis=1)


def _text(label: Any) -> str:
    if isinstance(label, float | np.floating) and float(label).is_integer():
        label = int(label)
    return ", ".join(map(_text, label)) if isinstance(label, tuple) else str(label)


def _tables(answer: Any, expected: pd.Series | pd.DataFrame, margin: Any, sizes: Iterable[int]) -> Iterator[str]:
    found = _as_table(answer, expected)
    if found is None:
        yield _other_kind(f"a {'DataFrame' if isinstance(expected, pd.DataFrame) else 'Series or a dict'}", answer)
        return
    margin = np.broadcast_to(np.asarray(margin, dtype=float), expected.shape).reshape(len(expected), -1)
    expected = _named(expected.to_frame("value") if isinstance(expected, pd.Series) else expected)
    if wrong := list(_labels(found, expected)):
        yield from wrong
        return
    found = found.loc[expected.index, expected.columns]
    try:
        values = found.to_numpy(dtype=float, na_value=np.nan)
    except (TypeError, ValueError):
        yield "the table must hold numbers"
        return
    yield from _columns(values, expected, margin, {*sizes, len(expected)})


def _labels(found: pd.DataFrame, expected: pd.DataFrame) -> Iterator[str]:
    columns, rows = set(expected.columns), set(expected.index)
    if columns <= set(found.index) and rows <= set(found.columns) and not columns <= set(found.columns):
        yield "transposed: rows and columns are exchanged"
        return
    if lacking := [c for c in expected.columns if c not in found.columns]:
        yield f"no column {_listed(lacking)}; found {_listed(found.columns)}"
    if lacking := [r for r in expected.index if r not in found.index]:
        yield f"no row {_listed(lacking)}; found {len(found)} rows where {len(expected)} are expected"
    elif not found.index.is_unique:
        yield f"rows repeat: {_listed(found.index[found.index.duplicated()].unique())}"


def _columns(values: np.ndarray, expected: pd.DataFrame, margin: np.ndarray, sizes: set[int]) -> Iterator[str]:
    right = expected.to_numpy(dtype=float)
    if said := _slip(values.ravel(), right.ravel(), margin.ravel(), sizes):
        yield said
        return
    for k, name in enumerate(expected.columns):
        a, e, m = values[:, k], right[:, k], margin[:, k]
        wrong = np.flatnonzero(~_close(a, e, m))
        if not len(wrong):
            continue
        where = "" if list(expected.columns) == ["value"] else f"column {name}: "
        if said := _slip(a, e, m, sizes):
            yield where + said
        elif len(e) > 2 and len({*np.round(e, 6)}) > 1 and _close(np.sort(a), np.sort(e), np.sort(m)).all():
            yield f"{where}the right values, but not in their rows"
        else:
            rows = [f"{expected.index[i]} ({_direction(a[i], e[i])})" for i in wrong]
            yield f"{where}{len(wrong)} of {len(e)} rows are off: {_listed(rows)}"
