"""Checks of answers, by functions that are named like the exercises."""

import functools
import inspect
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..._names import unknown
from . import _references
from ._compare import NoAnswer, complaints, is_open


@dataclass(frozen=True)
class Check:
    """What became of an answer.

    Attributes
    ----------
    name : str
        The label of the exercise.
    status : str
        "right", "wrong", "open" (not answered yet), or "unknown": there is no right answer on these data.
    hints : tuple of str
        What is off, or why there is no answer. They hold no expected number.
    """

    name: str
    status: str
    hints: tuple[str, ...] = ()

    def __repr__(self) -> str:
        said = {"open": "not answered yet", "wrong": "not right yet", "unknown": "cannot be checked on these data"}
        return "\n- ".join([f"{self.name}: {said.get(self.status, self.status)}", *self.hints])


@functools.cache
def _forms() -> dict[str, str]:
    """Return the form that each answer must have, by the label of its exercise."""
    return json.loads((Path(__file__).parents[2] / "data" / "exercises.json").read_text(encoding="utf-8"))


def names() -> tuple[str, ...]:
    """Return the labels of the exercises that have a check.

    Returns
    -------
    tuple of str
        Sorted.

    Examples
    --------
    >>> import mtmeta as mm
    >>> "ex-01-four" in mm.book.exercises.names()
    True
    """
    return tuple(sorted(_forms()))


def described(name: str) -> str:
    """Return the form that the answer to an exercise must have.

    Parameters
    ----------
    name : str
        The label of an exercise in `names`.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        If there is no such check.

    Examples
    --------
    >>> import mtmeta as mm
    >>> mm.book.exercises.described("ex-02-ties")
    'The p-value, one-sided.'
    """
    if name not in _forms():
        raise unknown("exercise with a check", name, names())
    return _forms()[name]


def check(name: str, answer: Any, **given: Any) -> Check:
    """Compare an answer with one that is computed now, and say what is wrong without revealing it.

    Parameters
    ----------
    name : str
        The label of the exercise, such as ``"ex-01-four"``.
    answer : object
        The answer, in the form that `described` tells. ``...`` or None, alone or in a dict, is one not given yet.
        Numbers are right if they agree to three significant digits or to three decimals; where the answer depends on
        chance, the margin is what chance makes.
    **given : object
        What the answer is to be computed from, mostly ``es=``, by name.

    Returns
    -------
    Check
        Shows itself: "right", "not answered yet", or what is off.

    Raises
    ------
    ValueError
        If there is no such exercise.
    TypeError
        If something else is given than the check needs.

    Examples
    --------
    >>> import mtmeta as mm
    >>> mm.book.check("ex-02-ties", ...)
    ex-02-ties: not answered yet
    >>> mm.book.check("ex-02-ties", 11 / 1024)
    ex-02-ties: right
    >>> mm.book.check("ex-02-ties", 100 * 11 / 1024)
    ex-02-ties: not right yet
    - 100 times too large: a percentage where a share is asked for?
    """
    described(name)  # raises for what has no check
    function = getattr(_references, name.replace("-", "_"))
    needs = set(inspect.signature(function).parameters)
    if (wanted := needs - {"answer"}) != set(given):
        shown = ", ".join(f"{p}={p}" for p in sorted(wanted)) or "nothing but the answer"
        raise TypeError(f"the check of {name!r} must be given {shown}; found {', '.join(given) or 'nothing else'}.")
    if is_open(answer):
        return Check(name, "open")
    try:
        judges = "answer" in needs
        found = function(answer, **given) if judges else function(**given)
        hints = tuple(found if judges else complaints(answer, found))
    except NoAnswer as error:
        return Check(name, "unknown", (str(error),))
    return Check(name, "wrong" if hints else "right", hints)
