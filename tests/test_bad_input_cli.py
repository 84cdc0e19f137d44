"""Bad input through the command line: one line on stderr that names the fault, nothing on stdout, exit code 1."""

import sys
from pathlib import Path

import pytest
from test_datasets import LP, make_tree

from mtmeta import cli
from mtmeta.datasets._common import MAX_FIELD

HEAD = "system,segment,human,X\n"
GOOD = HEAD + "A,1,0,.9\nA,2,-6,.2\nB,1,-1,.8\nB,2,-7,.3\n"
COMMANDS = [
    ("validate",),
    ("rank",),
    ("rank", "--protocol", "wmt23"),
    ("rank", "--coefficient", "pearson"),
    ("correlate",),
]
#: All read a table alike: one of them goes with every change.
EACH_COMMAND = [pytest.param(c, id=" ".join(c), marks=[pytest.mark.slow] * (k > 0)) for k, c in enumerate(COMMANDS)]

#: What is wrong, the bytes of the table, and what the message says.
TABLES = {
    "wrong column": (GOOD.replace("human", "gold").encode(), ["lacks 1 column, 'human'", "'gold'"]),
    "no such column": (GOOD.replace("segment", "seg_id").encode(), ["lacks 1 column, 'segment'", "rename the columns"]),
    "duplicate rows": ((GOOD + "B,2,-7,.3\n").encode(), ["repeat a (system, segment) pair", "('B', 2)"]),
    "ragged segments": ((GOOD + "B,3,-1,.1\n").encode(), ["system 'A' has 2 of 3 segments", "segment 3"]),
    "ragged rows": ((GOOD + "B,3\n").encode(), ["line 6: expected 4 fields", "found 2"]),
    "text in a metric": (GOOD.replace(".8", "good").encode(), ["column 'X' must hold numbers", "'good'", "data row 3"]),
    "text in human": (GOOD.replace("-1", "minor").encode(), ["column 'human' must hold numbers", "'minor'"]),
    "decimal comma": (GOOD.replace(".8", '"0,8"').encode(), ["column 'X' must hold numbers", "'0,8'"]),
    "infinite": (GOOD.replace(".8", "inf").encode(), ["'X'", "infinite"]),
    "no human score": ((HEAD + "A,1,,.9\nB,1,NaN,.2\n").encode(), ["no translation has a human score"]),
    "no metric score": ((HEAD + "A,1,1,\nB,1,2,NaN\n").encode(), ["metric 'X' has no score at all"]),
    "one system": ((HEAD + "A,1,0,.9\n").encode(), ["two"]),
    "empty": (b"", ["is empty; expected a header"]),
    "header alone": (HEAD.encode(), ["the table has no rows"]),
    "semicolons": (GOOD.replace(",", ";").encode(), ["separated by ';'"]),
    "latin-1": (GOOD.replace("A,", "Ä,").encode("latin-1"), ["is not UTF-8", "0xc4", "line 2"]),
    "utf-16 without a mark": (GOOD.encode("utf-16-le"), ["a NUL character in line 1", "Save the file as UTF-8"]),
    "gigantic field": ((HEAD + f"A,1,0,{'9' * (MAX_FIELD + 1)}\n").encode(), ["more than 1,000,000 characters"]),
    "open quote": ((HEAD + 'A,1,0,".9\nB,1,1,.2\n').encode(), ["a quote is opened and never closed"]),
    "binary": (bytes(range(256)) * 40, ["not UTF-8"]),
}


