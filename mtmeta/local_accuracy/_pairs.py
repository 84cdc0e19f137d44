"""The pairs table, read once: who won, in which context, in which segment."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import sparse

from .._checks import check_choice, check_scores, numbers_of
from .._names import numbered, positions, unknown
from ..resampling import bootstrap

TIES = ("failure", "half")
MISSING = ("raise", "drop")
SUFFIX = "_perturbed"


def metrics_of(pairs: pd.DataFrame) -> list[str]:
    """List the metrics of a pairs table: the columns M for which there is a column ``M_perturbed``.

    Parameters
    ----------
    pairs : pandas.DataFrame

    Returns
    -------
    list of str
        In column order.

    Raises
    ------
    ValueError
        If there is no such column.

    See Also
    --------
    scored_pairs : the table with these columns.

    Examples
    --------
    >>> import pandas as pd
    >>> from mtmeta.local_accuracy import metrics_of
    >>> metrics_of(pd.DataFrame(columns=["segment", "chrF", "chrF_perturbed"]))
    ['chrF']
    """
    names = [c for c in pairs.columns if f"{c}{SUFFIX}" in pairs.columns]
    if not names:
        raise ValueError(f"for each metric M two columns are expected, M and M_perturbed; found {[*map(str, pairs)]}.")
    return names


def column(pairs: pd.DataFrame, name: str) -> pd.Series:
    """Return a column; raise if there is none or a cell is empty."""
    if name not in pairs.columns:
        raise unknown("column", name, [str(c) for c in pairs.columns])
    values = pairs[name]
    if n := int(values.isna().sum()):
        raise ValueError(
            f"the column {name!r} is empty in {n} of {len(values)} pairs. Name those, or leave them out "
            f"(in Python: pairs.dropna(subset=[{name!r}]))."
        )
    return values


def contexts_of(pairs: pd.DataFrame, context: str | Sequence[str] | None) -> tuple[np.ndarray, list]:
    """Return the context of each pair as a number, and the names; several columns are joined with `` / ``."""
    names = [context] if isinstance(context, str) else list(context or ())
    if not names:
        return np.zeros(len(pairs), dtype=np.int64), ["all"]
    joined, *others = (column(pairs, name) for name in names)
    for other in others:
        joined = joined.astype(str) + " / " + other.astype(str)
    if joined.nunique() != len(pairs[names].drop_duplicates()):
        raise ValueError(f"values of {names} hold ' / ', so that two contexts would get one name; rename them.")
    codes, values = pd.factorize(joined, sort=True)
    return codes, values.tolist()


def codes_of(pairs: pd.DataFrame, names: Sequence[str]) -> np.ndarray:
    """Return one number for each combination of values, from 0, whatever the order of the rows."""
    key = np.zeros(len(pairs), dtype=np.int64)
    for name in names:
        found, values = numbered(column(pairs, name))
        key = np.unique(key * len(values) + found, return_inverse=True)[1]
    return key


def keys(pairs: pd.DataFrame, name: str) -> list[str]:
    """Return the columns that identify a segment (or a larger unit): with the language pair where there is one."""
    return ["lp", name] if "lp" in pairs.columns and name != "lp" else [name]


@dataclass(frozen=True)
class Outcomes:
    """Pairs as numbers: each row a pair."""

    metrics: list[str]
    contexts: list
    context: np.ndarray  # (n_pairs,)
    segment: np.ndarray  # (n_pairs,)
    unit: np.ndarray  # (n_pairs,): what is resampled whole
    wins: np.ndarray  # (n_pairs, n_metrics): 1 won, 0 lost, a tie as the rule says; 0 where missing
    tied: np.ndarray  # (n_pairs, n_metrics)
    present: np.ndarray  # (n_pairs, n_metrics)


def outcomes(
    pairs: pd.DataFrame,
    context: str | Sequence[str] | None,
    metrics: Sequence[str] | str | None,
    *,
    ties: str = "failure",
    missing: str = "raise",
    unit: str = "segment",
) -> Outcomes:
    """Read a pairs table."""
    check_choice("ties", ties, TIES)
    check_choice("missing", missing, MISSING)
    known = metrics_of(pairs)
    wanted = positions("metric", [metrics] if isinstance(metrics, str) else metrics, known, repeats=True)
    names = [known[k] for k in dict.fromkeys(wanted)]
    if not len(pairs):
        raise ValueError("the pairs table has no row.")
    scores, perturbed = (_scores(pairs, [f"{n}{end}" for n in names]) for end in ("", SUFFIX))
    present = ~(np.isnan(scores) | np.isnan(perturbed))
    if missing == "raise" and not present.all():
        n = (~present).sum(axis=0)
        k = int(n.argmax())
        raise ValueError(
            f"metric {names[k]!r} lacks a score in {n[k]} of {len(pairs)} pairs. Score them, or pass missing='drop', "
            "which leaves out the pairs that a metric lacks and counts them."
        )
    if not present.any(axis=0).all():
        raise ValueError(f"metric {names[int(np.argmin(present.any(axis=0)))]!r} scored no pair at all.")
    tied = (scores == perturbed) & present
    wins = ((scores > perturbed) & present).astype(np.float64)
    if ties == "half":
        wins += 0.5 * tied
    codes, labels = contexts_of(pairs, context)
    segment = codes_of(pairs, keys(pairs, "segment"))
    units = codes_of(pairs, keys(pairs, unit))
    if len(np.unique(segment * (units.max() + 1) + units)) != segment.max() + 1:
        raise ValueError(f"some segment lies in several values of {unit!r}, so {unit!r} cannot be the unit.")
    return Outcomes(names, labels, codes, segment, units, wins, tied.astype(np.float64), present)


def _scores(pairs: pd.DataFrame, names: Sequence[str]) -> np.ndarray:
    """Return score columns as float64, shape (n_pairs, n_metrics)."""
    columns = [numbers_of(pairs[name], name) for name in names]
    for name, scores in zip(names, columns, strict=True):
        check_scores(scores, f"the column {name!r}", computed=True)  # BLEU by NLTK may be 1e-231
    return np.column_stack(columns)


@dataclass(frozen=True)
class Tally:
    """Sums of segments over (unit, context): an accuracy is a ratio of two sums over the units of its context."""

    data: Outcomes
    unit: np.ndarray  # (n_sums,)
    context: np.ndarray  # (n_sums,)
    won: np.ndarray  # (n_sums, n_metrics)
    tied: np.ndarray
    count: np.ndarray  # segments

    def accuracy(self) -> np.ndarray:
        """Return accuracies, shape (n_contexts, n_metrics); NaN where a metric scored nothing."""
        return divide(*sums(self.context, len(self.data.contexts), self.won, self.count))

    def tie_rate(self) -> np.ndarray:
        """Return shares of ties, shape (n_contexts, n_metrics)."""
        return divide(*sums(self.context, len(self.data.contexts), self.tied, self.count))

    def n_units(self) -> np.ndarray:
        """Return how many units have a scored pair, shape (n_contexts, n_metrics)."""
        (found,) = sums(self.context, len(self.data.contexts), self.count > 0)
        return found.astype(np.int64)

    def draws(self, n_resamples: int, rng: np.random.Generator) -> np.ndarray:
        """Bootstrap the units, in its context where each has one.

        Return accuracies, shape (n_resamples, n_contexts, n_metrics).
        """
        n_units = int(self.unit.max()) + 1
        strata = np.zeros(n_units, np.int64)
        if len(self.unit) == n_units:
            strata[self.unit] = self.context
        weights = bootstrap(n_units, n_resamples, rng, strata).T
        shape = (len(self.data.contexts), n_units)
        out = np.empty((n_resamples, shape[0], len(self.data.metrics)))
        for m in range(out.shape[2]):
            above, below = (
                sparse.csr_array((values[:, m], (self.context, self.unit)), shape=shape) @ weights
                for values in (self.won, self.count)
            )
            out[:, :, m] = divide(above, below).T
        return out


def divide(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """Return the ratio, NaN where there is nothing below."""
    return np.divide(above, below, out=np.full(above.shape, np.nan), where=below > 0)


def mean(values: np.ndarray, axis: int) -> np.ndarray:
    """Return the mean over an axis, without NaN; NaN where all are."""
    known = ~np.isnan(values)
    return divide(np.where(known, values, 0).sum(axis=axis), known.sum(axis=axis).astype(np.float64))


def tally(data: Outcomes) -> Tally:
    """Sum over (unit, context) what each segment won and tied on average there, and the number of segments."""
    n_contexts = len(data.contexts)
    key, first, at = np.unique(data.segment * n_contexts + data.context, return_index=True, return_inverse=True)
    won, tied, count = sums(at, len(key), data.wins, data.tied, data.present)
    won, tied = np.nan_to_num(divide(won, count)), np.nan_to_num(divide(tied, count))
    key, at = np.unique(data.unit[first] * n_contexts + data.context[first], return_inverse=True)
    return Tally(data, key // n_contexts, key % n_contexts, *sums(at, len(key), won, tied, count > 0))


def sums(at: np.ndarray, size: int, *tables: np.ndarray) -> list[np.ndarray]:
    """Sum the rows of each table by where they belong, ``at``, from 0 to ``size`` - 1."""
    member = sparse.csr_array((np.ones(len(at)), (at, np.arange(len(at)))), shape=(size, len(at)))
    return [member @ table.astype(np.float64) for table in tables]
