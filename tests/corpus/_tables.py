# ruff: noqa: E501 - the name of a case and what must come of it stay in one place
# fmt: off
"""Tables: CSV, TSV, JSON lines, Parquet."""

import io
import json
from functools import partial
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from ._case import Case

HEAD = "system,segment,human,X\n"
#: A pickle that runs a program.
PICKLE = b"cos\nsystem\n(S'touch canary'\ntR."
GOOD = HEAD + "A,1,0,.9\nA,2,-6,.2\nB,1,-1,.8\nB,2,-7,.3\n"
MEANS = {"systems": ("A", "B"), "segments": (1, 2), "human": ((0, -6), (-1, -7)), "X": ((0.9, 0.2), (0.8, 0.3)), "metrics": ("X",)}
RECORDS = [{"system": s, "segment": k, "human": h, "X": x} for s, k, h,
    x in (("A", 1, 0, 0.9), ("A", 2, -6, 0.2), ("B", 1, -1, 0.8), ("B", 2, -7, 0.3))]


def file(name, content):
    """Return what writes one file, and gives its path."""

    def make(folder):
        data = content() if callable(content) else content
        path = folder / name
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        return path

    return make


def table(name, content, refused="", suffix="csv", **meaning):
    """Return a case of one table; what is not stated of its meaning is that of the good table."""
    stated = {} if refused else MEANS | meaning
    return Case(f"{suffix}: {name}", file(f"t.{suffix}", content), refused, stated)


def lines(*records):
    return "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in records)


#: Encoding, text that it can write, and how the table is refused; nothing where it loads.
_ENCODINGS = [*((e, "Ä日", "") for e in ("utf-8-sig", "utf-16")), ("utf-16-le", "AB", r"holds a NUL character in line 1"),
    *((e, "Ä", r"is not UTF-8: found the byte 0x.. at or after line [34]\. Save the file as UTF-8") for e in ("latin-1", "gb18030"))]


def _encodings():
    for encoding, name, refused in _ENCODINGS:
        yield table(encoding, GOOD.replace("B,", f"{name},").encode(encoding), refused, systems=("A", name))
    yield table("a NUL in a name", GOOD.encode().replace(b"B", b"B\0"), r"holds a NUL character in line [34]")


def _line_ends():
    yield table("a blank line first", "\n" + GOOD, r"the first line is blank; expected a header")
    yield table("rows of commas at the end, as a spreadsheet leaves them", GOOD + ",,,\n,,,\n", r"'system' of the table is empty in . rows, the first row 5")
    meaning = {"human": ((1, 2), (1, 2)), "X": None, "metrics": ()}
    text = HEAD.replace("X", "source") + "".join(f'{s},{k},{k},"one\r\n""{k}"""\n' for s in "AB" for k in (1, 2))
    yield table("line ends and quotes within quotes", text, **meaning | {"sources": ('one\r\n"1"', 'one\r\n"2"')})


def _fields():
    yield table("fewer fields than the header", GOOD + "C,1,1\n", r"line 6: expected 4 fields, the header's; found 3")
    yield table("an open quote", GOOD.replace(".9", '".9'), r"a quote is opened and never closed")
    far = HEAD.encode() + b"".join(b"A,%d,1,1\n" % k for k in range(5000)) + b"\xc4,0,1,1\n"
    yield table("a wrong byte far into a file", far, r"byte 0xc4 at or after line 5002")
    yield table("semicolons", GOOD.replace(",", ";"), r"separated by ';'.*Use commas in \.csv")


def _headers():
    yield table("nothing", b"", r"is empty; expected a header")
    yield table("the header alone", HEAD, r"the table has no rows")
    yield table("no column human", GOOD.replace("human", "other"), r"lacks 1 column, 'human'; found .*'other'")
    yield table("the index of pandas", "," + GOOD.removesuffix("\n").replace("\n", "\n0,"), r"column 1 has no name.*index=False")
    yield table("a name with a line end", GOOD.replace("X", '"X\n\x1b[31m"').replace(".9", "bad"), r"column 'X\\n\\x1b\[31m' must hold numbers")


NUMBER = r"must hold numbers"
INFINITE = r"holds an infinite score"
SIZE = r"holds the score .* The largest must be from 1e-50 to 1e\+50 in size: multiply"
#: What a cell may hold, and what it means: a number, None for not scored, or how it is refused.
CELLS: list[tuple[str, Any]] = [
    ("+1", 1.0), (" 1 ", 1.0), ("1E-2", 0.01), ("1e50", 1e50), ("0.1000000000000000055511151231257827", 0.1), ("1e308", SIZE),
    ("inf", INFINITE), ("1e400", INFINITE), ("", None), ("NA", None), ("nan", None), ("None", None),
    ("good", NUMBER), ("0,5", NUMBER), ("1_000", NUMBER), ("50%", NUMBER), ("True", NUMBER), ("−1", NUMBER), ("8" * 5000, NUMBER),
    ("__import__('os').system('touch canary')", NUMBER),
]  # fmt: skip


