"""Name the source of each number and name in the cells with the tag `seen`, and check that the sources still say so.

The metadata of such a cell hold ``"seen": {"sources": […], "drawn": {…}}``. `drawn` has a digest of each figure that
the cell follows. `sources` has one text for each line of the cell, with one entry for each name and number in it, in
the order of the text, separated by ``;``. A name stands for itself, and so does a level (95 %) or a count up to twelve
that no output shows. Everything else is an expression over the stored outputs:

    at('Judge', 'pearson')   a cell of a table; ('a', 'b') identifies a row or column by several labels; a third
                             argument n takes the n-th number of a cell such as ".39 (.31 to .47)"
    col('p')                 a column as an array; col('p', 'A') only the rows that have the label A
    count('verdict', 'holds') how many rows have this text in the column; count('verdict'): how many rows there are
    rank('Judge', 'pearson') 1 for the highest value in the column; place(…): 1 for the lowest
    after('Judge', 2)        the second number that is printed after a text; -1: the last number before it
    label('300')             a number that is the label of a row or column
    given('n')               a number that the code assigns to a name, keyword or key; given('n', 2): of a list

with ``+ - * / **``, comparisons, and ``abs len max min sum mean median sqrt round``. Each function reads the nearest
output above that has the labels, and then those below. A number must be its source, rounded to the digits shown, with
its sign; 12 % is .12, and "third" is 3 or about 1/3. An entry ``?`` only requires that some output shows the number.

    python tools/seen.py notebooks/06_ties.ipynb           # list what has no source, with candidates
    python tools/seen.py --write notebooks/06_ties.ipynb   # keep sources that hold, fill in those with one candidate
    python tools/seen.py --set "noise gets .376" "after('/ 2')" notebooks/01_*.ipynb
    python tools/seen.py --check notebooks                 # list what does not hold; exit 1 if anything does not
"""

import argparse
import ast
import base64
import hashlib
import io
import re
import sys
from contextlib import suppress
from functools import cache
from html import unescape
from itertools import product
from pathlib import Path

import matplotlib.image
import nbformat
import numpy as np

WORDS = "one two three four five six seven eight nine ten eleven twelve".split()
ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split()
PARTS = {"half": 1 / 2, "third": 1 / 3, "quarter": 1 / 4, "two thirds": 2 / 3, "three quarters": 3 / 4}
SPELT = "|".join([*list(PARTS)[::-1], *WORDS[1:], *ORDINALS])
NUMBER = r"(?<![\w.@/])[−-]?(?:\d+(?:,\d{3})*(?:\.\d+)?|\.\d+)(?:(?:st|nd|rd|th)\b|(?![\w/]|\.\d|,\d))(?: ?\\?%)?"
PRINTED = r"(?<![\w.])[−-]?(?:\d[\d,]*\.?\d*|\.\d+)(?:e-?\d+)?(?: ?%)?"
#: Names that prose spells in another way than the outputs, or that only figures show.
NAMES = """BLEU chrF TER Regressor RegressorQE Judge Tagger Biased SourceOnly Random ROUGE-1 ROUGE-L m-BLEU x-BLEU WER
MER WIL CER MAP RR nDCG@30 Aster Biscuit Cobalt Dune Ember Fjord Garnet Harbor Indigo Juniper Kelp Lagoon"""
#: Levels of tests and intervals, and counts up to twelve, may stand for themselves.
NOMINAL = {*range(13), 100, 90, 95, 97.5, 99, 0.01, 0.025, 0.05, 0.95, 0.5}
CALLS = {"abs": abs, "len": len, "max": max, "min": min, "sum": sum, "round": round}
CALLS |= {"mean": np.mean, "median": np.median, "sqrt": np.sqrt}
NODES = (
    ast.Expression, ast.Call, ast.Name, ast.Load, ast.Constant, ast.Tuple, ast.BinOp, ast.UnaryOp, ast.Compare,
    ast.operator, ast.unaryop, ast.cmpop,
)  # fmt: skip


def as_number(text):
    """Return the value of a number as printed; 12 % is .12."""
    value = float(re.sub(r"[^\de.-]", "", text.replace("−", "-")).rstrip("."))
    return value / 100 if "%" in text else value


def numbers(text):
    return [as_number(n) for n in re.findall(PRINTED, text)]


def whole(words):
    """Return the pattern of some words that are not part of longer words."""
    return r"(?<!\w)" + re.escape(words) + r"(?!\w)" * words[-1:].isalnum()


