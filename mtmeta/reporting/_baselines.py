"""Baselines: what a metric earns that has judged nothing, or that sees one text only."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from .._checks import Undefined
from .._enough import too_few
from ..agreement import correlate, pairwise_accuracy
from ..agreement.units import pooled_pearson_in_draws
from ..evalset import EvalSet, Texts
from ..sentinel import fit
from ._facts import Part, Row, Section

#: The statistic on which a claim rests comes first.
_STATISTICS = ("pearson.none", "pearson.segment", "kendall.segment", "pairwise")
_TRAINED_ON, _TRAINED_FROM = 3000, 60


def baselines(part: Part, section: Section) -> None:
    """Compute the values of metrics that know who wrote a translation, how hard a segment is, or one text."""
    es, scores = part.paired, {}
    scores["segment oracle"] = np.broadcast_to(np.nanmean(es.human, axis=0), es.shape)
    section.attempt("baseline=system oracle", lambda: scores.update({"system oracle": _of_the_system(es)}))
    for name in ("source", "translation"):
        key = f"baseline={name} "
        section.attempt(f"{key}length", lambda name=name: scores.update({f"{name} length": -lengths(es, name)}))
        section.attempt(f"{key}sentinel", lambda name=name: scores.update({f"{name} sentinel": _trained(part, name)}))
    section.found["es"] = made = es.with_metrics(scores)
    for key in _STATISTICS:
        section.attempt(key, _column, section, es, "", key)
        section.attempt(key, _column, section, made, None, key)


def _column(section: Section, es: EvalSet, subject: str | None, key: str) -> None:
    coefficient, _, grouping = key.partition(".")
    size = {"n": (~np.isnan(es.human)).sum(), "unit": "translations"}
    if grouping:
        table = correlate(es, coefficient=coefficient, grouping=grouping)
    else:
        table = pairwise_accuracy(es)
        size = {"n": table["n_pairs"].iloc[0], "unit": "pairs of systems"}
    for metric, value in table.set_index("metric")["value"].items():
        section.add(key, value, **size, subject=metric if subject is None else subject)


def _texts(es: EvalSet, sees: str, *, holes: bool = False) -> list[Sequence[str | None]]:
    """Return the sources as one row, or the translations as a row a system; raise where all, or some, are missing."""
    texts, none = es.texts or Texts(), (None,) * es.shape[1]
    rows = [texts.sources] if sees == "source" else [texts.translations.get(name) for name in es.systems]
    missing = [text is None for row in rows for text in row or none]
    if all(missing):
        raise Undefined(f"the table has no {sees}s.")
    if any(missing) and not holes:
        raise Undefined(f"the {sees} is missing in some rows.")
    return [row or none for row in rows]


def lengths(es: EvalSet, sees: str, **options: bool) -> np.ndarray:
    """Return the characters of each source or translation, shape (n_systems, n_segments); NaN where there is none."""
    rows = [[np.nan if text is None else len(text) for text in row] for row in _texts(es, sees, **options)]
    return np.broadcast_to(rows, es.shape)


def _halves(es: EvalSet, keys: Sequence | None = None) -> np.ndarray:
    """Return 0 or 1 for each segment; documents, where there are ten, or other keys stay together."""
    keys = es.documents if es.documents is not None and len(set(es.documents)) >= 10 else keys
    return pd.factorize(pd.Series(keys or es.segments, dtype=object), use_na_sentinel=False)[0] % 2


def _of_the_system(es: EvalSet) -> np.ndarray:
    """Return the mean human score of each system on the other half, for all its translations; NaN where it has none."""
    fold = _halves(es)
    means = np.transpose([pd.DataFrame(es.human[:, fold != side]).mean(axis=1) for side in (0, 1)])
    if np.isnan(means[:, fold]).all():
        raise Undefined("the other half of the data has no human scores of these systems.")
    return means[:, fold]


def _trained(part: Part, sees: str) -> np.ndarray:
    """Train a light sentinel on every second document (or segment) and score the others, then swap the halves."""
    es, texts = part.paired, _texts(part.paired, sees)
    if es.shape[1] < _TRAINED_FROM:
        raise Undefined(f"{es.shape[1]} segments are too few to train on half of them; {_TRAINED_FROM} are enough.")
    fold = _halves(es, es.texts.sources)
    scores, rng = np.full(es.shape, np.nan), np.random.default_rng(part.seed)
    human = np.nanmean(es.human, axis=0, keepdims=True) if sees == "source" else es.human
    for side in (0, 1):
        rows, columns = np.nonzero(~np.isnan(human) & (fold == side))
        kept = np.sort(rng.permutation(len(rows))[:_TRAINED_ON])
        seen = [texts[i][j] for i, j in zip(rows[kept], columns[kept], strict=True)]
        known = pd.DataFrame({sees: seen, "human": human[rows[kept], columns[kept]]})
        trained = fit(known, sees="candidate" if sees == "translation" else sees)
        others = np.flatnonzero(fold != side)
        scores[:, others] = [trained.score([row[j] for j in others]) for row in texts]
    return scores


def beyond_sources(part: Part, section: Section) -> Row:
    """Return how much the metric exceeds, without grouping, the best baseline that sees only sources."""
    key, names = _STATISTICS[0], ("source sentinel", "source length")
    earned = [row for name in names if (row := section.row(key, name))]
    if not earned:
        raise Undefined("without sources there is no such baseline")
    best = max(earned, key=lambda row: row.value)
    es, own, other = part.paired, part.paired[part.metric], section.found["es"][best.subject]
    known, weights = ~(np.isnan(es.human) | np.isnan(own) | np.isnan(other)), part.weights(es)
    own, other = (pooled_pearson_in_draws(scores, es.human, known, weights) for scores in (own, other))
    gap = np.nan_to_num(own) - np.nan_to_num(other)  # a constant side counts 0
    n = part.n_units(known.any(axis=0))
    if few := too_few(n, part.unit):
        raise Undefined(few)
    low, high = part.interval(gap, n, (-2, 2))
    return replace(best, value=float(gap[0]), low=low, high=high, n=int(part.scored.sum()))
