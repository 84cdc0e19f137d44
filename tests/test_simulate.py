"""The simulated campaigns: grammar by hand, planted truth recovered, the same bytes everywhere."""

import hashlib
import lzma
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import mtmeta as mm
from mtmeta import simulate
from mtmeta.simulate import _errors, _frozen, _judge, _lexicon, _scenes, _speech, _words
from mtmeta.simulate._campaign import BIAS, DETECTORS, REFERENCE_FREE, SYSTEMS, source_only
from mtmeta.simulate._grammar import (
    COPULA,
    DU,
    ICH,
    NP,
    POLITE,
    Adjunct,
    Attribute,
    Clause,
    English,
    Name,
    Number,
    Predicate,
    Relative,
    Sentence,
    Style,
    Sub,
    english_words,
    german,
    number_nodes,
)
from mtmeta.simulate._random import Draw, generator, normal

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def es():
    return simulate.teaching()


@pytest.fixture(scope="module")
def sentences():
    """Return 240 sentences of each domain."""
    out = []
    for number, scene_type in enumerate(_scenes.SCENES):
        for document in range(30):
            scene = scene_type(Draw(99, number, document))
            out += [scene.sentence() for _ in range(8)]
    return out


def noun(domain, lemma):
    return next(n for n in _lexicon.nouns(domain) if n.lemma == lemma)


def verb(domain, infinitive):
    return next(v for v in _lexicon.verbs(domain) if v.infinitive == infinitive)


def adjective(domain, base):
    return Attribute(next(a for a in _lexicon.adjectives(domain) if a.base == base))


def spell(clause, *, end=".", domain="news", **options):
    """Return the German and the plainest English of one clause."""
    sentence = Sentence([("", clause)], "", domain, end=end, **options)
    number_nodes(sentence)
    return german(sentence), " ".join(english_words(sentence))


# Words


def test_german_articles_and_adjectives_agree():
    # The tables of any German grammar: strong, weak and mixed adjectives in four cases.
    def phrase(det, lemma, case, number="s", domain="news"):
        n = noun(domain, lemma)
        gender = "p" if number == "p" else n.gender
        words = [
            _lexicon.german_determiner(det, gender, case),
            "neu" + _lexicon.german_ending(det, gender, case),
            n.form(case, number),
        ]
        return " ".join(w for w in words if w)

    assert [phrase("def", "Plan", c) for c in _lexicon.CASES] == [
        "der neue Plan", "den neuen Plan", "dem neuen Plan", "des neuen Plans",
    ]  # fmt: skip
    assert [phrase("indef", "Gesetz", c) for c in _lexicon.CASES] == [
        "ein neues Gesetz", "ein neues Gesetz", "einem neuen Gesetz", "eines neuen Gesetzes",
    ]  # fmt: skip
    assert [phrase("dem", "Steuer", c) for c in _lexicon.CASES] == [
        "diese neue Steuer", "diese neue Steuer", "dieser neuen Steuer", "dieser neuen Steuer",
    ]  # fmt: skip
    assert [phrase("many", "Bahnhof", c, "p") for c in _lexicon.CASES] == [
        "viele neue Bahnhöfe", "viele neue Bahnhöfe", "vielen neuen Bahnhöfen", "vieler neuer Bahnhöfe",
    ]  # fmt: skip
    assert [phrase("zero", "Museum", c, "p") for c in _lexicon.CASES] == [
        "neue Museen", "neue Museen", "neuen Museen", "neuer Museen",
    ]  # fmt: skip
    assert [noun("news", "Präsident").form(c, "s") for c in _lexicon.CASES] == ["Präsident"] + ["Präsidenten"] * 3
    assert _lexicon.german_determiner("poss", "m", "acc", "2s") == "deinen"
    assert _lexicon.german_determiner("kein", "f", "dat") == "keiner"


@pytest.mark.parametrize(
    ("domain", "infinitive", "third", "past", "plural_past", "participle", "zu"),
    [
        ("news", "ankündigen", "kündigt", "kündigte", "kündigten", "angekündigt", "anzukündigen"),
        ("news", "rechnen", "rechnet", "rechnete", "rechneten", "gerechnet", "zu rechnen"),
        ("news", "warnen", "warnt", "warnte", "warnten", "gewarnt", "zu warnen"),
        ("news", "entlassen", "entlässt", "entließ", "entließen", "entlassen", "zu entlassen"),
        ("news", "sanieren", "saniert", "sanierte", "sanierten", "saniert", "zu sanieren"),
        ("manuals", "schmieren", "schmiert", "schmierte", "schmierten", "geschmiert", "zu schmieren"),
        ("manuals", "aufbewahren", "bewahrt", "bewahrte", "bewahrten", "aufbewahrt", "aufzubewahren"),
        ("manuals", "trocknen", "trocknet", "trocknete", "trockneten", "getrocknet", "zu trocknen"),
        ("conversation", "anrufen", "ruft", "rief", "riefen", "angerufen", "anzurufen"),
    ],
)
def test_german_verbs(domain, infinitive, third, past, plural_past, participle, zu):
    v = verb(domain, infinitive)
    forms = v.finite("pres", "3s"), v.finite("past", "3s"), v.finite("past", "3p"), v.participle, v.zu_infinitive
    assert forms == (third, past, plural_past, participle, zu)


def test_second_person():
    assert [verb("conversation", i).finite("pres", "2s") for i in ("lesen", "helfen", "warten", "suchen")] == [
        "liest", "hilfst", "wartest", "suchst",
    ]  # fmt: skip


def test_english_forms():
    assert [_lexicon.english_noun(e)[:2] for e in ("crisis/crises", "city", "boss", "spokesman", "police*")] == [
        ("crisis", "crises"), ("city", "cities"), ("boss", "bosses"), ("spokesman", "spokesmen"), ("police", "police"),
    ]  # fmt: skip
    assert [_lexicon.english_verb(v, "past") for v in ("try", "stop", "cancel", "like", "take", "play")] == [
        "tried", "stopped", "cancelled", "liked", "took", "played",
    ]  # fmt: skip
    assert [_lexicon.english_verb(v, "3s") for v in ("try", "watch", "be", "have", "undo")] == [
        "tries", "watches", "is", "has", "undoes",
    ]  # fmt: skip
    assert [_lexicon.indefinite_article(w) for w in ("union", "old", "hour", "European", "unimportant", "ID card")] == [
        "a", "an", "an", "a", "an", "an",
    ]  # fmt: skip


