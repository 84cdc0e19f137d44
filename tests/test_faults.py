"""Killed at any moment, on a full disk, beside another process: what is there is whole, and the next call ends it.

A child is killed at its n-th access to a file. The parent then must get what it gets in an empty folder.
"""

import functools
import io
import itertools
import os
import re
import resource
import shutil
import signal
import sys
import zipfile
from concurrent.futures import Future
from pathlib import Path

import make_book
import nbformat
import numpy as np
import pytest
from campaigns import refuses
from test_fetch import (  # noqa: F401  fixtures are names
    ARCHIVE,
    FILES,
    WHOLE,
    Server,
    archived,
    registry,
    serve,
    server,
    sha256,
)
from test_runner import write
from typer.testing import CliRunner

import mtmeta as mm
from mtmeta._files import whole_file
from mtmeta.cli import app
from mtmeta.datasets._fetch import missing
from mtmeta.runner import _book, _run, _site

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
#: Audit events that change or read the file system.
EVENTS = frozenset(
    ("open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.truncate", "os.utime", "os.chmod", "shutil.rmtree")
)


def below(folder, event, arguments):
    """Tell whether an event changes or reads a file below a folder, or one that is named from an open folder."""
    from_folder = event in ("os.remove", "os.rmdir") and arguments[-1] != -1  # so does shutil.rmtree
    return event in EVENTS and (from_folder or str(folder) in str(arguments))


def fork(job):
    """Begin a job in a child process; return its number."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            job()
            status = 0
        finally:
            os._exit(status)
    return pid


def ended(pid):
    """Wait for a child; return its exit status, or the negated signal that ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def killed_at(moment, folder, job):
    """Do a job in a child process that is killed at its n-th access to a file below a folder; return how it ended."""

    def doomed():
        nth = itertools.count(1)

        def hook(event, arguments):
            if below(folder, event, arguments) and next(nth) == moment:
                os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(hook)
        job()

    return ended(fork(doomed))


def each_moment(tmp_path, job, before=lambda moment, folder: None):
    """Kill a job at its first, second, third, … access to a folder of its own; yield folder and status up to 0."""
    for moment in range(1, 500):
        folder = tmp_path / f"{moment}"
        before(moment, folder)
        status = killed_at(moment, folder, lambda folder=folder: job(folder))
        yield folder, status
        if status == 0:
            assert moment > 2
            return
        assert status == -signal.SIGKILL
    raise AssertionError("it has no end")


@functools.cache
def small():
    es = mm.load("teaching")
    return es.select(systems=es.systems[:3], segments=es.segments[:40])


def counted(folder):
    os.environ["MTMETA_CACHE"] = str(folder)
    return mm.aggregation.extract(small(), "bleu").counts


def swept(folder):
    statistics = [{"correlate": {"grouping": ["none", "segment"]}}]
    plan = {"sets": ["teaching"], "metrics": ["BLEU", "chrF"], "statistics": statistics}
    return mm.sweep.run(plan, folder / "out", n_jobs=1).tables["correlate"].to_numpy(dtype=object)


@functools.cache
def trained():
    """Return a sentinel and the texts it was trained on."""
    frame = small().to_frame()
    return mm.sentinel.fit(frame, sees="source", kind="light"), frame["source"].tolist()


def saved(folder):
    sentinel, texts = trained()
    sentinel.save(folder / "sentinel")
    return mm.sentinel.load(folder / "sentinel").score(texts)


def written(folder):
    command = ["correlate", "teaching", "--metric", "BLEU", "-o", str(folder / "t.csv")]
    assert CliRunner().invoke(app, command).exit_code == 0
    return (folder / "t.csv").read_text()


def scored(folder):
    command = ["sentinel", "score", str(PLACE / "sentinel"), "teaching", "-o", str(folder / "scores.tsv")]
    assert CliRunner().invoke(app, command).exit_code == 0
    return (folder / "scores.tsv").read_text()


CHAPTERS = {name: f"notebooks/{name}.ipynb" for name in ("01_a", "02_b")}
DONE = nbformat.v4.new_output("stream", text="done\n")


