"""The simulated campaigns: planted truth recovered, the same bytes everywhere."""

import hashlib
import itertools
import re

import numpy as np
import pandas as pd
import pytest

import mtmeta as mm
from mtmeta import simulate
from mtmeta.simulate import _errors, _frozen, _sentences
from mtmeta.simulate._campaign import BIAS, source_only
from mtmeta.simulate._random import Draw
from mtmeta.simulate._wordings import Style, translate

PLAIN = Style(lambda: 1.0, 0.0)


@pytest.fixture(scope="module")
def es():
    return simulate.teaching()


@pytest.fixture(scope="module")
def sentences():
    """Return every fourth document of the pool."""
    _, sizes, *_ = _sentences._lines()
    return [s for domain, size in sizes.items() for i in range(0, size, 4) for s in _sentences.document(domain, i)]


def test_sources_and_their_wordings_are_proper_sentences(sentences):
    draw, differing = Draw(3), 0
    for s in sentences:
        plain, free = translate(s, PLAIN), translate(s, Style(draw.uniform, 1.0))
        differing += free != plain
        for text in (s.source, plain, free):
            assert re.fullmatch(r"[A-ZÄÖÜ0-9].*[.?]", text), text
            assert not re.search(r"  | [,;.?]|,,|[{}|_^~*+]|None", text), text
        for text in (s.source, plain):
            assert _sentences.SHORTEST <= len(text.split()) <= _sentences.LONGEST, text
    assert differing > 0.8 * len(sentences)
    lengths = [len(s.source.split()) for s in sentences]
    assert min(lengths) <= 6 < 40 <= max(lengths)


def test_other_seeds_have_no_document_of_the_teaching_campaign(es):
    chosen = [(domain, i) for domain, known in _sentences._lines()[2].items() for i in known]
    own = {s.source for domain, i in chosen for s in _sentences.document(domain, i)}
    assert set(es.texts.sources) <= own
    others = {s.source for seed in range(20) for s in _sentences.drawn(seed, 2000)[0]}
    # Two documents may hit on the same short sentence.
    assert len(own & others) < 0.03 * len(own)


def test_weights_are_those_of_mqm():
    kinds = itertools.product({*_errors.PROVOKED, *_errors.CARELESS}, ("major", "minor"))
    for kind in [*kinds, (_errors.NON_TRANSLATION, "major")]:
        assert _errors.weight(*kind) == mm.datasets.mqm_weight(*kind)


def test_human_scores_are_minus_the_weights_of_the_marks(es):
    total = es.spans.groupby(["system", "segment"])["weight"].sum().round(1).unstack()
    np.testing.assert_allclose(-total.loc[list(es.systems), list(es.segments)].to_numpy(), es.human, atol=1e-9)
    assert (es.human <= 0).all()
    assert np.array_equal(np.round(es.human, 1), es.human)
    marked = es.spans[es.spans["severity"] != "no-error"]
    weights = [_errors.weight(c, s) for c, s in zip(marked["category"], marked["severity"], strict=True)]
    assert marked["weight"].tolist() == weights


def test_spans_lie_in_the_texts(es):
    assert list(es.spans) == [
        "system", "segment", "rater", "category", "severity", "weight", "start", "end", "text", "is_source_error",
    ]  # fmt: skip
    marked = es.spans[es.spans["severity"] != "no-error"]
    for row in marked.itertuples():
        text = es.texts.translations[row.system][row.segment - 1]
        assert 0 <= row.start <= row.end <= len(text)
        assert text[row.start : row.end] == row.text
        assert row.start < row.end or row.category in ("Accuracy/Omission", "Fluency/Punctuation")
    raters = es.spans.drop_duplicates(["segment", "rater"])
    assert raters["segment"].is_unique
    assert raters["rater"].tolist() == es.truth["rater"]


def test_metrics_see_what_they_say_they_see(es):
    assert (np.ptp(es["SourceOnly"], axis=0) == 0).all()
    np.testing.assert_allclose(es["SourceOnly"][0], [source_only(s) for s in es.texts.sources], atol=1e-6)
    for name in ("Judge", "Tagger"):
        assert np.array_equal(es[name], np.round(es[name]))
        assert es[name].max() == 0
    assert es["Judge"].min() == -10
    r = mm.correlate(es, ["Random"], grouping="none")["value"].iloc[0]
    assert abs(r) < 4 / np.sqrt(es.human.size)


def test_truth_adds_up(es):
    truth = es.truth
    errors = pd.DataFrame(truth["errors"])
    total = errors.groupby(["system", "segment"])["weight"].sum().unstack().reindex(es.systems)
    total = total.reindex(columns=es.segments).fillna(0).to_numpy()
    np.testing.assert_allclose(total, truth["penalty"], atol=0.051)
    np.testing.assert_allclose([truth["quality"][s] for s in es.systems], -truth["penalty"].mean(axis=1), atol=1e-6)


