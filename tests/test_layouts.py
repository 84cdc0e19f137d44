"""What other tools and raters write: errors that are left out of a table, weights, and layouts."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from campaigns import refuses
from trees import LP, make_tree, write

import mtmeta as mm
from mtmeta.datasets import layouts, load, mqm_weight, read, validate
from mtmeta.evalset import RESERVED

HEADER = "system\tdoc\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n"


@pytest.fixture
def errors(tmp_path):
    """Return a function that writes an error table: two systems, two raters, and further rows."""

    def table(*rows: str) -> Path:
        clean = [f"{s}\td\t{k}\t{r}\tSrc {k}\t{s} {k}\tNo-error\tNo-error" for s in "XY" for k in (1, 2) for r in "ab"]
        return write(tmp_path / "mqm_ende.tsv", HEADER + "\n".join([*clean, *rows]) + "\n")

    return table


def test_rows_with_an_edited_text_or_a_comment_are_left_out_and_counted(errors):
    rows = ["X\td\t1\tb\tSrc 1\tX <v>1</v>\tFluency\tMinor", "X\td\t1\tb\tSrc 1\tX, rather, 1\tAccuracy\tMajor"]
    es = load(errors(*rows, "Y\td\t2\ta\tSrc 2\tY 2\tAccuracy\tMajor\tsee my mail"))
    np.testing.assert_array_equal(es.human, [[-0.5, 0], [0, 0]])
    assert es.provenance["left_out"] == {
        "1 row": "more fields than the header has, such as a comment",
        "1 row of errors": "another text than the other rows of the translation",
    }
    assert es.texts.translations["X"] == ("X 1", "X 2")


def test_weights_of_errors_have_names_or_are_given(errors):
    path = errors("X\td\t1\tb\tSrc 1\tX 1\tStyle/Awkward\tCritical")
    given = ("google", "unbabel", "mqm", {"critical": 8, "critical/style": 2})
    assert [read(path, weights=weights)["human"][0] for weights in given] == [-12.5, -5, -12.5, -1]
    assert load(path).human[0, 0] == -12.5
    refuses("unknown severity 'critical'", read, path, weights={"Major": 5})
    refuses("unknown weights 'gogle'. Did you mean 'google'", read, path, weights="gogle")
    assert mqm_weight("Non-translation!", "critical") == mqm_weight("non-translation", "Minor") == 25
    assert mqm_weight("Fluency/Punctuation", "Minor", {"minor": 1, "minor/fluency": 0.5, "minor/f": 9}) == 0.5


def test_few_distinct_penalties_of_humans_are_no_failures_but_a_far_one_is():
    human = np.zeros((5, 12))
    human[:, 3], human[:2, 5] = -1, -5
    scores = {"m": np.random.default_rng(0).normal(size=human.shape)}

    def failures(values):
        found = validate(mm.EvalSet(values, scores, systems=list("ABCDE")))
        return found.loc[found["note"].str.contains("failure", na=False), "name"].tolist()

    assert failures(human) == []
    assert failures(np.where(human == -5, -25, human)) == []
    assert failures(np.where(human == -5, -999, human)) == ["human"]


def test_a_metric_score_none_costs_one_cell_of_the_metric(tmp_path):
    tree = make_tree(tmp_path / "mine")
    path = tree / "metric-scores/en-de/Good-QE-src.seg.score"
    write(path, path.read_text().replace("0.1\n", "None\n", 1))
    es = load(tree / LP)
    assert np.isnan(es["Good-QE"]).sum() == 1
    assert es.provenance["left_out"]["1 score of metric Good-QE"] == "None in its file"


# -- layouts ----------------------------------------------------------------------------------

FILES = Path(__file__).with_name("layouts")
HUMAN = {"A": [90, 70, 80], "B": [40, 60, 50]}
SCORES = {"A": [0.9, 0.7, 0.8], "B": [0.4, 0.6, 0.5]}


def columns_of(table, name):
    """Return the scores of each system in the order of segments."""
    return {system: rows.sort_values("segment")[name].tolist() for system, rows in table.groupby("system")}


def shifted(scores, factor=1.0, by=0.0):
    return {system: pytest.approx([factor * value + by for value in values]) for system, values in scores.items()}


#: File: its layout, columns with what they hold, and messages.
LAYOUTS = {
    "appraise.csv": ("appraise", {"human": shifted(HUMAN, by=-5)}, ["1 score of documents", "1 control item (BAD)"]),
    "wmt25-humeval.jsonl": ("wmt25-humeval", {"human": shifted(HUMAN, by=-5)}, ["2 raters"]),
    "automatic": ("wmt25-automatic", {"Kiwi": shifted(SCORES), "Judge": shifted(HUMAN)}, ["2 systems, named as"]),
    "automatic/A.jsonl": ("wmt25-automatic-file",
        {"Kiwi": {"A": SCORES["A"]}, "Judge": {"A": HUMAN["A"]}}, ["no human scores"]),
    "mtme-ratings.jsonl": ("mtme-ratings", {"human": {"A": [0, -1, 0], "B": [-6, -2, -5]}}, ["weights of the errors"]),
    "subset2evaluate.json": ("subset2evaluate", {"human": shifted(HUMAN), "COMET": shifted(SCORES)}, []),
    "metricx/A.jsonl": ("metricx", {"MetricX": {"A": [-2.5, -7.5, -5]}}, ["lower is better"]),
    "metricx-evaluate.jsonl": ("metricx", {"human": shifted(HUMAN, 0.25, -25), "MetricX": shifted(SCORES, 25, -25)},
        ["lower is better", "the labels rise with the predicted error"]),
    "comet.json": ("comet-json", {"COMET": shifted(SCORES)}, []),
    "comet.txt": ("comet-text", {"COMET": shifted(SCORES)}, []),
    "A.json": ("sacrebleu", {"BLEU": {"A": [40.5]}, "TER": {"A": [-30]}}, ["TER counts errors", "as the file: A"]),
    "sacrebleu-systems.json": ("sacrebleu-systems", {"BLEU": {"A": [40.5], "B": [20.5]}}, ["whole systems"]),
    "label-studio.csv": ("label-studio", {"human": {"A": [4.5, 3.5, 4.5], "B": [2.5, 3.5, 2.5]}},
        ["'adequacy'", "column 'text'", "2 raters"]),
    "label-studio.json": ("label-studio-json", {"human": {"A": [5.5, 4.5, 5.5], "B": [3.5, 4.5, 3.5]}},
        ["'quality'", "2 raters"]),
    "mqm.tsv": ("mqm", {"human": {"A": [0, -1, 0], "B": [-5, -1, -5]}}, []),
    "long.csv": ("long", {"human": shifted(HUMAN), "chrF": shifted(SCORES)}, []),
    "table.csv": ("table", {"human": shifted(HUMAN), "chrF": shifted(SCORES)}, ["'year'", "'annotators'", "'note'"]),
    "human.csv": ("wide", {"human": shifted(HUMAN)}, ["2 systems, a column each"]),
    "wide-scores.csv": ("wide", {"human": shifted(HUMAN), "COMET": shifted(SCORES)}, []),
}  # fmt: skip


@pytest.mark.parametrize("file", LAYOUTS)
def test_each_layout_is_recognised_and_read(file):
    layout, expected, messages = LAYOUTS[file]
    table = read(FILES / file)
    notes = "\n".join(table.attrs["notes"])
    assert f"read as {layout} (" in notes
    assert [message for message in messages if message not in notes] == []
    assert {name: columns_of(table, name) for name in expected} == expected
    assert not {*table} - {*expected, *RESERVED}


def test_every_layout_has_an_example_or_is_the_tree(tmp_path):
    assert {*layouts()["layout"]} == {layout for layout, *_ in LAYOUTS.values()} | {"mt-metrics-eval"}
    tree = make_tree(tmp_path / "mine")
    table = read(tree)
    assert table.equals(read(f"{tree}/{LP}"))
    assert [*table[["lp", "system"]].drop_duplicates()["system"]] == ["Alpha", "Beta", "refB"]
    es = load(tree / LP)
    np.testing.assert_array_equal(table["BLEU"], es["BLEU"].ravel())


def test_humans_and_metrics_of_several_files_are_joined():
    table = read([FILES / name for name in ("comet.json", "human.csv", "metricx/A.jsonl")])
    assert columns_of(table, "human") == HUMAN
    assert columns_of(table, "COMET") == SCORES
    assert columns_of(table, "MetricX")["A"] == [-2.5, -7.5, -5]
    assert table["MetricX"].isna().sum() == 3
    notes = "\n".join(table.attrs["notes"])
    assert "by system and segment: 6 translations in both, 0 only in the first" in notes
    assert "by system and segment: 3 translations in both, 3 only in the first" in notes
    es = mm.EvalSet.from_frame(read([FILES / "wmt25-humeval.jsonl", FILES / "automatic"]))
    assert (es.shape, es.metrics, es.language_pair) == ((2, 3), ("Kiwi", "Judge"), "de-en")
    whole = read([FILES / "long.csv", FILES / "sacrebleu-systems.json"])
    assert whole[["system", "human", "chrF", "BLEU"]].to_numpy().tolist() == [
        ["A", 80, pytest.approx(0.8), 40.5],
        ["B", 50, pytest.approx(0.5), 20.5],
    ]
    assert "so the others became means of systems" in whole.attrs["notes"][-2]


def test_segments_counted_otherwise_are_matched_by_position_and_wrong_files_are_refused():
    human = pd.DataFrame({"system": list("AAABBB"), "segment": [1, 2, 3] * 2, "human": [9, 7, 8, 4, 6, 5]})
    table = read([human, FILES / "comet.txt"])
    assert columns_of(table, "COMET") == SCORES
    assert "segments were matched by position, 0 to 2 are 1 to 3" in "\n".join(table.attrs["notes"])
    refuses("no system in common: 'X', and 'A', 'B'", read, [human.assign(system="X").head(3), FILES / "comet.txt"])
    own = human.rename(columns={"system": "Engine"})
    assert columns_of(read([own, FILES / "comet.txt"], columns={"system": "Engine"}), "COMET") == SCORES
    refuses("unknown column of table in memory 'Engine'", read, human, columns={"system": "Engine"})
    other = human.assign(source=["Vier.", "Zwei.", "Drei."] * 2)
    refuses("the sources of 1 of 3 segments differ", read, [other, FILES / "comet.json"])


def test_ratings_become_their_mean_or_z_scores_or_stand_apart(tmp_path):
    rows = [
        (s, k, r, v + 10 * (r == "r2")) for s, k, v in (("A", 1, 3), ("A", 2, 1), ("B", 1, 1)) for r in ("r2", "r1")
    ]
    frame = pd.DataFrame(rows, columns=["system", "segment", "rater", "human"])
    frame = frame[(frame["segment"] == 1) | (frame["rater"] == "r1")].assign(m=frame["human"] % 10)
    assert read(frame)["human"].tolist() == [8, 1, 6]
    apart = read(frame, raters="apart")
    np.testing.assert_array_equal(apart[["human", "human_2"]], [[3, 13], [1, np.nan], [1, 11]])
    assert [*apart] == ["system", "segment", "human", "human_2", "m"]
    z = np.array([[3, 1, 1], [13, np.nan, 11]])
    z = (z - np.nanmean(z, axis=1, keepdims=True)) / np.nanstd(z, axis=1, keepdims=True)
    np.testing.assert_allclose(read(frame, raters="standardise")["human"], np.nanmean(z, axis=0))
    frame.to_csv(tmp_path / "t.csv", index=False)
    refuses("If each rating of a translation has a row, `mtmeta import`", load, tmp_path / "t.csv")
    frame.query("rater == 'r1'").to_csv(tmp_path / "t.csv", index=False)
    assert load(tmp_path / "t.csv", metrics=["m"], missing="nan").shape == (2, 2)
    again = frame.drop(columns="rater")
    assert "each counts as a further rating" in "\n".join(read(again).attrs["notes"])
    assert read(again)["human"].tolist() == [8, 1, 6]
    refuses("no human scores; expected one row", read, again.drop(columns="human"))


def test_one_of_several_human_dimensions_is_named():
    frame = pd.DataFrame({"system": [*"AB"], "segment": 1, "adequacy": [5, 1], "fluency": [4, 2], "bleu": [0.5, 0.1]})
    refuses("'adequacy', 'fluency', which people rate. Name the one .* human='adequacy'", read, frame)
    table = read(frame, human="fluency")
    assert [*table] == ["system", "segment", "human", "bleu"]
    assert table["human"].tolist() == [4, 2]
    assert "left out column 'adequacy': another human dimension" in "\n".join(table.attrs["notes"])
    refuses("unknown column for the human scores 'flow'", read, frame, human="flow")


def test_an_unknown_layout_is_refused(tmp_path):
    scores = write(tmp_path / "x.jsonl", '{"doc_id": "d", "scores": {"A": 1}}\n')
    refuses(r"unknown layout \(rows\); found 'doc', 'doc_id', 'scores'. See mtmeta", read, scores)
    refuses("layout comet-json has the form 'lists by file'; found 'rows'", read, scores, "comet-json")
    refuses("expected the layout wmt25-humeval .* damaged .*unpack", read, scores, "wmt25-humeval")


class Foreign:
    """A table of another library, which can turn itself into a data frame."""

    def __init__(self, frame):
        self.frame = frame

    def to_pandas(self):
        return self.frame


def test_tables_of_other_libraries_are_read():
    frame = pd.DataFrame({"model": [*"AB"], "seg_id": [1, 1], "score": [3, 1]})
    for given in (Foreign(frame), {"test": Foreign(frame)}, frame, frame.to_dict("records"), frame.to_dict("list")):
        assert read(given)[["system", "segment", "human"]].to_numpy().tolist() == [["A", 1, 3], ["B", 1, 1]]
    refuses("found the parts 'train', 'test'", read, {"train": Foreign(frame), "test": Foreign(frame)})
    refuses("expected a path or a table; found int", read, 3, error=TypeError)


def test_the_command_writes_the_table_and_reports_on_stderr(command_line, tmp_path):
    out = tmp_path / "table.csv"
    code, printed, said = command_line("import", str(FILES / "human.csv"), str(FILES / "comet.json"), "-o", str(out))
    assert (code, printed) == (0, "")
    assert "joined" in said
    assert "6 rows; columns: system, segment, source, reference, translation, human, COMET" in said
    assert load(out)["COMET"].tolist() == [*SCORES.values()]
    code, printed, _ = command_line("import", str(FILES / "long.csv"), "--quiet")
    assert printed.splitlines()[:2] == ["system,segment,human,chrF", "A,0,90.0,0.9"]
    assert "appraise" in command_line("import", "--list")[1]
    assert command_line("import")[0] == 2
    code, _, said = command_line("validate", str(FILES / "human.csv"))
    assert (code, "`mtmeta import`" in said) == (2, True)
