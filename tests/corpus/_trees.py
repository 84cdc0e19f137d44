# ruff: noqa: E501 - the name of a case and what must come of it stay in one place
# fmt: off
"""Folders in the layout of mt-metrics-eval v2, and tables of MQM errors."""

import os
from pathlib import Path

from trees import scores, write

from ._case import Case
from ._tables import file

LP = "en-de"
TEXTS = {"A": ["Eins.", "Zwei."], "B": ["Ein.", "Zwo."], "refA": ["Eins!", "Zwei!"]}
HUMAN = {"A": [0, -6], "B": [-1, -7], "refA": [0, 0]}
METRIC = {"A": [0.9, 0.2], "B": [0.8, 0.3], "refA": [1, 1]}
SEG = f"human-scores/{LP}.mqm.seg.score"
SYS = f"human-scores/{LP}.mqm.sys.score"
X = f"metric-scores/{LP}/X-src.seg.score"
X_SYS = f"metric-scores/{LP}/X-src.sys.score"
DOCS = f"documents/{LP}.docs"
SOURCE = f"sources/{LP}.txt"
REF = f"references/{LP}.refA.txt"
OUT = f"system-outputs/{LP}/B.txt"
MEANS = {"systems": ("A", "B"), "segments": (1, 2), "human": ((0, -6), (-1, -7)), "X": ((0.9, 0.2), (0.8, 0.3)),
    "translations": (("Eins.", "Zwei."), ("Ein.", "Zwo.")), "sources": ("One.", "Two.")}


def tree(folder):
    root = folder / "mine"
    write(root / SOURCE, "One.\nTwo.\n")
    write(root / DOCS, "news\tone\nnews\ttwo\n")
    write(root / REF, "Eins!\nZwei!\n")
    for name, lines in TEXTS.items():
        write(root / f"system-outputs/{LP}/{name}.txt", "\n".join(lines) + "\n")
    write(root / SEG, scores(HUMAN))
    write(root / SYS, "A -3\nB -4\nrefA 0\n")
    write(root / X, scores(METRIC))
    write(root / X_SYS, "A 1\nB 2\nrefA 3\n")
    return root


def case(name, spoil, refused="", **meaning):
    """Return a case of a tree that is spoilt, or altered so that it means the same."""

    def make(folder):
        root = tree(folder)
        spoil(root)
        return root

    return Case(f"tree: {name}", make, refused, {} if refused else MEANS | meaning)


def put(path, content):
    """Return what gives a file of the tree other content."""
    return lambda root: write(root / path, content((root / path).read_text()) if callable(content) else content)


def drop(*paths):
    return lambda root: [(root / path).unlink() for path in paths]


def link(path, target):
    """Return what puts a link in the place of a file or folder, which moves aside."""
    return lambda root: ((root / path).exists() and os.replace(root / path, root / "moved"), (root / path).symlink_to(target))


def climbing(root):
    """Let a system's name lead out of the tree, to a text that is there."""
    write(root.parent / "secret.txt", "secret one\nsecret two\n")
    name = "../../../secret"
    for path in (SEG, X, SYS, X_SYS):
        write(root / path, (root / path).read_text().replace("B", name))
    (root / OUT).unlink()


def _any_file():
    latin = put(SYS, lambda t: t.replace("\n", "\xe4\n", 1).encode("latin-1"))
    yield case("official scores in Latin-1", latin, r"en-de\.mqm\.sys\.score is not UTF-8")
    yield case("sources with a byte order mark and CR LF", put(SOURCE, lambda t: "\ufeff" + t.replace("\n", "\r\n")))


