"""The notes for the lecturer: each problem and exercise of the syllabi has them, and their numbers are recomputed."""

import itertools
import math
import re
from pathlib import Path

import nbformat
import numpy as np
import pytest

import mtmeta as mm

TEACHING = Path(__file__).resolve().parent.parent / "book" / "teaching"
NOTES = (TEACHING / "notes.md").read_text(encoding="utf-8")
PLAN = (TEACHING / "syllabi.md").read_text(encoding="utf-8")
ENTRIES = dict(re.findall(r"^### (.+?)\n\n(.*?)(?=^#|\Z)", NOTES, flags=re.M | re.S))


def plain(value, digits):
    """Write a number as the notes do."""
    return re.sub(r"^(-?)0\.", r"\1.", f"{value:.{digits}f}").replace("-", "−")


def part(title, label):
    return re.search(rf"\*\*{label}\.\*\* (.*?)(?=\n\n\*\*|\Z)", ENTRIES[title], flags=re.S)[1]


def row(title, name):
    """Return the numbers in a row of the table on the board."""
    cells = re.search(rf"^\| {name} \|(.+)\|$", part(title, "On the board"), flags=re.M)[1].split("|")
    return [float(cell.replace("−", "-")) for cell in cells if cell.strip() != "?"]


def test_each_problem_exercise_and_activity_of_the_syllabi_has_an_entry():
    linked = set(re.findall(r'href="(?:\.\./\.\./)?((?:notebooks/|notes)[\w/.]+#[\w-]+)"', PLAN))
    shown = {link for link in linked if "predictions" not in link and not link.endswith("#what-to-take-away")}
    own = {f"notes.html#{re.sub(r'[^a-z0-9]+', '-', title.lower()).strip('-')}" for title in ENTRIES}
    has = set(re.findall(r'href="\.\./\.\./(notebooks/[\w/.]+#[\w-]+)"', NOTES)) | own
    assert shown <= has
    for title, text in ENTRIES.items():
        expected = text.partition("**Expect.** ")[2]
        assert re.search(r"^- \*.+\* \S", expected, flags=re.M), f"{title}: a wrong answer, and what to reply"
        assert "**Answer.**" not in text or "**On the board.**" in text or "#ex-" in text, title


def test_the_minutes_of_each_session_follow_each_other_and_no_talk_is_long():
    tables = re.findall(r"\| minute \| what \| with \|\n\|[-:|]+\|\n((?:\|.+\n)+)", PLAN)
    for table in tables:
        rows = re.findall(r"^\| (\d+)-(\d+) \| .+ \| (.+) \|$", table, flags=re.M)
        assert [0, *(int(end) for _, end, _ in rows)] == [*(int(start) for start, *_ in rows), 90]
        for start, end, shown in rows:
            by_the_class = re.search(r"#ex-|notes\.html|from-formula-to-code", shown)
            assert by_the_class or int(end) - int(start) <= 20, (start, end)


def test_answers_of_chapters_1_to_4_follow_from_the_board():
    title = "Six translations"
    human, x, y = np.array([row(title, name) for name in "ABC"]).reshape(3, 2, 3).transpose(2, 0, 1)
    es = mm.EvalSet(human, {"X": x, "Y": y}, systems=list("ABC"))
    pooled, within = (mm.correlate(es, grouping=g)["value"] for g in ("none", "segment"))
    x, y = (plain(value, 2) for value in pooled)
    assert f"X gets {x} and Y {y}. Within segments Y gets {within[1]:.0f}; X is constant" in part(title, "Answer")
    assert within[0] == 0

    lead = np.array(row("Five segments", "A leads B by")[:5])
    sums = np.array(list(itertools.product([1, -1], repeat=5))) @ lead
    ways = (abs(sums) >= lead.sum()).sum()
    assert (f"In {ways} of 32", f"= {plain(ways / 32, 2)}$") == ("In 10 of 32", "= .31$")
    assert "In 10 of 32: five" in part("Five segments", "Answer")
    signs = (abs(np.sign(np.array(list(itertools.product([1, -1], repeat=5)))).sum(axis=1)) >= 3).sum()
    assert f"*{signs} of 32.* That counts segments won" in part("Five segments", "Expect")

    bad, good = {"A": 10, "B": 90}, {"A": 90, "B": 10}
    said = {s: (bad[s] * 0.2, bad[s] * 0.2 + good[s] * 0.8) for s in "AB"}
    answer = part("Two systems", "Answer").replace("-", "−")
    for system, (wrong, called) in said.items():
        assert f"{plain(-10 * wrong / called, 2)}$" in answer, system
    both = sum(wrong for wrong, _ in said.values()), sum(called for _, called in said.values())
    assert f"{both[0]:.0f} of {both[1]:.0f}: $−2$" in answer
    share = said["A"][1] / 100
    predicted = share * -2 + (1 - share) * -8
    assert f"by {-1 - predicted:.2f} points" in part("Definitions of chapter 3", "Expect")
    assert f"SysDep is {2 * (-1 - predicted):.2f}" in part("Definitions of chapter 3", "Expect")
    assert f"{8 - (10 - 20 * 0.1) * (0.8 - 1.6 * 0.1):.2f} already" in part("When do the maps coincide?", "Expect")

    title = "Perfect and useless"
    human, s, metric = np.array([row(title, name) for name in "AB"]).reshape(2, 3, 3).transpose(2, 0, 1)
    es = mm.EvalSet(human, {"S": s, "L": metric}, systems=list("AB"))
    pooled = mm.correlate(es, grouping="none")["value"]
    assert f"S gets {plain(pooled[0], 2)} and L {plain(pooled[1], 2)}" in part(title, "Answer")
    assert mm.correlate(es)["value"].tolist() == [0, 1]
    assert sorted(human.ravel()[metric.ravel().argsort()[:2]]) == sorted(human.ravel())[-2:]


