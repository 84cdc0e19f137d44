"""What a metric for each context gains over one for all, for the page on local accuracy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd


def _sums(table: pd.DataFrame, by: Sequence[str], won: pd.DataFrame, unit: np.ndarray):
    """Add up the accuracies of segments (a tie counts one half) by unit and context."""
    of_segment = won.groupby([table[c] for c in (*by, "segment")]).mean()
    where = pd.factorize(of_segment.index.get_level_values(0), sort=True)[0]
    where = where if len(by) else np.zeros_like(where)
    at = unit[of_segment.index.get_level_values("segment")], where
    shape = unit.max() + 1, where.max() + 1
    total, number = np.zeros((*shape, won.shape[1])), np.zeros(shape)
    np.add.at(total, at, of_segment.to_numpy())
    np.add.at(number, at, 1)
    return total, number


def held_out_gain(
    pairs: pd.DataFrame,
    *,
    context: str,
    metrics: Sequence[str],
    unit: str = "segment",
    n_folds: int = 10,
    n_repeats: int = 20,
    n_resamples: int = 1000,
    level: float = 0.95,
    rng: int = 0,
) -> dict[str, float]:
    """Choose the best metric of each context and the best overall, and compare them on units that made neither choice.

    Target: the accuracy that is gained by choosing for each context, on data like these; a tie counts one half.

    Parameters
    ----------
    pairs, context, metrics
        As for `mtmeta.local_accuracy.local_accuracy`; every metric must have scored every pair.
    unit : str
        Column of what is held out whole; segments must not straddle units.
    n_folds, n_repeats : int
        Units are cut into this many folds at random; each is held out in turn. Gains are means over repeated cuts.
    n_resamples, level, rng
        Units are drawn again for the interval, which takes the choices as given.

    Returns
    -------
    dict
        ``fitted``, the gain on the pairs that made the choice; ``gain, low, high`` on those held out; ``same``, the
        share of choices for a context that are the choice overall. All are means over contexts.

    Examples
    --------
    >>> pairs = pd.DataFrame({"segment": range(40), "system": ["A", "B"] * 20,
    ...     "m": [1, 0] * 20, "m_perturbed": .5, "n": [0, 1] * 20, "n_perturbed": .5})
    >>> found = held_out_gain(pairs, context="system", metrics=["m", "n"])
    >>> found["fitted"], found["same"]
    (0.5, 0.5)
    """
    won = {m: (np.sign(pairs[m] - pairs[f"{m}_perturbed"]) + 1) / 2 for m in metrics}
    segment = pd.factorize(pairs["segment"])[0]
    table = pairs[[context]].assign(segment=segment)
    first = np.unique(segment, return_index=True)[1]
    units = pd.factorize(pairs[unit].to_numpy()[first])[0]
    local, n_local = _sums(table, [context], pd.DataFrame(won), units)
    whole, n_whole = _sums(table, [], pd.DataFrame(won), units)

    def choices(left_out):
        """Return the best metric of each context, and overall, in the other units."""
        kept = ~left_out
        in_each = local[kept].sum(axis=0) / n_local[kept].sum(axis=0)[:, None]
        overall = whole[kept].sum(axis=0) / n_whole[kept].sum()
        return in_each.round(10).argmax(axis=1), overall.round(10).argmax()

    def gained(own, one):
        return local[:, np.arange(local.shape[1]), own] - local[:, :, one]

    none = np.zeros(len(local), dtype=bool)
    fitted = gained(*choices(none)).sum(axis=0) / n_local.sum(axis=0)
    generator, same = np.random.default_rng(rng), []
    gain = np.zeros_like(n_local)
    for _ in range(n_repeats):
        fold = generator.permutation(len(local)) % n_folds
        for k in range(n_folds):
            own, one = choices(fold == k)
            gain[fold == k] += gained(own, one)[fold == k] / n_repeats
            same.append((own == one).mean())
    weights = np.full(len(local), 1 / len(local))
    times = generator.multinomial(len(local), weights, n_resamples)
    drawn = ((times @ gain) / (times @ n_local)).mean(axis=1)
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    value = (gain.sum(axis=0) / n_local.sum(axis=0)).mean()
    found = {"fitted": fitted.mean(), "gain": value, "low": low, "high": high}
    return {k: float(v) for k, v in found.items()} | {"same": float(np.mean(same))}
