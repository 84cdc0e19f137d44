"""Tie calibration, and the share of pairs that humans tie."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from .._checks import Undefined
from ..agreement import calibration_curve, check_choice, grouped
from ..evalset import EvalSet, as_evalset, metric_names


@dataclass(frozen=True)
class TieCalibration:
    """The result of `calibrate_ties`.

    Attributes
    ----------
    epsilon : float
        The smallest threshold with the best value, in units of the metric.
    value : float
        The coefficient there; higher is better.
    thresholds, curve : numpy.ndarray
        Every threshold at which the coefficient changes, from 0 up, and its value from there on
        (a step function).
    signature : str
        How it was computed, in one line.
    """

    epsilon: float
    value: float
    thresholds: np.ndarray
    curve: np.ndarray
    signature: str

    def to_frame(self) -> pd.DataFrame:
        """Return the curve as a table: ``epsilon, value``."""
        return pd.DataFrame({"epsilon": self.thresholds, "value": self.curve})


def calibrate_ties(
    es: EvalSet | pd.DataFrame, metric: str, *, grouping: str = "segment", coefficient: str = "acc_eq"
) -> TieCalibration:
    r"""Find the threshold below which a metric's difference is best read as a tie.

    Metric scores with :math:`|m_i - m_j| \le \epsilon` are tied. The candidates for :math:`\epsilon` are 0 and every
    difference that occurs within a group; the one chosen, for all groups together, maximises the mean over groups of
    acc_eq. The search is exact: it uses all pairs, in whole-number arithmetic where group sizes allow.

    Parameters
    ----------
    es : EvalSet or pandas.DataFrame
    metric : str
    grouping : {"none", "segment", "system"}
        Without grouping all n (n - 1) / 2 pairs are held in memory for the curve, some 16 bytes each; `correlate` gives
        only the best value, in little memory.
    coefficient : {"acc_eq", "tau_eq"}
        tau_eq = 2 acc_eq - 1, so both choose the same threshold.

    Returns
    -------
    TieCalibration

    Raises
    ------
    ValueError
        If the metric or an option is unknown, or no group has two scored cells.

    References
    ----------
    Deutsch, Foster and Freitag 2023, "Ties Matter", section 5; Perrella et al. 2024, section 5
    and appendix F (the example below).

    Examples
    --------
    >>> import mtmeta as mm
    >>> es = mm.EvalSet([[5], [3], [5], [5]], {"m": [[.6], [.5], [.4], [.4]]}, systems=list("ABCD"))
    >>> result = mm.calibrate_ties(es, "m")
    >>> round(result.value, 3), round(result.epsilon, 3)
    (0.5, 0.2)
    >>> result.to_frame().round(3).to_numpy().tolist()
    [[0.0, 0.333], [0.1, 0.167], [0.2, 0.5]]
    """
    check_choice("coefficient", coefficient, ("acc_eq", "tau_eq"))
    es = as_evalset(es)
    metric_names(es, metric)
    thresholds, curve = calibration_curve(grouped(es, metric, grouping))
    if coefficient == "tau_eq":
        curve = 2 * curve - 1
    best = int(np.argmax(curve))
    signature = f"{coefficient}|grouping:{grouping}|metric:{metric}|epsilon:calibrated in sample|set:{es.name}"
    return TieCalibration(float(thresholds[best]), float(curve[best]), thresholds, curve, signature)


def human_tie_share(es: EvalSet | pd.DataFrame, *, grouping: str = "segment") -> float:
    """Return the mean over groups of the share of pairs that humans tie.

    This is the acc_eq of a constant metric, in [0, 1].

    Parameters
    ----------
    es : EvalSet or pandas.DataFrame
    grouping : {"none", "segment", "system"}

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If no group has two rated translations.

    References
    ----------
    Perrella et al. 2024, table 11.

    Examples
    --------
    >>> import mtmeta as mm
    >>> mm.ties.human_tie_share(mm.EvalSet([[5], [3], [5], [5]], {}, systems=list("ABCD")))
    0.5
    """
    check_choice("grouping", grouping, ("none", "segment", "system"))
    human = as_evalset(es).human
    rows = {"none": human.reshape(1, -1), "segment": human.T, "system": human}[grouping]
    shares = []
    for scores in rows:
        scores = scores[~np.isnan(scores)]
        if len(scores) >= 2:
            same = np.unique(scores, return_counts=True)[1]
            shares.append((same * (same - 1)).sum() / (len(scores) * (len(scores) - 1)))
    if not shares:
        raise Undefined(f"no group has two rated translations (grouping {grouping!r}).")
    return float(np.mean(shares))
