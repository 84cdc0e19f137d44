"""Agreement on pairs of systems: pairwise accuracy and soft pairwise accuracy (SPA)."""

import itertools
import warnings
from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.special import ndtr

from .._checks import Undefined, check_choice, check_count, generator
from .._equal import OF_MEAN
from .._names import names_of, unknown
from .._systems import means
from ..evalset import EvalSet, as_sets, is_rating
from ..resampling import fisher_interval, units_of


def shared_metrics(sets: Sequence[EvalSet], metrics: Sequence[str] | str | None, *, level: str = "system") -> list[str]:
    """Return the metrics asked for, or else those that every set has at this level."""
    known_names = [list(es.system_scores.columns.drop("human")) for es in sets]
    names = [[m for m in known if m in es or level == "system"] for es, known in zip(sets, known_names, strict=True)]
    if metrics is None:
        own = [m for m in names[0] if not is_rating(m)]
        found = [m for m in own if all(m in other for other in names[1:])]
        if not found:
            raise ValueError("the sets have no metric in common.")
        return found
    metrics = list(names_of([metrics] if isinstance(metrics, str) else metrics, "metrics"))
    for metric in metrics:
        for es, known in zip(sets, names, strict=True):
            if metric not in known:
                raise unknown(f"metric in set {es.name!r}:", metric, known)
    return metrics


def sign_of_difference(first: np.ndarray, second: np.ndarray, size: np.ndarray | float = 0.0) -> np.ndarray:
    """Return the signs of differences between system scores, 0 where only rounding tells the two apart.

    ``size`` is the magnitude of the averaged scores, since it decides how a mean near 0 is rounded.
    """
    difference = first - second
    tolerance = OF_MEAN * np.maximum(np.maximum(np.abs(first), np.abs(second)), size)
    return np.where(np.abs(difference) <= tolerance, 0.0, np.sign(difference))


