"""`mm.datasets.validate`: what is in a set, and what may be wrong with it."""

import re

import numpy as np
import pandas as pd
import pytest
from campaigns import refuses
from trees import make_tree

import mtmeta as mm
from mtmeta.datasets import validate
from mtmeta.datasets._oddities import oddities


def test_what_was_loaded(tmp_path):
    tree = make_tree(tmp_path / "mine")
    (tree / "metric-scores/en-de/Holed.seg.score").write_text("Alpha 1\n" * 3 + "Beta 2\n" * 3)
    found = validate(mm.load(tree, missing="nan"))
    kinds = {"what": object, "name": object, "count": pd.Int64Dtype(), "of": pd.Int64Dtype(), "note": object}
    assert found.dtypes.to_dict() == kinds
    rows = found.astype(object).where(found.notna(), None).itertuples(index=False, name=None)
    facts = {(what, name): rest for what, name, *rest in rows}
    assert len(facts) == len(found)
    # By hand from make_tree: Alpha, Beta and the second reference are candidates; segment 2 is rated for none of them.
    expected = {
        ("set", "mine/en-de"): [None, None, str(tree)],
        ("language pair", "en-de"): [None, None, None],
        ("annotation", "mqm"): [None, None, None],
        ("reference", "refA"): [None, None, None],
        ("systems", None): [3, None, None],
        ("human translator", "refB"): [None, None, "a candidate like the others"],
        ("segments", None): [3, None, None],
        ("comparable segments", None): [2, 3, "two systems or more are rated"],
        ("rated translations", None): [6, 9, "66.7%"],
        ("human scores", None): [None, None, "from -6 to 0, 4 distinct; higher is better"],
        ("documents", None): [2, None, "doc one, doc2"],
        ("domains", None): [2, None, "news, chat"],
        ("sources", None): [3, 3, None],
        ("references", "refA"): [3, 3, None],
        ("references", "refB"): [3, 3, None],
        ("translations", None): [8, 9, None],
        ("metric", "Good-QE"): [9, 9, "reference-free"],
        ("metric", "BLEU"): [9, 9, "scored against refA"],
        ("metric", "Holed"): [6, 9, "3 holes"],
        ("metric", "OnlySystem"): [None, None, "system scores only"],
        ("left out", "refA"): [None, None, "the reference"],
        ("left out", "synthetic_ref"): [None, None, "no human scores"],
    }
    assert {key: facts.get(key) for key in expected} == expected


def doubts(**columns) -> dict[str | None, str]:
    """Return the warnings about 4 systems x 25 segments: human scores are seeded noise plus the system's number."""
    rng = np.random.default_rng(0)
    system, segment = np.repeat(np.arange(4), 25), np.tile(np.arange(25), 4)
    human = rng.normal(size=100) + system
    frame = pd.DataFrame({"system": system, "segment": segment, "human": human, "good": human + rng.normal(size=100)})
    for name, change in columns.items():
        frame[name] = change(frame)
    found = validate(frame).query("what == 'warning'")
    return {name: " | ".join(found.loc[[n == name for n in found["name"]], "note"]) for name in found["name"]}


def test_constant_and_reversed_scores():
    noise = np.random.default_rng(1).normal(size=100)
    assert doubts(noise=lambda f: noise) == {}
    found = doubts(flat=lambda f: 7, errors=lambda f: -f["good"])
    assert found.keys() == {"flat", "errors"}
    assert found["flat"].startswith("is constant:")
    against = r"correlates negatively with humans \(-0\.\d{3} over translations, -0\.\d{3} within segments\): .*"
    assert re.fullmatch(against, found["errors"])
    found = doubts(second=lambda f: f["good"] + f["human"], human=lambda f: -f["human"])
    assert found == {None: "2 of 2 metrics correlate negatively with humans: is a high human score good?"}


