"""Who does the tasks: joblib's backends, or a Dask cluster."""

from __future__ import annotations

import itertools
import logging
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import joblib

from ._tasks import Task, failure, perform

if TYPE_CHECKING:
    from distributed import Client

#: What an engine yields: the number of a task, and its outcome.
Done = tuple[int, dict[str, Any]]
_NOT_INSTALLED = "Dask is not installed; sweeps on a cluster need it: pip install 'mtmeta[sweep]'."
_NO_WORKER_AFTER = 60
_CORES_ANEW = 5.0


def engine(tasks: Sequence[Task], n_jobs: int | None) -> Iterator[Done]:
    """Do tasks with the backend that is set, and yield each outcome as soon as it is there, in any order."""
    backend, _ = joblib.parallel.get_active_backend()
    if type(backend).__name__ == "DaskDistributedBackend":
        return by_dask(tasks, backend.client)
    return by_joblib(tasks, n_jobs)


# -- joblib ------------------------------------------------------------------------------


def by_joblib(tasks: Sequence[Task], n_jobs: int | None) -> Iterator[Done]:
    """Do tasks with joblib.

    If a process is killed, joblib stops, and cannot tell whose task it was. Those that were under way are then done one
    at a time: one that kills its process even alone has failed, and the others go on together.
    """
    pending = dict(enumerate(tasks))
    while pending:
        given: list[int] = []
        try:
            for number, outcome in _in_parallel(pending, given, n_jobs):
                del pending[number]
                yield number, outcome
        except BrokenProcessPool:
            for number in [k for k in given if k in pending]:
                yield number, _alone(pending.pop(number))


def _in_parallel(pending: dict[int, Task], given: list[int], n_jobs: int | None) -> Iterator[Done]:
    """Do tasks, and note in ``given`` which were handed out."""
    n_threads = None if joblib.effective_n_jobs(n_jobs) == 1 else 1

    def calls() -> Iterator[Any]:
        for number, task in list(pending.items()):
            given.append(number)
            yield joblib.delayed(_numbered)(number, task, n_threads)

    return joblib.Parallel(n_jobs, batch_size=1, return_as="generator_unordered")(calls())


def _numbered(number: int, task: Task, n_threads: int | None) -> Done:
    return number, perform(task, n_threads)


def _alone(task: Task) -> dict[str, Any]:
    """Do one task in a process of its own."""
    try:
        with joblib.parallel_config("loky"):
            return joblib.Parallel(2, batch_size=1)([joblib.delayed(perform)(task, 1)])[0]
    except BrokenProcessPool:
        return failure("its process was killed, even when it ran alone; most often that is for want of memory")


# -- Dask --------------------------------------------------------------------------------


@contextmanager
def dask_backend(address: str, n_workers: int | None) -> Iterator[Client]:
    """Make a Dask cluster the backend of joblib: the one at an address, or ``"local"``, started here.

    Raises
    ------
    ValueError
        If Dask is not installed, or the cluster has no worker.
    ConnectionError
        If no scheduler answers.
    """
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise ValueError(_NOT_INSTALLED) from None
    if address == "local":
        options: dict[str, Any] = {"n_workers": joblib.cpu_count() if n_workers in (None, -1) else n_workers}
        # One thread a worker, as the kernels are; workers are processes under a nanny, which replaces one that dies.
        options |= {"threads_per_worker": 1, "processes": True, "dashboard_address": None}
        with (
            LocalCluster(**options, silence_logs=logging.CRITICAL) as cluster,
            Client(cluster) as client,
            joblib.parallel_config("dask", client=client),
        ):
            yield client
        return
    try:
        client = Client(address)
    except (OSError, ValueError, TimeoutError) as error:
        raise ConnectionError(f"no Dask scheduler answers at {address!r}: {error}") from None
    with client:
        try:
            client.wait_for_workers(1, timeout=_NO_WORKER_AFTER)
        except TimeoutError:
            raise ValueError(f"the Dask cluster at {address} has no worker; start some, or scale it up.") from None
        with joblib.parallel_config("dask", client=client):
            yield client


def by_dask(tasks: Sequence[Task], client: Client) -> Iterator[Done]:
    """Do tasks on a Dask cluster.

    Dask gives the tasks of a worker that died to others. That is so through joblib's backend too, but `joblib.Parallel`
    waits forever for a task that Dask gives up because it killed one worker after another: the backend calls nobody
    back for a future that failed. So the futures are submitted here, and such a task fails alone. Workers that
    join later get their share.
    """
    from distributed import as_completed
    from distributed.comm import CommClosedError

    waiting = iter(enumerate(tasks))
    numbers: dict[str, int] = {}
    futures = as_completed()
    room, next_look = 0, 0.0
    while True:
        if time.monotonic() >= next_look:
            room = max(16, 4 * sum(client.ncores().values()))
            next_look = time.monotonic() + _CORES_ANEW
        for number, task in itertools.islice(waiting, max(room - len(numbers), 0)):
            future = client.submit(perform, task, 1, key=f"{task.statistic}-{task.id}-{time.time_ns()}", pure=False)
            numbers[future.key] = number
            futures.add(future)
        if not numbers:
            return
        future = next(futures)
        number = numbers.pop(future.key)
        try:
            outcome = future.result()
        except (CancelledError, CommClosedError, OSError):
            raise ConnectionError("the Dask scheduler is lost; what was done is stored.") from None
        except Exception as error:
            outcome = _given_up(error)
        yield number, outcome


def _given_up(error: Exception) -> dict[str, Any]:
    """Return the outcome of a task that no worker could do."""
    if type(error).__name__ == "KilledWorker":
        return failure("it killed one worker after another; most often that is for want of memory")
    return failure(error)
