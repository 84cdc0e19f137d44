"""Published numbers: the tables as printed, and all that can be recomputed."""

import numpy as np
import pytest
from recomputed import recompute

import mtmeta as mm
from mtmeta.book import published


def test_published_numbers_ranks_and_chi_squares():
    table = published.numbers()
    key = ["source", "language_pair", "level", "statistic", "grouping", "metric", "quantity"]
    assert not table.duplicated(key).any()
    assert table["printed"].str.fullmatch(r"-?\d+(\.\d+)?").all()
    counts = table.groupby("source").size()
    assert counts["sentinels-tables5-10"] == counts["sentinels-logs"] == 38 * 24
    for half in ("mqm", "da"):
        part = table[table["source"] == f"aggregation-table1-{half}"]
        part = part.pivot(index="metric", columns="quantity", values="printed")
        assert len(part) == 9
        order = part["value"].astype(float).sort_values(ascending=False).index
        assert part.loc[order, "rank"].tolist() == [str(k) for k in range(1, 10)]
    table = table[table["source"].str.startswith("local-accuracy-")]
    assert table.groupby("source").size().tolist() == [2 * 14, 2 * 5, 2 * 23]
    dof = table[table["quantity"] == "dof"].groupby("source")["printed"].unique()
    assert [list(found) for found in dof] == [["61"], ["72"], ["20"]]
    chi2 = table[table["quantity"] == "value"].set_index("metric")["printed"]
    assert all(chi2[f"P_{k}"] == chi2[f"recall_{k}"] for k in (5, 10, 15, 20, 30))
    assert chi2["WIL"] != chi2["WIP"]  # as printed: WIP is 1 - WIL, so these cannot both be right


@pytest.fixture(scope="module")
def wmt23(data_dir):
    return mm.load_all("wmt23", metrics_from=["wmt23-sentinels"])


@pytest.mark.data
def test_every_number_of_the_sentinel_paper_is_recomputed(wmt23):
    """912 correlations at the logs' seven decimals, 836 values and as many ranks, and 360 cells of figures."""
    sources = [s for s in published.numbers()["source"].unique() if s.startswith("sentinels") and s[-2:] != "10"]
    result = recompute(wmt23, sources=sources)
    assert result["agrees"].all(), result[~result["agrees"]]
    assert result["quantity"].value_counts().to_dict() == {"value": 912 + 836 + 360, "rank": 836}


@pytest.mark.data
def test_what_differs_is_a_doubly_rounded_cell_or_the_order_of_systems(wmt23):
    result = recompute(wmt23, sources=["sentinels-tables5-10"])
    (cell,) = result[~result["agrees"]].to_dict("records")
    expected = {"metric": "BLEU", "language_pair": "en-de", "printed": "0.1920", "shown": "0.1921"}
    assert (cell | expected, f"{cell['ours']:.7f}") == (cell, "0.1920500")
    # no cell differs in natural order; worst system first, some SPA cells do
    result = recompute(wmt23, sources=["gemba-v2"])
    assert result["agrees"].all()
    assert len(result) == 210
    worst_first = [es.select(systems=np.array(es.systems)[np.nanmean(es.human, axis=1).argsort()]) for es in wmt23]
    differing = recompute(worst_first, sources=["gemba-v2"]).query("~agrees")
    assert set(differing["statistic"]) == {"spa"}
    result = recompute(wmt23, sources=["wmt23"])
    score = result["statistic"] == "score"
    assert result.loc[score, "agrees"].all()
    assert score.sum() == 20
