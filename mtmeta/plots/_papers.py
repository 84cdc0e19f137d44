"""Figures of single papers: ties, local metric accuracy, aggregation."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from ..evalset import EvalSet, as_evalset
from ..ties import calibrate_ties, human_tie_share, tie_curve
from ._style import COLOURS, GREY, MARKERS, in_legend, marks, need, new_axes, new_row, one_legend


def tie_calibration_curves(es: EvalSet | pd.DataFrame, metrics: Sequence[str]) -> np.ndarray:
    """Draw acc_eq over the tie threshold, one panel a metric, and mark where the top is flat.

    Parameters
    ----------
    es : EvalSet or pandas.DataFrame
    metrics : sequence of str

    Returns
    -------
    numpy.ndarray of Axes
        On x the threshold in units of the metric, up to the one at which it ties 60 % of the pairs, and past the best
        one. The shaded band is the flat top, at most 0.002 below the best (of a discrete metric one stair), the point
        the threshold chosen, the dotted line what a constant metric gets.

    See Also
    --------
    mtmeta.calibrate_ties : the threshold chosen.
    mtmeta.ties.tie_curve : the curve.

    Examples
    --------
    >>> import mtmeta as mm
    >>> (ax,) = mm.plots.tie_calibration_curves(mm.load("teaching"), ["Judge"])
    >>> ax.get_xlabel()
    'threshold, in units of Judge'
    """
    es = as_evalset(es)
    axes = new_row(None, len(metrics), min(3.6 * len(metrics) + 1, 10.5), 3.2, sharey=True)
    share = human_tie_share(es)
    for k, (ax, metric) in enumerate(zip(axes, metrics, strict=True)):
        found = calibrate_ties(es, metric)
        ties = tie_curve(es, metric)
        end = max(ties["epsilon"][ties["metric_ties"].searchsorted(0.6)], 1.2 * found.epsilon, np.spacing(1.0))
        shown, top = found.thresholds < end, "at most 0.002 below the best"
        stops, curve = np.append(found.thresholds[shown], end), found.curve[shown]
        flat = np.concatenate([[False], curve >= found.value - 0.002, [False]])
        for begin, stop in np.flatnonzero(np.diff(flat)).reshape(-1, 2):
            ax.axvspan(stops[begin], stops[stop], color=COLOURS[4], alpha=0.35, linewidth=0, label=top)
            top = "_"
        ax.step(stops, [*curve, curve[-1]], where="post", color=COLOURS[k % len(COLOURS)])
        ax.plot(found.epsilon, found.value, MARKERS[0], color="black", linestyle="none", zorder=3, label="chosen")
        ax.axhline(share, color="black", linestyle=":", linewidth=1, label="a constant metric")
        ax.set(xlim=(-0.02 * end, end), xlabel=f"threshold, in units of {metric}")
    axes[0].set_ylabel("acc_eq")
    one_legend(axes[0], ncols=3, handlelength=3, fontsize=10)
    return axes


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
