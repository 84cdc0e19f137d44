"""Means from few ratings: by hand, and by coverage."""

import numpy as np
import pytest

import mtmeta as mm


def test_mean_and_weight_are_those_of_a_regression_by_hand():
    """Rated: m = 4, 4, 2, 2 and h = 9, 7, 5, 3, so the slope is 2; m is 3 on these and 2 on all eight."""
    human = [[9, 7, 5, 3, np.nan, np.nan, np.nan, np.nan]]
    es = mm.EvalSet(human, {"m": [[4, 4, 2, 2, 2, 0, 2, 0]]}, systems=["A"])
    row = mm.estimate(es, "m").table.iloc[0]
    assert row[["value", "weight", "n_rated", "n_segments"]].tolist() == [6 - 2 * (3 - 2), 2, 4, 8]
    assert row["se"] == pytest.approx(np.sqrt((1 - 4 / 8) * (4 / 2) / 4))  # residuals 1, -1, 1, -1
    assert mm.estimate(es, "m", weight=0).table["value"].tolist() == [6]


def test_whom_to_refuse():
    es = mm.load("teaching")
    for options, said in [({"metric": "none"}, "none"), ({"target": "x"}, "target"), ({"strata": [1]}, "strata")]:
        with pytest.raises(ValueError, match=said):
            mm.estimate(es, **options)


@pytest.mark.parametrize("metric", ["Judge", "Random"])
def test_intervals_hold_the_mean_of_all_ratings(metric):
    es, rng, held = mm.load("teaching"), np.random.default_rng(3), []
    whole = es.human.mean(axis=1)
    for _ in range(100):
        drawn = rng.permutation(es.shape[1]) < 60
        part = mm.EvalSet(np.where(drawn, es.human, np.nan), {metric: es[metric]}, systems=es.systems)
        table = mm.estimate(part, metric).table
        held += [(table["low"] <= whole) & (whole <= table["high"])]
    assert 0.92 < np.mean(held) < 0.98