@pytest.fixture
def fails(capsys, monkeypatch):
    """Return a function that runs a command line that must fail, and gives its one message."""

    def run(*arguments) -> str:
        monkeypatch.setattr(sys, "argv", ["mtmeta", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            cli.main()
        out, err = capsys.readouterr()
        *notes, message = err.splitlines()
        assert (end.value.code, out) == (1, "")
        assert all(note.startswith(("left out of ", "forming clusters")) for note in notes)
        assert message.startswith("mtmeta: error: ")
        assert len(message) < 1000
        return message

    return run


@pytest.fixture
def run_well(capsys, monkeypatch):
    """Return a function that runs a command line that must succeed, and gives what it prints."""

    def run(*arguments) -> str:
        monkeypatch.setattr(sys, "argv", ["mtmeta", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            cli.main()
        out, err = capsys.readouterr()
        assert end.value.code == 0, err
        return out

    return run


@pytest.mark.parametrize("fault", TABLES)
@pytest.mark.parametrize("command", EACH_COMMAND)
def test_bad_table(fails, tmp_path, command, fault):
    content, says = TABLES[fault]
    path = tmp_path / "bad.csv"
    path.write_bytes(content)
    message = fails(*command, path)
    assert [part for part in says if part not in message] == []


@pytest.mark.parametrize("command", EACH_COMMAND)
def test_the_good_table_is_good(run_well, tmp_path, command):
    (tmp_path / "good.csv").write_text(GOOD)
    assert run_well(*command, tmp_path / "good.csv")


@pytest.mark.parametrize("command", EACH_COMMAND)
def test_human_scores_that_are_all_equal(fails, run_well, tmp_path, command):
    (tmp_path / "t.csv").write_text(HEAD + "A,1,5,.9\nA,2,5,.2\nB,1,5,.8\nB,2,5,.3\n")
    if command == ("validate",):
        assert "every human score is 5" in fails(*command, tmp_path / "t.csv")
    else:
        assert run_well(*command, tmp_path / "t.csv")


@pytest.mark.parametrize("command", EACH_COMMAND)
def test_table_without_a_metric(fails, run_well, tmp_path, command):
    (tmp_path / "t.csv").write_text("system,segment,human\nA,1,5\nA,2,5\nB,1,5\nB,2,4\n")
    if command == ("validate",):
        assert "no metric: there is nothing to rank" in run_well(*command, tmp_path / "t.csv")
    else:
        assert "no metric" in fails(*command, tmp_path / "t.csv")


@pytest.mark.parametrize("command", EACH_COMMAND)
@pytest.mark.parametrize(
    ("name", "n_lines", "says"),
    [
        (f"human-scores/{LP}.mqm.seg.score", 11, "'refA' has 2 scores"),
        (f"metric-scores/{LP}/Good-QE-src.seg.score", 5, "system 'Beta' has 2 scores"),
        (f"system-outputs/{LP}/Beta.txt", 2, "has 2 lines; expected 3"),
        (f"documents/{LP}.docs", 2, "has 2 lines; expected 3"),
        (f"metric-scores/{LP}/BLEU-refA.seg.score", 0, "is empty"),
    ],
)
def test_truncated_tree(fails, tmp_path, command, name, n_lines, says):
    path = make_tree(tmp_path / "mine") / name
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:n_lines]))
    message = fails(*command, tmp_path / "mine")
    assert says in message
    assert Path(name).name in message


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("no-such.csv",), "there is no file no-such.csv"),
        (("teachin",), "Did you mean 'teaching'?"),
        (("wmt23/xx-yy",), "wmt23"),
        ((".",), "is a folder without human-scores/"),
        (("good.csv", "--metric", "x"), "unknown metric column 'x'"),
        (("good.csv", "--reference", "refA"), "`reference` does not apply to a table"),
        (("good.csv", "--human-protocol", "mqm"), "`protocol` does not apply to a table"),
        (("good.csv", "--metrics-from", "."), "`metrics_from` does not apply to a table"),
        (("good.txt",), "good.txt"),
    ],
)
def test_wrong_names(fails, tmp_path, monkeypatch, arguments, says):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("MTMETA_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("MTMETA_DATA", raising=False)
    for name in ("good.csv", "good.txt"):
        (tmp_path / name).write_text(GOOD)
    for command in COMMANDS:
        assert says in fails(*command, *arguments)


def test_a_message_is_one_line_without_control_characters(fails, tmp_path):
    (tmp_path / "t.csv").write_text('system,segment,human,"X\n\x1b[31m"\nA,1,0,bad\n')
    assert r"column 'X\n\x1b[31m' must hold numbers" in fails("rank", tmp_path / "t.csv")
