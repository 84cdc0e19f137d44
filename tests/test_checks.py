"""Checks of arguments."""

import numpy as np
import pandas as pd
import pytest
from campaigns import refuses

from mtmeta._checks import check_count, check_level, check_number, check_scores, generator, to_numbers


def test_good_values_pass():
    assert (check_count("n", np.int64(3), 3), check_number("x", np.float32(0.5))) == (3, 0.5)
    assert check_level(0.95) == 0.95
    given = np.random.default_rng(1)
    assert generator(given) is given
    check_scores(np.array([0, np.nan, 1e-50, -1e50]), "the scores")
    check_scores(np.array([0.5, 5e-324]), "the scores")  # a tiny one among ordinary ones
    check_scores(np.array([1e51, 5e-324]), "the means", computed=True)
    assert generator(7).integers(1000) == np.random.default_rng(7).integers(1000)


@pytest.mark.parametrize(("check", "error", "match"), [
    (lambda: check_count("n", 2.0, 1), TypeError, "`n` must be a whole number; found 2.0"),
    (lambda: check_count("n", 0, 1), ValueError, "`n` must be at least 1; found 0"),
    (lambda: check_count("n", 10**6 + 1, 1), ValueError, "`n` must be at most 1,000,000; found 1000001"),
    (lambda: check_number("x", "1"), TypeError, "`x` must be a number"),
    (lambda: check_number("x", float("nan")), ValueError, "`x` must be finite; found nan"),
    (lambda: check_level(1), ValueError, r"`level` must lie in \(0, 1\); found 1"),
    (lambda: check_scores(np.array([[0, 2e50]]), "m"), ValueError, r"m holds the score 2e\+50 \(system number 0"),
    (lambda: check_scores(np.array([0, -1e-51]), "m"), ValueError, r"m holds the score -1e-51 \(data row 2\)"),
    (lambda: check_scores(np.array([np.inf]), "m", computed=True), ValueError, "m holds an infinite score"),
])  # fmt: skip
def test_others_do_not(check, error, match):
    refuses(match, check, error=error)


def test_texts_are_the_nearest_numbers_or_nan():
    drawn = np.random.default_rng(0).normal(size=2000) * 10.0 ** np.arange(-100, 100).repeat(10)
    assert to_numbers(pd.Series([repr(x) for x in drawn.tolist()])).tolist() == drawn.tolist()
    given = pd.Series([" 1.5 ", "1_0", "", None, True, 3, "-1e400", "x"], [5, 3, 1, 0, 2, 4, 7, 6], dtype=object)
    found = to_numbers(given)
    expected = pd.Series([1.5, np.nan, np.nan, np.nan, 1, 3, -np.inf, np.nan], given.index)
    pd.testing.assert_series_equal(found, expected)
    assert to_numbers(pd.Series(["1", "2"])).tolist() == [1, 2]
