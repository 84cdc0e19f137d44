"""The scored translations of one metric as flat rows, and isotonic fits on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy.optimize import isotonic_regression

from .._checks import Undefined
from .._equal import OF_MEAN, merged
from ..evalset import EvalSet, as_evalset, metric_names, recomputed
from ..resampling import units_of

#: A variance or covariance that is a smaller share of the squares is 0 but for rounding.
NOTHING = 1e-12
#: Shares of draws below and above a 95 % interval.
TAILS = [0.025, 0.975]
#: The counts of "no resampling": one draw, with its only unit once.
ONCE = np.ones((1, 1), dtype=np.int32)


@dataclass(frozen=True)
class Cells:
    """One metric's translations as rows: first those with both scores, then those with a metric score alone."""

    human: np.ndarray  # (n_paired,)
    scores: np.ndarray  # (n_rows,)
    system: np.ndarray  # (n_rows,) positions
    segment: np.ndarray  # (n_rows,) positions
    n_systems: int
    unit: np.ndarray  # (n_rows,) what is drawn or moved whole: the row's segment or document, as a number

    @property
    def n_paired(self) -> int:
        """Number of rows with both scores."""
        return len(self.human)

    def of(self, system: int) -> Cells:
        """Return the paired rows of one system, as a set of one system."""
        keep = np.flatnonzero(self.system[: self.n_paired] == system)
        alone = np.zeros(len(keep), np.int64)
        return Cells(self.human[keep], self.scores[keep], alone, self.segment[keep], 1, self.unit[keep])

    def system_means(self, values: np.ndarray, times: np.ndarray | None = None) -> np.ndarray:
        """Return each system's mean over the first ``len(values)`` rows, each taken so often; NaN where it has none."""
        times = np.ones(len(values)) if times is None else times[: len(values)]
        system = self.system[: len(values)]
        with np.errstate(invalid="ignore"):
            sums, sizes = (np.bincount(system, v, self.n_systems) for v in (values * times, times))
            return sums / sizes


def tables_of(
    function: Callable[..., tuple[pd.DataFrame, ...]], jobs: Sequence[tuple], names: list[str], n_jobs: int | None
) -> list[pd.DataFrame]:
    """Return the tables that a function returns, each for all jobs together.

    Columns in front, ``names``, say what a row is about: the name of the set, with which a job begins, and what follows
    it in the job.
    """
    found = Parallel(n_jobs=n_jobs, prefer="threads")(delayed(function)(*job) for job in jobs)
    keys = [(job[0].name, *job[1 : len(names)]) for job in jobs]
    joined = (pd.concat(tables, keys=keys, names=names) for tables in zip(*found, strict=True))
    return [table.reset_index(level=names).reset_index(drop=True) for table in joined]


def cells_of(es: EvalSet, metric: str, *, paired: bool = True, least: int = 1, unit: str = "segment") -> Cells:
    """Return the rows of one metric; raise if there is one system only, or one has no translation with both scores."""
    if len(es.systems) < least:
        raise Undefined(f"set {es.name!r} has one system; there is no other to compare it with.")
    metric_names(es, metric)
    human, scores = es.human, es[metric]
    both = ~(np.isnan(human) | np.isnan(scores))
    bare = [system for system, any_paired in zip(es.systems, both.any(axis=1), strict=True) if not any_paired]
    if bare:
        raise Undefined(
            f"no translation of {', '.join(map(repr, bare[:5]))} has both a human score and a score of {metric!r}, "
            "so it cannot be judged; leave it out with es.select(systems=...)."
        )
    system, segment = (a.astype(np.int64) for a in np.nonzero(both))
    values = scores[both]
    if not paired:
        alone = np.isnan(human) & ~np.isnan(scores)
        more = np.nonzero(alone)
        system, segment = np.concatenate([system, more[0]]), np.concatenate([segment, more[1]])
        values = np.concatenate([values, scores[alone]])
    return Cells(human[both], values, system, segment, es.shape[0], units_of(es, unit)[segment])


@dataclass(frozen=True)
class Fits:
    """What `fit` returns: the mean fit at each row, and the draws behind it."""

    rows: np.ndarray  # (n_rows,)
    grid: np.ndarray  # (n_grid,) mean fit there
    grid_draws: np.ndarray  # (n_resamples, n_grid)
    deviations: np.ndarray  # (n_resamples, n_systems): mean fit - mean y


def fit(
    cells: Cells, unit: np.ndarray | None = None, counts: np.ndarray | None = None, grid: np.ndarray | None = None
) -> Fits:
    """Fit human on metric scores isotonically in each resample, or once; see `isotonic_draws`."""
    x = cells.scores
    if counts is None:
        unit, counts = np.zeros(len(x), np.int64), ONCE
    points, at = np.unique(x if grid is None else np.concatenate([x, grid]), return_inverse=True)
    at, kept = at[: len(x)], at[len(x) :]
    mean, at_kept, deviations = isotonic_draws(cells, cells.human, points, at, unit, counts, kept)
    return Fits(mean[at], mean[kept], at_kept, deviations)


