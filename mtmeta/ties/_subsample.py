"""Calibrated acc_eq at other shares of human ties, by dropping pairs at random."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from .._checks import Undefined, generator
from ..evalset import EvalSet, as_evalset, metric_names
from ._pairs import HumanPairs, check_options, human_pairs, metric_pairs, part

#: 0, 5, ... 60 % of human ties, which spans what test sets have.
SHARES = tuple(k / 20 for k in range(13))


def drop_probabilities(tie_share: float, wanted: float) -> tuple[float, float]:
    r"""Return (p_tied, p_untied) that make ``wanted`` the expected share of ties, and drop as little as possible.

    If pairs are dropped with probabilities p_t and p_n, of a share t of tied pairs remains

    .. math:: \frac{t (1 - p_t)}{t (1 - p_t) + (1 - t)(1 - p_n)}

    This fixes the ratio in which the two kinds are kept. Most pairs survive when one kind is kept whole, so one of the
    two probabilities is always 0.

    Parameters
    ----------
    tie_share, wanted : float
        Share of ties before and after, in [0, 1].

    Returns
    -------
    tuple of float

    Raises
    ------
    ValueError
        If an argument is no share, or the data lack the kind of pair that is wanted.

    References
    ----------
    Perrella et al. 2024, section 4.4.

    Examples
    --------
    >>> from mtmeta import ties
    >>> ties.drop_probabilities(0.5, 0.2), ties.drop_probabilities(0.5, 0.8)
    ((0.75, 0.0), (0.0, 0.75))
    """
    for name, value in (("tie_share", tie_share), ("wanted", wanted)):
        if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not 0 <= value <= 1:
            raise ValueError(f"`{name}` must be a share in [0, 1]; found {value!r}.")
    if (tie_share == 0 and wanted > 0) or (tie_share == 1 and wanted < 1):
        kind = "tied" if tie_share == 0 else "untied"
        raise Undefined(f"a tie share of {wanted} cannot be reached by dropping pairs: no pair is {kind}.")
    if wanted <= tie_share:
        return (1 - wanted * (1 - tie_share) / (tie_share * (1 - wanted)) if wanted < tie_share else 0.0), 0.0
    return 0.0, 1 - tie_share * (1 - wanted) / (wanted * (1 - tie_share))


def keep(pairs: HumanPairs, uniforms: np.ndarray, share: float, among: np.ndarray | None = None):
    """Return which pairs are kept (all of them from ``among``), and the two probabilities.

    A pair is dropped if its uniform number lies below the probability of its kind. With the same numbers, the
    sub-samples of different shares are therefore nested.
    """
    among = np.ones(len(pairs.tied), dtype=bool) if among is None else among
    p_tied, p_untied = drop_probabilities(float(pairs.tied[among].mean()), share)
    return among & (uniforms >= np.where(pairs.tied, p_tied, p_untied)), p_tied, p_untied


def subsample_ties(
    es: EvalSet | pd.DataFrame,
    metrics: Sequence[str] | str | None = None,
    *,
    shares: Sequence[float] = SHARES,
    n_resamples: int = 10,
    average: str = "segment",
    rng: int | np.random.Generator | None = 0,
) -> pd.DataFrame:
    """Calibrate ties, and compute acc_eq, on sub-samples of the pairs with other shares of human ties.

    Pairs of translations of one segment are dropped at random: those that humans tie with one probability, the others
    with another (`drop_probabilities`). Each metric's threshold is chosen and its acc_eq computed, exactly, on the
    remaining pairs alone. All metrics see the same sub-samples; within a draw the sub-samples of different shares are
    nested, so that chance adds as little as possible to the differences between shares.

    Parameters
    ----------
    es : EvalSet or pandas.DataFrame
    metrics : str or sequence of str, optional
        All by default. Add noisy twins with `EvalSet.with_metrics` and `discrete_to_continuous`.
    shares : sequence of float
        Wanted shares of tied pairs, over all pairs together.
    n_resamples : int
        Number of random sub-samples for each share.
    average : {"segment", "pair"}
        ``"segment"``: mean over segments of acc_eq, as in `correlate`. A segment without a remaining pair is not in the
        mean (``n_empty`` counts them), and one with a single pair counts as much as any other. A constant metric then
        gets the mean of the segments' tie shares, ``human_ties``, which differs from ``tie_share``. ``"pair"``: each
        pair counts the same, and a constant metric gets ``tie_share``.
    rng : None, int or numpy.random.Generator

    Returns
    -------
    pandas.DataFrame
        One row per draw, share and metric: ``metric, share`` (wanted), ``draw``, ``tie_share`` (of the pairs kept),
        ``human_ties`` (the same, averaged like acc_eq: what a constant metric gets), ``value`` (acc_eq, higher is
        better), ``epsilon`` (smallest best threshold, in units of the metric), ``epsilon_sd`` (the same in standard
        deviations of the metric's scores; NaN if it is constant), ``metric_ties`` (share of ties that the metric then
        predicts, averaged like acc_eq), ``p_tied, p_untied, n_pairs, n_segments, n_empty``.

    Raises
    ------
    ValueError
        If a name or option is unknown, a share cannot be reached, or a sub-sample has no pair left.

    References
    ----------
    Perrella et al. 2024, section 4.4, figures 2 and 9 to 11.

    Examples
    --------
    >>> import mtmeta as mm
    >>> es = mm.load("teaching")
    >>> table = mm.ties.subsample_ties(es, ["Judge", "chrF"], shares=[0, 0.5], n_resamples=2)
    >>> table.groupby(["share", "metric"], sort=False).value.mean().round(2).to_dict()
    {(0.0, 'Judge'): 0.48, (0.0, 'chrF'): 0.61, (0.5, 'Judge'): 0.57, (0.5, 'chrF'): 0.43}
    """
    es = as_evalset(es)
    names = metric_names(es, metrics)
    shares = check_options(average, n_resamples, shares)
    pairs = human_pairs(es)
    by_metric = {name: metric_pairs(es, name, pairs) for name in names}
    n_segments = {name: len(np.unique(pairs.segment[ordered.scored])) for name, ordered in by_metric.items()}
    rng = generator(rng)
    rows = []
    for draw in range(n_resamples):
        uniforms = rng.random(len(pairs.tied))
        for share in shares:
            kept, p_tied, p_untied = keep(pairs, uniforms, share)
            cache = {}
            for name, ordered in by_metric.items():
                weight, tie_share, n_pairs, n_filled = part(pairs, kept, ordered, average, cache)
                epsilon, value, tied = ordered.best(weight)
                in_sd = epsilon / ordered.spread if ordered.spread > 0 else np.nan
                fitted = (tie_share, float(weight[pairs.tied].sum()), value, epsilon, in_sd, tied)
                counts = (n_pairs, n_filled, n_segments[name] - n_filled)
                rows.append((name, share, draw, *fitted, p_tied, p_untied, *counts))
    columns = "metric share draw tie_share human_ties value epsilon epsilon_sd metric_ties p_tied p_untied"
    return pd.DataFrame(rows, columns=[*columns.split(), "n_pairs", "n_segments", "n_empty"])