def test_holes_in_the_ratings():
    found = doubts(human=lambda f: f["human"].where(f["system"] < 2), late=lambda f: f["good"].where(f["system"] == 3))
    assert {name: note.split(":")[0] for name, note in found.items()} == {
        "2": "not one translation is rated",
        "3": "not one translation is rated",
        None: "with only two rated systems a correlation of system scores is always 1 or -1",
        "late": "has scores for 0 of the rated translations",
    }
    found = doubts(human=lambda f: f["human"].where(f["system"] == f["segment"] % 4))
    nothing, of_means = next(iter(found.values())).split(" | ")
    assert nothing == "no segment has two rated systems: nothing can be compared within a segment"
    assert of_means.startswith("good: rated translations alone order the systems in another way than all do")


def test_a_metric_is_judged_by_its_segments_and_not_by_an_outlying_system():
    rng = np.random.default_rng(0)
    human = rng.normal(size=(4, 30)) + np.array([[0], [0.1], [0.2], [5]])
    flipped = -(human + rng.normal(size=human.shape))
    flipped[3] += 15  # the flipped metric, too, has the outlier on top
    es = mm.EvalSet(human, {"flipped": flipped, "good": human, "blind": [-human.mean(axis=0)] * 4}, systems=[*"ABCD"])
    found = {row.name: row.note for row in validate(es).query("what == 'warning'").itertuples()}
    why = "a metric must not be made from the scores that judge it"
    assert found == {"good": f"equals the human scores but for units or rounding: {why}"}
    three = validate(es.select(systems=[*"ABC"])).query("what == 'warning'")
    assert list(three["name"]) == ["good", "flipped"]
    found = doubts(copy=lambda f: f["good"], other=lambda f: f["good"] + 1e-9)
    assert found == {
        "copy": "has the same scores as good: the two cannot differ",
        "other": "is the same metric as good but for units or rounding: the two cannot differ",
    }


#: Where and how scores are spoilt, and what is said about them.
ODDITIES = {
    "a failure": (
        lambda s: ((2, [7, 9]), -999),
        r"has 2 scores \(-999\) far from all others \([\d.]+ to [\d.]+\): a failure\?",
        r"system 'Cobalt': standard deviation [\d.]+, usually [\d.]+: another scale\?",
    ),
    "another scale": (
        lambda s: (3, s[3] * 100),
        r"system 'Dune': standard deviation [\d.]+, usually [\d.]+: another scale\?",
    ),
    "a constant system": (
        lambda s: (3, 0.5),
        r"system 'Dune': standard deviation 0, usually [\d.]+: another scale\?",
        r"system 'Dune': 299 scores from segment 2 repeat those from segment 1: written twice, or filled in\?",
    ),
    "scored twice": (lambda s: (5, s[4]), "systems 'Ember' and 'Fjord' have the same scores: was one scored twice\\?"),
    "written twice": (
        lambda s: ((0, slice(200, 216)), s[0, 100:116]),
        r"system 'Aster': 16 scores from segment 201 repeat those from segment 101: written twice, or filled in\?",
    ),
    "one system late": (
        lambda s: (6, np.roll(s[6], 1)),
        r"system 'Garnet': follows the other systems if moved by one segment "
        r"\(correlation 0\.\d\d instead of -?0\.\d\d\): do its scores come one segment too late\?",
    ),
    "all systems late": (
        lambda s: (..., np.roll(s, 1, axis=1)),
        r"follows the human scores if moved by one segment \(.*\): do its scores come one segment too late\?",
    ),
}


@pytest.mark.parametrize("name", ODDITIES)
def test_scores_that_look_as_if_a_file_was_damaged(name):
    change, *says = ODDITIES[name]
    es = mm.load("teaching").select(metrics=["Regressor"])
    scores = np.array(es["Regressor"])
    where, what = change(scores)
    scores[where] = what
    found = [*oddities(es.with_metrics({"m": scores}))]
    assert [metric for metric, _ in found] == ["m"] * len(says)
    for pattern, (_, note) in zip(says, found, strict=True):
        assert re.fullmatch(pattern, note), note


def test_sound_scores_are_not_odd():
    """Ceilings, ties, holes, metrics without signal and of the source alone raise no doubt in 10 campaigns."""
    for seed in range(10):
        es = mm.simulate.campaign(n_systems=6, n_segments=150, seed=seed, lexical=False)
        frame = es.to_frame()
        frame.loc[frame["doc"].isin(list(dict.fromkeys(es.documents))[::2]), "human"] = np.nan
        assert [*oddities(mm.EvalSet.from_frame(frame))] == []


