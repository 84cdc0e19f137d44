"""`mtmeta run`: chapters on the reader's scores; first on small notebooks made here, then on those of the book."""

import contextlib
import functools
import io
import json
import re
from itertools import product
from pathlib import Path

import nbformat
import numpy as np
import pandas as pd
import pytest
from campaigns import refuses
from shell import TABLE
from toy_books import CONFIG, one_by_one, printed, run_here, write

import mtmeta as mm
from mtmeta.book import runner
from mtmeta.book.runner import _run
from mtmeta.book.runner._needs import facts, unmet

ROOT = Path(__file__).parents[1]
SHOW = "campaign = 'teaching' # parameters"
METRICS = "import mtmeta as mm\nes = mm.load(campaign, unrated='keep')\nprint(es.name, *es.metrics, es.shape)"
CANNOT = "import mtmeta as mm\nraise mm.book.CannotRun('it needs *stars*')"


@contextlib.contextmanager
def changed(path: Path):
    """Yield a notebook, and write what became of it."""
    notebook = nbformat.read(path, as_version=4)
    yield notebook
    nbformat.write(notebook, path)


def chapter(path: Path, *sources: str, needs: list[str] | None = None) -> Path:
    with changed(write(path, SHOW, *sources)) as notebook:
        notebook.metadata["mtmeta"] = {"requires": [], "needs": needs or []}
    return path


@pytest.fixture
def run(command_line):
    return command_line


@pytest.fixture
def book(tmp_path, monkeypatch):
    """Make a book of one chapter in a directory, and go there; return a function that adds chapters."""
    root, names = tmp_path / "project", []

    def add(name, *sources, needs=None):
        names[:] = [*(n for n in names if n != name), name]
        listed = ", ".join(f"{{file: notebooks/{n}}}" for n in names)
        (root / "_toc.yml").write_text(f"format: jb-book\nroot: book/index\nparts:\n- chapters: [{listed}]\n")
        return chapter(root / "notebooks" / f"{name}.ipynb", *sources, needs=needs)

    (root / "book").mkdir(parents=True)
    (root / "book" / "index.md").write_text("# A book\n")
    (root / "_config.yml").write_text(f"{CONFIG}parse: {{myst_enable_extensions: [colon_fence]}}\n")
    add("01_first", METRICS)
    (root / "mine.csv").write_text(TABLE)
    monkeypatch.chdir(root)
    return add


def markdown(path: Path) -> str:
    return "\n\n".join(c.source for c in nbformat.read(path, as_version=4).cells if c.cell_type == "markdown")


def records(out: str) -> dict[str, dict]:
    return {row["chapter"]: row for row in json.loads(out)}


def notebook_of(name: str, chapter: str = "01_first") -> Path:
    return Path("out", name, "notebooks", f"{chapter}.ipynb")


def test_facts_and_unmet_needs_by_hand():
    texts = mm.evalset.Texts(
        sources=["a", None, "c"], references={"r": [None, "b", "c"]}, translations={"A": ["x", "y", None]}
    )
    nan = np.nan
    es = mm.EvalSet([[0, -1, nan], [0, nan, nan], [nan] * 3], {"m": np.zeros((3, 3))}, systems=[*"ABC"], texts=texts)
    assert facts(es) == {
        "systems": 3, "segments": 3, "metrics": 1, "rated_systems": 2, "comparable_segments": 1,
        "complete_segments": 0, "compared_segments": 1, "scored_segments": 0, "distinct_scores": 2, "ratings": 1,
        "documents": 0, "sources": 2, "references": 2, "translations": 2,
        "whole_segments": 0, "transcripts": 0, "speech_contexts": 0, "queries": 0,
    }  # fmt: skip
    bare = facts(mm.EvalSet([[0, 1]], {}, systems=["A"]))
    assert [bare[name] for name in ("sources", "references", "translations", "metrics")] == [0, 0, 0, 0]
    heard = pd.DataFrame({"system": [*"AAB"], "segment": [1, 2, 1], "speaker": "S"})
    heard = heard.assign(reference=["a", "b", "a"], transcript=["a", None, "c"])
    found = {name: n for name, n in facts(heard).items() if n}
    assert found == {"systems": 2, "segments": 1, "transcripts": 2, "speech_contexts": 1}
    lists = mm.datasets.load_rankings("teaching-ranking")
    assert {name: n for name, n in facts(lists).items() if n} == {"systems": 10, "queries": 50}
    found = {"metrics": 1, "systems": 3, "sources": 0}
    assert unmet(["metrics", "systems>=3"], found) == []
    assert unmet(["metrics>=2", "systems>=4", "sources"], found) == [
        "2 metrics with segment scores (there is 1)", "4 systems (there are 3)", "source texts (there are none)",
    ]  # fmt: skip


