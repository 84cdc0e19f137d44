"""Where the cache lies, and files that are there whole or not at all."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def cache_dir() -> Path:
    """Return the cache directory: ``$MTMETA_CACHE``, else the usual place of the system."""
    given = os.environ.get("MTMETA_CACHE")
    if given:
        return Path(given).expanduser()
    from platformdirs import user_cache_dir

    return Path(user_cache_dir("mtmeta"))


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield a place to write to; at the end it becomes ``path`` in one step, or is removed if something was raised.

    The place is in the folder of ``path``, under a name that no other process uses.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{uuid.uuid4().hex}.part")
    try:
        yield part
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
