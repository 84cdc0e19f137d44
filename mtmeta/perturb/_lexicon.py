"""Resources of the language-dependent edits: synonyms, parts of speech, named entities.

By default these are the project's own word lists in ``mtmeta/data/lexicon`` and rules; WordNet (through nltk) and spaCy
are used where the option ``tools`` of `perturb_table` names them.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from .._files import word_lists
from ._words import Words

#: Languages with lists of their own.
LANGUAGES = ("en", "de", "ru")
SPACY_MODELS = {"en": "en_core_web", "de": "de_core_news", "ru": "ru_core_news"}


# -- the word lists ----------------------------------------------------------------------


@cache
def words(section: str, *languages: str) -> frozenset[str]:
    """Return the words of a section of the lists of some languages; by default of all."""
    known = [word_lists(language).get(section, ()) for language in languages or LANGUAGES]
    return frozenset(word for lines in known for line in lines for word in line.split())


def _groups(language: str) -> Iterator[tuple[str, list[dict[str, str]]]]:
    """Yield the groups of synonyms: part of speech and the forms of each member."""
    for part in ("noun", "verb", "adjective", "adverb", "other"):
        names, *lines = word_lists(language)[part]
        for line in lines:
            members = (zip(names.split("/"), member.split("/"), strict=True) for member in line.split())
            yield part, [{name: form for name, form in member if form != "-"} for member in members]


@cache
def _thesaurus(language: str) -> dict[str, dict[tuple[str, str], tuple[str, ...]]]:
    """Return form -> (part, name of the form) -> the same form of its synonyms. German nouns keep their capital."""
    found: dict[str, dict[tuple[str, str], tuple[str, ...]]] = {}
    for part, members in _groups(language):
        for member in members:
            for name, form in member.items():
                others = [m[name] for m in members if name in m and m[name] != form]
                entry = found.setdefault(form, {})
                entry[part, name] = tuple(dict.fromkeys([*entry.get((part, name), ()), *others]))
    return found


@cache
def _parts_of(language: str) -> dict[str, frozenset[str]]:
    """Return form -> the parts of speech it may be."""
    found = {form: frozenset(part for part, _ in uses) for form, uses in _thesaurus(language).items()}
    return found | {form: found.get(form, frozenset()) | {"verb"} for form in words("common", language)}


def bundled_entities(language: str) -> tuple[str, ...]:
    """Return entities to insert if the frame has too few of its own."""
    return tuple(word_lists(language)["entity"]) if language in LANGUAGES else ()


# -- tools that may be installed ---------------------------------------------------------


@cache
def wordnet() -> Any:
    """Return nltk's WordNet; raise `ImportError` or `LookupError` if it is not installed with its data."""
    from nltk.corpus import wordnet as found

    found.ensure_loaded()
    return found


@cache
def spacy_model(language: str) -> Any:
    """Return spaCy's small pipeline of a language; raise `ImportError`, `OSError` or `KeyError` if there is none."""
    import spacy

    return spacy.load(f"{SPACY_MODELS[language]}_sm")


@lru_cache(maxsize=1)
def _document(language: str, text: str) -> Any:
    """Return what spaCy reads in a text."""
    return spacy_model(language)(text)


@dataclass(frozen=True)
class Tools:
    """Synonyms, parts of speech and named entities, by lists and rules of the package or by other tools."""

    language: str
    which: str = "bundled"

    def __post_init__(self) -> None:
        try:
            if "spacy" in self.which:
                spacy_model(self.language)
            _ = self.wordnet
        except (ImportError, LookupError, OSError) as error:
            raise ValueError(
                f"tools={self.which!r} needs nltk's WordNet or spaCy's small pipeline for {self.language!r}, which is "
                f"not installed here ({error!r:.80}). Use tools='bundled'."
            ) from None

    @property
    def wordnet(self) -> Any | None:
        """WordNet, which is English, or None."""
        return wordnet() if "wordnet" in self.which and self.language == "en" else None

    def tag(self, text: Words, i: int) -> str:
        """Return ``v`` for a verb, ``a`` for an adjective, otherwise another letter or nothing."""
        if "spacy" not in self.which:
            return _tag_by_rule(text, i)
        start = text.spans[i][0]
        tokens = _document(self.language, text.text)
        part = next((token.pos_ for token in tokens if token.idx <= start < token.idx + len(token.text)), "")
        return {"VERB": "v", "ADJ": "a", "NOUN": "n", "ADV": "r"}.get(part, "")

    def entities(self, text: Words) -> list[tuple[int, int]]:
        """Return first and last word of every named entity."""
        if "spacy" not in self.which:
            return _entities_by_rule(text)
        found = []
        for entity in _document(self.language, text.text).ents:
            inside = [i for i, (a, b) in enumerate(text.spans) if a >= entity.start_char and b <= entity.end_char]
            if inside and entity.label_ in _LABELS:
                found.append((inside[0], inside[-1]))
        return found


