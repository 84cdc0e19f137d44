"""Transposed scores of many draws: one hypothesis against the references of a draw."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .. import scoring
from . import _formulas, _kernels

__all__ = ["TransposedScorer"]


class TransposedScorer:
    """Scores the first segment of a draw against all references of the draw, as sacreBLEU would.

    Parameters
    ----------
    metric : {"bleu", "chrf"}
    references : sequence of str, length n_segments
        Indexed once, for all systems.
    tokenize : str, optional
    """

    def __init__(self, metric: str, references: Sequence[str], *, tokenize: str | None = None) -> None:
        self.metric = metric
        self._split = _splitter(metric, tokenize)
        order = _formulas.MAX_ORDER if metric == "bleu" else _formulas.CHAR_ORDER
        self._index = _Index([self._split(text) for text in references], order)

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
        drawn, sizes = np.ascontiguousarray(drawn, dtype=np.int64), np.asarray(sizes, dtype=np.int64)
        firsts, hypothesis_of = np.unique(drawn[:, 0], return_inverse=True)
        grams, starts = self._index.number([self._split(translations[j]) for j in firsts])
        given = (grams, starts, hypothesis_of, drawn, sizes, self._index.lengths, *self._index.postings)
        if self.metric == "chrf":
            return _kernels.transposed_chrf(*given, float(_formulas.BETA**2))
        return _formulas.score("bleu", _kernels.transposed_bleu_counts(*given), False)


def _splitter(metric: str, tokenize: str | None):
    """Return what cuts a text into units, as sacreBLEU does."""
    if metric == "chrf":
        return lambda text: list("".join(text.split()))
    computed = scoring.scorer("bleu", tokenize=tokenize)
    return lambda text: computed._preprocess_segment(text).split()


class _Index:
    """The n-grams of references by number, and where each occurs."""

    def __init__(self, references: list[list[str]], max_order: int) -> None:
        self.units = {unit: k for k, unit in enumerate(dict.fromkeys(u for text in references for u in text))}
        self.keys: list[np.ndarray] = []
        grams, starts = self.number(references, learn=max_order)
        self.lengths = np.diff(starts)
        owner = np.broadcast_to(np.repeat(np.arange(len(references)), self.lengths), grams.shape)
        places, counts = np.unique(grams[grams >= 0] * len(references) + owner[grams >= 0], return_counts=True)
        gram, ref = np.divmod(places, len(references))
        begins = np.searchsorted(gram, np.arange(sum(map(len, self.keys)) + 1))
        self.postings = begins.astype(np.int64), ref.astype(np.int32), counts.astype(np.int32)

    def number(self, texts: list[list[str]], learn: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers of the n-grams of texts, shape (max_order, n_units), and where each text begins.

        An n-gram is known by a key, made of the number of the shorter n-gram that it begins with and of the unit that
        follows. Keys of the texts are learnt up to an order; the last one of an order is beyond all of them.
        """
        flat = np.array([self.units.get(u, -1) for text in texts for u in text], dtype=np.int64)
        starts = np.concatenate([[0], np.cumsum([len(text) for text in texts])]).astype(np.int64)
        places, ends = np.arange(len(flat)), np.repeat(starts[1:], np.diff(starts))
        numbers, rows, before = np.zeros_like(flat), [], 0
        for order in range(1, (learn or len(self.keys)) + 1):
            inside = places + order <= ends
            following = flat[np.minimum(places + order - 1, len(flat) - 1)]
            whole = inside & (numbers >= 0) & (following >= 0)
            keys = np.where(whole, numbers * (len(self.units) + 1) + following, -1)
            if learn:
                self.keys.append(np.append(np.unique(keys[whole]), np.iinfo(np.int64).max))
            known = self.keys[order - 1]
            at = np.searchsorted(known, keys)
            numbers = np.where(inside, np.where(known[at] == keys, at, -1), -2)
            rows.append(np.where(numbers >= 0, numbers + before, numbers))
            before += len(known)
        return np.stack(rows), starts
