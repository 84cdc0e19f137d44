"""Systems as a sample: jackknife and two-way variances against slow versions, and a bootstrap without copies."""

import itertools
import math

import exact
import numpy as np
import pandas as pd
import pytest
from campaigns import refuses

import mtmeta as mm
from mtmeta import agreement
from mtmeta._enough import interval_of, p_value_of
from mtmeta.agreement import intervals as _intervals
from mtmeta.agreement.units import exchange_units
from mtmeta.resampling import fisher_interval, fisher_p_value
from mtmeta.significance import intervals

COEFFICIENTS = ("pearson", "spearman", "tau_b", "tau_a", "tau_13", "acc_eq", "tau_eq")
CASES = [
    (coefficient, grouping, ("drop", "zero")[k % 2])
    for k, (coefficient, grouping) in enumerate(itertools.product(COEFFICIENTS, agreement.GROUPINGS))
]


def campaign(seed, shape=(5, 8), holes=0.15, **options):
    """Return a small campaign with ties, holes and three documents."""
    rng = np.random.default_rng(seed)
    human = np.round(rng.normal(size=shape) + rng.normal(size=shape[1]))
    metric = np.round(human + rng.normal(size=shape), 1)
    human[rng.random(shape) < holes] = np.nan
    documents = [f"d{j % 3}" for j in range(shape[1])]
    options = {"systems": [f"S{k}" for k in range(shape[0])], "documents": documents} | options
    return mm.EvalSet(human, {"m": metric}, **options)


def spread(values, n):
    """Return n / (n - 1) times the sum of squares around the mean."""
    mean = sum(values) / n
    return n / (n - 1) * sum((v - mean) ** 2 for v in values)


@pytest.mark.parametrize(("coefficient", "grouping", "degenerate"), CASES)
def test_variance_over_systems_leaves_one_out_at_a_time(coefficient, grouping, degenerate):
    es = campaign(3)
    options = {"coefficient": coefficient, "grouping": grouping, "degenerate": degenerate}
    parts = [es.select(systems=es.systems[:s] + es.systems[s + 1 :]) for s in range(5)]
    values = [mm.correlate(part, **options)["value"][0] for part in parts]
    (variance,), known, unit, n = _intervals.jackknife(es, ["m"], unit="system", **options)
    assert (unit, n, *known) == ("system", 5, 4)
    assert variance == pytest.approx(4 / 5 * sum((v - sum(values) / 5) ** 2 for v in values), rel=1e-9)


def slow_blocks(es, coefficient, grouping, degenerate, unit_of, n_units):
    """Move each member out of each group by hand, and share out what the group is above the mean."""
    human, metric = es.human, es["m"]
    epsilon = 0.0
    if coefficient in ("acc_eq", "tau_eq"):
        epsilon = float(exact.calibrate(human, metric, grouping)[0])
    scored = [(s, j) for s in range(human.shape[0]) for j in range(human.shape[1]) if not math.isnan(human[s, j])]
    key = {"segment": lambda s, j: j, "system": lambda s, j: s, "none": lambda s, j: 0}[grouping]
    member = {
        "segment": lambda s, j: s, "system": lambda s, j: unit_of[j], "none": lambda s, j: (s, unit_of[j]),
    }[grouping]  # fmt: skip
    groups = {}
    for cell in scored:
        groups.setdefault(key(*cell), []).append(cell)
    groups = {g: cells for g, cells in groups.items() if len(cells) >= 2}
    ranked = coefficient == "spearman"

    def r(cells, every):
        h, m = ([float(v[c]) for c in every] for v in (human, metric))
        if ranked:  # the ranks of the whole group
            h, m = exact.ranks(h), exact.ranks(m)
        chosen = [k for k, c in enumerate(every) if c in cells]
        h, m = ([float(v[k]) for k in chosen] for v in (h, m))
        if coefficient in ("pearson", "spearman"):
            found = exact.pearson(exact.exact(h), exact.exact(m)) if len(h) > 1 else None
        else:
            found = exact.tau(coefficient, h, m, epsilon) if len(h) > 1 else None
        return 0.0 if found is None and degenerate == "zero" else found

    whole = {g: r(cells, cells) for g, cells in groups.items()}
    whole = {g: v for g, v in whole.items() if v is not None}
    blocks, n = np.zeros((human.shape[0], n_units)), len(whole)
    value = sum(whole.values()) / n
    for g, r_g in whole.items():
        members, moved = sorted({member(*c) for c in groups[g]}), {}
        for one in members:
            left = r([c for c in groups[g] if member(*c) != one], groups[g])
            moved[one] = r_g - left if left is not None else (r_g - value) * n / max(n - 1, 1)
        mean = sum(moved.values()) / len(members)
        for one in members:
            s, j = next(c for c in groups[g] if member(*c) == one)
            blocks[s, unit_of[j]] += (moved[one] - mean + (r_g - value) / len(members)) / n
    return blocks


