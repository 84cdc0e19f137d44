"""Direct assessments of WMT17, into English, with texts."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd

from .._delimited import read_delimited
from .._names import unknown
from ..evalset import EvalSet
from ._common import Options, canonical_ids, check_distinct, finished, finite, read_fields, read_text
from ._locate import locate

WMT17_PAIRS = ("cs-en", "de-en", "fi-en", "lv-en", "ru-en", "tr-en", "zh-en")
_COLUMNS = ["LP", "source", "translation", "reference", "HUMAN_score", "sentBLEU"]
_NAMES = {"LP": "lp", "SYSTEM": "system", "SID": "segment", "HUMAN_score": "human"}


def load_wmt17_da(lp: str, options: Options) -> EvalSet:
    """Load one language pair of the WMT17 direct assessments.

    The texts carry neither system nor segment. Both are found through the human score: within a language pair no two
    scores agree to nine decimals, so each text matches exactly one row of the official list. Loading checks this, and
    that a segment has one source and one reference.
    """
    options.refuse("wmt17-da, which has one reference and no further scores", "reference", "metrics_from", "spans")
    if options.annotation not in (None, "da"):
        raise unknown(f"annotation of wmt17-da/{lp}", options.annotation, ["da"])
    rated = _read_official(locate("wmt17-da") / "DA-seglevel.csv", lp)
    path = locate(f"wmt17-da/testset/testset_{lp}.tsv")
    texts = read_delimited(StringIO(read_text(path), newline=""), "\t", path)
    if list(texts) != _COLUMNS:
        raise ValueError(f"{path}: expected the columns {_COLUMNS}; found {list(texts)}.")
    texts["HUMAN"] = _nine_decimals(finite(texts["HUMAN_score"], path))
    rows = texts.join(rated.set_index("HUMAN"), on="HUMAN")
    odd = rows["SYSTEM"].isna() | rows.duplicated("HUMAN")
    if odd.any():
        raise ValueError(
            f"{path}, data row {np.argmax(odd) + 1} does not match exactly one row of DA-seglevel.csv. "
            "The file may be altered."
        )
    try:
        frame = rows.drop(columns="HUMAN").rename(columns=_NAMES).astype({"human": float, "sentBLEU": float})
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
    if len(rated) > len(rows):
        es.provenance["left_out"][f"{len(rated) - len(rows)} rated translations"] = "no text in this collection"
    return finished(es)


def _read_official(path: Path, lp: str) -> pd.DataFrame:
    """Return the rated translations of a language pair: human score, written to nine decimals, system and segment."""
    rows = read_fields(path, "LP DATA SYSTEM SID HUMAN", skip=1)
    rows["HUMAN"] = _nine_decimals(finite(rows["HUMAN"], path))
    rows = rows[rows["LP"] == lp]
    check_distinct(rows, ["HUMAN"], path)
    return rows[["HUMAN", "SYSTEM", "SID"]].assign(SID=canonical_ids(rows["SID"].tolist()))


def _nine_decimals(numbers: np.ndarray) -> list[str]:
    return [f"{number:.9f}" for number in numbers]
