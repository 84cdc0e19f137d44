"""The claims of a report, supported or not: each with its number, the rule that decided, and a chapter to read."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .._checks import Undefined
from .._enough import too_few
from ._baselines import beyond_sources
from ._facts import NO_INTERVAL, PAGE, Claim, Part, Row, Section, label

VERDICTS = ("supported", "real, size open", "real but small", "not supported", "cannot be told")
#: Verdicts that say that an effect is there.
SHOWN = VERDICTS[:3]
#: The least excess of a correlation or an accuracy that matters.
_MARGIN = 0.1
#: Where the interval of an excess lies beside the least excess that matters.
_THERE = {"supported": "reaches no lower than", "real, size open": "holds", "real but small": "ends below"}
#: Sums of fractions may miss a threshold that they equal by less than this.
_ROUNDING = 1e-9


def decide(value: float, low: float, high: float, threshold: float, margin: float) -> tuple[str, str]:
    """Sort a claim "above the threshold" by its interval.

    If the interval lies above the threshold, there is an excess: the claim is supported if all of the interval is at
    least a margin above the threshold, real but small if none of it is, and otherwise its size is open. A claim is not
    supported if the interval ends below threshold + margin, which rules out any excess of note. Otherwise it cannot be
    told, whatever the sign of the excess. A shorter interval around the same value never turns "supported" or an excess
    into something less, except where it shows that the excess is small.

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
    if low > threshold + _ROUNDING:
        size = _sized(low, high, threshold + margin)
        return size, f"the interval lies above {threshold:.3g} and {_THERE[size]} {threshold + margin:.3g}"
    if high < threshold + margin:
        found = "lies below" if high < threshold else "holds"
        return "not supported", f"the interval {found} {threshold:.3g} and rules out {threshold + margin:.3g}"
    return "cannot be told", f"the interval holds both {threshold:.3g} and values large enough to matter"


def _sized(low: float, high: float, matters: float) -> str:
    """Return the verdict on an excess that is there."""
    return VERDICTS[0 if low >= matters - _ROUNDING else 2 if high < matters else 1]


def claims_of(part: Part) -> list[Claim]:
    """Return the claims of one metric on one set."""
    found = []
    for name, about in PAGE["claims"].items():
        section, key = part.sections[about["section"]], about["key"]
        row = section.row(key)
        try:
            if row is None and "why" in about:
                raise Undefined(section.why(*about["why"]))
            judged = _JUDGES[name](part, section, row)
        except Undefined as error:
            judged = Judgement("cannot be told", str(error))
        numbers = {name: getattr(judged.row, name) for name in ("value", "low", "high", "n", "unit") if judged.row}
        numbers["statistic"] = (label(key) if key else "") + judged.beside
        words = {"claim": about["claim"], "chapter": about["chapter"]}
        found.append(Claim(verdict=judged.verdict, reason=judged.reason, **words, **numbers))
    return found


def by_verdict(claims: Sequence[Claim]) -> list[Claim]:
    """Return the claims, the supported ones first and those that cannot be told last."""
    return sorted(claims, key=lambda claim: VERDICTS.index(claim.verdict))


class Judgement(NamedTuple):
    """A verdict, the reason, the row of the statistic if there is one, and words that belong behind its label."""

    verdict: str
    reason: str
    row: Row | None = None
    beside: str = ""


def _these(part: Part, section: Section, row: Row) -> Judgement:
    if row.value <= 0.5:
        return Judgement("not supported", "no more than half of the pairs are ordered alike", row)
    p, k = section.need("order").value, section.need("order").n
    if 1 / math.factorial(k) > 0.05:
        reason = f"{k} systems have {math.factorial(k)} orders, too few for a p-value of .05"
        return Judgement("cannot be told", reason, row)
    size = _sized(row.low, row.high, 0.5 + _MARGIN)
    verdict = size if p <= 0.05 else "not supported" if size == "real but small" else "cannot be told"
    return Judgement(verdict, f"random orders of {k} systems agree as well with p = {p:.2g}", row)


