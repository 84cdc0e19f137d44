"""Checks of the values in a plan: each says where it found what, and what it expected."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ..evalset import unknown

#: What an option must be: takes where it stands and the value, returns the value or raises.
Check = Callable[[str, Any], Any]
_BOOLEANS = " (a bare no, off or n is False in YAML, and yes, on or y is True: quote it)"


def shown(value: Any) -> str:
    """Return a value for a message, however large it is."""
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 64:
        return f"a number of {value.bit_length()} bits"
    return reprlib.repr(value) + (_BOOLEANS if isinstance(value, bool) else "")


def mapping(where: str, value: Any, known: Sequence[str]) -> dict[str, Any]:
    """Return a mapping whose keys are all known."""
    if not isinstance(value, Mapping):
        raise ValueError(f"{where}: expected keys with values; found {shown(value)}.")
    for key in value:
        if key not in known:
            raise ValueError(f"{where}: {unknown('key', key if isinstance(key, str) else shown(key), known)}")
    return dict(value)


@dataclass(frozen=True)
class Choice:
    """One of some words; None, written ``null``, may be one of them."""

    values: tuple[str | None, ...]

    def __call__(self, where: str, value: Any) -> str | None:
        """Return the value; raise if it is none of them."""
        if (isinstance(value, str) or value is None) and value in self.values:
            return value
        known = ["null" if v is None else v for v in self.values]
        raise ValueError(f"{where}: {unknown('choice', value if isinstance(value, str) else shown(value), known)}")


@dataclass(frozen=True)
class Count:
    """A whole number from ``low`` to ``high``; or a word, or None."""

    low: int
    high: int
    other: tuple[str | None, ...] = ()

    def __call__(self, where: str, value: Any) -> int | str | None:
        """Return the value; raise if it is no such number."""
        if any(value is word or (isinstance(word, str) and value == word) for word in self.other):
            return value
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not self.low <= value <= self.high:
            also = "".join(f" or {'null' if word is None else word}" for word in self.other)
            raise ValueError(
                f"{where}: expected a whole number from {self.low:,} to {self.high:,}{also}; found {shown(value)}."
            )
        return int(value)


@dataclass(frozen=True)
class Number:
    """A number between two bounds, which may be out of bounds themselves; or a word."""

    low: float
    high: float
    closed: str = "neither"
    other: tuple[str, ...] = ()

    def __call__(self, where: str, value: Any) -> float | str:
        """Return the value; raise if it is no such number."""
        if isinstance(value, str) and value in self.other:
            return value
        is_number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
        if is_number and abs(value) < 1e300:
            above = value > self.low or (value == self.low and self.closed in ("left", "both"))
            below = value < self.high or (value == self.high and self.closed in ("right", "both"))
            if above and below:
                return float(value)
        left, right = "[" if self.closed in ("left", "both") else "(", "]" if self.closed in ("right", "both") else ")"
        also = "".join(f" or {word!r}" for word in self.other)
        raise ValueError(
            f"{where}: expected a number in {left}{self.low:g}, {self.high:g}{right}{also}; found {shown(value)}."
        )


@dataclass(frozen=True)
class Flag:
    """``true`` or ``false``; or None."""

    other: tuple[None, ...] = ()

    def __call__(self, where: str, value: Any) -> bool | None:
        """Return the value; raise if it is neither."""
        if isinstance(value, bool) or (value is None and self.other):
            return value
        raise ValueError(f"{where}: expected true or false; found {shown(value)}.")


@dataclass(frozen=True)
class Several:
    """A list of values that is one value of an option, such as shares of ties."""

    each: Check
    longest: int = 1000

    def __call__(self, where: str, value: Any) -> tuple:
        """Return the values as a tuple; raise if one is wrong."""
        if not isinstance(value, (list, tuple)) or not 0 < len(value) <= self.longest:
            raise ValueError(f"{where}: expected a list of 1 to {self.longest:,} values; found {shown(value)}.")
        return tuple(self.each(f"{where}[{k}]", one) for k, one in enumerate(value))


def grid(where: str, value: Any, check: Check) -> tuple:
    """Return the values of an option: one, or a list of them, all different."""
    is_list = isinstance(value, (list, tuple))
    if isinstance(check, Several):
        is_list = is_list and len(value) > 0 and isinstance(value[0], (list, tuple))
    if not is_list:
        return (check(where, value),)
    if not value:
        raise ValueError(f"{where}: the list is empty; leave the key out, or give a value.")
    if len(value) > 100_000:
        raise ValueError(f"{where}: {len(value):,} values are more than a sweep can have tasks.")
    values = tuple(check(f"{where}[{k}]", one) for k, one in enumerate(value))
    for one, again in pairwise(sorted(values, key=repr)):
        if one == again:
            raise ValueError(f"{where}: {shown(one)} is given twice.")
    return values
