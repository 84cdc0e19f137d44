"""The command `mtmeta sweep`: what it prints, what it writes, and how it fails."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pandas as pd
import pytest
from test_fetch import Terminal
from test_processes import until

import mtmeta as mm
from mtmeta.cli import _sweep

PLAN = """\
sets:
  - simulate: {seeds: [0, 1], n_systems: 5, n_segments: 24, n_continuous: 2, n_discrete: 1}
statistics:
  - correlate: {grouping: [segment, none]}
  - compare: {n_resamples: 20}
seeds: [0, 1, 2]
"""


@pytest.fixture
def run(command_line, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    return partial(command_line, "sweep")


@pytest.fixture
def plan(tmp_path) -> Path:
    path = tmp_path / "plan.yaml"
    path.write_text(PLAN)
    return path


def test_the_book_shows_the_example():
    page = (Path(__file__).parents[1] / "book" / "how_to_use.md").read_text(encoding="utf-8")
    assert f"```yaml\n{mm.sweep.EXAMPLE}```" in page


def test_results_and_messages(run, plan):
    code, out, err = run(plan)
    assert code == 0
    assert [" ".join(line.split()[:5]) for line in out.splitlines()[3:]] == ["correlate 4 4 0 0", "compare 6 6 0 0"]
    on_the_way = re.compile(r"[1-9] of 10 tasks, ")  # where the machine is slow
    assert [line for line in err.splitlines() if not on_the_way.match(line)] == [
        "10 tasks, 0 of them done before",
        "10 of 10 tasks, 0 failed, 00:00 left",
        "results: out/plan/results.csv",
        f"sweep|tasks:10|done:10|failed:0|mtmeta:{mm.__version__}",
    ]
    frame, expected = pd.read_csv("out/plan/results.csv", converters={"value": float}), mm.sweep.run(plan).to_frame()
    assert (list(frame), frame["value"].tolist()) == (list(expected), expected["value"].tolist())


def test_damaged_lines_are_counted(run, plan):
    run(plan, "--quiet")
    store = Path("out/plan/results.jsonl")
    lines = store.read_text().splitlines(keepends=True)
    store.write_text("".join([lines[0][:30] + "\n", *lines[1:]]))
    code, out, err = run(plan, "--format", "json")
    said = "1 lines of out/plan/results.jsonl were damaged"
    assert (code, json.loads(out)[0]["ran"], said in err) == (0, 1, True)


def test_dry_run_lists_and_does_nothing(run, plan, tmp_path):
    code, out, err = run(plan, "--dry-run", "--format", "json")
    assert (code, err) == (0, "10 tasks: 10 to do\n")
    rows = json.loads(out)
    assert len({row["task"] for row in rows}) == 10
    assert [row["seed"] for row in rows[:5]] == [None, None, 0, 1, 2]
    assert [p.name for p in tmp_path.iterdir()] == ["plan.yaml"]
    run(plan, "--quiet")
    plan.write_text(PLAN.replace("[0, 1, 2]", "[0, 3]"))
    assert run(plan, "--dry-run", "--output", "tasks.tsv") == (0, "", "8 tasks: 6 done, 2 to do\n")
    assert len(pd.read_csv("tasks.tsv", sep="\t")) == 8


def test_a_failure_has_its_reason_and_exit_code_1(run, plan, monkeypatch):
    plan.write_text(PLAN.replace("n_resamples: 20", "n_resamples: 20, method: [exchange, williams]"))
    code, out, err = run(plan, "--quiet")
    assert code == 1
    assert [" ".join(line.split()[:5]) for line in out.splitlines()[3:]] == ["correlate 4 4 0 0", "compare 8 6 0 2"]
    said = r"mtmeta: error: simulated scores .* compare \{.*\}: Williams' test is for Pearson .*"
    assert [bool(re.fullmatch(said, line)) for line in err.splitlines()] == [True, True]
    assert len(pd.read_csv("out/plan/results.csv")) == 4 * 3 + 6 * 3
    monkeypatch.setattr(_sweep, "_REASONS_SHOWN", 1)
    _, _, err = run(plan, "--quiet")
    assert err.splitlines()[1:] == ["mtmeta: error: 2 tasks failed; all reasons are in out/plan/tasks.csv"]


def test_a_plan_with_a_set_that_is_not_there_writes_nothing(run, plan):
    plan.write_text("sets: [gone.csv]\nstatistics: [correlate]\n")
    code, out, err = run(plan)
    assert (code, out, len(err.splitlines())) == (1, "", 1)
    assert re.match("mtmeta: error: .*there is no file gone.csv", err)
    assert not Path("out").exists()


def test_bar_on_a_terminal(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with _sweep._shown(False) as show:
        show(mm.sweep.Progress(2, 0, 10, float("nan")))
        for n in range(3, 11):
            time.sleep(0.02)
            show(mm.sweep.Progress(n, 1, 10, 0.1))
    for shown in ("2/10", "failed=1", r"\[\d\d:\d\d<\d\d:\d\d"):  # the last: time gone, time left
        assert re.search(shown, terminal.getvalue())


@pytest.mark.slow
@pytest.mark.parametrize("engine", [[], ["--dask", "local"]])
def test_an_interrupt_ends_it_quietly(run, plan, tmp_path, engine):
    plan.write_text(PLAN.replace("[0, 1, 2]", "{count: 1000}"))
    store = tmp_path / "out" / "plan" / "results.jsonl"
    command = [sys.executable, "-m", "mtmeta", "sweep", "plan.yaml", "--jobs", "2", "--quiet", *engine]
    sweeping = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, start_new_session=True)
    until(lambda: store.exists() and store.read_bytes().count(b"\n") >= 20)
    os.killpg(sweeping.pid, signal.SIGINT)
    _, err = sweeping.communicate(timeout=120)
    assert (sweeping.returncode, err) == (130, "mtmeta: interrupted\n")
    assert 20 <= store.read_bytes().count(b"\n") < 2004


@pytest.mark.slow
def test_scheduler_elsewhere_lost_in_the_middle_then_a_rerun(run, plan, tmp_path):
    plan.write_text(PLAN.replace("[0, 1, 2]", "{count: 150}"))
    file, store = tmp_path / "scheduler.json", tmp_path / "out" / "plan" / "results.jsonl"

    def started(line):
        command = [sys.executable, "-m", *line.split(), "--dashboard-address", ":0"]
        return subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.DEVNULL)

    scheduler = started(f"distributed.cli.dask_scheduler --host 127.0.0.1 --port 0 --scheduler-file {file}")
    until(file.exists)
    address = json.loads(file.read_text())["address"]
    worker = started(f"distributed.cli.dask_worker {address} --nworkers 2 --nthreads 1 --death-timeout 20")
    command = [sys.executable, "-m", "mtmeta", "sweep", "plan.yaml", "--dask", address, "--quiet"]
    sweeping = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        until(lambda: store.exists() and store.read_bytes().count(b"\n") >= 20)
        scheduler.send_signal(signal.SIGKILL)
        _, err = sweeping.communicate(timeout=120)
    finally:
        for process in (scheduler, worker, sweeping):
            process.kill()
            process.wait()
    said = "mtmeta: error: the Dask scheduler is lost. What was done is stored; run again to go on."
    assert (sweeping.returncode, err.splitlines()[-1]) == (1, said)
    n_before = store.read_bytes().count(b"\n")
    assert 20 <= n_before < 304
    code, out, _ = run(plan, "--quiet", "--format", "json")
    assert (code, sum(row["done before"] for row in json.loads(out))) == (0, n_before)
    found = pd.read_csv(tmp_path / "out/plan/results.csv", usecols=["seed", "metric", "value"])
    expected = mm.sweep.run(plan).to_frame()[["seed", "metric", "value"]].astype({"seed": "float64"})
    pd.testing.assert_frame_equal(found, expected, check_exact=True, check_dtype=False)
