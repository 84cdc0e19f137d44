"""What a free choice of the threshold is worth in acc_eq, for the page on ties."""

from __future__ import annotations

import numpy as np
import pandas as pd

import mtmeta as mm


def by_segment(es, name: str, epsilon: float | None = None) -> pd.Series:
    """Return acc_eq in each segment, by default with the calibrated threshold."""
    epsilon = mm.calibrate_ties(es, name).epsilon if epsilon is None else epsilon
    how = {"coefficient": "acc_eq", "epsilon": epsilon}
    return mm.correlate_groups(es, name, **how).set_index("group")["value"]


def in_order(es, name: str) -> pd.Series:
    """Return the share of pairs in order in each segment, ties broken by a coin."""
    tau = mm.correlate_groups(es, name, coefficient="tau_14").set_index("group")
    return (1 + tau["value"]) / 2


def matched(es, name: str) -> pd.Series:
    """Return acc_eq in each segment where a metric's share of ties comes nearest to the humans'.

    A threshold adds ties and removes none, so a metric with more ties than the humans is nearest at threshold 0.
    """
    curve, share = mm.ties.tie_curve(es, name).iloc[1:], mm.ties.human_tie_share(es)
    if curve["metric_ties"].iloc[0] >= share:
        return by_segment(es, name, 0.0)
    ends = curve.iloc[curve["metric_ties"].searchsorted(share) - 1 :][:2]
    low, high = (by_segment(es, name, epsilon) for epsilon in ends["epsilon"])
    w = (share - ends["metric_ties"].iloc[0]) / np.diff(ends["metric_ties"])[0]
    return (1 - w) * low + w * high


def gains_of_noise(es, name: str, n: int = 20) -> pd.DataFrame:
    """Return what each of n noisy twins gains in acc_eq, segment by segment."""
    own, gains = by_segment(es, name), {}
    for k in range(n):
        twin = mm.ties.discrete_to_continuous(es[name], rng=k)
        gains[k] = by_segment(es.with_metrics({"twin": twin}), "twin") - own
    return pd.DataFrame(gains)


def documents_redrawn(es, tables: dict, *, seed: int, draws: int = 4000) -> dict:
    """Return the mean of each table over segments, for each draw of the documents.

    A table has a row for each segment with a value, and a column for each metric.
    """
    names, of = np.unique(es.documents, return_inverse=True)
    equal = np.full(len(names), 1 / len(names))
    w = np.random.default_rng(seed).multinomial(len(names), equal, draws)[:, of]
    found = {}
    for kind, table in tables.items():
        table = table.reindex(es.segments)
        mean = w @ table.fillna(0).to_numpy() / (w @ table.notna().to_numpy())
        found[kind] = pd.DataFrame(mean, columns=table.columns)
    return found
