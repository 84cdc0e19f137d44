import pandas as pd
import pytest
from campaigns import refuses

import mtmeta as mm
from mtmeta.rankings import Rankings

#: Two systems rank three items for two queries; z is not judged. The rows are out of order on purpose.
RUNS = pd.DataFrame({"system": list("BBBAAA"), "query": ["q1", "q1", "q2", "q2", "q1", "q1"], "item": list("yxxzzx")})
RUNS = RUNS.assign(rank=[2, 1, 1, 1, 2, 1], score=[0.5, 0.5, 0.1, 3, 1, 2])
QRELS = pd.DataFrame([("q1", "x", 0), ("q2", "x", 2), ("q1", "y", 1)], columns=["query", "item", "relevance"])


@pytest.fixture
def rankings():
    return Rankings("toy", RUNS, QRELS, {"left_out": {"1 query": "no judgement"}}, {"quality": {"A": 1}})


def test_rankings_are_sorted_and_do_not_touch_what_they_are_given(rankings):
    rows = [" ".join(map(str, row)) for row in rankings.runs.drop(columns="score").values]
    assert rows == ["A q1 x 1", "A q1 z 2", "A q2 z 1", "B q1 x 1", "B q1 y 2", "B q2 x 1"]
    assert rankings.qrels.values.tolist() == [["q1", "x", 0], ["q1", "y", 1], ["q2", "x", 2]]
    assert (rankings.systems, rankings.queries) == (("A", "B"), ("q1", "q2"))
    assert rankings.to_frame()["relevance"].tolist() == [0, pd.NA, pd.NA, 0, 1, 2]
    assert repr(rankings) == (
        "Rankings 'toy': 2 systems x 2 queries, 1 to 2 items a list, 3 judged items, 2 relevant\n"
        "  left out: 1 query (no judgement)"
    )
    before = RUNS.copy(), QRELS.copy()
    made = Rankings("toy", RUNS.assign(note="x"), QRELS)
    made.runs.loc[0, "item"] = "changed"
    assert RUNS.equals(before[0])
    assert QRELS.equals(before[1])
    assert "note" not in made.runs
    tables = (table.assign(query=table["query"].map({"q1": 1, "q2": 2})) for table in (RUNS, QRELS))
    numbered = Rankings("n", *tables)
    assert (numbered.queries, set(numbered.qrels["query"])) == (("1", "2"), {"1", "2"})


@pytest.mark.parametrize(("runs", "qrels", "message"), [
    (RUNS.drop(columns=["rank", "score"]), QRELS, r"`runs` lacks the column 'rank'; it has 'system'"),
    (RUNS.assign(rank=[1, 0, 1, 1, 2, 1]), QRELS, r"'rank' must hold whole numbers .* found 0 in data row 2"),
    (RUNS, pd.concat([QRELS, QRELS.iloc[:1]]), r"`qrels` has several rows of query 'q1', item 'x'; expected one"),
    (RUNS.assign(rank=[3, 1, 1, 1, 2, 1]), QRELS, r"'B', query 'q1', rank 3: expected 2"),
    (RUNS.assign(score=[0.6, 0.5, 0, 0, 1, 2]), QRELS, r"query 'q1', rank 2: the score must not increase"),
    (RUNS.drop(index=2), QRELS, r"system 'B' has no list for query 'q2'"),
    (RUNS, QRELS.iloc[[0, 2]], r"no judgement in `qrels`: 'q2'"),
])  # fmt: skip
def test_rankings_refuse(runs, qrels, message):
    refuses(message, Rankings, "bad", runs, qrels)


def test_what_is_refused_for_what_it_is(rankings):
    refuses(r"`runs` must be a pandas DataFrame; found list", Rankings, "bad", [1], QRELS, error=TypeError)
    for function in (mm.correlate, mm.pairwise_accuracy, mm.sentinel.training_frame):
        refuses("expected an EvalSet or a tidy DataFrame; found Rankings", function, rankings, error=TypeError)
