"""Figures of local metric accuracy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import PowerNorm

from .._names import positions
from ..local_accuracy import QualityBuckets
from ._style import COLOURS, GREY, marks, names_as_written, need, new_axes


def _legend_beside(ax: Axes, n: int) -> None:
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=9 if n > 8 else 10)


def _ordered(table: pd.DataFrame, order: Mapping | pd.Series | None) -> list:
    """Return the contexts from the best, by a quality or by their mean accuracy."""
    found = list(table["context"].unique())
    quality = table.groupby("context", sort=False)["accuracy"].mean() if order is None else pd.Series(order)
    if lost := [c for c in found if c not in quality]:
        raise ValueError(f"`order` lacks the contexts {lost[:8]}.")
    return [c for c in quality.sort_values(ascending=False, kind="stable").index if c in found]


@names_as_written
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
    _legend_beside(ax, m)
    return ax


@names_as_written
def tau_ap_heatmap(table: pd.DataFrame, *, label: bool = True, ax: Axes | None = None) -> Axes:
    """Draw tau_AP between contexts, the global order in the first row and column, like contexts side by side.

    Parameters
    ----------
    table : pandas.DataFrame
        Result of `mtmeta.local_accuracy.tau_ap_matrix`.
    label : bool
        Whether to name the contexts.
    ax : Axes, optional

    Returns
    -------
    Axes
        The scale reaches from -1 to 1 always, so that figures can be compared; darker is more alike, in grey too. Up to
        12 contexts, the values are also written.

    See Also
    --------
    mtmeta.local_accuracy.tau_ap_matrix : such a table.

    Examples
    --------
    >>> import pandas as pd
    >>> import mtmeta as mm
    >>> names = ["global", "A"]
    >>> ax = mm.plots.tau_ap_heatmap(pd.DataFrame([[1, 0.5], [0.5, 1]], index=names, columns=names))
    >>> [text.get_text() for text in ax.texts]
    ['1.00', '0.50', '0.50', '1.00']
    """
    from seaborn import heatmap  # takes a second to import

    n = len(table)
    side = float(np.clip(0.42 * n, 3.4, 8.0))
    ax = new_axes(side + 1.2, side, ax=ax)
    scale = PowerNorm(2, vmin=-1, vmax=1)  # most of the shades for 0 to 1, where most values are
    names = [str(c) for c in table.index] if label else ["global"] + [""] * (n - 1)
    bar = {"shrink": 0.8, "label": "tau_AP of metrics ordered by accuracy", "ticks": (-1, 0, 0.25, 0.5, 0.75, 1)}
    numbers = {"annot": n <= 13, "fmt": ".2f", "annot_kws": {"fontsize": 8}}
    named = {"xticklabels": names, "yticklabels": names}
    heatmap(table, norm=scale, cmap="cividis_r", cbar_kws=bar, square=True, ax=ax, **numbers, **named)
    ax.axhline(1, color="black", linewidth=1.5)
    ax.axvline(1, color="black", linewidth=1.5)
    ax.tick_params(length=0, labelsize=8 if n > 20 else 10, labelrotation=0)
    ax.tick_params("x", labelrotation=90)
    ax.set(xlabel="", ylabel="")
    return ax


@names_as_written
def tau_ap_against_chance(table: pd.DataFrame) -> Axes:
    """Draw how alike contexts order the metrics, against what contexts dealt at random give.

    Parameters
    ----------
    table : pandas.DataFrame
        One row for each line, named by the index; columns ``tau_ap``, ``null_low`` and ``null_high``, as from
        `mtmeta.local_accuracy.ranking_effect`.

    Returns
    -------
    Axes
        The interval of chance is a grey bar; a filled circle lies below it, an open one does not.

    Raises
    ------
    ValueError
        If a column is absent, or there are no rows.

    See Also
    --------
    mtmeta.local_accuracy.ranking_effect : such a row.

    Examples
    --------
    >>> import pandas as pd
    >>> import mtmeta as mm
    >>> table = pd.DataFrame({"tau_ap": [0.2], "null_low": [0.7], "null_high": [0.9]}, index=["system"])
    >>> mm.plots.tau_ap_against_chance(table).get_xlabel()
    'mean tau_AP between contexts'
    """
    need(table, "tau_ap", "null_low", "null_high")
    ax = new_axes(6.6, 0.42 * len(table) + 1.1)
    y, tau = np.arange(len(table)), table["tau_ap"].to_numpy(dtype=float)
    low, high = (table[name].to_numpy(dtype=float) for name in ("null_low", "null_high"))
    ax.hlines(y, low, high, color=GREY, linewidth=9, alpha=0.6, label="chance, middle 95 %")
    for below, face, label in ((True, COLOURS[1], "below chance"), (False, "white", "as by chance")):
        one = (tau < low) == below
        style = {"markeredgecolor": COLOURS[1], "markersize": 8, "zorder": 3}
        ax.plot(tau[one], y[one], "o", markerfacecolor=face, label=label, **style)
    ax.set_yticks(y, [str(name) for name in table.index])
    ax.set(xlim=(min(0, tau.min()) - 0.05, 1.03), ylim=(len(table) - 0.4, -0.6), xlabel="mean tau_AP between contexts")
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=3, fontsize=9, frameon=False)
    return ax


@names_as_written
def accuracy_by_quality(table: pd.DataFrame, buckets: QualityBuckets) -> Axes:
    """Draw accuracy against quality in buckets of human scores.

    Parameters
    ----------
    table : pandas.DataFrame
        Result of `mtmeta.local_accuracy.local_accuracy` with the labels of the buckets as context.
    buckets : QualityBuckets

    Returns
    -------
    Axes
        A bucket stands at the share of human scores up to its middle. Lines join the buckets of a metric, which have
        an order; bands are the intervals.

    Raises
    ------
    ValueError
        If a column is absent, there are no rows, or a bucket is unknown.

    See Also
    --------
    mtmeta.local_accuracy.quality_buckets : the buckets.

    Examples
    --------
    >>> import pandas as pd
    >>> import mtmeta as mm
    >>> rows = [(1, "chrF", 0.8, 0.7, 0.9), (2, "chrF", 0.9, 0.8, 1.0)]
    >>> table = pd.DataFrame(rows, columns=["context", "metric", "accuracy", "low", "high"])
    >>> buckets = mm.local_accuracy.quality_buckets(range(100), 2)
    >>> mm.plots.accuracy_by_quality(table, buckets).get_xlabel()
    'percentile of human scores (better →)'
    """
    need(table, "context", "metric", "accuracy", "low", "high")
    sizes = buckets.table.set_index("bucket")
    if lost := sorted(set(table["context"]) - set(sizes.index), key=str):
        raise ValueError(f"the contexts {lost[:8]} are no buckets; expected numbers from 1 to {buckets.n_buckets}.")
    middle = 100 * (sizes["n"].cumsum() - sizes["n"] / 2) / sizes["n"].sum()
    ax = new_axes(6.8, 4.2)
    styles = marks(table["metric"])
    for metric, style in styles.items():
        rows = table[table["metric"] == metric].sort_values("context")
        at = middle[rows["context"]].to_numpy()
        ax.plot(at, rows["accuracy"], linewidth=1.2, markersize=5 if len(at) <= 30 else 2.5, **style)
        ax.fill_between(at, rows["low"], rows["high"], color=style["color"], alpha=0.12, linewidth=0)
    ax.set(xlabel="percentile of human scores (better →)", ylabel="accuracy")
    _legend_beside(ax, len(styles))
    return ax


@names_as_written
def variance_by_combination(table: pd.DataFrame, *, metrics: Sequence[str] | None = None) -> Axes:
    """Draw the variance of accuracy between combinations of k perturbations, measured and as overlap predicts.

    Parameters
    ----------
    table : pandas.DataFrame
        Result of `mtmeta.local_accuracy.combination_variance`.
    metrics : sequence of str, optional
        All by default.

    Returns
    -------
    Axes
        Points and solid lines: measured; dashed lines of the same colour: expected.

    Raises
    ------
    ValueError
        If a column is absent, there are no rows, or a metric is unknown.

    See Also
    --------
    mtmeta.local_accuracy.combination_variance : such a table.

    Examples
    --------
    >>> import pandas as pd
    >>> import mtmeta as mm
    >>> table = pd.DataFrame({"metric": "chrF", "k": [1, 2], "variance": [0.4, 0.2], "expected": [0.4, 0.2]})
    >>> mm.plots.variance_by_combination(table).get_xlabel()
    'perturbations combined, k'
    """
    need(table, "metric", "k", "variance", "expected")
    known = list(table["metric"].unique())
    names = [known[k] for k in positions("metric", metrics, known)]
    ax = new_axes(6.8, 4.2)
    for metric, style in marks(names).items():
        rows = table[table["metric"] == metric].sort_values("k")
        ax.plot(rows["k"], rows["variance"], linewidth=1.5, markersize=5, **style)
        ax.plot(rows["k"], rows["expected"], linestyle="--", linewidth=1.2, color=style["color"])
    ax.plot([], [], linestyle="--", linewidth=1.2, color=GREY, label="expected from overlap")
    ax.set(xlabel="perturbations combined, k", ylabel="variance of accuracy between combinations")
    ax.set(xticks=sorted(set(table["k"])), ylim=(0, None))
    _legend_beside(ax, len(names) + 1)
    return ax


@names_as_written
def swap_effect_bars(table: pd.DataFrame) -> Axes:
    """Draw the shares of swaps that lower, keep and raise each measure.

    Parameters
    ----------
    table : pandas.DataFrame
        Result of `mtmeta.local_accuracy.swap_effects`; with several groups, one bar for each group and measure.

    Returns
    -------
    Axes
        The measure that is lowered most often on top.

    Raises
    ------
    ValueError
        If a column is absent, or there are no rows.

    See Also
    --------
    mtmeta.local_accuracy.swap_effects : such a table.

    Examples
    --------
    >>> import pandas as pd
    >>> import mtmeta as mm
    >>> row = {"context": "all", "metric": "map", "share_lowered": 0.6, "share_kept": 0.3, "share_raised": 0.1}
    >>> ax = mm.plots.swap_effect_bars(pd.DataFrame([row]))
    >>> [round(float(bar.get_width()), 1) for bar in ax.patches]
    [0.6, 0.3, 0.1]
    """
    words = ("lowered", "kept", "raised")
    need(table, "context", "metric", *(f"share_{word}" for word in words))
    table = table.sort_values("share_lowered", kind="stable", ignore_index=True)
    ax = new_axes(6.6, 0.24 * len(table) + 1.2)
    left = 0
    for word, colour, hatch in zip(words, (COLOURS[0], "#dddddd", COLOURS[1]), ("", "////", "xxxx"), strict=True):
        style = {"color": colour, "hatch": hatch, "edgecolor": "white"}
        ax.barh(np.arange(len(table)), table[f"share_{word}"], left=left, label=word, **style)
        left = left + table[f"share_{word}"]
    several = table["context"].nunique() > 1
    names = [f"{m} ({c})" if several else str(m) for c, m in zip(table["context"], table["metric"], strict=True)]
    ax.set_yticks(np.arange(len(table)), names, fontsize=8 if len(table) > 20 else 10)
    ax.set(xlim=(0, 1), ylim=(-0.6, len(table) - 0.4), xlabel="share of pairs")
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, fontsize=10)
    return ax
