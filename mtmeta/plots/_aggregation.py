"""Figures of aggregation: scores side by side, samples of segments, a mean of ratios and a ratio of sums."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from ..aggregation import ratio_gap
from ._style import COLOURS, in_legend, marks, names_as_written, need, new_axes, new_row, one_legend


@names_as_written
def score_grid(
    scores: pd.DataFrame, by: Sequence[str], *, title: str = "", axes: np.ndarray | None = None
) -> np.ndarray:
    """Draw every pair of columns: histograms on the diagonal, scatter plots below it, Pearson above.

    Parameters
    ----------
    scores : pandas.DataFrame
        One row per system, one column per score.
    by : sequence of str
        A group of each row, such as its language pair: the number in small type is the median Pearson within groups of
        four or more.
    title : str
    axes : numpy.ndarray of Axes, optional
        Square, with as many rows as columns of scores.

    Returns
    -------
    numpy.ndarray of Axes

    Raises
    ------
    ValueError
        If ``by`` has another length.

    See Also
    --------
    mtmeta.aggregate : such scores.

    Examples
    --------
    >>> import pandas as pd
    >>> import mtmeta as mm
    >>> scores = pd.DataFrame({"BLEU": [20, 25, 30, 36], "chrF": [45, 50, 52, 60]})
    >>> mm.plots.score_grid(scores, ["en-de"] * 4)[0, 1].texts[0].get_text()
    '0.98'
    """
    names = list(scores)
    k = len(names)
    if axes is None:
        axes = plt.subplots(k, k, figsize=(1.55 * k, 1.5 * k), sharex="col", squeeze=False)[1]
    pooled = scores.corr()
    parts = [part.corr() for _, part in scores.groupby(np.asarray(by)) if len(part) >= 4]
    within = pd.concat([*parts, pooled * np.nan]).groupby(level=0).median()
    place = {"ha": "center", "va": "center"}
    for (i, row), (j, column) in product(enumerate(names), repeat=2):
        ax = axes[i, j]
        if i == j:
            ax.hist(scores[row], bins=20, color=COLOURS[0], alpha=0.7)
            ax.set_yticks([])
        elif i > j:
            ax.scatter(scores[column], scores[row], s=6, alpha=0.5, color=COLOURS[0], linewidths=0)
        else:
            ax.text(0.5, 0.58, f"{pooled.loc[row, column]:.2f}", fontsize=14, transform=ax.transAxes, **place)
            if np.isfinite(within.loc[row, column]):
                note = f"within: {within.loc[row, column]:.2f}"
                ax.text(0.5, 0.26, note, fontsize=8, transform=ax.transAxes, **place)
            ax.axis("off")
        ax.set_xlabel(column if i == k - 1 else "", fontsize=9)
        ax.set_ylabel(row if j == 0 else "", fontsize=9)
        ax.tick_params(labelsize=8)
    axes[0, k // 2].set_title(title, fontsize=11)
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

    See Also
    --------
    mtmeta.aggregation.aggregate_transposed : what one paper published.

    Examples
    --------
    >>> import pandas as pd
    >>> import mtmeta as mm
    >>> table = pd.DataFrame({"published": [0.425], "correct": [0.788]}, index=["BLEU"])
    >>> [text.get_text() for text in mm.plots.three_columns(table).texts]
    ['0.425', '0.788']
    """
    k = len(table.columns)
    height = 0.8 / k
    ax = new_axes(6.8, 0.26 * k * len(table) + 1.3, ax=ax)
    ax.use_sticky_edges = False
    for j, (name, hatch) in enumerate(zip(table.columns, ("", "////", "...", "xx", "--", "++"), strict=False)):
        values = table[name].to_numpy(dtype=float)
        y = np.arange(len(table)) + (j - (k - 1) / 2) * height
        style = {"hatch": hatch, "edgecolor": "white", "linewidth": 0, "color": COLOURS[j]}
        ax.barh(y, np.nan_to_num(values), 0.92 * height, label=in_legend(name), **style)
        for place, value in zip(y[np.isfinite(values)], values[np.isfinite(values)], strict=True):
            ax.text(max(value, 0) + 0.008, place, f"{value:.3f}", va="center", fontsize=8)
    ax.axvline(0, color="black", linewidth=0.8)
    ax.set_yticks(range(len(table)), table.index)
    ax.invert_yaxis()
    ax.set(xlabel=label, xlim=(None, max(1.0, np.nanmax(table.to_numpy(dtype=float)) + 0.1)))
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, 1.0 + 0.5 / (len(table) + 1)), ncols=k, fontsize=9)
    return ax


