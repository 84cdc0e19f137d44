"""English: spells trees out, leaving the choice among correct wordings open, and what goes wrong.

`English` is told which wording to choose and which nodes go wrong by an oracle, the methods `pick`, `chance` and
`edit` of its two kinds: `Plain` takes the first wording of everything and makes no error; `compiling.Compiler` follows
all of them. A faulty translation is inflected and ordered like any other.

Parts of a sentence are built by `block`, so that the compiler can follow the choices of one part at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import lexicon as lex
from grammar import NP, Adjunct, Attribute, Clause, Name, Number, Predicate, Ref, Sentence, Sub


@dataclass(slots=True)
class Token:
    """An English token: its text, its role, the error it shows, and what is special about it.

    ``error`` is whatever the oracle calls a fault, None without. An empty text marks a gap.
    """

    text: str
    kind: str = ""
    error: Any = None
    glued: bool = False


@dataclass(frozen=True, slots=True)
class Edit:
    """A fault in one node: which part goes wrong, how, and what the oracle calls it."""

    slot: str
    value: Any
    error: Any


@dataclass
class Block:
    """A part that is built: its pieces, lists of tokens, and facts about it that its surroundings ask for."""

    pieces: tuple[list[Any], ...]
    facts: Any = None

    @property
    def tokens(self) -> list[Any]:
        """The tokens of a part of one piece."""
        (tokens,) = self.pieces
        return tokens

    def know(self, fact: Callable[[Any], Any]) -> Any:
        """Return a function of the facts."""
        return fact(self.facts)


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
_NOT = ("nicht", "noch nicht")
_BE = {"pres": {"1s": "am", "3s": "is"}, "past": {"1s": "was", "3s": "was"}}
_PRONOUN_EN = {
    "1s": "I me", "2s": "you you", "1p": "we us", "p": "they them", "m": "he him", "f": "she her", "n": "it it",
    "polite": "you you",
}  # fmt: skip
_POSSESSIVE_EN = {
    "1s": "my", "2s": "your", "1p": "our", "p": "their", "m": "his", "f": "her", "n": "its", "polite": "your",
}  # fmt: skip
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


def _person(ref: Ref) -> str:
    return "2p" if ref.kind else f"{ref.person}{'p' if ref.person == 2 else ref.number}"


class English:
    """Spells trees out in English, as its oracle says."""

    def __init__(self, sentence: Sentence) -> None:
        self.tree = sentence
        self.informal = sentence.domain in ("reviews", "conversation")
        self.instructions = sentence.domain == "manuals"
        pairs = zip(sentence.clauses, sentence.clauses[1:], strict=False)
        self._active = {before.id for (_, before), (_, after) in pairs if after.elided}
        self._shifted = False

    # the oracle -------------------------------------------------------------------------

    def pick(self, node: Any, label: str, options: Sequence[Any]) -> Any:
        """Return one of ``options``, the first of which is plain; ``label`` says which choice of the node."""
        raise NotImplementedError

    def chance(self, node: Any, label: str, probability: float) -> bool:
        """Return whether a wording is chosen that has this probability at full freedom."""
        raise NotImplementedError

    def edit(self, node: Any, part: str, *slots: str) -> Edit | None:
        """Return what goes wrong in this part of a node, if it is one of ``slots``; any without."""
        raise NotImplementedError

    def fault(self, node: Any, part: str, *slots: str) -> Any:
        """Return what the oracle calls the error in this part of a node, None without."""
        edit = self.edit(node, part, *slots)
        return edit.error if edit else None

    def block(self, key: tuple, build: Callable[[], Block]) -> Block:
        """Build a part of the sentence; the same key means the same part."""
        raise NotImplementedError

    # small helpers ----------------------------------------------------------------------

    def _dropped(self, node: Any) -> list[Token] | None:
        """Return the empty token that marks a gap, if ``node`` is left out."""
        error = self.fault(node, "all", "drop")
        return None if error is None else [Token("", "gap", error)]

    @staticmethod
    def _words(text: str, kind: str, error: Any = None) -> list[Token]:
        return [Token(w, kind, error) for w in text.split()]

    def _adjective(self, node: Attribute | Predicate) -> list[Token]:
        """Choose a wording of an adjective, or the wrong one that an edit asks for."""
        edit = self.edit(node, "word")
        lexical = edit is not None and edit.slot == "lex"
        text = edit.value if lexical else self.pick(node, "word", node.adjective.english)
        words = self._words(text, "adj", edit.error if lexical else None)
        return misspell(words, edit) if edit and edit.slot == "spell" else words

    def _conj(self, node: Any, conj: str) -> list[Token]:
        return self._words(self.pick(node, "conj", lex.conjunctions()[conj][0]), "conj")

    # noun phrases -----------------------------------------------------------------------

    def np(self, np: NP, case: str, *, negated: bool = False) -> Block:
        """Return a noun phrase; its facts are the person it agrees with and the last letter of a name or noun."""
        return self.block((np.id, "np", case != "nom", negated), lambda: self._np(np, case, negated))

    def _np(self, np: NP, case: str, negated: bool) -> Block:
        if np.ref:
            edit = self.edit(np, "word")
            ref = edit.value if edit else np.ref
            word = pronoun_english(ref, case)
            return Block(([Token(word, "pron", edit.error if edit else None)],), (_person(ref), ""))
        if np.name:
            tokens = self._name(np)
            return Block((tokens,), ("3s", tokens[-1].text[-1:] if isinstance(tokens[-1], Token) else ""))
        return self._common(np, negated)

    def _name(self, np: NP) -> list[Token]:
        edit = self.edit(np.name, "word")
        tokens = self._words(edit.value if edit else np.name.english, "name", edit.error if edit else None)
        if np.apposition:
            gap = self._dropped(np.apposition)
            if gap:
                return tokens + gap
            inner = self.np(np.apposition, "nom").tokens
            lead = "" if np.apposition.det == "poss" else self.pick(np.apposition, "lead", ("the", ""))
            tokens += [Token(","), *self._words(lead, "det"), *inner, Token(",")]
        return tokens

    def _determiner(self, np: NP, number: str, bare: bool, negated: bool) -> list[Token]:
        det = np.det
        if negated and det in ("indef", "zero") and not np.count:
            single = number == "s" and not bare
            return [Token("a" if single else "any", "a" if single else "det")]
        if det == "zero" or (det == "indef" and number == "p"):
            return []
        if det == "every" and number == "p":
            det = "def"
        if det == "indef":
            return [] if bare else [Token("a", "a")]
        if det == "poss":
            edit = self.edit(np, "det", "owner")
            owner = edit.value if edit else np.owner
            return [Token(_POSSESSIVE_EN[_english_owner(owner)], "det", edit.error if edit else None)]
        if det == "def" and bare:
            return []
        options = ("these",) if det == "dem" and number == "p" else _DETERMINERS_EN[det]
        return self._words(self.pick(np, "det", options), "det")

    def _common(self, np: NP, negated: bool) -> Block:
        number = np.number
        edit = self.edit(np, "word")
        error = edit.error if edit else None
        slot = edit.slot if edit else ""
        if slot == "number":
            number = "s" if number == "p" else "p"
        entry = edit.value if slot == "lex" else self.pick(np, "noun", np.noun.english)
        singular, plural, takes_plural, bare = lex.english_noun(entry)
        person = "3p" if number == "p" or takes_plural else "3s"
        word = plural if number == "p" else singular
        if slot == "german":
            word = np.noun.form("nom", number)
        head = self._words(word, "noun", error)
        if slot in ("spell", "cap"):
            head = misspell(head, edit)
        bare = bare and number == "s" and not (np.genitive or np.relative)
        tokens = self._determiner(np, "p" if takes_plural else number, bare, negated)
        article = self.fault(np, "det", "article")
        if article is not None and tokens:
            head[0].error = article if head[0].error is None else head[0].error
            tokens = []
        if np.count:
            tokens += self.block((np.id, "count"), lambda: self._count(np)).tokens
        tokens += self.block((np.id, "added"), lambda: self._added(np, "adjective", "adj")).tokens
        for attribute in np.adjectives:
            tokens += self.block((attribute.id,), lambda a=attribute: self._attribute(a)).tokens
        tokens += head
        if np.genitive:
            tokens = self._genitive(np, tokens)
        if np.relative:
            gap = self._dropped(np.relative)
            tokens += gap or self._relative(np, person)
        return Block((tokens,), (person, head[-1].text[-1]))

    def _added(self, node: Any, slot: str, kind: str) -> Block:
        edit = self.edit(node, "add", slot)
        return Block((self._words(edit.value, kind, edit.error) if edit else [],))

    def _attribute(self, attribute: Attribute) -> Block:
        return Block((self._dropped(attribute) or self._adjective(attribute),))

    def _count(self, np: NP) -> Block:
        edit = self.edit(np.count, "word")
        tokens = self._words(self.pick(np.count, "approx", np.approx[1]), "approx") if np.approx else []
        text, error = (edit.value, edit.error) if edit else (np.count.english, None)
        return Block(([*tokens, Token(text, "num", error)],))

    def _genitive(self, np: NP, tokens: list[Token]) -> list[Token]:
        owner = self.np(np.genitive, "nom")
        gap = self._dropped(np.genitive)
        if gap:
            return tokens + gap
        plain = np.genitive.name or not (np.genitive.adjectives or np.genitive.count)
        swap = plain and np.det == "def" and tokens and tokens[0].text == "the" and np.genitive.number == "s"
        if swap and self.chance(np, "owner", 0.5) and owner.know(lambda facts: facts[1] != "s"):
            return [*owner.tokens, Token("'s", "owner", glued=True), *tokens[1:]]
        return [*tokens, Token("of", "prep"), *owner.tokens]

    def _relative(self, np: NP, person: str) -> list[Token]:
        rel = np.relative
        human = np.noun.human
        if rel.gap == "subject":
            options = ("who", "that") if human else ("that", "which")
        else:
            options = ("whom", "that", "") if human else ("that", "which", "")
        lead = self._words(self.pick(rel, "word", options), "rel")
        return lead + self.clause(rel.clause, gap=rel.gap, person=person).tokens

    # adjuncts ---------------------------------------------------------------------------

    def adjunct(self, adjunct: Adjunct) -> Block:
        """Return an adjunct; its facts are whether it is a gap, its length and its first word."""
        return self.block((adjunct.id,), lambda: self._adjunct(adjunct))

    def _adjunct(self, adjunct: Adjunct) -> Block:
        gap = self._dropped(adjunct)
        if gap:
            return Block((gap,), (True, 1, ""))
        edit = self.edit(adjunct, "word")
        slot = edit.slot if edit else ""
        template = edit.value if slot == "lex" else self.pick(adjunct, "template", adjunct.english)
        tokens: list[Token] = []
        for word in template.split():
            if word == "{np}":
                tokens += self.np(adjunct.np, "acc").tokens
            elif "{" in word:
                key = word[word.index("{") + 1 : word.index("}")]
                tokens += self._slot(adjunct.slots[key], word)
            else:
                tokens.append(Token(word, "adjunct", edit.error if slot == "lex" else None))
        if slot == "prep":
            wrong = edit.value.get(tokens[0].text)
            tokens[0] = Token(wrong, "prep", edit.error) if wrong else _marked(tokens[0], edit.error, "of")
        return Block((tokens,), (False, len(tokens), tokens[0].text))

    def _slot(self, filler: Name | Number, word: str) -> list[Token]:
        before, after = word[: word.index("{")], word[word.index("}") + 1 :]

        def build() -> Block:
            edit = self.edit(filler, "word")
            text = edit.value if edit else filler.english
            return Block((self._words(before + text + after, "num", edit.error if edit else None),))

        return self.block((filler.id, word), build).tokens

    # verbs ------------------------------------------------------------------------------

    def _chain(self, c: Clause, lemma: str, person: str, passive: bool) -> tuple[list[Token], list[Token]]:
        """Return the finite verb (with negation) and the rest of the verb group."""
        question = c.mood in ("yn", "wh")
        edit = self.edit(c, "verb", "neg", "tense", "modal", "form")
        slot, error = (edit.slot, edit.error) if edit else ("", None)
        neg, tense, modal = c.neg, c.tense, c.modal
        if slot == "neg":
            neg = "" if neg else "nicht"
        if slot == "tense":
            tense = edit.value
        elif self._shifted and tense != "plup":
            tense = {"fut": "would", "perf": self.pick(c, "shifted perfect", ("past", "plup"))}.get(tense, "past")
        core = ["be", lex.english_verb(lemma, "pp")] if passive else [lemma]
        inflected, aux, rest = core[0], "", core[1:]
        auxiliary = inflected == "be"
        if modal and slot == "modal":
            aux, rest = edit.value, [*core]
        elif modal:
            positive, negative = _MODAL_EN[(modal, tense == "past")]
            choice = self.pick(c, "modal", negative if neg in _NOT else positive)
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
            dated = any(a.kind == "time" for a in c.adjuncts)
            simple = self.informal or c.passive or dated or self.pick(c, "simple past", (True, False))
            if tense == "plup" or neg == "noch nicht" or self.instructions or not simple:
                rest = [lex.english_verb(core[0], "pp"), *core[1:]]
                inflected, auxiliary = "have", True
                tense = "pres" if tense == "perf" else "past"
            else:
                tense = "past"
        if aux:
            finite = aux
        elif (question or neg in _NOT) and not auxiliary:
            rest = [inflected, *rest]
            inflected = "do"
            finite = lex.english_verb("do", "past" if tense == "past" else "3s" if person == "3s" else "base")
        else:
            finite = self._finite(inflected, tense, person)
        mark = error if slot in ("tense", "modal") or (slot == "neg" and not neg) else None
        first = [Token(finite, "verb", mark)]
        following = [Token(w, "verb", mark) for w in rest]
        if slot == "form":
            self._wrong_form(first[0], following, inflected, bool(aux), person, error)
        if neg in _NOT:
            first = self._negated(first[0], c, error if slot == "neg" else None)
        elif neg == "nie":
            never = Token("never", "neg")
            first = [*first, never] if aux or auxiliary else [never, *first]
        return first, following

    @staticmethod
    def _finite(lemma: str, tense: str, person: str) -> str:
        if lemma == "be":
            return _be(tense, person)
        if tense == "past":
            return lex.english_verb(lemma, "past")
        return lex.english_verb(lemma, "3s" if person == "3s" else "base")

    @staticmethod
    def _wrong_form(first: Token, rest: list[Token], lemma: str, aux: bool, person: str, error: Any) -> None:
        """Break the form of the verb: agreement, or the form after an auxiliary."""
        swap = {"is": "are", "are": "is", "am": "is", "was": "were", "were": "was", "has": "have", "have": "has"}
        target = first
        if aux:
            target = rest[0]
            target.text = "to " + target.text
        elif lemma == "do":
            target = rest[0]
            past = lex.english_verb(target.text, "past")
            target.text = past if past != target.text else "to " + target.text
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

    def _negated(self, finite: Token, c: Clause, error: Any) -> list[Token]:
        shown = error if error is not None else finite.error
        if self.informal and finite.text not in ("am", "may") and self.pick(c, "short", (True, False)):
            return [Token(_NT.get(finite.text, finite.text + "n't"), "neg", shown)]
        if finite.text == "can":
            return [Token("cannot", "neg", shown)]
        return [finite, Token("not", "neg", error)]

    # clauses ----------------------------------------------------------------------------

    def clause(
        self, c: Clause, *, gap: str = "", person: str = "3s", infinitive: bool = False, nested: bool = False
    ) -> Block:
        """Return a clause; ``nested`` in another."""
        key = (c.id, gap, person, infinitive, nested)
        return self.block(key, lambda: self._clause(c, gap, person, infinitive, nested))

    def _clause(self, c: Clause, gap: str, person: str, infinitive: bool, nested: bool) -> Block:
        phrase = self.block((c.id, "phrase"), lambda: self._phrase(c))
        tail = phrase.know(lambda text: text.lstrip(":").partition(" ")[2])
        passive, patient, agent = c.passive, c.acc, c.subject
        swapped = (
            self._may_passivise(c, gap, infinitive, tail)
            and self.fault(c, "verb") is None
            and self.chance(c, "passive", 0.25)
        )
        subject_np = c.subject
        if swapped:
            passive, subject_np, patient = True, c.acc, None
        if c.verb.frame == "S":
            subject_np, patient = c.dat, c.subject
        subject: list[Token] = []
        if subject_np and not c.elided and gap != "subject" and not infinitive and c.mood != "imp":
            found = self.np(subject_np, "nom")
            subject, person = found.tokens, found.know(lambda facts: facts[0])
        elif subject_np and gap != "subject":
            person = self._agreement(subject_np)
        verb = self.block(
            (c.id, "verb", passive, person, infinitive),
            lambda: self._verb(c, phrase, person, passive, infinitive),
        )
        middle = self._objects(c, tail, patient if gap != "object" else None)
        return Block((self._assemble(c, subject, verb, middle, agent if swapped else None, nested or bool(gap)),))

    def _phrase(self, c: Clause) -> Block:
        """Choose the verb; its facts are its words."""
        edit = self.edit(c, "verb", "lex")
        options = [o for o in c.verb.english if not c.passive or "^" in o or " " not in o]
        return Block(((),), edit.value if edit else self.pick(c, "verb", options))

    def _may_passivise(self, c: Clause, gap: str, infinitive: bool, tail: str) -> bool:
        plain = not (gap or infinitive or tail or c.passive or c.elided or c.modal or c.mood != "decl" or c.neg)
        frame = c.verb.frame == "a" and c.acc is not None and c.subject is not None and c.id not in self._active
        named = plain and frame and not c.acc.ref and not c.subject.ref
        return named and all(self.fault(a, "all", "place") is None for a in c.adjuncts)

    def _agreement(self, np: NP) -> str:
        """Return the person of a subject that is not spelled out."""
        if np.ref:
            return _person(np.ref)
        if np.noun and lex.english_noun(np.noun.english[0])[2]:
            return "3p"
        return f"3{np.number}"

    def _verb(self, c: Clause, phrase: Block, person: str, passive: bool, infinitive: bool) -> Block:
        """Return the finite verb, what negates it, and the rest.

        The facts are whether there is a rest, and whether an adverb follows the first two.
        """
        lemma = phrase.know(lambda text: text.lstrip(":").partition(" ")[0])
        first, rest = self._group(c, lemma, person, passive, infinitive)
        error = self.fault(c, "verb", "lex")
        if error is not None:
            main = rest or [t for t in first if t.kind == "verb"] or first
            main[-1].error = error
        follows = rest[0].text not in ("to", "able", "allowed", "supposed") if rest else False
        follows = follows or (not rest and first[0].text in ("is", "are", "was", "were", "am"))
        return Block((first[:1], first[1:], rest), (bool(rest), follows))

    def _group(
        self, c: Clause, lemma: str, person: str, passive: bool, infinitive: bool
    ) -> tuple[list[Token], list[Token]]:
        if infinitive:
            return self._words(self.pick(c, "to", ("to", "in order to")), "to"), [Token(lemma, "verb")]
        if c.mood == "imp":
            error = self.fault(c, "verb", "neg")
            if bool(c.neg) == (error is None):
                lead = "never" if c.neg == "nie" else self.pick(c, "do not", ("do not", "don't"))
                return self._words(lead, "neg", error), [Token(lemma, "verb")]
            return [Token(lemma, "verb", error)], []
        return self._chain(c, lemma, person, passive)

    def _objects(self, c: Clause, tail: str, patient: NP | None) -> list[Token]:
        """Return particle, objects, predicate and measure."""
        negated = patient is not None and c.neg in _NOT and self.fault(c, "verb", "neg") is None
        acc = self.np(patient, "acc", negated=negated).tokens if patient else []
        dat = self.np(c.dat, "acc").tokens if c.dat and c.verb.frame != "S" else []
        prep = self.np(c.prep, "acc").tokens if c.prep else []
        words = self._words(tail, "verb", self.fault(c, "verb", "lex") if tail else None)
        if c.verb.valency == "da":
            if acc and dat and (patient.ref or (not c.dat.ref and self.chance(c, "to", 0.5))):
                return [*words, *acc, Token("to", "prep"), *dat]
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
            out += self.adjunct(c.measure).tokens
        for predicate in c.predicates:
            out += self.block((predicate.id,), lambda p=predicate: self._predicate(p)).tokens
        return out

    def _predicate(self, predicate: Predicate) -> Block:
        gap = self._dropped(predicate)
        if gap:
            return Block((gap,))
        words = self._adjective(predicate)
        degree: list[Token] = []
        if predicate.english_degree:
            degree = self._words(self.pick(predicate, "degree", predicate.english_degree), "degree")
        joint = self._conj(predicate, predicate.joint) if predicate.joint else []
        return Block(([*([Token(",")] if predicate.joint == "aber" else []), *joint, *degree, *words],))

    def _assemble(
        self, c: Clause, subject: list[Token], verb: Block, middle: list[Token], agent: NP | None, nested: bool
    ) -> list[Token]:
        """Put the parts of a clause in order."""
        lead: list[Token] = []
        ends: dict[str, list[Token]] = {}
        squeezed: list[Token] = []
        before: list[Token] = []
        after: list[Token] = []
        inverted = c.mood in ("yn", "wh")

        def insert(adverb: list[Token]) -> None:
            """Put an adverb before the verb, or after its first auxiliary."""
            if verb.know(lambda facts: facts[1]):
                after.extend(adverb)
            else:
                before[:0] = adverb

        for a in c.adjuncts:
            part = self.adjunct(a)
            tokens, short = part.tokens, part.know(lambda facts: facts[1] == 1)
            awkward = self.fault(a, "all", "place")
            if part.know(lambda facts: facts[0]):
                ends.setdefault(a.kind, []).extend(tokens)
            elif awkward is not None:
                squeezed += [_marked(t, awkward) for t in tokens]
            elif a.kind == "manner" and short and not inverted and subject and self.pick(a, "early", (False, True)):
                insert(tokens)
            elif a.kind in ("comment", "according") and (subject or c.mood == "yn"):
                early = part.know(lambda facts: facts[2] not in ("probably", "presumably"))
                if a.kind == "comment" and not inverted and short and self.pick(a, "inside", (not early, early)):
                    insert(tokens)
                else:
                    lead += tokens if nested else [*tokens, Token(",", "comma")]
            elif a.kind == "wh" or (a.kind == "only" and not subject):
                lead += tokens
            elif part.know(lambda facts: facts[2] in ("currently", "recently")) and subject and not (inverted or c.neg):
                insert(tokens)
            elif not inverted and subject and not nested and self._fronted(c, a):
                comma = self.pick(a, "comma", (True, False)) or any(b.kind == "comment" for b in c.adjuncts)
                lead += tokens + ([Token(",", "comma")] if comma else [])
            else:
                ends.setdefault(a.kind, []).extend(tokens)
        if agent:
            ends["agent"] = [Token("by", "prep"), *self.np(agent, "acc").tokens]
        kinds = ("agent", "manner", "with", "place", "time", "because", "comment", "according", "only")
        tail = [t for kind in kinds for t in ends.get(kind, [])]
        if c.neg == "noch nicht" and self.fault(c, "verb", "neg") is None:
            tail.append(Token("yet", "neg"))
        core = self._order(c, subject, verb, before, after, squeezed, middle, tail)
        core += self.block((c.id, "added"), lambda: self._added(c, "clause", "added")).tokens
        core = [*lead, *core]
        if c.complement:
            core += self.block((c.id, "complement"), lambda: self._complement(c)).tokens
        if c.before:
            sub = self.sub(c.before).tokens
            if lead or not subject or self.pick(c, "before", (True, False)):
                core = [*sub, Token(",", "comma"), *core]
            else:
                core += sub
        for sub in c.after:
            part = self.sub(sub)
            whole = part.know(lambda whole: whole)
            plain = (
                subject and not (lead or nested or c.before or c.complement) and len(c.after) == 1 and c.mood == "decl"
            )
            if plain and sub.conj in _MOVABLE and whole and self.chance(sub, "moved", 0.3):
                core = [*part.tokens, Token(",", "comma"), *core]
            else:
                core += [Token(",", "comma")] if sub.conj in ("obwohl", "sodass") and whole else []
                core += part.tokens
        return core

    def _fronted(self, c: Clause, a: Adjunct) -> bool:
        """Return whether an adjunct opens the English clause."""
        if a is c.front:
            return a.kind in ("time", "place", "because") and self.pick(a, "front", (True, False))
        return a.kind == "time" and c.mood == "decl" and not c.before and self.chance(a, "front", 0.25)

    def _order(self, c, subject, verb, before, after, squeezed, middle, tail) -> list[Token]:
        """Return subject, verb and objects in English order, or in German order if an edit says so."""
        finite, negation, rest = verb.pieces
        if c.mood in ("yn", "wh"):
            return [*finite, *subject, *negation, *rest, *middle, *tail]
        first = [*before, *finite, *negation, *after]
        error = self.fault(c, "verb", "order")
        if error is not None:
            late, early = (rest, first) if verb.know(lambda facts: facts[0]) else (first, [])
            return [*subject, *early, *squeezed, *middle, *tail, *(_marked(t, error) for t in late)]
        return [*subject, *first, *rest, *squeezed, *middle, *tail]

    def _conjunction(self, sub: Sub) -> list[Token]:
        edit = self.edit(sub, "word")
        return self._words(edit.value, "conj", edit.error) if edit else self._conj(sub, sub.conj)

    def sub(self, sub: Sub) -> Block:
        """Return a subordinate clause; its fact is whether it is there."""
        return self.block((sub.id,), lambda: self._sub(sub))

    def _sub(self, sub: Sub) -> Block:
        gap = self._dropped(sub)
        if gap:
            return Block((gap,), False)
        if sub.conj == "um":
            return Block((self.clause(sub.clause, infinitive=True).tokens,), True)
        return Block(([*self._conjunction(sub), *self.clause(sub.clause, nested=True).tokens],), True)

    def _complement(self, c: Clause) -> Block:
        """Return the clause that a verb of saying takes; after a past tense its tense shifts."""
        sub = c.complement
        lead = self._conjunction(sub)
        if sub.conj == "dass" and self.fault(sub, "word") is None and self.chance(sub, "bare", 0.7):
            lead = []
        self._shifted = c.tense in ("past", "perf") and self.pick(c, "shifted", (True, False))
        tokens = [*lead, *self.clause(sub.clause, nested=True).tokens]
        self._shifted = False
        return Block((tokens,))

    def sentence(self) -> Block:
        """Return the sentence, without the final mark."""
        s = self.tree
        tokens: list[Token] = []
        if s.opener:
            tokens += [*self._words(self.pick(s, "opener", s.opener[1]), "opener"), Token(",", "comma")]
        for conj, clause in s.clauses:
            gap = self._dropped(clause)
            if gap:
                tokens += gap
                continue
            if conj == ";":
                tokens.append(Token(";", glued=True))
            elif conj:
                words = self._conj(clause, conj)
                comma = conj != "und" or (
                    clause.mood != "imp" and not clause.elided and self.pick(clause, "comma", (True, False))
                )
                if conj == "denn" and words[0].text == "because":
                    comma = False
                tokens += ([Token(",", "comma")] if comma else []) + words
            tokens += self.clause(clause).tokens
        return Block((tokens,))


class Plain(English):
    """The plain wording: the first of everything, without an error."""

    def pick(self, node: Any, label: str, options: Sequence[Any]) -> Any:
        """Return the first."""
        return options[0]

    def chance(self, node: Any, label: str, probability: float) -> bool:
        """Return no."""
        return False

    def edit(self, node: Any, part: str, *slots: str) -> Edit | None:
        """Return nothing."""
        return None

    def block(self, key: tuple, build: Callable[[], Block]) -> Block:
        """Build the part."""
        return build()


def english_words(sentence: Sentence) -> list[str]:
    """Return the words of the plain wording."""
    tokens = Plain(sentence).sentence().tokens
    return " ".join(t.text for t in tokens if t.text != "," and not t.glued).split()


def _marked(token: Any, error: Any, text: str | None = None) -> Any:
    """Return the token marked with an error, unless it shows one already."""
    token.text = token.text if text is None else text
    token.error = token.error if token.error is not None else error
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
