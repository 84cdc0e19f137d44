"""Correlations of metrics with humans and with each other, and the parts of a correlation."""

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from .._checks import Undefined, check_choice
from ..evalset import EvalSet, as_evalset, metric_names
from .coefficients import DEGENERATE, check_coefficient, mean_over_groups, values_of_groups
from .groups import centred, grouped
from .intervals import intervals
from .units import exchange_units


def correlate(
    es: EvalSet | pd.DataFrame,
    metrics: Sequence[str] | str | None = None,
    *,
    coefficient: str = "pearson",
    grouping: str = "segment",
    degenerate: str = "drop",
    epsilon: float | str = "calibrate",
    interval: bool | float = False,
    unit: str | None = None,
    n_resamples: int = 1000,
    rng: int | np.random.Generator | None = 0,
) -> pd.DataFrame:
    r"""Correlate metrics with human scores over chosen groups of translations.

    The coefficient is computed within each group and the groups are averaged, unweighted.
    ``grouping="none"`` compares any two translations; ``"segment"`` only translations of the
    same segment ("which system did better here?"); ``"system"`` only translations by the same
    system ("which of its translations are worse?").

    Target: the mean coefficient over groups (segments, systems or all translations) like those given, scored by
    these raters.

    Parameters
    ----------
    es : EvalSet or pandas.DataFrame
        The scores; a tidy table is converted.
    metrics : str or sequence of str, optional
        Which metrics; all by default.
    coefficient : str
        With C concordant and D discordant pairs, pairs tied in human only :math:`T_h`, in
        metric only :math:`T_m`, in both :math:`T_{hm}`, n cells, k the smaller number of
        distinct scores:

        - ``pearson``: linear correlation; ``spearman``: of average ranks
        - ``kendall``, ``tau_b``: :math:`(C-D)/\sqrt{(C+D+T_h)(C+D+T_m)}`
        - ``tau_a``: :math:`(C-D)/\text{pairs}`
        - ``tau_c``: :math:`2(C-D)/(n^2(k-1)/k)`
        - ``tau_10``: :math:`(C-D-T_m)/(C+D+T_m)`; ``tau_13``: :math:`(C-D)/(C+D)`;
          ``tau_14``: :math:`(C-D)/(C+D+T_m)`
        - ``acc_eq``: :math:`(C+T_{hm})/\text{pairs}`, in [0, 1]
        - ``tau_eq``: :math:`(C+T_{hm}-D-T_h-T_m)/\text{pairs} = 2\,acc_{eq}-1`
    grouping : {"none", "segment", "system"}
    degenerate : {"drop", "zero"}
        How an undefined group (a side is constant) counts: not at all (WMT practice; if no group is left the value is
        0), or as 0. ``n_degenerate`` always counts it.
    epsilon : "calibrate", "published" or float
        Two metric scores at most ``epsilon`` apart, in units of the metric, are tied. By default ``acc_eq`` and
        ``tau_eq`` use the value, one for all groups, that is best on these same data (tie calibration); the other
        coefficients use 0. Scores, or differences, that are equal but for rounding are equal: differences that are not
        further apart than 1e-9 of the range of the metric. ``"published"`` calibrates as the reference implementation
        does, which keeps them apart, so that the value depends on the unit of the metric.
    interval : bool or float
        Whether to add an interval and a p-value to each row: True for a level of .95, or the level, in (0, 1). It is
        computed on the translations that humans and the metric of the row scored.
    unit : {None, "segment", "block", "document", "system", "both"}
        What the interval generalises over, as in `mtmeta.significance.intervals`. By default documents if the set names
        at least 20 with human scores, and otherwise segments.
    n_resamples, rng
        Number of draws of the bootstrap, and their seed.

    Returns
    -------
    pandas.DataFrame
        One row per metric, in the order asked for: ``metric, coefficient, grouping, value,
        n_systems, n_segments, n_groups, n_degenerate``. Higher values are better. ``n_groups``
        counts groups with at least two scored cells, degenerate ones included. With ``interval``, also ``low, high``,
        the ends of the interval; ``p``, the two-sided p-value of the value 0 (missing for acc_eq and tau_eq, for which
        0 has no meaning); and ``n`` and ``unit``, how many of which unit were redrawn or left out. If these are too few
        for an interval, ``low, high, p`` are missing.

    Raises
    ------
    TypeError
        If the data are not a set or a table, or ``epsilon`` is not a number.
    ValueError
        If a name or option is unknown, or no group has two scored cells. An interval needs ``epsilon="calibrate"``.

    See Also
    --------
    mtmeta.significance.intervals : more on intervals, and those of SPA.
    mtmeta.compare : is one metric better than another?

    References
    ----------
    Perrella et al. 2024, section 3 (grouping) and equation 1 (tau_b), equation 2 (acc_eq);
    Deutsch, Foster and Freitag 2023 (variants of tau, tie calibration).

    Examples
    --------
    The metric X has never read a translation; Y knows which system is better:

    >>> import mtmeta as mm
    >>> es = mm.EvalSet([[0, -6], [-1, -7], [-1, -5]], systems=["A", "B", "C"],
    ...     metrics={"X": [[.9, .2]] * 3, "Y": [[.5, .5], [.4, .4], [.4, .6]]})
    >>> mm.correlate(es, grouping="none")[["metric", "value"]].round(3).to_records(index=False).tolist()
    [('X', 0.97), ('Y', -0.217)]
    >>> mm.correlate(es, grouping="segment")[["metric", "value", "n_degenerate"]].to_records(index=False).tolist()
    [('X', 0.0, 2), ('Y', 1.0, 0)]

    One row with the whole answer:

    >>> found = mm.correlate(mm.load("teaching"), "chrF", interval=True)
    >>> found[["value", "low", "high", "p", "n", "unit"]].round(3).to_records(index=False).tolist()
    [(0.289, 0.257, 0.322, 0.002, 28, 'document')]
    """
    es = as_evalset(es)
    if interval and epsilon != "calibrate":
        raise ValueError(f"an interval needs epsilon='calibrate'; found {epsilon!r}.")
    check_choice("degenerate", degenerate, DEGENERATE)
    exact = check_coefficient(coefficient, epsilon)
    rows = [
        (metric, coefficient, grouping, *mean_over_groups(es, metric, exact, grouping, epsilon, degenerate))
        for metric in metric_names(es, metrics)
    ]
    columns = ["metric", "coefficient", "grouping", "value", "n_systems", "n_segments", "n_groups", "n_degenerate"]
    table = pd.DataFrame(rows, columns=columns)
    if not interval:
        return table
    options = {"coefficient": coefficient, "grouping": grouping, "degenerate": degenerate, "n_resamples": n_resamples}
    options |= {"unit": unit or exchange_units(es).unit, "level": 0.95 if interval is True else interval, "rng": rng}
    found = pd.concat([intervals(es, [metric], **options) for metric in table["metric"]], ignore_index=True)
    return table.join(found[["low", "high", "p", "n_units", "unit"]].rename(columns={"n_units": "n"}))


