"""Figures of ties: the curve of tie calibration, and how it changes with the share of human ties."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from .._names import unknown
from ..evalset import EvalSet, as_evalset
from ..ties import calibrate_ties, human_tie_share, tie_curve
from ._style import COLOURS, GREY, MARKERS, in_legend, marks, new_axes, new_row, one_legend

_LEGEND = {"ncols": 3, "handlelength": 3, "fontsize": 10}


def tie_baselines(marked: float, *, ax: Axes | None = None) -> Axes:
    r"""Draw what acc_eq gives metrics that know nothing, against the human tie share t.

    A constant metric gets t, noise that never ties :math:`(1-t)/2`.

    Parameters
    ----------
    marked : float
        A tie share to mark, in [0, 1].
    ax : Axes, optional

    Returns
    -------
    Axes
    """
    ax = new_axes(ax)
    t = np.linspace(0, 1, 101)
    ax.plot(t, t, "-", color=COLOURS[0], label="constant")
    ax.plot(t, (1 - t) / 2, "--", color=COLOURS[1], label="noise, never ties")
    ax.fill_between(t, np.maximum(t, (1 - t) / 2), 0, color=GREY, alpha=0.15, linewidth=0)
    ax.axvline(marked, color="black", linewidth=1)
    ax.annotate(f" t = {marked:.3f}", (marked, 0.93))
    ax.set(xlabel="share of pairs that humans tie, t", ylabel="acc_eq", xlim=(0, 1), ylim=(0, 1))
    ax.legend(loc="center right")
    return ax


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


def _styles(metrics: Sequence[str], twins: Mapping[str, str]) -> dict[str, dict]:
    """Give a discrete metric and its twin one colour, solid and dashed; all others grey."""
    for name in sorted({*twins, *twins.values()} - {*metrics}):
        raise unknown("metric in `twins`:", name, metrics)
    named = marks(twins.values())
    for twin, of in twins.items():
        named[twin] = named[of] | {"label": in_legend(twin), "linestyle": "--", "markerfacecolor": "white"}
    first = next((name for name in metrics if name not in named), None)
    grey = {"color": GREY, "linewidth": 1, "alpha": 0.8, "zorder": 1}
    return {
        name: named[name] | {"markersize": 5, "zorder": 3}
        if name in named
        else grey | {"label": "other metrics" if name == first else "_"}
        for name in metrics
    }


def tie_subsampling(table: pd.DataFrame, twins: Mapping[str, str], *, axes: Sequence[Axes] | None = None) -> np.ndarray:
    """Draw calibrated acc_eq, the threshold chosen, and the ties that it makes, against the share of human ties.

    Parameters
    ----------
    table : pandas.DataFrame
        From `mtmeta.ties.subsample_ties`.
    twins : mapping of str to str
        The name of a noisy twin to that of its discrete metric. The two get a colour, the twin dashed; all other
        metrics are grey.
    axes : sequence of three Axes, optional

    Returns
    -------
    numpy.ndarray of Axes
        Left acc_eq, above the grey area that a constant or noise gets; in the middle the threshold in standard
        deviations of the metric, where grey lines may leave the panel; right the share of pairs that the metric ties
        with it, and a dotted line for the humans, averaged in the same way. Lines are means over draws; bands, for the
        twins and their metrics, go from the lowest to the highest draw.

    Raises
    ------
    ValueError
        If ``twins`` names a metric that is not in the table.
    """
    axes = new_row(axes, 3, 10.5, 4.2)
    styles = _styles(table["metric"].unique(), twins)
    for ax, column in zip(axes, ("value", "epsilon_sd", "metric_ties"), strict=True):
        for metric, style in styles.items():
            rows = table[table["metric"] == metric].groupby("share")[column].agg(["mean", "min", "max"])
            ax.plot(rows.index, rows["mean"], **style)
            if "marker" in style:
                ax.fill_between(rows.index, rows["min"], rows["max"], color=style["color"], alpha=0.15, linewidth=0)
        ax.set_xlabel("share of pairs that humans tie")
    constant = table.groupby("share")["human_ties"].mean()
    shares = np.union1d(np.linspace(constant.index.min(), constant.index.max(), 101), constant.index)
    human_ties = np.interp(shares, constant.index, constant)
    chance = np.maximum(human_ties, (1 - human_ties) / 2)
    axes[0].fill_between(shares, chance, 0, color=GREY, alpha=0.25, linewidth=0, zorder=0, label="constant or noise")
    axes[0].set(ylim=(0.98 * min(table["value"].min(), chance.min()), None), ylabel="acc_eq, ties calibrated in sample")
    axes[1].set_ylabel("best threshold / sd of the metric")
    means = table.groupby(["metric", "share"])["epsilon_sd"].mean()
    named = means[means.index.get_level_values("metric").isin({*twins, *twins.values()})]
    top = np.nanmax([0.0, means[means > 0].quantile(0.8), named.max()])
    if top > 0:  # a grey metric that ties everything would flatten all others
        axes[1].set_ylim(np.array([-0.04, 1.1]) * top)
    axes[2].plot(shares, human_ties, color="black", linestyle=":", linewidth=1, zorder=0)
    axes[2].set_ylabel("share of pairs that the metric ties")
    one_legend(axes[0], **_LEGEND)
    return axes