def prose(source):
    """Return the text of a cell with blanks for code, links and what roles name: each word keeps its place."""
    hidden = r"(\{order\}`)([^`<]*)(<[^`]*`)|(\{[\w:]+\}`[^`]*`|`[^`\n]*`|\]\([^)]*\))"
    return re.sub(hidden, lambda m: " " * len(m[1] or m[4]) + (m[2] or "") + " " * len(m[3] or ""), source)


def spans(html):
    """Yield the rows of an HTML table: how many labels, and the texts, repeated where they span others."""
    held = {}
    for row in html.split("<tr")[1:]:
        texts = []
        for how, text in re.findall(r"<t[hd]([^>]*)>(.*?)</t[hd]>", row, re.S):
            while held.get(len(texts), (0, ""))[0] > 0:
                left, above = held[len(texts)]
                held[len(texts)] = (left - 1, above)
                texts.append(above)
            width, height = (int(m[1]) if (m := re.search(rf'{k}span="?(\d+)', how)) else 1 for k in ("col", "row"))
            for _ in range(width):
                held[len(texts)] = (height - 1, unescape(re.sub(r"<[^>]+>", "", text)).strip())
                texts.append(held[len(texts)][1])
        if texts:
            yield len(texts) - row.count("<td"), texts


class Table:
    """A table of an output: `head`, the labels of each column; `rows` of texts; `keys`, how many are labels."""

    def __init__(self, html):
        top, _, body = html.partition("</thead>")
        above, rows = [texts for _, texts in spans(top)], list(spans(body))
        self.keys = max((n for n, _ in rows), default=0)
        self.rows = [texts for _, texts in rows]
        width = max(map(len, above), default=0)
        self.head = [[row[j] for row in above if j < len(row) and row[j]] for j in range(width)]
        self.labels = {t for head in self.head for t in head} | {t for row in self.rows for t in row[: self.keys]}

    def columns(self, labels):
        labels = labels if isinstance(labels, tuple) else (labels,)
        return [j for j, head in enumerate(self.head) if all(label in head for label in labels)]

    def lines(self, labels):
        labels = labels if isinstance(labels, tuple) else (labels,)
        return [row for row in self.rows if all(label in row for label in labels)]


@cache
def _tables(html):
    return [Table(part) for part in re.findall(r"<table.*?</table>", html, re.S)]


def tables(cell):
    """Return the tables among the outputs of a cell."""
    return _tables("\n".join(output.get("data", {}).get("text/html", "") for output in cell.get("outputs", [])))


def printed(cell):
    """Return the texts among the outputs of a cell, without those that are shown as a table or figure."""
    outputs = [output for output in cell.get("outputs", []) if len(output.get("data", {})) < 2]
    return [
        o.get("text") or o["data"]["text/plain"] for o in outputs if o.get("text") or "text/plain" in o.get("data", {})
    ]


def assigned(cell):
    """Yield each name, keyword or key in the code of a cell that gets numbers, and these."""
    nodes = []
    with suppress(SyntaxError):
        nodes = list(ast.walk(ast.parse(cell.source)))
    pairs = [(node.arg, node.value) for node in nodes if isinstance(node, ast.keyword)]
    for node in nodes:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                many = isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple)
                both = zip(target.elts, node.value.elts, strict=False) if many else [(target, node.value)]
                pairs += [(getattr(name, "id", None), value) for name, value in both]
        elif isinstance(node, ast.Dict):
            pairs += [(getattr(k, "value", None), v) for k, v in zip(node.keys, node.values, strict=True)]
        elif isinstance(node, ast.FunctionDef):
            pairs += [(a.arg, v) for a, v in zip(node.args.args[::-1], node.args.defaults[::-1], strict=False)]
    for name, value in pairs:
        with suppress(ValueError, TypeError, SyntaxError):
            values = np.ravel(ast.literal_eval(value))
            if isinstance(name, str) and len(values) and values.dtype.kind in "if":
                yield name, values


