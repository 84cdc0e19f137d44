"""Figures of resampling and null distributions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from ._style import COLOURS, names_as_written, new_axes


@names_as_written
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


@names_as_written
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
    ax = new_axes(ax, 7, 3.4)
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
