"""References of chapter 5, on training sentinels."""

from __future__ import annotations

import numpy as np
import pandas as pd

from .. import sentinel
from ..agreement import correlate
from ..evalset import EvalSet
from ._check import NoAnswer


def _value(es: EvalSet, scores: np.ndarray, grouping: str = "none") -> float:
    made = es.with_metrics({"m": np.broadcast_to(scores, es.shape)})
    return correlate(made, grouping=grouping)["value"][0]


def slope(words: np.ndarray, points: np.ndarray) -> dict:
    from sklearn.linear_model import Ridge

    penalty = float(((words - words.mean()) ** 2).sum())
    fitted = Ridge(alpha=penalty).fit(np.tile(words, (10, 1)), np.tile(points, 10))
    return {"penalty": penalty, "slope": fitted.coef_[0]}


def carries(frame: pd.DataFrame, test: EvalSet, judged: EvalSet) -> dict:
    end = int(frame["source"].str.len().quantile(0.1))
    changes = {"hidden": lambda s: s.str.replace(r"[^\W_]", "x", regex=True), "cut": lambda s: s.str[:end]}
    found = {"plain": correlate(judged, "the source", grouping="none")["value"][0]}
    for name, change in changes.items():
        fitted = sentinel.fit(frame.assign(source=change(frame["source"])), sees="source")
        found[name] = _value(test, fitted.score(change(pd.Series(test.texts.sources)).tolist()))
    return found


def claim(curves: pd.DataFrame) -> dict:
    runs = curves[curves["grouping"] == "segment"].set_index(["sees", "n", "run"])["value"]
    if "candidate" not in runs.index.get_level_values("sees"):
        raise NoAnswer("the sets have no candidates")
    own = runs["candidate"]
    leads = {"above 0": own, "above the twin": own - runs["candidate, shuffled"]}
    least = {key: values.groupby("n").min() for key, values in leads.items()}
    return {key: min(values.index[values > 0], default=np.nan) for key, values in least.items()}


def gain(test: EvalSet, judged: EvalSet) -> pd.DataFrame:
    standard = {m: (test[m] - np.nanmean(test[m])) / np.nanstd(test[m]) for m in test.metrics if np.nanstd(test[m]) > 0}
    seen = judged["the source"]
    added = {m: s + (seen - np.nanmean(seen)) / np.nanstd(seen) for m, s in standard.items()}
    return pd.DataFrame(
        {
            f"{grouping}, {when}": correlate(test.with_metrics(scores), grouping=grouping).set_index("metric")["value"]
            for grouping in ("none", "segment")
            for when, scores in (("before", standard), ("after", added))
        }
    )


def own(frame: pd.DataFrame, es: EvalSet, test: EvalSet, judged: EvalSet) -> dict:
    values = correlate(test, grouping="none")["value"]
    beaten = int((values < correlate(judged, "the source", grouping="none")["value"][0]).sum())
    texts = {*es.texts.sources, *(t for own in es.texts.translations.values() for t in own)}
    texts |= {t for own in es.texts.references.values() for t in own}
    known = {t for column in ("source", "reference", "translation") if column in frame for t in frame[column].dropna()}
    return {"beaten": beaten, "unseen": not texts & known}