@pytest.mark.parametrize("page", runner.chapters(ROOT), ids=lambda page: Path(page).name)
def test_chapters_state_needs_that_the_teaching_set_meets(page):
    notebook = nbformat.read(ROOT / f"{page}.ipynb", as_version=4)
    needs = notebook.metadata["mtmeta"]["needs"]
    assert needs, "mtmeta.needs is empty: no chapter can run on a table without anything"
    assert unmet(needs, facts(mm.load("teaching"))) == []
    assert any(c.source.startswith('campaign = "teaching"') for c in notebook.cells if c.cell_type == "code")


def test_chapters_by_number_and_name(book):
    book("02_second", "1")
    book("real_data/ties", "1")
    book("00_template", "1")
    here = Path.cwd()
    assert list(runner.chapters(here)) == ["notebooks/01_first", "notebooks/02_second"]
    for name in ("2", "02", "02_second", "notebooks/02_second.ipynb"):
        assert runner.chapters(here, [name]) == {"notebooks/02_second": here / "notebooks" / "02_second.ipynb"}
    assert list(runner.chapters(here, ["2", "1", "02"])) == ["notebooks/01_first", "notebooks/02_second"]


def test_the_project_is_found_upward_and_beside_the_package_or_missed(run, book, tmp_path, monkeypatch):
    here = Path.cwd()
    monkeypatch.chdir(here / "notebooks")
    assert runner.find_project() == here
    monkeypatch.chdir(tmp_path)
    assert runner.find_project() == runner.find_project(book=ROOT) == ROOT
    code, _, err = run("run", "all", "--scores", "teaching", "--book", tmp_path)
    assert code == 2
    assert f"{tmp_path} is not a folder of the book" in err


@pytest.mark.slow
def test_chapters_run_are_skipped_or_fail_each_by_itself(run, book):
    book("02_needs", "print('never')", needs=["metrics>=3", "translations"])
    book("03_cannot", "print('begun')", CANNOT)
    book("04_fails", "print('so far')", "1 / 0", "print('never')")
    book("05_killed", "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)")
    book("06_undefined", "from mtmeta._checks import Undefined\nraise Undefined('no pair has a winner')")
    before = {path: path.read_bytes() for path in Path("notebooks").iterdir()}
    code, out, err = run("run", "all", "--scores", "mine.csv", "--no-site", "--format", "json")
    assert code == 1
    found = records(out)
    assert {name: row["status"] for name, row in found.items()} == {
        "01_first": "ran", "02_needs": "skipped", "03_cannot": "skipped", "04_fails": "failed",
        "05_killed": "failed", "06_undefined": "skipped",
    }  # fmt: skip
    reason = "it needs 3 metrics with segment scores (there are 2); texts of translations (there are none)"
    assert (found["02_needs"]["reason"], found["03_cannot"]["reason"]) == (reason, "it needs *stars*")
    assert found["06_undefined"]["reason"] == "no pair has a winner"
    assert found["04_fails"]["reason"] == "ZeroDivisionError: division by zero"
    assert "Kernel died" in found["05_killed"]["reason"]
    folder = Path("out/mine/notebooks")
    assert printed(folder / "01_first.ipynb") == "mine X Y (3, 2)\n"
    assert (printed(folder / "04_fails.ipynb"), printed(folder / "03_cannot.ipynb")) == ("so far\n", "")
    note = f":::{{admonition}} Skipped on your data\n:class: warning\nThis chapter cannot run on your data: {reason}"
    assert f"# A chapter\n\n{note}" in markdown(folder / "02_needs.ipynb")
    assert r"needs \*stars\*. What" in markdown(folder / "03_cannot.ipynb")
    assert "```text\nZeroDivisionError: division by zero\n```" in markdown(folder / "04_fails.ipynb")
    assert "papermill-error-cell" not in markdown(folder / "04_fails.ipynb")
    assert "skipped 02_needs: it needs 3 metrics" in err
    assert "failed 04_fails in " in err
    assert {path: path.read_bytes() for path in Path("notebooks").iterdir()} == before
    assert [p.name for p in folder.iterdir() if p.name.startswith(".")] == []


