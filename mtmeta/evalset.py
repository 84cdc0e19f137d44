"""The one container: human and metric scores of a set of translations, validated."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from ._checks import Undefined, check_choice, check_scores, floats, numbers_of
from ._equal import OF_MEAN, merged
from ._names import alike, counted, listed, names_of, numbered, positions, unknown
from ._systems import SCORES, adjusted_means, means
from ._tables import check_once, check_table
from .rankings import Rankings

__all__ = ["EvalSet", "Texts"]

#: Columns of the tidy table that are not metric scores.
RESERVED = ("system", "segment", "human", "lp", "doc", "domain", "source", "reference", "translation")


#: What may be known about a set, beside its scores, names and texts.
_ABOUT = ("language_pair", "human_systems", "system_scores", "scores", "spans", "truth", "provenance")


def is_reference(column: str) -> bool:
    """Say whether a column holds one of several references: ``reference_B`` beside ``reference``."""
    return column.startswith("reference_")


def is_rating(column: str) -> bool:
    """Say whether a column holds a further human score of each translation: ``human_2`` beside ``human``."""
    return re.fullmatch(r"human_\d+", column) is not None


@dataclass(frozen=True)
class Texts:
    """The texts of a set, in segment order; ``None`` where a text is missing.

    Attributes
    ----------
    sources : tuple of str
        One source per segment.
    references : dict of str to tuple of str
        Reference name to one reference per segment.
    translations : dict of str to tuple of str
        System name to one translation per segment.
    """

    sources: tuple[str | None, ...] | None = None
    references: Mapping[str, tuple[str | None, ...]] = field(default_factory=dict)
    translations: Mapping[str, tuple[str | None, ...]] = field(default_factory=dict)

    def _select(self, systems: Sequence[str], index: Sequence[int]) -> Texts:
        return Texts(
            _taken(self.sources, index),
            {name: _taken(texts, index) for name, texts in self.references.items()},
            {name: _taken(self.translations[name], index) for name in systems if name in self.translations},
        )


def _taken(values: Sequence | None, index: Sequence[int]) -> tuple | None:
    """Return the values at these positions, or None where there are none."""
    return None if values is None else tuple(values[i] for i in index)


class EvalSet:
    """Human and metric scores of the same translations, with their names, texts and origin.

    Every score matrix has shape ``(n_systems, n_segments)``, dtype float64, NaN where a
    translation was not scored. Higher is better everywhere: penalties are negated once,
    when they are loaded. The arrays are read-only; an ``EvalSet`` does not change.

    Parameters
    ----------
    human : array_like, shape (n_systems, n_segments)
        Human scores, NaN where not rated.
    metrics : mapping of str to array_like
        Metric name to scores of the same shape. ``human_2``, ``human_3`` … are further ratings and no metrics (see
        `ratings`). Truth values count as 0 and 1. A DataFrame whose index names the systems goes by its index.
    systems : sequence of str
        System names, in row order; other names are turned into text.
    segments : sequence, optional
        Segment identifiers, in column order; ``1 … n_segments`` by default.
    name : str, optional
        What to call the set.
    documents, domains : sequence of str, optional
        One entry per segment.
    texts : Texts, optional
        Sources, references by name, translations by system.
    about : mapping, optional
        Anything else that is known; each becomes an attribute of this name:

        - ``language_pair``: such as ``"zh-en"``.
        - ``human_systems``: the systems that are human translators (a second reference that is a candidate).
        - ``system_scores``: a DataFrame of official system-level scores: index = systems in any order, columns =
          ``"human"`` and metric names.
        - ``scores``: how systems are scored, see `with_system_scores`. By default ``"published"`` if there are official
          scores, otherwise ``"paired"``.
        - ``spans``: a DataFrame of error spans, one row per error, columns ``system, segment, rater, category,
          severity, weight, start, end, text``; an error-free rating is one row of severity ``"no-error"``.
        - ``truth``: a mapping of what was planted; simulated sets only.
        - ``provenance``: a mapping with the origin of the data, and what was left out and why.
    unrated : {"raise", "keep"}
        What to do if no translation has a human score: refuse, or keep the set for its texts. Functions that compare
        with human scores refuse such a set.

    Raises
    ------
    TypeError
        If a score is not a number.
    ValueError
        If shapes or names disagree, a column holds no score at all, or the largest score is not from 1e-50 to
        1e50 in size, where products of scores neither overflow nor lose digits.

    Examples
    --------
    >>> from mtmeta import EvalSet
    >>> es = EvalSet([[0, -6], [-1, -7]], {"X": [[.9, .2], [.9, .2]]}, systems=["A", "B"])
    >>> es
    EvalSet 'unnamed': 2 systems x 2 segments, 1 metric, 4 of 4 translations rated
    >>> es["X"].shape
    (2, 2)
    """

    _computed = False

    def __init__(
        self,
        human: Any,
        metrics: Mapping[str, Any],
        *,
        systems: Sequence[str],
        segments: Sequence[Any] | None = None,
        name: str = "unnamed",
        documents: Sequence[str] | None = None,
        domains: Sequence[str] | None = None,
        texts: Texts | None = None,
        about: Mapping[str, Any] | None = None,
        unrated: str = "raise",
    ) -> None:
        check_choice("unrated", unrated, ("raise", "keep"))
        about = dict(about or {})
        self.name = name
        self.language_pair: str | None = about.get("language_pair")
        self.systems: tuple[str, ...] = names_of(map(str, systems), "systems")
        self.human = self._matrix(human, "human scores")
        n_systems, n_segments = self.human.shape
        if not n_systems or not n_segments:
            raise ValueError(f"a set needs at least one system and one segment; found shape {self.human.shape}.")
        names_of(self.systems, "systems", n_systems)
        segments = range(1, n_segments + 1) if segments is None else segments
        self.segments: tuple = names_of(segments, "segments", n_segments)
        self._rated = not np.isnan(self.human).all()
        if not self._rated and unrated == "raise":
            raise ValueError("no translation has a human score: the column 'human' is empty throughout.")
        clash = [m for m in metrics if m in RESERVED]
        if clash:
            raise ValueError(f"{listed(clash)} cannot be a metric name: it is a reserved column.")
        names = names_of(map(str, metrics), "metric names")
        pairs = zip(names, metrics.values(), strict=True)
        self._scores = {m: self._matrix(v, f"metric {m!r}", self.human.shape) for m, v in pairs}
        for metric, values in self._scores.items():
            if np.isnan(values).all():
                raise ValueError(f"metric {metric!r} has no score at all: every cell is empty. Remove the column.")
        self.documents = None if documents is None else self._per_segment(documents, "documents")
        self.domains = None if domains is None else self._per_segment(domains, "domains")
        self.texts = None if texts is None else self._checked_texts(texts)
        self.human_systems: frozenset[str] = frozenset(about.get("human_systems", ()))
        official = about.get("system_scores")
        self._system_scores = None if official is None else self._by_system(official)
        self.scores: str = about.get("scores") or ("paired" if official is None else "published")
        check_choice("scores", self.scores, SCORES)
        self.spans: pd.DataFrame | None = about.get("spans")
        self.truth: Mapping[str, Any] | None = about.get("truth")
        self.provenance: dict[str, Any] = dict(about.get("provenance") or {})

    def _matrix(self, values: Any, what: str, shape: tuple[int, int] | None = None) -> np.ndarray:
        """Return ``values`` as a read-only float64 matrix; raise if it is not one."""
        if isinstance(values, pd.DataFrame) and not isinstance(values.index, pd.RangeIndex):
            rows = [str(name) for name in values.index]
            if sorted(rows) != sorted(self.systems):
                wanted = f"must name the systems {listed(self.systems)}; found {listed(rows)}"
                raise ValueError(f"the index of {what} {wanted}.")
            values = values.iloc[[rows.index(name) for name in self.systems]]
        array = floats(values, what)
        if array.ndim != 2 or (shape is not None and array.shape != shape):
            wanted = "(n_systems, n_segments)" if shape is None else f"(n_systems, n_segments) = {shape}"
            raise ValueError(f"{what} must have shape {wanted}; found {array.shape}.")
        check_scores(array, what, computed=self._computed)
        array.flags.writeable = False
        return array

    def _by_system(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return official scores in the order of the systems."""
        names_of(table.columns, "columns of `system_scores`")
        known = names_of(map(str, table.index), "systems of `system_scores`")
        table = table.iloc[positions("system in the index of `system_scores`", self.systems, known)]
        table = table.set_axis(list(self.systems))
        self._matrix(table, "the table of system scores", table.shape)
        return table

    def _checked_texts(self, texts: Texts) -> Texts:
        """Return texts after checking that there is one for each segment."""
        if texts.sources is not None:
            self._per_segment(texts.sources, "sources")
        for kind, own in (("reference", texts.references), ("translations of", texts.translations)):
            for name, values in own.items():
                self._per_segment(values, f"{kind} {name!r}")
        return texts

    def _per_segment(self, values: Sequence[str], what: str) -> tuple:
        values = tuple(values)
        if len(values) != len(self.segments):
            raise ValueError(f"expected one entry of {what} per segment, {len(self.segments)}; found {len(values)}.")
        return values

    # -- reading -------------------------------------------------------------------------

    @property
    def metrics(self) -> tuple[str, ...]:
        """Names of the metrics with segment scores, in column order."""
        return tuple(m for m in self._scores if not is_rating(m))

    @property
    def further_ratings(self) -> tuple[str, ...]:
        """Names of the ratings beside ``human``, such as ``human_2``; ``es[name]`` has their scores."""
        return tuple(m for m in self._scores if is_rating(m))

    @property
    def ratings(self) -> np.ndarray:
        """All human scores, shape ``(n_ratings, n_systems, n_segments)``.

        ``human`` is the first. The others are the columns ``human_2``, ``human_3`` … in their order. They are no
        metrics, and no function ranks them unless they are named.
        """
        return np.stack([self.human, *(self._scores[name] for name in self.further_ratings)])

    @property
    def shape(self) -> tuple[int, int]:
        """``(n_systems, n_segments)``."""
        return self.human.shape

    def __getitem__(self, metric: str) -> np.ndarray:
        """Return the scores of ``metric``, shape ``(n_systems, n_segments)``."""
        try:
            return self._scores[metric]
        except (KeyError, TypeError):
            raise unknown("metric", metric, self.metrics) from None

    def __contains__(self, metric: object) -> bool:
        return metric in self._scores

    @property
    def system_scores(self) -> pd.DataFrame:
        """System-level scores: one row per system; columns ``human`` and every metric.

        How they are computed is ``es.scores``, see `with_system_scores`. Metrics without segment scores appear only
        here. Scores that differ by less than 1e-12 of their size, or of the size of the segment scores behind them,
        are given one value, because rounding alone moves equal means that far apart.
        """
        return self._system_table.copy()

    def system_scores_of(self, metric: str) -> pd.DataFrame:
        """Return the columns ``human`` and ``metric`` of `system_scores`, over the same translations.

        Where the metric lacks scores of rated translations, these do not count for ``human`` either, unless
        ``es.scores`` is ``"published"``.

        Examples
        --------
        >>> from mtmeta import EvalSet
        >>> es = EvalSet([[0, -6], [-1, -7]], {"X": [[.9, None], [.8, .2]]}, systems=["A", "B"])
        >>> es.system_scores_of("X")["human"].tolist(), es.system_scores["human"].tolist()
        ([0.0, -4.0], [-3.0, -4.0])
        """
        if metric not in self._system_table:
            raise unknown("metric", metric, self.metrics)
        if self.scores == "published" or metric not in self or not self._rated:
            return self._system_table[["human", metric]].copy()
        if not (np.isnan(self[metric]) & ~np.isnan(self.human)).any():
            return self._system_table[["human", metric]].copy()
        return self._of_systems({"human": np.where(np.isnan(self[metric]), np.nan, self.human), metric: self[metric]})

    @cached_property
    def _system_table(self) -> pd.DataFrame:
        own, official = {"human": self.human, **self._scores}, {}
        if self._system_scores is not None:
            official = {column: values.to_numpy(dtype=np.float64) for column, values in self._system_scores.items()}
        if self.scores != "published" and self._rated:
            official = {name: values for name, values in official.items() if name not in own}
        return self._of_systems(own, official)

    def _of_systems(self, own: Mapping[str, np.ndarray], official: Mapping[str, np.ndarray] = MappingProxyType({})):
        """Return the table of system scores from scores of segments, unless there are official ones."""
        if self.scores != "published" and self._rated:
            own = {name: np.where(np.isnan(own["human"]), np.nan, values) for name, values in own.items()}
        mean = adjusted_means if self.scores == "adjusted" else means
        columns = {name: official[name] if name in official else mean(values) for name, values in own.items()}
        columns |= official
        sizes = {name: np.nan_to_num(means(np.abs(values))) for name, values in own.items()}
        for name, values in columns.items():
            columns[name] = merged(values, OF_MEAN * np.maximum(np.abs(values), sizes.get(name, 0.0)))
        return pd.DataFrame(columns, index=pd.Index(self.systems, name="system"))

    def __repr__(self) -> str:
        n_systems, n_segments = self.shape
        rated = int((~np.isnan(self.human)).sum())
        text = (
            f"EvalSet {self.name!r}: {counted(n_systems, 'system')} x {counted(n_segments, 'segment')}, "
            f"{counted(len(self.metrics), 'metric')}, {rated} of {self.human.size} translations rated"
        )
        if self._rated and (unrated := self._unrated_systems()):
            text += f"\n  left out of every comparison: {listed(unrated)} ({UNRATED})"
        for what, why in self.provenance.get("left_out", {}).items():
            text += f"\n  left out: {what} ({why})"
        return text

    def _unrated_systems(self) -> list[str]:
        """Return the systems without a human score, of a segment or an official one."""
        unrated = np.isnan(self.human).all(axis=1)
        if unrated.any():
            unrated &= self._system_table["human"].isna().to_numpy()
        return [s for s, none in zip(self.systems, unrated, strict=True) if none]

    # -- selecting -----------------------------------------------------------------------

    def _changed(self, kind: type[EvalSet] | None = None, **changes: Any) -> EvalSet:
        """Return a set, of another kind if wanted, made from the same parts as this one, except for the changes."""
        about = {name: getattr(self, name) for name in _ABOUT if name != "system_scores"} | {
            "system_scores": self._system_scores
        }
        parts = {name: getattr(self, name) for name in ("human", "systems", "segments", "name")}
        parts |= {name: getattr(self, name) for name in ("documents", "domains", "texts")} | {"metrics": self._scores}
        for name, value in changes.items():
            (about if name in about else parts)[name] = value
        return (kind or type(self))(**parts, about=about, unrated="raise" if self._rated else "keep")

    def select(
        self,
        *,
        systems: Iterable[str] | None = None,
        segments: Iterable[Any] | None = None,
        metrics: Iterable[str] | None = None,
    ) -> EvalSet:
        """Return the part of the set with these systems, segments and metrics, in this order.

        Parameters
        ----------
        systems, segments, metrics : iterable, optional
            Names to keep; everything by default.

        Returns
        -------
        EvalSet
            Official system scores are kept only with all segments, since they describe the whole test set. Random draws
            depend on the order given here.

        Raises
        ------
        ValueError
            If a name does not exist, or nothing would be left.
        """
        rows = positions("system", systems, self.systems)
        columns = positions("segment", segments, self.segments)
        kept_systems = tuple(self.systems[i] for i in rows)
        kept_segments = tuple(self.segments[j] for j in columns)
        names = list(dict.fromkeys([*self.further_ratings, *(self.metrics if metrics is None else metrics)]))
        cut = np.ix_(rows, columns)
        whole = len(columns) == len(self.segments)
        official = self._system_scores if whole else None
        if official is not None:
            wanted = [c for c in official if metrics is None or c == "human" or c in names]
            names = [n for n in names if n in self or n not in official]
            official = official.iloc[rows][wanted]
        spans = self.spans
        if spans is not None:
            spans = spans[spans["system"].isin(kept_systems) & spans["segment"].isin(kept_segments)]

        return self._changed(
            human=self.human[cut],
            metrics={m: self[m][cut] for m in names},
            systems=kept_systems,
            segments=kept_segments,
            documents=_taken(self.documents, columns),
            domains=_taken(self.domains, columns),
            texts=None if self.texts is None else self.texts._select(kept_systems, columns),
            human_systems=self.human_systems & set(kept_systems),
            system_scores=official,
            spans=spans,
        )

    def with_texts(self, *columns: str) -> EvalSet:
        """Return the part of the set in which no text is missing.

        Systems without any translation are left out first, then every segment in which a text is missing.

        Parameters
        ----------
        *columns : {"source", "reference", "translation"}
            The texts that must be there; by default all that the set has.

        Returns
        -------
        EvalSet
            ``provenance["left_out"]`` says how many systems and segments were left out, and so does ``repr``.

        Raises
        ------
        ValueError
            If the set has no texts in a column, or nothing would be left.

        Examples
        --------
        >>> from mtmeta.evalset import EvalSet, Texts
        >>> texts = Texts(sources=["eins", None], translations={"A": ["one", "two"]})
        >>> EvalSet([[0, -1], [-2, 0]], {}, systems=["A", "B"], texts=texts).with_texts()
        EvalSet 'unnamed': 1 system x 1 segment, 0 metrics, 1 of 1 translations rated
          left out: 1 of 2 systems (no translation)
          left out: 1 of 2 segments (no source or translation)
        """
        texts = self.texts or Texts()
        of_system = {s: own for s in self.systems if set(own := texts.translations.get(s, ())) - {None}}
        there = {
            "source": [] if texts.sources is None else [texts.sources],
            "reference": list(texts.references.values()),
            "translation": list(of_system.values()),
        }
        columns = columns or tuple(column for column, found in there.items() if found)
        for column in columns:
            check_choice("columns", column, there)
        if not columns or not all(there[column] for column in columns):
            raise Undefined(f"{self.name!r} has no texts in {listed(columns or there)}.")
        whole = [None not in row for row in zip(*(t for c in columns for t in there[c]), strict=True)]
        if not any(whole):
            raise Undefined(f"no segment of {self.name!r} has a text in each of {listed(columns)}.")
        systems = list(of_system) if "translation" in columns else self.systems
        part = self.select(systems=systems, segments=[s for s, ok in zip(self.segments, whole, strict=True) if ok])
        counts = ("system", len(systems), "translation"), ("segment", sum(whole), " or ".join(columns))
        left_out = {
            f"{n - kept} of {counted(n, what)}": f"no {lacking}"
            for n, (what, kept, lacking) in zip(self.shape, counts, strict=True)
            if kept < n
        }
        part.provenance["left_out"] = {**self.provenance.get("left_out", {}), **left_out}
        return part

    def with_metrics(self, metrics: Mapping[str, Any]) -> EvalSet:
        """Return the same translations and human scores with other metrics.

        Parameters
        ----------
        metrics : mapping of str to array_like, shape (n_systems, n_segments)
            They replace the metrics of the set; include ``es[name]`` to keep one. Further ratings stay.

        Returns
        -------
        EvalSet
            It has no official system scores of metrics.

        Raises
        ------
        TypeError, ValueError
            As `EvalSet`.

        Examples
        --------
        >>> from mtmeta import EvalSet
        >>> es = EvalSet([[0, -6], [-1, -7]], {"X": [[.9, .2], [.9, .2]]}, systems=["A", "B"])
        >>> es.with_metrics({"X": es["X"], "constant": [[1, 1], [1, 1]]}).metrics
        ('X', 'constant')
        """
        official = self._system_scores
        return self._changed(
            metrics={name: self[name] for name in self.further_ratings if name not in metrics} | dict(metrics),
            system_scores=official[["human"]] if official is not None and "human" in official else None,
        )

    def with_system_scores(self, how: str) -> EvalSet:
        r"""Return the same set with systems scored in another way.

        Parameters
        ----------
        how : {"paired", "published", "adjusted"}
            What a system's score is.

            - ``"paired"``: the mean over the translations that have a human score, for humans and metrics alike, so
              that both speak about the same translations. The default for sets without official scores.
            - ``"published"``: the official score where the set has one (it need not be a mean: corpus BLEU is not),
              otherwise the mean over all scores: humans over what they rated, a metric over all that it scored. The
              default for sets with official scores, such as those of WMT.
            - ``"adjusted"``: as ``"paired"``, but what a system would get on all segments, by a two-way fit
              :math:`y_{ij} = a_i + b_j` of systems and segments. For systems that were rated on different segments.

        Raises
        ------
        ValueError
            If ``how`` is unknown. Adjusted scores are undefined if systems share no segment.

        See Also
        --------
        system_scores : the scores.

        Examples
        --------
        A metric that agrees with people on what they rated, and not on the rest:

        >>> from mtmeta import EvalSet
        >>> es = EvalSet([[-2, None], [-1, None]], {"M": [[1, 9], [2, 5]]}, systems=["A", "B"])
        >>> es.system_scores["M"].tolist(), es.with_system_scores("published").system_scores["M"].tolist()
        ([1.0, 2.0], [5.0, 3.5])
        """
        return self._changed(scores=how)

    # -- tidy table ----------------------------------------------------------------------

    def to_frame(self) -> pd.DataFrame:
        """Return the tidy table: one row per translation, systems outermost.

        Columns: ``system, segment, human``, one per metric, then those of ``doc, domain, source, reference,
        translation`` that the set has. If there are several references, this is the first.
        """
        n_systems, n_segments = self.shape
        texts = self.texts or Texts()
        of_segments = {"segment": self.segments, "doc": self.documents, "domain": self.domains}
        of_segments |= {"source": texts.sources, "reference": next(iter(texts.references.values()), None)}
        frame: dict[str, Any] = {"system": np.repeat(np.array(self.systems, dtype=object), n_segments)}
        frame |= dict.fromkeys(["segment", "human", *self._scores])  # keeps their places
        frame |= {m: v.ravel() for m, v in {"human": self.human, **self._scores}.items()}
        for column, values in of_segments.items():
            if values is not None:
                frame[column] = np.tile(np.array(values, dtype=object), n_systems)
        if texts.translations:
            empty = (None,) * n_segments
            frame["translation"] = [t for s in self.systems for t in texts.translations.get(s, empty)]
        return pd.DataFrame(frame).infer_objects()

    @classmethod
    def from_frame(
        cls,
        frame: pd.DataFrame,
        *,
        metrics: Sequence[str] | None = None,
        missing: str = "raise",
        unrated: str = "raise",
        name: str = "table",
    ) -> EvalSet:
        """Build a set from a tidy table: one row is one translation.

        Parameters
        ----------
        frame : pandas.DataFrame
            Columns ``system, segment, human`` and one per metric; optionally ``doc, domain,
            source, reference, translation`` and ``lp``; more references as ``reference_B`` and further ratings as
            ``human_2`` and so on. Higher scores are better.
        metrics : sequence of str, optional
            The metric columns. By default all columns that are not reserved; each must then hold numbers.
        missing : {"raise", "nan"}
            What to do when a system lacks a segment that others have: refuse, or leave the
            cell unscored.
        unrated : {"raise", "keep"}
            What to do when the column ``human`` is absent or wholly empty: refuse, or keep the
            set for its texts.
        name : str
            What to call the set.

        Returns
        -------
        EvalSet
            Systems and segments in natural order of their names (``s2`` before ``s10``), so that
            the order of the rows changes no result.

        Raises
        ------
        ValueError
            If a column is missing or holds text, a (system, segment) pair occurs twice, a
            system lacks segments, or the table mixes language pairs.
        """
        check_choice("missing", missing, ("raise", "nan"))
        frame = frame.reset_index(drop=True)
        frame.columns = [str(c) for c in frame.columns]
        if unrated == "keep" and "human" not in frame.columns:
            frame["human"] = np.nan
        _check_columns(frame)
        known = [c for c in frame.columns if c not in RESERVED]
        if metrics:
            positions("metric column", metrics, known)
        elif metrics is None:
            metrics = [c for c in known if not is_reference(c)]
        metrics = [*(c for c in known if is_rating(c) and c not in metrics), *metrics]
        ignored = [c for c in frame.columns if c not in (*RESERVED, *metrics) and not is_reference(c)]
        system, systems = numbered(frame["system"])
        segment, segments = numbered(frame["segment"])
        _check_cells(frame, system, segment, systems, segments, missing)

        def grid(column: str, fill: Any, dtype: Any) -> np.ndarray:
            out = np.full((len(systems), len(segments)), fill, dtype=dtype)
            out[system, segment] = numbers_of(frame[column], column) if dtype is float else _plain(frame[column])
            return out

        def per_segment(column: str) -> tuple | None:
            return None if column not in frame else _one_per_segment(frame, column, segment, segments)

        texts = None
        references = [c for c in frame.columns if c == "reference" or is_reference(c)]
        if {"source", "translation", *references} & set(frame.columns):
            translations = grid("translation", None, object) if "translation" in frame else None
            texts = Texts(
                per_segment("source"),
                {column: per_segment(column) for column in references},
                {} if translations is None else {s: tuple(row) for s, row in zip(systems, translations, strict=True)},
            )
        return cls(
            grid("human", np.nan, float),
            {m: grid(m, np.nan, float) for m in metrics},
            systems=[str(s) for s in systems],
            segments=segments,
            name=name,
            documents=per_segment("doc"),
            domains=per_segment("domain"),
            texts=texts,
            about={
                "language_pair": None if "lp" not in frame else str(frame["lp"].iloc[0]),
                "provenance": {"left_out": {f"column {c!r}": NOT_ASKED for c in ignored}},
            },
            unrated=unrated,
        )


