"""Texts with their perturbed copies, transcripts and rankings: the libraries' own numbers, and what must follow."""

import random
import re

import jiwer
import pandas as pd
import pytest
import sclite
from campaigns import refuses
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics import TER

import mtmeta as mm
from mtmeta import scoring
from mtmeta.scoring import _lexical, _pairs

REFERENCE = "Er sagte, dass es morgen in der Stadt regnen wird."
TRANSLATION = "Er sagte, dass es morgen in der Stadt schneit."
TABLE = pd.DataFrame({
    "segment": [1, 1, 2], "system": ["A", "A", "B"], "perturbation": ["removal", "swapping", "removal"],
    "translation": [TRANSLATION, TRANSLATION, "The cat sat on the mat."],
    "perturbed": [
        "Er sagte, dass es morgen in Stadt schneit.", "Er sagte, dass morgen es in der Stadt schneit.",
        "The cat on the mat.",
    ],
    "reference": [REFERENCE, REFERENCE, "The cat sat on a mat."],
})  # fmt: skip
WORDS = st.lists(st.sampled_from("a b c d ee ä, .".split()), max_size=12).map(" ".join)


@pytest.mark.slow
def test_compiled_ter_of_long_texts_is_that_of_sacrebleu():
    # Few different words make many shifts, up to the limit on those that are tried; the lengths strain the beam.
    rng = random.Random(0)
    sizes = [(60, 60, 4), (90, 70, 30), (1, 130, 3), (120, 5, 3), (0, 9, 3), (9, 0, 3), (0, 0, 3), (75, 75, 80)]
    texts = [[" ".join(f"w{rng.randrange(k)}" for _ in range(n)) for n in (a, b)] for a, b, k in sizes]
    expected = [-TER().sentence_score(text, [reference]).score for text, reference in texts]
    assert scoring.score_texts(*zip(*texts, strict=True), "ter", level="segment").score.tolist() == expected


@given(st.text(st.characters(max_codepoint=127), max_size=40))
def test_rouge_tokenizers_agree_on_ascii(text):
    from rouge_score.tokenizers import DefaultTokenizer

    assert _lexical._Words.tokenize(text) == DefaultTokenizer().tokenize(text)


def test_rouge_sees_words_of_any_script():
    # To the tokenizer of rouge-score "für" is "f" and "r", and a Russian text has no words.
    table = pd.DataFrame({"translation": ["für", "дом"], "perturbed": ["fär", "дым"], "reference": ["für", "дом"]})
    found = scoring.score_pairs(table, ["rouge1"])
    assert found["rouge1"].tolist() == [1, 1]
    assert found["rouge1_perturbed"].tolist() == [0, 0]


def test_rows_columns_and_signatures_are_kept():
    table = TABLE.set_index(pd.Index([7, 3, 3]))
    pairs = scoring.score_pairs(table, ["chrf", "rouge1"])
    assert pairs[list(TABLE)].equals(table)
    assert list(pairs)[len(TABLE.columns) :] == ["chrf", "chrf_perturbed", "rouge1", "rouge1_perturbed"]
    assert re.fullmatch(r"chrF2\|.*version:2\.\d+\.\d+", pairs.attrs["signatures"]["chrf"])
    assert "rouge-score:" in pairs.attrs["signatures"]["rouge1"]

    def signatures(**options):
        return scoring.score_pairs(TABLE, ["bleu", "ter"], **options).attrs["signatures"]

    assert signatures()["ter"].startswith("-TER|")
    assert signatures()["bleu"] != signatures(tokenize="intl")["bleu"]


def test_equal_texts_are_scored_once():
    seen = []

    def count(texts):
        seen.append(len(texts))
        return texts["translation"].str.len()

    pairs = scoring.score_pairs(TABLE, (), scorers={"length": count})
    assert seen == [5]  # two different y, three y'
    assert pairs["length"].tolist() == TABLE["translation"].str.len().tolist()
    assert pairs["length_perturbed"].tolist() == TABLE["perturbed"].str.len().tolist()


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_chunks_and_processes_change_nothing(n_jobs, monkeypatch):
    expected = scoring.score_pairs(TABLE)
    monkeypatch.setattr(_pairs, "_CHUNK", 2)
    assert scoring.score_pairs(TABLE, n_jobs=n_jobs).equals(expected)


