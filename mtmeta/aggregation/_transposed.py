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
        flat, starts = self._flat(references)
        self.lengths = np.diff(starts)
        owner = np.repeat(np.arange(len(references)), self.lengths)
        self.keys: list[np.ndarray] = []
        self.offsets = [0]
        postings = []
        numbers = flat
        for order in range(1, max_order + 1):
            if order == 1:
                self.keys.append(np.arange(len(self.units)))
                inside = np.ones(len(flat), dtype=bool)
            else:
                keys, inside = self._pairs(numbers, flat, starts, order)
                self.keys.append(np.unique(keys[inside]))
                numbers = np.where(inside, np.searchsorted(self.keys[-1], keys), -2)
            postings.append((numbers[inside] + self.offsets[-1]) * len(references) + owner[inside])
            self.offsets.append(self.offsets[-1] + len(self.keys[-1]))
        places, counts = np.unique(np.concatenate(postings), return_counts=True)
        gram, ref = np.divmod(places, max(len(references), 1))
        begins = np.searchsorted(gram, np.arange(self.offsets[-1] + 1))
        self.postings = begins.astype(np.int64), ref.astype(np.int32), counts.astype(np.int32)

    def _flat(self, texts: list[list[str]]) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers of all units (-1: unknown) and where each text begins."""
        flat = np.array([self.units.get(u, -1) for text in texts for u in text], dtype=np.int64)
        return flat, np.concatenate([[0], np.cumsum([len(text) for text in texts])]).astype(np.int64)

    def _pairs(self, shorter: np.ndarray, flat: np.ndarray, starts: np.ndarray, order: int):
        """Return a key for the n-gram at each position, from the shorter n-gram there and the unit that follows."""
        size = len(flat)
        ends = np.repeat(starts[1:], np.diff(starts))
        inside = np.arange(size) + order <= ends
        following = flat[np.minimum(np.arange(size) + order - 1, max(size - 1, 0))]
        keys = np.where((shorter >= 0) & (following >= 0), shorter * (len(self.units) + 1) + following, -1)
        return keys, inside

    def number(self, texts: list[list[str]]) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers of the n-grams of texts, shape (max_order, n_units), and where each text begins."""
        flat, starts = self._flat(texts)
        grams = np.empty((len(self.keys), len(flat)), dtype=np.int64)
        numbers = flat
        for order, known in enumerate(self.keys, 1):
            if order > 1:
                keys, inside = self._pairs(numbers, flat, starts, order)
                at = np.minimum(np.searchsorted(known, keys), max(len(known) - 1, 0))
                found = (known[at] == keys) & (keys >= 0) if len(known) else np.zeros(len(keys), dtype=bool)
                numbers = np.where(inside, np.where(found, at, -1), -2)
            grams[order - 1] = np.where(numbers >= 0, numbers + self.offsets[order - 1], numbers)
        return grams, starts
