"""What the language-dependent edits look up: synonyms, parts of speech, named entities.

WordNet (through nltk) and spaCy are used where they are installed with their data, else the project's own word
lists in ``mtmeta/data/lexicon`` and rules. `resources` says which.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from .._files import word_lists
from ._words import Words

#: Languages with lists of their own.
LANGUAGES = ("en", "de", "ru")
SPACY_MODELS = {
    "en": ("en_core_web_sm", "en_core_web_md", "en_core_web_lg"),
    "de": ("de_core_news_sm", "de_core_news_md", "de_core_news_lg"),
    "ru": ("ru_core_news_sm", "ru_core_news_md", "ru_core_news_lg"),
}

Forms = dict[str, str]


# -- the word lists ----------------------------------------------------------------------


def _s(word: str) -> str:
    """Return the English form in -s."""
    if re.search("(s|x|z|ch|sh|[^aeiou]o)$", word):
        return word + "es"
    return word[:-1] + "ies" if re.search("[^aeiou]y$", word) else word + "s"


@cache
def words(section: str, *languages: str) -> frozenset[str]:
    """Return the words of a section of the lists of some languages; of all without."""
    known = [word_lists(language).get(section, ()) for language in languages or LANGUAGES]
    return frozenset(word for lines in known for line in lines for word in line.split())


def _stem(verb: str) -> str:
    """Return an English verb ready for -ed or -ing: its last consonant doubled where that is the rule."""
    one_syllable = re.fullmatch(r"(?:[^aeiouy]|qu)*[aeiou][^aeiouwxy]", verb)
    return verb + verb[-1] if one_syllable or verb in words("stressed at end", "en") else verb


def _english_verb(entry: str) -> Forms:
    base, *irregular = entry.split("/")
    past = base + "d" if base.endswith("e") else _stem(base) + "ed"
    if re.search("[^aeiou]y$", base):
        past = base[:-1] + "ied"
    if base.endswith("ie"):
        ing = base[:-2] + "ying"
    else:
        ing = base[:-1] + "ing" if re.search("[^eoy]e$", base) else _stem(base) + "ing"
    first, second = irregular or (past, past)
    return {"base": base, "s": _s(base), "past": first, "participle": second, "ing": ing}


def _english_noun(entry: str) -> Forms:
    base, *plural = entry.split("/")
    return _known({"singular": base, "plural": plural[0] if plural else _s(base)})


def _known(forms: Forms) -> Forms:
    return {k: v for k, v in forms.items() if v != "-"}


def _german_noun(entry: str) -> Forms:
    singular, plural = entry.split("/")
    forms = {"singular": singular, "plural": plural}
    if plural != "-" and plural[-1] not in "ns":
        forms["dative"] = plural + "n"
    return _known(forms)


def _german_adjective(stem: str) -> Forms:
    inflected = stem[:-1] if stem.endswith("e") else stem
    return {"": stem, **{e: inflected + e for e in ("e", "en", "em", "er", "es")}}


def _russian_adjective(lemma: str) -> Forms:
    stem = lemma[:-2]
    soft = lemma.endswith("ний")
    high = "и" if soft or stem[-1] in "гкхжшчщ" else "ы"
    o = "е" if soft or (stem[-1] in "жшчщ" and lemma.endswith("ий")) else "о"
    endings = {
        "f": "яя" if soft else "ая", "n": o + "е", "p": high + "е", "gen": o + "го", "dat": o + "му",
        "ins": high + "м", "loc": o + "м", "obl": o + "й", "acc": "юю" if soft else "ую", "pgen": high + "х",
        "pins": high + "ми",
    }  # fmt: skip
    return {"m": lemma, **{k: stem + e for k, e in endings.items()}}


def _russian_verb(entry: str) -> Forms:
    base, third, plural = entry.split("/")
    return {"base": base, "s": third, "p": plural, **{e: base[:-2] + e for e in ("л", "ла", "ло", "ли")}}


def _names(*names: str) -> Any:
    return lambda entry: dict(zip(names, entry.split("/"), strict=True))


def _fixed(entry: str) -> Forms:
    return {"": entry}


_INFLECT = {
    ("en", "noun"): _english_noun, ("en", "verb"): _english_verb, ("de", "noun"): _german_noun,
    ("de", "verb"): _names("base", "s", "past", "participle"), ("de", "adjective"): _german_adjective,
    ("ru", "noun"): lambda entry: _known(_names("singular", "plural")(entry)), ("ru", "verb"): _russian_verb,
    ("ru", "adjective"): _russian_adjective,
}  # fmt: skip
_PARTS = ("noun", "verb", "adjective", "adverb", "other")


@cache
def groups(language: str) -> tuple[tuple[str, tuple[Forms, ...]], ...]:
    """Return the groups of synonyms: part of speech and the forms of each member."""
    found = []
    for part in _PARTS:
        inflect = _INFLECT.get((language, part), _fixed)
        found += [(part, tuple(inflect(e) for e in line.split())) for line in word_lists(language)[part]]
    return tuple(found)


@cache
def _thesaurus(language: str) -> dict[str, dict[tuple[str, str], tuple[str, ...]]]:
    """Return form -> (part, name of the form) -> the same form of its synonyms. German nouns keep their capital."""
    found: dict[str, dict[tuple[str, str], tuple[str, ...]]] = {}
    for part, members in groups(language):
        for member in members:
            for name, form in member.items():
                others = [m[name] for m in members if name in m and m[name] != form]
                entry = found.setdefault(form, {})
                entry[part, name] = tuple(dict.fromkeys([*entry.get((part, name), ()), *others]))
    return found


@cache
def _parts_of(language: str) -> dict[str, frozenset[str]]:
    """Return form -> the parts of speech it may be."""
    found: dict[str, set[str]] = {}
    for form, uses in _thesaurus(language).items():
        found.setdefault(form, set()).update(part for part, _ in uses)
    for line in word_lists(language)["common"]:
        for form in line.split():
            found.setdefault(form, set()).add("verb")
    return {form: frozenset(parts) for form, parts in found.items()}


@cache
def bundled_vocabulary(language: str) -> tuple[str, ...]:
    """Return words to insert where there is no frame to take them from."""
    if language not in LANGUAGES:
        return ()
    return tuple(sorted(form for form in _thesaurus(language)))


@cache
def bundled_entities(language: str) -> tuple[str, ...]:
    """Return entities to put in where the frame has too few of its own."""
    return tuple(word_lists(language)["entity"]) if language in LANGUAGES else ()


# -- tools that may be installed ---------------------------------------------------------


@cache
def wordnet() -> Any | None:
    """Return nltk's WordNet if it is installed with its data, else None."""
    try:
        from nltk.corpus import wordnet as found

        found.synsets("dog")
    except (ImportError, LookupError):
        return None
    return found


