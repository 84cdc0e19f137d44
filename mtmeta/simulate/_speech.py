"""Simulated transcripts: spoken references, and recognisers that mishear them."""

from __future__ import annotations

import copy
import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import cache

import pandas as pd

from .._checks import check_count
from .._files import word_lists
from .._limits import MAX_SEED
from ._campaign import references_of
from ._random import PLANTED, Draw, numbered, rounded
from ._sentences import drawn

COLUMNS = ("system", "segment", "speaker", "quality", "reference", "transcript", "truth")
FUNCTION_WORDS = frozenset(" ".join(word_lists("sounds")["function"]).split())
SETTINGS = PLANTED["speech"]
INSERTED = tuple(word_lists("sounds")["inserted"][0].split())
_UNITS, _TENS = (word_lists("sounds")[name][0].split() for name in ("unit", "ten"))
#: Spelling to sound, roughly, applied in order; sounds that differ in voice alone fall together.
_SOUNDS = [(re.compile(old), new.replace("-", "")) for old, new in map(str.split, word_lists("sounds")["sound"])]
#: How a word is respelled that sounds like no other: one letter or pair of letters for another.
_RESPELL = tuple(tuple(line.split()) for line in word_lists("sounds")["respelt"])


# -- references -------------------------------------------------------------------------------