class Computed(EvalSet):
    """A set of scores computed from those of another: differences and means may fall outside the allowed sizes."""

    _computed = True


def recomputed(es: EvalSet, human: np.ndarray, metrics: Mapping[str, np.ndarray], **changes: Any) -> EvalSet:
    """Return computed scores of the translations of a set, without its official system scores."""
    return es._changed(Computed, human=human, metrics=metrics, system_scores=None, **changes)


def _plain(column: pd.Series) -> np.ndarray:
    """Return a text column as objects with ``None`` for a missing text."""
    values = column.astype(object).to_numpy(copy=True)
    if column.name == "reference" or is_reference(str(column.name)):
        odd = next((v for v in values if isinstance(v, list | tuple | np.ndarray) or str(v)[:2] in ("['", '["')), None)
        if odd is not None:
            what = f"column {column.name!r} must hold one text a row; found the list {str(odd)[:40]}"
            raise ValueError(f"{what}. Give each reference a column: reference, reference_B, ....")
    values[pd.isna(column).to_numpy()] = None
    return values


def _check_columns(frame: pd.DataFrame) -> None:
    names_of(frame.columns, "column names")
    absent = [c for c in ("system", "segment", "human") if c not in frame.columns]
    if absent:
        raise ValueError(
            f"the table lacks {counted(len(absent), 'column')}, {listed(absent)}; found {listed(frame.columns, 20)}. "
            "One row is one translation: rename the columns to system, segment, human and one per metric."
        )
    check_table(frame, ["system", "segment"], name="the table")
    if "lp" in frame and frame["lp"].nunique(dropna=False) > 1:
        pairs = listed(pd.unique(frame["lp"]))
        raise ValueError(f"the table holds several language pairs in column 'lp': {pairs}. Use load_all.")


