"""The common input of tests and intervals: the cells that all metrics share, and the value of each metric."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._checks import Undefined
from ..agreement import _check_coefficient, mean_over_groups, soft_pairwise_accuracy
from ..evalset import EvalSet, recomputed


def common_cells(es: EvalSet, names: Sequence[str]) -> EvalSet:
    """Return the set with human scores only where every metric has a score too."""
    scored = ~np.isnan(es.human)
    for name in names:
        scored &= ~np.isnan(es[name])
    if not scored.any():
        raise Undefined(f"set {es.name!r}: no translation is scored by humans and all {len(names)} metrics.")
    if (scored == ~np.isnan(es.human)).all():
        return es
    return recomputed(es, np.where(scored, es.human, np.nan), {name: es[name] for name in names})


def observed_values(es: EvalSet, names: Sequence[str], coefficient: str, grouping: str, degenerate: str) -> np.ndarray:
    """Return the value of each metric."""
    if coefficient == "spa":
        return soft_pairwise_accuracy(es, names)["value"].to_numpy()
    exact = _check_coefficient(coefficient, "calibrate")
    return np.array([mean_over_groups(es, name, exact, grouping, "calibrate", degenerate)[0] for name in names])
