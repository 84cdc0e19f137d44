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

from . import _lexicon as lex
from ._lexicon import Adjective, Noun, Verb

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


# -- English -----------------------------------------------------------------------------


@dataclass(slots=True)
class Token:
    """An English token: its text, the node it comes from, its role there, and the error it shows."""

    text: str
    node: int = -1
    kind: str = ""
    error: int = -1
    glued: bool = False


@dataclass(frozen=True, slots=True)
class Edit:
    """A fault in one node: which part goes wrong, how, and the number of the error."""

    slot: str
    value: Any
    error: int


class Style:
    """Chooses among correct wordings: the first one, or with probability ``freedom`` any of them."""

    def __init__(self, uniforms: Any, freedom: float) -> None:
        self._uniform = uniforms
        self.freedom = freedom

    def pick(self, options: Sequence[Any]) -> Any:
        """Return one of ``options``."""
        if len(options) == 1:
            return options[0]
        u, v = self._uniform(), self._uniform()
        return options[int(v * len(options))] if u < self.freedom else options[0]

    def chance(self, probability: float) -> bool:
        """Return whether a free wording is chosen; ``probability`` holds at freedom 1."""
        return self._uniform() < self.freedom * probability


_MODAL_EN = {
    # (modal, past?): (positive, negative); "+" marks a verb that is inflected and followed by "to"
    ("können", False): (("can", "+be able"), ("cannot",)),
    ("können", True): (("could", "+be able"), ("could not", "+be able")),
    ("müssen", False): (("must", "+have"), ("+have",)),
    ("müssen", True): (("+have",), ("+have",)),
    ("wollen", False): (("+want", "+intend"), ("+want",)),
    ("wollen", True): (("+want", "+intend"), ("+want",)),
    ("sollen", False): (("+be", "should"), ("+be", "should not")),
    ("sollen", True): (("+be supposed", "+be"), ("+be supposed", "+be")),
    ("sollten", False): (("should",), ("should not",)),
    ("sollten", True): (("should",), ("should not",)),
    ("dürfen", False): (("may", "can", "+be allowed"), ("must not", "may not")),
    ("dürfen", True): (("+be allowed",), ("+be allowed",)),
    ("würden", False): (("would",), ("would not",)),
}
MODAL_WRONG = {
    "können": ("must", "should"), "müssen": ("can", "may"), "wollen": ("must", "should"), "sollen": ("can", "will"),
    "sollten": ("can", "must"), "dürfen": ("must", "should"), "würden": ("will", "must"),
}  # fmt: skip
_MOVABLE = ("weil", "da", "obwohl", "wenn", "falls", "nachdem", "sobald", "um")
_NT = {"can": "can't", "will": "won't"}
_BE = {"pres": {"1s": "am", "3s": "is"}, "past": {"1s": "was", "3s": "was"}}
_PRONOUN_EN = {
    "1s": "I me", "2s": "you you", "1p": "we us", "p": "they them", "m": "he him", "f": "she her", "n": "it it",
    "polite": "you you",
}  # fmt: skip
_POSSESSIVE_EN = {
    "1s": "my",
    "2s": "your",
    "1p": "our",
    "p": "their",
    "m": "his",
    "f": "her",
    "n": "its",
    "polite": "your",
}
_DETERMINERS_EN = {
    "def": ("the",), "dem": ("this",), "every": ("every", "each"), "many": ("many", "a lot of"),
    "some": ("some", "a few"), "several": ("several", "a number of"), "all": ("all", "all the"),
}  # fmt: skip


def _be(tense: str, person: str) -> str:
    return _BE[tense].get(person, "are" if tense == "pres" else "were")


def pronoun_english(ref: Ref, case: str) -> str:
    """Return the English pronoun, subject or object form."""
    return _PRONOUN_EN[ref.kind or _english_owner(ref)].split()[case != "nom"]


def _english_owner(ref: Ref) -> str:
    if ref.person < 3 or ref.kind:
        return ref.owner
    if ref.number == "p":
        return "p"
    return ref.gender if ref.human else "n"


