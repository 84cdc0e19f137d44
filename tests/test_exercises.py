"""Exports of exercises and checks of answers: that they notice what is off, and do not give the answer away."""

import functools
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import nbformat
import numpy as np
import pandas as pd
import pytest
from campaigns import refuses

import mtmeta as mm
from mtmeta.book import exercises, runner, sheets
from mtmeta.book.exercises._compare import Expected, complaints

ROOT = Path(__file__).parents[1]
CHAPTERS = sorted((ROOT / "notebooks").glob("[01][0-9]_*.ipynb"))[1:]


def chapter(path):
    return nbformat.read(path, as_version=4)


@functools.cache
def read(path):
    return sheets.read(chapter(path))


def labels(paths, checked=True):
    return [e.label for path in paths for e in read(path)[1] if e.check or not checked]


def said(answer, expected):
    return list(complaints(answer, expected))


NAN = float("nan")
SLIPS = {
    "": [0.3125, 0.313, 0.3126], "the sign": [-0.3125], "100 times too large": [31.25],
    "100 times too small": [0.003125], "the complement": [1 - 0.3125],
    "too high": [0.45], "too low": [0.22], "undefined": [NAN], "expected a number; found a str": ["0.3125"],
    "expected a number; found a list": [[0.3125]], "expected a number; found a bool": [True],
}  # fmt: skip


@pytest.mark.parametrize("hint", SLIPS)
def test_a_number_that_is_off_is_told_how(hint):
    for answer in SLIPS[hint]:
        hints = said(answer, 0.3125)
        assert [found[: len(hint)] for found in hints] == [hint] * bool(hint)
        assert not any(value in " ".join(hints) for value in ("0.31", ".3125", "31.2", "31 %"))


def test_counts_are_exact_and_chance_gets_its_margin():
    assert said(4322, 4322) == said(4322.0, 4322) == said(0.34, Expected(0.30, 0.05)) == []
    assert said(4321, 4322) == said(4323, 4322) == ["off by one"]
    assert (said(4300, 4322), said(0.36, Expected(0.30, 0.05))) == (["too low"], ["too high"])


TABLE = pd.DataFrame({"none": [0.71, 0.442, 0.305], "segment": [0.413, 0.0375, -0.251]}, index=["BLEU", "chrF", "TER"])


TABLES = [
    (-TABLE, "the sign"),
    (TABLE.assign(segment=-TABLE["segment"]), "column segment: the sign"),
    (TABLE.assign(none=100 * TABLE["none"]), "column none: 100 times too large"),
    (TABLE.replace(0.442, 0.6), "column none: 1 of 3 rows are off: chrF (too high)"),
    (TABLE.drop(columns="segment"), "no column segment; found none"),
    (TABLE.drop(index="TER"), "no row TER; found BLEU, chrF"),
    (TABLE.astype(str).replace("0.71", "good"), "the table must hold one number"),
    (TABLE.to_numpy(), "expected a DataFrame; found a ndarray"),
]


@pytest.mark.parametrize(("answer", "hint"), TABLES, ids=[hint for _, hint in TABLES])
def test_a_table_that_is_off_is_told_where(answer, hint):
    hints = said(answer, TABLE)
    assert len(hints) == 1
    assert hints[0].startswith(hint)
    assert not re.search(r"\d\.\d", hints[0])


LOOKS = {
    "itself": TABLE, "rounded": TABLE.round(3), "in another order": TABLE.iloc[::-1, ::-1],
    "labels in a column": TABLE.rename_axis("metric").reset_index(), "with more columns": TABLE.assign(more=1),
    "with another name": TABLE.set_axis(pd.Index(["BLEU", "chrF", "TER"], name="m")),
}  # fmt: skip


@pytest.mark.parametrize("look", LOOKS)
def test_a_right_table_may_look_different(look):
    assert said(LOOKS[look], TABLE) == []


def test_no_work_does_not_pass_where_nobody_is_favoured():
    es = mm.load("teaching")
    found = exercises.check("ex-03-own", {"systems": [], "range": 0.9}, es=es)
    assert (found.status, [hint[:6] for hint in found.hints]) == ("wrong", ["range:"])
    assert exercises.check("ex-03-own", [], es=es).status == "wrong"


@pytest.mark.parametrize("answer", ["c", "C", {"C"}, ["c"], ("c",)])
def test_letters_are_right_in_any_form(answer):
    assert said(answer, {"c"}) == []
    assert said("b, C", ["b", "c"]) == []
    assert said("a", {"c"}) == ["1 too many: a", "1 missing"]


