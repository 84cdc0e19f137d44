"""EvalSet: what it accepts, what it refuses, and what comes out again."""

import dataclasses
import re

import numpy as np
import pandas as pd
import pytest
from campaigns import refuses
from digests import statistics

import mtmeta as mm
from mtmeta.evalset import EvalSet, Texts, as_evalset


@pytest.fixture
def es():
    return EvalSet(
        [[0, -6, np.nan], [-1, -7, -2]],
        {"X": [[0.9, 0.2, 0.1], [0.8, 0.2, np.nan]]},
        systems=["A", "B"],
        segments=["s1", "s2", "s3"],
        name="toy",
        about={"language_pair": "de-en", "human_systems": ["B"]},
        documents=["d1", "d1", "d2"],
        domains=["news", "news", "talk"],
        texts=Texts(("q1", "q2", "q3"), {"refA": ("r1", "r2", None)}, {s: (f"{s}1", f"{s}2", f"{s}3") for s in "AB"}),
    )


def test_attributes_read_only_copies_and_system_scores(es):
    assert (es.shape, es.systems, es.segments, es.metrics) == ((2, 3), ("A", "B"), ("s1", "s2", "s3"), ("X",))
    assert ("X" in es, "Y" in es) == (True, False)
    assert repr(es) == "EvalSet 'toy': 2 systems x 3 segments, 1 metric, 5 of 6 translations rated"
    source = np.zeros((1, 2))
    made = EvalSet(source, {}, systems=["A"])
    source[0, 0] = 5
    assert made.human[0, 0] == 0
    with pytest.raises(ValueError, match="read-only"):
        es.human[0, 0] = 1
    assert es.system_scores.loc[["A", "B"], "human"].tolist() == pytest.approx([-3, -10 / 3])
    assert es.system_scores.loc[["A", "B"], "X"].tolist() == pytest.approx([0.55, 0.5])
    published = es.with_system_scores("published").system_scores
    assert published.loc[["A", "B"], "X"].tolist() == pytest.approx([0.4, 0.5])
    official = pd.DataFrame({"X": [7.0, 8.0], "only_system": [1.0, 2.0]}, index=["A", "B"])
    es = EvalSet([[0, 1], [2, 3]], {"X": [[1, 1], [1, 1]]}, systems=["A", "B"], about={"system_scores": official})
    assert (es.system_scores["X"].tolist(), es.system_scores["human"].tolist()) == ([7, 8], [0.5, 2.5])
    assert es.select(systems=["B"]).system_scores.loc["B", "only_system"] == 2
    assert es.select(metrics=["only_system"]).system_scores.columns.tolist() == ["human", "only_system"]
    # a part of the segments has no official score: the mean takes over
    assert es.select(segments=[1]).system_scores["X"].tolist() == [1, 1]


def test_what_select_and_a_table_keep(es):
    part = es.select(systems=["B", "A"], segments=["s3", "s1"])
    assert (part.systems, part.segments) == (("B", "A"), ("s3", "s1"))
    np.testing.assert_array_equal(part.human, [[-2, -1], [np.nan, 0]])
    assert (part.documents, part.domains, part.texts.sources) == (("d2", "d1"), ("talk", "news"), ("q3", "q1"))
    assert (part.texts.translations, part.human_systems) == ({"B": ("B3", "B1"), "A": ("A3", "A1")}, {"B"})
    assert es.select(systems=["A"]).human_systems == frozenset()
    frame = es.to_frame()
    expected = ["system", "segment", "human", "X", "doc", "domain", "source", "reference", "translation"]
    assert frame.columns.tolist() == expected
    assert frame.loc[4, ["system", "segment", "translation"]].tolist() == ["B", "s2", "B2"]
    pd.testing.assert_frame_equal(mm.correlate(frame), mm.correlate(es))  # a tidy table goes in directly
    back = EvalSet.from_frame(frame)
    np.testing.assert_array_equal(back.human, es.human)
    np.testing.assert_array_equal(back["X"], es["X"])
    assert (back.documents, back.texts.translations) == (es.documents, es.texts.translations)
    assert back.texts.references == {"reference": ("r1", "r2", None)}


