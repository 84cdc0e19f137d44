"""Direct assessments of WMT17, into English, with texts."""

from __future__ import annotations

import csv
from io import StringIO

import numpy as np
import pandas as pd

from .._names import unknown
from ..evalset import EvalSet
from ._common import Options, finished, finite, read_lines, read_text
from ._locate import locate

WMT17_PAIRS = ("cs-en", "de-en", "fi-en", "lv-en", "ru-en", "tr-en", "zh-en")
_COLUMNS = ["LP", "source", "translation", "reference", "HUMAN_score", "sentBLEU"]
_TIDY = ["lp", "source", "translation", "reference", "human", "sentBLEU"]


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
    frame = pd.DataFrame([(*key, *row) for key, row in cells.items()], columns=["system", "segment", *_TIDY])
    frame = frame.sort_values("segment", kind="stable").astype({"human": float, "sentBLEU": float})
    try:
        es = EvalSet.from_frame(frame, metrics=options.metrics, missing="nan", name=f"wmt17-da/{lp}")
    except ValueError as error:
        raise ValueError(f"{path}: {error} The file may be altered.") from None
    joint = sum("+" in s for s in es.systems)
    es.provenance.update(
        source=str(path),
        annotation="da",
        reference="reference",
        variants={"sentBLEU": "reference"},
        note=f"{joint} of the system names are joint (A+B): systems that gave the same translation, rated once; "
        "translations and references are tokenised and lower-cased upstream.",
    )
    if len(rated) > len(cells):
        es.provenance["left_out"][f"{len(rated) - len(cells)} rated translations"] = "no text in this collection"
    return finished(es)


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
