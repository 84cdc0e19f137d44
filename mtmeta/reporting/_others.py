"""The metric compared with others: those of the table, and baselines that know nothing or one thing."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd

from .._checks import Undefined
from .._enough import too_few
from ..agreement import correlate, pairwise_accuracy, soft_pairwise_accuracy
from ..agreement.units import pooled_pearson_in_draws
from ..evalset import EvalSet
from ..protocols import Task, decided_by_one, without_each_system
from ..sentinel import fit
from ..significance import compare
from ._facts import Part, Row, Section, Settings, interval, n_units, weights_of_segments

_RANKED = ("pearson.none", "pearson.segment", "kendall.segment")
#: The least draws of the comparison of all pairs of metrics.
_DRAWS = 1000
#: The ranking on which the claim to be the best rests.
CLAIMED_RANK = "pearson.segment"
_N_RANDOM = 20
_TRAINED_ON = 3000
_TRAINED_FROM = 60

#: The comparison with baselines on which a claim rests.
CLAIMED = "pearson.none"
SOURCE_SENTINEL = "source sentinel"
SOURCE_LENGTH = "source length"


# -- rank --------------------------------------------------------------------------------


def rank(part: Part, section: Section) -> None:
    """Rank all metrics of a set; the ranking is the same for every reported metric."""
    es, settings = part.es, part.settings
    if len(es.metrics) < 2:
        raise Undefined("the table has one metric: there is nothing to rank it against.")
    for key in [CLAIMED_RANK] if settings.claims_only else _RANKED:
        section.attempt(key, _ranked, es, settings, section, key)
    if not settings.claims_only:
        for key, compute in {"pairwise": pairwise_accuracy, "spa.short": soft_pairwise_accuracy}.items():
            section.attempt(key.partition(".")[0], _by_systems, es, section, key, compute)
        section.attempt("pairwise", _first_by_one, es, section)


def _first_by_one(es: EvalSet, section: Section) -> None:
    """Say if one system decides which metric is first, or the sign of a value."""
    tables = (without_each_system(es, es.metrics, Task(how, "system")) for how in ("pairwise_accuracy", "pearson"))
    section.text += [f"{line}." for table in tables for line in decided_by_one(table)]


def _by_systems(es: EvalSet, section: Section, key: str, compute: Callable[..., pd.DataFrame]) -> None:
    with warnings.catch_warnings():  # that sizes differ is said below
        warnings.simplefilter("ignore", UserWarning)
        found = compute(es, es.metrics)
    if "n_segments" in found:
        sizes = " to ".join(map(str, sorted({found["n_segments"].min(), found["n_segments"].max()})))
        section.text.append(f"SPA depends on the number of segments; this is that of campaigns with {sizes}.")
    _add_ranked(section, key, found.rename(columns={"n_pairs": "n"}), "pairs of systems")


def _add_ranked(section: Section, key: str, table: pd.DataFrame, counted: str) -> None:
    """Add value and rank of each metric, and the ranks that the data allow if they are known."""
    table = table.assign(rank=table["value"].rank(ascending=False, method="min"))
    for row in table.to_dict("records"):
        section.add(key, row["value"], n=row["n"], unit=counted, subject=row["metric"])
        section.add(f"{key}.rank", row["rank"], n=len(table), unit="metrics", subject=row["metric"])
        for what in ("best_rank", "worst_rank") if "best_rank" in row else ():
            section.add(f"{key}.{what}", row[what], n=row["n_units"], unit=f"{row['unit']}s", subject=row["metric"])


def _ranked(es: EvalSet, settings: Settings, section: Section, key: str) -> None:
    options = dict(zip(("coefficient", "grouping"), key.split("."), strict=True))
    n_resamples = max(settings.n_resamples, _DRAWS)
    found = compare(es, unit=settings.unit, rng=settings.seed, n_resamples=n_resamples, **options)
    section.text += [found.note] if found.note and found.note not in section.text else []
    if key == CLAIMED_RANK:
        section.found["rivals"] = found.p_values.fillna(found.p_values.T)
    common = ~np.isnan([es.human, *(es[metric] for metric in es.metrics)]).any(axis=0)
    _add_ranked(section, key, found.table.assign(n=int(common.sum())), "translations")


# -- baselines ---------------------------------------------------------------------------

_STATISTICS = "pearson.none pearson.segment pearson.system kendall.segment acc_eq.segment pairwise".split()


def baselines(part: Part, section: Section) -> None:
    """Compute the values of metrics that have read nothing, or only one text."""
    es, claims_only = part.paired, part.settings.claims_only
    rng = np.random.default_rng(part.settings.seed)
    scores = {part.metric: es[part.metric]}
    if not claims_only:
        scores |= {"\0constant": np.zeros(es.shape)} | _oracles(es)
    for name, compute in _text_baselines(es, part.settings).items():
        if not claims_only or name in (SOURCE_LENGTH, SOURCE_SENTINEL):
            section.attempt(f"baseline={name}", lambda n=name, compute=compute: scores.update({"\0" + n: compute()}))
    shown = list(scores)
    if not claims_only:
        scores |= {f"\0random {i}": rng.random(es.shape) for i in range(_N_RANDOM)}
    section.found["es"] = es = es.with_metrics(scores)
    for key in [CLAIMED] if claims_only else _STATISTICS:
        section.attempt(key, _column, section, es, shown, key)


def _column(section: Section, es: EvalSet, shown: list[str], key: str) -> None:
    coefficient, _, grouping = key.partition(".")
    table = correlate(es, coefficient=coefficient, grouping=grouping) if grouping else pairwise_accuracy(es)
    size = {"n": (~np.isnan(es.human)).sum(), "unit": "translations"}
    if not grouping:
        size = {"n": table["n_pairs"].iloc[0], "unit": "pairs of systems"}
    values = table.set_index("metric")["value"]
    for metric in shown:
        section.add(key, values[metric], **size, subject=metric[1:] if metric.startswith("\0") else "")
    drawn = values[values.index.str.startswith("\0random ")]
    if len(drawn):
        section.add(key, drawn.mean(), **size, subject="random numbers", note=f"sd of draws {drawn.std():.3f}")


def _oracles(es: EvalSet) -> dict[str, np.ndarray]:
    segment, system = np.broadcast_arrays(*(np.nanmean(es.human, axis=axis, keepdims=True) for axis in (0, 1)))
    return {"\0segment oracle": segment, "\0system oracle": system}


def lengths(es: EvalSet) -> np.ndarray:
    """Return the characters of every translation, shape (n_systems, n_segments).

    Raises
    ------
    ValueError
        If there are no translations.
    """
    texts = None if es.texts is None else es.texts.translations
    if not texts:
        raise Undefined("the table has no translations.")
    rows = [texts.get(system) or (None,) * es.shape[1] for system in es.systems]
    return np.array([[np.nan if text is None else len(text) for text in row] for row in rows])


def _text_baselines(es: EvalSet, settings: Settings) -> dict:
    def sources() -> tuple:
        if es.texts is None or es.texts.sources is None:
            raise Undefined("the table has no sources.")
        if any(text is None for text in es.texts.sources):
            raise Undefined("some segments have no source.")
        return es.texts.sources

    def length() -> np.ndarray:
        found = -lengths(es)
        if np.isnan(found).any():
            raise Undefined("some translations have no text.")
        return found

    def translations() -> list[tuple]:
        length()  # raises where one is absent
        return [es.texts.translations[system] for system in es.systems]

    return {
        SOURCE_LENGTH: lambda: np.tile([-float(len(text)) for text in sources()], (es.shape[0], 1)),
        "translation length": length,
        SOURCE_SENTINEL: lambda: _cross_fitted(es, "source", [sources()], settings),
        "translation sentinel": lambda: _cross_fitted(es, "candidate", translations(), settings),
    }


def _cross_fitted(es: EvalSet, sees: str, texts: list[tuple], settings: Settings) -> np.ndarray:
    """Train a light sentinel on every second document (or segment) and score the others, then swap the halves."""
    if es.shape[1] < _TRAINED_FROM:
        raise Undefined(f"{es.shape[1]} segments are too few to train on half of them; {_TRAINED_FROM} are enough.")
    keys = es.documents if es.documents is not None and len(set(es.documents)) >= 10 else es.texts.sources
    fold = pd.factorize(pd.Series(keys or es.segments, dtype=object), use_na_sentinel=False)[0] % 2
    scores = np.full(es.shape, np.nan)
    rng = np.random.default_rng(settings.seed)
    human, column = (_oracles(es)["\0segment oracle"][:1], "source") if sees == "source" else (es.human, "translation")
    for side in (0, 1):
        rows, columns = np.nonzero(~np.isnan(human) & (fold == side))
        kept = np.sort(rng.permutation(len(rows))[:_TRAINED_ON])
        seen = [texts[i][j] for i, j in zip(rows[kept], columns[kept], strict=True)]
        trained = fit(pd.DataFrame({column: seen, "human": human[rows[kept], columns[kept]]}), sees=sees)
        others = np.flatnonzero(fold != side)
        unseen = list(dict.fromkeys(row[j] for row in texts for j in others))
        score = dict(zip(unseen, trained.score(unseen), strict=True))
        scores[:, others] = [[score[row[j]] for j in others] for row in texts]
    return scores


def beyond_sources(part: Part, section: Section) -> Row | None:
    """Return how much the metric exceeds, without grouping, the best baseline that sees only sources."""
    earned = [row for name in (SOURCE_SENTINEL, SOURCE_LENGTH) if (row := section.row(CLAIMED, name))]
    if not earned:
        return None
    best = max(earned, key=lambda row: row.value)
    es, baseline = section.found["es"], f"\0{best.subject}"
    known = ~(np.isnan(es.human) | np.isnan(es[part.metric]) | np.isnan(es[baseline]))
    counts = weights_of_segments(es, part.settings)
    own, other = (pooled_pearson_in_draws(es[n], es.human, known, counts) for n in (part.metric, baseline))
    gap = np.nan_to_num(own) - np.nan_to_num(other)  # a constant side counts 0
    n = n_units(es, part.settings, known.any(axis=0))
    if few := too_few(n, part.settings.unit):
        raise Undefined(few)
    low, high = interval(gap, part.settings, n, (-2, 2))
    return replace(best, value=float(gap[0]), low=low, high=high, n=int(part.scored.sum()))
