"""The teaching campaign as it is shipped: written once, and read without simulating."""

import copy
import functools
import json
import lzma
from typing import Any

import numpy as np
import pandas as pd

from ..evalset import EvalSet, Texts
from ._campaign import as_set
from ._random import DATA as FOLDER

SIZES = {"n_systems": 12, "n_segments": 300, "seed": 2024}


def teaching() -> EvalSet:
    """Load the teaching campaign: 12 systems x 300 segments, German to English, simulated.

    Its scores, texts and truth are read, not simulated; `campaign` describes them.

    Returns
    -------
    EvalSet
        The same as ``campaign(n_systems=12, n_segments=300, seed=2024)``, under the name ``teaching``, and with the
        places of errors and of raters' marks: ``spans``, and ``start`` and ``end`` of ``truth["errors"]``.

    See Also
    --------
    campaign : the same with other settings.
    mtmeta.load : the stored one, by ``load("teaching")``.

    Examples
    --------
    >>> from mtmeta import simulate
    >>> es = simulate.teaching()
    >>> es
    EvalSet 'teaching': 12 systems x 300 segments, 10 metrics, 3600 of 3600 translations rated
    >>> es.truth["bias"]["Biased"]
    {'Fjord': 0.05}
    """
    frame, stored, spans = copy.deepcopy(_stored())
    systems = list(dict.fromkeys(frame["system"]))
    shape = (len(systems), len(stored["sources"]))
    rows = frame.pop("translation").to_numpy(dtype=object).reshape(shape)
    scores = {name: np.reshape([*map(float, frame[name])], shape) for name in frame.columns[2:]}
    references = {name: tuple(texts) for name, texts in stored["references"].items()}
    texts = Texts(tuple(stored["sources"]), references, {s: tuple(row) for s, row in zip(systems, rows, strict=True)})
    truth = stored["truth"]
    for key in ("penalty", "difficulty", "visible_difficulty"):
        truth[key] = np.array(truth[key], dtype=np.float64)
    documents, domains = stored["documents"], stored["domains"]
    return as_set("teaching", scores.pop("human"), scores, systems, documents, domains, texts, truth, spans)


@functools.cache
def _stored() -> tuple[pd.DataFrame, dict[str, Any], pd.DataFrame]:
    """Read the files, once in a process; an error-free rating has no place and no text."""
    frame = pd.read_csv(FOLDER / "teaching.csv.xz", dtype=str, keep_default_na=False)
    types = {"start": "Int64", "end": "Int64", "weight": float, "text": object}
    empty = {"start": [""], "end": [""]}
    spans = pd.read_csv(FOLDER / "teaching_spans.csv.xz", keep_default_na=False, dtype=types, na_values=empty)
    spans["text"] = spans["text"].mask(spans["start"].isna(), None)
    with lzma.open(FOLDER / "teaching.json.xz") as file:
        return frame, json.load(file), spans.assign(is_source_error=False)