@cache
def spacy_model(language: str) -> Any | None:
    """Return a spaCy pipeline of a language if one is installed, else None."""
    try:
        import spacy
    except ImportError:
        return None
    for name in SPACY_MODELS.get(language, ()):
        if spacy.util.is_package(name):
            return spacy.load(name)
    return None


class Tagger:
    """Parts of speech and named entities: by spaCy if a pipeline is given, else by rules."""

    def __init__(self, pipeline: Any | None = None) -> None:
        self.pipeline = pipeline
        self._text, self._read = None, None

    @property
    def name(self) -> str:
        """``rules``, or ``spacy:`` and the pipeline."""
        if self.pipeline is None:
            return "rules"
        return f"spacy:{self.pipeline.meta['lang']}_{self.pipeline.meta['name']}"

    def _document(self, text: Words) -> Any:
        if text.text != self._text:
            self._text, self._read = text.text, self.pipeline(text.text)
        return self._read

    def tag(self, text: Words, i: int) -> str:
        """Return ``v`` for a verb, ``a`` for an adjective, else another letter or nothing."""
        if self.pipeline is None:
            return _TAGGERS.get(text.language, lambda *_: "")(text, i)
        start = text.spans[i][0]
        for token in self._document(text):
            if token.idx <= start < token.idx + len(token.text):
                return {"VERB": "v", "ADJ": "a", "NOUN": "n", "ADV": "r"}.get(token.pos_, "")
        return ""

    def entities(self, text: Words) -> list[tuple[int, int]]:
        """Return first and last word of every named entity."""
        if self.pipeline is None:
            return _entities_by_rule(text)
        found = []
        for entity in self._document(text).ents:
            inside = [i for i, (a, b) in enumerate(text.spans) if a >= entity.start_char and b <= entity.end_char]
            if inside and entity.label_ in _LABELS:
                found.append((inside[0], inside[-1]))
        return found


