"""Compiled functions, whose machine code is kept on disk where a folder can be written to."""

import functools
import os
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numba
from numba import prange

__all__ = ["njit", "prange"]


def njit(function: Callable[..., Any] | None = None, *, parallel: bool = False) -> Callable[..., Any]:
    """Compile as `numba.njit` does, and keep the machine code; without a folder for it, each run compiles anew."""
    if function is None:
        return functools.partial(njit, parallel=parallel)
    # Without a home Numba would make a folder called ~ here.
    if numba.config.CACHE_DIR or os.path.isabs(os.path.expanduser("~")):
        with suppress(RuntimeError):  # no folder that Numba knows can be written to
            return numba.njit(cache=True, parallel=parallel)(function)
    return numba.njit(parallel=parallel)(function)
