"""Every case of the corpus, through the package and through the command line: what is read, said, written and run."""

import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from corpus import CASES, OPTIONS, snapshot, watched
from corpus._case import facts
from corpus._tables import _million
from typer.main import get_command

from mtmeta import load, sentinel
from mtmeta.cli import app
from mtmeta.cli._output import visible

COMMAND = get_command(app)
CANARY = "canary"


def sample(cases, step):
    """Return the cases as parameters: each n-th goes with every change, the others are slow."""
    marks = [[], *[[pytest.mark.slow]] * (step - 1)]
    return [pytest.param(case, id=case.name, marks=marks[k % step]) for k, case in enumerate(cases)]


def invoke(line: list[str], **options) -> Result:
    """Run a command line in this process."""
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
@pytest.mark.parametrize("case", sample(CASES, 5))
def test_case(case, place):
    argument = case.make(place)
    before = snapshot(place)
    with watched() as acts:
        found, message = read(case, argument)
    assert acts == []
    assert snapshot(place) == before
    if case.refused:
        assert message is not None, f"it loads: {found!r:.300}"
        assert re.search(case.refused, message)
        assert len(message) < 1000
    else:
        assert message is None
        known = {k: facts(found)[k] for k in case.meaning} if isinstance(found, list) else {"value": found}
        if "kind" in case.meaning:
            known = {"kind": found.kind}
        assert known == case.meaning
    if case.command is not None:
        through_the_command_line(case, argument, message, place, before)


def through_the_command_line(case, argument, message, place, before):
    """Check exit code, streams and files of the command that reads a case; the message is that of the package."""
    line = [str(argument) if word == "{}" else word for word in case.command]
    with watched() as acts:
        result = invoke(line)
    assert result.exception is None or isinstance(result.exception, SystemExit), repr(result.exception)
    assert acts == []
    assert snapshot(place) == before
    if message is not None:
        told = visible(" ".join(message.splitlines()))
        assert (result.exit_code, result.stdout, result.stderr) == (1, "", f"mtmeta: error: {told}\n")
    else:
        assert (result.exit_code, "Traceback" in result.stderr) == (0, False)
        assert result.stdout


def test_the_corpus_is_large_and_says_different_things():
    assert len(CASES) >= 900
    names = [case.name for case in CASES]
    assert len(set(names)) == len(names)
    assert sum(bool(case.refused) for case in CASES) >= 300


