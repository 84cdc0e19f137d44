"""Agreement on pairs of systems: pairwise accuracy and soft pairwise accuracy (SPA)."""

import warnings
from collections.abc import Sequence

import numpy as np
import pandas as pd

from .._checks import Undefined, check_choice, check_count, generator
from .._equal import OF_MEAN
from .._names import names_of, unknown
from .._systems import means
from ..evalset import EvalSet, as_sets, is_rating


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
    values of equal ``n_segments`` only; of a larger campaign, select as many segments as the smaller one has.

    Parameters
    ----------
    es, metrics
        As in `pairwise_accuracy`; metrics need segment scores.
    n_resamples : int
        Number of random sign vectors.
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
        the mean number of segments that a pair of systems shares, rounded.

    Raises
    ------
    ValueError
        If an option is unknown, or no set has two systems scored on a common segment.

    Warns
    -----
    UserWarning
        If the numbers of segments of two metrics differ by more than a tenth, as with a metric that lacks scores.

    References
    ----------
    Thompson, Mathur, Deutsch and Khayrallah 2024, "Improving Statistical Significance in Human
    Evaluation of Automatic Metrics via Soft Pairwise Accuracy".

    See Also
    --------
    pairwise_accuracy : does not depend on the number of segments, except by noise.

    Examples
    --------
    >>> import mtmeta as mm
    >>> es = mm.EvalSet([[0, -6], [-1, -7]], {"Y": [[.5, .5], [.5, .5]]}, systems=["A", "B"])
    >>> float(mm.soft_pairwise_accuracy(es).value.iloc[0]) > 0.5
    True
    """
    check_choice("ties", ties, ("half", "published"))
    check_count("n_resamples", n_resamples, 1)
    sets = as_sets(es)
    names = shared_metrics(sets, metrics, level="segment")
    rng = generator(rng)
    parts = [spa_gaps(one, names, n_resamples=n_resamples, ties=ties, rng=rng) for one in sets]
    values, n_pairs = mean_over_pairs([gaps for gaps, _ in parts], names)
    shared = np.rint(sum(n.sum(axis=1) for _, n in parts) / n_pairs).astype(int)
    table = pd.DataFrame({"metric": names, "value": values, "n_segments": shared, "n_pairs": n_pairs})
    table = table.assign(n_sets=len(sets), n_resamples=n_resamples)
    fewest, most = names[shared.argmin()], names[shared.argmax()]
    if shared.max() > 1.1 * shared.min():
        warnings.warn(
            f"SPA depends on the number of segments, and a pair of systems has {shared.min()} with scores of "
            f"{fewest!r} but {shared.max()} with scores of {most!r}. Do not compare these values; select segments that "
            "all metrics scored.",
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