def executed(notebook, out, *_, **__):
    """Stand in for a kernel: let each cell print the same."""
    found = nbformat.read(notebook, as_version=4)
    found.cells[1].outputs = [DONE]
    nbformat.write(found, out)


def at_once(function, calls, *_):
    """Stand in for processes: make each call here, when it is asked for."""
    for key, call in calls.items():
        task = Future()
        task.set_result(function(*call))
        yield key, task


def chaptered(folder):
    chapters = {page: PLACE / path for page, path in CHAPTERS.items()}
    outcomes = _run.run(chapters, small(), "teaching", folder, jobs=1, progress=False)
    assert {outcome.status for outcome in outcomes.values()} == {"ran"}
    return [nbformat.read(folder / f"{page}.ipynb", as_version=4).cells[1].outputs for page in chapters]


PAGES = ("your_run", "index", "about", "quiz", "notation")  # their order in a folder is that of the file system


def published(folder):
    """Build two sites of chapters, one over the other, as `mtmeta run` does; what stands there is whole."""
    outcomes = {page: _run.Outcome("ran") for page in CHAPTERS}
    for page, path in CHAPTERS.items():
        with whole_file(folder / f"out/{page}.ipynb") as part:
            shutil.copyfile(PLACE / path, part)
    for title in ("first", "last"):
        start = _site.show(PLACE, outcomes, folder / "out", title=title)
        names = {p.relative_to(folder / "out/site").as_posix() for p in (folder / "out/site").rglob("*.html")}
        assert names == {f"book/{page}.html" for page in PAGES}
    assert list((folder / "out/.site").rglob("*")) == []
    return start.read_text()


def built(work, *, strict):
    """Stand in for jupyter-book."""
    html = work / "_build/html"
    shutil.rmtree(html, ignore_errors=True)
    (html / "book").mkdir(parents=True)
    for page in PAGES:
        shutil.copyfile(work / "_build/src/book/your_run.md", html / f"book/{page}.html")
    return html


def refreshed(folder):
    """Execute a stored notebook anew, in place; before that it is as it was or done, never half."""
    path = folder / "01_a.ipynb"
    if path.exists():
        assert nbformat.read(path, as_version=4).cells[1].outputs in ([], [DONE])
    else:
        with whole_file(path) as part:
            shutil.copyfile(PLACE / CHAPTERS["01_a"], part)
    make_book.refresh([path], jobs=1)
    return path.read_text()


def staged(folder):
    """Copy the sources of a book to where the site is built."""
    source = _book.copy_sources(PLACE, folder)
    _book.write_execution(source, {})
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in source.rglob("*") if p.is_file()}


@pytest.fixture(scope="module", autouse=True)
def _place(tmp_path_factory):
    """Make a small book and a saved sentinel, and let no kernel start."""
    global PLACE
    PLACE = tmp_path_factory.mktemp("place")
    for path in CHAPTERS.values():
        write(PLACE / path, "print('done')")
        book = nbformat.read(PLACE / path, as_version=4)
        book.metadata["mtmeta"] = {"requires": [], "needs": []}
        nbformat.write(book, PLACE / path)
    (PLACE / "book").mkdir()
    (PLACE / "book/index.md").write_text("# A book\n")
    (PLACE / "_toc.yml").write_text("format: jb-book\nroot: book/index\nparts: []\n")
    (PLACE / "_config.yml").write_text("title: A book\n")
    trained()[0].save(PLACE / "sentinel")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_run, "execute", executed)
        patch.setattr(_site, "build", built)
        patch.setattr(_run, "in_processes", at_once)
        patch.setattr(make_book, "_execute_all", lambda books, jobs: list(itertools.starmap(executed, books.items())))
        yield


def by(*jobs):
    """Give jobs to a test; the first goes with every change."""
    marks = [[], *[[pytest.mark.slow]] * (len(jobs) - 1)]
    given = [pytest.param(job, id=job.__name__, marks=mark) for job, mark in zip(jobs, marks, strict=True)]
    return pytest.mark.parametrize("job", given)


def check(job, folder, expected):
    """Do a job in a folder that may hold what an interrupted one left; it must give what it gives in an empty one."""
    found = job(folder)
    if isinstance(found, np.ndarray):
        assert np.array_equal(found, expected, equal_nan=found.dtype.kind == "f")
    else:
        assert found == expected


