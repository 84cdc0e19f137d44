"""Means from few ratings: by hand and by coverage."""

import numpy as np
import pytest
from campaigns import refuses

import mtmeta as mm
from mtmeta.estimation import ratings_saved


def test_mean_and_weight_are_those_of_a_regression_by_hand():
    """Rated: m = 4, 4, 2, 2 and h = 9, 7, 5, 3, so the slope is 2; m is 3 on these and 2 on all eight."""
    human = [[9, 7, 5, 3, np.nan, np.nan, np.nan, np.nan]]
    es = mm.EvalSet(human, {"m": [[4, 4, 2, 2, 2, 0, 2, 0]]}, systems=["A"])
    row = mm.estimate(es, "m").table.iloc[0]
    assert row[["value", "weight", "n_rated", "n_segments"]].tolist() == [6 - 2 * (3 - 2), 2, 4, 8]
    assert row["se"] == pytest.approx(np.sqrt((1 - 4 / 8) * (4 / 2) / 4))  # residuals 1, -1, 1, -1
    found = mm.estimate(es)
    assert found.table["value"].tolist() == [6]
    assert found.signature == "estimate|metric:None|unit:segment|set:unnamed"
    refuses("unknown metric 'none'", mm.estimate, es, "none")


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


def test_one_system_has_a_saving_of_its_mean_alone():
    teaching = mm.load("teaching")
    es = teaching.select(systems=teaching.systems[:1])
    row = ratings_saved(es, "Judge").iloc[0]
    h, m = es.human[0], es["Judge"][0]
    r, n = np.corrcoef(h, m)[0, 1], len(h)
    assert row["mean"] == pytest.approx(1 - (1 - r**2) * (n - 1) / (n - 2))
    assert row["mean_low"] < row["mean"] < row["mean_high"]
    assert row[["difference", "difference_low", "pairing"]].isna().all()