def test_no_wrong_rendering_is_right():
    for domain in _lexicon.DOMAINS:
        for entry in (*_lexicon.nouns(domain), *_lexicon.verbs(domain), *_lexicon.adjectives(domain)):
            assert not {w.lstrip(":").rstrip("*~") for w in entry.wrong} & {e.rstrip("*~") for e in entry.english}, (
                entry
            )


# Sentences by hand


def test_verb_second_and_fronting():
    c = Clause(NP(noun=noun("news", "Unternehmen")), verb("news", "ankündigen"), tense="past")
    c.acc = NP(noun=noun("news", "Reform"), det="indef", adjectives=[adjective("news", "neu")])
    c.adjuncts = [Adjunct("time", "gestern", ("yesterday",))]
    assert spell(c) == (
        "Das Unternehmen kündigte gestern eine neue Reform an.",
        "The company announced a new reform yesterday.",
    )
    c.front = c.adjuncts[0]
    assert spell(c) == (
        "Gestern kündigte das Unternehmen eine neue Reform an.",
        "Yesterday, the company announced a new reform.",
    )


def test_verb_last_and_shifted_tense():
    inner = Clause(NP(noun=noun("news", "Behörde")), verb("news", "prüfen"), tense="perf")
    inner.acc = NP(noun=noun("news", "Plan"), adjectives=[adjective("news", "umstritten")])
    inner.neg = "nicht"
    say = next(v for v in _lexicon.reporting("news") if v.infinitive == "sagen")
    speaker = NP(name=Name("Anna Weber", "Anna Weber", (), "f", True))
    speaker.apposition = NP(noun=noun("news", "Sprecherin"), det="zero", genitive=NP(noun=noun("news", "Verband")))
    assert spell(Clause(speaker, say, tense="past", complement=Sub("dass", inner))) == (
        "Anna Weber, Sprecherin des Verbands, sagte, dass die Behörde den umstrittenen Plan nicht geprüft hat.",
        "Anna Weber, the spokeswoman of the association, said that "
        "the authority did not examine the controversial plan.",
    )


def test_negation_of_an_indefinite_object_is_kein():
    c = Clause(NP(ref=ICH), verb("conversation", "schreiben"), acc=NP(noun=noun("conversation", "Brief"), det="indef"))
    c.tense, c.neg = "perf", "nicht"
    assert spell(c, domain="conversation") == ("Ich habe keinen Brief geschrieben.", "I didn't write a letter.")
    c.neg = "noch nicht"
    assert spell(c, domain="conversation")[0] == "Ich habe noch keinen Brief geschrieben."


def test_relative_clause_and_pronouns():
    np = NP(noun=noun("conversation", "Schlüssel"), adjectives=[adjective("conversation", "alt")])
    lend = Clause(NP(ref=DU), verb("conversation", "leihen"), dat=NP(ref=ICH), tense="perf")
    np.relative = Relative(lend, "object")
    c = Clause(NP(ref=ICH), verb("conversation", "verlieren"), acc=np, tense="perf")
    assert spell(c, domain="conversation") == (
        "Ich habe den alten Schlüssel, den du mir geliehen hast, verloren.",
        "I lost the old key that you lent me.",
    )


def test_instructions_with_a_condition_and_a_purpose():
    c = Clause(None, verb("manuals", "ausschalten"), acc=NP(noun=noun("manuals", "Gerät")), mood="imp")
    lamp = NP(noun=noun("manuals", "Lampe"), adjectives=[adjective("manuals", "rot")])
    c.before = Sub("wenn", Clause(lamp, verb("manuals", "leuchten")))
    open_it = Clause(NP(ref=POLITE), verb("manuals", "öffnen"), acc=NP(noun=noun("manuals", "Deckel")))
    c.after = [Sub("um", open_it)]
    assert spell(c, domain="manuals") == (
        "Wenn die rote Lampe leuchtet, schalten Sie das Gerät aus, um den Deckel zu öffnen.",
        "If the red lamp lights up, switch off the device to open the lid.",
    )


def test_passive_with_modal_and_plural_number():
    c = Clause(NP(noun=noun("news", "Brücke")), verb("news", "sanieren"), passive=True, modal="müssen", tense="pres")
    assert spell(c) == ("Die Brücke muss saniert werden.", "The bridge must be renovated.")
    people = NP(noun=noun("news", "Kunde"), number="p", det="zero", count=Number("1.250", "1,250", ("125",)))
    c = Clause(people, verb("news", "protestieren"), prep=NP(noun=noun("news", "Steuer")), tense="perf")
    assert spell(c) == (
        "1.250 Kunden haben gegen die Steuer protestiert.",
        "1,250 customers protested against the tax.",
    )


def test_dative_experiencer_is_the_english_subject():
    c = Clause(NP(noun=noun("reviews", "Zimmer")), _scenes.V["gefallen"], dat=NP(ref=ICH), tense="perf", neg="nicht")
    assert spell(c, domain="reviews") == ("Das Zimmer hat mir nicht gefallen.", "I didn't like the room.")


def test_questions():
    c = Clause(NP(ref=DU), verb("conversation", "finden"), acc=NP(noun=noun("conversation", "Brille")), tense="perf")
    c.mood = "yn"
    assert spell(c, domain="conversation", end="?") == ("Hast du die Brille gefunden?", "Did you find the glasses?")


def test_joined_predicates():
    good = Predicate(next(a for a in _lexicon.adjectives("reviews") if a.base == "sauber"))
    bad = Predicate(next(a for a in _lexicon.adjectives("reviews") if a.base == "laut"), "sehr", ("very",), "aber")
    c = Clause(NP(noun=noun("reviews", "Zimmer")), COPULA, predicates=[good, bad], tense="past")
    assert spell(c, domain="reviews") == (
        "Das Zimmer war sauber, aber sehr laut.",
        "The room was clean, but very noisy.",
    )


# Generated sentences


