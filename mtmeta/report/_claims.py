"""What to claim and what not to: each claim with its number, the rule that decided, and a chapter to read."""

from __future__ import annotations

import math

import numpy as np

from ._common import Part
from ._others import CLAIMED, CLAIMED_RANK, beyond_sources

VERDICTS = ("supported", "not supported", "cannot be told")
CLAIM_COLUMNS = ("claim", "verdict", "statistic", "value", "low", "high", "n", "unit", "reason", "chapter")

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
    found: list[dict] = []

    def put(claim: str, verdict: str, statistic: str, row: dict | None, reason: str, chapter: str) -> None:
        row = row or {}
        numbers = [row.get(c, np.nan) for c in ("value", "low", "high")]
        values = (claim, verdict, statistic, *numbers, row.get("n"), row.get("unit", ""), reason, chapter)
        found.append(dict(zip(CLAIM_COLUMNS, values, strict=True)))

    _of_systems(part, put)
    _of_segments(part, put)
    _of_sources(part, put)
    _of_rank(part, put)
    _of_ties(part, put)
    _of_treatment(part, put)
    _of_length(part, put)
    pair = f" ({part.es.language_pair})" if part.es.language_pair else ""
    reason = f"this verdict is about {part.es.name}{pair} alone; report on several sets to compare them"
    put(
        "It agrees as well on other languages, domains and years.",
        "cannot be told",
        "",
        None,
        reason,
        "Local Accuracy in Translation",
    )
    return found


def _why(part: Part, section: str, what: str) -> str:
    """Return why something is missing."""
    reasons = dict(part.sections[section].skipped)
    return reasons.get(what, "it could not be computed").rstrip(".")


def _of_systems(part: Part, put) -> None:
    section, chapter = part.sections["systems"], "Scores and Agreement"
    name = "pairwise accuracy"
    row, p, k = section.row(name), section.found.get("p"), section.found.get("k", 0)
    claim = "It orders these systems as humans do more often than chance would."
    if row is None:
        put(claim, "cannot be told", name, None, _why(part, "systems", "means of systems"), chapter)
    elif row["value"] <= 0.5:
        put(claim, "not supported", name, row, "no more than half of the pairs are ordered alike", chapter)
    elif 1 / math.factorial(k) > 0.05:
        reason = f"{k} systems have {math.factorial(k)} orders, too few for a p-value of .05"
        put(claim, "cannot be told", name, row, reason, chapter)
    elif p <= 0.05:
        put(claim, "supported", name, row, f"random orders of {k} systems agree as well with p = {p:.2g}", chapter)
    else:
        verdict = "not supported" if row["high"] < 0.5 + MARGIN_ACCURACY else "cannot be told"
        put(claim, verdict, name, row, f"random orders of {k} systems agree as well with p = {p:.2g}", chapter)
    claim = "It would order other systems of this kind better than a coin."
    row = section.row("pairwise accuracy, other systems")
    if row is None or k < _FEWEST_OTHER_SYSTEMS:
        reason = f"{k} systems are too few to speak of others; {_FEWEST_OTHER_SYSTEMS} is the least taken here"
        put(claim, "cannot be told", name, row, reason, "Significance")
    else:
        verdict, reason = decide(row["value"], row["low"], row["high"], 0.5, MARGIN_ACCURACY)
        put(claim, verdict, name, row, f"{reason} when systems are redrawn too", "Significance")


def _of_segments(part: Part, put) -> None:
    section, chapter = part.sections["segments"], "Grouping and Sentinels"
    claim, name = "It tells better from worse translations of one segment.", "Kendall, segment grouping"
    row = section.row(name)
    if row is None:
        put(claim, "cannot be told", name, None, _why(part, "segments", name), chapter)
        return
    undefined, groups = section.found["degenerate"]
    if undefined == groups:
        verdict, reason = _blind(part)
        put(claim, verdict, name, row, reason, chapter)
        return
    verdict, reason = decide(row["value"], row["low"], row["high"], 0.0, MARGIN_CORRELATION)
    if undefined:
        reason += f"; {undefined} of {groups} segments are undefined and left out"
    put(claim, verdict, name, row, reason, chapter)


def _blind(part: Part) -> tuple[str, str]:
    """Return the verdict where no segment has a defined correlation: it depends on whose scores are constant."""
    if _same_within_segments(part):
        return "not supported", "the metric gives all translations of a segment the same score"
    return "cannot be told", "no segment has differing scores on both sides"


def _same_within_segments(part: Part) -> bool:
    """Return whether the metric gives all rated translations of a segment one score, in every segment."""
    es = part.paired
    rated = ~np.isnan(es.human)
    several = rated.sum(axis=0) > 1
    scores = np.where(rated, es[part.metric], np.nan)[:, several]
    return bool(several.any() and (np.nanmin(scores, axis=0) == np.nanmax(scores, axis=0)).all())


