"""The edits: each takes the words of a text and a generator, and returns the new text or None."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from .._files import word_lists
from ._lexicon import LANGUAGES, Tools, synonyms, words
from ._words import UNSPACED, Words


@dataclass(frozen=True)
class Setting:
    """The resources of edits: words and entities to insert, and the tools of the language."""

    vocabulary: Sequence[str]
    entities: Sequence[str]
    tools: Tools


Edit = Callable[[Words, Setting, np.random.Generator], str | None]


def _pick(rng: np.random.Generator, things: Sequence) -> object | None:
    return things[int(rng.integers(len(things)))] if len(things) else None


def removal(text: Words, setting: Setting, rng: np.random.Generator) -> str | None:
    """Drop a random word."""
    n = len(text.spans)
    return text.remove(int(rng.integers(n))) if n > 1 else None


def insertion(text: Words, setting: Setting, rng: np.random.Generator) -> str | None:
    """Put a random word of the vocabulary at a random place."""
    word = _pick(rng, setting.vocabulary)
    if word is None or not text.spans:
        return None
    return text.insert(int(rng.integers(len(text.spans) + 1)), word.upper() if text.shouted else word)


def swapping(text: Words, setting: Setting, rng: np.random.Generator) -> str | None:
    """Exchange two random words that are not the same word."""
    n = len(text.lower)
    if len(set(text.lower)) < 2:
        return None
    while True:
        i, j = sorted(int(x) for x in rng.choice(n, 2, replace=False))
        if text.lower[i] != text.lower[j]:
            return text.swap(i, j)


def synonym(text: Words, setting: Setting, rng: np.random.Generator) -> str | None:
    """Replace a random word that has a synonym."""
    for i in rng.permutation(len(text.words)):
        found = synonyms(text, int(i), setting.tools)
        if found:
            return text.replace(int(i), text.cased(_pick(rng, found), int(i)))
    return None


def _pronoun_classes(text: Words, i: int) -> list[list[str]]:
    word = text.lower[i]
    if text.language not in LANGUAGES or word in words("no pronoun"):
        return []
    found = [c for c in map(str.split, word_lists(text.language)["pronoun"]) if word in c]
    if text.language == "en" and word == "her":
        return [found[1 if text.gap(i) == " " and i + 1 < len(text.words) else 0]]
    if text.language == "de" and word == "ihr" and i + 1 < len(text.words) and text.words[i + 1][0].isupper():
        return found[1:2]
    return found[:1]


def pronoun(text: Words, setting: Setting, rng: np.random.Generator) -> str | None:
    """Replace a random pronoun by another that fits."""
    places = [i for i in range(len(text.words)) if _pronoun_classes(text, i)]
    i = _pick(rng, places)
    if i is None:
        return None
    others = [p for p in _pronoun_classes(text, i)[0] if p != text.lower[i]]
    new = _pick(rng, others)
    return text.replace(i, "I" if new == "i" and not text.shouted else text.cased(new, i))


def named_entity(text: Words, setting: Setting, rng: np.random.Generator) -> str | None:
    """Replace a random named entity by another one."""
    found = {place: text.between(*place).casefold() for place in setting.tools.entities(text)}
    place = _pick(rng, [p for p, old in found.items() if any(e.casefold() != old for e in setting.entities)])
    if place is None:
        return None
    first, last = place
    new = _pick(rng, setting.entities)
    while new.casefold() == found[place]:
        new = _pick(rng, setting.entities)
    return text.replace(first, new.upper() if text.shouted else new, last=last)


def negation(text: Words, setting: Setting, rng: np.random.Generator) -> str | None:
    """Negate at a random place: a verb, an adjective, or, in German, an indefinite article."""
    lang = text.language
    if lang not in LANGUAGES:
        return None
    (negator,) = words("negator", lang)
    negated = [w in words("negated", lang) or w.endswith("n't") for w in text.lower]
    ways = [_way(text, i, setting) for i in range(len(negated)) if not any(negated[max(0, i - 2) : i + 3])]
    chosen = _pick(rng, [way for way in ways if way])
    if chosen is None:
        return None
    i, way = chosen
    negator = negator.upper() if text.shouted else negator
    if way == "article":
        return text.replace(i, text.cased("k" + text.lower[i], i))
    return text.replace(i, f"{text.words[i]} {negator}") if way == "after" else text.insert(i, negator)


def _way(text: Words, i: int, setting: Setting) -> tuple[int, str] | None:
    """Return how word ``i`` can be negated: a negator before or after it, or a German k-."""
    word, lang = text.lower[i], text.language
    if lang == "de" and word in words("article", "de") and text.gap(i) == " ":
        return i, "article"
    if word in words("auxiliary", lang):
        return None if text.named(i) else (i, "after")
    tag = setting.tools.tag(text, i)
    if (word in words("before", lang) or tag in ("a", "v")) and not text.opens_sentence(i):
        return i, "after" if lang == "de" and tag == "v" else "before"
    return None


def negation_removal(text: Words, setting: Setting, rng: np.random.Generator) -> str | None:
    """Take back a random negation."""
    lines = word_lists(text.language)["unnegated"] if text.language in LANGUAGES else ()
    table = {word: new for word, _, new in (line.partition(" ") for line in lines)}
    i = _pick(rng, [i for i, w in enumerate(text.lower) if w in table])
    if i is None or len(text.words) < 2:
        return None
    new = table[text.lower[i]]
    return text.replace(i, text.cased(new, i)) if new else text.remove(i)


#: Letters and groups that sound alike in English: the project's own list. A pattern, and what may stand for it.
PHONETIC = tuple(
    (re.compile(pattern), tuple(new.replace("-", "") for new in options))
    for pattern, *options in map(str.split, word_lists("en")["sounds alike"])
)


def phonetic(text: Words, setting: Setting, rng: np.random.Generator) -> str | None:
    """Replace a letter or group of letters of a random word by one that sounds alike."""
    if text.language != "en":
        return None
    for i in rng.permutation(len(text.words)):
        word, lower = text.words[i], text.words[i].lower()
        if len(lower) < 3 or not lower.isascii() or len(lower) != len(word):
            continue
        found = [(m.span(), new) for pattern, new in PHONETIC for m in pattern.finditer(lower)]
        if found:
            (start, end), options = _pick(rng, found)
            new = _pick(rng, options)
            if word[start].isupper():
                new = new.upper() if word.isupper() else new.capitalize()
            return text.replace(int(i), word[:start] + new + word[end:])
    return None


def vocabulary_of(texts: Sequence[str], language: str) -> tuple[str, ...]:
    """Return the distinct words of texts, sorted, without numbers; the first word of a text is left out."""
    found: set[str] = set()
    for text in texts:
        words = Words(text, language).words
        found.update(words if language in UNSPACED or text.isupper() else words[1:])
    return tuple(sorted(w for w in found if w.replace("-", "").replace("'", "").replace("’", "").isalpha()))


_ALL = (removal, insertion, swapping, synonym, pronoun, named_entity, negation, negation_removal, phonetic)
EDITS: dict[str, Edit] = {edit.__name__: edit for edit in _ALL}
