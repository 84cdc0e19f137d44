"""How much a system score depends on the size of the test set: correlations over down-sampled sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from joblib import delayed

from .._checks import check_choice, check_count, check_jobs, generator
from .._pearson import pearson
from .._processes import parallel
from ..evalset import EvalSet
from ..resampling import seed_of, times_drawn
from . import _formulas
from ._statistics import SegmentStatistics, as_text_set, extract, texts_of
from ._transposed import TransposedScorer

#: What figure 5 compares: a down-sampled aggregation with another, or with the bootstrap on the whole set.
COMPARISONS = (
    ("segment", "corpus", "segment with corpus"),
    ("corpus", "bootstrap", "corpus with bootstrap"),
    ("segment", "bootstrap", "segment with bootstrap"),
)


@dataclass(frozen=True)
class DownSampling:
    """The result of `downsample`.

    Attributes
    ----------
    units : pandas.DataFrame
        One row per system of each set: ``set, system, corpus, segment, bootstrap``, on all segments.
    table : pandas.DataFrame
        One row per size, comparison and repetition: ``size, comparison, repetition, pearson``, over all units.
    signature : str
    """

    units: pd.DataFrame
    table: pd.DataFrame = field(repr=False)
    signature: str

    def to_frame(self) -> pd.DataFrame:
        """Return a copy of ``table``."""
        return self.table.copy()


def downsample(
    sets: Sequence[EvalSet],
    metric: str = "bleu",
    *,
    sizes: Sequence[int] = (1, 10, 100),
    n_resamples: int = 1000,
    sample_size: int = 1000,
    transposed: bool = False,
    reference: str | None = None,
    n_jobs: int = 1,
    rng: int | np.random.Generator | None = 0,
) -> DownSampling:
    r"""Correlate aggregations of down-sampled test sets with each other and with the bootstrap.

    For each system of each set (a *unit*) and each repetition, segments are drawn with replacement. Their first N give
    the down-sampled scores, all ``sample_size`` one resample of the bootstrap score :math:`\bar f`, the mean over
    repetitions. Each repetition gives one Pearson correlation over all units and comparison.

    Target: the correlation of two aggregations over these systems, on test sets of this size.

    Parameters
    ----------
    sets : sequence of EvalSet
    metric : {"bleu", "chrf"}
    sizes : sequence of int
        Ascending numbers of segments, below ``sample_size``.
    n_resamples, sample_size : int
        The paper has 1,000 of both.
    transposed : bool
        Whether corpus scores are computed with transposed references: WRONG ON PURPOSE, see `aggregate_transposed`.
        Segment scores are not affected.
    reference : str, optional
        One name among the references of each set, by default that of the set.
    n_jobs : int
        Workers of joblib, over sets. The result does not depend on it.
    rng : None, int or numpy.random.Generator

    Returns
    -------
    DownSampling
        Draws are independent between units; those of a unit are nested over sizes.

    Raises
    ------
    TypeError, ValueError
        As in `extract`; also if the metric is any other, a number is out of range, or there are fewer than three units.

    See Also
    --------
    compare_aggregations : on all segments.
    mtmeta.plots.correlations_by_size : a figure of the result.

    References
    ----------
    Cavalin, Domingues and Pinhanez 2024, section 4.6 and figure 5.

    Examples
    --------
    >>> import mtmeta as mm
    >>> es = mm.load("teaching")
    >>> found = mm.aggregation.downsample([es], sizes=[1, 50], n_resamples=20, sample_size=100)
    >>> found.table.groupby("comparison")["pearson"].size().tolist()
    [40, 40, 40]
    >>> len(found.units)
    12
    """
    check_choice("metric", metric, ("bleu", "chrf"))
    sizes = [int(size) for size in sizes]
    check_count("n_resamples", n_resamples, 1)
    check_count("sample_size", sample_size, 2)
    if not sizes or sizes != sorted(set(sizes)) or sizes[0] < 1 or sizes[-1] >= sample_size:
        raise ValueError(f"`sizes` must ascend, from 1 to below sample_size={sample_size}; found {sizes}.")
    sets = [as_text_set(es) for es in sets]
    if sum(len(es.systems) for es in sets) < 3:
        raise ValueError("a correlation over units needs at least three systems in all; give more sets.")
    seeds = generator(rng).spawn(len(sets))
    given = ([*sizes, sample_size], n_resamples, transposed, reference)
    jobs = (delayed(_units_of)(es, metric, *given, seed) for es, seed in zip(sets, seeds, strict=True))
    frames, corpus, segment = zip(*parallel(check_jobs(n_jobs), jobs), strict=True)
    units = pd.concat(frames, ignore_index=True)
    found = {"corpus": np.concatenate(corpus), "segment": np.concatenate(segment)}
    whole = np.broadcast_to(units["bootstrap"].to_numpy()[:, None], found["corpus"].shape[:2])
    parts = []
    for k, size in enumerate(sizes):
        scores = {name: values[:, :, k] for name, values in found.items()} | {"bootstrap": whole}
        for first, second, label in COMPARISONS:
            values = pearson(scores[first], scores[second], axis=0, tolerance=1e-12)
            columns = {"size": size, "comparison": label, "repetition": np.arange(n_resamples), "pearson": values}
            parts.append(pd.DataFrame(columns))
    kind = "TRANSPOSED REFERENCES|" if transposed else ""
    signature = f"{kind}{metric}|units:{len(units)}|repetitions:{n_resamples}|size:{sample_size}|seed:{seed_of(rng)}"
    return DownSampling(units, pd.concat(parts, ignore_index=True), signature)


def _units_of(es, metric, sizes, n_resamples, transposed, reference, rng):
    """Return the units of one set, and corpus and segment scores of shape (n_systems, n_resamples, n_sizes - 1)."""
    statistics = extract(es, metric, references=reference)
    translations, streams = texts_of(es, reference)
    if transposed and len(streams) > 1:
        raise ValueError(f"one reference can be transposed; found {len(streams)}. Name one.")
    segment_scores = statistics.segment_scores()
    n = len(statistics.segments)
    drawn = rng.integers(n, size=(len(statistics.systems), n_resamples, sizes[-1]))
    segment = np.stack([_means(v, d, sizes[:-1]) for v, d in zip(segment_scores, drawn, strict=True)])
    if transposed:
        scorer = TransposedScorer(metric, streams[0])
        texts = [translations[system] for system in statistics.systems]
        corpus = np.stack([scorer.scores(text, d, sizes) for text, d in zip(texts, drawn, strict=True)])
        whole = [scorer.scores(text, np.arange(n)[None, :], [n])[0, 0] for text in texts]
    else:
        corpus = np.stack(
            [_corpus_scores(statistics, c, d, sizes) for c, d in zip(statistics.counts, drawn, strict=True)]
        )
        whole = statistics.corpus_scores()
    units = {"set": es.name, "system": list(statistics.systems), "corpus": whole}
    frame = pd.DataFrame(units | {"segment": segment_scores.mean(axis=1), "bootstrap": corpus[:, :, -1].mean(axis=1)})
    return frame, corpus[:, :, :-1], segment


def _means(values: np.ndarray, drawn: np.ndarray, sizes: Sequence[int]) -> np.ndarray:
    """Return the means of the first ``size`` values of each draw."""
    return np.stack([values[drawn[:, :size]].mean(axis=1) for size in sizes], axis=-1)


def _corpus_scores(
    statistics: SegmentStatistics, counts: np.ndarray, drawn: np.ndarray, sizes: Sequence[int]
) -> np.ndarray:
    """Return one system's corpus scores of the first ``size`` segments of each draw."""
    sums = [times_drawn(drawn[:, :size], len(counts)) @ counts for size in sizes]
    return _formulas.score(statistics.metric, np.stack(sums, axis=1), statistics.effective_order_of("corpus"))
