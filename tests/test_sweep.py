"""Sweeps: plans, tasks, resuming, and the same numbers from one process and from several."""

import json
from functools import partial
from pathlib import Path

import pandas as pd
import pytest
import yaml
from campaigns import refuses

import mtmeta as mm
from mtmeta.sweep import STATISTICS, STORE

SMALL = {"n_systems": 5, "n_segments": 24}
CAMPAIGN = partial(mm.simulate.campaign, texts=False, **SMALL)
ASKED = ["human_tie_share", {"compare": {"n_resamples": 30}}, {"correlate": {"grouping": ["segment", "none"]}}]
PLAN = {"sets": [{"simulate": {"seeds": {"count": 4}, **SMALL}}], "statistics": ASKED, "seeds": [0, 5]}
N_TASKS = 4 * (1 + 2 + 2)


def plan_of(*statistics, sets=({"simulate": SMALL},), **rest) -> dict:
    return {"sets": list(sets), "statistics": list(statistics), **rest}


@pytest.fixture
def table(tmp_path) -> Path:
    path = tmp_path / "mine.csv"
    CAMPAIGN(seed=0).to_frame().to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def serial() -> mm.sweep.Sweep:
    return mm.sweep.run(PLAN)


def part(result: mm.sweep.Sweep, name: str) -> pd.DataFrame:
    """Return the rows of one statistic."""
    return result.table[result.table["statistic"] == name].reset_index(drop=True)


def listed(plan) -> list[tuple]:
    frame = mm.sweep.tasks(plan)
    return [(row.statistic, json.loads(row.options), row.seed) for row in frame.itertuples()]


def test_example_is_a_plan_and_the_book_shows_it():
    plan = mm.sweep.read_plan(yaml.safe_load(mm.sweep.EXAMPLE))
    assert [name for name, _ in plan["statistics"]] == ["correlate", "soft_pairwise_accuracy", "system_dependence"]
    page = (Path(__file__).parents[1] / "book" / "api" / "sweep.md").read_text(encoding="utf-8")
    assert f"```yaml\n{mm.sweep.EXAMPLE}```" in page


def test_grids_by_hand():
    options = {"n_resamples": [10, 20], "ties": "half"}
    found = listed(plan_of({"soft_pairwise_accuracy": options}, "expected_accuracy", seeds=[3, 4]))
    drawn = [({"n_resamples": n, "ties": "half"}, seed) for n in (10, 20) for seed in (3, 4)]
    assert found == [*(("soft_pairwise_accuracy", *one) for one in drawn), ("expected_accuracy", {}, pd.NA)]
    made = mm.sweep.tasks(plan_of("expected_accuracy", sets=[{"simulate": {"seeds": [7, 9], "n_systems": [3, 4]}}]))[
        "set"
    ]
    assert made.tolist() == [f"simulated scores (n_systems={n},seed={seed})" for n in (3, 4) for seed in (7, 9)]


@pytest.mark.parametrize(("plan", "match"), [
    (plan_of("corelate"), "unknown statistic 'corelate'. Did you mean 'correlate'"),
    (plan_of({"compare": {"groupin": "none"}}), "statistics: compare: unknown key 'groupin'. Did you mean 'grouping'"),
    (plan_of("expected_accuracy", sets=[{"simulate": {"text": True}}]), "simulate: unknown key 'text'"),
])  # fmt: skip
def test_errors_of_plans(plan, match):
    refuses(match, mm.sweep.read_plan, plan)


@pytest.mark.parametrize(("content", "match"), [
    ("seeds: !!python/object/apply:os.system ['touch canary']", "could not determine a constructor"),
    ("\tx", "."),
])  # fmt: skip
def test_files_that_are_not_plain_yaml(tmp_path, content, match):
    path = tmp_path / "plan.yaml"
    path.write_text(f"sets: [teaching]\nstatistics: [correlate]\n{content}\n")
    refuses(match, mm.sweep.read_plan, path)
    refuses("list", mm.sweep.read_plan, [], error=TypeError)


