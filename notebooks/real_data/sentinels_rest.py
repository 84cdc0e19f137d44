"""What the page on sentinels computes in its folded cells."""

from __future__ import annotations

import numpy as np
import pandas as pd
from recomputed import metric_correlations
from scipy import stats

import mtmeta as mm

SOURCE, CANDIDATE = "SENTINEL-SRC-MQM", "SENTINEL-CAND-MQM"


def twin_values(es, names, rng: np.random.Generator) -> pd.Series:
    """Return the pooled correlation of each metric, shuffled within segments."""
    order = np.argsort(rng.random(es.shape), axis=0)
    shuffled = {n: np.take_along_axis(es[n], order, axis=0) for n in names}
    twins = es.with_metrics(shuffled)
    return mm.correlate(twins, grouping="none").set_index("metric")["value"]


def twin_leads(es, columns, names, rival: str) -> list[float]:
    """Return the lead of each metric's shuffled twin over another metric, in the mean of all shuffles."""
    human, other = es.human[:, columns], es[rival][:, columns]
    r = np.corrcoef(human.ravel(), other.ravel())[0, 1]
    apart = human.mean(axis=0) - human.mean()
    scores = [es[n][:, columns] for n in names]
    twins = [np.mean(apart * s.mean(axis=0)) / human.std() / s.std() for s in scores]
    return [twin - r for twin in twins]


def conventions(es, names) -> pd.DataFrame:
    """Return correlations by segment with silent segments left out, and counted as 0.

    Segments are left out where people give all translations one score.
    """
    varied = np.ptp(es.human, axis=0) > 0
    es = es.select(segments=[es.segments[j] for j in np.flatnonzero(varied)])
    ways = {w: mm.correlate(es, names, degenerate=w) for w in ("drop", "zero")}
    table = pd.DataFrame({w: t.set_index("metric")["value"] for w, t in ways.items()})
    ranks = table.rank(ascending=False).astype(int).add_prefix("rank, ")
    table["silent"] = [(np.ptp(es[n], axis=0) == 0).sum() for n in table.index]
    return table.join(ranks)


def eleven_claims(es, sentinels, others, *, seed: int, n_resamples: int):
    """Return what section 3.4 of the paper claims beside ours, and a p value.

    The p value is of Random-sysname against the source sentinel, which are in the last
    clusters by segment.
    """
    guards = [name for name in sentinels if name.endswith("MQM")]
    few = es.with_metrics({n: es[n] for n in [*others, *guards]})
    options = {"method": "published", "n_resamples": n_resamples, "rng": seed}
    none, system, segment = (
        mm.compare(few, grouping=g, **options).table.set_index("metric")
        for g in ("none", "system", "segment")
    )

    def better(table, name):
        return set(table.index[table["value"] > table["value"][name]])

    bottom = ["prismSrc", "Random-sysname", "SENTINEL-REF-MQM", SOURCE]
    last_four = few.with_metrics({n: few[n] for n in bottom})
    end = mm.compare(last_four, **options | {"n_resamples": 20_000})
    by_end = end.table.set_index("metric")["cluster"]
    above = better(none, SOURCE) - set(guards)
    like = metric_correlations(few, [*above, SOURCE])[SOURCE][[*above]]
    more_alike = int((like > none["value"][[*above]]).sum())
    level = segment["cluster"]
    bleu = "with BLEU" if level[CANDIDATE] == level["BLEU"] else "elsewhere"
    over_gemba = better(none, "GEMBA-MQM") & better(system, "GEMBA-MQM")
    over_two = not {"prismSrc", "embed_llama"} & better(segment, CANDIDATE)
    from_end = by_end.max() - by_end["prismSrc"] + 1
    claims = {
        "source sentinel, no grouping": (4, none["cluster"][SOURCE]),
        "source sentinel, by system": (3, system["cluster"][SOURCE]),
        "candidate sentinel, no grouping": (3, none["cluster"][CANDIDATE]),
        "candidate sentinel, by system": (2, system["cluster"][CANDIDATE]),
        "GEMBA-MQM, by segment": (1, level["GEMBA-MQM"]),
        "candidate sentinel, by segment": ("with BLEU", bleu),
        "prismSrc, by segment, from the end": (2, from_end),
        "readers above the source sentinel": (4, len(above)),
        "of these, closer to it than to people": (4, more_alike),
        "sentinels above GEMBA-MQM unless by segment": (
            "all",
            "all" if set(guards) <= over_gemba else "not all",
        ),
        "candidate above prismSrc, embed_llama": ("yes", "yes" if over_two else "no"),
    }
    table = pd.DataFrame(claims, index=["section 3.4", "ours"]).T
    return table, end.p_values.loc["Random-sysname", SOURCE]


def of_systems(es, name: str) -> dict[str, float]:
    """Correlate a metric with people on systems, and say how far chance goes."""
    machines = [s for s in es.systems if s not in es.human_systems]
    scores = es.system_scores[["human", name]]
    r = scores.corr().iloc[0, 1]
    t = stats.t.ppf(0.975, len(scores) - 2)
    chance = t / np.sqrt(len(scores) - 2 + t**2)
    machines_only = scores.loc[machines].corr().iloc[0, 1]
    return {"systems": r, "chance, ±": chance, "no refA": machines_only}


def closer(es, columns, names) -> list[float]:
    """Return how much closer metrics are to the source sentinel than to people."""
    human, blind = es.human[:, columns].ravel(), es[SOURCE][:, columns].ravel()
    scores = [es[n][:, columns].ravel() for n in names]
    both = [[np.corrcoef(s, y)[0, 1] for y in (blind, human)] for s in scores]
    return [a - b for a, b in both]
