"""Speed of the tie experiments, on simulated data of the size of WMT23 zh-en.

    make bench

15 systems x 1177 segments; 12 metrics: ten continuous ones, and two discrete ones that are made continuous by
noise. 13 shares of human ties x 10 draws are 130 sub-samples of up to 123,585 pairs, on each of which twelve thresholds
are chosen exactly.
"""

import pytest
from scores import score_campaign

import mtmeta as mm

ROUNDS = 3


@pytest.fixture(scope="module")
def es():
    made = score_campaign(15, 1177, n_continuous=8, n_discrete=2)
    twins = {f"{name} twin": mm.ties.discrete_to_continuous(made[name]) for name in ("D01", "D02")}
    made = made.with_metrics({name: made[name] for name in made.metrics} | twins)
    assert len(made.metrics) == 12
    return made


@pytest.mark.job("tie sub-sampling, 13 shares x 10 draws x 12 metrics", "<= 20 s")
def test_tie_subsampling(es, timed):
    table = timed(lambda: mm.ties.subsample_ties(es))
    assert len(table) == 13 * 10 * 12


@pytest.mark.job("held-out tie calibration, 13 shares x 10 draws x 12 metrics", "<= 20 s")
def test_held_out_calibration(es, timed):
    assert len(timed(lambda: mm.ties.held_out_calibration(es))) == 13 * 10 * 12


@pytest.mark.job("expected accuracy, 12 metrics", "<= 0.5 s")
def test_expected_accuracy(es, timed):
    timed(lambda: mm.ties.expected_accuracy(es))
