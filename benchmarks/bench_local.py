"""Speed of perturbing and scoring: 20,000 translations with four perturbations each, seven lexical metrics.

    make bench

The sentences are drawn from the words of the teaching campaign, 22 words on average, as in WMT23 Chinese to English; a
translation changes, moves or drops a third of the words of its reference.
"""

import numpy as np
import pandas as pd
import pytest

import mtmeta as mm

N = 20_000
ROUNDS = 1


def noisy(words: list[str], rng: np.random.Generator, vocabulary: list[str]) -> list[str]:
    """Return the words after dropping, replacing or moving every third one."""
    out: list[str] = []
    for word in words:
        what = rng.integers(9)
        if what == 1:
            out.append(str(rng.choice(vocabulary)))
        elif what == 2:
            out.insert(int(rng.integers(len(out) + 1)), word)
        elif what > 2 or not out:
            out.append(word)
    return out


@pytest.fixture(scope="module")
def translations() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    texts = mm.load("teaching").texts
    vocabulary = sorted({word for row in texts.references.values() for text in row for word in text.split()})
    rows = []
    for segment in range(N):
        reference = [str(word) for word in rng.choice(vocabulary, int(rng.integers(8, 37)))]
        rows.append((segment, "A", " ".join(noisy(reference, rng, vocabulary)), " ".join(reference)))
    return pd.DataFrame(rows, columns=["segment", "system", "translation", "reference"])


def perturbed_and_scored(translations: pd.DataFrame) -> pd.DataFrame:
    table = mm.perturb.perturb_table(translations, n_kinds=4, rng=0, n_jobs=2)
    return mm.scoring.score_pairs(table, n_jobs=2)


@pytest.mark.job("perturb and score 20,000 translations x 4, seven lexical metrics, 2 workers", "<= 300 s")
def test_perturb_and_score(translations, timed):
    pairs = timed(lambda: perturbed_and_scored(translations))
    assert len(pairs) > 3 * N
    assert {"ter", "ter_perturbed", "bleu", "rougeL"} <= set(pairs)


@pytest.mark.job("23 measures of 10,000 ranked lists of 100 items and their perturbations", "none")
def test_rankings(timed):
    rng = np.random.default_rng(0)
    lists, depth = 10_000, 100
    runs = pd.DataFrame(
        {
            "system": "A",
            "query": np.repeat(np.arange(lists), depth),
            "item": np.tile(np.arange(depth), lists),
            "rank": np.tile(np.arange(1, depth + 1), lists),
        }
    )
    qrels = runs[rng.random(len(runs)) < 0.1].assign(relevance=1)[["query", "item", "relevance"]]
    perturbed = runs.assign(rank=depth + 1 - runs["rank"], perturbation="reversed")
    score = mm.scoring.score_ranking_pairs
    assert len(timed(lambda: score(runs, perturbed, qrels, missing="drop"))) > 0.99 * lists
