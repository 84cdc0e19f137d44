"""Figures of local metric accuracy."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from ._style import GREY, marks, need, new_axes


def _ordered(table: pd.DataFrame, order: Mapping | pd.Series | None) -> list:
    """Return the contexts from the best, by a quality or by their mean accuracy."""
    found = list(table["context"].unique())
    quality = table.groupby("context", sort=False)["accuracy"].mean() if order is None else pd.Series(order)
    if lost := [c for c in found if c not in quality]:
        raise ValueError(f"`order` lacks the contexts {lost[:8]}.")
    return [c for c in quality.sort_values(ascending=False, kind="stable").index if c in found]


def local_accuracies(table: pd.DataFrame, *, order: Mapping | pd.Series | None = None, ax: Axes | None = None) -> Axes:
    """Draw the accuracy of each metric in each context.

    Parameters
    ----------
    table : pandas.DataFrame
        Result of `mtmeta.local_accuracy.local_accuracy`.
    order : mapping or Series, optional
        The mean quality of each context, higher is better; its mean accuracy by default.
    ax : Axes, optional

    Returns
    -------
    Axes
        Contexts on the vertical axis, best on top; colour and marker say the metric, lines are intervals. (The
        published figures join the points of a metric by lines; contexts have no order that these could follow.)

    Raises
    ------
    ValueError
        If a column is absent, there are no rows, or ``order`` lacks a context.

    See Also
    --------
    mtmeta.local_accuracy.local_accuracy : such a table.

    Examples
    --------
    >>> import pandas as pd
    >>> import mtmeta as mm
    >>> rows = [("A", "chrF", 0.8, 0.7, 0.9), ("B", "chrF", 0.9, 0.8, 1.0)]
    >>> table = pd.DataFrame(rows, columns=["context", "metric", "accuracy", "low", "high"])
    >>> [label.get_text() for label in mm.plots.local_accuracies(table).get_yticklabels()]
    ['B', 'A']
    """
    need(table, "context", "metric", "accuracy", "low", "high")
    contexts = _ordered(table, order)
    styles = marks(table["metric"])
    n, m = len(contexts), len(styles)
    ax = new_axes(6.6, max(2.4, 0.9 + n * (0.22 + 0.035 * m)), ax=ax)
    at = pd.Series(np.arange(n), index=contexts)
    for k, (metric, mark) in enumerate(styles.items()):
        rows = table[table["metric"] == metric]
        place = at[rows["context"]].to_numpy() + (0.6 * (k + 0.5) / m - 0.3)
        ax.hlines(place, rows["low"], rows["high"], color=mark["color"], linewidth=1)
        ax.plot(rows["accuracy"], place, linestyle="", markersize=5, **mark)
    ax.set_yticks(np.arange(n), [str(c) for c in contexts], fontsize=8 if n > 30 else 10)
    ax.set_ylim(n - 0.5, -0.5)
    for edge in np.arange(n - 1) + 0.5:
        ax.axhline(edge, color=GREY, linewidth=0.4, alpha=0.5, zorder=0)
    ax.set_xlabel("accuracy: share of pairs with the better text scored higher")
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=9 if m > 8 else 10)
    return ax
