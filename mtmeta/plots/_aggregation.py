"""Figures of aggregation: samples of segments."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from ._style import COLOURS, in_legend, need, new_row, one_legend


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
