"""Figures of aggregation: scores side by side, samples of segments, a mean of ratios and a ratio of sums."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from ..aggregation import ratio_gap
from ._style import COLOURS, in_legend, need, new_axes, new_row, one_legend

# -- a mean of ratios and a ratio of sums ------------------------------------------------


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
    mtmeta.aggregation.aggregate : the two aggregations on all segments.

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
