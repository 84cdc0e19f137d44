"""Words and their forms: German and English morphology of the teaching grammar."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

DOMAINS = ("news", "reviews", "manuals", "conversation")
HUMAN = ("hum", "person", "artist", "techn", "grp", "emp")


def alternatives(field: str) -> tuple[str, ...]:
    """Split a comma-separated field."""
    return tuple(part.strip() for part in field.split(",") if part.strip())


# -- German ------------------------------------------------------------------------------

CASES = ("nom", "acc", "dat", "gen")
_DER = {"m": "der den dem des", "f": "die die der der", "n": "das das dem des", "p": "die die den der"}
_EIN = {"m": "- en em es", "f": "e e er er", "n": "- - em es", "p": "e e en er"}
_DIES = {"m": "er en em es", "f": "e e er er", "n": "es es em es", "p": "e e en er"}
_STRONG = {"m": "er en em en", "f": "e e er er", "n": "es es em en", "p": "e e en er"}
_WEAK = {"m": "e en en en", "f": "e e en en", "n": "e e en en", "p": "en en en en"}
_MIXED = {"m": "er en en en", "f": "e e en en", "n": "es es en en", "p": "en en en en"}


def _cell(table: dict[str, str], gender: str, case: str) -> str:
    ending = table[gender].split()[CASES.index(case)]
    return "" if ending == "-" else ending


#: Determiner to (stem, declension of the determiner, declension of a following adjective).
DETERMINERS = {
    "def": ("", _DER, _WEAK),
    "dem": ("dies", _DIES, _WEAK),
    "every": ("jed", _DIES, _WEAK),
    "all": ("all", _DIES, _WEAK),
    "indef": ("ein", _EIN, _MIXED),
    "kein": ("kein", _EIN, _MIXED),
    "many": ("viel", _DIES, _STRONG),
    "some": ("einig", _DIES, _STRONG),
    "several": ("mehrer", _DIES, _STRONG),
    "zero": ("", None, _STRONG),
}
POSSESSIVES = {
    "1s": "mein",
    "2s": "dein",
    "1p": "unser",
    "m": "sein",
    "n": "sein",
    "f": "ihr",
    "p": "ihr",
    "polite": "Ihr",
}


def german_determiner(det: str, gender: str, case: str, owner: str | None = None) -> str:
    """Return the inflected determiner; ``owner`` chooses the possessive."""
    if det == "poss":
        return POSSESSIVES[owner] + _cell(_EIN, gender, case)
    stem, table, _ = DETERMINERS[det]
    return "" if table is None or (det == "indef" and gender == "p") else stem + _cell(table, gender, case)


def german_ending(det: str, gender: str, case: str) -> str:
    """Return the ending of an adjective after this determiner."""
    table = _MIXED if det == "poss" else DETERMINERS[det][2]
    if det == "indef" and gender == "p":
        table = _STRONG
    return _cell(table, gender, case)


@dataclass(frozen=True, slots=True, eq=False)
class Noun:
    """A German noun with its English renderings."""

    lemma: str
    gender: str
    genitive: str
    plural: str
    english: tuple[str, ...]
    wrong: tuple[str, ...]
    classes: tuple[str, ...]
    weak: bool

    @property
    def human(self) -> bool:
        """Whether pronouns for it are *he* and *she*."""
        return any(c in HUMAN for c in self.classes)

    def form(self, case: str, number: str) -> str:
        """Return the German form in this case and number (``s`` or ``p``)."""
        if number == "p":
            return self.plural + ("n" if case == "dat" and self.plural[-1] not in "ns" else "")
        if self.weak:
            return self.lemma + ("" if case == "nom" else self.genitive)
        return self.lemma + (self.genitive if case == "gen" and self.gender != "f" else "")


_SEIN = {"pres": "bin bist ist sind sind", "past": "war warst war waren waren"}
_HABEN = {"pres": "habe hast hat haben haben", "past": "hatte hattest hatte hatten hatten"}
_WERDEN = {"pres": "werde wirst wird werden werden", "past": "wurde wurdest wurde wurden wurden"}
_MODALS = {
    "können": ("kann kannst kann können können", "konnte"),
    "müssen": ("muss musst muss müssen müssen", "musste"),
    "wollen": ("will willst will wollen wollen", "wollte"),
    "sollen": ("soll sollst soll sollen sollen", "sollte"),
    "dürfen": ("darf darfst darf dürfen dürfen", "durfte"),
    "würden": ("würde würdest würde würden würden", "würde"),
    "sollten": ("sollte solltest sollte sollten sollten", "sollte"),
}
_PERSONS = ("1s", "2s", "3s", "1p", "3p")
_FIXED = {"sein": _SEIN, "haben": _HABEN, "werden": _WERDEN}


def german_auxiliary(lemma: str, tense: str, person: str) -> str:
    """Return a form of *sein*, *haben*, *werden* or a modal verb."""
    index = _PERSONS.index(person)
    if lemma in _FIXED:
        return _FIXED[lemma][tense].split()[index]
    present, past = _MODALS[lemma]
    return present.split()[index] if tense == "pres" else past + ("", "st", "", "n", "n")[index]


@dataclass(frozen=True, slots=True, eq=False)
class Verb:
    """A German verb with its valency and its English renderings."""

    prefix: str
    base: str
    forms: tuple[str, ...]
    weak: str
    aux: str
    frame: str
    english: tuple[str, ...]
    wrong: tuple[str, ...]
    subjects: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()
    seconds: tuple[str, ...] = ()
    manners: tuple[str, ...] = ()

    @property
    def reflexive(self) -> bool:
        """Whether it takes *sich*."""
        return self.frame.startswith("r")

    @property
    def valency(self) -> str:
        """The frame without the reflexive mark and the preposition: ``-``, ``a``, ``d``, ``da``, ``P``, ``aP``."""
        return self.frame.removeprefix("r").split(":")[0]

    @property
    def preposition(self) -> tuple[str, str]:
        """German preposition and case of the prepositional object."""
        preposition, case = self.frame.split(":")[1].split("+")
        return preposition, {"a": "acc", "d": "dat"}[case]

    @property
    def infinitive(self) -> str:
        """The infinitive."""
        return self.prefix + self.base

    @property
    def zu_infinitive(self) -> str:
        """The infinitive with *zu*, in one word after a separable prefix."""
        return f"{self.prefix}zu{self.base}" if self.prefix else f"zu {self.base}"

    @property
    def stem(self) -> str:
        """The stem of the present."""
        return self.base[:-2] if self.base.endswith("en") else self.base[:-1]

    @property
    def _linked(self) -> str:
        """The stem with a linking *e* where the ending needs one."""
        s = self.stem
        link = s[-1] in "td" or (s[-1] in "mn" and (s[-2] not in "aeiouäöülrhmn" or s.endswith("chn")))
        return s + ("e" if link else "")

    @property
    def participle(self) -> str:
        """The past participle."""
        if not self.weak:
            return self.prefix + self.forms[2]
        bare = (
            self.weak == "w0"
            or self.base.startswith(("be", "ver", "er", "ent", "zer", "ge", "über"))
            or self.base.endswith("ieren")
        )
        return self.prefix + ("" if bare else "ge") + self._linked + "t"

    def finite(self, tense: str, person: str) -> str:
        """Return the finite form without the separable prefix."""
        if tense == "past":
            past = self._linked + "te" if self.weak else self.forms[1]
            if person == "2s":
                return past + "st"
            return past + ("" if person[1] == "s" else "n" if past.endswith("e") else "en")
        if person[1] == "p":
            return self.base
        if self.base == "wissen":
            return "weißt" if person == "2s" else "weiß"
        if person == "1s":
            return self.stem[:-2] + "le" if self.stem.endswith("el") else self.stem + "e"
        third = self._linked + "t" if self.weak else self.forms[0]
        if person == "3s":
            return third
        return third if third[:-1][-1] in "sßxz" else third[:-1] + "st"


@dataclass(frozen=True, slots=True, eq=False)
class Adjective:
    """A German adjective with its English renderings."""

    base: str
    stem: str
    english: tuple[str, ...]
    wrong: tuple[str, ...]
    classes: tuple[str, ...]


# -- reading the tables ------------------------------------------------------------------


@cache
def tables() -> dict[str, list[list[str]]]:
    """Return the sections of ``words.txt``: entries, each a list of fields."""
    found: dict[str, list[list[str]]] = {}
    for line in Path(__file__).with_name("words.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            entries = found.setdefault(line.strip("[]"), [])
        elif line and not line.startswith("#"):
            entries.append(line.split("|"))
    return found


def words(section: str) -> list[str]:
    """Return the words of a section that is a plain list."""
    return [word for entry in tables()[section] for word in entry[0].split()]


def make_noun(fields: list[str]) -> Noun:
    lemma, gender, genitive, plural, english, wrong, classes = fields
    return Noun(
        lemma,
        gender[0],
        genitive,
        plural,
        alternatives(english),
        alternatives(wrong),
        tuple(classes.split()),
        gender == "mn",
    )


def make_verb(
    infinitive: str, forms: str, frame: str, english: str, wrong: str = "", roles: str = "", manner: str = ""
) -> Verb:
    """Build a verb from the fields of its table line."""
    prefix, _, base = infinitive.rpartition("+")
    parts = forms.split(",")
    weak = parts[0] if parts[0] in ("w", "w0") else ""
    classes = [tuple(r.split()) for r in (roles + ">>").split(">")]
    return Verb(
        prefix, base, tuple(parts), weak, "sein" if parts[-1] == "s" else "haben", frame,
        alternatives(english), alternatives(wrong), classes[0], classes[1], classes[2], tuple(manner.split()),
    )  # fmt: skip


def make_adjective(base: str, english: str, wrong: str = "", classes: str = "") -> Adjective:
    """Build an adjective from the fields of its table line; ``base=stem`` where they differ."""
    base, _, stem = base.partition("=")
    return Adjective(
        base, stem or base.removesuffix("e"), alternatives(english), alternatives(wrong), tuple(classes.split())
    )


@cache
def nouns(domain: str) -> tuple[Noun, ...]:
    """All nouns of a domain, in table order."""
    return tuple(make_noun(fields) for fields in tables()[f"nouns {domain}"])


@cache
def verbs(domain: str) -> tuple[Verb, ...]:
    """All verbs of a domain, in table order."""
    return tuple(make_verb(*fields) for fields in tables()[f"verbs {domain}"])


@cache
def adjectives(domain: str) -> tuple[Adjective, ...]:
    """All attributive adjectives of a domain, in table order."""
    return tuple(make_adjective(*fields) for fields in tables()[f"adjectives {domain}"])


@cache
def predicates(kind: str) -> tuple[Adjective, ...]:
    """Predicate adjectives of a kind of subject."""
    return tuple(make_adjective(*fields) for fields in tables().get(f"predicates {kind}", []))


@cache
def reporting(domain: str) -> tuple[Verb, ...]:
    """Verbs of saying and thinking of a domain."""
    return tuple(make_verb(f[0], f[1], "-", f[2], f[3], f[4]) for f in tables()[f"reporting {domain}"])


@cache
def conjunctions() -> dict[str, tuple[tuple[str, ...], str]]:
    """German conjunction to (English alternatives, wrong one)."""
    return {f[0]: (alternatives(f[1]), f[2]) for f in tables()["conjunctions"]}


@cache
def nouns_of(domain: str, cls: str) -> tuple[Noun, ...]:
    """Nouns of a class."""
    return tuple(n for n in nouns(domain) if cls in n.classes)


@cache
def adjectives_for(domain: str, classes: tuple[str, ...]) -> tuple[Adjective, ...]:
    """Adjectives that go with one of these noun classes."""
    return tuple(a for a in adjectives(domain) if any(c in a.classes for c in classes))


@cache
def adverbs() -> dict[str, tuple[str, ...]]:
    """Return German, English and wrong adverbs of manner by name."""
    return {name: tuple(fields) for name, *fields in tables()["adverbs"]}


# -- English -----------------------------------------------------------------------------


def _ends_in_consonant_y(word: str) -> bool:
    return word.endswith("y") and word[-2] not in "aeiou"


@cache
def english_noun(entry: str) -> tuple[str, str, bool, bool]:
    """Return singular, plural, whether it takes a plural verb, whether it takes no article."""
    forms = entry.replace("*", "").replace("~", "").lstrip(":").split("/")
    word = forms[0]
    if len(forms) > 1:
        plural = forms[1]
    elif "*" in entry:
        plural = word
    elif _ends_in_consonant_y(word):
        plural = word[:-1] + "ies"
    elif word.endswith("man"):
        plural = word[:-2] + "en"
    else:
        plural = word + ("es" if word.endswith(("s", "x", "ch", "sh", "z")) else "s")
    return word, plural, "*" in entry, "~" in entry


@cache
def _irregular() -> dict[str, tuple[str, str]]:
    return {lemma: (past, participle) for lemma, past, participle in tables()["irregular"]}


@cache
def english_verb(lemma: str, form: str) -> str:
    """Return a form of an English verb: ``base``, ``3s``, ``past`` or ``pp``."""
    if form == "base":
        return lemma
    if form == "3s":
        if lemma in ("be", "have", "do", "go"):
            return {"be": "is", "have": "has", "do": "does", "go": "goes"}[lemma]
        if _ends_in_consonant_y(lemma):
            return lemma[:-1] + "ies"
        return lemma + ("es" if lemma.endswith(("s", "x", "ch", "sh", "z", "do")) else "s")
    if lemma in _irregular():
        return _irregular()[lemma][form == "pp"]
    if lemma.endswith("e"):
        return lemma + "d"
    if _ends_in_consonant_y(lemma):
        return lemma[:-1] + "ied"
    if lemma in words("doubling"):
        double = lemma[-1] if lemma != "cancel" else "l"
        return lemma + double + "ed"
    return lemma + "ed"
