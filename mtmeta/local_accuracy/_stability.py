"""How much a metric moves between contexts beyond noise, and which metric to use where."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from scipy import stats

from .._checks import check_count, generator
from .._enough import FEWEST_UNITS
from ..resampling import seed_of
from ._pairs import mean, outcomes, tally
from ._rankings import check_comparable

VERDICTS = ("best", "cannot be told apart", "worse")
#: Accuracies that differ further down differ by rounding only.
_DIGITS = 12
#: In a context no metric is called worse by mistake with this probability.
_LEVEL = 0.95
#: With fewer units the largest studentised error of a bootstrap is too small, so Student's t is the least reach.
_FEW = 40


def stability(
    pairs: pd.DataFrame,
    *,
    context: str | Sequence[str],
    metrics: Sequence[str] | str | None = None,
    ties: str = "failure",
    missing: str = "raise",
    unit: str = "segment",
    n_resamples: int = 1000,
    rng: int | np.random.Generator | None = 0,
) -> pd.DataFrame:
    r"""Measure how much each metric's accuracy moves between contexts, and how much of that is noise.

    The bootstrap tells how much of it is noise: with a_k the accuracy in context k and a*_k that of a draw,

    .. math:: s^2 = \mathrm{var}_k(a_k), \qquad s^2_{noise} = \mathrm{E}^*\,\mathrm{var}_k(a^*_k - a_k), \qquad
        s^2_{true} = \max(0, s^2 - s^2_{noise}).

    Target: the standard deviation of true accuracy over these contexts.

    Parameters
    ----------
    pairs, context, metrics, ties, missing, unit, rng
        As for `local_accuracy`.
    n_resamples : int
        Bootstrap draws, at least 2.

    Returns
    -------
    pandas.DataFrame
        ``metric, mean, sd, sd_noise, sd_true, range, range_noise, worst, worst_context, best, best_context,
        n_contexts``, highest ``worst`` first: the order of robustness. ``mean`` gives each context the same weight;
        ``range_noise`` is the mean range of a*_k - a_k, which grows with the number of contexts. All in units of
        accuracy.

    Raises
    ------
    TypeError, ValueError
        As `local_accuracy`; ValueError with fewer than two contexts.

    See Also
    --------
    recommend : the recommendation itself.

    References
    ----------
    Deviyani and Diaz 2025, section 6.1 and its guideline; the part of noise is ours.

    Examples
    --------
    >>> import pandas as pd
    >>> from mtmeta.local_accuracy import stability
    >>> pairs = pd.DataFrame({"segment": list("1122"), "system": list("ABAB"), "m": 1, "m_perturbed": [0, 0, 0, 1]})
    >>> stability(pairs, context="system")[["range", "worst_context"]].values.tolist()
    [[0.5, 'B']]
    """
    n_resamples = check_count("n_resamples", n_resamples, 2)
    data = outcomes(pairs, context, metrics, ties=ties, missing=missing, unit=unit)
    check_comparable(2, len(data.contexts))
    summed = tally(data)
    local = summed.accuracy()
    noise = summed.draws(n_resamples, generator(rng)) - local
    (sd,), (range_,) = _spread(local[None])
    sds, ranges = _spread(noise)
    sd_noise = np.sqrt(mean(sds**2, 0))
    rounded = local.round(_DIGITS)
    low, high = np.nanargmin(rounded, axis=0), np.nanargmax(rounded, axis=0)
    at = np.arange(len(data.metrics))
    table = pd.DataFrame(
        {
            "metric": data.metrics,
            "mean": mean(local, 0),
            "sd": sd,
            "sd_noise": sd_noise,
            "sd_true": np.sqrt(np.maximum(0, sd**2 - sd_noise**2)),
            "range": range_,
            "range_noise": mean(ranges, 0),
            "worst": local[low, at],
            "worst_context": [data.contexts[k] for k in low],
            "best": local[high, at],
            "best_context": [data.contexts[k] for k in high],
            "n_contexts": (~np.isnan(local)).sum(axis=0),
        }
    )
    return table.sort_values(["worst", "mean", "metric"], ascending=[False, False, True], ignore_index=True)


def _spread(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return standard deviation (n - 1) and range over the contexts, axis 1; NaN where there are too few."""
    with warnings.catch_warnings(action="ignore"):
        return np.nanstd(values, axis=1, ddof=1), np.nanmax(values, axis=1) - np.nanmin(values, axis=1)


