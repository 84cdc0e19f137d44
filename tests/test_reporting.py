"""The report: by hand, planted truths, what cannot be computed, and the three ways it is written."""

import functools
import itertools
import json
import math
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from campaigns import refuses
from hypothesis import given
from hypothesis import strategies as st
from pages import Page
from scipy import stats

import mtmeta as mm
from mtmeta._checks import Undefined
from mtmeta.agreement.units import pooled_pearson_in_draws
from mtmeta.reporting import Report, _facts, _report
from mtmeta.reporting._claims import VERDICTS, decide
from mtmeta.reporting._facts import Part
from mtmeta.reporting._pages import number
from mtmeta.reporting._sections import SECTIONS
from mtmeta.significance.systems import order_p_value, pair_accuracy, system_means

FAST = {"n_resamples": 60}
CLAIMS = [about["claim"] for about in _facts.PAGE["claims"].values()]
ORDERS, OTHERS, WITHIN, SOURCES, BEST, TIES, LENGTH = CLAIMS


def tiny(metric: str = "mine") -> mm.EvalSet:
    """Return 3 systems x 20 segments, one metric, holes on both sides, no text."""
    rng = np.random.default_rng(0)
    human = -rng.integers(0, 5, (3, 20)).astype(float)
    scores = human + rng.normal(size=human.shape)
    human[0, 3] = human[1, 5] = human[2, 7] = scores[0, 8] = np.nan
    return mm.EvalSet(human, {metric: scores}, systems=["A", "B", "C"], name="tiny")


@functools.cache
def reported(metric: str) -> Report:
    return mm.report(mm.load("teaching"), metric, **FAST)


@pytest.fixture(scope="module")
def small():
    lines = []
    report = mm.report(tiny(), **FAST, progress=lines.append)
    assert lines == ["tiny: mine"]
    return report


def claims(es, metric=None, **options) -> pd.DataFrame:
    return mm.report(es, metric, **options).claims


def weights(es, n_resamples: int, unit: str = "segment", seed: int = 0) -> np.ndarray:
    return Part(es, "", n_resamples, unit, seed).weights(es)


def verdicts(report) -> dict[str, str]:
    return report.claims.set_index("claim")["verdict"].to_dict()


def value(report, section: str, quantity: str, subject: str = "") -> pd.Series:
    rows = report.sections
    found = rows[(rows["section"] == section) & (rows["quantity"] == quantity) & (rows["subject"] == subject)]
    assert len(found) == 1, (section, quantity, subject)
    return found.iloc[0]


def test_pairs_orders_and_weights_of_draws_by_hand():
    human, metric = np.array([[3.0], [2.0], [1.0], [0.0]]), np.array([[9.0], [9.0], [5.0], [6.0]])
    # of six pairs AB is tied by the metric and CD is reversed
    assert pair_accuracy(human, metric)[0] == pytest.approx(4 / 6)
    assert np.isnan(pair_accuracy(human[:1], metric[:1])[0])
    assert order_p_value(human[:, 0], human[:, 0], 0) == (1 / 24, "all 24 orders of 4 systems")
    assert order_p_value(human[:, 0], -human[:, 0], 0)[0] == 1
    many = np.arange(8.0)
    assert order_p_value(many, many, 0, n_resamples=499) == (1 / 500, "499 random orders of 8 systems")
    es = tiny()
    counts = weights(es, 5, seed=1)
    assert (counts.shape, (counts[0] == 1).all(), (counts.sum(axis=1) == 20).all()) == ((6, 20), True, True)
    means = system_means(es.human, counts)
    assert means[:, 0] == pytest.approx(np.nanmean(es.human, axis=1))
    drawn = np.repeat(np.arange(20), counts[2].astype(int))
    assert means[:, 2] == pytest.approx(np.nanmean(es.human[:, drawn], axis=1))