@pytest.fixture
def here(monkeypatch):
    """Execute notebooks in this process: what is asked is not about kernels."""
    monkeypatch.setattr(_run, "execute", run_here)
    monkeypatch.setattr(_run, "Parallel", one_by_one)


def test_a_rerun_does_what_is_not_done(run, book, here, monkeypatch):
    count = "with open('../count.txt', 'a') as file:\n    _ = file.write('{0}')"
    first = book("01_first", count.format("a"))
    book("02_cannot", f"{count.format('b')}\n{CANNOT}")
    book("03_fails", f"{count.format('c')}\n1 / 0")
    book("04_last", count.format("d"))

    def executed(*options):
        Path("count.txt").write_text("")
        code, _, err = run("run", "all", "--scores", "mine.csv", "--no-site", "--jobs", 1, *options)
        assert code == 1, err
        return Path("count.txt").read_text(), err

    assert executed()[0] == "abcd"
    Path("mine.csv").touch()
    again, err = executed()
    assert again == "c"
    done = [re.sub(r" in [\d.]+ s", "", line) for line in err.splitlines() if line.endswith("(done before)")]
    assert done == ["[1/4] ran 01_first (done before)", "[4/4] ran 04_last (done before)"]
    Path("mine.csv").write_text(TABLE.replace(".9,.5", ".8,.5"))
    assert executed()[0] == "abcd"
    chapter(first, count.format("a"), "2")
    Path("out/mine/notebooks/02_cannot.ipynb").unlink()
    assert (executed()[0], executed("--metric", "X")[0]) == ("abc", "abcd")
    Path("out/mine/notebooks/04_last.ipynb").write_text("{")
    assert executed("--metric", "X")[0] == "cd"
    monkeypatch.setattr(_run, "__version__", "9.9")
    assert executed("--metric", "X")[0] == "abcd"


def test_what_cannot_be_run_is_refused_first(run, book):
    Path("bad.csv").write_text(TABLE.replace("A,1,0,.9", "A,1,0,high"))
    assert run("run", "1", "--scores", "bad.csv", "--no-site") == run("validate", "bad.csv")
    assert not Path("out").exists()
    table = pd.read_csv(io.StringIO(TABLE))
    pd.concat([table.assign(lp=lp) for lp in ("en-de", "de-en")]).to_csv("two.csv", index=False)
    code, _, err = run("run", "1", "--scores", "two.csv", "--no-site")
    assert code == 2
    assert "two.csv holds 2 sets: two/de-en, two/en-de. Name one of them." in err


@pytest.mark.parametrize(("path", "content", "says"), [
    ("_toc.yml", b"a: !!python/object/apply:os.system ['touch canary']\n", "could not determine a constructor"),
    ("_toc.yml", b"title: \xe4\n", "_toc.yml is not UTF-8"),
    ("notebooks/01_first.ipynb", b"[]", "01_first.ipynb is not a notebook"),
])  # fmt: skip
def test_broken_and_hostile_sources_of_a_book_are_refused(run, book, path, content, says):
    Path(path).write_bytes(content)
    code, out, err = run("run", "all", "--scores", "mine.csv", "--no-site", "--book", Path.cwd())
    assert (code, out, says in err, Path("canary").exists()) == (2, "", True, False)


