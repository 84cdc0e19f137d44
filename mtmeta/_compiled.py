"""Compiled functions, whose machine code is kept on disk where a folder can be written to."""

import functools
import os
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numba
from numba import prange

__all__ = ["njit", "prange"]

#: Whether this process was forked: GNU OpenMP, which runs parallel kernels, ends a child whose parent has used it.
_forked = False


def _note_fork() -> None:
    global _forked
    _forked = True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_note_fork)


def njit(function: Callable[..., Any] | None = None, *, parallel: bool = False) -> Callable[..., Any]:
    """Compile as `numba.njit` does, and keep the machine code; without a folder for it, each run compiles anew.

    A parallel function runs in one thread, with the same result, in a process that was forked.
    """
    if function is None:
        return functools.partial(njit, parallel=parallel)
    if not parallel:
        return _compiled(function)
    # Without a cache: Numba would take the machine code of the parallel function for it.
    alone, together = numba.njit(function), _compiled(function, parallel=True)

    @functools.wraps(function)
    def run(*arguments: Any) -> Any:
        return (alone if _forked else together)(*arguments)

    return run


def _compiled(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    # Without a home Numba would make a folder called ~ here.
    if numba.config.CACHE_DIR or os.path.isabs(os.path.expanduser("~")):
        with suppress(RuntimeError):  # no folder that Numba knows can be written to
            return numba.njit(cache=True, **options)(function)
    return numba.njit(**options)(function)
