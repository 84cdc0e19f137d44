"""The English wording of a sentence: the choices of a style, and the places of faults.

A sentence consists of *parts*, the last one of which is the whole. A part is a pattern, which many sentences share, and
the meaning of its slots in this sentence: the number of another part, or of a fault (-1, -2, …; see `Site`). The first
list of a pattern says what is drawn for the part; the others are pieces of its text.

- ``[variable, classes, branch, …]`` is a *switch*, which stands for one of its branches. The variable is a choice that
  was drawn for this part (0, 1, …), or -1 - slot: the fault there (the ``value`` of its site, 0 where all is well) or
  what is known of the part there. ``classes`` has the branch of each value as a digit (to the base of 36), 0 beyond its
  end.
- In what is drawn, ``slot`` means what is drawn for that part; ``[choice, number]`` is a choice, with a whole number
  of options or the probability of yes; and ``[-1, …]`` has what others know of this part.
- In a text, ``[slot, piece]`` is a piece of another part; ``[slot, piece, slot]`` shows this fault wherever it shows
  none of its own. Words may be followed by ``|`` and a mark: "a" is the indefinite article, "g" stands without a space,
  "c" joins clauses, "o" shows the fault of the word before, and a number is the slot of the fault that it shows. A word
  with an empty text is a gap.
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


@dataclass(slots=True)
class Token:
    """A word, its special marks, and the number of the error that it shows (-1 for none)."""

    text: str
    flags: str = ""
    error: int = -1


class _Version:
    """One version of a sentence: the choices of each part, and its errors."""

    def __init__(self, sentence: Sentence, style: Style, faults: Sequence[tuple[int, Site]]) -> None:
        self.parts, self.style = sentence.parts, style
        self.errors = {site.fault: number for number, site in faults}
        #: Values of faults, of choices (part, choice), and of what is known of a part (part, -1).
        self.values: dict[Any, int] = {site.fault: site.value for _, site in faults}
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

    def say(self, part: int, pattern: Sequence[Any], default: int = -1) -> None:
        """Add the words of a part to ``tokens``."""
        for item in pattern:
            if isinstance(item, str):
                for word in item.split(" "):
                    text, _, special = word.partition("|")
                    flags = special.rstrip("0123456789")
                    fault = special[len(flags) :]
                    error = self.errors.get(self.parts[part][1][int(fault)], -1) if fault else default
                    self.tokens.append(Token(text.replace("_", " ") if special else text, flags, error))
            elif isinstance(item[1], str):
                self.say(part, self.branch(part, item), default)
            else:
                slots = self.parts[part][1]
                inner = slots[item[0]]
                own = self.errors.get(slots[item[2]], -1) if len(item) == 3 else default
                self.say(inner, self.parts[inner][0][item[1] + 1], own)


def translate(
    sentence: Sentence, style: Style, faults: Sequence[tuple[int, Site]] = ()
) -> tuple[str, dict[int, tuple[int, int]]]:
    """Return a translation in a style, with numbered faults, and the character span of each fault.

    A fault that leaves something out has an empty span, at the place where it is missing.
    """
    tokens = _Version(sentence, style, faults).tokens
    for before, token in zip(tokens, tokens[1:], strict=False):
        token.error = before.error if "o" in token.flags else token.error
    end, final = sentence.end, -1
    for number, site in faults:
        if PARTS[site.keys[0] % 8] == "comma":
            tokens = _wrong_comma(tokens, number)
        elif PARTS[site.keys[0] % 8] == "final":
            end, final = ("" if end == "." else "."), number
    text, spans = _spelt(tokens, end)
    if final >= 0:
        spans[final] = (len(text) - len(end), len(text))
    return text, spans


def _wrong_comma(tokens: list[Token], error: int) -> list[Token]:
    """Put a comma where German has one and English has none, or otherwise in the middle of the sentence."""
    words = [i for i, t in enumerate(tokens) if t.text and t.text != ","]
    here = next((i for i in words[1:] if "c" in tokens[i].flags and tokens[i - 1].text != ","), None)
    if here is None:
        inner = [i for i in words[1:] if tokens[i - 1].text != "," and "g" not in tokens[i].flags]
        here = inner[len(inner) // 2] if inner else len(tokens)
    return [*tokens[:here], Token(",", "", error), *tokens[here:]]


def _article(following: str) -> str:
    """Return *a* or *an* before this word."""
    low = following.lower()
    return "an" if re.match("[aeiou]|hour|honest", low) and not re.match("uni(?!m|n)|use|eu|one|uk", low) else "a"


def _spelt(tokens: Sequence[Token], end: str) -> tuple[str, dict[int, tuple[int, int]]]:
    """Join words to a text; return it with the character span of each error."""
    text = ""
    spans: dict[int, tuple[int, int]] = {}
    words = [t for t in tokens if t.text and t.text != ","]
    following = {id(a): b.text for a, b in zip(words, words[1:], strict=False)}
    comma: Token | None = None

    def append(word: str, error: int) -> None:
        nonlocal text
        if error >= 0:
            spans[error] = (spans.get(error, (len(text), 0))[0], len(text) + len(word))
        text += word

    for token in tokens:
        if token.text == ",":
            comma = token if text else None
        elif token.text:
            if comma is not None and token.text != ";":
                append(",", comma.error)
            comma = None
            text += "" if "g" in token.flags or not text else " "
            append(_article(following.get(id(token), "x")) if "a" in token.flags else token.text, token.error)
        elif token.error >= 0:
            spans[token.error] = (len(text), len(text))
    if comma is not None and comma.error >= 0:
        append(",", comma.error)
    return text[:1].upper() + text[1:] + end, spans