@pytest.mark.slow
@given(WORDS, WORDS)
def test_speech_metrics_are_those_of_jiwer(text, reference):
    found = scoring.score_pairs(
        pd.DataFrame({"transcript": [text], "perturbed": [reference], "reference": [reference]}), task="speech"
    ).iloc[0]
    words = jiwer.process_words(reference, text)
    assert (found["wer"], found["mer"]) == (-words.wer, -words.mer)
    assert (found["wip"], -found["wil"]) == pytest.approx((words.wip, words.wil), abs=1e-15)
    assert found["cer"] == -jiwer.cer(reference, text)
    assert [found[f"{m}_perturbed"] for m in scoring.PAIR_METRICS["speech"]] == [0, 0, 0, 1, 0]


def test_equal_word_information_is_a_tie():
    # 3 of 5 words and 3 of 9, or 1 of 5 and 1 of 1: a fifth both times. jiwer rounds twice and parts the two WIPs.
    reference, texts = "a b c d e", ("a b c x x x x x x", "a")
    wip = [jiwer.process_words(reference, text).wip for text in texts]
    assert wip[0] != wip[1]
    assert wip == pytest.approx([0.2, 0.2])
    table = pd.DataFrame({"transcript": texts[:1], "perturbed": texts[1:], "reference": reference})
    row = scoring.score_pairs(table, ["wip", "wil"], task="speech").iloc[0]
    assert row["wip"] == row["wip_perturbed"] == 0.2
    assert row["wil"] == row["wil_perturbed"]


def test_corpus_rates_sum_errors_first_in_each_group():
    table = pd.DataFrame({"system": list("AABB"), "quality": ["clean", "other"] * 2, "reference": ["a b c d", "a"] * 2})
    table["transcript"] = ["a b c d", "x", "a b", "a a"]
    by = sclite.score_transcripts(table, ["quality", "system"], fewest=True)
    assert list(by)[:2] == ["quality", "system"]
    assert by["wer"].tolist() == [0, -1, -0.5, -1]


@pytest.mark.data
@pytest.mark.parametrize(("part", "n_segments", "n_speakers", "n_other"), [
    pytest.param("test-clean", 2620, 40, 0, marks=pytest.mark.exhaustive), ("test-other", 2939, 33, 2),
])  # fmt: skip
def test_librispeech_matches_its_44_result_files(data_dir, part, n_segments, n_speakers, n_other):
    pattern = r"^WER: error_rate=([\d.]+), ref_words=(\d+), subs=(\d+), ins=(\d+), dels=(\d+)"
    table = mm.datasets.load_transcripts(f"librispeech/{part}")
    assert (table["segment"].nunique(), table["speaker"].nunique()) == (n_segments, n_speakers)
    exact, fewest, differ = *(sclite.score_transcripts(table, fewest=few) for few in (False, True)), []
    for found, least in zip(exact.itertuples(), fewest.itertuples(), strict=True):
        path = data_dir / "librispeech-rnnt" / "results" / f"{part}.{found.system}.tsv.result"
        rate, words, *errors = map(float, re.match(pattern, path.read_text()).groups())
        assert [found.words, found.substitutions, found.insertions, found.deletions] == [words, *errors]
        assert -100 * found.wer == pytest.approx(rate, abs=1e-12)
        differ.append(sum(errors) - least.substitutions - least.insertions - least.deletions)
    # Where the costs of sclite take more than the fewest errors, it is one error.
    assert sorted(differ) == [0] * (22 - n_other) + [1] * n_other


