"""Figures: one function each, Axes in and out.

Colours are Okabe and Ito's, which colour-blind readers can tell apart; a marker or line style
always says the same thing a second time. Figures are white and opaque, so they read in a dark
theme too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from .agreement import GROUPINGS, check_choice, correlate, decompose_pearson
from .evalset import EvalSet, as_evalset

__all__ = [
    "COLOURS",
    "decomposition",
    "ledger_differences",
    "null_distribution",
    "rank_slopes",
    "resampling_units",
    "three_views",
    "tie_baselines",
    "use_style",
]

#: Okabe and Ito 2008, without black and yellow.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
MARKERS = ("o", "s", "^", "D", "v", "P")
_GREY = "#8c8c8c"


def use_style() -> None:
    """Set matplotlib's defaults for the book: white background, readable sizes, no clutter."""
    plt.rcParams.update(
        {
            "figure.dpi": 110,
            "figure.facecolor": "white",
            "axes.facecolor": "white",
            "savefig.facecolor": "white",
            "savefig.bbox": "tight",
            "font.size": 11,
            "axes.labelsize": 11,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.prop_cycle": plt.cycler(color=COLOURS),
            "lines.linewidth": 2,
            "legend.frameon": False,
            "figure.constrained_layout.use": True,
        }
    )


def _axes(ax: Axes | None, width: float = 6.4, height: float = 4.0) -> Axes:
    return plt.subplots(figsize=(width, height))[1] if ax is None else ax


def _line(ax: Axes, x: np.ndarray, y: np.ndarray, **style) -> None:
    """Draw the least-squares line over the range of ``x``; nothing where it is undefined."""
    if len(x) >= 2 and np.ptp(x) > 0:
        slope, intercept = np.polyfit(x, y, 1)
        ends = np.array([x.min(), x.max()])
        ax.plot(ends, slope * ends + intercept, **style)


def _spread(values: np.ndarray, n: int) -> list[int]:
    """Choose up to ``n`` positions whose values are spread evenly over the range, ignoring NaN."""
    targets = np.linspace(*np.nanquantile(values, [0.02, 0.98]), n)
    return list(dict.fromkeys(int(np.nanargmin(np.abs(values - target))) for target in targets))


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
        ax.scatter(scores[scored], human[scored], s=6, color=_GREY, alpha=0.25, linewidths=0, rasterized=True)
        ax.set_xlabel(metric)
    axes[0].set_ylabel("human score")
    _line(axes[0], scores[scored], human[scored], color="black")
    for ax, mean, by_system in ((axes[1], means[0], False), (axes[2], means[1], True)):
        for k, group in enumerate(_spread(mean, n_groups)):
            cells = (group, slice(None)) if by_system else (slice(None), group)
            keep = scored[cells]
            x, y = scores[cells][keep], human[cells][keep]
            style = {"color": COLOURS[k % len(COLOURS)]}
            size = 7 if by_system else 26
            ax.scatter(x, y, s=size, marker=MARKERS[k % len(MARKERS)], alpha=0.6, linewidths=0, **style)
            _line(ax, x, y, **style)
    for ax, title in zip(axes, ("no grouping", "segment grouping", "system grouping"), strict=True):
        ax.annotate(title, (0.02, 0.02), xycoords="axes fraction", fontweight="bold")
    return axes


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
    ax = _axes(ax, 7.2, 0.34 * len(table) + 1.1)
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
    ax = _axes(ax)
    t = np.linspace(0, 1, 101)
    lines = (
        ("constant", t, "-"),
        ("noise, never ties", (1 - t) / 2, "--"),
        ("three-sided coin", np.full(101, 1 / 3), ":"),
    )
    for (label, y, style), colour in zip(lines, COLOURS, strict=False):
        ax.plot(t, y, style, color=colour, label=label)
    ax.fill_between(t, np.maximum(t, (1 - t) / 2), 0, color=_GREY, alpha=0.15, linewidth=0)
    if marked is not None:
        ax.axvline(marked, color="black", linewidth=1)
        ax.annotate(f" t = {marked:.3f}", (marked, 0.93))
    ax.set(xlabel="share of pairs that humans tie, t", ylabel="acc_eq", xlim=(0, 1), ylim=(0, 1))
    ax.legend(loc="upper left")
    return ax


