"""The English wording of a sentence: the choices of a style, and faults.

A sentence consists of *parts*, the last one of which is the whole. A part is a pattern, which many sentences share, and
the meaning of its slots in this sentence: the number of another part, or of a fault (-1, -2, …; see `Site`). The first
list of a pattern says what is drawn for the part; the others are pieces of its text.

- ``[variable, classes, branch, …]`` is a *switch*, which stands for one of its branches. The variable is a choice that
  was drawn for this part (0, 1, …), or -1 - slot: the fault there (the ``value`` of its site, 0 where all is well) or
  what is known of the part there. ``classes`` has the branch of each value as a digit (to the base of 36), 0 beyond its
  end.
- In what is drawn, ``slot`` means what is drawn for that part; ``[choice, number]`` is a choice, with a whole number
  of options or the probability of yes; and ``[-1, …]`` has what others know of this part.
- In a text, ``[slot, piece]`` is a piece of another part. Words may be followed by ``|`` and marks: "a" is the
  indefinite article, "g" stands without a space, "c" joins clauses. (The pool also notes which words show a fault: a
  third entry of a piece, "o", and numbers. They are not used.) A word with an empty text is a gap.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ._sentences import PARTS, Sentence, Site


class Style:
    """Chooses among correct wordings: the first one, or with probability ``freedom`` any of them."""

    def __init__(self, uniforms: Callable[[], float], freedom: float) -> None:
        self._uniform = uniforms
        self.freedom = freedom

    def pick(self, n: int) -> int:
        """Return the number of one of ``n`` options."""
        u, v = self._uniform(), self._uniform()
        return int(v * n) if u < self.freedom else 0

    def chance(self, probability: float) -> bool:
        """Return whether a free wording is chosen; ``probability`` holds at freedom 1."""
        return self._uniform() < self.freedom * probability


@dataclass(frozen=True, slots=True)
class Token:
    """A word and its marks; "!" marks a comma that must be shown."""

    text: str
    marks: str = ""


class _Version:
    """One version of a sentence: the choices of each part, and its words."""

    def __init__(self, sentence: Sentence, style: Style, faults: Sequence[Site]) -> None:
        self.parts, self.style = sentence.parts, style
        #: Values of faults, of choices (part, choice), and of what is known of a part (part, -1).
        self.values: dict[Any, int] = {site.fault: site.value for site in faults}
        self.tokens: list[Token] = []
        whole = len(self.parts) - 1
        self.draw(whole, self.parts[whole][0][0])
        self.say(whole, self.parts[whole][0][1])

    def branch(self, part: int, switch: list[Any]) -> list[Any]:
        """Return the branch of a switch that stands there."""
        variable, classes = switch[0], switch[1]
        if variable >= 0:
            value = self.values[part, variable]
        else:
            meant = self.parts[part][1][~variable]
            value = self.values.get(meant, 0) if meant < 0 else self.values[meant, -1]
        return switch[2 + int(classes[value], 36)] if value < len(classes) else switch[2]

    def draw(self, part: int, pattern: Sequence[Any]) -> None:
        """Draw the choices of a part in their order."""
        for item in pattern:
            if isinstance(item, int):
                inner = self.parts[part][1][item]
                self.draw(inner, self.parts[inner][0][0])
            elif isinstance(item[1], str):
                self.draw(part, self.branch(part, item))
            elif isinstance(item[1], list):
                (known,) = item[1]
                while isinstance(known, list):
                    (known,) = self.branch(part, known)
                self.values[part, -1] = known
            elif isinstance(item[1], int):
                self.values[part, item[0]] = self.style.pick(item[1])
            else:
                self.values[part, item[0]] = int(self.style.chance(item[1]))

    def say(self, part: int, pattern: Sequence[Any]) -> None:
        """Add the words of a part to ``tokens``."""
        for item in pattern:
            if isinstance(item, str):
                for word in item.split(" "):
                    text, _, marks = word.partition("|")
                    self.tokens.append(Token(text.replace("_", " ") if marks else text, marks))
            elif isinstance(item[1], str):
                self.say(part, self.branch(part, item))
            else:
                inner = self.parts[part][1][item[0]]
                self.say(inner, self.parts[inner][0][item[1] + 1])


def translate(sentence: Sentence, style: Style, faults: Sequence[Site] = ()) -> str:
    """Return a translation in a style, with faults."""
    tokens, end = _Version(sentence, style, faults).tokens, sentence.end
    for site in faults:
        if PARTS[site.keys[0] % 8] == "comma":
            tokens = _wrong_comma(tokens)
        elif PARTS[site.keys[0] % 8] == "final":
            end = "" if end == "." else "."
    return _spelt(tokens) + end


def _wrong_comma(tokens: list[Token]) -> list[Token]:
    """Put a comma where German has one and English has none, or otherwise in the middle of the sentence."""
    words = [i for i, t in enumerate(tokens) if t.text and t.text != ","]
    here = next((i for i in words[1:] if "c" in tokens[i].marks and tokens[i - 1].text != ","), None)
    if here is None:
        inner = [i for i in words[1:] if tokens[i - 1].text != "," and "g" not in tokens[i].marks]
        here = inner[len(inner) // 2] if inner else len(tokens)
    return [*tokens[:here], Token(",", "!"), *tokens[here:]]


def _article(following: str) -> str:
    """Return *a* or *an* before this word."""
    low = following.lower()
    return "an" if re.match("[aeiou]|hour|honest", low) and not re.match("uni(?!m|n)|use|eu|one|uk", low) else "a"


def _spelt(tokens: Sequence[Token]) -> str:
    """Join words to a text; of commas in a row the last one counts, and none before a semicolon."""
    text, comma = "", None
    words = [t for t in tokens if t.text and t.text != ","]
    following = {id(a): b.text for a, b in zip(words, words[1:], strict=False)}
    for token in tokens:
        if token.text == ",":
            comma = token if text else None
        elif token.text:
            text += "," if comma is not None and token.text != ";" else ""
            comma = None
            text += "" if "g" in token.marks or not text else " "
            text += _article(following.get(id(token), "x")) if "a" in token.marks else token.text
    text += "," if comma is not None and "!" in comma.marks else ""
    return text[:1].upper() + text[1:]
