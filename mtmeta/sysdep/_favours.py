"""Favours estimated with several ratings of each translation: each rating is the instrument of the others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from .._checks import Undefined, check_choice, check_count, check_level, generator
from .._names import counted
from .._pearson import scaled
from .._resampling import times_drawn, units_of
from ..evalset import EvalSet, as_evalset

UNITS = ("segment", "document")
#: Resamples that are held in memory at a time.
_BLOCK = 200


@dataclass(frozen=True)
class Favours:
    """The result of `favours`.

    Attributes
    ----------
    metric : str
    p_value : float
        Of "the metric treats all systems alike": the lowest p-value of the table.
    slope : float
        Points of the metric per point of quality, not weakened by the errors of the ratings.
    table : pandas.DataFrame
        ``system, human, favour, low, high, p_value``, best human mean first. ``human`` is the mean of all ratings;
        ``favour`` is in human points, positive where the metric favours the system over the average of all systems,
        with an interval for all systems at once. It is NaN where the metric does not rise with quality. ``p_value`` is
        corrected for the number of systems.
    draws : numpy.ndarray
        Favours in each resample, in units of the metric, shape (n_resamples, n_systems), in the order of the set.
    signature : str
    """

    metric: str
    p_value: float
    slope: float
    table: pd.DataFrame
    draws: np.ndarray = field(repr=False)
    signature: str

    def to_frame(self) -> pd.DataFrame:
        """Return a copy of ``table``."""
        return self.table.copy()


@dataclass(frozen=True)
class Sums:
    """What the estimate needs of each unit: sums over its segments, of scores less the mean of their segment."""

    cross: np.ndarray  # (n_units, degree, degree): powers of one rating times powers of another
    along: np.ndarray  # (n_units, degree): powers of a rating times the metric
    scores: np.ndarray  # (n_units, n_systems)
    powers: np.ndarray  # (n_units, n_systems, degree): mean over ratings
    segments: np.ndarray  # (n_units,)

    def solve(self, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return favours (n_resamples, n_systems) and slopes, each unit taken ``counts`` (n_resamples, n_units) times.

        Both are NaN where the ratings of a resample do not go together at all.
        """
        cross, along, scores, powers, n = (
            np.tensordot(counts, part, 1) for part in (self.cross, self.along, self.scores, self.powers, self.segments)
        )
        solvable = np.linalg.cond(cross) < 1e12
        curve = np.full(along.shape, np.nan)
        curve[solvable] = np.linalg.solve(cross[solvable], along[solvable][..., None])[..., 0]
        with np.errstate(divide="ignore", invalid="ignore"):
            slopes = np.where(solvable, along[:, 0] / cross[:, 0, 0], np.nan)
        return (scores - np.einsum("bkp,bp->bk", powers, curve)) / n[:, None], slopes

    def draws(self, rng: np.random.Generator, n: int) -> np.ndarray:
        """Return the favours in ``n`` resamples of the units."""
        n_units = len(self.segments)
        return self.solve(times_drawn(rng.integers(n_units, size=(n, n_units)), n_units))[0]


def sums_of(es: EvalSet, scores: np.ndarray, degree: int, unit: str) -> tuple[Sums, int, int]:
    """Return the sums of each unit, and the binary exponents of the units of scores and ratings."""
    n_ratings, n_systems, _ = es.ratings.shape
    if n_ratings < 2 or n_systems < 2:
        raise Undefined(
            f"set {es.name!r} has {counted(n_ratings, 'rating')} of each translation and "
            f"{counted(n_systems, 'system')}; at least two of both are needed. Further ratings are columns called "
            "human_2, human_3 and so on."
        )
    whole = ~np.isnan([scores, *es.ratings]).any(axis=(0, 1))
    if whole.sum() < 2:
        raise Undefined(f"fewer than two segments of {es.name!r} have all ratings, and a score, for every system.")
    (m, exponent), (h, exponent_h) = (scaled(v[..., whole], None) for v in (scores, es.ratings))
    powers = h[..., None] ** np.arange(1, degree + 1)
    powers, m = powers - powers.mean(axis=1, keepdims=True), m - m.mean(axis=0)
    total = powers.sum(axis=0)
    parts = (
        np.einsum("kjp,kjq->jpq", total, total) - np.einsum("rkjp,rkjq->jpq", powers, powers),
        np.einsum("kjp,kj->jp", total, m) * (n_ratings - 1),
        m.T,
        total.swapaxes(0, 1) / n_ratings,
        np.ones(m.shape[1]),
    )
    number = np.unique(units_of(es, unit)[whole], return_inverse=True)[1]
    member = (number == np.arange(number.max() + 1)[:, None]).astype(float)
    return Sums(*(np.tensordot(member, part, 1) for part in parts)), exponent.item(), exponent_h.item()