@pytest.mark.slow
def test_metrics_are_chosen_by_a_table_that_is_written(run, book, here):
    code, _, err = run("run", "1", "--scores", "mine.csv", "--metric", "Y", "--no-site", "--out", "there")
    assert code == 0, err
    assert printed(Path("there/notebooks/01_first.ipynb")) == "mine Y (3, 2)\n"
    written = mm.load("there/scores/mine.parquet")
    pd.testing.assert_frame_equal(written.to_frame(), mm.load("mine.csv", metrics=["Y"]).to_frame())
    code, out, err = run("run", "1", "--scores", "mine.csv", "--metric", "Z", "--no-site")
    assert (code, out) == (2, "")
    assert "'Z'" in err


def test_a_metric_to_examine_is_a_parameter_of_the_chapters_that_have_it(tmp_path, monkeypatch):
    monkeypatch.setattr("mtmeta.book.runner._run.Parallel", one_by_one)
    monkeypatch.setattr("mtmeta.book.runner._run.execute", run_here)
    es = mm.load("teaching")
    looks = write(tmp_path / "01_a.ipynb", 'campaign = ""  # parameters\nmetric = None', "print(metric)", requires=[])
    other = write(tmp_path / "02_b.ipynb", 'campaign = ""  # parameters', "metric = 1\nprint(metric)", requires=[])
    for path in (looks, other):
        with changed(path) as notebook:
            notebook.metadata["mtmeta"]["needs"] = []
    notebooks = {"notebooks/01_a": looks, "notebooks/02_b": other}
    runner.run(notebooks, es, "teaching", tmp_path / "out", metric="Judge", progress=False)
    assert [printed(tmp_path / "out" / f"{page}.ipynb") for page in notebooks] == ["Judge\n", "1\n"]
    refuses("metric", runner.run, notebooks, es, "teaching", tmp_path / "out", metric="Nobody")


@pytest.mark.slow
def test_parts_are_left_out_and_figures_say_whose_data_they_describe(run, book, here):
    with changed(book("01_first", "print('first')", "print('second')", "print('third')", METRICS)) as notebook:
        for k in (3, 4):
            notebook.cells[k].metadata["mtmeta"] = {"needs": ["rated_systems>=2"]}
        notebook.cells.insert(2, nbformat.v4.new_code_cell("import no_such_module"))
        notebook.cells[2].metadata["mtmeta"] = {"requires": ["no_such_module"]}
        notebook.metadata["mtmeta"]["requires"] = ["no_such_module"]
        described = {"image": {"alt": "A line that rises."}, "figure": {"caption": "Simulated: a line"}}
        notebook.cells[-1].metadata["mystnb"] = described
    pd.read_csv(io.StringIO(TABLE)).drop(columns="human").to_csv("unrated.csv", index=False)
    whole, own = "first\nsecond\nthird\n", "As it is on the book's data: "
    for scores, expected, whose in (("unrated", "first\n", own), ("mine", whole, own), ("teaching", whole, "")):
        code, _, err = run("run", "1", "--scores", scores if scores == "teaching" else f"{scores}.csv", "--no-site")
        assert code == 0, err
        ran = notebook_of(scores)
        assert printed(ran).startswith(f"{expected}{scores} ")
        note = ":::{admonition} Left out on your data\n:class: warning\nThis part needs 2 systems with human scores"
        assert markdown(ran).count(note) == (scores == "unrated")
        assert markdown(ran).count("needs no\\_such\\_module, which is not installed here") == 1
        shown = nbformat.read(ran, as_version=4).cells[-1].metadata["mystnb"]
        assert shown["image"]["alt"] == f"{whose}A line that rises."
        assert shown["figure"]["caption"] == ("a line" if whose else "Simulated: a line")


