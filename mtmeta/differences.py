"""What a difference between two systems is worth: how often humans prefer the system that a metric prefers."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.optimize import elementwise
from scipy.special import expit, ndtr, ndtri

from ._checks import Undefined, check_choice, check_count, check_level, generator
from ._enough import FEWEST_UNITS, interval_of
from ._names import positions, unknown
from .agreement.spa import rated_systems, shared_metrics, sign_of_difference
from .evalset import EvalSet, as_sets, metric_names
from .resampling import (
    LEAST_UNITS,
    Statistic,
    base_seed,
    bootstrap,
    exchange,
    seed_of,
    sums_by_unit,
    units_of,
)
from .significance.decisions import max_t, share_reached

__all__ = ["Curve", "compare_systems", "curve", "system_pairs", "wmt23_curve"]

_CELLS = 2_000_000  # of a matrix, resamples by pairs
_STEEPEST = 1 - 2.0**-40  # a slope b as b / (1 + |b|)


@dataclass(frozen=True, eq=False)
class Curve:
    r"""The chance that humans agree, by the size of a metric's difference, as `curve` fits it.

    Attributes
    ----------
    metric : str
    slope, low, high : float
        The slope b of :math:`1 / (1 + e^{-b \Delta})` and its interval, per unit of the metric; 0 is a coin.
    pairs : pandas.DataFrame
        What it was fitted to, as `system_pairs` returns it.
    slopes : numpy.ndarray
        The slope in each resample; infinite where humans agree with all its differences, or with none (then
        negative), and NaN where there is none.
    level : float
        Of all intervals.
    signature : str
        How it was computed, in one line.
    n_systems : int
        Of all sets.
    """

    metric: str
    slope: float
    low: float
    high: float
    pairs: pd.DataFrame = field(repr=False)
    slopes: np.ndarray = field(repr=False)
    level: float
    signature: str
    n_systems: int = field(repr=False)

    def to_frame(self) -> pd.DataFrame:
        """Return one row.

        ``metric, slope, low, high``; ``largest`` (difference of two machine translations, or of any two where there are
        none); ``n_pairs, n_systems, n_sets``; ``n_human``, the pairs with a human translation, and ``human_agreement``,
        the share of their differences that humans agree with.
        """
        row = {"metric": self.metric, "slope": self.slope, "low": self.low, "high": self.high}
        people, first = self.pairs["human"], self.pairs["sample"] == 1
        row |= {"largest": self.pairs.loc[~people | people.all(), "difference"].max(), "n_pairs": first.sum()}
        row |= {"n_systems": self.n_systems, "n_sets": self.pairs["set"].nunique()}
        row |= {"n_human": (people & first).sum(), "human_agreement": self.pairs.loc[people, "agreement"].mean()}
        return pd.DataFrame([row])

    def chance(self, difference: ArrayLike) -> pd.DataFrame:
        """Return the chance that humans prefer the system that the metric prefers by this much.

        Parameters
        ----------
        difference : float or sequence of float
            Not negative, in units of the metric.

        Returns
        -------
        pandas.DataFrame
            ``difference, chance, low, high``: chances in [0, 1], 1/2 for a coin. The interval redraws systems, as in
            `curve`.
        """
        x = np.atleast_1d(np.asarray(difference, dtype=float))
        if not (x >= 0).all():
            raise ValueError(f"`difference` must be at least 0: the metric prefers the first system; found {x.min()}.")
        slopes, known = (self.slope, self.low, self.high), x > 0  # a slope may be infinite
        chance, low, high = (expit(np.multiply(b, x, out=np.zeros_like(x), where=known)) for b in slopes)
        return pd.DataFrame({"difference": x, "chance": chance, "low": low, "high": high})


def system_pairs(
    es: EvalSet | pd.DataFrame | Sequence[EvalSet],
    metric: str,
    *,
    n_segments: int | None = None,
    n_samples: int = 20,
    rng: int | np.random.Generator | None = 0,
) -> pd.DataFrame:
    """Return each pair of systems of a set: the metric's difference, and whether humans agree with its direction.

    Target: the pairs at hand; it estimates nothing beyond them.

    Parameters
    ----------
    es : EvalSet, DataFrame or sequence of EvalSet
        Pairs are formed within each set.
    metric : str
    n_segments : int, optional
        Average the metric over that many segments, drawn without replacement and the same for all systems. By default
        system scores are those of the set. Human scores are always those of the whole set.
    n_samples : int
        How often they are drawn.
    rng : int, Generator or None

    Returns
    -------
    pandas.DataFrame
        ``set, sample, first, second`` (the metric prefers the first), ``difference`` (at least 0, in units of the
        metric), ``agreement`` (1 if humans prefer the first, 0 if the second, 1/2 where either calls them equal),
        ``human`` (whether one of the two is a human translation, by ``human_systems`` of the set).

    Raises
    ------
    ValueError
        If the metric is unknown, two sets share a name, no set has two systems with scores, a set has fewer than
        ``n_segments``, or system scores are not means of segment scores (corpus BLEU) so that there are none for fewer.

    See Also
    --------
    curve : the chance that people agree, fitted to these pairs.
    mtmeta.pairwise_accuracy : the share of pairs on which metric and people agree.

    Examples
    --------
    >>> import mtmeta as mm
    >>> es = mm.EvalSet([[0], [-2], [-1]], {"m": [[.9], [.7], [.6]]}, systems=["A", "B", "C"])
    >>> mm.differences.system_pairs(es, "m").round(1).iloc[:, 2:6].to_numpy().tolist()
    [['A', 'B', 0.2, 1.0], ['A', 'C', 0.3, 1.0], ['B', 'C', 0.1, 0.0]]
    """
    sets, rng, frames = as_sets(es), generator(rng), []
    if len({one.name for one in sets}) < len(sets):
        raise ValueError(f"each set needs a name of its own; found {', '.join(repr(one.name) for one in sets)}.")
    (metric,) = shared_metrics(sets, metric)
    for one in sets:
        scores, sizes = rated_systems(one, [metric])
        names = one.system_scores_of(metric).dropna().index.to_numpy()
        people = np.isin(names, list(one.human_systems))
        i, j = np.triu_indices(len(scores), 1)
        size = np.maximum(sizes[i], sizes[j])
        human = sign_of_difference(scores[i, 0], scores[j, 0], size[:, 0])
        samples = [scores[:, 1]] if n_segments is None else _samples(one, metric, names, n_segments, n_samples, rng)
        for sample, values in enumerate(samples, 1):
            mine = sign_of_difference(values[i], values[j], size[:, 1])
            first, second = np.where(mine < 0, (j, i), (i, j))
            frame = {"set": one.name, "sample": sample, "first": names[first], "second": names[second]}
            frame["difference"] = np.where(mine == 0, 0.0, np.abs(values[i] - values[j]))
            frame |= {"agreement": (1 + human * mine) / 2, "human": people[i] | people[j]}
            frames.append(pd.DataFrame(frame))
    pairs = pd.concat(frames).dropna(ignore_index=True)
    if pairs.empty:
        raise Undefined(f"metric {metric!r}: no set has two systems that both humans and the metric scored.")
    return pairs


def _samples(es: EvalSet, metric: str, names: np.ndarray, n_segments: int, n_samples: int, rng) -> Iterator[np.ndarray]:
    """Yield the means of the metric's scores of some segments, for these systems."""
    part = es.select(systems=names)
    scores = pd.DataFrame(part[metric] if metric in es else np.empty((len(names), 0)))
    scores = scores if es.scores == "published" else scores.where(~np.isnan(part.human))
    if not np.allclose(scores.mean(axis=1), es.system_scores.loc[names, metric], rtol=1e-4):
        raise Undefined(
            f"metric {metric!r} in set {es.name!r}: its system scores are not means of segment scores, so fewer "
            "segments have none. Leave out `n_segments`."
        )
    scored = np.flatnonzero(scores.notna().any())
    check_count("n_segments", n_segments, 1, len(scored))
    for _ in range(check_count("n_samples", n_samples, 1)):
        yield scores[rng.choice(scored, n_segments, replace=False)].mean(axis=1).to_numpy()


