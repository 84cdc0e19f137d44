"""What can go wrong in the translation of a sentence: typed error sites, in a fixed order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import lexicon as lex
from english import MODAL_WRONG
from grammar import COPULA, NP, Adjunct, Attribute, Clause, Name, Number, Predicate, Ref, Relative, Sentence, Sub

from mtmeta.simulate._errors import ADDITION, AWKWARD, MISTRANSLATION, PUNCTUATION

OMISSION = "Accuracy/Omission"
UNTRANSLATED = "Accuracy/Untranslated text"
TERMINOLOGY = "Terminology/Inappropriate for context"
GRAMMAR = "Fluency/Grammar"
SPELLING = "Fluency/Spelling"
_PREPOSITIONS = {"in": "on", "on": "in", "at": "in", "from": "of", "for": "since", "after": "behind", "with": "by"}
_PADDING = ("said", "respective", "corresponding")
_FILLERS = ("as well", "in this respect", "so to speak")
_EXTRA = ("at short notice", "once again", "for the first time", "in the afternoon")


@dataclass(frozen=True, slots=True)
class Site:
    """A place in a sentence where a translation can go wrong, and how.

    ``keys`` are the parts of nodes that the fault takes up, ``odds`` how likely it is among the
    sites of its category, ``major`` the probability that it is a major error.
    """

    keys: tuple[tuple[int, str], ...]
    slot: str
    value: Any
    category: str
    odds: float
    major: float

    @property
    def node(self) -> int:
        """Id of the node that goes wrong."""
        return self.keys[0][0]


def _site(node: Any, part: str, slot: str, value: Any, category: str, odds: float, major: float, *more: tuple) -> Site:
    return Site(((node.id, part), *more), slot, value, category, odds, major)


def sites(sentence: Sentence) -> list[list[Site]]:
    """Return the sites of each node of a sentence and then those of its punctuation, in a fixed order.

    A phrase that stands in two places has its sites in both.
    """
    found: list[list[Site]] = []
    for node in sentence.nodes:
        parent = sentence.nodes[sentence.parents[node.id]] if node.id else None
        own = [collect(node, parent, sentence) for kind, collect in _COLLECTORS.items() if isinstance(node, kind)]
        found.append([site for some in own for site in some])
    found.append([_site(sentence, "final", "final", None, PUNCTUATION, 1, 0)])
    if any(isinstance(n, Sub | Relative) for n in sentence.nodes) or len(sentence.clauses) > 1:
        found[-1].append(_site(sentence, "comma", "comma", None, PUNCTUATION, 2, 0))
    return found


def _noun_phrase(np: NP, parent: Any, sentence: Sentence) -> Iterator[Site]:
    if np.ref:
        purpose = isinstance(parent, Clause) and isinstance(sentence.nodes[sentence.parents[parent.id]], Sub)
        if not (purpose and sentence.nodes[sentence.parents[parent.id]].conj == "um" and parent.subject is np):
            yield from _pronoun(np)
        return
    if isinstance(parent, NP) and parent.apposition is np:
        yield _site(np, "all", "drop", None, OMISSION, 1, 0.6)
    if isinstance(parent, NP) and parent.genitive is np:
        yield _site(np, "all", "drop", None, OMISSION, 0.5, 0.6)
    if np.name:
        return
    yield from _head(np, parent, sentence.domain)
    bare = "*~" if np.det == "indef" else "~"  # English entries with these marks have no article to leave out
    if np.det in ("def", "indef") and np.number == "s" and not any(mark in e for e in np.noun.english for mark in bare):
        yield _site(np, "det", "article", None, GRAMMAR, 0.5, 0, (np.id, "word"))
    if np.det == "poss" and np.owner.person < 3:
        other = Ref(2 if np.owner.person == 1 else 1, "s")
        yield _site(np, "det", "owner", other, MISTRANSLATION, 0.4, 0.6)
    if np.det == "def" and not np.relative:
        for padding in _PADDING:
            yield _site(np, "add", "adjective", padding, AWKWARD, 0.3, 0)
    present = [a.adjective for a in np.adjectives]
    for extra in lex.adjectives_for(sentence.domain, np.noun.classes)[:3]:
        if extra not in present:
            yield _site(np, "add", "adjective", extra.english[0], ADDITION, 0.4, 0.2)


def _head(np: NP, parent: Any, domain: str) -> Iterator[Site]:
    noun = np.noun
    senses = [w for w in noun.wrong if not w.startswith(":")]
    for wrong in senses:
        yield _site(np, "word", "lex", wrong, MISTRANSLATION, 3, 0.6)
    for wrong in noun.wrong:
        if wrong.startswith(":"):
            yield _site(np, "word", "lex", wrong[1:], TERMINOLOGY, 1, 0.25)
    known = lex.nouns_of(domain, noun.classes[0])
    if noun in known and len(known) > 2:
        place = known.index(noun)
        for step in (1, 2):
            other = known[(place + step) % len(known)]
            if not set(_plain(other.english)) & set(_plain(noun.english)):
                yield _site(np, "word", "lex", other.english[0], MISTRANSLATION, 0.4, 0.7)
                if step == 1:
                    yield _site(np, "word", "lex", other.english[-1], TERMINOLOGY, 0.1, 0.25)
    yield _site(np, "word", "german", None, UNTRANSLATED, 1, 0.75)
    objects = isinstance(parent, Clause) and np in (parent.acc, parent.prep)
    simple = noun.plural != "-" and not any(mark in e for e in noun.english for mark in "*~/")
    if objects and simple and not np.count and np.det in ("def", "poss", "dem"):
        yield _site(np, "word", "number", None, MISTRANSLATION, 0.4, 0.1)
    if min(len(e) for e in noun.english) >= 5:
        for u in (0.123, 0.456, 0.789):
            yield _site(np, "word", "spell", u, SPELLING, 0.4, 0.03)
    if np.det not in ("zero", "indef") and domain != "conversation" and not any("~" in e for e in noun.english):
        yield _site(np, "word", "cap", None, SPELLING, 0.4, 0, (np.id, "det"))


def _plain(entries: Sequence[str]) -> list[str]:
    return [e.rstrip("*~") for e in entries]


def _pronoun(np: NP) -> Iterator[Site]:
    ref = np.ref
    if ref.person < 3:
        return
    if ref.kind == "polite":
        yield _site(np, "word", "pron", Ref(3, "p"), MISTRANSLATION, 0.5, 0.4)
    elif ref.number == "p":
        yield _site(np, "word", "pron", Ref(3, "s", "f", True), MISTRANSLATION, 1.5, 0.5)
    elif ref.human:
        yield _site(np, "word", "pron", Ref(3, "s", "m" if ref.gender == "f" else "f", True), MISTRANSLATION, 1.2, 0.4)
    else:
        gender = "f" if ref.gender == "f" else "m"
        yield _site(np, "word", "pron", Ref(3, "s", gender, True), MISTRANSLATION, 2 if ref.gender != "n" else 0.6, 0.3)


def _name(name: Name, parent: Any, sentence: Sentence) -> Iterator[Site]:
    for wrong in name.wrong:
        yield _site(name, "word", "name", wrong, MISTRANSLATION, 0.7, 0.5)


def _number(number: Number, parent: Any, sentence: Sentence) -> Iterator[Site]:
    for wrong in number.wrong:
        yield _site(number, "word", "digits", wrong, MISTRANSLATION, 0.7, 0.8)


def _adjective(node: Attribute | Predicate, parent: Any, sentence: Sentence) -> Iterator[Site]:
    adjective = node.adjective
    for wrong in adjective.wrong:
        literal = wrong.startswith(":")
        yield _site(node, "word", "lex", wrong.lstrip(":"), TERMINOLOGY if literal else MISTRANSLATION, 1, 0.3)
    if not adjective.wrong and adjective.classes:
        others = [a for a in lex.adjectives_for(sentence.domain, adjective.classes[:1]) if a is not adjective]
        for other in others[:2]:
            if not set(other.english) & set(adjective.english):
                yield _site(node, "word", "lex", other.english[0], MISTRANSLATION, 0.4, 0.5)
    if isinstance(node, Attribute):
        yield _site(node, "all", "drop", None, OMISSION, 0.8, 0.12)
    elif isinstance(parent, Clause) and parent.predicates[-1] is node and node.joint:
        yield _site(node, "all", "drop", None, OMISSION, 1, 0.7)
    if min(len(e) for e in adjective.english) >= 5:
        for u in (0.234, 0.567, 0.89):
            yield _site(node, "word", "spell", u, SPELLING, 0.3, 0.03)


def _adjunct(a: Adjunct, parent: Any, sentence: Sentence) -> Iterator[Site]:
    if a.kind == "wh":
        return
    slots = tuple((s.id, "word") for s in a.slots.values())
    if a.kind != "measure":
        yield _site(a, "all", "drop", None, OMISSION, 1, 0.2 if a.kind in ("comment", "manner", "only") else 0.55)
    if a.wrong:
        yield _site(a, "word", "lex", a.wrong, MISTRANSLATION, 1, 0.25)
    if a.kind in ("time", "place", "with") and all(e.split()[0] in _PREPOSITIONS for e in a.english):
        yield _site(a, "word", "prep", _PREPOSITIONS, GRAMMAR, 1, 0.05)
    if (
        a.kind in ("time", "place")
        and isinstance(parent, Clause)
        and (parent.acc or parent.prep)
        and parent.mood in ("decl", "imp")
        and not _gapped(parent, sentence)
        and not parent.passive
    ):
        yield _site(a, "all", "place", None, AWKWARD, 3, 0.03, (a.id, "word"), *slots)


def _gapped(c: Clause, sentence: Sentence) -> bool:
    parent = sentence.nodes[sentence.parents[c.id]]
    return isinstance(parent, Relative) and parent.gap == "object"


def _clause(c: Clause, parent: Any, sentence: Sentence) -> Iterator[Site]:
    if isinstance(parent, Sentence):
        order = [clause for _, clause in parent.clauses]
        place = order.index(c)
        followed = place + 1 < len(order) and order[place + 1].elided
        if place and not followed:
            yield _site(c, "all", "drop", None, OMISSION, 0.6, 0.9)
    yield from _verb_word(c, sentence.domain)
    for text in _EXTRA:
        if c.mood in ("decl", "imp") and not isinstance(parent, Relative):
            yield _site(c, "add", "clause", text, ADDITION, 0.3, 0.4)
    for text in _FILLERS:
        if c.mood == "decl" and not isinstance(parent, Relative):
            yield _site(c, "add", "clause", text, AWKWARD, 0.4, 0)
    if isinstance(parent, Sub) and parent.conj == "um":
        return
    finite = c.mood != "imp"
    if c.neg:
        yield _site(c, "verb", "neg", None, MISTRANSLATION, 2.5, 1)
    elif c.mood in ("decl", "imp"):
        yield _site(c, "verb", "neg", None, MISTRANSLATION, 0.12, 1)
    if finite:
        yield _site(c, "verb", "form", None, GRAMMAR, 1.5, 0.12)
        if not c.modal:
            alike = any(lex.english_verb(e.split()[0], "past") == e.split()[0] for e in c.verb.english)
            tense = "past" if c.tense == "fut" else "fut" if c.tense == "pres" or alike else "pres"
            yield _site(c, "verb", "tense", tense, MISTRANSLATION, 0.4, 0.15)
        for wrong in MODAL_WRONG.get(c.modal, ()):
            if c.neg and c.modal == "dürfen":
                continue
            yield _site(c, "verb", "modal", wrong, MISTRANSLATION, 0.4, 0.6)
    heavy = c.acc or c.prep or c.predicates or c.measure
    if c.mood == "decl" and heavy and not _gapped(c, sentence):
        yield _site(c, "verb", "order", None, GRAMMAR, 0.6, 0.3)


def _verb_word(c: Clause, domain: str) -> Iterator[Site]:
    verb = c.verb
    if verb is COPULA or c.passive:
        return
    for wrong in verb.wrong:
        if wrong.startswith(":"):
            yield _site(c, "verb", "lex", wrong[1:], AWKWARD, 2, 0.1)
        else:
            yield _site(c, "verb", "lex", wrong, MISTRANSLATION, 2.5, 0.6)
    known = [
        v
        for v in lex.verbs(domain)
        if v.frame.split(":")[0] == verb.frame.split(":")[0] and set(v.objects) & set(verb.objects)
    ]
    if verb in known and len(known) > 2:
        other = known[(known.index(verb) + 1) % len(known)]
        if not set(other.english) & set(verb.english):
            yield _site(c, "verb", "lex", other.english[0], MISTRANSLATION, 0.5, 0.8)


def _subordinate(sub: Sub, parent: Any, sentence: Sentence) -> Iterator[Site]:
    if parent.complement is not sub:
        yield _site(sub, "all", "drop", None, OMISSION, 1, 0.9)
    if sub.conj != "um":
        yield _site(sub, "word", "lex", lex.conjunctions()[sub.conj][1], MISTRANSLATION, 0.6, 0.3)


def _relative(relative: Relative, parent: Any, sentence: Sentence) -> Iterator[Site]:
    yield _site(relative, "all", "drop", None, OMISSION, 1, 0.8)


_COLLECTORS = {
    NP: _noun_phrase, Name: _name, Number: _number, Attribute | Predicate: _adjective, Adjunct: _adjunct,
    Clause: _clause, Sub: _subordinate, Relative: _relative,
}  # fmt: skip
