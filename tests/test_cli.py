"""The command line: what it prints, where, and with which exit code."""

import io
import json
from pathlib import Path
from typing import get_args

import numpy as np
import pandas as pd
import pytest
from servers import WHOLE
from shell import TABLE, run_lines
from trees import make_tree

import mtmeta as mm
from mtmeta import agreement, protocols
from mtmeta.cli import _options, _output, local_accuracy, rank, sentinel
from mtmeta.local_accuracy import _pairs
from mtmeta.local_accuracy._guide import PARTS

COMMANDS = (
    "validate rank correlate difference compare power drivers fetch import report local-accuracy run sweep".split()
)
ODD = "A_B&C%|\\x"


@pytest.fixture
def run(command_line):
    return command_line


@pytest.fixture
def result(run):
    """Return a function that runs a command that must succeed, and gives the records of its JSON."""

    def run_well(*arguments):
        code, out, err = run(*arguments, "--format", "json")
        assert code == 0, err
        return json.loads(out)

    return run_well


@pytest.fixture
def table(tmp_path) -> Path:
    path = tmp_path / "mine.csv"
    path.write_text(TABLE)
    return path


@pytest.mark.parametrize(("choices", "package"), [
    (rank.PROTOCOLS, protocols.PROTOCOLS),
    (_options.COEFFICIENTS, agreement.COEFFICIENTS), (_options.GROUPINGS, agreement.GROUPINGS),
    (local_accuracy.UNSCORED, _pairs.MISSING), (local_accuracy.PARTS, PARTS),
    (sentinel.SEES, mm.sentinel.SEES), (sentinel.KINDS, mm.sentinel.KINDS),
])  # fmt: skip
def test_choices_are_those_of_the_package(choices, package):
    assert list(get_args(choices) or choices) == list(package)


def teaching_with(*metrics) -> pd.DataFrame:
    return mm.load("teaching").to_frame()[["system", "segment", "human", *metrics]]


#: What is done to TABLE, a command line, and what it must say.
ADVICE = [
    (lambda f: f.iloc[1:], "rank {}", "or pass --missing nan"),
    (lambda f: f.iloc[[0, *range(6)]], "validate {}", "segment 1;"),
    (lambda f: f, "correlate {} --metrics-from x", "--metrics-from does not apply"),
    (lambda f: f.assign(X_perturbed=None), "local-accuracy {}", "pass --missing drop"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "line", "says"), ADVICE)
def test_the_command_line_gives_advice_in_its_own_words(run, tmp_path, change, line, says):
    path = tmp_path / "t.csv"
    change(pd.read_csv(io.StringIO(TABLE))).to_csv(path, index=False)
    code, out, err = run(*line.format(path).split())
    assert (code, out) == (2, "")
    assert "mtmeta: error: " in err
    assert says in err


COPY = {"copy": lambda f: f["chrF"]}
#: Columns of the teaching campaign that are added or changed, a command line, and a note on stderr.
NOTES = [
    (COPY, "rank {} --n-resamples 0", "copy has the same scores as chrF"),
    (COPY, "compare {} chrF copy", "copy has the same scores as chrF"),
    ({"human": lambda f: f["human"].where(f["system"] != "Fjord")}, "correlate {}", "'Fjord' (nobody rated it)"),
    (
        {"human": lambda f: f["human"].where(f["system"] < "Cp")},
        "correlate {} --level system --interval",
        "3 systems do not support an interval (at least 8 are needed)",
    ),
    ({}, "power teaching Judge Regressor --n-resamples 100", "300 segments are too few for a pilot"),
]


@pytest.mark.parametrize(("columns", "line", "says"), NOTES)
def test_notes_on_the_data_go_to_stderr(run, tmp_path, columns, line, says):
    path = tmp_path / "t.csv"
    teaching_with("chrF", "Judge").assign(**columns).to_csv(path, index=False)
    code, _, err = run(*line.format(path).split())
    assert (code, says in err) == (0, True), err


def few_ratings(path, kept):
    """Write the teaching campaign with ratings where `kept` says so of system and segment, counted from 0."""
    frame = teaching_with("chrF", "Judge")
    place = pd.factorize(frame["system"])[0], frame["segment"] - 1
    frame.assign(human=frame["human"].where(kept(*place))).to_csv(path, index=False)