def test_text_with_a_condition_appears_only_where_it_holds(run, book, here):
    with changed(book("01_first", METRICS, "last = 1")) as notebook:
        for place, condition in ((4, "es.shape[0] > 2"), (3, "es.shape[0] > 3"), (3, "es.metrics")):
            cell = nbformat.v4.new_markdown_cell(f"It holds: {condition}.", metadata={"mtmeta": {"if": condition}})
            notebook.cells.insert(place, cell)
    assert run("run", "1", "--scores", "mine.csv", "--human-system", "B", "--no-site")[0] == 0
    ran = nbformat.read(notebook_of("mine"), as_version=4)
    assert re.findall("It holds: .*", markdown(notebook_of("mine"))) == [
        "It holds: es.metrics.",
        "It holds: es.shape[0] > 2.",
    ]
    assert [c.source for c in ran.cells if c.cell_type == "code"][-2:] == [METRICS, "last = 1"]
    note = (
        "Run on your data\n:class: note\nmine: 3 systems, 2 segments, 2 metrics. Human translations among the systems"
    )
    assert f"{note}: B." in markdown(notebook_of("mine"))
    assert run("run", "1", "--scores", "teaching", "--no-site")[0] == 0
    assert "Run on your data" not in markdown(notebook_of("teaching"))
    assert markdown(notebook_of("teaching")).count("It holds: ") == 3


@pytest.mark.slow
def test_transcripts_and_lists_go_to_the_chapters_that_take_them(run, book, here):
    with changed(book("02_both", "print(campaign, speech, ranking)")) as notebook:
        notebook.cells[1].source += "\nspeech = ranking = 'ours'"
        notebook.metadata["mtmeta"]["takes"] = {"speech": ["transcripts>=2"], "ranking": ["queries>=2"]}
    Path("said.csv").write_text("system,segment,reference,transcript\nA,1,a b,a\nB,1,a b,a b\n")
    Path("lists.csv").write_text("system,query,item,rank,relevance\nA,q,x,1,1\nB,q,x,1,1\n")
    whole, few = Path.cwd(), "it needs 2 queries with ranked lists (there is 1)"
    for name, status, reason in (("said", "ran", None), ("lists", "skipped", few)):
        code, out, err = run("run", "all", "--scores", f"{name}.csv", "--no-site", "--format", "json")
        assert code == 0, err
        found = records(out)
        assert (found["02_both"]["status"], found["02_both"]["reason"]) == (status, reason)
        assert found["01_first"]["status"] == "skipped"
        assert found["01_first"]["reason"].startswith("it needs translations and their scores; these are ")
    assert printed(notebook_of("said", "02_both")) == f"teaching {whole / 'said.csv'} ours\n"
    code, _, err = run("run", "2", "--scores", "teaching-ranking", "--no-site")
    assert code == 0, err
    assert printed(notebook_of("teaching-ranking", "02_both")) == "teaching ours teaching-ranking\n"


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.slow
def test_what_others_have_put_into_the_folder_is_not_replaced(run, book):
    theirs = Path("there/site/index.html")
    theirs.parent.mkdir(parents=True)
    theirs.write_text("of others")
    command = ("run", "1", "--scores", "mine.csv", "--metric", "Y", "--out", "there")
    code, out, err = run(*command)
    assert (code, out) == (2, "")
    assert "Refusing to write to there: it is not empty and has no file .mtmeta-run" in err.splitlines()[-1]
    assert contents(Path("there")) == {str(theirs): b"of others"}


@pytest.mark.slow
def test_sources_of_the_book_and_scores_in_its_folder_are_not_replaced(run, book, here):
    assert run("run", "1", "--scores", "mine.csv", "--metric", "Y", "--out", "there", "--no-site")[0] == 0
    project, before = Path.cwd(), contents(Path.cwd())
    for scores, out in (("mine.csv", project), ("there/scores/mine.parquet", "there")):
        code, _, err = run("run", "all", "--scores", scores, "--metric", "Y", "--book", project, "--out", out)
        assert (code, len(err.splitlines()), "Refusing to write to" in err) == (2, 1, True)
        assert contents(project) == before