def test_lengths_and_punctuation(sentences):
    for s in sentences:
        source, plain = german(s), " ".join(english_words(s))
        for text in (source, plain):
            assert _scenes.SHORTEST <= len(text.split()) <= _scenes.LONGEST, text
            assert re.fullmatch(r"[A-ZÄÖÜ0-9].*[.?]", text), text
            assert not re.search(r"  | [,;.?]|,,|[{}|_^~*+]|None", text), text
    lengths = [len(german(s).split()) for s in sentences]
    assert min(lengths) <= 6
    assert max(lengths) >= 40


def test_every_template_is_reached(sentences):
    known = {f"{scene.domain}.{name}" for scene in _scenes.SCENES for name in scene.TEMPLATES}
    assert all(hasattr(scene, f"t_{name}") for scene in _scenes.SCENES for name in scene.TEMPLATES)
    assert {s.template for s in sentences} == known


def test_the_grammar_covers_what_it_should(sentences):
    text = " ".join(german(s) for s in sentences)
    for word in ("nicht", "kein", "nie", "noch nicht", "sie", "ihn", "es", "weil", "obwohl", "dass", "ob", "um"):
        assert re.search(rf"\b{word}", text), word
    assert re.search(r"\d,\d Prozent", text)
    assert re.search(r"\b(München|Köln|Wien|Zürich)\b", text)
    assert len(set(text.split())) > 900


def test_determiners_and_nouns_agree(sentences):
    # Every article that stands directly before a noun is one that some case of that noun takes.
    genders = {"m", "f", "n", "p"}
    readings = {}
    for det in ("def", "indef", "dem", "kein", "many", "some", "several"):
        for gender in genders:
            for case in _lexicon.CASES:
                word = _lexicon.german_determiner(det, gender, case)
                readings.setdefault(word, set()).add((gender, case))
    checked = 0
    for s in sentences:
        forms = {}
        for n in _lexicon.nouns(s.domain):
            for case in _lexicon.CASES:
                forms.setdefault(n.form(case, "s"), set()).add((n.gender, case))
                if n.plural != "-":
                    forms.setdefault(n.form(case, "p"), set()).add(("p", case))
        words = re.findall(r"\w+|[^\w\s]", german(s))
        for before, word in zip(words[:-1], words[1:], strict=True):
            if before.lower() in readings and word in forms:
                checked += 1
                assert readings[before.lower()] & forms[word], (before, word, german(s))
    assert checked > 500


def test_subordinate_clauses_end_in_their_verb(sentences):
    # What follows "weil …" up to the comma or full stop ends in a finite verb form.
    finite = set()
    for domain in _lexicon.DOMAINS:
        for v in (*_lexicon.verbs(domain), *_lexicon.reporting(domain)):
            finite |= {v.prefix + v.finite(t, p) for t in ("pres", "past") for p in ("1s", "2s", "3s", "1p", "3p")}
    finite |= {
        v.prefix + v.finite(t, p) for v in _scenes.V.values() for t in ("pres", "past") for p in ("1s", "3s", "3p")
    }
    for lemma in ("sein", "haben", "werden", *_lexicon._MODALS):
        finite |= {_lexicon.german_auxiliary(lemma, t, p) for t in ("pres", "past") for p in _lexicon._PERSONS}
    checked = 0
    for s in sentences:
        for clause in re.findall(r"\b(?:weil|obwohl|da|ob|bis) (.+?)(?:, |; |[?.]$)", german(s)):
            ends = [part.split()[-1] for part in (clause, clause.split(" und ")[0])]
            if ends[0][0].isupper() or len(clause.split()) < 3:
                continue  # an apposition or a relative clause interrupts it
            checked += 1
            assert finite & set(ends), clause
    assert checked > 80


def test_wordings_differ_and_stay_correct(sentences):
    draw = Draw(3)
    differing = 0
    for s in sentences[::5]:
        plain = " ".join(english_words(s))
        free, _ = _errors.translate(s, Style(draw.uniform, 1.0))
        differing += free != plain
        assert not re.search(r"  | [,;.?]|,,|[{}|_^~*+]|None", free), free
        assert free[-1] == s.end
    assert differing > 0.8 * len(sentences[::5])


# Errors


def test_every_error_shows_and_is_marked(sentences):
    style = Style(lambda: 1.0, 0.0)
    seen = set()
    for s in sentences[::16]:
        plain, none = _errors.translate(s, style)
        assert none == {}
        for site in _errors.sites(s):
            text, spans = _errors.translate(s, style, [(7, site)])
            assert text != plain, (site, plain)
            start, end = spans[7]
            assert 0 <= start <= end <= len(text)
            assert site.slot in ("drop", "final") or text[start:end].strip(), (site, text)
            seen.add((site.category, site.slot))
    assert {c for c, _ in seen} == {*_errors.PROVOKED, *_errors.CARELESS}


def test_errors_by_hand():
    c = Clause(NP(noun=noun("news", "Bank")), verb("news", "eröffnen"), tense="past", neg="nicht")
    c.acc = NP(noun=noun("news", "Schloss"), adjectives=[adjective("news", "alt")])
    s = Sentence([("", c)], "", "news")
    number_nodes(s)
    style = Style(lambda: 1.0, 0.0)
    by_slot = {}
    for site in _errors.sites(s):
        by_slot.setdefault((site.slot, site.value if isinstance(site.value, str) else None), site)
    faults = [
        (0, by_slot["lex", "bench"]),
        (1, by_slot["lex", "lock"]),
        (2, by_slot["neg", None]),
        (3, by_slot["drop", None]),
    ]
    text, spans = _errors.translate(s, style, faults)
    assert text == "The bench opened the lock."
    assert [text[slice(*spans[i])] for i in range(4)] == ["bench", "lock", "opened", ""]
    assert spans[3] == (20, 20)


def test_weights_are_those_of_mqm():
    assert _errors.weight("Accuracy/Mistranslation", "major") == 5
    assert _errors.weight("Style/Awkward", "minor") == 1
    assert _errors.weight("Fluency/Punctuation", "minor") == 0.1
    assert _errors.weight("Fluency/Punctuation", "major") == 5
    assert _errors.weight("Non-translation", "major") == 25
    for category in {*_errors.PROVOKED, *_errors.CARELESS, _errors.NON_TRANSLATION}:
        for severity in ("major", "minor"):
            if (category, severity) != (_errors.NON_TRANSLATION, "minor"):
                assert _errors.weight(category, severity) == mm.datasets.mqm_weight(category, severity)


