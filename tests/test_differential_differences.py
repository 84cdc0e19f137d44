"""Pairs of systems and their curves against a slow version, on 2,000 awkward campaigns."""

import itertools
import math

import exact
import numpy as np
import pytest
from campaigns import KINDS, campaigns, checks, refuses
from scipy.optimize import brentq
from scipy.special import expit
from scipy.stats import norm

from mtmeta import differences

pytestmark = pytest.mark.slow


def slow_slopes(es, n_resamples, rng):
    """Return the slope of each draw, with copies of systems written out and the score searched by scipy."""
    pairs = differences.system_pairs(es, "m")
    table = {frozenset(p): (x, y) for *p, x, y in pairs[["first", "second", "difference", "agreement"]].to_numpy()}
    order = list(dict.fromkeys([*pairs["first"], *pairs["second"]]))
    unit = np.median(pairs["difference"][pairs["difference"] > 0])
    for times in rng.multinomial(len(order), np.full(len(order), 1 / len(order)), size=n_resamples):
        copies = [s for s, n in zip(order, times, strict=True) for _ in range(n)]
        drawn = [table[frozenset(p)] for p in itertools.combinations(copies, 2) if p[0] != p[1]]
        x, y = np.array(drawn or np.empty((0, 2)), dtype=float).T
        if not x.any():
            yield np.nan
            continue

        if set(y[x > 0]) in ({0}, {1}):
            yield np.inf if y[x > 0][0] else -np.inf
            continue

        def score(b, x=x / unit, y=y):
            return (x * (y * expit(-b * x) - (1 - y) * expit(b * x))).sum()

        end = next(b for b in 10.0 ** np.arange(1, 9) if score(-b) > 0 > score(b))
        yield brentq(score, -end, end, xtol=1e-13) / unit


@checks(differences.system_pairs, differences.curve)
def test_pairs_and_curves_of_awkward_campaigns(numbers):
    for number, human, metric, es in campaigns(numbers):
        if "both ends" in KINDS[number % len(KINDS)]:  # their means are not what they print as
            continue
        scored = [
            s for s in zip(*map(exact.system_means, exact.on_shared_cells(human, metric)), strict=True) if None not in s
        ]
        pairs = list(itertools.combinations(scored, 2))
        if not pairs:
            refuses("no set has two systems", differences.curve, es, "m")
            continue
        agreement = [(1 + exact.sign((a[0] - b[0]) * (a[1] - b[1]))) / 2 for a, b in pairs]
        sizes, found = [float(abs(a[1] - b[1])) for a, b in pairs], differences.system_pairs(es, "m")
        assert found["agreement"].tolist() == agreement, f"campaign {number}"
        scale = np.nanmax(np.abs(metric)) or 1.0
        np.testing.assert_allclose(found["difference"] / scale, np.array(sizes) / scale, atol=1e-12)
        told = {a for a, x in zip(agreement, sizes, strict=True) if x}
        if told and told not in ({0}, {1}):
            curve = differences.curve(es, "m", n_resamples=20, rng=number)
            slow = list(slow_slopes(es, 20, np.random.default_rng(number)))
            np.testing.assert_allclose(curve.slopes * scale, np.array(slow) * scale, rtol=1e-6, atol=1e-6)
            slow = np.sort([b * scale for b in slow if b == b])
            same = np.isclose(slow, curve.slope * scale, rtol=1e-8, atol=1e-8 * scale / max(sizes))
            below = ((slow < curve.slope * scale) & ~same).sum() + same.sum() / 2
            shift = 2 * norm.ppf((below + 0.5) / (len(slow) + 1))
            places = [norm.cdf(shift + z) * len(slow) for z in (-1.959963984540054, 1.959963984540054)]
            wanted = [slow[max(0, math.ceil(p) - 1)] for p in places]
            np.testing.assert_allclose([curve.low * scale, curve.high * scale], wanted, rtol=1e-6, atol=1e-6)
        else:
            refuses("one score: there is no|any steeper curve", differences.curve, es, "m")