@pytest.mark.slow
def test_site_has_the_chapters_and_says_what_became_of_them(run, book):
    book("02_needs", "print(1)", needs=["sources"])
    book("03_fails", "1 / 0")
    code, _, err = run("run", "1", "2", "3", "--scores", "mine.csv")
    assert code == 1
    start = Path("out/mine/site/book/your_run.html").resolve()
    assert f"site: {start}" in err
    page = start.read_text()
    for words in ("01_first", "it needs source texts (there are none)", "ZeroDivisionError: division by zero"):
        assert words in page
    notebooks = start.parents[1] / "notebooks"
    for name, said in (
        ("01_first", "mine X Y (3, 2)"), ("02_needs", "Skipped on"), ("03_fails", "Failed on your data"),
    ):  # fmt: skip
        assert said in (notebooks / f"{name}.html").read_text()
    assert not Path("out/mine/.site").exists()


# -- the chapters of the book ------------------------------------------------------------
# Every chapter on every kind of data: it runs, or is skipped because it needs more.

NAMES = [Path(page).name for page in runner.chapters(ROOT)]
#: By data: numbers of the chapters that need more than is there, and say what. All others must run.
SKIPPED = {
    "other": "12 15", "wmt23/he-en": "12 15", "gaps": "12 15", "faulty": "12 15", "holes": "02 03 09 11 12 13 15",
    "ted/zh-en": "01 02 03 04 05 06 10 11 12 13 14 15", "unrated": "01 02 03 04 05 06 09 10 11 12 13 14 15",
    "once": "01 02 03 04 05 06 09 10 11 12 13 14 15", "tiny": "02 05 06 07 08 09 11 12 13 15",
}  # fmt: skip
#: What is executed with each change: short chapters, and most kinds of tables.
EXECUTED = {("other", "04"), ("tiny", "01"), ("gaps", "09"), ("faulty", "01"), ("holes", "04")}
REAL = ("ted/zh-en", "wmt23/he-en")


@functools.cache
def tables() -> dict[str, pd.DataFrame]:
    """Return tables of all kinds by name: the teaching campaign with another seed and sizes, small, with holes …"""
    other = mm.simulate.campaign(n_systems=7, n_segments=60, seed=77).to_frame()
    tiny = mm.simulate.campaign(n_systems=3, n_segments=20, seed=5).to_frame()
    tiny = tiny[["system", "segment", "human", "Regressor"]].copy()
    holes, gaps = other.copy(), other.copy()
    for table, seed, share in ((tiny, 5, 0.1), (holes, 7, 0.4)):  # scores are missing
        rng = np.random.default_rng(seed)
        for column in [c for c in ("human", *mm.load("teaching").metrics) if c in table]:
            table.loc[rng.random(len(table)) < share, column] = np.nan
    # Single texts are missing, and one system has none at all.
    gaps.loc[gaps["system"] == gaps["system"].iloc[-1], "translation"] = None
    gaps.loc[gaps["segment"] == 3, "source"] = gaps.loc[gaps["segment"] == 5, "reference"] = None
    gaps.loc[[10, 75, 140], "translation"] = None
    # The sign of an error rate was not turned, a metric is constant, and another is given twice.
    faulty = other.assign(TER=-other["TER"], Constant=1.0, Twin=other["chrF"])
    # Each system has one rated segment, and no two the same.
    number = other["system"].map({name: k for k, name in enumerate(other["system"].unique())})
    once = other.assign(human=other["human"].where(other.groupby("system").cumcount() == number))
    found = {"other": other, "tiny": tiny, "gaps": gaps, "faulty": faulty, "once": once, "holes": holes}
    return found | {"unrated": other.drop(columns="human")}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tables")


