"""Sweeps: plans, tasks, the store, and the same numbers from every engine, whoever is killed."""

import os
import signal
import socket
import ssl
import sys
import time
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
import yaml
from campaigns import refuses
from pydantic import TypeAdapter

import mtmeta as mm
from mtmeta.sweep import _engines, _plan, _run, _sets, _store, _tasks
from mtmeta.sweep._statistics import STATISTICS

SMALL = {"n_systems": 5, "n_segments": 24, "n_continuous": 2, "n_discrete": 1}
ASKED = ["calibrate_ties", {"compare": {"n_resamples": 30}}, {"correlate": {"grouping": ["segment", "none"]}}]
PLAN = {"sets": [{"simulate": {"seeds": {"count": 4}, **SMALL}}], "statistics": ASKED, "seeds": [0, 5]}
N_TASKS = 4 * (3 + 2 + 2)


def plan_of(*statistics, sets=({"simulate": SMALL},), **rest) -> dict:
    return {"sets": list(sets), "statistics": list(statistics), **rest}


@pytest.fixture
def table(tmp_path) -> Path:
    path = tmp_path / "mine.csv"
    mm.simulate.score_campaign(**SMALL).to_frame().to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def serial() -> mm.sweep.Sweep:
    return mm.sweep.run(PLAN)


def combinations(*statistics, **rest) -> list[tuple]:
    return list(mm.sweep.read_plan(plan_of(*statistics, **rest)).combinations())


def test_example_is_a_plan():
    plan = mm.sweep.read_plan(yaml.safe_load(mm.sweep.EXAMPLE))
    assert (plan.sets[0], plan.sets[1].size) == (_plan.Loaded(name="teaching"), 6)
    assert [name for name, _ in plan.statistics] == ["correlate", "soft_pairwise_accuracy", "system_dependence"]


def test_combinations_by_hand():
    options = {"n_resamples": [10, 20], "ties": "half"}
    found = combinations({"soft_pairwise_accuracy": options}, "tie_area", seeds=[3, 4])
    drawn = [({"n_resamples": n, "ties": "half"}, seed) for n in (10, 20) for seed in (3, 4)]
    assert found == [*(("soft_pairwise_accuracy", *one) for one in drawn), ("tie_area", {}, None)]


@pytest.mark.parametrize(("statistic", "n"), [
    ({"compare": {"method": ["williams", "exchange"]}}, 3), ({"rank": {"n_resamples": [0, 10]}}, 3),
    ({"aggregate": {"how": ["corpus", "bootstrap"]}}, 3), ("aggregate", 1), ("human_tie_share", 1),
    ({"intervals": {"method": ["jackknife", "bootstrap"]}}, 3),
])  # fmt: skip
def test_only_what_draws_has_a_task_for_each_seed(statistic, n):
    assert len(combinations(statistic, seeds=[0, 1])) == n


def test_what_is_one_value_and_what_a_grid():
    plan = mm.sweep.read_plan(plan_of("tie_area", sets=[{"simulate": {"seeds": [7, 9], "n_systems": [3, 4]}}]))
    made = list(_plan.product(plan.sets[0].grid))
    assert made == [{"n_systems": n, "seed": seed} for n in (3, 4) for seed in (7, 9)]
    for value, expected in (([0, 0.5], [(0.0, 0.5)]), ([[0], [0.5, 0.25]], [(0.0,), (0.5, 0.25)])):
        found = combinations({"subsample_ties": {"shares": value}})
        assert [options["shares"] for _, options, _ in found] == expected


def asked(**options) -> dict:
    return plan_of({"compare": options})


def sets(entry) -> dict:
    return plan_of("tie_area", sets=[entry])


