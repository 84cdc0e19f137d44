"""Measure the claims of the book on simulated campaigns and on the two real sets in the package.

    python tools/calibration/evidence.py --campaigns 20 --jobs 2

Each row of `book/evidence.csv` is one data set, each column one number; a number that a set cannot give is left empty.
Seeds are 1, 2, 3 …; none is left out. `book/evidence.toml` says which claim rests on which columns.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

import mtmeta as mm

WHERE = Path(mm.__file__).parent.parent / "book" / "evidence.csv"
SETS = ("wmt24-news/en-de", "wmt24-news/en-es")
#: Metrics that read the source alone; a set has one of them.
BLIND = ("SourceOnly", "sentinel-src")
#: 199 draws for each false alarm; 10,000 draws where pairs told apart are counted, because few make counts unsteady.
N_TRIALS, N_DRAWS, N_COUNTED, N_TWINS = 10, 199, 10_000, 5


def readers(es: mm.EvalSet) -> list[str]:
    """Return the metrics that read the translation beside a source or a reference."""
    return [name for name in es.metrics if not name.startswith(("SourceOnly", "Random", "sentinel"))]


def values(es: mm.EvalSet, metrics: list[str] | None = None, **how: str) -> pd.Series:
    return mm.correlate(es, metrics, **how).set_index("metric")["value"]


def blind(es: mm.EvalSet) -> Iterator[tuple[str, float]]:
    """Compare a metric that has read only the source with the readers, over all translations."""
    pooled, names = values(es, grouping="none"), readers(es)
    source_only = pooled[next(name for name in BLIND if name in es.metrics)]
    yield "blind: r", source_only
    yield "blind: beats", (pooled[names] < source_only).sum()
    yield "readers", len(names)
    compared = {"the best": es[pooled[names].idxmax()], "people": es.human}
    compared |= {"the truth": -np.asarray(es.truth["penalty"], float)} if es.truth else {}
    parts = mm.decompose_pearson(es.with_metrics(compared)).set_index("metric")
    yield from zip("between: share of " + parts.index, parts["between"] / parts["value"], strict=True)


def told_apart(es: mm.EvalSet) -> Iterator[tuple[str, float]]:
    """Count the pairs of metrics told apart by acc_eq: by a published test, and by exchanging documents or blocks."""
    names, unit = readers(es), "document" if es.documents else "block"
    upper = np.triu_indices(len(names), 1)
    yield "pairs of readers", len(upper[0])
    for how in ({"method": "published"}, {"method": "exchange", "n_resamples": N_COUNTED, "unit": unit}):
        p = mm.compare(es, names, coefficient="acc_eq", **how).p_values.to_numpy()[upper]
        yield f"apart: {how['method']}", (p * (2 if how["method"] == "published" else 1) <= 0.05).sum()


def alarms(es: mm.EvalSet, seed: int) -> Iterator[tuple[str, float]]:
    """Count false alarms between two metrics made equal by exchanging their scores of whole documents."""
    if es.documents is None:
        return
    rng, documents = np.random.default_rng(seed), pd.factorize(np.array(es.documents))[0]
    x, y = ((es[m] - np.nanmean(es[m])) / np.nanstd(es[m]) for m in ("Judge", "Regressor"))
    found = dict.fromkeys(["acc_eq published", "acc_eq exchange", "pooled published", "pooled exchange"], 0)
    for k in range(N_TRIALS):
        swap = (rng.random(documents.max() + 1) < 0.5)[documents]
        equal = es.with_metrics({"A": np.where(swap, y, x), "B": np.where(swap, x, y)})
        for view, how in {"acc_eq": {"coefficient": "acc_eq"}, "pooled": {"grouping": "none"}}.items():
            for method, sides in {"published": 2, "exchange": 1}.items():
                test = mm.compare(equal, method=method, n_resamples=N_DRAWS, rng=k, **how)
                found[f"{view} {method}"] += sides * test.p_values.iloc[0, 1] <= 0.05
    for name, count in found.items():
        yield f"alarms: {name}", count / N_TRIALS


def null_of_sysdep(es: mm.EvalSet, seed: int) -> Iterator[tuple[str, float]]:
    """Count the readers whose SysDep lies above, in and below the middle 95 % of their null."""
    found = mm.compare_with_null(es, readers(es), n_resamples=200, rng=seed).summary
    yield "sysdep: above", (found["sysdep"] > found["null_high"]).sum()
    yield "sysdep: below", (found["sysdep"] < found["null_low"]).sum()


def noise(es: mm.EvalSet, seed: int) -> Iterator[tuple[str, float]]:
    """Add noise to the reader with the most ties, at the set's share of human ties and where people never tie."""
    names = readers(es)
    ties = {m: mm.ties.tie_curve(es, m).query("epsilon == 0")["metric_ties"].sum() for m in names}
    most = max(ties, key=ties.get)
    twins = {f"twin {k}": mm.ties.discrete_to_continuous(es[most], rng=seed + k) for k in range(N_TWINS)}
    field = es.with_metrics({m: es[m] for m in names} | twins)
    here = values(field, coefficient="acc_eq")
    never = mm.subsample_ties(field, shares=[0], n_resamples=1, rng=seed).set_index("metric")["value"]
    yield "ties of people", mm.human_tie_share(es)
    yield "ties of the metric", ties[most]
    yield "noise: gain here", here[list(twins)].mean() - here[most]
    yield "noise: gain where people never tie", never[list(twins)].mean() - never[most]
    above = never[names].drop(most)
    yield "noise: places", (above > never[most]).sum() - (above > never[list(twins)].mean()).sum()