def test_entries_names_words_and_series():
    right = {"r": 0.5, "names": ["A", "B"], "metric": "BLEU", "clean": True, "by k": pd.Series({1: 0.2, 2: 0.4})}
    assert said({**right, "names": ("B", "A"), "by k": {1: 0.2, 2: 0.4}}, right) == []
    assert said(3, right) == ["expected a dict with r, names, metric, clean and 1 more; found a int"]
    assert said({k: v for k, v in right.items() if k != "r"}, right)[0].startswith("r: missing")
    for key, value, hints in (
        ("r", ..., ["not answered yet"]), ("names", ["A", "C"], ["1 too many: C", "1 missing"]),
        ("names", "AB", ["expected a list of names; found a str"]), ("metric", "TER", ["it is not 'TER'"]),
        ("metric", 1, ["expected a name; found a int"]), ("clean", False, ["it is not False"]),
        ("by k", {1: 0.2, 2: 0.1}, ["1 of 2 rows are off: 2 (too low)"]),
    ):  # fmt: skip
        assert said({**right, key: value}, right) == [f"{key}: {hint}" for hint in hints]


def test_an_answer_of_open_entries_is_open():
    assert exercises.check("ex-02-ties", {"a": ..., "b": None}).status == "open"
    assert exercises.check("ex-02-ties", 11 / 1024).status == "right"
    assert exercises.check("ex-02-ties", 9 / 256).hints == ("too high",)


def test_data_without_an_answer_are_told_so():
    es = mm.EvalSet([[1, 2, 3], [3, 2, 0]], {"m": [[1, 2, 3], [2, 3, 1]]}, systems=["A", "B"])
    found = exercises.check("ex-04-length", pd.DataFrame(), es=es)
    assert found.status == "unknown"
    assert "lack sources" in repr(found)
    human = np.add.outer([3, 2, 1, 0], np.zeros(40)) + np.random.default_rng(1).normal(size=(4, 40))
    noise = np.random.default_rng(2).normal(size=(4, 40))
    names = np.repeat([[3], [2], [1], [0]], 40, axis=1)
    es = mm.EvalSet(human, {"noise": noise, "names only": names}, systems=[*"ABCD"])
    names = mm.correlate_groups(es, "names only", coefficient="tau_14").set_index("group")["value"]
    es = mm.EvalSet(human, {"noise": noise}, systems=[*"ABCD"])
    assert exercises.check("ex-10-name", [], es=es, names=names).status == "unknown"
    assert exercises.check("ex-10-name", ["noise"], es=es, names=names).hints == ("1 too many: noise",)


@pytest.mark.parametrize(("answer", "hint"), [
    (lambda e: 32 * e * (1 - e), "^$"), (lambda e: 3200 * e * (1 - e), "^100"), (lambda e: 16 * e, "rows are off"),
    (1, "not callable"), (lambda e: 1 / 0, "raises ZeroDivisionError"),
])  # fmt: skip
def test_a_function_is_judged_by_its_values(answer, hint):
    assert re.search(hint, " ".join(exercises.check("ex-03-rate", answer).hints))


@pytest.mark.parametrize("e", [0.0, 0.1, 0.5])
def test_the_rate_of_the_toy_is_that_of_the_package(e):
    """SysDep of the toy from translations: A has nine perfect ones in ten, B one."""
    n, human, said = 200, [], []
    for perfect in (180, 20):
        good = np.arange(n) < perfect
        wrong = np.concatenate([np.arange(k) < round(e * k) for k in (perfect, n - perfect)])
        human.append(np.where(good, 0.0, -10.0))
        said.append((good ^ wrong).astype(float))
    toy = mm.EvalSet(human, {"m": said}, systems=["A", "B"])
    assert mm.system_dependence(toy, "m", n_resamples=0).summary["sysdep"][0] == pytest.approx(32 * e * (1 - e))


def test_guards_are_tried_on_shapes():
    def guard(translations, references):
        if any(isinstance(own, str) or len(own) != len(translations) for own in references):
            raise ValueError

    assert exercises.check("ex-09-guard", guard).hints == ()
    passes = exercises.check("ex-09-guard", lambda t, r: None).hints
    assert passes == ("a transposed list passes", "a flat list passes", "a short list passes")

    def refuse(translations, references):
        raise ValueError

    assert exercises.check("ex-09-guard", refuse).hints[0] == "one list of references is stopped, but is right"


def test_a_built_metric_is_judged_by_what_it_does():
    es = mm.load("teaching")
    mean = np.nanmean(es.human, axis=0)
    assert exercises.check("ex-01-both", mean - 0.05 * (es.human - mean), es=es).hints == ()
    assert "not negative" in exercises.check("ex-01-both", es.human, es=es).hints[-1]
    assert "too far" in exercises.check("ex-01-both", -es.human, es=es).hints[0]
    assert "of shape" in exercises.check("ex-01-both", es.human.T, es=es).hints[0]


