"""Figures: they draw what they are given, and survive odd data."""

import re
from urllib.parse import unquote

import figures
import filtered
import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from campaigns import refuses

import mtmeta as mm
from mtmeta import plots


@pytest.fixture(autouse=True)
def headless():
    mpl.use("Agg")
    with mpl.rc_context():
        yield
    plt.close("all")


def rows_of(ax):
    """Return the names on the vertical axis, from the bottom."""
    return [label.get_text() for label in ax.get_yticklabels()]


def lines_of(ax):
    """Return the lines by name."""
    return {line.get_label(): line for line in ax.lines}


@pytest.fixture
def es():
    rng = np.random.default_rng(0)
    human = -rng.integers(0, 5, (4, 30)).astype(float)
    human[1, 3] = np.nan
    metrics = {"good": human + rng.normal(size=human.shape), "flat": np.tile(rng.random(30), (4, 1))}
    metrics["good"][1, 3] = 0.0
    return mm.EvalSet(human, metrics, systems=list("ABCD"))


@pytest.mark.parametrize("metric", ["good", "flat"])
def test_three_views_share_their_points(es, metric):
    axes, n_scored = plots.three_views(es, metric), int((~np.isnan(es.human)).sum())
    assert [len(ax.collections[0].get_offsets()) for ax in axes] == [n_scored] * 3
    # one line for all; none within a segment where the metric is constant
    assert (len(axes[0].lines), len(axes[1].lines), len(axes[2].lines)) == (1, 4 if metric == "good" else 0, 4)


def test_rows_to_filter_start_with_those_chosen_and_the_link_has_all():
    frame = pd.DataFrame({"metric": ["A / B", "é<"], "agrees": ["yes", "no"]})
    table = filtered.Filtered(frame, ("agrees",), "metric", ("agrees", "no"), "rows.csv")
    html = table._repr_html_()
    assert re.findall("<td>(.*?)</td>", html) == ["é&lt;", "no"]
    assert "1 of 2 rows" in html
    link = re.search('href="data:text/csv;charset=utf-8,(.*?)"', html)[1]
    assert unquote(link) == table.csv() == "metric,agrees\nA / B,yes\né<,no\n"
    with pytest.raises(ValueError, match="comma"):
        filtered.Filtered(frame.assign(agrees="a,b"), (), "metric", ("agrees", "no"), "rows.csv").csv()


def test_ledger_marks_what_differs_and_rank_intervals_are_those_of_the_table():
    rows = [("s", "value", "0.500", 0.5001, True), ("s", "value", "0.500", 0.52, False), ("s", "rank", "1", 1, True)]
    frame = pd.DataFrame(rows, columns=["source", "quantity", "printed", "ours", "agrees"])
    frame["difference"] = frame["ours"] - frame["printed"].astype(float)
    ax = plt.figure().add_subplot()
    figures.ledger_differences(frame, ax)
    same, different = (c.get_offsets() for c in ax.collections[-2:])
    assert len(same) == len(different) == 1
    assert different[0][0] == pytest.approx(20)
    table = pd.DataFrame(
        {"metric": ["b", "a", "c"], "rank": [2, 1, 3], "best_rank": [1, 1, 2], "worst_rank": [3, 2, 3]}
    )
    ax = plots.rank_intervals(table.assign(unit="document", n_units=28), highlight=["b"])
    names = [(name.get_text(), name.get_fontweight()) for name in ax.get_yticklabels()]
    assert names == [("a", "normal"), ("b", "bold"), ("c", "normal")]
    assert [line.get_xydata().tolist() for line in ax.lines] == [[[1, 0], [2, 1]], [[3, 2]]]
    assert [line.get_marker() for line in ax.lines] == ["o", "s"]  # colour is not alone in saying which may be the best
    ends = [part[:, 0].tolist() for lines in ax.collections for part in lines.get_segments()]
    assert ends == [[1, 2], [1, 3], [2, 3]]
    assert "exchanged: 28 documents" in ax.get_xlabel()


@pytest.fixture
def judged(es):
    steps = np.round(es["good"])
    return es.with_metrics({"good": es["good"], "steps": steps, "twin": mm.ties.discrete_to_continuous(steps)})


def test_tie_calibration_curves_mark_the_best_threshold(judged):
    axes = plots.tie_calibration_curves(judged, ["good", "steps"])
    for ax, metric in zip(axes, ("good", "steps"), strict=True):
        found = mm.calibrate_ties(judged, metric)
        curve, best, constant = ax.lines
        assert best.get_data()[0][0] == found.epsilon
        assert best.get_data()[1][0] == max(curve.get_ydata()) == found.value
        assert constant.get_ydata()[0] == mm.ties.human_tie_share(judged)
        assert len({t.get_text() for t in ax.figure.legends[0].get_texts()}) == 3
        for threshold, value in zip(found.thresholds, found.curve, strict=True):
            inside = [band.get_x() <= threshold < band.get_x() + band.get_width() for band in ax.patches]
            assert any(inside) == (value >= found.value - 0.002) or threshold >= ax.get_xlim()[1]
    (ax,) = plots.tie_calibration_curves(judged.with_metrics({"flat": 0 * judged["steps"]}), ["flat"])
    assert ax.get_xlim()[1] > 0


@pytest.fixture
def biased():
    rng = np.random.default_rng(1)
    human = -rng.integers(0, 6, (5, 80)).astype(float) - np.arange(5)[:, None]
    scores = human + rng.normal(size=human.shape)
    scores[2] += 3
    return mm.EvalSet(human, {"m": scores}, systems=list("ABCDE"), name="set")


def test_curves_have_a_line_and_a_band_each_and_deviations_the_order_of_the_table(biased):
    null = mm.sysdep.compare_with_null(biased, "m", n_resamples=39).table
    for n_resamples in (0, 20):
        result = mm.system_dependence(biased, "m", n_resamples=n_resamples)
        ax = plots.expected_deviations(result, null=null)
        assert rows_of(ax) == result.table["system"].tolist()[::-1]
        np.testing.assert_allclose(ax.lines[0].get_xdata(), result.table["expected_deviation"][::-1])
        assert len(ax.patches) == 5
    ax = figures.system_curves(result, ["A", "E"])
    assert [line.get_label() for line in ax.lines] == ["all systems", "A", "E"]
    assert len(ax.collections) == 3


@pytest.fixture(scope="module")
def pairs():
    rng, n = np.random.default_rng(0), np.arange(720)
    frame = pd.DataFrame({"segment": n // 18, "system": np.array([*"ABC"])[n // 6 % 3], "perturbation": n % 6})
    for k in range(8):
        frame[f"m{k}"] = rng.normal(size=720) + 0.2 * k
        frame[f"m{k}_perturbed"] = rng.normal(size=720)
    return frame


def test_local_accuracies_stand_in_order_with_the_best_on_top(pairs):
    table = mm.local_accuracy.local_accuracy(pairs, context="system", n_resamples=50)
    ax = plots.local_accuracies(table, order={"A": 1.0, "B": 3.0, "C": 2.0})
    assert rows_of(ax) == ["B", "C", "A"]
    assert ax.get_ylim()[0] > ax.get_ylim()[1]
    for metric in ("m0", "m7"):
        line, rows = lines_of(ax)[metric], table[table["metric"] == metric].set_index("context")["accuracy"]
        found = dict(zip(np.round(line.get_ydata()).astype(int), line.get_xdata(), strict=True))
        assert [found[k] for k in range(3)] == rows[["B", "C", "A"]].tolist()
    refuses(r"`order` lacks the contexts \['C'\]", plots.local_accuracies, table, order={"A": 1, "B": 2})
