"""Detecting translations without an error: precision and recall, with thresholds from other data."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from ._checks import Undefined, generator
from .evalset import Computed, EvalSet, as_evalset, metric_names
from .ties import expected_accuracy

__all__ = ["error_free", "threshold"]

_FOLDS = 5


def _labels(es: EvalSet, metric: str, least: float) -> tuple[np.ndarray, np.ndarray]:
    """Return which cells humans and the metric scored, and which translations humans find no error in."""
    scored = ~(np.isnan(es.human) | np.isnan(es[metric]))
    good = es.human >= least
    n, of = int(good[scored].sum()), int(scored.sum())
    if n in (0, of):
        raise Undefined(
            f"metric {metric!r} in set {es.name!r}: {n} of {of} translations have a human score of {least:g} or more. "
            "Detection needs some that have and some that do not; choose another `least`."
        )
    return scored, good


def threshold(es: EvalSet | pd.DataFrame, metric: str, *, least: float = 0.0) -> float:
    """Find the score from which on a metric's translations are best taken for error-free.

    It has the highest recall less false alarms (Youden's J), which is 0 for taking all translations or none.

    Target: the score that separates best on the translations at hand; its success there is too high for others.

    Parameters
    ----------
    es : EvalSet or pandas.DataFrame
    metric : str
    least : float
        Humans find no error in a translation with this score or more.

    Returns
    -------
    float
        In units of the metric: translations with this score or more are taken. The lowest, if several are best.

    Raises
    ------
    ValueError
        If a name or option is unknown, or humans find errors in all translations, or in none.

    See Also
    --------
    error_free : how well a metric finds translations without errors.
    mtmeta.calibrate_ties : the threshold below which two scores are tied.

    Examples
    --------
    >>> import mtmeta as mm
    >>> es = mm.EvalSet([[0, -5, 0, -1, 0]], {"m": [[.9, .8, .7, .6, .5]]}, systems=["A"])
    >>> mm.detection.threshold(es, "m")
    0.9
    """
    from sklearn.metrics import roc_curve

    es = as_evalset(es)
    metric_names(es, metric)
    scored, good = _labels(es, metric, least)
    false, true, cuts = roc_curve(good[scored], es[metric][scored], drop_intermediate=False)
    youden = true - false
    return float(cuts[np.flatnonzero(youden >= youden.max() - 1e-12)[-1]])


def error_free(
    es: EvalSet | pd.DataFrame,
    metrics: Sequence[str] | str | None = None,
    *,
    thresholds: Mapping[str, float] | None = None,
    least: float = 0.0,
    rng: int | np.random.Generator | None = 0,
) -> pd.DataFrame:
    r"""Return how well metrics detect translations in which humans find no error.

    A metric takes all translations from a threshold on. Of those, *precision* is the share that is error-free; of the
    error-free ones, *recall* is the share taken; *false alarms* is the share of the others that is taken, too. Taking
    everything has recall 1 and the base rate p for precision, so its :math:`F_1 = 2 p / (1 + p)` is high where most
    translations are error-free. Youden's :math:`J = \mathit{recall} - \mathit{false\ alarms}` is 0 there.

    Target: how well the metric detects error-free translations among translations like these, by these systems.

    Parameters
    ----------
    es, metrics
        As in `mtmeta.correlate`.
    thresholds : mapping of str to float, optional
        Threshold of each metric, from other data: see `threshold`. By default the data are split into five folds; each
        is judged with the threshold of the others that has the highest Youden's J.
    least : float
        As in `threshold`.
    rng : None, int or numpy.random.Generator
        Seed of the folds.

    Returns
    -------
    pandas.DataFrame
        ``metric, threshold`` (median over folds), ``precision`` (NaN if nothing is taken), ``recall, false_alarms, f1,
        youden``; without a threshold ``auc``, the probability that an error-free translation has a higher score than
        another one (a tie counts half; a coin gets 1/2), and ``auc_within``, the same for two translations of a
        segment, averaged over the segments that have both (NaN if there is none); ``base_rate`` (share of error-free
        translations), ``n_taken, n_cells``. Higher is better, but for false alarms.

    Raises
    ------
    ValueError
        If a name or option is unknown, a threshold is missing, or humans find errors in all translations, or in none,
        of the data or of all folds but one.

    See Also
    --------
    threshold : the score from which a translation counts as free of errors.
    mtmeta.ratings_saved : another use of a metric beside people.

    References
    ----------
    The third task of WMT26's evaluation of automated translation evaluation, "Detection of error-free segments".

    Examples
    --------
    >>> import mtmeta as mm
    >>> es = mm.EvalSet([[0, -5, 0, -1, 0]], {"m": [[.9, .8, .7, .6, .5]]}, systems=["A"])
    >>> row = mm.detection.error_free(es, thresholds={"m": .7}).iloc[0]
    >>> [round(float(row[c]), 3) for c in ("precision", "recall", "false_alarms", "f1", "auc")]
    [0.667, 0.667, 0.5, 0.667, 0.5]
    """
    es = as_evalset(es)
    names = metric_names(es, metrics)
    if absent := [name for name in names if thresholds is not None and name not in thresholds]:
        raise ValueError(f"`thresholds` lacks the metric {absent[0]!r}.")
    folds = generator(rng).permutation(es.shape[1]) % _FOLDS
    rows = []
    for name in names:
        scored, good = _labels(es, name, least)
        if thresholds is None:
            others = [[s for s, fold in zip(es.segments, folds, strict=True) if fold != k] for k in set(folds)]
            parts = [es.select(segments=segments, metrics=[name]) for segments in others]
            cuts = np.array([threshold(part, name, least=least) for part in parts])[folds]
        else:
            cuts = np.full(es.shape[1], float(thresholds[name]))
        taken, good = (es[name] >= cuts)[scored], good[scored]
        right, n = int((taken & good).sum()), int(taken.sum())
        recall, false = right / good.sum(), (n - right) / (~good).sum()
        two = Computed(np.where(scored, es.human >= least, np.nan), {name: es[name]}, systems=es.systems)
        precision, f1 = right / n if n else np.nan, 2 * right / (n + good.sum())
        found = (np.median(cuts), precision, recall, false, f1, recall - false)
        rows.append((name, *found, *(_auc(two, g) for g in ("none", "segment")), good.mean(), n, len(good)))
    columns = "metric threshold precision recall false_alarms f1 youden auc auc_within base_rate n_taken n_cells"
    return pd.DataFrame(rows, columns=columns.split())


def _auc(two: EvalSet, grouping: str) -> float:
    """Return the share of pairs of an error-free and another translation in which the metric prefers the first."""
    try:
        return float(expected_accuracy(two, grouping=grouping)["value"][0])
    except Undefined:
        return np.nan
