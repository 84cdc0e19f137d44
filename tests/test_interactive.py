"""Figures with a knob: their values, hostile names, and what `tests/browser/interactive.mjs` saw of the built site."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from campaigns import refuses
from pages import Page
from sites import NARROW, console_faults, drive, network_faults

import mtmeta as mm
from mtmeta.book.interactive import lines as interactive_lines
from mtmeta.book.interactive import threshold as interactive_threshold

THRESHOLDS = "notebooks/06_ties"
DIFFERENCES = "notebooks/11_difference"
QUIZ = "book/quiz/agreement"
HOSTILE = '</script><img src=x onerror="alert(1)"> & $\\u003c'


class Knob(Page):
    """A figure with its data, and the keys of the cells of its table."""

    def __init__(self, text):
        super().__init__(text)
        self.keys = [cell["data-text"] for cell in self.all("td") if "data-text" in cell]
        elements = zip(self.tags, self.texts, strict=True)
        self.data = next(json.loads(text) for (_, given), text in elements if given.get("type") == "application/json")
        self.scales = [json.loads(given["data-scale"]) for _, given in self.tags if "data-scale" in given]


@pytest.mark.parametrize("metric", ["Regressor", "Judge", "chrF"])
def test_threshold_is_that_of_the_package(teaching, metric):
    part = teaching.select(segments=teaching.segments[:40])
    figure, found = interactive_threshold(part, metric), mm.calibrate_ties(part, metric)
    assert max(figure.values["acc_eq"]) == pytest.approx(found.value, abs=1e-6)
    assert len(figure.positions) == len(found.thresholds)
    for k in (0, len(figure.positions) // 2, len(figure.positions) - 2):
        at = found.thresholds[np.argmin(np.abs(found.thresholds - figure.values["epsilon"][k]))]
        expected = mm.correlate(part, metric, coefficient="acc_eq", epsilon=float(at)).value[0]
        assert figure.values["acc_eq"][k] == pytest.approx(expected, abs=1e-6)
        right = figure.values["tied_equal"][k] + figure.values["apart_same"][k]
        assert right / (66 * 40) == pytest.approx(expected, abs=1e-6)
    six = [f"{side}_{kind}" for side in ("tied", "apart") for kind in ("equal", "same", "other")]
    assert set(np.sum([figure.values[key] for key in six], axis=0)) == {66 * 40}
    assert [len(panel.marks) for panel in figure.panels] == [66 * 40, 0]


def test_threshold_survives_holes_and_a_constant_metric():
    human = np.array([[0.0, -1, np.nan], [0, -2, -3], [-1, -2, -4]])
    es = mm.EvalSet(human, {"flat": np.zeros((3, 3))}, systems=list("ABC"))
    figure = interactive_threshold(es, "flat")
    assert figure.values["epsilon"] == [0]
    assert figure.values["acc_eq"] == [pytest.approx(mm.ties.human_tie_share(es), abs=1e-6)]
    assert Knob(figure._repr_html_()).data["shown"] == figure.shown
    refuses("metric 'x'", interactive_threshold, es, "x")


def test_lines_hold_what_they_were_given_and_a_point_lies_on_its_line():
    rows = pd.MultiIndex.from_product([["few", "many"], [0, 1, 2]], names=["ratings", "share"])
    lines = pd.DataFrame({"constant": [0, 0.5, 1] * 2, "noise": [0.5, np.nan, 0, 0.5, 0.25, 0]}, index=rows)
    figure = interactive_lines(lines, knob="share of ties", value="acc_eq", start=("few", 1))
    assert (figure.label, figure.start, figure.positions) == ("Share of ties", 1, ("0", "1", "2") * 2)
    expected = {"knob": [0, 0.5, 1] * 2, "line 0": [0, 0.5, 1] * 2, "line 1": [0.5, None, 0, 0.5, 0.25, 0]}
    assert figure.values == expected
    assert figure.shown["line 1"] == ["0.500", "–", "0.000", "0.500", "0.250", "0.000"]
    assert (figure.shown["choice 0"], figure.choices) == (["few", "many"], {"Ratings": ("few", "many")})
    knob = Knob(figure._repr_html_())
    assert knob.keys == ["line 0", "line 1"]
    assert np.shape(knob.scales) == (1, 2, 2)
    assert [tag["visibility"] for name, tag in knob.tags if name == "circle" and "visibility" in tag] == ["hidden"]


def test_names_are_text_wherever_they_stand_and_the_slider_waits_for_the_script():
    es = mm.EvalSet([[5, 1], [3, 2]], {HOSTILE: [[0.6, 0.1], [0.5, 0.2]]}, systems=["A", HOSTILE])
    table = pd.concat({HOSTILE: pd.DataFrame({HOSTILE: [1.0, 2.0]}, index=[1, 2])}, names=[HOSTILE])
    drawn = interactive_lines(table, knob=HOSTILE, value=HOSTILE, start=(HOSTILE, 2))
    for figure in (interactive_threshold(es, HOSTILE), drawn):
        text = figure._repr_html_()
        assert text.count("</script>") == 2
        knob = Knob(text)
        assert "img" not in {tag for tag, _ in knob.tags}
        assert not any(name.startswith("on") for _, attributes in knob.tags for name in attributes)
        assert HOSTILE in knob.words
        assert knob.data["shown"] == figure.shown
        assert not any({"src", "href", "xlink:href"} & set(attributes) for _, attributes in knob.tags)
    first, second = (interactive_threshold(es, HOSTILE)._repr_html_() for _ in range(2))
    assert first == second
    knob = Knob(first)
    slider, drawing = (next(given for tag, given in knob.tags if tag == name) for name in ("input", "svg"))
    assert ("hidden" in slider, slider["type"], slider["min"], slider["max"]) == (True, "range", "0", "1")
    assert (drawing["role"], "acc_eq of </script>" in drawing["aria-label"]) == ("img", True)


@pytest.fixture(scope="session")
def turned(site):
    """Return what the browser saw when knobs were turned and questions answered."""
    return drive("interactive.mjs", site, QUIZ, THRESHOLDS, DIFFERENCES)


def in_the_site(site, page):
    """Return the figures with a knob of a built page, in order."""
    text = (site / f"{page}.html").read_text(encoding="utf-8")
    parts = re.findall(r'<div class="mtmeta-knob".*?</script>\s*<script>', text, flags=re.S)
    return [Knob(part) for part in parts]


@pytest.mark.browser
class TestInTheBrowser:
    """Knobs and questions, with the network off and the keyboard alone."""

    def test_nothing_goes_wrong(self, turned):
        assert (list(network_faults(turned)), list(console_faults(turned))) == ([], [])

    @pytest.mark.parametrize(("page", "count"), [(THRESHOLDS, 1), (DIFFERENCES, 1)])
    def test_arrow_keys_change_the_numbers(self, turned, site, page, count):
        figures = in_the_site(site, page)
        assert len(turned["knobs"][page]) == len(figures) == count
        for seen, figure in zip(turned["knobs"][page], figures, strict=True):
            for where, k in (("home", 0), ("two", 2), ("end", -1)):
                assert seen[where]["position"] == seen[where]["spoken"] == figure.data["positions"][k]
                assert seen[where]["cells"] == [figure.data["shown"][key][k] for key in figure.keys]
                names = [name for name in figure.data["shown"] if name.startswith("choice")]
                assert seen[where]["choices"] == [figure.data["shown"][name][-(where == "end")] for name in names]
            assert seen["home"]["moved"] != seen["two"]["moved"]
            assert (seen["two"]["moved"] != seen["end"]["moved"]) == (len(figure.data["positions"]) > 3)
            assert seen["name"].strip()
        assert [float(w) for w in turned["knobs"][THRESHOLDS][0]["home"]["widths"]] == [0, 0]
        assert all(float(w) > 300 for w in turned["knobs"][THRESHOLDS][0]["end"]["widths"])

    def test_paper_shows_the_start(self, turned):
        for seen in [seen for page in turned["knobs"].values() for seen in page]:
            assert (seen["paper"], seen["after"]) == (seen["start"], seen["end"])

    def test_the_script_draws_the_start_where_the_page_has_it(self, turned, site):
        for page in (THRESHOLDS, DIFFERENCES):
            for seen, still in zip(turned["knobs"][page], turned["still"][page], strict=True):
                assert (still["slider"], still["drawing"]) == (False, True)
                assert (seen["start"]["position"], seen["start"]["cells"]) == (still["position"], still["cells"])

    def test_pages_fit_a_telephone_and_axe_finds_nothing_of_ours(self, turned):
        assert turned["width"] == dict.fromkeys([THRESHOLDS, DIFFERENCES, QUIZ], NARROW)
        assert len(turned["axe"]) == 6
        assert {page: found["faults"] for page, found in turned["axe"].items() if found["faults"]} == {}
        assert min(found["rules"] for found in turned["axe"].values()) > 5

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_a_question_with_several_answers(self, turned, scheme):
        seen = turned["quiz"][scheme]
        assert seen["none"] == "Choose an answer first."
        assert seen["untouched"].startswith(f"0 of {seen['questions']} questions answered")
        assert seen["wrong"].startswith("Not yet: 0 of your 2 choices are right, and a right one is missing.")
        assert seen["both"].startswith("Not yet: 2 of your 4 choices are right.")
        assert seen["right"].startswith("Right.")
        assert "is wrong" not in seen["right"]
        score = f"1 of {seen['questions']} questions answered: 0 right at the first try, 1 right by now."
        assert (seen["score"], seen["folded"], seen["unfolded"]) == (score, 0, seen["questions"])
        assert (seen["again"].startswith("0 of"), seen["ticked"]) == (True, 0)
        assert turned["still"][QUIZ] == {"check": False, "score": 0, "answer": True}  # without a script
