"""Scores of transcripts, ranked lists and pairs of texts against definitions and the libraries that own them."""

import math
import warnings

import jiwer
import numpy as np
import pandas as pd
import pytest
import sclite
from campaigns import checks, near
from exact import edits
from nltk.tokenize import NLTKWordTokenizer
from nltk.translate.bleu_score import sentence_bleu
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu.metrics import BLEU, CHRF, TER
from sklearn.metrics import ndcg_score

from mtmeta import datasets, scoring

pytestmark = pytest.mark.slow

WORDS = ("one", "two", "three", "four", "five", "One", "a", "b")


def transcripts(number):
    rng, rows = np.random.default_rng([51, number]), []
    for k in range(int(rng.integers(1, 8))):
        reference = [str(w) for w in rng.choice(WORDS, int(rng.integers(1, 7)))]
        text = [str(rng.choice(WORDS)) if rng.random() < 0.3 else w for w in reference if rng.random() < 0.8]
        rows.append(("AB"[k % 2], " ".join(text), " ".join(reference)))
    return pd.DataFrame(rows, columns=["system", "transcript", "reference"])


@checks(first=24)
def test_transcripts(numbers):
    for number in numbers:
        frame = transcripts(number)
        scored = scoring.score_pairs(frame.assign(perturbed=frame["transcript"]), task="speech")
        for _, line in scored.iterrows():
            text, reference = line["transcript"], line["reference"]
            near(line["cer"], -edits(text, reference) / len(reference), number, 1e-12)
            of_library = jiwer.process_words(reference, text)
            for name, sign in (("wer", -1), ("mer", -1), ("wil", -1), ("wip", 1)):
                near(line[name], sign * getattr(of_library, name), number, 1e-12)
        fewest, costly = (sclite.score_transcripts(frame, fewest=few).set_index("system") for few in (True, False))
        for system, part in frame.groupby("system"):
            pairs = [(t.split(), r.split()) for t, r in zip(part["transcript"], part["reference"], strict=True)]
            n = sum(len(r) for _, r in pairs)
            assert fewest.loc[system, "words"] == n
            near(fewest.loc[system, "wer"], -sum(edits(*pair) for pair in pairs) / n, number, 1e-12)
            other = costly.loc[system]
            cost = 4 * other["substitutions"] + 3 * (other["deletions"] + other["insertions"])
            assert cost == sum(edits(*pair, 4, 3) for pair in pairs), number
            near(other["wer"], -other[["substitutions", "deletions", "insertions"]].sum() / n, number, 1e-12)


def lists(number):
    """Return ranked lists of two systems, and judgements of some items in three grades."""
    rng = np.random.default_rng([52, number])
    items, n = [f"i{k}" for k in range(14)], int(rng.integers(1, 13))
    runs = [
        (system, query, item, rank)
        for system in "AB"
        for query in "pq"
        for rank, item in enumerate(rng.permutation(items)[:n].tolist(), 1)
    ]
    judged = [(query, item, int(rng.integers(0, 3))) for query in "pq" for item in items if rng.random() < 0.6]
    judged, columns = judged + [(query, "unseen", 1) for query in "pq"], ["query", "item", "relevance"]
    return pd.DataFrame(runs, columns=["system", "query", "item", "rank"]), pd.DataFrame(judged, columns=columns)


def by_hand(ranked, grades, level):
    """Return the 23 measures from their definitions."""
    hits = [grades.get(item, 0) >= level for item in ranked]
    n_relevant = sum(g >= level for g in grades.values())
    precision = [sum(hits[:k]) / k for k in range(1, len(hits) + 1)]
    found = {"map": sum(p for p, hit in zip(precision, hits, strict=True) if hit) / n_relevant if n_relevant else 0.0}
    found["Rprec"] = sum(hits[:n_relevant]) / n_relevant if n_relevant else 0.0
    found["recip_rank"] = next((1 / k for k, hit in enumerate(hits, 1) if hit), 0.0)
    for at in (0, 1, 2, 3, 4):  # tenths of the relevant items, of which trec_eval asks for that many, rounded half up
        wanted = math.floor(at / 10 * n_relevant + 0.9)
        reached = [p for k, p in enumerate(precision) if sum(hits[: k + 1]) >= wanted]
        found[f"iprec_at_recall_{at / 10:.2f}"] = max(reached, default=0.0) if n_relevant else 0.0
    gains = sorted(grades.values(), reverse=True)
    for k in (5, 10, 15, 20, 30):
        found[f"P_{k}"] = sum(hits[:k]) / k
        found[f"recall_{k}"] = sum(hits[:k]) / n_relevant if n_relevant else 0.0
        own = sum(grades.get(item, 0) / math.log2(i + 2) for i, item in enumerate(ranked[:k]))
        ideal = sum(g / math.log2(i + 2) for i, g in enumerate(gains[:k]))
        found[f"ndcg_cut_{k}"] = own / ideal if ideal else 0.0
    return found