def _cells():
    for column, suffix, cells in (("X", "csv", CELLS), ("human", "csv", CELLS[5::5]), ("X", "jsonl", CELLS[::6])):
        for cell, what in cells:
            label = f"{column} is {cell[:44]!r}"
            records = [dict(r) for r in RECORDS]
            records[0][column] = cell
            text = lines(*records) if suffix == "jsonl" else pd.DataFrame(records).to_csv(index=False)
            refused = what if isinstance(what, str) else ""
            meaning = {} if refused else {column: ((what, MEANS[column][0][1]), MEANS[column][1])}
            if refused == NUMBER:
                refused = rf"column '{column}' must hold numbers; found .* in data row 1 \(1 such cells\)"
            yield table(label, text, refused, suffix, **meaning)


def _rows():
    yield table("no human score", HEAD + "A,1,,1\nB,1,NaN,2\n", r"no translation has a human score")
    yield table("a row twice", GOOD + "B,2,-7,.3\n", r"several rows of system 'B', segment 2")
    yield table("a row short", GOOD.replace("B,1,-1,.8\n", ""), r"system 'B' has 1 of 2 segments; missing is, for example, segment 1")
    yield table("segments with zeros before", GOOD.replace(",1,", ",01,").replace(",2,", ",02,"), segments=("01", "02"))
    yield table("two sources for one segment", HEAD.replace("X", "source") + "A,1,1,one\nB,1,2,two\n",
        r"column 'source' differs between the rows of segment 1")


def _json_lines():
    case, (first, *rest) = partial(table, suffix="jsonl"), RECORDS

    yield case("nothing", "", r"is empty; expected a JSON object a line")
    yield case("an array of records", json.dumps(RECORDS), r"line 1: expected a JSON object .*; found '\[")
    yield case("a field missing", lines(first, *({k: v for k, v in r.items() if k != "X"} for r in rest)),
        r"line 2: expected a JSON object with the fields of the first line")
    yield case("X is null", lines(first | {"X": None}, *rest), X=((None, 0.2), (0.8, 0.3)))


def _frame(**columns):
    return pd.DataFrame(RECORDS).assign(**columns)


def _parquet(frame):
    out = io.BytesIO()
    frame.to_parquet(out) if isinstance(frame, pd.DataFrame) else pq.write_table(frame, out)
    return out.getvalue()


def _parquets():
    case, good = partial(table, suffix="parquet"), _parquet(_frame())
    yield case("the good table", good)
    yield case("a pickle", PICKLE, r"cannot be read")
    yield case("whole numbers with holes", _parquet(_frame(X=pd.array([1, None, 2, 3], dtype="Int64"))), X=((1, None), (2, 3)))
    yield case("systems are bytes", _parquet(_frame(system=[b"A", b"A", b"B", b"B"])), r"column 'system' must hold text; found b'A'")
    twice = pa.Table.from_arrays([pa.array(_frame()[c]) for c in ("system", "segment", "human", "X", "X")],
        names=["system", "segment", "human", "X", "X"])
    yield case("a column twice", _parquet(twice), r"column names must be distinct|Multiple matches")


def _place(name, make, refused="", **meaning):
    return Case(f"path: {name}", make, refused, {} if refused else MEANS | meaning)


def _places():
    yield _place("text called compressed", file("t.csv.gz", GOOD), r"cannot be read: Not a gzipped file")
    yield _place("a pickle", file("t.pkl", PICKLE), r"cannot tell the format from '\.pkl'")
    yield _place("an address", lambda f: "http://127.0.0.1:9/t.csv", r"there is no file")
    for given in ("", "../../etc/passwd", "$(touch canary)", "wmt99", "teaching/en-de"):
        refused = r"unknown (set|part)|is a folder without human-scores/|cannot tell the format from ''"
        yield Case(f"name: {given!r}", lambda f, g=given: g, refused, command=("validate", "--", "{}"))


TABLES: tuple[Case, ...] = (
    *_encodings(), *_line_ends(), *_fields(), *_headers(), *_cells(), *_rows(), *_json_lines(),
    *_parquets(), *_places(),
)  # fmt: skip
