"""Favours estimated with several ratings of each translation: each rating is the instrument of the others."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from scipy.stats import f as f_distribution

from .._checks import Undefined, check_choice, check_count, generator
from .._names import counted
from ..evalset import EvalSet, as_evalset
from ..resampling import bootstrap, units_of
from ._cells import NOTHING, less_means

#: Resamples that are held in memory at a time.
_BLOCK = 100
#: Level of the verdicts; intervals hold all systems at once with probability 1 - .05.
_ALPHA = 0.05
#: A larger condition number says that the powers of one rating do not follow those of another.
WORST = 1e12
_NAMES = {1: "p_line", 2: "p_quadratic", 3: "p_cubic"}


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
        ``system, human, favour, low, high, p_value``, best human mean first; then ``p_line, p_quadratic, p_cubic`` of
        the curves asked for, ``turned`` and ``verdict``. ``human`` is the mean of all ratings; ``favour`` is in human
        points, positive where the metric favours the system over the average of all systems, with an interval for all
        systems at once, both from the first curve. It is NaN where the metric does not rise with quality. ``p_value``
        is the largest of the p-values of the curves, each corrected for the number of systems; it is 1 where they
        disagree about the sign. ``turned`` counts the other systems with which this one changes places when its favour
        over the others is taken from its mean score. ``verdict`` is "favoured" or "slighted" where the favour is clear
        (see ``n_metrics``), "curve fails" where it would be clear but no curve passes its check, else "undecided".
    draws : numpy.ndarray
        Favours in each resample, in units of the metric, shape (n_resamples, n_systems), in the order of the set.
    signature : str
    fit : dict of int to float
        Degree to the p-value of "this curve is right". NaN where the ratings take too few values to check it.
    """

    metric: str
    p_value: float
    slope: float
    table: pd.DataFrame
    draws: np.ndarray = field(repr=False)
    signature: str
    fit: dict[int, float]

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

    def solve(self, counts: np.ndarray, n_columns: int | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return favours and their standard errors (n_resamples, n_systems), and slopes (n_resamples,).

        Each unit is taken ``counts`` (n_resamples, n_units) times; the curve has the first ``n_columns`` columns. All
        are NaN where the ratings do not go together. Errors come from the squares of what each unit adds to the
        estimate (linearised).
        """
        of_units = self.cross[:, :n_columns, :n_columns], self.along[:, :n_columns], self.powers[..., :n_columns]
        cross, along, powers, scores, n = (
            np.tensordot(counts, part, 1) for part in (*of_units, self.scores, self.segments)
        )
        solvable = np.linalg.cond(cross) < WORST
        inverse = np.full(cross.shape, np.nan)
        inverse[solvable] = np.linalg.inv(cross[solvable])
        curve = np.einsum("bpq,bq->bp", inverse, along)
        found = (scores - np.einsum("bkp,bp->bk", powers, curve)) / n[:, None]
        missed = of_units[1] - np.einsum("upq,bq->bup", of_units[0], curve)
        added = self.scores - np.einsum("ukp,bp->buk", of_units[2], curve) - found[:, None] * self.segments[:, None]
        added -= np.einsum("bup,bkp->buk", missed, np.einsum("bkq,bqp->bkp", powers, inverse))
        errors = np.sqrt(np.einsum("bu,buk->bk", counts, added**2)) / n[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            slopes = np.where(solvable, along[:, 0] / cross[:, 0, 0], np.nan)
        return found, errors, slopes

    def draws(
        self, rng: np.random.Generator, n_resamples: int, sizes: Sequence[int | None] = (None,)
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return favours and errors in the same resamples, for curves of each size, where they can be solved."""
        n, parts = len(self.segments), [[] for _ in sizes]
        for first in range(0, n_resamples, _BLOCK):
            counts = bootstrap(n, min(_BLOCK, n_resamples - first), rng)
            for part, size in zip(parts, sizes, strict=True):
                found, errors, _ = self.solve(counts, size)
                solved = ~np.isnan(found).any(axis=1)
                part.append((found[solved], errors[solved]))
        return [tuple(np.concatenate(p) for p in zip(*part, strict=True)) for part in parts]


@dataclass(frozen=True)
class Rated:
    """The segments in which every system has all ratings and a score, in units of a power of two."""

    scores: np.ndarray  # (n_systems, n_segments), less the mean of the segment
    ratings: np.ndarray  # (n_ratings, n_systems, n_segments), less their mean
    columns: np.ndarray  # (n_ratings, n_systems, n_segments, n_columns): of the curve, less the mean of the segment
    member: np.ndarray  # (n_units, n_segments): 1 where the unit holds the segment
    size: float  # the unit of scores
    size_h: float  # the unit of ratings

    def sums(self) -> Sums:
        """Return the sums of each unit."""
        total = self.columns.sum(axis=0)
        parts = (
            np.einsum("kjp,kjq->jpq", total, total) - np.einsum("rkjp,rkjq->jpq", self.columns, self.columns),
            np.einsum("kjp,kj->jp", total, self.scores) * (len(self.ratings) - 1),
            self.scores.T,
            total.swapaxes(0, 1) / len(self.ratings),
            np.ones(self.scores.shape[1]),
        )
        return Sums(*(np.tensordot(self.member, part, 1) for part in parts))

    def fit(self, n_columns: int) -> float:
        """Return the p-value of "the curve is right": what it leaves of one rating goes with no step of another.

        Everything is taken less the mean of its system also, so that favours do not count against the curve. The steps
        are at the quartiles of the ratings. NaN where they add nothing to the columns of the curve.
        """
        at = np.unique(np.quantile(self.ratings, [0.25, 0.5, 0.75], method="higher"))
        steps = (self.ratings[..., None] >= at[at > self.ratings.min()]).astype(float)
        steps -= steps.mean(axis=1, keepdims=True)
        columns = self.columns[..., :n_columns]
        given, tools = (v - v.mean(axis=2, keepdims=True) for v in (columns, np.concatenate([columns, steps], axis=3)))
        m, others = self.scores - self.scores.mean(axis=1, keepdims=True), tools.sum(axis=0) - tools
        along = self.member @ np.einsum("rkjp,kj->jp", others, m)
        cross = np.tensordot(self.member, np.einsum("rkjp,rkjq->jpq", others, given), 1)
        total = cross.sum(axis=0)
        if not np.linalg.cond(total[:n_columns]) < WORST:
            return np.nan
        back = total[n_columns:] @ np.linalg.inv(total[:n_columns])
        curve = np.linalg.solve(total[:n_columns], along.sum(axis=0)[:n_columns])
        left = along - cross @ curve
        left = left[:, n_columns:] - left[:, :n_columns] @ back.T
        spread = (left - left.mean(axis=0)).T @ (left - left.mean(axis=0))
        size = np.sqrt(np.diag(spread))
        if not size.size or not (size > NOTHING).all() or np.linalg.cond(spread / np.outer(size, size)) > WORST:
            return np.nan
        n, more = left.shape
        hotelling = left.sum(axis=0) @ np.linalg.solve(spread, left.sum(axis=0)) * (n - more) / (n * more)
        return float(f_distribution.sf(hotelling, more, n - more)) if n > more else np.nan


def rated(es: EvalSet, scores: np.ndarray, degree: int, unit: str, covariates: Sequence = ()) -> Rated:
    """Return the segments that have everything, with the columns h, h times each covariate, and further powers of h."""
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
    m, h = (v - v.mean() for v in (scores[:, whole], es.ratings[..., whole]))
    size, size_h = (np.exp2(np.frexp(np.abs(v).max())[1]) for v in (m, h))  # powers of two, so that nothing is rounded
    m, h = m / size, h / size_h
    moved = [h * _standardised(es, x, h, whole) for x in covariates]
    columns = np.stack([h, *moved, *(h**p for p in range(2, degree + 1))], axis=3)
    number = np.unique(units_of(es, unit)[whole], return_inverse=True)[1]
    member = (number == np.arange(number.max() + 1)[:, None]).astype(float)
    return Rated(less_means(m), h, columns - columns.mean(axis=1, keepdims=True), member, size, size_h)


def _standardised(es: EvalSet, covariate: str | np.ndarray, h: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Return a covariate with mean 0 and spread 1 over segments; that of each rating, where it is made of them."""
    if isinstance(covariate, str):
        check_choice("covariates", covariate, ("length", "mean"))
        if covariate == "mean":
            x = h.mean(axis=1, keepdims=True)
            return (x - x.mean()) / x.std()
        texts = None if es.texts is None else es.texts.sources
        if texts is None:
            raise Undefined(f"set {es.name!r} has no sources, so the covariate 'length' is unknown.")
        covariate = [np.nan if text is None else np.log(max(len(text), 1)) for text in texts]
    x = np.asarray(covariate, dtype=float)
    if x.shape != whole.shape or not np.isfinite(x[whole]).all() or not np.ptp(x[whole]):
        raise ValueError(
            f"a covariate must have a number for each of the {len(whole)} segments, and not all equal; found "
            f"shape {x.shape}. Leave it out, or give one value for each segment, in the order of the set."
        )
    return (x - x[whole].mean())[whole] / x[whole].std()


def favours(
    es: EvalSet | pd.DataFrame,
    metric: str,
    *,
    degree: int | Sequence[int] = (2, 1, 3),
    covariates: str | Sequence = (),
    n_metrics: int | None = None,
    n_resamples: int = 1000,
    unit: str = "segment",
    rng: int | np.random.Generator | None = 0,
) -> Favours:
    r"""Ask which systems a metric favours, where several ratings of each translation are known and all of them err.

    A metric is fair if its mean score of a translation depends on the source s and on the translation's quality q, and
    not on the system k that wrote it: :math:`E[m|s,q,k] = E[m|s,q]`. Quality is what raters say on average: each rating
    is :math:`h_a = q + e_a`, and the errors of two ratings of one translation are independent. We also assume that
    :math:`E[m|s,q]` is the sum of one curve in q and a number for each source; ``covariates`` let the curve be steeper
    for some sources. Regressing m on a rating gives too flat a curve, and good systems seem favoured. Let the curve
    instead be :math:`\gamma(h) = c_1 h + c_2 h^2` with

    .. math:: \sum_{a \ne b} \sum_{k,j} h_{b,kj}^p\, \big(m_{kj} - \gamma(h_{a,kj})\big) = 0, \qquad p = 1, 2

    where a and b are ratings of the same translation, and every score and power stands for its difference from the mean
    of its segment. Rating b is an instrument: it goes with the quality in rating a and not with its error. Then

    .. math:: F(k) = \frac1J \sum_j \Big( m_{kj} - \frac1R \sum_a \gamma(h_{a,kj}) \Big)

    is the favour of system k, 0 on average for all systems if the metric is fair; divided by the slope, the
    :math:`c_1` of a curve of degree 1, it is in human points.

    Target: each system's mean metric score less its mean quality, in human points, over segments like these.

    Parameters
    ----------
    es : EvalSet or pandas.DataFrame
        With the columns ``human_2`` … beside ``human``; see `EvalSet.ratings`. Segments in which a system lacks a score
        are left out.
    metric : str
    degree : int or sequence of int
        Degrees of the curves, from 1 to 3. Estimates and intervals come from the first; a favour is found only if all
        agree, because a curve that does not follow the metric takes its bend for a favour.
    covariates : str or sequence
        Properties of the source on which the slope of the curve may depend: "length" (log of the source characters),
        "mean" (mean rating of the segment), or one number for each segment. Each adds the column :math:`x h`.
    n_metrics : int, optional
        Metrics that are asked at once: verdicts multiply the p-value of the first curve by it. By default all metrics
        of the set. It takes ``20 * n_metrics`` resamples or more for a verdict to be possible.
    n_resamples : int
        Resamples of the units, at least 2.
    unit : {"segment", "document"}
        What is redrawn. Take documents where the set names some 20 or more.
    rng : int, Generator or None

    Returns
    -------
    Favours

    Raises
    ------
    ValueError
        If the metric or an option is unknown, a covariate lacks a segment, there is only one rating or one system, or
        the ratings of a translation do not go together.

    See Also
    --------
    mtmeta.system_dependence : deviations given the metric.
    deviations_both_ways : in both directions.

    Notes
    -----
    p-values and intervals follow from the largest :math:`|F(k)| / se(k)` of the systems in resamples, centred, and each
    with standard errors of its own (max-T, studentised).

    The check of a curve, ``fit``, needs only two ratings: if the curve is right, the rest :math:`m - \gamma(h_a)` goes
    with no function of another rating. We take steps at the quartiles of :math:`h_b` as further instruments, everything
    less the means of system and segment so that favours do not count, and test their moments by Hotelling's
    :math:`T^2` over units (the test of overidentifying restrictions). A curve that passes may still be wrong.

    With a quadratic curve alone, p <= .05 came up in 6.6 % (5.5 to 7.7 %) of 400 campaigns like the teaching one for
    six fair metrics, but much more often for fair metrics that saturate or count errors per character. The page on
    calibration has these, and the rates of the default.

    References
    ----------
    Instruments against errors in variables: Reiersøl 1941. Overidentification: Hansen 1982. Simultaneous: Romano and
    Wolf 2005.

    Examples
    --------
    Qualities 2 and -2, two ratings whose errors of 1 point cancel, and a metric that adds 3 to system B:

    >>> import numpy as np, mtmeta as mm
    >>> q = np.array([[2., 2, 2, 2, -2, -2, -2, -2], [-2, -2, -2, -2, 2, 2, 2, 2]])
    >>> first, second = q + np.outer([1, -1], [1, 1, -1, -1] * 2), q + np.outer([1, -1], [1, -1] * 4)
    >>> es = mm.EvalSet(first, {"human_2": second, "m": q + [[0], [3]]}, systems=["A", "B"])
    >>> mm.sysdep.favours(es, "m", degree=1).table[["system", "favour"]].to_numpy().tolist()
    [['A', -1.5], ['B', 1.5]]

    B leads only by its favour, so this turns the one pair:

    >>> int(mm.sysdep.favours(es, "m", degree=1).table.set_index("system").loc["B", "turned"])
    1
    """
    es = as_evalset(es)
    degrees = (degree,) if np.ndim(degree) == 0 else tuple(degree)
    for one in degrees or (None,):
        check_choice("degree", one, (1, 2, 3))
    check_choice("unit", unit, ("segment", "document"))
    n_resamples, rng = check_count("n_resamples", n_resamples, 2), generator(rng)
    covariates = (covariates,) if isinstance(covariates, str) else tuple(covariates)
    data = rated(es, es[metric], max(degrees), unit, covariates)
    sums = data.sums()
    sizes = [one + len(covariates) for one in degrees]
    whole = np.ones((1, len(sums.segments)))
    estimates = [[part[0] for part in sums.solve(whole, size)] for size in sizes]
    (found, _, slope), *_ = estimates
    if np.isnan(found).any():
        raise Undefined(f"the ratings of {es.name!r} do not go together, so they cannot calibrate {metric!r}.")
    p_values, halves = {}, []
    for one, (middle, se, _), (draws, errors) in zip(
        degrees, estimates, drawn := sums.draws(rng, n_resamples, sizes), strict=True
    ):
        largest = _in_errors(draws - middle, errors).max(axis=1, initial=0)
        p = (1 + (largest[:, None] >= _in_errors(middle, se)).sum(axis=0)) / (len(draws) + 1)
        p_values[_NAMES[one]] = np.where(np.isnan(middle), np.nan, p)
        with np.errstate(invalid="ignore"):  # between a finite and an infinite draw
            reach = np.quantile(largest, 1 - _ALPHA) if len(largest) else 1.0
        halves.append((np.inf if np.isnan(reach) else reach) * se)
    if n_metrics is None:
        n_metrics = max(1, len(es.metrics))
    turned = np.array([np.sign(found) * np.sign(middle) < 0 for middle, *_ in estimates])
    each = np.where(turned, 1, [*p_values.values()])
    p = np.nanmax(each, axis=0)
    each[0] *= check_count("n_metrics", n_metrics, 1)
    clear = (np.nanmax(each, axis=0) <= _ALPHA) & (slope > 0)
    points = 1 / slope if slope > 0 else np.nan
    columns = {"favour": found, "low": found - halves[0], "high": found + halves[0]}
    columns = {name: value * points * data.size_h for name, value in columns.items()}
    means = sums.scores.sum(axis=0) / sums.segments.sum()
    fit = {one: data.fit(size) for one, size in zip(degrees, sizes, strict=True)}
    fails = all(p <= _ALPHA for p in fit.values())
    verdict = np.where(found > 0, "favoured", "slighted")
    verdict = np.where(clear, "curve fails" if fails else verdict, "undecided")
    columns = {"system": es.systems, "human": np.nanmean(es.ratings, axis=(0, 2)), **columns, "p_value": p}
    columns |= p_values | {"turned": _turned(means, found), "verdict": verdict}
    table = pd.DataFrame(columns).sort_values("human", ascending=False, ignore_index=True, kind="stable")
    how = f"ratings:{len(es.ratings)}|degree:{'+'.join(map(str, degrees))}|unit:{unit}|B:{n_resamples}"
    how += f"|covariates:{len(covariates)}" * bool(covariates)
    signature = f"favours|metric:{metric}|{how}|set:{es.name}"
    slope = float(slope * data.size / data.size_h)
    return Favours(metric, float(p.min()), slope, table, drawn[0][0] * data.size, signature, fit)


def _turned(means: np.ndarray, found: np.ndarray) -> np.ndarray:
    """Return over how many others each system changes places when its favour over these is taken from its mean."""
    gaps, over = means[:, None] - means, found * len(found) / (len(found) - 1)
    tight = NOTHING * np.abs(means).max()
    before, after = (np.where(np.abs(gap) > tight, np.sign(gap), 0) for gap in (gaps, gaps - over[:, None]))
    return ((before != after) & ~np.eye(len(means), dtype=bool)).sum(axis=1)


def _in_errors(favour: np.ndarray, error: np.ndarray) -> np.ndarray:
    """Return sizes in standard errors; 0 where both are 0, up to rounding."""
    size = np.abs(favour)
    return np.divide(size, error, out=np.where(size > NOTHING, np.inf, 0.0), where=error > NOTHING)