@pytest.mark.parametrize(("plan", "match"), [
    ({}, "sets: it is missing"),
    ({"sets": ["teaching"], "statistic": []}, "unknown key 'statistic'. Did you mean 'statistics'"),
    (plan_of(), r"statistics: it should have at least 1 item; found \[\]"),
    (asked(grouping="segmnt"), "compare.grouping: it should be 'none', .* found 'segmnt'"),
    (asked(grouping=False), r"found False \(a bare no, off or n"),
    (asked(grouping=["none", "none"]), "grouping: values must be distinct; found more than once: 'none'"),
    (asked(grouping=[]), r"grouping: it should have at least 1 item; found \[\]"),
    (plan_of({"correlate": {"epsilon": -1}}), "epsilon: expected a number of at least 0, 'calibrate' or 'published'"),
    (asked(n_resamples=10**9), "it should be less than or equal to 1000000; found 1000000000"),
    (asked(n_resamples=10**5000), "found a number of 16610 bits"),
    (asked(n_resamples=True), "it should be a valid integer; found True"),
    (asked(alpha=[0.1, 1]), r"alpha\[1\]: it should be less than 1; found 1"),
    (plan_of("tie_area", seeds={"first": 1}), "seeds.count: it is missing"),
    (plan_of("tie_area", seeds={"first": 2**32 - 1, "count": 2}), "seeds.*found 4294967296"),
    (sets({"missing": "nan"}), r"sets\[0\].name: it is missing"),
    (sets({"name": "x", "missing": "no"}), r"sets\[0\].missing: it should be 'raise' or 'nan'; found 'no'"),
    (sets({"simulate": {"texts": True}}), r"sets\[0\].simulate: unknown key 'texts'"),
])  # fmt: skip
def test_errors_of_plans(plan, match):
    with pytest.raises(ValueError, match=match) as error:
        _plan._plan(plan, Path.cwd())
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 1500


@pytest.mark.parametrize("plan", [
    plan_of("compare", seeds={"count": 100_000}, sets=["a", "b"]),
    plan_of("tie_area", sets=[{"simulate": {"seeds": {"count": 100_000}, "n_systems": [2, 3]}}]),
    plan_of({"compare": {"n_resamples": list(range(1, 5000)), "alpha": [k / 5000 for k in range(1, 5000)]}}),
])  # fmt: skip
def test_huge_products_are_refused_at_once(plan):
    start = time.perf_counter()
    refuses(r"the sweep would have [\d,]+ tasks or more; at most 100,000", mm.sweep.read_plan, plan)
    assert time.perf_counter() - start < 20  # some 10 ** 10 combinations would take hours


def test_metrics_count_towards_the_bound(monkeypatch):
    monkeypatch.setattr(_plan, "MAX_TASKS", 5)
    assert len(mm.sweep.tasks(plan_of("calibrate_ties"))) == 3
    with pytest.raises(ValueError, match="6 tasks or more"):
        mm.sweep.tasks(plan_of("calibrate_ties", sets=[{"simulate": {"seeds": [0, 1], **SMALL}}]))


def test_what_is_no_plan(tmp_path):
    refuses("list", mm.sweep.read_plan, [], error=TypeError)
    for path, match in ((tmp_path / "none.yaml", "No such file"), (tmp_path, "it is no regular file")):
        refuses(match, mm.sweep.read_plan, path)
    refuses("the cluster has its own number of workers", mm.sweep.run, PLAN, dask="tcp://127.0.0.1:9", n_jobs=2)


def words(kind) -> list[str]:
    """Return the words that an option may be."""
    schema = TypeAdapter(kind).json_schema()["items"]
    found = [word for one in schema.get("anyOf", [schema]) for word in one.get("enum", [])]
    return [word for word in found if isinstance(word, str)]


#: What an option goes with, where the default of another allows less.
BESIDE = {("rank", "ties"): {"protocol": "wmt24"}, ("compare", "unit"): {"method": "bootstrap"}}
BESIDE["compare_pairs", "unit"] = BESIDE["compare", "unit"]


def test_choices_are_those_of_the_functions():
    es = mm.simulate.score_campaign(**SMALL)
    for name, statistic in STATISTICS.items():
        for option, kind in statistic.options.items():
            if len(words(kind)) > 1 and name != "aggregate":  # its own checks come after those of the texts
                metrics = ("C01",) if statistic.metrics == "one" else None
                wrong = {option: "wrong"} | BESIDE.get((name, option), {})
                with pytest.raises(ValueError, match="wrong") as error:
                    statistic.compute(es, metrics, wrong, 0 if statistic.draws({}) else None)
                assert all(repr(word) in str(error.value) for word in words(kind) if word != "spa")