def correlate_groups(
    es: EvalSet | pd.DataFrame,
    metric: str,
    *,
    coefficient: str = "pearson",
    grouping: str = "segment",
    epsilon: float | str = "calibrate",
) -> pd.DataFrame:
    """Return the coefficient of every single group that `correlate` averages.

    Target: the coefficient of each group at hand; with few translations a group alone says little about others.

    Parameters
    ----------
    es, metric, coefficient, grouping, epsilon
        As in `correlate`, for one metric.

    Returns
    -------
    pandas.DataFrame
        One row per group: ``group`` (segment or system), ``value`` (NaN where undefined; higher
        is better), ``n`` (scored cells in the group).

    Raises
    ------
    ValueError, TypeError
        As `correlate`.

    See Also
    --------
    correlate : their mean.
    mtmeta.evalset.EvalSet.select : keep some of the groups.

    Examples
    --------
    >>> import mtmeta as mm
    >>> es = mm.EvalSet([[0, -6], [-1, -7]], {"Y": [[.5, .5], [.4, .5]]}, systems=["A", "B"])
    >>> mm.correlate_groups(es, "Y").to_records(index=False).tolist()
    [(1, 1.0, 2), (2, nan, 2)]
    """
    es = as_evalset(es)
    exact = check_coefficient(coefficient, epsilon)
    metric_names(es, metric)
    cells = grouped(es, metric, grouping, published=epsilon == "published")
    return pd.DataFrame({"group": cells.labels, "value": values_of_groups(cells, exact, epsilon), "n": cells.sizes})


