"""The counts of sacreBLEU per segment, extracted once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd
from joblib import Parallel, delayed, effective_n_jobs

from .. import scoring
from .._names import positions
from ..evalset import EvalSet, as_evalset
from . import _formulas


def as_text_set(es: EvalSet | pd.DataFrame) -> EvalSet:
    """Return a set with texts, which nobody need have rated; a table becomes an EvalSet."""
    return es if isinstance(es, EvalSet) else as_evalset(es, unrated=True)


#: Counts of sets that are still in use: by metric, tokenizer and references.
_KEPT: WeakKeyDictionary[EvalSet, dict[tuple, SegmentStatistics]] = WeakKeyDictionary()


@dataclass(frozen=True)
class SegmentStatistics:
    """Sufficient statistics of a set: sacreBLEU's counts per segment. A corpus score is a function of their sums.

    Attributes
    ----------
    metric : {"bleu", "chrf", "chrf++", "ter"}
    systems, segments : tuple
    columns : tuple of str
        What is counted: for BLEU ``hyp_len, ref_len``, matched n-grams and all n-grams of the hypothesis by order;
        for chrF, by order, n-grams of hypothesis, reference, and both; for TER edits and (mean) reference length.
    counts : numpy.ndarray, shape (n_systems, n_segments, n_columns)
    options : dict
        ``tokenize`` as given, and ``num_refs`` (-1: differs between segments).
    name : str
        That of the set.
    """

    metric: str
    systems: tuple[str, ...]
    segments: tuple
    columns: tuple[str, ...]
    counts: np.ndarray = field(repr=False)
    options: dict[str, Any]
    name: str = "unnamed"

    def effective_order_of(self, level: str, effective_order: bool | None = None) -> bool:
        """Return whether orders that a text is too short for are left out at this level.

        Raises
        ------
        ValueError
            For chrF with several references, if they are not to be: the extraction has chosen the best reference of
            each segment without them.
        """
        if effective_order is None:
            return self.metric != "bleu" or level == "segment"
        if "chrf" in self.metric and self.options["num_refs"] != 1 and not effective_order:
            raise ValueError("chrF with effective_order=False needs a single reference; name one.")
        return bool(effective_order)

    def signature_of(self, level: str) -> str:
        """Return sacreBLEU's signature of a score at ``level`` "corpus" or "segment"."""
        effective = None if self.metric == "ter" else self.effective_order_of(level)
        computed = scoring.scorer(self.metric, tokenize=self.options["tokenize"], effective_order=effective)
        computed.num_refs = self.options["num_refs"]
        return scoring.signature(computed)

    def corpus_scores(self, *, effective_order: bool | None = None) -> np.ndarray:
        """Return corpus scores, shape (n_systems,): sums first, then one ratio. Higher is better."""
        effective = self.effective_order_of("corpus", effective_order)
        return _formulas.score(self.metric, self.counts.sum(axis=1), effective)

    def segment_scores(self, *, effective_order: bool | None = None) -> np.ndarray:
        """Return segment scores, shape (n_systems, n_segments). Higher is better."""
        effective = self.effective_order_of("segment", effective_order)
        return _formulas.score(self.metric, self.counts, effective)

    def select(
        self, *, systems: Iterable[str] | None = None, segments: Iterable[Any] | None = None
    ) -> SegmentStatistics:
        """Return the statistics of some systems and segments, in this order.

        Raises
        ------
        ValueError
            If a name does not exist or nothing would be left.
        """
        rows = positions("system", systems, self.systems, repeats=True)
        columns = positions("segment", segments, self.segments, repeats=True)
        systems, segments = tuple(self.systems[i] for i in rows), tuple(self.segments[j] for j in columns)
        return replace(self, systems=systems, segments=segments, counts=self.counts[np.ix_(rows, columns)])


