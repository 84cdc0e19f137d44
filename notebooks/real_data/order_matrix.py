"""How alike contexts order metrics, for the pages on local accuracy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform

from mtmeta import local_accuracy as la

GLOBAL = "global"


def tau_ap_matrix(
    pairs: pd.DataFrame,
    *,
    context: str | Sequence[str],
    metrics: Sequence[str] | None = None,
) -> pd.DataFrame:
    """Compare the order of metrics by local accuracy between all contexts, and with the global order.

    Target: the agreement of the orders observed in these contexts; noise lowers it.

    Parameters
    ----------
    pairs, context, metrics
        As for `local_accuracy`; ties between y and y' are failures, and every metric must have scored every pair.

    Returns
    -------
    pandas.DataFrame
        Square: tau_AP, the mean of both directions. The first row and column, ``"global"``, is the order by the
        accuracy over all pairs. The contexts follow in the order of the leaves of a clustering: average linkage of the
        distances ``1 - tau_AP``. Sampling noise alone keeps tau_AP below 1; `ranking_effect` says what to expect by
        chance.

    Raises
    ------
    TypeError, ValueError
        As `local_accuracy`; ValueError with fewer than two metrics or contexts.

    References
    ----------
    Deviyani and Diaz 2025, section 4.3 and figures 1b, 2b and 3b.

    See Also
    --------
    tau_ap, ranking_effect

    Examples
    --------
    >>> import pandas as pd
    >>> pairs = pd.DataFrame({"segment": list("1122"), "system": list("ABAB"),
    ...     "m": [1, 0, 1, 0], "m_perturbed": .5, "n": [0, 1, 0, 1], "n_perturbed": .5})
    >>> tau_ap_matrix(pairs, context="system").loc["A"].tolist()
    [nan, 1.0, -1.0]
    """
    options = {"metrics": metrics, "n_resamples": 0}
    local = la.local_accuracy(pairs, context=context, **options)
    whole = la.local_accuracy(pairs, context=None, **options).assign(context=GLOBAL)
    n_contexts = local["context"].nunique()
    if len(whole) < 2 or n_contexts < 2:
        raise ValueError(
            f"orders need at least two metrics and two contexts; found {len(whole)} and {n_contexts}."
        )
    if GLOBAL in set(local["context"]):
        raise ValueError(
            f"a context is called {GLOBAL!r}, which is the name of the row for all pairs; rename it."
        )
    by_context = pd.concat([whole, local]).groupby("context", sort=False)
    rows = {name: part.set_index("metric")["accuracy"] for name, part in by_context}
    tau = pd.DataFrame(
        {
            b: {a: la.tau_ap(x, y, symmetric=True) for a, x in rows.items()}
            for b, y in rows.items()
        }
    )
    order = [0, *(1 + _clustered(tau.to_numpy()[1:, 1:]))]
    return tau.iloc[order, order]


def with_global(
    pairs: pd.DataFrame,
    *,
    context: Sequence[str],
    n_resamples: int,
    rng: int,
) -> dict[str, float]:
    """Compare the order of metrics in each context with the global one, and with what chance gives.

    Chance deals the systems among the translations of each segment, so that a context is a random translation of each
    segment. ``context`` names the set and the system. Returns the mean tau_AP (``value``), its mean and 95 % interval
    under chance, and the share of draws (plus one) that are as low (``p_value``).
    """
    names = la.metrics_of(pairs)
    right = pd.DataFrame({m: pairs[m] > pairs[f"{m}_perturbed"] for m in names})
    whole = right.mean()
    keys = [*context, "segment"]
    cells = pairs[keys].drop_duplicates().sort_values([context[0], "segment"])
    group = cells.groupby([context[0], "segment"]).ngroup().to_numpy()

    def mean_tau(systems):
        new = cells.assign(dealt=systems)
        labels = pairs[keys].merge(new, on=keys, how="left")
        by = [labels[context[0]].to_numpy(), labels["dealt"].to_numpy()]
        local = right.groupby(by).mean()
        return np.mean(
            [la.tau_ap(row, whole, symmetric=True) for _, row in local.iterrows()]
        )

    rng, own = np.random.default_rng(rng), cells[context[1]].to_numpy()
    value = mean_tau(own)
    null = [
        mean_tau(own[np.lexsort((rng.random(len(own)), group))])
        for _ in range(n_resamples)
    ]
    low, high = np.quantile(null, [0.025, 0.975])
    p = (1 + np.sum(np.array(null) <= value)) / (1 + n_resamples)
    return {
        "value": value,
        "null_mean": np.mean(null),
        "null_low": low,
        "null_high": high,
        "p_value": p,
    }


def _clustered(symmetric: np.ndarray) -> np.ndarray:
    """Return the order of the leaves of average linkage."""
    distance = np.maximum(np.nan_to_num(1 - symmetric, nan=1.0), 0)
    tree = hierarchy.linkage(
        squareform(distance, checks=False), "average", optimal_ordering=True
    )
    return hierarchy.leaves_list(tree)
