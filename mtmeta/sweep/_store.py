"""The store: one file to which outcomes are appended, each in one line that is there whole or not at all.

A file per task would be safe too, but a sweep has up to a hundred thousand, and folders of that size are slow to list
and to copy. Only the main process writes, so a line cannot be mixed with another. A line is on the disk before the next
is begun. If the process or the machine dies within a line, the file ends without its newline: the rest of it is cut off
when the store is opened again, and this one task is done again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any

from .._files import claimed

STORE = "results.jsonl"
TABLES = ("results.csv", "tasks.csv")


class Store:
    """Outcomes by task; open it with ``with``.

    Parameters
    ----------
    folder : Path, optional
        Where the file is; None keeps outcomes in memory.
    force : bool
        Whether to take what others have left in the folder.

    Attributes
    ----------
    outcomes : dict
        The last outcome of each task.
    damaged : int
        How many lines were not readable. Their tasks count as not done.
    """

    def __init__(self, folder: Path | None, *, force: bool = False) -> None:
        self.path = None if folder is None else folder / STORE
        self.outcomes: dict[str, dict[str, Any]] = {}
        self.damaged = 0
        self._force = force
        self._file: int | None = None
        self._end = 0
        self._open = ExitStack()

    def __enter__(self) -> Store:
        """Take the folder, open the file, and read what is there."""
        if self.path is None:
            return self
        with ExitStack() as stack:
            stack.enter_context(claimed(self.path.parent, "sweep", (STORE, *TABLES), force=self._force))
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
            stack.callback(os.close, self._file)
            self._end, self.damaged, self.outcomes = _read(self.path)
            os.ftruncate(self._file, self._end)
            _sync_folder(self.path.parent)
            self._open = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file and give the lock back; the system does both where the process is killed."""
        self._open.close()
        self._file = None

    def append(self, key: str, outcome: dict[str, Any], about: dict[str, Any]) -> None:
        """Store the outcome of a task, on the disk when this returns.

        Raises
        ------
        OSError
            If it cannot be written. The file is then as it was.
        """
        line = json.dumps({**about, **outcome, "task": key}, ensure_ascii=True, default=_plain) + "\n"
        outcome = json.loads(line)  # what a later run reads, so that both have the same
        if self._file is not None:
            data = line.encode("ascii")
            try:
                os.lseek(self._file, self._end, os.SEEK_SET)
                rest = memoryview(data)
                while rest:
                    rest = rest[os.write(self._file, rest) :]
                os.fsync(self._file)
            except OSError as problem:
                os.ftruncate(self._file, self._end)
                raise OSError(problem.errno, problem.strerror, str(self.path)) from None
            self._end += len(data)
        self.outcomes[key] = outcome


def read_outcomes(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the last outcome of each task in a folder, without locking or changing it."""
    path = folder / STORE
    return _read(path)[2] if path.is_file() else {}


def _read(path: Path) -> tuple[int, int, dict[str, dict[str, Any]]]:
    """Return where the last whole line ends, how many lines are damaged, and the outcomes."""
    end = damaged = 0
    outcomes = {}
    for line in _lines(path):
        if not line.endswith(b"\n"):
            break
        end += len(line)
        record = _record(line)
        if record is None:
            damaged += 1
        else:
            outcomes[record["task"]] = record
    return end, damaged, outcomes


def _lines(path: Path) -> Iterator[bytes]:
    with path.open("rb") as stream:
        yield from stream


def _record(line: bytes) -> dict[str, Any] | None:
    """Return the record of a line; None if it is damaged."""
    try:
        record = json.loads(line)
        if record["status"] == "done":
            width = len(record["columns"])
            whole = all(isinstance(row, list) and len(row) == width for row in record["rows"])
        else:
            whole = record["status"] == "failed" and isinstance(record["reason"], str)
        return record if whole and isinstance(record["task"], str) else None
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _plain(value: Any) -> Any:
    """Return a value of numpy as one of Python."""
    if hasattr(value, "item"):
        return value.item()
    return str(value)


def _sync_folder(folder: Path) -> None:
    """Put the name of a new file on the disk, where the system can."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
