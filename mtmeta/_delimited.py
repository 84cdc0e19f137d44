"""CSV and TSV, read strictly: nothing is filled up, cut off or taken for an index."""

import codecs
import csv
import io
from pathlib import Path

import pandas as pd

from ._files import read_bytes, wrong_encoding


def text_of(data: bytes, what: Path | str) -> str:
    """Return bytes as text: UTF-16 if they begin with its mark, as some programs write it, otherwise UTF-8."""
    encoding = "utf-16" if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise wrong_encoding(what, data.count(b"\n", 0, error.start) + 1, data[error.start]) from None
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise ValueError(f"{what} holds a NUL character in line {line}. Save the file as UTF-8.")
    return text


def read_file(path: Path, delimiter: str) -> pd.DataFrame:
    """Return the table of a file, as `read_delimited` does."""
    return read_delimited(text_of(read_bytes(path), path), delimiter, path)


def read_delimited(text: str, delimiter: str | None, what: Path | str) -> pd.DataFrame:
    """Return a table, all cells as text; without a delimiter, separated by tab or comma as the header is.

    Raises
    ------
    ValueError
        If the header is blank or has another delimiter, a row has more or fewer fields than the header, or a quote is
        left open.
    """
    first = text.splitlines()[0] if text else ""
    if not first.strip():
        fault = ": the first line is blank" if text else " is empty"
        raise ValueError(f"{what}{fault}; expected a header with the names of the columns.")
    if delimiter is None:
        delimiter = "\t" if first.count("\t") > first.count(",") else ","
    other = max("\t;,", key=first.count)
    if delimiter not in first and other in first:
        hint = "Use commas in .csv files and tabs in .tsv files."
        raise ValueError(f"{what}: the header has no {delimiter!r}; it seems to be separated by {other!r}. {hint}")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
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
        open_quote = "end of data" in str(error) or "field limit" in str(error)
        reason = "a quote is opened and never closed" if open_quote else str(error)
        raise ValueError(f"{what}, line {reader.line_num}: {reason}.") from None
    header, *body = rows
    columns = zip(*body, strict=True) if body else [()] * len(header)
    frame = pd.concat([pd.Series(c, dtype=object) for c in columns], axis=1)
    frame.columns = header
    return frame
