"""Compiled functions, whose machine code is kept on disk where that is possible."""

import functools
import logging
import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from ._files import settings_ignored

with settings_ignored():
    import numba
    from numba import prange

__all__ = ["njit", "prange"]

if os.environ.get("PYTHONSAFEPATH"):
    numba.config._config_fname = os.devnull  # Numba reads its settings again whenever it compiles

_log = logging.getLogger(__name__)


def njit(function: Callable[..., Any] | None = None, **options: Any) -> Callable[..., Any]:
    """Compile as `numba.njit` does, and keep the machine code, for this run only if no folder can be written to."""
    if function is None:
        return functools.partial(njit, **options)
    # Without a home Numba would make a folder called ~, and run what it finds in one.
    if numba.config.CACHE_DIR or os.path.isabs(os.path.expanduser("~")):
        with suppress(RuntimeError):  # no folder that Numba knows can be written to
            return numba.njit(cache=True, **options)(function)
    _folder_of_this_run()
    return numba.njit(cache=True, **options)(function)


@functools.cache
def _folder_of_this_run() -> tempfile.TemporaryDirectory:
    """Let Numba use a folder of this process and those that it starts, and say so."""
    _log.warning(
        "mtmeta: the home folder cannot be written to, so each run compiles anew, which takes some seconds; "
        "NUMBA_CACHE_DIR may name another folder."
    )
    folder = tempfile.TemporaryDirectory(prefix="mtmeta-", ignore_cleanup_errors=True)
    os.environ["NUMBA_CACHE_DIR"] = folder.name
    numba.config.reload_config()
    return folder