def test_other_systems_are_left_out_one_at_a_time():
    """Jackknife by hand on means of systems that the metric likes unequally, which moves values more than segments."""
    rng = np.random.default_rng(4)
    human = 0.5 * rng.normal(size=(8, 1)) + rng.normal(size=(8, 40))
    es = mm.EvalSet(human, {"m": human + 0.5 * rng.normal(size=(8, 1))}, systems=list("ABCDEFGH"))
    report = mm.report(es, "m", n_resamples=200)
    for quantity, statistic, half in (
        ("Pearson of system means", lambda h, m: np.corrcoef(h, m)[0, 1], 1.0),
        ("pairwise accuracy", lambda h, m: pair_accuracy(h[:, None], m[:, None])[0], 0.5),
    ):
        row = value(report, "systems", f"{quantity}, other systems")
        means = np.array([es.human.mean(axis=1), es["m"].mean(axis=1)])
        rest = [statistic(*np.delete(means, s, axis=1)) for s in range(8)]
        known = statistic(*means)
        assert row["value"] == pytest.approx(known)
        spread = math.sqrt(7 / 8 * sum((r - sum(rest) / 8) ** 2 for r in rest))
        r = 2 * known - 1 if half < 1 else known
        reach = stats.t.isf(0.025, 7) * spread / half / (1 - r**2)
        ends = [math.tanh(math.atanh(r) + s * reach) for s in (-1, 1)]
        here = value(report, "systems", quantity)
        assert [row["low"], row["high"]] == pytest.approx([(end + 1) / 2 if half < 1 else end for end in ends])
        assert row["high"] - row["low"] > here["high"] - here["low"]


@pytest.mark.parametrize("within", [False, True])
def test_length_correlation_is_that_of_numpy(within):
    es = tiny()
    lengths = np.random.default_rng(3).integers(5, 90, es.shape).astype(float)
    known, counts = ~np.isnan(es.human), weights(es, 3)
    found = pooled_pearson_in_draws(es.human, lengths, known, counts, within=within)
    same = np.tile(lengths[0], (3, 1))
    assert np.isnan(pooled_pearson_in_draws(same, lengths, known, counts, within=within)[0]) == within
    for row, r in zip(counts, found, strict=True):
        columns = np.repeat(np.arange(20), row.astype(int))
        x, y = np.where(known, lengths, np.nan)[:, columns], es.human[:, columns]
        if within:
            x, y = x - np.nanmean(x, axis=0), y - np.nanmean(y, axis=0)
        keep = known[:, columns]
        assert r == pytest.approx(np.corrcoef(x[keep], y[keep])[0, 1])


@pytest.mark.parametrize(("verdict", "cases"), [
    ("supported", [(0.3, 0.2, 0.4), (0.15, 0.1, 0.2)]),
    ("real, size open", [(0.06, 0.01, 0.11), (0.3, 0.01, 0.59), (0.05, 0.01, 0.1)]),
    ("real but small", [(0.06, 0.03, 0.09), (0.05, 0.01, 0.0999)]),
    # 1 + 1/3 - 1 - 1/3, which is 1e-17, is not a success
    ("not supported", [(0.0, 0.0, 0.0), (-0.1, -0.3, 0.05), (0.02, -0.01, 0.05), (-0.2, -0.3, -0.1)]),
    ("not supported", [(1e-17, -0.3, 0.05), (1e-17, 1e-17, 1e-17)]),
    # the sign of an excess decides nothing if the interval holds both 0 and the margin
    ("cannot be told", [(-0.01, -0.3, 0.28), (0.01, -0.3, 0.28), (0.1, -0.1, 0.3)]),
    ("cannot be told", [(np.nan, np.nan, np.nan), (0.5, np.nan, np.nan)]),
])  # fmt: skip
def test_decisions(verdict, cases):
    assert [decide(*numbers, 0.0, 0.1)[0] for numbers in cases] == [verdict] * len(cases)