def _of_sources(part: Part, put) -> None:
    chapter = "Training Sentinels"
    claim = "Over all translations it agrees better than a metric that sees the source alone."
    try:
        row = beyond_sources(part, part.sections["baselines"])
    except ValueError as error:
        put(claim, "cannot be told", CLAIMED, None, str(error), chapter)
        return
    if row is None:
        put(claim, "cannot be told", CLAIMED, None, "without sources there is no such baseline", chapter)
        return
    verdict, reason = decide(row["value"], row["low"], row["high"], 0.0, MARGIN_CORRELATION)
    if verdict == "supported" and _same_within_segments(part):
        verdict, reason = "not supported", "all translations of a segment get one score, as from a source-only metric"
    row |= {"n": int(part.scored.sum()), "unit": "translations"}
    put(claim, verdict, f"{CLAIMED}, less that of the {row['name']}", row, reason, chapter)


def _of_rank(part: Part, put) -> None:
    section, chapter = part.sections["rank"], "Significance"
    claim, name = "Within segments it is better than every other metric of the table.", CLAIMED_RANK
    rows = [row for row in section.rows if row["quantity"] == f"{name}: cluster"]
    mine = next((row for row in rows if row["subject"] == part.metric), None)
    if mine is None:
        what = "ranks" if len(part.es.metrics) < 2 else f"clusters by {name}"
        put(claim, "cannot be told", name, None, _why(part, "rank", what), chapter)
        return
    place = section.row(f"{name}: rank", part.metric)
    first = sum(row["value"] == 1 for row in rows)
    row = section.row(name, part.metric)
    reason = f"rank {place['value']:.0f} of {len(rows)}, cluster {mine['value']:.0f}"
    if mine["value"] > 1:
        verdict = "not supported"
    elif first == 1:
        verdict = "supported"
    else:
        others = f"{first - 1} other{'s' * (first > 2)} in this cluster {'is' if first == 2 else 'are'}"
        verdict = "cannot be told" if place["value"] == 1 else "not supported"
        reason = f"{reason}; {others} not significantly different"
    put(claim, verdict, name, row, reason, chapter)


def _of_ties(part: Part, put) -> None:
    section, chapter = part.sections["ties"], "Ties"
    claim, name = (
        "With ties counted, it is right more often than a constant metric or random numbers.",
        "acc_eq, calibrated",
    )
    row, constant, noise = (
        section.row(n) for n in (name, "acc_eq of a constant metric", "acc_eq of random numbers, calibrated")
    )
    if row is None or constant is None:
        what = "tie calibration" if row is None else "chance levels of acc_eq"
        put(claim, "cannot be told", name, row, _why(part, "ties", what), chapter)
        return
    chance = max(constant["value"], noise["value"])
    # Calibration never falls below a constant metric, so an equal lower end says nothing.
    verdict, reason = decide(row["value"], row["low"], row["high"], chance, MARGIN_ACCURACY / 2)
    held_out = section.row("acc_eq, threshold from the other half")
    if verdict == "supported" and held_out is not None and held_out["value"] <= chance:
        verdict, reason = "cannot be told", "with a threshold from the other half of the segments the lead is gone"
    put(claim, verdict, name, row, reason, chapter)


def _of_treatment(part: Part, put) -> None:
    section, chapter = part.sections["system_dependence"], "System Dependence"
    claim, name = "It treats all systems alike.", "SysDep"
    row, favours = section.row(name), section.found.get("favours")
    if row is None:
        put(claim, "cannot be told", name, None, _why(part, "system_dependence", "SysDep"), chapter)
        return
    null = section.found.get("null")
    beside = f"; SysDep is {null.verdict}, p = {null.p_value:.2g}" if null is not None else ""
    if favours:
        reason = "; ".join(f"{system} is {verdict}" for system, verdict in favours.items())
        put(claim, "not supported", name, row, reason + beside, chapter)
    elif favours is None:
        reason = section.found.get("undecided") or _why(part, "system_dependence", "systems favoured")
        put(claim, "cannot be told", name, row, reason + beside, chapter)
    else:
        reach, spread = section.found["reach"], section.found["range"]
        if not math.isnan(reach) and reach <= MARGIN_SYSDEP * spread:
            reason = f"every deviation lies within {MARGIN_SYSDEP:.0%} of the range of the systems"
            put(claim, "supported", name, row, reason + beside, chapter)
        else:
            shown = "" if math.isnan(reach) else f", but deviations of up to {reach:.2g} human points are not ruled out"
            put(claim, "cannot be told", name, row, f"no favour was found{shown}{beside}", chapter)


def _of_length(part: Part, put) -> None:
    section, chapter = part.sections["length"], "Grouping and Sentinels"
    claim, name = "Within segments it follows length as humans do.", "metric less humans, less the segment's mean"
    row = section.row(name)
    if row is None:
        reason = _why(part, "length", "length of translations")
        if reason.startswith("it could"):
            reason = _why(part, "length", "length, less the segment's mean")
        put(claim, "cannot be told", name, None, reason, chapter)
    elif np.isnan(row["low"]):
        put(claim, "cannot be told", name, row, "there is no interval", chapter)
    elif max(abs(row["low"]), abs(row["high"])) < MARGIN_CORRELATION:
        put(claim, "supported", name, row, f"the whole interval is within {MARGIN_CORRELATION:g} of 0", chapter)
    elif row["low"] > 0 or row["high"] < 0:
        which = "longer" if row["value"] > 0 else "shorter"
        put(claim, "not supported", name, row, f"it scores {which} translations higher than humans do", chapter)
    else:
        put(claim, "cannot be told", name, row, "the interval holds 0, and values of note too", chapter)