def test_every_exercise_has_a_check():
    assert {*labels(CHAPTERS, checked=False)} == {*labels(CHAPTERS)} == set(exercises.names())


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda p: p.stem)
def test_the_stored_solutions_pass_their_checks(path):
    cells = [c for c in chapter(path).cells if c.cell_type == "code" and "mm.book.check(" in c.source]
    shown = [cell.outputs[-1]["data"]["text/plain"] for cell in cells]
    assert shown == [f"{label}: right" for label in labels([path])]


def telling(text):
    """Return the lines of code that say something: no brackets alone, no check."""
    lines = (line.strip() for line in text.splitlines())
    return {line for line in lines if len(line) > 6 and not line.startswith(("mm.book.check(", "answer = {"))}


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda p: p.stem)
def test_an_export_holds_no_solution(path):
    notebook = chapter(path)
    needed, found = read(path)
    made = sheets.to_notebook(notebook)
    start = next(i for i, cell in enumerate(made.cells) if cell.source.startswith("## Exercise 1"))
    asked = "\n".join(cell.source for cell in made.cells[start:])
    given = telling("\n".join(cell.source for e in found for cell in e.statement))
    for exercise in found:
        code = [cell.source for cell in exercise.solution if cell.cell_type == "code"]
        answer = telling("\n".join([*code, exercise.answer])) - given
        assert answer
        assert not answer & telling(asked)
        prose = {cell.source for cell in exercise.solution if cell.cell_type == "markdown"}
        assert not [text for text in prose if text in asked]
        outputs = [o for cell in exercise.solution if cell.cell_type == "code" for o in cell.outputs]
        shown = {str(o.get("text") or o.get("data", {}).get("text/plain", "")).strip() for o in outputs} - {""}
        assert not [text for text in shown if text in "\n".join(c.source for c in made.cells)]
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in made.cells)
    kept = {cell.source for cell in needed}
    assert [c.source for c in made.cells[:start] if c.cell_type == "code" and c.source not in kept] == []
    nbformat.validate(made)
    text = "\n".join(cell.source for cell in made.cells if cell.cell_type == "markdown")
    assert not re.search(r"\{exercise|\{\w+(:\w+)?\}`", text)  # no directive and no role of the book
    assert len(re.findall(r"^## Exercise \d+: ", text, flags=re.M)) == len(found)


def test_the_code_of_an_export_is_whole_and_knows_each_name(tmp_path):
    for solutions in (False, True):
        for path in CHAPTERS:
            nbformat.write(sheets.to_notebook(chapter(path), solutions=solutions), tmp_path / f"{path.stem}.ipynb")
        command = [sys.executable, *"-m ruff check --isolated --no-cache --select F821".split(), tmp_path]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout


def each_week(path):
    """Mark all chapters but one as too wide for each change."""
    often = path.stem.startswith("01")
    return pytest.param(path, marks=pytest.mark.slow if often else pytest.mark.exhaustive, id=path.stem)


@pytest.mark.parametrize("path", [each_week(path) for path in CHAPTERS])
def test_exports_run_unanswered_and_solved(path, tmp_path):
    if lacking := [r for r in runner.missing(path) if r not in ("torch", "transformers", "accelerate")]:
        pytest.skip(f"not here: {', '.join(lacking)}")
    for solutions, status in ((False, "not answered yet"), (True, "right")):
        nbformat.write(sheets.to_notebook(chapter(path), solutions=solutions), tmp_path / "a.ipynb")
        runner.execute(tmp_path / "a.ipynb", tmp_path / "a.ipynb")
        cells = [cell for cell in chapter(tmp_path / "a.ipynb").cells if "check" in cell.metadata.get("tags", [])]
        shown = [cell.outputs[0]["data"]["text/plain"] for cell in cells]
        assert shown == [f"{name}: {status}" for name in labels([path])]


def cells(*sources):
    return [nbformat.v4.new_code_cell(source) for source in sources]


