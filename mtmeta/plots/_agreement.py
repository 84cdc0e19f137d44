"""Figures of scores, agreement and ranks, and of differences between systems."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from ..agreement import correlate
from ..evalset import EvalSet, as_evalset
from ._style import COLOURS, GREY, MARKERS, least_squares_line, marks, need, new_axes, new_row


def _spread(values: np.ndarray) -> list[int]:
    """Choose up to four positions whose values are spread evenly over the range, ignoring NaN."""
    targets = np.linspace(*np.nanquantile(values, [0.02, 0.98]), 4)
    return list(dict.fromkeys(int(np.nanargmin(np.abs(values - target))) for target in targets))


def three_views(es: EvalSet | pd.DataFrame, metric: str, *, axes: Sequence[Axes] | None = None) -> np.ndarray:
    """Draw the same translations three times: pooled, by segment, by system.

    Parameters
    ----------
    es : EvalSet or pandas.DataFrame
    metric : str
    axes : sequence of three Axes, optional

    Returns
    -------
    numpy.ndarray of Axes
        Metric score on x, human score on y; a least-squares line for each group. Coloured are four segments and four
        systems, spread over the range of human means among those to which humans gave more than one score.

    See Also
    --------
    mtmeta.correlate : the three correlations.

    Examples
    --------
    >>> import mtmeta as mm
    >>> axes = mm.plots.three_views(mm.load("teaching"), "Judge")
    >>> [ax.texts[0].get_text() for ax in axes]
    ['no grouping', 'segment grouping', 'system grouping']
    """
    es = as_evalset(es)
    axes = new_row(axes, 3, 10, 3.6, sharex=True, sharey=True)
    human, scores = es.human, es[metric]
    scored = ~(np.isnan(human) | np.isnan(scores))
    rated = pd.DataFrame(np.where(scored, human, np.nan))
    for ax in axes:
        ax.scatter(scores[scored], human[scored], s=6, color=GREY, alpha=0.25, linewidths=0, rasterized=True)
        ax.set_xlabel(metric)
    axes[0].set_ylabel("human score")
    least_squares_line(axes[0], scores[scored], human[scored], color="black")
    for ax, axis, size in ((axes[1], 0, 26), (axes[2], 1, 7)):
        mean = rated.mean(axis=axis).where(rated.nunique(axis=axis) > 1)
        for group, style in marks(_spread(mean.to_numpy())).items():
            x, y, known = (part.take(group, 1 - axis) for part in (scores, human, scored))
            ax.scatter(x[known], y[known], size, alpha=0.6, linewidths=0, **style)
            least_squares_line(ax, x[known], y[known], color=style["color"])
    for ax, title in zip(axes, ("no grouping", "segment grouping", "system grouping"), strict=True):
        ax.annotate(title, (0.02, 0.02), xycoords="axes fraction", fontweight="bold")
    return axes


def rank_slopes(
    es: EvalSet | pd.DataFrame, *, groupings: Sequence[str], highlight: Sequence[str] = (), ax: Axes | None = None
) -> Axes:
    """Draw each metric's rank by Pearson's correlation under several groupings, one line a metric.

    Parameters
    ----------
    es : EvalSet or pandas.DataFrame
    groupings : sequence of str
        From left to right; see `mtmeta.correlate`.
    highlight : sequence of str
        Metrics to draw in colour and to label on the right; the others are grey.
    ax : Axes, optional

    Returns
    -------
    Axes
        Rank 1 is on top.

    See Also
    --------
    mtmeta.correlate : the correlations that are ranked.

    Examples
    --------
    >>> import mtmeta as mm
    >>> es = mm.load("teaching")
    >>> ax = mm.plots.rank_slopes(es, groupings=["none", "segment"], highlight=["SourceOnly"])
    >>> ax.get_ylabel()
    'rank of 10 metrics, best on top'
    """
    es = as_evalset(es)
    values = [correlate(es, grouping=g).set_index("metric")["value"] for g in groupings]
    ranks = pd.concat(values, axis=1).rank(ascending=False, method="min")
    ax = new_axes(6.4, max(3.4, 0.1 * len(ranks) + 1.2), ax=ax)
    x = np.arange(len(groupings))
    ax.plot(x, ranks.drop(list(highlight)).T, "-", color=GREY, alpha=0.45, linewidth=1)
    gap, label_y = 0.032 * len(ranks), -np.inf
    styles = marks(highlight)
    for metric in sorted(highlight, key=lambda m: ranks.loc[m].iloc[-1]):
        row = ranks.loc[metric]
        label_y = max(row.iloc[-1], label_y + gap)  # neighbours' labels must not touch
        ax.plot(x, row, "-", linewidth=2.5, zorder=3, **styles[metric])
        ax.annotate(metric, (x[-1] + 0.06, label_y), va="center", fontsize=10)
        ax.annotate(f"{row.iloc[0]:.0f}", (x[0] - 0.06, row.iloc[0]), va="center", ha="right", fontsize=10)
    ax.set_xticks(x, [f"{g} grouping" if g != "none" else "no grouping" for g in groupings])
    ax.set(xlim=(x[0] - 0.25, x[-1] + 0.9), ylim=(len(ranks) + 1, 0), yticks=[])
    ax.set_ylabel(f"rank of {len(ranks)} metrics, best on top")
    ax.spines["left"].set_visible(False)
    return ax


def rank_intervals(table: pd.DataFrame, *, highlight: Sequence[str] = (), ax: Axes | None = None) -> Axes:
    """Draw the ranks that the data allow for each metric.

    Parameters
    ----------
    table : pandas.DataFrame
        Columns ``metric, rank, best_rank, worst_rank``, as of `mtmeta.compare` and `mtmeta.rank`; with ``unit`` and
        ``n_units``, the axis says what was exchanged.
    highlight : sequence of str
        Metrics whose names are bold.
    ax : Axes, optional

    Returns
    -------
    Axes
        One row a metric, sorted by rank, best on top: a mark at the rank, a line from the best to the worst rank that
        is allowed. Metrics that may be the best have blue dots, all others hollow orange squares.

    Raises
    ------
    ValueError
        If the table lacks a column, or has no rows.

    See Also
    --------
    mtmeta.compare : such a table.
    mtmeta.rank : the same by a protocol of WMT.

    Examples
    --------
    >>> import pandas as pd
    >>> import mtmeta as mm
    >>> table = pd.DataFrame({"metric": ["b", "a"], "rank": [2, 1], "best_rank": [1, 1], "worst_rank": [2, 2]})
    >>> ax = mm.plots.rank_intervals(table)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['a', 'b']
    """
    need(table, "metric", "rank", "best_rank", "worst_rank")
    table = table.sort_values(["rank", "best_rank", "worst_rank", "metric"], ignore_index=True)
    ax = new_axes(6.4, 0.24 * len(table) + 1.3, ax=ax)
    for k, (fill, width, label) in enumerate(((COLOURS[0], 2.5, "may be the best"), ("white", 1.5, "is not the best"))):
        part = table[(table["best_rank"] == 1) == (k == 0)]
        ax.hlines(part.index, part["best_rank"], part["worst_rank"], color=COLOURS[k], linewidth=width)
        dots = {"color": COLOURS[k], "markerfacecolor": fill, "linestyle": "", "zorder": 3}
        ax.plot(part["rank"], part.index, MARKERS[k], **dots, label=label if len(part) else "")
    ax.set_yticks(range(len(table)), table["metric"].astype(str))
    for text in ax.get_yticklabels():
        text.set_fontweight("bold" if text.get_text() in highlight else "normal")
    ax.invert_yaxis()
    ax.xaxis.get_major_locator().set_params(integer=True)
    exchanged = f"; exchanged: {table['n_units'][0]} {table['unit'][0]}s" if {"unit", "n_units"} <= {*table} else ""
    ax.set_xlabel(f"rank (line: ranks that the data allow{exchanged})")
    ax.legend(loc="lower left")
    return ax


def system_differences(table: pd.DataFrame) -> Axes:
    """Draw by how much each system is better than each other one, by one metric.

    Parameters
    ----------
    table : pandas.DataFrame
        Result of `mtmeta.compare_systems` over all pairs, rows of one metric.

    Returns
    -------
    Axes
        Systems from the best to the worst; each cell is the score of the row less that of the column, with an asterisk
        where the p-value is less than .05.

    See Also
    --------
    mtmeta.compare_systems : such a table.

    Examples
    --------
    >>> import mtmeta as mm
    >>> es = mm.load("teaching").select(systems=["Aster", "Ember", "Kelp"])
    >>> ax = mm.plots.system_differences(mm.compare_systems(es, metrics="Judge").query("metric == 'Judge'"))
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['Kelp', 'Ember', 'Aster']
    """
    from seaborn import heatmap  # takes a second to import

    need(table, "metric", "first", "second", "difference", "p")
    turned = table.rename(columns={"first": "second", "second": "first"}).assign(difference=-table["difference"])
    both = pd.concat([table, turned])
    order = both.groupby("first")["difference"].mean().sort_values(ascending=False, kind="stable").index
    square, p = (both.pivot(index="first", columns="second", values=v).loc[order, order] for v in ("difference", "p"))
    digits = max(0, 1 - int(np.floor(np.log10(max(float(square.abs().max(axis=None)), 1e-9)))))
    words = square.map(lambda v: "" if np.isnan(v) else f"{v:+.{digits}f}") + p.map(lambda v: "*" if v < 0.05 else "")
    n = len(order)
    ax = new_axes(1.8 + 0.62 * n, 1.2 + 0.42 * n)
    heatmap(square, center=0, cmap="PuOr", annot=words, fmt="", annot_kws={"size": 8}, linewidths=0.5, ax=ax)
    ax.set(xlabel="", ylabel="")
    ax.set_title(f"{table['metric'].iloc[0]}: row less column; * p < 0.05", fontsize=10)
    return ax
