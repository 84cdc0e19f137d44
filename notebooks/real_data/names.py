"""What a list of the systems' names gets on WMT23, beside metrics that read."""

from __future__ import annotations

import matched
import numpy as np
import pandas as pd


def names_only(es, scores):
    """Return the mean score of each system in all other documents."""
    of = pd.factorize(np.array(es.documents))[0]
    elsewhere = of[:, None] != of  # segments of other documents
    return np.nan_to_num(scores) @ elsewhere / (np.isfinite(scores) @ elsewhere)


def against_names(es, readers, *, seed: int) -> tuple[dict, str]:
    """Return accuracies and counts of readers beside the lists, and the lead of the best reader in words.

    The lists are held fixed while documents are drawn again.
    """
    rated, lists = np.isfinite(es.human), {"names only": names_only(es, es.human)}
    for m in readers:
        lists[f"{m}, own"] = names_only(es, np.where(rated, es[m], np.nan))
    field = es.with_metrics({m: es[m] for m in readers} | lists)
    orders = pd.DataFrame({m: matched.in_order(field, m) for m in field.metrics})
    redrawn = matched.documents_redrawn(es, {"orders": orders}, seed=seed)["orders"]
    accuracy, best = orders.mean(), orders[readers].mean().idxmax()
    leads = redrawn[readers].sub(redrawn["names only"], axis=0)
    on_own = pd.DataFrame({m: redrawn[m] - redrawn[f"{m}, own"] for m in readers})
    mean = accuracy[readers] - accuracy["names only"]
    ends = "{:.3f} to {:.3f}".format(*leads[best].quantile([0.025, 0.975]))
    counts = {
        "segments": orders["names only"].count(),
        **accuracy[["names only", "GEMBA-MQM", "COMET", "BLEU"]],
        "beaten by names only": (mean < 0).sum(),
        "clearly": (leads.quantile(0.975) < 0).sum(),
        "clearly ahead": (leads.quantile(0.025) > 0).sum(),
        "behind own names": sum(accuracy[m] < accuracy[f"{m}, own"] for m in readers),
        "clearly behind own": (on_own.quantile(0.975) < 0).sum(),
    }
    return counts, f"{best} by {mean[best]:.3f} ({ends})"
