"""Figures of scores, agreement and ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from ..agreement import GROUPINGS, as_sets, check_choice, correlate, decompose_pearson
from ..evalset import EvalSet, as_evalset, unknown
from ._style import COLOURS, GREY, MARKERS, in_legend, least_squares_line, names_as_written, new_axes


def _spread(values: np.ndarray, n: int) -> list[int]:
    """Choose up to ``n`` positions whose values are spread evenly over the range, ignoring NaN."""
    targets = np.linspace(*np.nanquantile(values, [0.02, 0.98]), n)
    return list(dict.fromkeys(int(np.nanargmin(np.abs(values - target))) for target in targets))


@names_as_written
def three_views(es: EvalSet | pd.DataFrame, metric: str, *, n_groups: int = 4, axes: Sequence[Axes] | None = None):
    """Draw the same translations three times: pooled, by segment, by system.

    Parameters
    ----------
    es : EvalSet or pandas.DataFrame
    metric : str
    n_groups : int
        How many segments and systems to colour; they are spread over the range of human means,
        among those to which humans gave more than one score.
    axes : sequence of three Axes, optional

    Returns
    -------
    numpy.ndarray of Axes
        Metric score on x, human score on y; a least-squares line for each group.
    """
    es = as_evalset(es)
    axes = plt.subplots(1, 3, figsize=(10, 3.6), sharex=True, sharey=True)[1] if axes is None else np.asarray(axes)
    human, scores = es.human, es[metric]
    scored = ~(np.isnan(human) | np.isnan(scores))
    means = [np.full(es.shape[1], np.nan), np.full(es.shape[0], np.nan)]
    for axis, mean in enumerate(means):
        rated = np.where(scored, human, np.nan)
        varied = np.nanmax(rated, axis=axis, initial=-np.inf) > np.nanmin(rated, axis=axis, initial=np.inf)
        np.divide(np.nansum(rated, axis=axis), scored.sum(axis=axis), out=mean, where=varied)
    for ax in axes:
        ax.scatter(scores[scored], human[scored], s=6, color=GREY, alpha=0.25, linewidths=0, rasterized=True)
        ax.set_xlabel(metric)
    axes[0].set_ylabel("human score")
    least_squares_line(axes[0], scores[scored], human[scored], color="black")
    for ax, mean, by_system in ((axes[1], means[0], False), (axes[2], means[1], True)):
        for k, group in enumerate(_spread(mean, n_groups)):
            cells = (group, slice(None)) if by_system else (slice(None), group)
            keep = scored[cells]
            x, y = scores[cells][keep], human[cells][keep]
            style = {"color": COLOURS[k % len(COLOURS)]}
            size = 7 if by_system else 26
            ax.scatter(x, y, s=size, marker=MARKERS[k % len(MARKERS)], alpha=0.6, linewidths=0, **style)
            least_squares_line(ax, x, y, **style)
    for ax, title in zip(axes, ("no grouping", "segment grouping", "system grouping"), strict=True):
        ax.annotate(title, (0.02, 0.02), xycoords="axes fraction", fontweight="bold")
    return axes


@names_as_written
def decomposition(es: EvalSet | pd.DataFrame, metrics: Sequence[str] | None = None, *, ax: Axes | None = None) -> Axes:
    """Draw what each metric's pooled correlation is made of: between and within segments.

    Parameters
    ----------
    es : EvalSet or pandas.DataFrame
    metrics : sequence of str, optional
    ax : Axes, optional

    Returns
    -------
    Axes
        One bar per metric, ordered by pooled Pearson; the two parts sum to the black mark.
    """
    table = decompose_pearson(es, metrics).sort_values("value", ignore_index=True)
    ax = new_axes(ax, 7.2, 0.34 * len(table) + 1.1)
    y = np.arange(len(table))
    ax.barh(y, table["between"], color=COLOURS[0], label="between segments")
    left = np.where(np.sign(table["between"]) == np.sign(table["within"]), table["between"], 0)
    ax.barh(y, table["within"], left=left, color=COLOURS[4], hatch="//", edgecolor="white", label="within segments")
    ax.plot(table["value"], y, "|", color="black", markersize=14, markeredgewidth=2.5, label="sum: pooled Pearson")
    ax.axvline(0, color="black", linewidth=0.8)
    ax.set_yticks(y, table["metric"])
    ax.set_xlabel("contribution to pooled Pearson correlation")
    ax.legend(loc="lower right")
    return ax


@names_as_written
def parts_plane(
    sets: EvalSet | Sequence[EvalSet], groups: Mapping[str, Sequence[str]], *, axes: Sequence[Axes] | None = None
) -> np.ndarray:
    """Draw the two parts of every metric's pooled Pearson correlation as a point, one panel a set.

    Parameters
    ----------
    sets : EvalSet or sequence of EvalSet
    groups : mapping of str to sequence of str
        Up to six groups of metrics to draw in colour, by the label to show; all others are grey.
    axes : sequence of Axes, optional
        One for each set.

    Returns
    -------
    numpy.ndarray of Axes
        On x the part between segments, on y the part within; they sum to the pooled correlation, which is the same
        along each thin line. The cross on the zero line is the most that a metric can get which gives all
        translations of a segment the same score.

    Raises
    ------
    ValueError
        If there are more than six groups, or a metric is unknown.
    """
    sets = as_sets(sets)
    if len(groups) > len(COLOURS):
        raise ValueError(f"`groups` may have up to {len(COLOURS)} entries; found {len(groups)}.")
    if axes is None:
        axes = plt.subplots(1, len(sets), figsize=(4.2 * len(sets), 4), sharex=True, sharey=True, squeeze=False)[1][0]
    axes = np.atleast_1d(axes)
    tables = [decompose_pearson(es).set_index("metric") for es in sets]
    everything = pd.concat(tables)
    ceilings = [float(np.sqrt(table["human_between"].iloc[0])) for table in tables]
    x_range = min(0, everything["between"].min()) - 0.03, max(*ceilings, everything["between"].max()) + 0.03
    y_range = min(0, everything["within"].min()) - 0.03, max(0, everything["within"].max()) + 0.04
    for ax, es, table, ceiling in zip(axes, sets, tables, ceilings, strict=True):
        for name in (name for names in groups.values() for name in names):
            if name not in table.index:
                raise unknown(f"metric in set {es.name!r}:", name, es.metrics)
        for level in np.arange(0.1, 2, 0.1):
            ax.plot([level + 1, level - 1], [-1, 1], color=GREY, linewidth=0.6, alpha=0.5, zorder=0)
        ax.axhline(0, color="black", linewidth=0.8, zorder=0)
        ax.plot(table["between"], table["within"], ".", color=GREY, markersize=7)
        for k, (label, names) in enumerate(groups.items()):
            part = table.loc[list(names)]
            ax.plot(part["between"], part["within"], MARKERS[k], color=COLOURS[k], markersize=8, label=in_legend(label))
        ax.plot(ceiling, 0, "x", color="black", markersize=9, markeredgewidth=2, label="most a blind metric can get")
        ax.set(xlim=x_range, ylim=y_range)
        ax.annotate(es.language_pair or es.name, (0.97, 0.95), xycoords="axes fraction", ha="right", fontweight="bold")
        ax.set_xlabel("part between segments")
    axes[0].set_ylabel("part within segments")
    axes[0].figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=10)
    return axes


@names_as_written
def tie_baselines(*, marked: float | None = None, ax: Axes | None = None) -> Axes:
    r"""Draw what acc_eq gives metrics that know nothing, against the human tie share t.

    A constant metric gets t, noise that never ties :math:`(1-t)/2`, and a guess among "better",
    "worse" and "equal" 1/3.

    Parameters
    ----------
    marked : float, optional
        A tie share to mark, in [0, 1].
    ax : Axes, optional

    Returns
    -------
    Axes
    """
    ax = new_axes(ax)
    t = np.linspace(0, 1, 101)
    lines = (
        ("constant", t, "-"),
        ("noise, never ties", (1 - t) / 2, "--"),
        ("three-sided coin", np.full(101, 1 / 3), ":"),
    )
    for (label, y, style), colour in zip(lines, COLOURS, strict=False):
        ax.plot(t, y, style, color=colour, label=label)
    ax.fill_between(t, np.maximum(t, (1 - t) / 2), 0, color=GREY, alpha=0.15, linewidth=0)
    if marked is not None:
        ax.axvline(marked, color="black", linewidth=1)
        ax.annotate(f" t = {marked:.3f}", (marked, 0.93))
    ax.set(xlabel="share of pairs that humans tie, t", ylabel="acc_eq", xlim=(0, 1), ylim=(0, 1))
    ax.legend(loc="upper left")
    return ax


@names_as_written
def rank_slopes(
    es: EvalSet | pd.DataFrame,
    *,
    groupings: Sequence[str] = ("none", "segment"),
    coefficient: str = "pearson",
    highlight: Sequence[str] = (),
    ax: Axes | None = None,
) -> Axes:
    """Draw each metric's rank under several groupings, one line a metric.

    Parameters
    ----------
    es : EvalSet or pandas.DataFrame
    groupings : sequence of str
        From left to right; see `mtmeta.correlate`.
    coefficient : str
    highlight : sequence of str
        Metrics to draw in colour and to label on the right; the others are grey.
    ax : Axes, optional

    Returns
    -------
    Axes
        Rank 1 is on top.
    """
    es = as_evalset(es)
    for grouping in groupings:
        check_choice("groupings", grouping, GROUPINGS)
    values = [correlate(es, coefficient=coefficient, grouping=g).set_index("metric")["value"] for g in groupings]
    ranks = pd.concat(values, axis=1).rank(ascending=False, method="min")
    ax = new_axes(ax, 6.4, max(3.4, 0.1 * len(ranks) + 1.2))
    x = np.arange(len(groupings))
    for metric, row in ranks.iterrows():
        if metric not in highlight:
            ax.plot(x, row, "-", color=GREY, alpha=0.45, linewidth=1)
    gap, label_y = 0.032 * len(ranks), -np.inf
    for metric in sorted(highlight, key=lambda m: ranks.loc[m].iloc[-1]):
        k, row = list(highlight).index(metric), ranks.loc[metric]
        label_y = max(row.iloc[-1], label_y + gap)  # neighbours' labels must not touch
        ax.plot(x, row, "-", color=COLOURS[k % len(COLOURS)], marker=MARKERS[k % len(MARKERS)], linewidth=2.5, zorder=3)
        ax.annotate(metric, (x[-1] + 0.06, label_y), va="center", fontsize=10)
        ax.annotate(f"{row.iloc[0]:.0f}", (x[0] - 0.06, row.iloc[0]), va="center", ha="right", fontsize=10)
    ax.set_xticks(x, [f"{g} grouping" if g != "none" else "no grouping" for g in groupings])
    ax.set_xlim(x[0] - 0.25, x[-1] + 0.9)
    ax.set_ylim(len(ranks) + 1, 0)
    ax.set_yticks([])
    ax.set_ylabel(f"rank of {len(ranks)} metrics, best on top")
    ax.spines["left"].set_visible(False)
    return ax