@given(st.floats(-0.5, 0.5), st.floats(0, 0.4), st.floats(0, 0.4))
def test_a_shorter_interval_takes_no_better_verdict_away(value, half, other):
    """The verdicts on an excess that is there; "supported" stays, and a size that was open is found."""
    wide, short = (decide(value, value - h, value + h, 0.0, 0.1)[0] for h in sorted([half, other], reverse=True))
    stays = {"supported": {"supported"}, "real but small": {"real but small"}, "real, size open": set(VERDICTS[:3])}
    assert short in stays.get(wide, set(VERDICTS))


@pytest.mark.slow
def test_numbers_are_those_of_the_package_and_baselines_earn_what_theory_says(teaching):
    report, metric = reported("Regressor"), "Regressor"
    shown = [*itertools.product(("pearson", "kendall"), ("none", "segment", "system")), ("acc_eq", "segment")]
    for coefficient, grouping in shown:
        expected = mm.correlate(teaching, [metric], coefficient=coefficient, grouping=grouping)["value"].iloc[0]
        section = "ties" if coefficient == "acc_eq" else "segments"
        row = value(report, section, _facts.label(f"{coefficient}.{grouping}"))
        assert row["value"] == pytest.approx(expected)
        assert row["low"] < row["value"] < row["high"]
    expected = mm.pairwise_accuracy(teaching, [metric])["value"].iloc[0]
    assert value(report, "systems", "pairwise accuracy")["value"] == pytest.approx(expected)
    assert value(report, "ties", "pairs that humans tie")["value"] == mm.ties.human_tie_share(teaching)
    assert value(report, "ties", "threshold chosen")["value"] == mm.calibrate_ties(teaching, metric).epsilon
    ranked = mm.compare(teaching).table.set_index("metric")
    for other in teaching.metrics:
        row = value(report, "rank", "rank", other)
        assert [*row[["value", "low", "high"]]] == [*ranked.loc[other, ["rank", "best_rank", "worst_rank"]]]
    assert (row["n"], row["unit"]) == (28, "documents")
    assert "rank 1 is best; exchanged: 28 documents" in report.to_markdown()
    assert "|unit:document|" in report.signature
    within, pooled = "Pearson, segment grouping", "Pearson, no grouping"
    for name in ("segment oracle", "source length", "source sentinel"):
        assert value(report, "baselines", within, name)["value"] == 0
    human_between = mm.decompose_pearson(teaching)["human_between"][0]
    assert value(report, "baselines", pooled, "segment oracle")["value"] == pytest.approx(np.sqrt(human_between))
    assert value(report, "baselines", "pairwise accuracy", "system oracle")["value"] == 1
    assert value(report, "baselines", pooled, "source sentinel")["value"] > 0.2  # difficulty can be read off the source


@pytest.mark.parametrize(("n", "asked"), [(19, None), (19, "document"), (20, None), (20, "segment")])
def test_documents_are_drawn_where_there_are_enough(n, asked):
    unit, size = ("document", n) if (n, asked) in ((19, "document"), (20, None)) else ("segment", 40)
    es = mm.simulate.campaign(n_systems=3, n_segments=40, texts=False)
    es = mm.EvalSet(es.human, {"m": es["Regressor"]}, systems=es.systems, documents=[j % n for j in range(40)])
    sections = mm.report(es, "m", **FAST, unit=asked).parts[0].sections
    section, options = sections["system_dependence"], {"n_resamples": 60, "rng": 0, "unit": unit}
    assert section.row("sysdep").high == mm.system_dependence(es, "m", **options).summary["high"][0]
    assert section.row("sysdep.p").value == mm.sysdep.compare_with_null(es, "m", **options).summary["p_value"][0]
    assert section.text == [f"Intervals redraw, and the null distribution moves, whole {unit}s: there are {size}."]
    interval = mm.significance.intervals(es, coefficient="kendall", unit=unit, n_resamples=60).iloc[0]
    row = sections["segments"].row("kendall.segment")
    assert (row.low, row.high) == pytest.approx((interval["low"], interval["high"]))


