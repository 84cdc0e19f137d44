"""What to claim and what not to: each claim with its number, the rule that decided, and a chapter to read."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from .._checks import Undefined
from ._facts import CLAIM_COLUMNS, Part
from ._labels import label
from ._others import CLAIMED, CLAIMED_RANK, beyond_sources

VERDICTS = ("supported", "not supported", "cannot be told")

#: What is too small to matter: of correlations, of accuracies, and of SysDep as a share of the range of systems.
MARGIN_CORRELATION, MARGIN_ACCURACY, MARGIN_SYSDEP = 0.1, 0.1, 0.1
_FEWEST_OTHER_SYSTEMS = 8
#: Sums of fractions may miss a threshold that they equal by less than this.
_ROUNDING = 1e-9


def decide(value: float, low: float, high: float, threshold: float, margin: float) -> tuple[str, str]:
    """Sort a claim "above the threshold" by its interval.

    Supported where the interval lies above the threshold; not supported where the value does not exceed it or the
    interval ends below threshold + margin, so that nothing of note is left; else it cannot be told.

    Parameters
    ----------
    value, low, high : float
        The statistic and its interval; NaN where there is none.
    threshold : float
        What something without merit gets.
    margin : float
        The least excess that matters.

    Returns
    -------
    verdict, reason : str

    Examples
    --------
    >>> from mtmeta.report import decide
    >>> decide(0.2, 0.1, 0.3, 0, 0.1)
    ('supported', 'the interval lies above 0')
    >>> decide(0.2, -0.1, 0.5, 0, 0.1)[0]
    'cannot be told'
    """
    if np.isnan(value):
        return "cannot be told", "it could not be computed"
    if np.isnan(low) or np.isnan(high):
        return "cannot be told", "there is no interval"
    if low > threshold + _ROUNDING:
        return "supported", f"the interval lies above {threshold:.3g}"
    if value <= threshold + _ROUNDING:
        return "not supported", f"the value is not above {threshold:.3g}"
    if high < threshold + margin:
        return "not supported", f"the interval holds {threshold:.3g} and rules out {threshold + margin:.3g}"
    return "cannot be told", f"the interval holds {threshold:.3g}, and values of note too"


def claims_of(part: Part) -> list[dict]:
    """Return the claims of one metric on one set."""
    found = []
    for claim, chapter, judge in _CLAIMS:
        verdict, statistic, row, reason = judge(part)
        row = row or {}
        numbers = [row.get(c, np.nan) for c in ("value", "low", "high")]
        values = (claim, verdict, statistic, *numbers, row.get("n"), row.get("unit", ""), reason, chapter)
        found.append(dict(zip(CLAIM_COLUMNS, values, strict=True)))
    return found


def by_verdict(claims: Sequence[dict]) -> list[dict]:
    """Return the claims that are supported first, and those that cannot be told last."""
    return sorted(claims, key=lambda claim: VERDICTS.index(claim["verdict"]))


#: A verdict, the label of the statistic, its row if there is one, and the reason.
_Judgement = tuple[str, str, dict | None, str]


def _these_systems(part: Part) -> _Judgement:
    section = part.sections["systems"]
    row, name = section.row("pairwise"), label("pairwise")
    if row is None:
        return "cannot be told", name, None, section.why("means")
    if row["value"] <= 0.5:
        return "not supported", name, row, "no more than half of the pairs are ordered alike"
    p, k = section.found["p"], section.found["k"]
    if 1 / math.factorial(k) > 0.05:
        return "cannot be told", name, row, f"{k} systems have {math.factorial(k)} orders, too few for a p-value of .05"
    verdict = "not supported" if row["high"] < 0.5 + MARGIN_ACCURACY else "cannot be told"
    reason = f"random orders of {k} systems agree as well with p = {p:.2g}"
    return "supported" if p <= 0.05 else verdict, name, row, reason


def _other_systems(part: Part) -> _Judgement:
    section = part.sections["systems"]
    row, k, name = section.row("pairwise.others"), section.found.get("k", 0), label("pairwise")
    if row is None or k < _FEWEST_OTHER_SYSTEMS:
        reason = f"{k} systems are too few to speak of others; {_FEWEST_OTHER_SYSTEMS} is the least taken here"
        return "cannot be told", name, row, reason
    verdict, reason = decide(row["value"], row["low"], row["high"], 0.5, MARGIN_ACCURACY)
    return verdict, name, row, f"{reason} when systems are redrawn too"


def _within_segments(part: Part) -> _Judgement:
    section = part.sections["segments"]
    row, name = section.row("kendall.segment"), label("kendall.segment")
    if row is None:
        return "cannot be told", name, None, section.why("kendall.segment")
    undefined, groups = section.found["degenerate"]
    if undefined == groups and _same_within_segments(part):
        return "not supported", name, row, "the metric gives all translations of a segment the same score"
    if undefined == groups:
        return "cannot be told", name, row, "no segment has differing scores on both sides"
    verdict, reason = decide(row["value"], row["low"], row["high"], 0.0, MARGIN_CORRELATION)
    if undefined:
        reason += f"; {undefined} of {groups} segments are undefined and left out"
    return verdict, name, row, reason


def _same_within_segments(part: Part) -> bool:
    """Return whether the metric gives all rated translations of a segment one score, in every segment."""
    es = part.paired
    rated = ~np.isnan(es.human)
    several = rated.sum(axis=0) > 1
    scores = np.where(rated, es[part.metric], np.nan)[:, several]
    return bool(several.any() and (np.nanmin(scores, axis=0) == np.nanmax(scores, axis=0)).all())


def _beyond_sources(part: Part) -> _Judgement:
    name = label(CLAIMED)
    try:
        row = beyond_sources(part, part.sections["baselines"])
    except Undefined as error:
        return "cannot be told", name, None, str(error)
    if row is None:
        return "cannot be told", name, None, "without sources there is no such baseline"
    verdict, reason = decide(row["value"], row["low"], row["high"], 0.0, MARGIN_CORRELATION)
    if verdict == "supported" and _same_within_segments(part):
        verdict, reason = "not supported", "all translations of a segment get one score, as from a source-only metric"
    row |= {"n": int(part.scored.sum()), "unit": "translations"}
    return verdict, f"{name}, less that of the {row['name']}", row, reason


def _best(part: Part) -> _Judgement:
    section, name = part.sections["rank"], label(CLAIMED_RANK)
    row, place, mine = (section.row(CLAIMED_RANK + what, part.metric) for what in ("", ".rank", ".cluster"))
    if mine is None:
        return "cannot be told", name, None, section.why("ranks", f"{CLAIMED_RANK}.clusters", CLAIMED_RANK)
    clusters = [row["value"] for row in section.rows if row["key"] == f"{CLAIMED_RANK}.cluster"]
    reason = f"rank {place['value']:.0f} of {len(clusters)}, cluster {mine['value']:.0f}"
    first = clusters.count(1)
    if mine["value"] > 1:
        return "not supported", name, row, reason
    if first == 1:
        return "supported", name, row, reason
    others = f"{first - 1} other{'s' * (first > 2)} in this cluster {'is' if first == 2 else 'are'}"
    verdict = "cannot be told" if place["value"] == 1 else "not supported"
    return verdict, name, row, f"{reason}; {others} not significantly different"


def _with_ties(part: Part) -> _Judgement:
    section, name = part.sections["ties"], label("acc_eq.calibrated")
    row, constant, noise, held_out = (
        section.row(f"acc_eq.{what}") for what in ("calibrated", "constant", "random", "held_out")
    )
    if row is None or constant is None:
        return "cannot be told", name, row, section.why("calibration" if row is None else "chance")
    chance = max(constant["value"], noise["value"])
    # Calibration never falls below a constant metric, so an equal lower end says nothing.
    verdict, reason = decide(row["value"], row["low"], row["high"], chance, MARGIN_ACCURACY / 2)
    if verdict == "supported" and held_out is not None and held_out["value"] <= chance:
        verdict, reason = "cannot be told", "with a threshold from the other half of the segments the lead is gone"
    return verdict, name, row, reason


def _treatment(part: Part) -> _Judgement:
    section, name = part.sections["system_dependence"], label("sysdep")
    row, favours = section.row("sysdep"), section.found.get("favours")
    if row is None:
        return "cannot be told", name, None, section.why("sysdep")
    null = section.found.get("null")
    beside = f"; SysDep is {null.verdict}, p = {null.p_value:.2g}" if null is not None else ""
    if favours:
        reason = "; ".join(f"{system} is {verdict}" for system, verdict in favours.items())
        return "not supported", name, row, reason + beside
    if favours is None:
        return "cannot be told", name, row, (section.found.get("undecided") or section.why("favours")) + beside
    reach, spread = section.found["reach"], section.found["range"]
    if not math.isnan(reach) and reach <= MARGIN_SYSDEP * spread:
        reason = f"every deviation lies within {MARGIN_SYSDEP:.0%} of the range of the systems"
        return "supported", name, row, reason + beside
    shown = "" if math.isnan(reach) else f", but deviations of up to {reach:.2g} human points are not ruled out"
    return "cannot be told", name, row, f"no favour was found{shown}{beside}"


def _length(part: Part) -> _Judgement:
    section, name = part.sections["length"], label("length.gap.within")
    row = section.row("length.gap.within")
    if row is None:
        return "cannot be told", name, None, section.why("length", "length.within")
    if np.isnan(row["low"]):
        return "cannot be told", name, row, "there is no interval"
    if max(abs(row["low"]), abs(row["high"])) < MARGIN_CORRELATION:
        return "supported", name, row, f"the whole interval is within {MARGIN_CORRELATION:g} of 0"
    if row["low"] > 0 or row["high"] < 0:
        which = "longer" if row["value"] > 0 else "shorter"
        return "not supported", name, row, f"it scores {which} translations higher than humans do"
    return "cannot be told", name, row, "the interval holds 0, and values of note too"


def _elsewhere(part: Part) -> _Judgement:
    pair = f" ({part.es.language_pair})" if part.es.language_pair else ""
    reason = f"this verdict is about {part.es.name}{pair} alone; report on several sets to compare them"
    return "cannot be told", "", None, reason


#: Each claim, a chapter to read, and what judges it.
_CLAIMS = (
    ("It orders these systems as humans do more often than chance would.", "Scores and Agreement", _these_systems),
    ("It would order other systems of this kind better than a coin.", "Significance", _other_systems),
    ("It tells better from worse translations of one segment.", "Grouping and Sentinels", _within_segments),
    (
        "Over all translations it agrees better than a metric that sees the source alone.",
        "Training Sentinels",
        _beyond_sources,
    ),
    ("Within segments it is better than every other metric of the table.", "Significance", _best),
    ("With ties counted, it is right more often than a constant metric or random numbers.", "Ties", _with_ties),
    ("It treats all systems alike.", "System Dependence", _treatment),
    ("Within segments it follows length as humans do.", "Grouping and Sentinels", _length),
    ("It agrees as well on other languages, domains and years.", "Local Accuracy in Translation", _elsewhere),
)
