"""Estimated means and saved ratings against slow versions in scipy."""

import numpy as np
import pytest
from campaigns import checks
from scipy import stats

import mtmeta as mm
from mtmeta.estimation import estimate, ratings_saved


@checks(estimate)
def test_means_are_those_of_a_regression(numbers):
    for number in numbers:
        rng = np.random.default_rng(number)
        n, rated = 30, rng.permutation(30) < 12
        m = rng.normal(size=n)
        h = np.where(rated, m + rng.normal(size=n), np.nan)
        row = estimate(mm.EvalSet([h], {"m": [m]}, systems=["A"]), "m").table.iloc[0]
        line = stats.linregress(m[rated], h[rated])
        residual = h[rated] - line.intercept - line.slope * m[rated]
        assert row["value"] == pytest.approx(line.intercept + line.slope * m.mean())
        assert row["se"] == pytest.approx(np.sqrt((1 - 12 / n) * (residual**2).sum() / 10 / 12))
        reach = stats.t.ppf(0.975, 10) * row["se"]
        assert row[["low", "high"]].tolist() == pytest.approx([row["value"] - reach, row["value"] + reach])


@checks(ratings_saved)
def test_saved_ratings_are_the_variance_that_a_regression_explains(numbers):
    es = mm.load("teaching").select(segments=mm.load("teaching").segments[: 100 + len(numbers)])
    found = ratings_saved(es, ["Judge"]).iloc[0]
    n, left, all_ = es.shape[1], 0.0, 0.0
    for h, m in zip(es.human, es["Judge"], strict=True):
        line = stats.linregress(m, h)
        left += ((h - line.intercept - line.slope * m) ** 2).sum() / (n - 2)
        all_ += h.var(ddof=1)
    assert found["mean"] == pytest.approx(1 - left / all_)
