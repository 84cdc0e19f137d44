"""Speed of aggregation, on simulated texts of the size of WMT23.

    make bench

Three sets with as many systems and segments as en-de, he-en and zh-en. Extraction, which sacreBLEU does once, is timed
on the largest set and without the cache; the bootstrap then draws 1,000 resamples of 1,000 segments for all 39 systems.
The last job is sacreBLEU's own bootstrap of one system.
"""

import numpy as np
import pytest

import mtmeta as mm
from mtmeta import scoring

SIZES = ((12, 557), (12, 1910), (15, 1976))
METRICS = ("bleu", "chrf")
ROUNDS = 3


def text_set(n_systems, n_segments, seed):
    """Return a set whose systems copy references of some 25 words and get up to half of them wrong."""
    rng = np.random.default_rng(seed)
    words = np.array(["".join(rng.choice(list("aeionrstlmdk"), n)) for n in rng.integers(2, 10, 3000)])
    frequency = 1 / np.arange(1, 3001)
    frequency /= frequency.sum()
    references = [rng.choice(words, n, p=frequency) for n in rng.integers(5, 45, n_segments)]
    translations = {
        f"S{k}": tuple(
            " ".join(np.where(rng.random(len(r)) < share, rng.choice(words, len(r), p=frequency), r))
            for r in references
        )
        for k, share in enumerate(np.linspace(0.1, 0.5, n_systems))
    }
    texts = mm.evalset.Texts(None, {"ref": tuple(map(" ".join, references))}, translations)
    human = np.zeros((n_systems, n_segments))
    return mm.EvalSet(human, {}, systems=list(translations), texts=texts, name=f"set {seed}")


@pytest.fixture(scope="module")
def sets(tmp_path_factory):
    patch = pytest.MonkeyPatch()
    patch.setenv("MTMETA_CACHE", str(tmp_path_factory.mktemp("cache")))
    yield [text_set(k, n, seed) for seed, (k, n) in enumerate(SIZES)]
    patch.undo()


@pytest.fixture(scope="module")
def statistics(sets):
    return [mm.aggregation.extract(es, metric, n_jobs=2) for es in sets for metric in METRICS]


@pytest.mark.job("counts of BLEU and chrF by sacreBLEU, 15 systems x 1976 segments, 2 workers", "none (once a set)")
def test_extraction(sets, timed):
    timed(lambda: [mm.aggregation.extract(sets[-1], m, n_jobs=2) for m in METRICS], rounds=1)


@pytest.mark.job("1,000 resamples of all segments, BLEU and chrF, 39 systems of 3 sets", "<= 5 s")
def test_bootstrap(statistics, timed):
    found = timed(lambda: [mm.aggregation.aggregate(s, s.metric, how="bootstrap") for s in statistics])
    assert sum(len(one.table) for one in found) == 2 * 39


@pytest.mark.job("corpus and segment scores with jackknife intervals, BLEU and chrF, 39 systems", "<= 1 s")
def test_corpus_and_segment(statistics, timed):
    timed(lambda: [mm.aggregation.aggregate(s, s.metric, how=how) for s in statistics for how in ("corpus", "segment")])


@pytest.mark.job(
    "sacreBLEU's own bootstrap, 1,000 resamples, BLEU and chrF, one system x 1976 segments", "none (for comparison)"
)
def test_sacrebleu_bootstrap(sets, timed):
    texts, reference = list(sets[-1].texts.translations["S0"]), list(sets[-1].texts.references["ref"])
    timed(lambda: [scoring.scorer(m).corpus_score(texts, [reference], n_bootstrap=1000) for m in METRICS], rounds=1)
