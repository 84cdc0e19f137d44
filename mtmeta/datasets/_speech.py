"""Transcripts: LibriSpeech as recognised by variants of one system."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from ._common import Options, check_distinct, read_fields
from ._locate import locate

PARTS = ("test-clean", "test-other")
COLUMNS = ("system", "segment", "speaker", "quality", "reference", "transcript")


def load_librispeech(part: str, options: Options) -> pd.DataFrame:
    """Load the references and all transcripts of one test set: one row per transcript.

    A segment is an utterance; its speaker is the first field of its id. Texts are lower-cased without
    punctuation upstream, and an empty transcript is an empty string: nothing was recognised.
    """
    options.refuse_all("librispeech, a table of transcripts")
    folder = locate("librispeech-rnnt")
    references = _read_texts(folder / "ref" / f"{part}.ref_rare.tsv", "UTTERANCE TEXT RARE")
    segments = sorted(references, key=lambda s: tuple(int(n) if n.isdigit() else 0 for n in s.split("-")))
    files = sorted((folder / "hyp").glob(f"{part}.*.tsv"))
    if not files:
        raise ValueError(f"{folder / 'hyp'} has no transcripts {part}.*.tsv. Fetch the set again.")
    tables = []
    for path in files:
        transcripts = _read_texts(path, "UTTERANCE TEXT")
        _check_same(path, transcripts, references)
        system = path.name.removeprefix(f"{part}.").removesuffix(".tsv")
        rows = [(system, s, s.split("-")[0], references[s], transcripts[s]) for s in segments]
        tables.append(pd.DataFrame(rows, columns=["system", "segment", "speaker", "reference", "transcript"]))
    table = pd.concat(tables, ignore_index=True)
    table.insert(3, "quality", part.removeprefix("test-"))
    table.attrs = {"name": f"librispeech/{part}", "provenance": {"source": str(folder), "left_out": {}}}
    return table


def _read_texts(path: Path, names: str) -> dict[str, str]:
    """Read ``{utterance: text}`` from a table without header."""
    rows = read_fields(path, names, "\t")
    check_distinct(rows, ["UTTERANCE"], path)
    return dict(zip(rows["UTTERANCE"], rows["TEXT"], strict=True))


def _check_same(path: Path, transcripts: dict[str, str], references: dict[str, str]) -> None:
    gone = sorted(set(references) - set(transcripts))
    extra = sorted(set(transcripts) - set(references))
    if gone or extra:
        what, which = ("lacks", gone) if gone else ("has unknown", extra)
        raise ValueError(
            f"{path} {what} {len(which)} of {len(references)} utterances, such as {which[0]!r}. The file may be "
            "truncated, or belong to another set."
        )
