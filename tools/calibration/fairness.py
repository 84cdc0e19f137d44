"""Measure how often `favours` finds favours of metrics that are fair but bent, and write the table of the page.

python tools/calibration/fairness.py [--campaigns 50] [--jobs 1]
"""

import argparse
import time
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from measure import binomial_interval

import mtmeta as mm
from mtmeta import sysdep

SEED, N_RESAMPLES, ALPHA = 35, 199, 0.05
#: What a metric makes of the quality q, of "any major error" and of the number of source characters.
SHAPES = {
    "quality itself": lambda q, major, length: q,
    "capped at −5": lambda q, major, length: np.maximum(q, -5),
    "exp(q / 3)": lambda q, major, length: np.exp(q / 3),
    "any major error": lambda q, major, length: -major.astype(float),
    "log(1 + errors)": lambda q, major, length: -np.log1p(-q),
    "errors per source character": lambda q, major, length: q / length,
}
#: Points that a favour gives to one system, of a metric that is the quality otherwise.
PLANTED = {"quality, 1 point planted": 1.0, "quality, 2 points planted": 2.0}
COVARIATE = "errors per source character"


def teaching(seed: int) -> tuple[mm.EvalSet, np.ndarray, np.ndarray, np.ndarray]:
    """Return a campaign like the teaching one, rated twice; the quality, major errors and lengths of sources."""
    es = mm.simulate.rate_again(mm.simulate.campaign(texts=False, seed=seed), 1, seed=seed)
    errors = pd.DataFrame(es.truth["errors"]).query("severity == 'major'")
    at = es.systems.index, es.segments.index
    major = np.zeros(es.shape, bool)
    major[errors["system"].map(at[0]), errors["segment"].map(at[1])] = True
    sentences = mm.simulate._campaign.drawn(seed, es.shape[1])[0]
    return es, -np.asarray(es.truth["penalty"]), major, np.array([len(one.source) for one in sentences])


def counted(seed: int) -> tuple[mm.EvalSet, np.ndarray, np.ndarray, np.ndarray]:
    """Return the same of counted errors: 12 systems far apart, sources of very different lengths, two strict raters.

    Each of the 1 to 4 errors in 100 characters is found by a rater with probability .7, and is major in one of four.
    """
    rng = np.random.default_rng(seed)
    length = np.exp(rng.normal(4.3, 0.7, 300)).clip(10)
    hard = rng.gamma(4, 0.25, 300)
    rates = np.linspace(0.01, 0.04, 12)[:, None] * length * hard
    minor, major = rng.poisson(0.75 * rates), rng.poisson(0.25 * rates)
    ratings = [-(rng.binomial(minor, 0.7) + 5 * rng.binomial(major, 0.7) + rng.poisson(0.2, minor.shape)) for _ in "ab"]
    first, second = (rating.astype(float) for rating in ratings)
    es = mm.EvalSet(first, {"human_2": second}, systems=[f"S{k:02}" for k in range(12)])
    return es, -(minor + 5.0 * major), major > 0, length


CAMPAIGNS = {"like the teaching one": teaching, "counted errors": counted}


def one(kind: str, number: int) -> list[dict]:
    """Ask of each metric of one campaign whom it favours."""
    es, q, major, length = CAMPAIGNS[kind](1000 * SEED + number)
    scores = {name: shape(q, major, length) for name, shape in SHAPES.items()}
    middle = np.argsort(q.mean(axis=1))[len(q) // 2]
    scores |= {name: q + points * (np.arange(len(q)) == middle)[:, None] for name, points in PLANTED.items()}
    es = es.with_metrics({"human_2": es["human_2"], **scores})
    rows = []
    for name in scores:
        for covariate in (None, np.log(length)) if name == COVARIATE else (None,):
            given = () if covariate is None else [covariate]
            options = {"covariates": given, "n_metrics": len(SHAPES), "n_resamples": N_RESAMPLES, "rng": number}
            found = sysdep.favours(es, name, **options)
            table = found.table.set_index("system")
            worst = table["p_value"].idxmin()
            rows.append({
                "campaigns": kind, "metric": name + ", log length given" * bool(given),
                "line": table["p_line"].min() <= ALPHA, "quadratic": table["p_quadratic"].min() <= ALPHA,
                "cubic": table["p_cubic"].min() <= ALPHA, "all three": found.p_value <= ALPHA,
                "verdict": table["verdict"].isin(["favoured", "slighted"]).any(),
                "no curve fits": max(found.fit.values()) <= ALPHA,
                "points": abs(table.loc[worst, "favour"]), "turned": table.loc[worst, "turned"],
            })  # fmt: skip
    return rows


def written(found: pd.DataFrame, seconds: float) -> str:
    """Return the page: rates with intervals, and the median size of the largest favour."""
    lines = [
        "Written by `python tools/calibration/fairness.py`; do not edit.\n",
        f"Seed {SEED}, {N_RESAMPLES} resamples; verdicts for six metrics at once; "
        f"{seconds / 60:.0f} minutes of a core.",
    ]
    shares = ["quadratic", "line", "cubic", "all three", "verdict", "no curve fits"]
    for kind, part in found.groupby("campaigns", sort=False):
        n = part.groupby("metric").size().max()
        lines += [f"\n**Campaigns {kind}**, n = {n}\n", "| metric | " + " | ".join(shares) + " | points | pairs |"]
        lines += ["|" + " --- |" * (len(shares) + 3)]
        for name, rows in part.groupby("metric", sort=False):
            cells = []
            for share in shares:
                k = int(rows[share].sum())
                low, high = binomial_interval(k, len(rows), 0.05)
                cells.append(f"{k / len(rows):.2f} ({low:.2f} to {high:.2f})")
            cells += [f"{rows['points'].median():.2f}", f"{rows['turned'].mean():.1f}"]
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Simulate, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--campaigns", type=int, default=50, help="of each kind")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    start, cpu = time.perf_counter(), time.process_time()
    jobs = [(kind, number) for kind in CAMPAIGNS for number in range(options.campaigns)]
    rows = Parallel(n_jobs=options.jobs)(delayed(one)(*job) for job in jobs)
    spent = time.process_time() - cpu if options.jobs == 1 else (time.perf_counter() - start) * options.jobs
    text = written(pd.DataFrame([row for part in rows for row in part]), spent)
    Path(__file__).with_name("FAIRNESS.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