def by_kurtosis(influences):
    """Return the degrees of freedom of a variance from the fourth moment around the mean."""
    n, centred = len(influences), influences - np.mean(influences)
    return 2 * n / ((n * sum(centred**4) / sum(centred**2) ** 2) - 1)


@pytest.mark.parametrize("unit", ["segment", "document"])
@pytest.mark.parametrize(("coefficient", "grouping", "degenerate"), CASES)
def test_two_way_variance_adds_the_margins_and_takes_the_cells_away(coefficient, grouping, degenerate, unit):
    es = campaign(4)
    units = exchange_units(es, unit)
    fast = _intervals.block_influences(es, "m", coefficient, grouping, units, degenerate)
    slow = slow_blocks(es, coefficient, grouping, degenerate, units.of_segment.tolist(), units.n)
    np.testing.assert_allclose(fast, slow, atol=1e-12)
    options = {"coefficient": coefficient, "grouping": grouping, "degenerate": degenerate}
    margin, cells = spread(slow.sum(axis=0), units.n), spread(slow.ravel(), slow.size)
    assert _intervals._variance(fast.sum(axis=0)) == pytest.approx(margin)
    few = min(units.n - 1, by_kurtosis(slow.sum(axis=0)))
    if unit == "segment":  # three documents are too few to take the place of segments
        system = _intervals.jackknife(es, ["m"], unit="system", **options)[0][0]
        (variance,), known, name, n = _intervals.jackknife(es, ["m"], unit="both", **options)
        assert known == pytest.approx(min(4, few))
        assert variance == pytest.approx(max(system, margin, system + margin - cells))
        assert (name, n) == ("system and segment", 5)


def test_by_hand(monkeypatch):
    """Three systems with r = 1, 1/2 and 0: the standard error is 1/2 over the root of 3, and t(2) is 4.3027."""
    es = mm.EvalSet([[1, 2, 3]] * 3, {"m": [[1, 2, 3], [1, 3, 2], [1, 2, 1]]}, systems=list("ABC"))
    row = intervals(es, grouping="system", unit="system").iloc[0]
    assert row[["low", "high"]].isna().all()  # three systems are too few
    monkeypatch.setattr(_intervals, "too_few", lambda n, unit: "")
    row = intervals(es, grouping="system", unit="system").iloc[0]
    reach = 4.302653 * 0.5 / math.sqrt(3) / (1 - 0.5**2)
    ends = [math.tanh(math.atanh(0.5) - reach), math.tanh(math.atanh(0.5) + reach)]
    assert [row["value"], row["low"], row["high"]] == pytest.approx([0.5, *ends])
    assert row[["n_resamples", "unit", "n_units", "method"]].tolist() == [0, "system", 3, "jackknife"]


def test_an_interval_over_systems_holds_its_value_and_is_a_point_for_a_perfect_metric():
    es = mm.load("teaching")
    for unit in ("system", "both"):
        row = intervals(es, ["Judge"], coefficient="acc_eq", unit=unit).iloc[0]
        assert row["value"] == pytest.approx(0.52404, abs=1e-5)
        assert row["low"] < row["value"] < row["high"], unit
    es = campaign(1, (8, 12), holes=0)
    same = mm.EvalSet(es.human, {"m": es.human}, systems=es.systems)
    for coefficient in ("pearson", "acc_eq", "tau_b"):
        row = intervals(same, coefficient=coefficient, unit="both").iloc[0]
        assert (row["low"], row["value"], row["high"]) == pytest.approx((1, 1, 1))
    turned = fisher_interval(np.array([-1.0]), np.array([0.01]), "pearson", 9, 0.95)
    assert np.ravel(turned).tolist() == pytest.approx([-1, 0.2262157 - 1])  # t(9) is 2.262157


