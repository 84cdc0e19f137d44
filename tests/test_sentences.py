"""The generator of sentences: grammar by hand, compiled wordings against the grammar, the pool made again."""

import json

import lexicon
import make
import pytest
import scenes
from compiling import Patterns, compiled
from english import Edit, English
from grammar import (
    NP,
    Adjunct,
    Attribute,
    Clause,
    Name,
    Number,
    Sentence,
    Sub,
    german,
    number_nodes,
)
from sites import sites

from mtmeta.simulate import _sentences
from mtmeta.simulate._errors import Menu
from mtmeta.simulate._random import Draw
from mtmeta.simulate._wordings import Style, Token, _spelt, _wrong_comma, translate

PLAIN = Style(lambda: 1.0, 0.0)
NOUNS = {n.lemma: n for n in lexicon.nouns("news")}
VERBS = {v.infinitive: v for v in (*lexicon.reporting("news"), *lexicon.verbs("news"))}
ADJECTIVES = {a.base: Attribute(a) for a in lexicon.adjectives("news")}


@pytest.fixture(scope="module")
def sentences():
    """Return the trees of 240 sentences of each domain."""
    out = []
    for number, scene_type in enumerate(scenes.SCENES):
        for document in range(30):
            scene = scene_type(Draw(99, number, document))
            out += [scene.sentence() for _ in range(8)]
    return out


def made(tree):
    """Return a tree as the simulator reads it, through a file."""
    patterns = Patterns()
    stored = json.loads(json.dumps(compiled(tree, patterns)))
    return _sentences.sentence(patterns.all().__getitem__, *stored)


def spell(clause):
    """Return the German and the plainest English of one clause."""
    sentence = Sentence([("", clause)], "", "news")
    number_nodes(sentence)
    return german(sentence), translate(made(sentence), PLAIN)[0]


def test_no_wrong_rendering_is_right():
    for domain in lexicon.DOMAINS:
        for entry in (*lexicon.nouns(domain), *lexicon.verbs(domain), *lexicon.adjectives(domain)):
            right = {e.rstrip("*~") for e in entry.english}
            assert not {w.lstrip(":").rstrip("*~") for w in entry.wrong} & right, entry


def test_verb_second_and_fronting():
    c = Clause(NP(noun=NOUNS["Unternehmen"]), VERBS["ankündigen"], tense="past")
    c.acc = NP(noun=NOUNS["Reform"], det="indef", adjectives=[ADJECTIVES["neu"]])
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
    inner = Clause(NP(noun=NOUNS["Behörde"]), VERBS["prüfen"], tense="perf")
    inner.acc = NP(noun=NOUNS["Plan"], adjectives=[ADJECTIVES["umstritten"]])
    inner.neg = "nicht"
    speaker = NP(name=Name("Anna Weber", "Anna Weber", (), "f", True))
    speaker.apposition = NP(noun=NOUNS["Sprecherin"], det="zero", genitive=NP(noun=NOUNS["Verband"]))
    assert spell(Clause(speaker, VERBS["sagen"], tense="past", complement=Sub("dass", inner))) == (
        "Anna Weber, Sprecherin des Verbands, sagte, dass die Behörde den umstrittenen Plan nicht geprüft hat.",
        "Anna Weber, the spokeswoman of the association, said that "
        "the authority did not examine the controversial plan.",
    )


def test_passive_with_modal_and_plural_number():
    c = Clause(NP(noun=NOUNS["Brücke"]), VERBS["sanieren"], passive=True, modal="müssen", tense="pres")
    assert spell(c) == ("Die Brücke muss saniert werden.", "The bridge must be renovated.")
    people = NP(noun=NOUNS["Kunde"], number="p", det="zero", count=Number("1.250", "1,250", ("125",)))
    c = Clause(people, VERBS["protestieren"], prep=NP(noun=NOUNS["Steuer"]), tense="perf")
    assert spell(c) == (
        "1.250 Kunden haben gegen die Steuer protestiert.",
        "1,250 customers protested against the tax.",
    )


