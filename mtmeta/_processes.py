"""Processes that do a share of the work: they end when this one ends, however it ends, and leave Ctrl-C to it."""

import os
import runpy
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from contextlib import contextmanager, nullcontext
from multiprocessing import active_children, get_context
from typing import Any

_LOOK_EVERY = 0.5


def end_with(parent: int) -> None:
    """Begin a process that another one has started: end it when that one has ended, and ignore Ctrl-C.

    Otherwise a process of joblib waits five minutes for another task, and one of a pool for ever. When a process ends,
    the system gives its children another parent; Windows does not, so nothing is watched there.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if os.name == "posix":
        threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_LOOK_EVERY)
    os._exit(1)


def _start_tracker() -> None:
    """Start the process that tracks semaphores; it does not warn of those that killed processes leave."""
    from multiprocessing import resource_tracker

    sys.warnoptions.append("ignore:resource_tracker:UserWarning")
    try:
        resource_tracker.ensure_running()
    finally:
        sys.warnoptions.pop()


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Let processes that are started here ignore Ctrl-C from their first moment; this process gets it afterwards."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    _start_tracker()  # which lets the signal through again when it starts its process
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def parallel(n_jobs: int | None, calls: Iterable[Any], *, return_as: str = "generator", **options: Any) -> Any:
    """Return an iterator over the results of joblib's delayed calls."""
    from joblib import Parallel, effective_n_jobs

    with uninterrupted() if effective_n_jobs(n_jobs) > 1 else nullcontext():
        return Parallel(n_jobs, return_as=return_as, initializer=end_with, initargs=(os.getpid(),), **options)(calls)


def hush_joblib() -> None:
    """Keep an interrupt to one line: joblib warns of tasks that it gave up, and its thread may fail to find them."""

    def tell(failure: threading.ExceptHookArgs) -> None:
        if (failure.exc_type, getattr(failure.thread, "name", "")) != (KeyError, "ExecutorManagerThread"):
            threading.__excepthook__(failure)

    threading.excepthook = tell
    warnings.filterwarnings("ignore", r"\d+ tasks (have been|which were)", UserWarning)


def in_processes(function: Callable[..., Any], calls: Mapping[Any, tuple], jobs: int) -> Iterator[tuple[Any, Future]]:
    """Make calls in fresh processes; yield each when it is done.

    Closing the iterator before its end kills the processes, whose work takes minutes; so close it. Their temporary
    files are in a folder that is removed at the end.
    """
    _start_tracker()
    others = set(active_children())
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        pool = ProcessPoolExecutor(jobs, get_context("spawn"), initializer=_begin, initargs=(os.getpid(), folder))
        try:
            with uninterrupted():
                running = {pool.submit(function, *call): key for key, call in calls.items()}
            for task in as_completed(running):
                yield running[task], task
        except BaseException:
            for process in set(active_children()) - others:
                process.kill()
            raise
        finally:
            pool.shutdown(cancel_futures=True)


def _begin(parent: int, folder: str) -> None:
    end_with(parent)
    tempfile.tempdir = folder


def run_program(program: str, *arguments: str, **options: Any) -> subprocess.CompletedProcess:
    """Run a program written in Python to its end, as `subprocess.run` does, in a process that ends with this one.

    It is in a group of its own, which Ctrl-C does not reach.
    """
    command = [sys.executable, "-P", "-m", __name__, str(os.getpid()), program, *arguments]
    return subprocess.run(command, check=False, process_group=0, **options)


if __name__ == "__main__":
    end_with(int(sys.argv[1]))
    sys.argv = sys.argv[2:]
    runpy.run_path(sys.argv[0], run_name="__main__")
