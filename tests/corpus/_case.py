"""What a case is."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from mtmeta.datasets import load_all


@dataclass(frozen=True)
class Case:
    """How files are made in an empty folder, what reads them, and the ``meaning`` by name of a fact, or the refusal."""

    name: str
    make: Callable[[Path], Any]
    refused: str = ""
    meaning: Mapping[str, Any] = field(default_factory=dict)
    read: Callable[[Any], Any] = load_all
    command: tuple[str, ...] | None = ("validate", "{}")

    def line(self, argument):
        return [str(argument) if word == "{}" else word for word in self.command]


def plain(values):
    """Return an array as nested tuples, with None for NaN."""
    if isinstance(values, np.ndarray):
        return tuple(plain(v) for v in values)
    return None if values != values else float(values)


def facts(sets):
    """Return what a case may state about one set that was loaded."""
    (es,) = sets
    texts = es.texts
    return {
        "systems": es.systems, "segments": es.segments, "human": plain(es.human), "metrics": es.metrics,
        "X": plain(es["X"]) if "X" in es else None, "language_pair": es.language_pair, "documents": es.documents,
        "sources": texts and texts.sources, "translations": texts and tuple(texts.translations.values()),
    }  # fmt: skip


def snapshot(folder):
    """Return everything below a folder: what links point at, and the content and time of change of files."""
    found: dict[str, Any] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            found[name] = os.readlink(path)
        elif path.is_file():
            state = path.stat()
            found[name] = (state.st_size, state.st_mtime_ns)
        else:
            found[name] = "folder" if path.is_dir() else "other"
    return found
