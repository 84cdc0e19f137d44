"""Figures of single pages on real data: each takes a table that the page has computed."""

from __future__ import annotations

from itertools import product

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.colors import PowerNorm

from mtmeta.plots import COLOURS, MARKERS

GREY = "#8c8c8c"


def marks(names) -> dict:
    """Return label, colour and marker for each name; after eight of them, another marker."""
    colours, markers = (*COLOURS, "#000000", GREY), (*MARKERS, "X", "*")
    found = {}
    for k, name in enumerate(dict.fromkeys(names)):
        marker = markers[(k + k // 8) % 8]
        found[name] = {"label": name, "color": colours[k % 8], "marker": marker}
    return found


# -- aggregation -------------------------------------------------------------------------


def score_grid(scores: pd.DataFrame, by, axes, title: str):
    """Draw every pair of columns: histograms on the diagonal, points below, Pearson above.

    The number in small type is the median Pearson within groups (``by``) of four or more.
    """
    names = list(scores)
    pooled = scores.corr()
    parts = [
        part.corr() for _, part in scores.groupby(np.asarray(by)) if len(part) >= 4
    ]
    within = pd.concat([*parts, pooled * np.nan]).groupby(level=0).median()
    for (i, row), (j, column) in product(enumerate(names), repeat=2):
        ax = axes[i, j]
        place = {"ha": "center", "va": "center", "transform": ax.transAxes}
        if i == j:
            ax.hist(scores[row], bins=20, color=COLOURS[0], alpha=0.7)
            ax.set_yticks([])
        elif i > j:
            ax.scatter(
                scores[column],
                scores[row],
                s=6,
                alpha=0.5,
                color=COLOURS[0],
                linewidths=0,
            )
        else:
            ax.text(0.5, 0.58, f"{pooled.loc[row, column]:.2f}", fontsize=14, **place)
            if np.isfinite(inside := within.loc[row, column]):
                ax.text(0.5, 0.26, f"within: {inside:.2f}", fontsize=8, **place)
            ax.axis("off")
        ax.set_xlabel(column if i == len(names) - 1 else "", fontsize=9)
        ax.set_ylabel(row if j == 0 else "", fontsize=9)
        ax.tick_params(labelsize=8)
    axes[0, len(names) // 2].set_title(title, fontsize=11)


def three_columns(table: pd.DataFrame, label: str, ax):
    """Draw a group of bars per row and a bar per column, with the number at its end."""
    k = len(table.columns)
    height = 0.8 / k
    ax.use_sticky_edges = False
    for j, (name, hatch) in enumerate(zip(table, ("", "////", "..."), strict=False)):
        values = table[name].to_numpy(dtype=float)
        y = np.arange(len(table)) + (j - (k - 1) / 2) * height
        style = {
            "hatch": hatch,
            "edgecolor": "white",
            "linewidth": 0,
            "color": COLOURS[j],
        }
        ax.barh(y, np.nan_to_num(values), 0.92 * height, label=name, **style)
        known = np.isfinite(values)
        for place, value in zip(y[known], values[known], strict=True):
            ax.text(
                max(value, 0) + 0.008, place, f"{value:.3f}", va="center", fontsize=8
            )
    ax.axvline(0, color="black", linewidth=0.8)
    ax.set_yticks(range(len(table)), table.index)
    ax.invert_yaxis()
    ax.set(
        xlabel=label,
        xlim=(None, max(1.0, np.nanmax(table.to_numpy(dtype=float)) + 0.1)),
    )
    above = 1.0 + 0.5 / (len(table) + 1)
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, above), ncols=k, fontsize=9)


def paired_differences(table: pd.DataFrame):
    """Draw segment less corpus aggregation for each set, with its interval."""
    sets, metrics = list(table["set"].unique()), table["metric"].unique()
    ax = plt.subplots(figsize=(6.6, 0.24 * len(sets) * len(metrics) + 1.2))[1]
    for j, (metric, style) in enumerate(marks(metrics).items()):
        part = table[table["metric"] == metric]
        y = (
            np.array([sets.index(s) for s in part["set"]])
            + (j - (len(metrics) - 1) / 2) * 0.3
        )
        ax.hlines(y, part["low"], part["high"], color=style["color"], linewidth=1.5)
        ax.plot(part["difference"], y, linestyle="", markersize=5, **style)
    ax.axvline(0, color="black", linewidth=0.8)
    ax.set_yticks(range(len(sets)), sets)
    ax.invert_yaxis()
    ax.set_xlabel(
        "corpus better  ←  difference of Pearson correlations  →  segment better"
    )
    ax.legend(loc="lower left")
    return ax


# -- ledger ------------------------------------------------------------------------------


def ledger_differences(recomputed: pd.DataFrame, ax):
    """Draw ours less printed for every value of the ledger, in units of its last digit.

    Green is the rounding of the printed value; a cross does not agree.
    """
    values = recomputed[recomputed["quantity"] == "value"]
    sources = list(values["source"].unique())[::-1]
    places = values["printed"].str.partition(".")[2].str.len()
    units = values["difference"] * 10.0**places
    jitter = np.random.default_rng(0).uniform(-0.3, 0.3, len(values))
    row = values["source"].map(sources.index) + jitter
    ax.axvspan(-0.5, 0.5, color=COLOURS[2], alpha=0.15, linewidth=0)
    same = values["agrees"].to_numpy()
    dots = {
        "s": 5,
        "color": COLOURS[0],
        "alpha": 0.5,
        "linewidths": 0,
        "rasterized": True,
    }
    ax.scatter(units[same], row[same], **dots)
    ax.scatter(
        units[~same], row[~same], s=36, marker="x", color=COLOURS[1], linewidths=1.5
    )
    ax.set_xscale("symlog", linthresh=1)
    ticks = (-100, -50, -20, -10, -5, -2, -1, 0, 1, 2, 5, 10, 20, 50, 100)
    ax.set_xticks(ticks, ticks)
    ax.minorticks_off()
    ax.set(xlim=(units.min() * 1.3, max(units.max() * 1.3, 3)))
    ax.set(yticks=range(len(sources)), yticklabels=sources)
    ax.set_xlabel("ours - printed, in units of the last printed place")


# -- local accuracy ----------------------------------------------------------------------


def tau_ap_heatmap(table: pd.DataFrame, ax):
    """Draw tau_AP between contexts, the global order first; darker is more alike."""
    from seaborn import heatmap  # takes a second to import

    scale = PowerNorm(2, vmin=-1, vmax=1)  # most of the shades for 0 to 1
    names = ["global"] + [""] * (len(table) - 1)
    ticks = (-1, 0, 0.25, 0.5, 0.75, 1)
    bar = {
        "shrink": 0.8,
        "label": "tau_AP of metrics ordered by accuracy",
        "ticks": ticks,
    }
    named = {"xticklabels": names, "yticklabels": names}
    heatmap(
        table, norm=scale, cmap="cividis_r", cbar_kws=bar, square=True, ax=ax, **named
    )
    ax.axhline(1, color="black", linewidth=1.5)
    ax.axvline(1, color="black", linewidth=1.5)
    ax.tick_params(length=0, labelsize=8 if len(table) > 20 else 10, labelrotation=0)
    ax.tick_params("x", labelrotation=90)
    ax.set(xlabel="", ylabel="")


def accuracy_by_quality(table: pd.DataFrame, buckets):
    """Draw accuracy in buckets of human scores, each at its middle percentile."""
    sizes = buckets.table.set_index("bucket")["n"]
    middle = 100 * (sizes.cumsum() - sizes / 2) / sizes.sum()
    ax = plt.subplots(figsize=(6.8, 4.2))[1]
    styles = marks(table["metric"])
    for metric, style in styles.items():
        rows = table[table["metric"] == metric].sort_values("context")
        at = middle[rows["context"]].to_numpy()
        size = 5 if len(at) <= 30 else 2.5
        ax.plot(at, rows["accuracy"], linewidth=1.2, markersize=size, **style)
        band = {"color": style["color"], "alpha": 0.12, "linewidth": 0}
        ax.fill_between(at, rows["low"], rows["high"], **band)
    ax.set(xlabel="percentile of human scores (better →)", ylabel="accuracy")
    ax.legend(
        loc="upper left",
        bbox_to_anchor=(1.0, 1.0),
        fontsize=9 if len(styles) > 8 else 10,
    )
    return ax


def values_with_ends(table: pd.DataFrame, label: str):
    """Draw a row for each row of a table whose cells are a value and the ends of its interval."""
    ax = plt.subplots(figsize=(6.6, 4.2))[1]
    for k, (column, mark) in enumerate(zip(table, MARKERS, strict=False)):
        value, low, high = np.array(table[column].tolist()).T
        at = np.arange(len(table)) + 0.22 * (k - 1)
        ends = [value - low, high - value]
        ax.errorbar(value, at, xerr=ends, fmt=mark, label=column)
    ax.axvline(0, color="black", linestyle=":")
    ax.set(yticks=range(len(table)), yticklabels=table.index, xlabel=label)
    ax.invert_yaxis()
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
    return ax


def choices_for_contexts(table: pd.DataFrame, names, gains):
    """Draw what a choice for each context gains, on the pairs that made it and on others.

    ``gains`` are those of each context, on others, a sequence for each row of the table.
    """
    at = np.arange(len(table))
    ends = [table["gain"] - table["low"], table["high"] - table["gain"]]
    ax = plt.subplots(figsize=(6.6, 4.2))[1]
    for y, values in zip(at, gains, strict=True):
        label = "on others, each context" if y == 0 else None
        ax.plot(values, [y] * len(values), ".", color="0.6", label=label, zorder=1)
    mark = {"markerfacecolor": "white", "label": "on the pairs that chose"}
    ax.plot(table["fitted"], at, "o", **mark)
    ax.errorbar(table["gain"], at, xerr=ends, fmt="D", label="on others, mean")
    ax.axvline(0, color="black", linestyle=":")
    ax.set(yticks=at, yticklabels=names)
    ax.set_xlabel("accuracy gained by a choice for each context")
    ax.invert_yaxis()
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
    return ax


def likeness_of_halves(table: pd.DataFrame):
    """Draw how alike two halves of the real pairs are, and halves of damaged and real ones; the index has the set."""
    ax = plt.subplots(figsize=(5, 2.2))[1]
    at = np.arange(len(table))
    mark = {"markerfacecolor": "white", "label": "real with real"}
    ax.plot(table["both real"], at, "o", **mark)
    ax.plot(table["across"], at, "D", label="damaged with real")
    ax.axvline(0, color="black", linestyle=":")
    ax.set(yticks=at, yticklabels=table.index, xlim=(-0.25, 0.65))
    ax.set(ylim=(len(table) - 0.5, -0.5), xlabel="tau_AP between two halves")
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
    return ax


def variance_by_combination(table: pd.DataFrame, metrics):
    """Draw the variance of accuracy between combinations of k kinds of damage."""
    ax = plt.subplots(figsize=(6.8, 4.2))[1]
    for metric, style in marks(metrics).items():
        rows = table[table["metric"] == metric].sort_values("k")
        ax.plot(rows["k"], rows["variance"], linewidth=1.5, markersize=5, **style)
        line = {"linestyle": "--", "linewidth": 1.2, "color": style["color"]}
        ax.plot(rows["k"], rows["expected"], **line)
    ax.plot(
        [], [], linestyle="--", linewidth=1.2, color=GREY, label="expected from overlap"
    )
    ax.set(xlabel="perturbations combined, k", xticks=sorted(set(table["k"])))
    ax.set(ylabel="variance of accuracy between combinations", ylim=(0, None))
    ax.legend(
        loc="upper left",
        bbox_to_anchor=(1.0, 1.0),
        fontsize=9 if len(metrics) > 7 else 10,
    )
    return ax


# -- raters ------------------------------------------------------------------------------


def ten_best(tops: dict[str, pd.DataFrame]):
    """Draw the ten best metrics of each language pair beside a second rater and a perfect metric."""
    fig, axes = plt.subplots(1, 2, figsize=(7.2, 3.8), sharex=True)
    for ax, (pair, top) in zip(axes, tops.items(), strict=True):
        top = top.head(10)
        at, rho = np.arange(len(top)), top.iloc[0].filter(like="reliability")
        second, *band = np.sqrt(rho.astype(float))
        half = [top["corrected"] - top["low"], top["high"] - top["corrected"]]
        ax.errorbar(top["corrected"], at, xerr=half, fmt="o", label="a metric")
        ax.axvspan(*band, color="C1", alpha=0.2, lw=0)
        ax.axvline(second, color="C1", ls=":", label="a second rater")
        ax.axvline(1, color="black", ls="--", lw=1, label="a perfect metric")
        ax.set_yticks(at, top.index, fontsize=9)
        ax.invert_yaxis()
        ax.set(xlabel=f"corrected correlation, {pair}", xlim=(0.45, 1.02))
    handles = axes[0].get_legend_handles_labels()
    fig.legend(*handles, loc="outside upper center", ncols=3)


def best_and_rater(best: dict[str, pd.DataFrame]):
    """Draw the best metric beside a second rater, and its lead, by language pair (panels) and kind of rating (rows)."""
    fig, axes = plt.subplots(2, 2, figsize=(7.2, 3.8), sharex="col", sharey=True)
    for (left, right), (pair, rows) in zip(axes, best.items(), strict=True):
        at = np.arange(len(rows))
        for name, low, high, shift, mark, label in (
            ("corrected", "low", "high", -0.15, "o", "the best metric"),
            ("rater", "rater_low", "rater_high", 0.15, "s", "a second rater"),
        ):
            half = [rows[name] - rows[low], rows[high] - rows[name]]
            left.errorbar(rows[name], at + shift, xerr=half, fmt=mark, label=label)
        left.axvline(1, color="black", ls="--", lw=1, label="a perfect metric")
        half = [rows["lead"] - rows["lead_low"], rows["lead_high"] - rows["lead"]]
        right.errorbar(rows["lead"], at, xerr=half, fmt="D", color="C2")
        right.axvline(0, color="black", lw=1)
        left.set_yticks(at, rows.index, fontsize=9)
        left.set_ylabel(pair)
    left.set_xlabel("corrected correlation")
    right.set_xlabel("lead over a second rater")
    left.set_ylim(len(rows) - 0.5, -0.5)
    handles = left.get_legend_handles_labels()
    fig.legend(*handles, loc="outside upper center", ncols=3)


def first_choices(parts: dict, first: dict, tops: dict):
    """Draw which system each metric puts first (rows) by how well it agrees with raters (across)."""
    fig, axes = plt.subplots(1, 2, figsize=(7.2, 3.2))
    for ax, (pair, part) in zip(axes, parts.items(), strict=True):
        part, x = part[part["first for all"] > 0], tops[pair]["corrected"]
        at = first[pair].map({system: k for k, system in enumerate(part.index)})
        ax.plot(x[10:], at[10:], "D", color="C1", mfc="none", label="another metric")
        ax.plot(x[:10], at[:10], "o", color="C0", label="one of the ten best")
        ax.axhline(1.5, color="black", ls=":", lw=1)
        labels = [f"{k} (−{-v:.1f})" for k, v in part["mean rating"].items()]
        ax.set_yticks(range(len(part)), labels, fontsize=9)
        ax.set_ylim(len(part) - 0.5, -0.5)
        ax.set(xlabel=f"corrected correlation, {pair}")
    handles = axes[0].get_legend_handles_labels()
    fig.legend(*handles, loc="outside upper center", ncols=2)


def favours_twice(beside: pd.DataFrame, name: str):
    """Draw the favours of a metric by two collections of ratings."""
    ax = plt.subplots(figsize=(7.2, 3.4))[1]
    for kind, shift, style in (("sets", 0.15, "C1D"), ("side by side", -0.15, "C0o")):
        rows, at = beside[kind], np.arange(len(beside)) + shift
        half = [rows["favour"] - rows["low"], rows["high"] - rows["favour"]]
        look = {"color": style[:2], "fmt": style[2], "ms": 5, "lw": 1}
        ax.errorbar(rows["favour"], at, xerr=half, label=kind, **look)
    ax.axvline(0, color="black", lw=1)
    ax.set_yticks(np.arange(len(beside)), beside.index, fontsize=9)
    ax.set_xlabel(f"favour from {name}, human points")
    ax.legend(loc="upper left")


def favoured_and_slighted(who: pd.DataFrame, order, label: str):
    """Draw how many metrics favour or slight each system, the ten best in a darker colour."""
    ax, at = plt.subplots(figsize=(7.2, 3.9))[1], np.arange(len(order))
    for sign, colour, verb in ((1, "C0", "favoured"), (-1, "C1", "slighted")):
        for kind, alpha in (("all", 0.4), ("ten best", 1)):
            rows = who[kind].xs(sign, level="sign").reindex(order).fillna(0)
            look = {"color": colour, "alpha": alpha, "label": f"{verb}, {kind}"}
            ax.barh(at, sign * rows, **look)
    ax.axvline(0, color="black", lw=1)
    ax.set_yticks(at, order, fontsize=9)
    ax.set(xlabel=label, xlim=(-24, 24))
    ax.set_xticks((-20, -10, 0, 10, 20), (20, 10, 0, 10, 20))
    ax.legend(loc="lower right")


def planted_and_found(power: dict, sizes: dict[str, tuple]):
    """Draw in which share of the systems a planted favour is found, by its size and by the set that is left out."""
    fig, axes = plt.subplots(1, 2, figsize=(7.2, 2.9), sharey=True)
    for ax, (pair, planted) in zip(axes, sizes.items(), strict=True):
        for n, mark in zip((1, 2, 3), "os^", strict=True):
            line = power[pair, f"set {n}"]
            ax.plot(line.index, line, f"-{mark}", label=f"set {n} left out")
        ax.set(xlabel=f"points planted, {pair}", ylim=(-0.03, 1.03))
        ax.set_xticks(planted)
    axes[0].set_ylabel("share of systems found")
    handles = axes[0].get_legend_handles_labels()
    fig.legend(*handles, loc="outside upper center", ncols=3)


# -- sentinels ---------------------------------------------------------------------------


def dumbbells(tables: dict, label: str):
    """Draw a panel for each table: a line for each row, with a mark for each column."""
    fig, axes = plt.subplots(1, len(tables), figsize=(7.4, 5), sharex=True, sharey=True)
    middle = len(tables) // 2
    for ax, (name, table) in zip(axes, tables.items(), strict=True):
        rows = np.arange(len(table))
        ends = table.min(axis=1), table.max(axis=1)
        ax.hlines(rows, *ends, color="0.6", linewidth=1)
        for k, column in enumerate(table):
            fill = COLOURS[0] if k == 0 else "white"
            ax.plot(table[column], rows, MARKERS[k], label=column, mfc=fill)
        ax.set(yticks=rows, yticklabels=table.index, xlabel=name)
    axes[middle].set_xlabel(f"{axes[middle].get_xlabel()}\n{label}")
    axes[0].invert_yaxis()
    handles = axes[0].get_legend_handles_labels()
    fig.legend(*handles, loc="outside upper center", ncols=3)
    return axes


def score_against_length(es, names, *, axes, within: bool = False):
    """Draw scores against the length of the translation, with least-squares lines.

    ``names`` are metrics or "human", a panel each. ``within`` takes the means of
    segments from lengths and scores. At most 3,000 points are drawn, and the axis
    leaves out the shortest and the longest .2 %; the line and r use all.
    """
    texts = [es.texts.translations[system] for system in es.systems]
    length = np.array([[len(text) for text in own] for own in texts], dtype=float)
    styles = marks(names)
    for ax, name in zip(axes, names, strict=True):
        scores = es.human if name == "human" else es[name]
        scored = ~np.isnan(scores)
        x, y = (np.where(scored, values, np.nan) for values in (length, scores))
        if within:
            x, y = (v - pd.DataFrame(v).mean().to_numpy() for v in (x, y))
        x, y = x[scored], y[scored]
        shown = np.random.default_rng(0).permutation(len(x))[:3000]
        points = {"color": GREY, "alpha": 0.35, "linewidths": 0, "rasterized": True}
        ax.scatter(x[shown], y[shown], s=5, **points)
        ends = np.array([x.min(), x.max()])
        line = np.polyval(np.polyfit(x, y, 1), ends)
        ax.plot(ends, line, color=styles[name]["color"])
        room = 0.03 * np.ptp(y) or 1.0
        ax.set_xlim(np.quantile(x, [0.002, 0.998]))
        ax.set_ylim(y.min() - room, y.max() + room)
        r = 0.0 if np.ptp(y) == 0 else np.corrcoef(x, y)[0, 1]
        place = {"xycoords": "axes fraction", "ha": "center", "fontsize": 10}
        title = f"{name}, r = {r:.2f}"
        ax.annotate(title, (0.5, 1.02), fontweight="bold", **place)
        words = "length less segment mean" if within else "characters in translation"
        ax.set_xlabel(words)
    axes[0].set_ylabel("score less segment mean" if within else "score")


# -- system dependence -------------------------------------------------------------------


def system_curves(result, systems):
    """Draw the expected human score over the metric's, of all systems and of some."""
    ax = plt.subplots(figsize=(6.4, 4.2))[1]
    for k, name in enumerate(("all systems", *systems)):
        part = result.curves[result.curves["curve"] == name]
        ax.plot(
            part["score"],
            part["human"],
            ("-", "--", "-.")[k],
            color=COLOURS[k],
            label=name,
        )
        band = {"color": COLOURS[k], "alpha": 0.2, "linewidth": 0}
        ax.fill_between(part["score"], part["low"], part["high"], **band)
    ax.set(xlabel=f"{result.table['metric'][0]} score", ylabel="expected human score")
    ax.legend(loc="lower right")
    return ax


def sysdep_against_correlation(table: pd.DataFrame, axes):
    """Draw each metric's SysDep against its correlation; a dashed line for a constant metric.

    The metrics of lowest and of highest SysDep are named.
    """
    for ax, (name, style) in zip(axes, marks(table["set"]).items(), strict=True):
        part = table[table["set"] == name].sort_values("sysdep")
        ax.scatter(part["pearson"], part["sysdep"], s=22, alpha=0.8, **style)
        constant = (part["sysdep"] / part["relative"]).median()
        ax.axhline(constant, color="black", linestyle="--", linewidth=1)
        ax.set_ylim(0, 1.15 * part["sysdep"].max())
        middle = sum(ax.get_xlim()) / 2
        for (_, row), up in zip(part.iloc[[0, -1]].iterrows(), (-13, 4), strict=True):
            side, align = (-5, "right") if row["pearson"] > middle else (5, "left")
            how = {"textcoords": "offset points", "fontsize": 8.5, "ha": align}
            ax.annotate(
                row["metric"], (row["pearson"], row["sysdep"]), (side, up), **how
            )
    axes[0].set_ylabel("SysDep (MQM points)")


def parts_of_systems(table: pd.DataFrame):
    """Draw deviations within one system and across systems by the number of segments."""
    ax = plt.subplots(figsize=(6.4, 4.0))[1]
    styles = marks(["parts of one system", "different systems"]).values()
    for column, line, style in zip(
        ("within_sd", "across_sd"), ("-", "--"), styles, strict=True
    ):
        rows = table[table[column].notna()]
        ax.plot(rows["n_segments"], rows[column], line, **style)
    ax.set(xlabel="segments in each part (log scale)", xscale="log")
    ax.set_ylabel("sd of deviations (MQM points)")
    ticks = table["n_segments"].to_numpy()
    ax.set_xticks(ticks, [f"{n:.0f}" for n in ticks])
    ax.minorticks_off()
    ax.set_ylim(bottom=0)
    ax.legend()
    return ax
