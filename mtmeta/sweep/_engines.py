"""Who does the tasks: joblib's backends, or a Dask cluster."""

from __future__ import annotations

import itertools
import logging
import signal
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import joblib

from .._processes import parallel
from ._tasks import Task, failure, perform

if TYPE_CHECKING:
    from distributed import Client

#: What an engine yields: the number of a task, and its outcome.
Done = tuple[int, dict[str, Any]]
_NOT_INSTALLED = "Dask, or what it needs, is not installed; sweeps on a cluster need it: pip install 'mtmeta[sweep]'."
_KILLED = "its process was killed, even when it ran alone; most often that is for want of memory"
_NO_WORKER_AFTER = 60
_CORES_ANEW = 5.0
_LEAST_UNDER_WAY = 16


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
            yield joblib.delayed(_numbered)(perform, number, task, n_threads)

    outcomes = parallel(n_jobs, calls(), batch_size=1, return_as="generator_unordered")
    try:
        for outcome in outcomes:  # noqa: UP028 - `yield from` would close it before the warning is silenced
            yield outcome
    finally:
        with warnings.catch_warnings():  # where we stop early, it is no news that tasks were not used
            warnings.filterwarnings("ignore", r"\d+ tasks (have been|which were)", UserWarning)
            outcomes.close()


def _numbered(do: Callable[..., dict[str, Any]], number: int, task: Task, n_threads: int | None) -> Done:
    return number, do(task, n_threads)


def _alone(task: Task) -> dict[str, Any]:
    """Do one task in a process of its own."""
    try:
        with joblib.parallel_config("loky"):
            (outcome,) = parallel(2, [joblib.delayed(perform)(task, 1)], batch_size=1)
            return outcome
    except BrokenProcessPool:
        return failure(_KILLED)


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
        import dask
        from distributed import Client, LocalCluster
        from distributed.security import Security

        security = Security.temporary() if address == "local" else None  # it needs the package cryptography
    except ImportError:
        raise ValueError(_NOT_INSTALLED) from None
    if address == "local":
        options: dict[str, Any] = {"n_workers": joblib.cpu_count() if n_workers in (None, -1) else n_workers}
        # One thread a worker, as the kernels are; workers are processes under a nanny, which replaces one that dies.
        options |= {"threads_per_worker": 1, "processes": True, "dashboard_address": "127.0.0.1:0"}
        # Other users of this machine can reach its ports. These want a key that is known here alone, and show no pages.
        options |= {"security": security, "protocol": "tls"}
        pages = {f"distributed.{who}.http.routes": [] for who in ("scheduler", "worker", "nanny")}
        with (
            dask.config.set({"distributed.scheduler.allowed-failures": 1, **pages}),  # then a task is tried alone
            LocalCluster(**options, silence_logs=logging.CRITICAL) as cluster,
            Client(cluster) as client,
            joblib.parallel_config("dask", client=client),
        ):
            _leave_interrupts_to_us(client)
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


def _leave_interrupts_to_us(client: Client) -> None:
    """Let workers here ignore Ctrl-C, which a terminal sends to them too; they end when the cluster is closed."""
    from distributed import WorkerPlugin

    class Ignore(WorkerPlugin):
        def setup(self, worker: Any) -> None:
            signal.signal(signal.SIGINT, signal.SIG_IGN)

    client.register_plugin(Ignore())


def by_dask(tasks: Sequence[Task], client: Client) -> Iterator[Done]:
    """Do tasks on a Dask cluster.

    Dask gives the tasks of a worker that died to others. That is so through joblib's backend too, but `joblib.Parallel`
    waits forever for a task that Dask gives up because its workers died one after another: the backend calls nobody
    back for a future that failed. So the futures are submitted here. Dask also gives up what merely stood in line at
    these workers, so such tasks are tried again, one at a time: one that kills its workers even alone has failed.
    """
    given_up = []
    for number, outcome in _on_cluster(enumerate(tasks), client):
        if outcome is None:
            given_up.append(number)
        else:
            yield number, outcome
    for number in given_up:
        for _, outcome in _on_cluster([(number, tasks[number])], client):
            yield number, failure(_KILLED) if outcome is None else outcome


def _on_cluster(numbered: Iterable[tuple[int, Task]], client: Client) -> Iterator[tuple[int, dict[str, Any] | None]]:
    """Do tasks; yield None for one that Dask gave up. Workers that join later get their share."""
    from distributed import as_completed

    waiting = iter(numbered)
    numbers: dict[str, int] = {}
    futures = as_completed()
    room, next_look = 0, 0.0
    while True:
        if time.monotonic() >= next_look:
            room = max(_LEAST_UNDER_WAY, 4 * sum(_ask(client.ncores).values()))
            next_look = time.monotonic() + _CORES_ANEW
        for number, task in itertools.islice(waiting, max(room - len(numbers), 0)):
            key = f"{task.statistic}-{task.id}-{uuid4().hex}"
            futures.add(client.submit(perform, task, 1, key=key, pure=False))
            numbers[key] = number
        if not numbers:
            return
        future = next(futures)
        try:
            outcome = _ask(future.result)
        except ConnectionError:
            raise
        except Exception as error:
            outcome = None if type(error).__name__ == "KilledWorker" else failure(error)
        yield numbers.pop(future.key), outcome


def _ask(question: Callable[[], Any]) -> Any:
    """Return what the scheduler answers; raise ConnectionError if it is gone."""
    try:
        return question()
    except (CancelledError, OSError, TimeoutError):
        raise ConnectionError("the Dask scheduler is lost. What was done is stored; run again to go on.") from None
