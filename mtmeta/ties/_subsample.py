"""Tie calibration at other shares of human ties, by dropping pairs at random, and on held-out segments."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from .._checks import Undefined, check_choice, check_count, check_number, generator
from ..evalset import EvalSet, as_evalset, metric_names
from ._pairs import HumanPairs, human_pairs, metric_pairs, part

#: 0, 5, ... 60 % of human ties, which spans what test sets have.
SHARES = tuple(k / 20 for k in range(13))


def drop_probabilities(tie_share: float, wanted: float) -> tuple[float, float]:
    r"""Return (p_tied, p_untied) that make ``wanted`` the expected share of ties, and drop as little as possible.

    If pairs are dropped with probabilities p_t and p_n, of a share t of tied pairs remains

    .. math:: \frac{t (1 - p_t)}{t (1 - p_t) + (1 - t)(1 - p_n)}

    This fixes the ratio in which the two kinds are kept. Most pairs survive when one kind is kept whole, so one of the
    two probabilities is always 0. Raise if the data lack the kind of pair that is wanted.
    """
    for name, value in (("tie_share", tie_share), ("wanted", wanted)):
        if not 0 <= check_number(name, value) <= 1:
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
    with another. Each metric's threshold is chosen and its acc_eq computed, exactly, on the
    remaining pairs alone. All metrics see the same sub-samples; within a draw the sub-samples of different shares are
    nested, so that chance adds as little as possible to the differences between shares.

    Target: acc_eq on campaigns like this one in which humans tie another share of pairs.

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

    See Also
    --------
    human_tie_share : the share that it changes.

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
    check_choice("average", average, ("segment", "pair"))
    check_count("n_resamples", n_resamples, 1)
    pairs = human_pairs(es)
    by_metric = {name: metric_pairs(es, name, pairs) for name in names}
    n_segments = {name: len(np.unique(pairs.segment[ordered.scored])) for name, ordered in by_metric.items()}
    rng = generator(rng)
    rows = []
    for draw in range(n_resamples):
        uniforms = rng.random(len(pairs.tied))
        for share in shares:
            kept, p_tied, p_untied = keep(pairs, uniforms, share)
            for name, ordered in by_metric.items():
                weight, tie_share, n_pairs, n_filled = part(pairs, kept, ordered, average)
                epsilon, value, tied = ordered.best(weight)
                in_sd = epsilon / ordered.spread if ordered.spread > 0 else np.nan
                fitted = (tie_share, float(weight[pairs.tied].sum()), value, epsilon, in_sd, tied)
                counts = (n_pairs, n_filled, n_segments[name] - n_filled)
                rows.append((name, share, draw, *fitted, p_tied, p_untied, *counts))
    columns = "metric share draw tie_share human_ties value epsilon epsilon_sd metric_ties p_tied p_untied"
    return pd.DataFrame(rows, columns=[*columns.split(), "n_pairs", "n_segments", "n_empty"])


#: How often a split is drawn anew where a wanted share of ties is out of reach.
_TRIES = 100


def held_out_calibration(
    es: EvalSet | pd.DataFrame,
    metrics: Sequence[str] | str | None = None,
    *,
    held_out: float = 0.5,
    shares: Sequence[float] | None = SHARES,
    n_resamples: int = 10,
    rng: int | np.random.Generator | None = 0,
) -> pd.DataFrame:
    """Choose each metric's tie threshold on held-out segments, and compute acc_eq on the others.

    Each draw splits the segments at random, and repeats the split if the held-out part lacks the tied or untied pairs
    that the wanted shares need. Pairs of the held-out part are dropped to give it another share of human ties (see
    `subsample_ties`); the other part does not change. The acc_eq that the held-out threshold earns is compared with
    that of in-sample calibration on the same segments.

    Target: acc_eq on other segments, with a threshold that was chosen without them.

    Parameters
    ----------
    es, metrics, n_resamples, rng
        As in `subsample_ties`. Segments weigh the same.
    held_out : float
        Share of the segments that are held out, in (0, 1).
    shares : sequence of float, optional
        Wanted shares of human ties in the held-out part; None leaves it as it is.

    Returns
    -------
    pandas.DataFrame
        One row per draw, share and metric: ``metric, share`` (wanted; NaN where the part is left as it is), ``draw``,
        ``tie_share`` (of the held-out pairs that are used), ``test_tie_share`` (of the others; both over pairs),
        ``epsilon, value`` (acc_eq on the test part, higher is better), ``in_sample_epsilon, in_sample``
        (calibrated on the test part itself), ``loss`` (``in_sample - value``, never below 0 but for rounding),
        ``n_pairs`` (held out and kept), ``n_segments, n_pairs_test, n_segments_test``.

    Raises
    ------
    ValueError
        If a name or option is unknown, a share cannot be reached, or a part has no pair.

    See Also
    --------
    calibrate_ties : calibrate and measure on the same segments.

    References
    ----------
    Perrella et al. 2024, section 4.5.1, figures 3 and 12. The text at hand does not give the size of their held-out
    part; the default here is half.

    Examples
    --------
    >>> import mtmeta as mm
    >>> es = mm.load("teaching")
    >>> table = mm.ties.held_out_calibration(es, ["BLEU", "Judge"], shares=[0, 0.6], n_resamples=3)
    >>> bool((table.loss > -1e-12).all())
    True
    """
    es = as_evalset(es)
    names = metric_names(es, metrics)
    check_count("n_resamples", n_resamples, 1)
    wanted = [None] if shares is None else [*shares]
    pairs = human_pairs(es)
    segments = np.unique(pairs.segment)
    size = round(held_out * len(segments))
    if not 0 < size < len(segments):
        raise Undefined(f"segments with a rated pair: {len(segments)}, which cannot be split with held_out={held_out}.")
    by_metric = {name: metric_pairs(es, name, pairs) for name in names}
    rng = generator(rng)
    rows = []
    for draw in range(n_resamples):
        away = _split(pairs, segments, size, wanted, rng)
        uniforms = rng.random(len(pairs.tied))
        tests = {name: _test_part(pairs, ~away, ordered) for name, ordered in by_metric.items()}
        for share in wanted:
            kept = away if share is None else keep(pairs, uniforms, share, away)[0]
            for name, ordered in by_metric.items():
                weight, tie_share, n_pairs, n_segments = part(pairs, kept, ordered)
                epsilon = ordered.best(weight)[0]
                test_weight, own_epsilon, own, about = tests[name]
                value = ordered.at(epsilon, test_weight)
                fitted = (epsilon, value, own_epsilon, own, own - value)
                label = (name, np.nan if share is None else share, draw, tie_share, about[0])
                rows.append((*label, *fitted, n_pairs, n_segments, *about[1:]))
    columns = "metric share draw tie_share test_tie_share epsilon value in_sample_epsilon in_sample loss"
    return pd.DataFrame(rows, columns=[*columns.split(), "n_pairs", "n_segments", "n_pairs_test", "n_segments_test"])


def _split(pairs, segments, size: int, wanted: Sequence[float | None], rng) -> np.ndarray:
    """Return which pairs are held out, in a part whose share of ties can be brought to each wanted one."""
    for _ in range(_TRIES):
        away = np.isin(pairs.segment, rng.permutation(segments)[:size])
        tie_share = pairs.tied[away].mean()
        if 0 < tie_share < 1 or all(share in (None, tie_share) for share in wanted):
            return away
    raise Undefined(
        f"the tie shares {', '.join(f'{share:g}' for share in wanted)} cannot be reached: {_TRIES} parts of {size} "
        "segments, drawn at random, lacked tied pairs or untied ones. Hold out more segments."
    )


def _test_part(pairs, kept, ordered):
    """Return the weights of the test part, its own best threshold and acc_eq, and its tie share and sizes."""
    weight, *about = part(pairs, kept, ordered)
    epsilon = ordered.best(weight)[0]
    return weight, epsilon, ordered.at(epsilon, weight), about
