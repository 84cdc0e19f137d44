"""Deviations among random parts of one system, beside deviations among systems, for the page on system dependence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.optimize import isotonic_regression

from mtmeta import EvalSet
from mtmeta._checks import check_count


def _fitted(human: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Return the isotonic regression of human on metric scores at each translation."""
    _, at, sizes = np.unique(scores, return_inverse=True, return_counts=True)
    return isotonic_regression(np.bincount(at, human) / sizes, weights=sizes).x[at]


def _spread(deviations: np.ndarray) -> tuple[float, float]:
    """Return the range and the standard deviation."""
    return float(np.ptp(deviations)), float(deviations.std(ddof=1))


def _mean_spread(spreads: list[tuple[float, float]]) -> tuple[float, float]:
    """Return the mean range and the root mean variance, which does not depend on the number of values."""
    ranges, sds = np.array(spreads).T
    return ranges.mean(), float(np.sqrt((sds**2).mean()))


def within_system_splits(
    es: EvalSet,
    metric: str,
    *,
    parts: Sequence[int] = (2, 3, 5, 10, 15),
    n_splits: int = 20,
    rng: int | np.random.Generator | None = 0,
) -> pd.DataFrame:
    r"""Compare deviations among random parts of one system with deviations among systems, at equal size.

    Each system's paired translations are split at random into P parts of n; the deviation of a part is
    :math:`\overline{f_k(m)} - \bar h` over the part, with :math:`f_k` fitted to the whole system. These are compared
    with the deviations :math:`\overline{f_G(m)} - \bar h` of P systems drawn at random, with n translations each.

    Target: the deviation that noise alone produces among parts of one system, at this number of segments.

    Parameters
    ----------
    es : EvalSet
    metric : str
    parts : sequence of int
        Numbers of parts, at least 2. The paper does not say how many it used.
    n_splits : int
        Random splits per system.
    rng : int, Generator or None

    Returns
    -------
    pandas.DataFrame
        ``parts, n_segments, within_range, within_sd, across_range, across_sd, n_splits``: over systems and splits,
        the mean range of the P deviations and the root of their mean variance, in human units; ``n_segments`` is the
        mean size of a part. The across columns are NaN where P exceeds the number of systems.

    Raises
    ------
    ValueError
        If a number of parts is below 2 or a system has fewer paired translations than parts.

    See Also
    --------
    mtmeta.system_dependence : across systems.

    References
    ----------
    von Däniken, Deriu and Cieliebak 2025, appendix D.

    Examples
    --------
    >>> import mtmeta as mm
    >>> table = within_system_splits(mm.load("teaching"), "Judge", parts=[2, 10], n_splits=5)
    >>> bool(table["within_range"].is_monotonic_increasing)
    True
    """
    rng, both = np.random.default_rng(rng), ~(np.isnan(es.human) | np.isnan(es[metric]))
    human, scores, system = es.human[both], es[metric][both], np.nonzero(both)[0]
    smallest = int(np.bincount(system).min())
    for p in parts:
        if check_count("parts", p, 2) > smallest:
            raise ValueError(
                f"cannot split into {p} parts: one system has {smallest} translations with both scores."
            )
    rows_of = [system == k for k in range(es.shape[0])]
    own_residuals = [_fitted(human[own], scores[own]) - human[own] for own in rows_of]
    pooled = _fitted(human, scores) - human
    pooled_residuals = [pooled[own] for own in rows_of]
    rows = []
    for p in parts:
        within = [
            _spread(_part_means(r, p, rng))
            for r in own_residuals
            for _ in range(n_splits)
        ]
        across = [
            _spread(_system_means(pooled_residuals, p, rng))
            for _ in range(n_splits * len(rows_of))
        ]
        size = len(human) / len(rows_of) / p
        rows.append([p, size, *_mean_spread(within), *_mean_spread(across), n_splits])
    names = [
        "parts",
        "n_segments",
        "within_range",
        "within_sd",
        "across_range",
        "across_sd",
        "n_splits",
    ]
    return pd.DataFrame(rows, columns=names)


def _part_means(residuals: np.ndarray, parts: int, rng) -> np.ndarray:
    return np.array(
        [part.mean() for part in np.array_split(rng.permutation(residuals), parts)]
    )


def _system_means(residuals: list[np.ndarray], parts: int, rng) -> np.ndarray:
    if parts > len(residuals):
        return np.full(parts, np.nan)
    chosen = rng.choice(len(residuals), parts, replace=False)
    return np.array(
        [
            rng.permutation(residuals[k])[: max(1, len(residuals[k]) // parts)].mean()
            for k in chosen
        ]
    )