@dataclass(frozen=True)
class Recommendation:
    """The result of `recommend`.

    Attributes
    ----------
    table : pandas.DataFrame
        ``context, metric, accuracy, rank, loss, loss_low, verdict``: in each context the metrics from the best down.
        ``loss`` is what one loses against the best there, ``loss_low`` its lower bound.
    summary : pandas.DataFrame
        ``metric, global_accuracy, n_best, n_not_worse, mean_loss, max_loss, worst_context, n_contexts``: what becomes
        of one who uses this metric everywhere; the global winner first. ``n_best`` counts contexts where it is best
        or equal to the best, ``n_not_worse`` those where it cannot be shown to be worse.
    global_winner : str
        The metric with the highest accuracy over all pairs.
    signature : str
        How it was computed, in one line.
    """

    table: pd.DataFrame
    summary: pd.DataFrame
    global_winner: str
    signature: str = field(repr=False)

    def to_frame(self) -> pd.DataFrame:
        """Return ``table``."""
        return self.table


def recommend(
    pairs: pd.DataFrame,
    *,
    context: str | Sequence[str],
    metrics: Sequence[str] | None = None,
    ties: str = "failure",
    missing: str = "raise",
    unit: str = "segment",
    n_resamples: int = 1000,
    rng: int | np.random.Generator | None = 0,
) -> Recommendation:
    """Say which metric is best in each context, which cannot be told apart from it, and what the global winner loses.

    Target: the metric with the highest accuracy in each context, over items like those given.

    Parameters
    ----------
    pairs, context, metrics, ties, missing, unit, rng
        As for `local_accuracy`.
    n_resamples : int
        Bootstrap draws, at least 2; all metrics and contexts share them. In a context, the probability that no metric
        is called worse that is as good as the best is .95.

    Returns
    -------
    Recommendation
        ``verdict`` is ``"best"`` (also for equal accuracies), ``"cannot be told apart"`` or ``"worse"``. In a context
        with fewer than 6 units it is ``"cannot be told apart"`` for all metrics, and ``loss_low`` is NaN.

    Raises
    ------
    TypeError, ValueError
        As `local_accuracy`; ValueError with fewer than two metrics or contexts, or where a metric scored nothing in
        a context.

    See Also
    --------
    local_accuracy : the accuracies that it rests on.
    stability : how many segments a recommendation needs.

    Notes
    -----
    Differences between metrics are paired. ``loss_low`` is ``loss - c * se``, where c is the .95 quantile of the
    largest studentised error over *all* pairs of metrics of the context (Tukey's way, by bootstrap: Romano and Wolf
    2005), because the best metric was chosen on the same data: without it, of three equally good metrics one was
    called worse in some 16 % of simulated contexts. Nothing corrects for the number of contexts.

    Few units make these errors look too small. Below 40 units c is therefore at least Student's t with a Bonferroni
    correction, times the root of n / (n - 1). Of coins, one was called worse than another in these shares of 1,500
    simulated contexts (nominal .05; without this correction in brackets):

    =======  ==========  ==========  ==========
    units    2 metrics   3 metrics   6 metrics
    =======  ==========  ==========  ==========
    1        none (.51)  none (.76)  none (.96)
    3        none (.21)  none (.34)  none (.52)
    5        none (.10)  none (.24)  none (.34)
    6        .04 (.13)   .02 (.19)   .01 (.27)
    10       .07 (.08)   .06 (.13)   .03 (.24)
    20       .05 (.06)   .05 (.09)   .03 (.12)
    30       .04 (.05)   .05 (.07)   .05 (.12)
    =======  ==========  ==========  ==========

    References
    ----------
    Deviyani and Diaz 2025, section 6.

    Examples
    --------
    >>> import pandas as pd
    >>> from mtmeta.local_accuracy import recommend
    >>> pairs = pd.DataFrame({"segment": range(40), "system": ["A", "B"] * 20,
    ...     "m": [1, 0] * 20, "m_perturbed": .5, "n": [0, 1] * 20, "n_perturbed": .5})
    >>> result = recommend(pairs, context="system")
    >>> result.table[["metric", "verdict"]].values.tolist()[:2]
    [['m', 'best'], ['n', 'worse']]
    """
    n_resamples = check_count("n_resamples", n_resamples, 2)
    options = {"ties": ties, "missing": missing, "unit": unit}
    data = outcomes(pairs, context, metrics, **options)
    check_comparable(len(data.metrics), len(data.contexts))
    summed = tally(data)
    local, draws = summed.accuracy(), summed.draws(n_resamples, generator(rng))
    for k, m in np.argwhere(np.isnan(local))[:1]:
        raise ValueError(f"metric {data.metrics[m]!r} scored no pair in context {data.contexts[k]!r}; drop either.")
    overall = tally(outcomes(pairs, None, metrics, **options)).accuracy()[0]
    order = sorted(range(len(overall)), key=lambda m: (-overall[m].round(_DIGITS), data.metrics[m]))
    n_units = summed.n_units().min(axis=1)
    blocks = (_against_the_best(local[k], draws[:, k], data.metrics, n) for k, n in enumerate(n_units))
    table = pd.concat(dict(zip(data.contexts, blocks, strict=True)), names=["context", None])
    table = table.reset_index("context").reset_index(drop=True)
    drawn = f"bootstrap:{n_resamples}|unit:{unit}|level:{_LEVEL}|seed:{seed_of(rng)}"
    signature = f"recommend|average:segment|ties:{ties}|{drawn}"
    names = [data.metrics[m] for m in order]
    return Recommendation(table, _summary(table, names, overall[order]), names[0], signature)


