"""Scores of awkward texts against sacreBLEU; their resamples by scoring anew."""

import itertools
import math

import corpus_or_segment
import exact
import numpy as np
import pytest
from campaigns import VALUES, agree, checks, near
from sacrebleu.metrics import BLEU, CHRF, TER
from scipy import stats

import mtmeta as mm
from mtmeta import aggregation, scoring

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("MTMETA_CACHE", str(tmp_path))


WORDS = ("the", "The", "cat", "sat", "on", "a", "mat", ".", ",", "Käse", "猫は", "don't", "3.5", "a-b", "&amp;", "(x)")
SCALE = {"bleu": 1, "chrf": 1, "chrf++": 1, "ter": -1}


def texts_of(number, *, n_systems=None, least=1, most=7):
    """Return a set with awkward texts: short, empty, repeated, equal to the reference; one or two references."""
    rng = np.random.default_rng([21, number])
    n, n_systems = int(rng.integers(least, most)), n_systems or 1 + number % 3

    def text(low=0):
        return " ".join(rng.choice(WORDS, int(rng.integers(low, 8))))

    references = {name: tuple(text(1) for _ in range(n)) for name in ("refA", "refB")[: 1 + (number % 5 == 0)]}
    translations = {}
    for k in range(n_systems):
        like = [own.split() for own in references["refA"]]
        own = [" ".join(w if rng.random() < 0.7 else str(rng.choice(WORDS)) for w in words) for words in like]
        translations[f"S{k}"] = tuple(o if rng.random() < 0.7 else text() for o in own)
    human = VALUES[("tenths", "normal", "integers")[number % 3]](rng, (n_systems, n))
    if number % 4 == 0:
        human[rng.random(human.shape) < 0.3] = np.nan
    human[:, 0] = np.where(np.isnan(human).all(axis=1), 0.0, human[:, 0])
    return mm.EvalSet(
        human, {}, systems=list(translations), texts=mm.evalset.Texts(None, references, translations), name="texts"
    )


