"""Test for every pair of metrics whether one agrees better with humans than the other."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd

from .._checks import check_choice, check_count, generator
from .._copies import copies
from .._enough import BETTER, too_few
from .._equal import OF_MEAN, PLACES
from ..agreement.coefficients import DEGENERATE, check_coefficient
from ..agreement.intervals import bootstrap
from ..agreement.spa import shared_segments
from ..agreement.units import common_cells, exchange_units, observed_values
from ..evalset import EvalSet, as_evalset, metric_names
from ..resampling import seed_of, units_of
from .decisions import clusters, correct, max_t, rank_sets, share_reached, square
from .exchange import exchanged_coefficients, exchanged_systems, of_segments
from .published import PAIR_TESTS, exact_pair_swap, null_differences, williams_p

#: Tests of `compare`, by name.
METHODS = ("exchange", "published", "williams", "bootstrap")
#: Level of the rank sets and of the published clusters.
ALPHA = 0.05
#: From this skewness on, `Comparison.note` warns of Pearson's r without grouping.
VERY_SKEWED = 2.0


@dataclass(frozen=True)
class Comparison:
    """The result of `compare`.

    Attributes
    ----------
    table : pandas.DataFrame
        ``metric, value, rank, best_rank, worst_rank, unit, n_units``, for SPA also ``n_segments``, best first. The data
        allow every rank from ``best_rank`` to ``worst_rank``: all these sets hold the true ranks at once with
        probability .95. ``unit`` is what was exchanged or redrawn, ``n_units`` how many there were. For
        ``method="published"`` the columns are ``metric, value, rank, cluster``. A metric is in a later cluster when a
        metric of the cluster above is significantly better; metrics of one cluster are not compared.
    p_values : pandas.DataFrame
        Square, in the order of the table: the two-sided p-value that the row metric and the column metric are equally
        good (published tests: the one-sided p-value that the row metric is better); NaN on and below the diagonal.
    signature : str
        How it was computed, in one line.
    draws : numpy.ndarray or None
        Null (or bootstrap) differences, shape ``(n_pairs, n_resamples)``, in the order of
        ``pairs``; None for a test that draws nothing.
    pairs : list of (str, str)
        The better and the worse metric of each row of ``draws``.
    note : str
        What the test assumes and how it is known to err on data like these; which metrics are copies of each other or
        of the human scores; and that there are fewer than 6 units, of which no test can tell two metrics apart
        (published clusters are then one). Where the unit is a single segment, this includes a test of whether
        neighbours depend on each other. Empty if there is nothing to report.
    """

    table: pd.DataFrame
    p_values: pd.DataFrame
    signature: str
    draws: np.ndarray | None = field(default=None, repr=False)
    pairs: list[tuple[str, str]] = field(default_factory=list, repr=False)
    note: str = ""

    def to_frame(self) -> pd.DataFrame:
        """Return the p-values as a tidy table: ``better, worse, p_value``."""
        i, j = np.triu_indices(len(self.p_values), 1)
        names = self.p_values.index.to_numpy()
        return pd.DataFrame({"better": names[i], "worse": names[j], "p_value": self.p_values.to_numpy()[i, j]})


def compare(
    es: EvalSet | pd.DataFrame,
    metrics: Sequence[str] | None = None,
    *,
    coefficient: str = "pearson",
    grouping: str = "segment",
    method: str = "exchange",
    n_resamples: int = 1000,
    unit: str | None = None,
    correction: str | None = None,
    degenerate: str = "drop",
    rng: int | np.random.Generator | None = 0,
) -> Comparison:
    r"""Test for every pair of metrics whether one is better by more than luck.

    Target: the difference of two metrics' agreement with humans, over units like those exchanged, for these
    systems.

    Parameters
    ----------
    es : EvalSet or pandas.DataFrame
    metrics : sequence of str, optional
        All by default. They are compared on the cells that humans and all of them scored.
    coefficient : str
        As in `mtmeta.correlate`, or ``"spa"`` (soft pairwise accuracy, which has no grouping). SPA depends
        on the number of segments: values, p-values and rank sets are about campaigns with as many
        segments as this one.
    grouping : {"none", "segment", "system"}
    method : {"exchange", "published", "williams", "bootstrap"}
        - ``"exchange"``: exchange the scores that two metrics give whole documents, segments or systems, with
          probability 1/2 each. Null hypothesis: it does not matter which of the two metrics scored a unit. Every unit
          adds to a metric's value, and :math:`\delta^* = \sum_u \pm (c_{a,u} - c_{b,u})` is the null difference of a
          draw: for averages over segments the difference of the two hybrids, for other coefficients its first-order
          part (Notes). For SPA, the systems' sums are exchanged and SPA is computed for both hybrids. All pairs share
          the signs.
        - ``"published"``: the one-sided tests of the WMT rankings. Correlations and SPA: both metrics are brought to
          mean 0 and standard deviation 1 over all cells, each *cell* is swapped between them with probability 1/2, and
          both hybrids are scored (PERM-BOTH). acc_eq and tau_eq: each *pair* of translations that only one metric gets
          right is a fair coin; the sum of these signs has a known distribution, and nothing is drawn. Thresholds are
          calibrated as published (see `mtmeta.correlate`). Both treat dependent scores as independent (the translations
          of a segment or document; pairs that share a translation), so on real data they reject far too often: see the
          page on calibration. Use it to reproduce published tables.
        - ``"williams"``: Williams' t for two dependent correlations of independent translations; Pearson without
          grouping.
        - ``"bootstrap"``: redraw units; p is twice the share of draws on the less frequent side of 0.
    n_resamples : int
        Number of draws of a method that draws.
    unit : {None, "document", "block", "segment", "system", "both"}
        What is exchanged; by default documents if the set names at least 20 with human scores, and otherwise segments.
        A block is a run of neighbouring segments, for sets in the order of texts that name no documents; a set has at
        least 20 blocks. If neighbours are alike, `Comparison.note` advises blocks (Notes).
        Exchange whole systems to generalise to other systems (not for SPA); with K systems p is hardly below
        :math:`2^{1-K}`. The bootstrap draws these units with replacement (segments by default); a document brings all
        its segments, and only the bootstrap takes ``"both"``.
    correction : {None, "holm", "bh", "maxT"}
        Corrects for the number of pairs. ``"maxT"``: by the largest standardised difference of each draw (Romano and
        Wolf 2005); the others as in `correct`. Rank sets, at level .05, are simultaneous whatever the correction:
        they step down over the one-sided hypotheses of all ordered pairs (Mogstad et al. 2024).
    degenerate : {"drop", "zero"}
        What an undefined group counts; see `mtmeta.correlate`.
    rng : None, int or numpy.random.Generator
        Seed of the draws. The result does not depend on the number of threads.

    Returns
    -------
    Comparison

    Raises
    ------
    ValueError
        If an option is unknown, a method does not fit the coefficient, or fewer than two metrics are
        there to compare.

    See Also
    --------
    mtmeta.correlate : the statistic, with ``interval=True`` for one metric alone.
    power : how many segments a difference needs.
    drivers : on which segments or systems it rests.

    Notes
    -----
    Where a value is not a sum over units, :math:`c_u = w_u T + (1 - w_u)(T - T_{-u})` with the value T, the value
    :math:`T_{-u}` without the unit, and the unit's share :math:`w_u` of the cells, all brought to the sum T. Sums of
    signed contributions have the variance of the difference whatever the distributions of the two metrics. Rounded or
    moderately skewed metrics that agree with humans equally well are therefore told apart no more often than alpha
    says. The scales of the metrics do not matter either, whereas hybrids must estimate them from the systems, which may
    be few.

    First-order parts depend on each other: a unit of great weight changes what the others add. Their null
    differences are therefore multiplied by :math:`\max(1, t_q(\nu) / t_q(n))`, the quantiles of t with :math:`\nu =
    2m / (1 - m/n)` and n degrees of freedom, where n units have differences :math:`d_u`, of which :math:`m = (\sum
    d_u^2)^2 / \sum d_u^4` count; q is .975, and 1 - .025 / (number of pairs) for max-T and rank sets, which look at
    a farther tail. If 20 documents differ widely in noise, the test of Pearson's r without grouping then rejects in
    .057 of 1,000 simulated campaigns (.110 without the factor). Rank sets from max-T over unordered pairs missed a true
    rank in .051 (.045 to .057) of 5,010 campaigns made of real scores; those over ordered pairs are as wide or wider.

    If neighbouring segments depend on each other and no documents are named, the exchange of segments finds too much.
    In 1,000 simulated campaigns of 300 segments whose noise and shared errors are autocorrelated by .5 (by .8), it
    rejects in .115 to .135 (.298 to .304) for Pearson and acc_eq, and the exchange of blocks in .046 to .061 (.058 to
    .085). The note names the dependence in .54 to .81 (.97 to 1.00), and in .034 to .046 where segments are
    independent. There, a true difference is found in .23, .36 and .37 with segments and in .23, .33 and .31 with
    blocks. In campaigns of 100 segments blocks have five, which is too short for an autocorrelation of .8 (.147 to
    .165).

    Exchanging whole segments of two standardised metrics is PERM-INPUTS of Deutsch, Dror and Roth (2021). Where a
    value is not a sum over units, no scores are exchanged: the signs of what each unit adds in first order change,
    that is of its influence (Kline and Santos 2012; Canay, Romano and Shaikh 2017).

    One case remains wrong: Pearson's r without grouping of a metric of skewness 2 or more (`note` names it). The few
    cells that decide the value in the long run are absent from many campaigns, which then show no sign of it. Two
    equally good metrics were told apart in .06 to .10 of campaigns of 60 to 1,200 segments at a skewness near 2.5, and
    in .09 to .13 at a skewness near 3.

    The p-value of a test that draws, published ones included, is (count + 1) / (n + 1), and never 0.

    References
    ----------
    Romano and Wolf 2005 (max-T); Mogstad, Romano, Shaikh and Wilhelm 2024 (rank sets); Deutsch, Dror and Roth 2021
    (PERM-BOTH, PERM-INPUTS, bootstrap); Kline and Santos 2012 and Canay, Romano and Shaikh 2017 (signs of influences);
    Deutsch, Foster and Freitag 2023 (pair swap); Williams 1959; Freitag et al. 2023 (clusters); Graham and Baldwin 2014
    (Williams test of metrics); Zmigrod, Vieira and Cotterell 2022 (exact permutation tests).

    Examples
    --------
    >>> import numpy as np, mtmeta as mm
    >>> rng = np.random.default_rng(0)
    >>> h = rng.normal(size=(5, 60))
    >>> es = mm.EvalSet(h, {"good": h + rng.normal(size=h.shape), "noise": rng.normal(size=h.shape)},
    ...     systems=list("ABCDE"))
    >>> mm.compare(es).table[["metric", "best_rank", "worst_rank", "unit", "n_units"]].to_records(index=False).tolist()
    [('good', 1, 1, 'segment', 60), ('noise', 2, 2, 'segment', 60)]
    """
    es = as_evalset(es)
    names = metric_names(es, metrics)
    if len(names) < 2:
        raise ValueError(f"a comparison needs at least two metrics; found {len(names)}.")
    exact = "spa" if coefficient == "spa" else check_coefficient(coefficient, "calibrate")
    _check_options(method, exact, grouping, unit, correction, degenerate, n_resamples)
    es = common_cells(es, names)
    epsilon = "published" if method == "published" else "calibrate"
    values = observed_values(es, names, coefficient, grouping, degenerate, epsilon=epsilon)
    order = sorted(range(len(names)), key=lambda k: (-round(values[k], PLACES), names[k]))
    names, values = [names[k] for k in order], values[order]
    first, second = np.triu_indices(len(names), 1)
    options = exact, grouping, n_resamples, unit, degenerate, generator(rng)
    units = exchange_units(es, unit if method == "exchange" else None)
    few = too_few(units.n, units.unit, BETTER) if method in ("exchange", "published") else ""
    test = _TESTS[method](es, names, values[first] - values[second], *options)
    p_values = square(names, _corrected(test, correction))
    table = pd.DataFrame({"metric": names, "value": values})
    table["rank"] = table["value"].round(PLACES).rank(ascending=False, method="min").astype(int)
    if method == "published":
        table["cluster"] = 1 if few else clusters(p_values, ALPHA)
    else:
        table["best_rank"], table["worst_rank"] = rank_sets(square(names, _directed(test)), ALPHA)
        table["unit"], table["n_units"] = test.unit, test.n_units
    drawn = "" if test.draws is None else f"|draws:{n_resamples}|seed:{seed_of(rng)}"
    signature = (
        f"{coefficient}|grouping:{grouping}|method:{method}|unit:{test.unit}|n_units:{test.n_units}{drawn}"
        f"|correction:{correction}|alpha:{ALPHA}|degenerate:{degenerate}|metrics:{len(names)}|set:{es.name}"
    )
    in_order = [name for name in (*es.metrics, *es.further_ratings) if name in names]
    notes = [few, *(f"{name} {note}" for name, (_, note) in copies(es, in_order).items())]
    notes += [_skewed(es, names)] if (method, exact, grouping) == ("exchange", "pearson", "none") else []
    if test.unit == "segment":
        notes.insert(0, of_segments(es, names, exact, grouping, exchange_units(es, "segment")))
    if exact == "spa":
        table["n_segments"] = n = shared_segments(es)
        notes.append(f"SPA depends on the number of segments: values and test are about campaigns with {n} segments.")
    note = " ".join(f"{text.rstrip('.')}." for text in notes if text)
    return Comparison(table, p_values, signature, test.draws, [*combinations(names, 2)], note)


def _skewed(es: EvalSet, names: list[str]) -> str:
    scores = np.array([es[name][~np.isnan(es.human)] for name in names])
    centred, spread = scores - scores.mean(axis=1, keepdims=True), scores.std(axis=1)
    varied = spread > OF_MEAN * np.abs(scores).max(axis=1)
    skewness = (centred**3).mean(axis=1) / np.where(varied, spread, np.inf) ** 3
    found = [f"{name} ({s:.1f})" for name, s in zip(names, skewness, strict=True) if abs(s) >= VERY_SKEWED]
    if not found:
        return ""
    return (
        f"Very skewed scores (skewness): {', '.join(found)}. In simulated campaigns Pearson's r without grouping told "
        "a metric of skewness 3 from an equally good one in 9 to 13 % of cases instead of 5. Use grouping='segment' or "
        "coefficient='kendall'."
    )


def _check_options(method, coefficient, grouping, unit, correction, degenerate, n_resamples) -> None:
    check_choice("method", method, METHODS)
    check_choice(
        "unit", unit, (None, "segment", "block", "document", "system", *(["both"] if method == "bootstrap" else []))
    )
    check_choice("correction", correction, (None, "holm", "bh", "maxT"))
    check_choice("degenerate", degenerate, DEGENERATE)
    check_count("n_resamples", n_resamples, 1)  # without draws there is no p-value
    if unit == "system" and method != "bootstrap" and (coefficient == "spa" or method != "exchange"):
        raise ValueError("systems are exchanged only for coefficients, with method='exchange'. Use method='bootstrap'.")
    if method == "williams" and (coefficient, grouping) != ("pearson", "none"):
        raise ValueError("Williams' test is for Pearson correlations without grouping. Use method='exchange'.")
    if method == "published" and coefficient in ("spearman", "tau_c"):
        raise ValueError(f"there is no published test for {coefficient!r}. Use method='exchange'.")
    if correction == "maxT" and method in ("williams", "published"):
        raise ValueError(f"`correction='maxT'` needs draws of all pairs at once; method {method!r} has none.")


class _Test(NamedTuple):
    """The result of a test, pair by pair; ``null`` holds draws around 0 for all pairs, ``observed`` the values."""

    p: np.ndarray
    unit: str
    n_units: int
    draws: np.ndarray | None = None
    null: np.ndarray | None = None
    observed: np.ndarray | None = None


def _corrected(test: _Test, correction: str | None) -> np.ndarray:
    if correction == "maxT":
        return max_t(test.null, test.observed)
    return test.p if correction is None else correct(test.p, correction)


def _directed(test: _Test) -> np.ndarray:
    """Return the p-values of rank sets: that the first of a pair is not better, among both directions of all pairs."""
    if test.null is None:  # two-sided p-values of the observed directions
        return correct(np.append(test.p / 2, 1 - test.p / 2), "holm")[: len(test.p)]
    return max_t(test.null, test.observed, one_sided=True)


def _exchange(es, names, gaps, coefficient, grouping, n_resamples, unit, degenerate, rng) -> _Test:
    units = exchange_units(es, unit)
    signs = units.signs(n_resamples, rng)
    if coefficient == "spa":
        found = exchanged_systems(es, names, "spa", units, signs)
    else:
        found = exchanged_coefficients(es, names, coefficient, grouping, units, signs, degenerate)
    alone, together = np.broadcast_to(found, (2, *found.shape[-2:]))
    observed, null = alone[:, 0], alone[:, 1:]
    p = share_reached(np.abs(null), np.abs(observed))
    return _Test(p, units.unit, units.n, null, together[:, 1:], observed)


def _bootstrap(es, names, gaps, coefficient, grouping, n_resamples, unit, degenerate, rng) -> _Test:
    unit = unit or "segment"
    values = bootstrap(es, names, coefficient, grouping, n_resamples, unit, degenerate, rng)
    first, second = np.triu_indices(len(names), 1)
    draws, zero = values[first] - values[second], np.zeros(len(first))
    p = np.minimum(1, 2 * np.minimum(share_reached(draws, zero), share_reached(-draws, zero)))
    n_units = es.shape[0] if unit == "system" else len(set(units_of(es, unit)))
    return _Test(p, unit, n_units, draws, draws - gaps[:, None], gaps)


def _williams(es, names, *_) -> _Test:
    p = williams_p(es, names)[np.triu_indices(len(names), 1)]
    return _Test(np.minimum(1, 2 * np.minimum(p, 1 - p)), "cell", int((~np.isnan(es.human)).sum()))


def _published(es, names, gaps, coefficient, grouping, n_resamples, unit, degenerate, rng) -> _Test:
    n_cells = int((~np.isnan(es.human)).sum())
    if coefficient in PAIR_TESTS:
        return _Test(exact_pair_swap(es, names, grouping), "pair", n_cells)
    options = {"grouping": grouping, "n_resamples": n_resamples, "rng": rng, "degenerate": degenerate}
    draws = null_differences([es], names, coefficient, level="segment", **options)
    return _Test(share_reached(draws, gaps), "cell", n_cells, draws)


#: Each takes a set, metrics sorted by value, the differences of the values of all pairs, and options of `compare`.
_TESTS = {"exchange": _exchange, "published": _published, "williams": _williams, "bootstrap": _bootstrap}