def constant(es: mm.EvalSet) -> Iterator[tuple[str, float]]:
    """Count the readers whose calibrated acc_eq is that of a metric that ties everything, and find the best lead."""
    lead = values(es, readers(es), coefficient="acc_eq") - mm.human_tie_share(es)
    yield "constant: equal", (lead.abs() < 1e-9).sum()
    yield "constant: best lead", lead.max()


def saved(es: mm.EvalSet) -> Iterator[tuple[str, float]]:
    """Find which share of the ratings the best reader and a source-only metric save."""
    table = mm.ratings_saved(es).set_index("metric")
    best = table.loc[readers(es)].max()
    yield "saved: mean", best["mean"]
    yield "saved: difference", best["difference"]
    yield "saved: mean, source only", table.loc[next(name for name in BLIND if name in es.metrics), "mean"]


def ceiling(es: mm.EvalSet, seed: int) -> Iterator[tuple[str, float]]:
    """Correlate the best reader with a rating, beside a second rater, and with what no rater's error touches."""
    again = mm.sysdep.centre_segments(mm.simulate.rate_again(es, 1, seed=seed))
    yield "raters: second", np.corrcoef(*(ratings.ravel() for ratings in again.ratings))[0, 1]
    found = mm.raters.ceiling(again, readers(es), n_resamples=2).set_index("metric")
    yield "raters: best", found["value"].max()
    yield "raters: best, corrected", found["corrected"].max()
    truth = -np.asarray(es.truth["penalty"], float)
    scores = again[found["corrected"].idxmax()].ravel()
    yield "raters: best, with the truth", np.corrcoef((truth - truth.mean(axis=0)).ravel(), scores)[0, 1]


def aggregations(es: mm.EvalSet) -> Iterator[tuple[str, float]]:
    """Correlate BLEU of the corpus and the mean of segment BLEU with system means."""
    r = {}
    for how in ("corpus", "segment"):
        scores = mm.aggregation.aggregate(es, "bleu", how=how).table.set_index("system")["score"]
        r[how] = scores.corr(es.system_scores["human"])
        yield f"BLEU: {how}", r[how]
    yield "BLEU: lead", r["corpus"] - r["segment"]


def worth(es: mm.EvalSet, seed: int) -> Iterator[tuple[str, float]]:
    """Find how often people agree with 1.2 chrF between two machines, by curves on 30 or all segments, and counted."""
    es = es.select(systems=[name for name in es.systems if name not in es.human_systems])
    for where, how in {"30 segments": {"n_segments": 30}, "all segments": {}}.items():
        curve = mm.differences.curve(es, "chrF", n_resamples=2, rng=seed, **how)
        yield f"worth: {where}", curve.chance(1.2)["chance"].item()
    yield "worth: counted", curve.pairs.query("0.75 < difference <= 1.5")["agreement"].mean()


def measure(name: str | int) -> dict[str, float | str]:
    """Return all numbers of one set; an integer is the seed of a simulated campaign."""
    simulated = isinstance(name, int)
    es = mm.simulate.campaign(seed=name) if simulated else mm.load(name)
    seed = name if simulated else 0
    found = [blind(es), told_apart(es), alarms(es, seed), null_of_sysdep(es, seed), noise(es, seed), constant(es)]
    found += [saved(es), worth(es, seed)]
    if simulated:
        found += [ceiling(es, seed), aggregations(es)]
    return {"set": f"campaign {name}" if simulated else name} | {k: float(v) for part in found for k, v in part}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--campaigns", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    names = [*range(1, given.campaigns + 1), *SETS]
    table = pd.DataFrame(Parallel(n_jobs=given.jobs)(delayed(measure)(name) for name in names))
    table.round(4).to_csv(WHERE, index=False)


if __name__ == "__main__":
    main()