ORDERS = {"A": range(8), "B": (5, 1, 0, 3, 2, 7, 6, 4)}
RUNS = [(s, q, f"{q}{i}", rank) for s, order in ORDERS.items() for q in "pq" for rank, i in enumerate(order, 1)]
RUNS = pd.DataFrame(RUNS, columns=["system", "query", "item", "rank"])
QRELS = [("p", "p1", 2), ("p", "p3", 1), ("p", "p9", 1), ("p", "p0", 0), ("q", "q7", 3), ("q", "q2", 1)]
QRELS = pd.DataFrame(QRELS, columns=["query", "item", "relevance"])


@pytest.mark.data
@pytest.mark.parametrize("task", ["doc", "passage"])
def test_dl_hard_matches_its_evaluations(task, data_dir):
    rankings = mm.datasets.load_rankings(f"dl-hard/{task}")
    names = [m for m in scoring.RANKING_MEASURES if re.match(r"(P|recall|ndcg_cut)_\d", m)]
    found = scoring.score_rankings(rankings.runs, rankings.qrels, names, relevance_level=2)
    long = found.melt(["system", "query"], var_name="measure", value_name="ours")
    columns = {"header": None, "names": ["measure", "query", "theirs"], "dtype": str, "sep": r"\s+", "quoting": 3}
    published = []
    for system in rankings.runs["system"].unique():
        path = data_dir / "dl-hard" / "evals" / f"{task}.{system}.run.eval"
        published.append(pd.read_csv(path, **columns).assign(system=system))
    both = long.merge(pd.concat(published), on=["system", "query", "measure"], validate="one_to_one")
    assert len(both) == len(long) == {"doc": 14, "passage": 6}[task] * 50 * 15
    # They are printed with four digits.
    assert (both["ours"] - both["theirs"].astype(float)).abs().max() <= 0.5e-4 + 1e-9


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({"perturbed": ["a", None, "b"]}, {}, "'perturbed' of `frame` holds (nan|None) in row 2 .* in 1 of 3 rows"),
        ({"chrf_perturbed": 1.0}, {}, "has a column 'chrf_perturbed' already"),
        ({}, {"scorers": {"x": lambda t: [1.0]}}, "'x' must return 5 finite numbers, one per row"),
    ],
)
def test_bad_input_of_pairs(change, options, message):
    refuses(message, scoring.score_pairs, TABLE.assign(**change), **{"metrics": ["chrf"], **options})


def test_bad_qrels_and_perturbed_runs():
    refuses("`qrels` has several rows of query 'p', item 'p1'", scoring.score_rankings, RUNS, pd.concat([QRELS, QRELS]))
    refuses("'relevance' must hold integers; found float64", scoring.score_rankings, RUNS, QRELS.assign(relevance=0.5))
    one = QRELS[QRELS["query"] == "p"]
    refuses("1 queries of `runs` have no row in `qrels`, the first of them 'q'", scoring.score_rankings, RUNS, one)
    refuses("`perturbed_runs` lacks the column 'perturbation'", scoring.score_ranking_pairs, RUNS, RUNS, QRELS)
    named = RUNS.assign(perturbation="swap")
    wrong = named.replace({"system": {"A": "C"}})
    refuses("no list of system 'C', query 'p', but `perturbed_runs`", scoring.score_ranking_pairs, RUNS, wrong, QRELS)


@pytest.mark.parametrize("n", [57, 67, 77, 87, 97, 197])
def test_interpolated_precision_asks_for_as_many_relevant_items_as_it_says(n):
    needed = -(-3 * n // 10)  # 24 of 77, of which the first 23 are on top
    ranks = [*range(1, needed), 10 * needed]
    items = {rank: f"r{k}" for k, rank in enumerate(ranks)}
    runs = pd.DataFrame({"rank": range(1, 10 * needed + 1)}).assign(system="A", query="q")
    runs["item"] = [items.get(rank, f"x{rank}") for rank in runs["rank"]]
    qrels = pd.DataFrame({"query": "q", "item": [f"r{k}" for k in range(n)], "relevance": 1})
    found = scoring.score_rankings(runs, qrels, ["iprec_at_recall_0.30", "iprec_at_recall_0.00"])
    assert found["iprec_at_recall_0.30"][0] == pytest.approx(0.1)
    assert found["iprec_at_recall_0.00"][0] == 1