def isotonic_draws(cells: Cells, human, points, at, unit, counts, kept) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Fit human on metric scores isotonically in each resample, and average fit and human score over each system.

    ``points`` are the distinct metric scores, ``at`` says at which of them each row lies. Resample ``b`` takes a row
    ``counts[b, unit[row]]`` times. Where a resample has no score, the fit lies on the line between the nearest ones.
    Returns the mean fit at every point (n_points,), the fits at ``points[kept]`` (n_resamples, n_kept), and each
    system's mean fit less its mean human score (n_resamples, n_systems); NaN where a system was not drawn.
    """
    n = len(human)
    summed, at_kept = np.zeros(len(points)), np.empty((len(counts), len(kept)))
    deviations = np.empty((len(counts), cells.n_systems))
    for b, drawn in enumerate(counts):
        times = drawn[unit]
        weights = np.bincount(at[:n], times[:n], len(points))
        sums = np.bincount(at[:n], times[:n] * human, len(points))
        there = weights > 0
        steps = isotonic_regression(sums[there] / weights[there], weights=weights[there]).x
        fitted = np.interp(points, points[there], steps)
        summed += fitted
        at_kept[b] = fitted[kept]
        deviations[b] = cells.system_means(fitted[at], times) - cells.system_means(human, times)
    return summed / len(counts), at_kept, deviations


def resamples(cells: Cells, how: str, n_resamples: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return each row's unit, and how often each unit is taken in each draw, shape (n_resamples, n_units).

    Units are rows (``"cell"``), segments or documents. Units with paired rows and units without are resampled
    separately, so that every draw has as many of each as the data.
    """
    unit = np.arange(len(cells.scores)) if how == "cell" else cells.unit
    rated = np.unique(unit[: cells.n_paired])
    parts = [part for part in (rated, np.setdiff1d(unit, rated)) if len(part)]
    counts = np.zeros((n_resamples, int(unit.max()) + 1), dtype=np.int32)
    for draw in counts:
        for part in parts:
            draw[part] = np.bincount(rng.integers(len(part), size=len(part)), minlength=len(part))
    return unit, counts


def less_means(values: np.ndarray) -> np.ndarray:
    """Subtract the mean of each column, (n, n_columns); rounding must not decide which of the rest are equal."""
    rest = values - values.mean(axis=0)
    rounding = np.broadcast_to(OF_MEAN * np.abs(values).max(axis=0), values.shape).ravel()
    return merged(np.where(np.abs(rest.ravel()) > rounding, rest.ravel(), 0.0), rounding).reshape(values.shape)


def centre_segments(es: EvalSet | pd.DataFrame, metrics: Sequence[str] | str | None = None) -> EvalSet:
    r"""Subtract from every score the mean of its segment; how the systems differ on the segment remains.

    :math:`h_{kj} - \bar h_{\cdot j}` and :math:`m_{kj} - \bar m_{\cdot j}`. The difficulty of a segment moves the human
    and metric scores of all systems. If a metric follows difficulty more or less closely than it follows quality, a
    single map from metric to human scores has the wrong slope for systems, whichever way it is fitted. Within segments
    its slope is right.

    Parameters
    ----------
    es : EvalSet or pandas.DataFrame
    metrics : sequence of str, optional
        All by default.

    Returns
    -------
    EvalSet
        The segments that humans and these metrics scored for every system, and their documents;
        ``provenance["left_out"]`` counts the rest.

    Raises
    ------
    ValueError
        If a metric is unknown, or no segment is scored for every system.

    See Also
    --------
    mtmeta.system_dependence : system dependence of the centred scores.

    Examples
    --------
    >>> import mtmeta as mm
    >>> es = mm.EvalSet([[0, -6], [-1, -8]], {"m": [[.9, .2], [.7, .2]]}, systems=["A", "B"])
    >>> mm.sysdep.centre_segments(es).human.tolist()
    [[0.5, 1.0], [-0.5, -1.0]]
    """
    es = as_evalset(es)
    names = metric_names(es, metrics) if metrics is not None else [*es.further_ratings, *es.metrics]
    whole = ~np.isnan([es.human, *(es[name] for name in names)]).any(axis=(0, 1))
    if not whole.any():
        raise Undefined(
            f"no segment of {es.name!r} has scores by humans and {', '.join(map(repr, names[:3]))} for every system, "
            "so segments have no comparable means; leave out systems or metrics that lack many."
        )
    part = es.select(segments=np.array(es.segments, dtype=object)[whole], metrics=names)
    human, *scores = (less_means(values[:, whole]) for values in (es.human, *(es[name] for name in names)))
    scores = dict(zip(names, scores, strict=True))
    made = {"source": f"{es.name}, less segment means", "left_out": {"segments": int((~whole).sum())}}
    return recomputed(part, human, scores, name=f"{es.name} (within segments)", provenance=made)
