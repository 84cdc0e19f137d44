"""System scores from segment counts in three ways, each with an interval."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from scipy import stats

from .._checks import check_choice, check_count, generator
from ..evalset import EvalSet
from ..resampling import Statistic, bootstrap, jackknife, percentile_interval, seed_of
from . import _formulas
from ._statistics import SegmentStatistics, extract

HOW = ("corpus", "segment", "bootstrap")


@dataclass(frozen=True)
class Aggregation:
    """The result of `aggregate`.

    Attributes
    ----------
    table : pandas.DataFrame
        One row per system, in the order of the set: ``system, metric, how, score, se, low, high, n_segments``.
        Higher is better. ``se`` is the standard error (jackknife) or the standard deviation of the draws.
    signature : str
        sacreBLEU's signature, followed by the way of aggregation.
    draws : numpy.ndarray or None
        Scores of the resamples, shape (n_resamples, n_systems); resamples are the same for all systems.
    """

    table: pd.DataFrame
    signature: str
    draws: np.ndarray | None = field(default=None, repr=False)

    def to_frame(self) -> pd.DataFrame:
        """Return a copy of ``table`` with the signature in a column."""
        return self.table.assign(signature=self.signature)


def aggregate(
    es: EvalSet | pd.DataFrame | SegmentStatistics,
    metric: str = "bleu",
    *,
    how: str = "corpus",
    references: str | Sequence[str] | None = None,
    interval: str | None = None,
    n_resamples: int = 1000,
    rng: int | np.random.Generator | None = 0,
) -> Aggregation:
    r"""Score systems by a lexical metric, from counts per segment to one number.

    With counts :math:`s_i` of segment i (matched and proposed n-grams, lengths) and the metric's formula :math:`f`,

    - ``"corpus"``: :math:`f(\sum_i s_i)`, a ratio of sums: long segments weigh more;
    - ``"segment"``: :math:`\frac1n \sum_i f(s_i)`, a mean of ratios: segments weigh the same;
    - ``"bootstrap"``: the mean of :math:`f(\sum_{i \in R} s_i)` over resamples R of segments, drawn with
      replacement. It estimates the corpus score, up to a bias of order 1 / n, and not the mean of segment scores.

    Parameters
    ----------
    es : EvalSet, pandas.DataFrame or SegmentStatistics
        Translations and references; or the result of `extract`, with no further options of the extraction. A set is
        extracted on one core, and its counts are kept on disk.
    metric : {"bleu", "chrf", "chrf++", "ter"}
    how : {"corpus", "segment", "bootstrap"}
    references
        As in `extract`.
    interval : {"jackknife", "bootstrap"}, optional
        How the 95 % interval over independent segments from the same source is found. Jackknife, the default of
        ``"corpus"`` and ``"segment"``: from the n scores with one segment left out, t quantiles with n - 1 degrees of
        freedom; for a mean it is the usual t interval. Bootstrap, and always with ``how="bootstrap"``: percentiles of
        the resamples.
    n_resamples : int
        Number of resamples, the same for all systems and, with the same seed, for all metrics.
    rng : None, int or numpy.random.Generator

    Returns
    -------
    Aggregation
        BLEU and chrF in [0, 100]; TER negated.

    Raises
    ------
    TypeError, ValueError
        As in `extract`; and if ``how`` or ``interval`` is unknown, they do not fit, or a number is out of range.

    See Also
    --------
    extract : the counts behind the scores.

    Notes
    -----
    BLEU leaves out n-gram orders that a text is too short for when it scores segments, and not when it scores a corpus,
    as in sacreBLEU. This is a second difference between the two aggregations; `SegmentStatistics.segment_scores` with
    ``effective_order=False`` shows the first alone.

    References
    ----------
    Cavalin, Domingues and Pinhanez 2024, section 3 (CLA, SLA, BRS); Koehn 2004 (bootstrap); Efron and Tibshirani 1993
    (jackknife).

    Examples
    --------
    >>> import mtmeta as mm
    >>> es = mm.load("teaching").select(systems=["Aster"])
    >>> corpus = mm.aggregation.aggregate(es, "bleu", how="corpus")
    >>> segment = mm.aggregation.aggregate(es, "bleu", how="segment")
    >>> corpus.signature.split("|")[3], segment.signature.split("|")[3]
    ('eff:no', 'eff:yes')
    >>> corpus.table.columns.tolist()
    ['system', 'metric', 'how', 'score', 'se', 'low', 'high', 'n_segments']
    """
    check_choice("how", how, HOW)
    check_choice("interval", interval, (None, "jackknife", "bootstrap"))
    check_count("n_resamples", n_resamples, 2)
    interval = interval or ("bootstrap" if how == "bootstrap" else "jackknife")
    if interval == "jackknife" and how == "bootstrap":
        raise ValueError("a jackknife draws no resamples: with how='bootstrap', leave `interval` out.")
    if isinstance(es, SegmentStatistics):
        if (es.metric, references) != (metric, None):
            raise ValueError(f"`extract` fixed the references: omit them, and pass metric={es.metric!r}.")
        statistics = es
    else:
        statistics = extract(es, metric, references=references)
    counts = statistics.segment_scores()[..., None] if how == "segment" else statistics.counts
    n = counts.shape[1]
    unit = "segment" if how == "segment" else "corpus"
    effective = statistics.effective_order_of(unit)

    def value(sums: np.ndarray) -> np.ndarray:
        """Return scores of sums over segments, whose number is the last column."""
        if how == "segment":
            return sums[..., 0] / sums[..., -1]
        return _formulas.score(metric, sums[..., :-1], effective)

    sums = np.insert(counts, counts.shape[2], 1.0, axis=2).swapaxes(0, 1)
    score, draws = Statistic(sums, value), None
    scores = score(np.ones((1, n)))[0]
    signature = f"{statistics.signature_of(unit)}|how:{how}|interval:{interval}|level:0.95"
    if interval == "jackknife":
        columns = _jackknife(score, scores)
    else:
        draws = score(bootstrap(n, n_resamples, generator(rng)))
        low, high = percentile_interval(draws, 0.95)
        scores = draws.mean(axis=0) if how == "bootstrap" else scores
        columns = {"score": scores, "se": draws.std(axis=0, ddof=1), "low": low, "high": high}
        signature += f"|resamples:{n_resamples}|size:{n}|seed:{seed_of(rng)}"
    table = pd.DataFrame({"system": list(statistics.systems), "metric": metric, "how": how})
    return Aggregation(table.assign(**columns, n_segments=n), f"{signature}|set:{statistics.name}", draws)


def _jackknife(score: Statistic, scores: np.ndarray) -> dict[str, np.ndarray]:
    """Return scores, standard errors and t intervals from the scores with one segment left out."""
    n = len(score.sums)
    if n < 2:
        return {"score": scores, "se": np.nan, "low": np.nan, "high": np.nan}
    _, without = jackknife(score)
    se = np.sqrt((n - 1) / n * ((without - without.mean(axis=0)) ** 2).sum(axis=0))
    half = stats.t.ppf(0.975, n - 1) * se
    return {"score": scores, "se": se, "low": scores - half, "high": scores + half}
