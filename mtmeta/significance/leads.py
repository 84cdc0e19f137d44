"""The segments behind a lead of one metric over another, and the data that it takes to show it."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import stats

from .._checks import Undefined
from .._copies import copies
from ..agreement import correlate
from ..agreement.units import common_cells, exchange_units
from ..evalset import EvalSet, as_evalset
from .comparison import compare
from .exchange import contributions

#: More systems than this are as good as none.
_MOST_SYSTEMS = 10_000
#: How often a difference should be found by a plan.
_POWER = 0.8


def drivers(
    es: EvalSet | pd.DataFrame, metrics: Sequence[str], *, coefficient: str = "pearson", grouping: str = "segment"
) -> pd.DataFrame:
    r"""Return what each segment adds to the lead of one metric over another.

    The lead is :math:`\sum_u (c_{a,u} - c_{b,u})` over segments u, as in the exchange of `compare`: a segment adds its
    part of a mean over segments, or its first-order part of another coefficient.

    Target: the lead at hand, split over its segments; it estimates nothing about other segments.

    Parameters
    ----------
    es : EvalSet or DataFrame
    metrics : sequence of two str
    coefficient, grouping
        As in `mtmeta.correlate`.

    Returns
    -------
    pandas.DataFrame
        One row per segment, sorted by how much it moves the lead, most first: ``segment``, ``doc`` and ``source`` where
        the set has them, one column per metric, the better one first, with what the segment adds to its value, and
        ``difference``.

    Raises
    ------
    ValueError
        As `compare`.

    See Also
    --------
    compare : the difference that is explained.

    Examples
    --------
    >>> import mtmeta as mm
    >>> table = mm.significance.drivers(mm.load("teaching"), ["chrF", "Judge"])
    >>> values = mm.correlate(mm.load("teaching"), ["Judge", "chrF"])["value"]
    >>> bool(abs(table["difference"].sum() - (values[0] - values[1])) < 1e-12)
    True
    """
    es, (better, worse) = _both(es, metrics, coefficient, grouping)
    if "difference" in (better, worse):
        raise ValueError("a metric called 'difference' has the name of a column of the result. Rename the metric.")
    units = exchange_units(es, "segment")
    columns = {"segment": es.segments, "doc": es.documents, "source": es.texts and es.texts.sources}
    columns = {name: list(values) for name, values in columns.items() if values is not None}
    table = pd.DataFrame(columns)[units.of_segment < units.n]  # the others have no human score
    for metric in (better, worse):
        table[metric] = contributions(es, metric, coefficient, grouping, units)[units.of_segment[table.index]]
    table["difference"] = table[better] - table[worse]
    return table.sort_values("difference", key=abs, ascending=False, kind="stable", ignore_index=True)


def power(
    es: EvalSet | pd.DataFrame,
    metrics: Sequence[str],
    *,
    coefficient: str = "pearson",
    grouping: str = "segment",
    n_resamples: int = 1000,
    rng: int | np.random.Generator | None = 0,
) -> pd.DataFrame:
    r"""Return how often a difference of this size would be found, and how many segments and systems finding it takes.

    With S segments and K systems the standard error is :math:`\sqrt{V_{text} S_0 / S + V_{system} K_0 / K}`, where
    :math:`V_{text}` is the variance of the differences after the exchange of `compare`, :math:`V_{system}` that of the
    jackknife over systems, and :math:`S_0` and :math:`K_0` are the numbers at hand. For these systems the second part
    is 0. A difference is found if a two-sided test at .05 rejects; the test uses the normal distribution, or for other
    systems Student's t with K - 1 degrees of freedom.

    Target: the numbers needed if the true difference is the one at hand.

    Parameters
    ----------
    es : EvalSet or DataFrame
    metrics : sequence of two str
    coefficient, grouping, n_resamples, rng
        As in `compare`.

    Returns
    -------
    pandas.DataFrame
        Four rows: the data at hand and the data needed, for these systems and for others. ``about`` ("these systems" or
        "other systems"), ``n_segments, n_systems, power``; higher is better. For other systems, ``n_systems`` grows and
        the segments stay those at hand; it is missing if 10,000 systems are too few. ``low`` and ``high`` are the 95 %
        interval of the number needed (segments, then systems), missing in the rows for the data at hand. ``pilot`` is
        the least sensible pilot for a difference of this size, in segments: with fewer, ``high`` is infinite, or nearly
        so.

    Raises
    ------
    ValueError
        As `compare`; also if the two metrics agree with humans equally well or are one metric in two units, or there
        are fewer than three systems.

    See Also
    --------
    compare : the test whose power it is.
    mtmeta.differences.curve : what a difference of systems is worth.

    Notes
    -----
    The difference at hand counts as the true one. If it was chosen because it is large, the power is overstated.

    The interval is that of the standardised difference z = difference / standard error, carried over to the number
    needed: :math:`z \pm q \sqrt{1 + z^2 / 2n}` with n segments, where q is 1.96. For other systems n is their number
    and q is that of Student's t. The end is infinite where the interval of z holds 0, which means that the pilot does
    not even show which metric is better. A pilot just large enough for z = 1.96 is the least sensible one; it is half
    as large as the number needed for a power of .8.

    Coverage in 200 simulated pilots each (segments of the teaching campaign drawn with replacement, Judge against
    RegressorQE, Pearson within segments, 252 segments needed): .99, .99 and .97 for pilots of 50, 100 and 300 segments;
    the interval had no upper end in .68, .51 and .09 of them. For acc_eq (558 needed) and 50 segments: .965 and .84.

    Examples
    --------
    >>> import mtmeta as mm
    >>> table = mm.significance.power(mm.load("teaching"), ["Judge", "RegressorQE"], n_resamples=200)
    >>> table["about"].tolist()
    ['these systems', 'these systems', 'other systems', 'other systems']
    """
    es, names = _both(es, metrics, coefficient, grouping)
    options = {"coefficient": coefficient, "grouping": grouping}
    same = copies(es, names)
    if len({same.get(name, (name,))[0] for name in names}) == 1:
        what = "; ".join(f"{name!r} {note}" for name, (_, note) in same.items())
        raise Undefined(f"{what}. No number of segments or systems shows a difference.")
    rated = ~np.isnan(es.human)
    k, n = int(rated.any(axis=1).sum()), int(rated.any(axis=0).sum())
    if k < 3:
        raise Undefined(f"set {es.name!r}: the jackknife over systems needs three; found {k}.")
    found = compare(es, names, n_resamples=n_resamples, rng=rng, **options)
    lead = -float(np.diff(found.table["value"])[0])
    if lead == 0:
        raise Undefined(f"{names[0]!r} and {names[1]!r} agree with humans equally well: there is nothing to find.")
    rows = [system for system, some in zip(es.systems, rated.any(axis=1), strict=True) if some]
    parts = [correlate(es.select(systems=[s for s in rows if s != one]), names, **options)["value"] for one in rows]
    of_texts, of_systems = found.draws.var(), (k - 1) * np.var([part[0] - part[1] for part in parts])

    def at(segments, systems, others, lead=lead):
        error = np.sqrt(of_texts * n / segments + others * of_systems * k / systems)
        limit = stats.t.isf(0.025, systems - 1) if others else stats.norm.isf(0.025)
        return stats.norm.sf(limit - lead / error) + stats.norm.cdf(-limit - lead / error)

    def needed(lead, others):  # infinite if no number is enough, or none that is tried
        if lead <= 0:
            return np.inf
        if not others:
            return max(np.ceil(of_texts * n * (sum(stats.norm.isf([0.025, 1 - _POWER])) / lead) ** 2), 1)
        return next(iter(tried[at(n, tried, 1, lead) >= _POWER]), np.inf)

    tried, rows = np.arange(2, _MOST_SYSTEMS + 1), []
    pilot = np.ceil(of_texts * n * (stats.norm.isf(0.025) / lead) ** 2)
    for others, size, error in ((0, n, of_texts**0.5), (1, k, (of_texts + of_systems) ** 0.5)):
        limit = stats.t.isf(0.025, k - 1) if others else stats.norm.isf(0.025)
        aside = limit * np.sqrt(error**2 + lead**2 / (2 * size))
        need, low, high = (needed(effect, others) for effect in (lead, lead + aside, lead - aside))
        sizes = (n, need) if others else (need, k)
        about, power = f"{'other' if others else 'these'} systems", at(*sizes, others) if need < np.inf else np.nan
        rows.append((about, n, k, float(at(n, k, others)), np.nan, np.nan, pilot))
        rows.append((about, sizes[0], sizes[1] if need < np.inf else pd.NA, float(power), low, high, pilot))
    columns = ["about", "n_segments", "n_systems", "power", "low", "high", "pilot"]
    return pd.DataFrame(rows, columns=columns).astype({"n_segments": int, "n_systems": "Int64", "pilot": int})


def _both(es, metrics: Sequence[str], coefficient: str, grouping: str) -> tuple[EvalSet, list[str]]:
    """Return the cells that two metrics share, and the metrics, the better one first."""
    es = as_evalset(es)
    if len(set(metrics)) != 2:
        raise ValueError(f"expected two metrics; found {len(set(metrics))}.")
    es = common_cells(es, metrics)
    values = correlate(es, list(metrics), coefficient=coefficient, grouping=grouping)
    return es, values.sort_values("value", ascending=False, kind="stable")["metric"].tolist()