class English:
    """Spells trees out in English, in a style, with edits."""

    def __init__(self, style: Style, edits: dict[tuple[int, str], Edit], domain: str) -> None:
        self.style = style
        self.edits = edits
        self.informal = domain in ("reviews", "conversation")
        self.instructions = domain == "manuals"
        self._active: set[int] = set()
        self._shifted = False

    # small helpers ----------------------------------------------------------------------

    def _edit(self, node: Any, part: str, *slots: str) -> Edit | None:
        edit = self.edits.get((node.id, part))
        return edit if edit and (not slots or edit.slot in slots) else None

    def _dropped(self, node: Any) -> list[Token] | None:
        """Return the empty token that marks a gap, if ``node`` is left out."""
        edit = self._edit(node, "all", "drop")
        return [Token("", node.id, "gap", edit.error)] if edit else None

    @staticmethod
    def _words(text: str, node: Any, kind: str, error: int = -1) -> list[Token]:
        return [Token(w, node.id, kind, error) for w in text.split()]

    def _lexical(self, node: Any, options: Sequence[str], kind: str) -> list[Token]:
        """Choose a wording, or the wrong one that an edit asks for."""
        edit = self._edit(node, "word", "lex")
        text = edit.value if edit else self.style.pick(options)
        return self._words(text, node, kind, edit.error if edit else -1)

    # noun phrases -----------------------------------------------------------------------

    def np(self, np: NP, case: str, *, negated: bool = False) -> tuple[list[Token], str]:
        """Return the tokens of a noun phrase and the person it agrees with."""
        if np.ref:
            edit = self._edit(np, "word", "pron")
            ref = edit.value if edit else np.ref
            person = "2p" if ref.kind else f"{ref.person}{'p' if ref.person == 2 else ref.number}"
            return [Token(pronoun_english(ref, case), np.id, "pron", edit.error if edit else -1)], person
        if np.name:
            return self._name(np), "3s"
        tokens, person = self._common(np, negated)
        return tokens, person

    def _name(self, np: NP) -> list[Token]:
        tokens = self._name_words(np.name)
        if np.apposition:
            gap = self._dropped(np.apposition)
            if gap:
                return tokens + gap
            inner, _ = self.np(np.apposition, "nom")
            lead = [] if np.apposition.det == "poss" else [Token(self.style.pick(("the", "")), np.apposition.id, "det")]
            tokens += [Token(","), *(t for t in lead if t.text), *inner, Token(",")]
        return tokens

    def _name_words(self, name: Name) -> list[Token]:
        edit = self._edit(name, "word", "name")
        return self._words(edit.value if edit else name.english, name, "name", edit.error if edit else -1)

    def _determiner(self, np: NP, number: str, bare: bool, negated: bool) -> list[Token]:
        det = np.det
        if negated and det in ("indef", "zero") and not np.count:
            single = number == "s" and not bare
            return [Token("a" if single else "any", np.id, "a" if single else "det")]
        if det == "zero" or (det == "indef" and number == "p"):
            return []
        if det == "every" and number == "p":
            det = "def"
        if det == "indef":
            return [] if bare else [Token("a", np.id, "a")]
        if det == "poss":
            edit = self._edit(np, "det", "owner")
            owner = edit.value if edit else np.owner
            return [Token(_POSSESSIVE_EN[_english_owner(owner)], np.id, "det", edit.error if edit else -1)]
        if det == "def" and bare:
            return []
        options = ("these",) if det == "dem" and number == "p" else _DETERMINERS_EN[det]
        return self._words(self.style.pick(options), np, "det")

    def _common(self, np: NP, negated: bool) -> tuple[list[Token], str]:
        number = np.number
        edit = self._edit(np, "word")
        error = edit.error if edit else -1
        slot = edit.slot if edit else ""
        if slot == "number":
            number = "s" if number == "p" else "p"
        entry = edit.value if slot == "lex" else self.style.pick(np.noun.english)
        singular, plural, takes_plural, bare = lex.english_noun(entry)
        person = "3p" if number == "p" or takes_plural else "3s"
        word = plural if number == "p" else singular
        if slot == "german":
            word = np.noun.form("nom", number)
        head = self._words(word, np, "noun", error)
        if slot in ("spell", "cap"):
            head = misspell(head, edit)
        bare = bare and number == "s" and not (np.genitive or np.relative)
        tokens = self._determiner(np, "p" if takes_plural else number, bare, negated)
        article = self._edit(np, "det", "article")
        if article and tokens:
            head[0].error = head[0].error if head[0].error >= 0 else article.error
            tokens = []
        if np.count:
            tokens += self._count(np)
        added = self._edit(np, "add", "adjective")
        if added:
            tokens += self._words(added.value, np, "adj", added.error)
        for attribute in np.adjectives:
            gap = self._dropped(attribute)
            if gap:
                tokens += gap
                continue
            words = self._lexical(attribute, attribute.adjective.english, "adj")
            spelling = self._edit(attribute, "word", "spell")
            tokens += misspell(words, spelling) if spelling else words
        tokens += head
        if np.genitive:
            tokens = self._genitive(np, tokens)
        if np.relative:
            gap = self._dropped(np.relative)
            tokens += gap or self._relative(np, person)
        return tokens, person

    def _count(self, np: NP) -> list[Token]:
        edit = self._edit(np.count, "word", "digits")
        tokens = self._words(self.style.pick(np.approx[1]), np.count, "approx") if np.approx else []
        text, error = (edit.value, edit.error) if edit else (np.count.english, -1)
        return [*tokens, Token(text, np.count.id, "num", error)]

    def _genitive(self, np: NP, tokens: list[Token]) -> list[Token]:
        owner, _ = self.np(np.genitive, "nom")
        gap = self._dropped(np.genitive)
        if gap:
            return tokens + gap
        plain = np.genitive.name or not (np.genitive.adjectives or np.genitive.count)
        swap = plain and np.det == "def" and tokens and tokens[0].text == "the" and np.genitive.number == "s"
        if swap and self.style.chance(0.5) and not owner[-1].text.endswith("s"):
            return [*owner, Token("'s", np.genitive.id, "gen", owner[-1].error, glued=True), *tokens[1:]]
        return [*tokens, Token("of", np.genitive.id, "prep"), *owner]

    def _relative(self, np: NP, person: str) -> list[Token]:
        rel = np.relative
        human = np.noun.human
        if rel.gap == "subject":
            options = ("who", "that") if human else ("that", "which")
        else:
            options = ("whom", "that", "") if human else ("that", "which", "")
        word = self.style.pick(options)
        lead = [Token(word, rel.id, "rel")] if word else []
        return lead + self.clause(rel.clause, gap=rel.gap, person=person)

    # adjuncts ---------------------------------------------------------------------------

    def adjunct(self, adjunct: Adjunct) -> list[Token]:
        """Return the tokens of an adjunct."""
        gap = self._dropped(adjunct)
        if gap:
            return gap
        edit = self._edit(adjunct, "word")
        slot = edit.slot if edit else ""
        template = edit.value if slot == "lex" else self.style.pick(adjunct.english)
        tokens: list[Token] = []
        for word in template.split():
            if word == "{np}":
                tokens += self.np(adjunct.np, "acc")[0]
            elif "{" in word:
                key = word[word.index("{") + 1 : word.index("}")]
                tokens += self._slot(adjunct.slots[key], word)
            else:
                tokens.append(Token(word, adjunct.id, "adjunct", edit.error if slot == "lex" else -1))
        if slot == "prep":
            wrong = edit.value.get(tokens[0].text)
            tokens[0] = Token(wrong, adjunct.id, "prep", edit.error) if wrong else _marked(tokens[0], edit.error, "of")
        return tokens

    def _slot(self, filler: Name | Number, word: str) -> list[Token]:
        edit = self._edit(filler, "word")
        text = edit.value if edit else filler.english
        before, after = word[: word.index("{")], word[word.index("}") + 1 :]
        return self._words(before + text + after, filler, "num", edit.error if edit else -1)

    # verbs ------------------------------------------------------------------------------

    def _chain(
        self, c: Clause, lemma: str, person: str, passive: bool, question: bool
    ) -> tuple[list[Token], list[Token]]:
        """Return the finite verb (with negation) and the rest of the verb group."""
        edit = self._edit(c, "verb")
        slot, error = (edit.slot, edit.error) if edit else ("", -1)
        neg, tense, modal = c.neg, c.tense, c.modal
        if slot == "neg":
            neg = "" if neg else "nicht"
        if slot == "tense":
            tense = edit.value
        elif self._shifted and tense != "plup":
            tense = {"fut": "would", "perf": self.style.pick(("past", "plup"))}.get(tense, "past")
        core = ["be", lex.english_verb(lemma, "pp")] if passive else [lemma]
        inflected, aux, rest = core[0], "", core[1:]
        auxiliary = inflected == "be"
        if modal and slot == "modal":
            aux, rest = edit.value, [*core]
        elif modal:
            positive, negative = _MODAL_EN[(modal, tense == "past")]
            choice = self.style.pick(negative if neg in ("nicht", "noch nicht") else positive)
            if choice.startswith("+"):
                words = choice[1:].split()
                inflected, rest = words[0], [*words[1:], "to", *core]
                auxiliary = inflected == "be"
                tense = "past" if tense == "past" else "pres"
            else:
                aux, rest = choice.removesuffix("not").strip(), [*core]
        elif tense in ("fut", "would"):
            aux, rest = "will" if tense == "fut" else "would", [*core]
        elif tense in ("perf", "plup"):
            simple = (
                self.informal
                or c.passive
                or any(a.kind == "time" for a in c.adjuncts)
                or self.style.pick((True, False))
            )
            if tense == "plup" or neg == "noch nicht" or self.instructions or not simple:
                rest = [lex.english_verb(core[0], "pp"), *core[1:]]
                inflected, auxiliary = "have", True
                tense = "pres" if tense == "perf" else "past"
            else:
                tense = "past"
        if aux:
            finite = aux
        elif (question or neg in ("nicht", "noch nicht")) and not auxiliary:
            rest = [inflected, *rest]
            inflected = "do"
            finite = lex.english_verb("do", "past" if tense == "past" else "3s" if person == "3s" else "base")
        else:
            finite = self._finite(inflected, tense, person)
        mark = error if slot in ("tense", "modal") or (slot == "neg" and not neg) else -1
        first = [Token(finite, c.id, "verb", mark)]
        following = [Token(w, c.id, "verb", mark) for w in rest]
        if slot == "form":
            self._wrong_form(first[0], following, inflected, bool(aux), person, error)
        if neg in ("nicht", "noch nicht"):
            first = self._negated(first[0], c, error if slot == "neg" else -1)
        elif neg == "nie":
            first = (
                [*first, Token("never", c.id, "neg")] if (aux or auxiliary) else [Token("never", c.id, "neg"), *first]
            )
        return first, following

    @staticmethod
    def _finite(lemma: str, tense: str, person: str) -> str:
        if lemma == "be":
            return _be(tense, person)
        if tense == "past":
            return lex.english_verb(lemma, "past")
        return lex.english_verb(lemma, "3s" if person == "3s" else "base")

    @staticmethod
    def _wrong_form(first: Token, rest: list[Token], lemma: str, aux: bool, person: str, error: int) -> None:
        """Break the form of the verb: agreement, or the form after an auxiliary."""
        swap = {"is": "are", "are": "is", "am": "is", "was": "were", "were": "was", "has": "have", "have": "has"}
        target = first
        if aux:
            target = rest[0]
            target.text = "to " + target.text
        elif lemma == "do":
            target = rest[0]
            target.text = (
                lex.english_verb(target.text, "past")
                if lex.english_verb(target.text, "past") != target.text
                else "to " + target.text
            )
        elif first.text in swap:
            first.text = swap[first.text]
        elif first.text == "had":
            first.text = "has"
        elif first.text == lex.english_verb(lemma, "3s"):
            first.text = lemma
        elif first.text == lemma:
            first.text = lex.english_verb(lemma, "3s")
        else:
            first.text = ("have " if person == "3s" else "has ") + lex.english_verb(lemma, "pp")
        target.error = error

    def _negated(self, finite: Token, c: Clause, error: int) -> list[Token]:
        if self.informal and finite.text not in ("am", "may") and self.style.pick((True, False)):
            short = _NT.get(finite.text, finite.text + "n't")
            return [Token(short, c.id, "neg", error if error >= 0 else finite.error)]
        if finite.text == "can":
            return [Token("cannot", c.id, "neg", error if error >= 0 else finite.error)]
        return [finite, Token("not", c.id, "neg", error)]

    # clauses ----------------------------------------------------------------------------

    def clause(
        self, c: Clause, *, gap: str = "", person: str = "3s", infinitive: bool = False, nested: bool = False
    ) -> list[Token]:
        """Return the tokens of a clause; ``nested`` in another."""
        verb_edit = self._edit(c, "verb")
        options = c.verb.english
        passive = c.passive
        if passive:
            options = [o for o in options if "^" in o or " " not in o]
        phrase = verb_edit.value if verb_edit and verb_edit.slot == "lex" else self.style.pick(options)
        lemma, _, tail = phrase.lstrip(":").partition(" ")
        patient, agent = c.acc, c.subject
        swapped = self._may_passivise(c, gap, infinitive, tail) and not verb_edit and self.style.chance(0.25)
        subject_np = c.subject
        if swapped:
            passive, subject_np, patient = True, c.acc, None
        if c.verb.frame == "S":
            subject_np, patient = c.dat, c.subject
        subject: list[Token] = []
        if subject_np and not c.elided and gap != "subject" and not infinitive and c.mood != "imp":
            subject, person = self.np(subject_np, "nom")
        elif subject_np and gap != "subject":
            person = self._agreement(subject_np)
        first, rest = self._verb(c, lemma, person, passive, infinitive)
        if verb_edit and verb_edit.slot == "lex":
            main = rest or [t for t in first if t.kind == "verb"] or first
            main[-1].error = verb_edit.error
        middle = self._objects(c, tail, patient if gap != "object" else None, verb_edit)
        return self._assemble(c, subject, first, rest, middle, agent if swapped else None, nested or bool(gap))

    def _may_passivise(self, c: Clause, gap: str, infinitive: bool, tail: str) -> bool:
        plain = not (gap or infinitive or tail or c.passive or c.elided or c.modal or c.mood != "decl" or c.neg)
        frame = c.verb.frame == "a" and c.acc is not None and c.subject is not None and c.id not in self._active
        squeezed = any(self._edit(a, "all", "place") for a in c.adjuncts)
        return plain and frame and not c.acc.ref and not c.subject.ref and not squeezed

    def _agreement(self, np: NP) -> str:
        """Return the person of a subject that is not spelled out."""
        if np.ref:
            return "2p" if np.ref.kind else f"{np.ref.person}{'p' if np.ref.person == 2 else np.ref.number}"
        if np.noun and lex.english_noun(np.noun.english[0])[2]:
            return "3p"
        return f"3{np.number}"

    def _verb(
        self, c: Clause, lemma: str, person: str, passive: bool, infinitive: bool
    ) -> tuple[list[Token], list[Token]]:
        if infinitive:
            words = self.style.pick(("to", "in order to"))
            return self._words(words, c, "to"), [Token(lemma, c.id, "verb")]
        if c.mood == "imp":
            edit = self._edit(c, "verb", "neg")
            error = edit.error if edit else -1
            if (c.neg and not edit) or (edit and not c.neg):
                lead = "never" if c.neg == "nie" else self.style.pick(("do not", "don't"))
                return self._words(lead, c, "neg", error), [Token(lemma, c.id, "verb")]
            return [Token(lemma, c.id, "verb", error)], []
        return self._chain(c, lemma, person, passive, c.mood in ("yn", "wh"))

    def _objects(self, c: Clause, tail: str, patient: NP | None, verb_edit: Edit | None) -> list[Token]:
        """Return particle, objects, predicate and measure."""
        error = verb_edit.error if verb_edit and verb_edit.slot == "lex" else -1
        negated = c.neg in ("nicht", "noch nicht") and not (verb_edit and verb_edit.slot == "neg")
        acc = self.np(patient, "acc", negated=negated)[0] if patient else []
        dat = self.np(c.dat, "acc")[0] if c.dat and c.verb.frame != "S" else []
        prep = self.np(c.prep, "acc")[0] if c.prep else []
        words = self._words(tail, c, "verb", error)
        if c.verb.valency == "da":
            if acc and dat and (patient.ref or (not c.dat.ref and self.style.chance(0.5))):
                return [*words, *acc, Token("to", c.id, "prep"), *dat]
            return [*words, *dat, *acc]
        before: list[Token] = []
        after: list[Token] = []
        seen = False
        for word in words:
            if word.text == "_":
                seen = True
            elif word.text.startswith("^"):
                word.text = word.text[1:]
                (after if patient is not None and patient.ref else before).append(word)
            else:
                (after if seen else before).append(word)
        out = [*before, *(acc or dat), *after, *prep]
        if c.measure:
            out += self.adjunct(c.measure)
        for predicate in c.predicates:
            out += self._predicate(predicate)
        return out

    def _predicate(self, predicate: Predicate) -> list[Token]:
        gap = self._dropped(predicate)
        if gap:
            return gap
        words = self._lexical(predicate, predicate.adjective.english, "adj")
        spelling = self._edit(predicate, "word", "spell")
        if spelling:
            words = misspell(words, spelling)
        degree = (
            self._words(self.style.pick(predicate.english_degree), predicate, "degree")
            if predicate.english_degree
            else []
        )
        joint = []
        if predicate.joint:
            joint = self._words(self.style.pick(lex.conjunctions()[predicate.joint][0]), predicate, "conj")
            joint = ([Token(",")] if predicate.joint == "aber" else []) + joint
        return [*joint, *degree, *words]

    def _assemble(
        self, c: Clause, subject: list[Token], first: list[Token], rest: list[Token], middle: list[Token],
        agent: NP | None, nested: bool,
    ) -> list[Token]:  # fmt: skip
        """Put the parts of a clause in order."""
        lead: list[Token] = []
        ends: dict[str, list[Token]] = {}
        squeezed: list[Token] = []
        inverted = c.mood in ("yn", "wh")
        for a in c.adjuncts:
            tokens = self.adjunct(a)
            awkward = self._edit(a, "all", "place")
            if tokens[0].kind == "gap":
                ends.setdefault(a.kind, []).extend(tokens)
            elif awkward:
                squeezed += [_marked(t, awkward.error) for t in tokens]
            elif (
                a.kind == "manner" and len(tokens) == 1 and not inverted and subject and self.style.pick((False, True))
            ):
                first, rest = self._insert_adverb(first, rest, tokens)
            elif a.kind in ("comment", "according") and (subject or c.mood == "yn"):
                early = tokens[0].text not in ("probably", "presumably")
                if a.kind == "comment" and not inverted and len(tokens) == 1 and self.style.pick((not early, early)):
                    first, rest = self._insert_adverb(first, rest, tokens)
                else:
                    lead += tokens if nested else [*tokens, Token(",", kind="comma")]
            elif a.kind == "wh" or (a.kind == "only" and not subject):
                lead += tokens
            elif tokens[0].text in ("currently", "recently") and subject and not (inverted or c.neg):
                first, rest = self._insert_adverb(first, rest, tokens)
            elif not inverted and subject and not nested and self._fronted(c, a):
                comma = self.style.pick((True, False)) or any(b.kind == "comment" for b in c.adjuncts)
                lead += tokens + ([Token(",", kind="comma")] if comma else [])
            else:
                ends.setdefault(a.kind, []).extend(tokens)
        if agent:
            ends["agent"] = [Token("by", agent.id, "prep"), *self.np(agent, "acc")[0]]
        kinds = ("agent", "manner", "with", "place", "time", "because", "comment", "according", "only")
        tail = [t for kind in kinds for t in ends.get(kind, [])]
        if c.neg == "noch nicht" and not (self._edit(c, "verb", "neg")):
            tail.append(Token("yet", c.id, "neg"))
        core = self._order(c, [*subject], first, rest, squeezed, middle, tail, inverted)
        added = self._edit(c, "add")
        if added:
            core += self._words(added.value, c, "added", added.error)
        core = [*lead, *core]
        if c.complement:
            core += self._complement(c)
        if c.before:
            sub = self.sub(c.before)
            if lead or not subject or self.style.pick((True, False)):
                core = [*sub, Token(",", kind="comma"), *core]
            else:
                core += sub
        for sub in c.after:
            tokens = self.sub(sub)
            plain = (
                subject and not (lead or nested or c.before or c.complement) and len(c.after) == 1 and c.mood == "decl"
            )
            if plain and sub.conj in _MOVABLE and tokens[0].text and self.style.chance(0.3):
                core = [*tokens, Token(",", kind="comma"), *core]
            else:
                core += (
                    [Token(",", kind="comma")] if sub.conj in ("obwohl", "sodass") and tokens[0].text else []
                ) + tokens
        return core

    def _fronted(self, c: Clause, a: Adjunct) -> bool:
        """Return whether an adjunct opens the English clause."""
        if a is c.front:
            return a.kind in ("time", "place", "because") and self.style.pick((True, False))
        return a.kind == "time" and c.mood == "decl" and not c.before and self.style.chance(0.25)

    def _order(self, c, subject, first, rest, squeezed, middle, tail, inverted) -> list[Token]:
        """Return subject, verb and objects in English order, or in German order if an edit says so."""
        edit = self._edit(c, "verb", "order")
        if inverted:
            return [*first[:1], *subject, *first[1:], *rest, *middle, *tail]
        if edit:
            late = rest or first
            early = first if rest else []
            return [*subject, *early, *squeezed, *middle, *tail, *(_marked(t, edit.error) for t in late)]
        return [*subject, *first, *rest, *squeezed, *middle, *tail]

    @staticmethod
    def _insert_adverb(first: list[Token], rest: list[Token], adverb: list[Token]) -> tuple[list[Token], list[Token]]:
        """Put an adverb before the verb, or after its first auxiliary."""
        follows = rest and rest[0].text not in ("to", "able", "allowed", "supposed")
        if follows or (not rest and first[0].text in ("is", "are", "was", "were", "am")):
            return [*first, *adverb], rest
        return [*adverb, *first], rest

    def _conjunction(self, sub: Sub) -> list[Token]:
        edit = self._edit(sub, "word", "lex")
        if edit:
            return self._words(edit.value, sub, "conj", edit.error)
        return self._words(self.style.pick(lex.conjunctions()[sub.conj][0]), sub, "conj")

    def sub(self, sub: Sub) -> list[Token]:
        """Return the tokens of a subordinate clause."""
        gap = self._dropped(sub)
        if gap:
            return gap
        if sub.conj == "um":
            return self.clause(sub.clause, infinitive=True)
        return [*self._conjunction(sub), *self.clause(sub.clause, nested=True)]

    def _complement(self, c: Clause) -> list[Token]:
        """Return the clause that a verb of saying takes; after a past tense its tense shifts."""
        sub = c.complement
        lead = self._conjunction(sub)
        if sub.conj == "dass" and not self._edit(sub, "word") and self.style.chance(0.7):
            lead = []
        self._shifted = c.tense in ("past", "perf") and self.style.pick((True, False))
        tokens = [*lead, *self.clause(sub.clause, nested=True)]
        self._shifted = False
        return tokens

    def sentence(self, s: Sentence) -> list[Token]:
        """Return the tokens of a sentence, without the final mark."""
        tokens: list[Token] = []
        pairs = zip(s.clauses, s.clauses[1:], strict=False)
        self._active = {before.id for (_, before), (_, after) in pairs if after.elided}
        if s.opener:
            tokens += [*self._words(self.style.pick(s.opener[1]), s, "opener"), Token(",", kind="comma")]
        for conj, clause in s.clauses:
            gap = self._dropped(clause)
            if gap:
                tokens += gap
                continue
            if conj == ";":
                tokens.append(Token(";", glued=True))
            elif conj:
                words = self._words(self.style.pick(lex.conjunctions()[conj][0]), clause, "conj")
                comma = conj != "und" or (clause.mood != "imp" and not clause.elided and self.style.pick((True, False)))
                if conj == "denn" and words[0].text == "because":
                    comma = False
                tokens += ([Token(",", kind="comma")] if comma else []) + words
            tokens += self.clause(clause)
        return tokens


