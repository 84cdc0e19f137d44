"""Slow and obvious versions of the statistics: what the fast ones are tested against."""

import itertools
import math

import numpy as np


def pair_counts(human, metric, epsilon=0.0):
    """Count (concordant, discordant, tied human, tied metric, tied both), pair by pair."""
    counts = [0, 0, 0, 0, 0]
    for i, j in itertools.combinations(range(len(human)), 2):
        dh, dm = human[i] - human[j], metric[i] - metric[j]
        tied_metric = abs(dm) <= epsilon
        if dh == 0:
            counts[4 if tied_metric else 2] += 1
        elif tied_metric:
            counts[3] += 1
        else:
            counts[0 if (dh > 0) == (dm > 0) else 1] += 1
    return counts


def groups(human, metric, grouping):
    """Yield the (human, metric) score lists of each group, holes left out."""
    human, metric = np.asarray(human, float), np.asarray(metric, float)
    if grouping == "none":
        human, metric = human.reshape(1, -1), metric.reshape(1, -1)
    elif grouping == "segment":
        human, metric = human.T, metric.T
    for h, m in zip(human, metric, strict=True):
        scored = ~(np.isnan(h) | np.isnan(m))
        if scored.sum() >= 2:
            yield h[scored], m[scored]


def acc_eq(human, metric, grouping, epsilon):
    """Mean over groups of (C + T_hm) / all pairs."""
    values = []
    for h, m in groups(human, metric, grouping):
        c, _, _, _, both = pair_counts(h, m, epsilon)
        values.append((c + both) / math.comb(len(h), 2))
    return float(np.mean(values))


def calibrate(human, metric, grouping):
    """Try 0 and every observed difference; return the smallest best epsilon and its acc_eq."""
    candidates = {0.0}
    for _, m in groups(human, metric, grouping):
        candidates |= {abs(a - b) for a, b in itertools.combinations(m, 2)}
    scored = [(acc_eq(human, metric, grouping, e), e) for e in sorted(candidates)]
    best = max(value for value, _ in scored)
    return next((e, v) for v, e in scored if math.isclose(v, best, rel_tol=1e-12))
