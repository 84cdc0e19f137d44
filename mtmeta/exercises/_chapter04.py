"""References of chapter 4, on grouping and sentinels."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from ..agreement import correlate
from ..evalset import EvalSet
from ._check import NoAnswer

_WAYS = ("none", "system", "segment")


def _three_ways(es: EvalSet, scores: Mapping[str, np.ndarray]) -> pd.DataFrame:
    made = es.with_metrics(dict(scores))
    return pd.DataFrame({way: correlate(made, grouping=way).set_index("metric")["value"] for way in _WAYS})


def _best(es: EvalSet) -> str:
    return correlate(es).set_index("metric")["value"].idxmax()


def length(es: EvalSet) -> pd.DataFrame:
    if es.texts is None or not (es.texts.sources and es.texts.translations):
        raise NoAnswer("they lack sources or translations")

    def lengths(texts):
        return [np.nan if text is None else -len(text) for text in texts]

    source = np.tile(np.array(lengths(es.texts.sources), dtype=float), (es.shape[0], 1))
    own = np.array([lengths(es.texts.translations[s]) for s in es.systems], dtype=float)
    return _three_ways(es, {"of source": source, "of translation": own})


def document(es: EvalSet) -> pd.DataFrame:
    if es.documents is None:
        raise NoAnswer("they do not say which document a segment is from")
    documents = np.array(es.documents, dtype=object)
    rated = np.isfinite(es.human).any(axis=0)
    mean = np.full(es.shape[1], np.nan)
    mean[rated] = np.nanmean(es.human[:, rated], axis=0)
    guess = np.full(es.shape[1], mean[rated].mean())
    for j in range(es.shape[1]):
        others = rated & (documents == documents[j]) & (np.arange(es.shape[1]) != j)
        if others.any() and rated[j]:
            guess[j] = mean[others].mean()
    return _three_ways(es, {"document": np.tile(guess, (es.shape[0], 1))})


def round(es: EvalSet) -> pd.DataFrame:
    best, rows = _best(es), {}
    for step in (0, 0.5, 1, 2, 3):
        scores = es[best] if step == 0 else np.round(es[best] / (step * np.nanstd(es[best])))
        made = es.with_metrics({"made": scores})
        rows[step] = [correlate(made, degenerate=d)["value"][0] for d in ("drop", "zero")]
    return pd.DataFrame(rows, index=["dropped", "as 0"]).T


def own(es: EvalSet, sentinel: str) -> dict:
    values = correlate(es, grouping="none").set_index("metric")["value"]
    return {"place": int((values > values[sentinel]).sum()) + 1, "beaten": int((values < values[sentinel]).sum())}