EXPECTED = {
    "correlate": ({"grouping": "none"}, lambda es: mm.correlate(es, grouping="none")),
    "pairwise_accuracy": ({}, mm.pairwise_accuracy),
    "soft_pairwise_accuracy": ({"n_resamples": 40}, lambda es: mm.soft_pairwise_accuracy(es, n_resamples=40, rng=3)),
    "compare": ({"n_resamples": 40}, lambda es: mm.compare(es, n_resamples=40, rng=3).table),
    "intervals": ({"n_resamples": 40}, lambda es: mm.significance.intervals(es, n_resamples=40, rng=3)),
    "rank": ({"n_resamples": 40}, lambda es: mm.rank(es, n_resamples=40, rng=3).table),
    "expected_accuracy": ({"grouping": "system"}, lambda es: mm.ties.expected_accuracy(es, grouping="system")),
    "human_tie_share": ({}, lambda es: pd.DataFrame({"value": [mm.ties.human_tie_share(es)]})),
    "system_dependence": ({"n_resamples": 20},
                            lambda es: mm.system_dependence(es, n_resamples=20, rng=3).summary.iloc[:, 1:]),
    "compare_with_null": ({"n_resamples": 39},
                          lambda es: mm.sysdep.compare_with_null(es, n_resamples=39, rng=3).summary.iloc[:, 1:]),
}  # fmt: skip


@pytest.mark.parametrize("name", EXPECTED)
def test_a_sweep_gives_what_the_function_gives(name):
    options, function = EXPECTED[name]
    result = mm.sweep.run(plan_of({name: options}, seeds=3))
    expected = function(CAMPAIGN(seed=0))
    assert result.tasks["reason"].tolist() == [""]
    pd.testing.assert_frame_equal(part(result, name)[[*expected]], expected.convert_dtypes(), check_exact=True)


def test_texts_and_chosen_metrics():
    chosen = mm.sweep.run(plan_of("compare", metrics=["Judge", "Random"], seeds=3)).table
    assert set(chosen["metric"]) == {"Judge", "Random"}
    found = mm.sweep.run(plan_of({"aggregate": {"metric": ["bleu", "chrf"]}}, sets=["teaching"])).table
    expected = [mm.aggregation.aggregate(mm.load("teaching"), m).table for m in ("bleu", "chrf")]
    assert found["score"].tolist() == pd.concat(expected)["score"].tolist()
    assert {*EXPECTED, "aggregate"} == set(STATISTICS)


def test_ids_change_with_data_version_options_and_nothing_else(table, monkeypatch):
    plan = plan_of("human_tie_share", {"compare": {"n_resamples": 9}}, sets=[str(table)])
    before = mm.sweep.tasks(plan)["task"].tolist()
    assert mm.sweep.tasks(plan)["task"].tolist() == before
    assert mm.sweep.tasks({**plan, "seeds": [0, 1]})["task"].tolist()[:2] == before
    frame = pd.read_csv(table)
    frame.assign(Random=frame["Random"] + 1).to_csv(table, index=False)
    after = mm.sweep.tasks(plan)["task"].tolist()
    monkeypatch.setattr(mm.sweep, "__version__", "9.9")
    assert len({*before, *after, *mm.sweep.tasks(plan)["task"]}) == 6


def assert_same(one: mm.sweep.Sweep, other: mm.sweep.Sweep) -> None:
    """Assert that every number is the same, to the last bit."""
    pd.testing.assert_frame_equal(one.table, other.table, check_exact=True)
    columns = ["task", "set", "statistic", "metric", "options", "seed", "status"]
    pd.testing.assert_frame_equal(one.tasks[columns], other.tasks[columns])


def test_results_by_hand(serial, tmp_path):
    assert serial.signature == f"sweep|tasks:{N_TASKS}|done:{N_TASKS}|failed:0|mtmeta:{mm.__version__}"
    table = part(serial, "compare")
    chosen = table[(table["set_seed"] == 2) & (table["seed"] == 5)]
    expected = mm.compare(CAMPAIGN(seed=2), n_resamples=30, rng=5).table
    assert chosen[["value", "worst_rank"]].to_numpy().tolist() == expected[["value", "worst_rank"]].to_numpy().tolist()
    first = ["set", *(f"set_{name}" for name in (*SMALL, "seed")), "statistic", "seed", "metric", "value"]
    frame = serial.to_frame()
    assert frame.columns.tolist()[:8] == first
    assert set(frame["statistic"][frame["seed"].isna()]) == {"correlate", "human_tie_share"}
    assert frame["n_groups"].dtype == "Int64"
    assert_same(mm.sweep.run(PLAN, tmp_path / "out"), serial)
    back = pd.read_csv(tmp_path / "out" / "results.csv", dtype=str)
    assert back["value"].astype(float).tolist() == pytest.approx(frame["value"].tolist(), abs=0, nan_ok=True)


