"""The claims of a report, supported or not: each with its number, the rule that decided, and a chapter to read."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from .._checks import Undefined
from .._enough import FEWEST_SYSTEMS, too_few
from ._facts import CLAIM_COLUMNS, NO_INTERVAL, PAGE, Part, Section, label, n_units
from ._others import CLAIMED_RANK, beyond_sources

VERDICTS = ("supported", "real but small", "not supported", "cannot be told")

#: Verdicts that say that an effect is there.
_SHOWN = VERDICTS[:2]
#: What is too small to matter: of correlations, of accuracies, and of SysDep as a share of the range of systems.
MARGIN_CORRELATION, MARGIN_ACCURACY, MARGIN_SYSDEP = 0.1, 0.1, 0.1
#: What a claim says of its statistic where it has no row.
_NO_ROW = {"value": np.nan, "low": np.nan, "high": np.nan, "n": None, "unit": "", "beside": ""}
#: Sums of fractions may miss a threshold that they equal by less than this.
_ROUNDING = 1e-9


def decide(value: float, low: float, high: float, threshold: float, margin: float) -> tuple[str, str]:
    """Sort a claim "above the threshold" by its interval.

    A claim is supported if the interval lies above the threshold, or real but small if the interval also ends below
    threshold + margin. It is not supported if the value does not exceed the threshold, or the interval holds the
    threshold and ends below threshold + margin, which rules out any excess of note. Otherwise it cannot be told.

    Parameters
    ----------
    value, low, high : float
        The statistic and its interval; NaN where there is none.
    threshold : float
        The value of a metric without merit.
    margin : float
        The smallest excess that matters.

    Returns
    -------
    verdict, reason : str
    """
    if np.isnan(value):
        return "cannot be told", "it could not be computed"
    if np.isnan(low) or np.isnan(high):
        return "cannot be told", "there is no interval"
    if low > threshold + _ROUNDING and high < threshold + margin:
        return "real but small", f"the interval lies above {threshold:.3g} and below {threshold + margin:.3g}"
    if low > threshold + _ROUNDING:
        return "supported", f"the interval lies above {threshold:.3g}"
    if value <= threshold + _ROUNDING:
        return "not supported", f"the value is not above {threshold:.3g}"
    if high < threshold + margin:
        return "not supported", f"the interval holds {threshold:.3g} and rules out {threshold + margin:.3g}"
    return "cannot be told", f"the interval holds both {threshold:.3g} and values large enough to matter"


def claims_of(part: Part) -> list[dict]:
    """Return the claims of one metric on one set."""
    found = []
    for about, judge in zip(PAGE["claims"].values(), _JUDGES, strict=True):
        section, statistic = part.sections[about["section"]], label(about["key"]) if about["key"] else ""
        row = section.row(about["key"])
        if row is None and "why" in about:
            verdict, reason = "cannot be told", section.why(*about["why"])
        else:
            verdict, reason, row = judge(part, section, row)
        row = _NO_ROW | (row or {})
        row |= about | {"verdict": verdict, "statistic": statistic + row["beside"], "reason": reason}
        found.append({column: row[column] for column in CLAIM_COLUMNS})
    return found


def by_verdict(claims: Sequence[dict]) -> list[dict]:
    """Return the claims, the supported ones first and those that cannot be told last."""
    return sorted(claims, key=lambda claim: VERDICTS.index(claim["verdict"]))


#: A verdict, the reason, and the row of the statistic if there is one.
_Judgement = tuple[str, str, dict | None]


def _these(part: Part, section: Section, row: dict) -> _Judgement:
    if row["value"] <= 0.5:
        return "not supported", "no more than half of the pairs are ordered alike", row
    p, k = section.found["p"], section.found["k"]
    if 1 / math.factorial(k) > 0.05:
        return "cannot be told", f"{k} systems have {math.factorial(k)} orders, too few for a p-value of .05", row
    small = row["high"] < 0.5 + MARGIN_ACCURACY
    verdict = VERDICTS[small] if p <= 0.05 else "not supported" if small else "cannot be told"
    return verdict, f"random orders of {k} systems agree as well with p = {p:.2g}", row


def _others(part: Part, section: Section, row: dict | None) -> _Judgement:
    row, k = section.row("pairwise.others"), section.found.get("k", 0)
    if row is None or k < FEWEST_SYSTEMS:
        reason = f"{k} systems are too few to speak of others; {FEWEST_SYSTEMS} is the least taken here"
        return "cannot be told", reason, row
    verdict, reason = _decided(row, 0.5, MARGIN_ACCURACY)
    return verdict, f"for other systems {reason}", row


def _within(part: Part, section: Section, row: dict) -> _Judgement:
    undefined, groups = section.found["degenerate"]
    if undefined == groups and _same_within_segments(part):
        return "not supported", "the metric gives all translations of a segment the same score", row
    if undefined == groups:
        return "cannot be told", "no segment has differing scores on both sides", row
    verdict, reason = _decided(row, 0.0, MARGIN_CORRELATION)
    beside = f"; {undefined} of {groups} segments are undefined and left out" if undefined else ""
    return verdict, reason + beside, row


def _same_within_segments(part: Part) -> bool:
    """Return whether the metric gives all rated translations of a segment one score, in every segment."""
    es = part.paired
    rated = ~np.isnan(es.human)
    several = rated.sum(axis=0) > 1
    scores = np.where(rated, es[part.metric], np.nan)[:, several]
    return bool(several.any() and (np.nanmin(scores, axis=0) == np.nanmax(scores, axis=0)).all())


def _beyond(part: Part, section: Section, row: dict | None) -> _Judgement:
    try:
        row = beyond_sources(part, section)
    except Undefined as error:
        return "cannot be told", str(error), None
    if row is None:
        return "cannot be told", "without sources there is no such baseline", None
    verdict, reason = _decided(row, 0.0, MARGIN_CORRELATION)
    if verdict in _SHOWN and _same_within_segments(part):
        verdict, reason = "not supported", "all translations of a segment get one score, as from a source-only metric"
    return verdict, reason, row


def _best(part: Part, section: Section, row: dict | None) -> _Judgement:
    row, mine = (section.row(CLAIMED_RANK + what, part.metric) for what in ("", ".rank"))
    if mine is None or "rivals" not in section.found:
        return "cannot be told", section.why("ranks", f"{CLAIMED_RANK}.sets", CLAIMED_RANK), None
    rivals = section.found["rivals"].loc[part.metric].drop(part.metric)
    reason = f"rank {mine['value']:.0f} of {len(rivals) + 1}"
    if mine["value"] > 1:
        return "not supported", reason, row
    reason += f"; against the rival that comes closest, {rivals.idxmax()}, p = {rivals.max():.2g}"
    return "supported" if rivals.max() <= 0.05 else "cannot be told", reason, row


def _with_ties(part: Part, section: Section, row: dict) -> _Judgement:
    constant, noise, held_out = (section.row(f"acc_eq.{what}") for what in ("constant", "random", "held_out"))
    if constant is None:
        return "cannot be told", section.why("chance"), row
    chance = max(constant["value"], noise["value"])
    # Calibration never falls below a constant metric, so an equal lower end says nothing.
    verdict, reason = _decided(row, chance, MARGIN_ACCURACY / 2)
    if verdict in _SHOWN and held_out is not None and held_out["value"] <= chance:
        verdict, reason = "cannot be told", "with a threshold from the other half of the segments the lead is gone"
    return verdict, reason, row


def _treatment(part: Part, section: Section, row: dict) -> _Judgement:
    favours, null = (section.found.get(key) for key in ("favours", "null"))
    beside = ""
    if null is not None and not np.isnan(null.p_value):
        than = null.verdict.removesuffix(" the null explains")
        beside = f"; SysDep is {than} that of metrics as noisy that are blind to the system, p = {null.p_value:.2g}"
    if favours:
        reason = "; ".join(f"{system} is {verdict}" for system, verdict in favours.items())
        return "not supported", reason + beside, row
    if favours is None:
        return "cannot be told", (section.found.get("undecided") or section.why("favours")) + beside, row
    reach, spread = section.found["reach"], section.found["range"]
    if reach <= MARGIN_SYSDEP * spread:
        reason = f"every deviation lies within {MARGIN_SYSDEP:.0%} of the range of the systems"
        return "supported", reason + beside, row
    shown = "" if math.isnan(reach) else f", but deviations of up to {reach:.2g} human points are not ruled out"
    return "cannot be told", f"no favour was found{shown}{beside}", row


def _length(part: Part, section: Section, row: dict) -> _Judgement:
    if np.isnan(row["low"]):
        n, unit = n_units(part.paired, part.settings), part.settings.unit
        return "cannot be told", too_few(n, unit) or "there is no interval", row
    if max(abs(row["low"]), abs(row["high"])) < MARGIN_CORRELATION:
        return "supported", f"the whole interval is within {MARGIN_CORRELATION:g} of 0", row
    if row["low"] > 0 or row["high"] < 0:
        which = "longer" if row["value"] > 0 else "shorter"
        return "not supported", f"it scores {which} translations higher than humans do", row
    return "cannot be told", "the interval holds both 0 and values large enough to matter", row


def _elsewhere(part: Part, section: Section, row: None) -> _Judgement:
    pair = f" ({part.es.language_pair})" if part.es.language_pair else ""
    reason = f"this verdict is about {part.es.name}{pair} alone; report on several sets to compare them"
    return "cannot be told", reason, None


def _decided(row: dict, threshold: float, margin: float) -> tuple[str, str]:
    verdict, reason = decide(row["value"], row["low"], row["high"], threshold, margin)
    no_interval = row.get("note", "").partition(NO_INTERVAL)[2].partition(";")[0] if np.isnan(row["low"]) else ""
    return verdict, no_interval or reason


#: What judges each claim of the page, in their order.
_JUDGES = (_these, _others, _within, _beyond, _best, _with_ties, _treatment, _length, _elsewhere)
