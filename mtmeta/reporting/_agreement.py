"""The data, and the agreement of systems and of segments."""

from __future__ import annotations

from functools import partial

import numpy as np

from .._checks import Undefined
from .._copies import copies, repeated
from .._enough import FEWEST_SYSTEMS, too_few
from .._names import some_of
from ..agreement import correlate, decompose_pearson, soft_pairwise_accuracy
from ..agreement.intervals import intervals, n_added
from ..agreement.spa import spa_in_draws
from ..differences import curve
from ..estimation import ratings_saved
from ..evalset import EvalSet, recomputed
from ..protocols import Task, decided_by_one, without_each_system
from ..significance.systems import STATISTICS, of_other_systems, order_p_value, pair_accuracy, system_means
from ._facts import (
    COEFFICIENTS,
    GROUPINGS,
    NO_INTERVAL,
    Part,
    Section,
    interval,
    n_units,
    weights_of_segments,
)  # fmt: skip

#: More pairs than this are not sorted in every resample.
_PAIRS_WITH_INTERVAL = 200_000


def data(part: Part, section: Section) -> None:
    """Count what was read, rated and left out."""
    es, metric = part.es, part.metric
    rated, both = ~np.isnan(es.human), part.scored
    section.add("systems", es.shape[0], note=some_of(es.systems, 20))
    section.add("segments", es.shape[1])
    for key, cells in (("rated", rated), (f"scored={metric}", ~np.isnan(es[metric])), ("both", both)):
        section.add(key, cells.sum(), n=cells.size, unit="translations")
    section.add("comparable", (both.sum(axis=0) > 1).sum(), n=es.shape[1], unit="segments")
    section.add("metrics", len(es.metrics), note=some_of(es.metrics, 50))
    for what, names in (("documents", es.documents), ("domains", es.domains)):
        if names is not None:
            names = dict.fromkeys(str(name) for name in names if name is not None)
            section.add(what, len(names), note=some_of(names, 8) if what == "domains" else "")
    values = es.human[rated]
    section.text.append(
        f"Human scores run from {values.min():zg} to {values.max():zg}, with {len(np.unique(values))} distinct values. "
        "Higher is better for humans and metrics; a score that counts errors must be negated before it is read."
    )
    has = [what for what in ("sources", "translations") if es.texts is not None and getattr(es.texts, what)]
    section.text.append(f"Texts: {' and '.join(has) or 'none'}.")
    if es.human_systems:
        section.text.append(f"Human translations among the systems: {', '.join(sorted(es.human_systems))}.")
    found = (f"{name} {note}." for name, (of, note) in copies(es).items() if metric in (name, of))
    section.text += [*found, *(f"{note.capitalize()}." for note in [repeated(es)] if note)]
    for what, why in es.provenance.get("left_out", {}).items():
        section.text.append(f"Left out: {what} ({why}).")


# -- systems -----------------------------------------------------------------------------


#: Statistics of means of systems by key.
_SYSTEM_STATISTICS = {"pearson.means": "pearson", "pairwise": "pairwise_accuracy"}


