"""Ask on simulated campaigns which systems metrics favour, and count false alarms, for chapter 15.

    python tools/calibration/favours.py [--jobs 2]

Campaigns have the seeds 100, 101, 102 …; none is left out. `mtmeta/data/favour_campaigns.csv` has a row for each metric
in each campaign, with p-values from one rating, from two and one curve, and from three curves. Biased also comes with
parts of its favour. For it the row has the favour that was planted in human points (what the simulation adds to the
metric, divided by the slope, less the mean over systems), its estimate, and its p-value. `verdict` is 1 where the one
of ten metrics is that Biased favours that system, or that a fair metric favours any. `fairness.py` has harder cases.
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
#: The verdict corrects for ten metrics, so it needs more resamples. Chapter 12 takes as many.
VERDICT = {"n_metrics": 10, "n_resamples": 500, "rng": SEED}
#: Fair metrics: four functions of the quality q and two of the campaign. Biased favours one system.
OF_QUALITY: dict[str, Callable] = {"q": lambda q: q, "capped": lambda q: np.maximum(q, -5)}
OF_QUALITY |= {"exp": lambda q: np.exp(q / 3), "log": lambda q: -np.log1p(-q)}
#: Biased with a part of its favour.
PARTS = {"Biased/6": 1 / 6, "Biased/3": 1 / 3, "Biased*2/3": 2 / 3, "Biased": 1}
METRICS = [*OF_QUALITY, "Judge", "Random", *PARTS]
N_CAMPAIGNS = 100


def p_values(es: mm.EvalSet, name: str) -> dict[str, float]:
    """Return the smallest p-value of a favour by each method, the largest of the checks, and what became of a plant."""
    options = {"n_resamples": N_RESAMPLES, "rng": SEED}
    once = es.with_metrics({"human_2": es.human, name: es[name]})
    flat, found = sysdep.favours(once, name, degree=2, **options), sysdep.favours(es, name, **options)
    lowest = found.table[["p_line", "p_quadratic"]].min()
    p = {"one rating": flat.p_value, "line": lowest["p_line"], "quadratic": lowest["p_quadratic"]}
    p |= {"all three": found.p_value, "no fit": max(found.fit.values())}
    verdicts = sysdep.favours(es, name, **VERDICT).table.set_index("system")["verdict"]
    if name not in PARTS:
        return p | {"verdict": int(verdicts.isin(["favoured", "slighted"]).any())}
    ((system, favour),) = es.truth["bias"]["Biased"].items()
    planted = PARTS[name] * favour / found.slope * (1 - 1 / len(es.systems))
    of_it = found.table.set_index("system").loc[system]
    p |= {"planted": planted, "favour": of_it["favour"], "p of it": of_it["p_value"]}
    return p | {"verdict": int(verdicts[system] == "favoured")}


def rated_twice(number: int) -> list[dict]:
    """Return the rows of one campaign."""
    es = mm.simulate.rate_again(mm.simulate.campaign(texts=False, seed=number), 1, seed=number)
    q = -np.array(es.truth["penalty"])
    ((system, favour),) = es.truth["bias"]["Biased"].items()
    given = favour * (np.array(es.systems) == system)[:, None]
    parts = {name: es["Biased"] - (1 - part) * given for name, part in PARTS.items()}
    es = es.with_metrics({name: of(q) for name, of in OF_QUALITY.items()} | {m: es[m] for m in es.metrics} | parts)
    return [{"campaign": number, "metric": name, **p_values(es, name)} for name in METRICS]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=1)
    rows = Parallel(parser.parse_args().jobs)(delayed(rated_twice)(FIRST + k) for k in range(N_CAMPAIGNS))
    pd.DataFrame([row for each in rows for row in each]).round(6).to_csv(WHERE, index=False)


if __name__ == "__main__":
    main()
