"""Detection of error-free translations: cases by hand, errors, and what cross-fitting promises."""

import numpy as np
import pytest
from campaigns import refuses

import mtmeta as mm
from mtmeta.detection import error_free, threshold

HUMAN = [[0, 0], [0, -1], [-5, -5]]
#: From 80 on: four taken, three of them error-free; from 90: two of two.
SCORES = [[95, 90], [80, 85], [60, 50]]


def six(**metrics):
    return mm.EvalSet(HUMAN, {"m": SCORES} | metrics, systems=list("ABC"))


def test_values_by_hand():
    es = mm.EvalSet([[-1, 0, 0]], {"m": [[3, 2, 1]]}, systems=["A"])
    row = error_free(es, thresholds={"m": np.inf}).iloc[0]
    assert (row["n_taken"], row["recall"], row["f1"], row["youden"]) == (0, 0, 0, 0)
    assert np.isnan(row["precision"])
    row = error_free(six(), "m", thresholds={"m": 80}).iloc[0]
    found = row[["precision", "recall", "false_alarms", "f1", "base_rate", "n_taken", "n_cells"]]
    assert found.tolist() == pytest.approx([3 / 4, 1, 1 / 3, 6 / 7, 1 / 2, 4, 6])
    assert row["youden"] == pytest.approx(2 / 3)
    # nine pairs, of which 80 before 85 is wrong; in segment 1 both pairs, in segment 2 both
    assert (row["auc"], row["auc_within"]) == (pytest.approx(8 / 9), 1)


@pytest.mark.parametrize(("function", "options", "message"), [
    (threshold, {"metric": "x"}, "unknown metric 'x'"),
    (threshold, {"least": 1}, "0 of 6 translations have a human score of 1 or more. Detection needs some"),
    (threshold, {"least": -5}, "6 of 6 translations"),
    (error_free, {"thresholds": {"x": 1}}, "`thresholds` lacks the metric 'm'"),
    (error_free, {"metrics": ["x"]}, "unknown metric 'x'"),
])  # fmt: skip
def test_requests_that_are_refused(function, options, message):
    if function is threshold:
        options = {"metric": "m"} | options
    refuses(message, function, six(), **options)
