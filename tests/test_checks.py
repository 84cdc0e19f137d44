"""Checks of arguments."""

import numpy as np
import pandas as pd

from mtmeta._checks import to_numbers


def test_texts_are_the_nearest_numbers_or_nan():
    drawn = np.random.default_rng(0).normal(size=2000) * 10.0 ** np.arange(-100, 100).repeat(10)
    assert to_numbers(pd.Series([repr(x) for x in drawn.tolist()])).tolist() == drawn.tolist()
    given = pd.Series([" 1.5 ", "1_0", "", None, True, 3, "-1e400", "x"], [5, 3, 1, 0, 2, 4, 7, 6], dtype=object)
    found = to_numbers(given)
    expected = pd.Series([1.5, np.nan, np.nan, np.nan, 1, 3, -np.inf, np.nan], given.index)
    pd.testing.assert_series_equal(found, expected)
    assert to_numbers(pd.Series(["1", "2"])).tolist() == [1, 2]
