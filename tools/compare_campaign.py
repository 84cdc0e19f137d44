"""Compare the teaching campaign with WMT23: the two tables of `book/data`.

    MTMETA_DATA=... python tools/compare_campaign.py

Needs the sets wmt23 and wmt23-sentinels. A value outside the range of WMT23's three language pairs has a star.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

import mtmeta as mm

LANGUAGE_PAIRS = ("zh-en", "en-de", "he-en")
#: Simulated metric to the metric of WMT23 that it is modelled on.
COUNTERPARTS = {
    "BLEU": "BLEU", "chrF": "chrF", "Regressor": "XCOMET-Ensemble", "RegressorQE": "CometKiwi", "Judge": "GEMBA-MQM",
    "Tagger": "MaTESe", "SourceOnly": "SENTINEL-SRC-MQM", "Random": "Random-sysname",
}  # fmt: skip
#: Heading to coefficient and grouping; "system level" is the Pearson correlation of the mean scores of systems.
COEFFICIENTS = {
    "r, none": ("pearson", "none"),
    "r, segment": ("pearson", "segment"),
    "r, system": ("pearson", "system"),
    "tau, none": ("kendall", "none"),
    "tau, segment": ("kendall", "segment"),
    "system level": ("pearson", "system level"),
}


def human_statistics(es: mm.EvalSet) -> dict[str, float]:
    """Return what describes the human scores of a set; only rated segments count."""
    rated = ~np.isnan(es.human).any(axis=0)
    human = es.human[:, rated]
    means = human.mean(axis=1)
    total, systems, segments = human.var(), means.var(), human.mean(axis=0).var()
    return {
        "systems": len(es.systems),
        "rated segments": int(rated.sum()),
        "mean score": human.mean(),
        "standard deviation of scores": human.std(),
        "share of scores of 0": (human == 0).mean(),
        "share of scores of -5 or worse": (human <= -5).mean(),
        "share of tied pairs within segments": mm.ties.human_tie_share(es),
        "variance between systems": systems / total,
        "variance between segments": segments / total,
        "variance within both": 1 - (systems + segments) / total,
        "best system mean": means.max(),
        "worst system mean": means.min(),
        "standard deviation of system means": means.std(),
    }


def metric_statistics(es: mm.EvalSet, metrics: list[str]) -> pd.DataFrame:
    """Return one row per metric, one column per heading; segments that WMT23 did not rate do not count."""
    rated = ~np.isnan(es.human).any(axis=0)
    columns = {}
    for heading, (coefficient, grouping) in COEFFICIENTS.items():
        if grouping == "system level":
            means = [es[m][:, rated].mean(axis=1) for m in metrics]
            human = es.human[:, rated].mean(axis=1)
            columns[heading] = [np.corrcoef(human, m)[0, 1] if np.ptp(m) > 1e-9 else np.nan for m in means]
        else:
            table = mm.correlate(es, metrics, coefficient=coefficient, grouping=grouping).set_index("metric")
            columns[heading] = table["value"].reindex(metrics).tolist()
    return pd.DataFrame(columns, index=metrics)


def _starred(value: float, others: list[float], digits: int) -> str:
    shown = [round(x, digits) for x in (value, min(others), max(others))]
    outside = not shown[1] <= shown[0] <= shown[2]
    return f"{value:.{digits}f}" + (" \\*" if outside else "")


def human_table(teaching: mm.EvalSet, real: dict[str, mm.EvalSet]) -> list[str]:
    """Return the lines of the table of human scores."""
    ours, theirs = human_statistics(teaching), {lp: human_statistics(es) for lp, es in real.items()}
    lines = [f"| | teaching | {' | '.join(real)} |", "|---|" + "---:|" * (1 + len(real))]
    for name, value in ours.items():
        digits = 0 if isinstance(value, int) else 2 if "share" in name or "variance" in name else 1
        others = [t[name] for t in theirs.values()]
        first = f"{value}" if digits == 0 else _starred(value, others, digits)
        lines.append(f"| {name} | {first} | {' | '.join(f'{o:.{digits}f}' for o in others)} |")
    return lines


def metric_table(teaching: mm.EvalSet, real: dict[str, mm.EvalSet]) -> list[str]:
    """Return the lines of the table of metrics: ours, and the range of the counterpart in WMT23."""
    ours = metric_statistics(teaching, list(COUNTERPARTS))
    theirs = [metric_statistics(es, list(COUNTERPARTS.values())) for es in real.values()]
    lines = [f"| metric | modelled on | {' | '.join(COEFFICIENTS)} |", "|---|---|" + "---:|" * len(COEFFICIENTS)]
    for metric, counterpart in COUNTERPARTS.items():
        cells = []
        for heading in COEFFICIENTS:
            others = [t.loc[counterpart, heading] for t in theirs]
            value = ours.loc[metric, heading]
            if np.isnan(value):
                cells.append("undefined")
            else:
                cells.append(f"{_starred(value, others, 2)} ({min(others):.2f} to {max(others):.2f})")
        lines.append(f"| {metric} | {counterpart} | {' | '.join(cells)} |")
    return lines


if __name__ == "__main__":
    teaching = mm.load("teaching")
    real = {lp: mm.load(f"wmt23/{lp}", metrics_from=["wmt23-sentinels"]) for lp in LANGUAGE_PAIRS}
    print("\n".join([*human_table(teaching, real), "", *metric_table(teaching, real)]))
