"""Killed at any moment, on a full disk, beside another process: what is there is whole, and the next call ends it.

Each job writes files. It is done in a child process that is killed at its first, second, third, ... access to the file
system, until one child lives to the end. After each, the parent does the job in the same folder, and must get what it
gets in an empty one.
"""

import functools
import os
import resource
import signal
import sys
import time

import numpy as np
import pytest
from test_fetch import FILES, WHOLE, registry, serve, server  # noqa: F401  fixtures are names
from typer.testing import CliRunner

import mtmeta as mm
from mtmeta.cli import app

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
#: Audit events that change or read the file system.
EVENTS = frozenset(
    ("open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.truncate", "os.utime", "os.chmod", "shutil.rmtree")
)


def forked(job):
    """Do a job in a child process; return its exit status, or the negated signal that ended it."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            job()
            status = 0
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def killed_at(moment, folder, job):
    """Return a job that is killed at its n-th access to a file below a folder."""

    def doomed():
        left = [moment]

        def hook(event, arguments):
            if event in EVENTS and str(folder) in str(arguments):
                left[0] -= 1
                if left[0] == 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(hook)
        job()

    return doomed


def limited(size, job):
    """Return a job that cannot write a file beyond a size, as on a full disk."""

    def full():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        job()

    return full


def unprivileged(job):
    """Return a job that may write nothing that others have not opened to it."""

    def nobody():
        if os.getuid() == 0:
            os.setgid(65534)
            os.setuid(65534)
        job()

    return nobody


@functools.cache
def small():
    es = mm.load("teaching")
    return es.select(systems=es.systems[:3], segments=es.segments[:40])


def counted(folder):
    """Count words into the cache."""
    os.environ["MTMETA_CACHE"] = str(folder)
    return mm.aggregation.extract(small(), "bleu").counts


def swept(folder):
    """Run a sweep into a folder."""
    statistics = [{"correlate": {"grouping": ["none", "segment"]}}]
    plan = {"sets": ["teaching"], "metrics": ["BLEU", "chrF"], "statistics": statistics}
    return mm.sweep.run(plan, folder / "out", n_jobs=1).tables["correlate"].to_numpy(dtype=object)


@functools.cache
def trained():
    """Return a sentinel and the texts it was trained on."""
    frame = small().to_frame()
    return mm.sentinel.fit(frame, sees="source", kind="light"), frame["source"].tolist()


def saved(folder):
    """Save a sentinel, load it, and score with it."""
    sentinel, texts = trained()
    sentinel.save(folder / "sentinel")
    return mm.sentinel.load(folder / "sentinel").score(texts)


def written(folder):
    """Write a table of results as the command line does."""
    command = ["correlate", "teaching", "--metric", "BLEU", "-o", str(folder / "t.csv")]
    assert CliRunner().invoke(app, command).exit_code == 0
    return (folder / "t.csv").read_text()


JOBS = [counted, swept, saved, written]
#: The first goes with every change.
by_job = pytest.mark.parametrize(
    "job", [pytest.param(job, id=job.__name__, marks=[pytest.mark.slow] * (job is not counted)) for job in JOBS]
)


def check(job, folder, expected):
    """Do a job in a folder that may hold what an interrupted one left; it must give what it gives in an empty one."""
    found = job(folder)
    assert np.array_equal(found, expected, equal_nan=isinstance(found, np.ndarray) and found.dtype.kind == "f")


@pytest.fixture
def expected(job, tmp_path, monkeypatch):
    monkeypatch.setenv("MTMETA_CACHE", "")  # put back at the end
    (tmp_path / "empty").mkdir()
    return job(tmp_path / "empty")


@by_job
def test_killed_at_any_access_to_a_file(job, expected, tmp_path):
    moments = 0
    for moment in range(1, 200):
        folder = tmp_path / f"{moment}"
        folder.mkdir()
        if moment % 2:  # every other time there is a finished result to write over
            job(folder)
        status = forked(killed_at(moment, folder, lambda folder=folder: job(folder)))
        check(job, folder, expected)
        if status == 0:
            break
        assert status == -signal.SIGKILL
        moments += 1
    assert status == 0
    assert moments >= 2


def state(folder, texts, known):
    """Return which of the known sentinels a folder holds, by its scores; or what is said of the folder."""
    try:
        found = mm.sentinel.load(folder).score(texts).tolist()
    except ValueError as error:
        return str(error).partition(": ")[2]
    return next(name for name, scores in known.items() if scores == found)


@pytest.mark.slow
def test_a_sentinel_written_over_another_is_never_half_of_each(tmp_path):
    frame = small().to_frame()
    halves = [mm.sentinel.fit(frame[frame.system == name], sees="source", kind="light") for name in ("Aster", "Basalt")]
    texts = frame["source"].unique().tolist()
    old, new = (sentinel.score(texts).tolist() for sentinel in halves)
    assert old != new
    kinds = set()
    for moment in range(1, 200):
        folder = tmp_path / f"{moment}"
        halves[0].save(folder)
        status = forked(killed_at(moment, folder, lambda folder=folder: halves[1].save(folder)))
        kinds.add(state(folder, texts, {"old": old, "new": new}))
        if status == 0:
            break
    assert kinds == {"old", "saving was interrupted. Save the sentinel again.", "new"}


@by_job
@pytest.mark.parametrize("size", [0, 1, 100, 1000])
def test_full_disk(job, expected, size, tmp_path):
    forked(limited(size, lambda: job(tmp_path)))
    check(job, tmp_path, expected)


@pytest.mark.parametrize("job", [counted], ids=["counted"])
def test_a_cache_that_cannot_be_written_is_done_without(job, expected, tmp_path):
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o555)
    tmp_path.chmod(0o755)
    assert forked(unprivileged(lambda: check(job, folder, expected))) == 0
    assert list(folder.iterdir()) == []


@by_job
def test_two_processes_in_one_folder(job, expected, tmp_path):
    children = []
    for _ in range(3):
        pid = os.fork()
        if pid == 0:
            try:
                check(job, tmp_path, expected)
            except BaseException:
                os._exit(1)
            os._exit(0)
        children.append(pid)
    statuses = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children]
    assert 0 in statuses
    check(job, tmp_path, expected)


@by_job
@pytest.mark.parametrize("days", [-4000, 4000])
def test_a_clock_that_was_wrong(job, expected, days, tmp_path):
    job(tmp_path)
    for path in tmp_path.rglob("*"):
        os.utime(path, (time.time() + days * 86400,) * 2)
    check(job, tmp_path, expected)


def finished(cache):
    """Return the files in a cache that bear their final names."""
    files = (p for p in cache.rglob("*") if p.is_file() and p.suffix != ".part")
    return {p.relative_to(cache).as_posix(): p.read_bytes() for p in files}


@pytest.mark.slow
def test_a_download_killed_at_any_access_to_a_file(server, tmp_path):  # noqa: F811
    moments = 0
    for moment in range(1, 200):
        cache = tmp_path / f"{moment}"
        status = forked(killed_at(moment, cache, lambda cache=cache: mm.datasets.fetch("small", cache=cache)))
        assert finished(cache).items() <= WHOLE.items()
        mm.datasets.fetch("small", cache=cache)
        assert finished(cache) == WHOLE
        if status == 0:
            break
        moments += 1
    assert status == 0
    assert moments > len(FILES)
