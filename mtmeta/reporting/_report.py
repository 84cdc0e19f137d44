"""The report: sections assembled in order, and written as HTML, Markdown or JSON."""

import json
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass, field, fields
from functools import cached_property

import numpy as np
import pandas as pd

from .. import __version__
from .._checks import check_choice, check_count
from .._names import names_of
from ..agreement.units import exchange_units
from ..evalset import EvalSet, as_sets, metric_names
from ..resampling import base_seed
from ._claims import claims_of
from ._facts import LEVEL, Claim, Part, Row, Section
from ._pages import as_html, as_markdown
from ._sections import SECTIONS

#: With more metrics and sets than this, figures would make the page too large to open.
_MOST_DRAWN = 12


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
        ``verdict`` is ``"supported"``, ``"real, size open"``, ``"real but small"``, ``"not supported"`` or
        ``"cannot be told"``.
    skipped : pandas.DataFrame
        The omissions, in the columns of ``sections``; ``note`` is the reason.
    seed : int
    signature : str
        How it was computed, in one line.
    version : str
        The version of mtmeta that computed it.
    """

    parts: tuple[Part, ...] = field(repr=False)
    seed: int
    signature: str
    version: str = __version__

    @cached_property
    def sections(self) -> pd.DataFrame:
        return self._frame(Row, lambda part: [row for section in part.sections.values() for row in section.rows])

    @cached_property
    def claims(self) -> pd.DataFrame:
        return self._frame(Claim, lambda part: part.claims)

    @cached_property
    def skipped(self) -> pd.DataFrame:
        return self._frame(Row, lambda part: [row for section in part.sections.values() for row in section.skipped])

    def _frame(self, kind: type, facts_of: Callable[[Part], list]) -> pd.DataFrame:
        """Return the facts of one kind as a table, a column a field."""
        rows = [(part.es.name, part.metric, *astuple(fact)) for part in self.parts for fact in facts_of(part)]
        return pd.DataFrame(rows, columns=["set", "metric", *(f.name for f in fields(kind))]).astype({"n": "Int64"})

    def to_frame(self) -> pd.DataFrame:
        """Return a copy of the claims."""
        return self.claims.copy()

    def to_html(self) -> str:
        """Return one page of HTML that needs no network: style and figures are inside, names are escaped."""
        from ._figures import figures  # and Matplotlib, which tables need not wait for

        drawn = [figures(part) for part in self.parts] if len(self.parts) <= _MOST_DRAWN else []
        return as_html(figures=drawn, **vars(self))

    def to_markdown(self) -> str:
        """Return the report as Markdown, without figures."""
        return as_markdown(**vars(self))

    def to_json(self) -> str:
        """Return all tables as JSON with full precision; null is a missing value.

        The keys are ``mtmeta, signature, seed, level, claims, sections, skipped``; the last three are lists of the rows
        of the tables of that name.
        """
        content = {"mtmeta": self.version, "signature": self.signature, "seed": self.seed, "level": LEVEL}
        for key in ("claims", "sections", "skipped"):
            frame = getattr(self, key)
            content[key] = frame.astype(object).where(frame.notna(), None).to_dict("records")
        return json.dumps(content, ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def report(
    es: EvalSet | pd.DataFrame | Sequence[EvalSet],
    metric: str | Sequence[str] | None = None,
    *,
    n_resamples: int = 200,
    unit: str | None = None,
    rng: int | np.random.Generator | None = 0,
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
        Draws of each interval and of the null model of system dependence, at least 40.
    unit : {None, "segment", "document"}
        What the bootstrap draws, what is exchanged between metrics, and what the null of system dependence moves;
        documents bring all their segments. By default documents if a set names at least 20 with human scores, otherwise
        segments.
    rng : int, numpy.random.Generator or None
        Seed of all draws. The same seed gives the same report.
    progress : callable, optional
        Called with a line of text before each metric.

    Returns
    -------
    Report
        It omits what these data do not allow, and gives the reason in ``skipped``.

    Raises
    ------
    TypeError
        If the data are not a set or a table.
    ValueError
        If a metric or option is unknown, or there is no metric.

    See Also
    --------
    mtmeta.correlate : one statistic of many.
    mtmeta.guide : the same for local accuracy.

    Notes
    -----
    A claim of the form "more than chance" is *supported* if all of the interval of its statistic lies at least .1 above
    chance (.05 for acc_eq). If the interval lies above chance and holds such values, the excess is *real, size open*,
    and if it holds none, *real but small*. A claim is *not supported* if the interval does not lie above chance and
    ends below the same margin. Otherwise it *cannot be told*.
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
    >>> es = mm.simulate.campaign(n_systems=6, n_segments=60, texts=False).select(metrics=["Judge"])
    >>> found = mm.report(es, n_resamples=50)
    >>> found.claims.loc[1:2, ["claim", "verdict"]].to_numpy().tolist()[1]
    ['It tells better from worse translations of one segment.', 'supported']
    """
    check_choice("unit", unit, (None, "segment", "document"))
    seed, n_resamples = base_seed(rng), check_count("n_resamples", n_resamples, 40)
    sets, parts = as_sets(es), []
    names = names_of((one.name for one in sets), "names of sets")
    for one in sets:
        drawn, ranking = unit or exchange_units(one).unit, None
        for name in metric_names(one, metric):
            if progress is not None:
                progress(f"{one.name}: {name}")
            parts.append(part := Part(one, name, n_resamples, drawn, seed))
            for key, compute in SECTIONS.items():
                part.sections[key] = section = ranking if key == "rank" and ranking else Section(key)
                if section is not ranking:
                    section.attempt(key, compute, part, section)
            ranking = part.sections["rank"]  # all metrics of a set are ranked at once
            part.claims.extend(claims_of(part))
    metrics, units = (",".join(dict.fromkeys(getattr(part, what) for part in parts)) for what in ("metric", "unit"))
    drawn = f"draws:{n_resamples}|unit:{units}|level:{LEVEL:g}|seed:{seed}"
    signature = f"report|metric:{metrics}|set:{','.join(names)}|{drawn}|mtmeta:{__version__}"
    return Report(tuple(parts), seed, signature)