@pytest.mark.slow
@pytest.mark.parametrize(
    "metric", ["Biased", "Regressor", "SourceOnly", pytest.param("Random", marks=pytest.mark.exhaustive)]
)
def test_what_was_planted_is_found_and_nothing_else(teaching, metric):
    found, report = verdicts(reported(metric)), reported(metric)
    deviations = report.sections.query("key == 'deviation' and note != 'undecided'")
    if metric == "Biased":
        [planted] = teaching.truth["bias"]["Biased"]
        assert deviations[["subject", "note"]].to_numpy().tolist() == [[planted, "favoured"]]
        return
    assert deviations.empty
    if metric == "Regressor":  # the others judge nothing
        assert {found[c] for c in (ORDERS, WITHIN, SOURCES, TIES)} == {"supported"}
    else:
        assert {found[c] for c in (WITHIN, SOURCES, BEST, TIES)} == {"not supported"}
        assert "supported" not in found.values()


def test_tiny_table_says_what_is_missing(small):
    assert {verdicts(small)[claim] for claim in (ORDERS, OTHERS, SOURCES, BEST, LENGTH)} == {"cannot be told"}
    reasons = small.claims.set_index("claim")["reason"]
    assert reasons[ORDERS] == "3 systems have 6 orders, too few for a p-value of .05"
    assert reasons[BEST] == "the table has one metric: there is nothing to rank it against"
    assert reasons[LENGTH] == "the table has no translations"
    assert set(small.skipped["section"]) == {"rank", "baselines", "length"}
    assert value(small, "data", "translations with both")["value"] == 56
    assert value(small, "segments", "Kendall, segment grouping")["n"] == 20


def test_two_systems_and_one_segment_support_nothing():
    """Three claims were once supported, two of them by an interval from 1 to 1."""
    es = mm.EvalSet([[-1], [-5]], {"m": [[0.9], [0.3]]}, systems=["A", "B"])
    found = claims(es).set_index("claim")
    assert set(found["verdict"]) == {"cannot be told"}
    for claim in (WITHIN, TIES):
        assert found.loc[claim, "reason"] == "1 segment does not support an interval (at least 6 are needed)"
        assert found.loc[claim, ["low", "high"]].isna().all()


