"""Synchronous grammar: one tree, spelled out in German and in English.

A tree says what a sentence means (who does what to whom, when, negated or not). `german` and
`english` spell it out. `english` leaves the choice among correct wordings to a `Style`, and accepts
edits that make chosen nodes of the tree go wrong, so that a faulty translation is inflected and ordered
like any other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import lexicon as lex
from lexicon import Adjective, Noun, Verb

# -- trees -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Ref:
    """What a pronoun stands for: person, number (``s``/``p``), German gender, human or not."""

    person: int
    number: str
    gender: str = "n"
    human: bool = True
    kind: str = ""

    @property
    def german_person(self) -> str:
        """Person and number of the German verb."""
        return "3p" if self.kind == "polite" else f"{self.person}{self.number}"

    @property
    def owner(self) -> str:
        """Key of the German possessive."""
        if self.kind == "polite":
            return "polite"
        if self.person < 3:
            return f"{self.person}{self.number}"
        return "p" if self.number == "p" else self.gender


ICH, DU, WIR = Ref(1, "s"), Ref(2, "s"), Ref(1, "p")
POLITE = Ref(3, "p", kind="polite")


@dataclass(slots=True, eq=False)
class Name:
    """A proper name; ``wrong`` holds how it may go wrong in English."""

    german: str
    english: str
    wrong: tuple[str, ...]
    gender: str = "n"
    human: bool = False
    id: int = -1


@dataclass(slots=True, eq=False)
class Number:
    """A number as written in each language, and wrong ones."""

    german: str
    english: str
    wrong: tuple[str, ...]
    id: int = -1


@dataclass(slots=True, eq=False)
class Attribute:
    """An adjective before a noun."""

    adjective: Adjective
    id: int = -1


@dataclass(slots=True, eq=False)
class NP:
    """A noun phrase: a common noun, a name or a pronoun with what belongs to it."""

    noun: Noun | None = None
    name: Name | None = None
    ref: Ref | None = None
    number: str = "s"
    det: str = "def"
    owner: Ref | None = None
    adjectives: list[Attribute] = field(default_factory=list)
    count: Number | None = None
    approx: tuple[str, tuple[str, ...]] | None = None
    genitive: NP | None = None
    relative: Relative | None = None
    apposition: NP | None = None
    id: int = -1

    @property
    def referent(self) -> Ref:
        """What a pronoun for this phrase agrees with."""
        if self.ref:
            return self.ref
        if self.name:
            return Ref(3, "s", self.name.gender, self.name.human)
        return Ref(3, self.number, self.noun.gender, self.noun.human)


@dataclass(slots=True, eq=False)
class Relative:
    """A relative clause; ``gap`` says which role the noun plays in it."""

    clause: Clause
    gap: str
    id: int = -1


@dataclass(slots=True, eq=False)
class Adjunct:
    """An optional phrase: templates with slots for names, numbers and one noun phrase."""

    kind: str
    german: str
    english: tuple[str, ...]
    wrong: str = ""
    slots: dict[str, Name | Number] = field(default_factory=dict)
    np: NP | None = None
    case: str = "dat"
    id: int = -1


@dataclass(slots=True, eq=False)
class Predicate:
    """What a copula says: an adjective with a degree, joined to the one before."""

    adjective: Adjective
    german_degree: str = ""
    english_degree: tuple[str, ...] = ()
    joint: str = ""
    id: int = -1


@dataclass(slots=True, eq=False)
class Sub:
    """A subordinate clause with its conjunction; ``um`` makes a purpose clause."""

    conj: str
    clause: Clause
    id: int = -1


@dataclass(slots=True, eq=False)
class Clause:
    """A clause: subject, verb with its objects, adjuncts, tense, negation, subordinate clauses."""

    subject: NP | None
    verb: Verb | None
    acc: NP | None = None
    dat: NP | None = None
    prep: NP | None = None
    predicates: list[Predicate] = field(default_factory=list)
    measure: Adjunct | None = None
    adjuncts: list[Adjunct] = field(default_factory=list)
    tense: str = "pres"
    modal: str = ""
    neg: str = ""
    passive: bool = False
    front: Adjunct | None = None
    before: Sub | None = None
    after: list[Sub] = field(default_factory=list)
    complement: Sub | None = None
    mood: str = "decl"
    elided: bool = False
    id: int = -1


@dataclass(slots=True, eq=False)
class Sentence:
    """A sentence: clauses with the conjunctions between them, an opener, a final mark."""

    clauses: list[tuple[str, Clause]]
    template: str
    domain: str
    end: str = "."
    opener: tuple[str, tuple[str, ...]] | None = None
    id: int = -1
    nodes: list[Any] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)


COPULA = lex.make_verb("sein", "ist,war,gewesen,s", "-", "be")


def children(node: Any) -> Iterator[Any]:
    """Yield the nodes directly below ``node``, in a fixed order."""
    if isinstance(node, Sentence):
        yield from (clause for _, clause in node.clauses)
    elif isinstance(node, Clause):
        if node.before:
            yield node.before
        if node.subject and not node.elided:
            yield node.subject
        yield from (x for x in (node.dat, node.acc, node.prep) if x)
        yield from node.predicates
        if node.measure:
            yield node.measure
        yield from node.adjuncts
        if node.complement:
            yield node.complement
        yield from node.after
    elif isinstance(node, NP):
        if node.name:
            yield node.name
        if node.count:
            yield node.count
        yield from node.adjectives
        yield from (x for x in (node.genitive, node.apposition, node.relative) if x)
    elif isinstance(node, Sub | Relative):
        yield node.clause
    elif isinstance(node, Adjunct):
        yield from node.slots.values()
        if node.np:
            yield node.np


def number_nodes(sentence: Sentence) -> None:
    """Give every node its id and record its parent."""
    sentence.nodes, sentence.parents = [], []

    def visit(node: Any, parent: int) -> None:
        node.id = len(sentence.nodes)
        sentence.nodes.append(node)
        sentence.parents.append(parent)
        for child in children(node):
            visit(child, node.id)

    visit(sentence, -1)


# -- German ------------------------------------------------------------------------------

_PRONOUNS = {
    "1s": "ich mich mir", "2s": "du dich dir", "1p": "wir uns uns", "p": "sie sie ihnen",
    "m": "er ihn ihm", "f": "sie sie ihr", "n": "es es ihm", "polite": "Sie Sie Ihnen",
}  # fmt: skip
_REFLEXIVE = {"1s": "mich", "2s": "dich", "1p": "uns"}
_CONTRACTIONS = {
    ("in", "dem"): "im", ("in", "das"): "ins", ("an", "dem"): "am", ("an", "das"): "ans", ("zu", "dem"): "zum",
    ("zu", "der"): "zur", ("bei", "dem"): "beim", ("von", "dem"): "vom",
}  # fmt: skip


def _german_pronoun(ref: Ref, case: str) -> str:
    key = ref.kind or ref.owner
    return _PRONOUNS[key].split()[("nom", "acc", "dat").index(case)]


def german_np(np: NP, case: str, *, negated: bool = False) -> list[str]:
    """Return the German words of a noun phrase."""
    if np.ref:
        return [_german_pronoun(np.ref, case)]
    if np.name:
        words = [np.name.german]
        if np.apposition:
            words += [",", *german_np(np.apposition, case), ","]
        return words
    gender = "p" if np.number == "p" else np.noun.gender
    det = "kein" if negated and np.det in ("indef", "zero") and not np.count else np.det
    words = [lex.german_determiner(det, gender, case, np.owner.owner if np.owner else None)]
    if np.count:
        words += [np.approx[0] if np.approx else "", np.count.german]
    ending = lex.german_ending(det, gender, case)
    words += [a.adjective.stem + ending for a in np.adjectives]
    words.append(np.noun.form(case, np.number))
    if np.genitive:
        words += ["von", np.genitive.name.german] if np.genitive.name else german_np(np.genitive, "gen")
    if np.relative:
        words += [",", *german_clause(np.relative.clause, "relative", head=np, gap=np.relative.gap), ","]
    return [w for w in words if w]


def german_adjunct(adjunct: Adjunct) -> list[str]:
    """Return the German words of an adjunct."""
    words = []
    for word in adjunct.german.split():
        if word == "{np}":
            words += german_np(adjunct.np, adjunct.case)
        else:
            words.append(word.format(**{k: v.german for k, v in adjunct.slots.items()}) if "{" in word else word)
    return words


def _german_cluster(c: Clause, person: str) -> tuple[str, list[str]]:
    """Return the finite verb and the words of the verb that follow it in a main clause."""
    verb, tense = c.verb, c.tense
    if c.mood == "imp":
        return verb.base, [verb.prefix]
    if c.modal:
        rest = [verb.participle, "werden"] if c.passive else [verb.infinitive]
        return lex.german_auxiliary(c.modal, "past" if tense == "past" else "pres", person), rest
    if tense == "fut":
        return lex.german_auxiliary("werden", "pres", person), [verb.infinitive]
    if tense in ("perf", "plup"):
        aux = "sein" if c.passive else verb.aux
        rest = [verb.participle, "worden"] if c.passive else [verb.participle]
        return lex.german_auxiliary(aux, "pres" if tense == "perf" else "past", person), rest
    if c.passive:
        return lex.german_auxiliary("werden", tense, person), [verb.participle]
    if verb is COPULA:
        return lex.german_auxiliary("sein", tense, person), []
    return verb.finite(tense, person), [verb.prefix]


def _german_middle(c: Clause, subject: list[str], person: str, front: Adjunct | None) -> list[str]:
    """Return everything between the finite verb and the end of the clause, in order."""
    pick = {
        k: [a for a in c.adjuncts if a.kind == k and a is not front]
        for k in ("comment", "time", "because", "only", "manner", "place", "with", "agent")
    }

    def words(kind: str) -> list[str]:
        return [w for a in pick[kind] for w in german_adjunct(a)]

    indefinite = c.acc is not None and c.acc.ref is None and c.acc.name is None and (c.acc.det in ("indef", "zero"))
    kein = c.neg in ("nicht", "noch nicht") and indefinite and not c.acc.count
    negator = {"": "", "nicht": "nicht", "noch nicht": "noch nicht", "nie": "nie"}[c.neg]
    if kein:
        negator = "noch" if c.neg == "noch nicht" else ""
    acc = german_np(c.acc, "acc", negated=kein) if c.acc else []
    pronoun = c.acc is not None and c.acc.ref is not None
    dat = german_np(c.dat, "dat") if c.dat else []
    dat_pronoun = c.dat is not None and c.dat.ref is not None
    light = [_REFLEXIVE.get(person, "sich")] if c.verb.reflexive else []
    light += (acc if pronoun else []) + (dat if dat_pronoun else [])
    out = [*subject, *light] if pronoun or c.subject is None or c.subject.ref else [*light, *subject]
    out += words("comment") + words("time") + words("because")
    out += [] if dat_pronoun else dat
    if c.neg:
        out += words("place")
    out += acc if not pronoun and not indefinite else []
    out += negator.split() + words("agent") + words("only") + words("manner") + words("with")
    if not c.neg:
        out += words("place")
    out += acc if not pronoun and indefinite else []
    if c.prep:
        preposition, case = c.verb.preposition
        out += [preposition, *german_np(c.prep, case)]
    if c.measure:
        out += german_adjunct(c.measure)
    for p in c.predicates:
        out += ([","] if p.joint == "aber" else []) + [p.joint, *p.german_degree.split(), p.adjective.base]
    return [w for w in out if w]


def german_clause(c: Clause, order: str, *, head: NP | None = None, gap: str = "") -> list[str]:
    """Return the German words of a clause: ``order`` is main, inverted, sub, relative or zu."""
    person = (head if gap == "subject" else c.subject).referent.german_person if (c.subject or head) else "3s"
    finite, rest = _german_cluster(c, person)
    rest = [w for w in rest if w]
    tail: list[str] = []
    if c.complement:
        tail += [",", c.complement.conj, *german_clause(c.complement.clause, "sub"), ","]
    for sub in c.after:
        tail += [",", *german_sub(sub), ","]
    if order == "zu":
        return [*_german_middle(c, [], person, None), c.verb.zu_infinitive, *tail]
    subject = [] if c.elided or c.subject is None or gap == "subject" else german_np(c.subject, "nom")
    if order in ("sub", "relative"):
        lead = []
        if order == "relative":
            referent = head.referent
            gender = "p" if referent.number == "p" else referent.gender
            lead = [lex.german_determiner("def", gender, "nom" if gap == "subject" else "acc")]
        if len(rest) == 1 and rest[0] == c.verb.prefix and not (c.modal or c.passive):
            verb_end = [rest[0] + finite]
        else:
            verb_end = [*rest, finite]
        return lead + _german_middle(c, subject, person, None) + verb_end + tail
    if c.mood == "imp":
        lead = [*german_sub(c.before), ","] if c.before else []
        return [*lead, finite, "Sie", *_german_middle(c, [], person, None), *rest, *tail]
    if c.before and order != "inverted":
        return [*german_sub(c.before), ",", finite, *_german_middle(c, subject, person, None), *rest, *tail]
    if c.mood == "yn" or order == "inverted":
        return [finite, *_german_middle(c, subject, person, None), *rest, *tail]
    if c.front:
        return [*german_adjunct(c.front), finite, *_german_middle(c, subject, person, c.front), *rest, *tail]
    if c.elided:
        return [finite, *_german_middle(c, [], person, None), *rest, *tail]
    return [*subject, finite, *_german_middle(c, [], person, None), *rest, *tail]


def german_sub(sub: Sub) -> list[str]:
    """Return the German words of a subordinate clause with its conjunction."""
    return [sub.conj, *german_clause(sub.clause, "zu" if sub.conj == "um" else "sub")]


def _join(words: Sequence[str], end: str) -> str:
    """Join words to a sentence: contractions, commas, capital, final mark."""
    out: list[str] = []
    for word in words:
        if out and (out[-1], word) in _CONTRACTIONS:
            out[-1] = _CONTRACTIONS[(out[-1], word)]
        elif word in (",", ";"):
            if out and not out[-1].endswith((",", ";")):
                out[-1] += word
            elif out and word == ";":
                out[-1] = out[-1][:-1] + word
        else:
            out.append(word)
    text = " ".join(out).rstrip(",") + end
    return text[0].upper() + text[1:]


def german(sentence: Sentence) -> str:
    """Spell a tree out in German."""
    words: list[str] = []
    if sentence.opener:
        words += [sentence.opener[0], ","]
    for conj, clause in sentence.clauses:
        if conj:
            previous_open = bool(words) and words[-1] == ","
            comma = conj != "und" or previous_open
            words += ([","] if comma else []) + [conj] if conj != ";" else [";"]
        words += german_clause(clause, "main")
    return _join(words, sentence.end)
