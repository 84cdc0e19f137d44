"""The contents of a set of scores, what was left out of it, and its possible faults."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from .._names import alike, counted
from .._systems import of_partly_rated_segments, of_unrated_translations
from ..evalset import EvalSet, Texts, as_evalset, check_ratings
from ._oddities import oddities

#: Domains and documents are named where there are no more than this.
_NAMED = 8


def validate(es: EvalSet | pd.DataFrame) -> pd.DataFrame:
    r"""Say what is in a set, what was left out of it and why, and what may be wrong with it.

    Parameters
    ----------
    es : EvalSet or DataFrame
        A set, or a tidy table.

    Returns
    -------
    pandas.DataFrame
        One row per finding, with the columns

        - ``what``: its subject. Always present: ``set``, ``systems``, ``segments``, ``comparable segments`` (two
          systems or more are rated), ``rated translations``, ``human scores``. If the set has them: ``language pair``,
          ``annotation``, ``reference``, ``human translator``, ``documents``, ``domains``, ``sources``, ``references``,
          ``translations``, ``metric``, ``left out``. And ``warning``.
        - ``name``: of the metric, system, text, … in question, or None.
        - ``count``: how many there are (integer, or missing).
        - ``of``: of how many (integer, or missing).
        - ``note``: the rest, in words; None if there is none.

    Raises
    ------
    TypeError
        If `es` is neither a set nor a table.
    ValueError
        If its ratings cannot rank any metric: one rated system, or one human score throughout.

    See Also
    --------
    load : load a set; raises where it cannot be used.

    Notes
    -----
    A metric is suspected of being reversed if its Pearson correlation with humans is below :math:`-2/\sqrt{n}`, two
    standard errors of a correlation that is 0, over the n translations that both score, and within segments. System
    means do not count here, because one system can reverse their correlation (Mathur, Baldwin and Cohn 2020); `rank`
    and `report` name such systems.

    A metric is named if it equals the human scores or an earlier metric, or lies on a rising straight line over either
    but for rounding (1e-9 of the range): it is the same metric in other units. Segments are named if nearly all of them
    repeat others in all scores.

    Scores may look as if a file had been damaged. Of metrics and humans with 30 scores or more, these are named: scores
    further from all others than twice the range of the others; a system whose standard deviation is more than ten times
    the usual one, or less than a tenth; two systems with the same scores but not the same translations; a block of
    scores that is constant or recurs in a system, too long for chance: :math:`N^2 p^l < 10^{-6}` with N scores in all,
    l in the block (8 or more) and p the share of the most frequent score; scores that follow those of the other
    systems, or of humans, better when moved by one segment: by more than :math:`4/\sqrt{n}` in Pearson's correlation.
    And: scores that follow the others better when reordered as if 2, 3, 4 or 8 processes (GPUs) had scored the segments
    in turn and their files were joined in the wrong order, by more than :math:`5/\sqrt{n}`; a system whose scores are
    in ascending or descending order; a system whose scores of translations that equal those of other systems differ as
    much as those of different ones; a lowest score of -1 or 0 that at most 5 % of the translations share, far below the
    rest; and translations that are the source.

    Examples
    --------
    >>> import mtmeta as mm
    >>> es = mm.EvalSet([[0, -1, -2], [-1, -5, None]], {"errors": [[0, 1, 2], [1, 4, 9]]}, systems=["A", "B"])
    >>> found = mm.datasets.validate(es)
    >>> found.query("what == 'rated translations'")[["count", "of", "note"]].to_dict("records")
    [{'count': 5, 'of': 6, 'note': '83.3%'}]
    >>> for row in found.query("what == 'warning'").itertuples():
    ...     print(f"{row.name}: {row.note}")
    None: with only two rated systems a correlation of system scores is always 1 or -1
    errors: correlates negatively with humans (-0.994 over translations, -0.997 within segments): is a high score good?
    """
    es = as_evalset(es, unrated=True)
    check_ratings(es)
    found = [*_contents(es), *_doubts(es)]
    rows = [(what, name if name is None else str(name), n, of, note or None) for what, name, n, of, note in found]
    table = pd.DataFrame(rows, columns=["what", "name", "count", "of", "note"], dtype=object)
    return table.astype({"count": "Int64", "of": "Int64"})


Finding = tuple[str, Any, int | None, int | None, str]


def _contents(es: EvalSet) -> list[Finding]:
    """Return what a set holds, and what was left out of it."""
    rated, about, (n_systems, n_segments) = ~np.isnan(es.human), es.provenance, es.shape
    scores = es.human[rated]
    named = {"language pair": es.language_pair} | {what: about.get(what) for what in ("annotation", "reference")}
    spread = f"from {scores.min():zg} to {scores.max():zg}, {len(np.unique(scores))} distinct; higher is better"
    comparable = int((rated.sum(axis=0) > 1).sum())
    found: list[Finding] = [
        ("set", es.name, None, None, about.get("source", "")),
        *((what, name, None, None, "") for what, name in named.items() if name),
        ("systems", None, n_systems, None, ""),
        *(("human translator", s, None, None, "a candidate like the others") for s in sorted(es.human_systems)),
        ("segments", None, n_segments, None, ""),
        ("comparable segments", None, comparable, n_segments, "two systems or more are rated"),
        ("rated translations", None, len(scores), rated.size, f"{rated.mean():.1%}"),
        ("human scores", None, None, None, spread),
    ]
    for what, values in (("documents", es.documents), ("domains", es.domains)):
        if values is not None:
            distinct = list(dict.fromkeys(v for v in values if v is not None))
            names = ", ".join(map(str, distinct)) if len(distinct) <= _NAMED else ""
            found.append((what, None, len(distinct), None, names))
    texts = es.texts or Texts()
    written = [("sources", None, texts.sources or (), n_segments)]
    written += [("references", name, own, n_segments) for name, own in texts.references.items()]
    written += [("translations", None, [t for own in texts.translations.values() for t in own], rated.size)]
    found += [(what, name, sum(t is not None for t in own), of, "") for what, name, own, of in written if own]
    found += [("rating", name, *_coverage(es, name)) for name in es.further_ratings]
    found += [("metric", metric, *_coverage(es, metric)) for metric in es.metrics]
    others = es.system_scores.columns.drop("human")
    found += [("metric", metric, None, None, "system scores only") for metric in others if metric not in es]
    return found + [("left out", what, None, None, why) for what, why in about.get("left_out", {}).items()]


def _coverage(es: EvalSet, metric: str) -> tuple[int, int, str]:
    """Return how many translations a metric scored, of how many, and a note on it."""
    holes = int(np.isnan(es[metric]).sum())
    variant = es.provenance.get("variants", {}).get(metric)
    saw = "reference-free" if variant == "src" else variant and f"scored against {variant}"
    notes = [counted(holes, "hole") if holes else None, saw]
    return es.human.size - holes, es.human.size, ", ".join(filter(None, notes))


def _doubts(es: EvalSet) -> list[Finding]:
    """Return what may be wrong with a set."""
    rated = ~np.isnan(es.human)
    some, by_system = rated.any(axis=1), es.system_scores
    whole = {
        "no metric: there is nothing to rank or correlate": len(by_system.columns) == 1,
        "with only two rated systems a correlation of system scores is always 1 or -1": some.sum() == 2,
        "no segment has two rated systems: nothing can be compared within a segment": rated.sum(axis=0).max() < 2,
    }
    unrated = np.array(es.systems, object)[~some]
    doubts: list[tuple[Any, str]] = [(s, "not one translation is rated: it counts nowhere") for s in unrated]
    doubts += [(None, note) for note, holds in whole.items() if holds]
    of_means = (of_unrated_translations(es), of_partly_rated_segments(es))
    doubts += [*at_a_glance(es), *((None, note) for note in of_means if note)]
    doubts += oddities(es)
    return [("warning", name, None, None, note) for name, note in doubts]


def at_a_glance(es: EvalSet, metrics: Sequence[str] | None = None) -> list[tuple[Any, str]]:
    """Return what a moment shows to be doubtful: copies, scores of no use or turned, names that may be one."""
    from .._copies import copies, repeated
    from .._pearson import pearson  # takes scipy.stats, for which loading need not wait

    metrics = es.metrics if metrics is None else [metric for metric in es.metrics if metric in metrics]
    rated, doubts, against = ~np.isnan(es.human), [], []
    for metric in metrics:
        both = rated & ~np.isnan(es[metric])
        if both.sum() < 2:
            doubts.append((metric, f"has scores for {both.sum()} of the rated translations"))
        elif np.nanmin(es[metric]) == np.nanmax(es[metric]):
            doubts.append((metric, "is constant: all its scores are equal, so it ranks nothing"))
        else:
            least, of_all = -2 / math.sqrt(both.sum()), pearson(es.human[both], es[metric][both])
            if of_all < least and (of_segments := _within(es, metric, both)) < least:
                found = f"{of_all:.3f} over translations, {of_segments:.3f} within segments"
                against.append((metric, f"correlates negatively with humans ({found}): is a high score good?"))
    if len(against) > len(metrics) / 2 > 1 / 2:
        how_many = f"{len(against)} of {len(metrics)} metrics correlate"
        against = [(None, f"{how_many} negatively with humans: is a high human score good?")]
    doubts += [(None, said) for names in (es.systems, metrics, es.segments) for said in alike(names)]
    again = [(None, note) for note in [repeated(es)] if note]
    return [*again, *((name, note) for name, (_, note) in copies(es, metrics).items()), *doubts, *against]


def _within(es: EvalSet, metric: str, both: np.ndarray) -> float:
    """Return Pearson's r of the deviations from the means of segments; -1 where no segment has two systems."""
    from .._pearson import pearson

    several = both & (both.sum(axis=0) > 1)
    if not several.any():
        return -1.0
    sides = np.where(several, [es.human, es[metric]], np.nan)[:, :, several.any(axis=0)]
    human, scores = (sides - np.nanmean(sides, axis=1, keepdims=True))[:, several[:, several.any(axis=0)]]
    return float(np.nan_to_num(pearson(human, scores)))
