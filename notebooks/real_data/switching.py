"""What a metric for each context gains over one for all, for the page on local accuracy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

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


@dataclass(frozen=True)
class HeldOut:
    """Choices for each context, judged on units that made no choice.

    Attributes
    ----------
    contexts : pandas.DataFrame
        A row for each context. ``own, one``: the best metric there and overall on all pairs; ``fitted``: by how much
        the former leads the latter in the context on these pairs; ``gain, low, high``: by how much on units held out,
        where the other units chose both; ``same``: the share of choices for the context that are the choice overall.
    gain, number : pandas.DataFrame
        Sums of gains and numbers of segments: a row for each unit, named by its document, and a column for each context.
    summary : dict
        ``fitted, gain, same``: means over contexts; ``low, high``: the interval of the mean gain.
    """

    contexts: pd.DataFrame
    gain: pd.DataFrame = field(repr=False)
    number: pd.DataFrame = field(repr=False)
    summary: dict[str, float]


def held_out_gain(
    pairs: pd.DataFrame,
    *,
    context: str,
    metrics: Sequence[str],
    unit: str = "segment",
    at_least: float = 0.0,
    n_folds: int = 10,
    n_repeats: int = 20,
    n_resamples: int = 1000,
    level: float = 0.95,
    rng: int = 0,
) -> HeldOut:
    """Choose the best metric of each context and the best overall, and compare them on units that made neither choice.

    Target: the accuracy that is gained by choosing for each context, on data like these; a tie counts one half.

    Parameters
    ----------
    pairs, context, metrics
        As for `mtmeta.local_accuracy.local_accuracy`; every metric must have scored every pair.
    unit : str
        Column of what is held out whole; segments must not straddle units, nor units documents (column ``doc``).
    at_least : float
        Keep the metric that is best overall where the context's own leads by less.
    n_folds, n_repeats : int
        Units are cut into this many folds at random; each is held out in turn. Gains are means over repeated cuts.
    n_resamples, level, rng
        Units are drawn again for the intervals, which take the choices as given.

    Returns
    -------
    HeldOut

    Examples
    --------
    >>> pairs = pd.DataFrame({"segment": range(40), "system": ["A", "B"] * 20,
    ...     "m": [1, 0] * 20, "m_perturbed": .5, "n": [0, 1] * 20, "n_perturbed": .5}).assign(doc="d")
    >>> found = held_out_gain(pairs, context="system", metrics=["m", "n"])
    >>> found.summary["fitted"], found.summary["same"], found.contexts["own"].to_dict()
    (0.5, 0.5, {'A': 'm', 'B': 'n'})
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
        own, one = in_each.round(10).argmax(axis=1), overall.round(10).argmax()
        leads = in_each[at, own] - in_each[:, one]
        return np.where(leads.round(10) >= at_least, own, one), one

    at = np.arange(local.shape[1])

    def gained(own, one):
        return local[:, at, own] - local[:, :, one]

    none = np.zeros(len(local), dtype=bool)
    best, best_one = choices(none)
    fitted = gained(best, best_one).sum(axis=0) / n_local.sum(axis=0)
    generator, same = np.random.default_rng(rng), []
    gain = np.zeros_like(n_local)
    for _ in range(n_repeats):
        fold = generator.permutation(len(local)) % n_folds
        for k in range(n_folds):
            own, one = choices(fold == k)
            gain[fold == k] += gained(own, one)[fold == k] / n_repeats
            same.append(own == one)
    weights = np.full(len(gain), 1 / len(gain))
    times = generator.multinomial(len(gain), weights, n_resamples)
    with np.errstate(invalid="ignore"):  # a draw may lack a context
        drawn = (times @ gain) / (times @ n_local)
    ends = (1 - level) / 2, (1 + level) / 2
    low, high = np.nanquantile(drawn, ends, axis=0)
    names = np.array(list(metrics))
    found = {"own": names[best], "one": names[best_one], "fitted": fitted}
    found |= {"gain": gain.sum(axis=0) / n_local.sum(axis=0), "low": low, "high": high}
    found |= {"same": np.mean(same, axis=0)}
    contexts = pd.DataFrame(found, index=sorted(pairs[context].unique()))
    summary = contexts[["fitted", "gain", "same"]].mean().to_dict()
    low, high = np.quantile(drawn.mean(axis=1), ends)
    documents = pairs["doc"].to_numpy()[first][np.unique(units, return_index=True)[1]]
    sums = [pd.DataFrame(t, documents, contexts.index) for t in (gain, n_local)]
    return HeldOut(contexts, *sums, summary | {"low": low, "high": high})


def mean_gain(
    held: Mapping[tuple[str, str], HeldOut],
    *,
    n_resamples: int = 1000,
    level: float = 0.95,
    rng: int = 0,
) -> tuple[float, float, float]:
    """Return the mean gain over all contexts of several sets, and its interval.

    Parameters
    ----------
    held : mapping
        What `held_out_gain` returned, by set and kind of context. Every context weighs the same.
    n_resamples, level, rng
        Documents of each set are drawn again for the interval, at once for all kinds of context.

    Examples
    --------
    >>> table = pd.DataFrame({"a": [0.25, 0.25]}, index=["d", "e"])
    >>> mean_gain({("set", "kind"): HeldOut(pd.DataFrame(), table, table * 0 + 1, {})})
    (0.25, 0.25, 0.25)
    """
    generator, drawn, values = np.random.default_rng(rng), [], []
    for name in dict.fromkeys(name for name, _ in held):
        parts = [part for (of, _), part in held.items() if of == name]
        gain, number = (
            pd.concat(
                [getattr(part, t).groupby(level=0).sum() for part in parts], axis=1
            )
            for t in ("gain", "number")
        )
        weights = np.full(len(gain), 1 / len(gain))
        times = generator.multinomial(len(gain), weights, n_resamples)
        with np.errstate(invalid="ignore"):
            drawn.append((times @ gain.to_numpy()) / (times @ number.to_numpy()))
        values.extend(gain.sum() / number.sum())
    means = np.nanmean(np.concatenate(drawn, axis=1), axis=1)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return float(np.mean(values)), float(low), float(high)