def favours(
    es: EvalSet | pd.DataFrame,
    metric: str,
    *,
    degree: int = 2,
    n_resamples: int = 1000,
    unit: str = "segment",
    level: float = 0.95,
    rng: int | np.random.Generator | None = 0,
) -> Favours:
    r"""Ask which systems a metric favours, where several ratings of each translation are known and all of them err.

    A metric is fair if its score depends on the translation's quality q and not on who wrote it: :math:`E[m|q] = g(q)`
    for every system. Quality is what raters say on average: each rating is :math:`h_a = q + e_a`, and the errors of two
    ratings of one translation are independent. Regressing m on a rating gives too flat a curve, and good systems seem
    favoured. Let the curve instead be :math:`\gamma(h) = c_1 h + c_2 h^2` with

    .. math:: \sum_{a \ne b} \sum_{k,j} h_{b,kj}^p\, \big(m_{kj} - \gamma(h_{a,kj})\big) = 0, \qquad p = 1, 2

    where a and b are ratings of the same translation, and every score and power stands for its difference from the mean
    of its segment. Rating b is an instrument: it goes with the quality in rating a and not with its error. Then

    .. math:: F(k) = \frac1J \sum_j \Big( m_{kj} - \frac1R \sum_a \gamma(h_{a,kj}) \Big)

    is the favour of system k, 0 on average for all systems if the metric is fair; divided by the slope, the
    :math:`c_1` of a curve of degree 1, it is in human points.

    Parameters
    ----------
    es : EvalSet or pandas.DataFrame
        With the columns ``human_2`` … beside ``human``; see `EvalSet.ratings`. Segments in which a system lacks a score
        are left out.
    metric : str
    degree : {1, 2, 3}
        Of the curve. A straight line takes a metric that is not linear in quality, such as one that stops counting
        errors, for one that favours systems.
    n_resamples : int
        Resamples of the units, at least 2.
    unit : {"segment", "document"}
        What is redrawn. Take documents where the set names some 20 or more.
    level : float
        Of the intervals, for all systems at once.
    rng : int, Generator or None

    Returns
    -------
    Favours

    Raises
    ------
    ValueError
        If the metric or an option is unknown, there is only one rating or one system, or the ratings of a translation
        do not go together.

    Notes
    -----
    p-values and intervals follow from the largest :math:`|F(k)| / se(k)` of the centred resamples (max-T).

    References
    ----------
    Instruments against errors in variables: Reiersøl 1941. Simultaneous: Romano and Wolf 2005.

    Examples
    --------
    Qualities 2 and -2, two ratings whose errors of 1 point cancel, and a metric that adds 3 to system B:

    >>> import numpy as np, mtmeta as mm
    >>> q = np.array([[2., 2, 2, 2, -2, -2, -2, -2], [-2, -2, -2, -2, 2, 2, 2, 2]])
    >>> first, second = q + np.outer([1, -1], [1, 1, -1, -1] * 2), q + np.outer([1, -1], [1, -1] * 4)
    >>> es = mm.EvalSet(first, {"human_2": second, "m": q + [[0], [3]]}, systems=["A", "B"])
    >>> mm.sysdep.favours(es, "m", degree=1).table[["system", "favour"]].to_numpy().tolist()
    [['A', -1.5], ['B', 1.5]]
    """
    es = as_evalset(es)
    check_choice("degree", degree, (1, 2, 3))
    check_choice("unit", unit, UNITS)
    n_resamples, rng = check_count("n_resamples", n_resamples, 2), generator(rng)
    sums, exponent, exponent_h = sums_of(es, es[metric], degree, unit)
    (found,), (slope,) = sums.solve(np.ones((1, len(sums.segments))))
    if np.isnan(found).any():
        raise Undefined(f"the ratings of {es.name!r} do not go together, so they cannot calibrate {metric!r}.")
    draws = np.concatenate(list(_in_blocks(sums, rng, n_resamples)))
    draws = draws[~np.isnan(draws).any(axis=1)]
    errors = draws.std(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        size, sizes = (np.nan_to_num(np.abs(v) / errors, posinf=np.inf) for v in (found, draws - found))
    largest = sizes.max(axis=1)
    p_values = (1 + (largest[:, None] >= size).sum(axis=0)) / (len(draws) + 1)
    half = np.quantile(largest, check_level(level)) * errors
    points = 1 / slope if slope > 0 else np.nan
    columns = {"favour": found, "low": found - half, "high": found + half}
    columns = {name: np.ldexp(value * points, exponent_h) for name, value in columns.items()}
    table = pd.DataFrame({"system": es.systems, "human": np.nanmean(es.ratings, axis=(0, 2)), **columns})
    return Favours(
        metric=metric,
        p_value=float(p_values.min()),
        slope=float(np.ldexp(slope, exponent - exponent_h)),
        table=table.assign(p_value=p_values).sort_values("human", ascending=False, ignore_index=True, kind="stable"),
        draws=np.ldexp(draws, exponent),
        signature=f"favours|metric:{metric}|ratings:{len(es.ratings)}|degree:{degree}|unit:{unit}|B:{n_resamples}"
        f"|set:{es.name}",
    )


def _in_blocks(sums: Sums, rng: np.random.Generator, n: int) -> Iterator[np.ndarray]:
    return (sums.draws(rng, min(_BLOCK, n - first)) for first in range(0, n, _BLOCK))
