"""The store: one file to which outcomes are appended, each as one line, complete or not at all.

A file per task would be safe too, but a sweep has up to a hundred thousand, and folders of that size are slow to list
and to copy. Since the main process alone writes, lines cannot be mixed. Each line is on the disk before the next
begins. If the process or the machine dies within a line, the file ends without its newline: the incomplete line is cut
off when the store is opened again, and this one task is done again.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .._files import claimed

STORE = "results.jsonl"
TABLES = ("results.csv", "tasks.csv")


@dataclass
class Store:
    """The last outcome of each task, and how many lines were not readable: their tasks count as not done."""

    outcomes: dict[str, dict[str, Any]] = field(default_factory=dict)
    damaged: int = 0
    file: io.FileIO | None = None

    def append(self, key: str, outcome: dict[str, Any], about: dict[str, Any]) -> None:
        """Store the outcome of a task; it is on the disk when this returns.

        Raises
        ------
        OSError
            If it cannot be written. The file is then as it was.
        """
        record = {**about, **outcome, "task": key}
        line = json.dumps(record, default=lambda value: value.item() if hasattr(value, "item") else str(value)) + "\n"
        if self.file is not None:
            end = self.file.seek(0, os.SEEK_END)
            rest = memoryview(line.encode("ascii"))
            try:
                while rest:
                    rest = rest[self.file.write(rest) :]
                os.fsync(self.file.fileno())
            except OSError as problem:
                self.file.truncate(end)
                raise OSError(problem.errno, problem.strerror, self.file.name) from None
        self.outcomes[key] = json.loads(line)  # what a later run reads, so that both have the same


@contextmanager
def opened(folder: Path | None, *, force: bool = False) -> Iterator[Store]:
    """Lock a folder and yield its store; None keeps outcomes in memory, ``force`` replaces the files of others."""
    if folder is None:
        yield Store()
        return
    path = folder / STORE
    with claimed(folder, "sweep", (STORE, *TABLES), force=force), path.open("ab", buffering=0) as file:
        store, end = read(folder)
        file.truncate(end)
        store.file = file
        yield store


def read(folder: Path) -> tuple[Store, int]:
    """Return the content of a folder's store, and where its last whole line ends, without locking or changing it."""
    store, end = Store(), 0
    if not (folder / STORE).is_file():
        return store, end
    with (folder / STORE).open("rb") as lines:
        for line in lines:
            if not line.endswith(b"\n"):
                break
            end += len(line)
            try:
                record = json.loads(line)
                if record["status"] == "done" and not {len(record["columns"])} >= {len(row) for row in record["rows"]}:
                    raise ValueError("a row has no value for a column, or more values than columns")
                store.outcomes[record["task"]] = record
            except (ValueError, KeyError, TypeError, RecursionError):
                store.damaged += 1
    return store, end
