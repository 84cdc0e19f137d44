"""Word lists, folders of data and cache, and files that are written whole or not at all.

The place that a user names may already exist. A file is replaced only if a note in the cache says that mtmeta wrote it
and nobody has changed it since. The content of a folder is replaced only if a mark in it says that the same command
made it. Commands never replace their inputs.
"""

import functools
import hashlib
import os
import re
import time
import uuid
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, chdir, contextmanager, suppress
from pathlib import Path

_PART = re.compile(r"\.[0-9a-f]{32}\.part")
_STALE = 86_400  # seconds after which nobody writes to an unfinished file any more


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


def cache_dir() -> Path:
    """Return the cache directory: ``$MTMETA_CACHE``, or the usual place of the system.

    A user without a home gets the null device, which holds nothing and cannot be written to.
    """
    given = _named("MTMETA_CACHE")
    if given:
        return given
    from platformdirs import user_cache_dir

    with suppress(RuntimeError):  # older releases return a relative path
        usual = Path(user_cache_dir("mtmeta"))
        if usual.is_absolute():
            return usual
    return Path(os.devnull)


def data_dirs() -> dict[str, Path]:
    """Return the folders to search for data, in order: the description and path of each."""
    home = Path(os.path.expanduser("~"))
    found = {"$MTMETA_DATA": _named("MTMETA_DATA"), "the cache": cache_dir()}
    if home.is_absolute():
        found["mt-metrics-eval's own folder"] = home / ".mt-metrics-eval"
    return {what: folder for what, folder in found.items() if folder is not None}


@contextmanager
def settings_ignored() -> Iterator[None]:
    """Hide settings in the working folder from modules imported meanwhile, if Python, too, must not import from it."""
    with ExitStack() as stack:
        if os.environ.get("PYTHONSAFEPATH"):
            with suppress(FileNotFoundError):  # the working folder was removed
                stack.enter_context(chdir(Path(__file__).parent))
        yield


def read_bytes(path: Path) -> bytes:
    """Return the content of a file."""
    if path.exists() and not path.is_file():  # to open a pipe would wait for ever
        raise ValueError(f"cannot read {path}: it is no regular file.")
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
def unfinished(folder: Path) -> Iterator[Path]:
    """Yield a name in a folder that no other process uses; remove at the end any file left there."""
    folder.mkdir(parents=True, exist_ok=True)
    part = folder / f".{uuid.uuid4().hex}.part"
    try:
        yield part
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield a place to write to; at the end it becomes ``path`` in one step, or is removed if something was raised.

    The place is in the folder of ``path``, because renaming is one step only within a file system. Unfinished files
    that killed processes left there a day or longer ago are deleted, once in a process.
    """
    with unfinished(path.parent) as part:
        yield part
        os.replace(part, path)
    _tidy_once(path.parent.absolute())


def tidy(folder: Path) -> None:
    """Delete the unfinished files in a folder that were last written to a day or longer ago.

    A process that still writes to one fails when it renames the file; no partial file gets a name.
    """
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            with suppress(OSError):
                if _PART.fullmatch(entry.name) and time.time() - entry.stat(follow_symlinks=False).st_mtime > _STALE:
                    os.unlink(entry.path)


_tidy_once = functools.cache(tidy)


def keep(inputs: Iterable[Path], target: Path) -> None:
    """Refuse to replace an input, a file in one, or a folder that holds one, under any name."""
    for path in inputs:
        if not (target.exists() and path.exists()):
            continue
        if _within(path, target) or (target.is_file() and _within(target, path)):
            raise ValueError(
                f"{target} is left as it is: it is, holds or lies in {path}, which is an input, and no input is "
                "replaced. Name another place to write to."
            )


def _within(path: Path, outer: Path) -> bool:
    return any(os.path.samefile(one, outer) for one in (path, *path.resolve().parents) if one.exists())


def is_own(path: Path) -> bool:
    """Tell whether a file is empty, or what `noted` wrote there."""
    return not path.stat().st_size or _note(path, path).exists()


def _note(path: Path, content: Path) -> Path:
    """Return the file in the cache that says that a file with a content was written to a path."""
    with content.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256")
    digest.update(os.fsencode(path.resolve()))
    return cache_dir() / "written" / digest.hexdigest()


@contextmanager
def noted(path: Path) -> Iterator[Path]:
    """Write as `whole_file` does, and note it in the cache, if there is one, so that `is_own` knows the file."""
    old = _note(path, path) if path.exists() else None
    with whole_file(path) as part:
        yield part
        note = _note(path, part)
        with suppress(OSError):
            note.parent.mkdir(parents=True, exist_ok=True)
            note.touch()
    if old not in (None, note):
        with suppress(OSError):
            old.unlink(missing_ok=True)


@contextmanager
def claimed(folder: Path, what: str, makes: Iterable[str], *, force: bool = False) -> Iterator[None]:
    """Lock a folder for one command: no other may write there meanwhile, and the command owns what it makes.

    Parameters
    ----------
    folder : Path
        It is created if it does not exist, and gets a mark that stays.
    what : str
        The command.
    makes : iterable of str
        The names that the command makes in the folder. If there is no mark, none of them may exist.
    force : bool
        Whether to treat existing files of these names as its own.

    Raises
    ------
    ValueError
        If others have made something of that name, or another process has locked the folder.
    """
    import portalocker

    mark = folder / f".mtmeta-{what}"
    others = [] if force or mark.exists() else [name for name in makes if os.path.lexists(folder / name)]
    if others:
        raise ValueError(
            f"{folder} holds {', '.join(others)}, which no {what} has made. It is left as it is. Name another folder; "
            "on the command line, --force replaces what is there."
        )
    folder.mkdir(parents=True, exist_ok=True)
    flags = portalocker.LockFlags.EXCLUSIVE | portalocker.LockFlags.NON_BLOCKING
    lock = portalocker.Lock(mark, flags=flags, fail_when_locked=True)
    try:
        lock.acquire()
    except portalocker.LockException:
        raise ValueError(f"another {what} is writing to {folder}. Wait for it, or choose another folder.") from None
    try:
        yield
    finally:
        lock.release()