def curve(
    es: EvalSet | pd.DataFrame | Sequence[EvalSet],
    metric: str,
    *,
    n_segments: int | None = None,
    n_samples: int = 20,
    n_resamples: int = 1000,
    level: float = 0.95,
    rng: int | np.random.Generator | None = 0,
) -> Curve:
    r"""Fit the chance that humans prefer the system that a metric prefers, by the size of the difference.

    The slope b maximises the likelihood of

    .. math:: P(\text{humans agree} \mid \Delta) = \frac{1}{1 + e^{-b \Delta}}

    over all pairs of systems. There is no intercept: whoever swaps two systems turns the sign of :math:`\Delta`, so at
    :math:`\Delta = 0` the chance is 1/2. Pairs share systems. For the interval the systems of each set are drawn with
    replacement; a pair counts as often as both its systems were drawn, and copies of one system make no pair. The
    interval is the bias-corrected percentile interval: small samples make slopes too steep, and resamples once more.
    Neither segments nor whole campaigns are redrawn, so the interval is too narrow for a new campaign.

    Target: the chance that ratings of this campaign prefer the metric's choice among pairs of systems like these.

    Parameters
    ----------
    es : EvalSet, DataFrame or sequence of EvalSet
        Pairs are formed within each set.
    metric : str
    n_segments, n_samples
        As in `system_pairs`.
    n_resamples : int
        Draws of systems.
    level : float
        Of the interval.
    rng : int, Generator or None

    Returns
    -------
    Curve

    Raises
    ------
    ValueError
        As `system_pairs`; if the metric gives all systems one score; or if humans agree with all its differences or
        with none: then any steeper curve fits better.

    See Also
    --------
    wmt23_curve : the same for the metrics of WMT23, without data.
    system_pairs : what it is fitted to.
    mtmeta.power : how large a test set must be.

    References
    ----------
    Kocmi et al. 2024, "Navigating the Metrics Maze"; there a second parameter is the value for large differences.
    Efron and Tibshirani 1993, section 14.3 with a = 0, for the interval.
    Wei and Jia 2021, on noisy ratings against biased metrics.

    Examples
    --------
    >>> import mtmeta as mm
    >>> es = mm.EvalSet([[0], [-2], [-1]], {"m": [[.9], [.7], [.6]]}, systems=["A", "B", "C"])
    >>> found = mm.differences.curve(es, "m", n_resamples=99)
    >>> round(found.slope, 3)
    7.325
    >>> found.chance([0, .1, .3])["chance"].round(3).tolist()
    [0.5, 0.675, 0.9]
    """
    check_count("n_resamples", n_resamples, 1)
    check_level(level)
    rng, drawn_with = generator(rng), seed_of(rng)
    pairs = system_pairs(es, metric, n_segments=n_segments, n_samples=n_samples, rng=rng)
    x, y = pairs["difference"].to_numpy(), pairs["agreement"].to_numpy()
    if not x.any():
        raise Undefined(f"metric {metric!r} gives all systems of a set one score: there is no difference.")
    if which := {(1.0,): "all", (0.0,): "none"}.get(tuple(np.unique(y[x > 0]))):
        raise Undefined(
            f"humans agree with {which} of the {(x > 0).sum()} differences of metric {metric!r}: any steeper curve "
            "fits better. It takes more systems, or closer ones."
        )
    ends = [name for end in ("first", "second") for name in zip(pairs["set"], pairs[end], strict=True)]
    i, j = np.split(pd.factorize(pd.Series(ends))[0], 2)
    _, known = np.unique(np.concatenate([i, j]), return_index=True)
    sets = pd.factorize(np.tile(pairs["set"], 2)[known])[0]
    counts = bootstrap(len(sets), n_resamples, rng, strata=sets)
    slope = _slopes(x, y, np.ones((1, len(x))))[0]
    slopes = np.concatenate([_slopes(x, y, weights) for weights in _weights(counts, i, j)])
    drawn = slopes[~np.isnan(slopes)]
    same = np.isclose(drawn, slope, rtol=1e-9, atol=1e-9 / x.max())  # rounding must not decide
    bias = ndtri((np.sum((drawn < slope) & ~same) + (np.sum(same) + 1) / 2) / (len(drawn) + 1))
    levels = ndtr(2 * bias + ndtri([(1 - level) / 2, (1 + level) / 2]))
    low, high = np.quantile(drawn, levels, method="inverted_cdf") if len(drawn) else (np.nan, np.nan)
    signature = f"difference|metric:{metric}|n_segments:{n_segments or 'all'}|unit:system|n_resamples:{n_resamples}"
    signature += f"|rng:{drawn_with}|sets:{','.join(pairs['set'].unique())}"
    return Curve(metric, float(slope), float(low), float(high), pairs, slopes, level, signature, len(sets))