_LABELS = frozenset("PERSON PER ORG GPE LOC NORP FAC PRODUCT EVENT WORK_OF_ART MISC".split())


def tagger(language: str, tools: str = "auto") -> Tagger:
    """Return the best tagger there is for a language; ``bundled``: the one that goes by rules."""
    return Tagger(spacy_model(language) if tools == "auto" else None)


def entities(text: Words, tagger: Tagger) -> list[tuple[int, int]]:
    """Return first and last word of every named entity of a text."""
    return tagger.entities(text)


# -- parts of speech by rule -------------------------------------------------------------

_ADJECTIVE_EN = re.compile("(?:ful|ous|ive|able|ible|al|ic|less|ish)$")
_FINITE_DE = ("s", "past")
_VERB_RU = re.compile(
    "(?:[аеиу]ет|[аеиу]ют|ит|ят|ал|ала|али|ил|ила|или|ел|ела|ели|ать|ить|еть|уть|тся|ться|лся|лась|лись)$"
)


def _tag_english(text: Words, i: int) -> str:
    word, before = text.lower[i], text.lower[i - 1] if i else ""
    parts = _parts_of("en").get(word, frozenset())
    if not parts and len(word) > 5 and _ADJECTIVE_EN.search(word) and word not in words("no adjective", "en"):
        return "a"
    if parts == {"adjective"}:
        return "a"
    if parts == {"verb"} or ("verb" in parts and "noun" in parts and before in ("to", "will", "can", "must", "not")):
        return "" if before in words("nouny", "en") else "v"
    return ""


def _tag_german(text: Words, i: int) -> str:
    word = text.lower[i]
    if text.words[i][0].isupper() and not text.shouted:
        return "n" if not text.opens_sentence(i) else ""
    uses = _thesaurus("de").get(word, {})
    if word in words("common", "de") or any(part == "verb" and name in _FINITE_DE for part, name in uses):
        return "v"
    return "a" if uses and all(part == "adjective" for part, _ in uses) else ""


def _tag_russian(text: Words, i: int) -> str:
    word = text.lower[i]
    parts = _parts_of("ru").get(word, frozenset())
    if parts:
        return "v" if parts == {"verb"} else "a" if parts == {"adjective"} else ""
    return "v" if len(word) > 4 and _VERB_RU.search(word) and word not in words("no verb", "ru") else ""


_TAGGERS = {"en": _tag_english, "de": _tag_german, "ru": _tag_russian}


# -- named entities by rule --------------------------------------------------------------

_NOUN_DE = re.compile("(?:ung|heit|keit|schaft|tion|tät|mus|ment|nis|chen|lein|ungen|keiten|tionen)$")


@cache
def _gazetteer(language: str) -> frozenset[str]:
    return frozenset(e for e in bundled_entities(language))


def _runs(text: Words) -> Iterator[tuple[int, int]]:
    """Yield first and last word of each run of capitalised words with one space between."""
    first = None
    for i, word in enumerate(text.words):
        upper = word[0].isupper() and text.lower[i] not in words("no entity") | words("calendar")
        if upper and first is None:
            first = i
        ends = i + 1 == len(text.words) or text.gap(i) != " " or not text.words[i + 1][0].isupper()
        if not upper and first is not None:
            yield first, i - 1
            first = None
        elif upper and ends:
            yield first, i
            first = None


