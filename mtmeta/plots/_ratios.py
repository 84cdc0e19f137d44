"""Figures of ratios: what a mean of ratios and a ratio of sums are, and what pulls them apart."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from ..aggregation import ratio_gap
from ._style import COLOURS, GREY, MARKERS, in_legend, names_as_written, new_axes


def _need(table: pd.DataFrame, columns: Sequence[str]) -> None:
    """Refuse a table that lacks a column or has no rows."""
    missing = [c for c in columns if c not in table]
    if missing:
        raise ValueError(f"the table needs the columns {list(columns)}; found {list(table)}.")
    if table.empty:
        raise ValueError("the table has no rows: there is nothing to draw.")


@names_as_written
def ratio_bars(
    matches: Sequence[float] | np.ndarray, lengths: Sequence[float] | np.ndarray, *, ax: Axes | None = None
) -> Axes:
    """Draw each segment as a bar: as wide as it is long, as high as its ratio, so that its area is its matches.

    Parameters
    ----------
    matches, lengths : array_like, shape (n_segments,)
        As in `mtmeta.aggregation.ratio_gap`.
    ax : Axes, optional

    Returns
    -------
    Axes
        The solid line is the ratio of sums: the height of one bar with the width and the area of all. The dashed line
        is the mean of ratios: the mean height.

    Raises
    ------
    ValueError
        As in `mtmeta.aggregation.ratio_gap`.
    """
    gap = ratio_gap(matches, lengths)
    m, w = np.asarray(matches, dtype=np.float64), np.asarray(lengths, dtype=np.float64)
    ax = new_axes(ax, height=3.2)
    ax.bar(np.cumsum(w) - w, m / w, width=w, align="edge", color=COLOURS[5], edgecolor="white", linewidth=2, alpha=0.6)
    for name, value, line, colour in (
        ("ratio of sums", gap.ratio_of_sums, "-", COLOURS[0]),
        ("mean of ratios", gap.mean_of_ratios, "--", COLOURS[1]),
    ):
        ax.axhline(value, color=colour, linestyle=line, label=f"{name}: {value:.3f}")
    ax.set_xlim(0, w.sum())
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel("n-grams, segment after segment")
    ax.set_ylabel("share that matches")
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    return ax


@names_as_written
def bootstrap_by_size(table: pd.DataFrame, means: Sequence[float] | np.ndarray, *, ax: Axes | None = None) -> Axes:
    """Draw how the mean of a bootstrap moves from the mean of segment scores to the corpus score.

    Parameters
    ----------
    table : pandas.DataFrame
        One row per system and size of a resample: ``system, size, gap, se``. ``gap`` is the mean score of the resamples
        less the corpus score, ``se`` its Monte Carlo standard error; both in points.
    means : array_like, shape (n_systems,)
        Mean of segment scores less corpus score of each system, in points.
    ax : Axes, optional

    Returns
    -------
    Axes
        A thin grey line a system; the thick one is the mean over systems, with bars of two standard errors (those of
        the systems averaged, as systems share their resamples). Solid at 0 the corpus score, dashed the mean over
        systems of the mean of segment scores.

    Raises
    ------
    ValueError
        If a column is missing or there are no rows.
    """
    _need(table, ["system", "size", "gap", "se"])
    ax = new_axes(ax)
    for _, rows in table.groupby("system", sort=False):
        ax.plot(rows["size"], rows["gap"], color=GREY, linewidth=0.8, alpha=0.6, zorder=1)
    middle = table.groupby("size")[["gap", "se"]].mean()
    style = {"color": COLOURS[0], "marker": MARKERS[0], "capsize": 3, "zorder": 3}
    ax.errorbar(middle.index, middle["gap"], 2 * middle["se"], label="bootstrap, mean over systems", **style)
    ax.axhline(0, color="black", linewidth=1, label="corpus score")
    ax.axhline(np.mean(means), color=COLOURS[1], linestyle="--", label="mean of segment scores")
    ax.set_xscale("log")
    ax.set_xticks(middle.index, [str(size) for size in middle.index])
    ax.minorticks_off()
    ax.set_xlabel("segments in a resample")
    ax.set_ylabel("score less corpus score (points)")
    ax.legend()
    return ax


@names_as_written
def gap_against_slope(table: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw corpus score less mean of segment scores against how fast errors rise with length.

    Parameters
    ----------
    table : pandas.DataFrame
        One row per system and campaign: ``campaign, slope, gap, se``; ``gap`` and ``se`` in points. A slope above 0
        says that errors per word increase with length.
    ax : Axes, optional

    Returns
    -------
    Axes
        One colour and marker for each campaign; bars are two standard errors.

    Raises
    ------
    ValueError
        If a column is missing or there are no rows.
    """
    _need(table, ["campaign", "slope", "gap", "se"])
    ax = new_axes(ax)
    for k, (name, rows) in enumerate(table.groupby("campaign", sort=False)):
        style = {"color": COLOURS[k % len(COLOURS)], "marker": MARKERS[k % len(MARKERS)]}
        ax.errorbar(
            rows["slope"], rows["gap"], 2 * rows["se"], linestyle="none", elinewidth=1, label=in_legend(name), **style
        )
    ax.axhline(0, color="black", linewidth=1)
    ax.set_xlabel("slope of log errors per word on log length")
    ax.set_ylabel("corpus score less mean\nof segment scores (points)")
    ax.legend()
    return ax