def test_drawn_errors_do_not_clash(sentences):
    draw = Draw(5)
    for s in sentences[::20]:
        menu = _errors.Menu(s)
        taken = []
        for _ in range(12):
            drawn = menu.draw(draw, taken, provoked=draw.chance(0.5))
            if drawn:
                assert not menu.clash(drawn[0], taken)
                taken.append(drawn[0])
        _, spans = _errors.translate(s, Style(draw.uniform, 0.8), list(enumerate(taken)))
        assert sorted(spans) == list(range(len(taken)))


# The teaching campaign


def test_shape_and_names(es):
    assert es.name == "teaching"
    assert es.shape == (12, 300)
    assert es.systems == SYSTEMS[:12]
    assert all(re.fullmatch(r"\w+", name) for name in (*es.systems, *es.metrics))
    assert es.metrics == (
        "BLEU", "chrF", "TER", "Regressor", "RegressorQE", "Biased", "Judge", "Tagger", "SourceOnly", "Random",
    )  # fmt: skip
    assert es.reference_free == set(REFERENCE_FREE)
    assert es.language_pair == "de-en"
    assert sorted(set(es.domains)) == sorted(_lexicon.DOMAINS)


def test_sources_and_references_are_of_normal_length(es):
    for text in (*es.texts.sources, *es.texts.references["refA"]):
        assert 5 <= len(text.split()) <= 45, text


def test_documents_are_consecutive_and_of_one_domain(es):
    frame = pd.DataFrame({"doc": es.documents, "domain": es.domains})
    runs = (frame["doc"] != frame["doc"].shift()).sum()
    assert runs == frame["doc"].nunique()
    assert frame.groupby("doc").size().between(8, 15).all()
    assert (frame.groupby("doc")["domain"].nunique() == 1).all()
    assert (frame["doc"].str.rpartition("-")[0] == frame["domain"]).all()


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
    free = es.spans[es.spans["severity"] == "no-error"]
    assert free[["start", "end", "text"]].isna().all().all()
    assert not free.duplicated(["system", "segment"]).any()
    rated = es.spans.groupby("segment")["rater"].nunique()
    assert (rated == 1).all()
    assert es.spans.drop_duplicates("segment")["rater"].tolist() == es.truth["rater"]


def test_lexical_metrics_are_those_of_sacrebleu(es):
    from sacrebleu import sentence_bleu, sentence_chrf, sentence_ter

    for k, j in [(0, 0), (3, 17), (7, 120), (11, 299)]:
        output, reference = es.texts.translations[es.systems[k]][j], [es.texts.references["refA"][j]]
        assert es["BLEU"][k, j] == round(sentence_bleu(output, reference).score, 6)
        assert es["chrF"][k, j] == round(sentence_chrf(output, reference).score, 6)
        assert es["TER"][k, j] == -round(sentence_ter(output, reference).score, 6)


def test_compiled_ter_of_a_new_campaign_is_that_of_sacrebleu():
    from sacrebleu.metrics import TER

    es = simulate.campaign(n_systems=3, n_segments=12, seed=11)
    slow = TER()
    references = es.texts.references["refA"]
    for system, row in zip(es.systems, es["TER"], strict=True):
        pairs = zip(es.texts.translations[system], references, strict=True)
        expected = [-slow.sentence_score(text, [reference]).score for text, reference in pairs]
        np.testing.assert_array_equal(row, np.round(expected, 6))
    assert (es["TER"] < 0).any()


def test_metrics_see_what_they_say_they_see(es):
    assert (np.ptp(es["SourceOnly"], axis=0) == 0).all()
    np.testing.assert_allclose(es["SourceOnly"][0], [source_only(s) for s in es.texts.sources], atol=1e-6)
    for name in ("Judge", "Tagger"):
        assert np.array_equal(es[name], np.round(es[name]))
        assert es[name].max() == 0
    assert es["Judge"].min() == -10
    r = mm.correlate(es, ["Random"], grouping="none")["value"].iloc[0]
    assert abs(r) < 4 / np.sqrt(es.human.size)


def test_error_free_outputs_are_paraphrases(es):
    penalty = es.truth["penalty"]
    free = [(k, j) for k, j in np.argwhere(penalty == 0)]
    same = [es.texts.translations[es.systems[k]][j] == es.texts.references["refA"][j] for k, j in free]
    assert len(free) > 500
    assert 0.02 < np.mean(same) < 0.35
    assert es["BLEU"][penalty == 0].mean() > es["BLEU"][penalty > 5].mean() + 10


# What was planted


def test_truth_adds_up(es):
    truth = es.truth
    errors = pd.DataFrame(truth["errors"])
    total = errors.groupby(["system", "segment"])["weight"].sum().unstack().reindex(es.systems)
    total = total.reindex(columns=es.segments).fillna(0).to_numpy()
    np.testing.assert_allclose(total, truth["penalty"], atol=0.051)
    np.testing.assert_allclose([truth["quality"][s] for s in es.systems], -truth["penalty"].mean(axis=1), atol=1e-6)
    for row in errors.iloc[::40].itertuples():
        text = es.texts.translations[row.system][row.segment - 1]
        assert 0 <= row.start <= row.end <= len(text)


def test_raters_recover_the_quality_of_systems(es):
    quality = [es.truth["quality"][s] for s in es.systems]
    assert stats.kendalltau(quality, es.human.mean(axis=1))[0] > 0.75
    assert stats.kendalltau(quality, [-es.truth["rate"][s] for s in es.systems])[0] > 0.75
    assert 0.7 < np.corrcoef(-es.truth["penalty"].ravel(), es.human.ravel())[0, 1] < 0.9


def test_raters_miss_and_mark_as_planted(es):
    # An error counts as found if its rater marked the same span under the same category.
    errors = pd.DataFrame(es.truth["errors"])
    marks = es.spans[["system", "segment", "category", "start", "end"]].drop_duplicates()
    marks = marks.dropna().astype({"start": int, "end": int}).assign(found=True)
    errors = errors.merge(marks, how="left", on=["system", "segment", "category", "start", "end"])
    errors["missed"] = errors["found"].isna()
    errors["rater"] = [es.truth["rater"][j - 1] for j in errors["segment"]]
    for rater, group in errors.groupby("rater"):
        habits = es.truth["raters"][rater]
        major = group[group["severity"] == "major"]["missed"]
        minor = group[group["severity"] == "minor"]["missed"]
        assert abs(major.mean() - habits["miss_major"]) < 4 * np.sqrt(0.25 / len(major)), rater
        assert abs(minor.mean() - habits["miss_minor"]) < 4 * np.sqrt(0.25 / len(minor)), rater
    assert errors["missed"].mean() > 0.2


