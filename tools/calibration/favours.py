"""Ask on simulated campaigns which systems metrics favour, and count false alarms, for chapter 12.

    python tools/calibration/favours.py [--jobs 2]

Campaigns have the seeds 100, 101, 102 …; none is left out. `mtmeta/data/favour_campaigns.csv` has a row for each metric
in each campaign, with p-values from one rating, from two and one curve, and from three curves. `fairness.py` has harder
cases.
"""

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

import mtmeta as mm
from mtmeta import sysdep

WHERE = Path(mm.__file__).parent / "data" / "favour_campaigns.csv"
FIRST, N_RESAMPLES, SEED = 100, 199, 1
#: Fair metrics: four functions of the quality q and two of the campaign. Biased favours one system.
OF_QUALITY: dict[str, Callable] = {
    "q": lambda q: q, "capped": lambda q: np.maximum(q, -5), "exp": lambda q: np.exp(q / 3),
    "log": lambda q: -np.log1p(-q),
}  # fmt: skip
METRICS = [*OF_QUALITY, "Judge", "Random", "Biased"]


def p_values(es: mm.EvalSet, name: str) -> dict[str, float]:
    """Return the smallest p-value of a favour by each method, and the largest of the checks of the curves."""
    options = {"n_resamples": N_RESAMPLES, "rng": SEED}
    once = es.with_metrics({"human_2": es.human, name: es[name]})
    flat, found = sysdep.favours(once, name, degree=2, **options), sysdep.favours(es, name, **options)
    lowest = found.table[["p_line", "p_quadratic"]].min()
    p = {"one rating": flat.p_value, "line": lowest["p_line"], "quadratic": lowest["p_quadratic"]}
    return p | {"all three": found.p_value, "no fit": max(found.fit.values())}


def rated_twice(number: int) -> list[dict]:
    """Return the rows of one campaign."""
    es = mm.simulate.rate_again(mm.simulate.campaign(texts=False, seed=number), 1, seed=number)
    q = -np.array(es.truth["penalty"])
    es = es.with_metrics({name: of(q) for name, of in OF_QUALITY.items()} | {m: es[m] for m in es.metrics})
    return [{"campaign": number, "metric": name, **p_values(es, name)} for name in METRICS]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=1)
    jobs = parser.parse_args().jobs
    rows = Parallel(n_jobs=jobs)(delayed(rated_twice)(FIRST + k) for k in range(40))
    pd.DataFrame([row for each in rows for row in each]).round(6).to_csv(WHERE, index=False)


if __name__ == "__main__":
    main()
