"""Every case of the corpus, through the package and through the command line: what is read, said, written and run."""

import os
import re
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import nbformat
import pyarrow as pa
import pytest
from click.testing import CliRunner
from corpus import CASES, OPTIONS, snapshot, watched
from corpus._case import facts
from corpus._tables import _million
from typer.main import get_command

from mtmeta import load
from mtmeta.cli import app
from mtmeta.cli._app import sentence

COMMAND = get_command(app)


def invoke(line, **options):
    return CliRunner().invoke(COMMAND, line, prog_name="mtmeta", **options)


@pytest.fixture(scope="module", autouse=True)
def _warm(tmp_path_factory):
    """Import what the commands import when they are first used: afterwards nothing is compiled or written any more."""
    folder = tmp_path_factory.mktemp("warm")
    for line in (
        "validate teaching", "rank teaching --protocol wmt23 --n-resamples 0", "correlate teaching --format json",
        "report nope", "local-accuracy nope", "fetch nope", "sweep nope", "run nope --scores teaching",
        f"sentinel train teaching --sees source --save {folder / 's'}", f"sentinel score {folder / 's'} teaching",
    ):  # fmt: skip
        invoke(line.split())
    nbformat.validate(nbformat.v4.new_notebook())  # compiles its schema


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Return an empty folder, which is the working directory, while nothing else holds data."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("MTMETA_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("MTMETA_DATA", raising=False)
    return tmp_path


def read(case, argument):
    """Return what a case gives and the message it is refused with; one of them is None."""
    try:
        return case.read(argument), None
    except (ValueError, TypeError) as error:
        kind, message = type(error), str(error)
    # a subclass such as UnicodeError or JSONDecodeError comes from a library that speaks of itself
    assert kind in (ValueError, TypeError) or kind.__module__.startswith("mtmeta.")
    return None, message


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case(case, place):
    argument, before = case.make(place), snapshot(place)
    with watched() as acts:
        found, message = read(case, argument)
    assert (acts, snapshot(place)) == ([], before)
    if case.refused:
        assert message is not None, f"it loads: {found!r:.300}"
        assert re.search(case.refused, message)
        assert len(message.encode()) < 1000  # half of a pair could not be printed
    else:
        assert message is None
        known = {k: facts(found)[k] for k in case.meaning} if isinstance(found, list) else {"value": found}
        assert known == case.meaning
    if case.command is not None:
        through_the_command_line(case, argument, message, place, before)


def through_the_command_line(case, argument, message, place, before):
    """Check exit code, streams and files of the command that reads a case; the message is that of the package."""
    with watched() as acts:
        result = invoke(case.line(argument))
    assert result.exception is None or isinstance(result.exception, SystemExit), repr(result.exception)
    assert (acts, snapshot(place)) == ([], before)
    if message is not None:
        told = f"mtmeta: error: {sentence(ValueError(message))}\n"
        assert (result.exit_code, result.stdout, result.stderr) == (2, "", told)
    else:
        assert (result.exit_code, "Traceback" in result.stderr) == (0, False)
        assert result.stdout


@pytest.mark.slow
@pytest.mark.parametrize("usage", OPTIONS, ids=lambda usage: usage.name)
def test_usage(usage, place):
    before = snapshot(place)
    with watched() as acts:
        result = invoke(list(usage.line), input="")
    assert result.exception is None or isinstance(result.exception, SystemExit), repr(result.exception)
    assert (result.exit_code, result.stdout, acts, snapshot(place)) == (2, "", [], before)
    assert re.search(usage.says, " ".join(result.stderr.split()))


#: One case of each kind, run as a program: what a shell sees must be what the tests inside a process see.
PROGRAM = ["csv: utf-16, text beyond ASCII", "tree: human scores are a pipe"]


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAM)
def test_a_program_says_the_same(name, place):
    case = next(case for case in CASES if case.name == name)
    argument, before = case.make(place), snapshot(place)
    inside, line = invoke(case.line(argument)), [sys.executable, "-m", "mtmeta", *case.line(argument)]
    done = subprocess.run(line, capture_output=True, text=True, timeout=60, env=os.environ, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (inside.exit_code, inside.stdout, inside.stderr)
    assert snapshot(place) == before


def test_what_is_refused_leaves_the_output_file_alone(place):
    (place / "t.csv").write_text("system,segment,human,X\nA,1,bad,1\n")
    (place / "out.txt").write_text("of yesterday")
    before = snapshot(place)
    for command in ("validate", "rank", "correlate", "report"):
        assert invoke([command, "t.csv", "-o", "out.txt"]).exit_code == 2
        assert invoke([command, "t.csv", "-o", "new.txt"]).exit_code == 2
    assert snapshot(place) == before
    for given, says in ((b"", "is empty"), (b"system,segment\nA,\xff\n", "is not UTF-8")):
        result = invoke(["validate", "-"], input=given)
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr.startswith(f"mtmeta: error: standard input {says}")


def said_and_peak(name, argument):
    """Read the argument of a case, or load a table; return the refusal, and the most memory of this process in MB."""
    read, said = next((case.read for case in CASES if case.name == name), load), ""
    try:
        read(argument)
    except ValueError as error:
        said = str(error)
    pa.default_memory_pool().release_unused()  # which it would keep for the next case
    return said, int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1]) // 2**10


def measured(*cases):
    """Return what `said_and_peak` gives for cases, one after the other in one new process."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return list(pool.map(said_and_peak, *zip(*cases, strict=True)))


of_linux = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is measured by Linux")


@of_linux
@pytest.mark.slow
def test_a_table_of_a_million_rows(tmp_path):
    """It takes about 6 s of a processor and 0.6 GB with the interpreter, 40 times the 15 MB of the file."""
    path = tmp_path / "t.csv"
    path.write_bytes(_million())
    es = load(path)
    assert (es.shape, es.systems[3], es.human[3, 5]) == ((20, 50_000), "S3", (3 * 7919 + 5 * 104729) % 101)
    assert es["X"][19, 49_999] == (19 * 31 + 49_999) % 97
    with path.open("ab") as file:
        file.write(b"S19,49999,1,1\n")
    ((said, memory),) = measured(("", path))
    assert re.search(r"several rows of system 'S19', segment 49999", said)
    assert 50 < memory < 1000


@of_linux
@pytest.mark.slow
def test_bombs_take_little_memory(tmp_path):
    """Python with the package has 250 MB; the archive of the news texts may have 100 MB, twice for a moment."""
    bombs = []
    for number, case in enumerate(CASES):
        if re.search("bomb|gigantic", case.name):
            (folder := tmp_path / str(number)).mkdir()
            bombs.append((case.name, case.make(folder)))
    peaks = [peak for _, peak in measured(*bombs)]
    assert len(peaks) > 20
    assert max(peaks) < 600, dict(zip(bombs, peaks, strict=True))
