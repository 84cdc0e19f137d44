"""How the metric behaves: ties, systems that it favours, length, and domains."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from .._checks import Undefined
from .._enough import too_few
from .._names import some_of
from .._pearson import standard_deviation
from ..agreement import correlate
from ..agreement.units import pooled_pearson_in_draws
from ..evalset import EvalSet
from ..sysdep import centre_segments, compare_with_null, deviations_both_ways, system_dependence
from ..ties import calibrate_ties, held_out_calibration, human_tie_share
from ._facts import NO_INTERVAL, Part, Section, interval, n_units, weights_of_segments
from ._others import lengths

# -- ties --------------------------------------------------------------------------------


def _shares(part: Part, section: Section) -> None:
    es = part.paired
    n = int(((~np.isnan(es.human)).sum(axis=0) > 1).sum())
    section.add("ties.human", human_tie_share(es), n=n, unit="segments")
    as_human = EvalSet(np.where(np.isnan(es.human), np.nan, es[part.metric]), {}, systems=es.systems)
    section.add("ties.metric", human_tie_share(as_human), n=n, unit="segments")
    exact = correlate(es, [part.metric], coefficient="acc_eq", epsilon=0).iloc[0]
    section.add("acc_eq.exact", exact["value"], n=exact["n_groups"], unit="segments")


def _calibrated(part: Part, section: Section) -> None:
    es = part.paired
    found = calibrate_ties(es, part.metric)
    spread = float(standard_deviation(es[part.metric][~np.isnan(es.human)]))
    row = part.sections["segments"].need("acc_eq.segment")
    why = row.note.partition(";")[0] if row.note.startswith(NO_INTERVAL) else ""
    note = "; ".join(filter(None, [why, "threshold chosen on these data"]))
    section.add("acc_eq.calibrated", found.value, (row.low, row.high), n=row.n, unit="segments", note=note)
    note = f"{found.epsilon / spread:.2f} standard deviations of the metric" if spread > 0 else ""
    section.add("threshold", found.epsilon, note=f"in units of the metric; {note}".rstrip("; "))


def _held_out(part: Part, section: Section) -> None:
    table = held_out_calibration(part.paired, [part.metric], shares=None, rng=part.settings.seed)
    note = f"mean of {len(table)} splits in halves; sd {table['value'].std():.3f}"
    n = table["n_segments_test"].median()
    section.add("acc_eq.held_out", table["value"].mean(), n=n, unit="segments", note=note)


def _chance(part: Part, section: Section) -> None:
    es, rng = part.paired, np.random.default_rng(part.settings.seed)
    noise = es.with_metrics({f"noise {k}": rng.random(es.shape) for k in range(20)})
    section.add("acc_eq.constant", human_tie_share(es), note="all pairs tied")
    section.add("acc_eq.random", correlate(noise, coefficient="acc_eq")["value"].mean(), note="mean of 20 draws")


#: The steps of the section on ties.
TIES = {"ties": _shares, "calibration": _calibrated, "held_out": _held_out, "chance": _chance}


# -- system dependence -------------------------------------------------------------------


def system_rows(part: Part, section: Section) -> None:
    """Ask whether the metric treats all systems alike."""
    unit, n = part.settings.unit, n_units(part.paired, part.settings)
    few = too_few(n, unit)
    for key, compute in {"sysdep": _sysdep, "null": _null, "favours": _favours}.items():
        if few and key != "sysdep":
            section.skip(key, few)
        else:
            section.attempt(key, compute, part, section)
    if few:
        section.rows[:] = [replace(row, low=np.nan, high=np.nan) for row in section.rows]
    if section.rows and not few:
        section.text.append(f"Intervals redraw, and the null moves, whole {unit}s: there are {n}.")


def _sysdep(part: Part, section: Section) -> None:
    found = system_dependence(part.paired, part.metric, **part.settings.options)
    section.found["sysdep"] = found
    size = {"n": len(found.table), "unit": "systems"}
    for row in found.table.itertuples():
        section.add("expected", row.expected_deviation, (row.low, row.high), **size, subject=row.system)
    note = "lower is better; 0 is equal treatment"
    row = found.summary.iloc[0]
    section.add("sysdep", row["sysdep"], (row["low"], row["high"]), **size, note=note)
    if not np.isnan(row["relative"]):
        section.add("sysdep.relative", row["relative"], **size, note="1: no better than a constant")


def _null(part: Part, section: Section) -> None:
    found = compare_with_null(part.paired, part.metric, **part.settings.options)
    section.found["null"] = found
    row = found.summary.iloc[0]
    ends = row["null_low"], row["null_high"]
    size = {"n": part.settings.n_resamples, "unit": "draws"}
    section.add("sysdep.null", row["null_mean"], ends, **size, note="metrics as noisy, blind to the system")
    section.add("sysdep.p", row["p_value"], **size, note=row["verdict"])


def _favours(part: Part, section: Section) -> None:
    es, settings = part.paired, part.settings
    n = es.shape[0]
    level = 1 - (1 - settings.level) / n
    n_resamples = max(settings.n_resamples, math.ceil(2 / (1 - level)))
    options = settings.options | {"level": level, "n_resamples": n_resamples}
    plain = deviations_both_ways(es, part.metric, **options).set_index("system")
    try:
        centred = deviations_both_ways(centre_segments(es, [part.metric]), part.metric, **options).set_index("system")
    except Undefined as error:
        section.skip("favours.centred", error)
        section.found["undecided"] = "the difficulty of segments cannot be taken out"
        return
    verdicts = centred["verdict"].where(centred["verdict"] == plain["verdict"].reindex(centred.index), "undecided")
    section.found["favours"] = verdicts[verdicts != "undecided"].to_dict()
    for system, value, *ends in centred[["forward", "forward_low", "forward_high"]].itertuples():
        section.add("deviation", value, ends, n=n, unit="systems", note=verdicts[system], subject=system)
    bounds = centred[["forward_low", "forward_high", "reverse_low", "reverse_high"]].to_numpy()
    section.found["reach"] = float(np.abs(bounds).max())
    section.found["range"] = float(np.ptp(centred["human"]))


# -- length ------------------------------------------------------------------------------


def length(part: Part, section: Section) -> None:
    """Ask whether the metric follows the length of translations more than humans do."""
    es, settings = part.paired, part.settings
    characters = lengths(es)
    known = ~np.isnan(es.human) & ~np.isnan(characters)
    if not known.any():
        raise Undefined("no scored translation has a text.")
    counts = weights_of_segments(es, settings)
    n, units = known.sum(), n_units(es, settings, known.any(axis=0))
    for within, key in ((False, "none"), (True, "within")):
        sides = (es.human, es[part.metric])
        humans, metric = (pooled_pearson_in_draws(scores, characters, known, counts, within=within) for scores in sides)
        if np.isnan(humans[0] + metric[0]):
            section.skip(f"length.{key}", "a side does not vary.")
            continue
        for side, values in {"humans": humans, "metric": metric, "gap": metric - humans}.items():
            ends = interval(values, settings, units, (-2, 2))
            section.add(f"length.{side}.{key}", values[0], ends, n=n, unit="translations")


# -- domains -----------------------------------------------------------------------------


def domains(part: Part, section: Section) -> None:
    """Compare agreement within segments by domain."""
    es = part.paired
    if es.domains is None:
        raise Undefined("the table does not say which domain a segment is from.")
    names = [d for d in dict.fromkeys(es.domains) if d is not None]
    if len(names) < 2:
        raise Undefined(f"there is one domain: {some_of(map(str, names)) or 'none'}.")
    for name in names:
        section.attempt(f"domain={name}", _domain_row, part, section, name)


def _domain_row(part: Part, section: Section, name: str) -> None:
    es = part.paired
    chosen = es.select(segments=[s for s, d in zip(es.segments, es.domains, strict=True) if d == name])
    settings = part.settings
    options = {"unit": settings.unit, "n_resamples": settings.n_resamples, "rng": settings.seed}
    value = correlate(chosen, [part.metric], coefficient="kendall", interval=settings.level, **options).iloc[0]
    section.add(f"domain={name}", value["value"], value[["low", "high"]], n=value["n_groups"], unit="segments")
