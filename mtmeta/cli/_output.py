"""Tables as text, and where they are written."""

from __future__ import annotations

import csv
import json
import logging
import math
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any, get_args

import typer

from .._escapes import latex, markdown, visible
from .._files import check_not_input, whole_file
from ._options import TABLES

if TYPE_CHECKING:
    import pandas as pd


class Best(float):
    """The best number of a column."""


class Alike(float):
    """A number that the data do not tell apart from the best one."""


#: How texts are escaped; then how the best number is written, and one that is not told apart from it.
_ESCAPES = {
    "table": (str, "{}*", "{}="),
    "latex": (latex, r"\textbf{{{}}}", "{}$^=$"),
    "md": (markdown, "**{}**", "{}="),
}
_ENDINGS = {"tex": "latex", "txt": "table", "htm": "html", "score": "seg-score", "": ""}


def form_of(
    output: Path | None, how: str | None, reads: Iterable[object], forms: Sequence[str] = get_args(TABLES)
) -> str:
    """Return the format that is asked for, by --format or by the ending of the output; by default the first.

    Refuse at once an output that is one of the files or folders that the command reads.
    """
    if output is None:
        return how or forms[0]
    from ..datasets import path_of

    check_not_input(output, filter(None, map(path_of, map(str, reads))))
    ending = output.suffix.lower()[1:]
    form = how or _ENDINGS.get(ending, ending) or forms[0]
    if form not in forms:
        raise ValueError(f"Unsupported output format {output.suffix!r}. Use one of {', '.join(forms)} with --format.")
    return form


def _cell(value: Any, places: int, how: str) -> str:
    """Return a value as it is read: numbers rounded, nothing where there is none."""
    escape, best, alike = _ESCAPES[how]
    if isinstance(value, float):
        form = best if isinstance(value, Best) else alike if isinstance(value, Alike) else "{}"
        return form.format(escape(f"{value:z.{places}f}"))
    return "" if value is None else escape(visible(value))


def _width(text: str) -> int:
    """Return how many columns of a terminal a text takes: two for each wide character, none for an accent."""
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return len(text) + wide - sum(map(bool, map(unicodedata.combining, text)))


def _as_table(rows: list[list[str]], numeric: list[bool]) -> str:
    """Write rows under headings that are broken at blanks, so that they are no wider than their columns."""
    columns, lines = list(zip(*rows, strict=True)), []
    widths = [max(map(_width, [*head.split(), *column])) for head, *column in columns]
    stacks = [wrap(head, width, break_on_hyphens=False) for (head, *_), width in zip(columns, widths, strict=True)]
    heads = zip(*([""] * (max(map(len, stacks)) - len(stack)) + stack for stack in stacks), strict=True)
    for row in [*heads, ["-" * width for width in widths], *rows[1:]]:
        blanks = [" " * (width - _width(cell)) for cell, width in zip(row, widths, strict=True)]
        cells = [b + cell if right else cell + b for cell, b, right in zip(row, blanks, numeric, strict=True)]
        lines.append("  ".join(cells).rstrip() + "\n")
    return "".join(lines)


def written(frame: pd.DataFrame, how: str, places: int = 3) -> str:
    """Return a table as text. TSV, CSV and JSON keep full precision; a missing value is an empty cell, or null."""
    import pandas as pd

    values = frame.astype(object).where(frame.notna(), None)
    if how == "json":
        return json.dumps(values.to_dict("records"), ensure_ascii=False, allow_nan=False, indent=2) + "\n"
    if how in ("tsv", "csv"):
        # the csv module quotes no carriage return before Python 3.13, and it would end the line
        returns = any("\r" in str(cell) for cell in (*frame.columns, *values.to_numpy().ravel()))
        quoting = csv.QUOTE_ALL if returns else csv.QUOTE_MINIMAL
        return values.to_csv(sep="\t" if how == "tsv" else ",", index=False, lineterminator="\n", quoting=quoting)
    if how == "seg-score":  # as in files of mt-metrics-eval
        if not {"system", "score"} <= set(frame):
            raise ValueError("the format seg-score needs a column 'system' and a column 'score'. Use --format csv.")
        lines = zip(frame["system"], frame["score"].tolist(), strict=True)
        return "".join(f"{system}\t{'None' if math.isnan(score) else score}\n" for system, score in lines)
    rows = [[_cell(cell, places, how) for cell in row] for row in values.itertuples(index=False, name=None)]
    rows.insert(0, [_cell(str(name), places, how) for name in frame.columns])
    numeric = [pd.api.types.is_numeric_dtype(column.infer_objects()) for _, column in frame.items()]
    if how == "table":
        return _as_table(rows, numeric)
    if how == "latex":
        columns = "".join("r" if right else "l" for right in numeric)
        return pd.DataFrame(rows[1:], columns=rows[0]).to_latex(index=False, escape=False, column_format=columns)
    rows.insert(1, ["---:" if right else "---" for right in numeric])
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def emit(text: str, output: Path | None) -> None:
    """Write a result to a file, whole or not at all, or to standard output."""
    if output is None or str(output) == "-":
        typer.echo(text, nl=False, color=True)  # names that hold escapes stay as they are
    elif output.exists() and not output.is_file():  # a pipe or a terminal
        output.write_text(text, encoding="utf-8")
    else:
        with whole_file(output.resolve()) as part:
            part.write_text(text, encoding="utf-8")


def say(*lines: str) -> None:
    """Write messages to standard error, unless --quiet is given."""
    for line in filter(None, lines if logging.getLogger("mtmeta").isEnabledFor(logging.WARNING) else ()):
        typer.echo(visible(line), err=True)
