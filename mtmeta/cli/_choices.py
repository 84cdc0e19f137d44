"""Choices, written out so that --help need not import the statistics; a test compares them with the package."""

from __future__ import annotations

from enum import StrEnum


def _choice(name: str, values: str) -> type[StrEnum]:
    return StrEnum(name, [(value, value) for value in values.split()])


_SENTINELS = "sentinels-segment sentinels-segment-grouped sentinels-pearson sentinels-pearson-grouped"
Protocol = _choice("Protocol", f"wmt23 wmt24 gemba-v2 {_SENTINELS}")
Coefficient = _choice("Coefficient", "pearson spearman kendall tau_b tau_a tau_c tau_10 tau_13 tau_14 acc_eq tau_eq")
Grouping = _choice("Grouping", "none segment system")
Degenerate = _choice("Degenerate", "drop zero nan raise")
Method = _choice("Method", "exchange published published-by-pair")
Ties = _choice("Ties", "half published")
Missing = _choice("Missing", "raise nan")
Format = _choice("Format", "table tsv csv json latex md")
PlanFormat = _choice("PlanFormat", "yaml")
ReportFormat = _choice("ReportFormat", "md html json")
Level = _choice("Level", "segment system")
Unit = _choice("Unit", "segment document")
Exchanged = _choice("Exchanged", "segment block document")
Sees = _choice("Sees", "source candidate reference")
Kind = _choice("Kind", "light transformer")
ScoreFormat = _choice("ScoreFormat", "csv seg-score table tsv json")
PairTies = _choice("PairTies", "failure half")
Unscored = _choice("Unscored", "raise drop")
Task = _choice("Task", "translation speech")
Part = _choice("Part", "guide accuracy effect order recommended stability")

#: Coefficients whose threshold of ties is calibrated by default.
CALIBRATED = ("acc_eq", "tau_eq")
#: Thresholds of ties that are no numbers.
THRESHOLDS = ("calibrate", "published")