@checks(scoring.score_rankings, first=16)
def test_rankings(numbers):
    for number in numbers:
        runs, qrels = lists(number)
        level = 1 + number % 2
        found = scoring.score_rankings(runs, qrels, relevance_level=level).set_index(["system", "query"])
        for key, part in runs.groupby(["system", "query"]):
            grades = qrels[qrels["query"] == key[1]].set_index("item")["relevance"].to_dict()
            ranked = part.sort_values("rank")["item"].tolist()
            for name, value in by_hand(ranked, grades, level).items():
                near(found.loc[key, name], value, f"{number} {name}", 1e-9)
            everything = [*ranked, *sorted(set(grades) - set(ranked))]  # what is not listed stands below k
            if len(ranked) >= 5 and any(grades.values()):
                truth, order = [grades.get(item, 0) for item in everything], range(len(everything), 0, -1)
                near(found.loc[key, "ndcg_cut_5"], ndcg_score([truth], [list(order)], k=5), number, 1e-9)


@checks(scoring.score_ranking_pairs, first=8)
def test_pairs_of_rankings(numbers):
    for number in numbers:
        runs, qrels = lists(number)
        swapped = runs.assign(rank=runs.groupby(["system", "query"])["rank"].transform(lambda r: r[::-1].to_numpy()))
        found = scoring.score_ranking_pairs(runs, swapped.assign(perturbation="turned"), qrels)
        for _, line in found.iterrows():
            grades = qrels[qrels["query"] == line["segment"]].set_index("item")["relevance"].to_dict()
            for frame, end in ((runs, ""), (swapped, "_perturbed")):
                part = frame[(frame["system"] == line["system"]) & (frame["query"] == line["segment"])]
                for name, value in by_hand(part.sort_values("rank")["item"].tolist(), grades, 1).items():
                    near(line[name + end], value, f"{number} {name}", 1e-9)


@checks(scoring.score_pairs, first=16)
def test_pairs_of_texts(numbers):
    rouge, words = RougeScorer(["rouge1", "rouge2", "rougeL"]), NLTKWordTokenizer().tokenize
    bleu, chrf, chrf2, ter = BLEU(effective_order=True), CHRF(), CHRF(word_order=2), TER()

    def by_library(text, reference):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # nltk warns of texts without a common 4-gram
            of_nltk = sentence_bleu([words(reference)], words(text))
        scored = rouge.score(reference, text)
        return {
            "bleu": bleu.sentence_score(text, [reference]).score,
            "bleu_nltk": of_nltk,
            "chrf": chrf.sentence_score(text, [reference]).score,
            "chrf++": chrf2.sentence_score(text, [reference]).score,
            "ter": -ter.sentence_score(text, [reference]).score,
            **{name: value.fmeasure for name, value in scored.items()},
        }

    for number in numbers:
        frame = transcripts(number).rename(columns={"transcript": "translation"})
        frame["perturbed"] = frame["translation"].str.split().str[::-1].str.join(" ")
        found = scoring.score_pairs(frame, [*scoring.PAIR_METRICS["translation"], "chrf++"])
        speech = scoring.score_pairs(frame.rename(columns={"translation": "transcript"}), task="speech")
        for (_, line), (_, spoken) in zip(found.iterrows(), speech.iterrows(), strict=True):
            for column, end in (("translation", ""), ("perturbed", "_perturbed")):
                for name, value in by_library(line[column], line["reference"]).items():
                    near(line[name + end], value, f"{number} {name}")
                wanted = -edits(line[column].split(), line["reference"].split()) / len(line["reference"].split())
                near(spoken[f"wer{end}"], wanted, number, 1e-12)


@checks(datasets.mqm_weight, first=0)
def test_weights_of_errors():
    """The table of Freitag et al. 2021, every row."""
    for category in ("Accuracy/Mistranslation", "Fluency/Punctuation", "Fluency/Grammar", "Style/Awkward", "Other"):
        minor = 0.1 if category == "Fluency/Punctuation" else 1.0
        for severity, weight in (("Major", 5.0), ("minor", minor), ("Neutral", 0.0), ("no-error", 0.0)):
            assert datasets.mqm_weight(category, severity) == weight
    assert {datasets.mqm_weight("Non-translation!", severity) for severity in ("Major", "Minor")} == {25.0}