@pytest.fixture
def scores(request, folder) -> str:
    """Return the name of a set, or the path of a table that is made here."""
    name = request.param
    path = folder / f"{name}.csv"
    if name in tables() and not path.exists():
        tables()[name].to_csv(path, index=False)
    return str(path) if name in tables() else name


loaded = functools.cache(functools.partial(mm.datasets.load_any, unrated="keep"))


def cases():
    """Return all pairs of data and chapter."""
    for name in SKIPPED:
        for chapter in NAMES:
            often = (name, chapter[:2]) in EXECUTED or chapter[:2] in SKIPPED[name]
            marks = [pytest.mark.slow if often else pytest.mark.exhaustive] + [pytest.mark.data] * (name in REAL)
            yield pytest.param(name, chapter, marks=marks, id=f"{name}-{chapter[:2]}")


#: At most so many draws: these tests ask whether a chapter runs, and tests/test_notebooks.py compares its numbers.
FEW = {
    "n_resamples": 40, "n_draws": 40, "n_campaigns": 2, "n_trials": 2, "n_repeats": 1, "n_samples": 5,
    "n_segments": 60, "n_utterances": 80, "factors": "[1, 0.25]",
}  # fmt: skip


def with_few_draws(path: Path, folder: Path) -> Path:
    """Copy a chapter to a folder, with fewer draws among its parameters."""
    notebook = nbformat.read(path, as_version=4)
    (cell,) = (c for c in notebook.cells if "parameters" in c.metadata.get("tags", []))
    for name, number in FEW.items():
        cell.source = re.sub(rf"(?m)^{name} = .*?(?= *#)", f"{name} = {number}", cell.source)
    folder.mkdir()
    nbformat.write(notebook, folder / path.name)
    return folder / path.name


def run_one(scores: str, name: str, out: Path) -> tuple[_run.Outcome, nbformat.NotebookNode]:
    """Run one chapter with few draws; return what became of it, and its notebook."""
    (data,) = loaded(scores)
    ((page, path),) = runner.chapters(ROOT, [name]).items()
    few = {page: with_few_draws(path, out.parent / "few")}
    outcome = runner.run(few, data, scores, out, jobs=1, progress=False)[page]
    return outcome, nbformat.read(out / f"{page}.ipynb", as_version=4)


def outputs(notebook: nbformat.NotebookNode, name: str) -> str:
    """Return what the cells of a notebook wrote to a stream."""
    found = [o for c in notebook.cells if c.cell_type == "code" for o in c.outputs if o.output_type == "stream"]
    return "".join(o.text for o in found if o.name == name)


@pytest.mark.parametrize(("scores", "name"), list(cases()), indirect=["scores"])
def test_every_chapter_runs_or_says_why_not(scores, name, tmp_path, request, here):
    data = request.node.callspec.id.rpartition("-")[0]
    outcome, notebook = run_one(scores, name, tmp_path / "out")
    if name[:2] in SKIPPED[data]:
        assert (outcome.status, outcome.reason.startswith(("it needs ", "it draws parts"))) == ("skipped", True)
        return
    assert (outcome.status, outcome.reason, outputs(notebook, "stderr")) == ("ran", "", "")
    if data == "gaps" and name[:2] in ("05", "07", "08", "09"):
        assert "left out" in outputs(notebook, "stdout")
    if (data, name[:2]) == ("unrated", "07"):
        text = "\n\n".join(c.source for c in notebook.cells if c.cell_type == "markdown")
        assert text.count(":::{admonition} Left out on your data") == 1
        parts = ("Does the lead survive?", "What chance alone does")
        assert [f"### {part}" in text for part in parts] == [False, True]


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", ["speech", "ranking"])
def test_own_transcripts_and_lists_in_the_chapter_on_them(kind, tmp_path, here):
    path = tmp_path / "own.csv"
    if kind == "speech":
        table = mm.datasets.load_transcripts("teaching-speech").drop(columns="truth")
        table = table[table["segment"].isin(table["segment"].unique()[:60])].copy()
        table.loc[table.index[:3], "transcript"] = None
    else:
        lists = mm.datasets.load_rankings("teaching-ranking")
        table = lists.to_frame()
        table = table[table["system"].isin(lists.systems[:4]) & table["query"].isin(lists.queries[:20])]
    table.to_csv(path, index=False)
    outcome, notebook = run_one(str(path), "8", tmp_path / "out")
    assert (outcome.status, outcome.reason, outputs(notebook, "stderr")) == ("ran", "", "")
    tables = [o.data["text/plain"] for c in notebook.cells for o in c.get("outputs", []) if "data" in o]
    said = {"speech": "left out, because a text is missing: 3 rows", "ranking": r"ranking, system .* of 4\b"}
    assert re.search(said[kind], "\n".join([outputs(notebook, "stdout"), *tables]))