def test_a_few_ratings_are_ranked_as_far_as_they_go(run, result, tmp_path):
    few_ratings(tmp_path / "alike.csv", lambda system, segment: segment < 2)
    line = ("rank", tmp_path / "alike.csv")
    assert [(row["best_rank"], row["worst_rank"]) for row in result(*line)] == [(1, 2), (1, 2)]
    assert "cannot be told: 2 segments do not support the claim that one metric is better" in run(*line)[2]
    few_ratings(tmp_path / "apart.csv", lambda system, segment: segment == system)
    path = tmp_path / "apart.csv"
    said = "mtmeta: error: set 'apart': no segment has two rated systems, so nothing can be compared"
    code, out, err = run("rank", path, "--protocol", "wmt23", "--quiet")
    assert (code, out, err.startswith(said), err.count("\n")) == (2, "", True, 1)
    assert len(result("rank", path, "--protocol", "sentinels-pearson", "--n-resamples", 40)) == 2
    assert len(result("correlate", path, "--level", "system")) == 2


def test_a_ranking_names_the_systems_that_decide(run, result, table):
    # Without Fjord, Biased is first by Pearson's r of systems, and not Judge: `decided_by_one` says so.
    line = ("rank", "teaching", "--n-resamples", 0)
    assert {row["metric"]: row["decided_by"] for row in result(*line) if row["decided_by"]} == {"Judge": "Fjord"}
    rows = [row.split(" | ") for row in run(*line, "--format", "md")[1].splitlines()]
    assert [row[3] for row in rows if row[0] in ("| metric", "| Judge")] == ["decided\\_by", "Fjord"]
    assert "decided" not in run(*line, "--exclude-system", "Fjord", "--metric", "chrF")[1]
    assert result("rank", table, "--n-resamples", 0)[0]["decided_by"] is None


def test_human_translators_are_marked_and_named(run, result, tmp_path):
    path = tmp_path / "t.csv"
    teaching_with("chrF", "Biased").to_csv(path, index=False)
    marked = ("--human-system", "Fjord")
    assert [r["name"] for r in result("validate", path, *marked) if r["what"] == "human translator"] == ["Fjord"]
    line = ("rank", path, "--protocol", "wmt23", "--n-resamples", 0)
    said = "but without Fjord{} Biased is (0.983, against 0.923)\n"
    assert said.format("") in run(*line)[2]
    assert said.format(" (a human translation)") in run(*line, *marked)[2]
    assert "Fjord" not in run(*line, "--exclude-system", "Fjord")[2]
    of_machines = run("rank", path, "--protocol", "gemba-v2", "--n-resamples", 0, *marked)[2]
    assert "left out of the ranking: t: system 'Fjord' (human translation)" in of_machines
    assert "--human-system does not apply to teaching-speech" in run("validate", "teaching-speech", *marked)[2]


