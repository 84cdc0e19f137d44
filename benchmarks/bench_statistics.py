"""Speed and memory of the statistics, on simulated data of the size of WMT23 zh-en.

    make bench

15 systems x 1177 segments, 30 metrics (27 continuous, 3 discrete), human scores tied in about 23 %
of the pairs within a segment. The first call of a compiled kernel compiles it (or reads it from the
cache), so each job is warmed up first; `test_first_call` measures that call in a fresh process
with an empty cache. `benchmarks/table.py` turns the results into RESULTS.md.
"""

import os
import subprocess
import sys
import time
import tracemalloc

import numpy as np
import pytest
from scores import score_campaign

import mtmeta as mm

ROUNDS = 3


@pytest.fixture(scope="module")
def es():
    made = score_campaign(15, 1177, n_continuous=27, n_discrete=3)
    assert made.shape == (15, 1177)
    assert len(made.metrics) == 30
    return made


@pytest.mark.job("Pearson + Kendall, three groupings, 30 metrics", "<= 1 s")
def test_correlations(es, timed):
    options = [(c, g) for c in ("pearson", "kendall") for g in mm.agreement.GROUPINGS]
    timed(lambda: [mm.correlate(es, coefficient=c, grouping=g) for c, g in options])


@pytest.mark.job("acc_eq, exact calibration, segment grouping, 30 metrics", "<= 0.5 s")
def test_acc_eq(es, timed):
    timed(lambda: mm.correlate(es, coefficient="acc_eq"))


@pytest.mark.job("SPA, 30 metrics", "<= 0.1 s")
def test_spa(es, timed):
    timed(lambda: mm.soft_pairwise_accuracy(es))


@pytest.mark.job("435-pair matrix, 1,000 draws, Pearson, no grouping", "<= 5 s")
def test_permutation_pearson_none(es, timed):
    timed(lambda: mm.compare(es, grouping="none"))


@pytest.mark.job("435-pair matrix, 1,000 draws, Pearson, segment grouping", "<= 20 s")
def test_permutation_pearson_segment(es, timed):
    timed(lambda: mm.compare(es))


@pytest.mark.job("435-pair matrix, 1,000 draws, Kendall, segment grouping", "<= 60 s")
def test_permutation_kendall_segment(es, timed):
    timed(lambda: mm.compare(es, coefficient="kendall"), rounds=1, warm_up=True)


@pytest.mark.job("clusters of 30 metrics, 1,000 draws, Kendall, no grouping", "<= 20 s")
def test_clusters_kendall_none(es, timed):
    timed(lambda: mm.compare(es, coefficient="kendall", grouping="none", pairs="clusters"), rounds=1, warm_up=True)


@pytest.mark.job("435-pair matrix, acc_eq pair swap, exact", "<= 3 s")
def test_pair_swap_exact(es, timed):
    timed(lambda: mm.compare(es, coefficient="acc_eq"))


@pytest.mark.job("435-pair matrix, acc_eq pair swap, 1,000 draws", "<= 20 s")
def test_pair_swap_draws(es, timed):
    timed(lambda: mm.compare(es, coefficient="acc_eq", method="pair-swap"))


@pytest.mark.job("435-pair matrix, 1,000 draws, SPA", "<= 120 s")
def test_permutation_spa(es, timed):
    mm.compare(es, es.metrics[:2], coefficient="spa", n_resamples=2)
    timed(lambda: mm.compare(es, coefficient="spa"), rounds=1, warm_up=False)


@pytest.mark.job("first call of each kernel, empty cache", "<= 10 s")
def test_first_call(timed, tmp_path, benchmark):
    code = (
        "import time, numpy as np, mtmeta as mm; r = np.random.default_rng(0); h = -r.integers(0, 4, (3, 5)) * 1.0;"
        "es = mm.EvalSet(h, {'a': r.random((3, 5)), 'b': r.random((3, 5))}, systems='ABC'); t = time.perf_counter();"
        "mm.correlate(es, coefficient='acc_eq'); mm.correlate(es, coefficient='spearman');"
        "mm.compare(es, n_resamples=2); mm.compare(es, coefficient='kendall', n_resamples=2);"
        "mm.compare(es, coefficient='spa', n_resamples=2); print(time.perf_counter() - t)"
    )
    folders = iter(range(10))

    def cold():
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / str(next(folders)))}
        done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, env=environment)
        benchmark.extra_info["seconds"] = float(done.stdout)  # without the start of Python and the imports

    timed(cold, rounds=1, warm_up=False)


BASE = {"n_systems": 15, "n_segments": 400, "metrics": 10, "draws": 1000}
RANGES = {
    "n_systems": [5, 10, 20, 50],
    "n_segments": [100, 1000, 10_000, 100_000],
    "metrics": [2, 10, 50, 200],
    "draws": [100, 1000, 10_000, 100_000],
}


def growth_jobs(size):
    """Return the jobs of one size by name."""
    rng = np.random.default_rng(0)
    human = -rng.integers(0, 6, (size["n_systems"], size["n_segments"])).astype(float)
    scores = {f"m{k}": human + rng.normal(scale=2, size=human.shape) for k in range(size["metrics"])}
    es = mm.EvalSet(human, scores, systems=[f"S{i}" for i in range(size["n_systems"])])
    jobs = {
        "correlate, Kendall, segment": lambda: mm.correlate(es, coefficient="kendall"),
        "correlate, acc_eq, segment": lambda: mm.correlate(es, coefficient="acc_eq"),
    }
    if size["draws"] * size["n_segments"] * size["metrics"] <= 1e9:
        jobs["compare, Pearson, no grouping"] = lambda: mm.compare(es, grouping="none", n_resamples=size["draws"])
    return jobs


def test_growth(benchmark):
    """Time and memory against size, one variable at a time: the figure of the speed page."""
    for job in growth_jobs(BASE).values():
        job()
    rows = []
    for variable, values in RANGES.items():
        for value in values:
            for name, job in growth_jobs(BASE | {variable: value}).items():
                if variable == "draws" and not name.startswith("compare"):
                    continue
                start = time.perf_counter()
                job()
                seconds = time.perf_counter() - start
                tracemalloc.start()
                job()
                rows.append((variable, value, name, seconds, tracemalloc.get_traced_memory()[1] / 2**20))
                tracemalloc.stop()
    benchmark.extra_info |= {"growth": rows, "base": BASE}
    benchmark.pedantic(lambda: None)