def test_an_answer_is_left_open():
    source = "# T\n\n```{exercise-start} One\n:label: ex-06-third\n```\nWhat?\n```{exercise-end}\n```\n\n"
    source += "```{solution-start} ex-06-third\n:class: dropdown\n```\n"
    source += "It is {term}`p <x>`, by {numref}`fig-06-free` and {cite:p}`kendall1945ties`."
    code = 'answer = {"u": 1 + 1, "share": "secret"}\nmm.book.check("ex-06-third", answer)'
    end = nbformat.v4.new_markdown_cell("```{solution-end}\n```")
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_markdown_cell(source), *cells("secret = 5", code, 'answer["share"]'), end]
    )
    made = sheets.to_notebook(notebook)
    assert made.cells[-2].source == '# Write your code here.\nanswer = {\n    "u": ...,\n    "share": ...,\n}'
    assert made.cells[-1].source == 'mm.book.check("ex-06-third", answer)'
    assert "secret" not in "".join(cell.source for cell in made.cells)
    sources = [cell.source for cell in sheets.to_notebook(notebook, solutions=True).cells]
    assert sources[-5:-2] == [
        "It is p, by a figure of chapter 6 and Kendall 1945.",
        "secret = 5",
        'answer = {"u": 1 + 1, "share": "secret"}',
    ]
    assert sources[-1] == 'answer["share"]'
    refuses("the notebook has no exercise", sheets.to_notebook, nbformat.v4.new_notebook(cells=cells("1")))


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda p: p.stem)
def test_an_answer_left_open_has_every_key(path):
    """Each key that a solution writes has its place; one answer has the keys of the data."""
    made = [c.source for c in sheets.to_notebook(chapter(path)).cells if "answer" in c.metadata.get("tags", [])]
    for exercise, left_open in zip(read(path)[1], made, strict=True):
        asked = set(re.findall(r'^    "(.+)": \.\.\.,$', left_open, flags=re.M))
        literal = re.search(r"answer = \{\s*(\"[^}]*)\}", exercise.answer)
        more = re.findall(r'answer\["([^"]+)"\] =', exercise.answer)
        written = {*re.findall(r'"([^"]+)":', literal[1] if literal else ""), *more}
        assert left_open.startswith("# Write your code here.\nanswer = ")
        assert written <= asked, exercise.label


@pytest.mark.slow
def test_the_command_writes_notebooks_and_keeps_answers(tmp_path, command_line, monkeypatch):
    monkeypatch.chdir(tmp_path)
    command = ("exercises", "1", "4", "--out", "sheets")
    assert [command_line(*command)[:2] for _ in range(2)] == [(0, "")] * 2
    names = ["01_scores_and_agreement_exercises.ipynb", "04_grouping_and_sentinels_exercises.ipynb"]
    assert sorted(path.name for path in (tmp_path / "sheets").iterdir()) == names
    sheet = tmp_path / "sheets" / names[0]
    sheet.write_text(sheet.read_text().replace("# Write your code here.", "x = 1"))
    code, _, err = command_line(*command)
    assert code == 2
    assert "Not overwritten because these files may contain answers" in err
    assert "x = 1" in sheet.read_text()
    assert command_line(*command, "--solutions")[0] == 0
    made = chapter(tmp_path / "sheets" / "01_scores_and_agreement_solutions.ipynb")
    assert any("perverse" in cell.source for cell in made.cells)


def test_the_syllabi_give_each_question_its_minutes():
    page = (ROOT / "book" / "teaching" / "syllabi.md").read_text(encoding="utf-8")
    text = "\n\n".join(c.source for c in chapter(ROOT / "notebooks/teaching/predictions.ipynb").cells)
    asked = dict(re.findall(r"## Chapter (\d+):.*?\*\*Question\*\* \((\d+) minutes\)", text, flags=re.S))
    assert list(asked) == [str(n) for n in range(1, 16)]
    planned = re.findall(r"^\| (\d+)-(\d+) \|.*predictions\.html#chapter-(\d+)-", page, flags=re.M)
    assert len(planned) > 15
    assert [(a, b, n) for a, b, n in planned if int(b) - int(a) != int(asked[n])] == []


def test_every_question_has_options_one_right_and_the_reasoning():
    notebook = chapter(ROOT / "notebooks" / "teaching" / "predictions.ipynb")
    asked = [cell for cell in notebook.cells if cell.cell_type == "code" and "options(\n" in cell.source]
    tables = [o["data"]["text/plain"] for cell in asked for o in cell.outputs if "data" in o]
    assert len(tables) == 15
    assert all(table.count("*") == 1 for table in tables)
    prose = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    for part in (":::{admonition} The reasoning behind the wrong answers\n:class: dropdown", "**Misconception.**"):
        assert prose.count(part) == 15
    places = Counter(re.search(r"^([A-D]) .*\*", table, flags=re.M)[1] for table in tables)
    assert max(places[letter] for letter in "ABCD") - min(places[letter] for letter in "ABCD") <= 2
    offered = [len(re.findall(r"^- \*\*[A-E]\.\*\*", part, flags=re.M)) for part in prose.split("## Chapter ")[1:]]
    assert offered == [len(re.findall(r"^[A-E] ", table, flags=re.M)) for table in tables]
