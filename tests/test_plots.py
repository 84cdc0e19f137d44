"""Figures: they draw what they are given, and survive odd data."""

import itertools
import re
from urllib.parse import unquote

import figures
import filtered
import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import within_systems
from campaigns import refuses

import mtmeta as mm
from mtmeta import plots
from mtmeta.plots._style import names_as_written


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


def test_decomposition_bars_add_up_and_tie_baselines_meet_at_a_third(es):
    ax = plots.decomposition(es)
    table = mm.agreement.decompose_pearson(es).sort_values("value")
    widths = np.array([bar.get_width() for bar in ax.patches]).reshape(2, -1)
    np.testing.assert_allclose(widths.sum(axis=0), table["value"])
    assert rows_of(ax) == table["metric"].tolist()
    lines = lines_of(plots.tie_baselines(marked=0.4))
    assert np.argmin(np.abs(lines["constant"].get_ydata() - lines["noise, never ties"].get_ydata())) == 33


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


def test_rank_slopes_follow_the_ranks_and_units_mark_the_observed_difference(es):
    ax = plots.rank_slopes(es, groupings=["none", "segment"], highlight=["flat"])
    line = next(line for line in ax.lines if line.get_marker() == "o")
    assert line.get_ydata().tolist() == [2, 2]
    refuses("`grouping` must be one of", plots.rank_slopes, es, groupings=["item"])
    axes = plots.resampling_units({"null": np.linspace(-1, 1, 50), "boot": np.linspace(0, 2, 50)}, 0.7)
    assert len(axes) == 2
    for ax in axes:
        assert [line.get_xdata()[0] for line in ax.lines] == [0.7, 0]
        assert sum(bar.get_height() * bar.get_width() for bar in ax.patches) == pytest.approx(1)


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


def test_planes_name_systems_and_nulls_have_a_band_a_metric(biased):
    both = mm.sysdep.deviations_both_ways(biased, "m", n_resamples=50)
    ax = plots.deviation_plane(both)
    assert {t.get_text() for t in ax.texts} == set("ABCDE")
    labels = [t.get_text() for t in ax.get_legend().get_texts()]
    assert labels[0] == f"favoured ({(both['verdict'] == 'favoured').sum()})"
    assert "C" in both.loc[both["verdict"] == "favoured", "system"].tolist()
    both = biased.with_metrics({"n": biased["m"] ** 3, "m": biased["m"]})
    ax = plots.sysdep_against_null(mm.sysdep.compare_with_null(both, n_resamples=39).summary)
    assert (len(ax.patches), sum(len(line.get_xdata()) for line in ax.lines)) == (2, 2)
    ax = plt.figure().add_subplot()
    figures.sysdep_against_correlation(mm.system_dependence(biased, n_resamples=0).summary, [ax])
    assert ax.lines[0].get_ydata()[0] == pytest.approx(np.ptp(biased.human.mean(axis=1)))


def test_parts_detection_and_learning_curves_draw_what_they_are_given(biased):
    splits = within_systems.within_system_splits(biased, "m", parts=[2, 4, 8], n_splits=2)
    within, across = figures.parts_of_systems(splits).lines
    assert (len(within.get_xdata()), len(across.get_xdata())) == (3, 2)  # eight parts, five systems
    table = pd.DataFrame({"n": [1, 2, 1, 2], "bias": [0, 0, 1, 1], "rate": [0, 0.1, 0.5, 1]})
    ax = plots.detection_curves(table, "n", "bias")
    drawn = [line for line in ax.lines if len(line.get_xdata())]  # the others are those of the legend
    assert [line.get_ydata().tolist() for line in drawn] == [[0, 0.1], [0.5, 1]]
    assert len({(line.get_color(), line.get_marker(), line.is_dashed()) for line in drawn}) == 2
    tops = {"source": (1, 1), "candidate": (0.25, 1)}
    places = itertools.product(tops, ("none", "segment"), (0, 1), (0, 1))
    rows = [(sees, grouping, (10, 40)[k], share * tops[sees][k]) for sees, grouping, k, share in places]
    curves = pd.DataFrame(rows, columns=["sees", "grouping", "n", "value"])
    axes = plots.learning_curves(curves)
    assert len(axes) == 2
    for ax in axes:
        _, *drawn = (list(line.get_ydata()) for line in ax.lines if len(line.get_xdata()))
        assert drawn == [[0.5, 0.5], [0.125, 0.5]]
        assert [text.get_text() for text in ax.figure.legends[0].get_texts()] == [*tops]
        assert [band.get_datalim(ax.transData).intervaly.tolist() for band in ax.collections] == [[0, 1], [0, 1]]
    needed = r"needs the columns \['sees', 'grouping', 'n', 'value'\]; found \['value'\]"
    refuses(needed, plots.learning_curves, curves[["value"]])