EXPECTED = {
    "correlate": ({"grouping": "none"}, lambda es: mm.correlate(es, grouping="none")),
    "pairwise_accuracy": ({}, mm.pairwise_accuracy),
    "soft_pairwise_accuracy": ({"n_resamples": 40}, lambda es: mm.soft_pairwise_accuracy(es, n_resamples=40, rng=3)),
    "compare": ({"n_resamples": 40}, lambda es: mm.compare(es, n_resamples=40, rng=3).table),
    "compare_pairs": ({"n_resamples": 40}, lambda es: mm.compare(es, n_resamples=40, rng=3).to_frame()),
    "intervals": ({"n_resamples": 40}, lambda es: mm.significance.intervals(es, n_resamples=40, rng=3)),
    "rank": ({"protocol": "wmt23", "n_resamples": 40},
             lambda es: mm.rank(es, protocol="wmt23", n_resamples=40, rng=3).table),
    "expected_accuracy": ({}, mm.ties.expected_accuracy),
    "tie_area": ({"grouping": "system"}, lambda es: mm.ties.tie_area(es, grouping="system")),
    "human_tie_share": ({}, lambda es: pd.DataFrame({"value": [mm.ties.human_tie_share(es)]})),
    "subsample_ties": ({"shares": [0.25], "n_resamples": 2},
                       lambda es: mm.ties.subsample_ties(es, shares=[0.25], n_resamples=2, rng=3)),
    "held_out_calibration": ({"shares": [0.25], "n_resamples": 2},
                             lambda es: mm.ties.held_out_calibration(es, shares=[0.25], n_resamples=2, rng=3)),
}  # fmt: skip


@pytest.mark.parametrize("name", EXPECTED)
def test_a_sweep_gives_what_the_function_gives(name):
    options, function = EXPECTED[name]
    result = mm.sweep.run(plan_of({name: options}, seeds=3))
    expected = function(mm.simulate.score_campaign(**SMALL))
    assert result.tasks["reason"].tolist() == [""]
    found = result.tables[name][list(expected.columns)]
    pd.testing.assert_frame_equal(found, expected, check_exact=True, check_dtype=False)


def test_one_metric_at_a_time():
    es, names = mm.simulate.score_campaign(**SMALL), ["D01", "C02"]
    few = [{name: {"n_resamples": 39}} for name in ("system_dependence", "expected_deviations", "compare_with_null")]
    tables = mm.sweep.run(plan_of("calibrate_ties", *few, seeds=3, metrics=names)).tables
    ties = [[m, mm.calibrate_ties(es, m).epsilon, mm.calibrate_ties(es, m).value] for m in names]
    assert tables["calibrate_ties"][["metric", "epsilon", "value"]].to_numpy().tolist() == ties
    sysdep = [mm.system_dependence(es, m, n_resamples=39, rng=3) for m in names]
    assert tables["system_dependence"]["sysdep"].tolist() == [s.sysdep for s in sysdep]
    deviations = np.concatenate([s.table["expected_deviation"] for s in sysdep])
    assert tables["expected_deviations"]["expected_deviation"].tolist() == deviations.tolist()
    null = [mm.sysdep.compare_with_null(es, m, n_resamples=39, rng=3) for m in names]
    expected = [[n.p_value, np.median(n.sysdep_draws)] for n in null]
    assert tables["compare_with_null"][["p_value", "null_median"]].to_numpy().tolist() == expected


def test_aggregate_reads_texts():
    simulate = {"kind": "campaign", "n_systems": 3, "n_segments": 10, "lexical": False}
    plan = plan_of({"aggregate": {"metric": ["bleu", "chrf"]}}, sets=[{"simulate": simulate}])
    es = mm.simulate.campaign(n_systems=3, n_segments=10, lexical=False, seed=0)
    found = mm.sweep.run(plan).tables["aggregate"]
    expected = pd.concat([mm.aggregation.aggregate(es, m).table for m in ("bleu", "chrf")])
    assert found["score"].tolist() == expected["score"].tolist()


def ids(plan) -> dict[tuple, str]:
    return {(t.statistic, t.metrics, t.seed): t.id for t in mm.sweep.tasks(plan)}