class Page:
    """The outputs and the code of a notebook, as seen from the cell with number `here`."""

    def __init__(self, nb, here):
        self.cells = [c for c in [*reversed(nb.cells[:here]), *nb.cells[here + 1 :]] if c.cell_type == "code"]
        self.calls = CALLS | {f.__name__: f for f in (self.at, self.col, self.rank, self.place, self.after)}
        self.calls |= {"label": self.label, "given": self.given, "count": self.count}

    def _found(self, row, column):
        for table in (table for cell in self.cells for table in reversed(tables(cell))):
            if (columns := table.columns(column)) and (lines := table.lines(row)):
                return [line[columns[0]] for line in lines], columns
        raise LookupError(f"no output has column {column!r} and row {row!r}")

    def at(self, row, column, n=1):
        texts, columns = self._found(row, column)
        if len(texts) != 1 or len(columns) != 1:
            raise LookupError(f"{len(texts)} rows have the label {row!r}, {len(columns)} columns {column!r}")
        return numbers(texts[0])[n - 1]

    def col(self, column, row=(), n=1):
        return np.array([found[n - 1] for text in self._found(row, column)[0] if len(found := numbers(text)) >= n])

    def count(self, column, text=None):
        return sum(text in (None, found) for found in self._found((), column)[0])

    def rank(self, row, column, among=()):
        return 1 + int(np.sum(self.col(column, among) > self.at(row, column)))

    def place(self, row, column, among=()):
        return 1 + int(np.sum(self.col(column, among) < self.at(row, column)))

    def after(self, words, n=1):
        for out in (out for cell in self.cells for out in reversed(printed(cell))):
            if m := re.search(whole(words), out):
                found = [
                    f for f in re.finditer(PRINTED, out) if (f.start() >= m.end() if n > 0 else f.end() <= m.start())
                ]
                return as_number(found[n - (n > 0)][0])
        raise LookupError(f"no output prints {words!r}")

    def label(self, text):
        if any(text in table.labels for cell in self.cells for table in tables(cell)):
            return as_number(text)
        raise LookupError(f"no output has the label {text!r}")

    def given(self, name, n=1):
        for values in (values for cell in self.cells for key, values in assigned(cell) if key == name):
            return float(values[n - 1])
        raise LookupError(f"no code gives {name!r} a number")

    def somewhere(self, token):
        """Tell whether a number stands in any output or in the code of the page."""
        for cell in self.cells:
            cells = [text for table in tables(cell) for row in [*table.head, *table.rows] for text in row]
            code = re.sub(r"(?<=\d)_(?=\d)", "", cell.source)
            found = [n for text in [*cells, *printed(cell), code] for n in re.findall(PRINTED, text)]
            scales = [(n, 0.01 if "%" in token[0] else 100 if "%" in n else 1) for n in found]
            if any(holds(token, as_number(n) * scale) for n, other in scales for scale in (1, other)):
                return True
        return any(holds(token, value) for value in NOMINAL)

    def value(self, source):
        """Return the value of an expression in the language of this file."""
        tree = ast.parse(source.strip(), mode="eval")
        for node in ast.walk(tree):
            if not isinstance(node, NODES) or (isinstance(node, ast.Name) and node.id not in self.calls):
                raise SyntaxError(f"{ast.unparse(node)} is not allowed")
        return float(eval(compile(tree, "seen", "eval"), {"__builtins__": {}}, self.calls))


def names_of(nb):
    """Return the pattern of the names on a page: of systems and metrics, labels such as XCOMET-QE or *names only*."""
    found = [table for cell in nb.cells for table in tables(cell)]
    labels = {text for table in found for row in [*table.rows, *table.head] for text in row}
    labels = {text for text in labels if re.fullmatch(r"[B-HJ-Z]|(?=.*[A-Z].*[A-Z])[A-Za-z][\w@.-]*", text)}
    spoken = {text for table in found for text in table.labels if re.fullmatch("[a-z]+( [a-z]+)+", text)}
    labels |= spoken | {text[0].upper() + text[1:] for text in spoken} | {*NAMES.split()}
    return "|".join(map(re.escape, sorted(labels, key=lambda name: (-len(name), name))))


def tokens(text, names):
    """Return the names, number words and numbers of a text in their order, as matches with the group that fits."""
    pattern = rf"(?P<name>(?<![\w-])(?:{names})(?![\w-]))|(?P<word>\b(?i:{SPELT})\b(?!-))|(?P<number>{NUMBER})"
    return list(re.finditer(pattern, text))


def holds(token, value):
    """Tell whether a number or number word is `value`, to the digits shown."""
    text = token[0].lower()
    if token["word"]:
        counts = [k for words in (WORDS, ORDINALS) for k, word in enumerate(words, 1) if word == text]
        return value in counts or abs(value - PARTS.get(text, np.inf)) <= 0.05
    said = as_number(re.sub(r"[%a-z]", "", text))
    digits = len(text.partition(".")[2].rstrip("% \\"))
    if "%" in text:
        value *= 100
    elif not digits and value % 1:
        return False  # a source that is rounded to a whole number is written as round(…)
    return abs(value - said) <= 0.5 * 10.0**-digits * (1 + 1e-6) and (value * said > 0 or said == 0)