def test_a_table_without_human_scores_is_kept_on_request(es):
    frame = es.to_frame().drop(columns="human")
    for table in (frame, frame.assign(human=np.nan)):
        unrated = EvalSet.from_frame(table, unrated="keep")
        assert unrated.shape == es.shape
        assert np.isnan(unrated.human).all()
        assert np.array_equal(unrated[es.metrics[0]], es[es.metrics[0]], equal_nan=True)
    assert unrated.select(systems=["A"]).with_metrics({}).systems == ("A",)
    refuses("'table' has no human scores to compare with", mm.correlate, unrated)
    refuses("lacks 1 column, 'human'", EvalSet.from_frame, frame)
    refuses("`unrated` must be one of 'raise', 'keep'; found 'drop'", EvalSet.from_frame, es.to_frame(), unrated="drop")


def test_names_are_checked_with_a_suggestion(es):
    refuses(r"unknown metric 'x'.*Available: 'X'", es.__getitem__, "x")
    refuses("unknown system 'C'", es.select, systems=["C"])
    refuses(r"Write \['A'\]", es.select, systems="A", error=TypeError)
    refuses("nothing would be left", es.select, segments=[])


@pytest.mark.parametrize(("human", "options", "message"), [
    ([["a"]], {}, "must hold numbers"), ([[1, 2]], {"metrics": {"X": [[1]]}}, r"= \(1, 2\); found \(1, 1\)"),
    ([[1], [2]], {"systems": ["A", "A"]}, "distinct; found more than once: 'A'"),
    ([[1], [2]], {}, "expected 2 systems; found 1"), ([[1]], {"metrics": {"human": [[1]]}}, "reserved"),
    ([1, 2], {}, r"found \(2,\)"), (np.empty((0, 0)), {"systems": []}, "at least one system"),
    ([[1, 2]], {"documents": ["d"]}, "one entry of documents"),
])  # fmt: skip
def test_bad_arguments_are_refused(human, options, message):
    refuses(message, EvalSet, human, error=(TypeError, ValueError), **{"metrics": {}, "systems": ["A"], **options})


def test_with_texts():
    texts = Texts(
        sources=["s1", "s2", "s3", None],
        references={"r": ["r1", "r2", None, "r4"]},
        translations={"A": ["a1", None, "a3", "a4"], "B": ["b1", "b2", "b3", "b4"], "C": [None] * 4},
    )
    es = EvalSet(np.zeros((3, 4)), {}, systems=[*"ABC"], segments=[1, 2, 3, 4], texts=texts)
    whole = es.with_texts()
    assert (whole.systems, whole.segments) == (("A", "B"), (1,))
    assert whole.provenance["left_out"] == {
        "1 of 3 systems": "no translation",
        "3 of 4 segments": "no source or reference or translation",
    }
    assert (es.with_texts("source").segments, es.with_texts("source").systems) == ((1, 2, 3), es.systems)
    assert es.with_texts("reference", "translation").segments == (1, 4)
    assert whole.with_texts().provenance == whole.provenance
    assert "left_out" not in es.provenance
    es = EvalSet([[0, 1]], {}, systems=["A"], texts=Texts(sources=["s", None], references={"r": [None, "t"]}))
    refuses("no segment of 'unnamed' has a text in each of 'source', 'reference'", es.with_texts)
    refuses("has no texts in 'translation'", es.with_texts, "translation")


def test_with_metrics_keeps_everything_else(es):
    other = es.with_metrics({"Y": es["X"] * 2, "flat": np.ones(es.shape)})
    assert (other.metrics, other.texts, other.documents) == (("Y", "flat"), es.texts, es.documents)
    np.testing.assert_array_equal(other.human, es.human)
    assert other.human_systems == es.human_systems
    refuses(r"must have shape .* = \(2, 3\)", es.with_metrics, {"Y": [[1]]})