def awkward() -> dict[str, mm.EvalSet]:
    rng = np.random.default_rng(5)
    h = -rng.integers(0, 6, (4, 30)).astype(float)
    noise, half = rng.normal(size=h.shape), np.arange(30) < 15
    one_each = np.where(np.arange(4)[:, None] == np.arange(30) % 4, h, np.nan)
    unrated = h.copy()
    unrated[0] = np.nan
    names = list("ABCD")
    return {
        "one system": mm.EvalSet(h[:1], {"m": noise[:1]}, systems=["A"]),
        "one segment": mm.EvalSet(h[:, :1], {"m": noise[:, :1]}, systems=names),
        "constant metric": mm.EvalSet(h, {"m": np.zeros_like(h)}, systems=names),
        "constant human": mm.EvalSet(np.zeros_like(h), {"m": noise}, systems=names),
        "no segment rated twice": mm.EvalSet(one_each, {"m": noise}, systems=names),
        "a system without ratings": mm.EvalSet(unrated, {"m": noise, "n": h + noise}, systems=names),
        "nothing in common": mm.EvalSet(np.where(half, h, np.nan), {"m": np.where(half, np.nan, noise)}, systems=names),
        "one score": mm.EvalSet(h, {"m": np.where(np.arange(120).reshape(4, 30) == 7, 1.0, np.nan)}, systems=names),
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", list(awkward()))
def test_awkward_tables_never_crash(name):
    report = mm.report(awkward()[name], "m", **FAST)
    assert len(report.claims) == 7
    assert set(report.claims["verdict"]) <= set(VERDICTS)
    assert (report.skipped["note"].str.len() > 10).all()
    assert report.to_html().count("<h2") == len(SECTIONS) + 2
    assert "What to claim" in report.to_markdown()
    told = name in ("one system", "constant metric", "constant human", "nothing in common", "one score")
    assert not told or "supported" not in set(report.claims["verdict"])


@pytest.mark.slow
def test_the_same_seed_gives_the_same_report(small):
    other = mm.report(tiny(), **FAST, rng=1)
    low = [(r.signature, value(r, "segments", "Pearson, no grouping")["low"]) for r in (small, other)]
    assert not set(low[0]) & set(low[1])
    drawn = mm.report(tiny(), **FAST, rng=np.random.default_rng(3))
    assert mm.report(tiny(), **FAST, rng=drawn.seed).to_json() == drawn.to_json()


@pytest.mark.slow
def test_several_sets_and_metrics():
    h, a, b = np.random.default_rng(1).normal(size=(3, 5, 30))
    odd = '<script>alert(1)</script>"&\x07$\\frac$'
    sets = [mm.EvalSet(h, {"a": h + a, odd: b}, systems=list("ABCDE"), name=name) for name in ("one", "<i>two</i>")]
    report = mm.report(sets, **FAST)
    pairs = report.claims[["set", "metric"]].drop_duplicates().to_numpy().tolist()
    assert pairs == [["one", "a"], ["one", odd], ["<i>two</i>", "a"], ["<i>two</i>", odd]]
    text = report.to_html()
    page, links = Page(text), [a["href"] for a in Page(text).all("a")]
    named = {f"#{attrs['id']}" for _, attrs in page.tags if "id" in attrs}
    assert (text.count("<h2 id="), links[:4], set(links)) == (4, ["#p0", "#p1", "#p2", "#p3"], named)
    glance = page.words.partition("All at a glance")[2].partition("What to claim")[0]
    assert all(number(value) in glance for value in report.claims["value"].dropna())
    refuses("names of sets must be distinct; found more than once: 'one'", claims, [sets[0], sets[0]], **FAST)


@pytest.mark.slow
def test_page_stands_alone_and_can_be_read_by_all():
    report = reported("Regressor")
    text = report.to_html()
    page = Page(text)
    assert page.all("html") == [{"lang": "en"}]
    inside = [i["src"].startswith("data:image/png;base64,") and len(i["alt"]) > 60 for i in page.all("img")]
    assert inside == [True] * 4
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch(r"h\d", tag)]
    assert (levels[0], levels.count(1)) == (1, 1)
    assert all(b - a <= 1 for a, b in zip(levels, levels[1:], strict=False))
    assert len(page.all("table")) == len(page.all("caption")) >= 8
    assert {attrs.get("scope") for attrs in page.all("th")} == {"col", "row"}
    assert re.findall(r"""(?:src|href|url)\s*[=(]\s*["']?(?!data:|#)[^\s"')]+|<script""", text) == []
    assert all(style in text for style in ("@media print", "width=device-width", "prefers-color-scheme"))
    assert all(word in page.words for word in (report.signature, f"seed {report.seed}"))
    for how in (page.words, report.to_markdown()):
        assert "on the same machine the same numbers. Another processor" in how.partition("How this was computed")[2]


def test_json_has_every_number(small):
    found = json.loads(small.to_json())
    assert " ".join(found) == "mtmeta signature seed level claims sections skipped"
    assert found["mtmeta"] == mm.__version__
    columns = {name: " ".join(found[name][0]) for name in ("claims", "sections", "skipped")}
    assert columns == {
        "claims": "set metric claim verdict statistic value low high n unit reason chapter",
        "sections": "set metric section key subject quantity value low high n unit note",
        "skipped": "set metric section key subject quantity value low high n unit note",
    }
    numbers = [row["value"] for row in found["sections"]]
    assert numbers == small.sections["value"].astype(object).where(small.sections["value"].notna(), None).tolist()


