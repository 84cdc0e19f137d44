"""The facts of a report as data: numbers, omissions with their reasons, claims, and what is drawn again."""

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

#: The words of a page that do not depend on the data: heads of sections, claims, and labels of numbers by key.
PAGE = tomllib.loads(Path(__file__).with_name("_page.toml").read_text(encoding="utf-8"))
NONE = (np.nan, np.nan)
#: Nominal coverage of intervals.
LEVEL = 0.95
#: How a note begins that says why a number has no interval.
NO_INTERVAL = "no interval: "


def label(key: str) -> str:
    """Return the label of a key. A name after "=" in the key is shown unchanged."""
    kind, _, name = key.partition("=")
    return PAGE["labels"][kind] + name


@dataclass(frozen=True, kw_only=True)
class Row:
    """A number with its interval, NaN where there is none; the fields are the columns of ``Report.sections``.

    In ``Report.skipped`` it has no number, and its note is the reason.
    """

    section: str
    key: str
    subject: str = ""
    quantity: str
    value: float = np.nan
    low: float = np.nan
    high: float = np.nan
    n: int | None = None
    unit: str = ""
    note: str = ""


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
    """One section: rows of numbers, sentences on these data, omissions, and what claims and figures need besides."""

    key: str
    rows: list[Row] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    skipped: list[Row] = field(default_factory=list)
    found: dict[str, Any] = field(default_factory=dict)

    def add(self, key, value, interval=NONE, *, n=None, unit="", note="", subject="") -> None:
        """Add one number with its interval; ``unit`` names in the plural the things that ``n`` counts."""
        value, low, high = map(float, (value, *interval))
        about = {"section": self.key, "key": key, "subject": subject, "quantity": label(key), "note": note}
        self.rows.append(Row(value=value, low=low, high=high, n=None if n is None else int(n), unit=unit, **about))

    def skip(self, key: str, reason: object) -> None:
        """Add an omission and its reason."""
        note = " ".join(str(reason).split())
        self.skipped.append(Row(section=self.key, key=key, quantity=label(key), note=note))

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

    def why(self, *keys: str) -> str:
        """Return why something is missing: the reason of the first of these keys that was left out."""
        reasons = {row.key: row.note.rstrip(".") for row in self.skipped}
        return next(filter(None, map(reasons.get, keys)), "it could not be computed")


@dataclass(frozen=True)
class Part:
    """One metric on one set, with the settings of the report, and its sections and claims as far as computed."""

    es: EvalSet
    metric: str
    n_resamples: int
    unit: str
    seed: int
    sections: dict[str, Section] = field(default_factory=dict)
    claims: list[Claim] = field(default_factory=list)

    @property
    def options(self) -> dict[str, Any]:
        """Return what is drawn."""
        return {"unit": self.unit, "n_resamples": self.n_resamples, "rng": self.seed}

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

    def weights(self, es: EvalSet) -> np.ndarray:
        """Return how often each segment of a set is taken: once each in row 0, then one row per resample."""
        units = units_of(es, self.unit)
        drawn = bootstrap(int(units.max()) + 1, self.n_resamples, np.random.default_rng(self.seed))
        return np.vstack([np.ones(es.shape[1]), drawn[:, units]])

    def n_units(self, known: np.ndarray | None = None) -> int:
        """Count the units that hold one of the ``known`` segments of `paired`, by default those with a human score."""
        known = ~np.isnan(self.paired.human).all(axis=0) if known is None else known
        return len(np.unique(units_of(self.paired, self.unit)[known]))

    def interval(self, values: np.ndarray, n: int, bounds: tuple[float, float]) -> tuple[float, float]:
        """Return the interval of the first value from the others, draws of ``n`` units, as `interval_of` makes it.

        It is NaN where more than a tail of the draws is undefined.
        """
        value, draws = values[0], values[1:]
        if np.isnan(draws).mean() > (1 - LEVEL) / 2:
            return NONE
        return tuple(interval_of(value, draws, LEVEL, n, bounds).tolist())