def _system_rows(part: Part, section: Section) -> None:
    es, settings = part.es, part.settings
    counts = weights_of_segments(es, settings)
    human, metric = (system_means(values, counts) for values in (es.human, es[part.metric]))
    known = ~np.isnan(human[:, 0] + metric[:, 0])
    human, metric = human[known], metric[known]
    k = len(human)
    if k < 2:
        raise Undefined(f"{k} system with human and metric scores: there is no pair of systems.")
    p_value, how = order_p_value(human[:, 0], metric[:, 0], settings.seed)
    n = n_units(part.paired, settings)
    pairs = {"n": k * (k - 1) // 2, "unit": "pairs of systems"}
    sizes = {"pearson.means": {"n": k, "unit": "systems"}, "pairwise": pairs}
    for key, name in _SYSTEM_STATISTICS.items():
        values, bounds = STATISTICS[name][0](human, metric), (-1 if key == "pearson.means" else 0, 1)
        if np.isnan(values[0]):
            section.skip(key, "all systems have the same mean score on one side.")
        elif k == 2 and key == "pearson.means":
            section.skip(key, "with two systems it is 1 or -1 by force.")
        else:
            note = f"these systems{_without_each(part, section, name)}"
            section.add(key, values[0], interval(values, settings, n, bounds), **sizes[key], note=note)
    for key, size in sizes.items():
        if k >= FEWEST_SYSTEMS and section.row(key):
            found, *ends = of_other_systems(human, metric, _SYSTEM_STATISTICS[key], settings.level)
            section.add(f"{key}.others", found, ends, **size, note="the interval is about other systems, too")
    section.add("order", p_value, n=k, unit="systems", note=f"share of {how} that agree at least as well")
    section.found |= {"k": k, "p": p_value}
    official = es.system_scores.loc[list(es.systems), ["human", part.metric]].to_numpy()[known]
    if not np.allclose(official, np.column_stack([human[:, 0], metric[:, 0]]), rtol=1e-6, atol=1e-9, equal_nan=True):
        value = pair_accuracy(official[:, :1], official[:, 1:])[0]
        note = "from the official system scores of the set, which are no means of its segment scores"
        section.add("pairwise.official", value, **pairs, note=note)


def _without_each(part: Part, section: Section, statistic: str) -> str:
    """Return the range of a statistic with one system left out; tell the section if this changes its sign."""
    means = recomputed(part.es, part.es.human, {part.metric: part.es[part.metric]})
    table = without_each_system(means, [part.metric], Task(statistic, "system"))
    if table.empty:
        return ""
    section.text += [f"{line}." for line in decided_by_one(table)]
    ends = (table.loc[k] for k in (table["without"].idxmin(), table["without"].idxmax()))
    low, high = (f"{end['without']:z.2f} (without {end['system']})" for end in ends)
    return f"; with one left out, from {low} to {high}"


def _spa_row(part: Part, section: Section) -> None:
    found = soft_pairwise_accuracy(part.paired, [part.metric]).iloc[0]
    counts = weights_of_segments(part.paired, part.settings)
    draws = spa_in_draws(part.paired, part.metric, counts)
    ends = interval(draws, part.settings, n_units(part.paired, part.settings), (0, 1))
    note = f"of campaigns of these systems with {found['n_segments']} segments; in the interval, p-values are normal"
    section.add("spa", found["value"], ends, n=found["n_pairs"], unit="pairs of systems", note=note)


def _difference_row(part: Part, section: Section) -> None:
    settings = part.settings
    found = curve(part.es, part.metric, n_resamples=settings.n_resamples, level=settings.level, rng=settings.seed)
    value, low, high = found.needed(0.8)
    if not np.isfinite(high):
        raise Undefined("the curve may be flat: no difference is known to have that chance.")
    note = f"by a logistic curve, in units of the metric, on {part.es.shape[1]} segments; for other systems, too"
    section.add("difference", value, (low, high), n=len(found.pairs), unit="pairs of systems", note=note)


def _saved_rows(part: Part, section: Section) -> None:
    found = ratings_saved(part.es, part.metric, unit=part.settings.unit, level=part.settings.level).iloc[0]
    for key, what in (("saved.mean", "mean"), ("saved.difference", "difference")):
        if np.isnan(value := found[what]):
            section.skip(key, "no two systems have three segments that are rated for both, and differ.")
            continue
        more = f"{100 / (1 - value):.0f}" if value < 0.999 else "any number"
        note = f"100 ratings with the metric do what {more} do without, if few of all segments are rated"
        ends = found[[f"{what}_low", f"{what}_high"]]
        section.add(key, value, ends, n=found["n_segments"], unit="segments", note=note)


# -- segments ----------------------------------------------------------------------------


def _segment_row(part: Part, section: Section, coefficient: str, grouping: str) -> None:
    es = part.paired
    n_pairs = _n_pairs(es, grouping)
    found = correlate(es, [part.metric], coefficient=coefficient, grouping=grouping).iloc[0]
    if coefficient == "acc_eq" and grouping != "segment" and n_pairs > _PAIRS_WITH_INTERVAL:
        ends, why = (np.nan, np.nan), f"{NO_INTERVAL}{n_pairs:,} pairs in each resample"
    else:
        ends, why = _interval(part, coefficient, grouping)
    undefined, groups = int(found["n_degenerate"]), int(found["n_groups"])
    notes = [why, "ties calibrated on these very data" * (coefficient == "acc_eq")]
    notes.append(f"{undefined} of {groups} groups undefined (one score throughout), left out" * (undefined > 0))
    notes.append("none is left, which counts 0" * (undefined == groups))
    n, unit = (part.scored.sum(), "translations") if grouping == "none" else (groups, f"{grouping}s")
    note = "; ".join(filter(None, notes))
    section.add(f"{coefficient}.{grouping}", found["value"], ends, n=n, unit=unit, note=note)
    if (coefficient, grouping) == ("kendall", "segment"):
        section.found["degenerate"] = undefined, groups


def _interval(part: Part, coefficient: str, grouping: str) -> tuple[tuple[float, float], str]:
    """Return an interval, and why there is none."""
    es, unit = part.paired, part.settings.unit
    try:
        if few := too_few(n_added(es, part.metric, coefficient, grouping, unit), unit):
            raise Undefined(few)
        options = {"coefficient": coefficient, "grouping": grouping, **part.settings.options}
        row = intervals(es, [part.metric], **options).iloc[0]
        return (row["low"], row["high"]), ""
    except Undefined as error:
        return (np.nan, np.nan), f"{NO_INTERVAL}{error}"


def _n_pairs(es: EvalSet, grouping: str) -> int:
    """Count the pairs of rated translations that a grouping compares."""
    sizes = np.sum(~np.isnan(es.human), axis={"none": None, "segment": 0, "system": 1}[grouping])
    return int((sizes * (sizes - 1) // 2).sum())


def _parts(part: Part, section: Section) -> None:
    row = decompose_pearson(part.paired, [part.metric]).iloc[0]
    notes = {"between": "knowing what is hard", "within": "telling systems apart"}
    notes["human_between"] = "share of the variance of human scores that lies between segments"
    for what, note in notes.items():
        section.add(f"parts.{what.split('_')[0]}", row[what], n=row["n_cells"], unit="translations", note=note)


#: The steps of the section on systems, and of the one on segments: translation by translation, under three groupings.
SYSTEMS = {"means": _system_rows, "spa": _spa_row, "difference": _difference_row, "saved": _saved_rows}
SEGMENTS = {f"{c}.{g}": partial(_segment_row, coefficient=c, grouping=g) for c in COEFFICIENTS for g in GROUPINGS}
SEGMENTS["parts"] = _parts