def _weights(counts: np.ndarray, i: np.ndarray, j: np.ndarray) -> Iterator[np.ndarray]:
    """Yield how often each pair was drawn, a block of resamples at a time."""
    for block in np.array_split(counts, -(-counts.shape[0] * len(i) // _CELLS)):
        yield block[:, i] * block[:, j]


def _slopes(x: np.ndarray, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the slope of the logistic fit in each row of weights.

    It is infinite where all differences agree or none does, and NaN where nothing differs.
    """
    unit = np.median(x[x > 0])
    right, wrong = weights * (x / unit * y), weights * (x / unit * (1 - y))
    some_right, some_wrong = right.any(axis=1), wrong.any(axis=1)
    slopes = np.select([some_right & some_wrong, some_right, some_wrong], [0, np.inf, -np.inf], np.nan)
    rows = np.flatnonzero(slopes == 0)

    def score(place: np.ndarray, row: np.ndarray) -> np.ndarray:  # at the slope b whose b / (1 + |b|) is given
        z = np.multiply.outer(place / (1 - np.abs(place)), x / unit)
        return (right[row] * expit(-z) - wrong[row] * expit(z)).sum(axis=1)

    place = elementwise.find_root(score, (-_STEEPEST, _STEEPEST), args=(rows,)).x
    slopes[rows] = place / (1 - np.abs(place)) / unit
    return slopes


def wmt23_curve(metric: str, *, n_segments: int | None = None) -> pd.DataFrame:
    """Return the curve of a metric on WMT23, which the package has.

    Pairs of systems are those of English to German, Hebrew to English and Chinese to English; humans are MQM raters.
    It was computed once with `curve`, from 10 samples of segments.

    The 12 pairs with the human translation of Hebrew to English count, because the accuracies that WMT23 published
    count them. Without them no slope leaves its interval; most change by less than 6 %, those of KG-BERTScore, BLEU,
    spBLEU and GEMBA-MQM rise by 9 to 21 %, and that of prismSrc falls by 35 %. A curve does not hold for such pairs:
    humans agree with BLEU on 5 of the 12 and with chrF on 7.

    Target: the chance that MQM raters of WMT23 prefer the metric's choice among pairs of systems like those there.

    Parameters
    ----------
    metric : str
        As WMT23 calls it: chrF, COMET, MetricX-23, ...
    n_segments : int, optional
        How many segments a system score averages. There are curves for 30, 100, 300 and all (557 to 1,976), for all
        alone if system scores are not means (BLEU, chrF). Between them the one for fewer segments counts.

    Returns
    -------
    pandas.DataFrame
        ``n_segments`` (0: all) and the columns of `Curve.to_frame`, at level .95.

    Raises
    ------
    ValueError
        If the metric is unknown, or has no curve for so few segments.

    See Also
    --------
    curve : fit it to your own data.

    Examples
    --------
    >>> import mtmeta as mm
    >>> mm.differences.wmt23_curve("COMET", n_segments=200)[["n_segments", "n_pairs"]].to_numpy().tolist()
    [[100, 249]]
    """
    table = pd.read_csv(Path(__file__).parent / "data" / "wmt23_differences.tsv", sep="\t", comment="#")
    if metric not in set(table["metric"]):
        raise unknown("metric in WMT23:", metric, sorted(set(table["metric"])))
    table = table[table["metric"] == metric]
    sizes = table["n_segments"].replace(0, 557)
    rows = table[sizes <= (check_count("n_segments", n_segments, 1) if n_segments is not None else 557)]
    if rows.empty:
        raise Undefined(
            f"WMT23 has no curve of {metric!r} for {n_segments} segments; the smallest is for {sizes.min()}. Fit a "
            "curve to your own segment scores (`--set my_scores.csv`, in Python `differences.curve`)."
        )
    return rows.tail(1).reset_index(drop=True)


def compare_systems(
    es: EvalSet | pd.DataFrame,
    first: str | None = None,
    second: str | None = None,
    *,
    metrics: Sequence[str] | str | None = None,
    unit: str | None = None,
    n_resamples: int = 1000,
    level: float = 0.95,
    rng: int | np.random.Generator | None = 0,
) -> pd.DataFrame:
    r"""Test by each metric whether one system is better than another, and how sure that is.

    A metric's difference is :math:`\Delta = \frac1n \sum_j (m_{1j} - m_{2j})` over the n segments that it scored for
    both systems. Human scores are not needed; where there are any, humans get a row as well.

    Target: the difference of the metric's means over segments, or documents, like these. It says what the *metric*
    prefers. How often people agree with such a preference is another question, which ``people_agree`` answers for
    metrics that took part in WMT23.

    Parameters
    ----------
    es : EvalSet or DataFrame
        A set, or a tidy table; ``human`` may be missing.
    first, second : str, optional
        The two systems. By default all pairs of systems are compared, and their p-values are corrected.
    metrics : str or sequence of str, optional
        By default all.
    unit : {None, "segment", "document"}
        What is exchanged between the two systems and redrawn. By default documents if the set names at least 20,
        otherwise segments.
    n_resamples : int
        Draws of the test and of the interval.
    level : float
        Of the interval, in (0, 1).
    rng : int, Generator or None

    Returns
    -------
    pandas.DataFrame
        One row per metric and pair, humans first: ``metric, first, second, first_score, second_score, difference``
        (positive: the first is better), ``low, high`` (bootstrap interval of the difference), ``p`` (two-sided, by
        exchanging the two systems in whole units; over several pairs of a metric corrected by max-T), ``n`` and
        ``unit`` (how many of what were redrawn), ``people_agree`` (how often MQM raters of WMT23 preferred the system
        that this metric preferred by so much, by `wmt23_curve`; NaN where there is no curve or no pair of WMT23
        differs by as much). With fewer than 6 units, ``low, high, p`` are NaN.

    Raises
    ------
    ValueError
        If a name is unknown, the two systems are the same, or a metric scored no segment for both.

    See Also
    --------
    wmt23_curve, curve : the chance that people agree.
    mtmeta.compare : compares metrics, not systems.

    Notes
    -----
    The interval is at least as long as Student's where there are fewer than 20 units. If documents differ in length,
    each segment counts equally, and documents are exchanged whole.

    References
    ----------
    Koehn 2004 (bootstrap of segments); Riezler and Maxwell 2005 (exchanging systems); Romano and Wolf 2005 (max-T).

    Examples
    --------
    >>> import mtmeta as mm
    >>> found = mm.compare_systems(mm.load("teaching"), "Aster", "Ember", metrics=["chrF", "Regressor"])
    >>> found[["metric", "difference", "p", "n", "unit"]].round(3).to_numpy().tolist()[1:]
    [['chrF', -3.875, 0.005, 28, 'document'], ['Regressor', -0.023, 0.001, 28, 'document']]
    """
    es = es if isinstance(es, EvalSet) else EvalSet.from_frame(es, unrated="keep")
    check_level(level)
    names = metric_names(es, metrics)
    pairs = [(first, second)] if first or second else list(itertools.combinations(es.systems, 2))
    positions("system", pairs[0], es.systems)
    if unit is None:
        documents = set(es.documents or ())
        unit = "document" if len(documents) >= LEAST_UNITS else "segment"
    check_choice("unit", unit, ("segment", "document"))
    units = units_of(es, unit)
    seed = base_seed(rng)
    scores = ({} if np.isnan(es.human).all() else {"human": es.human}) | {name: es[name] for name in names}
    tables = [_pairs_of(es, name, values, pairs, units, n_resamples, level, seed) for name, values in scores.items()]
    return pd.concat(tables, ignore_index=True).assign(unit=unit)[_COMPARED]


_COMPARED = "metric first second first_score second_score difference low high p n unit people_agree".split()


def _pairs_of(es, metric, values, pairs, units, n_resamples: int, level: float, seed: int) -> pd.DataFrame:
    """Return the rows of one metric: the same draws of units serve all its pairs."""
    n_units, rows, nulls = int(units.max()) + 1, [], []
    signs = exchange(n_units, n_resamples, np.random.default_rng(seed))
    weights = bootstrap(n_units, n_resamples, np.random.default_rng(seed))
    for first, second in pairs:
        gaps = values[es.systems.index(first)] - values[es.systems.index(second)]
        known = ~np.isnan(gaps)
        if not known.any():
            raise Undefined(
                f"metric {metric!r} in set {es.name!r}: no segment has a score of {first!r} and {second!r}."
            )
        sums = sums_by_unit(units, known, np.where(known, gaps, 0.0), n=n_units)
        counted = sums[:, 0] > 0
        means = Statistic(sums, lambda s: np.divide(s[:, 1], s[:, 0], out=np.full(len(s), np.nan), where=s[:, 0] > 0))
        value, n = gaps[known].mean(), int(counted.sum())
        low, high = interval_of(value, means(weights), level, n, (-np.inf, np.inf))
        nulls.append(sums[:, 1] @ signs / known.sum() if n >= FEWEST_UNITS else np.full(n_resamples + 1, np.nan))
        scores = (values[es.systems.index(name)][known].mean() for name in (first, second))
        rows.append((metric, first, second, *scores, value, low, high, n, int(known.sum())))
    columns = [column for column in _COMPARED if column not in ("p", "unit", "people_agree")]
    table, nulls = pd.DataFrame(rows, columns=[*columns, "n_segments"]), np.abs(nulls)
    known = ~np.isnan(nulls[:, 0])
    p, correct = np.full(len(table), np.nan), max_t if known.sum() > 1 else share_reached
    p[known] = correct(nulls[known, 1:], nulls[known, 0]) if known.any() else p[known]
    try:
        of_wmt23 = wmt23_curve(metric, n_segments=int(table["n_segments"].min())).iloc[0]
    except ValueError:  # the metric did not take part, or has no curve for so few segments
        return table.assign(p=p, people_agree=np.nan)
    size = table["difference"].abs()
    return table.assign(p=p, people_agree=expit(of_wmt23["slope"] * size).where(size <= of_wmt23["largest"]))
