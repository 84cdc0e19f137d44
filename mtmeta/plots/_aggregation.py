"""Figures of aggregation: grids of scores, three columns of correlations, down-sampling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from ._style import COLOURS, GREY, MARKERS, in_legend, names_as_written, new_axes


@names_as_written
def score_grid(
    scores: pd.DataFrame, *, by: Sequence[str] | None = None, title: str = "", axes: np.ndarray | None = None
) -> np.ndarray:
    """Draw every pair of columns: histograms on the diagonal, scatter plots below it, Pearson above.

    Parameters
    ----------
    scores : pandas.DataFrame
        One row per system, one column per score; at least two columns.
    by : sequence of str, optional
        A group of each row, such as its language pair: the number in small type is then the median Pearson within
        groups of four or more.
    title : str
    axes : numpy.ndarray of Axes, optional
        Square, with as many rows as columns of scores.

    Returns
    -------
    numpy.ndarray of Axes

    Raises
    ------
    ValueError
        If there are fewer than two columns, or ``by`` has another length.
    """
    names = list(scores)
    if len(names) < 2:
        raise ValueError(f"a grid needs at least two columns of scores; found {len(names)}.")
    if by is not None and len(by) != len(scores):
        raise ValueError(f"`by` needs one entry per row, {len(scores)}; found {len(by)}.")
    k = len(names)
    if axes is None:
        axes = plt.subplots(k, k, figsize=(1.55 * k, 1.5 * k), sharex="col")[1]
    pooled, within = scores.corr(), _median_within(scores, by)
    for i, row in enumerate(names):
        for j, column in enumerate(names):
            ax = axes[i, j]
            if i == j:
                ax.hist(scores[row], bins=20, color=COLOURS[0], alpha=0.7)
                ax.set_yticks([])
            elif i > j:
                ax.scatter(scores[column], scores[row], s=6, alpha=0.5, color=COLOURS[0], linewidths=0)
            else:
                _write_pearson(ax, pooled.loc[row, column], None if within is None else within[row, column])
            ax.tick_params(labelsize=8)
            if i == k - 1:
                ax.set_xlabel(column, fontsize=9)
            if j == 0:
                ax.set_ylabel(row, fontsize=9)
    if title:
        axes[0, k // 2].set_title(title, fontsize=11)
    return axes


def _median_within(scores: pd.DataFrame, by: Sequence[str] | None) -> dict | None:
    """Return the median Pearson within groups of four rows or more, by pair of columns."""
    if by is None:
        return None
    parts = [part.corr() for _, part in scores.groupby(list(by)) if len(part) >= 4]
    names = list(scores)
    return {
        (a, b): float(np.nanmedian([p.loc[a, b] for p in parts])) if parts else np.nan for a in names for b in names
    }


def _write_pearson(ax: Axes, pooled: float, within: float | None) -> None:
    ax.text(0.5, 0.58, f"{pooled:.2f}", ha="center", va="center", transform=ax.transAxes, fontsize=14)
    if within is not None and np.isfinite(within):
        ax.text(0.5, 0.26, f"within: {within:.2f}", ha="center", va="center", transform=ax.transAxes, fontsize=8)
    for side in ax.spines.values():
        side.set_visible(False)
    ax.tick_params(bottom=False, left=False, labelbottom=False, labelleft=False)


@names_as_written
def score_pairs(
    scores: pd.DataFrame, pairs: Sequence[tuple[str, str]], *, axes: Sequence[Axes] | None = None
) -> np.ndarray:
    """Draw scatter plots of named pairs of scores, with Pearson's correlation in each title.

    Parameters
    ----------
    scores : pandas.DataFrame
        One row per system, one column per score.
    pairs : sequence of (str, str)
        Columns on the x- and the y-axis, one panel each.
    axes : sequence of Axes, optional

    Returns
    -------
    numpy.ndarray of Axes
    """
    if axes is None:
        axes = plt.subplots(1, len(pairs), figsize=(2.3 * len(pairs), 2.4), squeeze=False)[1][0]
    axes = np.atleast_1d(axes)
    for ax, (x, y) in zip(axes, pairs, strict=True):
        ax.scatter(scores[x], scores[y], s=6, alpha=0.5, color=COLOURS[0], linewidths=0)
        ax.set_title(f"r = {scores[x].corr(scores[y]):.2f}", fontsize=10)
        ax.set_xlabel(x, fontsize=9)
        ax.set_ylabel(y, fontsize=9)
        ax.tick_params(labelsize=8)
    return axes


@names_as_written
def three_columns(table: pd.DataFrame, *, label: str = "mean Pearson with humans", ax: Axes | None = None) -> Axes:
    """Draw one group of bars per row and one bar per column, with the number at its end.

    Parameters
    ----------
    table : pandas.DataFrame
        Rows are metrics, columns such as *published*, *transposed*, *correct*; at most six columns. NaN gives no bar.
    label : str
        Of the value axis.
    ax : Axes, optional

    Returns
    -------
    Axes
        First row on top; hatches tell the columns apart without colour.
    """
    k = len(table.columns)
    height = 0.8 / k
    ax = new_axes(ax, 6.8, 0.26 * k * len(table) + 1.3)
    ax.use_sticky_edges = False
    for j, (name, hatch) in enumerate(zip(table.columns, ("", "////", "...", "xx", "--", "++"), strict=False)):
        values = table[name].to_numpy(dtype=float)
        y = np.arange(len(table)) + (j - (k - 1) / 2) * height
        style = {"hatch": hatch, "edgecolor": "white", "linewidth": 0}
        ax.barh(y, np.nan_to_num(values), 0.92 * height, label=in_legend(name), color=COLOURS[j], **style)
        for place, value in zip(y, values, strict=True):
            if np.isfinite(value):
                end = max(value, 0)
                ax.text(end + 0.008, place, f"{value:.3f}", va="center", fontsize=8)
    ax.axvline(0, color="black", linewidth=0.8)
    ax.set_yticks(range(len(table)), table.index)
    ax.invert_yaxis()
    ax.set_xlabel(label)
    ax.set_xlim(right=max(1.0, np.nanmax(table.to_numpy(dtype=float)) + 0.1))
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, 1.0 + 0.5 / (len(table) + 1)), ncols=k, fontsize=9)
    return ax


@names_as_written
def downsampling_boxes(tables: Mapping[str, pd.DataFrame], *, axes: Sequence[Axes] | None = None) -> np.ndarray:
    """Draw correlations of down-sampled scores by size of the sample, one panel per comparison.

    Parameters
    ----------
    tables : mapping of str to pandas.DataFrame
        A label, such as *transposed*, to the ``table`` of `mtmeta.aggregation.downsample`; boxes stand side by side.
    axes : sequence of Axes, optional
        One per comparison.

    Returns
    -------
    numpy.ndarray of Axes
        Boxes are quartiles, whiskers reach from the 2.5th to the 97.5th percentile of the repetitions.
    """
    first = next(iter(tables.values()))
    comparisons, sizes = list(dict.fromkeys(first["comparison"])), sorted(first["size"].unique())
    if axes is None:
        axes = plt.subplots(1, len(comparisons), figsize=(3.3 * len(comparisons), 2.9), sharey=True, squeeze=False)[1][
            0
        ]
    axes = np.atleast_1d(axes)
    width = 0.8 / len(tables)
    for ax, comparison in zip(axes, comparisons, strict=True):
        for j, (label, table) in enumerate(tables.items()):
            part = table[table["comparison"] == comparison]
            values = [part.loc[part["size"] == size, "pearson"].dropna().to_numpy() for size in sizes]
            places = np.arange(len(sizes)) + (j - (len(tables) - 1) / 2) * width
            boxes = ax.boxplot(
                values, positions=places, widths=0.85 * width, whis=(2.5, 97.5), showfliers=False, patch_artist=True,
                medianprops={"color": "black", "linewidth": 1.2},
            )  # fmt: skip
            for box in boxes["boxes"]:
                box.set(facecolor=COLOURS[j], alpha=0.75, hatch=("", "////", "...")[j % 3])
            medians = [np.median(v) if len(v) else np.nan for v in values]
            ax.plot(
                places, medians, color=COLOURS[j], marker=MARKERS[j], markersize=4, linewidth=1, label=in_legend(label)
            )
        ax.set_xticks(range(len(sizes)), [str(size) for size in sizes])
        ax.set_title(comparison, fontsize=10)
        ax.set_xlabel("segments in the sample")
        ax.axhline(1, color=GREY, linewidth=0.8)
    axes[0].set_ylabel("Pearson over systems")
    axes[-1].legend(fontsize=9, loc="lower right")
    return axes


@names_as_written
def paired_differences(table: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw the difference between segment and corpus aggregation for each set, with its interval.

    Parameters
    ----------
    table : pandas.DataFrame
        ``table`` of `mtmeta.aggregation.compare_aggregations`.
    ax : Axes, optional

    Returns
    -------
    Axes
        To the right of 0, the mean of segment scores agrees better with the human scores.
    """
    sets = list(dict.fromkeys(table["set"]))
    metrics = list(dict.fromkeys(table["metric"]))
    ax = new_axes(ax, 6.6, 0.24 * len(sets) * max(len(metrics), 1) + 1.2)
    for j, metric in enumerate(metrics):
        part = table[table["metric"] == metric]
        y = np.array([sets.index(s) for s in part["set"]]) + (j - (len(metrics) - 1) / 2) * 0.3
        ax.hlines(y, part["low"], part["high"], color=COLOURS[j], linewidth=1.5)
        ax.plot(part["difference"], y, MARKERS[j], color=COLOURS[j], markersize=5, label=in_legend(metric))
    ax.axvline(0, color="black", linewidth=0.8)
    ax.set_yticks(range(len(sets)), sets)
    ax.invert_yaxis()
    ax.set_xlabel("corpus better  ←  difference of Pearson correlations  →  segment better")
    ax.legend(loc="lower left")
    return ax
