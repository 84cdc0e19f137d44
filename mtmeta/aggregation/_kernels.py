"""Compiled loops of transposed scoring. The slow version, sacreBLEU itself, stands in ``tests/test_aggregation.py``.

Sequences of units (words or characters) lie one after the other; ``starts`` (int64, n + 1) says where each begins.
``grams[o, p]`` is the number of the n-gram of order o + 1 that begins at position p: -1 if no reference has it, -2 if
it would cross the end of its sequence. ``posting_starts`` cuts ``posting_refs`` and ``posting_counts`` by n-gram: which
references have it, and how often.
"""

from __future__ import annotations

import numpy as np

from .._compiled import njit


@njit(nogil=True)
def transposed_bleu_counts(
    grams, starts, hypothesis_of, drawn, sizes, lengths, posting_starts, posting_refs, posting_counts
):
    """Count what BLEU counts for one hypothesis against the first ``size`` references of each draw.

    Returns counts of shape (n_resamples, n_sizes, 2 + 2 * n_orders), in the order of sacreBLEU.
    """
    n_orders = len(grams)
    counts = np.zeros((len(drawn), len(sizes), 2 + 2 * n_orders))
    times = np.zeros(len(posting_starts) - 1, dtype=np.int64)
    last_draw = np.full(len(lengths), -1, dtype=np.int64)
    for d in range(len(drawn)):
        begin, end = starts[hypothesis_of[d]], starts[hypothesis_of[d] + 1]
        length, nearest, done = end - begin, -1, 0
        for s in range(len(sizes)):
            for k in range(done, sizes[s]):
                j = drawn[d, k]
                last_draw[j] = d
                gap, best_gap = abs(lengths[j] - length), abs(nearest - length)
                if nearest < 0 or gap < best_gap or (gap == best_gap and lengths[j] < nearest):
                    nearest = lengths[j]
            done = sizes[s]
            counts[d, s, 0], counts[d, s, 1] = length, nearest
            for o in range(n_orders):
                for p in range(begin, end):
                    gram = grams[o, p]
                    if gram != -2:
                        counts[d, s, 2 + n_orders + o] += 1
                    if gram >= 0:
                        times[gram] += 1
                for p in range(begin, end):
                    gram = grams[o, p]
                    if gram < 0 or times[gram] == 0:
                        continue
                    most = 0
                    for q in range(posting_starts[gram], posting_starts[gram + 1]):
                        if last_draw[posting_refs[q]] == d and posting_counts[q] > most:
                            most = posting_counts[q]
                            if most >= times[gram]:
                                break
                    counts[d, s, 2 + o] += min(most, times[gram])
                    times[gram] = 0
    return counts


@njit(nogil=True)
def transposed_chrf(
    grams, starts, hypothesis_of, drawn, sizes, lengths, posting_starts, posting_refs, posting_counts, factor
):
    """Return the best chrF of one hypothesis among the first references of each draw, (n_resamples, n_sizes)."""
    n_orders, n_refs = len(grams), len(lengths)
    scores = np.zeros((len(drawn), len(sizes)))
    times = np.zeros(len(posting_starts) - 1, dtype=np.int64)
    f_scores = np.zeros(n_refs)
    matches = np.zeros((n_orders, n_refs), dtype=np.int32)
    current = -1
    for d in np.argsort(hypothesis_of, kind="mergesort"):
        if hypothesis_of[d] != current:
            current = hypothesis_of[d]
            begin, end = starts[current], starts[current + 1]
            matches[:] = 0
            for o in range(n_orders):
                _add_matches(matches[o], grams[o, begin:end], times, posting_starts, posting_refs, posting_counts)
            for j in range(n_refs):
                f_scores[j] = _chrf_of(matches[:, j], end - begin, lengths[j], factor)
        best, done = 0.0, 0
        for s in range(len(sizes)):
            for k in range(done, sizes[s]):
                best = max(best, f_scores[drawn[d, k]])
            done = sizes[s]
            scores[d, s] = best
    return scores


@njit(nogil=True)
def _add_matches(row, grams, times, posting_starts, posting_refs, posting_counts):
    """Add to ``row`` how many n-grams of one order each reference shares; ``times`` is zero before and after."""
    for gram in grams:
        if gram >= 0:
            times[gram] += 1
    for gram in grams:
        if gram < 0 or times[gram] == 0:
            continue
        for q in range(posting_starts[gram], posting_starts[gram + 1]):
            row[posting_refs[q]] += min(times[gram], posting_counts[q])
        times[gram] = 0


@njit(nogil=True)
def _chrf_of(matches, n_hyp, n_ref, factor):
    """Return chrF of one pair from its matches by order: F of mean precision and recall over the orders of both."""
    precision, recall, orders = 0.0, 0.0, 0
    for o in range(len(matches)):
        if n_hyp > o and n_ref > o:
            precision += matches[o] / (n_hyp - o)
            recall += matches[o] / (n_ref - o)
            orders += 1
    if orders == 0 or precision + recall == 0:
        return 0.0
    precision, recall = precision / orders, recall / orders
    return 100 * (1 + factor) * precision * recall / (factor * precision + recall)
