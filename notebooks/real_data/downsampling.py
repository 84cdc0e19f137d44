"""Down-sampled test sets, and transposed references, which explain published figures and are not for use.

Transposed references are the mistake ``[[r1], [r2], ...]``: sacreBLEU then scores only the first translation, against
the references of all segments.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy import sparse

from mtmeta import EvalSet, scoring
from mtmeta._checks import check_choice, check_count, generator
from mtmeta._compiled import njit
from mtmeta._pearson import pearson
from mtmeta.aggregation import Aggregation, SegmentStatistics, extract
from mtmeta.resampling import seed_of, times_drawn

#: Orders of the n-grams of words in BLEU, and of characters in chrF.
_ORDERS = {"bleu": 4, "chrf": 6}

#: The paper tokenizes every language by 13a.
WORDS = {"bleu": "13a"}


def _score(metric: str, sums: np.ndarray, effective_order: bool) -> np.ndarray:
    """Return the scores of sums of counts, shape (..., n_counts)."""
    return SegmentStatistics(metric, (), (), (), sums, {"num_refs": 1}).segment_scores(
        effective_order=effective_order
    )


def _texts(es: EvalSet, reference: str | None) -> tuple[list[list[str]], list[str]]:
    """Return the translations of each system, and the texts of the one reference."""
    known = es.texts.references
    name = reference or (
        next(iter(known)) if len(known) == 1 else es.provenance.get("reference")
    )
    if name not in known:
        raise ValueError(
            f"one reference can be transposed; found {', '.join(known)}. Name one."
        )
    return [list(es.texts.translations[system]) for system in es.systems], list(
        known[name]
    )


@njit
def _add_clipped(starts, rows, data, columns, most, places, out):
    """Add the entries of some columns of a sparse matrix, clipped, to a place of each row."""
    for k in range(len(columns)):
        for at in range(starts[columns[k]], starts[columns[k] + 1]):
            out[rows[at], places[k]] += min(data[at], most[k])


class TransposedScorer:
    """Scores the first segment of a draw against all references of the draw, as sacreBLEU would.

    Parameters
    ----------
    metric : {"bleu", "chrf"}
    references : sequence of str, length n_segments
        Indexed once, for all systems.
    """

    def __init__(self, metric: str, references: Sequence[str]) -> None:
        self.metric, self._split = metric, _splitter(metric)
        self._order = _ORDERS[metric]
        texts = [self._split(text) for text in references]
        self._lengths = np.array([len(units) for units in texts])
        found = [self._grams(units) for units in texts]
        self._columns = {
            gram: k for k, gram in enumerate(dict.fromkeys(chain.from_iterable(found)))
        }
        counts = [n for own in found for n in own.values()]
        places = [self._columns[gram] for own in found for gram in own]
        starts = np.cumsum([0, *map(len, found)])
        shape = (len(texts), len(self._columns))
        #: How often each reference, a row, has each n-gram, a column.
        self._counts = sparse.csr_array(
            (np.array(counts, dtype=np.float64), places, starts), shape=shape
        ).tocsc()

    def _grams(self, units: list[str] | str) -> Counter:
        """Count the n-grams of all orders: tuples of words, or texts."""
        if isinstance(units, list):
            units = tuple(units)
        ends = (range(len(units) - n + 1) for n in range(1, self._order + 1))
        return Counter(
            units[k : k + n] for n, starts in enumerate(ends, 1) for k in starts
        )

    def scores(
        self, translations: Sequence[str], drawn: np.ndarray, sizes: Sequence[int]
    ) -> np.ndarray:
        """Score the draws cut to their first ``size`` segments.

        Parameters
        ----------
        translations : sequence of str, length n_segments
            Of one system.
        drawn : numpy.ndarray of int, shape (n_resamples, n)
        sizes : sequence of int
            Ascending, at most n.

        Returns
        -------
        numpy.ndarray, shape (n_resamples, n_sizes)
        """
        out = np.empty((len(drawn), len(sizes)))
        score = self._bleu if self.metric == "bleu" else self._chrf
        for first in np.unique(drawn[:, 0]):
            here = drawn[:, 0] == first
            units = self._split(translations[first])
            own = {
                gram: n
                for gram, n in self._grams(units).items()
                if gram in self._columns
            }
            columns = np.array([self._columns[gram] for gram in own], dtype=int)
            counts = np.array(list(own.values()), dtype=np.float64)
            orders = np.array([len(gram) - 1 for gram in own], dtype=int)
            one = columns, counts, orders
            out[here] = score(len(units), one, drawn[here], sizes)
        return out

    def _totals(self, lengths: int | np.ndarray) -> np.ndarray:
        """Return how many n-grams of each order texts of these lengths have."""
        return np.maximum(np.subtract.outer(lengths, np.arange(self._order)), 0)

    def _matches(self, columns, counts, places) -> np.ndarray:
        """Add up how often each reference, a row, has n-grams, at most `counts` times each, in one of some places."""
        n = places.max(initial=0) + 1
        out = np.zeros((len(self._lengths), max(n, self._order)))
        csc = self._counts
        _add_clipped(csc.indptr, csc.indices, csc.data, columns, counts, places, out)
        return out

    def _bleu(self, length: int, one, drawn: np.ndarray, sizes) -> np.ndarray:
        """Return BLEU against the first references of each draw: all of them may match, the nearest length counts."""
        columns, found, orders = one
        matches, counts = self._matches(columns, found, np.arange(len(columns))), []
        matches = matches[:, : len(columns)]
        for references in (one[:size] for one in drawn for size in sizes):
            lengths = self._lengths[references]
            nearest = lengths[
                np.argmin(np.abs(lengths - length) + (lengths > length) / 2)
            ]  # of two alike the shorter
            matched = np.bincount(orders, matches[references].max(axis=0), self._order)
            counts.append([length, nearest, *matched, *self._totals(length)])
        return _score("bleu", np.array(counts, dtype=np.float64), False).reshape(
            len(drawn), len(sizes)
        )

    def _chrf(self, length: int, one, drawn: np.ndarray, sizes) -> np.ndarray:
        """Return the best chrF among the first references of each draw."""
        matched = self._matches(*one)
        totals = (
            np.broadcast_to(self._totals(length), matched.shape),
            self._totals(self._lengths),
        )
        counts = np.stack([*totals, matched], axis=-1)
        single = _score("chrf", counts.reshape(len(matched), -1), True)
        return np.maximum.accumulate(single[drawn], axis=1)[:, np.array(sizes) - 1]


def _splitter(metric: str):
    """Return what cuts a text into units, as sacreBLEU does: a list of words, or a text without blanks."""
    if metric == "chrf":
        return lambda text: "".join(text.split())
    computed = scoring.scorer("bleu")
    return lambda text: computed._preprocess_segment(text).split()


def aggregate_transposed(
    es: EvalSet, metric: str = "bleu", *, reference: str | None = None
) -> Aggregation:
    """Reproduce a mistake: corpus scores by sacreBLEU with references as ``[[r1], [r2], ...]``. WRONG ON PURPOSE.

    sacreBLEU then scores only the first translation of the test set, against the references of all segments, without an
    error. On WMT23 these scores give the corpus-level correlations with MQM that Cavalin et al. 2024 published. For
    real scores use `mtmeta.aggregate`; for resamples with the same mistake, `downsample`.

    Parameters
    ----------
    es : EvalSet
        The first of ``es.segments`` is the one that is scored.
    metric : {"bleu", "chrf", "chrf++", "ter"}
    reference : str, optional
        One name among ``es.texts.references``, by default that of the set.

    Returns
    -------
    Aggregation
        ``n_segments`` is 1, the number that was scored. There is no interval. The signature begins with ``TRANSPOSED
        REFERENCES``.

    Raises
    ------
    ValueError
        If there are several references.

    See Also
    --------
    mtmeta.aggregate : the sound aggregation.
    mtmeta.scoring.explain_reference_shape : the bug behind it.

    References
    ----------
    Cavalin, Domingues and Pinhanez 2024, Table 1. Their code was not seen; that they made this mistake is inferred from
    figures that agree.

    Examples
    --------
    >>> import mtmeta as mm
    >>> es = mm.load("teaching").select(systems=["Aster"])
    >>> wrong = aggregate_transposed(es, "bleu")
    >>> wrong.table.n_segments.tolist(), wrong.signature.split("|")[0]
    ([1], 'TRANSPOSED REFERENCES')
    """
    computed = scoring.scorer(metric)
    translations, references = _texts(es, reference)
    transposed = [[text] for text in references]
    sign = -1.0 if metric == "ter" else 1.0
    scores = [
        sign * computed.corpus_score(texts, transposed).score for texts in translations
    ]
    table = pd.DataFrame(
        {"system": list(es.systems), "metric": metric, "how": "corpus", "score": scores}
    )
    table = table.assign(se=np.nan, low=np.nan, high=np.nan, n_segments=1)
    return Aggregation(
        table,
        f"TRANSPOSED REFERENCES|{scoring.signature(computed)}|how:corpus|set:{es.name}",
    )


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
        As in `mtmeta.aggregation.extract`; also if the metric is any other, a number is out of range, or there are fewer than three units.

    See Also
    --------
    corpus_or_segment.compare_aggregations : on all segments.

    References
    ----------
    Cavalin, Domingues and Pinhanez 2024, section 4.6 and figure 5.

    Examples
    --------
    >>> import mtmeta as mm
    >>> es = mm.load("teaching")
    >>> found = downsample([es], sizes=[1, 50], n_resamples=20, sample_size=100)
    >>> found.table.groupby("comparison")["pearson"].size().tolist()
    [40, 40, 40]
    >>> len(found.units)
    12
    """
    check_choice("metric", metric, ("bleu", "chrf"))
    sizes = [int(size) for size in sizes]
    check_count("n_resamples", n_resamples, 1)
    check_count("sample_size", sample_size, 2)
    if (
        not sizes
        or sizes != sorted(set(sizes))
        or sizes[0] < 1
        or sizes[-1] >= sample_size
    ):
        raise ValueError(
            f"`sizes` must ascend, from 1 to below sample_size={sample_size}; found {sizes}."
        )
    if sum(len(es.systems) for es in sets) < 3:
        raise ValueError(
            "a correlation over units needs at least three systems in all; give more sets."
        )
    seeds = generator(rng).spawn(len(sets))
    given = ([*sizes, sample_size], n_resamples, transposed, reference)
    how = {"references": reference, "tokenize": WORDS.get(metric), "n_jobs": n_jobs}
    counted = [extract(es, metric, **how) for es in sets]  # its workers come first
    jobs = (
        delayed(_units_of)(es, statistics, *given, seed)
        for es, statistics, seed in zip(sets, counted, seeds, strict=True)
    )
    frames, corpus, segment = zip(*Parallel(n_jobs)(jobs), strict=True)
    units = pd.concat(frames, ignore_index=True)
    found = {"corpus": np.concatenate(corpus), "segment": np.concatenate(segment)}
    whole = np.broadcast_to(
        units["bootstrap"].to_numpy()[:, None], found["corpus"].shape[:2]
    )
    parts = []
    for k, size in enumerate(sizes):
        scores = {name: values[:, :, k] for name, values in found.items()} | {
            "bootstrap": whole
        }
        for first, second, label in COMPARISONS:
            values = pearson(scores[first], scores[second], axis=0, tolerance=1e-12)
            columns = {
                "size": size,
                "comparison": label,
                "repetition": np.arange(n_resamples),
                "pearson": values,
            }
            parts.append(pd.DataFrame(columns))
    kind = "TRANSPOSED REFERENCES|" if transposed else ""
    signature = f"{kind}{metric}|units:{len(units)}|repetitions:{n_resamples}|size:{sample_size}|seed:{seed_of(rng)}"
    return DownSampling(units, pd.concat(parts, ignore_index=True), signature)


