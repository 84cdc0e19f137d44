"""Repeat the experiment of chapter 7 on simulated campaigns that differ only in their seed.

    python tools/calibration/local_accuracy.py --campaigns 20 --jobs 2

Each row is one campaign: every translation is broken in four ways drawn at random from those that apply, and five
metrics score original and copy. Seeds are 1, 2, 3 …; none is left out. First places and leads are computed twice: a tie
is a failure, as in the paper, or (columns that end in "half") counts one half. The table goes into
`mtmeta/data/local_campaigns.csv`, which chapter 7 shows.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

import mtmeta as mm
from mtmeta import local_accuracy as la
from mtmeta import perturb, scoring

WHERE = Path(mm.__file__).parent / "data" / "local_campaigns.csv"
METRICS = ["bleu", "chrf", "rouge1", "rouge2", "rougeL"]
#: Names of the metrics in the table.
KEPT = {"chrf": "chrF", "bleu": "BLEU", "rouge1": "ROUGE-1", "rouge2": "ROUGE-2", "rougeL": "ROUGE-L"}
N_SEGMENTS, N_DRAWS, N_DEALS = 100, 199, 99
#: Endings of columns, and how a tie counts there.
RULES = {"": "failure", ", half": "half"}


def outcome(seed: int, n_segments: int = N_SEGMENTS, n_draws: int = N_DRAWS) -> dict[str, float | int]:
    """Return what one campaign shows: p-values by system, where chrF is first, and accuracies of the metrics."""
    es = mm.simulate.campaign(n_segments=n_segments, seed=seed, lexical=False)
    columns = ["system", "segment", "human", "doc", "domain", "reference", "translation"]
    broken = perturb.perturb_table(es.to_frame()[columns], language="en", n_kinds=4, rng=seed)
    broken = scoring.score_pairs(broken, METRICS)
    given = {"context": "system", "unit": "segment", "metrics": METRICS, "n_resamples": n_draws, "rng": seed}
    row: dict[str, float | int] = {"seed": seed}
    row["system: p of H1"] = la.context_effect(broken, **given).set_index("metric").loc["chrf", "p_permutation"]
    row["system: p of H2"] = la.ranking_effect(broken, **given).loc[0, "p_value"]
    for context in ("system", "perturbation"):
        for ending, ties in RULES.items():
            first = accuracies(broken, context, ties).idxmax()
            row[f"{context}: chrF first{ending}"] = int((first == "chrf").sum())
        row[f"{context}: contexts"] = len(first)
    dealt = first_where_dealt(broken, np.random.default_rng(seed))
    row["system: chrF first by chance, half"] = dealt.mean()
    row["system: p of fewer, half"] = ((dealt <= row["system: chrF first, half"]).sum() + 1) / (N_DEALS + 1)
    truth = mm.EvalSet(-es.truth["penalty"], {}, systems=es.systems, segments=es.segments)
    scored = broken.drop_duplicates(["system", "segment"]).set_index(["system", "segment"])[METRICS]
    scored = scored.reindex(pd.MultiIndex.from_product([es.systems, es.segments]))
    scored = {m: scored[m].to_numpy().reshape(es.shape) for m in METRICS}
    judged = {"raters": es.with_metrics(scored), "truth": truth.with_metrics(scored)}
    judged = {name: la.natural_pairs(of, metrics=METRICS) for name, of in judged.items()}
    unswapped = broken[broken["perturbation"] != "swapping"]
    for name, pairs in {"broken": broken, "not swapped": unswapped, **judged}.items():
        for ending, ties in RULES.items():
            of = accuracies(pairs, None, ties)["all"]
            row |= {f"{name}: {shown}{ending}": of[m] for m, shown in KEPT.items()}
    return row


def first_where_dealt(broken: pd.DataFrame, rng: np.random.Generator) -> np.ndarray:
    """Return for each deal of the systems in how many of them chrF is first if a tie counts one half."""
    texts = broken[["segment", "system"]].drop_duplicates()
    found = []
    for _ in range(N_DEALS):
        dealt = texts.groupby("segment")["system"].transform(rng.permutation)
        pairs = broken.merge(texts.assign(dealt=dealt), on=["segment", "system"])
        found.append((accuracies(pairs, "dealt", "half").idxmax() == "chrf").sum())
    return np.array(found)


def accuracies(pairs: pd.DataFrame, context: str | None, ties: str) -> pd.DataFrame:
    """Return the accuracy of each metric (rows) in each context (columns)."""
    table = la.local_accuracy(pairs, context=context, metrics=METRICS, ties=ties, missing="drop", n_resamples=0)
    return table.pivot(index="metric", columns="context", values="accuracy")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--campaigns", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    rows = Parallel(n_jobs=given.jobs)(delayed(outcome)(seed) for seed in range(1, given.campaigns + 1))
    table = pd.DataFrame(rows)
    numbers = table.select_dtypes(np.floating).columns
    table.assign(**{name: table[name].round(6) for name in numbers}).to_csv(WHERE, index=False)


if __name__ == "__main__":
    main()