def test_ids_change_with_what_they_should_and_nothing_else(table, monkeypatch):
    plan = plan_of("calibrate_ties", "correlate", "human_tie_share", {"compare": {"n_resamples": 9}}, sets=[str(table)])
    before = ids(plan)
    assert len(set(before.values())) == len(before) == 3 + 1 + 1 + 1
    assert ids(plan) == before

    frame = pd.read_csv(table)
    frame.loc[0, "C02"] += 1
    frame.to_csv(table, index=False)
    after = ids(plan)
    changed = {("calibrate_ties", ("C02",), None), ("correlate", None, None), ("compare", None, 0)}
    assert {key for key in before if before[key] != after[key]} == changed  # human_tie_share reads no metric

    frame.assign(New=frame["C01"] ** 2).to_csv(table, index=False)
    more = ids(plan)
    everything = {key for key in after if key[:2] in (("correlate", None), ("compare", None))}
    assert {key for key in after if after[key] != more[key]} == everything
    assert set(more) - set(after) == {("calibrate_ties", ("New",), None)}
    monkeypatch.setattr(_tasks, "__version__", "9.9")
    assert not set(ids(plan).values()) & set(more.values())


def test_paths_are_relative_to_the_plan(table, tmp_path, monkeypatch):
    (tmp_path / "sub").mkdir()
    plan = table.parent / "plan.yaml"
    plan.write_text("sets: [mine.csv]\nstatistics: [tie_area]\n")
    monkeypatch.chdir(tmp_path / "sub")
    (task,) = mm.sweep.tasks(plan)
    assert task.source.label == "mine.csv"
    assert Path(task.source.name) == table


def test_tables_with_several_language_pairs(tmp_path):
    made = [mm.simulate.score_campaign(**SMALL, seed=k) for k in (0, 1)]
    frames = [es.to_frame().assign(lp=lp) for es, lp in zip(made, ("b-a", "a-b"), strict=True)]
    pd.concat(frames).to_csv(tmp_path / "two.csv", index=False)
    plan = plan_of("human_tie_share", sets=[str(tmp_path / "two.csv")])
    assert [task.source.label.rpartition("/")[2] for task in mm.sweep.tasks(plan)] == ["a-b", "b-a"]
    assert mm.sweep.run(plan).to_frame()["value"].tolist() == [mm.ties.human_tie_share(es) for es in made[::-1]]


@pytest.mark.parametrize(("plan", "match"), [
    (plan_of("tie_area", sets=["teachin"]), "unknown set 'teachin'.* Did you mean 'teaching'"),
    (plan_of("tie_area", metrics=["C1"]), r"set 'simulated scores \(.*\)': unknown metric 'C1'. Did you mean 'C01'"),
    (plan_of("tie_area", "tie_area"), "statistic 'tie_area': {} is asked for twice"),
    (plan_of("tie_area", sets=["teaching", "teaching"]), "set 'teaching', .* is asked for twice"),
    (plan_of("tie_area", sets=["teaching-ranking"]), "ranked items"),
])  # fmt: skip
def test_errors_of_tasks(plan, match):
    refuses(match, mm.sweep.tasks, plan, error=(ValueError, TypeError))


@pytest.mark.data
def test_a_name_stands_for_all_its_language_pairs(data_dir):
    made = mm.sweep.tasks(plan_of("human_tie_share", sets=["ted", {"name": "wmt23/he-en", "reference": "refA"}]))
    assert [task.source.label for task in made] == ["ted/en-de", "ted/zh-en", "wmt23/he-en (reference=refA)"]
    assert [task.source.name for task in made] == ["ted/en-de", "ted/zh-en", "wmt23/he-en"]


def test_a_file_that_changes_while_the_sweep_runs_fails_the_task(table):
    (task,) = mm.sweep.tasks(plan_of("tie_area", sets=[str(table)]))
    assert _tasks.perform(task)["status"] == "done"
    pd.read_csv(table).assign(human=lambda frame: frame["human"] * 2).to_csv(table, index=False)
    _sets.forget()
    outcome = _tasks.perform(task)
    assert outcome["status"] == "failed"
    assert "the data are not those that the sweep was planned with" in outcome["reason"]