def _check_cells(frame, system, segment, systems, segments, missing) -> None:
    check_once(frame, ["system", "segment"], "the table")
    if missing == "nan" or len(frame) == len(systems) * len(segments):
        return
    counts = np.bincount(system, minlength=len(systems))
    short = int(np.argmin(counts))
    gone = next(s for j, s in enumerate(segments) if j not in set(segment[system == short]))
    raise ValueError(
        f"system {systems[short]!r} has {counts[short]} of {len(segments)} segments; missing is, for example, "
        f"segment {gone!r}. {''.join(f'{pair}. ' for pair in alike(systems))}"
        "Every system needs a row for every segment: add the rows with empty scores, or pass missing='nan'."
    )


def _one_per_segment(frame, column, segment, segments) -> tuple:
    """Return one value of ``column`` per segment; refuse contradictions."""
    values = pd.Series(_plain(frame[column]), dtype=object).groupby(segment)
    torn = values.nunique() > 1
    if torn.any():
        where = f"the rows of segment {segments[torn.argmax()]!r}"
        raise ValueError(f"column {column!r} differs between {where}. Check that the rows are aligned.")
    found = values.first()
    return tuple(found.where(found.notna(), None))


def metric_names(es: EvalSet, metrics: Sequence[str] | str | None) -> list[str]:
    """Return the metrics asked for, by default all; raise if there is none, or one is unknown or named twice."""
    if metrics is None and not es.metrics:
        raise ValueError(f"set {es.name!r} has no metric with segment scores.")
    wanted = [metrics] if isinstance(metrics, str) else metrics
    known = es.metrics if wanted is None else (*es.metrics, *es.further_ratings)
    return [known[i] for i in positions("metric", wanted, known)]