def _units_of(es, statistics, sizes, n_resamples, transposed, reference, rng):
    """Return the units of one set, and corpus and segment scores of shape (n_systems, n_resamples, n_sizes - 1)."""
    metric = statistics.metric
    segment_scores = statistics.segment_scores()
    n = len(statistics.segments)
    drawn = rng.integers(n, size=(len(statistics.systems), n_resamples, sizes[-1]))
    segment = np.stack(
        [_means(v, d, sizes[:-1]) for v, d in zip(segment_scores, drawn, strict=True)]
    )
    if transposed:
        texts, references = _texts(es, reference)
        scorer = TransposedScorer(metric, references)
        corpus = np.stack(
            [
                scorer.scores(text, d, sizes)
                for text, d in zip(texts, drawn, strict=True)
            ]
        )
        whole = [
            scorer.scores(text, np.arange(n)[None, :], [n])[0, 0] for text in texts
        ]
    else:
        corpus = np.stack(
            [
                _corpus_scores(statistics, c, d, sizes)
                for c, d in zip(statistics.counts, drawn, strict=True)
            ]
        )
        whole = statistics.corpus_scores()
    units = {"set": es.name, "system": list(statistics.systems), "corpus": whole}
    frame = pd.DataFrame(
        units
        | {
            "segment": segment_scores.mean(axis=1),
            "bootstrap": corpus[:, :, -1].mean(axis=1),
        }
    )
    return frame, corpus[:, :, :-1], segment


def _means(values: np.ndarray, drawn: np.ndarray, sizes: Sequence[int]) -> np.ndarray:
    """Return the means of the first ``size`` values of each draw."""
    return np.stack([values[drawn[:, :size]].mean(axis=1) for size in sizes], axis=-1)


def _corpus_scores(
    statistics: SegmentStatistics,
    counts: np.ndarray,
    drawn: np.ndarray,
    sizes: Sequence[int],
) -> np.ndarray:
    """Return one system's corpus scores of the first ``size`` segments of each draw."""
    sums = [times_drawn(drawn[:, :size], len(counts)) @ counts for size in sizes]
    return _score(
        statistics.metric,
        np.stack(sums, axis=1),
        statistics.effective_order_of("corpus"),
    )