def decompose_pearson(es: EvalSet | pd.DataFrame, metrics: Sequence[str] | str | None = None) -> pd.DataFrame:
    r"""Split the pooled Pearson correlation into a part between segments and a part within.

    With h and m the human and metric scores of the cells that have both, bars for segment
    means, the covariance splits as :math:`\sum (h-\bar h)(m-\bar m) =
    \sum (\bar h_s-\bar h)(\bar m_s-\bar m) + \sum (h-\bar h_s)(m-\bar m_s)`. Dividing by the
    pooled standard deviations gives ``value = between + within``: *between* is what a metric earns by knowing how hard
    each segment s is, *within* what it earns by telling the translations of a segment apart.

    Target: the parts of the pooled correlation over translations like these, by these systems.

    Parameters
    ----------
    es, metrics
        As in `correlate`.

    Returns
    -------
    pandas.DataFrame
        ``metric, value`` (pooled Pearson; higher is better), ``between, within`` (they sum to
        ``value``), ``human_between, metric_between`` (share of each side's variance that lies
        between segments, in [0, 1]), ``n_groups, n_cells``. A metric that is constant throughout
        counts 0, as in `correlate`, and its share is NaN.

    Raises
    ------
    ValueError
        If a name is unknown, or humans are constant throughout.

    See Also
    --------
    correlate : the correlation that is decomposed.

    Examples
    --------
    >>> import mtmeta as mm
    >>> es = mm.EvalSet([[0, -6], [-1, -7]], {"X": [[.9, .2], [.9, .2]]}, systems=["A", "B"])
    >>> row = mm.agreement.decompose_pearson(es).iloc[0]
    >>> [round(float(row[c]), 3) for c in ("value", "between", "within")]
    [0.986, 0.986, 0.0]
    """
    es = as_evalset(es)
    rows = []
    for metric in metric_names(es, metrics):
        scored = ~(np.isnan(es.human) | np.isnan(es[metric]))
        if scored.sum() < 2:
            raise Undefined(f"metric {metric!r}: fewer than two translations are scored by both humans and the metric.")
        pooled = np.array([0, scored.sum()])
        h, m = (v.T[scored.T] for v in (es.human, es[metric]))
        if h.max() == h.min():
            raise Undefined("human: all scores are equal, so a correlation is undefined.")
        constant = m.max() == m.min()
        h, m = (centred(side, pooled) for side in (h, m))
        sizes = scored.sum(axis=0)
        starts = np.concatenate([[0], np.cumsum(sizes[sizes > 0])])
        inner_h, inner_m = centred(h, starts), centred(m, starts)
        outer_h, outer_m = h - inner_h, m - inner_m
        parts, shares = (0.0, 0.0, 0.0), (outer_h @ outer_h / (h @ h), math.nan)
        if not constant:
            unit = math.sqrt(h @ h) * math.sqrt(m @ m)
            parts = h @ m / unit, outer_h @ outer_m / unit, inner_h @ inner_m / unit
            shares = shares[0], outer_m @ outer_m / (m @ m)
        rows.append((metric, *parts, *shares, len(starts) - 1, len(h)))
    columns = ["metric", "value", "between", "within", "human_between", "metric_between", "n_groups", "n_cells"]
    return pd.DataFrame(rows, columns=columns)