def _scores():
    for what, key, path in (("human", "human", SEG), ("metric", "X", X)):
        name = Path(path).name.replace(".", r"\.")
        first = MEANS[key][0][0]

        def first_is(text, path=path, first=first):
            return put(path, lambda t: t.replace(f"A\t{first}\n", f"A{text}\n", 1))

        yield case(f"a {what} score x", first_is("\tx"), rf"{name}, line 1: 'x' is not a finite")
        yield case(f"a {what} score beyond the largest", first_is("\t1e308"), r"holds the score 1e\+308 .*multiply")
        yield case(f"one {what} score too many", put(path, lambda t: t + "A\t1\n"), r"system 'A' has 3 scores; expected 2")
    yield case("a human score None", put(SEG, lambda t: t.replace("0", "None", 1)), human=((None, -6), (-1, -7)))
    yield case("a metric score None", put(X, lambda t: t.replace("0.9", "None")), X=((None, 0.2), (0.8, 0.3)))


def _texts():
    for what, path in (("documents", DOCS), ("sources", SOURCE), ("references", REF), ("translations", OUT)):
        yield case(f"a line of {what} too many", put(path, lambda t: t + "news\tmore\n"), r"has [23] lines; expected [23]")
    yield case("a document without a domain", put(DOCS, "news one\ntwo\n"), r"line 2: expected `DOMAIN DOCUMENT`; found 'two'")
    as_json = OUT.replace(".txt", ".jsonl")

    def in_json(text):
        return lambda root: (drop(OUT)(root), write(root / as_json, text))

    yield case("texts as JSON", in_json('{"hypothesis": "Ein."}\n{"hypothesis": "Zwo."}\n'))
    yield case("texts as JSON, cut", in_json('{"hypothesis": "Ein."}\n{"hypo'), r"B\.jsonl, line 2: expected a JSON object with the field 'hypothesis'")


def _layout():
    yield case("good", lambda root: None)
    yield case("a file of a system is gone", drop(OUT), r"has no file for system 'B'")
    yield case("a system's name that leads out of the tree", climbing, r"has no file for system '\.\./\.\./\.\./secret'")
    yield case("a metric is a link to a secret",
        lambda r: (write(r.parent / "secret", "root:x:0:0\n"), link(X, "../../../secret")(r)),
        r"X-src\.seg\.score, line 1: expected `SYSTEM SCORE`")
    yield case("texts are gone", drop(SOURCE, DOCS, REF, *(f"system-outputs/{LP}/{s}.txt" for s in TEXTS), SYS), systems=("A", "B", "refA"),
        human=((0, -6), (-1, -7), (0, 0)), X=((0.9, 0.2), (0.8, 0.3), (1, 1)), translations=None, sources=None)


ERRORS = "system\tdoc\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n"
ROWS = (
    "A\td\t1\tr\tOne.\tEins.\tNo-error\tNo-error\n"
    "A\td\t2\tr\tTwo.\t<v>Zwei</v>.\tFluency/Grammar\tMinor\n"
    "B\td\t1\tr\tOne.\tEin.\tAccuracy/Omission\tMajor\n"
    "B\td\t2\tr\tTwo.\tZwo.\tOther\tMinor\n"
)
ERRORS_MEAN = {"systems": ("A", "B"), "segments": (1, 2), "human": ((0, -1), (-5, -1)), "metrics": ()}


def mqm(name, text, refused="", **meaning):
    return Case(f"MQM: {name}", file("t.tsv", text), refused, {} if refused else ERRORS_MEAN | meaning)


def _mqm():
    yield mqm("good", ERRORS + ROWS)
    yield mqm("a field too many", ERRORS + ROWS.replace("Minor\n", "Minor\tx\n"), segments=(1,), human=((0,), (-5,)))
    yield mqm("an unknown severity", ERRORS + ROWS.replace("Major", "Grave"), r"unknown severity 'grave'")
    yield mqm("two translations of one segment", ERRORS + ROWS + "A\td\t1\tr\tOne.\tAnders.\tx\tMinor\n")


TREES: tuple[Case, ...] = (*_any_file(), *_scores(), *_texts(), *_layout(), *_mqm())
