"""Tables as text, and where they are written."""

from __future__ import annotations

import csv
import json
import textwrap
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from .._escapes import latex, markdown, visible
from .._files import check_not_input, whole_file
from ._choices import Format

if TYPE_CHECKING:
    from enum import StrEnum

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


def _cell(value: Any, places: int, how: str) -> str:
    """Return a value as it is read: numbers rounded, nothing where there is none."""
    escape, best, alike = _ESCAPES[how]
    if isinstance(value, float):
        form = best if isinstance(value, Best) else alike if isinstance(value, Alike) else "{}"
        return form.format(escape(f"{value:z.{places}f}"))
    return "" if value is None else escape(visible(str(value)))


def _width(text: str) -> int:
    """Return how many columns of a terminal a text takes: two for each wide character, none for an accent."""
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return len(text) + wide - sum(map(bool, map(unicodedata.combining, text)))


def _as_table(headings: list[str], rows: list[list[str]], numeric: list[bool]) -> str:
    columns = list(zip(*rows, strict=True)) or [()] * len(headings)
    widths = [max(map(_width, [*c, *h.split()])) for h, c in zip(headings, columns, strict=True)]
    stacks = [textwrap.wrap(h, w, break_on_hyphens=False) for h, w in zip(headings, widths, strict=True)]
    heads = [[""] * (max(map(len, stacks)) - len(s)) + s for s in stacks]
    lines = [*zip(*heads, strict=True), ["-" * w for w in widths], *rows]

    def padded(text: str, width: int, right: bool) -> str:
        return " " * (width - _width(text)) + text if right else text + " " * (width - _width(text))

    return "".join("  ".join(map(padded, line, widths, numeric)).rstrip() + "\n" for line in lines)


def _as_latex(headings: list[str], rows: list[list[str]], numeric: list[bool]) -> str:
    head, *body = (" & ".join(line) + r" \\" for line in [headings, *rows])
    columns = "".join("r" if n else "l" for n in numeric)
    top = (rf"\begin{{tabular}}{{{columns}}}", r"\toprule", head, r"\midrule")
    return "\n".join([*top, *body, r"\bottomrule", r"\end{tabular}", ""])


def _as_md(headings: list[str], rows: list[list[str]], numeric: list[bool]) -> str:
    rule = ["---:" if n else "---" for n in numeric]
    return "".join(f"| {' | '.join(line)} |\n" for line in (headings, rule, *rows))


def written(frame: pd.DataFrame, how: Format, places: int) -> str:
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
    rows = [[_cell(value, places, how) for value in row] for row in values.itertuples(index=False, name=None)]
    numeric = [pd.api.types.is_numeric_dtype(column.infer_objects()) for _, column in frame.items()]
    write = {"table": _as_table, "latex": _as_latex, "md": _as_md}[how]
    return write([_cell(str(c), places, how) for c in frame.columns], rows, numeric)


#: The format that the ending of an output asks for.
_BY_ENDING = {".htm": "html", ".html": "html", ".json": "json", ".md": "md", ".tex": "latex", ".txt": "table"}
_BY_ENDING |= {".csv": "csv", ".tsv": "tsv", ".score": "seg-score", ".yaml": "yaml", ".yml": "yaml"}


def form_of(output: Path | None, forms: type[StrEnum]) -> str:
    """Return the format for an output of this name, by default the first; refuse an ending that none of them has."""
    first, ending = next(iter(forms)).value, output.suffix.lower() if output is not None else ""
    how = _BY_ENDING.get(ending, ending) or first
    if how in [*forms]:
        return how
    endings = ", ".join(end for end, form in _BY_ENDING.items() if form in [*forms])
    choice = ", or choose by --format" if len(forms) > 1 else ""
    raise ValueError(f"nothing here is written as {ending!r}; name a file with {endings}{choice}.")


#: Options and arguments that name what a command reads, and what it writes.
_READ = ("sets", "file", "stages", "validation", "encoder", "start", "folder", "what", "plan", "scores", "metrics_from")
_WRITTEN = ("output",)


def inputs(options: Mapping[str, Any]) -> list[Path]:
    """Return the files and folders that a command reads; the name of an absent set is none."""
    from ..datasets import path_of

    given = [options[name] for name in _READ if options.get(name)]
    names = [str(name) for one in given for name in ([one] if isinstance(one, str | Path) else one)]
    parts = [part for name in names for part in (name, *name.split("+"))]  # a plus sign joins sets
    found = [Path("/dev/stdin") if part == "-" else path_of(part) for part in parts]
    return [path for path in found if path is not None]


def check_outputs(options: Mapping[str, Any]) -> None:
    """Refuse at once to write to an input, or twice to one file."""
    given = [options[name] for name in _WRITTEN if options.get(name) is not None]
    targets = [path for one in given for path in (one if isinstance(one, list) else [one]) if path is not None]
    if len({path.resolve() for path in targets}) < len(targets):
        raise ValueError(f"two outputs cannot go to one file; found {targets[0]} twice.")
    read = inputs(options) if any(path.exists() for path in targets) else ()
    for path in targets:
        check_not_input(path, read)


@contextmanager
def output_file(path: Path) -> Iterator[Path]:
    """Yield where to write a file, whole or not at all; a pipe or a terminal is written to directly."""
    if path.exists() and not path.is_file():
        yield path
        return
    with whole_file(path.resolve()) as part:
        yield part


def emit(text: str, output: Path | None) -> None:
    """Write a result to a file, or to standard output."""
    if output is None:
        typer.echo(text, nl=False, color=True)  # names that hold escapes stay as they are
        return
    with output_file(output) as part:
        part.write_text(text, encoding="utf-8")


def say(quiet: bool, *lines: str) -> None:
    for line in filter(None, lines if not quiet else ()):
        typer.echo(visible(line), err=True)


def together(tables: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Return tables by set as one, with a column ``set`` if there are several."""
    import pandas as pd

    for name, frame in tables.items():
        if len(tables) > 1:
            frame.insert(0, "set", name)
    return pd.concat(tables.values(), ignore_index=True)
