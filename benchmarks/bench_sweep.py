"""Cost of a sweep beside the statistics that it computes: planning, and handing tasks to processes.

make bench
"""

import pytest

import mtmeta as mm

SETS = [{"simulate": {"seeds": {"count": 20}, "n_systems": 8, "n_segments": 50}}]
PLAN = {
    "sets": SETS,
    "statistics": [
        {"correlate": {"coefficient": ["pearson", "kendall"], "grouping": ["segment", "none"]}},
        "expected_accuracy",
    ],
}
LARGE = {"sets": SETS, "statistics": [{"compare": {"n_resamples": 100}}], "seeds": {"count": 500}}
ROUNDS = 3


@pytest.mark.job("list the 10,000 tasks of a plan", "none")
def test_plan(timed):
    assert len(timed(lambda: mm.sweep.tasks(LARGE))) == 10_000


@pytest.mark.job("sweep of 100 small tasks, one process", "none")
def test_serial(timed):
    mm.sweep.run(PLAN)
    assert len(timed(lambda: mm.sweep.run(PLAN)).tasks) == 100


@pytest.mark.job("sweep of 100 small tasks, two processes, their start included", "none (for comparison)")
def test_processes(timed):
    assert len(timed(lambda: mm.sweep.run(PLAN, n_jobs=2), 1).tasks) == 100


@pytest.mark.job("the same sweep, all done before", "none (for comparison)")
def test_resume(timed, tmp_path):
    mm.sweep.run(PLAN, tmp_path)
    assert timed(lambda: mm.sweep.run(PLAN, tmp_path)).tasks["resumed"].all()
