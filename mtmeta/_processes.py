"""Processes that do a share of the work."""

import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from multiprocessing import active_children, get_context, parent_process
from typing import Any


def parallel(n_jobs: int | None, calls: Iterable[Any], *, return_as: str = "generator", **options: Any) -> Any:
    """Return an iterator over the results of joblib's delayed calls."""
    from joblib import Parallel

    return Parallel(n_jobs, return_as=return_as, **options)(calls)


def in_processes(function: Callable[..., Any], calls: Mapping[Any, tuple], jobs: int) -> Iterator[tuple[Any, Future]]:
    """Make calls in fresh processes; yield each when it is done.

    Closing the iterator before its end kills the processes, whose work takes minutes; so close it.
    """
    others = set(active_children())
    pool = ProcessPoolExecutor(jobs, get_context("spawn"), initializer=_begin)
    try:
        running = {pool.submit(function, *call): key for key, call in calls.items()}
        for task in as_completed(running):
            yield running[task], task
    except BaseException:
        for process in set(active_children()) - others:
            process.kill()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _begin() -> None:
    """Leave Ctrl-C to the first process, and end when it has ended; otherwise a process waits for ever."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=lambda: (parent_process().join(), os._exit(1)), daemon=True).start()
