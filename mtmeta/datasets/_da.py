"""Direct assessments of WMT17, into English, with texts."""

from __future__ import annotations

import csv
from io import StringIO

import numpy as np

from ..evalset import EvalSet, Texts, natural, unknown
from ._common import Options, finished, finite, read_lines, read_text
from ._locate import locate

WMT17_PAIRS = ("cs-en", "de-en", "fi-en", "lv-en", "ru-en", "tr-en", "zh-en")
_COLUMNS = ["LP", "source", "translation", "reference", "HUMAN_score", "sentBLEU"]


def load_wmt17_da(lp: str, options: Options) -> EvalSet:
    """Load one language pair of the WMT17 direct assessments.

    The texts carry neither system nor segment. Both are found through the human score: within a
    language pair no two scores agree to nine decimals, so each text matches exactly one row of the
    official list. That is checked at loading, and so is that a segment has one source and one reference.
    """
    options.refuse("wmt17-da, which has one reference and no further scores", "reference", "metrics_from", "spans")
    if options.annotation not in (None, "da"):
        raise unknown(f"annotation of wmt17-da/{lp}", options.annotation, ["da"])
    folder = locate("wmt17-da")
    rated = _read_official(folder / "DA-seglevel.csv", lp)
    path = locate(f"wmt17-da/testset/testset_{lp}.tsv")
    rows = list(csv.reader(StringIO(read_text(path), newline=""), delimiter="\t", strict=True))
    if not rows or rows[0] != _COLUMNS:
        raise ValueError(f"{path}: expected the columns {_COLUMNS}; found {rows[:1]}.")
    cells: dict[tuple[str, int], list[str]] = {}
    for number, row in enumerate(rows[1:], 1):
        key = rated.get(f"{finite(row[4]):.9f}") if len(row) == len(_COLUMNS) else None
        if key is None or key in cells:
            raise ValueError(
                f"{path}, data row {number} does not match exactly one row of DA-seglevel.csv. The file may be altered."
            )
        cells[key] = row
    systems = sorted({s for s, _ in cells}, key=natural)
    segments = sorted({k for _, k in cells})
    sources: dict[int, str] = {}
    references: dict[int, str] = {}
    for (_, segment), row in cells.items():
        if sources.setdefault(segment, row[1]) != row[1] or references.setdefault(segment, row[3]) != row[3]:
            raise ValueError(f"{path}: segment {segment} has two sources or references. The file may be altered.")
    human, bleu = np.full((2, len(systems), len(segments)), np.nan)
    translations = {s: [None] * len(segments) for s in systems}
    row_of, column_of = {s: i for i, s in enumerate(systems)}, {k: j for j, k in enumerate(segments)}
    for (system, segment), row in cells.items():
        i, j = row_of[system], column_of[segment]
        human[i, j], bleu[i, j] = float(row[4]), float(row[5])
        translations[system][j] = row[2]
    left_out = {}
    if len(rated) > len(cells):
        left_out[f"{len(rated) - len(cells)} rated translations"] = "no text in this collection"
    joint = sum("+" in s for s in systems)
    es = EvalSet(
        human,
        {"sentBLEU": bleu},
        systems=systems,
        segments=segments,
        name=f"wmt17-da/{lp}",
        language_pair=lp,
        texts=Texts(
            tuple(sources[k] for k in segments),
            {"reference": tuple(references[k] for k in segments)},
            {s: tuple(t) for s, t in translations.items()},
        ),
        provenance={
            "source": str(path),
            "annotation": "da",
            "reference": "reference",
            "variants": {"sentBLEU": "reference"},
            "left_out": left_out,
            "note": f"{joint} of the system names are joint (A+B): systems that gave the same translation, rated once; "
            "translations and references are tokenised and lower-cased upstream.",
        },
    )
    return finished(es, options)


def _read_official(path, lp: str) -> dict[str, tuple[str, int]]:
    """Return (system, segment) by human score, written to nine decimals."""
    found: dict[str, tuple[str, int]] = {}
    for number, line in enumerate(read_lines(path)[1:], 2):
        fields = line.split()
        if len(fields) != 5 or np.isnan(finite(fields[4])) or not fields[3].isdigit():
            raise ValueError(f"{path}, line {number}: expected `LP DATA SYSTEM SID HUMAN`; found {line[:60]!r}.")
        if fields[0] == lp:
            score = f"{float(fields[4]):.9f}"
            if score in found:
                raise ValueError(f"{path}, line {number}: {score} occurs twice for {lp}; texts cannot be matched.")
            found[score] = (fields[2], int(fields[3]))
    return found
