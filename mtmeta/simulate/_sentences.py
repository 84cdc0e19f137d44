"""The pool of German sentences, each with every correct English wording and every possible error.

``mtmeta/data/README.md`` says how it was made. A document belongs to one domain and has 15 sentences; campaigns take
its first ones.
"""

import json
import lzma
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from ._random import DATA, Draw

FILE = DATA / "sentences.json.xz"
#: Seed of the teaching campaign, and the most segments of any.
TEACHING, MOST = 2024, 2000
#: Bounds on the length of sources and references, in words.
SHORTEST, LONGEST = 5, 45
#: Parts of a node of the sentence's tree. A key is 8 times the number of the node, plus the number of the part.
PARTS = ("word", "det", "all", "add", "verb", "comma", "final")


@dataclass(frozen=True, slots=True)
class Site:
    """A place in a sentence where a translation can go wrong, and how.

    ``keys`` are the parts of nodes that the fault occupies; the first one is its place. Faults are numbered -1, -2, …
    in the order of their first sites there, and ``value`` numbers the ways to go wrong: 1, 2, …. ``odds`` is the weight
    of the site within its category, ``major`` the probability of a major error. ``kind`` is "drop" if something is left
    out, "careless" for an error that no source provokes.
    """

    keys: tuple[int, ...]
    fault: int
    value: int
    kind: str
    category: str
    odds: float
    major: float

    @property
    def node(self) -> int:
        """Number of the node that goes wrong."""
        return self.keys[0] // 8


@dataclass(frozen=True, slots=True, eq=False)
class Sentence:
    """A German sentence, its wordings and its sites.

    ``parents`` has the parent of each node of its tree. `_wordings` describes ``parts``.
    """

    source: str
    end: str
    parents: list[int]
    sites: tuple[Site, ...]
    parts: tuple[tuple[list[Any], list[int]], ...]


@cache
def _lines() -> tuple[list[str], dict[str, int], dict[str, list[int]], dict[str, list[int]]]:
    """Return the stored pool: lines, sizes of the domains, documents of the teaching campaign, their twins.

    A line is a document or a pattern. Documents come first, domain by domain. A twin is a document of the book's
    transcripts that says the same as one of the teaching campaign.
    """
    first, *lines = lzma.decompress(FILE.read_bytes()).decode().splitlines()
    return lines, *json.loads(first)


@cache
def _pattern(number: int) -> list[Any]:
    lines, sizes, *_ = _lines()
    return json.loads(lines[sum(sizes.values()) + number])


@cache
def document(domain: str, number: int) -> tuple[Sentence, ...]:
    """Return the sentences of a document."""
    lines, sizes, *_ = _lines()
    before = list(sizes).index(domain) * sizes[domain]
    return tuple(_sentence(*fields) for fields in json.loads(lines[before + number]))


def _sentence(source: str, end: str, parents: list[int], sites: list[int], parts: list[list[int]]) -> Sentence:
    """Return a sentence as it is stored.

    The sites of each of its nodes are a pattern too. Slots are stored as differences: twice how far the other part is
    behind, or one more than twice how far the fault is after the one before.
    """
    faults: dict[int, int] = {}
    values: Counter[int] = Counter()
    found = []
    for node, number in enumerate(sites):
        for kind, category, odds, major, *keys in _pattern(number):
            keys = tuple(8 * (node % len(parents)) + k for k in keys)
            values[keys[0]] += 1
            fault = faults.setdefault(keys[0], ~len(faults))
            found.append(Site(keys, fault, values[keys[0]], kind, category, odds, major))
    last, meant = 0, []
    for place, (number, *slots) in enumerate(parts):
        known = []
        for slot in slots:
            step, is_fault = divmod(slot, 2)
            last += step * is_fault
            known.append(-last if is_fault else place - step)
        meant.append((_pattern(number), known))
    return Sentence(source, end, parents, tuple(found), tuple(meant))


def documents(seed: int, n_segments: int, numbers: dict[str, list[int]]) -> Iterator[tuple[str, int, int]]:
    """Draw documents: yield domain, number among those of the domain, and length.

    A round takes one document of every domain, in random order; no document is taken twice.
    """
    draw = Draw(seed, 1)
    left = {domain: list(known) for domain, known in numbers.items()}
    order: list[str] = []
    for place, length in enumerate(document_lengths(draw, n_segments)):
        order = order or list(left)
        domain = draw.take(order)
        yield domain, Draw(seed, 2, place).take(left[domain]), length


def drawn(seed: int, n_segments: int) -> tuple[list[Sentence], list[str], list[str]]:
    """Draw documents; return the sentences, and document and domain of each.

    Only its own seed draws the documents of the teaching campaign, so no other campaign contains them.
    """
    if n_segments > MOST:
        raise ValueError(
            f"`n_segments` must be at most {MOST:,}, found {n_segments:,}: mtmeta has sentences for no more."
        )
    _, sizes, own, twins = _lines()
    barred = {d: [] if seed == TEACHING else [*own[d], *twins[d]] for d in sizes}
    numbers = {d: [i for i in range(size) if i not in barred[d]] for d, size in sizes.items()}
    rows: list[tuple[Sentence, str, str]] = []
    seen: Counter[str] = Counter()
    for domain, number, length in documents(seed, n_segments, numbers):
        seen[domain] += 1
        rows += [(s, f"{domain}-{seen[domain]:02d}", domain) for s in document(domain, number)[:length]]
    sentences, names, domains = map(list, zip(*rows, strict=True))
    return sentences, names, domains


def document_lengths(draw: Draw, n_segments: int) -> list[int]:
    """Return the lengths of the documents: 8 to 15 segments where there are that many."""
    lengths, rest = [], n_segments
    while rest > 15:
        length = draw.pick(range(8, 16))
        lengths.append(length if rest - length >= 8 else rest // 2)
        rest -= lengths[-1]
    return [*lengths, rest] if rest else lengths
