"""Ask on simulated campaigns which systems metrics favour, and count false alarms, for chapters 3 and 12.

    python tools/calibration/favours.py [--jobs 2]

Campaigns have the seeds 100, 101, 102 …; none is left out. `mtmeta/data/favour_campaigns.csv` has a row for each metric
of chapter 12 in each campaign, with p-values from one rating, from two and one curve, and from three curves;
`deviation_campaigns.csv` a row for each metric and rule of chapter 3. `fairness.py` has harder cases.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

import mtmeta as mm
from mtmeta import sysdep

WHERE = Path(mm.__file__).parent / "data"
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
    """Return the rows of chapter 12 for one campaign."""
    es = mm.simulate.rate_again(mm.simulate.campaign(texts=False, seed=number), 1, seed=number)
    q = -np.array(es.truth["penalty"])
    es = es.with_metrics({name: of(q) for name, of in OF_QUALITY.items()} | {m: es[m] for m in es.metrics})
    return [{"campaign": number, "metric": name, **p_values(es, name)} for name in METRICS]


def signs_of(es: mm.EvalSet, name: str, number: int) -> pd.DataFrame:
    """Return +1 for each system that a rule finds favoured, -1 for the opposite, 0 for neither."""
    ways = sysdep.deviations_both_ways(es, name, n_resamples=100, rng=number)
    signs = pd.DataFrame(index=ways["system"])
    for rule, way in {"ED alone": "forward", "reverse alone": "reverse"}.items():
        signs[rule] = (ways[f"{way}_low"] > 0).to_numpy(int) - (ways[f"{way}_high"] < 0).to_numpy(int)
    return signs.assign(both=signs["ED alone"].where(signs["ED alone"] == signs["reverse alone"], 0))


def both_ways(number: int) -> list[dict]:
    """Return the rows of chapter 3 for one campaign: is the favour found, and is any other system accused?"""
    es, rows = mm.simulate.campaign(texts=False, seed=number), []
    centred = sysdep.centre_segments(es)
    for name in ("Biased", "Judge", "Regressor"):
        signs = signs_of(es, name, number)
        signs["both, within segments"] = signs_of(centred, name, number)["both"]
        given = es.truth["bias"].get(name, {})
        h, m = centred.human.ravel(), centred[name].ravel()
        planted = sum(given.values()) * h.var() / np.cov(m, h, ddof=0)[0, 1] if given else np.nan
        for rule, found in signs.items():
            alarm, right = (found.drop(list(given)) != 0).any(), (found[list(given)] > 0).any()
            row = {"campaign": number, "metric": name, "rule": rule, "false alarm": alarm}
            rows.append(row | {"planted": planted, "found": right if given else np.nan})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=1)
    jobs = parser.parse_args().jobs
    for name, rows_of, n in (("deviation", both_ways, 20), ("favour", rated_twice, 40)):
        rows = Parallel(n_jobs=jobs)(delayed(rows_of)(FIRST + k) for k in range(n))
        table = pd.DataFrame([row for each in rows for row in each])
        table.round(6).to_csv(WHERE / f"{name}_campaigns.csv", index=False)


if __name__ == "__main__":
    main()