def ledger_differences(recomputed: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw recomputed minus printed values, in units of the last printed place.

    Parameters
    ----------
    recomputed : pandas.DataFrame
        Result of `mtmeta.protocols.recompute`.
    ax : Axes, optional

    Returns
    -------
    Axes
        One row per source. Inside the band the two agree at the printed precision; crosses do not.
    """
    values = recomputed[recomputed["quantity"] == "value"]
    sources = list(dict.fromkeys(values["source"]))[::-1]
    ax = _axes(ax, 7.6, 0.45 * len(sources) + 1.3)
    places = values["printed"].str.partition(".")[2].str.len()
    units = values["difference"] * 10.0**places
    row = values["source"].map({s: k for k, s in enumerate(sources)})
    jitter = np.random.default_rng(0).uniform(-0.3, 0.3, len(values))
    ax.axvspan(-0.5, 0.5, color=COLOURS[2], alpha=0.15, linewidth=0)
    same = values["agrees"].to_numpy()
    ax.scatter(units[same], (row + jitter)[same], s=5, color=COLOURS[0], alpha=0.5, linewidths=0, rasterized=True)
    ax.scatter(units[~same], (row + jitter)[~same], s=36, marker="x", color=COLOURS[1], linewidths=1.5)
    ax.set_xscale("symlog", linthresh=1)
    ends = units.min() * 1.3, max(units.max() * 1.3, 3)
    marks = [m for m in (-100, -50, -20, -10, -5, -2, -1, 0, 1, 2, 5, 10, 20, 50, 100) if ends[0] <= m <= ends[1]]
    ax.set_xlim(ends)
    ax.set_xticks(marks, [str(m) for m in marks])
    ax.minorticks_off()
    ax.set_yticks(range(len(sources)), sources)
    ax.set_xlabel("ours - printed, in units of the last printed place")
    return ax


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
    ax = _axes(ax, 6.4, 0.1 * len(ranks) + 1.2)
    x = np.arange(len(groupings))
    for metric, row in ranks.iterrows():
        if metric not in highlight:
            ax.plot(x, row, "-", color=_GREY, alpha=0.45, linewidth=1)
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


def resampling_units(draws: Mapping[str, np.ndarray], observed: float, *, axes: Sequence[Axes] | None = None):
    """Draw distributions of one difference under several ways of resampling, one below the other.

    Parameters
    ----------
    draws : mapping of str to numpy.ndarray
        What was swapped or drawn, and the differences it gave.
    observed : float
        The difference on the data, drawn as a dashed line.
    axes : sequence of Axes, optional

    Returns
    -------
    numpy.ndarray of Axes
        On one x axis; each has its standard deviation beside it.
    """
    if axes is None:
        axes = plt.subplots(len(draws), 1, figsize=(7, 1.25 * len(draws) + 0.6), sharex=True)[1]
    axes = np.atleast_1d(axes)
    for k, (ax, (label, values)) in enumerate(zip(axes, draws.items(), strict=True)):
        ax.hist(values, bins=40, density=True, color=COLOURS[k % len(COLOURS)], alpha=0.75)
        ax.axvline(observed, color="black", linestyle="--", linewidth=1.5)
        ax.axvline(0, color="black", linewidth=0.8)
        ax.set_yticks([])
        ax.spines["left"].set_visible(False)
        ax.annotate(f"{label}\nsd {values.std():.4f}", (0.99, 0.93), xycoords="axes fraction", ha="right", va="top")
    axes[-1].set_xlabel("difference between the two metrics (dashed: observed)")
    return axes


def null_distribution(
    draws: np.ndarray, observed: float, exact: tuple[np.ndarray, np.ndarray] | None = None, *, ax: Axes | None = None
) -> Axes:
    """Draw a null distribution: drawn differences, the exact probabilities, the observed difference.

    Parameters
    ----------
    draws : numpy.ndarray
        Null differences.
    observed : float
    exact : tuple of numpy.ndarray, optional
        Equally spaced possible differences and their probabilities.
    ax : Axes, optional

    Returns
    -------
    Axes
        Bars for the draws, a line for the exact distribution, dashed where it was observed.
    """
    ax = _axes(ax, 7, 3.4)
    bins = 40
    if exact is not None:
        values, mass = exact
        step = values[1] - values[0]
        inside = mass > mass.max() * 1e-5
        ax.plot(values[inside], mass[inside] / step, color="black", linewidth=1.8, label="exact", zorder=3)
        width = step * max(1, round(np.ptp(values[inside]) / step / 40))
        bins = np.arange(values[inside][0] - step / 2, values[inside][-1] + width, width)
    ax.hist(draws, bins=bins, density=True, color=COLOURS[0], alpha=0.6, label=f"{len(draws):,} draws")
    ax.axvline(observed, color=COLOURS[1], linestyle="--", label="observed")
    ax.set(xlabel="difference between the two metrics under the null hypothesis", ylabel="density", yticks=[])
    ax.legend(loc="upper left")
    return ax