def _others(part: Part, section: Section, row: Row | None) -> Judgement:
    row, order = section.row("pairwise.others"), section.row("order")
    if row is None:
        few = too_few(order.n, "system") if order else ""
        raise Undefined(few or section.why("pairwise", "systems"))
    verdict, reason = _decided(row, 0.5, _MARGIN)
    return Judgement(verdict, f"for other systems {reason}", row)


def _within(part: Part, section: Section, row: Row) -> Judgement:
    undefined, groups = section.found["kendall.segment"]
    if undefined == groups and _same_within_segments(part):
        return Judgement("not supported", "the metric gives all translations of a segment the same score", row)
    if undefined == groups:
        return Judgement("cannot be told", "no segment has differing scores on both sides", row)
    verdict, reason = _decided(row, 0.0, _MARGIN)
    beside = f"; {undefined} of {groups} segments are undefined and left out" if undefined else ""
    return Judgement(verdict, reason + beside, row)


def _same_within_segments(part: Part) -> bool:
    """Return whether the metric gives all rated translations of a segment one score, in every segment."""
    es = part.paired
    rated = ~np.isnan(es.human)
    several = rated.sum(axis=0) > 1
    scores = np.where(rated, es[part.metric], np.nan)[:, several]
    return bool(several.any() and (np.nanmin(scores, axis=0) == np.nanmax(scores, axis=0)).all())


def _beyond(part: Part, section: Section, row: Row | None) -> Judgement:
    row = beyond_sources(part, section)
    verdict, reason = _decided(row, 0.0, _MARGIN)
    if verdict in SHOWN and _same_within_segments(part):
        verdict, reason = "not supported", "all translations of a segment get one score, as from a source-only metric"
    return Judgement(verdict, reason, row, f", less that of the {row.subject}")


def _best(part: Part, section: Section, row: Row | None) -> Judgement:
    row, mine = (section.row(key, part.metric) for key in ("pearson.segment", "rank"))
    if mine is None:
        raise Undefined(section.why("rank"))
    rivals = section.found["rivals"].loc[part.metric].drop(part.metric)
    reason = f"rank {mine.value:.0f} of {len(rivals) + 1}"
    if mine.value > 1:
        return Judgement("not supported", reason, row)
    reason += f"; against the rival that comes closest, {rivals.idxmax()}, p = {rivals.max():.2g}"
    return Judgement("supported" if rivals.max() <= 0.05 else "cannot be told", reason, row)


def _with_ties(part: Part, section: Section, row: Row) -> Judgement:
    held_out = section.row("acc_eq.held_out")
    chance = max(section.need(key).value for key in ("ties.human", "acc_eq.random"))
    # Calibration never falls below a constant metric, so an equal lower end says nothing.
    verdict, reason = _decided(row, chance, _MARGIN / 2)
    if verdict in SHOWN and held_out is not None and held_out.value <= chance:
        verdict, reason = "cannot be told", "with a threshold from the other half of the segments the lead is gone"
    return Judgement(verdict, reason, row)


def _length(part: Part, section: Section, row: Row) -> Judgement:
    if np.isnan(row.low):
        return Judgement("cannot be told", too_few(part.n_units(), part.unit) or "there is no interval", row)
    if max(abs(row.low), abs(row.high)) < _MARGIN:
        return Judgement("supported", f"the whole interval is within {_MARGIN:g} of 0", row)
    if row.low > 0 or row.high < 0:
        which = "longer" if row.value > 0 else "shorter"
        return Judgement("not supported", f"it scores {which} translations higher than humans do", row)
    return Judgement("cannot be told", "the interval holds both 0 and values large enough to matter", row)


def _decided(row: Row, threshold: float, margin: float) -> tuple[str, str]:
    verdict, reason = decide(row.value, row.low, row.high, threshold, margin)
    no_interval = row.note.partition(NO_INTERVAL)[2].partition(";")[0] if np.isnan(row.low) else ""
    return verdict, no_interval or reason


#: The judge of each claim of the page, by its key there.
_JUDGES = {"these": _these, "others": _others, "within": _within, "beyond": _beyond, "best": _best}
_JUDGES |= {"with_ties": _with_ties, "length": _length}