@names_as_written
def correlations_by_size(table: pd.DataFrame, *, axes: Sequence[Axes] | None = None) -> np.ndarray:
    """Draw box plots of correlations in samples of segments, by the size of the sample; one panel a comparison.

    Parameters
    ----------
    table : pandas.DataFrame
        One row per sample: ``comparison, program, size, value``; ``value`` is a Pearson correlation over systems. NaN
        (a sample in which all systems score alike) is left out.
    axes : sequence of Axes, optional
        One for each comparison.

    Returns
    -------
    numpy.ndarray of Axes
        Boxes reach from the lower to the upper quartile, whiskers from the 5th to the 95th percentile. Programs stand
        beside each other, with a colour and a hatch each.

    Raises
    ------
    ValueError
        If a column is missing or there are no rows.
    """
    _need(table, ["comparison", "program", "size", "value"])
    comparisons, programs = (list(dict.fromkeys(table[c])) for c in ("comparison", "program"))
    sizes = sorted(set(table["size"]))
    if axes is None:
        width = min(4 * len(comparisons) + 1, 10.5)
        axes = plt.subplots(1, len(comparisons), figsize=(width, 3.8), sharey=True)[1]
    axes = np.atleast_1d(axes)
    for ax, comparison in zip(axes, comparisons, strict=True):
        panel = table[table["comparison"] == comparison].dropna(subset="value")
        for k, program in enumerate(programs):
            rows = panel[panel["program"] == program]
            values = [rows.loc[rows["size"] == size, "value"].to_numpy() for size in sizes]
            places = np.arange(len(sizes)) + 0.36 * (k - (len(programs) - 1) / 2)
            drawn = ax.boxplot(values, positions=places, widths=0.3, whis=(5, 95), showfliers=False, patch_artist=True)
            for box in drawn["boxes"]:
                box.set(facecolor=COLOURS[k % len(COLOURS)], alpha=0.6, hatch=("", "//", "..")[k % 3])
            plt.setp(drawn["medians"], color="black")
            drawn["boxes"][0].set_label(program)
        ax.set_xticks(np.arange(len(sizes)), [str(size) for size in sizes])
        ax.set_xlabel(f"segments scored\n{comparison}")
        ax.axhline(0, color="black", linewidth=0.8, linestyle=":")
    axes[0].set_ylabel("Pearson correlation over systems")
    axes[0].figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=len(programs))
    return axes
