"""The report: sections assembled in order, and written as HTML, Markdown or JSON."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, astuple, dataclass, field, fields, replace
from functools import cached_property

import numpy as np
import pandas as pd

from .. import __version__
from .._checks import MAX_SEED, check_choice, check_count, check_level
from .._names import names_of
from ..agreement.units import exchange_units
from ..evalset import EvalSet, as_sets, metric_names
from ..resampling import base_seed
from . import _agreement, _behaviour, _others
from ._claims import claims_of
from ._facts import UP_TO, Claim, Figure, Findings, Omission, Part, Row, Section, Settings
from ._pages import as_html, as_markdown

SCHEMA = 2
#: The steps that fill each section, in order.
_STEPS = {
    "data": {"data": _agreement.data},
    "systems": _agreement.SYSTEMS,
    "segments": _agreement.SEGMENTS,
    "rank": {"ranks": _others.rank},
    "baselines": {"baselines": _others.baselines},
    "ties": _behaviour.TIES,
    "system_dependence": {"system_dependence": _behaviour.system_rows},
    "length": {"length": _behaviour.length},
    "domains": {"domains": _behaviour.domains},
}
SECTIONS = tuple(_STEPS)
#: The steps on which claims rest.
_CLAIMED = {"means", "kendall.segment", "acc_eq.segment", "ranks", "baselines", "calibration", "held_out", "chance"}
_CLAIMED |= {"system_dependence", "length"}


@dataclass(frozen=True)
class Report:
    """The result of `report`.

    Attributes
    ----------
    sections : pandas.DataFrame
        Every number: ``set, metric, section, key, subject, quantity, value, low, high, n, unit, note``. Programs use
        ``key``, readers ``quantity``. ``subject`` is a metric, baseline or system other than the metric itself, or
        empty; ``n`` counts what ``unit`` says.
    claims : pandas.DataFrame
        One row a claim: ``set, metric, claim, verdict, statistic, value, low, high, n, unit, reason, chapter``;
        ``verdict`` is ``"supported"``, ``"real but small"``, ``"not supported"`` or ``"cannot be told"``.
    skipped : pandas.DataFrame
        The omissions and their reasons: ``set, metric, section, key, what, reason``.
    level : float
        Nominal coverage of intervals.
    seed : int
    signature : str
        How it was computed, in one line.
    version : str
        The version of mtmeta that computed it.
    """

    findings: tuple[Findings, ...] = field(repr=False)
    level: float
    seed: int
    signature: str
    version: str

    @cached_property
    def sections(self) -> pd.DataFrame:
        return _frame(Row, self.findings, lambda found: [row for s in found.sections.values() for row in s.rows])

    @cached_property
    def claims(self) -> pd.DataFrame:
        return _frame(Claim, self.findings, lambda found: found.claims)

    @cached_property
    def skipped(self) -> pd.DataFrame:
        return _frame(Omission, self.findings, lambda found: [o for s in found.sections.values() for o in s.skipped])

    def to_frame(self) -> pd.DataFrame:
        """Return a copy of the claims."""
        return self.claims.copy()

    def to_html(self) -> str:
        """Return one page of HTML that needs no network: style and figures are inside, names are escaped."""
        self._draw()
        return as_html(**vars(self))

    def to_markdown(self) -> str:
        """Return the report as Markdown, without figures."""
        return as_markdown(**vars(self))

    def _draw(self) -> None:
        """Draw the figures, unless they are drawn or too many."""
        for found in self.findings if len(self.findings) <= UP_TO else ():
            if found.part is not None and not found.figures:
                from ._figures import figures  # and Matplotlib, which tables need not wait for

                found.figures.update(figures(found.part))

    def to_json(self) -> str:
        """Return the report as JSON with full precision, for `from_json` or other programs; null is a missing value.

        The keys are ``schema, mtmeta, signature, seed, level, sets, claims, sections, skipped``; the last three are
        lists of the rows of the tables of that name. ``sets`` has the figures, as PNG in base64.
        """
        self._draw()
        content = {"schema": SCHEMA, "mtmeta": self.version, "signature": self.signature}
        content |= {"seed": self.seed, "level": self.level, "sets": []}
        for found in self.findings:
            text = {key: section.text for key, section in found.sections.items() if section.text}
            figures = {key: asdict(f) | {"png": f.base64} for key, f in found.figures.items()}
            name = {"set": found.set, "metric": found.metric, "language_pair": found.language_pair}
            content["sets"].append(name | {"text": text, "figures": figures})
        for key in ("claims", "sections", "skipped"):
            frame = getattr(self, key)
            content[key] = frame.astype(object).where(frame.notna(), None).to_dict("records")
        return json.dumps(content, ensure_ascii=False, allow_nan=False, indent=2) + "\n"

    @classmethod
    def from_json(cls, content: str) -> Report:
        """Return a report that `to_json` wrote: its tables, and its pages with the figures that were drawn.

        Parameters
        ----------
        content : str
            The JSON, not the name of a file.

        Returns
        -------
        Report

        Raises
        ------
        ValueError
            If this is no report of this version's schema.
        """
        try:
            return _read(json.loads(content, object_hook=_with_nan))
        except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
            raise ValueError(
                f"this is no report that `to_json` of mtmeta {__version__} wrote ({type(error).__name__}: {error}). "
                "Pass the text of the file, and make the report again where another version wrote it."
            ) from error


def _read(content: dict) -> Report:
    """Return the report in parsed JSON; raise any error if it is none."""
    if content["schema"] != SCHEMA:
        raise ValueError(f"its schema is {content['schema']!r}, not {SCHEMA}")
    findings = {}
    for one in content["sets"]:
        found = Findings(one["set"], one["metric"], one["language_pair"])
        found.sections.update({key: Section(key, text=one["text"].get(key, [])) for key in SECTIONS})
        for key, figure in one["figures"].items():
            found.figures[key] = Figure(**figure | {"png": base64.b64decode(figure["png"], validate=True)})
        findings[found.set, found.metric] = found
    for row in content["claims"]:
        _described(findings, row).claims.append(Claim(**row))
    for row in content["sections"]:
        _described(findings, row).sections[row["section"]].rows.append(Row(**row))
    for row in content["skipped"]:
        _described(findings, row).sections[row["section"]].skipped.append(Omission(**row))
    for found in findings.values():  # a report of claims alone has fewer sections
        for key in [key for key, section in found.sections.items() if section == Section(key)]:
            del found.sections[key]
    level, seed = check_level(content["level"]), check_count("seed", content["seed"], 0, MAX_SEED)
    return Report(tuple(findings.values()), level, seed, content["signature"], content["mtmeta"])


def _described(findings: dict[tuple, Findings], row: dict) -> Findings:
    """Take set and metric out of a row, and return their findings."""
    return findings[row.pop("set"), row.pop("metric")]


def _with_nan(found: dict) -> dict:
    """Return an object of JSON with the numbers that are missing as NaN; a count stays None."""
    return {key: np.nan if value is None and key != "n" else value for key, value in found.items()}


def _frame(kind: type, findings: Sequence[Findings], facts_of: Callable[[Findings], list]) -> pd.DataFrame:
    """Return the facts of one kind as a table, a column a field."""
    rows = [(found.set, found.metric, *astuple(fact)) for found in findings for fact in facts_of(found)]
    frame = pd.DataFrame(rows, columns=["set", "metric", *(f.name for f in fields(kind))])
    return frame.astype({"n": "Int64"}) if "n" in frame else frame


def report(
    es: EvalSet | pd.DataFrame | Sequence[EvalSet],
    metric: str | Sequence[str] | None = None,
    *,
    n_resamples: int = 200,
    level: float = 0.95,
    unit: str | None = None,
    rng: int | np.random.Generator | None = 0,
    claims_only: bool = False,
    progress: Callable[[str], None] | None = None,
) -> Report:
    """Answer "is my metric any good?" with numbers, intervals, null models, and claims that they do or do not support.

    Parameters
    ----------
    es : EvalSet, pandas.DataFrame or sequence of EvalSet
        One set, or several such as language pairs.
    metric : str or sequence of str, optional
        The metric to report on, or several; all of the table by default. It is compared with all others.
    n_resamples : int
        Draws of each interval and of the null model of system dependence, at least 40 and ``2 / (1 - level) - 1``.
    level : float
        Nominal coverage of intervals, in (0, 1).
    unit : {None, "segment", "document"}
        What the bootstrap draws, what is exchanged between metrics, and what the null of system dependence moves;
        documents bring all their segments. By default documents if a set names at least 20 with human scores, otherwise
        segments.
    rng : int, numpy.random.Generator or None
        Seed of all draws. The same seed gives the same report.
    claims_only : bool
        Compute only what the claims rest on, which is several times as fast; tables and pages are shorter.
    progress : callable, optional
        Called with a line of text before each metric.

    Returns
    -------
    Report
        It omits what these data do not allow, and gives the reason in ``skipped``.

    Raises
    ------
    TypeError
        If the data are no set or table.
    ValueError
        If a metric or option is unknown, or there is no metric.

    See Also
    --------
    mtmeta.correlate : one statistic of many.
    mtmeta.guide : the same for local accuracy.

    Notes
    -----
    A claim of the form "more than chance" is *supported* if the interval of its statistic lies above chance, or *real
    but small* if the interval also ends less than .1 above chance (.05 for acc_eq). It is *not supported* if the value
    does not exceed chance, or the interval holds chance and ends within the same margin. Otherwise it *cannot be told*.
    An interval needs at least 6 segments or documents, and one over other systems at least 8 systems. Below that every
    claim that rests on one *cannot be told*: from one segment a coin would be right in half of all sets, and from
    three in .11 to .15 of them. Intervals of 6 to 19 units are at least as long as Student's.

    A metric is better than every other if it ranks first and differs from each rival with a two-sided p of at most .05
    (whole units exchanged, see `mtmeta.compare`). Claims are not corrected for their number.

    References
    ----------
    Deutsch, Dror and Roth 2021 (intervals); Mogstad, Romano, Shaikh and Wilhelm 2024 (ranks that the data allow);
    Perrella et al. 2024 (sentinels, ties); von Däniken, Deriu and Cieliebak 2025 (system dependence); Thompson et al.
    2024 (soft pairwise accuracy).

    Examples
    --------
    >>> import mtmeta as mm
    >>> es = mm.simulate.score_campaign(6, 60, n_continuous=1, n_discrete=0)
    >>> found = mm.report(es, "C01", n_resamples=50)
    >>> found.claims.loc[1:2, ["claim", "verdict"]].to_numpy().tolist()[1]
    ['It tells better from worse translations of one segment.', 'supported']
    """
    check_choice("unit", unit, (None, "segment", "document"))
    level = float(check_level(level))
    n_resamples = check_count("n_resamples", n_resamples, max(40, math.ceil(2 / (1 - level) - 1e-9) - 1))
    settings = Settings(n_resamples, level, unit, base_seed(rng), claims_only)
    sets = as_sets(es)
    names = names_of((one.name for one in sets), "names of sets")
    findings: list[Findings] = []
    for one, name in [(es, name) for es in sets for name in metric_names(es, metric)]:
        if progress is not None:
            progress(f"{one.name}: {name}")
        before = findings[-1].part if findings and findings[-1].set == one.name else None
        findings.append(_found(Part(one, name, replace(settings, unit=unit or exchange_units(one).unit)), before))
    metrics = ",".join(dict.fromkeys(found.metric for found in findings))
    units = ",".join(dict.fromkeys(found.part.settings.unit for found in findings))
    drawn = f"draws:{n_resamples}|unit:{units}|level:{level:g}|seed:{settings.seed}"
    signature = f"report|metric:{metrics}|set:{','.join(names)}|{drawn}|mtmeta:{__version__}"
    return Report(tuple(findings), level, settings.seed, signature, __version__)


def _found(part: Part, before: Part | None) -> Findings:
    """Compute the sections and claims of one metric on one set; ``before`` is another metric on the same set."""
    for key, steps in _STEPS.items():
        chosen = {name: step for name, step in steps.items() if not part.settings.claims_only or name in _CLAIMED}
        if key == "rank" and before is not None:  # all metrics of a set are ranked at once
            part.sections[key] = before.sections[key]
        elif chosen:
            part.sections[key] = section = Section(key)
            for name, step in chosen.items():
                section.attempt(name, step, part, section)
    return Findings(part.es.name, part.metric, part.es.language_pair or "", part.sections, claims_of(part), part=part)
