"""The metric beside others: those of the table, and baselines that know nothing or one thing."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..agreement import correlate, pairwise_accuracy, soft_pairwise_accuracy
from ..evalset import EvalSet
from ..sentinel import fit
from ..significance import compare
from ._common import GROUPINGS, Part, Section, Settings, interval, pearson_in_draws, segment_counts, with_scores

#: (name, coefficient, grouping, most metrics for which clusters are formed)
_RANKED = (
    ("Pearson, no grouping", "pearson", "none", 100),
    ("Pearson, segment grouping", "pearson", "segment", 60),
    ("Kendall, segment grouping", "kendall", "segment", 16),
)
#: The ranking on which the claim to be the best rests.
CLAIMED_RANK = "Pearson, segment grouping"
_N_RANDOM = 20
_TRAINED_ON = 3000
_TRAINED_FROM = 60

#: The comparison with baselines on which a claim rests.
CLAIMED = "Pearson, no grouping"
SOURCE_SENTINEL = "source sentinel"
SOURCE_LENGTH = "source length"


# -- rank --------------------------------------------------------------------------------


def rank(es: EvalSet, settings: Settings) -> Section:
    """Rank all metrics of a set; the same for every metric that is reported on."""
    section = Section(
        "rank",
        "Where does it stand among the metrics of the table?",
        "Significance",
        "Value (rank, cluster) of every metric; higher values are better, rank and cluster 1 are best",
    )
    if len(es.metrics) < 2:
        section.skip("ranks", "the table has one metric: there is nothing to rank it against.")
        return section
    for name, coefficient, grouping, limit in _RANKED:
        if not settings.claims_only or name == CLAIMED_RANK:
            section.attempt(name, lambda a=(name, coefficient, grouping, limit): _ranked(es, settings, section, *a))
    if settings.claims_only:
        return section
    section.attempt(
        "pairwise accuracy", lambda: _values(section, "pairwise accuracy", pairwise_accuracy(es, es.metrics))
    )
    section.attempt("soft pairwise accuracy", lambda: _values(section, "SPA", soft_pairwise_accuracy(es, es.metrics)))
    section.text.append(
        "A metric falls into a lower cluster where a metric of the cluster above is significantly better "
        "(PERM-BOTH, p at most .05, not corrected for the number of pairs). Inside a cluster nothing is claimed. Ranks "
        "of pairwise accuracy and SPA (soft pairwise accuracy) come without clusters."
    )
    return section


def _values(section: Section, name: str, table: pd.DataFrame) -> None:
    places = table["value"].rank(ascending=False, method="min").astype(int)
    for metric, value, place, n in zip(table["metric"], table["value"], places, table["n_pairs"], strict=True):
        section.add(name, value, n=n, unit="pairs of systems", subject=metric)
        section.add(f"{name}: rank", place, n=len(table), unit="metrics", subject=metric)


def _ranked(
    es: EvalSet, settings: Settings, section: Section, name: str, coefficient: str, grouping: str, limit: int
) -> None:
    common = ~np.isnan(es.human)
    for metric in es.metrics:
        common &= ~np.isnan(es[metric])
    if len(es.metrics) <= limit:
        options = {"coefficient": coefficient, "grouping": grouping, "pairs": "clusters", "rng": settings.seed}
        found = compare(es, n_resamples=max(settings.n_resamples, 200), **options)
        table, n = found.table, int(common.sum())
    else:
        table = correlate(es, coefficient=coefficient, grouping=grouping)
        table = table.assign(rank=table["value"].rank(ascending=False, method="min").astype(int))
        n = int((~np.isnan(es.human)).sum())
        section.skip(f"clusters by {name}", f"more than {limit} metrics would take minutes; mtmeta.compare forms them.")
    for row in table.itertuples():
        section.add(name, row.value, n=n, unit="translations", subject=row.metric)
        section.add(f"{name}: rank", row.rank, n=len(table), unit="metrics", subject=row.metric)
        if "cluster" in table:
            section.add(f"{name}: cluster", row.cluster, n=len(table), unit="metrics", subject=row.metric)


# -- baselines ---------------------------------------------------------------------------

_STATISTICS = (
    *(("pearson", grouping) for grouping in GROUPINGS),
    ("kendall", "segment"),
    ("acc_eq", "segment"),
)
_SHORT = {"pearson": "Pearson", "kendall": "Kendall", "acc_eq": "acc_eq"}


def baselines(part: Part) -> Section:
    """Compute what metrics earn that have read nothing, or one thing."""
    section = Section(
        "baselines",
        "What would a metric earn that has judged nothing?",
        "Training Sentinels",
        "The metric beside baselines; higher is better",
    )
    section.attempt("baselines", lambda: _baseline_rows(part, section))
    section.text += [
        "The segment oracle is the mean human score of the segment: all that can be earned by knowing what is hard, "
        "and nothing else. The system oracle is the mean human score of the system: all that can be earned by knowing "
        "who wrote a translation. Both have seen the human scores, so they are yardsticks and no rivals.",
        "All values are over translations with both scores. Where the metric scored others as well, its pairwise "
        "accuracy above may differ: it averages all that the metric scored.",
        "Sentinels are ridge regressions that see one text only. They are trained on one half of these data and score "
        f"the other half, and the other way round. Random numbers: mean of {_N_RANDOM} draws.",
    ]
    return section


def _baseline_rows(part: Part, section: Section) -> None:
    es = part.paired
    claims_only = part.settings.claims_only
    rng = np.random.default_rng(part.settings.seed)
    scores = {part.metric: es[part.metric]}
    if not claims_only:
        scores |= {"\0constant": np.zeros(es.shape)} | _oracles(es)
    for name, compute in _text_baselines(es, part.settings).items():
        if claims_only and name not in (SOURCE_LENGTH, SOURCE_SENTINEL):
            continue

        def put(name=name, compute=compute):
            scores["\0" + name] = compute()

        section.attempt(name, put)
    shown = list(scores)
    if not claims_only:
        scores |= {f"\0random {i}": rng.random(es.shape) for i in range(_N_RANDOM)}
    es = with_scores(es, scores)
    section.found["es"] = es
    if claims_only:
        section.attempt(CLAIMED, lambda: _column(section, es, shown, CLAIMED, "pearson", "none"))
        return
    for coefficient, grouping in _STATISTICS:
        name = f"{_SHORT[coefficient]}, {GROUPINGS[grouping]}"
        section.attempt(name, lambda n=name, c=coefficient, g=grouping: _column(section, es, shown, n, c, g))
    section.attempt("pairwise accuracy", lambda: _column(section, es, shown, "pairwise accuracy", "", ""))


def _column(section: Section, es: EvalSet, shown: list[str], name: str, coefficient: str, grouping: str) -> None:
    if coefficient:
        table = correlate(es, coefficient=coefficient, grouping=grouping)
        n, unit = int((~np.isnan(es.human)).sum()), "translations"
    else:
        table = pairwise_accuracy(es)
        n, unit = int(table["n_pairs"].iloc[0]), "pairs of systems"
    values = table.set_index("metric")["value"]
    for metric in shown:
        section.add(name, values[metric], n=n, unit=unit, subject=metric[1:] if metric.startswith("\0") else "")
    drawn = values[values.index.str.startswith("\0random ")]
    if len(drawn):
        section.add(name, drawn.mean(), n=n, unit=unit, subject="random numbers", note=f"sd of draws {drawn.std():.3f}")


def _oracles(es: EvalSet) -> dict[str, np.ndarray]:
    rated = ~np.isnan(es.human)
    filled = np.where(rated, es.human, 0.0)
    by_segment = filled.sum(axis=0) / rated.sum(axis=0)
    by_system = filled.sum(axis=1) / rated.sum(axis=1)
    segment, system = np.broadcast_arrays(by_segment[None, :], by_system[:, None])
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
        raise ValueError("the table has no translations.")
    rows = [texts.get(system) or (None,) * es.shape[1] for system in es.systems]
    return np.array([[np.nan if text is None else len(text) for text in row] for row in rows])


def _text_baselines(es: EvalSet, settings: Settings) -> dict:
    def sources() -> tuple:
        if es.texts is None or es.texts.sources is None:
            raise ValueError("the table has no sources.")
        if any(text is None for text in es.texts.sources):
            raise ValueError("some segments have no source.")
        return es.texts.sources

    def source_length() -> np.ndarray:
        return np.tile([-float(len(text)) for text in sources()], (es.shape[0], 1))

    def translation_length() -> np.ndarray:
        found = -lengths(es)
        if np.isnan(found).any():
            raise ValueError("some translations have no text.")
        return found

    return {
        SOURCE_LENGTH: source_length,
        "translation length": translation_length,
        SOURCE_SENTINEL: lambda: _cross_fitted(es, "source", sources(), settings),
        "translation sentinel": lambda: _cross_fitted(es, "candidate", translation_length() is not None, settings),
    }


def _cross_fitted(es: EvalSet, sees: str, _present: object, settings: Settings) -> np.ndarray:
    """Train a light sentinel on every second document (or segment) and score the others, and the other way round."""
    if es.shape[1] < _TRAINED_FROM:
        raise ValueError(f"{es.shape[1]} segments are too few to train on half of them; {_TRAINED_FROM} are enough.")
    keys = es.documents if es.documents is not None and len(set(es.documents)) >= 10 else es.texts.sources
    if keys is None:
        keys = es.segments
    fold = pd.factorize(pd.Series(list(keys), dtype=object), use_na_sentinel=False)[0] % 2
    scores = np.full(es.shape, np.nan)
    rng = np.random.default_rng(settings.seed)
    texts = [es.texts.sources] if sees == "source" else [es.texts.translations[system] for system in es.systems]
    human = _oracles(es)["\0segment oracle"][:1] if sees == "source" else es.human
    column = {"source": "source", "candidate": "translation"}[sees]
    for side in (0, 1):
        rows, columns = np.nonzero(~np.isnan(human) & (fold == side))
        kept = np.sort(rng.permutation(len(rows))[:_TRAINED_ON])
        frame = pd.DataFrame(
            {column: [texts[i][j] for i, j in zip(rows[kept], columns[kept], strict=True)],
             "human": human[rows[kept], columns[kept]]}
        )  # fmt: skip
        trained = fit(frame, sees=sees)
        others = np.flatnonzero(fold != side)
        for i, row in enumerate(texts):
            found = trained.score([row[j] for j in others])
            scores[slice(None) if sees == "source" else i, others] = found
    return scores


def beyond_sources(part: Part, section: Section) -> dict | None:
    """Return how much more the metric earns without grouping than the best baseline that sees sources only."""
    es = section.found.get("es")
    names = [n for n in (SOURCE_SENTINEL, SOURCE_LENGTH) if es is not None and "\0" + n in es]
    earned = {n: row["value"] for n in names if (row := section.row(CLAIMED, n)) is not None}
    if not earned:
        return None
    name = max(earned, key=earned.get)
    baseline = "\0" + name
    known = ~(np.isnan(es.human) | np.isnan(es[part.metric]) | np.isnan(es[baseline]))
    counts = segment_counts(es, part.settings)
    own, other = (pearson_in_draws(es[n], es.human, known, counts) for n in (part.metric, baseline))
    gap = np.nan_to_num(own) - np.nan_to_num(other)  # a constant side counts 0
    low, high = interval(gap[1:], part.settings)
    return {"name": name, "value": float(gap[0]), "low": low, "high": high}
