"""Where the cache lies, and files that are there whole or not at all."""

from __future__ import annotations

import functools
import os
import re
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_PART = re.compile(r"\.[0-9a-f]{32}\.part")
_STALE = 86_400  # seconds after which nobody writes to an unfinished file any more


def cache_dir() -> Path:
    """Return the cache directory: ``$MTMETA_CACHE``, else the usual place of the system."""
    given = os.environ.get("MTMETA_CACHE")
    if given:
        return Path(given).expanduser()
    from platformdirs import user_cache_dir

    return Path(user_cache_dir("mtmeta"))


@contextmanager
def unfinished(folder: Path) -> Iterator[Path]:
    """Yield a name in a folder that no other process uses; what is left there is removed at the end."""
    folder.mkdir(parents=True, exist_ok=True)
    part = folder / f".{uuid.uuid4().hex}.part"
    try:
        yield part
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield a place to write to; at the end it becomes ``path`` in one step, or is removed if something was raised.

    The place is in the folder of ``path``, since only within a file system is a renaming one step. What processes
    that were killed left there a day or longer ago is removed, once in a process: it would never be removed else.
    """
    with unfinished(path.parent) as part:
        yield part
        os.replace(part, path)
    _tidy_once(path.parent.absolute())


def tidy(folder: Path) -> None:
    """Remove the unfinished files in a folder that were last written to a day or longer ago.

    A process that still wrote to one would fail when it gives it its name; it cannot give a name to half a file.
    """
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            with suppress(OSError):
                if _PART.fullmatch(entry.name) and time.time() - entry.stat(follow_symlinks=False).st_mtime > _STALE:
                    os.unlink(entry.path)


_tidy_once = functools.cache(tidy)
