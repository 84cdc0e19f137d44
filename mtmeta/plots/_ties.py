"""Figures of ties: the curve of tie calibration."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ..evalset import EvalSet, as_evalset
from ..ties import calibrate_ties, human_tie_share, tie_curve
from ._style import COLOURS, MARKERS, new_row, one_legend

_LEGEND = {"ncols": 3, "handlelength": 3, "fontsize": 10}


def tie_calibration_curves(es: EvalSet | pd.DataFrame, metrics: Sequence[str]) -> np.ndarray:
    """Draw acc_eq over the tie threshold, one panel a metric, and mark where the top is flat.

    Parameters
    ----------
    es : EvalSet or pandas.DataFrame
    metrics : sequence of str

    Returns
    -------
    numpy.ndarray of Axes
        On x the threshold in units of the metric, up to the one at which it ties 60 % of the pairs, and past the best
        one. The shaded band is the flat top, at most 0.002 below the best (of a discrete metric one stair), the point
        the threshold chosen, the dotted line what a constant metric gets.

    See Also
    --------
    mtmeta.calibrate_ties : the threshold chosen.
    mtmeta.ties.tie_curve : the curve.

    Examples
    --------
    >>> import mtmeta as mm
    >>> (ax,) = mm.plots.tie_calibration_curves(mm.load("teaching"), ["Judge"])
    >>> ax.get_xlabel()
    'threshold, in units of Judge'
    """
    es = as_evalset(es)
    axes = new_row(None, len(metrics), min(3.6 * len(metrics) + 1, 10.5), 3.2, sharey=True)
    share = human_tie_share(es)
    for k, (ax, metric) in enumerate(zip(axes, metrics, strict=True)):
        found = calibrate_ties(es, metric)
        ties = tie_curve(es, metric)
        end = max(ties["epsilon"][ties["metric_ties"].searchsorted(0.6)], 1.2 * found.epsilon, np.spacing(1.0))
        shown, top = found.thresholds < end, "at most 0.002 below the best"
        stops, curve = np.append(found.thresholds[shown], end), found.curve[shown]
        flat = np.concatenate([[False], curve >= found.value - 0.002, [False]])
        for begin, stop in np.flatnonzero(np.diff(flat)).reshape(-1, 2):
            ax.axvspan(stops[begin], stops[stop], color=COLOURS[4], alpha=0.35, linewidth=0, label=top)
            top = "_"
        ax.step(stops, [*curve, curve[-1]], where="post", color=COLOURS[k % len(COLOURS)])
        ax.plot(found.epsilon, found.value, MARKERS[0], color="black", linestyle="none", zorder=3, label="chosen")
        ax.axhline(share, color="black", linestyle=":", linewidth=1, label="a constant metric")
        ax.set(xlim=(-0.02 * end, end), xlabel=f"threshold, in units of {metric}")
    axes[0].set_ylabel("acc_eq")
    one_legend(axes[0], **_LEGEND)
    return axes