def leaves(value, path=""):
    """Yield the numbers and texts of a result, each with the place where it stands."""
    if dataclasses.is_dataclass(value):
        value = {field.name: getattr(value, field.name) for field in dataclasses.fields(value) if field.compare}
    if isinstance(value, pd.DataFrame):
        value = {str(name): value[name].tolist() for name in value}
    if isinstance(value, np.ndarray | list | tuple):
        value = dict(enumerate(value))
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, f"{path}/{key}")
    else:
        yield path, value


def close(expected, found, unit=1.0):
    """Assert that two results of `statistics` are one, numbers but for rounding, in units of the scores or per unit."""
    n = 0
    for (name, one), (_, other) in zip(expected, found, strict=True):
        for (path, wanted), (_, value) in zip(leaves(one), leaves(other), strict=True):
            n += 1
            if isinstance(wanted, float):
                near = [pytest.approx(wanted * u, rel=1e-7, abs=1e-9, nan_ok=True) for u in (1, unit, 1 / unit)]
                assert any(value == one for one in near), (name, path, wanted, value)
            else:
                assert value == wanted, (name, path, wanted, value)
    assert n > 5000


def awkward(seed=0, shape=(5, 30)):
    """Return human scores and those of metrics in tenths, whose equal differences are parted by rounding."""
    rng = np.random.default_rng(seed)
    human = -rng.integers(0, 12, shape) / 2
    metrics = {m: (human + rng.normal(size=shape)).round(1) for m in ("chrF", "SourceOnly")}
    return human, metrics | {"Judge": np.rint(human + rng.normal(size=shape))}


@pytest.mark.slow
@pytest.mark.parametrize("unit", [0.1, pytest.param(1 / 3, marks=pytest.mark.exhaustive)])
def test_other_units_change_no_statistic(unit):
    """Not even by powers of two: a tenth or a third of a score is rounded."""
    human, metrics = awkward()
    plain, rescaled = (
        EvalSet(human, {m: v * u for m, v in metrics.items()}, systems=list("ABCDE")) for u in (1.0, unit)
    )
    # as published, thresholds do depend on the unit
    kept = (
        ((name, value) for name, value in statistics(es) if name != "compare published acc_eq segment")
        for es in (plain, rescaled)
    )
    close(*kept, unit)


@pytest.mark.slow
def test_a_system_that_nobody_rated_changes_no_statistic_and_is_named():
    human, metrics = awkward(1)
    row = np.full((1, human.shape[1]), -999.0)
    more = {m: np.vstack([v[:2], row, v[2:]]) for m, v in metrics.items()}
    plain = EvalSet(human, metrics, systems=list("ABCDE"))
    unrated = EvalSet(np.vstack([human[:2], np.nan * row, human[2:]]), more, systems=list("ABXCDE"))
    close(statistics(plain), ((name, but_for_x(name, value)) for name, value in statistics(unrated)))
    assert "left out: system 'X' (nobody rated it)" in repr(as_evalset(unrated))
    rated = mm.simulate.rate_again(mm.simulate.campaign(n_systems=6, n_segments=40, seed=3, texts=False))
    nobody = np.full((1, 40), np.nan)
    again = {m: np.vstack([rated[m], row[:, :1].repeat(40, 1)]) for m in rated.metrics}
    again |= {f"human_{k}": np.vstack([more, nobody]) for k, more in enumerate(rated.ratings[1:], 2)}
    wider = EvalSet(np.vstack([rated.human, nobody]), again, systems=[*rated.systems, "X"], name=rated.name)
    assert wider.ratings.shape == (3, 7, 40)
    for find in (
        lambda es: mm.sysdep.favours(es, "Judge", n_resamples=40).table,
        lambda es: mm.raters.ceiling(es, n_resamples=40),
        lambda es: mm.system_dependence(es, "Judge", n_resamples=20).table,
    ):
        pd.testing.assert_frame_equal(find(rated), find(wider))


