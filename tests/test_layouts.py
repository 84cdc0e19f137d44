"""What other tools and raters write: errors that are left out of a table, weights, and layouts."""

from pathlib import Path

import numpy as np
import pytest
from campaigns import refuses
from trees import LP, make_tree, write

import mtmeta as mm
from mtmeta.datasets import load, mqm_weight, validate

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
    found = [
        load(path, weights=w).human[0, 0] for w in ("google", "unbabel", "mqm", {"critical": 8, "critical/style": 2})
    ]
    assert found == [-12.5, -5, -12.5, -1]
    assert load(path).human[0, 0] == -12.5
    refuses("unknown severity 'critical'", load, path, weights={"Major": 5})
    refuses("unknown weights 'gogle'. Did you mean 'google'", load, path, weights="gogle")
    refuses("`weights` does not apply to a folder", load, path.parent, weights="unbabel")
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