def test_difficulty_shows_in_the_source_and_in_the_scores(es):
    visible, true = es.truth["visible_difficulty"], es.truth["difficulty"]
    words = [len(s.split()) for s in es.texts.sources]
    assert stats.spearmanr(words, visible)[0] > 0.95
    assert np.std(true - visible) == pytest.approx(es.truth["settings"]["hidden"], rel=0.15)
    assert stats.spearmanr(-true, es.human.mean(axis=0))[0] > 0.6


def test_difficulty_coefficient_is_recovered(es):
    # Least squares of a metric on the true penalty and the visible difficulty of the source.
    penalty = es.truth["penalty"].ravel()
    visible = np.tile(es.truth["visible_difficulty"], len(es.systems))
    design = np.column_stack([np.ones_like(penalty), penalty, visible])
    planted = es.truth["difficulty_coefficient"]
    assert planted == {name: p["difficulty"] for name, p in DETECTORS.items()}
    for metric, coefficient in planted.items():
        slope = np.linalg.lstsq(design, es[metric].ravel(), rcond=None)[0][2]
        assert slope == pytest.approx(-coefficient, abs=0.02), metric


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


@pytest.mark.parametrize(
    ("value", "low", "high"),
    # Ranges of the three language pairs of WMT23; tools/compare_campaign.py computes them.
    [
        (lambda es: mm.ties.human_tie_share(es), 0.23, 0.43),
        (lambda es: (es.human == 0).mean(), 0.19, 0.52),
        (lambda es: es.human.mean(), -7.5, -2.3),
        (lambda es: es.human.std(), 4.0, 12.4),
        (lambda es: es.human.mean(axis=1).std(), 0.9, 3.0),
        (lambda es: es.human.mean(axis=0).var() / es.human.var(), 0.41, 0.59),
    ],
)
def test_human_scores_lie_in_the_range_of_wmt23(es, value, low, high):
    assert low <= value(es) <= high


def test_what_the_chapters_rely_on(es):
    value = {
        grouping: mm.correlate(es, grouping=grouping).set_index("metric")["value"] for grouping in ("none", "segment")
    }
    # The blind metric beats lexical ones as long as segments are pooled, and nobody within segments.
    assert value["none"]["SourceOnly"] > value["none"][["BLEU", "chrF", "TER"]].max()
    assert value["segment"]["SourceOnly"] == 0
    # A discrete metric overtakes continuous ones within segments.
    ranks = {grouping: v.rank(ascending=False) for grouping, v in value.items()}
    assert ranks["segment"]["Judge"] < ranks["none"]["Judge"]
    assert ranks["segment"]["Judge"] < ranks["segment"]["RegressorQE"]


# The same everywhere


@pytest.mark.slow
def test_the_stored_campaign_is_read_once_and_given_anew():
    first, second = simulate.teaching(), simulate.teaching()
    first.truth["bias"].clear()
    first.truth["penalty"][:] = -1
    first.texts.translations.clear()
    first.spans["weight"] = -1.0
    assert second.truth["bias"]
    assert not (second.truth["penalty"] == -1).any()
    assert second.texts.translations
    assert not (second.spans["weight"] == -1).any()
    assert simulate.teaching().truth["bias"] == second.truth["bias"]


@pytest.mark.slow
def test_frozen_files_are_what_the_code_makes():
    made = _frozen.files(simulate.campaign(**_frozen.SIZES))
    assert sorted(made) == ["teaching.csv", "teaching.json", "teaching_spans.csv"]
    size = 0
    for name, data in made.items():
        path = _frozen.FOLDER / f"{name}.xz"
        size += path.stat().st_size
        assert lzma.decompress(path.read_bytes()) == data, f"{name} differs: run `python -m mtmeta.simulate --write`"
    assert size < 600_000


def test_reading_gives_back_what_was_written(es):
    again = _frozen.files(es)
    for name, data in again.items():
        assert lzma.decompress((_frozen.FOLDER / f"{name}.xz").read_bytes()) == data