def but_for_x(name, result):
    """Return a result without what concerns only the system X: that it was left out, and its mean by the metric."""
    if name == "rank":
        assert result.left_out == {"unnamed: system 'X'": "nobody rated it"}
        return dataclasses.replace(result, left_out={})
    if name == "estimate":
        table = result.table
        assert table["system"].tolist().count("X") == 1
        pairs = result.pairs[~result.pairs[["first", "second"]].eq("X").any(axis=1)].reset_index(drop=True)
        return dataclasses.replace(result, table=table[table["system"] != "X"].reset_index(drop=True), pairs=pairs)
    return result


def test_a_metric_that_scored_only_systems_that_nobody_rated_is_left_out_with_them():
    es = EvalSet([[1, 2], [3, 5], [np.nan] * 2], {"m": np.ones((3, 2)), "n": [[np.nan] * 2, [np.nan] * 2, [1, 2]]},
                 systems=["A", "B", "X"])  # fmt: skip
    part = as_evalset(es)
    assert (part.systems, part.metrics) == (("A", "B"), ("m",))
    assert part.provenance["left_out"]["metric 'n'"] == "it scored no rated system"
    official = pd.DataFrame({"human": [1.0, 2.0, 3.0]}, ["A", "B", "X"])
    whole = EvalSet(es.human, {"m": es["m"]}, systems=es.systems, about={"system_scores": official})
    assert as_evalset(whole) is whole


@pytest.mark.parametrize("unit", [1.0, 0.1, 1 / 3])
@pytest.mark.parametrize("offset", [0.0, 0.7, 1000.0])
def test_means_that_tie_are_tied_in_any_unit(unit, offset):
    """The same scores in another order, or a constant with holes, have one mean; only rounding tells them apart."""
    rng = np.random.default_rng(0)
    scores = rng.integers(-30, 30, 21) / 10 * unit + offset
    permuted = np.array([rng.permutation(scores) for _ in range(6)])
    constant = np.where(rng.random((6, 21)) < 0.4, np.nan, scores[0])
    human = rng.normal(size=(6, 21))
    es = EvalSet(human, {"permuted": permuted, "constant": constant}, systems=list("ABCDEF"))
    assert (es.system_scores[["permuted", "constant"]].nunique() == 1).all()
    task = mm.protocols.Task("pearson", "system")
    assert task.values([es], es.metrics) == [0, 0]
    assert (mm.pairwise_accuracy(es)["value"] == 0).all()
    assert mm.protocols.decided_by_one(mm.protocols.without_each_system(es, es.metrics, task)) == []
    noisy = es.with_metrics({"m": human + rng.normal(size=human.shape), "constant": constant, "flat": 0 * human})
    found = mm.rank(noisy, n_resamples=100)
    twins = found.table.set_index("metric").loc[["constant", "flat"]]
    assert twins["score"].nunique() == 1
    assert twins["rank"].tolist() == [2, 2]
    assert found.p_values.loc["constant", "flat"] == 1


@pytest.mark.parametrize("score", [1.01e50, -1e308, 9e-51, 5e-324])
def test_scores_too_large_or_small_are_refused(score):
    message = re.escape(f"holds the score {score:g} (") + r".*\)\. The largest must be from 1e-50 to 1e\+50"
    one = 1.0 if abs(score) > 1 else 0.0
    cells = [[one, score], [0.0, one]]
    official = {"system_scores": pd.DataFrame({"m": [one, score]}, index=["A", "B"])}
    for changed in ({"human": cells}, {"metrics": {"m": cells}}, {"about": official}):
        refuses(message, small, **changed)
    refuses(message, mm.ties.discrete_to_continuous, [one, score])
    refuses(message, mm.sentinel.fit, pd.DataFrame({"source": ["a b", "c d"], "human": [one, score]}), sees="source")