@pytest.fixture
def expected(job, tmp_path, monkeypatch):
    monkeypatch.setenv("MTMETA_CACHE", "")  # put back at the end
    (tmp_path / "empty").mkdir()
    return job(tmp_path / "empty")


@by(counted, swept, saved, written, scored, chaptered, published, refreshed, staged)
def test_killed_at_any_access_to_a_file(job, expected, tmp_path):
    def before(moment, folder):
        folder.mkdir()
        if moment % 2:  # every other time there is a finished result to write over
            job(folder)

    for folder, _ in each_moment(tmp_path, job, before):
        check(job, folder, expected)


@pytest.mark.slow
def test_a_sentinel_written_over_another_is_never_half_of_each(tmp_path):
    frame = small().to_frame()
    halves = [mm.sentinel.fit(frame[frame.system == name], sees="source", kind="light") for name in ("Aster", "Basalt")]
    texts = frame["source"].unique().tolist()
    old, new = (sentinel.score(texts).tolist() for sentinel in halves)
    assert old != new
    kinds = set()
    for folder, _ in each_moment(tmp_path, halves[1].save, lambda _, folder: halves[0].save(folder)):
        try:
            kinds.add(["old", "new"][[old, new].index(mm.sentinel.load(folder).score(texts).tolist())])
        except ValueError as error:
            kinds.add(str(error).partition(": ")[2])
    assert kinds == {"old", "saving was interrupted. Save the sentinel again.", "new"}


@by(counted, swept, saved, written, chaptered, refreshed)
@pytest.mark.parametrize("size", [0, 1, 100, 1000])
def test_full_disk(job, expected, size, tmp_path):
    def full():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        job(tmp_path)

    ended(fork(full))
    check(job, tmp_path, expected)


@by(counted)
def test_a_cache_that_cannot_be_written_is_done_without(job, expected, tmp_path):
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o555)
    tmp_path.chmod(0o755)

    def unprivileged():
        if os.getuid() == 0:
            os.setgid(65534)
            os.setuid(65534)
        check(job, folder, expected)

    assert (ended(fork(unprivileged)), list(folder.iterdir())) == (0, [])


@by(counted, swept, saved, written, chaptered, published)
def test_two_processes_in_one_folder(job, expected, tmp_path):
    children = [fork(lambda: check(job, tmp_path, expected)) for _ in range(3)]
    assert 0 in [ended(pid) for pid in children]
    check(job, tmp_path, expected)


#: Where the date is asked for: for the age of an unfinished file, and on the versions page.
DATES = [("mtmeta/_files.py", "time.time"), ("mtmeta/runner/_book.py", "date.today")]
CLOCKS = re.compile(r"\b(time\.time(?:_ns)?|datetime\.(?:now|utcnow|today)|date\.today|from time import .*)\b")


def test_durations_are_taken_from_a_clock_that_nobody_sets():
    root = Path(mm.__file__).parents[1]
    modules = {path.relative_to(root).as_posix(): path.read_text("utf-8") for path in root.glob("mtmeta/**/*.py")}
    assert sorted((path, name) for path, text in modules.items() for name in CLOCKS.findall(text)) == DATES


def finished(cache):
    """Return the files in a cache that bear their final names."""
    files = (p for p in cache.rglob("*") if p.is_file() and p.suffix != ".part")
    return {p.relative_to(cache).as_posix(): p.read_bytes() for p in files}


ZIPPED = io.BytesIO()
with zipfile.ZipFile(ZIPPED, "w") as archive:
    for name, content in (("in/a.txt", b"a" * 3000), ("in/b.txt", b"b" * 9), ("in/c.txt", b"never asked for")):
        archive.writestr(zipfile.ZipInfo(name), content)
#: Files that are made of others: two members of an archive, and the first lines of a run.
UPSTREAM = {"x.zip": ZIPPED.getvalue(), "run.txt": b"1 a\n1 b\n2 c\n"}
MADE = {"folder/a.txt": b"a" * 3000, "folder/b.txt": b"b" * 9, "folder/top.txt": b"1 a\n2 c\n"}
RECIPES = {"a.txt": "x.zip\tmember:in/a.txt", "b.txt": "x.zip\tmember:in/b.txt", "top.txt": "run.txt\ttop:1"}


