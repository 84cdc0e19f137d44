"""What is in a set of scores, what was left out of it, and what may be wrong with it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

from ..evalset import EvalSet, as_evalset

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

        - ``what``: what it is about. Always there: ``set``, ``systems``, ``segments``, ``comparable segments`` (two
          systems or more are rated), ``rated translations``, ``human scores``. Where the set has them: ``language
          pair``, ``annotation``, ``reference``, ``human translator``, ``documents``, ``domains``, ``sources``,
          ``references``, ``translations``, ``metric``, ``left out``. And ``warning``.
        - ``name``: of the metric, system, text, … in question; None if there is none.
        - ``count``: how many there are (integer, or missing).
        - ``of``: of how many (integer, or missing).
        - ``note``: the rest, in words; None if there is none.

    Raises
    ------
    TypeError
        If `es` is neither a set nor a table.
    ValueError
        If its ratings cannot rank any metric: one rated system, or one human score throughout.

    Notes
    -----
    A metric is suspected of being reversed if it correlates negatively with humans over systems, and over the n
    translations that both score with a Pearson correlation below :math:`-2/\sqrt{n}`, two standard errors of a
    correlation that is 0: a metric of pure noise is rarely accused.

    Examples
    --------
    >>> import mtmeta as mm
    >>> es = mm.EvalSet([[0, -1, -2], [-1, -5, None]], {"errors": [[0, 1, 2], [1, 4, 9]]}, systems=["A", "B"])
    >>> found = mm.datasets.validate(es)
    >>> found.query("what == 'rated translations'")[["count", "of", "note"]].to_dict("records")
    [{'count': 5, 'of': 6, 'note': '83.3%'}]
    >>> for row in found.query("what == 'warning'").itertuples():
    ...     print(f"{row.name}: {row.note}")
    None: two rated systems make one pair: a correlation of system scores is 1 or -1 by force
    errors: correlates negatively with humans (-0.994 over translations, -1.000 over systems): is a high score good?
    """
    es = as_evalset(es)
    _refuse_useless(es)
    return pd.DataFrame(
        [
            (what, None if name is None else str(name), count, of, note or None)
            for what, name, count, of, note in (*_contents(es), *_doubts(es))
        ],
        columns=["what", "name", "count", "of", "note"],
        dtype=object,
    ).astype({"count": "Int64", "of": "Int64"})


Finding = tuple[str, Any, int | None, int | None, str]


def _contents(es: EvalSet) -> list[Finding]:
    """Return what a set holds, and what was left out of it."""
    rated, about, (n_systems, n_segments) = ~np.isnan(es.human), es.provenance, es.shape
    scores = es.human[rated]
    named = {"language pair": es.language_pair, "annotation": about.get("annotation")}
    named |= {"reference": about.get("reference")}
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
    if es.texts is not None:
        texts = [("sources", None, es.texts.sources or ())]
        texts += [("references", name, own) for name, own in es.texts.references.items()]
        texts += [("translations", None, [t for own in es.texts.translations.values() for t in own])]
        for what, name, own in texts:
            whole = rated.size if what == "translations" else n_segments
            found += [(what, name, sum(t is not None for t in own), whole, "")] if own else []
    found += [("metric", metric, *_coverage(es, metric)) for metric in es.metrics]
    others = es.system_scores.columns.drop("human")
    found += [("metric", metric, None, None, "system scores only") for metric in others if metric not in es]
    return found + [("left out", what, None, None, why) for what, why in about.get("left_out", {}).items()]


def _coverage(es: EvalSet, metric: str) -> tuple[int, int, str]:
    """Return how many translations a metric scored, of how many, and what it is."""
    holes = int(np.isnan(es[metric]).sum())
    variant = es.provenance.get("variants", {}).get(metric)
    notes = [f"{holes} hole{'s' * (holes > 1)}"] if holes else []
    if metric in es.reference_free:
        notes.append("reference-free")
    elif variant:
        notes.append(f"scored against {variant}")
    return es.human.size - holes, es.human.size, ", ".join(notes)


def _refuse_useless(es: EvalSet) -> None:
    """Raise if the ratings of a set cannot rank any metric."""
    rated = ~np.isnan(es.human)
    systems = int(rated.any(axis=1).sum())
    if systems < 2:
        raise ValueError(
            f"set {es.name!r}: metrics cannot be ranked with {systems} rated system (of {es.shape[0]}). There is "
            "nothing to compare at system level or within a segment; expected two rated systems or more."
        )
    scores = es.human[rated]
    if scores.min() == scores.max():
        raise ValueError(
            f"set {es.name!r}: every human score is {scores[0]:g}, so no metric can agree or disagree with them."
        )


def _doubts(es: EvalSet) -> list[Finding]:
    """Return what may be wrong with a set."""
    from .._pearson import pearson  # takes scipy.stats, for which loading need not wait

    rated = ~np.isnan(es.human)
    some, by_system = rated.any(axis=1), es.system_scores
    doubts: list[tuple[Any, str]] = [
        (system, "not one translation is rated: it counts nowhere") for system in np.array(es.systems, object)[~some]
    ]
    if len(by_system.columns) == 1:
        doubts.append((None, "no metric: there is nothing to rank or correlate"))
    if some.sum() == 2:
        doubts.append((None, "two rated systems make one pair: a correlation of system scores is 1 or -1 by force"))
    if not (rated.sum(axis=0) > 1).any():
        doubts.append((None, "no segment has two rated systems: nothing can be compared within a segment"))
    against = []
    for metric in es.metrics:
        both = rated & ~np.isnan(es[metric])
        if both.sum() < 2:
            doubts.append((metric, f"has scores for {both.sum()} of the rated translations"))
        elif np.nanmin(es[metric]) == np.nanmax(es[metric]):
            doubts.append((metric, "constant: all its scores are equal, so it ranks nothing"))
        else:
            r = pearson(es.human[both], es[metric][both])
            systems = by_system[["human", metric]].dropna().to_numpy()
            if r < -2 / math.sqrt(both.sum()) and len(systems) and (of_systems := pearson(*systems.T)) < 0:
                found = f"{r:.3f} over translations, {of_systems:.3f} over systems"
                against.append((metric, f"correlates negatively with humans ({found}): is a high score good?"))
    if len(against) == len(es.metrics) > 1:
        against = [(None, "every metric correlates negatively with humans: is a high human score good?")]
    return [("warning", name, None, None, note) for name, note in doubts + against]