def seen_cells(nb):
    return [(k, cell) for k, cell in enumerate(nb.cells) if "seen" in cell.metadata.get("tags", [])]


def sources_of(cell):
    """Return the entries of a cell, one for each token."""
    lines = cell.metadata.get("seen", {}).get("sources", [])
    return [entry.strip() for line in lines for entry in re.split(r";(?=(?:[^']*'[^']*')*[^']*$)", line)]


def stamp(nb, here, entries, names):
    """Store the sources of a cell, one text for each of its lines, and the digests of its figures."""
    cell, left = nb.cells[here], list(entries)
    counts = [len(tokens(line, names)) for line in prose(cell.source).split("\n")]
    lines = ["; ".join(left.pop(0) for _ in range(n)) for n in counts if n]
    kept = {key: value for key, value in (("sources", lines), ("drawn", drawn_before(nb, here))) if value}
    cell.metadata = nbformat.from_dict({k: v for k, v in {**cell.metadata, "seen": kept}.items() if v})


def drawn_before(nb, here):
    """Return a digest of the pixels of each figure between the cell `here` and the `seen` cell before it."""
    found = {}
    for cell in reversed(nb.cells[:here]):
        if "seen" in cell.metadata.get("tags", []):
            break
        for image in (o["data"]["image/png"] for o in cell.get("outputs", []) if "image/png" in o.get("data", {})):
            pixels = np.round(255 * matplotlib.image.imread(io.BytesIO(base64.b64decode(image)))).astype("u1")
            name = cell.metadata.get("mystnb", {}).get("figure", {}).get("name", f"figure {len(found)}")
            found[name] = hashlib.sha256(repr(pixels.shape).encode() + pixels.tobytes()).hexdigest()[:8]
    return found


def complaint(token, entry, page):
    """Return what is wrong with the source of a token, or an empty text."""
    if token["name"]:
        return "" if entry == token[0] else f"the source is {entry}"
    if entry == "?":
        return "" if page.somewhere(token) else "no output shows this"
    try:
        value = page.value(entry)
    except (LookupError, SyntaxError, ValueError, TypeError) as error:
        return f"{entry}: {error}"
    if re.fullmatch(r"[\d.-]+", entry) and value not in NOMINAL:
        return f"{entry} repeats the number and is not a source"
    return "" if holds(token, value) else f"{entry} is {value:.6g}"


def faults_of(nb, here, names):
    """Yield what a cell says and its sources do not."""
    cell = nb.cells[here]
    text, page, entries = prose(cell.source), Page(nb, here), sources_of(cell)
    found = tokens(text, names)
    for token, entry in zip(found, entries, strict=False):
        if wrong := complaint(token, entry, page):
            yield f"{text[max(0, token.start() - 40) : token.end() + 15]!r}: {token[0]}: {wrong}"
    if len(found) != len(entries):
        yield f"{text[:60]!r}: {len(found)} names and numbers, {len(entries)} sources"
    if (drawn := drawn_before(nb, here)) != (before := cell.metadata.get("seen", {}).get("drawn", {})):
        yield f"{text[:60]!r}: look at the figures again: {before} became {drawn}"


def faults(nb):
    """Yield what the cells with the tag `seen` say and their sources do not."""
    names = names_of(nb)
    for here, _ in seen_cells(nb):
        yield from faults_of(nb, here, names)


def in_tables(cell):
    """Yield each number in the tables of a cell, and the expression that gives it."""
    for table in tables(cell):
        for row in table.rows:
            texts = [t for t in dict.fromkeys(row) if t and not numbers(t)] + [
                t for t in row[: table.keys] if numbers(t)
            ]
            ways = [[t] for t in texts] + [[*pair] for pair in product(texts, texts)] + [texts]
            key = next((way for way in ways if way and len(table.lines(tuple(way))) == 1), None)
            for j in range(table.keys, min(len(row), len(table.head))) if key else ():
                head = next(([h] for h in table.head[j] if len(table.columns(h)) == 1), table.head[j])
                row_name, column = (repr(one[0] if len(one) == 1 else tuple(one)) for one in (key, head or [""]))
                for n, value in enumerate(numbers(row[j]), 1):
                    yield value, f"at({row_name}, {column}{f', {n}' * (n > 1)})"
        for text in sorted(t for t in table.labels if re.fullmatch(PRINTED, t)):
            yield as_number(text), f"label({text!r})"


