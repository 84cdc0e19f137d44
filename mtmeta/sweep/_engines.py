"""Who does the tasks: joblib's backends, or a Dask cluster."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from typing import Any

import joblib

from .._processes import parallel, uninterrupted
from ._tasks import Task, failure, perform

_KILLED = "its process was killed, even when it ran alone; most often because memory ran out"


def engine(tasks: Sequence[Task], n_jobs: int | None) -> Iterator[tuple[int, dict[str, Any]]]:
    """Do tasks with joblib's backend, and yield number and outcome of each as soon as it is there, in any order.

    If a process is killed, nobody can tell which task it was doing. The tasks abandoned with it are therefore done
    again, one at a time: a task that kills its process even then has failed, and the others continue together.
    """
    backend, _ = joblib.parallel.get_active_backend()
    on_cluster = type(backend).__name__ == "DaskDistributedBackend"
    do = partial(_by_dask, backend.client) if on_cluster else partial(_by_joblib, n_jobs)
    pending = dict(enumerate(tasks))
    while pending:
        given_up = []
        with closing(do(dict(pending))) as outcomes:
            for number, outcome in outcomes:
                if outcome is None:
                    given_up.append(number)
                else:
                    del pending[number]
                    yield number, outcome
        for number in given_up:
            ((_, outcome),) = do({number: pending.pop(number)})
            yield number, failure(_KILLED) if outcome is None else outcome


def _by_joblib(n_jobs: int | None, numbered: dict[int, Task]) -> Iterator[tuple[int, dict[str, Any] | None]]:
    """Do tasks until one kills its process, at which joblib stops. Yield None for all that were handed out."""
    n_threads = None if joblib.effective_n_jobs(n_jobs) == 1 else 1
    given = {}

    def calls() -> Iterator[Any]:
        for number, task in numbered.items():
            given[number] = None
            yield joblib.delayed(_numbered)(number, perform, task, n_threads)

    outcomes = parallel(n_jobs, calls(), batch_size=1, return_as="generator_unordered")
    try:
        for number, outcome in outcomes:
            del given[number]
            yield number, outcome
    except BrokenProcessPool:
        yield from given.items()


def _numbered(number: int, do: Any, *arguments: Any) -> tuple[int, dict[str, Any]]:
    return number, do(*arguments)


def _by_dask(client: Any, numbered: dict[int, Task]) -> Iterator[tuple[int, dict[str, Any] | None]]:
    """Do tasks on a cluster; yield None for one that Dask gave up, because its workers died one after another.

    `joblib.Parallel` would wait for such a task forever: its backend calls nobody back for a future that failed.
    """
    from distributed import KilledWorker, as_completed

    try:
        futures = client.map(perform, list(numbered.values()), n_threads=1, pure=False, batch_size=1000)
        numbers = {future.key: number for future, number in zip(futures, numbered, strict=True)}
        done = as_completed(futures)
        del futures  # so that the cluster forgets an outcome that was fetched
        for future in done:
            try:
                outcome = future.result()
            except KilledWorker:
                outcome = None
            except (CancelledError, OSError, TimeoutError):
                raise
            except Exception as error:
                outcome = failure(error)
            yield numbers[future.key], outcome
    except (CancelledError, OSError, TimeoutError):
        raise ConnectionError("the Dask scheduler is lost. What was done is stored; run again to go on.") from None


@contextmanager
def dask_backend(address: str, n_workers: int | None) -> Iterator[Any]:
    """Make a Dask cluster the backend of joblib: the one at an address, or ``"local"``, started here.

    Raises
    ------
    ValueError
        If Dask is not installed, or the cluster has no worker.
    ConnectionError
        If no scheduler answers.
    """
    try:
        import dask
        from distributed import Client, LocalCluster
        from distributed.security import Security

        security = Security.temporary() if address == "local" else None  # it needs the package cryptography
    except ImportError:
        raise ValueError("Dask, or what it needs, is not installed: pip install 'mtmeta[sweep]'.") from None
    with ExitStack() as stack:
        if address == "local":
            options: dict[str, Any] = {"n_workers": joblib.effective_n_jobs(-1 if n_workers is None else n_workers)}
            # One thread a worker, as the kernels are. A nanny replaces a worker that dies.
            options |= {"threads_per_worker": 1, "processes": True, "dashboard_address": "127.0.0.1:0"}
            # Other users of this machine can reach its ports. These want a key known here alone, and show no pages.
            options |= {"security": security, "protocol": "tls", "silence_logs": logging.CRITICAL}
            pages = {f"distributed.{who}.http.routes": [] for who in ("scheduler", "worker", "nanny")}
            # A task whose worker died is tried alone, by `engine`.
            stack.enter_context(dask.config.set({"distributed.scheduler.allowed-failures": 1, **pages}))
            with uninterrupted():
                cluster = stack.enter_context(LocalCluster(**options))
            client = stack.enter_context(Client(cluster))
        else:
            try:
                client = stack.enter_context(Client(address))
            except (OSError, ValueError, TimeoutError) as error:
                raise ConnectionError(f"no Dask scheduler answers at {address!r}: {error}") from None
            try:
                client.wait_for_workers(1, timeout=60)
            except TimeoutError:
                raise ValueError(f"the Dask cluster at {address} has no worker; start some, or scale it up.") from None
        stack.enter_context(joblib.parallel_config("dask", client=client))
        yield client
