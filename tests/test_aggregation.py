"""Aggregation: counts against sacreBLEU, three ways to a system score, intervals, the published mistake."""

import corpus_or_segment
import downsampling
import numpy as np
import pandas as pd
import pytest
from campaigns import refuses

import mtmeta as mm
from mtmeta import aggregation, scoring
from mtmeta.aggregation import _formulas


def text_set(translations, references, **options):
    """Return a set with these translations by system, and references by name."""
    n, texts = len(next(iter(references.values()))), mm.evalset.Texts(None, references, translations)
    human = np.zeros((len(translations), n))
    return mm.EvalSet(human, {}, systems=list(translations), texts=texts, name="texts", **options)


TOY = text_set(
    {"A": ("the cat sat on the mat", "no", "he said it rains today"), "B": ("a cat is on a mat", "yes", "it rains")},
    {"ref": ("the cat sat on a mat", "no", "he says it is raining today")},
)


def test_one_segment_has_no_interval_and_ter_without_a_reference_is_all_or_nothing():
    table = aggregation.aggregate(TOY.select(segments=[1])).table
    assert table[["se", "low", "high"]].isna().all(axis=None)
    assert table.score.notna().all()
    assert _formulas._ter(np.array([[0, 0], [1, 0], [7, 0], [1, 4]])).tolist() == [0, 100, 100, 25]


@pytest.mark.parametrize("metric", scoring.METRICS)
def test_signature_is_that_of_sacrebleu(metric):
    hypotheses, references = list(TOY.texts.translations["A"]), [list(TOY.texts.references["ref"])]
    for how in ("corpus", "segment"):
        found = aggregation.aggregate(TOY, metric, how=how)
        assert found.signature.startswith(
            scoring.score_texts(hypotheses, references, metric, level=how).signature + "|how:"
        )
        assert found.to_frame().signature.tolist() == [found.signature] * 2


def test_selection_by_name():
    statistics = aggregation.extract(TOY, "ter")
    part = statistics.select(systems=["B"], segments=[3, 1, 1])
    np.testing.assert_array_equal(part.counts[0], statistics.counts[1][[2, 0, 0]])
    assert part.columns == ("edits", "ref_len")
    # unigrams: 5 of 6 and 0 of 1
    bleu = aggregation.extract(text_set({"A": ("a b c d x f", "z")}, {"ref": ("a b c d e f", "y")}))
    at = [bleu.columns.index(name) for name in ("match_1", "total_1", "hyp_len")]
    assert bleu.counts[0][:, at].tolist() == [[5, 6, 6], [0, 1, 1]]
    refuses("unknown segment 9", statistics.select, segments=[9])
    with pytest.raises(ValueError, match="read-only"):
        statistics.counts[0, 0, 0] = 1


def test_options_are_checked():
    for options, match in (
        ({"how": "mean"}, "`how` must be one of 'corpus', 'segment', 'bootstrap'"),
        ({"metric": "rouge"}, "`metric` must be one of"),
        ({"interval": "delta"}, "`interval` must be one of None, 'jackknife'"),
        ({"how": "bootstrap", "interval": "jackknife"}, "a jackknife draws no resamples"),
        ({"how": "bootstrap", "n_resamples": 1}, "`n_resamples` must be at least 2"),
        ({"references": "refZ"}, "unknown reference 'refZ'"),
    ):
        refuses(match, aggregation.aggregate, TOY, **options)


def test_texts_are_checked():
    for es, match in (
        (mm.EvalSet([[1.0]], {}, systems=["A"]), "has no texts; a table needs"),
        (text_set({"A": ("a",)}, {"r1": ("a",), "r2": ("b",)}), "several references: 'r1', 'r2'"),
        (text_set({"A": ("a", None)}, {"r": ("a", "b")}), r"'A' has no translation of 1 .*, the first of them 2"),
        (text_set({"A": ("a", "b")}, {"r": ("a", None)}), r"have no reference, the first of them 2"),
        (text_set({"A": ("a",), "r": ("b",)}, {"r": ("b",)}), "'r' is a candidate and would be scored against itself"),
    ):
        refuses(match, aggregation.extract, es)
    statistics = aggregation.extract(TOY)
    refuses("omit them, and pass metric='bleu'", aggregation.aggregate, statistics, "chrf")
    refuses("omit them, and pass", aggregation.aggregate, statistics, "bleu", references="r")
    two = text_set({"A": ("a b", "c")}, {"r1": ("a b", "c"), "r2": ("b", "d c")})
    statistics = aggregation.extract(two, "chrf", references=["r1", "r2"])
    refuses("needs a single reference", statistics.corpus_scores, effective_order=False)
    np.testing.assert_array_equal(statistics.corpus_scores(effective_order=True), statistics.corpus_scores())