def test_a_favour_has_the_size_that_is_asked_for():
    plain, planted = (mm.simulate.campaign(n_systems=6, n_segments=20, texts=False, favour=f) for f in (0.0, 0.4))
    ((favoured, points),) = planted.truth["bias"]["Biased"].items()
    added = planted["Biased"] - plain["Biased"]
    assert points == 0.4
    np.testing.assert_allclose(added, np.outer(np.array(planted.systems) == favoured, np.full(20, 0.4)), atol=1e-9)


def test_bias_is_recovered(es):
    ((favoured, points),) = es.truth["bias"]["Biased"].items()
    assert points == BIAS
    penalty, score = es.truth["penalty"].mean(axis=1), es["Biased"].mean(axis=1)
    k = es.systems.index(favoured)
    others = np.delete(np.arange(len(es.systems)), k)
    slope, intercept = np.polyfit(penalty[others], score[others], 1)
    assert score[k] - (intercept + slope * penalty[k]) == pytest.approx(points, abs=0.01)
    assert np.argmax(score) == k
    assert np.argmin(penalty) != k


@pytest.mark.slow
def test_the_stored_campaign_is_read_once_and_given_anew():
    first = simulate.teaching()
    first.truth["penalty"][:] = -1
    first.texts.translations.clear()
    first.spans["weight"] = -1.0
    second = simulate.teaching()
    assert second.texts.translations
    assert not (second.truth["penalty"] == -1).any()
    assert not (second.spans["weight"] == -1).any()


@pytest.mark.slow
def test_the_stored_campaign_is_what_the_code_makes(es):
    made = simulate.campaign(**_frozen.SIZES)
    for attribute in ("systems", "segments", "metrics", "documents", "domains", "texts", "language_pair"):
        assert getattr(made, attribute) == getattr(es, attribute)
    assert all((made[name] == es[name]).all() for name in es.metrics)
    assert (made.human == es.human).all()
    stored = {**es.truth, "errors": {k: v for k, v in es.truth["errors"].items() if k not in ("start", "end")}}
    assert {name: np.asarray(value).tolist() for name, value in made.truth.items()} == {
        name: np.asarray(value).tolist() for name, value in stored.items()
    }


def test_without_texts_or_lexical_scores_all_else_is_the_same():
    less = ({}, {"texts": False}, {"lexical": False})
    full, bare, plain = (simulate.campaign(n_systems=4, n_segments=40, seed=6, **options) for options in less)
    assert (bare.texts, plain.texts) == (None, full.texts)
    for less in (bare, plain):
        assert set(full.metrics) - set(less.metrics) == {"BLEU", "chrF", "TER"}
        np.testing.assert_array_equal(less.human, full.human)
        for metric in less.metrics:
            np.testing.assert_array_equal(less[metric], full[metric])


def test_error_factor_multiplies_the_rates_and_leaves_systems_as_they_were():
    whole, tenth, none = (simulate.campaign(n_segments=200, texts=False, error_factor=f) for f in (1, 0.1, 0))
    rates = pd.DataFrame({"whole": whole.truth["rate"], "tenth": tenth.truth["rate"]})
    np.testing.assert_allclose(rates["tenth"], rates["whole"] / 10, atol=1e-6)
    assert tenth.systems == whole.systems
    errors = len(tenth.truth["errors"]["system"]) / len(whole.truth["errors"]["system"])
    assert 0.1 < errors < 0.15  # at high rates, systems fall into a trap at most once
    assert (none.truth["penalty"] == 0).all()
    assert (none.human < 0).any()  # raters mark correct words


@pytest.mark.exhaustive
def test_planted_length_effect_is_found_again():
    es = simulate.campaign(n_systems=10, n_segments=1500, seed=3, length_effect=1.0, lexical=False)
    words = np.array([len(source.split()) for source in es.texts.sources])
    errors = pd.DataFrame(es.truth["errors"]).query("category != 'Non-translation'")
    counts = errors.groupby(["system", "segment"]).size().unstack(fill_value=0)
    counts = counts.reindex(index=es.systems, columns=es.segments, fill_value=0).to_numpy()
    edges = np.quantile(words, np.linspace(0, 1, 6))
    part = np.digitize(words, edges[1:-1])
    rates = np.array([[row[part == b].sum() / words[part == b].sum() for b in range(5)] for row in counts])
    middle = [np.log(words[part == b]).mean() for b in range(5)]
    found = np.polyfit(middle, np.log(rates.T), 1)[0]
    planted = np.array(list(es.truth["length_slope"].values()))
    assert np.corrcoef(found, planted)[0, 1] > 0.97
    assert np.abs(found - found.mean() - planted).max() < 0.35


@pytest.fixture(scope="module")
def transcripts():
    return simulate.teaching_speech()


def test_teaching_speech_and_rankings_are_the_same_everywhere(transcripts, rankings):
    lists = rankings.runs.to_csv(index=False) + rankings.qrels.to_csv(index=False)
    found = [hashlib.sha256(text.encode()).hexdigest()[:16] for text in (transcripts.to_csv(index=False), lists)]
    assert found == ["a6eda47e28de9d0d", "0f878e42099b2567"]


@pytest.fixture(scope="module")
def rankings():
    return simulate.teaching_ranking()