def system_scores(es: EvalSet, metrics: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return humans' and metrics' scores of systems, and the mean size of the scores behind them, (n_systems, n)."""
    (metric,) = metrics if len(metrics) == 1 else (None,)
    columns, sizes = ["human", *metrics], np.zeros((es.shape[0], 1 + len(metrics)))
    scores = (es.system_scores if metric is None else es.system_scores_of(metric))[columns].to_numpy()
    for k, column in enumerate(columns):
        if column == "human" or column in es:
            sizes[:, k] = np.nan_to_num(means(np.abs(es.human if column == "human" else es[column])))
    return scores, sizes


def rated_systems(es: EvalSet, metrics: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return what `system_scores` does, of the systems that have all of these."""
    scores, sizes = system_scores(es, metrics)
    whole = ~np.isnan(scores).any(axis=1)
    return scores[whole], sizes[whole]


def pairwise_accuracy(
    es: EvalSet | pd.DataFrame | Sequence[EvalSet], metrics: Sequence[str] | str | None = None
) -> pd.DataFrame:
    """Return the share of system pairs that a metric orders as humans do.

    Pairs are formed within each set and pooled over sets (language pairs). A pair counts when the difference of system
    scores has the same sign for both; a tie agrees with a tie only. Scores are tied if they differ by less than 1e-12
    of their size, or of the size of the segment scores behind them: rounding alone moves equal means that far apart.

    Target: the share of pairs of these systems that the metric orders as the mean of these human scores does.

    Parameters
    ----------
    es : EvalSet, DataFrame or sequence of EvalSet
    metrics : str or sequence of str, optional
        By default all metrics with system scores in every set.

    Returns
    -------
    pandas.DataFrame
        ``metric, value`` (in [0, 1]; higher is better; a coin gets 1/2), ``n_pairs, n_sets``.

    Raises
    ------
    ValueError
        If a metric is unknown, or no set has two systems with scores.

    See Also
    --------
    soft_pairwise_accuracy : counts how sure each order of two systems is.
    mtmeta.rank : rank metrics by it, as WMT does.

    References
    ----------
    Kocmi et al. 2021, "To Ship or Not to Ship", equation 1.

    Examples
    --------
    >>> import mtmeta as mm
    >>> es = mm.EvalSet([[0, -6], [-1, -7]], {"Y": [[.5, .5], [.4, .4]]}, systems=["A", "B"])
    >>> mm.pairwise_accuracy(es).to_records(index=False).tolist()
    [('Y', 1.0, 1, 1)]
    """
    sets = as_sets(es)
    names = shared_metrics(sets, metrics)
    values, n_pairs = mean_over_pairs(order_gaps(sets, names), names)
    return pd.DataFrame({"metric": names, "value": values, "n_pairs": n_pairs, "n_sets": len(sets)})


def order_gaps(sets: Sequence[EvalSet], names: Sequence[str]) -> list[np.ndarray]:
    """Return 1 where a metric orders a pair of systems differently from the humans, else 0, as `spa_gaps` does."""
    found = []
    for one in sets:
        i, j = np.triu_indices(one.shape[0], 1)
        gaps = np.empty((len(names), len(i)))
        for k, name in enumerate(names):
            scores, sizes = system_scores(one, [name])
            human, mine = sign_of_difference(scores[i], scores[j], np.maximum(sizes[i], sizes[j])).T
            gaps[k] = np.where(np.isnan(scores[i] - scores[j]).any(axis=1), np.nan, human != mine)
        found.append(gaps)
    return found


def mean_over_pairs(gaps: Sequence[np.ndarray], names: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return 1 less the mean gap of each metric over the pairs of systems of all sets, and the number of these."""
    total, n_pairs = (sum(part) for part in zip(*((np.nansum(g, 1), (~np.isnan(g)).sum(1)) for g in gaps), strict=True))
    if not n_pairs.all():
        name = names[int(np.argmin(n_pairs))]
        raise Undefined(
            f"metric {name!r}: no set has two systems that both humans and the metric scored (SPA: on one segment)."
        )
    return (n_pairs - total) / n_pairs, n_pairs


def soft_pairwise_accuracy(
    es: EvalSet | pd.DataFrame | Sequence[EvalSet],
    metrics: Sequence[str] | str | None = None,
    *,
    n_segments: int | None = None,
    n_resamples: int = 1000,
    ties: str = "half",
    rng: int | np.random.Generator | None = 4,
) -> pd.DataFrame:
    r"""Return how well a metric's confidence in each system comparison matches the humans'.

    For each pair of systems a paired permutation test (random signs on the segment
    differences) gives the one-sided p-value that the first is better, once from human and
    once from metric scores. :math:`SPA = 1 - \text{mean}_{i<j} |p^h_{ij} - p^m_{ij}|`.
    The same signs serve all pairs and both sides. A pair uses the segments on which both
    systems have both scores. Pairs are pooled over sets.

    Target: the SPA expected *of campaigns with as many segments*. P-values depend on the number of segments, so SPA has
    no value of its own for a metric: with more segments it tends to the share of pairs in the right order. Compare
    values of equal ``n_segments`` only. To compare campaigns of different sizes, name a number that each of them
    exceeds.

    Parameters
    ----------
    es, metrics
        As in `pairwise_accuracy`; metrics need segment scores.
    n_segments : int, optional
        Estimate the expected SPA of campaigns with so many segments: the mean over random subsets of so many of the
        segments that humans and the metric scored in each set, at most two thirds of them, with normal p-values in
        place of random signs (Notes).
    n_resamples : int
        Number of random sign vectors, or of random subsets.
    ties : {"half", "published"}
        How much a draw that equals the observed difference counts. ``"half"``: one half, so that swapping the systems
        turns p into 1 - p and their order does not matter. ``"published"``: one, as in the WMT24 implementation; the
        value of a metric that ties systems then depends on the order in which they are listed. (That implementation
        sums in single precision, where rounding decides which draws are equal; here equal sums are equal.)
    rng : None, int or numpy.random.Generator
        Seed of the signs; 4 is the published one.

    Returns
    -------
    pandas.DataFrame
        ``metric, value`` (in [0, 1]; higher is better), ``n_segments, n_pairs, n_sets, n_resamples``. ``n_segments`` is
        the mean number of segments that a pair of systems shares, rounded. If a number of segments was asked for, there
        are also ``low, high``: the 95 % interval of the expected SPA of these systems on so many segments like these.

    Raises
    ------
    ValueError
        If an option is unknown, a set has no two systems scored on a common segment, or too few rated segments for
        ``n_segments``.

    Warns
    -----
    UserWarning
        If the numbers of segments of two metrics differ by more than a tenth, as with a metric that lacks scores.

    Notes
    -----
    SPA of n segments is a symmetric function of them, so its mean over all subsets of n of N independent segments has
    the expected SPA of a campaign with n segments as its expectation (it is a U-statistic). The variance of that mean
    is the infinitesimal jackknife's: with :math:`c_s` the covariance of SPA in a subset with whether it has segment s,
    :math:`\frac{N-1}{N} \left(\frac{N}{N-n}\right)^2 \sum c_s^2`, less what the finite number of subsets adds; if a
    set names documents, the :math:`c_s` of a document are added before they are squared. The interval is symmetric on
    the scale of Fisher's z of 2 value - 1. Six metrics of each language pair of WMT23 served as populations: intervals
    for 50 and 100 segments from 150 and 300, drawn singly or in documents, held the expected SPA in .92 to .99 of 360
    cases for each of 24 settings, .95 on average. Bootstrap intervals of SPA (`mtmeta.significance.intervals`) hold
    that of campaigns of their own size only.

    References
    ----------
    Thompson, Mathur, Deutsch and Khayrallah 2024, "Improving Statistical Significance in Human
    Evaluation of Automatic Metrics via Soft Pairwise Accuracy". Wager, Hastie and Efron 2014 (variance).

    See Also
    --------
    pairwise_accuracy : does not depend on the number of segments, except by noise.

    Examples
    --------
    >>> import mtmeta as mm
    >>> es = mm.EvalSet([[0, -6], [-1, -7]], {"Y": [[.5, .5], [.5, .5]]}, systems=["A", "B"])
    >>> float(mm.soft_pairwise_accuracy(es).value.iloc[0]) > 0.5
    True
    >>> es = mm.load("teaching")
    >>> found = [mm.soft_pairwise_accuracy(es, "BLEU", n_segments=n) for n in (30, 100, 200)]
    >>> [round(float(table["value"].iloc[0]), 2) for table in found]
    [0.79, 0.85, 0.88]
    """
    check_choice("ties", ties, ("half", "published"))
    check_count("n_resamples", n_resamples, 1)
    sets = as_sets(es)
    names = shared_metrics(sets, metrics, level="segment")
    if n_segments is not None:
        if ties != "half":
            raise ValueError("`n_segments` goes with ties='half': its p-values are normal.")
        return _expected_spa(sets, names, n_segments, n_resamples, generator(rng))
    rng = generator(rng)
    parts = [spa_gaps(one, names, n_resamples=n_resamples, ties=ties, rng=rng) for one in sets]
    values, n_pairs = mean_over_pairs([gaps for gaps, _ in parts], names)
    shared = np.rint(sum(n.sum(axis=1) for _, n in parts) / n_pairs).astype(int)
    table = pd.DataFrame({"metric": names, "value": values, "n_segments": shared, "n_pairs": n_pairs})
    table = table.assign(n_sets=len(sets), n_resamples=n_resamples)
    fewest, most = (
        table.loc[at, ["metric", "n_segments"]] for at in (table["n_segments"].idxmin(), table["n_segments"].idxmax())
    )
    if most["n_segments"] > 1.1 * fewest["n_segments"]:
        warnings.warn(
            f"SPA depends on the number of segments, and a pair of systems has {fewest['n_segments']} with scores of "
            f"{fewest['metric']!r} but {most['n_segments']} with scores of {most['metric']!r}. Do not compare these "
            "values; select segments that all metrics scored, or pass n_segments=.",
            stacklevel=2,
        )
    return table


def spa_gaps(
    es: EvalSet, names: Sequence[str], *, n_resamples: int, ties: str, rng: int | np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return how far each metric's p-value of each pair is from the humans', and the number of segments of each pair.

    Both have shape (n_metrics, n_pairs), with pairs in the order of ``numpy.triu_indices``. The first is NaN for a pair
    without a common scored segment.
    """
    rated, gaps, shared, human_p = ~np.isnan(es.human), [], [], {}
    columns = rated.any(axis=0)
    signs, (i, j) = random_signs(generator(rng), n_resamples, columns.sum()), np.triu_indices(es.shape[0], 1)
    for name in names:
        scored = (rated & ~np.isnan(es[name]))[:, columns]
        key = scored.tobytes()
        if key not in human_p:
            human_p[key] = one_sided_p(es.human[:, columns], scored, signs, ties)
        mine = one_sided_p(es[name][:, columns], scored, signs, ties)
        gaps.append(np.abs(human_p[key] - mine))
        shared.append((scored[i] & scored[j]).sum(axis=1))
    return np.array(gaps), np.array(shared)


def shared_segments(es: EvalSet) -> int:
    """Return on how many segments two rated systems are both rated, on average over pairs."""
    rated = (~np.isnan(es.human)).astype(np.int64)
    shared = (rated @ rated.T)[np.triu_indices(len(rated), 1)]
    return round(shared.sum() / max(1, (shared > 0).sum()))


def _expected_spa(sets, names, n_segments: int, n_resamples: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return the mean SPA over random subsets of segments of each set, with its interval."""
    check_count("n_segments", n_segments, 1)
    seed = int(rng.integers(2**32))
    parts = {name: np.zeros(3) for name in names}  # sums over sets: pairs, value, variance
    for one, name in itertools.product(sets, names):
        rated = ~(np.isnan(one.human) | np.isnan(one[name])).all(axis=0)
        total, n_pairs = int(rated.sum()), one.shape[0] * (one.shape[0] - 1) // 2
        if n_segments > 2 * total / 3:
            raise ValueError(
                f"set {one.name!r}, metric {name!r}: {total} segments are scored; `n_segments` may be at most two "
                f"thirds, {2 * total // 3}; found {n_segments}."
            )
        # the same subsets for all metrics with as many scores
        draws = np.random.default_rng(seed).random((n_resamples, total))
        times, share = np.zeros((n_resamples, total)), n_segments / total
        np.put_along_axis(times, draws.argpartition(n_segments - 1, axis=1)[:, :n_segments], 1.0, axis=1)
        part = one.select(segments=itertools.compress(one.segments, rated))
        values = spa_in_draws(part, name, times)
        if np.isnan(values).any():
            raise Undefined(f"metric {name!r}: some {n_segments} segments have no scores of any two systems.")
        units = units_of(part, "segment" if one.documents is None else "document")
        moved = np.bincount(units, (times - share).T @ (values - values.mean())) / n_resamples
        sizes = np.bincount(units)
        of_draws = share * (1 - share) * (sizes * (total - sizes)).sum() / (total - 1) * values.var() / n_resamples
        variance = max(0.0, (total - 1) / total / (1 - share) ** 2 * ((moved**2).sum() - of_draws))
        parts[name] += n_pairs, n_pairs * values.mean(), n_pairs**2 * variance
    n_pairs, value, variance = np.array(list(parts.values())).T
    value, variance = value / n_pairs, variance / n_pairs**2
    low, high = fisher_interval(value, variance, "spa", np.inf, 0.95)
    table = pd.DataFrame({"metric": names, "value": value, "low": low, "high": high, "n_segments": n_segments})
    return table.assign(n_pairs=n_pairs.astype(int), n_sets=len(sets), n_resamples=n_resamples)


def random_signs(rng: np.random.Generator, n_resamples: int, n_segments: int) -> np.ndarray:
    """Draw 1 or -1 for each segment, as the WMT24 implementation does, shape (n_resamples, n_segments)."""
    return np.rint(rng.random((n_resamples, n_segments), dtype=np.float32)).astype(np.float64) * 2 - 1


def one_sided_p(scores: np.ndarray, scored: np.ndarray, signs: np.ndarray, ties: str) -> np.ndarray:
    """Return p that system i is better than system j by chance, for i < j in order.

    NaN for a pair without a common scored segment.
    """
    x = np.where(scored, scores, 0.0)
    i, j = np.triu_indices(len(x), 1)
    sums, totals, sizes = x @ signs.T, x.sum(axis=1), np.abs(x).sum(axis=1)
    null, observed = sums[i] - sums[j], totals[i] - totals[j]
    shared = scored[i] & scored[j]
    for k in np.flatnonzero((scored[i] != scored[j]).any(axis=1)):  # holes differ: use what both have
        difference = np.where(shared[k], x[i[k]] - x[j[k]], 0)
        null[k], observed[k] = signs @ difference, difference.sum()
    tolerance = OF_MEAN * (sizes[i] + sizes[j])  # sums this close differ by rounding only
    p = (null >= (observed - tolerance)[:, None]).mean(axis=1)
    if ties == "half":
        p = (p + (null > (observed + tolerance)[:, None]).mean(axis=1)) / 2
    return np.where(shared.any(axis=1), p, np.nan)


def spa_in_draws(es: EvalSet, metric: str, counts: np.ndarray) -> np.ndarray:
    """Return soft pairwise accuracy in each draw of segments, with normal p-values in place of random signs.

    The sum of n differences with random signs has mean 0, and the sum of their squares as its variance.
    """
    i, j = np.triu_indices(es.shape[0], 1)
    known = ~np.isnan(es.human[i] + es.human[j] + es[metric][i] + es[metric][j])
    p = []
    for values in (es.human, es[metric]):
        d = np.where(known, values[i] - values[j], 0.0)
        sums, squares = counts @ d.T, counts @ (d * d).T
        p.append(ndtr(np.divide(sums, np.sqrt(squares), out=np.zeros_like(sums), where=squares > 0)))
    gaps, shared = np.abs(p[0] - p[1]), counts @ known.T > 0
    n = shared.sum(axis=1)
    return np.divide(np.where(shared, 1 - gaps, 0.0).sum(axis=1), n, out=np.full(len(n), np.nan), where=n > 0)