@pytest.mark.parametrize("within", [False, True])
def test_length_panels_have_the_slope_of_all_points(teaching, within):
    human = teaching.human.copy()
    human[2, 5] = np.nan
    holes = mm.EvalSet(human, {"chrF": teaching["chrF"]}, systems=teaching.systems, texts=teaching.texts)
    lengths = np.array([[len(text) for text in teaching.texts.translations[s]] for s in teaching.systems])
    axes = plt.subplots(1, 2)[1]
    figures.score_against_length(holes, ["human", "chrF"], axes=axes, within=within)
    for ax, scores in zip(axes, (human, holes["chrF"]), strict=True):
        x, y = (np.where(np.isnan(scores), np.nan, v) for v in (lengths, scores))
        if within:
            x, y = x - np.nanmean(x, axis=0), y - np.nanmean(y, axis=0)
        x, y = x[~np.isnan(x)], y[~np.isnan(y)]
        assert len(ax.collections[0].get_offsets()) == 3000 < len(x)
        np.testing.assert_allclose(np.polyfit(*ax.lines[0].get_data(), 1), np.polyfit(x, y, 1), atol=1e-9)
        assert f"r = {np.corrcoef(x, y)[0, 1]:.2f}" in ax.texts[0].get_text()


def test_ratio_bars_have_the_area_of_the_matches():
    ax = plots.ratio_bars([1, 18], [2, 20])
    assert [bar.get_width() * bar.get_height() for bar in ax.patches] == pytest.approx([1, 18])
    assert [bar.get_x() for bar in ax.patches] == [0, 2]
    heights = {line.get_linestyle(): line.get_ydata()[0] for line in ax.lines}
    assert heights == pytest.approx({"-": 19 / 22, "--": 0.7})
    refuses("number 2 has no ratio", plots.ratio_bars, [1, 1], [2, 0])


def test_boxes_of_correlations_are_quartiles():
    rows = [(c, p, n, v + (p == "b")) for c in "xy" for p in "ab" for n in (1, 10) for v in (0, 0.25, 0.5, np.nan)]
    table = pd.DataFrame(rows, columns=["comparison", "program", "size", "value"])
    axes = plots.correlations_by_size(table)
    assert [ax.get_xlabel().split("\n")[1] for ax in axes] == ["x", "y"]
    for ax in axes:
        boxes = [np.asarray(patch.get_path().vertices)[:, 1] for patch in ax.patches]
        assert [(b.min(), b.max()) for b in boxes] == [(0.125, 0.375)] * 2 + [(1.125, 1.375)] * 2
        assert [label.get_text() for label in ax.get_xticklabels()] == ["1", "10"]
    ax = plt.figure().add_subplot()
    for _ in range(2):  # rows of one figure share a legend
        assert plots.correlations_by_size(table[table["comparison"] == "x"], axes=[ax])[0] is ax
    assert len(ax.figure.legends) == 1


@pytest.fixture(scope="module")
def pairs():
    rng, n = np.random.default_rng(0), np.arange(720)
    frame = pd.DataFrame({"segment": n // 18, "system": np.array([*"ABC"])[n // 6 % 3], "perturbation": n % 6})
    for k in range(8):
        frame[f"m{k}"] = rng.normal(size=720) + 0.2 * k
        frame[f"m{k}_perturbed"] = rng.normal(size=720)
    return frame


def test_what_lies_below_chance_is_filled_and_local_accuracies_stand_in_order(pairs):
    table = pd.DataFrame(
        {"tau_ap": [0.2, 0.9], "null_low": [0.7, 0.8], "null_high": [0.9, 1.0]}, index=["kind", "place"]
    )
    ax = plots.tau_ap_against_chance(table)
    below, chance = ax.get_lines()
    assert (list(below.get_xdata()), list(chance.get_xdata())) == ([0.2], [0.9])
    assert rows_of(ax) == ["kind", "place"]
    table = mm.local_accuracy.local_accuracy(pairs, context="system", n_resamples=50)
    ax = plots.local_accuracies(table, order={"A": 1.0, "B": 3.0, "C": 2.0})
    assert rows_of(ax) == ["B", "C", "A"]
    assert ax.get_ylim()[0] > ax.get_ylim()[1]  # the best on top
    lines = {label: line for label, line in lines_of(ax).items() if label in set(table["metric"])}
    assert len({(line.get_color(), line.get_marker()) for line in lines.values()}) == 8
    for metric, line in lines.items():
        rows = table[table["metric"] == metric].set_index("context")["accuracy"]
        found = dict(zip(np.round(line.get_ydata()).astype(int), line.get_xdata(), strict=True))
        assert [found[k] for k in range(3)] == rows[["B", "C", "A"]].tolist()
    means = table.groupby("context")["accuracy"].mean().sort_values(ascending=False)
    assert rows_of(plots.local_accuracies(table)) == means.index.tolist()
    refuses(r"`order` lacks the contexts \['C'\]", plots.local_accuracies, table, order={"A": 1, "B": 2})


def test_drawing_undoes_nothing_but_its_own_setting():
    """Pyplot turns interactive when a notebook first draws; were that undone, no later figure would be shown."""

    draw = names_as_written(lambda: mpl.interactive(True) or plt.rcParams["text.parse_math"])
    assert draw() is False
    assert (mpl.is_interactive(), plt.rcParams["text.parse_math"]) == (True, True)
