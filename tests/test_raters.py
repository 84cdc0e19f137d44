"""Ceilings: rows, errors, and coverage where the truth is planted."""

import numpy as np
import pytest
from campaigns import refuses

import mtmeta as mm
from mtmeta import raters, sysdep


def campaign(seed, noise, n_segments=150, n_ratings=2):
    """Return a set whose metric has a known correlation with quality, of 1 / sqrt(2)."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=(6, n_segments))
    ratings = quality + noise * rng.normal(size=(n_ratings, 6, n_segments))
    columns = {f"human_{a}": h for a, h in enumerate(ratings[1:], 2)}
    columns["m"] = quality + rng.normal(size=quality.shape)
    return mm.EvalSet(ratings[0], columns, systems=list("ABCDEF"))


def test_rows_of_a_ceiling_and_what_has_none():
    es = campaign(1, 1.0, n_ratings=3)
    table = raters.ceiling(es, n_resamples=50)
    assert (table["metric"].tolist(), (table["n_ratings"][0], table["n_translations"][0])) == (["m"], (3, 900))
    both = raters.ceiling(es, ["m", "human_3"], n_resamples=2)
    assert both["metric"].to_dict() == {0: "human_3", 1: "m"}  # a rating agrees with itself
    with_constant = es.with_metrics({"human_2": es["human_2"], "m": es["m"], "flat": np.ones(es.shape)})
    flat = raters.ceiling(with_constant, n_resamples=5).set_index("metric").loc["flat"]
    assert flat[["value", "corrected", "low"]].isna().all()
    es = campaign(1, 1.0)
    once = mm.EvalSet(es.human, {"m": es["m"]}, systems=es.systems)
    refuses("has one rating of each translation; .* human_2", raters.ceiling, once)
    refuses("has no metric with segment scores", raters.ceiling, es.with_metrics({}))
    refuses("unknown metric 'n'", raters.ceiling, es, ["n"])
    refuses("a rating is constant", raters.ceiling, es.with_metrics({"human_2": es.human * 0, "m": es["m"]}))
    refuses("`unit` must be one of", raters.ceiling, es, unit="cell")
    refuses("does not say which document", raters.ceiling, es, unit="document")


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.5, 1, 2])
def test_intervals_hold_the_planted_correlation(noise):
    """180 of 200 lies three standard errors below .95."""
    tables = [raters.ceiling(campaign(k, noise), n_resamples=200, rng=k).iloc[0] for k in range(200)]
    assert sum(t["low"] <= np.sqrt(0.5) <= t["high"] for t in tables) >= 180
    assert np.mean([t["corrected"] for t in tables]) == pytest.approx(np.sqrt(0.5), abs=0.01)
    assert np.mean([t["reliability"] for t in tables]) == pytest.approx(1 / (1 + noise**2), abs=0.01)


def test_ratings_are_the_columns_called_human_and_other_raters_err_alike():
    es = campaign(2, 1.0, n_ratings=3)
    assert np.array_equal(es.ratings, [es.human, es["human_2"], es["human_3"]])
    assert len(sysdep.centre_segments(es).ratings) == 3
    es = mm.simulate.campaign(n_segments=120, seed=4, texts=False)
    again = mm.simulate.rate_again(es, 2)
    pairs = np.corrcoef(again.ratings.reshape(3, -1))[np.triu_indices(3, 1)]
    assert np.ptp(pairs) < 0.1
    assert np.corrcoef(again["human_2"].ravel(), -es.truth["penalty"].ravel())[0, 1] > 0.7
    assert np.array_equal(again["human_2"], mm.simulate.rate_again(es, 1)["human_2"])
    refuses("must be a complete simulated campaign", mm.simulate.rate_again, es.select(segments=es.segments[:5]))
    refuses("`n_ratings` must be at least 1", mm.simulate.rate_again, es, 0)
