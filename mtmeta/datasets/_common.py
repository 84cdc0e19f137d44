"""What the loaders share: options, reading files, choosing a reference."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from .. import _files
from ..evalset import EvalSet, check_choice, unknown

#: A cell with more characters than this is an open quote or a wrong file, not a text.
MAX_FIELD = 1_000_000


@dataclass(frozen=True)
class Options:
    """The arguments of `load`, checked once."""

    reference: str | None = None
    annotation: str | None = None
    metrics_from: tuple[str | Path, ...] = ()
    metrics: tuple[str, ...] | None = None
    spans: bool = False
    missing: str = "raise"
    unrated: str = "raise"

    @classmethod
    def checked(cls, reference, annotation, metrics_from, metrics, spans, missing, unrated) -> Options:
        """Return the options; raise `TypeError` or `ValueError` for what cannot be one."""
        for what, value in (("reference", reference), ("annotation", annotation)):
            if value is not None and not isinstance(value, str):
                raise TypeError(f"`{what}` must be a string or None; found {type(value).__name__}.")
        if isinstance(metrics, str):
            raise TypeError(f"`metrics` must be a sequence of names; found {metrics!r}. Write [{metrics!r}].")
        if not isinstance(spans, bool | np.bool_):
            raise TypeError(f"`spans` must be True or False; found {spans!r}.")
        if missing not in ("raise", "nan"):
            raise ValueError(f"`missing` must be 'raise' or 'nan'; found {missing!r}.")
        check_choice("unrated", unrated, ("raise", "keep"))
        folders = (metrics_from,) if isinstance(metrics_from, str | Path) else tuple(metrics_from)
        names = None if metrics is None else tuple(metrics)
        return cls(reference, annotation, folders, names, bool(spans), missing, unrated)

    def refuse(self, what: str, *names: str) -> None:
        """Raise if an option was given that means nothing for this kind of data."""
        for name in names:
            if getattr(self, name) != getattr(type(self), name):
                raise ValueError(f"`{name}` does not apply to {what}; found {getattr(self, name)!r}. Leave it out.")

    def refuse_all(self, what: str) -> None:
        """Raise if any option was given but ``unrated``, which holds for what never has human scores."""
        self.refuse(what, *(field.name for field in fields(self) if field.name != "unrated"))


def read_text(path: Path) -> str:
    """Return the text of a UTF-8 file (a byte order mark is dropped); line ends untouched."""
    text = _files.read_text(path)
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > MAX_FIELD:
            raise ValueError(f"{path}, line {number} has more than {MAX_FIELD:,} characters; no text is as long.")
    return text


def is_text(value: object) -> bool:
    """Say whether a value can be written: half of a surrogate pair, and a byte of a name that is not UTF-8, cannot."""
    try:
        str(value).encode()
    except UnicodeEncodeError:
        return False
    return True


def named(path: Path) -> Path:
    """Return a path whose name can be printed and stored; raise if it is not UTF-8."""
    if not is_text(path):
        shown = str(path).encode("utf-8", "backslashreplace").decode()
        raise ValueError(f"{shown}: the name is not UTF-8. Rename the file or folder.")
    return path


def read_lines(path: Path) -> list[str]:
    """Return the lines of a UTF-8 file, split at line feeds only.

    ``str.splitlines`` also breaks at U+2028, U+0085 and others, which occur inside sentences.
    """
    lines = read_text(path).split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def choose_annotation(asked: str | None, available: Sequence[str], where: str) -> str:
    """Return the annotation asked for; by default ``mqm``, else the first there is."""
    if asked is None:
        return "mqm" if "mqm" in available else available[0]
    if asked not in available:
        raise unknown(f"annotation of {where}", asked, available)
    return asked


def choose_references(
    asked: str | None, available: Sequence[str], standard: str | None, where: str, not_default: Iterable[str] = ()
) -> tuple[str, ...]:
    """Return the references to score against: those asked for, else the standard one.

    ``asked`` may join several with a dot, as metric files do (``refA.refB``). Without a standard
    the default is ``refA``, else the only reference.
    """
    if asked is not None:
        parts = tuple(asked.split("."))
        for part in parts:
            if part not in available:
                raise unknown(f"reference of {where}", part, available)
        return parts
    default = [r for r in available if r not in set(not_default)]
    for name in (standard, "refA"):
        if name in default:
            return (name,)
    if len(default) > 1:
        raise ValueError(f"{where} has several references, {', '.join(default)}: name one with reference=….")
    return tuple(default)


def count_holes(es: EvalSet) -> EvalSet:
    """Note in the provenance how many translations have no human score; return the set."""
    es.provenance["holes"] = int(np.isnan(es.human).sum())
    return es


def canonical_ids(values: Sequence[Any]) -> list:
    """Return segment ids as integers if every one is written as an integer, else as strings."""
    texts = [str(int(v)) if isinstance(v, float) and v.is_integer() else str(v) for v in values]
    try:
        numbers = [int(t) for t in texts]
    except ValueError:
        return texts
    small = all(abs(n) < 2**62 for n in numbers)
    return numbers if small and all(str(n) == t for n, t in zip(numbers, texts, strict=True)) else texts