def test_answers_of_chapters_6_to_14_follow_from_the_board():
    four = mm.EvalSet([[5], [3], [5], [5]], {"m": [[0.6], [0.5], [0.4], [0.4]]}, systems=list("ABCD"))
    curve = 6 * mm.calibrate_ties(four, "m").curve
    assert part("Four translations and a threshold", "Answer").startswith(
        "{:.0f}/6, {:.0f}/6 and {:.0f}/6.".format(*curve)
    )

    matches, words = np.array([1, 18]), np.array([2, 20])
    mean, total = plain((matches / words).mean(), 2), plain(matches.sum() / words.sum(), 3)
    assert f"= {mean}$, and $19/22 = {total}$" in part("Two sentences", "Answer")

    toy = mm.EvalSet([[-2], [-1], [-3], [-6]], {"m": [[30], [29], [27], [23]]}, systems=list("ABCD"))
    pairs = mm.differences.system_pairs(toy, "m").sort_values("difference")
    assert (pairs["agreement"].sum(), pairs["agreement"].tolist()[0], pairs["difference"].tolist()[0]) == (5, 0, 1)

    quality, first, second = (row("Eight translations and two raters", n) for n in ("quality", "first", "second"))
    found = [np.corrcoef(first, other)[0, 1] for other in (second, quality)]
    assert found == pytest.approx([4 / 5, 4 / math.sqrt(20)])
    assert plain(found[1], 3) in part("Eight translations and two raters", "Answer")

    human, metric = np.array(row("Eight segments, four rated", "human")), row("Eight segments, four rated", "metric")
    slope = np.polyfit(metric[:4], human, 1)[0]
    corrected = human.mean() - slope * (np.mean(metric[:4]) - np.mean(metric))
    assert part("Eight segments, four rated", "Answer").startswith(f"{corrected:.0f}. ")

    scores = {"m": [[90], [88], [86], [84], [80]], "constant": [[1]] * 5}
    five = mm.EvalSet([[0], [0], [0], [0], [-5]], scores, systems=list("ABCDE"))
    raw, constant = mm.correlate(five, coefficient="acc_eq", epsilon=0)["value"]
    best = mm.calibrate_ties(five, "m")
    answer = part("Five translations, four without errors", "Answer")
    assert f"The metric gets {plain(raw, 1)}:" in answer
    assert f"A constant gets {plain(constant, 1)}." in answer
    assert f"threshold of {best.epsilon:.0f} points the metric gets {plain(best.value, 1)}" in answer


#: Numbers of an exercise's replies: those of its solution, as the chapter stores them.
STORED = {
    "Length as a sentinel": ("04_grouping_and_sentinels", [".047"]),
    "Round, and rise": ("04_grouping_and_sentinels", [".396", ".385"]),
    "A tie or a coin?": ("06_ties", [".366", ".222"]),
    "On real scores (ties)": ("06_ties", [".715", "2755", "9672"]),
}


@pytest.mark.parametrize("title", STORED)
def test_numbers_from_a_chapter_stand_in_its_outputs(title):
    page, values = STORED[title]
    notebook = nbformat.read(TEACHING.parent.parent / "notebooks" / f"{page}.ipynb", as_version=4)
    shown = str([cell.outputs for cell in notebook.cells if cell.cell_type == "code"])
    for value in values:
        assert value in ENTRIES[title].replace(",", ""), value
        assert value in shown, value


def test_numbers_in_the_replies_are_right():
    four = mm.EvalSet([[0, -4], [-2, -6]], {"m": [[8, 4], [6, 4]]}, systems=["A", "B"])
    split = mm.agreement.decompose_pearson(four).iloc[0]
    shares = [plain(split[name] / split["value"], 2) for name in ("between", "within")]
    told = (
        f"*{shares[0]} lie between segments, and {shares[1]} within.*",
        f"to the correlation, {plain(split['value'], 2)}.",
    )
    assert all(words in part("Four items by hand", "Expect") for words in told)
    assert f"(1 + 8)/256 = {plain(9 / 256, 3)}" in part("Ten coins", "Expect")
    assert plain(1 / math.sqrt(300 * 11), 2) == ".02"
    u = 1 / 3
    assert u == pytest.approx((1 - u) / 2)
    assert "are equal at $u = 1/3$" in part("A tie or a coin?", "Answer")
