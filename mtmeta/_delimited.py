"""CSV, TSV and lines of text, read strictly: nothing is filled up, cut off or taken for an index."""

import codecs
import csv
import io
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TextIO

import pandas as pd

from ._files import wrong_encoding

#: A text with more characters than this is an open quote or a wrong file; the csv module allows cells of 131,072.
MAX_FIELD = 1_000_000
_MAX_LINE = 20 * MAX_FIELD


def decoded(stream: io.BufferedReader, newline: str = "") -> TextIO:
    """Return the text of a stream: UTF-16 if it begins with its mark, as some programs write it, else UTF-8."""
    head = stream.peek(4)[:4]
    is_utf16 = head[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) and head != codecs.BOM_UTF32_LE
    return io.TextIOWrapper(stream, encoding="utf-16" if is_utf16 else "utf-8-sig", newline=newline)


def lines(stream: TextIO, what: Path | str) -> Iterator[str]:
    """Yield the lines of a stream; raise if they are not text in its encoding or have no line ends."""
    number = 0
    while True:
        try:
            line = stream.readline(_MAX_LINE)
        except UnicodeDecodeError as error:
            line = number + error.object.count(b"\n", 0, error.start) + 1
            raise wrong_encoding(what, line, error.object[error.start]) from None
        if not line:
            return
        number += 1
        if len(line) == _MAX_LINE:
            raise ValueError(f"{what}, line {number} has more than {_MAX_LINE:,} characters; this is not a table.")
        if "\0" in line:
            raise ValueError(f"{what} holds a NUL character in line {number}. Save the file as UTF-8.")
        yield line


def read_file(path: Path, delimiter: str) -> pd.DataFrame:
    """Return the table of a file, as `read_delimited` does."""
    with decoded(path.open("rb")) as stream:
        return read_delimited(stream, delimiter, path)


def read_delimited(stream: TextIO, delimiter: str | None, what: Path | str) -> pd.DataFrame:
    """Return a table, all cells as text; without a delimiter, separated by tab or comma as the header is.

    Raises
    ------
    ValueError
        If the header is blank or has another delimiter, a row has more or fewer fields than the header, a quote is left
        open, or a field has more than `MAX_FIELD` characters.
    """
    text = lines(stream, what)
    first = next(text, "")
    if not first.strip():
        fault = ": the first line is blank" if first else " is empty"
        raise ValueError(f"{what}{fault}; expected a header with the names of the columns.")
    if delimiter is None:
        delimiter = "\t" if first.count("\t") > first.count(",") else ","
    other = max("\t;,", key=first.count)
    if delimiter not in first and other in first:
        hint = "Use commas in .csv files and tabs in .tsv files."
        raise ValueError(f"{what}: the header has no {delimiter!r}; it seems to be separated by {other!r}. {hint}")
    reader = csv.reader(chain([first], text), delimiter=delimiter, strict=True)
    rows = []
    try:
        for row in filter(None, reader):
            rows.append(row)
            if len(row) != len(rows[0]):
                raise ValueError(
                    f"{what}, line {reader.line_num}: expected {len(rows[0])} fields, the header's; found {len(row)}. "
                    "A text that holds the separator or a quote must be quoted; the file may be truncated."
                )
    except csv.Error as error:
        reason = "a quote is opened and never closed" if "end of data" in str(error) else str(error)
        if "field limit" in reason:
            reason = f"a cell has more than {csv.field_size_limit():,} characters; is a quote never closed?"
        raise ValueError(f"{what}, line {reader.line_num}: {reason}") from None
    header, *body = rows
    columns = zip(*body, strict=True) if body else [()] * len(header)
    frame = pd.concat([pd.Series(c, dtype=object) for c in columns], axis=1)
    frame.columns = header
    return frame