def outcome(value: float) -> dict:
    return {"status": "done", "seconds": 0.1, "columns": ["metric", "value"], "rows": [["é\n", value], ["b", None]]}


def filled(folder: Path, n: int = 3) -> bytes:
    with _store.opened(folder) as store:
        for k in range(n):
            store.append(f"task{k}", outcome(k / 3), {"set": "s"})
    return (folder / _store.STORE).read_bytes()


@pytest.mark.parametrize("value", [1 / 3, 5e-324, 1.7976931348623157e308, -0.0, 2**53 + 1])
def test_numbers_come_back_exactly(tmp_path, value):
    with _store.opened(tmp_path) as store:
        store.append("k", outcome(value), {})
    assert repr(_store.read(tmp_path)[0].outcomes["k"]["rows"][0][1]) == repr(value)


def test_a_store_cut_anywhere_loses_only_what_was_cut(tmp_path):
    whole = filled(tmp_path)
    ends = [k + 1 for k, byte in enumerate(whole) if byte == ord("\n")]
    path = tmp_path / _store.STORE
    for cut in range(len(whole) + 1):
        path.write_bytes(whole[:cut])
        with _store.opened(tmp_path) as store:
            n = sum(end <= cut for end in ends)
            assert (list(store.outcomes), store.damaged) == ([f"task{k}" for k in range(n)], 0)
            for k in range(n, 3):
                store.append(f"task{k}", outcome(k / 3), {"set": "s"})
        assert path.read_bytes() == whole


def test_a_damaged_line_counts_as_not_done(tmp_path):
    lines = filled(tmp_path).splitlines(keepends=True)
    path, short = tmp_path / _store.STORE, lines[1].replace(b'["b", null]', b'["b"]')
    for damage in (b"\0" * 50 + b"\n", lines[1][:20] + b"\n", b"[]\n", b"{}\n", short):
        path.write_bytes(lines[0] + damage + lines[2])
        with _store.opened(tmp_path) as store:
            assert (list(store.outcomes), store.damaged) == (["task0", "task2"], 1)


def test_a_folder_of_others_is_not_written_to(tmp_path):
    (tmp_path / "tasks.csv").write_text("of others")
    refuses(r"holds tasks.csv, which no sweep has made", mm.sweep.run, PLAN, tmp_path)
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("tasks.csv", "of others")]
    assert len(mm.sweep.run(plan_of("tie_area"), tmp_path, force=True).tasks) == 1
    assert len(mm.sweep.run(plan_of("tie_area"), tmp_path).tasks) == 1  # from now on it is one of a sweep


@pytest.mark.parametrize("name", [_store.STORE, *_store.TABLES])
@pytest.mark.parametrize("role", ["plan", "set"])
def test_what_a_sweep_reads_is_not_replaced(tmp_path, name, role):
    plan = tmp_path / (name if role == "plan" else "plan.yaml")
    (tmp_path / name).write_text("mine")
    plan.write_text(f"sets: [{'teaching' if role == 'plan' else name}]\nstatistics: [correlate]\n")
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    refuses("no input is replaced", mm.sweep.run, plan, tmp_path, force=True)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_serial_by_hand(serial):
    assert len(serial.tasks) == N_TASKS
    assert serial.signature == f"sweep|tasks:{N_TASKS}|done:{N_TASKS}|failed:0|mtmeta:{mm.__version__}"
    table = serial.tables["compare"]
    es = mm.simulate.score_campaign(**SMALL, seed=2)
    chosen = table[(table["set_seed"] == 2) & (table["seed"] == 5)]
    expected = mm.compare(es, n_resamples=30, rng=5).table
    assert chosen[["value", "worst_rank"]].to_numpy().tolist() == expected[["value", "worst_rank"]].to_numpy().tolist()
    first = ["set", *(f"set_{name}" for name in (*SMALL, "seed")), "metric", "coefficient", "grouping"]
    assert serial.tables["correlate"].columns.tolist()[:9] == first
    frame = serial.to_frame()
    assert len(frame) == sum(map(len, serial.tables.values()))
    assert frame["seed"].isna().sum() == sum(len(serial.tables[name]) for name in ("correlate", "calibrate_ties"))
    assert frame["n_groups"].dtype == "Int64"


