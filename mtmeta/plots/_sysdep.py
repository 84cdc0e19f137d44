"""Figures of system dependence."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from ..sysdep import SystemDependence
from ._style import COLOURS, GREY, MARKERS, new_axes

_VERDICTS = {"favoured": (COLOURS[1], "^"), "disfavoured": (COLOURS[0], "s"), "undecided": (GREY, "o")}


def expected_deviations(result: SystemDependence, *, null: pd.DataFrame | None = None, ax: Axes | None = None) -> Axes:
    """Draw each system's Expected Deviation with its interval, best system on top.

    Parameters
    ----------
    result : SystemDependence
        Of one metric.
    null : pandas.DataFrame, optional
        ``table`` of `mtmeta.sysdep.compare_with_null`: draws the band of the null behind each point.
    ax : Axes, optional

    Returns
    -------
    Axes
        With a legend where no ``ax`` was given.

    See Also
    --------
    mtmeta.system_dependence : the deviations.
    mtmeta.compare_with_null : the null distribution behind them.

    Examples
    --------
    >>> import mtmeta as mm
    >>> result = mm.system_dependence(mm.load("teaching"), "Judge", n_resamples=9)
    >>> ax = mm.plots.expected_deviations(result)
    >>> len(ax.get_yticklabels())
    12
    """
    table = result.table[::-1].reset_index(drop=True)
    own_axes = ax is None
    ax = new_axes(6.4, 0.3 * len(table) + 1.2, ax=ax)
    y = np.arange(len(table))
    if null is not None:
        band = null.set_index("system").loc[table["system"]]
        width = band["null_high"] - band["null_low"]
        ax.use_sticky_edges = False  # bars need a margin too
        ax.barh(y, width, left=band["null_low"], height=0.7, color=GREY, alpha=0.4, label="null: middle 95 %")
    value = table["expected_deviation"]
    if table["low"].notna().all():
        ax.hlines(y, table["low"], table["high"], color=COLOURS[0], linewidth=1.5)
    ax.plot(value, y, MARKERS[0], color=COLOURS[0], label="Expected Deviation")
    ax.axvline(0, color="black", linewidth=0.8)
    ax.set_yticks(y, table["system"])
    ax.set_xlabel("underrated  ←  Expected Deviation (human units)  →  overrated")
    if null is not None and own_axes:
        ax.legend(loc="upper right")
    return ax


def deviation_plane(both: pd.DataFrame) -> Axes:
    """Draw each system's deviation given the metric against its deviation given the human score.

    Parameters
    ----------
    both : pandas.DataFrame
        Result of `mtmeta.sysdep.deviations_both_ways`.

    Returns
    -------
    Axes
        Intervals as crosses; shaded are the quadrants where both directions agree.

    See Also
    --------
    mtmeta.sysdep.deviations_both_ways : such a table.

    Examples
    --------
    >>> import mtmeta as mm
    >>> both = mm.sysdep.deviations_both_ways(mm.load("teaching"), "Judge", n_resamples=9)
    >>> len(mm.plots.deviation_plane(both).texts)
    12
    """
    ax = new_axes(6.4, 5.2)
    x, y = both["forward"].to_numpy(), both["reverse"].to_numpy()
    for verdict, (colour, marker) in _VERDICTS.items():
        rows = both[both["verdict"] == verdict]
        if len(rows):
            reach = [abs(rows[[f"{w}_low", f"{w}_high"]].T - rows[w]) for w in ("reverse", "forward")]
            style = {"color": colour, "marker": marker, "linestyle": "", "elinewidth": 0.9}
            ax.errorbar(rows["forward"], rows["reverse"], *reach, label=f"{verdict} ({len(rows)})", **style)
    (left, right), (bottom, top) = _padded(both, "forward"), _padded(both, "reverse")
    ax.fill_between([0, right], 0, top, color=COLOURS[1], alpha=0.08, linewidth=0)
    ax.fill_between([left, 0], bottom, 0, color=COLOURS[0], alpha=0.08, linewidth=0)
    ax.set(xlim=(left, right), ylim=(bottom, top), ylabel="deviation given the human score (human units)")
    ax.set_xlabel("deviation given the metric: Expected Deviation (human units)")
    ax.axhline(0, color="black", linewidth=0.8)
    ax.axvline(0, color="black", linewidth=0.8)
    _label_points(ax, both["system"].tolist(), x, y)
    ax.legend(loc="best", fontsize=9)
    return ax


def _label_points(ax: Axes, names: Sequence[str], x: np.ndarray, y: np.ndarray) -> None:
    """Write each name beside its point, to the left in the right half, and higher where another is in the way."""
    dots = 72 / ax.figure.dpi  # pixels to points
    at = ax.transData.transform(np.column_stack([x, y])) * dots
    middle = ax.transAxes.transform((0.6, 0.5))[0] * dots
    boxes: list[tuple[float, float, float]] = []
    for k in np.argsort(y, kind="stable"):
        width, bottom, on_left = 5.2 * len(names[k]), at[k][1] + 4, at[k][0] >= middle
        left = at[k][0] - 5 - width if on_left else at[k][0] + 5
        while any(left < end and start < left + width and abs(bottom - low) < 9 for start, end, low in boxes):
            bottom += 2
        boxes.append((left, left + width, bottom))
        place = {"ha": "right" if on_left else "left", "xytext": (-5 if on_left else 5, bottom - at[k][1])}
        ax.annotate(names[k], (x[k], y[k]), textcoords="offset points", fontsize=8.5, **place)


def _padded(both: pd.DataFrame, way: str) -> tuple[float, float]:
    """Return limits that hold the intervals and 0, with a margin for names."""
    values = both[[f"{way}_low", f"{way}_high", way]].to_numpy()
    low, high = min(np.nanmin(values), 0.0), max(np.nanmax(values), 0.0)
    margin = 0.12 * (high - low or 1.0)
    return low - margin, high + margin
