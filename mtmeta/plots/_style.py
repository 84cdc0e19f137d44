"""What all figures share: colours, markers, defaults."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.legend import Legend

#: Okabe and Ito 2008, without black and yellow.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
MARKERS = ("o", "s", "^", "D", "v", "P")
GREY = "#8c8c8c"
#: Names are often seven or eight, and lines that differ in the marker alone are hard to follow.
_COLOURS, _MARKERS = (*COLOURS, "#000000", GREY), (*MARKERS, "X", "*")


def in_legend(name: object) -> str:
    """Return a name as a label; Matplotlib leaves labels that begin with `_` out of legends."""
    return f" {name}" if str(name).startswith("_") else str(name)


def marks(names: Iterable) -> dict[object, dict[str, str]]:
    """Return label, colour and marker of each name: all different for eight, and no two pairs alike for 64."""
    found, n = {}, len(_COLOURS)
    for k, name in enumerate(dict.fromkeys(names)):
        found[name] = {"label": in_legend(name), "color": _COLOURS[k % n], "marker": _MARKERS[(k + k // n) % n]}
    return found


def use_style() -> None:
    """Set matplotlib's settings for the book: white background, readable sizes, no clutter. Other settings stay.

    See Also
    --------
    matplotlib.pyplot.rc_context : undo it at the end of a block.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import mtmeta as mm
    >>> with plt.rc_context():
    ...     mm.plots.use_style()
    ...     plt.rcParams["figure.facecolor"]
    'white'
    """
    plt.style.use(Path(__file__).with_name("book.mplstyle"))


def new_axes(width: float = 6.4, height: float = 4.0, *, ax: Axes | None = None) -> Axes:
    """Return ``ax``, or new Axes of that size in inches."""
    return plt.subplots(figsize=(width, height))[1] if ax is None else ax


def new_row(axes: Sequence[Axes] | None, n: int, width: float, height: float, **shared) -> np.ndarray:
    """Return ``axes`` as an array, or ``n`` new ones beside each other in a figure of that size in inches."""
    if axes is None:
        axes = plt.subplots(1, n, figsize=(width, height), squeeze=False, **shared)[1][0]
    return np.atleast_1d(axes)


def one_legend(ax: Axes, loc: str = "outside lower center", **options) -> Legend:
    """Put the legend of one Axes beside all Axes of its figure."""
    return ax.figure.legend(*ax.get_legend_handles_labels(), loc=loc, **options)


def need(table: pd.DataFrame, *columns: str) -> None:
    """Raise `ValueError` if a table lacks a column or rows."""
    if not {*columns} <= {*table.columns}:
        raise ValueError(f"the table needs the columns {list(columns)}; found {list(map(str, table.columns))}.")
    if table.empty:
        raise ValueError("the table has no rows: there is nothing to draw.")


def least_squares_line(ax: Axes, x: np.ndarray, y: np.ndarray, **style) -> None:
    """Draw the least-squares line over the range of ``x``; nothing where it is undefined."""
    if len(x) >= 2 and np.ptp(x) > 0:
        ends = np.array([x.min(), x.max()])
        ax.plot(ends, np.polyval(np.polyfit(x, y, 1), ends), **style)