def _whole(n: int) -> str:
    """Spell a whole number below a million.

    >>> _whole(1350)
    'one thousand three hundred and fifty'
    """
    if n < 20:
        return _UNITS[n]
    if n < 100:
        return _TENS[n // 10 - 2] + (f" {_UNITS[n % 10]}" if n % 10 else "")
    if n < 1000:
        return f"{_UNITS[n // 100]} hundred" + (f" and {_whole(n % 100)}" if n % 100 else "")
    rest = n % 1000
    link = " and " if rest < 100 else " "
    return f"{_whole(n // 1000)} thousand" + (f"{link}{_whole(rest)}" if rest else "")


def _said(number: str) -> str:
    """Spell a number as it is read out; four digits without a comma are a year.

    >>> _said("1999"), _said("2007"), _said("4.05"), _said("1,400")
    ('nineteen ninety nine', 'two thousand and seven', 'four point zero five', 'one thousand four hundred')
    """
    whole, _, decimals = number.replace(",", "").partition(".")
    n = int(whole)
    if len(number) == 4 and number.isdigit() and not 2000 <= n < 2010 and n % 100 > 9:
        return f"{_whole(n // 100)} {_whole(n % 100)}"
    return " ".join([_whole(n), *(["point"] if decimals else []), *(_UNITS[int(d)] for d in decimals)])


def spoken(text: str) -> str:
    """Return a text in the form of a transcript: lower case, numbers spelled out, no accents or punctuation.

    >>> spoken("It rose by 19.9 percent in 2007; I don't know why!")
    "it rose by nineteen point nine percent in two thousand and seven i don't know why"
    >>> spoken("1,005 'two-way' cafés, 121 in 2014")
    'one thousand and five two way cafes one hundred and twenty one in twenty fourteen'
    """
    text = "".join(c for c in unicodedata.normalize("NFKD", text.lower()) if not unicodedata.combining(c))
    text = re.sub(r"\d+(?:[.,]\d+)*", lambda match: _said(match.group()), text)
    return " ".join(word for word in (w.strip("'") for w in re.findall(r"[^\W_]+(?:'[^\W_]+)*", text)) if word)


# -- the channel ------------------------------------------------------------------------------


@cache
def _sound(word: str) -> str:
    """Return a rough key of how a word sounds: words that sound alike share it.

    >>> _sound("bad") == _sound("pat"), _sound("which") == _sound("witch")
    (True, True)
    """
    for pattern, sound in _SOUNDS:
        word = pattern.sub(sound, word)
    return word


def _keys(word: str) -> list[str]:
    """Return the sound of a word and, if it is not short, also the sound without each one of its parts."""
    sound = _sound(word)
    return [sound] if len(sound) < 3 else [sound, *(sound[:i] + sound[i + 1 :] for i in range(len(sound)))]


class _Ear:
    """The words that each word of a vocabulary may be mistaken for."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self._near: dict[str, set[str]] = defaultdict(set)
        for word in vocabulary:
            for key in _keys(word):
                self._near[key].add(word)

    def candidates(self, word: str) -> list[str]:
        """Return the words of the vocabulary that sound like a word or nearly so, in alphabetical order."""
        return sorted({w for key in _keys(word) for w in self._near.get(key, ())} - {word})

    def mishear(self, word: str, draw: Draw) -> str:
        """Return another word that sounds similar: one of the vocabulary, or else a respelling."""
        if known := self.candidates(word):
            return draw.weighted(known, [3.0 if _sound(w) == _sound(word) else 1.0 for w in known])
        sites = [(m.span(), new) for old, new in _RESPELL for m in re.finditer(old, word)]
        (start, end), new = draw.pick(sites) if sites else ((len(word), len(word)), "s")
        return word[:start] + new + word[end:]


def _transcribe(
    words: Sequence[str], spots: Sequence[tuple[float, str]], rate: float, ear: _Ear, draw: Draw
) -> tuple[str, int]:
    """Return what a recogniser writes for ``words``, and the number of word errors in it.

    ``spots`` gives for every word its difficulty and the word that systems commonly hear instead.
    """
    out: list[str] = []
    errors, last = 0, ""
    for word, (difficulty, common) in zip(words, spots, strict=True):
        shares = SETTINGS["function" if word in FUNCTION_WORDS else "content"]
        kind = draw.weighted(("substitution", "deletion", "insertion"), shares)
        # An insertion beside a deletion would be one substitution: the count would be wrong.
        clash = {kind, last} == {"insertion", "deletion"}
        if clash or not draw.chance(1 - math.exp(-rate * difficulty)):
            out.append(word)
            last = ""
            continue
        if kind == "substitution":
            out.append(common if draw.chance(SETTINGS["shared"]) else ear.mishear(word, draw))
        elif kind == "insertion":
            out += [word, draw.pick([w for w in INSERTED if w != word])]
        errors, last = errors + 1, kind
    return " ".join(out), errors


# -- putting together -------------------------------------------------------------------------


def _rates(seed: int, n_systems: int) -> tuple[list[str], list[float], list[float]]:
    """Return names of the systems, their error rates in clean speech and their factors in other speech."""
    names, draw = numbered("speech", n_systems), Draw(seed, 31)
    best, worst = math.log(SETTINGS["best"]), math.log(SETTINGS["worst"])
    ladder = [best + (worst - best) * i / max(n_systems - 1, 1) for i in range(n_systems)]
    rates = [math.exp(draw.take(ladder)) for _ in names]
    return names, rates, [SETTINGS["other"] ** draw.between(SETTINGS["slope"]) for _ in names]


def speech(*, n_systems: int = 6, n_speakers: int = 20, n_segments: int = 400, seed: int = 2024) -> pd.DataFrame:
    """Simulate transcripts of read speech whose word errors are known.

    The references are those of `campaign`, as they are read out. Every second speaker is of quality ``clean``, the
    others of quality ``other``. Every word of a segment has a difficulty ``d`` (log-normal, mean 1), the same for all
    systems. A system errs there with probability

        1 - exp(-rate[system] * other[system] * rate[speaker] * d),

    where ``other`` counts in other speech only. An error at a content word mishears it in 86 % of cases, loses it in 5
    %, and adds a word after it in 9 %; for function words these are 55, 30 and 15 %. A misheard word becomes a word of
    the same texts that sounds similar, by rules of the project's own, or is respelled if there is none. With
    probability 0.6 this word is the same for all systems.

    Parameters
    ----------
    n_systems, n_speakers, n_segments : int
        Sizes, at least 1; at least as many segments as speakers, and at most 2,000. The segments of a speaker are
        consecutive.
    seed : int
        The same seed gives the same texts, on every machine.

    Returns
    -------
    pandas.DataFrame
        One row per transcript, systems outermost: ``system``, ``segment`` (speaker and a number),
        ``speaker``, ``quality`` ("clean" or "other"), ``reference``, ``transcript`` and ``truth``, the number
        of word errors that were planted: lower is better. ``attrs`` holds ``name`` and ``truth``: ``seed``,
        ``settings``, and ``system_rate``, ``other_factor`` and ``speaker_rate`` by name.

    Raises
    ------
    TypeError
        If an argument is not a whole number.
    ValueError
        If a size is below 1, the seed negative, or there are fewer segments than speakers or more than 2,000.

    Examples
    --------
    >>> from mtmeta import simulate
    >>> table = simulate.speech(n_systems=2, n_speakers=2, n_segments=10, seed=1)
    >>> table.shape
    (20, 7)
    >>> bool((table["truth"][table["reference"] == table["transcript"]] == 0).all())
    True
    """
    n_systems, n_speakers = check_count("n_systems", n_systems, 1), check_count("n_speakers", n_speakers, 1)
    n_segments, seed = check_count("n_segments", n_segments, 1), check_count("seed", seed, 0, MAX_SEED)
    if n_segments < n_speakers:
        raise ValueError(f"each of {n_speakers} speakers needs a segment; found `n_segments` = {n_segments}.")
    sentences, documents, _ = drawn(seed, n_segments, teaching=False)
    references = [spoken(text) for text in references_of(seed, sentences, documents)]
    counts = Counter(word for text in references for word in text.split())
    ear = _Ear(sorted({*counts, *FUNCTION_WORDS}))
    speakers = [f"s{i + 1:02d}" for i in range(n_speakers)]
    draw = Draw(seed, 32)
    difficulty = [math.exp(SETTINGS["speaker_spread"] * draw.normal()) for _ in speakers]
    of_segment = [j * n_speakers // n_segments for j in range(n_segments)]
    ids = [f"{speakers[i]}-{j - of_segment.index(i):04d}" for j, i in enumerate(of_segment)]
    spread, spots = SETTINGS["spot_spread"], []
    for j, text in enumerate(references):
        own = Draw(seed, 33, j)
        spots.append([(math.exp(spread * own.normal() - spread**2 / 2), ear.mishear(w, own)) for w in text.split()])
    names, rates, factors = _rates(seed, n_systems)
    rows = []
    for k, name in enumerate(names):
        for j, text in enumerate(references):
            speaker, quality = speakers[of_segment[j]], ("clean", "other")[of_segment[j] % 2]
            rate = rates[k] * difficulty[of_segment[j]] * (factors[k] if quality == "other" else 1.0)
            written, errors = _transcribe(text.split(), spots[j], rate, ear, Draw(seed, 34, k, j))
            rows.append((name, ids[j], speaker, quality, text, written, errors))
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    truth = {"seed": seed, "settings": copy.deepcopy(SETTINGS), "system_rate": rounded(names, rates)}
    truth |= {"other_factor": rounded(names, factors), "speaker_rate": rounded(speakers, difficulty)}
    table.attrs = {"name": "speech", "truth": truth}
    return table


def teaching_speech() -> pd.DataFrame:
    """Load the transcripts of the book: 6 systems x 400 segments by 20 speakers, simulated.

    Each call simulates them, in less than a second; they are the same on every machine.

    Returns
    -------
    pandas.DataFrame
        The same as ``speech()``, under the name ``teaching-speech``.

    Examples
    --------
    >>> from mtmeta import simulate
    >>> table = simulate.teaching_speech()
    >>> len(table), table["speaker"].nunique()
    (2400, 20)
    """
    table = speech()
    table.attrs["name"] = "teaching-speech"
    return table
