"""Names of systems, segments and metrics: their order and positions, and the error for an unknown one."""

import difflib
import re
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import Any

import numpy as np
import pandas as pd


def listed(items: Iterable[Any], limit: int = 8) -> str:
    """Render ``items`` for a message: quoted, cut after ``limit``."""
    return some_of(map(repr, items), limit)


def some_of(items: Iterable[str], limit: int = 3) -> str:
    """Render texts as a list, cut after ``limit``."""
    items = list(items)
    return ", ".join(items[:limit]) + (f" and {len(items) - limit} more" if len(items) > limit else "")


def counted(n: int, what: str) -> str:
    return f"{n} {what}{'s' * (n != 1)}"


def unknown(what: str, name: Any, known: Sequence[Any]) -> ValueError:
    """Build the error for a name that does not exist, with the nearest name that does."""
    near = difflib.get_close_matches(str(name), [str(k) for k in known], n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return ValueError(f"unknown {what} {name!r}.{hint} Available: {listed(known, 60) or 'none'}.")


def names_of(values: Iterable[Any], what: str, length: int | None = None) -> tuple:
    """Return ``values`` as a tuple of distinct names."""
    names = tuple(v.item() if isinstance(v, np.generic) else v for v in values)
    if length is not None and len(names) != length:
        raise ValueError(f"expected {length} {what}; found {len(names)}.")
    if len(set(names)) != len(names):
        twice = [n for n in dict.fromkeys(names) if names.count(n) > 1]
        raise ValueError(f"{what} must be distinct; found more than once: {listed(twice)}.")
    return names


def positions(what: str, wanted: Iterable[Any] | None, known: Sequence[Any], *, repeats: bool = False) -> list[int]:
    """Return the positions of the wanted names among the known ones; all positions if no names are wanted.

    Raise if a name is not known or, unless ``repeats`` are allowed, is wanted twice.
    """
    if wanted is None:
        return list(range(len(known)))
    if isinstance(wanted, str):
        raise TypeError(f"{what}s must be a sequence of names; found the string {wanted!r}. Write [{wanted!r}].")
    position = {name: i for i, name in enumerate(known)}
    wanted = list(wanted) if repeats else names_of(wanted, f"{what}s")
    for name in wanted:
        if name not in position:
            raise unknown(what, name, known)
    if not wanted:
        raise ValueError(f"nothing would be left: the list of {what}s is empty.")
    return [position[name] for name in wanted]


def alike(names: Iterable[Any]) -> list[str]:
    """Say which names differ only by blanks, by upper and lower case, or by their form in Unicode."""
    first: dict[str, Any] = {}
    forms = ((name, "".join(unicodedata.normalize("NFKC", str(name)).casefold().split())) for name in names)
    pairs = [(first.setdefault(form, name), name) for name, form in forms]
    how = "differ only by blanks, case or form in Unicode; they may be one"
    return [f"{one!a} and {other!a} {how}" for one, other in pairs if one != other]


def natural(name: Any) -> tuple:
    """Return a key that sorts names by their text, and numbers within them by size: ``s2`` before ``s10``.

    Examples
    --------
    >>> sorted(["s10", "s2", "b", "a-3"], key=natural)
    ['a-3', 'b', 's2', 's10']
    """
    parts = re.split("([0-9]+)", str(name))
    digits = (part.lstrip("0") for part in parts[1::2])
    numbers = ((len(number), number) for number in digits)
    return tuple(zip_longest(parts[::2], numbers, fillvalue=(-1, ""))), str(name), type(name).__name__


def numbered(column: pd.Series) -> tuple[np.ndarray, list]:
    """Return for each row the position of its name, and the names in natural order."""
    codes, found = pd.factorize(column)
    names = [name.item() if isinstance(name, np.generic) else name for name in found]
    order = sorted(range(len(names)), key=lambda k: natural(names[k]))
    position = np.empty(len(names), dtype=np.intp)
    position[order] = np.arange(len(names))
    return np.where(codes < 0, codes, position[codes]), [names[k] for k in order]
