"""The report: sections in order, put together, and written as HTML, Markdown or JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from .. import __version__
from .._checks import check_count, check_level, generator
from ..evalset import EvalSet, as_sets, check_choice, unknown
from ._agreement import data, segments, systems
from ._checks import domains, length, system_rows, ties
from ._claims import CLAIM_COLUMNS, VERDICTS, claims_of
from ._common import ROW_COLUMNS, Part, Section, Settings
from ._others import baselines, rank

SCHEMA = 1
#: Sections in order, by key; ``rank`` is computed once a set.
_MAKERS: dict[str, Callable[[Part], Section] | None] = {
    "data": data,
    "systems": systems,
    "segments": segments,
    "rank": None,
    "baselines": baselines,
    "ties": ties,
    "system_dependence": system_rows,
    "length": length,
    "domains": domains,
}
SECTIONS = tuple(_MAKERS)
_NEVER_CLAIMED = ("data", "domains")


@dataclass(frozen=True)
class Report:
    """The result of `report`.

    Attributes
    ----------
    sections : pandas.DataFrame
        Every number: ``set, metric, section, subject, quantity, value, low, high, n, unit, note``. ``subject`` is a
        metric, baseline or system other than the metric itself, or empty; ``n`` counts what ``unit`` says.
    claims : pandas.DataFrame
        One row a claim: ``set, metric, claim, verdict, statistic, value, low, high, n, unit, reason, chapter``;
        ``verdict`` is ``"supported"``, ``"not supported"`` or ``"cannot be told"``.
    skipped : pandas.DataFrame
        What could not be computed, and why: ``set, metric, section, what, reason``.
    seed : int
    signature : str
        How it was computed, in one line.
    """

    sections: pd.DataFrame = field(repr=False)
    claims: pd.DataFrame = field(repr=False)
    skipped: pd.DataFrame = field(repr=False)
    seed: int
    signature: str
    _parts: tuple[Part, ...] = field(repr=False, compare=False)

    def to_frame(self) -> pd.DataFrame:
        """Return a copy of the claims."""
        return self.claims.copy()

    @property
    def summary(self) -> pd.DataFrame:
        """Return how many sets and metrics each claim is supported for: ``claim`` and one column a verdict."""
        counts = pd.crosstab(self.claims["claim"], self.claims["verdict"])
        counts = counts.reindex(index=self.claims["claim"].drop_duplicates(), columns=list(VERDICTS), fill_value=0)
        return counts.rename_axis(columns=None).reset_index()

    def to_html(self) -> str:
        """Return one page of HTML that needs no network: style and figures are inside, names are escaped."""
        from ._html import page

        return page(self)

    def to_markdown(self) -> str:
        """Return the report as Markdown, without figures."""
        from ._markdown import text

        return text(self)

    def to_json(self) -> str:
        """Return the report as JSON with full precision; null is what is missing.

        The keys are ``schema, mtmeta, signature, seed, sets, claims, sections, skipped``; the last three are lists of
        the rows of the tables of that name.
        """
        content = {
            "schema": SCHEMA,
            "mtmeta": __version__,
            "signature": self.signature,
            "seed": self.seed,
            "sets": [{"set": part.es.name, "metric": part.metric} for part in self._parts],
            "claims": _records(self.claims),
            "sections": _records(self.sections),
            "skipped": _records(self.skipped),
        }
        return json.dumps(content, ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def _records(frame: pd.DataFrame) -> list[dict]:
    return frame.astype(object).where(frame.notna(), None).to_dict("records")


def report(
    es: EvalSet | pd.DataFrame | Sequence[EvalSet],
    metric: str | Sequence[str] | None = None,
    *,
    n_resamples: int = 200,
    n_null: int = 200,
    level: float = 0.95,
    resample: str = "segments",
    rng: int | np.random.Generator | None = 0,
    progress: Callable[[str], None] | None = None,
) -> Report:
    """Answer "is my metric any good?" with numbers, intervals, null models, and what they do and do not show.

    Parameters
    ----------
    es : EvalSet, pandas.DataFrame or sequence of EvalSet
        One set, or several such as language pairs.
    metric : str or sequence of str, optional
        The metric to report on, or several; all of the table by default. All others are what it is compared with.
    n_resamples : int
        Bootstrap draws of each interval, at least 40.
    n_null : int
        Draws of the null model of system dependence; at least ``2 / (1 - level) - 1``.
    level : float
        Nominal coverage of intervals, in (0, 1).
    resample : {"segments", "documents"}
        What the bootstrap of agreement draws; documents bring all their segments. System dependence draws segments.
    rng : int, numpy.random.Generator or None
        Seed of all draws. The same seed gives the same report.
    progress : callable, optional
        Called with a line of text before each metric.

    Returns
    -------
    Report
        What these data do not allow is left out, with the reason in ``skipped``.

    Raises
    ------
    TypeError
        If the data are no set or table.
    ValueError
        If a metric or option is unknown, or there is no metric.

    Notes
    -----
    A claim of the form "more than chance" is *supported* where the interval of its statistic lies above chance; *not
    supported* where the value does not exceed chance, or the interval holds chance and nothing more than .1 above it
    (.05 for acc_eq); else it *cannot be told*. Claims are not corrected for their number.

    References
    ----------
    Deutsch, Dror and Roth 2021 (intervals, PERM-BOTH); Perrella et al. 2024 (sentinels, ties); von Däniken, Deriu and
    Cieliebak 2025 (system dependence); Thompson et al. 2024 (soft pairwise accuracy).

    Examples
    --------
    >>> import mtmeta as mm
    >>> es = mm.simulate.score_campaign(6, 60, n_continuous=1, n_discrete=0)
    >>> found = mm.report.report(es, "C01", n_resamples=50, n_null=39)
    >>> found.claims.loc[1:2, ["claim", "verdict"]].to_numpy().tolist()[1]
    ['It tells better from worse translations of one segment.', 'supported']
    """
    sets = as_sets(es)
    settings = _settings(n_resamples, n_null, level, resample, rng)
    parts = _parts(sets, metric, settings, progress)
    names = ",".join(dict.fromkeys(part.metric for part in parts))
    signature = f"report|metric:{names}|set:{','.join(s.name for s in sets)}|{settings.signature}|mtmeta:{__version__}"
    sections = [_labelled(part, s.to_frame().assign(section=s.key)) for part in parts for s in part.sections.values()]
    sections = pd.concat([s for s in sections if len(s)], ignore_index=True)
    return Report(
        sections=sections[["set", "metric", "section", *ROW_COLUMNS]],
        claims=_claim_table(parts),
        skipped=pd.DataFrame(
            [
                (p.es.name, p.metric, section.key, what, why)
                for p in parts
                for section in p.sections.values()
                for what, why in section.skipped
            ],
            columns=["set", "metric", "section", "what", "reason"],
        ),
        seed=settings.seed,
        signature=signature,
        _parts=tuple(parts),
    )


def claims(
    es: EvalSet | pd.DataFrame | Sequence[EvalSet],
    metric: str | Sequence[str] | None = None,
    *,
    n_resamples: int = 200,
    n_null: int = 200,
    level: float = 0.95,
    resample: str = "segments",
    rng: int | np.random.Generator | None = 0,
) -> pd.DataFrame:
    """Return what to claim and what not to, and compute nothing else: several times as fast as `report`.

    Parameters
    ----------
    es, metric, n_resamples, n_null, level, resample, rng
        As in `report`.

    Returns
    -------
    pandas.DataFrame
        The table ``claims`` of the `Report` with the same options.

    Raises
    ------
    TypeError, ValueError
        As `report`.

    Examples
    --------
    >>> import mtmeta as mm
    >>> es = mm.simulate.score_campaign(6, 60, n_continuous=2, n_discrete=0)
    >>> found = mm.report.claims(es, "C01", n_resamples=50, n_null=39)
    >>> found["verdict"].value_counts().sort_index().to_dict()
    {'cannot be told': 5, 'supported': 4}
    """
    settings = replace(_settings(n_resamples, n_null, level, resample, rng), claims_only=True)
    return _claim_table(_parts(as_sets(es), metric, settings))


def _parts(
    sets: Sequence[EvalSet],
    metric: str | Sequence[str] | None,
    settings: Settings,
    progress: Callable[[str], None] | None = None,
) -> list[Part]:
    """Compute the sections and claims of each metric on each set."""
    plan = [(one, name) for one in sets for name in _metrics(one, metric)]
    ranks = {}
    parts = []
    for one, name in plan:
        if progress is not None:
            progress(f"{one.name}: {name}")
        if id(one) not in ranks:
            ranks[id(one)] = rank(one, settings)
        parts.append(_part(one, name, settings, ranks[id(one)]))
    return parts


def _part(es: EvalSet, metric: str, settings: Settings, ranks: Section) -> Part:
    part = Part(es, metric, settings)
    for key, make in _MAKERS.items():
        if settings.claims_only and key in _NEVER_CLAIMED:
            continue
        part.sections[key] = ranks if make is None else make(part)
    part.claims.extend(claims_of(part))
    return part


def _claim_table(parts: Sequence[Part]) -> pd.DataFrame:
    tables = [pd.DataFrame(p.claims, columns=list(CLAIM_COLUMNS)).astype({"n": "Int64"}) for p in parts]
    return pd.concat([_labelled(p, table) for p, table in zip(parts, tables, strict=True)], ignore_index=True)


def _labelled(part: Part, frame: pd.DataFrame) -> pd.DataFrame:
    frame.insert(0, "set", part.es.name)
    frame.insert(1, "metric", part.metric)
    return frame


def _metrics(es: EvalSet, metric: str | Sequence[str] | None) -> list[str]:
    """Return the metrics to report on."""
    wanted = list(es.metrics) if metric is None else [metric] if isinstance(metric, str) else list(metric)
    if not wanted:
        raise ValueError(f"set {es.name!r} has no metric with segment scores: there is nothing to report on.")
    for name in wanted:
        if name in es:
            continue
        if name in es.system_scores.columns.drop("human"):
            raise ValueError(
                f"metric {name!r} in set {es.name!r} has system scores only; a report needs a score for each "
                "translation. mtmeta.pairwise_accuracy compares system scores."
            )
        raise unknown("metric", name, es.metrics)
    return list(dict.fromkeys(wanted))


def _settings(n_resamples, n_null, level, resample, rng) -> Settings:
    """Check the options."""
    check_choice("resample", resample, ("segments", "documents"))
    check_level(level)
    fewest = int(np.ceil(2 / (1 - level) - 1e-9)) - 1
    n_resamples, n_null = check_count("n_resamples", n_resamples, 40), check_count("n_null", n_null, fewest)
    whole = isinstance(rng, (int, np.integer))
    seed = check_count("rng", rng, 0) if whole else int(generator(rng).integers(2**31))
    return Settings(n_resamples, n_null, float(level), resample, seed)