#: Why a system, or a column, is left out.
UNRATED, NOT_ASKED = "nobody rated it", "not among the metrics asked for"


def as_evalset(data: EvalSet | pd.DataFrame, *, unrated: bool = False) -> EvalSet:
    """Return ``data`` as an `EvalSet` with human scores: a tidy table is converted, a set passes through.

    Systems that nobody rated are left out (``provenance["left_out"]`` names them) unless ``unrated`` keeps them.

    See Also
    --------
    EvalSet.from_frame : the same with options.
    mtmeta.load : read a set from a file or by name.

    Examples
    --------
    >>> import mtmeta as mm
    >>> frame = mm.load("teaching").to_frame()
    >>> mm.evalset.as_evalset(frame).shape
    (12, 300)
    """
    if isinstance(data, EvalSet):
        if not data._rated:
            raise ValueError(f"{data.name!r} has no human scores to compare with.")
        return data if unrated else _of_rated_systems(data)
    if isinstance(data, pd.DataFrame):
        return as_evalset(EvalSet.from_frame(data), unrated=unrated)
    raise TypeError(f"expected an EvalSet or a tidy DataFrame; found {type(data).__name__}.")


def _of_rated_systems(es: EvalSet) -> EvalSet:
    """Return the part of a set with the systems that have a human score, of a segment or an official one."""
    unrated = es._unrated_systems()
    if not unrated:
        return es
    rated = np.array([s not in unrated for s in es.systems])
    kept = [m for m in es.metrics if not np.isnan(es[m][rated]).all()]
    systems = [s for s in es.systems if s not in unrated]
    part = es.select(systems=systems, metrics=kept if len(kept) < len(es.metrics) else None)
    left_out = {f"system {s!r}": UNRATED for s in unrated}
    left_out |= {f"metric {m!r}": "it scored no rated system" for m in es.metrics if m not in kept}
    part.provenance["left_out"] = {**es.provenance.get("left_out", {}), **left_out}
    return part


def check_ratings(es: EvalSet) -> None:
    """Raise if the ratings of a set cannot rank any metric."""
    rated = ~np.isnan(es.human)
    systems = int(rated.any(axis=1).sum())
    if systems < 2:
        found = f"{systems} rated system (of {es.shape[0]})"
        raise Undefined(f"set {es.name!r}: metrics cannot be ranked with {found}; expected two rated systems or more.")
    scores = es.human[rated]
    if scores.min() == scores.max():
        raise Undefined(
            f"set {es.name!r}: every human score is {scores[0]:g}, so no metric can agree or disagree with them."
        )


def as_sets(data: EvalSet | pd.DataFrame | Iterable[EvalSet]) -> list[EvalSet]:
    """Return one set or several as a non-empty list."""
    one = isinstance(data, (EvalSet, pd.DataFrame, Rankings))
    sets = [as_evalset(data)] if one else [as_evalset(es) for es in data]
    if not sets:
        raise ValueError("expected at least one set; found an empty list.")
    return sets