def test_method_follows_the_unit_and_what_a_jackknife_cannot_do():
    es = campaign(2, (4, 60), documents=[f"d{j // 3}" for j in range(60)])
    options = {"n_resamples": 30}
    found = {u: intervals(es, unit=u, **options).iloc[0] for u in ("segment", "document", "system", "both")}
    columns = ["unit", "n_units", "method", "n_resamples"]
    assert {u: row[columns].tolist() for u, row in found.items()} == {
        "segment": ["segment", 60, "bootstrap", 30], "document": ["document", 20, "bootstrap", 30],
        "system": ["system", 4, "jackknife", 0], "both": ["system and document", 4, "jackknife", 0],
    }  # fmt: skip
    assert "n_segments" not in intervals(es, **options)
    es = campaign(8, (8, 30), holes=0)
    assert intervals(es, coefficient="spa", **options)["n_segments"][0] == 30
    es = campaign(0)
    refuses("over segments or documents, but not over systems", intervals, es, coefficient="spa", unit="both")
    with pytest.raises(ValueError, match="needs two systems with human scores; found 1"):
        intervals(es.select(systems=["S0"]), grouping="system", unit="both")
    refuses("no group has two translations", intervals, es.select(systems=["S0", "S1"]), unit="system")
    two = es.with_metrics({"m": es["m"], "n": -es["m"]})
    for options in ({"coefficient": "spa"}, {"method": "published"}):
        refuses("systems are exchanged only for coefficients", mm.compare, two, **options, unit="system")


@pytest.mark.parametrize("unit", ["segment", "document", "system"])
def test_correlate_gives_the_whole_answer_in_one_row(unit):
    es = mm.load("teaching").select(metrics=["chrF", "Judge"])
    options = {"coefficient": "kendall", "unit": unit, "n_resamples": 60}
    table = mm.correlate(es, interval=0.9, **options)
    assert table.columns.tolist()[-5:] == ["low", "high", "p", "n", "unit"]
    for row in table.itertuples():
        expected = intervals(es, [row.metric], level=0.9, **options).iloc[0]
        assert (row.value, row.low, row.high) == (expected["value"], expected["low"], expected["high"])
        assert (row.n, row.unit) == (expected["n_units"], unit)
        assert row.p < 0.1
    plain = mm.correlate(es, coefficient="kendall")
    pd.testing.assert_frame_equal(table[plain.columns], plain)


def test_correlate_chooses_documents_and_gives_no_p_value_to_acc_eq_or_to_few_units():
    es = mm.load("teaching").select(metrics=["chrF"])
    assert mm.correlate(es, interval=True, n_resamples=9)["unit"].tolist() == ["document"]
    assert np.isnan(mm.correlate(es, coefficient="acc_eq", interval=True, n_resamples=9)["p"][0])
    few = es.select(segments=es.segments[:5])
    assert mm.correlate(few, interval=True, n_resamples=9)[["low", "high", "p"]].isna().all(axis=None)
    refuses("epsilon='calibrate'", mm.correlate, es, coefficient="kendall", epsilon=0.1, interval=True)
    refuses("degenerate", mm.correlate, es, degenerate="nan", interval=True)


@pytest.mark.parametrize("n", [8, 30])
def test_p_values_agree_with_the_intervals(n):
    rng = np.random.default_rng(n)
    value = np.linspace(-0.9, 0.9, 41)
    draws = value + rng.normal(scale=0.3, size=(999, 41))
    low, high = interval_of(value, draws, 0.95, n, (-9, 9))
    p, off = p_value_of(value, draws, n), (low > 0) | (high < 0)
    assert (off == (p < 0.05))[np.abs(p - 0.05) > 0.004].all()
    assert 0 < off.sum() < 41
    low, high = fisher_interval(value, np.full(41, 0.09), "pearson", n - 1, 0.95)
    p = fisher_p_value(value, np.full(41, 0.09), n - 1)
    assert (((low > 0) | (high < 0)) == (p < 0.05)).all()
    assert p[20] == pytest.approx(1)


def test_p_values_of_draws_that_do_not_vary():
    draws = np.ones((99, 3))
    assert p_value_of([1, 1, 1], draws, [5, 6, 30]).tolist()[1:] == [0.5**5, 2 / 100]
    assert np.isnan(p_value_of([1], draws[:, :1], [5])).all()
    assert fisher_p_value(np.array([1.0, 0.0]), np.zeros(2), 9).tolist() == [0, 1]
