"""Figures of sentinel metrics."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from .._checks import Undefined
from .._pearson import pearson
from ..evalset import EvalSet
from ._style import GREY, least_squares_line, marks, names_as_written, need, new_row, one_legend


@names_as_written
def score_against_length(
    es: EvalSet, names: Sequence[str], *, within: bool = False, axes: Sequence[Axes] | None = None
) -> np.ndarray:
    """Draw scores against the length of the translation, with least-squares lines.

    Parameters
    ----------
    es : EvalSet
        With texts.
    names : sequence of str
        Metrics, or ``"human"``; one panel each.
    within : bool
        Whether to take each segment's mean from lengths and scores, which removes what the source decides.
    axes : sequence of Axes, optional

    Returns
    -------
    numpy.ndarray of Axes
        Each panel says its Pearson correlation r. At most 3,000 points are drawn, and the axis leaves out the
        shortest and the longest 0.2 %; the line and r use all.

    Raises
    ------
    ValueError
        If the set has no texts.
    """
    if es.texts is None:
        raise Undefined(f"set {es.name!r} has no texts, so lengths are not known.")
    length = np.array([[len(text) for text in es.texts.translations[system]] for system in es.systems], dtype=float)
    axes = new_row(axes, len(names), 3.2 * len(names), 3.2)
    styles = marks(names)
    for ax, name in zip(axes, names, strict=True):
        scores = es.human if name == "human" else es[name]
        scored = ~np.isnan(scores)
        x, y = np.where(scored, length, np.nan), np.where(scored, scores, np.nan)
        if within:
            x, y = (values - pd.DataFrame(values).mean().to_numpy() for values in (x, y))
        x, y = x[scored], y[scored]
        shown = np.random.default_rng(0).permutation(len(x))[:3000]
        ax.scatter(x[shown], y[shown], s=5, color=GREY, alpha=0.35, linewidths=0, rasterized=True)
        least_squares_line(ax, x, y, color=styles[name]["color"])
        room = 0.03 * np.ptp(y) or 1.0
        ax.set(xlim=np.quantile(x, [0.002, 0.998]), ylim=(y.min() - room, y.max() + room))
        title = f"{name}, r = {np.nan_to_num(pearson(x, y)):.2f}"
        ax.annotate(title, (0.5, 1.02), xycoords="axes fraction", ha="center", fontweight="bold", fontsize=10)
        ax.set_xlabel("length less segment mean" if within else "characters in translation")
    axes[0].set_ylabel("score less segment mean" if within else "score")
    return axes


@names_as_written
def learning_curves(
    curves: pd.DataFrame, *, levels: pd.DataFrame | None = None, axes: Sequence[Axes] | None = None
) -> np.ndarray:
    """Draw what sentinels earn against the amount of text they were trained on, one panel a grouping.

    Parameters
    ----------
    curves : pandas.DataFrame
        ``sees, grouping, n, value``: one row for each training run; ``n`` is the number of segments trained on.
    levels : pandas.DataFrame, optional
        ``grouping, value``: what other metrics earn; one thin grey line each.
    axes : sequence of Axes, optional
        One for each grouping.

    Returns
    -------
    numpy.ndarray of Axes
        Lines are means over the runs of one size, bands reach from the lowest to the highest.

    Raises
    ------
    ValueError
        If a column is absent, or there are no rows.
    """
    need(curves, "sees", "grouping", "n", "value")
    if levels is not None:
        need(levels, "grouping", "value")
    groupings, sizes = curves["grouping"].unique(), sorted(set(curves["n"]))
    axes = new_row(axes, len(groupings), 4.4 * len(groupings), 3.8, sharey=True)
    for ax, grouping in zip(axes, groupings, strict=True):
        for value in [] if levels is None else levels.loc[levels["grouping"] == grouping, "value"]:
            ax.axhline(value, color=GREY, linewidth=0.8, alpha=0.6, zorder=0)
        ax.axhline(0, color="black", linewidth=1, zorder=0)
        own = curves[curves["grouping"] == grouping]
        for k, (sees, style) in enumerate(marks(own["sees"]).items()):
            found = own[own["sees"] == sees].groupby("n")["value"].agg(["mean", "min", "max"])
            style |= {"label": f"sees the {sees}", "linestyle": ("-", "--", ":")[k % 3], "markersize": 5}
            ax.plot(found.index, found["mean"], **style)
            ax.fill_between(found.index, found["min"], found["max"], color=style["color"], alpha=0.2, linewidth=0)
        ax.set(xscale="log", xlabel="segments trained on")
        ax.set_xticks(sizes, [f"{n:,}" for n in sizes])
        ax.minorticks_off()
        label = "no grouping" if grouping == "none" else f"{grouping} grouping"
        box = {"facecolor": "white", "edgecolor": "none", "pad": 2}
        ax.annotate(label, (0.03, 0.95), xycoords="axes fraction", va="top", fontweight="bold", bbox=box)
    axes[0].set_ylabel("correlation with human scores")
    one_legend(axes[0], ncols=3, fontsize=10)
    return axes
