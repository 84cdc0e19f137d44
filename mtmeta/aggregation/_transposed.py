"""Transposed references explain published figures and are not for use: corpus scores, and those of many draws."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain

import numpy as np
import pandas as pd
from scipy import sparse

from .. import scoring
from ..evalset import EvalSet
from . import _formulas
from ._aggregate import Aggregation
from ._statistics import as_text_set, texts_of


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
        self._order = _formulas.MAX_ORDER if metric == "bleu" else _formulas.CHAR_ORDER
        texts = [self._split(text) for text in references]
        self._lengths = np.array([len(units) for units in texts])
        found = [self._grams(units) for units in texts]
        self._columns = {gram: k for k, gram in enumerate(dict.fromkeys(chain.from_iterable(found)))}
        counts = [n for own in found for n in own.values()]
        places = [self._columns[gram] for own in found for gram in own]
        starts = np.cumsum([0, *map(len, found)])
        shape = (len(texts), len(self._columns))
        #: How often each reference, a row, has each n-gram, a column.
        self._counts = sparse.csr_array((np.array(counts, dtype=np.float64), places, starts), shape=shape).tocsc()

    def _grams(self, units: list[str]) -> Counter[tuple[str, ...]]:
        """Count the n-grams of all orders."""
        orders = range(1, self._order + 1)
        return Counter(chain.from_iterable(zip(*(units[k:] for k in range(n)), strict=False) for n in orders))

    def scores(self, translations: Sequence[str], drawn: np.ndarray, sizes: Sequence[int]) -> np.ndarray:
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
            own = {gram: n for gram, n in self._grams(units).items() if gram in self._columns}
            matches = self._counts[:, [self._columns[gram] for gram in own]]
            matches.data = np.minimum(matches.data, np.repeat(list(own.values()), np.diff(matches.indptr)))
            orders = np.array([len(gram) - 1 for gram in own], dtype=int)
            out[here] = score(len(units), matches, orders, drawn[here], sizes)
        return out

    def _totals(self, lengths: int | np.ndarray) -> np.ndarray:
        """Return how many n-grams of each order texts of these lengths have."""
        return np.maximum(np.subtract.outer(lengths, np.arange(self._order)), 0)

    def _bleu(self, length: int, matches: sparse.csc_array, orders: np.ndarray, drawn: np.ndarray, sizes) -> np.ndarray:
        """Return BLEU against the first references of each draw: all of them may match, the nearest length counts."""
        matches, counts = matches.toarray(), []
        for references in (one[:size] for one in drawn for size in sizes):
            lengths = self._lengths[references]
            nearest = lengths[np.argmin(np.abs(lengths - length) + (lengths > length) / 2)]  # of two alike the shorter
            matched = np.bincount(orders, matches[references].max(axis=0), self._order)
            counts.append([length, nearest, *matched, *self._totals(length)])
        return _formulas.score("bleu", np.array(counts, dtype=np.float64), False).reshape(len(drawn), len(sizes))

    def _chrf(self, length: int, matches: sparse.csc_array, orders: np.ndarray, drawn: np.ndarray, sizes) -> np.ndarray:
        """Return the best chrF among the first references of each draw."""
        matched = matches @ np.eye(self._order)[orders]
        totals = np.broadcast_to(self._totals(length), matched.shape), self._totals(self._lengths)
        counts = np.stack([*totals, matched], axis=-1)
        single = _formulas.score("chrf", counts.reshape(len(matched), -1), True)
        return np.maximum.accumulate(single[drawn], axis=1)[:, np.array(sizes) - 1]


def _splitter(metric: str):
    """Return what cuts a text into units, as sacreBLEU does."""
    if metric == "chrf":
        return lambda text: list("".join(text.split()))
    computed = scoring.scorer("bleu")
    return lambda text: computed._preprocess_segment(text).split()


def aggregate_transposed(
    es: EvalSet | pd.DataFrame, metric: str = "bleu", *, reference: str | None = None
) -> Aggregation:
    """Reproduce a mistake: corpus scores by sacreBLEU with references as ``[[r1], [r2], ...]``. WRONG ON PURPOSE.

    sacreBLEU then scores only the first translation of the test set, against the references of all segments, without an
    error. On WMT23 these scores give the corpus-level correlations with MQM that Cavalin et al. 2024 published. For
    real scores use `aggregate`; for resamples with the same mistake, `downsample`.

    Parameters
    ----------
    es : EvalSet or pandas.DataFrame
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
    TypeError, ValueError
        As in `extract`; and if there are several references.

    See Also
    --------
    aggregate : the sound aggregation.
    mtmeta.scoring.explain_reference_shape : the bug behind it.

    References
    ----------
    Cavalin, Domingues and Pinhanez 2024, Table 1. Their code was not seen; that they made this mistake is inferred from
    figures that agree.

    Examples
    --------
    >>> import mtmeta as mm
    >>> es = mm.load("teaching").select(systems=["Aster"])
    >>> wrong = mm.aggregation.aggregate_transposed(es, "bleu")
    >>> wrong.table.n_segments.tolist(), wrong.signature.split("|")[0]
    ([1], 'TRANSPOSED REFERENCES')
    """
    es, computed = as_text_set(es), scoring.scorer(metric)
    translations, streams = texts_of(es, reference)
    if len(streams) > 1:
        raise ValueError(f"one reference can be transposed; found {len(streams)}. Name one.")
    transposed = [[text] for text in streams[0]]
    sign = -1.0 if metric == "ter" else 1.0
    scores = [sign * computed.corpus_score(texts, transposed).score for texts in translations.values()]
    table = pd.DataFrame({"system": list(es.systems), "metric": metric, "how": "corpus", "score": scores})
    table = table.assign(se=np.nan, low=np.nan, high=np.nan, n_segments=1)
    return Aggregation(table, f"TRANSPOSED REFERENCES|{scoring.signature(computed)}|how:corpus|set:{es.name}")