def _against_the_best(local: np.ndarray, draws: np.ndarray, names: Sequence[str], n_units: int) -> pd.DataFrame:
    """Compare the metrics of one context with the best of them; with few units, none is the best."""
    rounded = local.round(_DIGITS)
    best = int(np.argmax(rounded))
    loss = np.where(rounded == rounded[best], 0.0, local[best] - local)
    error = (draws - local)[~np.isnan(draws).any(axis=1)]
    first, second = np.triu_indices(len(local), 1)
    apart = error[:, first] - error[:, second]
    se = apart.std(axis=0, ddof=1) if len(apart) > 1 else np.full(len(first), np.nan)
    studentised = np.divide(np.abs(apart), se, out=np.zeros_like(apart), where=se > 1e-12)
    c = np.quantile(studentised.max(axis=1), _LEVEL) if len(apart) > 1 else np.nan
    if 1 < n_units < _FEW:
        c = max(c, stats.t.isf((1 - _LEVEL) / 2 / max(1, len(first)), n_units - 1) * np.sqrt(n_units / (n_units - 1)))
    width = np.zeros((len(local), len(local)))
    width[first, second] = width[second, first] = c * se
    table = pd.DataFrame({"metric": names, "accuracy": local, "loss": loss, "loss_low": loss - width[best]})
    verdict = np.where(table["loss_low"] > 1e-12, VERDICTS[2], VERDICTS[1])
    table["verdict"] = np.where(loss == 0, VERDICTS[0], verdict)
    if n_units < FEWEST_UNITS:
        table["loss_low"], table["verdict"] = np.nan, VERDICTS[1]
    table.insert(2, "rank", pd.Series(rounded).rank(ascending=False, method="min").astype(int))
    return table.sort_values(["rank", "metric"])


def _summary(table: pd.DataFrame, names: Sequence[str], overall: np.ndarray) -> pd.DataFrame:
    rows = []
    for name, accuracy in zip(names, overall, strict=True):
        own = table[table["metric"] == name].reset_index(drop=True)
        loss, verdict = own["loss"], own["verdict"]
        counts = (int((verdict == VERDICTS[0]).sum()), int((verdict != VERDICTS[2]).sum()))
        rows.append((name, accuracy, *counts, loss.mean(), loss.max(), own["context"][int(loss.argmax())], len(own)))
    columns = "metric global_accuracy n_best n_not_worse mean_loss max_loss worst_context n_contexts".split()
    return pd.DataFrame(rows, columns=columns)
