"""The types of a plan, for pydantic, and the messages for anything else."""

from __future__ import annotations

import re
import reprlib
from collections.abc import Callable, Mapping
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, Field, TypeAdapter, ValidationError, WrapValidator, model_validator

from .._names import names_of, unknown

T = TypeVar("T")
_BOOLEANS = " (a bare no, off or n is False in YAML, and yes, on or y is True: quote it)"
#: More tasks than this are several sweeps; no list in a plan is longer.
MAX_TASKS = 100_000
Several = Annotated[tuple[T, ...], Field(min_length=1, max_length=MAX_TASKS)]


def shown(value: Any) -> str:
    """Return a value for a message, however large it is."""
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 64:
        return f"a number of {value.bit_length()} bits"
    return reprlib.repr(value) + (_BOOLEANS if isinstance(value, bool) else "")


def problem(error: ValidationError) -> str:
    """Return the first error in one line: its place, what was expected, and what was found."""
    first = error.errors(include_url=False)[0]
    where = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in first["loc"]).lstrip(".")
    if "error" in first.get("ctx", {}):
        return f"{where or 'the plan'}: {first['ctx']['error']}"
    if first["type"] == "missing":
        return f"{where}: it is missing; the plan needs it."
    wanted = re.sub("^(Input|Tuple)", "it", first["msg"]).partition(" after validation")[0]
    return f"{where}: {wanted}; found {shown(first['input'])}."


class Keys(BaseModel, frozen=True):
    """A mapping in a plan. An unknown key is refused, with the nearest known one."""

    @model_validator(mode="before")
    @classmethod
    def _known(cls, given: Any) -> Any:
        if not isinstance(given, Mapping):
            raise ValueError(f"expected keys with values; found {shown(given)}.")
        for key in given:
            if key not in cls.model_fields:
                raise unknown("key", key if isinstance(key, str) else shown(key), list(cls.model_fields))
        return given

    def given(self, *but: str) -> dict[str, Any]:
        """Return the values of the keys that are there."""
        there = self.model_fields_set - set(but)
        return {key: getattr(self, key) for key in type(self).model_fields if key in there}


def count(low: int, high: int) -> Any:
    return Annotated[int, Field(strict=True, ge=low, le=high)]


def number(**bounds: float) -> Any:
    return Annotated[float, Field(strict=True, allow_inf_nan=False, **bounds)]


def grid(each: Any, *, of_lists: bool = False) -> Any:
    """Return the type of the values of an option: one, or a list of them, all different. The value is a tuple."""
    one = TypeAdapter(each)

    def check(value: Any, handler: Callable) -> tuple:
        is_list = isinstance(value, list | tuple)
        if not is_list or (of_lists and not (value and isinstance(value[0], list | tuple))):
            return (one.validate_python(value),)
        return names_of(handler(value), "values")

    return Annotated[Several[each], WrapValidator(check)]