@pytest.mark.slow
def test_hash_seed_does_not_matter():
    code = (
        "import hashlib; from mtmeta import simulate; from mtmeta.simulate import _frozen;"
        "f = _frozen.files(simulate.campaign(n_systems=3, n_segments=20, seed=5));"
        "print({n: hashlib.sha256(d).hexdigest() for n, d in f.items()})"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert runs[0] == runs[1]
    files = _frozen.files(simulate.campaign(n_systems=3, n_segments=20, seed=5))
    assert runs[0].strip() == str({n: hashlib.sha256(d).hexdigest() for n, d in files.items()})


def test_random_streams_are_pinned():
    # PCG64 and SeedSequence are stable by NumPy's policy; these values tell if that ever changes.
    assert Draw(1, 2).uniform() == generator(1, 2).random()
    assert Draw(2024).uniform() == pytest.approx(0.6758313379812818, abs=1e-15)
    assert normal(generator(7), (3,)).shape == (3,)
    draw = Draw(11)
    counts = [draw.poisson(2.5) for _ in range(4000)]
    assert np.mean(counts) == pytest.approx(2.5, abs=0.1)
    assert np.var(counts) == pytest.approx(2.5, abs=0.25)


# Other campaigns


@pytest.mark.parametrize(("n_systems", "n_segments"), [(1, 1), (3, 20), (2, 7), (25, 16)])
def test_other_sizes(n_systems, n_segments):
    es = simulate.campaign(n_systems=n_systems, n_segments=n_segments, seed=3)
    assert es.shape == (n_systems, n_segments)
    assert len(es.texts.sources) == n_segments
    assert len(set(es.systems)) == n_systems


def test_without_texts_all_other_scores_are_the_same():
    full = simulate.campaign(n_systems=4, n_segments=40, seed=6)
    bare = simulate.campaign(n_systems=4, n_segments=40, seed=6, texts=False)
    assert bare.texts is None
    assert bare.spans is None
    assert set(full.metrics) - set(bare.metrics) == {"BLEU", "chrF", "TER"}
    np.testing.assert_array_equal(bare.human, full.human)
    for metric in bare.metrics:
        np.testing.assert_array_equal(bare[metric], full[metric])


def test_texts_without_lexical_scores():
    full = simulate.campaign(n_systems=3, n_segments=20, seed=6)
    bare = simulate.campaign(n_systems=3, n_segments=20, seed=6, lexical=False)
    assert bare.texts == full.texts
    assert set(full.metrics) - set(bare.metrics) == {"BLEU", "chrF", "TER"}
    np.testing.assert_array_equal(bare.human, full.human)


def test_length_slopes_are_an_even_ladder():
    even = simulate.campaign(n_systems=4, n_segments=10, seed=3, texts=False, length_effect=1.5)
    assert sorted(even.truth["length_slope"].values()) == [-1.5, -0.5, 0.5, 1.5]
    alone = simulate.campaign(n_systems=1, n_segments=10, seed=3, texts=False, length_effect=1.5)
    assert list(alone.truth["length_slope"].values()) == [0]
    assert "length_slope" not in simulate.campaign(n_systems=1, n_segments=10, seed=3, texts=False).truth


@pytest.mark.slow
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


def test_part_of_the_segments_rated():
    es = simulate.campaign(n_systems=3, n_segments=100, seed=8, rated_share=0.4)
    rated = ~np.isnan(es.human)
    assert rated.all(axis=0).sum() == rated.any(axis=0).sum() == 40
    counts = pd.Series(rated[0]).groupby(list(es.documents)).mean()
    assert ((counts > 0) & (counts < 1)).sum() <= 1
    assert set(es.spans["segment"]) == set(np.flatnonzero(rated[0]) + 1)
    assert not np.isnan(es["Regressor"]).any()
    whole = simulate.campaign(n_systems=3, n_segments=100, seed=8)
    np.testing.assert_array_equal(es.human[rated], whole.human[rated])


def test_seeds_differ():
    one, two = (simulate.campaign(n_systems=2, n_segments=20, seed=s, texts=False) for s in (1, 2))
    assert not np.array_equal(one["Regressor"], two["Regressor"])


@pytest.mark.slow
def test_calibration_is_no_accident_of_one_seed():
    sets = [simulate.campaign(seed=s, texts=False) for s in range(1, 5)]
    ties = [mm.ties.human_tie_share(es) for es in sets]
    assert min(ties) > 0.22
    assert max(ties) < 0.43
    blind = [mm.correlate(es, ["SourceOnly"], grouping="none")["value"].iloc[0] for es in sets]
    assert min(blind) > 0.33
    assert max(blind) < 0.57


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"n_systems": 0}, ValueError, "`n_systems` must be at least 1; found 0"),
        ({"n_segments": 2.5}, TypeError, "`n_segments` must be a whole number; found 2.5"),
        ({"seed": -1}, ValueError, "`seed` must be at least 0"),
        ({"seed": True}, TypeError, "`seed` must be a whole number"),
        ({"rated_share": 0}, ValueError, r"`rated_share` must lie in \(0, 1\]; found 0"),
        ({"rated_share": 1.1}, ValueError, "`rated_share`"),
        ({"length_effect": -1}, ValueError, "`length_effect` must be a finite number of at least 0; found -1"),
        ({"length_effect": float("nan")}, ValueError, "`length_effect`"),
    ],
)
def test_bad_arguments(options, error, message):
    with pytest.raises(error, match=message):
        simulate.campaign(**options)


def test_global_random_state_is_left_alone():
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    simulate.campaign(n_systems=2, n_segments=10, seed=1, texts=False)
    simulate.score_campaign(2, 10, 1, 1)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


# Scores alone


def test_score_campaign_is_like_wmt23():
    es = simulate.score_campaign()
    assert es.shape == (15, 1177)
    assert len(es.metrics) == 30
    assert 0.21 < mm.ties.human_tie_share(es) < 0.25
    assert (es.human <= 0).all()
    for metric in es.metrics:
        whole = np.array_equal(es[metric], np.round(es[metric]))
        assert whole == metric.startswith("D")
    pooled = mm.correlate(es, grouping="none")["value"]
    assert 0.1 < pooled.min() < pooled.max() < 0.9
    assert np.corrcoef(-es.truth["penalty"].ravel(), es.human.ravel())[0, 1] > 0.7


def test_score_campaign_takes_any_size_and_repeats():
    one, two = (simulate.score_campaign(2, 9, n_continuous=1, n_discrete=2, seed=4) for _ in range(2))
    assert one.metrics == ("C01", "D01", "D02")
    for metric in one.metrics:
        np.testing.assert_array_equal(one[metric], two[metric])
    assert simulate.score_campaign(1, 1, 0, 0).metrics == ()
    with pytest.raises(ValueError, match="`n_discrete` must be at least 0; found -1"):
        simulate.score_campaign(2, 9, 1, -1)


# Speech


@pytest.fixture(scope="module")
def transcripts():
    return simulate.teaching_speech()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("It's 4.05, OK?", "it's four point zero five ok"),
        ("1,350 in 1999", "one thousand three hundred and fifty in nineteen ninety nine"),
        ("2007 or 2014!", "two thousand and seven or twenty fourteen"),
        ("400 cafés, 1,005 'two-way' 100,000 0.9",
         "four hundred cafes one thousand and five two way one hundred thousand zero point nine"),
        ("21 13.1", "twenty one thirteen point one"),
    ],
)  # fmt: skip
def test_texts_are_read_out(text, said):
    assert _speech.spoken(text) == said


def test_transcripts_have_the_documented_form(transcripts):
    assert list(transcripts) == list(_speech.COLUMNS)
    assert transcripts.groupby("system").size().tolist() == [400] * 6
    assert not transcripts.duplicated(["system", "segment"]).any()
    assert (transcripts["segment"].str.split("-").str[0] == transcripts["speaker"]).all()
    assert transcripts.groupby("speaker")["quality"].nunique().eq(1).all()
    assert transcripts.groupby("quality")["speaker"].nunique().to_dict() == {"clean": 10, "other": 10}
    assert transcripts.groupby("speaker")["segment"].nunique().eq(20).all()
    texts = transcripts["reference"] + " " + transcripts["transcript"]
    assert not texts.str.contains("[^a-z' ]|  ").any()
    assert transcripts.attrs["name"] == "teaching-speech"