def test_columns_are_renamed_by_an_option(run, result, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(TABLE.replace("system,segment,human", "Sys,segment,mqm"))
    assert "pass --columns system=Sys,human=mqm, else rename" in run("rank", path)[2]
    (tmp_path / "plain.csv").write_text(TABLE)
    expected = result("correlate", tmp_path / "plain.csv")
    assert result("correlate", path, "--columns", "system=Sys,human=mqm") == expected
    assert run("correlate", path, "--columns", "system")[0] == 2


def test_version(run):
    assert run("--version") == (0, f"mtmeta {mm.__version__}\n", "")


def each_week(command):
    """Mark the examples of long commands, which have tests of their own."""
    is_long = command in ("run", "sweep", "report")
    return pytest.param(command, marks=pytest.mark.exhaustive if is_long else pytest.mark.slow)


TWO_WORDS = ["sentinel train", "sentinel score", "class", "class check"]


@pytest.mark.parametrize("command", [each_week(c) for c in ["", *COMMANDS, *TWO_WORDS]])
def test_help_ends_with_an_example_that_works_offline(run, command, tmp_path, monkeypatch):
    code, out, _ = run(*command.split(), "--help")
    example = out.partition("Example:\n")[2]
    assert (code, f"mtmeta {command}" in example) == (0, True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MTMETA_DATA", raising=False)
    for name, value in (("MTMETA_CACHE", tmp_path), ("HOME", tmp_path), ("https_proxy", "http://127.0.0.1:9")):
        monkeypatch.setenv(name, str(value))
    results = list(run_lines(example, run))
    assert [(code, "mtmeta: error" in err) for code, _, err in results] == [(0, False)] * len(results), results
    assert any(out or "saved: " in err for _, out, err in results)  # a sentinel is saved in a folder


def test_a_wide_table_ranks_by_one_statistic(result, table):
    # By hand, within segments: in segment 1 Y orders 0, -1, -1 as .5, .4, .4; in segment 2 -6, -7, -5 as .5, .4, .6.
    # X is constant within both. Over all pairs X is first: it knows which segment is hard.
    expected = [{"metric": "Y", "pearson": pytest.approx(1)}, {"metric": "X", "pearson": 0}]
    assert result("correlate", table, "--wide") == expected
    assert [r["metric"] for r in result("correlate", table, "--wide", "--grouping", "none")] == ["X", "Y"]


RANKINGS = [{"protocol": protocol} for protocol in protocols.PROTOCOLS]
RANKINGS += [{"n_resamples": 50, "seed": 3}, {"n_resamples": 0, "metric": "X"}]


@pytest.mark.parametrize("chosen", RANKINGS)
def test_rank_is_the_table_of_the_package(run, result, table, chosen):
    options = [word for name, value in chosen.items() for word in (f"--{name.replace('_', '-')}", value)]
    names = {"seed": "rng", "metric": "metrics"}
    expected = mm.rank(mm.load(table), **{names.get(name, name): value for name, value in chosen.items()})
    assert pd.DataFrame(result("rank", table, *options)).drop(columns="decided_by").equals(expected.to_frame())
    note = expected.note + "\n" * bool(expected.note)
    assert ("2 segments do not support" in note) == (chosen.get("n_resamples") != 0 and len(expected.table) > 1)
    assert run("rank", table, *options)[2].endswith(f"{note}{expected.signature}|mtmeta:{mm.__version__}\n")


def test_options_of_a_tree(run, result, tmp_path):
    tree = make_tree(tmp_path / "mine")
    extra = tmp_path / "extra" / "Mine-src.seg.score"
    extra.parent.mkdir()
    names = ("Alpha", "Beta", "refA", "refB")
    extra.write_text("".join(f"{name}\t{i + j}\n" for i, name in enumerate(names) for j in range(3)))
    options = ("--metrics-from", extra.parent, "--reference", "refB", "--annotation", "mqm", "--metric", "Mine")
    es = mm.load(tree, metrics_from=extra.parent, reference="refB", annotation="mqm", metrics=["Mine"])
    assert pd.DataFrame(result("correlate", tree, *options)).equals(mm.correlate(es))
    code, out, err = run("correlate", tree)
    assert (code, "left out of mine/en-de: refA (the reference)\n" in err, "refA" in out) == (0, True, False)
    assert run("correlate", tree, "--quiet") == (0, out, "")


@pytest.fixture
def odd(tmp_path) -> Path:
    """Write a table with a metric that every format must escape."""
    path = tmp_path / "odd.csv"
    pd.read_csv(io.StringIO(TABLE)).rename(columns={"Y": ODD}).to_csv(path, index=False)
    return path


def test_json_and_tsv_keep_full_precision_and_missing_values(run, odd):
    options = ("correlate", odd, "--grouping", "none", "--grouping", "segment", "--places", "1")
    es = mm.load(odd)
    expected = pd.concat([mm.correlate(es, grouping=g) for g in ("none", "segment")])
    out = json.loads(run(*options, "--format", "json")[1], parse_constant=pytest.fail)
    assert pd.DataFrame(out).equals(expected.reset_index(drop=True))
    (alone,) = json.loads(run("correlate", odd, "--metric", "X", "--interval", "--format", "json")[1])
    assert (alone["low"], alone["p_value"]) == (None, None)
    rows = [line.split("\t") for line in run(*options, "--format", "tsv")[1].splitlines()[1:]]
    assert [row[3] for row in rows] == [repr(row["value"]) for row in out]
    assert ODD in {row[0] for row in rows}


FRAME = {"a metric": ["指標\x1b[31m", ODD], "x": [-0.0001, 0.12345], "n": pd.array([None, 2]), "s": [None, "a"]}
#: With two places: wide characters take two columns, headings wrap, -0 is 0, nothing breaks out of its cell.
WRITTEN = {
    "table": "a metric         x  n  s\n------------  ----  -  -\n指標\\x1b[31m  0.00\nA_B&C%|\\x     0.12  2  a\n",
    "latex": "\\begin{tabular}{lrrl}\n\\toprule\na metric & x & n & s \\\\\n\\midrule\n"
    "指標\\textbackslash{}x1b{[}31m & 0.00 &  &  \\\\\nA\\_B\\&C\\%\\textbar{}\\textbackslash{}x & 0.12 & 2 & a \\\\\n"
    "\\bottomrule\n\\end{tabular}\n",
    "md": "| a metric | x | n | s |\n| --- | ---: | ---: | --- |\n| 指標\\\\x1b\\[31m | 0.00 |  |  |\n"
    "| A\\_B\\&C%\\|\\\\x | 0.12 | 2 | a |\n",
    "csv": "a metric,x,n,s\n指標\x1b[31m,-0.0001,,\nA_B&C%|\\x,0.12345,2,a\n",
}


@pytest.mark.parametrize("how", WRITTEN)
def test_tables_as_they_are_written(how):
    assert _output.written(pd.DataFrame(FRAME), how, 2) == WRITTEN[how]
    lines = _output.written(pd.DataFrame(FRAME)[:0], how, 2).splitlines()
    assert len(lines) == {"table": 3, "latex": 6, "md": 2, "csv": 1}[how]


def test_two_metrics_are_compared_in_a_sentence_and_a_row(run):
    code, out, err = run("compare", "teaching", "chrF", "Judge", "--n-resamples", 200, "--format", "json")
    (row,), test = json.loads(out), mm.compare(mm.load("teaching"), ["Judge", "chrF"], n_resamples=200)
    p, (upper, lower) = test.p_values.iloc[0, 1], test.table["value"]
    assert (code, row["verdict"], row["better"], row["p_value"]) == (0, "Judge is better", "Judge", p)
    assert row["low"] < row["difference"] == upper - lower < row["high"]
    assert err.startswith("teaching: Judge is better: Judge is ahead of chrF by 0.137, 95 % from 0.")
    out = run("compare", "teaching", "Judge", "Regressor", "-q")[1]
    assert out.splitlines()[2].startswith("teaching  cannot be told")
    err = run("compare", "teaching", "Judge", "Tagger", "--grouping", "none", "--n-resamples", 40)[2]
    assert "teaching: Very skewed scores (skewness): Tagger (-2.2)." in err


def test_systems_are_chosen_and_left_out(run):
    es = mm.load("teaching")
    kept = [system for system in es.systems if system != "Fjord"]
    expected = mm.correlate(es.select(systems=kept)).to_dict("records")
    for chosen in (["--exclude-system", "Fjord"], [word for system in kept for word in ("--system", system)]):
        assert json.loads(run("correlate", "teaching", *chosen, "--format", "json")[1]) == expected
    assert "unknown system 'Fyord'. Did you mean 'Fjord'?" in run("rank", "teaching", "--exclude-system", "Fyord")[2]


def test_output_goes_to_a_file(run, table, tmp_path):
    target = tmp_path / "out.json"
    expected = run("correlate", table, "--format", "json")[1]
    assert run("correlate", table, "--quiet", "--output", target) == (0, "", "")
    assert target.read_text() == expected
    assert run("rank", table, "--quiet", "--format", "table", "-o", target) == (0, "", "")
    assert target.read_text().startswith(" ")
    assert run("correlate", table, "--format", "json", "-o", "-")[1] == expected
    assert sorted(p.name for p in tmp_path.iterdir()) == ["mine.csv", "out.json"]
    (tmp_path / "link.json").symlink_to(target)
    assert run("correlate", table, "-q", "-o", tmp_path / "link.json")[0] == 0
    assert ((tmp_path / "link.json").is_symlink(), target.read_text()) == (True, expected)
    for ending, begins in {"csv": "metric,", "TEX": "\\begin", "md": "| ", "txt": "metric  "}.items():
        run("correlate", table, "--quiet", "-o", tmp_path / f"x.{ending}")
        assert (tmp_path / f"x.{ending}").read_text().startswith(begins)


#: Commands that write a file, and a file that they read.
WRITERS = {
    "validate t.csv -o": "t.csv",
    "rank t.csv --n-resamples 0 -o": "t.csv",
    "correlate teaching t.csv -o": "t.csv",
    "report t.csv --n-resamples 40 -o": "t.csv",
    "local-accuracy p.csv --n-resamples 99 --metric m -o": "p.csv",
    "sweep plan.yaml --dry-run -o": "t.csv",
    "sentinel score sentinel s.csv -o": "s.csv",
}


@pytest.mark.parametrize(
    ("line", "how"), [*((line, "itself") for line in WRITERS), ("rank t.csv --n-resamples 0 -o", "symlink")]
)
def test_an_input_is_not_replaced_whatever_its_name(run, tmp_path, monkeypatch, line, how):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text(TABLE)
    Path("p.csv").write_text("segment,system,m,m_perturbed\n" + "".join(f"{k},A,{k % 3},1\n" for k in range(9)))
    Path("plan.yaml").write_text("sets: [t.csv]\nstatistics: [correlate]\n")
    (Path("sentinel")).mkdir()
    Path("s.csv").write_text("source,score\n" + "".join(f"text {k},{k % 3}\n" for k in range(20)))
    read = Path(WRITERS[line])
    content, target = read.read_bytes(), read if how == "itself" else Path("other.csv")
    if how == "symlink":
        target.symlink_to(read)
    code, out, err = run(*line.split(), target)
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert err.startswith(f"mtmeta: error: Refusing to write to {target}: it is ")
    assert read.read_bytes() == target.read_bytes() == content


def test_fetch_says_where_and_under_which_terms(result, server, tmp_path, monkeypatch):
    monkeypatch.setenv("MTMETA_CACHE", str(tmp_path / "cache"))
    size = f"{sum(map(len, WHOLE.values())) / 1e6:.1f} MB, {len(WHOLE)} files"
    facts = {"title": "made up", "size": size, "licence": "none needed", "cite": "Nobody"}
    facts["folder"] = str(tmp_path / "cache")
    assert {r["what"]: r["text"] for r in result("fetch", "small")} == facts
    assert {name: (tmp_path / "cache" / name).read_bytes() for name in WHOLE} == WHOLE


THREE = ("--metric", "Judge", "--metric", "Regressor", "--metric", "BLEU")


def test_intervals_stand_beside_correlations(result, run):
    es = mm.load("teaching")
    line = ("correlate", "teaching", *THREE, "--interval")
    found = pd.DataFrame(result(*line)).set_index("metric")
    names = list(found.index)
    expected = mm.correlate(es, names, interval=True).set_index("metric")[["value", "low", "high"]]
    pd.testing.assert_frame_equal(found[[*expected]], expected.loc[names])
    p = mm.compare(es, names, unit="document").p_values.iloc[0]
    assert found["p_value"].to_dict() == pytest.approx(p[names].to_dict(), nan_ok=True)
    assert result("correlate", "teaching", "--metric", "BLEU", "--interval")[0]["p_value"] is None


def test_a_wide_table_marks_the_best_and_what_is_as_good(run, result):
    line = ("correlate", "teaching", *THREE, *"--grouping none --grouping segment --interval --wide -q".split())
    body = [text.split() for text in run(*line)[1].splitlines()[2:]]
    assert body == [["Regressor", "0.643*", "0.427*"], ["Judge", "0.461", "0.425="], ["BLEU", "0.310", "0.280"]]
    tex = run(*line, "--format", "latex")[1]
    assert r"Regressor & \textbf{0.643} & \textbf{0.427} \\" in tex
    assert r"Judge & 0.461 & 0.425$^=$ \\" in tex
    assert "| Regressor | **0.643** | **0.427** |" in run(*line, "--format", "md")[1]
    plain = pd.DataFrame(result(*line)).set_index("metric")
    of_segments = mm.correlate(mm.load("teaching"), grouping="segment").set_index("metric")["value"]
    assert plain["segment"].to_dict() == of_segments[plain.index].to_dict()
    bare = run("correlate", "teaching", *THREE, "--wide", "-q")[1]
    assert bare.count("*") == 1
    assert "=" not in bare


def test_power_and_drivers_are_those_of_the_package(run, result):
    es, duel = mm.load("teaching"), ["Judge", "RegressorQE"]
    found = pd.DataFrame(result("power", "teaching", *duel, "--coefficient", "acc_eq", "--n-resamples", 200))
    expected = mm.significance.power(es, duel, coefficient="acc_eq", n_resamples=200)
    pd.testing.assert_frame_equal(found, expected.replace(np.inf, np.nan), check_dtype=False)
    found = pd.DataFrame(result("drivers", "teaching", *duel, "--top", 3))
    pd.testing.assert_frame_equal(found, mm.significance.drivers(es, duel).head(3), check_dtype=False)
    assert max(map(len, run("drivers", "teaching", *duel, "--top", 3)[1].splitlines())) < 140