def in_print(cell, names):
    """Yield each number that a cell prints, and the expression that gives it."""
    for out in printed(cell):
        for m in re.finditer(PRINTED, out):
            line = out[out.rfind("\n", 0, m.start()) + 1 : m.start()]
            words = [part.strip(" ,)(=") for part in re.split(rf"{PRINTED}|[;'\"]", line)[::-1]]
            words = re.findall(rf"(?<!\w)(?:{names})(?!\w)", out[: m.start()])[-1:] + words
            for anchor in (words for words in words if re.search("[A-Za-z]{2}", words)):
                start = first.end() if (first := re.search(whole(anchor), out)) else len(out)
                n = sum(start <= f.start() <= m.start() for f in re.finditer(PRINTED, out))
                if 1 <= n <= 9:
                    yield as_number(m[0]), f"after({anchor!r}{f', {n}' * (n > 1)})"
                    break


def candidates(page, token, names):
    """Return the expressions over the outputs and the code of a page that give a number, the nearest first."""
    found = [str(value) for value in sorted(NOMINAL) if holds(token, value)][:1]
    for cell in page.cells:
        known = [*in_tables(cell), *in_print(cell, names)]
        known += [(v, f"given({name!r}, {n})") for name, values in assigned(cell) for n, v in enumerate(values, 1)]
        for value, source in known:
            ways = {source: value, f"-{source}": -value, f"{source} / 100": value / 100}
            found += [way for way, meant in ways.items() if holds(token, meant)]
    return [source for source in dict.fromkeys(found) if not complaint(token, source, page)]


def annotate(nb):
    """Keep the sources that hold, fill in those with one candidate, and print the others with some; count these."""
    names, left = names_of(nb), 0
    for here, cell in seen_cells(nb):
        text, page = prose(cell.source), Page(nb, here)
        found, old, new, last = tokens(text, names), sources_of(cell), [], 0
        for token in found:
            # A source belongs to the token in its place or, if tokens came or went, to the next that it fits.
            places = [len(new)] if len(old) == len(found) else range(last, min(last + 6, len(old)))
            fits = [j for j in places if old[j] != "?" and not complaint(token, old[j], page)]
            if fits or token["name"]:
                new.append(old[fits[0]] if fits else token[0])
                last = fits[0] + 1 if fits else last
                continue
            known = candidates(page, token, names)
            new.append(known[0] if len(known) == 1 else "?")
            if len(known) != 1:
                left += 1
                print(f"[{here}] … {text[max(0, token.start() - 60) : token.start()]}>>{token[0]}<<")
                print(*(f"    {source}" for source in known[:6]), sep="\n")
        stamp(nb, here, new, names)
    return left


def put(nb, words, source):
    """Set the source of the token with which `words` end, in each cell that has them."""
    names, done = names_of(nb), 0
    for here, cell in seen_cells(nb):
        text, entries = prose(cell.source), sources_of(cell)
        ends = {m.end() for m in re.finditer(r"(?<!\w)" + re.escape(words), text)}
        places = [k for k, token in enumerate(tokens(text, names)) if token.end() in ends and k < len(entries)]
        for k in places:
            entries[k] = source
        if places:
            stamp(nb, here, entries, names)
        done += len(places)
    if not done:
        raise SystemExit(f"no cell has a number or name with a source at the end of {words!r}; first run --write")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="+", type=Path, help="notebooks, or folders of notebooks")
    parser.add_argument("--write", action="store_true", help="store the sources that hold or have one candidate")
    parser.add_argument("--check", action="store_true", help="only list what does not hold")
    about = "set the source of the number or name with which these words end"
    parser.add_argument("--set", nargs=2, action="append", default=[], metavar=("WORDS", "SOURCE"), help=about)
    given, left = parser.parse_args(), 0
    for file in [f for p in given.paths for f in (sorted(p.rglob("*.ipynb")) if p.is_dir() else [p])]:
        nb = nbformat.read(file, as_version=4)
        if given.check:
            wrong = [f"{file}: {fault}" for fault in faults(nb)]
            print(*wrong, sep="\n", end="\n" * bool(wrong))
            left += len(wrong)
            continue
        for words, source in given.set:
            put(nb, words, source)
        left += 0 if given.set else annotate(nb)
        if given.write or given.set:
            file.write_text(nbformat.writes(nb, indent=1).rstrip("\n") + "\n", encoding="utf-8", newline="\n")
    return int(left > 0)


if __name__ == "__main__":
    sys.exit(main())