def extract(
    es: EvalSet | pd.DataFrame,
    metric: str = "bleu",
    *,
    references: str | Sequence[str] | None = None,
    tokenize: str | None = None,
    n_jobs: int = 1,
) -> SegmentStatistics:
    """Let sacreBLEU extract, once, the counts behind its scores of these translations.

    They are kept as long as the set is, so that a second call returns them at once.

    Parameters
    ----------
    es : EvalSet or pandas.DataFrame
        With translations and references. Every candidate is scored, human ones too.
    metric : {"bleu", "chrf", "chrf++", "ter"}
    references : str or sequence of str, optional
        Names among ``es.texts.references``; several are used together. By default the one that the set was loaded with.
    tokenize : str, optional
        As in `mtmeta.scoring.scorer`; by default that of the set's target language (`mtmeta.scoring.tokenizer_of`).
    n_jobs : int
        Workers of joblib: 1 by default, -1 for all cores. The result does not depend on it.

    Returns
    -------
    SegmentStatistics

    Raises
    ------
    TypeError, ValueError
        If an option does not apply, the set has no texts, a translation or reference is missing, or a candidate is
        its own reference.

    See Also
    --------
    aggregate : scores of systems from such sums.

    Examples
    --------
    >>> import mtmeta as mm
    >>> es = mm.load("teaching").select(systems=["Aster"], segments=[1, 2])
    >>> statistics = mm.aggregation.extract(es)
    >>> statistics.counts.shape
    (1, 2, 10)
    >>> statistics.signature_of("corpus").split("|")[:4]
    ['BLEU', 'nrefs:1', 'case:mixed', 'eff:no']
    """
    es = as_text_set(es)
    tokenize = tokenize or (scoring.tokenizer_of(es.language_pair) if metric == "bleu" else None)
    scoring.scorer(metric, tokenize=tokenize)  # a wrong option must not wait for a worker
    translations, streams = texts_of(es, references)
    kept = _KEPT.setdefault(es, {})
    if (key := (metric, tokenize, *_reference_names(es, references))) in kept:
        return kept[key]
    number = {sum(r is not None for r in own) for own in zip(*streams, strict=True)}
    described = {"tokenize": tokenize, "num_refs": number.pop() if len(number) == 1 else -1}
    columns = _formulas.columns(metric)
    n_chunks = min(effective_n_jobs(n_jobs), len(es.systems))
    chunks = [chunk.tolist() for chunk in np.array_split(es.systems, n_chunks)]
    jobs = (delayed(_count)(metric, tokenize, [translations[s] for s in chunk], streams) for chunk in chunks)
    counts = np.stack([counts for chunk in Parallel(n_chunks, return_as="generator")(jobs) for counts in chunk])
    counts.flags.writeable = False
    kept[key] = SegmentStatistics(metric, es.systems, es.segments, columns, counts, described, es.name)
    return kept[key]


def texts_of(es: EvalSet, references: str | Sequence[str] | None) -> tuple[dict[str, list[str]], list[list]]:
    """Return the translations by system and the reference streams of a set; refuse gaps."""
    if es.texts is None or not es.texts.translations or not es.texts.references:
        raise ValueError(f"set {es.name!r} has no texts; a table needs the columns 'translation' and 'reference'.")
    names = _reference_names(es, references)
    if own := [n for n in names if n in es.systems]:
        raise ValueError(f"{own[0]!r} is a candidate and would be scored against itself: select the other systems.")
    translations = {}
    for system in es.systems:
        texts = list(es.texts.translations.get(system, [None] * len(es.segments)))
        if gaps := [name for name, text in zip(es.segments, texts, strict=True) if text is None]:
            raise ValueError(
                f"system {system!r} has no translation of {len(gaps)} segment(s), the first of them {gaps[0]!r}. "
                "Select segments that all systems translated: es.select(segments=...)."
            )
        translations[system] = texts
    streams = [list(es.texts.references[n]) for n in names]
    bare = [name for name, own in zip(es.segments, zip(*streams, strict=True), strict=True) if not any(own)]
    if bare:
        raise ValueError(f"{len(bare)} segment(s) of {es.name!r} have no reference, the first of them {bare[0]!r}.")
    return translations, streams


def _reference_names(es: EvalSet, references: str | Sequence[str] | None) -> list[str]:
    known = list(es.texts.references)
    if references is None:
        names = known if len(known) == 1 else str(es.provenance.get("reference")).split(".")
        if set(names) - set(known):
            listed = ", ".join(map(repr, known))
            raise ValueError(f"set {es.name!r} has several references: {listed}. Choose: references=[{known[0]!r}].")
        return names
    names = [references] if isinstance(references, str) else references
    return [known[k] for k in positions("reference", names, known, repeats=True)]


def _count(metric: str, tokenize: str | None, systems: list[list[str]], streams: list[list]) -> list[np.ndarray]:
    """Return sacreBLEU's counts for some systems; the references are prepared once."""
    computed = scoring.scorer(metric, tokenize=tokenize)
    computed._ref_cache = computed._cache_references(streams)
    return [np.array(computed._extract_corpus_statistics(texts, None), dtype=np.float64) for texts in systems]
