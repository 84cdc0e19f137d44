"""Does the context matter (H1), and does it change the order of metrics (H2)? Tests that know rows are dependent."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import stats

from .._checks import check_count, generator
from .._compiled import njit
from ._pairs import Outcomes, codes_of, divide, keys, mean, outcomes, sums
from ._rankings import check_comparable, tau_tables


def context_effect(
    pairs: pd.DataFrame,
    *,
    context: str | Sequence[str],
    metrics: Sequence[str] | str | None = None,
    missing: str = "raise",
    unit: str = "segment",
    n_resamples: int = 999,
    rng: int | np.random.Generator | None = 0,
) -> pd.DataFrame:
    r"""Test for each metric whether its accuracy depends on the context (H1), and say how much.

    The published test is Pearson's chi-square on the table of 2 outcomes x K contexts, K - 1 degrees of freedom. It
    treats pairs as independent, but pairs of one text or segment are not. The table adds Cramér's V,

    .. math:: V = \sqrt{\chi^2 / n},

    0 if all accuracies are equal and 1 if the context decides every outcome; V by chance; and a permutation test that
    keeps dependent pairs together.

    Target: the dependence of a metric's accuracy on these contexts, over items like those given.

    Parameters
    ----------
    pairs, metrics, missing, rng
        As for `local_accuracy`; ties between y and y' are failures.
    context : str or sequence of str
    unit : str
        Column of the units that are permuted whole; segments must not straddle units. Give ``"doc"`` or ``"speaker"``
        where the context is coarser than these.
    n_resamples : int
        Permutations; 0: none.

    Returns
    -------
    pandas.DataFrame
        ``metric, chi2, dof, p_value, cramers_v, null_v, inflation, p_permutation, n_pairs, n_contexts, scheme,
        n_resamples``. ``null_v`` and ``inflation`` are the means of V and of chi-square / dof over permutations:
        where ``inflation`` is above 1, ``p_value`` is too small. A metric that is always right, or never, has the same
        accuracy everywhere: chi-square 0, p-values 1.

    Raises
    ------
    TypeError, ValueError
        As `local_accuracy`; ValueError with fewer than two contexts.

    See Also
    --------
    ranking_effect : does the context change the order of metrics?
    recommend : which metric to use in which context.

    Notes
    -----
    Chi-square is computed again after permuting the labels of contexts; which labels may be exchanged depends on where
    the context varies:

    - ``between``: each unit lies in one context (domain, speaker). Labels of whole units are permuted. Null: units
      of all contexts come from one population.
    - ``within``: the context varies within units and is the same for all pairs of a text (system, quality of the
      output). Labels are permuted among the systems of each unit (among its texts, where the context varies within
      those of one system). Null: within a unit the systems are exchangeable. Differences between segments cancel.
    - ``pairs``: the context varies within a text (perturbation). Labels are permuted among the pairs of each text.

    p-values are (count + 1) / (n + 1).

    References
    ----------
    Deviyani and Diaz 2025, section 4.3 and tables 5 to 7; Cramér 1946; Winkler et al. 2015 (permutation
    within blocks and of whole blocks).

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from mtmeta.local_accuracy import context_effect
    >>> pairs = pd.DataFrame({"segment": range(200), "domain": np.repeat(["news", "chat"], 100), "m": 1})
    >>> pairs["m_perturbed"] = np.repeat([1, 0, 1, 0], [10, 90, 40, 60])
    >>> effect = context_effect(pairs, context="domain")
    >>> effect[["chi2", "cramers_v"]].round(3).values.tolist()
    [[24.0, 0.346]]
    """
    n_resamples = check_count("n_resamples", n_resamples, 0)
    data = outcomes(pairs, context, metrics, missing=missing, unit=unit)
    n_contexts = len(data.contexts)
    if n_contexts < 2:
        raise ValueError(f"an effect of the context needs at least two contexts; found only {data.contexts[0]!r}.")
    won, number = sums(data.context, n_contexts, data.wins, data.present)
    dof, n_pairs = (number > 0).sum(axis=0) - 1, number.sum(axis=0)
    chi2 = np.where(dof > 0, chi_square(won[None], number[None])[0], 0.0)
    scheme, *_ = arranged = arrange(pairs, data, unit)
    chance = np.full((3, len(chi2)), np.nan)
    if n_resamples:
        null = chi_square(*permuted(data, arranged, n_resamples, generator(rng)))
        reached = (null >= chi2 * (1 - 1e-9) - 1e-9).sum(axis=0)
        chance[0] = np.sqrt(null / n_pairs).mean(axis=0)
        chance[1:] = divide(null.mean(axis=0), dof), (reached + 1) / (n_resamples + 1)
    p_value = np.where(chi2 > 0, stats.chi2.sf(chi2, np.maximum(dof, 1)), 1.0)
    values = (data.metrics, chi2, dof, p_value, np.sqrt(chi2 / n_pairs), *chance, n_pairs.astype(np.int64), dof + 1)
    names = "metric chi2 dof p_value cramers_v null_v inflation p_permutation n_pairs n_contexts".split()
    table = pd.DataFrame(dict(zip(names, values, strict=True)))
    return table.assign(scheme=scheme, n_resamples=n_resamples)


def chi_square(won: np.ndarray, number: np.ndarray) -> np.ndarray:
    """Return Pearson's chi-square, (n_resamples, n_metrics), of tables (n_resamples, n_contexts, n_metrics)."""
    share = divide(won.sum(axis=1), number.sum(axis=1))[:, None]
    deviations = divide((won - number * share) ** 2, number * share * (1 - share))
    return np.nan_to_num(deviations).sum(axis=1)