def _entities_by_rule(text: Words) -> list[tuple[int, int]]:
    """Find capitalised words that only a name would explain; in German, where nouns have capitals too, fewer."""
    if text.shouted or text.language not in LANGUAGES:
        return []
    found = []
    capitals = sum(w[0].isupper() for w in text.words)
    title = len(text.words) >= 4 and capitals > 0.6 * len(text.words)
    for first, last in _runs(text):
        word = text.lower[first]
        if text.opens_sentence(first) and (word in words("opener") or word in _parts_of(text.language)):
            first += 1
            if first > last:
                continue
        if (text.language == "de" or title or (first == last and text.opens_sentence(first))) and not _surely(
            text, first, last, title
        ):
            found += [(i, i) for i in range(first, last + 1) if text.words[i] in _gazetteer(text.language)]
        else:
            found.append((first, last))
    return found


def _surely(text: Words, first: int, last: int, title: bool) -> bool:
    """Return whether capitals are a name even where they prove nothing."""
    words = text.words[first : last + 1]
    if " ".join(words) in _gazetteer(text.language):
        return True
    if first == last:
        return len(words[0]) > 1 and words[0].isupper() and words[0].isalpha()
    if title or text.opens_sentence(first):
        return False
    common = _thesaurus("de") if text.language == "de" else {}
    return not any(_NOUN_DE.search(w) or w in common for w in words)


# -- synonyms ----------------------------------------------------------------------------


def synonyms(text: Words, i: int, tagger: Tagger, tools: str = "auto") -> list[str]:
    """Return what may stand for word ``i``, in the same form; empty if nothing is known."""
    uses_wordnet = tools == "auto" and text.language == "en" and wordnet() is not None
    found = _from_wordnet(text, i, tagger) if uses_wordnet else _from_lexicon(text, i)
    if text.language == "en" and i and text.lower[i - 1] in ("a", "an") and text.gap(i - 1) == " ":
        vowel = text.lower[i][0] in "aeiou"
        found = [w for w in found if (w[0] in "aeiou") == vowel]
    return [w for w in found if w.lower() != text.lower[i]]


def _from_lexicon(text: Words, i: int) -> list[str]:
    if text.language not in LANGUAGES:
        return []
    word, thesaurus = text.words[i], _thesaurus(text.language)
    if text.language != "de" or text.opens_sentence(i):
        word = word.lower()
    uses = thesaurus.get(word) or (thesaurus.get(word.capitalize()) if text.language == "de" else None) or {}
    if not uses:
        return []
    if text.language == "en":
        uses = _fitting(text, i, uses)
    return [] if not uses else list(next(iter(uses.values())))


def _fitting(text: Words, i: int, uses: dict) -> dict:
    """Keep the uses that fit what stands before: after an article no verb, after `to` no noun."""
    before = text.lower[i - 1] if i else ""
    parts = {part for part, _ in uses}
    if len(parts) > 1:
        if before in words("nouny", "en"):
            uses = {k: v for k, v in uses.items() if k[0] != "verb"}
        elif before in words("verby", "en"):
            uses = {k: v for k, v in uses.items() if k[0] == "verb"} or uses
    names = {name for _, name in uses}
    if {"past", "participle"} <= names:
        drop = "past" if before in words("perfect", "en") else "participle"
        uses = {k: v for k, v in uses.items() if k[1] != drop}
    return uses


def _from_wordnet(text: Words, i: int, tagger: Tagger) -> list[str]:
    """Return lemmas that share a synset with the word, in its inflection; none for irregular forms."""
    wn, word = wordnet(), text.lower[i]
    tag = tagger.tag(text, i)
    if word in words("auxiliary", "en") | words("opener") or len(word) < 3:
        return []
    for pos in (tag,) if tag in tuple("nvar") else tuple("nvar"):
        base = wn.morphy(word, pos)
        if base is None:
            continue
        inflect = _inflection(base, word, pos)
        lemmas = {n for s in wn.synsets(base, pos) for n in s.lemma_names() if n.isalpha() and n.islower()}
        if inflect is not None and lemmas - {base}:
            return sorted(inflect(n) for n in lemmas - {base})
    return []


def _inflection(base: str, word: str, pos: str) -> Any | None:
    """Return the function that makes ``word`` of ``base``, if it is a regular one."""
    if base == word:
        return lambda lemma: lemma
    if pos == "n" and _s(base) == word:
        return _s
    if pos == "v":
        for name, form in _english_verb(base).items():
            if form == word:
                return lambda lemma: _english_verb(lemma)[name]
    return None
