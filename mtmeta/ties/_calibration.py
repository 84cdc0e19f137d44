"""Tie calibration, the share of human ties, and agreement with ties in it and nothing to calibrate."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from .._checks import Undefined
from .._equal import ends_of_runs
from ..agreement.coefficients import calibration_curve, first_best
from ..agreement.groups import grouped, pairs_of
from ..agreement.kernels import pair_counts
from ..evalset import EvalSet, as_evalset, metric_names
from ._pairs import human_pairs


@dataclass(frozen=True)
class TieCalibration:
    """The result of `calibrate_ties`.

    Attributes
    ----------
    epsilon : float
        The smallest threshold with the best value, in units of the metric.
    value : float
        acc_eq there; higher is better.
    thresholds, curve : numpy.ndarray
        Every threshold at which acc_eq changes, from 0 up, and its value from there on (a step function).
        Differences that are equal but for rounding are one threshold, the largest of them.
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


def calibrate_ties(es: EvalSet | pd.DataFrame, metric: str, *, grouping: str = "segment") -> TieCalibration:
    r"""Find the threshold below which a metric's difference is best read as a tie.

    Metric scores with :math:`|m_i - m_j| \le \epsilon` are tied. The candidates for :math:`\epsilon` are 0 and every
    difference that occurs within a group; the one chosen, for all groups together, maximises the mean over groups of
    acc_eq. The search is exact: it uses all pairs, in whole-number arithmetic where group sizes allow.

    Target: the threshold that maximises acc_eq on the pairs at hand; acc_eq there is too high for other pairs.

    Parameters
    ----------
    es : EvalSet or pandas.DataFrame
    metric : str
    grouping : {"none", "segment", "system"}
        Without grouping all n (n - 1) / 2 pairs are held in memory, at most 30 million.

    Returns
    -------
    TieCalibration

    Raises
    ------
    ValueError
        If the metric or an option is unknown, or no group has two scored cells.

    See Also
    --------
    held_out_calibration : on segments that the threshold has not seen.
    tie_curve : accuracy at each threshold.
    mtmeta.plots.tie_calibration_curves : a figure of it.

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
    es = as_evalset(es)
    metric_names(es, metric)
    thresholds, curve = calibration_curve(grouped(es, metric, grouping))
    best = first_best(curve)
    signature = f"acc_eq|grouping:{grouping}|metric:{metric}|epsilon:calibrated in sample|set:{es.name}"
    return TieCalibration(float(thresholds[best]), float(curve[best]), thresholds, curve, signature)


def human_tie_share(es: EvalSet | pd.DataFrame) -> float:
    """Return the mean over segments of the share of pairs that humans tie.

    This is the acc_eq of a constant metric, in [0, 1].

    Target: the share of pairs that raters like these tie, over segments like these.

    Parameters
    ----------
    es : EvalSet or pandas.DataFrame

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If no segment has two rated translations.

    See Also
    --------
    subsample_ties : change this share.

    References
    ----------
    Perrella et al. 2024, table 11.

    Examples
    --------
    >>> import mtmeta as mm
    >>> mm.ties.human_tie_share(mm.EvalSet([[5], [3], [5], [5]], {}, systems=list("ABCD")))
    0.5
    """
    pairs = human_pairs(as_evalset(es))
    n_pairs, n_tied = np.bincount(pairs.segment), np.bincount(pairs.segment, pairs.tied)
    return float((n_tied[n_pairs > 0] / n_pairs[n_pairs > 0]).mean())


def expected_accuracy(
    es: EvalSet | pd.DataFrame, metrics: Sequence[str] | str | None = None, *, grouping: str = "segment"
) -> pd.DataFrame:
    r"""Return the share of pairs that a metric orders as humans do, its own ties broken by a fair coin.

    .. math:: \frac{C + T_m / 2}{C + D + T_m} = \frac{1 + \tau_{14}}{2}

    in each group, then the mean over groups. There is no threshold to choose. Noise too small to change an order does
    not change the expected value, so a discrete metric and its noisy twin are treated alike. The value stays the same
    under any strictly increasing function of the scores, even a different one in each group. The price is that a metric
    earns nothing for finding human ties: pairs that humans tie have no order to find and are left out, and groups in
    which humans tie every pair are not in the mean.

    Target: the accuracy over pairs like these if the metric's ties are broken at random.

    Parameters
    ----------
    es, metrics, grouping
        As in `mtmeta.correlate`.

    Returns
    -------
    pandas.DataFrame
        ``metric, value`` (in [0, 1], higher is better; 1/2 for a constant, a coin and any other metric that knows
        nothing), ``n_pairs`` (compared), ``n_groups`` (in the mean), ``n_empty`` (groups without a pair that counts).

    Raises
    ------
    ValueError
        If a name or option is unknown, no group has two scored cells, or humans tie all pairs.

    See Also
    --------
    mtmeta.correlate : the accuracy measured, by ``coefficient="acc_eq"``.
    tie_curve : accuracy by threshold.

    References
    ----------
    An answer to Perrella et al. 2024, section 4; the formula of tau_14 is that of Macháček and Bojar 2014.

    Examples
    --------
    >>> import mtmeta as mm
    >>> es = mm.EvalSet([[5], [3], [5], [5]], {"m": [[.6], [.5], [.4], [.4]]}, systems=list("ABCD"))
    >>> round(float(mm.ties.expected_accuracy(es).value[0]), 3)
    0.333
    """
    es = as_evalset(es)
    rows = []
    for metric in metric_names(es, metrics):
        cells = grouped(es, metric, grouping)
        counts = pair_counts(cells.human_ranks, cells.metric, cells.starts, 0.0)
        concordant, discordant, _, tied, _ = counts.T
        right, pairs = concordant + tied / 2, concordant + discordant + tied
        there = pairs > 0
        if not there.any():
            raise Undefined(f"humans tie every pair that metric {metric!r} scored, so there is no order to find.")
        value = float((right[there] / pairs[there]).mean())
        rows.append((metric, value, int(pairs.sum()), int(there.sum()), int((~there).sum())))
    return pd.DataFrame(rows, columns=["metric", "value", "n_pairs", "n_groups", "n_empty"])


def tie_curve(es: EvalSet | pd.DataFrame, metric: str) -> pd.DataFrame:
    r"""Return acc_eq against the share of pairs that a metric ties, from 0 to 1.

    The threshold of tie calibration has the unit of the metric; the share of ties that it produces has none. Only some
    shares occur: those of the metric's distinct differences. A straight line joins two of them; it is the expected
    acc_eq when a random part of the pairs with the same difference is tied. Shares below that of the metric's own ties
    are reached by ordering some equal scores at random. The curve of a discrete metric is therefore the expected curve
    of its noisy twin.

    Target: acc_eq at each tie share of the metric, on pairs like these.

    Parameters
    ----------
    es, metric
        As in `calibrate_ties`.

    Returns
    -------
    pandas.DataFrame
        The corners of the curve: ``metric_ties`` (ascending from 0 to 1; mean over groups), ``value`` (acc_eq; higher
        is better), ``epsilon`` (the threshold there, in units of the metric; NaN in the first row, where
        not even equal scores are tied).

    Raises
    ------
    ValueError
        If a name or option is unknown, or no group has two scored cells.

    See Also
    --------
    calibrate_ties : its highest point.
    human_tie_share : the value when all pairs are tied.

    Examples
    --------
    >>> import mtmeta as mm
    >>> es = mm.EvalSet([[5], [3], [5], [5]], {"m": [[.6], [.5], [.4], [.4]]}, systems=list("ABCD"))
    >>> mm.ties.tie_curve(es, "m").round(3).to_numpy().tolist()
    [[0.0, 0.167, nan], [0.167, 0.333, 0.0], [0.667, 0.167, 0.1], [1.0, 0.5, 0.2]]
    """
    es = as_evalset(es)
    metric_names(es, metric)
    cells = grouped(es, metric, "segment")
    group, dh, dm = pairs_of(cells)
    n_pairs = np.bincount(group)
    weight = (1 / (n_pairs * len(n_pairs)))[group]  # all groups weigh the same
    concordant = weight * (dh * np.sign(dm) > 0)
    order = np.argsort(np.abs(dm), kind="stable")
    difference = np.abs(dm)[order]
    last = ends_of_runs(difference, cells.tolerance)
    ties = np.cumsum(weight[order])[last]
    value = concordant.sum() + np.cumsum((weight * (dh == 0) - concordant)[order])[last]
    start = concordant.sum() + (weight * ((dm == 0) & (dh != 0))).sum() / 2
    ties[-1] = 1.0  # but for rounding, it is
    return pd.DataFrame({"metric_ties": [0.0, *ties], "value": [start, *value], "epsilon": [np.nan, *difference[last]]})
