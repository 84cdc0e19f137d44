"""References of chapter 5, on training sentinels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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


def domain(sets: Sequence[EvalSet], test: EvalSet) -> pd.DataFrame:
    domains = sorted(set(test.domains or ()))
    if len(domains) < 2 or not all(set(domains) <= set(es.domains or ()) for es in sets):
        raise NoAnswer("the sets do not share two domains")

    def part(es, name):
        return es.select(segments=[s for s, d in zip(es.segments, es.domains, strict=True) if d == name])

    rows = {}
    for name in (domains[0], domains[-1]):  # the others would cost a training run each
        fitted = sentinel.fit(sentinel.training_frame([part(es, name) for es in sets]), sees="source")
        tested = {other: part(test, other) for other in domains}
        rows[name] = {other: _value(es, fitted.score_set(es)) for other, es in tested.items()}
    return pd.DataFrame(rows).T


def shuffle(answer: object, frame: pd.DataFrame, unit: pd.Series, test: EvalSet) -> Iterator[str]:
    from scipy import stats

    if not isinstance(answer, pd.DataFrame) or not {"none", "segment"} <= set(answer) or len(answer) < 3:
        yield "expected a table with the columns none and segment, and three rows or more"
        return
    rng = np.random.default_rng(0)
    ours = []
    for _ in range(2):
        order = np.lexsort((rng.random(len(frame)), unit))
        texts = np.empty(len(frame), dtype=object)
        texts[np.argsort(unit.to_numpy(), kind="stable")] = frame["translation"].to_numpy()[order]
        fitted = sentinel.fit(frame.assign(translation=texts), sees="candidate")
        ours.append([_value(test, fitted.score_set(test), g) for g in ("none", "segment")])
    for k, grouping in enumerate(("none", "segment")):
        theirs, own = answer[grouping].astype(float), np.array(ours)[:, k]
        spread = pd.concat([theirs - theirs.mean(), pd.Series(own - own.mean())])
        free = len(theirs) + len(own) - 2
        error = np.sqrt((spread**2).sum() / free * (1 / len(theirs) + 1 / len(own)))
        limit = stats.t.isf(0.0025, free) * error
        if abs(theirs.mean() - own.mean()) > max(limit, 0.005 * abs(own.mean())):
            yield f"column {grouping}: on average too {'high' if theirs.mean() > own.mean() else 'low'}"


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