def _marked(token: Token, error: int, text: str | None = None) -> Token:
    """Return the token marked with an error, unless it shows one already."""
    token.text = token.text if text is None else text
    token.error = token.error if token.error >= 0 else error
    return token


def misspell(tokens: list[Token], edit: Edit) -> list[Token]:
    """Misspell the longest word: ``edit.value`` in [0, 1) says how and where."""
    target = max(tokens, key=lambda t: len(t.text))
    target.error = edit.error
    word, u = target.text, edit.value
    if edit.slot == "cap":
        target.text = word[0].upper() + word[1:]
        return tokens
    place = 1 + int(u * 1000) % max(len(word) - 2, 1)
    way = int(u * 3)
    if way == 0 and len(word) > 3 and word[place] != word[place + 1]:
        target.text = word[:place] + word[place + 1] + word[place] + word[place + 2 :]
    elif way == 1 and len(word) > 4 and word[place] != word[place - 1]:
        target.text = word[:place] + word[place + 1 :]
    else:
        target.text = word[:place] + word[place] + word[place:]
    return tokens


def spell_out(tokens: Sequence[Token], end: str) -> tuple[str, dict[int, tuple[int, int]]]:
    """Join English tokens to a text; return it with the character span of each error.

    An error that left something out has an empty span where the words are missing.
    """
    text = ""
    spans: dict[int, tuple[int, int]] = {}
    words = [t for t in tokens if t.text and t.text != ","]
    following = {id(a): b.text for a, b in zip(words, words[1:], strict=False)}
    comma: Token | None = None
    for token in tokens:
        if token.text == ",":
            comma = token if text else None
            continue
        if token.text:
            if token.text == ";":
                comma = None
            if comma is not None:
                text, comma = _append(text, ",", comma, spans), None
            word = lex.indefinite_article(following.get(id(token), "x")) if token.kind == "a" else token.text
            text += "" if token.glued or not text else " "
            text = _append(text, word, token, spans)
        elif token.error >= 0:
            spans[token.error] = (len(text), len(text))
    if comma is not None and comma.error >= 0:
        text = _append(text, ",", comma, spans)
    return text[:1].upper() + text[1:] + end, spans


def _append(text: str, word: str, token: Token, spans: dict[int, tuple[int, int]]) -> str:
    if token.error >= 0:
        start, _ = spans.get(token.error, (len(text), 0))
        spans[token.error] = (start, len(text) + len(word))
    return text + word


def english_words(sentence: Sentence) -> list[str]:
    """Return the words of the plainest English wording."""
    style = Style(lambda: 1.0, 0.0)
    return spell_out(English(style, {}, sentence.domain).sentence(sentence), sentence.end)[0].split()
