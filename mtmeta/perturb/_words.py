"""Words of a text with their places, and edits that leave every other byte alone."""

import re
from dataclasses import dataclass
from functools import cached_property

#: Languages written without spaces: a word is a letter.
UNSPACED = ("zh", "ja")

_WORD = re.compile(r"\d+(?:[.,:]\d+)+|[^\W_]+(?:['’‑-][^\W_]+)*")
_CHARACTER = re.compile(r"[^\W_]")
_OPENS_SENTENCE = re.compile(r"(?:^|[.!?…。！？]['\"»”’)\]]*\s|\n)[\s\W]*$")


def base_language(language: str) -> str:
    """Return the part of a language code before the region, in lower case."""
    code = re.split("[-_]", str(language))[0].lower()
    if not re.fullmatch("[a-z]{2,3}", code):
        raise ValueError(f"`language` must be the code of a language, such as 'en' or 'de'; found {language!r}.")
    return code


@dataclass(frozen=True)
class Words:
    """A text, and the spans of its words."""

    text: str
    language: str

    @cached_property
    def spans(self) -> list[tuple[int, int]]:
        """Where the words are."""
        pattern = _CHARACTER if self.language in UNSPACED else _WORD
        return [m.span() for m in pattern.finditer(self.text)]

    @cached_property
    def words(self) -> list[str]:
        """The words as they are written."""
        return [self.text[a:b] for a, b in self.spans]

    @cached_property
    def lower(self) -> list[str]:
        """The words in lower case, with straight apostrophes, for looking up; acronyms such as US as they are."""
        kept = {w for w in self.words if len(w) > 1 and w.isupper()} if not self.shouted else set()
        return [w if w in kept else w.lower().replace("’", "'") for w in self.words]

    @cached_property
    def shouted(self) -> bool:
        """Whether the whole text is in capitals, as transcripts often are."""
        return self.text.isupper() and sum(c.isalpha() for c in self.text) > 1

    def opens_sentence(self, i: int) -> bool:
        """Return whether word ``i`` is the first of a sentence."""
        return i == 0 or _OPENS_SENTENCE.search(self.text[max(0, self.spans[i][0] - 12) : self.spans[i][0]]) is not None

    def named(self, i: int) -> bool:
        """Return whether word ``i`` has a capital that its place does not explain."""
        return self.words[i][0].isupper() and not self.shouted and not self.opens_sentence(i)

    def gap(self, i: int) -> str:
        """Return the characters between word ``i`` and the next, or the end."""
        end = self.spans[i + 1][0] if i + 1 < len(self.spans) else len(self.text)
        return self.text[self.spans[i][1] : end]

    def replace(self, i: int, new: str, *, last: int | None = None) -> str:
        """Return the text with words ``i`` to ``last`` replaced."""
        start, end = self.spans[i][0], self.spans[i if last is None else last][1]
        return self.text[:start] + new + self.text[end:]

    def between(self, first: int, last: int) -> str:
        """Return the text from word ``first`` to word ``last``."""
        return self.text[self.spans[first][0] : self.spans[last][1]]

    def remove(self, i: int) -> str:
        """Return the text without word ``i`` and the space after it, or otherwise before it."""
        start, end = self.spans[i]
        after = re.match(r"\s+", self.text[end:])
        before = re.search(r"\s+$", self.text[:start])
        if after and (before or start == 0):
            end += after.end()
        elif before:
            start = before.start()
        return self.text[:start] + self.text[end:]

    def insert(self, place: int, new: str) -> str:
        """Return the text with ``new`` before word ``place``, or after the last word."""
        space = "" if self.language in UNSPACED else " "
        if place < len(self.spans):
            at, new = self.spans[place][0], new + space
        else:
            at, new = self.spans[-1][1], space + new
        return self.text[:at] + new + self.text[at:]

    def swap(self, i: int, j: int) -> str:
        """Return the text with words ``i < j`` in each other's place."""
        (a, b), (c, d) = self.spans[i], self.spans[j]
        return self.text[:a] + self.text[c:d] + self.text[b:c] + self.text[a:b] + self.text[d:]

    def cased(self, new: str, i: int) -> str:
        """Return ``new`` in capitals or with a first capital if word ``i`` is written that way."""
        old = self.words[i]
        if self.shouted or (len(old) > 1 and old.isupper()):
            return new.upper()
        if old[0].isupper() and (self.opens_sentence(i) or (old != "I" and self.language != "de")):
            return new[0].upper() + new[1:]
        return new
