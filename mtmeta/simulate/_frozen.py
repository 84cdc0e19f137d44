"""The teaching campaign as it is shipped: written once, read back without simulating."""

from __future__ import annotations

import copy
import functools
import json
import lzma
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..evalset import EvalSet, Texts
from ._campaign import as_set

FOLDER = Path(__file__).parents[1] / "data"
SIZES = {"n_systems": 12, "n_segments": 300, "seed": 2024}


def teaching() -> EvalSet:
    """Load the teaching campaign: 12 systems x 300 segments, German to English, simulated.

    Its scores, texts and truth are read, not simulated; `campaign` describes what they are and what ``truth`` holds.

    Returns
    -------
    EvalSet
        The same as ``campaign(n_systems=12, n_segments=300, seed=2024)``, under the name ``teaching``.

    Examples
    --------
    >>> from mtmeta import simulate
    >>> es = simulate.teaching()
    >>> es
    EvalSet 'teaching': 12 systems x 300 segments, 10 metrics, 3600 of 3600 translations rated
    >>> es.truth["bias"]["Biased"]
    {'Fjord': 0.05}
    """
    stored = _stored()
    shared = (stored[key] for key in ("human", "metrics", "systems", "documents", "domains"))
    texts = Texts(stored["sources"], dict(stored["references"]), dict(stored["translations"]))
    return as_set("teaching", *shared, texts, stored["spans"].copy(), copy.deepcopy(stored["truth"]))


@functools.cache
def _stored() -> dict[str, Any]:
    """Read the files, once in a process; what can be changed in it is copied for each set."""
    frame = pd.read_csv(FOLDER / "teaching.csv.xz", dtype=str, keep_default_na=False)
    with lzma.open(FOLDER / "teaching.json.xz") as file:
        texts = json.load(file)
    systems = list(dict.fromkeys(frame["system"]))
    shape = (len(systems), len(texts["sources"]))
    metrics = [c for c in frame if c not in ("system", "segment", "human", "translation")]
    translations = frame["translation"].to_numpy(dtype=object).reshape(shape)
    truth = texts["truth"]
    for key in ("penalty", "difficulty", "visible_difficulty"):
        truth[key] = np.array(truth[key], dtype=np.float64)
    return {
        "human": _numbers(frame["human"], shape),
        "metrics": {m: _numbers(frame[m], shape) for m in metrics},
        "systems": systems,
        "documents": texts["documents"],
        "domains": texts["domains"],
        "sources": tuple(texts["sources"]),
        "references": {n: tuple(r) for n, r in texts["references"].items()},
        "translations": {s: tuple(row) for s, row in zip(systems, translations, strict=True)},
        "spans": _spans(),
        "truth": truth,
    }


def _numbers(column: pd.Series, shape: tuple[int, int]) -> np.ndarray:
    """Return the numbers that were written, to the last bit; NaN for an empty cell."""
    return np.array([float(x) if x else np.nan for x in column]).reshape(shape)


def _spans() -> pd.DataFrame:
    """Read the raters' marks; an error-free rating has no place and no text."""
    spans = pd.read_csv(
        FOLDER / "teaching_spans.csv.xz",
        keep_default_na=False,
        na_values={"start": [""], "end": [""]},
        dtype={"start": "Int64", "end": "Int64", "weight": float, "text": object},
    )
    spans["text"] = spans["text"].astype(object).mask(spans["start"].isna(), None)
    spans["is_source_error"] = False
    return spans
