"""The facts of a report as data: settings, numbers, claims, omissions with reasons, and resamples of segments."""

from __future__ import annotations

import base64
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from .._checks import Undefined
from .._enough import interval_of
from ..evalset import EvalSet, recomputed
from ..resampling import bootstrap, units_of

COEFFICIENTS, GROUPINGS = ("pearson", "kendall", "acc_eq"), ("none", "segment", "system")

#: The words of a page that do not depend on the data: heads of sections, claims, and labels.
PAGE = tomllib.loads(Path(__file__).with_name("_page.toml").read_text(encoding="utf-8"))
#: Labels of numbers by key.
LABELS = PAGE["labels"]


def label(key: str) -> str:
    """Return the label of a key. A name after "=" in the key is shown unchanged."""
    kind, _, name = key.partition("=")
    return LABELS[kind] + name


#: With more metrics and sets than this, figures would make the page too large to open.
UP_TO = 12
#: How a note begins that says why a number has no interval.
NO_INTERVAL = "no interval: "


@dataclass(frozen=True)
class Settings:
    """How a report is computed."""

    n_resamples: int
    level: float
    unit: str | None  # None: documents, if there are enough
    seed: int
    claims_only: bool = False

    @property
    def options(self) -> dict[str, float]:
        """Return what is drawn."""
        return {"unit": self.unit, "n_resamples": self.n_resamples, "level": self.level, "rng": self.seed}


@dataclass(frozen=True, kw_only=True)
class Row:
    """A number with its interval, NaN where there is none; the fields are the columns of ``Report.sections``."""

    section: str
    key: str
    subject: str = ""
    quantity: str
    value: float
    low: float = np.nan
    high: float = np.nan
    n: int | None = None
    unit: str = ""
    note: str = ""


@dataclass(frozen=True)
class Omission:
    """Something that these data do not allow; the fields are the columns of ``Report.skipped``."""

    section: str
    key: str
    what: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A claim with its verdict, and the number that decides; the fields are the columns of ``Report.claims``."""

    claim: str
    verdict: str
    statistic: str
    value: float = np.nan
    low: float = np.nan
    high: float = np.nan
    n: int | None = None
    unit: str = ""
    reason: str
    chapter: str


@dataclass
class Section:
    """One section: rows of numbers, sentences on these data, omissions and their reasons, and other findings."""

    key: str
    rows: list[Row] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    skipped: list[Omission] = field(default_factory=list)
    found: dict[str, Any] = field(default_factory=dict)

    def add(self, key, value, interval=(np.nan, np.nan), *, n=None, unit="", note="", subject="") -> None:
        """Add one number with its interval; ``unit`` names in the plural the things that ``n`` counts."""
        value, low, high = map(float, (value, *interval))
        size = {"n": None if n is None else int(n), "unit": unit}
        about = {"section": self.key, "key": key, "subject": subject, "quantity": label(key), "note": note}
        self.rows.append(Row(value=value, low=low, high=high, **size, **about))

    def skip(self, key: str, reason: object) -> None:
        """Add an omission and its reason."""
        self.skipped.append(Omission(self.key, key, label(key), " ".join(str(reason).split())))

    def attempt(self, key: str, compute: Callable[..., None], *args: Any) -> None:
        """Compute something, or add the reason why these data do not allow it."""
        try:
            compute(*args)
        except Undefined as error:
            self.skip(key, error)

    def row(self, key: str, subject: str = "") -> Row | None:
        """Return the row of a key, if it could be computed."""
        found = [row for row in self.rows if (row.key, row.subject) == (key, subject)]
        return found[0] if found and not np.isnan(found[0].value) else None

    def need(self, key: str) -> Row:
        """Return the row of a key; raise `Undefined` where there is none."""
        if row := self.row(key):
            return row
        raise Undefined(self.why(key))

    @property
    def words(self) -> dict[str, Any]:
        """Return the title, chapter, caption and text of this section, which do not depend on the data."""
        return PAGE["sections"][self.key]

    @property
    def sentences(self) -> list[str]:
        """Return the text about the numbers, if there are any."""
        return [*self.words.get("text", ()), *self.text] if self.rows else []

    def why(self, *keys: str) -> str:
        """Return why something is missing: the reason of the first of these keys that was left out."""
        reasons = {row.key: row.reason.rstrip(".") for row in self.skipped}
        return next(filter(None, map(reasons.get, keys)), "it could not be computed")


@dataclass(frozen=True)
class Part:
    """One metric on one set while it is being judged, with the sections computed so far."""

    es: EvalSet
    metric: str
    settings: Settings
    sections: dict[str, Section] = field(default_factory=dict)

    @property
    def scored(self) -> np.ndarray:
        """Return which translations have both scores, shape (n_systems, n_segments)."""
        return ~(np.isnan(self.es.human) | np.isnan(self.es[self.metric]))

    @cached_property
    def paired(self) -> EvalSet:
        """Return the systems and segments that have both scores somewhere, human scores only where the metric has one.

        Raises
        ------
        ValueError
            If nothing has both scores.
        """
        scored = self.scored
        if not scored.any():
            raise Undefined("no translation has both a human score and a score of the metric.")
        systems = [s for s, some in zip(self.es.systems, scored.any(axis=1), strict=True) if some]
        segments = [s for s, some in zip(self.es.segments, scored.any(axis=0), strict=True) if some]
        base = recomputed(self.es, np.where(scored, self.es.human, np.nan), {self.metric: self.es[self.metric]})
        return base.select(systems=systems, segments=segments)


@dataclass(frozen=True)
class Figure:
    """One picture, with a text for those who cannot see it."""

    caption: str
    alt: str
    png: bytes

    @property
    def base64(self) -> str:
        """Return the picture as text."""
        return base64.b64encode(self.png).decode()


@dataclass(frozen=True)
class Findings:
    """The report's findings on one metric and one set; figures by the key of their section, once they are drawn."""

    set: str
    metric: str
    language_pair: str
    sections: dict[str, Section] = field(default_factory=dict)
    claims: list[Claim] = field(default_factory=list)
    figures: dict[str, Figure] = field(default_factory=dict)
    #: The data that figures are drawn from; None in a report that was read.
    part: Part | None = field(default=None, repr=False, compare=False)


def weights_of_segments(es: EvalSet, settings: Settings) -> np.ndarray:
    """Return how often each segment is taken: once each in row 0, then one row per resample.

    Raises
    ------
    ValueError
        If documents are to be drawn and the set does not name them.
    """
    units = units_of(es, settings.unit)
    drawn = bootstrap(int(units.max()) + 1, settings.n_resamples, np.random.default_rng(settings.seed))
    return np.vstack([np.ones(es.shape[1]), drawn[:, units]])


def n_units(es: EvalSet, settings: Settings, known: np.ndarray | None = None) -> int:
    """Count the units that hold one of the ``known`` segments, by default those with a human score."""
    known = ~np.isnan(es.human).all(axis=0) if known is None else known
    return len(np.unique(units_of(es, settings.unit)[known]))


def interval(
    values: np.ndarray, settings: Settings, n: int, bounds: tuple[float, float] = (-1.0, 1.0)
) -> tuple[float, float]:
    """Return the interval of the first value from the others, draws of ``n`` units, as `interval_of` makes it.

    It is NaN where more than a tail of the draws is undefined.
    """
    value, draws = values[0], values[1:]
    if not len(draws) or np.isnan(draws).mean() > (1 - settings.level) / 2:
        return np.nan, np.nan
    return tuple(interval_of(value, draws, settings.level, n, bounds).tolist())