#: Each kind of input that must be there: the names of its cases, and how many there are at least.
KINDS = {
    "encodings": (r"(csv|tsv|jsonl): (utf|latin|cp|mac|gb|big5|shift|euc|koi8)", 40),
    "byte order marks": ("mark", 15),
    "mixed line ends": ("line ends|lines end|CR LF", 20),
    "quotes": ("quote", 10),
    "tabs inside fields": ("a tab ", 3),
    "NaN, infinity, None, nothing": (r"'(NaN|nan|inf|-inf|None|null|)'|(score|is) (inf|nan|None)|infinite", 30),
    "rows twice and rows missing": ("twice|too few|too many|a row short|gone", 25),
    "permuted segments": ("in another order|in reverse|interleaved|by segment", 5),
    "wrong counts per system": ("one (human|metric) score too|of one system alone|of its own segments", 4),
    "huge and tiny numbers": ("5e-324|1e308|1e-400|1e400|smallest|huge|largest|thousands of digits", 15),
    "scores that are text": (r"is '(good|0,5|50%|N/A)'|score x|numbers as text|of text", 8),
    "bombs": ("bomb|billion|terabytes|announced|2 GB|deep|gigantic", 15),
    "paths that climb": (r"climbs|\.\./|leads out|from the root", 6),
    "links": ("link", 20),
    "hostile pickles": ("^pickle: (opens|runs|evaluates|executes|imports|calls|by )|a pickle", 18),
    "hostile plans": ("^plan: a (value|key) that|^plan: .*(laughs|itself|code)", 16),
    "HTML and templates in names": (r"a tag|a template|\{\{|<|HTML|Jinja|hostile text", 6),
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_corpus_has_each_kind(kind):
    pattern, least = KINDS[kind]
    assert sum(re.search(pattern, case.name) is not None for case in CASES) >= least


@pytest.mark.slow
def test_the_corpus_is_the_same_each_time(tmp_path):
    def digests(root: Path) -> list[str]:
        found = []
        for number, case in enumerate(CASES):
            if case.name.startswith(("sentinel: ", "path: a pipe")):
                continue  # a zip archive of arrays holds the time
            folder = root / str(number)
            folder.mkdir(parents=True)
            made = case.make(folder)
            digest = hashlib.sha256(made if isinstance(made, bytes) else b"")
            for path in sorted(folder.rglob("*")):
                if path.is_file() and not path.is_symlink():
                    digest.update(path.relative_to(folder).as_posix().encode("utf-8", "surrogateescape"))
                    digest.update(path.read_bytes())
            found.append(digest.hexdigest())
        return found

    assert digests(tmp_path / "a") == digests(tmp_path / "b")


# -- the command line -------------------------------------------------------------------------


@pytest.mark.parametrize("usage", sample(OPTIONS, 5))
def test_usage(usage, place):
    before = snapshot(place)
    with watched() as acts:
        result = invoke(list(usage.line), input="")
    assert result.exception is None or isinstance(result.exception, SystemExit), repr(result.exception)
    assert (result.exit_code, result.stdout) == (usage.code, "")
    assert acts == []
    assert snapshot(place) == before
    said = result.stderr if usage.code == 1 else " ".join(re.sub(r"[│╭╮╰╯─]", " ", result.stderr).split())
    assert re.search(usage.says, said)
    if usage.code == 1:
        notes = r"left out of |forming clusters|reporting on "
        *before_it, last = said.removesuffix("\n").split("\n")
        assert last.startswith("mtmeta: error: ")
        assert all(re.match(notes, note) for note in before_it)


#: One case of each kind, run as a program: what a shell sees must be what the tests inside a process see.
PROGRAM = ["csv: utf-16, text beyond ASCII", "tree: human scores are a pipe", "sentinel: arrays: objects"]


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAM)
def test_a_program_says_the_same(name, place):
    case = next(case for case in CASES if case.name == name)
    argument = case.make(place)
    before = snapshot(place)
    inside = invoke([str(argument) if word == "{}" else word for word in case.command])
    line = [sys.executable, "-m", "mtmeta", *(str(argument) if word == "{}" else word for word in case.command)]
    done = subprocess.run(line, capture_output=True, text=True, timeout=60, env=os.environ, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (inside.exit_code, inside.stdout, inside.stderr)
    assert snapshot(place) == before


def test_what_is_refused_leaves_the_output_file_alone(place):
    (place / "t.csv").write_text("system,segment,human,X\nA,1,bad,1\n")
    (place / "out.txt").write_text("of yesterday")
    before = snapshot(place)
    for command in ("validate", "rank", "correlate", "report"):
        assert invoke([command, "t.csv", "-o", "out.txt"]).exit_code == 1
        assert invoke([command, "t.csv", "-o", "new.txt"]).exit_code == 1
    assert snapshot(place) == before


def test_a_pipe_or_terminal_that_is_empty(place):
    result = invoke(["validate", "-"], input=b"")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("mtmeta: error: standard input is empty")


#: Loads a table in a process of its own; prints what is said, and how much memory it took at the most, in MB.
_MEASURED = """
import re, resource, sys
from pathlib import Path
from mtmeta import load
try:
    load(sys.argv[1])
except ValueError as error:
    print(error)
status = Path("/proc/self/status")  # where it exists: what getrusage says begins with the memory of the parent
if status.exists():
    print(int(re.search(r"VmHWM:\\s+(\\d+)", status.read_text())[1]) // 2**10)
else:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (2**20 if sys.platform == "darwin" else 2**10))
"""


@pytest.mark.slow
def test_a_table_of_a_million_rows(tmp_path):
    """It takes about 6 s of a processor and 0.6 GB with the interpreter, 40 times the 15 MB of the file."""
    path = tmp_path / "t.csv"
    path.write_bytes(_million())
    es = load(path)
    assert es.shape == (20, 50_000)
    assert es.systems[3] == "S3"
    assert es.human[3, 5] == (3 * 7919 + 5 * 104729) % 101
    assert es["X"][19, 49_999] == (19 * 31 + 49_999) % 97
    with path.open("ab") as file:
        file.write(b"S19,49999,1,1\n")
    command = [sys.executable, "-c", _MEASURED, str(path)]
    said, memory = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600).stdout.splitlines()
    assert re.search(r"1 row\(s\) repeat .*\('S19', 49999\)", said)
    assert 50 < int(memory) < 1000


# -- sentinels on a transformer ---------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of the library, about what it is asked to load
def test_a_saved_transformer_brings_no_code(tmp_path):
    pytest.importorskip("torch")
    saved = tmp_path / "s"
    (saved / "encoder").mkdir(parents=True)
    (saved / "sentinel.json").write_text(
        json.dumps({"format": 1, "kind": "transformer", "sees": "source", "config": {"head": [4]}})
    )
    auto = {"AutoConfig": "evil.C", "AutoModel": "evil.M"}
    (saved / "encoder" / "config.json").write_text(json.dumps({"model_type": "evil", "auto_map": auto}))
    (saved / "encoder" / "evil.py").write_text(f"open({str(tmp_path / CANARY)!r}, 'w')\nclass C: pass\nclass M: pass\n")
    with pytest.raises(ValueError, match="the transformer sentinel in it is damaged"):
        sentinel.load(saved)
    assert not (tmp_path / CANARY).exists()
