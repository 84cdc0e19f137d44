"""Figures of sentinel metrics."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes

from ..evalset import EvalSet
from ._style import COLOURS, GREY, least_squares_line, new_axes


def metric_heatmap(matrix: pd.DataFrame, *, highlight: Sequence[str] = (), ax: Axes | None = None) -> Axes:
    """Draw correlations between metrics as a triangle of numbered cells.

    Parameters
    ----------
    matrix : pandas.DataFrame
        Result of `mtmeta.agreement.metric_correlations`.
    highlight : sequence of str
        Metrics whose names are set in bold.
    ax : Axes, optional

    Returns
    -------
    Axes
    """
    n = len(matrix)
    ax = new_axes(ax, 0.5 * n + 2.4, 0.42 * n + 1.6)
    below = matrix.iloc[1:, :-1]
    sns.heatmap(
        below, mask=np.triu(np.ones(below.shape, bool), 1), vmin=0, vmax=1, cmap="cividis", annot=True, fmt=".2f",
        annot_kws={"fontsize": 7.5}, linewidths=0.5, cbar_kws={"label": "Pearson, no grouping", "shrink": 0.7}, ax=ax,
    )  # fmt: skip
    ax.tick_params(length=0, labelsize=9)
    ax.set_xticklabels(ax.get_xticklabels(), rotation=60, ha="right")
    for label in (*ax.get_xticklabels(), *ax.get_yticklabels()):
        label.set_fontweight("bold" if label.get_text() in highlight else "normal")
    return ax


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
        Each panel says its Pearson correlation r. At most 3,000 points are drawn; the line and r use all.

    Raises
    ------
    ValueError
        If the set has no texts.
    """
    if es.texts is None:
        raise ValueError(f"set {es.name!r} has no texts, so lengths are not known.")
    length = np.array([[len(text) for text in es.texts.translations[system]] for system in es.systems], dtype=float)
    if axes is None:
        axes = plt.subplots(1, len(names), figsize=(3.2 * len(names), 3.2), squeeze=False)[1][0]
    axes = np.atleast_1d(axes)
    for k, (ax, name) in enumerate(zip(axes, names, strict=True)):
        scores = es.human if name == "human" else es[name]
        scored = ~np.isnan(scores)
        x, y = np.where(scored, length, np.nan), np.where(scored, scores, np.nan)
        if within:
            x, y = _centred(x), _centred(y)
        x, y = x[scored], y[scored]
        shown = np.random.default_rng(0).permutation(len(x))[:3000]
        ax.scatter(x[shown], y[shown], s=5, color=GREY, alpha=0.35, linewidths=0, rasterized=True)
        least_squares_line(ax, x, y, color=COLOURS[k % len(COLOURS)])
        r = np.corrcoef(x, y)[0, 1] if np.ptp(y) > 0 else 0.0
        ax.annotate(f"{name}\nr = {r:.2f}", (0.97, 0.03), xycoords="axes fraction", ha="right", fontweight="bold")
        ax.set_xlabel("length less segment mean" if within else "characters in translation")
    axes[0].set_ylabel("score less segment mean" if within else "score")
    return axes


def _centred(values: np.ndarray) -> np.ndarray:
    """Return values less the mean of their segment, ignoring NaN."""
    counts = (~np.isnan(values)).sum(axis=0)
    return values - np.nansum(values, axis=0) / np.maximum(counts, 1)