# -- text that holds on some data only ---------------------------------------------------


@functools.cache
def awkward() -> dict[str, mm.EvalSet]:
    """Return small sets by what is awkward about them."""
    sizes = {"n_systems": 6, "n_segments": 60, "seed": 11}
    whole, bare = (mm.simulate.campaign(**sizes, texts=texts) for texts in (True, False))
    best = whole.human.mean(axis=1) == whole.human.mean(axis=1).max()
    favours = whole["Regressor"] + 0.15 * best[:, None]

    def without(es, *names, **more):
        return es.with_metrics({m: es[m] for m in es.metrics if m not in names} | more)

    return {
        "no texts": without(bare, "SourceOnly"),
        "one baseline": bare,
        "no blind": without(whole, "SourceOnly"),
        "no silent": without(whole, "SourceOnly", "Judge", "Tagger"),
        "favour in the best": without(whole, "Biased", House=favours),
        "eight systems": mm.simulate.campaign(**sizes | {"n_systems": 8}),
    }


SENTINEL = {"one baseline", "no blind", "no silent", "favour in the best", "eight systems"}
ALL = {"no texts", *SENTINEL}
#: By chapter: words, and the sets on which they stand on the page.
CONDITIONAL = {
    "01": {"It depends on what you compare. Over all six": ALL, "The column *errors* shows": ()},
    "03": {"twins on average": ALL, "a planted favour": (), "without the favour:": ()},
    "04": {
        "the most that any sentinel can know": {"no texts"},
        "minus the length of the source.": {"no blind", "no silent"},
        "No metric is constant within segments.": {"no texts", "no blind", "no silent"},
        "This part needs source texts": {"no texts", "one baseline"}, "a longer translation is": (),
    },
}  # fmt: skip
OFTEN = ("no texts", "04_grouping_and_sentinels")
AWKWARD = [
    pytest.param(*case, marks=pytest.mark.slow if case == OFTEN else pytest.mark.exhaustive)
    for case in product(sorted(ALL), NAMES)
]


@pytest.mark.parametrize(("data", "name"), AWKWARD)
def test_what_a_chapter_says_holds_on_awkward_data(data, name, tmp_path, here):
    path = str(tmp_path / "own.csv")
    awkward()[data].to_frame().drop(columns=["doc"] * (data == "one baseline")).to_csv(path, index=False)
    (es,) = loaded(path)
    outcome, notebook = run_one(path, name, tmp_path / "out")
    needs = nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", as_version=4).metadata["mtmeta"]["needs"]
    allowed = ["skipped"] if unmet(needs, facts(es)) else ["ran"] if name[:2] in CONDITIONAL else ["ran", "skipped"]
    assert outcome.status in allowed, outcome.reason
    if outcome.status == "skipped":  # as chapter 12 is, where there is one rating
        return
    text = markdown(tmp_path / "out" / "notebooks" / f"{name}.ipynb") + outputs(notebook, "stdout")
    expected = {words: data in sets for words, sets in CONDITIONAL.get(name[:2], {}).items()}
    assert {words: words in text for words in expected} == expected