def test_ratings_that_cannot_rank_are_refused():
    one, same = (mm.EvalSet(human, {}, systems=["A", "B"]) for human in ([[1, 2], [None, None]], [[1, 1], [1, 1]]))
    refuses(r"cannot be ranked with 1 rated system \(of 2\)", validate, one)
    refuses("every human score is 1, so no metric can agree or disagree with them", validate, same)


def test_copies_of_metrics_and_of_humans_and_repeated_segments_are_named():
    rng = np.random.default_rng(0)
    human, good = rng.normal(size=(2, 3, 10))
    metrics = {"good": good, "same": good, "line": 3 - -2 * good, "turned": -good}
    metrics |= {"human copy": human, "scaled": human / 7, "near": good + 1e-6 * rng.normal(size=good.shape)}
    es = mm.EvalSet(human, metrics, systems=[*"ABC"])
    warnings = validate(es).query("what == 'warning'").set_index("name")["note"].astype(str)
    notes = {
        name: note.partition(":")[0] for name, note in warnings.items() if "same" in note or "human scores" in note
    }
    assert notes == {
        "same": "has the same scores as good",
        "line": "is the same metric as good but for units or rounding",
        "human copy": "equals the human scores but for units or rounding",
        "scaled": "equals the human scores but for units or rounding",
    }
    # a table of few levels has equal segments by chance, and one whose segments were entered 20 times has not
    levels = np.random.default_rng(1).integers(0, 3, (2, 3, 60)).astype(float)
    for times, expected in ((1, False), (20, True)):
        human, metric = np.tile(levels[:, :, : 60 // times if times > 1 else 60], times)
        table = validate(mm.EvalSet(human, {"m": metric}, systems=[*"ABC"]))
        assert any("differ in their scores" in str(note) for note in table["note"]) == expected
    refuses("'line' is the same metric as good but for units", mm.significance.power, es, ["line", "good"])
    refuses("No number of segments or systems", mm.significance.power, es, ["human copy", "scaled"])
    assert "line is the same metric as good" in mm.compare(es, ["line", "good"], n_resamples=20).note


def odd(change, teaching):
    """Return what is odd about chrF after a change."""
    scores = np.array(teaching["chrF"])
    change(scores)
    return [note for name, note in oddities(teaching.with_metrics({"m": scores})) if name == "m"]


IN_TURN = np.concatenate([np.arange(k, 300, 4) for k in range(4)])


def of_system(row, how):
    def change(scores):
        scores[row] = how(scores[row])

    return change


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (of_system(3, np.random.default_rng(0).permutation), ["'Dune': scores of equal translations"]),
        (of_system(5, lambda row: row[IN_TURN]), ["'Fjord': scores of equal", "'Fjord': follows the other systems if"]),
        (of_system(2, np.sort), ["scores from segment", "ascending or descending order", "scores of equal"]),
        (of_system(slice(None), lambda rows: rows[:, IN_TURN]), ["the human scores if reordered as the output of 4"]),
        (of_system(5, lambda row: row[np.argsort(IN_TURN)]), ["scores of equal", "as the output of 4 processes"]),
        (of_system((slice(None), slice(0, 300, 60)), lambda rows: -1), ["60 scores of -1, the others are 9.158"]),
        (of_system(0, lambda row: row), []),
    ],
)
def test_rows_out_of_order_and_failures_of_a_judge(change, expected, teaching):
    found = odd(change, teaching)
    assert [text in note for text, note in zip(expected, found, strict=True)] == [True] * len(expected)


def test_translations_that_are_the_source(teaching):
    frame = teaching.to_frame()
    copied = (frame["system"] == "Kelp") & (frame["segment"] % 10 == 0)
    frame.loc[copied, "translation"] = frame.loc[copied, "source"]
    assert list(oddities(mm.EvalSet.from_frame(frame, metrics=["chrF"]))) == [
        ("Kelp", "31 of 300 translations are the source: not translated?")  # one was before
    ]
