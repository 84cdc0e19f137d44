"""Figures of published against recomputed numbers."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from ._style import COLOURS, names_as_written, new_axes


@names_as_written
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
    ax = new_axes(ax, 7.6, 0.45 * len(sources) + 1.3)
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