@pytest.mark.slow
def test_several_processes_give_the_same_numbers(serial):
    assert_same(mm.sweep.run(PLAN, n_jobs=2), serial)


def test_a_store_cut_anywhere_or_damaged_loses_only_that(tmp_path):
    plan = plan_of({"compare": {"n_resamples": 9}}, seeds=[0, 1, 2])
    whole = mm.sweep.run(plan, tmp_path)
    path = tmp_path / STORE
    stored = path.read_bytes()
    lines = stored.splitlines(keepends=True)
    cut = len(lines[0]) + 30
    for content, n in ((stored, 0), (stored[:cut], 2), (lines[0] + b"{}\n" + lines[2], 1), (b"", 3)):
        path.write_bytes(content)
        assert mm.sweep.tasks(plan, tmp_path)["status"].tolist().count("to do") == n
        again = mm.sweep.run(plan, tmp_path)
        assert_same(again, whole)
        assert (~again.tasks["resumed"]).sum() == n
        assert path.read_bytes().endswith(b"\n")
    assert mm.sweep.tasks({**plan, "seeds": [0, 3]}, tmp_path)["status"].tolist() == ["done", "to do"]


def test_a_failure_keeps_the_others_and_is_tried_again(table, tmp_path):
    asked = {"compare": {"n_resamples": 9, "method": ["exchange", "williams"]}}
    plan, out, seen = plan_of(asked, "expected_accuracy", sets=[str(table)]), tmp_path / "out", []
    result = mm.sweep.run(plan, out, progress=lambda *state: seen.append(state))
    assert result.tasks["status"].tolist() == ["done", "failed", "done"]
    assert "Williams' test is for Pearson correlations without grouping" in result.tasks["reason"][1]
    assert (seen[0], seen[-1]) == ((0, 0, 3), (3, 1, 3))
    assert mm.sweep.run(plan, out).tasks["resumed"].tolist() == [True, False, True]
    wrong = mm.sweep.run(plan_of({"compare": {"grouping": "segmnt"}}))
    assert "segmnt" in wrong.tasks["reason"][0]
    assert wrong.to_frame().empty


def test_a_folder_of_others_and_inputs_are_not_written_to(table, tmp_path):
    refuses("it is not empty and has no file results.jsonl", mm.sweep.run, PLAN, tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["mine.csv"]
    out = tmp_path / "out"
    mm.sweep.run(plan_of("expected_accuracy"), out)
    before = (out / "results.csv").write_bytes(table.read_bytes())
    refuses("input", mm.sweep.run, plan_of("expected_accuracy", sets=[str(out / "results.csv")]), out)
    assert (out / "results.csv").stat().st_size == before


YAML = """\
sets:
  - simulate: {seeds: [0, 1], n_systems: 5, n_segments: 24}
statistics:
  - correlate: {grouping: [segment, none]}
  - compare: {n_resamples: 20}
seeds: [0, 1, 2]
"""


@pytest.fixture
def command(command_line, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    Path("plan.yaml").write_text(YAML)
    return partial(command_line, "sweep", "plan.yaml")


def test_the_command(command):
    code, out, err = command("--dry-run", "--format", "json")
    assert (code, err, len(json.loads(out))) == (0, "10 tasks: 10 to do\n", 10)
    assert not Path("out").exists()
    code, out, err = command()
    assert code == 0
    assert [" ".join(line.split()[:5]) for line in out.splitlines()[3:]] == ["correlate 4 4 0 0", "compare 6 6 0 0"]
    signature = f"sweep|tasks:10|done:10|failed:0|mtmeta:{mm.__version__}"
    assert err.splitlines() == ["results: out/plan/results.csv", signature]
    Path("plan.yaml").write_text(YAML.replace("[0, 1, 2]", "[0, 3]"))
    assert command("--dry-run", "-o", "tasks.tsv") == (0, "", "8 tasks: 6 done, 2 to do\n")


def test_a_failure_has_its_reason_and_exit_code_1(command):
    Path("plan.yaml").write_text(YAML.replace("n_resamples: 20", "n_resamples: 20, method: [exchange, williams]"))
    code, _, err = command("--quiet")
    assert (code, err.count("mtmeta: error: "), err.count("Williams' test is for Pearson")) == (1, 6, 6)
