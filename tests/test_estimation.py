"""Means from few ratings, by hand and by coverage."""

import numpy as np
import pytest

import mtmeta as mm
from mtmeta.estimation import ratings_saved


def test_mean_and_weight_are_those_of_a_regression_by_hand():
    """Rated: m = 4, 4, 2, 2 and h = 9, 7, 5, 3, so the slope is 2; m is 3 on these and 2 on all eight."""
    human = [[9, 7, 5, 3, np.nan, np.nan, np.nan, np.nan]]
    es = mm.EvalSet(human, {"m": [[4, 4, 2, 2, 2, 0, 2, 0]]}, systems=["A"])
    row = mm.system_means(es, "m").table.iloc[0]
    assert row[["value", "weight", "n_rated", "n_segments"]].tolist() == [6 - 2 * (3 - 2), 2, 4, 8]
    assert row["se"] == pytest.approx(np.sqrt((1 - 4 / 8) * (4 / 2) / 4))  # residuals 1, -1, 1, -1
    assert mm.system_means(es).table["value"].tolist() == [6]
    assert mm.system_means(es, "m").signature == "estimate|metric:m|weight:tuned|target:set|unit:segment|set:unnamed"


def test_whom_to_refuse():
    es = mm.load("teaching")
    for options, said in [({"metric": "none"}, "none"), ({"unit": "x"}, "unit")]:
        with pytest.raises(ValueError, match=said):
            mm.system_means(es, **options)


def test_documents_are_rated_whole_or_not_at_all():
    """Documents a and b of system A lie 2 above and 2 below its mean, in sums; document c is not rated."""
    human = [[5, 3, 1, 3, np.nan, np.nan], [2, 2, 2, 2, 2, 2]]
    given = {"metrics": {"m": [[5, 3, 1, 3, 2, 2]] * 2}, "systems": ["A", "B"], "documents": [*"aabbcc"]}
    table = mm.system_means(mm.EvalSet(human, **given), unit="document").table
    assert table["value"].tolist() == [3, 2]
    assert table["se"].iloc[0] == pytest.approx(np.sqrt((1 - 2 / 3) * 2 * (2**2 + 2**2)) / 4)
    human[0][3] = np.nan
    with pytest.raises(ValueError, match=r"document 'b' of system 'A' is rated in part \(1 such"):
        mm.system_means(mm.EvalSet(human, **given), unit="document")
    human[0][3], given["metrics"] = 3, {"m": [[5, 3, 1, 3, 2, np.nan]] * 2}
    assert mm.system_means(mm.EvalSet(human, **given), "m", unit="document").table["value"].notna().tolist() == [
        False,
        True,
    ]
    assert mm.system_means(mm.EvalSet([[1, 3, np.nan]], {"m": [[1, 2, 3]]}, systems=["A"])).table["value"].tolist() == [
        2
    ]


@pytest.mark.parametrize("metric", ["Judge", "Random"])
def test_intervals_hold_the_mean_of_all_ratings(metric):
    es, rng, held = mm.load("teaching"), np.random.default_rng(3), []
    whole = es.human.mean(axis=1)
    for _ in range(100):
        drawn = rng.permutation(es.shape[1]) < 60
        part = mm.EvalSet(np.where(drawn, es.human, np.nan), {metric: es[metric]}, systems=es.systems)
        table = mm.system_means(part, metric).table
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


def planted(rng, alike):
    """Return a campaign of 8 systems on 60 documents of 5 segments.

    Humans score hard + own, the metric hard + own / 2 + noise. Each of the three parts is normal with variance 1, of
    which the share `alike` is common to the segments of a document; hard is common to all systems.
    """

    def drawn(rows):
        shared = rng.normal(size=(rows, 60)).repeat(5, axis=1)
        return np.sqrt(alike) * shared + np.sqrt(1 - alike) * rng.normal(size=(rows, 300))

    hard, own, noise = drawn(1), drawn(8), drawn(8)
    documents = np.arange(60).repeat(5).tolist()
    return mm.EvalSet(hard + own, {"m": hard + own / 2 + noise}, systems=list("ABCDEFGH"), documents=documents)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("alike", "unit", "low", "high"),
    [(0, "segment", 0.92, 0.98), (0.5, "document", 0.92, 0.98), (0.5, "segment", 0.7, 0.9)],
)
def test_intervals_of_ratings_saved_hold_a_planted_saving(alike, unit, low, high):
    """95 % intervals hold .955 to .975 of planted savings, of a mean and of a difference, if `unit` is what was drawn.

    Where the segments of a document are alike and are taken as drawn one by one, they hold only .815 to .835. The
    bounds of .92 and .98 are 1.96 standard errors of 200 campaigns around .95.
    """
    saving = {"mean": 1.5**2 / (2 * 2.25), "difference": 0.5**2 / 1.25}  # squared correlations: .5 and .2
    rng, held = np.random.default_rng(7), []
    for _ in range(200):
        row = ratings_saved(planted(rng, alike), unit=unit).iloc[0]
        held.append([row[f"{what}_low"] <= true <= row[f"{what}_high"] for what, true in saving.items()])
    assert all(low < share < high for share in np.mean(held, axis=0)), np.mean(held, axis=0)


def test_ratings_with_the_metric_do_what_more_do_without():
    """1/n' - 1/N = (1 - saved) (1/n - 1/N), with the ratings spread as evenly in the large draw as in the small one."""
    h, m = np.tile([0.0, 1, 5, 6], 100), np.tile([0.0, 2, 1, 3], 100)
    found = {}
    for n in (100, 160):
        human = np.where(np.arange(400) % 100 < n // 4, h[np.arange(400) // 100], np.nan)
        es = mm.EvalSet([human], {"m": [m[np.arange(400) // 100]]}, systems=["A"])
        found[n] = [mm.system_means(es, use).table["se"][0] ** 2 for use in (None, "m")]
    share = ratings_saved(mm.EvalSet([h], {"m": [m]}, systems=["A"])).loc[0, "mean"]
    more = 1 / (1 / 400 + (1 - share) * (1 / 100 - 1 / 400))
    alone = np.interp(1 / more, [1 / 160, 1 / 100], [found[160][0], found[100][0]])
    assert found[100][1] == pytest.approx(alone, rel=0.02)