def edit_distance(a, b):
    """Return the number of words to insert, delete or substitute, the slow and plain way."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (x != y))
    return row[-1]


def test_planted_word_errors_are_word_errors(transcripts):
    pairs = zip(transcripts["reference"], transcripts["transcript"], strict=True)
    found = np.array([edit_distance(a.split(), b.split()) for a, b in pairs])
    assert (found <= transcripts["truth"]).all()  # some errors hide each other
    assert (found == transcripts["truth"]).mean() > 0.99


def test_planted_rates_are_recovered(transcripts):
    truth = transcripts.attrs["truth"]
    n = transcripts["reference"].str.split().str.len()
    rate = transcripts["truth"].groupby([transcripts["system"], transcripts["quality"]]).sum()
    rate = (rate / n.groupby([transcripts["system"], transcripts["quality"]]).sum()).unstack()
    planted = pd.Series(truth["system_rate"])
    assert rate["clean"].rank().equals(planted[rate.index].rank())
    assert (rate["other"] > rate["clean"]).all()
    # the probability of an error is below its rate, where spots are hard
    assert ((rate["clean"] / planted).between(0.6, 1.4)).all()
    speakers = transcripts.groupby("speaker")
    clean = speakers["quality"].first() == "clean"
    by_speaker = speakers["truth"].mean()[clean]
    assert stats.spearmanr(by_speaker, pd.Series(truth["speaker_rate"])[by_speaker.index]).statistic > 0.6


def test_systems_share_hard_words(transcripts):
    rate = transcripts.assign(rate=transcripts["truth"] / transcripts["reference"].str.split().str.len())
    wide = rate.pivot(index=["speaker", "segment"], columns="system", values="rate")

    def shared(table):
        return table.corr(method="spearman").to_numpy()[np.triu_indices(6, 1)].mean()

    rng = np.random.default_rng(0)
    null = [shared(wide.groupby(level="speaker").transform(lambda x: rng.permutation(x.to_numpy()))) for _ in range(20)]
    assert shared(wide) > max(null) + 0.05


@pytest.mark.parametrize(
    ("word", "other"), [("bad", "pat"), ("which", "witch"), ("knight", "night"), ("see", "sea"), ("cell", "sell")]
)
def test_words_that_sound_alike(word, other):
    assert _speech._sound(word) == _speech._sound(other)
    assert _speech._Ear([other, "elephant"]).candidates(word) == [other]


def test_a_word_without_a_double_is_respelled():
    ear = _speech._Ear(["elephant"])
    heard = {ear.mishear("water", Draw(1, i)) for i in range(60)}
    assert "wader" in heard
    assert "water" not in heard
    assert ear.mishear("www", Draw(1)) == "wwws"


def test_teaching_speech_is_the_same_everywhere(transcripts):
    assert hashlib.sha256(transcripts.to_csv(index=False).encode()).hexdigest()[:16] == "a6eda47e28de9d0d"


def test_speech_takes_any_size_and_repeats():
    one, two = (simulate.speech(n_systems=12, n_speakers=3, n_segments=7, seed=4) for _ in range(2))
    assert one.equals(two)
    assert one["system"].nunique() == 12
    assert not one.equals(simulate.speech(n_systems=12, n_speakers=3, n_segments=7, seed=5))
    assert len(simulate.speech(n_systems=1, n_speakers=1, n_segments=1)) == 1


# Rankings


@pytest.fixture(scope="module")
def rankings():
    return simulate.teaching_ranking()


def test_rankings_have_the_documented_form(rankings):
    assert (len(rankings.systems), len(rankings.queries)) == (10, 50)
    assert rankings.runs.groupby(["system", "query"]).size().eq(100).all()
    assert rankings.qrels.groupby("query").size().eq(300).all()
    assert rankings.to_frame()["relevance"].notna().all()  # complete
    relevant = rankings.qrels[rankings.qrels["relevance"] > 0].groupby("query").size()
    assert relevant.to_dict() == rankings.truth["n_relevant"]
    assert relevant.between(0.03 * 300 - 1, 0.15 * 300 + 1).all()
    assert set(rankings.qrels["relevance"]) == {0, 1, 2, 3}


def test_planted_quality_orders_the_systems(rankings):
    table = rankings.to_frame()
    gain = (table["relevance"] / np.log2(table["rank"] + 1)).astype(float)
    found = gain.groupby(table["system"]).mean()
    planted = pd.Series(rankings.truth["quality"])
    assert found.rank().equals(planted[found.index].rank())
    ideal = rankings.qrels.sort_values(["query", "relevance"], ascending=[True, False], kind="stable")
    place = ideal.groupby("query").cumcount() + 1
    best = (ideal["relevance"] / np.log2(place + 1))[place <= 100].groupby(ideal["query"]).sum().mean() / 100
    assert found.max() > 0.9 * best
    by_chance = rankings.qrels["relevance"].mean() * (1 / np.log2(np.arange(2, 102))).mean()
    assert found.min() < 1.5 * by_chance


def test_teaching_ranking_is_the_same_everywhere(rankings):
    text = rankings.runs.to_csv(index=False) + rankings.qrels.to_csv(index=False)
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == "0f878e42099b2567"


def test_rankings_take_any_size_and_repeat():
    one, two = (simulate.rankings(n_systems=18, n_queries=2, n_items=9, depth=9, seed=4) for _ in range(2))
    assert one.runs.equals(two.runs)
    assert len(one.systems) == 18
    assert simulate.rankings(n_systems=1, n_queries=1, n_items=2, depth=1).runs.shape == (1, 5)


@pytest.mark.parametrize(
    ("function", "options", "error", "message"),
    [
        ("speech", {"n_systems": 0}, ValueError, "`n_systems` must be at least 1; found 0"),
        ("speech", {"n_segments": 5}, ValueError, "each of 20 speakers needs a segment; found `n_segments` = 5"),
        ("speech", {"seed": 1.5}, TypeError, "`seed` must be a whole number"),
        ("rankings", {"n_items": 1}, ValueError, "`n_items` must be at least 2"),
        ("rankings", {"n_items": 50}, ValueError, "`depth` must be at most `n_items`, 50; found 100"),
        ("rankings", {"n_queries": "3"}, TypeError, "`n_queries` must be a whole number; found '3'"),
    ],
)
def test_bad_arguments_of_the_siblings(function, options, error, message):
    with pytest.raises(error, match=message):
        getattr(simulate, function)(**options)


def test_words_are_all_used_as_declared():
    # Classes that verbs and templates ask for exist, so that no draw can come up empty.
    for domain in _lexicon.DOMAINS:
        known = {c for n in _lexicon.nouns(domain) for c in n.classes}
        special = {"self", "me", "you", "post"}
        for v in _lexicon.verbs(domain):
            asked = {*v.objects, *v.seconds}
            assert asked <= known | special, (domain, v.infinitive, asked - known)
            assert set(v.manners) <= set(_words.ADVERBS), v.infinitive
    assert English(Style(lambda: 1.0, 0.0), {}, "news").informal is False


# -- judging perturbations ---------------------------------------------------------------


@pytest.fixture(scope="module")
def short():
    """Return a campaign, its segments with few wordings, and those wordings."""
    es = simulate.campaign(n_systems=6, n_segments=40, seed=5, lexical=False)
    wordings = {s: simulate.correct_wordings(es, s, limit=200) for s in es.segments}
    return es, {s: w for s, w in wordings.items() if w is not None}


def test_references_and_flawless_translations_are_correct_wordings(short):
    es, wordings = short
    assert len(wordings) > 15
    references = dict(zip(es.segments, next(iter(es.texts.references.values())), strict=True))
    flawless = 0
    for j, segment in enumerate(es.segments):
        if segment in wordings:
            assert references[segment] in wordings[segment]
            for k, system in enumerate(es.systems):
                if es.truth["penalty"][k, j] == 0:
                    flawless += 1
                    assert es.texts.translations[system][j] in wordings[segment]
    assert flawless > 20


def test_faulty_translations_are_no_correct_wordings(short):
    es, wordings = short
    cells = [(k, j) for j, s in enumerate(es.segments) if s in wordings for k in range(len(es.systems))]
    faulty = [(k, j) for k, j in cells if es.truth["penalty"][k, j] > 0]
    correct = [es.texts.translations[es.systems[k]][j] in wordings[es.segments[j]] for k, j in faulty]
    assert len(faulty) > 20
    assert sum(correct) <= 1  # an error may read like another correct wording, if rarely


def test_every_wording_keeps_to_the_limit(short):
    es, wordings = short
    segment, known = max(wordings.items(), key=lambda item: len(item[1]))
    assert len(known) > 1
    assert simulate.correct_wordings(es, segment, limit=len(known) - 1) is None
    assert simulate.correct_wordings(es, segment, limit=10**5) == known


def test_distance_by_hand():
    correct = _judge._Correct(frozenset({"The menu was not good.", "Overall, it was bad."}))
    expected = {
        "The menu was not good.": 0, "The menu was good.": 1, "The menu not was good.": 2, "the menu was not good": 2,
        "Overall it was bad.": 1, "": 6, "The menu was not very good.": 1, "Menu.": 5,
    }  # fmt: skip
    assert {text: correct.distance(text) for text in expected} == expected


@settings(max_examples=60)
@given(st.sets(st.text("ab ", min_size=1), min_size=1, max_size=4), st.text("abc "))
def test_distance_is_the_smallest_edit_distance(wordings, text):
    def naive(a, b):
        if not a or not b:
            return len(a) + len(b)
        last = naive(a[:-1], b[:-1]) + (a[-1] != b[-1])
        return min(last, naive(a[:-1], b) + 1, naive(a, b[:-1]) + 1)

    short = {" ".join(w.split()[:4]) for w in wordings} - {""} or {"a"}
    text = " ".join(text.split()[:4])
    found = _judge._Correct(frozenset(short)).distance(text)
    assert found == min(naive(w.split(), text.split()) for w in short)


@pytest.mark.slow
def test_judged_pairs(short):
    es, wordings = short
    segment = max(wordings, key=lambda s: len(wordings[s]))
    good, other = sorted(wordings[segment])[:2]
    table = pd.DataFrame(
        {"segment": segment, "translation": [good, good, good + " Oops"], "perturbed": [good + " Oops", other, good]},
        index=[7, 7, 9],
    )
    found = simulate.judge(es, table)
    assert found["distance"].tolist() == [0, 0, 1]
    assert found["distance_perturbed"].tolist() == [1, 0, 0]
    assert found["degraded"].tolist() == [True, False, False]
    assert found.index.tolist() == [7, 7, 9]
    unjudged = simulate.judge(es, table, limit=1)
    assert unjudged[["distance", "distance_perturbed", "degraded"]].isna().all(axis=None)
    many = pd.concat([table.assign(segment=s) for s in list(wordings)[:4]])
    pd.testing.assert_frame_equal(simulate.judge(es, many, n_jobs=2), simulate.judge(es, many))


def test_judge_wants_a_simulated_campaign(short):
    es, _ = short
    table = pd.DataFrame({"segment": [1], "translation": "a", "perturbed": "b"})
    with pytest.raises(TypeError, match="`es` must be an EvalSet"):
        simulate.judge("teaching", table)
    with pytest.raises(ValueError, match="is no simulated campaign with texts"):
        simulate.judge(simulate.campaign(n_systems=2, n_segments=10, seed=1, texts=False), table)
    with pytest.raises(TypeError, match="`table` must be a DataFrame"):
        simulate.judge(es, [1])
    with pytest.raises(ValueError, match=r"lacks the column\(s\) \['perturbed'\]"):
        simulate.judge(es, table.drop(columns="perturbed"))
    with pytest.raises(ValueError, match="unknown segment 999"):
        simulate.judge(es, table.assign(segment=999))
    changed = es.select(segments=list(es.segments[:3]))
    object.__setattr__(changed, "truth", {**es.truth, "seed": 6})
    with pytest.raises(ValueError, match="do not come from its seed 6"):
        simulate.correct_wordings(changed, changed.segments[0])