def arrange(pairs: pd.DataFrame, data: Outcomes, unit: str) -> tuple[str, np.ndarray, np.ndarray]:
    """Return the scheme of permutation, and for each pair its exchangeable member and the block of that member."""
    system = ["system"] if "system" in pairs.columns else []
    of_unit, of_segment = keys(pairs, unit), keys(pairs, "segment")
    everything = np.zeros(len(pairs), dtype=np.int64)
    text = codes_of(pairs, [*of_segment, *system])
    options = (
        ("between", data.unit, everything),
        ("within", codes_of(pairs, [*of_unit, *system]), data.unit),
        ("within", text, data.unit),
        ("pairs", np.lexsort((*data.wins.T, *data.present.T, data.context, text)).argsort(), text),
    )
    fits = (len(np.unique(member * len(data.contexts) + data.context)) == member.max() + 1 for _, member, _ in options)
    return next(option for option, fit in zip(options, fits, strict=True) if fit)  # the last one always does


def permuted(
    data: Outcomes, arranged: tuple, n_resamples: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return wins and pairs by context after permuting labels, two arrays (n_resamples, n_contexts, n_metrics)."""
    _, member, block = arranged
    members, first = np.unique(member, return_index=True)
    order = np.argsort(block[first], kind="stable")
    wins, counts = sums(np.searchsorted(members, member), len(members), data.wins, data.present)
    sorted_blocks = block[first][order]
    starts = np.flatnonzero(np.r_[True, np.diff(sorted_blocks) > 0, True]).astype(np.int64)
    labels = data.context[first][order]
    return _permuted_sums(labels, starts, wins[order], counts[order], len(data.contexts), n_resamples, rng)


@njit
def _permuted_sums(labels, starts, wins, counts, n_contexts, n_resamples, rng):
    """Shuffle the labels of units within blocks, and sum wins and counts by label.

    ``starts`` cuts the units into blocks; ``wins`` and ``counts`` have shape (n_units, n_metrics). Returns two arrays
    of shape (n_resamples, n_contexts, n_metrics).
    """
    n_units, n_metrics = wins.shape
    won = np.zeros((n_resamples, n_contexts, n_metrics))
    number = np.zeros((n_resamples, n_contexts, n_metrics))
    shuffled = labels.copy()
    for b in range(n_resamples):
        for g in range(len(starts) - 1):
            for i in range(starts[g + 1] - 1, starts[g], -1):
                j = starts[g] + int(rng.random() * (i - starts[g] + 1))
                shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
        for u in range(n_units):
            for m in range(n_metrics):
                won[b, shuffled[u], m] += wins[u, m]
                number[b, shuffled[u], m] += counts[u, m]
    return won, number


def ranking_effect(
    pairs: pd.DataFrame,
    *,
    context: str | Sequence[str],
    metrics: Sequence[str] | None = None,
    missing: str = "raise",
    unit: str = "segment",
    n_resamples: int = 999,
    rng: int | np.random.Generator | None = 0,
) -> pd.DataFrame:
    """Test whether the order of metrics differs more between contexts than chance would make it (H2).

    Accuracies are estimates: a mean tau_AP below 1 shows nothing until it is compared with its mean under permutation.

    Target: the difference between the true orders of these metrics in these contexts.

    Parameters
    ----------
    pairs, context, metrics, missing, unit, rng
        As for `context_effect`, which says what is permuted.
    n_resamples : int
        Permutations.

    Returns
    -------
    pandas.DataFrame
        ``statistic, tau_ap, null_mean, null_low, null_high, p_value, n_metrics, n_contexts, scheme, n_resamples``; a
        row for the mean of tau_AP (both directions) between contexts, one for that with all pairs. ``null_low`` and
        ``null_high`` hold the middle 95 % of the null. The p-value is one-sided: orders differ more than by chance.
        Accuracies count each pair the same.

    Raises
    ------
    TypeError, ValueError
        As `context_effect`; ValueError with fewer than two metrics.

    See Also
    --------
    context_effect : does the context change the accuracy of one metric?
    tau_ap : how alike two contexts order the metrics.

    Notes
    -----
    The null is that of `context_effect`: contexts are exchangeable. If H1 holds and H2 does not, the p-value is not
    exact. A context that scales all accuracies towards 0 shrinks their differences faster than their standard errors:
    its order is noisier than the permuted ones, and H2 is found too often.

    References
    ----------
    Deviyani and Diaz 2025, section 4.3; the null is ours.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from mtmeta.local_accuracy import ranking_effect
    >>> rng = np.random.default_rng(0)
    >>> pairs = pd.DataFrame({"segment": range(300), "domain": np.repeat(list("xyz"), 100)})
    >>> for k, name in enumerate("abcd"):
    ...     pairs[name], pairs[f"{name}_perturbed"] = 1, np.where(rng.random(300) < .1 + .2 * k, 1, 0)
    >>> ranking_effect(pairs, context="domain", n_resamples=99)["tau_ap"].tolist()
    [1.0, 1.0]
    """
    n_resamples = check_count("n_resamples", n_resamples, 1)
    data = outcomes(pairs, context, metrics, missing=missing, unit=unit)
    check_comparable(len(data.metrics), len(data.contexts))
    arranged = arrange(pairs, data, unit)
    won, number = permuted(data, arranged, n_resamples, generator(rng))
    null = _mean_taus(won, number)
    won, number = sums(data.context, len(data.contexts), data.wins, data.present)
    observed = _mean_taus(won[None], number[None])[0]
    known = ~np.isnan(null)
    p = ((null <= observed + 1e-9) & known).sum(axis=0) + 1
    low, high = np.nanquantile(null, [0.025, 0.975], axis=0) if known.any(axis=0).all() else np.full((2, 2), np.nan)
    return pd.DataFrame(
        {
            "statistic": ["between contexts", "with all pairs"],
            "tau_ap": observed,
            "null_mean": mean(null, 0),
            "null_low": low,
            "null_high": high,
            "p_value": p / (known.sum(axis=0) + 1),
            "n_metrics": len(data.metrics),
            "n_contexts": len(data.contexts),
            "scheme": arranged[0],
            "n_resamples": n_resamples,
        }
    )


def _mean_taus(won: np.ndarray, number: np.ndarray) -> np.ndarray:
    """Return mean symmetric tau_AP between contexts, and with all pairs, shape (n_resamples, 2)."""
    whole = divide(won.sum(axis=1, keepdims=True), number.sum(axis=1, keepdims=True))
    tables = tau_tables(np.concatenate([whole, divide(won, number)], axis=1))
    tables = (tables + tables.transpose(0, 2, 1)) / 2
    i, j = np.triu_indices(tables.shape[1] - 1, 1)
    return np.column_stack([mean(tables[:, i + 1, j + 1], 1), mean(tables[:, 0, 1:], 1)])
