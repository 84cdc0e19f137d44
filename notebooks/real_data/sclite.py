"""Word errors as NIST's scorer counts them, for the page `local_accuracy_speech`.

An alignment costs 4 for each substitution and 3 for each deletion or insertion. These
costs sometimes prefer a deletion and an insertion to a substitution, so that more errors
are counted than necessary; jiwer counts the fewest errors.
"""

from __future__ import annotations

from collections.abc import Sequence

import jiwer
import numba
import numpy as np
import pandas as pd


@numba.njit
def _counts(text, reference):
    """Return hits, substitutions, deletions and insertions of the cheapest alignment.

    Of alignments that cost the same, it prefers a match or substitution at the end, then
    an insertion, then a deletion.
    """
    n, m = len(reference), len(text)
    cost, counts = np.full((n + 1, m + 1), 4 * (n + m)), np.zeros((n + 1, m + 1, 4))
    cost[0, 0] = 0
    for i in range(n + 1):
        for j in range(m + 1):
            change = 0 if i and j and reference[i - 1] == text[j - 1] else 4
            steps = ((1, 1, change, change // 4), (0, 1, 3, 3), (1, 0, 3, 2))
            for a, b, price, step in steps:
                if i >= a and j >= b and cost[i - a, j - b] + price < cost[i, j]:
                    cost[i, j] = cost[i - a, j - b] + price
                    counts[i, j] = counts[i - a, j - b]
                    counts[i, j, step] += 1
    return counts[n, m]


def score_transcripts(
    frame: pd.DataFrame, by="system", *, fewest: bool = False
) -> pd.DataFrame:
    """Return the word errors of groups of transcripts, and the negated error rate.

    They are counted as NIST's scorer does, or with ``fewest`` as jiwer does. Errors are
    summed over the segments of a group first, then divided by the words of the
    references: ``wer`` is -0.1 where one word in ten is wrong.
    """
    numbers: dict[str, int] = {}
    names = ["hits", "substitutions", "deletions", "insertions"]

    def numbered(text: str) -> np.ndarray:
        return np.array(
            [numbers.setdefault(w, len(numbers)) for w in text.split()], int
        )

    def count(text: str, reference: str) -> Sequence[float]:
        if fewest:
            done = jiwer.process_words(reference, text)
            return [getattr(done, name) for name in names]
        return _counts(numbered(text), numbered(reference))

    pairs = zip(frame["transcript"], frame["reference"], strict=True)
    counts = np.array([count(*pair) for pair in pairs])
    counts = pd.DataFrame(counts.astype(int), columns=names, index=frame.index)
    keys = [frame[name] for name in ([by] if isinstance(by, str) else by)]
    out = counts.groupby(keys, sort=False).sum().reset_index()
    out["words"] = out[names[:3]].sum(axis=1)
    return out.assign(wer=0.0 - out[names[1:]].sum(axis=1) / out["words"])