@names_as_written
def paired_differences(table: pd.DataFrame) -> Axes:
    """Draw the difference between segment and corpus aggregation for each set, with its interval.

    Parameters
    ----------
    table : pandas.DataFrame
        ``table`` of `mtmeta.aggregation.compare_aggregations`.

    Returns
    -------
    Axes
        To the right of 0, the mean of segment scores agrees better with the human scores.

    See Also
    --------
    mtmeta.aggregation.compare_aggregations : such a table.

    Examples
    --------
    >>> import pandas as pd
    >>> import mtmeta as mm
    >>> row = {"set": "en-de", "metric": "chrF", "difference": 0.1, "low": 0.0, "high": 0.2}
    >>> mm.plots.paired_differences(pd.DataFrame([row])).get_xlabel()
    'corpus better  ←  difference of Pearson correlations  →  segment better'
    """
    sets, metrics = list(table["set"].unique()), table["metric"].unique()
    ax = new_axes(6.6, 0.24 * len(sets) * len(metrics) + 1.2)
    for j, (metric, style) in enumerate(marks(metrics).items()):
        part = table[table["metric"] == metric]
        y = np.array([sets.index(s) for s in part["set"]]) + (j - (len(metrics) - 1) / 2) * 0.3
        ax.hlines(y, part["low"], part["high"], color=style["color"], linewidth=1.5)
        ax.plot(part["difference"], y, linestyle="", markersize=5, **style)
    ax.axvline(0, color="black", linewidth=0.8)
    ax.set_yticks(range(len(sets)), sets)
    ax.invert_yaxis()
    ax.set_xlabel("corpus better  ←  difference of Pearson correlations  →  segment better")
    ax.legend(loc="lower left")
    return ax


# -- a mean of ratios and a ratio of sums ------------------------------------------------


@names_as_written
def ratio_bars(matches: Sequence[float] | np.ndarray, lengths: Sequence[float] | np.ndarray) -> Axes:
    """Draw each segment as a bar: as wide as it is long, as high as its ratio, so that its area is its matches.

    Parameters
    ----------
    matches, lengths : array_like, shape (n_segments,)
        As in `mtmeta.aggregation.ratio_gap`.

    Returns
    -------
    Axes
        The solid line is the ratio of sums: the height of one bar with the width and the area of all. The dashed line
        is the mean of ratios: the mean height.

    Raises
    ------
    ValueError
        As in `mtmeta.aggregation.ratio_gap`.

    See Also
    --------
    mtmeta.aggregation.ratio_gap : the two numbers.

    Examples
    --------
    >>> import mtmeta as mm
    >>> ax = mm.plots.ratio_bars([1, 18], [2, 20])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['ratio of sums: 0.864', 'mean of ratios: 0.700']
    """
    gap = ratio_gap(matches, lengths)
    m, w = np.asarray([matches, lengths], dtype=np.float64)
    ax = new_axes(height=3.2)
    ax.bar(np.cumsum(w) - w, m / w, width=w, align="edge", color=COLOURS[5], edgecolor="white", linewidth=2, alpha=0.6)
    for name, value, line, colour in (
        ("ratio of sums", gap.ratio_of_sums, "-", COLOURS[0]),
        ("mean of ratios", gap.mean_of_ratios, "--", COLOURS[1]),
    ):
        ax.axhline(value, color=colour, linestyle=line, label=f"{name}: {value:.3f}")
    ax.set(xlim=(0, w.sum()), xlabel="n-grams, segment after segment", ylabel="share that matches")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
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
        Boxes reach from the lower to the upper quartile, whiskers from the 5th to the 95th percentile. Programs are
        side by side, each with a colour and a hatch.

    Raises
    ------
    ValueError
        If a column is missing or there are no rows.

    See Also
    --------
    mtmeta.aggregation.downsample : such correlations.

    Examples
    --------
    >>> import pandas as pd
    >>> import mtmeta as mm
    >>> rows = [("a set", "mean", size, size / 100) for size in (10, 20, 50) for _ in range(3)]
    >>> table = pd.DataFrame(rows, columns=["comparison", "program", "size", "value"])
    >>> (ax,) = mm.plots.correlations_by_size(table)
    >>> [label.get_text() for label in ax.get_xticklabels()]
    ['10', '20', '50']
    """
    need(table, "comparison", "program", "size", "value")
    comparisons, programs, sizes = table["comparison"].unique(), table["program"].unique(), sorted(set(table["size"]))
    axes = new_row(axes, len(comparisons), min(4 * len(comparisons) + 1, 10.5), 3.8, sharey=True)
    width = 0.72 / len(programs)
    style = {"showfliers": False, "patch_artist": True, "whis": (5, 95), "medianprops": {"color": "black"}}
    for ax, comparison in zip(axes, comparisons, strict=True):
        for k, program in enumerate(programs):
            rows = table[(table["comparison"] == comparison) & (table["program"] == program)]
            values = [rows.loc[rows["size"] == size, "value"].dropna().to_numpy() for size in sizes]
            places = np.arange(len(sizes)) + width * (k - (len(programs) - 1) / 2)
            drawn = ax.boxplot(values, positions=places, widths=0.83 * width, label=in_legend(program), **style)
            plt.setp(drawn["boxes"], facecolor=COLOURS[k], alpha=0.6, hatch=("", "//", "..")[k % 3])
        ax.set(xticks=range(len(sizes)), xticklabels=sizes, xlabel=f"segments scored\n{comparison}")
        ax.axhline(0, color="black", linewidth=0.8, linestyle=":")
    axes[0].set_ylabel("Pearson correlation over systems")
    if not axes[0].figure.legends:
        one_legend(axes[0], "outside upper center", ncols=len(programs))
    return axes
