# ruff: noqa: E501 - the name of a case and what must come of it stay in one place
# fmt: off
"""Tables of texts that a sentinel scores."""


from mtmeta.sentinel import read_table

from ._case import Case
from ._tables import file

HEAD = "system,source,score\n"
GOOD = HEAD + "A,one,0.5\nB,two,0.25\n"


def _read(path):
    frame = read_table(path)
    return tuple(frame.columns), tuple(map(tuple, frame.to_numpy()))


def _text(name, content, refused="", rows=None, suffix="csv"):
    meaning = {"value": (("system", "source", "human"), (("A", "one", 0.5), ("B", "two", 0.25)) if rows is None else rows)}
    return Case(f"texts: {name}", file(f"t.{suffix}", content), refused, {} if refused else meaning, _read, None)


def _texts():
    yield _text("good", GOOD)
    yield _text("CR LF and no last line end", GOOD.replace("\n", "\r\n").removesuffix("\r\n"))
    yield _text("TSV", GOOD.replace(",", "\t"), suffix="tsv")
    yield _text("a comma and a line end within quotes", GOOD.replace("one", '"o,\nne"'), rows=(("A", "o,\nne", 0.5), ("B", "two", 0.25)))
    yield _text("NA is a text", GOOD.replace("one", "NA"), rows=(("A", "NA", 0.5), ("B", "two", 0.25)))
    yield _text("the header alone", HEAD, rows=())
    yield _text("a field short", GOOD.replace(",0.25", ""), r"t\.csv, line 3: expected 3 fields, the header's; found 2")
    yield _text("a field more in every row, which pandas takes for an index", GOOD.replace("A,", "0,A,").replace("B,", "1,B,"),
        r"line 2: expected 3 fields.*found 4")
    yield _text("nothing", "", r"is empty; expected a header")
    yield _text("blank lines", "\n\n", r"the first line is blank; expected a header")
    yield _text("an open quote", GOOD.replace("one", '"one'), r"a quote is opened and never closed")
    yield _text("Latin-1", GOOD.replace("one", "ä").encode("latin-1"), r"is not UTF-8: found the byte 0xe4")
    yield _text("a gigantic field", GOOD.replace("one", "x" * 1_000_001), r"field larger than")
    yield _text("a column twice", GOOD.replace("system", "source"), r"several of the columns .* mean 'source'")
    yield _text("two columns that mean the same", GOOD.replace("system", "src"), r"several of the columns .* mean 'source'")
    for value in ("good", "0,5", "1_0", "inf%"):
        yield _text(f"a score {value!r}", GOOD.replace("0.25", f'"{value}"'), r"human of t\.csv' must hold numbers; found '.*' in data row 2")


TEXTS: tuple[Case, ...] = tuple(_texts())
