"""Write the files of the teaching campaign, which `mtmeta.simulate.teaching` reads."""

from __future__ import annotations

import csv
import io
import json
import lzma
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd

from mtmeta.evalset import EvalSet
from mtmeta.simulate import campaign
from mtmeta.simulate._frozen import FOLDER, SIZES


def _number(value: float) -> str:
    """Write a number with at most six decimals, nothing for NaN."""
    return "" if np.isnan(value) else f"{value:.6f}".rstrip("0").rstrip(".")


def _table(columns: list[str], rows: Iterable[list]) -> bytes:
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


if __name__ == "__main__":
    for path in write():
        print(f"{path} {path.stat().st_size} bytes")
