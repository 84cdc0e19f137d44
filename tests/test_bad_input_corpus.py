"""Every case of the corpus through the package, some through the command line: what is read and written."""

import re

import pytest
from click.testing import CliRunner
from corpus import CASES, OPTIONS, snapshot
from corpus._case import facts
from typer.main import get_command

from mtmeta.cli import app
from mtmeta.cli._app import sentence

COMMAND = get_command(app)


def invoke(line, **options):
    return CliRunner().invoke(COMMAND, line, prog_name="mtmeta", **options)


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
    found, message = read(case, argument)
    assert snapshot(place) == before
    if case.refused:
        assert message is not None, f"it loads: {found!r:.300}"
        assert re.search(case.refused, message)
        assert len(message) < 1000
    else:
        assert message is None
        known = {k: facts(found)[k] for k in case.meaning} if isinstance(found, list) else {"value": found}
        assert known == case.meaning


@pytest.mark.slow
@pytest.mark.parametrize("case", [case for case in CASES if case.command][::9], ids=lambda case: case.name)
def test_case_through_the_command_line(case, place):
    """Check exit code, streams and files of the command that reads a case; the message is that of the package."""
    argument = case.make(place)
    before, (_, message) = snapshot(place), read(case, argument)
    result = invoke(case.line(argument))
    assert result.exception is None or isinstance(result.exception, SystemExit), repr(result.exception)
    assert snapshot(place) == before
    if message is not None:
        told = f"mtmeta: error: {sentence(ValueError(message))}\n"
        assert (result.exit_code, result.stdout, result.stderr) == (2, "", told)
    else:
        assert (result.exit_code, "Traceback" in result.stderr) == (0, False)
        assert result.stdout


@pytest.mark.slow
@pytest.mark.parametrize(("line", "says"), OPTIONS.items(), ids=OPTIONS)
def test_usage(line, says, place):
    before = snapshot(place)
    result = invoke(line.split(), input="")
    assert result.exception is None or isinstance(result.exception, SystemExit), repr(result.exception)
    assert (result.exit_code, result.stdout, snapshot(place)) == (2, "", before)
    assert re.search(says, " ".join(result.stderr.split()))


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
