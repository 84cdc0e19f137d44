"""Correlations along an axis, and Williams' test."""

import exact
import numpy as np
import pytest
from scipy import stats

from mtmeta._pearson import pearson, standard_deviation, williams


@pytest.mark.parametrize("axis", [0, 1])
def test_pearson_is_that_of_numpy(axis):
    x, y = np.random.default_rng(2).normal(size=(2, 6, 4))
    pairs = zip(np.moveaxis(x, axis, 1), np.moveaxis(y, axis, 1), strict=True)
    assert pearson(x, y, axis=axis) == pytest.approx([np.corrcoef(a, b)[0, 1] for a, b in pairs])
    assert pearson(x, y[0]) == pytest.approx([np.corrcoef(row, y[0])[0, 1] for row in x])


def test_a_constant_side_has_no_correlation_even_if_its_mean_is_rounded():
    constant = np.full(1001, 0.1)
    assert (constant != constant.mean()).any()
    assert np.isnan(pearson(constant, np.arange(1001.0)))
    assert np.isnan(pearson(np.arange(1001.0), constant))


def test_one_row_and_the_last_axis():
    assert standard_deviation(np.array([1.0, 3.0])) == 1  # of all numbers, so n below the line
    assert standard_deviation(np.array([[1.0, 3.0, 5.0], [0.0, 0.0, 3.0]]), ddof=1) == pytest.approx([2, np.sqrt(3)])
    assert pearson(np.array([1.0, 2, 3]), np.array([1.0, 3, 2])) == pytest.approx(0.5)


def test_williams():
    assert stats.t.isf(williams(0.6, 0.4, 0.3, 20), 17) == pytest.approx(exact.williams(0.6, 0.4, 0.3, 20))
    assert williams(np.array(0.4), np.array(0.4), np.array(1.0), 12) == 0.5
    assert williams(np.array(0.4), np.nextafter(0.4, 1), np.array(1.0), 12) == 0.5


@pytest.mark.parametrize("size", [1e-300, 1.0, 1e300])
def test_numbers_of_any_size(size):
    x, y = np.random.default_rng(4).normal(size=(2, 3, 9))
    assert pearson(x * size, y) == pytest.approx(pearson(x, y))
    assert standard_deviation(x * size, ddof=1) / size == pytest.approx(x.std(axis=1, ddof=1))


def test_what_only_rounding_varies_is_constant_where_it_is_asked_for():
    means = np.array([0.1 + 0.2, 0.3, 0.3]) * 2**20
    assert np.isnan(pearson(means, np.array([1.0, 2.0, 4.0]), tolerance=1e-12))
    assert not np.isnan(pearson(means, np.array([1.0, 2.0, 4.0])))
