"""Documents of the teaching campaign: who and what a text is about, and the templates of its sentences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

import lexicon as lex
from english import english_words
from grammar import (
    COPULA,
    DU,
    ICH,
    NP,
    POLITE,
    WIR,
    Adjunct,
    Attribute,
    Clause,
    Name,
    Number,
    Predicate,
    Ref,
    Relative,
    Sentence,
    Sub,
    german,
    number_nodes,
)
from lexicon import Adjective, Noun, Verb, make_verb

from mtmeta.simulate._random import Draw
from mtmeta.simulate._sentences import LONGEST, SHORTEST

_DIGITS = "null ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf".split()
_DIGITS_EN = "zero one two three four five six seven eight nine ten eleven twelve".split()
_DEGREES = {
    "": (),
    "sehr": ("very", "really"),
    "ziemlich": ("quite", "rather"),
    "viel zu": ("far too", "much too"),
    "wirklich": ("really", "truly"),
    "etwas": ("a bit", "somewhat"),
}

#: Verbs and nouns that a template names.
V = {name: make_verb(*fields) for name, *fields in lex.tables()["scene verbs"]}
N = {fields[0]: lex.make_noun(fields) for fields in lex.tables()["scene nouns"]}


class Scene:
    """One document: a cast that recurs, and one method per sentence template.

    Template methods are named ``t_…``; ``TEMPLATES`` gives their weights.
    """

    domain = ""
    TEMPLATES: ClassVar[dict[str, float]] = {}

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self._pools: dict[str, list[Noun]] = {}
        self.last: Ref | None = None
        self.last_class = ""
        self.wordiness = draw.pick((0.05, 0.15, 0.3, 0.5, 0.7))
        self.city = self._place_name("cities")

    # -- sentences -----------------------------------------------------------------------

    def sentence(self) -> Sentence:
        """Return the next sentence; draw again until its length is within bounds.

        A template that does not fit the document returns None.
        """
        while True:
            sentence = self._template()
            while sentence.end == "." and len(sentence.clauses) < 4 and self.draw.chance(self.wordiness):
                sentence = self._joined(sentence, self._template())
            number_nodes(sentence)
            lengths = len(german(sentence).split()), len(english_words(sentence))
            if min(lengths) >= SHORTEST and max(lengths) <= LONGEST:
                self.last, self.last_class = _topic(sentence)
                return sentence

    def _template(self) -> Sentence:
        """Return a sentence of a template drawn by weight."""
        names = list(self.TEMPLATES)
        while True:
            name = self.draw.weighted(names, [self.TEMPLATES[n] for n in names])
            sentence = getattr(self, "t_" + name)()
            if sentence is not None:
                sentence.template, sentence.domain = f"{self.domain}.{name}", self.domain
                return sentence

    def _joined(self, first: Sentence, second: Sentence) -> Sentence:
        """Coordinate two sentences of the same mood; return the first alone where they differ."""
        moods = {c.mood for _, c in (*first.clauses, *second.clauses)}
        if len(moods) > 1 or second.opener or second.end != ".":
            return first
        used = {conj for conj, _ in (*first.clauses, *second.clauses)}
        known = ("und", ";") if moods == {"imp"} else ("und", "aber", ";")
        conj = self.draw.pick([c for c in known if c == ";" or c not in used])
        joined = [*first.clauses, (conj, second.clauses[0][1]), *second.clauses[1:]]
        return Sentence(joined, first.template, first.domain, opener=first.opener)

    @staticmethod
    def _one(clause: Clause, **options) -> Sentence:
        return Sentence([("", clause)], "", "", **options)

    # -- small parts ---------------------------------------------------------------------

    def noun(self, cls: str) -> Noun:
        """Return a noun of this class; a document keeps to three of them."""
        if cls not in self._pools:
            known = list(lex.nouns_of(self.domain, cls))
            self._pools[cls] = [known.pop(int(self.draw.uniform() * len(known))) for _ in range(min(3, len(known)))]
        return self.draw.pick(self._pools[cls])

    def attributes(self, noun: Noun, probability: float) -> list[Attribute]:
        """Return an adjective that goes with the noun, or none."""
        fitting = [a for a in lex.adjectives_for(self.domain, noun.classes) if a.base not in lex.words("predicative")]
        return [Attribute(self.draw.pick(fitting))] if fitting and self.draw.chance(probability) else []

    def thing(self, cls: str, det: str = "", number: str = "s", adjective: float = 0.3) -> NP:
        """Return a noun phrase with a noun of this class."""
        noun = self.noun(cls)
        if noun.plural == "-":
            number = "s"
        det = det or self.draw.weighted(("def", "indef", "dem"), (0.62, 0.26, 0.12))
        if noun.plural == "-" and det == "indef":
            det = "def"
        return NP(noun=noun, det=det, number=number, adjectives=self.attributes(noun, adjective))

    def pronoun(self, np: NP) -> NP:
        """Return a pronoun for a noun phrase."""
        return NP(ref=np.referent)

    def _other(self, table: str, index: int) -> tuple[str, ...]:
        pairs = lex.tables()[table]
        step = 1 + int(self.draw.uniform() * (len(pairs) - 1))
        return (pairs[(index + step) % len(pairs)][1],)

    def _listed(self, table: str) -> Number:
        pairs = lex.tables()[table]
        i = int(self.draw.uniform() * len(pairs))
        return Number(pairs[i][0], pairs[i][1], self._other(table, i))

    def _place_name(self, table: str) -> Name:
        pairs = lex.tables()[table]
        i = int(self.draw.uniform() * len(pairs))
        own = (pairs[i][0],) if pairs[i][0] != pairs[i][1] else ()
        return Name(pairs[i][0], pairs[i][1], own + self._other(table, i))

    def person_name(self, gender: str) -> Name:
        """Return first name and surname; wrong ones translate or change the surname."""
        first = self.draw.pick(lex.words(f"first names {gender}"))
        pairs = lex.tables()["surnames"]
        i = int(self.draw.uniform() * len(pairs))
        german_name, translated = pairs[i]
        other = pairs[(i + 3) % len(pairs)][0]
        return Name(
            f"{first} {german_name}",
            f"{first} {german_name}",
            (f"{first} {translated}", f"{first} {other}"),
            gender,
            True,
        )

    def small(self, low: int = 2, high: int = 9) -> Number:
        """Return a small number, spelled out."""
        n = self.draw.integer(low, high)
        return Number(_DIGITS[n], _DIGITS_EN[n], (_DIGITS_EN[n + 1 if n < 12 else 11], _DIGITS_EN[n - 1]))

    def large(self, low: int, high: int, step: int) -> Number:
        """Return a round number with its thousands mark."""
        n = step * self.draw.integer(low // step, high // step)
        grouped = f"{n:,}"
        return Number(grouped.replace(",", "."), grouped, (f"{n * 10:,}", f"{n + 3 * step:,}"))

    def decimal(self, low: float, high: float) -> Number:
        """Return a number with one decimal."""
        tenths = self.draw.integer(int(low * 10), int(high * 10))
        tenths += tenths % 10 == 0
        text = f"{tenths // 10}.{tenths % 10}"
        return Number(text.replace(".", ","), text, (text.replace(".", ""), f"{tenths // 10 + 2}.{tenths % 10}"))

    def _filler(self, key: str) -> Name | Number:
        if key in ("city", "country"):
            if key == "city" and self.draw.chance(0.6):
                return Name(self.city.german, self.city.english, self.city.wrong)
            return self._place_name("cities" if key == "city" else "countries")
        if key in ("weekday", "month"):
            return self._listed("weekdays" if key == "weekday" else "months")
        if key == "few":
            return self.small()
        low, high = {"year": (1998, 2023), "nextyear": (2025, 2029), "day": (2, 28), "clock": (6, 11)}[key]
        if key == "clock":
            return self.small(6, 11)
        n = self.draw.integer(low, high)
        return Number(str(n), str(n), (str(n - 1), str(n + 1)))

    def _phrase(self, kind: str, fields: Sequence[str]) -> Adjunct:
        keys = [part.split("}")[0] for part in fields[0].split("{")[1:]]
        return Adjunct(kind, fields[0], lex.alternatives(fields[1]), slots={k: self._filler(k) for k in keys})

    def time(self, tense: str) -> Adjunct:
        """Return a time that goes with a tense: p past, n present, f future."""
        return self._phrase("time", self.draw.pick([f for f in lex.tables()[f"times {self.domain}"] if tense in f[2]]))

    def place(self) -> Adjunct:
        """Return a place."""
        return self._phrase("place", self.draw.pick(lex.tables()[f"places {self.domain}"]))

    def comment(self, polarity: str = "") -> Adjunct:
        """Return a sentence adverb; one of regret or relief only where the polarity is known."""
        known = [f for f in lex.tables()["comments"] if self.domain in f[3].split()]
        barred = {"": ("leider", "zum Glück"), "+": ("leider",), "-": ("zum Glück",)}[polarity]
        known = [f for f in known if f[0] not in barred]
        german_text, english, wrong, _ = self.draw.pick(known)
        return Adjunct("comment", german_text, lex.alternatives(english), wrong)

    def manner(self, verb: Verb) -> Adjunct:
        """Return one of the adverbs of manner of a verb."""
        german_text, english, wrong = lex.adverbs()[self.draw.pick(verb.manners)]
        return Adjunct("manner", german_text, lex.alternatives(english), wrong)

    def adorn(
        self,
        c: Clause,
        time: float = 0.5,
        place: float = 0.15,
        comment: float = 0.1,
        front: float = 0.45,
        polarity: str = "",
    ) -> Clause:
        """Add adjuncts with these probabilities; one of them may open the German clause."""
        if self.draw.chance(time):
            tense = (
                "f"
                if c.tense == "fut" or c.modal in ("wollen", "sollen")
                else "p"
                if c.tense in ("past", "perf")
                else "n"
            )
            if not (c.verb is COPULA and tense == "n") or self.domain == "manuals":
                c.adjuncts.append(self.time(tense))
        if self.draw.chance(place):
            c.adjuncts.append(self.place())
        if c.verb.manners and not c.neg and self.draw.chance(0.3):
            c.adjuncts.append(self.manner(c.verb))
        if self.draw.chance(comment):
            c.adjuncts.append(self.comment(polarity))
        movable = [a for a in c.adjuncts if a.kind in ("time", "place", "comment")]
        if movable and c.mood == "decl" and self.draw.chance(front):
            c.front = self.draw.pick(movable)
        return c

    def copula(
        self, subject: NP, kinds: tuple[str, ...], tense: str, *, polarities: str = "?", degree: bool = True
    ) -> Clause:
        """Return *subject is adjective*, with one adjective per polarity: ``+``, ``-`` or ``?`` (any)."""
        known = [a for k in kinds for a in lex.predicates(k)]
        known = known or [a for a in lex.adjectives_for(self.domain, kinds) if a.base not in lex.words("attributive")]
        predicates = []
        for i, polarity in enumerate(polarities):
            taken = [p.adjective for p in predicates]
            fitting = [
                a for a in known if a not in taken and polarity in ("?", "+" if a.base in lex.words("good") else "-")
            ]
            if len(set(polarities)) > 1:
                fitting = [a for a in fitting if a.base not in lex.words("general")] or (fitting if i == 0 else [])
                fitting = [a for a in fitting if not any(_opposite(a, b) for b in taken)]
            if not fitting:
                break
            adjective = self.draw.pick(fitting)
            joint = "" if i == 0 else "und" if polarities[i - 1] == polarity else "aber"
            predicates.append(self._predicate(adjective, joint, degree))
        return Clause(subject, COPULA, predicates=predicates, tense=tense)

    def _predicate(self, adjective: Adjective, joint: str, degree: bool) -> Predicate:
        words, weights = ["", "sehr", "ziemlich", "wirklich"], [0.45, 0.25, 0.15, 0.15]
        if adjective.base not in lex.words("good") and self.domain in ("reviews", "news"):
            words, weights = [*words, "viel zu", "etwas"], [*weights, 0.1, 0.15]
        word = self.draw.weighted(words, weights)
        barred = [*lex.words("absolute"), *(lex.words("general") if word == "viel zu" else ())]
        if not degree or adjective.base in barred:
            word = ""
        return Predicate(adjective, word, _DEGREES[word], joint)

    def fill(self, verb: Verb, subject: NP, tense: str, obj: NP | None = None) -> Clause:
        """Return a clause with this verb and subject, its objects drawn from the classes it takes."""
        c = Clause(subject, verb, tense=tense)
        valency = verb.valency
        if valency in ("a", "aP"):
            c.acc = obj or self.object(verb.objects)
        if valency in ("d", "da"):
            c.dat = obj or self.object(verb.objects)
        if valency == "da":
            c.acc = self.object(verb.seconds)
        if valency == "P":
            c.prep = obj or self.object(verb.objects)
        if valency == "aP":
            c.prep = self.object(verb.seconds)
        return c

    def object(self, classes: tuple[str, ...]) -> NP:
        """Return an object of one of these classes."""
        return self.thing(self.draw.pick(classes))

    def verb(self, subject: str = "", obj: str = "", valencies: tuple[str, ...] = ()) -> Verb:
        """Return a verb of the domain that takes this class of subject and of object."""
        fitting = [
            v for v in lex.verbs(self.domain)
            if (not subject or subject in v.subjects)
            and (not obj or obj in v.objects)
            and (not valencies or v.valency in valencies)
        ]  # fmt: skip
        return self.draw.pick(fitting)

    def relative(self, np: NP, cls: str, clause: Callable[[], Clause]) -> NP:
        """Attach a relative clause in which the noun is the object."""
        c = clause()
        c.acc = None
        np.relative = Relative(c, "object")
        return np


def _opposite(a: Adjective, b: Adjective) -> bool:
    return any({a.base, b.base} == set(pair.split()) for (pair,) in lex.tables()["opposites"])


def _topic(sentence: Sentence) -> tuple[Ref | None, str]:
    """Return what a pronoun in the next sentence may stand for (the subject, if it is clear), and its class."""
    clause = sentence.clauses[0][1]
    subject = clause.subject
    unclear = len(sentence.clauses) > 1 or clause.complement or clause.before or clause.after
    if subject is None or unclear:
        return None, ""
    if subject.ref and subject.ref.person < 3:
        people = [np for np in (clause.acc, clause.dat, clause.prep) if np and not np.ref and np.referent.human]
        subject = people[0] if len(people) == 1 else subject
    if subject.ref:
        return None, ""
    if subject.name:
        return subject.referent, "hum" if subject.name.human else "org"
    return subject.referent, subject.noun.classes[0] if "*" not in subject.noun.english[0] else ""


class News(Scene):
    """News reports."""

    domain = "news"
    TEMPLATES: ClassVar[dict[str, float]] = {
        "simple": 3, "pronoun": 2, "report": 3, "because": 2, "although": 1.5, "quantity": 2, "according": 1.5,
        "two_acts": 1.5, "contrast": 1.5, "purpose": 1.5, "after": 1.5, "relative": 2, "passive": 1.5, "event": 1.5,
        "whether": 1,
        "jobs": 1, "accident": 0.8, "long_report": 1.8, "while": 1,
    }  # fmt: skip

    def __init__(self, draw: Draw) -> None:
        super().__init__(draw)
        self.person = self.person_name(draw.pick(("f", "m")))
        self.introduced = False
        self.company = draw.pick(lex.words("companies"))

    def org(self, cls: str = "org") -> NP:
        """Return an organisation: a noun, or a company by name."""
        if cls == "employer" and self.draw.chance(0.4):
            return NP(name=Name(self.company, self.company, (self.company[:-1], self.company + "s")))
        noun = self.noun(cls)
        number = "p" if noun.plural != "-" and self.draw.chance(0.1) else "s"
        return NP(
            noun=noun, det="several" if number == "p" else "def", number=number, adjectives=self.attributes(noun, 0.25)
        )

    def human(self) -> NP:
        """Return a person: by name (with the office at first), by office, or by profession."""
        if self.draw.chance(0.5):
            np = NP(name=Name(self.person.german, self.person.english, self.person.wrong, self.person.gender, True))
            if not self.introduced or self.draw.chance(0.25):
                self.introduced = True
                offices = [n for n in lex.nouns_of("news", "role") if n.gender == self.person.gender]
                np.apposition = NP(noun=self.draw.pick(offices), det="zero", genitive=NP(noun=self.noun("org")))
            return np
        if self.draw.chance(0.6):
            return NP(noun=self.noun("role"), genitive=NP(noun=self.noun("org")))
        noun = self.noun("hum")
        return NP(noun=noun, det=self.draw.pick(("def", "indef")), adjectives=self.attributes(noun, 0.3))

    def group(self, cls: str = "grp") -> NP:
        """Return several people."""
        noun = self.noun(cls)
        det = self.draw.weighted(("def", "many", "some", "zero"), (0.4, 0.25, 0.15, 0.2))
        np = NP(noun=noun, number="p", det=det, adjectives=self.attributes(noun, 0.3))
        if det == "zero":
            np.count = self.large(100, 2400, 50)
            np.approx = self.draw.pick(
                (("rund", ("around", "about")), ("mehr als", ("more than", "over")), ("fast", ("almost", "nearly")))
            )
        return np

    def thing(self, cls: str, det: str = "", number: str = "s", adjective: float = 0.35) -> NP:
        """Return what a news clause is about; people and organisations have their own forms."""
        if cls in ("org", "employer"):
            return self.org(cls)
        if cls == "hum":
            return self.human()
        if cls in ("grp", "emp"):
            return self.group(cls)
        if cls in ("issue", "cost") and self.draw.chance(0.6):
            number = "p"
        if cls == "cost":
            det = "def"
        np = super().thing(cls, det or ("zero" if number == "p" and self.draw.chance(0.4) else ""), number, adjective)
        if cls == "site" and np.det == "def" and self.draw.chance(0.2):
            np.genitive = NP(name=Name(self.company, self.company, (self.company + "s",)))
        return np

    def act(self, tense: str, subject: NP | None = None, cls: str = "", **adjuncts) -> Clause:
        """Return somebody does something."""
        verb = self.verb(cls, valencies=("a", "P", "d", "aP"))
        cls = cls or self.draw.pick(verb.subjects)
        c = self.fill(verb, subject or self.thing(cls), tense)
        if self.draw.chance(0.12) and cls != "grp":
            c.neg = "noch nicht" if tense == "perf" and self.draw.chance(0.5) else "nicht"
        return self.adorn(c, **adjuncts)

    def tense(self) -> str:
        """Return a tense of news."""
        return self.draw.weighted(("past", "perf", "pres", "fut"), (0.55, 0.25, 0.1, 0.1))

    def quantity(self, tense: str, *, detailed: bool) -> Clause:
        """Return a number rose or fell."""
        if self.draw.chance(0.25):
            subject = NP(noun=self.noun("cost"), number="p")
        else:
            noun = self.noun("quant")
            subject = NP(noun=noun)
            if noun.lemma in ("Umsatz", "Gewinn", "Produktion", "Energieverbrauch") and self.draw.chance(0.6):
                subject.genitive = NP(noun=self.noun("employer"))
        c = Clause(subject, self.draw.pick((V["steigen"], V["sinken"])), tense=tense)
        if detailed:
            slots = {"pct": self.decimal(0.6, 29.9)}
            if subject.noun.lemma in ("Umsatz", "Gewinn") and self.draw.chance(0.6):
                slots["sum"] = self.large(12, 990, 1)
                english = ("by {pct} percent to {sum} million euros", "{pct} per cent to {sum} million euros")
                c.measure = Adjunct("measure", "um {pct} Prozent auf {sum} Millionen Euro", english, slots=slots)
            else:
                c.measure = Adjunct("measure", "um {pct} Prozent", ("by {pct} percent", "{pct} per cent"), slots=slots)
        return c

    def reason(self) -> Clause:
        """Return a clause that can follow *because*."""
        kind = self.draw.pick(("quantity", "issue", "act", "copula"))
        if kind == "quantity":
            return self.quantity("perf", detailed=self.draw.chance(0.3))
        if kind == "issue":
            return Clause(
                self.thing("issue", "def"), V["betreffen"], acc=self.group(), tense=self.draw.pick(("pres", "past"))
            )
        if kind == "copula":
            return self.copula(NP(noun=self.noun("cost"), number="p"), ("cost",), self.draw.pick(("pres", "past")))
        return self.act("perf", time=0.1, place=0, comment=0, front=0)

    def objection(self, target: NP, said: Verb) -> Clause:
        """Return somebody opposes or backs what was just named."""
        subject = self.draw.pick((self.group, self.human))()
        wanted = ("ablehnen", "kritisieren", "unterstützen", "verteidigen", "begrüßen")
        verb = self.draw.pick([v for v in lex.verbs("news") if v.infinitive in wanted and v is not said])
        c = Clause(subject, verb, acc=self.pronoun(target), tense=self.draw.pick(("past", "perf", "pres")))
        return self.adorn(c, time=0.1, place=0, comment=0, front=0)

    def planned(self, tense: str) -> Clause:
        """Return an organisation does something to a plan."""
        verb = self.verb("org", "plan", ("a",))
        return Clause(self.org(), verb, acc=self.thing("plan", self.draw.pick(("def", "dem"))), tense=tense)

    # templates

    def t_simple(self) -> Sentence:
        return self._one(self.act(self.tense()))

    def t_pronoun(self) -> Sentence:
        if self.last is None or self.last_class not in ("hum", "grp", "org"):
            return None
        return self._one(self.act(self.tense(), NP(ref=self.last), self.last_class))

    def t_report(self) -> Sentence:
        verb = self.draw.pick(lex.reporting("news"))
        c = Clause(self.thing(self.draw.pick(verb.subjects)), verb, tense=self.draw.pick(("past", "perf")))
        self.adorn(c, time=0.5, place=0.15, comment=0, front=0.3)
        inner = self.draw.pick(("act", "quantity", "modal"))
        hope = verb.infinitive in ("hoffen", "fürchten")
        if inner == "quantity":
            clause = self.quantity("fut" if hope else "perf", detailed=not hope)
        else:
            later = hope or (inner == "act" and self.draw.chance(0.3))
            clause = self.act("fut" if later else "perf", time=0.2, place=0.1, comment=0, front=0)
            if inner == "modal":
                clause.tense, clause.modal, clause.neg = (
                    "pres",
                    self.draw.pick(("wollen", "müssen", "können", "sollten")),
                    clause.neg[-5:],
                )
                clause.adjuncts = [a for a in clause.adjuncts if a.kind != "time"]
        c.complement = Sub("dass", clause)
        return self._one(c)

    def t_because(self) -> Sentence:
        c = self.act(self.draw.pick(("past", "perf")), comment=0)
        c.after = [Sub(self.draw.pick(("weil", "da")), self.reason())]
        return self._one(c)

    def t_although(self) -> Sentence:
        c = self.planned(self.draw.pick(("past", "perf", "pres")))
        self.adorn(c, comment=0, time=0.3)
        sub = Sub("obwohl", self.objection(c.acc, c.verb))
        if self.draw.chance(0.4):
            sub.clause.acc, c.acc = c.acc, self.pronoun(c.acc)
            c.before, c.front = sub, None
        else:
            c.after = [sub]
        return self._one(c)

    def t_quantity(self) -> Sentence:
        c = self.quantity(self.draw.pick(("past", "perf", "fut")), detailed=True)
        return self._one(self.adorn(c, time=0.75, place=0.15, comment=0.1))

    def t_according(self) -> Sentence:
        source = self.thing("doc", self.draw.pick(("def", "indef"))) if self.draw.chance(0.6) else self.org()
        if source.noun and "doc" in source.noun.classes and self.draw.chance(0.4):
            source.genitive = NP(noun=self.noun("org"))
        front = Adjunct("according", "laut {np}", ("according to {np}",), np=source, case="dat")
        inner = self.draw.chance(0.5)
        c = (
            self.quantity("perf", detailed=True)
            if inner
            else self.act(self.draw.pick(("past", "perf", "fut")), comment=0, front=0)
        )
        c.adjuncts.append(front)
        c.front = front
        return self._one(c)

    def t_two_acts(self) -> Sentence:
        cls = self.draw.pick(("org", "employer"))
        first = self.act("past", self.org(cls), cls, comment=0.1)
        if first.neg == "noch nicht" or (first.front and first.front.kind == "place"):
            first.front = None
        verb = first.verb
        while verb is first.verb:
            verb = self.verb(cls, valencies=("a", "P"))
        second = self.fill(verb, first.subject, "past")
        second.elided = True
        return Sentence([("", first), ("und", second)], "", "")

    def t_contrast(self) -> Sentence:
        first = self.planned("past")
        self.adorn(first, comment=0)
        return Sentence(
            [("", first), (self.draw.pick(("aber", "doch")), self.objection(first.acc, first.verb))], "", ""
        )

    def t_purpose(self) -> Sentence:
        c = self.act("pres", cls="employer", time=0.4, comment=0, place=0.1)
        c.neg = ""
        c.modal = self.draw.pick(("wollen", "müssen", "sollen"))
        verb = self.draw.pick(
            [
                v
                for v in lex.verbs("news")
                if v.infinitive in ("senken", "einstellen", "finanzieren", "sanieren", "verhindern")
            ]
        )
        c.adjuncts = [a for a in c.adjuncts if a.kind != "time"]
        c.front = None
        c.after = [Sub("um", self.fill(verb, c.subject, "pres"))]
        return self._one(c)

    def t_after(self) -> Sentence:
        earlier = self.act("plup", time=0, place=0.2, comment=0, front=0)
        earlier.neg = ""
        c = self.act("past", comment=0, front=0)
        c.before = Sub("nachdem", earlier)
        return self._one(c)

    def t_relative(self) -> Sentence:
        c = self.act(self.draw.pick(("past", "perf")), cls="org", comment=0)
        target = c.acc or c.prep
        if target is not None and target.noun and not target.ref and "plan" in target.noun.classes:
            target.det = "def"
            target.number = "s"
            verb = self.verb("org", "plan", ("a",))
            self.relative(
                target,
                "plan",
                lambda: self.adorn(Clause(self.draw.pick((self.org, self.human))(), verb, tense="perf"), 0.4, 0, 0, 0),
            )
        else:
            noun = self.noun("org")
            c.subject = NP(noun=noun)
            c.subject.relative = Relative(self.fill(self.verb("org", "plan", ("a",)), None, "perf"), "subject")
        return self._one(c)

    def t_passive(self) -> Sentence:
        verb = self.verb("org", "", ("a",))
        cls = self.draw.pick([k for k in verb.objects if k not in ("org", "emp")])
        c = Clause(self.thing(cls, "def"), verb, passive=True, tense=self.draw.pick(("past", "past", "perf", "pres")))
        if self.draw.chance(0.35):
            c.modal, c.tense = self.draw.pick(("müssen", "sollen", "können")), "pres"
        if self.draw.chance(0.25):
            c.adjuncts.append(Adjunct("agent", "von {np}", ("by {np}",), np=self.org(), case="dat"))
        if c.modal == "" and self.draw.chance(0.15):
            c.neg = "nicht"
        return self._one(
            self.adorn(c, time=0.6 if c.tense != "pres" or c.modal == "sollen" else 0.1, comment=0.15, place=0.1)
        )

    def t_event(self) -> Sentence:
        verb = self.draw.pick((V["stattfinden"], V["beginnen"], V["enden"]))
        c = Clause(self.thing("event", "def"), verb, tense=self.draw.pick(("past", "fut", "past")))
        c.adjuncts.append(self.time("f" if c.tense == "fut" else "p"))
        return self._one(self.adorn(c, time=0, place=0.7, comment=0.1))

    def t_whether(self) -> Sentence:
        c = Clause(self.org(), V["prüfen ob"], tense=self.draw.pick(("pres", "past")))
        verb = self.verb("org", "site", ("a",))
        inner = Clause(
            self.thing("site", "def"),
            verb,
            passive=True,
            modal=self.draw.pick(("müssen", "können", "sollen")),
            tense="pres",
        )
        self.adorn(c, time=0.4, place=0, comment=0, front=0.3)
        c.complement = Sub("ob", inner)
        return self._one(c)

    def t_jobs(self) -> Sentence:
        verb = self.verb("employer", "emp", ("a",))
        people = self.group("emp")
        people.det, people.count = "zero", self.large(100, 2400, 50)
        people.approx = people.approx or ("rund", ("around", "about"))
        c = Clause(self.org("employer"), verb, acc=people, modal=self.draw.pick(("wollen", "müssen")), tense="pres")
        self.adorn(c, time=0.5, place=0.4, comment=0.1)
        if self.draw.chance(0.4):
            c.after = [Sub("weil", self.quantity("perf", detailed=False))]
        return self._one(c)

    def t_accident(self) -> Sentence:
        where = NP(noun=self.noun("acc"), adjectives=self.attributes(self.noun("acc"), 0.0))
        front = Adjunct("time", "bei {np}", ("in {np}", "during {np}"), np=where, case="dat")
        people = NP(noun=self.draw.pick((N["Mensch"], N["Fahrgast"])), det="zero", number="p", count=self.small())
        c = Clause(
            people,
            self.draw.pick((V["verletzen"], V["verletzen"], V["retten"])),
            passive=True,
            tense="past",
            adjuncts=[front],
        )
        if self.draw.chance(0.7):
            c.front = front
        if self.draw.chance(0.8):
            c.adjuncts.append(self.place())
        return self._one(c)

    def t_long_report(self) -> Sentence:
        sentence = self.t_report()
        c = sentence.clauses[0][1]
        inner = c.complement.clause
        inner.after = [Sub(self.draw.pick(("weil", "obwohl", "da")), self.reason())]
        if self.draw.chance(0.4):
            c.front = None
            earlier = self.act("plup", time=0, place=0.1, comment=0, front=0)
            earlier.neg = ""
            c.before = Sub("nachdem", earlier)
        return sentence

    def t_while(self) -> Sentence:
        first = self.act("past", cls="grp", time=0.3, comment=0, front=0)
        first.before = Sub("während", self.act("past", cls="org", time=0, place=0, comment=0, front=0))
        return self._one(first)


class Reviews(Scene):
    """Reviews of a hotel, a product, a restaurant, a book or a film."""

    domain = "reviews"
    TEMPLATES: ClassVar[dict[str, float]] = {
        "bought": 1.5, "part": 3, "two_parts": 2, "recommend": 1.5, "like": 1.5, "opinion": 1.5, "measure": 1,
        "broke": 1, "staff": 1.2, "although": 1.5, "because": 1.5, "relative": 1.5, "effect": 1.2, "long": 1.5,
        "pronoun": 5,
    }  # fmt: skip
    PARTS: ClassVar[dict[str, tuple[str, ...]]] = {
        "lodging": ("room", "room", "furn", "person", "sight"),
        "gadget": ("gpart", "gpart", "gserv"),
        "inn": ("dish", "dish", "person", "menu"),
        "story": ("spart", "spart", "artist"),
    }

    def __init__(self, draw: Draw) -> None:
        super().__init__(draw)
        self.kind = draw.pick(tuple(self.PARTS))
        self.me = NP(ref=draw.pick((ICH, WIR))).ref
        self.main_noun = draw.pick(lex.nouns_of("reviews", self.kind))

    def narrator(self) -> NP:
        """Return the writer."""
        return NP(ref=self.me)

    def main(self, adjective: float = 0.15) -> NP:
        """Return what the review is about."""
        return NP(
            noun=self.main_noun,
            det=self.draw.pick(("def", "dem")),
            adjectives=self.attributes(self.main_noun, adjective),
        )

    def part(self) -> NP:
        """Return a part or side of it."""
        cls = self.draw.pick(self.PARTS[self.kind])
        noun = self.noun(cls)
        return NP(noun=noun, number="p" if noun.plural != "-" and self.draw.chance(0.15) else "s")

    def verdict(self, np: NP, polarities: str = "", tense: str = "") -> Clause:
        """Return it is good, or bad, or good but bad."""
        return self.copula(np, np.noun.classes, tense or self.past(), polarities=polarities or self.mood())

    def mood(self) -> str:
        """Return good or bad."""
        return self.draw.pick("+-")

    def moods(self) -> str:
        """Return one to two polarities."""
        return self.draw.pick(("+", "-", "++", "--", "+-", "-+"))

    def past(self) -> str:
        """Return the tense in which one describes this kind of thing."""
        return "pres" if self.kind in ("gadget", "story") else "past"

    def object(self, classes: tuple[str, ...]) -> NP:
        """Return an object; *me* is the writer."""
        return NP(ref=self.me) if "me" in classes else self.thing(self.draw.pick(classes), "def")

    def got(self) -> Clause:
        """Return I bought it, booked it, went there, read it."""
        options = {"lodging": ("buchen",), "gadget": ("kaufen", "bestellen", "testen")}
        if self.kind == "inn":
            verb = V["besuchen"]
        elif self.kind == "story":
            verb = V["lesen"] if self.main_noun.lemma in ("Roman", "Buch") else V["sehen"]
        else:
            verb = self.draw.pick([v for v in lex.verbs("reviews") if v.infinitive in options[self.kind]])
        return Clause(self.narrator(), verb, acc=self.main(), tense="perf")

    # templates

    def t_bought(self) -> Sentence:
        c = self.adorn(self.got(), time=0.8, place=0.3 if self.kind == "gadget" else 0, comment=0)
        if self.kind == "inn" and self.draw.chance(0.3):
            c.adjuncts.append(self._phrase("place", ("in {city}", "in {city}")))
        return self._one(c)

    def t_part(self) -> Sentence:
        polarities = self.moods()
        c = self.verdict(self.part(), polarities)
        if self.draw.chance(0.2):
            polarities = "-" if polarities[0] == "+" else "+"
            c.neg = "nicht"
            c.predicates = c.predicates[:1]
            word, english = self.draw.pick((("besonders", ("particularly", "especially")), ("", ())))
            c.predicates[0].german_degree, c.predicates[0].english_degree = word, english
        return self._one(
            self.adorn(
                c, time=0, comment=0.45, place=0, front=0.6, polarity=polarities[0] if len(set(polarities)) == 1 else ""
            )
        )

    def t_two_parts(self) -> Sentence:
        mood, other = self.mood(), self.mood()
        first, second = self.verdict(self.part(), mood), self.verdict(self.part(), other)
        if first.subject.noun is second.subject.noun:
            second = self.verdict(self.main(0), other)
        return Sentence([("", first), (self.joint(mood, other), second)], "", "")

    def joint(self, first: str, second: str) -> str:
        """Return a conjunction between two judgements."""
        return "und" if first == second else self.draw.pick(("aber", "doch"))

    def t_recommend(self) -> Sentence:
        mood = self.mood()
        c = Clause(self.narrator(), V["empfehlen"], acc=self.main(), modal=self.draw.pick(("würden", "können")))
        c.neg = "" if mood == "+" else "nicht"
        if self.draw.chance(0.6):
            c.after = [Sub("weil", self.verdict(self.part(), mood * self.draw.pick((1, 2))))]
        if self.draw.chance(0.3):
            c.adjuncts.append(self.comment(mood))
        return self._one(c)

    def liked(self, np: NP, mood: str) -> Clause:
        """Return we liked it, or did not."""
        dish = "dish" in np.noun.classes if np.noun else False
        c = Clause(
            np, V["schmecken"] if dish else V["gefallen"], dat=self.narrator(), tense=self.draw.pick(("perf", "past"))
        )
        c.neg = "" if mood == "+" else "nicht"
        return c

    def t_like(self) -> Sentence:
        np, mood = self.part(), self.mood()
        c = self.adorn(self.liked(np, mood), time=0, place=0, comment=0.4, polarity=mood)
        if self.draw.chance(0.5):
            other = self.mood()
            second = self.verdict(self.part(), other)
            if second.subject.noun is not np.noun:
                return Sentence([("", c), ("denn" if other == mood else "aber", second)], "", "")
        return self._one(c)

    def t_opinion(self) -> Sentence:
        c = Clause(self.narrator(), self.draw.pick(lex.reporting("reviews")), tense="pres")
        c.complement = Sub("dass", self.verdict(self.part() if self.draw.chance(0.6) else self.main(0), self.moods()))
        return self._one(c)

    def t_measure(self) -> Sentence:
        what = self.draw.pick(("price", "delivery", "battery")) if self.kind == "gadget" else "price"
        if what == "delivery":
            c = Clause(
                NP(noun=next(n for n in lex.nouns("reviews") if n.lemma == "Lieferung")), V["dauern"], tense="perf"
            )
            c.measure = Adjunct("measure", "{n} Tage", ("{n} days",), slots={"n": self.small(2, 12)})
        elif what == "battery":
            c = Clause(NP(noun=next(n for n in lex.nouns("reviews") if n.lemma == "Akku")), V["halten"], tense="pres")
            c.measure = Adjunct(
                "measure", "etwa {n} Stunden", ("about {n} hours", "around {n} hours"), slots={"n": self.small(3, 12)}
            )
        else:
            what = self.thing("dish", "def", adjective=0.2) if self.kind == "inn" else self.main(0)
            price = self.large(10, 35, 5) if self.kind in ("inn", "story") else self.large(40, 240, 5)
            c = Clause(what, V["kosten"], tense=self.draw.pick(("past", "pres")))
            c.measure = Adjunct("measure", "rund {n} Euro", ("around {n} euros", "about {n} euros"), slots={"n": price})
        if self.draw.chance(0.5):
            c.adjuncts.append(self.comment())
        if self.draw.chance(0.5):
            return Sentence([("", c), (self.draw.pick(("aber", "und")), self.verdict(self.part()))], "", "")
        return self._one(c)

    def t_broke(self) -> Sentence:
        if self.kind != "gadget":
            return None
        np = self.thing("gpart", "def", adjective=0.1)
        breaking = V["abbrechen"] if np.noun.lemma in ("Griff", "Stecker", "Deckel") else V["kaputtgehen"]
        c = Clause(np, self.draw.pick((breaking, breaking, V["funktionieren"])), tense="perf")
        if c.verb is V["funktionieren"]:
            c.neg = self.draw.pick(("nie", "nicht"))
        else:
            c.adjuncts.append(self._phrase("time", ("nach {few} Wochen", "after {few} weeks")))
            c.front = c.adjuncts[0] if self.draw.chance(0.6) else None
        if self.draw.chance(0.5):
            back = next(v for v in lex.verbs("reviews") if v.infinitive == "zurückschicken")
            second = Clause(self.narrator(), back, acc=self.main(0), tense="perf")
            return Sentence([("", c), ("und", second)], "", "")
        return self._one(c)

    def t_staff(self) -> Sentence:
        if self.kind not in ("lodging", "inn"):
            return None
        mood = self.mood()
        staff = NP(noun=self.noun("person"))
        verb = self.draw.pick((V["begrüßen"], V["beraten"], V["helfen"]))
        c = Clause(staff, verb, tense="perf")
        if verb is V["helfen"]:
            c.dat = self.narrator()
        else:
            c.acc = self.narrator()
        c.neg = "" if mood == "+" else "nicht"
        if not c.neg:
            word = self.draw.pick(
                ("freundlich|in a friendly way, kindly", "sehr gut|very well", "sofort|immediately, right away")
            )
            german_text, english = word.split("|")
            c.adjuncts.append(Adjunct("manner", german_text, lex.alternatives(english)))
        if self.draw.chance(0.5):
            other = self.mood()
            return Sentence([("", c), (self.joint(mood, other), self.verdict(self.part(), other))], "", "")
        return self._one(self.adorn(c, time=0.3, place=0, comment=0.3, polarity=mood))

    def t_although(self) -> Sentence:
        mood, contrary = self.draw.pick(("+-", "-+"))
        sub = Sub("obwohl", self.verdict(self.part(), contrary * self.draw.pick((1, 2))))
        target = self.main(0)
        c = self.liked(target, mood) if self.draw.chance(0.5) else self.verdict(target, mood)
        if self.draw.chance(0.6):
            c.before = sub
        else:
            c.after = [sub]
        return self._one(c)

    def t_because(self) -> Sentence:
        mood = self.mood()
        c = self.got() if self.draw.chance(0.4) and mood == "+" else self.liked(self.main(0), mood)
        c.after = [Sub(self.draw.pick(("weil", "da")), self.verdict(self.part(), mood * self.draw.pick((1, 2))))]
        return self._one(self.adorn(c, time=0.3 if not c.neg else 0, place=0, comment=0.2, front=0.3, polarity=mood))

    def t_relative(self) -> Sentence:
        if self.kind == "inn":
            np = self.thing("dish", "def", adjective=0.1)
            verb = next(v for v in lex.verbs("reviews") if v.infinitive == "bestellen")
            self.relative(np, "dish", lambda: Clause(self.narrator(), verb, tense="perf"))
        else:
            np = self.main(0.1)
            np.det = "def"
            self.relative(np, self.kind, lambda: self.adorn(self.got(), time=0.6, place=0, comment=0, front=0))
        moods = self.moods()
        c = self.verdict(np, moods)
        return self._one(
            self.adorn(c, time=0, place=0, comment=0.3, front=0.4, polarity=moods[0] if len(set(moods)) == 1 else "")
        )

    def t_effect(self) -> Sentence:
        cls = {"lodging": "sight", "gadget": "gpart", "inn": "dish", "story": "spart"}[self.kind]
        if cls == "dish":
            verb = next(v for v in lex.verbs("reviews") if v.infinitive == "probieren")
            c = Clause(self.narrator(), verb, acc=self.thing("dish", self.draw.pick(("def", "indef"))), tense="perf")
            return self._one(self.adorn(c, time=0.4, comment=0.3))
        verb = self.verb(cls, "me", ("a",))
        c = self.fill(verb, self.thing(cls, "def", adjective=0.1), "perf")
        c.neg = self.draw.pick(("", "nicht"))
        sad = (verb.infinitive == "enttäuschen") == (c.neg == "")
        return self._one(self.adorn(c, time=0.1, place=0, comment=0.4, polarity="-" if sad else "+"))

    def t_long(self) -> Sentence:
        first = self.got()
        self.adorn(first, time=0.7, place=0.2 if self.kind == "gadget" else 0, comment=0, front=0.4)
        first.after = [Sub("weil", self._wanted())]
        second = self.verdict(self.part(), self.draw.pick(("--", "-+", "++")))
        return Sentence([("", first), (self.draw.pick(("aber", "und", "doch")), second)], "", "")

    def _wanted(self) -> Clause:
        friend = N[self.draw.pick(("Freund", "Kollegin", "Nachbar"))]
        return Clause(
            NP(noun=friend, det="indef"),
            V["empfehlen"],
            acc=NP(ref=Ref(3, "s", self.main_noun.gender, False)),
            dat=self.narrator(),
            tense="plup",
        )

    def t_pronoun(self) -> Sentence:
        if self.last is None or self.last.human or not self.last_class:
            return None
        mood = self.mood()
        c = self.liked(NP(ref=self.last), mood)
        if self.draw.chance(0.7):
            c.after = [Sub("obwohl", self.verdict(self.main(0), "-" if mood == "+" else "+"))]
        return self._one(self.adorn(c, time=0, place=0, comment=0.4, polarity=mood))


class Manuals(Scene):
    """Instructions for a device."""

    domain = "manuals"
    TEMPLATES: ClassVar[dict[str, float]] = {
        "step": 3, "two_steps": 2.5, "condition": 2, "before": 1.5, "ensure": 1.5, "must": 1.5, "forbidden": 1.2,
        "purpose": 2, "state": 1.2, "wait": 1, "only": 1, "otherwise": 1.2, "relative": 1, "after_step": 1.2,
        "long": 1.5,
    }  # fmt: skip

    def __init__(self, draw: Draw) -> None:
        super().__init__(draw)
        self.device = draw.pick(lex.nouns_of("manuals", "device"))

    def object(self, classes: tuple[str, ...]) -> NP:
        """Return a part of the device; the device itself stays the same in a document."""
        cls = self.draw.pick(classes)
        if cls == "device":
            return NP(noun=self.device)
        np = self.thing(
            cls,
            "zero" if cls == "access" else "def",
            "p" if cls in ("screw", "access") and self.draw.chance(0.6) else "s",
            0.2,
        )
        if np.noun.plural == "-":
            np.det = "def"
        elif cls == "access" and np.number == "s":
            np.det = "indef"
        if cls in ("lid", "tank", "surface", "motor") and self.draw.chance(0.25):
            np.genitive = NP(noun=self.device)
        return np

    def step(self, verb: Verb | None = None, obj: NP | None = None, extra: float = 0.5) -> Clause:
        """Return an instruction."""
        while verb is None or verb.infinitive == "berühren":
            verb = self.verb("you", valencies=("a", "aP"))
        c = self.fill(verb, NP(ref=POLITE), "pres", obj)
        c.mood, c.subject = "imp", None
        if verb.manners and self.draw.chance(0.4 * extra * 2):
            c.adjuncts.append(self.manner(verb))
        cleaning = verb.infinitive in ("reinigen", "trocknen")
        if cleaning and self.draw.chance(0.7):
            tool = self.thing("soft", "indef", adjective=0.7)
            c.adjuncts.append(Adjunct("with", "mit {np}", ("with {np}", "using {np}"), np=tool, case="dat"))
        elif self.draw.chance(0.35 * extra * 2) and cleaning:
            c.adjuncts.append(self.time("n"))
        if verb.infinitive == "drücken" and self.draw.chance(0.5):
            c.adjuncts = [self._phrase("time", ("mindestens {few} Sekunden lang", "for at least {few} seconds"))]
        if verb.infinitive == "aufbewahren":
            c.adjuncts.append(self.place())
        return c

    def you_do(self, verb: Verb | None = None) -> Clause:
        """Return *you do*, for subordinate clauses."""
        return self.fill(verb or self.verb("you", valencies=("a",)), NP(ref=POLITE), "pres")

    def state(self, tense: str = "pres") -> Clause:
        """Return what the device does or how it is."""
        if self.draw.chance(0.55):
            verb = self.verb("", "", ("-",))
            neg = "nicht" if self.draw.chance(0.2) and verb.infinitive != "überhitzen" else ""
            return Clause(self.object((self.draw.pick(verb.subjects),)), verb, tense=tense, neg=neg)
        cls = self.draw.pick(("batt", "tank", "part", "screw", "cable", "blade"))
        np = self.thing(cls, "def", adjective=0)
        return self.copula(np, np.noun.classes, "pres", degree=False)

    def calm_state(self) -> Clause:
        """Return a state that one waits for or makes sure of."""
        verb = self.draw.pick(
            [v for v in lex.verbs("manuals") if v.infinitive in ("blinken", "leuchten", "laufen", "piepen")]
        )
        if self.draw.chance(0.5):
            return Clause(self.object(verb.subjects), verb, tense="pres", neg=self.draw.pick(("", "nicht")))
        cls, word = self.draw.pick(
            (("tank", "leer"), ("tank", "voll"), ("wash", "sauber"), ("surface", "trocken"), ("cutter", "scharf"))
        )
        adjective = next(a for a in lex.adjectives("manuals") if a.base == word)
        return Clause(self.object((cls,)), COPULA, predicates=[Predicate(adjective)], tense="pres")

    # templates

    def t_step(self) -> Sentence:
        return self._one(self.step(extra=0.8))

    def t_two_steps(self) -> Sentence:
        first = self.step(extra=0.3)
        verb = self.verb("you", valencies=("a",))
        shared = [k for k in first.acc.noun.classes if k in verb.objects]
        obj = self.pronoun(first.acc) if shared and verb is not first.verb else None
        second = self.step(verb, obj, extra=0.3)
        return Sentence([("", first), ("und", second)], "", "")

    def t_condition(self) -> Sentence:
        c = self.step(extra=0.3)
        c.before = Sub(self.draw.pick(("wenn", "falls", "sobald")), self.state())
        return self._one(c)

    def named(self, *infinitives: str) -> Verb:
        """Return one of these verbs."""
        known = {v.infinitive: v for v in lex.verbs("manuals")}
        return known[self.draw.pick(infinitives)]

    def work(self) -> Verb:
        """Return what one does once a device is safe."""
        return self.named(
            "öffnen",
            "entfernen",
            "reinigen",
            "ersetzen",
            "austauschen",
            "einsetzen",
            "herausnehmen",
            "spülen",
            "überprüfen",
        )

    def t_before(self) -> Sentence:
        c = self.step(
            self.named("ausschalten", "ziehen", "leeren", "schließen", "lösen", "füllen", "aufladen"), extra=0.3
        )
        sub = Sub("bevor", self.you_do(self.work()))
        if self.draw.chance(0.4):
            c.before = sub
        else:
            c.after = [sub]
        return self._one(c)

    def t_ensure(self) -> Sentence:
        inner = self.calm_state()
        c = Clause(None, V["sicherstellen"], mood="imp", complement=Sub("dass", inner))
        if self.draw.chance(0.4):
            c.before = Sub("bevor", self.you_do())
        return self._one(c)

    def t_must(self) -> Sentence:
        verb = self.verb("you", valencies=("a",))
        c = Clause(self.object(verb.objects), verb, passive=True, modal="müssen", tense="pres")
        if self.draw.chance(0.7):
            c.adjuncts.append(self.time("n"))
        if verb.manners and self.draw.chance(0.4) and not c.adjuncts:
            c.adjuncts.append(self.manner(verb))
        if c.adjuncts and self.draw.chance(0.3) and c.adjuncts[0].kind == "time":
            c.front = c.adjuncts[0]
        if self.draw.chance(0.3):
            c.after = [Sub("bevor", self.you_do())]
        return self._one(c)

    def t_forbidden(self) -> Sentence:
        verb = self.draw.pick(
            [
                v
                for v in lex.verbs("manuals")
                if v.infinitive in ("berühren", "öffnen", "schmieren", "entfernen", "verwenden")
            ]
        )
        c = Clause(self.object(verb.objects), verb, passive=True, modal="dürfen", tense="pres", neg="nicht")
        if c.subject.det in ("zero", "indef"):
            c.subject.det = "dem"
        c.after = [Sub(self.draw.pick(("wenn", "solange")), self.state())] if self.draw.chance(0.8) else []
        return self._one(c)

    def t_purpose(self) -> Sentence:
        means, goals = self.draw.pick((
            ("drücken", ("einschalten", "ausschalten", "speichern", "auswählen", "ändern", "aktivieren", "einstellen")),
            ("lösen", ("öffnen", "entfernen", "herausnehmen")),
            ("öffnen", ("entfernen", "reinigen", "leeren", "herausnehmen", "austauschen")),
            ("verwenden", ("reinigen", "trocknen")),
        ))  # fmt: skip
        verb = self.named(means)
        obj = self.thing(self.draw.pick(("tool", "soft")), "indef", adjective=0.6) if means == "verwenden" else None
        if obj and obj.noun.lemma == "Schraubendreher":
            goals = ("lösen", "anziehen")
        c = self.step(verb, obj, extra=0.2)
        c.after = [Sub("um", self.you_do(self.named(*goals)))]
        return self._one(c)

    def t_state(self) -> Sentence:
        c = self.state()
        c.after = [Sub(self.draw.pick(("wenn", "sobald")), self.state())]
        return self._one(c)

    def t_wait(self) -> Sentence:
        c = Clause(None, V["warten"], mood="imp")
        cool = next(v for v in lex.verbs("manuals") if v.infinitive == "abkühlen")
        inner = Clause(self.object(cool.subjects), cool, tense="perf") if self.draw.chance(0.6) else self.calm_state()
        inner.neg = ""
        c.after = [Sub("bis", inner)]
        if self.draw.chance(0.6):
            c.after.append(Sub("bevor", self.you_do()))
        return self._one(c)

    def t_only(self) -> Sentence:
        verb = next(v for v in lex.verbs("manuals") if v.infinitive == "verwenden")
        c = self.step(verb, self.object(("access",)), extra=0)
        c.acc.det = "zero" if c.acc.noun.plural != "-" else c.acc.det
        c.acc.number = "p" if c.acc.noun.plural != "-" else "s"
        c.adjuncts = [Adjunct("only", "ausschließlich", ("only", "exclusively"), "completely")]
        if c.acc.noun.plural != "-":
            self.relative(c.acc, "access", lambda: Clause(NP(noun=N["Hersteller"]), V["empfehlen"], tense="pres"))
        else:
            c.after = [Sub("um", self.you_do(self.work()))]
        return self._one(c)

    def t_otherwise(self) -> Sentence:
        c = self.step(extra=0.3)
        verb = self.draw.pick(
            [v for v in lex.verbs("manuals") if v.infinitive in ("überhitzen", "festsitzen", "piepen")]
        )
        inner = Clause(self.object(verb.subjects), verb, tense="pres")
        inner.adjuncts = [Adjunct("comment", "sonst", ("otherwise",), "else")]
        c.after = [Sub(self.draw.pick(("da", "weil")), inner)]
        return self._one(c)

    def t_relative(self) -> Sentence:
        c = self.step(extra=0.2)
        if not c.acc.noun or c.acc.genitive or c.verb.valency != "a":
            return None
        verb = self.verb("you", c.acc.noun.classes[0], ("a",))
        if verb is c.verb:
            return None
        c.acc.det = "def" if c.acc.det == "zero" else c.acc.det
        self.relative(c.acc, "", lambda: Clause(NP(ref=POLITE), verb, tense="perf"))
        return self._one(c)

    def t_after_step(self) -> Sentence:
        c = self.step(extra=0.3)
        done = self.you_do()
        done.tense = "perf"
        c.before = Sub(self.draw.pick(("nachdem", "sobald")), done)
        return self._one(c)

    def t_long(self) -> Sentence:
        first, second = self.step(extra=0.8), self.step(extra=0.5)
        first.before = Sub(self.draw.pick(("wenn", "falls")), self.state())
        second.after = [Sub(self.draw.pick(("bevor", "um")), self.you_do())]
        return Sentence([("", first), ("und", second)], "", "")


class Conversation(Scene):
    """Two friends talking."""

    domain = "conversation"
    TEMPLATES: ClassVar[dict[str, float]] = {
        "past": 3, "question": 2, "request": 1.5, "whether": 1.2, "sorry": 1.2, "wh": 1.5, "if": 1.5, "think": 1.5,
        "plan": 1.5, "like": 1, "answer": 1.2, "because": 1.5, "relative": 1.2, "state": 1.2, "pronoun": 8, "long": 1.2,
    }  # fmt: skip

    UNWILLING = ("vergessen", "verpassen", "verlieren", "ärgern", "erinnern", "finden", "brauchen")

    def human(self) -> NP:
        """Return somebody both know."""
        if self.draw.chance(0.3):
            gender = self.draw.pick(("f", "m"))
            first = self.draw.pick(lex.words(f"first names {gender}"))
            other = self.draw.pick(lex.words(f"first names {'m' if gender == 'f' else 'f'}"))
            return NP(name=Name(first, first, (other,), gender, True))
        owner = self.draw.pick((ICH, DU, WIR))
        noun = self.noun("hum")
        return NP(noun=noun, det="poss", owner=owner, adjectives=self.attributes(noun, 0.1))

    def thing(self, cls: str, det: str = "", number: str = "s", adjective: float = 0.2) -> NP:
        """Return something of everyday life."""
        if cls == "hum":
            return self.human()
        np = super().thing(cls, det, number, adjective)
        if not det and cls in ("thing", "drive", "home", "item", "pet", "date", "bill") and self.draw.chance(0.5):
            np.det, np.owner = "poss", self.draw.pick((ICH, DU, WIR))
        elif np.det == "dem" and cls in ("state", "vehicle"):
            np.det = "def"
        return np

    def me_or_you(self, weights: tuple[float, float, float] = (0.6, 0.15, 0.25)) -> NP:
        """Return I, you or we."""
        return NP(ref=self.draw.weighted((ICH, DU, WIR), weights))

    def _own(self, c: Clause) -> Clause:
        """Keep possessives and reflexives sensible: nobody meets their own selves."""
        for np in (c.acc, c.dat, c.prep):
            if np is not None and np.owner in (DU, WIR) and c.subject is not None and c.subject.ref is DU:
                np.owner = ICH if np.owner is WIR else np.owner
        return c

    def act(self, tense: str, subject: NP | None = None, obj: str = "", **adjuncts) -> Clause:
        """Return somebody does something."""
        verb = self.verb("self", obj)
        while tense == "fut" and verb.infinitive in self.UNWILLING:
            verb = self.verb("self", obj)
        c = self.fill(verb, subject or self.me_or_you(), tense)
        return self.adorn(self._own(c), **adjuncts)

    def state_of(self) -> Clause:
        """Return how somebody or something is."""
        cls = self.draw.pick(("hum", "vehicle", "state"))
        return self.copula(
            self.thing(cls, "" if cls == "hum" else "def", adjective=0), (cls,), self.draw.pick(("pres", "past"))
        )

    # templates

    def t_past(self) -> Sentence:
        c = self.act("perf", time=0.7, place=0.3, comment=0.15)
        c.neg = self.draw.weighted(("", "nicht", "noch nicht", "nie"), (0.75, 0.15, 0.06, 0.04))
        if c.neg in ("noch nicht", "nie"):
            c.adjuncts = [a for a in c.adjuncts if a.kind not in ("time", "place")]
            c.front = c.front if c.front in c.adjuncts else None
        return self._one(c)

    def t_question(self) -> Sentence:
        c = self.act("perf", NP(ref=DU), time=0.5, place=0.2, comment=0, front=0)
        c.mood = "yn"
        return self._one(c, end="?")

    def t_request(self) -> Sentence:
        c = self.act("fut", NP(ref=DU), time=0.6, place=0.1, comment=0, front=0)
        c.tense, c.modal, c.mood = "pres", "können", "yn"
        if "hum" in c.verb.objects and c.verb.valency in ("a", "d", "da") and self.draw.chance(0.6):
            me = NP(ref=self.draw.pick((ICH, WIR)))
            if c.verb.valency == "a":
                c.acc = me
            else:
                c.dat = me
        return self._one(c, end="?")

    def t_whether(self) -> Sentence:
        inner = (
            self.act("perf", self.human(), time=0.3, place=0.2, comment=0, front=0)
            if self.draw.chance(0.6)
            else self.state_of()
        )
        if self.draw.chance(0.5):
            c = Clause(NP(ref=ICH), V["wissen"], tense="pres", neg="nicht", complement=Sub("ob", inner))
            return self._one(c)
        c = Clause(NP(ref=DU), V["wissen"], tense="pres", mood="yn", complement=Sub("ob", inner))
        return self._one(c, end="?")

    def t_sorry(self) -> Sentence:
        c = self.act("fut", NP(ref=ICH), time=0.6, place=0, comment=0, front=0)
        c.tense, c.modal, c.neg = "pres", "können", "nicht"
        opener = self.draw.pick((("Tut mir leid", ("I'm sorry", "Sorry")), ("Nein", ("No",)), ("Ach", ("Oh", "Ah"))))
        if self.draw.chance(0.5):
            c.after = [Sub("weil", self.state_of())]
        return self._one(c, opener=opener)

    def t_wh(self) -> Sentence:
        c = self.act("perf", NP(ref=self.draw.weighted((DU, WIR), (0.85, 0.15))), time=0, place=0, comment=0, front=0)
        word = self.draw.pick((("wann", ("when",)), ("warum", ("why",)), ("wo", ("where",))))
        front = Adjunct("wh", word[0], word[1])
        c.adjuncts, c.front, c.mood = [front], front, "wh"
        return self._one(c, end="?")

    def t_if(self) -> Sentence:
        free = Clause(NP(ref=DU), V["haben"], acc=NP(noun=N["Zeit"], det="zero"), tense="pres")
        condition = free if self.draw.chance(0.5) else self.state_of()
        condition.tense = "pres"
        c = self.act("fut", self.me_or_you((0.3, 0.2, 0.5)), time=0.4, place=0.1, comment=0, front=0)
        c.tense, c.modal = "pres", self.draw.pick(("können", "sollten", "müssen"))
        if c.modal == "können" and self.draw.chance(0.2):
            c.neg = "nicht"
        c.before = Sub("wenn", condition)
        return self._one(c)

    def t_think(self) -> Sentence:
        verb = self.draw.pick(lex.reporting("conversation"))
        c = Clause(NP(ref=ICH), verb, tense="perf" if verb.infinitive == "hören" else "pres")
        inner = (
            self.act("perf", self.human(), time=0.3, place=0.2, comment=0, front=0)
            if self.draw.chance(0.6)
            else self.state_of()
        )
        c.complement = Sub("dass", inner)
        return self._one(c)

    def t_plan(self) -> Sentence:
        c = self.act("fut", self.me_or_you((0.5, 0, 0.5)), time=0.8, place=0.1, comment=0.1)
        c.tense, c.modal = "pres", self.draw.pick(("wollen", "müssen", "sollten"))
        return self._one(c)

    def t_like(self) -> Sentence:
        cls = self.draw.pick(("show", "food", "read", "home"))
        np = self.thing(cls, "def")
        c = Clause(
            np, V["schmecken"] if cls == "food" else V["gefallen"], dat=NP(ref=self.draw.pick((ICH, WIR))), tense="perf"
        )
        c.neg = self.draw.pick(("", "nicht"))
        return self._one(self.adorn(c, time=0.2, comment=0.4, polarity="-" if c.neg else "+"))

    def t_answer(self) -> Sentence:
        c = self.act("perf", NP(ref=self.draw.pick((ICH, WIR))), time=0, place=0.1, comment=0, front=0)
        c.neg = self.draw.pick(("noch nicht", "nicht", "nie"))
        return self._one(c, opener=("Nein", ("No",)))

    def t_because(self) -> Sentence:
        c = self.act("perf", time=0.5, place=0.1, comment=0.1)
        c.neg = "nicht" if self.draw.chance(0.3) else ""
        sub = (
            self.state_of()
            if self.draw.chance(0.5)
            else self.act("perf", self.human(), time=0.2, place=0, comment=0, front=0)
        )
        c.after = [Sub("weil", sub)]
        return self._one(c)

    def t_relative(self) -> Sentence:
        name = self.draw.pick(("leihen", "schicken", "geben", "zeigen"))
        verb = next(v for v in lex.verbs("conversation") if v.infinitive == name)
        cls = self.draw.pick([k for k in verb.seconds if k not in ("drive", "home")] or ["item"])
        np = self.thing(cls, "def", adjective=0.3)
        who, whom = self.draw.pick(((DU, ICH), (ICH, DU)))
        self.relative(
            np, cls, lambda: self.adorn(Clause(NP(ref=who), verb, dat=NP(ref=whom), tense="perf"), 0.4, 0, 0, 0)
        )
        own = self.draw.pick(
            [v for v in lex.verbs("conversation") if set(np.noun.classes) & set(v.objects) and v.valency == "a"]
        )
        c = self.adorn(Clause(NP(ref=whom), own, acc=np, tense="perf"), time=0.3, place=0.2, comment=0.1)
        if whom is DU:
            c.mood, c.front = "yn", None
            c.adjuncts = [a for a in c.adjuncts if a.kind != "comment"]
            return self._one(c, end="?")
        return self._one(c)

    def t_state(self) -> Sentence:
        if self.draw.chance(0.3):
            verb = self.draw.pick((V["ankommen"], V["abfahren"]))
            c = Clause(
                self.thing("vehicle", "def"),
                verb,
                tense="perf",
                adjuncts=[self._phrase("time", ("um {clock} Uhr", "at {clock} o'clock"))],
            )
            return self._one(self.adorn(c, time=0, place=0.4, comment=0.4))
        c = self.state_of()
        self.adorn(c, time=0, place=0, comment=0.3)
        if self.draw.chance(0.4):
            return Sentence([("", c), (self.draw.pick(("aber", "und")), self.state_of())], "", "")
        return self._one(c)

    def t_pronoun(self) -> Sentence:
        if self.last is None or not self.last.human:
            return None
        c = self.act("perf", NP(ref=self.last), time=0.5, place=0.2, comment=0.2)
        return self._one(c)

    def t_long(self) -> Sentence:
        first = self.act("perf", NP(ref=ICH), time=0.7, place=0.3, comment=0.1)
        first.after = [Sub("weil", self.state_of())]
        second = self.act("fut", NP(ref=ICH), time=0.5, place=0, comment=0, front=0)
        second.tense, second.modal = "pres", self.draw.pick(("können", "wollen", "müssen"))
        second.neg = self.draw.pick(("", "nicht"))
        return Sentence([("", first), ("aber", second)], "", "")


SCENES: tuple[type[Scene], ...] = (News, Reviews, Manuals, Conversation)
