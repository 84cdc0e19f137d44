"""Speed of the report on one metric, on simulated data of the size of WMT23.

    make bench

The set has no texts, so the parts that read them are not in the first two jobs; the third has the texts of the teaching
campaign and its 10 metrics.
"""

import pytest
from scores import score_campaign

import mtmeta as mm

ROUNDS = 1


@pytest.fixture(scope="module")
def es():
    made = score_campaign(15, 1177, n_continuous=26, n_discrete=4)
    assert len(made.metrics) == 30
    return made


@pytest.mark.job("report on one metric, 15 systems x 1177 segments x 30 metrics", "<= 6 s with the page")
def test_numbers(es, timed):
    assert len(timed(lambda: mm.report(es, "C01")).claims) == 9


@pytest.mark.job("the page of this report, with figures", "<= 6 s with the numbers")
def test_page(es, timed):
    report = mm.report(es, "C01", n_resamples=40)
    assert timed(report.to_html).startswith("<!DOCTYPE html>")


@pytest.mark.job("report on one metric with texts, 12 systems x 300 segments x 10 metrics", "none (for comparison)")
def test_with_texts(timed):
    assert len(timed(lambda: mm.report(mm.load("teaching"), "Regressor")).claims) == 9