def assert_same(one: mm.sweep.Sweep, other: mm.sweep.Sweep) -> None:
    """Assert that every number is the same, to the last bit."""
    assert one.tables.keys() == other.tables.keys()
    for name, frame in one.tables.items():
        pd.testing.assert_frame_equal(frame, other.tables[name], check_exact=True)
    columns = ["task", "set", "statistic", "metric", "options", "seed", "status"]
    pd.testing.assert_frame_equal(one.tasks[columns], other.tasks[columns])


def test_a_rerun_does_nothing_and_a_longer_plan_the_rest(tmp_path, monkeypatch):
    plan = plan_of({"compare": {"n_resamples": 9}}, seeds=[0, 1])
    first = mm.sweep.run(plan, tmp_path)
    store = (tmp_path / _store.STORE).read_bytes()
    done = []

    def engine(tasks, n_jobs):
        return iter(done.append(t.seed) or (k, _tasks.perform(t)) for k, t in enumerate(tasks))

    monkeypatch.setattr(_run, "engine", engine)
    again = mm.sweep.run(plan, tmp_path)
    assert_same(first, again)
    assert again.tasks["resumed"].all()
    assert not first.tasks["resumed"].any()
    assert (done, (tmp_path / _store.STORE).read_bytes()) == ([], store)
    mm.sweep.run({**plan, "seeds": [0, 1, 2]}, tmp_path)
    assert done == [2]
    assert mm.sweep.listed({**plan, "seeds": [0, 3]}, tmp_path)["status"].tolist() == ["done", "to do"]


def test_files_at_the_end(tmp_path, serial):
    mm.sweep.run(PLAN, tmp_path)
    assert sorted(p.name for p in tmp_path.iterdir()) == [".mtmeta-sweep", "results.csv", "results.jsonl", "tasks.csv"]
    back = pd.read_csv(tmp_path / "results.csv", dtype=str)  # pandas before 3.1 reads numbers a bit off
    expected = serial.to_frame()["value"].tolist()
    assert back["value"].astype(float).tolist() == pytest.approx(expected, abs=0, nan_ok=True)
    assert pd.read_csv(tmp_path / "tasks.csv")["task"].tolist() == serial.tasks["task"].tolist()


def test_a_failure_keeps_the_others_and_is_tried_again(table, tmp_path):
    asked = {"compare": {"n_resamples": 9, "method": ["exchange", "williams"]}}
    plan, out, seen = plan_of(asked, "tie_area", sets=[str(table)]), tmp_path / "out", []
    result = mm.sweep.run(plan, out, progress=seen.append)
    assert result.tasks["status"].tolist() == ["done", "failed", "done"]
    assert "Williams' test is for Pearson correlations without grouping" in result.tasks["reason"][1]
    assert (seen[0].done, seen[-1].done, seen[-1].failed, seen[-1].total, seen[-1].seconds_left) == (0, 3, 1, 3, 0)
    assert [p.failed for p in seen] == [0, 0, 1, 1]
    again = mm.sweep.run(plan, out)
    assert again.tasks["resumed"].tolist() == [True, False, True]
    assert len((out / _store.STORE).read_text().splitlines()) == 4


def test_a_bug_or_another_version_fails_its_task_alone(monkeypatch):
    (task,) = mm.sweep.tasks(plan_of("tie_area"))
    with monkeypatch.context() as patch:
        patch.setattr(_sets, "checked", {}.__getitem__)
        result = mm.sweep.run(plan_of("tie_area"))
    assert result.tasks["reason"].str.startswith("TypeError: ").tolist() == [True]
    assert result.to_frame().empty
    monkeypatch.setattr(_tasks, "__version__", "9.9")
    reason = f"this process has mtmeta 9.9; the sweep was planned with {mm.__version__}."
    assert _tasks.perform(task)["reason"] == reason