def test_the_best_is_held_against_every_rival_and_measured_verdicts_are_rarely_wrong(small):
    """The runner-up is always a little worse; the third is as often better, and far worse in four segments."""
    rng = np.random.default_rng(4)
    human = rng.normal(size=(6, 40))
    best = human + 0.45 * rng.normal(size=human.shape)
    metrics = {"best": best, "second": best + 0.3 * rng.normal(size=human.shape)}
    es = mm.EvalSet(human, metrics, systems=list("ABCDEF"))
    claim = claims(es, "best", **FAST).set_index("claim").loc[BEST]
    assert claim["verdict"] == "supported"
    assert claim["reason"].startswith("rank 1 of 2; against the rival that comes closest, second")
    es = es.with_metrics(metrics | {"third": np.where(np.arange(40) < 4, -human, human)})
    table = mm.compare(es)
    assert list(table.table["metric"]) == ["best", "second", "third"]
    claim = claims(es, "best", **FAST).set_index("claim").loc[BEST]
    assert claim["verdict"] == "cannot be told"
    assert claim["reason"].endswith(f"comes closest, third, p = {table.p_values.loc['best', 'third']:.2g}")
    assert claims(es, "second", **FAST).set_index("claim").loc[BEST, "verdict"] == "not supported"


def test_a_baseline_called_like_the_metric_and_chapters_that_are_named(small):
    page = mm.report(tiny("constant"), **FAST).to_html()
    assert page.count("constant (this metric)") == page.count('class="mine"') == 1
    titles = set()
    for path in (Path(__file__).parents[1] / "notebooks").glob("*.ipynb"):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        titles.add("".join(cells[0]["source"]).split("# ", 1)[1].splitlines()[0])
    assert set(small.claims["chapter"]) <= titles


@pytest.mark.slow
def test_command_writes_what_the_file_is_called(command_line, tmp_path, monkeypatch):
    table, page = tmp_path / "mine.csv", tmp_path / "r.html"
    tiny().to_frame().to_csv(table, index=False)
    command = ("report", table, "--n-resamples", 60)
    saved, made = tmp_path / "r.json", []
    monkeypatch.setattr(_report, "claims_of", lambda part, real=_report.claims_of: made.append(1) or real(part))
    code, out, err = command_line(*command, "-o", page, "-o", saved, "-o", tmp_path / "r.md")
    assert (code, out, len(made), "reporting on mine" in err) == (0, "", 1, True)
    assert json.loads(saved.read_text(encoding="utf-8"))["signature"] in page.read_text(encoding="utf-8")
    assert (tmp_path / "r.md").read_text(encoding="utf-8").startswith("# Is this metric any good?")
    assert "Unsupported output format '.pdf'" in command_line(*command, "-o", page, "-o", tmp_path / "r.pdf")[2]
    code, out, _ = command_line(*command, "--format", "json", "-q")
    assert (code, json.loads(out)["claims"][2]["claim"]) == (0, WITHIN)
    code, out, err = command_line(*command, "--metric", "mine", "-q")
    assert (code, err, out.startswith("# Is this metric any good?")) == (0, "", True)


@pytest.mark.slow
@pytest.mark.parametrize("place", ["_sections.correlate", "_sections.intervals", "_sections.compare", "_baselines.fit"])
def test_only_what_the_data_do_not_allow_becomes_words(place, teaching, monkeypatch):
    """Any other error, such as one of a library, reaches the user: it says nothing of the data."""

    def fail(*args, **options):
        raise kind("maximum allowed dimension exceeded")

    es = teaching.select(systems=teaching.systems[:4], segments=teaching.segments[:70], metrics=["BLEU", "Judge"])
    monkeypatch.setattr(f"mtmeta.reporting.{place}", fail)
    kind = Undefined
    result = mm.report(es, "Judge", n_resamples=40)
    told = result.skipped.to_csv() + result.sections.to_csv() + result.claims.to_csv()
    assert "maximum allowed dimension exceeded" in told
    if place == "_sections.compare":
        assert "maximum allowed" in result.claims.set_index("claim").loc[BEST, "reason"]
    kind = ValueError
    refuses("maximum allowed dimension exceeded", mm.report, es, "Judge", n_resamples=40)