def options_of(number):
    """Return metric and effective order, which change from campaign to campaign."""
    metric = scoring.METRICS[number % 4]
    return metric, None if metric == "ter" else (None, True, False)[number // 4 % 3]


def library(metric, effective=None, tokenize=None, level="corpus"):
    if metric == "ter":
        return TER()
    if metric == "bleu":
        effective = level == "segment" if effective is None else effective
        return BLEU(effective_order=effective, tokenize=tokenize)
    return CHRF(word_order=2 * (metric == "chrf++"), eps_smoothing=effective is False)


def corpus(es, system, drawn, metric, **options):
    """Return sacreBLEU's score of some segments, which may occur twice."""
    texts = [es.texts.translations[system][j] for j in drawn]
    streams = [[own[j] for j in drawn] for own in es.texts.references.values()]
    return SCALE[metric] * library(metric, **options).corpus_score(texts, streams).score


def segments(es, system, metric, **options):
    scorer = library(metric, level="segment", **options)
    streams = list(zip(*es.texts.references.values(), strict=True))
    pairs = zip(es.texts.translations[system], streams, strict=True)
    return [SCALE[metric] * scorer.sentence_score(text, list(own)).score for text, own in pairs]


def scorer_of(es, system, how, metric, **options):
    """Return a function that scores some segments, which may occur twice: as a corpus, or by their mean."""
    if how == "segment":
        single = segments(es, system, metric, **options)
        return lambda drawn: math.fsum(single[j] for j in drawn) / len(drawn)
    return lambda drawn: corpus(es, system, drawn, metric, **options)


def extracted(number, es):
    """Return statistics and the options that sacreBLEU gets."""
    metric, effective = options_of(number)
    if "chrf" in metric and len(es.texts.references) > 1:
        effective = effective or None
    tokenize = (None, "char", "intl", "none")[number // 16 % 4] if metric == "bleu" else None
    references = list(es.texts.references)
    statistics = aggregation.extract(es, metric, references=references, tokenize=tokenize)
    return statistics, {"effective": effective, "tokenize": tokenize}


@checks(aggregation.extract, scoring.score_texts)
def test_scores_are_those_of_sacrebleu(numbers):
    for number in numbers:
        es = texts_of(number)
        statistics, options = extracted(number, es)
        metric, every, effective = statistics.metric, range(es.shape[1]), options["effective"]
        whole, single = (
            score(effective_order=effective) for score in (statistics.corpus_scores, statistics.segment_scores)
        )
        for k, system in enumerate(es.systems):
            near(whole[k], corpus(es, system, every, metric, **options), number)
            wanted = segments(es, system, metric, **options)
            np.testing.assert_allclose(single[k], wanted, atol=1e-9, err_msg=number)
        options["effective"] = None
        texts, streams = es.texts.translations["S0"], list(es.texts.references.values())
        wanted = corpus(es, "S0", every, metric, **options)
        near(scoring.score_texts(texts, streams, metric, tokenize=options["tokenize"]).score, wanted, number)
        found = scoring.score_texts(texts, streams, metric, level="segment", tokenize=options["tokenize"]).score
        np.testing.assert_allclose(found, segments(es, "S0", metric, **options), atol=1e-9, err_msg=number)


@checks(aggregation.aggregate)
def test_aggregations(numbers):
    """Corpus and mean of segments, the jackknife by leaving out, the bootstrap by scoring each resample."""
    for number in numbers:
        es = texts_of(number, least=2, most=6)
        statistics, options = extracted(number, es)
        metric, n, options = statistics.metric, es.shape[1], {"tokenize": options["tokenize"]}
        how, interval = (("corpus", None), ("segment", None), ("bootstrap", None), ("segment", "bootstrap"))[number % 4]
        how, interval = ("corpus", "bootstrap") if number % 8 == 5 else (how, interval)
        drawing = "bootstrap" in (how, interval)
        given = {"how": how, "interval": interval} | ({"n_resamples": 5, "rng": number} if drawing else {})
        found = aggregation.aggregate(statistics, metric, **given)
        drawn = np.random.default_rng(number).integers(n, size=(5, n))
        for k, system in enumerate(es.systems):
            score = scorer_of(es, system, how, metric, **options)
            whole = score(range(n))
            if drawing:
                draws = [score(one) for one in drawn]
                np.testing.assert_allclose(found.draws[:, k], draws, atol=1e-9, err_msg=number)
                wanted = (np.mean(draws) if how == "bootstrap" else whole, np.std(draws, ddof=1))
                wanted += tuple(np.quantile(draws, [0.025, 0.975]))
            else:
                without = [score([i for i in range(n) if i != j]) for j in range(n)]
                se = math.sqrt((n - 1) / n * math.fsum((v - np.mean(without)) ** 2 for v in without))
                half = stats.t.ppf(0.975, n - 1) * se
                wanted = (whole, se, whole - half, whole + half)
            line = found.table.iloc[k][["score", "se", "low", "high"]].astype(float)
            np.testing.assert_allclose(line, wanted, atol=1e-7, err_msg=number)


def pearson(x, y):
    """Return Pearson's r by the textbook formula, None where a side is constant (but for rounding) or unknown."""
    if any(v is None or math.isnan(v) for v in (*x, *y)) or any(np.ptp(v) <= 1e-12 * max(map(abs, v)) for v in (x, y)):
        return None
    return exact.float_pearson(list(x), list(y))


@checks(first=24)
def test_comparison_of_aggregations(numbers):
    n_resamples = 6
    for number in numbers:
        es = texts_of(number, n_systems=4 + number % 2, least=2, most=6)
        metric, unit = scoring.METRICS[number % 4], ("segment", "both")[number // 4 % 2]
        options = {"unit": unit, "n_resamples": n_resamples, "rng": number}
        found = corpus_or_segment.compare_aggregations(es, [metric], reference="refA", **options)
        row, n = found.table.iloc[0], es.shape[1]
        sides = [[scorer_of(one_reference(es), s, how, metric) for s in es.systems] for how in ("corpus", "segment")]

        def scores(drawn, es=es, sides=sides):
            rated = [[h for h in es.human[k, drawn] if not math.isnan(h)] for k in range(es.shape[0])]
            means = [math.fsum(h) / len(h) if h else math.nan for h in rated]
            return *([score(drawn) for score in side] for side in sides), means

        c, m, human = scores(list(range(n)))
        both = pearson(c, human), pearson(m, human)
        agree(row, number, corpus=both[0], segment=both[1], difference=None if None in both else both[1] - both[0])
        rng = np.random.default_rng(number)
        drawn = rng.integers(n, size=(n_resamples, n))
        picked = rng.integers(len(human), size=(n_resamples, len(human))) if unit == "both" else None
        draws = []
        for k in range(n_resamples):
            three = scores(drawn[k].tolist())
            three = [[side[i] for i in picked[k]] for side in three] if picked is not None else three
            draws.append((pearson(three[0], three[2]), pearson(three[1], three[2])))
        for value, wanted in zip(found.draws[es.name, metric], draws, strict=True):
            near(value[0], wanted[0], number, 1e-7)
            near(value[1], wanted[1], number, 1e-7)
        gaps = [b - a for a, b in draws if a is not None and b is not None]
        low, high = np.quantile(gaps, [0.025, 0.975]) if gaps else (None, None)
        agree(row, number, 1e-7, low=low, high=high)
        below = [(1 + sum(side * g <= 1e-9 for g in gaps)) / (1 + len(gaps)) for side in (1, -1)]
        agree(row, number, p_bootstrap=min(1, 2 * min(below)) if gaps else None, p_exchange=exchanged(c, m, human))
        if None in both:
            assert math.isnan(row["p_williams"])
        elif (t := exact.williams(both[1], both[0], pearson(c, m), len(human))) is not None:
            near(row["p_williams"], 2 * stats.t.sf(abs(t), len(human) - 3), number, 1e-6)


def one_reference(es):
    texts = mm.evalset.Texts(None, {"refA": es.texts.references["refA"]}, dict(es.texts.translations))
    return mm.EvalSet(es.human, {}, systems=es.systems, texts=texts, name=es.name)


def exchanged(first, second, human):
    """Return the share of all exchanges of standardised scores that separate the correlations as much; None if flat."""
    if any(np.ptp(side) == 0 for side in (first, second, human)):
        return None
    z = [[(v - np.mean(side)) / np.std(side) for v in side] for side in (first, second)]
    gaps = []
    for swap in itertools.product((0, 1), repeat=len(human)):
        hybrids = [[z[k ^ s][i] for i, s in enumerate(swap)] for k in (0, 1)]
        gaps.append(abs((pearson(hybrids[1], human) or 0) - (pearson(hybrids[0], human) or 0)))
    return sum(gap >= gaps[0] - 1e-10 for gap in gaps) / len(gaps)