@pytest.mark.parametrize("package", ["distributed", "cryptography"])
def test_without_dask(monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    refuses(r"Dask, or what it needs, is not installed.*mtmeta\[sweep\]", mm.sweep.run, PLAN, dask="local")


def deadly(marker: Path):
    """Return a stand-in for `perform` that kills its process on the calibration of C02, seed 1; noted in a file."""
    marker = str(marker)

    def perform(task, n_threads=None):
        import os
        import signal

        from mtmeta.sweep import _tasks

        if task.metrics == ("C02",) and dict(task.source.options)["seed"] == 1:
            with open(marker, "a") as stream:
                stream.write("x")
            os.kill(os.getpid(), signal.SIGKILL)
        return _tasks.perform(task, n_threads)

    return perform


@pytest.fixture(scope="module")
def cluster():
    import dask
    from distributed import LocalCluster

    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": "127.0.0.1:0"}
    once = dask.config.set({"distributed.scheduler.allowed-failures": 1})
    with once, LocalCluster(**options, silence_logs=50) as made:
        yield made


@pytest.mark.slow
def test_dask_gives_the_same_numbers_though_a_worker_is_killed(serial, cluster, tmp_path):
    import distributed

    killed = []

    def progress(state):
        if state.done >= 5 and not killed:
            killed.append(next(iter(cluster.workers.values())).pid)
            os.kill(killed[0], signal.SIGKILL)

    assert_same(mm.sweep.run(PLAN, tmp_path, dask=cluster.scheduler_address, progress=progress), serial)
    assert len(killed) == 1
    with distributed.Client(cluster) as client:  # the reader's own backend, without the option
        client.wait_for_workers(2)
        with joblib.parallel_config("dask", client=client):
            assert_same(mm.sweep.run(PLAN), serial)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["processes", "dask"])
def test_a_task_that_kills_its_process_fails_alone(serial, cluster, tmp_path, monkeypatch, engine):
    monkeypatch.setattr(_engines, "perform", deadly(tmp_path / "deaths"))
    options = {"n_jobs": 2} if engine == "processes" else {"dask": cluster.scheduler_address}
    result = mm.sweep.run(PLAN, tmp_path, **options)
    (failed,) = result.tasks.query("status == 'failed'").itertuples()
    assert (failed.metric, "seed=1" in failed.set) == ("C02", True)
    assert "its process was killed, even when it ran alone" in failed.reason
    for name in ("correlate", "compare"):
        pd.testing.assert_frame_equal(result.tables[name], serial.tables[name], check_exact=True)
    if engine == "processes":
        assert (tmp_path / "deaths").read_text() == "xx"
    monkeypatch.undo()
    assert_same(mm.sweep.run(PLAN, tmp_path), serial)


def listening() -> set:
    """Return the addresses that this process and those it started listen at."""
    import psutil

    processes = [psutil.Process(), *psutil.Process().children(recursive=True)]
    return {c.laddr for p in processes for c in p.net_connections("inet") if c.status == "LISTEN"}


@pytest.mark.slow
def test_a_local_dask_cluster_gives_the_same_and_listens_to_nobody_else(serial):
    assert_same(mm.sweep.run(PLAN, dask="local", n_jobs=2), serial)
    before = listening()
    stranger = ssl.create_default_context()
    stranger.check_hostname, stranger.verify_mode = False, ssl.CERT_NONE
    refused = 0
    with _engines.dask_backend("local", 1) as client:
        assert client.submit(os.getpid).result() != os.getpid()
        for address in listening() - before:
            assert address.ip == "127.0.0.1"
            try:
                with socket.create_connection(address, 20) as plain:
                    plain.sendall(b"GET /info/main/workers.html HTTP/1.0\r\n\r\n")
                    assert plain.recv(99).startswith(b"HTTP/1.1 404")  # a page, if any, that is not there
            except ConnectionError:
                refused += 1
                with (
                    pytest.raises(OSError, match=r"(?i)certificate required|reset|eof|handshake"),
                    socket.create_connection(address, 20) as raw,
                    stranger.wrap_socket(raw) as secret,
                ):
                    secret.recv(99)
    assert refused >= 3  # scheduler, worker, nanny


@pytest.mark.slow
def test_no_scheduler_answers():
    import dask

    quick = dask.config.set({"distributed.comm.timeouts.connect": 1})
    with quick, pytest.raises(ConnectionError, match=r"no Dask scheduler answers at 'tcp://127\.0\.0\.1:9'"):
        mm.sweep.run(PLAN, dask="tcp://127.0.0.1:9")
