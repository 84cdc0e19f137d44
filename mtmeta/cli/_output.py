"""Tables as text, and where they are written."""

from __future__ import annotations

import csv
import io
import json
import os
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from .._files import whole_file
from ._choices import Format

if TYPE_CHECKING:
    import pandas as pd


def visible(text: str) -> str:
    """Return ``text`` on one line, with control characters spelled out."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _cell(value: Any, places: int) -> str:
    """Return a value as it is read: numbers rounded, nothing where there is none."""
    if isinstance(value, float):
        return f"{value:z.{places}f}"
    return "" if value is None else visible(str(value))


def _as_table(headings: list[str], rows: list[list[str]], numeric: list[bool]) -> str:
    from rich.cells import cell_len, set_cell_size

    columns = list(zip(*rows, strict=True)) or [()] * len(headings)
    widths = [max(map(cell_len, [*c, *h.split()])) for h, c in zip(headings, columns, strict=True)]
    stacks = [textwrap.wrap(h, w, break_on_hyphens=False) for h, w in zip(headings, widths, strict=True)]
    height = max(map(len, stacks))
    stacks = [[""] * (height - len(s)) + s for s in stacks]
    lines = [*zip(*stacks, strict=True), ["-" * w for w in widths], *rows]

    def padded(text: str, width: int, right: bool) -> str:
        return " " * (width - cell_len(text)) + text if right else set_cell_size(text, width)

    return "".join("  ".join(map(padded, line, widths, numeric)).rstrip() + "\n" for line in lines)


_LATEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "|": r"\textbar{}"}
_LATEX |= {"<": r"\textless{}", ">": r"\textgreater{}"} | {c: f"\\{c}" for c in "&%$#_{}"}
_LATEX |= {c: f"{{{c}}}" for c in "[]*"}  # after the end of a row these would be its options
_MD = {c: f"\\{c}" for c in r"\`*_[]<>|&~$"}


def _escaped(escapes: dict[str, str], lines: list[list[str]]) -> list[list[str]]:
    return [["".join(escapes.get(c, c) for c in cell) for cell in line] for line in lines]


def as_latex(headings: list[str], rows: list[list[str]], numeric: list[bool]) -> str:
    head, *body = (" & ".join(line) + r" \\" for line in _escaped(_LATEX, [headings, *rows]))
    columns = "".join("r" if n else "l" for n in numeric)
    top = (rf"\begin{{tabular}}{{{columns}}}", r"\toprule", head, r"\midrule")
    return "\n".join([*top, *body, r"\bottomrule", r"\end{tabular}", ""])


def _as_md(headings: list[str], rows: list[list[str]], numeric: list[bool]) -> str:
    head, *body = _escaped(_MD, [headings, *rows])
    rule = ["---:" if n else "---" for n in numeric]
    return "".join(f"| {' | '.join(line)} |\n" for line in (head, rule, *body))


def written(frame: pd.DataFrame, how: Format, places: int) -> str:
    """Return a table as text. TSV and JSON keep full precision; what is missing is an empty cell, or null."""
    import pandas as pd

    values = frame.astype(object).where(frame.notna(), None)
    if how is Format.json:
        return json.dumps(values.to_dict("records"), ensure_ascii=False, allow_nan=False, indent=2) + "\n"
    rows = list(values.itertuples(index=False, name=None))
    if how is Format.tsv:
        lines = [[*frame.columns], *rows]
        # the csv module quotes no carriage return before Python 3.13, and it would end the line
        returns = any("\r" in cell for line in lines for cell in line if isinstance(cell, str))
        out = io.StringIO()
        quoting = csv.QUOTE_ALL if returns else csv.QUOTE_MINIMAL
        csv.writer(out, delimiter="\t", lineterminator="\n", quoting=quoting).writerows(lines)
        return out.getvalue()
    rows = [[_cell(value, places) for value in row] for row in rows]
    numeric = [pd.api.types.is_numeric_dtype(dtype) for dtype in frame.dtypes]
    write = {Format.table: _as_table, Format.latex: as_latex, Format.md: _as_md}[how]
    return write([visible(str(c)) for c in frame.columns], rows, numeric)


def write_file(path: Path, text: str) -> None:
    """Write a file whole or not at all; what is no regular file (a pipe, a terminal) is written to as it is."""
    if path.exists() and not path.is_file():
        path.write_text(text, encoding="utf-8")
        return
    path = path.resolve()
    try:
        with whole_file(path) as part:
            part.write_text(text, encoding="utf-8")
            if path.exists():
                part.chmod(path.stat().st_mode)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


def emit(frame: pd.DataFrame, how: Format, places: int, output: Path | None) -> None:
    emit_text(written(frame, how, places), output)


def emit_text(text: str, output: Path | None) -> None:
    if output is not None:
        write_file(output, text)
        return
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError:
        # What is still buffered goes nowhere: Python would fail on it once more on its way out.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise


def say(quiet: bool, *lines: str) -> None:
    if not quiet:
        for line in lines:
            typer.echo(visible(line), err=True)


def together(tables: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Return tables by set as one, with a column ``set`` if there are several."""
    import pandas as pd

    for name, frame in tables.items():
        if len(tables) > 1:
            frame.insert(0, "set", name)
    return pd.concat(tables.values(), ignore_index=True)
