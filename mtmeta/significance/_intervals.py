"""Intervals of agreement: what the value could have been with other segments, documents or systems."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from .._checks import Undefined, check_choice, check_count, check_level, generator
from .._resampling import units_of
from ..agreement import _check_coefficient, _metric_names
from ..evalset import Computed, EvalSet, as_evalset
from ._values import common_cells, observed_values


def _resampler(es: EvalSet, unit: str, rng):
    """Return a function that draws the row and column positions of one resample."""
    n_systems, n_segments = es.shape
    units = units_of(es, unit)
    blocks = [np.flatnonzero(units == d) for d in range(units.max() + 1)] if unit == "document" else []

    def draw() -> tuple[np.ndarray, np.ndarray]:
        rows, columns = np.arange(n_systems), np.arange(n_segments)
        if unit in ("system", "both"):
            rows = rng.integers(n_systems, size=n_systems)
        if unit in ("segment", "both"):
            columns = rng.integers(n_segments, size=n_segments)
        elif blocks:
            columns = np.concatenate([blocks[d] for d in rng.integers(len(blocks), size=len(blocks))])
        return rows, columns

    return draw


def bootstrap(es, names, coefficient, grouping, n_resamples, unit, degenerate, rng) -> np.ndarray:
    """Return each metric's value in each resample, shape (n_metrics, n_resamples); NaN where undefined."""
    draw = _resampler(es, unit, rng)
    values = np.full((len(names), n_resamples), np.nan)
    for k in range(n_resamples):
        rows, columns = draw()
        cut = np.ix_(rows, columns)
        part = _resampled_set(es.human[cut], {name: es[name][cut] for name in names})
        if part is None:
            continue
        try:
            values[:, k] = observed_values(part, names, coefficient, grouping, degenerate)
        except Undefined:  # a draw without two scored cells in any group
            continue
    lost = int(np.isnan(values[0]).sum())
    if lost > n_resamples // 2:
        raise Undefined(
            f"the coefficient is undefined in {lost} of {n_resamples} bootstrap draws; the set is too small."
        )
    return values[:, ~np.isnan(values[0])]


def _resampled_set(human: np.ndarray, scores: dict[str, np.ndarray]) -> EvalSet | None:
    """Return a set of resampled scores, or None where nothing is left of one of them."""
    if np.isnan(human).all() or any(np.isnan(v).all() for v in scores.values()):
        return None
    return Computed(human, scores, systems=[str(i) for i in range(len(human))])


def intervals(
    es: EvalSet | pd.DataFrame,
    metrics: Sequence[str] | None = None,
    *,
    coefficient: str = "pearson",
    grouping: str = "segment",
    unit: str = "segment",
    level: float = 0.95,
    n_resamples: int = 1000,
    degenerate: str = "drop",
    rng: int | np.random.Generator | None = 0,
) -> pd.DataFrame:
    """Return percentile bootstrap intervals of each metric's agreement.

    What is resampled is what the interval speaks about: with ``"segment"`` the systems are
    given and other segments of the same kind might have come; with ``"both"`` other systems too.

    Parameters
    ----------
    es, metrics, coefficient, grouping, unit, n_resamples, degenerate, rng
        As in `compare`.
    level : float
        Nominal coverage, in (0, 1).

    Returns
    -------
    pandas.DataFrame
        ``metric, value, low, high, n_resamples``, best first; ``n_resamples`` counts the draws in
        which the coefficient was defined.

    Raises
    ------
    ValueError
        As `compare`.

    Notes
    -----
    Percentile intervals of few units are too short: of 40 simulated campaigns, the interval over 8 systems held the
    true Pearson correlation in 30, that over 24 systems in 35.

    References
    ----------
    Deutsch, Dror and Roth 2021 (Bootstrap-Inputs, -Systems, -Both).

    Examples
    --------
    >>> import numpy as np, mtmeta as mm
    >>> rng = np.random.default_rng(0)
    >>> h = rng.normal(size=(5, 60))
    >>> es = mm.EvalSet(h, {"m": h + rng.normal(size=h.shape)}, systems=list("ABCDE"))
    >>> row = mm.significance.intervals(es, n_resamples=200).iloc[0]
    >>> bool(row.low < row.value < row.high)
    True
    """
    es = as_evalset(es)
    names = _metric_names(es, metrics)
    exact = "spa" if coefficient == "spa" else _check_coefficient(coefficient, "calibrate")
    check_choice("grouping", grouping, ("none", "segment", "system"))
    check_choice("unit", unit, ("segment", "system", "both", "document"))
    check_choice("degenerate", degenerate, ("drop", "zero"))
    check_count("n_resamples", n_resamples, 1)
    check_level(level)
    es = common_cells(es, names)
    values = observed_values(es, names, coefficient, grouping, degenerate)
    rng = generator(rng)
    draws = bootstrap(es, names, exact, grouping, n_resamples, unit, degenerate, rng)
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2], axis=1)
    table = pd.DataFrame({"metric": names, "value": values, "low": low, "high": high, "n_resamples": draws.shape[1]})
    return table.sort_values(["value", "metric"], ascending=[False, True], ignore_index=True)