def test_every_template_is_reached(sentences):
    known = {f"{scene.domain}.{name}" for scene in scenes.SCENES for name in scene.TEMPLATES}
    assert {s.template for s in sentences} == known


class Spoken(English):
    """Spells one version of a tree out, word by word: the grammar with nothing compiled."""

    def __init__(self, tree, style, faults):
        super().__init__(tree)
        self.style = style
        self.faults = {site.keys[0]: Edit(site.slot, site.value, number) for number, site in faults}

    def pick(self, node, label, options):
        return options[self.style.pick(len(options)) if len(options) > 1 else 0]

    def chance(self, node, label, probability):
        return self.style.chance(probability)

    def edit(self, node, part, *slots):
        found = self.faults.get((node.id, part))
        return found if found and (not slots or found.slot in slots) else None

    def block(self, key, build):
        return build()

    def text(self):
        tokens, end, last = [], self.tree.end, -1
        for t in self.sentence().tokens:
            last = last if t.kind == "owner" else -1 if t.error is None else t.error
            flags = {"conj": "c", "rel": "c", "a": "a"}.get(t.kind, "")
            tokens.append(Token(t.text, flags + "g" * t.glued, last))
        final = None
        for fault in self.faults.values():
            if fault.slot == "comma":
                tokens = _wrong_comma(tokens, fault.error)
            elif fault.slot == "final":
                end, final = ("" if end == "." else "."), fault.error
        text, spans = _spelt(tokens, end)
        return text, spans if final is None else {**spans, final: (len(text) - len(end), len(text))}


@pytest.mark.slow
def test_compiled_sentences_say_what_the_grammar_says(sentences):
    # The same style draws the same numbers in the same order, and chosen errors show at the same places.
    draw, faulty = Draw(17), 0
    for tree in sentences[::12]:
        known, sentence = [site for own in sites(tree) for site in own], made(tree)
        assert sentence.source == german(tree)
        menu = Menu(sentence)
        for freedom in (0.0, 0.5, 1.0, 1.0, 1.0):
            drawn = []
            for _ in range(draw.integer(0, 6)):
                found = menu.draw(draw, drawn, provoked=draw.chance(0.5))
                drawn += [found[0]] if found else []
            places = [next(i for i, s in enumerate(sentence.sites) if s is site) for site in drawn]
            number = draw.integer(0, 10**6)
            one, two = Draw(number), Draw(number)
            expected = Spoken(tree, Style(one.uniform, freedom), [(i, known[p]) for i, p in enumerate(places)]).text()
            assert translate(sentence, Style(two.uniform, freedom), list(enumerate(drawn))) == expected
            assert one.uniform() == two.uniform()
            faulty += len(drawn)
    assert faulty > 500


def test_errors_by_hand():
    c = Clause(NP(noun=NOUNS["Bank"]), VERBS["eröffnen"], tense="past", neg="nicht")
    c.acc = NP(noun=NOUNS["Schloss"], adjectives=[ADJECTIVES["alt"]])
    s = Sentence([("", c)], "", "news")
    number_nodes(s)
    sentence, by_slot = made(s), {}
    for k, site in enumerate(site for own in sites(s) for site in own):
        by_slot.setdefault((site.slot, site.value if isinstance(site.value, str) else None), k)
    faults = [by_slot[slot] for slot in (("lex", "bench"), ("lex", "lock"), ("neg", None), ("drop", None))]
    text, spans = translate(sentence, PLAIN, [(i, sentence.sites[k]) for i, k in enumerate(faults)])
    assert text == "The bench opened the lock."
    assert [text[slice(*spans[i])] for i in range(4)] == ["bench", "lock", "opened", ""]
    assert spans[3] == (20, 20)


@pytest.mark.exhaustive
def test_the_whole_pool_is_what_the_generator_makes():
    assert make.pool() == _sentences.FILE.read_bytes()