_LABELS = frozenset("PERSON PER ORG GPE LOC NORP FAC PRODUCT EVENT WORK_OF_ART MISC".split())


# -- parts of speech by rule -------------------------------------------------------------

#: What a word may be that no list has: the tag, the ending, the least length, and the list of exceptions.
_GUESSES = {
    "en": ("a", re.compile("(?:ful|ous|ive|able|ible|al|ic|less|ish)$"), 6, "no adjective"),
    "ru": ("v", re.compile("(?:[аеиу]ет|[аеиу]ют|ит|ят|[аие]л[аи]?|[аиеу]ть|ть?ся|лся|лась|лись)$"), 5, "no verb"),
}


def _tag_by_rule(text: Words, i: int) -> str:
    word, language, before = text.lower[i], text.language, text.lower[i - 1] if i else ""
    if language == "de":
        if text.words[i][0].isupper() and not text.shouted:
            return "n" if not text.opens_sentence(i) else ""
        uses = _thesaurus("de").get(word, {})
        if word in words("common", "de") or {("verb", "s"), ("verb", "past")} & set(uses):
            return "v"
        return "a" if {part for part, _ in uses} == {"adjective"} else ""
    parts = _parts_of(language).get(word, frozenset())
    if not parts:
        tag, ending, least, exceptions = _GUESSES[language]
        return tag if len(word) >= least and ending.search(word) and word not in words(exceptions, language) else ""
    if parts == {"adjective"}:
        return "a"
    if parts == {"verb"} or ({"verb", "noun"} <= parts and before in words("no noun", language)):
        return "" if before in words("nouny", language) else "v"
    return ""


# -- named entities by rule --------------------------------------------------------------

_NOUN_DE = re.compile("(?:ung|heit|keit|schaft|tion|tät|mus|ment|nis|chen|lein|ungen|keiten|tionen)$")


def _runs(text: Words) -> list[tuple[int, int]]:
    """Return first and last word of each run of capitalised words with one space between."""
    runs, joined = [], False
    for i, word in enumerate(text.words):
        upper = word[0].isupper() and text.lower[i] not in words("no entity") | words("calendar")
        if upper:
            runs.append((runs.pop()[0] if joined else i, i))
        joined = upper and text.gap(i) == " "
    return runs


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
            found += [(i, i) for i in range(first, last + 1) if text.words[i] in bundled_entities(text.language)]
        else:
            found.append((first, last))
    return found


def _surely(text: Words, first: int, last: int, title: bool) -> bool:
    """Return whether capitalised words are a name even where capitals prove nothing."""
    words = text.words[first : last + 1]
    if " ".join(words) in bundled_entities(text.language):
        return True
    if first == last:
        return len(words[0]) > 1 and words[0].isupper() and words[0].isalpha()
    if title or text.opens_sentence(first):
        return False
    common = _thesaurus("de") if text.language == "de" else {}
    return not any(_NOUN_DE.search(w) or w in common for w in words)


# -- synonyms ----------------------------------------------------------------------------


def synonyms(text: Words, i: int, tools: Tools) -> list[str]:
    """Return what may stand for word ``i``, in the same form; empty if nothing is known."""
    found = (_from_wordnet(text, i, tools) if tools.wordnet else []) or _from_lexicon(text, i)
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
    if text.language == "en":
        uses = _fitting(text, i, uses)
    return list(next(iter(uses.values()), ()))


def _fitting(text: Words, i: int, uses: dict) -> dict:
    """Keep the uses that fit the word before: no verb after an article, no noun after `to`."""
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


def _from_wordnet(text: Words, i: int, tools: Tools) -> list[str]:
    """Return lemmas that share a synset with the word; none for inflected forms."""
    wn, word, tag = tools.wordnet, text.lower[i], tools.tag(text, i)
    if word in words("auxiliary", "en") | words("opener") or len(word) < 3:
        return []
    for pos in (tag,) if tag in tuple("nvar") else tuple("nvar"):
        if wn.morphy(word, pos) == word:
            lemmas = {n for s in wn.synsets(word, pos) for n in s.lemma_names() if n.isalpha() and n.islower()}
            if lemmas - {word}:
                return sorted(lemmas - {word})
    return []
