"""Tie calibration on other segments than those of the evaluation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from .._checks import Undefined, generator
from ..evalset import EvalSet, as_evalset, metric_names
from ._pairs import check_options, human_pairs, metric_pairs, part
from ._subsample import SHARES, keep

#: How often a split is drawn anew where a wanted share of ties is out of reach.
_TRIES = 100


def held_out_calibration(
    es: EvalSet | pd.DataFrame,
    metrics: Sequence[str] | str | None = None,
    *,
    held_out: float = 0.5,
    shares: Sequence[float] | None = SHARES,
    n_resamples: int = 10,
    average: str = "segment",
    rng: int | np.random.Generator | None = 0,
) -> pd.DataFrame:
    """Choose each metric's tie threshold on held-out segments, and compute acc_eq on the others.

    Each draw splits the segments at random, and repeats the split if the held-out part lacks the tied or untied pairs
    that the wanted shares need. Pairs of the held-out part are dropped to give it another share of human ties (see
    `subsample_ties`); the other part does not change. The acc_eq that the held-out threshold earns is compared with
    that of in-sample calibration on the same segments.

    Parameters
    ----------
    es, metrics, n_resamples, average, rng
        As in `subsample_ties`.
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
    wanted = [None] if shares is None else check_options(average, n_resamples, shares)
    check_options(average, n_resamples, [0.0])
    if isinstance(held_out, bool) or not isinstance(held_out, (float, int, np.number)) or not 0 < held_out < 1:
        raise ValueError(f"`held_out` must be a share of the segments between 0 and 1; found {held_out!r}.")
    pairs = human_pairs(es)
    segments = np.unique(pairs.segment)
    size = round(held_out * len(segments))
    if not 0 < size < len(segments):
        raise Undefined(
            f"{len(segments)} segment(s) with a rated pair cannot be split with held_out={held_out}: a part has none."
        )
    by_metric = {name: metric_pairs(es, name, pairs) for name in names}
    rng = generator(rng)
    rows = []
    for draw in range(n_resamples):
        away = _split(pairs, segments, size, wanted, rng)
        uniforms = rng.random(len(pairs.tied))
        cache = {}
        tests = {name: _test_part(pairs, ~away, ordered, average, cache) for name, ordered in by_metric.items()}
        for share in wanted:
            kept = away if share is None else keep(pairs, uniforms, share, away)[0]
            cache = {}
            for name, ordered in by_metric.items():
                weight, tie_share, n_pairs, n_segments = part(pairs, kept, ordered, average, cache)
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
        if _within_reach(float(pairs.tied[away].mean()), wanted):
            return away
    raise Undefined(
        f"the tie shares {', '.join(f'{share:g}' for share in wanted)} cannot be reached: {_TRIES} parts of {size} "
        "segments, drawn at random, lacked tied pairs or untied ones. Hold out more segments."
    )


def _within_reach(tie_share: float, wanted: Sequence[float | None]) -> bool:
    """Tell whether dropping pairs can make each wanted share of ties."""
    if 0 < tie_share < 1:
        return True
    return all(share is None or share == tie_share for share in wanted)


def _test_part(pairs, kept, ordered, average, cache):
    """Return the weights of the test part, its own best threshold and acc_eq, and its tie share and sizes."""
    weight, *about = part(pairs, kept, ordered, average, cache)
    epsilon = ordered.best(weight)[0]
    return weight, epsilon, ordered.at(epsilon, weight), about