def test_counts_are_kept_with_their_set_by_what_was_asked():
    es = text_set({"A": ("a b", "c")}, {"r": ("a b", "d")})
    first = aggregation.extract(es)
    assert aggregation.extract(es, references=["r"]) is first
    assert aggregation.extract(es, tokenize="char") is not first
    assert aggregation.extract(es, "chrf") is not first
    assert aggregation.extract(es.select(segments=es.segments[:1])).counts.shape[1] == 1


def test_tidy_tables_are_taken_and_transposed_options_checked(teaching):
    tables = [aggregation.aggregate(data).table for data in (teaching.to_frame(), teaching)]
    pd.testing.assert_frame_equal(*tables)
    found = downsampling.aggregate_transposed(TOY, "bleu")
    assert found.table["n_segments"].tolist() == [1, 1]  # only the first translation counts
    assert found.signature.startswith("TRANSPOSED REFERENCES|BLEU|nrefs:3|")
    two = text_set({"A": ("a",)}, {"r1": ("a",), "r2": ("b",)})
    refuses(r"found r1, r2\. Name one", downsampling.aggregate_transposed, two)


@pytest.mark.filterwarnings("error")
def test_people_who_tie_all_systems_decide_nothing(teaching):
    """Correlations are undefined, in the data and in every resample, and so are intervals and p-values."""
    es = teaching.select(segments=teaching.segments[:10])
    flat = mm.EvalSet(0 * es.human + 0.1, {}, systems=es.systems, segments=es.segments, texts=es.texts)
    row = corpus_or_segment.compare_aggregations(flat, ["chrf"], n_resamples=9).table.iloc[0]
    assert row[["corpus", "low", "high", "p_bootstrap", "p_exchange", "p_williams"]].isna().all()


def test_comparison_with_fixed_human_scores(teaching):
    """A set with scores of systems alone: those without one are left out, and the rest are not resampled."""
    scores = teaching.system_scores[["human"]].copy()
    scores.iloc[0] = np.nan
    parts = {"systems": teaching.systems, "texts": teaching.texts, "unrated": "keep"}
    nobody, about = np.full(teaching.shape, np.nan), {"provenance": teaching.provenance}
    news = mm.EvalSet(nobody, {}, **parts, about=about | {"system_scores": scores})
    found = corpus_or_segment.compare_aggregations([news], ["bleu"], n_resamples=30).table.iloc[0]
    assert (found.human, found.n_systems) == ("fixed", 11)
    rest = teaching.select(systems=teaching.systems[1:])
    resampled = corpus_or_segment.compare_aggregations([rest], ["bleu"], n_resamples=30).table.iloc[0]
    assert (found.corpus, found.segment) == (pytest.approx(resampled.corpus), pytest.approx(resampled.segment))
    unrated = mm.EvalSet(nobody, {}, **parts, about=about)
    refuses("0 systems with human scores; at least 4", corpus_or_segment.compare_aggregations, unrated)


def test_the_tokenizer_is_for_bleu(teaching):
    table = corpus_or_segment.compare_aggregations([teaching], ["bleu", "chrf"], tokenize="char", n_resamples=2).table
    human = teaching.system_scores["human"]
    for row, tokenize in zip(table.itertuples(), ("char", None), strict=True):
        counts = aggregation.extract(teaching, row.metric, tokenize=tokenize)
        scores = aggregation.aggregate(counts, row.metric).table.set_index("system")["score"]
        assert row.corpus == pytest.approx(np.corrcoef(scores[human.index], human)[0, 1])


def test_words_are_counted_as_the_target_language_writes_them():
    """Chinese has no blanks: with 13a a sentence is one word. A system that equals the reference gets 100."""
    references = ["猫坐在那里看着窗外的鸟。", "今天下雨所以我们不出门。"]
    translations = {"A": references, "B": ["狗在跑。", "今天下雨我们不出门。"]}
    texts = mm.evalset.Texts(["a", "b"], {"reference": references}, translations)
    human = [[0, 0], [-5, -1]]
    for pair, tokens, of_b in (("en-zh", "zh", 31.5), ("en-de", "13a", 0.0)):
        es = mm.EvalSet(human, {}, systems=["A", "B"], texts=texts, about={"language_pair": pair})
        found = mm.aggregate(es)
        assert f"tok:{tokens}" in found.signature
        scores = found.to_frame().set_index("system")["score"]
        assert scores["B"] == pytest.approx(of_b, abs=0.01)
        assert (scores["A"] == pytest.approx(100)) == (pair == "en-zh")
    frame = es.to_frame().assign(lp="en-zh")
    pairs = mm.local_accuracy.scored_pairs(mm.EvalSet.from_frame(frame), ["bleu"])
    assert "tok:zh" in pairs.attrs["signatures"]["bleu"]
