"""`mtmeta.book.runner` and the notebook normaliser, on notebooks made here."""

import json
import os
import re

import make_book
import nbformat
import pytest
from campaigns import refuses
from toy_books import CONFIG, printed, write

from mtmeta.book import runner


@pytest.fixture
def nowhere(monkeypatch, tmp_path):
    """Let there be no data at all; return a directory that may become MTMETA_DATA."""
    monkeypatch.delenv("MTMETA_DATA", raising=False)
    monkeypatch.setenv("MTMETA_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    return tmp_path / "data"


@pytest.mark.slow
def test_execute_injects_parameters_and_runs_where_the_notebook_lies(tmp_path):
    show = "from pathlib import Path\nprint(n, Path().resolve().name)"
    source = write(tmp_path / "in" / "a.ipynb", "n = 1 # parameters", show)
    seconds = runner.execute(source, tmp_path / "out" / "a.ipynb", {"n": 7})
    assert printed(tmp_path / "out" / "a.ipynb") == "7 in\n"
    assert 0 < seconds < 120
    runner.execute(source, tmp_path / "out" / "a.ipynb")
    before, after = (nbformat.read(path, as_version=4).cells for path in (source, tmp_path / "out/a.ipynb"))
    assert [c.source for c in before] == [c.source for c in after]  # without parameters no cell is added


def test_missing_names_what_is_not_there(tmp_path, nowhere, monkeypatch):
    notebook = write(tmp_path / "a.ipynb", requires=["data:wmt23", "json", "no_such_module"])
    assert runner.missing(notebook) == ["data:wmt23", "no_such_module"]
    (nowhere / "mt-metrics-eval-v2" / "wmt23").mkdir(parents=True)
    monkeypatch.setenv("MTMETA_DATA", str(nowhere))
    assert (runner.missing(notebook), runner.missing(write(tmp_path / "b.ipynb"))) == (["no_such_module"], [])
    (tmp_path / "cache" / "dl-hard").mkdir(parents=True)
    assert runner.missing(write(tmp_path / "c.ipynb", requires=["data:dl-hard"])) == []


#: Keeps the processor of its kernel busy for one second.
BUSY = "import time\nwhile time.process_time() < 1:\n    pass\nprint(6 * 7)"


@pytest.fixture
def project(tmp_path, nowhere):
    """Make the smallest project that can be staged: two chapters in the table of contents, one notebook outside."""
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "index.md").write_text("# A book\n")
    (tmp_path / "_config.yml").write_text(CONFIG)
    chapters = "[{file: notebooks/a}, {file: notebooks/real_data/b}]"
    (tmp_path / "_toc.yml").write_text(f"format: jb-book\nroot: book/index\nparts:\n- chapters: {chapters}\n")
    write(tmp_path / "notebooks" / "a.ipynb", BUSY)
    write(tmp_path / "notebooks" / "real_data" / "b.ipynb", "print(1)", requires=["data:wmt23"])
    write(tmp_path / "notebooks" / "00_template.ipynb", "print(2)")
    return tmp_path


@pytest.mark.slow
def test_stage_executes_what_can_be_executed_and_leaves_the_sources(project):
    before, report = (project / "notebooks" / "a.ipynb").read_bytes(), make_book.stage(project)
    source = project / "_build" / "src"
    done = {page: entry["status"] for page, entry in report.items()}
    assert done == {"notebooks/a": "executed", "notebooks/real_data/b": "stored"}
    assert report["notebooks/real_data/b"]["reason"] == "not here: data:wmt23"
    measured = report["notebooks/a"]
    # the kernel is another process: its processor time must be among what is counted
    assert measured["cpu_seconds"] > 1 > measured["started"] == 0 < measured["seconds"]
    assert printed(source / "notebooks" / "a.ipynb") == "42\n"
    assert [printed(source / "notebooks" / f"{name}.ipynb") for name in ("real_data/b", "00_template")] == ["", ""]
    about = json.loads((source / "execution.json").read_text())
    assert (about["notebooks"], (about["jobs"], about["cores"])) == (report, (2, os.cpu_count()))
    assert (project / "notebooks" / "a.ipynb").read_bytes() == before


@pytest.mark.exhaustive
def test_the_book_is_built_and_a_warning_or_a_failing_chapter_ends_it(project, capfd):
    assert make_book.main(["book", "--root", str(project)]) == 0
    assert capfd.readouterr().out.strip().endswith(str(project / "_build" / "html"))
    assert "42" in (project / "_build" / "html" / "notebooks" / "a.html").read_text()
    (project / "book" / "index.md").write_text("# A book\n\n{no-such-role}`x`\n")
    assert make_book.main(["book", "--root", str(project), "--no-execute"]) == 1
    assert "error: jupyter-book ended with exit status" in capfd.readouterr().err
    write(project / "notebooks" / "a.ipynb", "raise RuntimeError('this one')")
    assert make_book.main(["book", "--root", str(project)]) == 1
    assert re.search(r"(?s)a\.ipynb failed.*this one", capfd.readouterr().err)


@pytest.mark.slow
def test_refresh_changes_nothing_if_one_fails(tmp_path, nowhere):
    good, bad = write(tmp_path / "good.ipynb", "print(1)"), write(tmp_path / "bad.ipynb", "1 / 0")
    held = write(tmp_path / "held.ipynb", "print(1)", requires=["data:wmt23"])
    refuses(r"bad\.ipynb failed", make_book.refresh, [good, bad], error=RuntimeError)
    assert (printed(good), make_book.refresh([good, held])) == ("", [good])
    assert (printed(good), printed(held)) == ("1\n", "")
