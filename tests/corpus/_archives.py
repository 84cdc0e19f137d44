# ruff: noqa: E501 - the name of a case and what must come of it stay in one place
# fmt: off
"""Archives, pickles and saved sentinels: what is unpacked or read back must not run, climb or swell."""

import functools
import io
import json
import math
import os
import pickle
import tempfile
import zipfile
from functools import partial
from pathlib import Path

import pandas as pd
from trees import write

from mtmeta import sentinel
from mtmeta.datasets._fetch import _convert
from mtmeta.datasets._pickles import read_scores_pickle
from mtmeta.datasets._registry import DataFile

from ._case import Case


class _Calls:
    """A pickle of it calls a function when it is read."""

    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


def _pickle(name, raw, refused="", meaning=None):
    return Case(f"pickle: {name}", lambda folder: raw, refused, {"value": meaning}, read_scores_pickle, None)



def _pickles():
    refused = r"is refused, and nothing in it was run: {}"
    imports = refused.format("it asks to import")
    other = r"does not hold \{system: \[score"
    yield _pickle("good", pickle.dumps({"A": [0.5, 1.0], "B": [0.25, 0.0]}), "", {"A": [0.5, 1.0], "B": [0.25, 0.0]})
    yield _pickle("runs a program", pickle.dumps(_Calls(os.system, "touch canary")), imports)
    yield _pickle("runs a program by INST", b"(S'touch canary'\nios\nsystem\n.", imports)
    yield _pickle("cut", pickle.dumps({"A": [0.5] * 99})[:-20], refused.format(""))
    yield _pickle("of unequal lengths", pickle.dumps({"A": [1.0], "B": [1.0, 2.0]}), other)
    yield _pickle("holds infinity", pickle.dumps({"A": [float("inf")]}), r"holds a score that is not finite")


def _zip(name, raw, refused="", size=4):
    member = DataFile("folder/t.txt", "0" * 64, size, "http://x", "member:t.txt")

    read = partial(_convert, file=member)
    return Case(f"zip: {name}", lambda folder: raw() if callable(raw) else raw, refused, {"value": b"good"}, read, None)


def _zipped(*members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in members:
            archive.writestr(name, content)
    return out.getvalue()


def _zips():
    wrong = r"folder/t\.txt: http://x gives no zip archive with a member 't\.txt'"
    yield _zip("beside members that climb", _zipped(("../../canary", b"x"), ("/tmp/canary", b"x"), ("t.txt", b"good")))
    yield _zip("no such member", _zipped(("u.txt", b"good")), wrong)


@functools.cache
def _saved():
    frame = pd.DataFrame({"source": [f"text {k} of twelve" for k in range(12)], "human": range(12)})
    with tempfile.TemporaryDirectory() as folder:
        sentinel.fit(frame, sees="source").save(folder)
        return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


CARD = "sentinel.json"


def _sentinel(name, file, change, refused=""):
    """Return a case of a saved sentinel, one file of which is changed, replaced, or gone."""

    def make(folder):
        for path, content in _saved().items():
            content = content if path != file else change(content) if callable(change) else change
            if content is not None:
                write(folder / "s" / path, content)
        return folder / "s"

    command = ("sentinel", "score", "{}", "teaching")
    return Case(f"sentinel: {name}", make, refused, {"value": "light"}, lambda saved: sentinel.load(saved).kind, command)


def _card(change):
    """Return what changes the card."""

    def changed(raw):
        card = json.loads(raw)
        change(card)
        return json.dumps(card).encode()

    return changed


def _sentinels():
    damaged = r"the light sentinel in it is damaged"
    yield _sentinel("good", CARD, lambda card: card)
    yield _sentinel("no card", CARD, None, r"contains no sentinel: sentinel\.json is missing")
    yield _sentinel("a card that is a pickle", CARD, pickle.dumps(_Calls(eval, "1")), r"sentinel\.json is damaged")
    for name, change, refused in (
        ("without settings", lambda card: card.update(config=None), damaged),
        ("an n-gram too few", lambda card: card["ngrams"].pop(), damaged),
        ("infinite weights", lambda card: card.update(shape_weights=[math.inf] * 6), damaged),
    ):
        yield _sentinel(name, CARD, _card(change), refused)


ARCHIVES: tuple[Case, ...] = (*_pickles(), *_zips(), *_sentinels())
