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


def pearson(h, m):
    """Return Pearson's r, None where a side is constant."""
    if len(set(h)) == 1 or len(set(m)) == 1:
        return None
    return float(np.corrcoef(h, m)[0, 1])


def tau_b(h, m):
    """Return Kendall's tau_b from counted pairs, None where a side is constant."""
    c, d, t_h, t_m, _ = pair_counts(h, m)
    denominator = math.sqrt((c + d + t_h) * (c + d + t_m))
    return (c - d) / denominator if denominator else None


def mean_of_groups(coefficient, human, metric, grouping, degenerate="drop"):
    """Average a coefficient over groups; undefined groups are dropped or count 0."""
    values = [coefficient(h, m) for h, m in groups(human, metric, grouping)]
    if degenerate == "zero":
        values = [0.0 if v is None else v for v in values]
    values = [v for v in values if v is not None]
    return float(np.mean(values)) if values else 0.0


def standardised(human, metric):
    """Bring a metric to mean 0 and standard deviation 1 over the rated cells."""
    rated = metric[~np.isnan(human)]
    return (metric - rated.mean()) / rated.std()


def permuted_differences(coefficient, human, first, second, swaps, grouping, degenerate="drop"):
    """PERM-BOTH, one draw at a time: swap cells, score both hybrids, take the difference."""
    first, second = standardised(human, first), standardised(human, second)
    differences = []
    for swap in swaps:
        hybrids = np.where(swap, second, first), np.where(swap, first, second)
        scores = [mean_of_groups(coefficient, human, m, grouping, degenerate) for m in hybrids]
        differences.append(scores[0] - scores[1])
    return np.array(differences)


def pair_swap_p(human, first, second, grouping, epsilons):
    """Exact pair-swap test by enumerating every assignment of the pairs that differ."""
    signs = []  # (weight in the mean, +1 if only the first metric is right, -1 if only the second)
    pairs_of_groups = [
        (list(groups(human, first, grouping))[g], list(groups(human, second, grouping))[g])
        for g in range(len(list(groups(human, first, grouping))))
    ]
    for (h, a), (_, b) in pairs_of_groups:
        n = math.comb(len(h), 2)
        for i, j in itertools.combinations(range(len(h)), 2):
            truth = np.sign(h[i] - h[j])
            right = [
                (0 if abs(m[i] - m[j]) <= e else np.sign(m[i] - m[j])) == truth
                for m, e in zip((a, b), epsilons, strict=True)
            ]
            if right[0] != right[1]:
                signs.append((1 / n, 1 if right[0] else -1))
    observed = sum(w * s for w, s in signs)
    draws = [
        sum(w * t for (w, _), t in zip(signs, toss, strict=True))
        for toss in itertools.product((-1, 1), repeat=len(signs))
    ]
    return float(np.mean([d >= observed - 1e-12 for d in draws]))
