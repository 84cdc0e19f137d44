"""Types of options and arguments, and those that several commands have."""

from __future__ import annotations

import logging
import math
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from ._choices import THRESHOLDS, Format


def in_a_folder(path: Path | list[Path] | None) -> Path | list[Path] | None:
    """Refuse at once an output file that could not be written in the end."""
    if isinstance(path, list | tuple):
        return [file for one in path if (file := in_a_folder(one)) is not None] or [None]
    if path is None or str(path) == "-":
        return None
    try:
        if path.exists() or path.resolve().parent.is_dir():
            return path
    except (OSError, RuntimeError) as error:  # a name that is too long, links in a circle
        raise typer.BadParameter(f"{str(path)[:80]!r} is no place for a file: {error.args[-1]}.") from None
    raise typer.BadParameter(f"there is no folder {str(path.parent)!r}.")


def threshold(text: str) -> float | str:
    """Read the value of --epsilon."""
    with suppress(ValueError):
        if text in THRESHOLDS or 0 <= float(text) < math.inf:
            return text if text in THRESHOLDS else float(text)
    raise typer.BadParameter(f"expected 'calibrate', 'published' or a number >= 0; found {text!r}.")


def once(names: list[str] | None) -> list[str] | None:
    return list(dict.fromkeys(names)) if names else None


def _hushed(quiet: bool) -> bool:
    if quiet:
        logging.getLogger("mtmeta").setLevel(logging.ERROR)
    return quiet


def option(kind: Any, text: str, metavar: str | None = None, default: Any = True, *names: str, **more: Any) -> Any:
    """Return the type of an option: what it does, what stands for its value, and another way to show its default."""
    return Annotated[kind, typer.Option(*names, metavar=metavar, help=text, show_default=default, **more)]


def argument(kind: Any, metavar: str, text: str, **more: Any) -> Any:
    """Return the type of an argument: what stands for it, and what it is."""
    return Annotated[kind, typer.Argument(metavar=metavar, help=text, **more)]


def word(text: str, metavar: str, default: str | bool = True) -> Any:
    """Return the type of an option for a name, or another text."""
    return option(str | None, text, metavar, default)


def flag(text: str, *names: str, **more: Any) -> Any:
    """Return the type of an option that is given or not."""
    return option(bool, text, None, True, *names, **more)


def number(kind: Any, text: str, low: int, high: int, default: str | bool = True) -> Any:
    """Return the type of an option for a whole number with bounds."""
    return option(kind, text, "N", default, min=low, max=high)


def folder(kind: Any, text: str, default: str | bool = True) -> Any:
    """Return the type of an option for a folder."""
    return option(kind, text, "DIR", default, file_okay=False)


def several(text: str, metavar: str = "NAME", default: str = "all", *names: str) -> Any:
    """Return the type of an option that may be repeated; what is given twice counts once."""
    return option(list[str] | None, f"{text}; repeatable.", metavar, default, *names, callback=once)


def new_file(kind: Any, text: str, default: str | bool = True, *names: str) -> Any:
    """Return the type of an option for a file to write."""
    return option(kind, text, "FILE", default, *names, dir_okay=False, writable=True, callback=in_a_folder)


def form(kind: type[StrEnum], text: str, first: str) -> Any:
    """Return the type of an option for a format; what --output is called may choose it, too."""
    return option(kind | None, text, None, f"as --output ends, or {first}", "--format")


def wrong(name: str, text: str) -> typer.BadParameter:
    """Return the error for an option or argument that is used wrongly."""
    return typer.BadParameter(text, param_hint=name)


Sets = argument(
    list[str],
    "FILE|SET",
    "Tables (.csv, .tsv, .jsonl, .parquet, .xlsx, or packed as .csv.gz; - reads CSV or TSV from stdin), folders, or "
    "names of sets: teaching, wmt23/zh-en; wmt23 alone means all its language pairs.",
)
Chapters = argument(list[str], "CHAPTER|all", "Numbers or names of chapters, such as 4.")
Metrics = several("Use only this metric", "NAME", "all", "--metric")
How = form(Format, "How to write it; tsv, csv and json keep full precision.", "table")
Places = number(int, "Decimals in table, latex and md.", 0, 17)
Output = new_file(Path | None, "Write to this file.", "standard output", "--output", "-o")
Quiet = flag("Print no messages but errors.", "--quiet", "-q", callback=_hushed)
