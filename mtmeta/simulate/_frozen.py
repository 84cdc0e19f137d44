"""The teaching campaign as it is shipped: written once, read back without simulating."""

from __future__ import annotations

import copy
import csv
import functools
import io
import json
import lzma
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..evalset import EvalSet, Texts
from ._campaign import REFERENCE_FREE, campaign

FOLDER = Path(__file__).parents[1] / "data"
SIZES = {"n_systems": 12, "n_segments": 300, "seed": 2024}
_ARRAYS = ("penalty", "difficulty", "visible_difficulty")
_INT = ("start", "end")


def _number(value: float) -> str:
    """Write a number with at most six decimals, nothing for NaN."""
    return "" if np.isnan(value) else f"{value:.6f}".rstrip("0").rstrip(".")


def _table(columns: list[str], rows) -> bytes:
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return out.getvalue().encode()


def files(es: EvalSet) -> dict[str, bytes]:
    """Return the contents of the files that hold a campaign, by name."""
    n_segments = len(es.segments)
    metrics = list(es.metrics)
    scores = [es[m] for m in metrics]
    rows = (
        [s, es.segments[j], _number(es.human[k, j]), *(_number(x[k, j]) for x in scores), es.texts.translations[s][j]]
        for k, s in enumerate(es.systems)
        for j in range(n_segments)
    )
    spans = es.spans
    marks = zip(*(spans[c] for c in spans if c != "is_source_error"), strict=True)
    empty = [[*row[:5], _number(row[5]), *("" if pd.isna(x) else x for x in row[6:])] for row in marks]
    texts = {
        "sources": es.texts.sources,
        "references": es.texts.references,
        "documents": es.documents,
        "domains": es.domains,
        "truth": {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in es.truth.items()},
    }
    return {
        "teaching.csv": _table(["system", "segment", "human", *metrics, "translation"], rows),
        "teaching_spans.csv": _table([c for c in spans if c != "is_source_error"], empty),
        "teaching.json": json.dumps(texts, ensure_ascii=False, separators=(",", ":")).encode(),
    }


def write(folder: Path = FOLDER) -> list[Path]:
    """Simulate the teaching campaign and write its files, compressed; return their paths."""
    paths = []
    for name, data in files(campaign(**SIZES)).items():
        paths.append(Path(folder) / f"{name}.xz")
        paths[-1].write_bytes(lzma.compress(data, preset=9 | lzma.PRESET_EXTREME))
    return paths


def teaching() -> EvalSet:
    """Load the teaching campaign: 12 systems x 300 segments, German to English, simulated.

    Its scores, texts and truth were written by ``python -m mtmeta.simulate --write`` and are read, not
    simulated; `campaign` describes what they are and what ``truth`` holds.

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
    truth = copy.deepcopy(stored["truth"])
    return EvalSet(
        stored["human"],
        stored["metrics"],
        systems=stored["systems"],
        name="teaching",
        language_pair="de-en",
        documents=stored["documents"],
        domains=stored["domains"],
        texts=Texts(stored["sources"], dict(stored["references"]), dict(stored["translations"])),
        spans=stored["spans"].copy(),
        reference_free=REFERENCE_FREE,
        truth=truth,
        provenance={
            "source": f"simulated with seed {truth['seed']}",
            "protocol": "mqm",
            "reference": "refA",
            "left_out": {},
        },
    )


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
    for key in _ARRAYS:
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
