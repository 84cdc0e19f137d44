"""Write the pool of sentences that `mtmeta.simulate` draws from: ``python tools/sentences/make.py``.

A tree says what a sentence means; scenes write the trees of a document, the grammar spells them out, and the compiler
writes down every English wording and every error. Only the pool goes into the package. It takes some minutes.

``--teaching`` writes the files of the teaching campaign instead. They change only if the simulator does.
"""

from __future__ import annotations

import argparse
import json
import lzma
from collections.abc import Iterator

import teaching
from compiling import Patterns, compiled
from scenes import SCENES

from mtmeta.simulate._frozen import SIZES
from mtmeta.simulate._random import Draw
from mtmeta.simulate._sentences import FILE, TEACHING, documents

SEED = 1
#: Documents of each domain, and their sentences.
DOCUMENTS, LENGTH = 54, 15
DOMAINS = tuple(scene.domain for scene in SCENES)
#: Segments of the book's transcripts, which have the teaching seed too.
TRANSCRIPTS = 400


def streams() -> tuple[dict[tuple[str, int], tuple[int, ...]], dict[str, list[int]], dict[str, list[int]]]:
    """Return the stream of random numbers of each document, the documents of the teaching campaign, and their twins.

    Twins are the documents of the transcripts that say the same as one of the teaching campaign.

    What the book draws with the teaching seed is written from streams of that seed, and so what it was before there
    was a pool.
    """
    found = {(domain, i): (SEED, k, i) for k, domain in enumerate(DOMAINS) for i in range(DOCUMENTS)}
    numbers = {domain: list(range(DOCUMENTS)) for domain in DOMAINS}
    own: dict[str, list[int]] = {domain: [] for domain in DOMAINS}
    for place, (domain, number, _) in enumerate(documents(TEACHING, SIZES["n_segments"], numbers)):
        found[domain, number] = (TEACHING, 2, place)
        own[domain].append(number)
    numbers = {domain: [i for i in numbers[domain] if i not in own[domain]] for domain in DOMAINS}
    twins: dict[str, list[int]] = {domain: [] for domain in DOMAINS}
    for place, (domain, number, _) in enumerate(documents(TEACHING, TRANSCRIPTS, numbers)):
        if (TEACHING, 2, place) in [found[domain, i] for i in own[domain]]:
            twins[domain].append(number)
        found[domain, number] = (TEACHING, 2, place)
    return found, own, twins


def document(domain: str, stream: tuple[int, ...], patterns: Patterns, length: int = LENGTH) -> Iterator[list]:
    """Yield the sentences of a document."""
    scene = SCENES[DOMAINS.index(domain)](Draw(*stream))
    for _ in range(length):
        yield compiled(scene.sentence(), patterns)


def pool() -> bytes:
    """Return the contents of the pool's file."""
    patterns = Patterns()
    found, own, twins = streams()
    lines = [list(document(domain, stream, patterns)) for (domain, _), stream in found.items()]
    stored = [[dict.fromkeys(DOMAINS, DOCUMENTS), own, twins], *lines, *patterns.all()]
    data = "\n".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")) for line in stored).encode()
    return lzma.compress(data, preset=9 | lzma.PRESET_EXTREME)


def main() -> None:
    """Write the pool, or the teaching campaign."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--teaching", action="store_true", help="write the files of the teaching campaign instead")
    if parser.parse_args().teaching:
        written = teaching.write()
    else:
        FILE.write_bytes(pool())
        written = [FILE]
    for path in written:
        print(f"{path} {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
