"""Word lists, folders of data and cache, hashes, and files that are written whole or not at all.

Output files are overwritten, inputs never. The content of a folder is replaced only if a mark in it says that the same
command made it.
"""

import functools
import hashlib
import json
import os
import re
import uuid
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


def _named(variable: str) -> Path | None:
    """Return the folder that an environment variable names."""
    given = os.environ.get(variable)
    return Path(os.path.expanduser(given)) if given else None


@functools.cache
def word_lists(name: str) -> dict[str, list[str]]:
    """Return the lines of a file of word lists by section: a section starts with its name in brackets."""
    found: dict[str, list[str]] = {}
    for line in (Path(__file__).parent / "data" / "lexicon" / f"{name}.txt").read_text(encoding="utf-8").splitlines():
        if re.fullmatch(r"\[[a-z ]+\]", line):
            lines = found.setdefault(line[1:-1], [])
        elif line and not line.startswith("#"):
            lines.append(line)
    return found


def digest(content: Any) -> str:
    """Return a hash of numbers, of bytes, or of what JSON can hold."""
    content = content.tobytes() if hasattr(content, "tobytes") else content
    return hashlib.sha256(content if isinstance(content, bytes) else json.dumps(content).encode()).hexdigest()


def cache_dir() -> Path:
    """Return the cache directory: ``$MTMETA_CACHE``, or the usual place of the system."""
    if given := _named("MTMETA_CACHE"):
        return given
    with warnings.catch_warnings():  # in a notebook without ipywidgets, of a bar that is not shown
        warnings.filterwarnings("ignore", message="IProgress not found")
        from pooch import os_cache  # takes 0.1 s: only where data are looked for
    return Path(os_cache("mtmeta"))


def data_dirs() -> dict[str, Path]:
    """Return the folders to search for data, in order: the description and path of each."""
    given = _named("MTMETA_DATA")
    if given is not None and not given.is_dir():
        raise ValueError(f"$MTMETA_DATA is {str(given)!r}, which is not a directory. Correct it, or unset it.")
    found = {"$MTMETA_DATA": given, "the cache": cache_dir()}
    found["mt-metrics-eval's own folder"] = Path(os.path.expanduser("~/.mt-metrics-eval"))
    return {what: folder for what, folder in found.items() if folder is not None}


def read_bytes(path: Path) -> bytes:
    """Return the content of a file."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise ValueError(f"cannot read {path}: {error.strerror or error}.") from None


def read_text(path: Path) -> str:
    """Return the text of a UTF-8 file (a byte order mark is dropped); line ends untouched."""
    data = read_bytes(path)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise wrong_encoding(path, data[: error.start].count(b"\n") + 1, data[error.start]) from None


def wrong_encoding(path: Path | str, line: int, byte: int) -> ValueError:
    """Build the error for a file that is not UTF-8."""
    return ValueError(
        f"{path} is not UTF-8: found the byte 0x{byte:02x} at or after line {line}. "
        "Save the file as UTF-8 (it may be Latin-1, Windows-1252, GB 18030 or UTF-16 now)."
    )


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield a place to write to; at the end it becomes ``path`` in one step, or is removed if something was raised.

    The place is in the folder of ``path``, because renaming is one step only within a file system.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.parent / f".{uuid.uuid4().hex}.part"
    try:
        yield part
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def check_not_input(target: Path, inputs: Iterable[Path]) -> None:
    """Raise if writing to a target would replace an input, a file in one, or a folder that holds one."""
    for path in inputs:
        if target.exists() and path.exists():
            one, other = target.resolve(), path.resolve()
            if target.samefile(path) or one.is_relative_to(other) or other.is_relative_to(one):
                raise ValueError(
                    f"Refusing to write to {target}: it is (or contains, or is inside) the input {path}. "
                    "Choose another output path."
                )


def claim(folder: Path, mark: str) -> None:
    """Make a folder one of our own, by a file with this name in it; raise if it holds anything else already."""
    if folder.exists() and not (folder / mark).exists() and any(folder.iterdir()):
        raise ValueError(
            f"Refusing to write to {folder}: it is not empty and has no file {mark}, so an earlier call did not make "
            "it. Choose another folder, or empty this one."
        )
    folder.mkdir(parents=True, exist_ok=True)
    (folder / mark).touch()