def registered(name):
    content, upstream = MADE[f"folder/{name}"], RECIPES[name].partition("\t")[0]
    return f"{sha256(content)}\t{len(content)}\t{name}\t{RECIPES[name]}\t{sha256(UPSTREAM[upstream])}"


@pytest.fixture
def made(serve, registry):  # noqa: F811
    registry(serve(Server(UPSTREAM)).url, [registered(name) for name in RECIPES])
    return MADE


@pytest.fixture
def plain(server):  # noqa: F811
    return WHOLE


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["plain", "made"])
def test_a_download_killed_at_any_access_to_a_file(kind, request, tmp_path):
    whole, n_moments = request.getfixturevalue(kind), 0
    for cache, _ in each_moment(tmp_path, lambda cache: mm.datasets.fetch("small", cache=cache)):
        there = finished(cache)
        assert there.items() <= whole.items()
        assert set(missing("small", cache)) == set(whole) - set(there)
        mm.datasets.fetch("small", cache=cache)
        assert finished(cache) == whole
        n_moments += 1
    assert n_moments > len(FILES) + 1


@pytest.mark.slow
def test_an_archive_whose_unpacking_is_killed(archived, tmp_path, monkeypatch):  # noqa: F811
    """A language pair of it is there as a whole, or not at all."""
    packed = mm.datasets.fetch("small/wmt24/ja-zh", cache=tmp_path / "packed") / "folder"
    whole, n_absent = mm.load(packed / "wmt24/ja-zh"), 0

    def before(_, cache):
        (cache / "folder").mkdir(parents=True)
        shutil.copy(packed / ARCHIVE, cache / "folder")

    for cache, _ in each_moment(tmp_path, lambda cache: mm.datasets.fetch("small/wmt24/en-de", cache=cache), before):
        if list((cache / "folder").glob("wmt24/human-scores/*.seg.score")):
            found = mm.load(cache / "folder/wmt24/en-de")
            assert np.array_equal(found.human, whole.human, equal_nan=True)
            assert (found.metrics, found.systems) == (whole.metrics, whole.systems)
        else:
            n_absent += 1
        mm.datasets.fetch("small/wmt24/en-de", cache=cache)
        assert mm.load(cache / "folder/wmt24/en-de").texts.references.keys() == whole.texts.references.keys()
    assert n_absent > len(whole.systems)


def train(folder):
    """Train a small transformer in two stages of six steps, with checkpoints in a folder."""
    config = mm.sentinel.TransformerConfig(
        encoder="scratch-small", head=(4,), learning_rate=2e-3, batch_size=4, accumulation=1, checks=3
    )
    few = small().to_frame().head(24)
    options = {"sees": "source", "kind": "transformer", "config": config}
    found = mm.sentinel.fit([few, few], **options, checkpoints=folder)
    return {name: tensor.numpy().copy() for name, tensor in found.network.state_dict().items()}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of the libraries, about threads and processes
def test_training_that_was_killed_ends_with_the_same_weights(tmp_path):
    pytest.importorskip("torch")
    expected, count = train(None), tmp_path.parent / "n"

    def counting():
        seen = []
        sys.addaudithook(lambda event, arguments: seen.append(0) if below(tmp_path, event, arguments) else None)
        train(tmp_path / "whole")
        count.write_text(str(len(seen)))

    assert ended(fork(counting)) == 0
    for moment in np.linspace(1, int(count.read_text()), 6).astype(int):
        folder = tmp_path / f"{moment}"
        assert killed_at(moment, folder, lambda folder=folder: train(folder)) == -signal.SIGKILL
        found = train(folder)
        assert all(np.array_equal(found[name], tensor) for name, tensor in expected.items())


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_two_runs_cannot_train_in_one_folder(tmp_path):
    pytest.importorskip("torch")
    from mtmeta.sentinel._transformer import _claim

    with _claim(tmp_path, "mine"), pytest.raises(ValueError, match=r"another training is writing to .*Wait"):
        train(tmp_path)
    refuses("holds checkpoints of another training run", train, tmp_path)