SMALL = {"human": [[0, -1], [-2, -3]], "metrics": {"m": [[1, 2], [3, 4]]}, "systems": ["A", "B"]}


def small(**changes) -> mm.EvalSet:
    return mm.EvalSet(**SMALL | changes)


def test_official_scores_go_by_the_index_and_are_copied():
    official = pd.DataFrame({"m": [0.3, 0.7]}, index=["B", "A"])
    es = small(about={"system_scores": official})
    official.loc["A", "m"] = 99
    assert es.system_scores["m"].to_dict() == {"A": 0.7, "B": 0.3}
    refuses(
        "unknown system in the index of `system_scores` 'A'",
        small,
        about={"system_scores": official.reset_index(drop=True)},
    )


def test_a_missing_value_is_not_scored():
    for values in ([[1, None], [3, 4]], np.array([[1, pd.NA], [3, 4]], object), [[1, np.nan], [3, 4]]):
        assert np.isnan(small(metrics={"m": values})["m"]).tolist() == [[False, True], [False, False]]
    nullable = pd.DataFrame({"a": [1, 3], "b": [pd.NA, 4]}, dtype="Int64")
    assert np.isnan(small(human=nullable).human).tolist() == [[False, True], [False, False]]


def test_tables_go_by_their_index_and_other_kinds_of_numbers_are_refused():
    turned = pd.DataFrame([[3, 4], [1, 2]], index=["B", "A"])
    assert small(metrics={"m": turned})["m"].tolist() == [[1, 2], [3, 4]]
    assert small(human=turned).human.tolist() == [[1, 2], [3, 4]]
    refuses("must name the systems 'A', 'B'; found 'B', 'C'", small, human=turned.rename({"A": "C"}))
    refuses("found complex128", small, metrics={"m": [[1j, 2], [3, 4]]}, error=TypeError)
    twice = pd.DataFrame([[1, 2], [3, 4]], ["A", "B"], ["m", "m"])
    refuses("columns of `system_scores` must be distinct", small, about={"system_scores": twice})
    truths = small().to_frame().assign(m=pd.Series([True, False, True, 1], dtype=object))
    refuses("found True or False", mm.EvalSet.from_frame, truths)
    named = {"human_2": SMALL["human"], "human_like": SMALL["human"]}
    assert small(metrics=named).metrics == ("human_like",)


def test_a_further_rating_is_no_metric_unless_it_is_named():
    es = mm.simulate.rate_again(mm.simulate.campaign(n_systems=5, n_segments=30, seed=2, texts=False), 2)
    plain = es.with_metrics({name: es[name] for name in es.metrics})
    assert es.further_ratings == plain.further_ratings == ("human_2", "human_3")
    assert plain.ratings.shape == es.ratings.shape == (3, 5, 30)
    assert not {*es.further_ratings} & {*es.metrics}
    options = {"n_resamples": 9}
    tables = [
        mm.correlate(es), mm.pairwise_accuracy(es), mm.soft_pairwise_accuracy(es), mm.rank(es, **options).table,
        mm.compare(es, **options).table, mm.significance.intervals(es, **options),
        mm.ties.expected_accuracy(es), mm.agreement.decompose_pearson(es),
    ]  # fmt: skip
    assert [sorted(table["metric"]) for table in tables] == [sorted(es.metrics)] * len(tables)
    assert mm.correlate(es, ["human_2", "Regressor"])["metric"].tolist() == ["human_2", "Regressor"]
    found = mm.datasets.validate(es).query("what == 'rating'")["name"].tolist()
    assert found == ["human_2", "human_3"]
    back = mm.EvalSet.from_frame(es.to_frame(), metrics=["Regressor"])
    assert (back.metrics, back.further_ratings) == (("Regressor",), es.further_ratings)
    assert es.select(metrics=["Regressor"]).further_ratings == es.further_ratings
