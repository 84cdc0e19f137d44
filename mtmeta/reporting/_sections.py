"""The sections of a report: the data, agreement, rank, baselines, ties, equal treatment of systems, and length."""

import math
from itertools import product

import numpy as np

from .._checks import Undefined
from .._copies import copies, repeated
from .._enough import FEWEST_SYSTEMS, too_few
from .._names import some_of
from .._systems import of_partly_rated_segments, of_unrated_translations
from ..agreement import correlate, decompose_pearson
from ..agreement.intervals import intervals, n_added
from ..agreement.units import pooled_pearson_in_draws
from ..evalset import recomputed
from ..protocols import Task, decided_by_one, without_each_system
from ..significance import compare
from ..significance.systems import STATISTICS, of_other_systems, order_p_value, system_means
from ..sysdep import centre_segments, compare_with_null, deviations_both_ways, system_dependence
from ..ties import calibrate_ties, held_out_calibration, human_tie_share
from ._baselines import baselines, lengths
from ._facts import LEVEL, NO_INTERVAL, NONE, Part, Section

GROUPINGS = ("none", "segment", "system")
#: The least draws of the comparison of all pairs of metrics.
_DRAWS = 1000


def data(part: Part, section: Section) -> None:
    """Count what was read, rated and left out."""
    es, both = part.es, part.scored
    rated = ~np.isnan(es.human)
    section.add("systems", es.shape[0], note=some_of(es.systems, 20))
    section.add("segments", es.shape[1])
    section.add("rated", rated.sum(), n=rated.size, unit="translations")
    section.add("both", both.sum(), n=both.size, unit="translations")
    section.add("comparable", (both.sum(axis=0) > 1).sum(), n=es.shape[1], unit="segments")
    section.add("metrics", len(es.metrics), note=some_of(es.metrics, 50))
    values = es.human[rated]
    section.text.append(
        f"Human scores run from {values.min():zg} to {values.max():zg}, with {len(np.unique(values))} distinct values. "
        "Higher is better for humans and metrics; a score that counts errors must be negated before it is read."
    )
    if es.human_systems:
        section.text.append(f"Human translations among the systems: {', '.join(sorted(es.human_systems))}.")
    section.text += (f"{name} {note}." for name, (of, note) in copies(es).items() if part.metric in (name, of))
    section.text += [f"{note.capitalize()}." for note in [repeated(es)] if note]
    section.text += (f"Left out: {what} ({why})." for what, why in es.provenance.get("left_out", {}).items())


def systems(part: Part, section: Section) -> None:
    """Compare the means of systems over the translations with both scores: on other segments, and other systems."""
    es = part.paired
    weights = part.weights(es)
    human, metric = (system_means(values, weights) for values in (es.human, es[part.metric]))
    known = ~np.isnan(human[:, 0] + metric[:, 0])
    human, metric = human[known], metric[known]
    k = len(human)
    if k < 2:
        raise Undefined(f"{k} system with human and metric scores: there is no pair of systems.")
    pairs = {"n": k * (k - 1) // 2, "unit": "pairs of systems"}
    rows = [("pearson.means", "pearson", (-1, 1), {"n": k, "unit": "systems"})]
    for key, name, bounds, size in [*rows, ("pairwise", "pairwise_accuracy", (0, 1), pairs)]:
        values = STATISTICS[name][0](human, metric)
        if np.isnan(values[0]):
            section.skip(key, "all systems have the same mean score on one side.")
        elif k == 2 and name == "pearson":
            section.skip(key, "with only two systems it is always 1 or -1.")
        else:
            note = f"these systems{_without_each(part, section, name)}"
            section.add(key, values[0], part.interval(values, part.n_units(), bounds), **size, note=note)
            if k >= FEWEST_SYSTEMS:
                found, *ends = of_other_systems(human, metric, name, LEVEL)
                section.add(f"{key}.others", found, ends, **size, note="the interval is also about other systems")
    p_value, how = order_p_value(human[:, 0], metric[:, 0], part.seed)
    notes = of_partly_rated_segments(es), of_unrated_translations(part.es.with_system_scores("paired"), [part.metric])
    section.text += (f"{note}." for note in notes if note)
    section.add("order", p_value, n=k, unit="systems", note=f"share of {how} that agree at least as well")


def _without_each(part: Part, section: Section, statistic: str) -> str:
    """Return the range of a statistic with one system left out; tell the section if this changes its sign."""
    means = recomputed(part.paired, part.paired.human, {part.metric: part.paired[part.metric]}, scores="paired")
    table = without_each_system(means, [part.metric], Task(statistic, "system"))
    if table.empty:
        return ""
    section.text += [f"{line}." for line in decided_by_one(table)]
    ends = (table.loc[k] for k in (table["without"].idxmin(), table["without"].idxmax()))
    low, high = (f"{end['without']:z.2f} (without {end['system']})" for end in ends)
    return f"; with one left out, from {low} to {high}"


def segments(part: Part, section: Section) -> None:
    """Compare translations under three groupings, and part the pooled correlation."""
    for coefficient, grouping in product(("pearson", "kendall"), GROUPINGS):
        section.attempt(f"{coefficient}.{grouping}", _agreement, part, section, coefficient, grouping)
    row = decompose_pearson(part.paired, [part.metric]).iloc[0]
    section.add("between", row["between"], n=row["n_cells"], unit="translations", note="knowing what is hard")
    section.add("within", row["within"], n=row["n_cells"], unit="translations", note="telling systems apart")


def _agreement(part: Part, section: Section, coefficient: str, grouping: str) -> None:
    es, how = part.paired, {"coefficient": coefficient, "grouping": grouping}
    found, ends = correlate(es, [part.metric], **how).iloc[0], NONE
    why: object = too_few(n_added(es, part.metric, coefficient, grouping, part.unit), part.unit)
    if not why:
        try:
            ends = intervals(es, [part.metric], **how, **part.options).loc[0, ["low", "high"]]
        except Undefined as error:
            why = error
    undefined, groups = int(found["n_degenerate"]), int(found["n_groups"])
    notes = [f"{NO_INTERVAL}{why}" if why else "", "ties calibrated on these very data" * (coefficient == "acc_eq")]
    notes.append(f"{undefined} of {groups} groups undefined (one score throughout), left out" * (undefined > 0))
    notes.append("none is left, which counts 0" * (undefined == groups))
    n, unit = (part.scored.sum(), "translations") if grouping == "none" else (groups, f"{grouping}s")
    section.add(f"{coefficient}.{grouping}", found["value"], ends, n=n, unit=unit, note="; ".join(filter(None, notes)))
    section.found[f"{coefficient}.{grouping}"] = undefined, groups


def rank(part: Part, section: Section) -> None:
    """Rank all metrics of a set; the ranking is the same for every reported metric."""
    es = part.es
    if len(es.metrics) < 2:
        raise Undefined("the table has one metric: there is nothing to rank it against.")
    found = compare(es, unit=part.unit, rng=part.seed, n_resamples=max(part.n_resamples, _DRAWS))
    section.text += [found.note] if found.note else []
    section.found["rivals"] = found.p_values.fillna(found.p_values.T)
    n = (~np.isnan([es.human, *(es[metric] for metric in es.metrics)]).any(axis=0)).sum()
    table = found.table.assign(place=found.table["value"].rank(ascending=False, method="min"))
    for row in table.itertuples():
        section.add("pearson.segment", row.value, n=n, unit="translations", subject=row.metric)
        ends = row.best_rank, row.worst_rank
        section.add("rank", row.place, ends, n=row.n_units, unit=f"{row.unit}s", subject=row.metric)
    tables = (without_each_system(es, es.metrics, Task(how, "system")) for how in ("pairwise_accuracy", "pearson"))
    section.text += [f"{line}." for table in tables for line in decided_by_one(table)]


def ties(part: Part, section: Section) -> None:
    """Calibrate ties on these data and on one half of them, and compare with what knows nothing."""
    es = part.paired
    comparable = ((~np.isnan(es.human)).sum(axis=0) > 1).sum()
    section.add("ties.human", human_tie_share(es), n=comparable, unit="segments", note="acc_eq of a constant metric")
    section.attempt("acc_eq.segment", _agreement, part, section, "acc_eq", "segment")
    for key, compute in {"threshold": _threshold, "acc_eq.held_out": _held_out, "acc_eq.random": _random}.items():
        section.attempt(key, compute, part, section)


def _threshold(part: Part, section: Section) -> None:
    es, found = part.paired, calibrate_ties(part.paired, part.metric)
    spread = np.std(es[part.metric][~np.isnan(es.human)])
    share = f"; {found.epsilon / spread:.2f} standard deviations of the metric" if spread > 0 else ""
    section.add("threshold", found.epsilon, note=f"in units of the metric{share}")


def _held_out(part: Part, section: Section) -> None:
    table = held_out_calibration(part.paired, [part.metric], shares=None, rng=part.seed)
    note = f"mean of {len(table)} splits in halves; sd {table['value'].std():.3f}"
    n = table["n_segments_test"].median()
    section.add("acc_eq.held_out", table["value"].mean(), n=n, unit="segments", note=note)


def _random(part: Part, section: Section) -> None:
    rng = np.random.default_rng(part.seed)
    noise = part.paired.with_metrics({f"noise {k}": rng.random(part.paired.shape) for k in range(20)})
    section.add("acc_eq.random", correlate(noise, coefficient="acc_eq")["value"].mean(), note="mean of 20 draws")


def treatment(part: Part, section: Section) -> None:
    """Ask whether the metric treats all systems alike."""
    few = too_few(part.n_units(), part.unit)
    section.attempt("sysdep", _sysdep, part, section, few)
    for key, compute in {"null": _null, "favours": _favours}.items():
        section.attempt(key, compute, part, section) if not few else section.skip(key, few)
    if section.rows and not few:
        text = f"Intervals redraw, and the null distribution moves, whole {part.unit}s: there are {part.n_units()}."
        section.text.append(text)


def _sysdep(part: Part, section: Section, few: str) -> None:
    found = system_dependence(part.paired, part.metric, **part.options)
    section.found["sysdep"] = found
    size, row = {"n": len(found.table), "unit": "systems"}, found.summary.iloc[0]
    for one in found.table.itertuples():
        section.add(
            "expected", one.expected_deviation, NONE if few else (one.low, one.high), **size, subject=one.system
        )
    ends = NONE if few else row[["low", "high"]]
    section.add("sysdep", row["sysdep"], ends, **size, note="lower is better; 0 is equal treatment")
    if not np.isnan(row["relative"]):
        section.add("sysdep.relative", row["relative"], **size, note="1: no better than a constant")


def _null(part: Part, section: Section) -> None:
    found = compare_with_null(part.paired, part.metric, **part.options)
    section.found["null"] = found
    row, size = found.summary.iloc[0], {"n": part.n_resamples, "unit": "draws"}
    ends = row[["null_low", "null_high"]]
    section.add("sysdep.null", row["null_mean"], ends, **size, note="metrics as noisy, blind to the system")
    section.add("sysdep.p", row["p_value"], **size, note=row["verdict"])


def _favours(part: Part, section: Section) -> None:
    es, n = part.paired, part.paired.shape[0]
    level = 1 - (1 - LEVEL) / n
    options = part.options | {"level": level, "n_resamples": max(part.n_resamples, math.ceil(2 / (1 - level)))}
    plain = deviations_both_ways(es, part.metric, **options).set_index("system")
    centred = deviations_both_ways(centre_segments(es, [part.metric]), part.metric, **options).set_index("system")
    verdicts = centred["verdict"].where(centred["verdict"] == plain["verdict"].reindex(centred.index), "undecided")
    for system, value, *ends in centred[["forward", "forward_low", "forward_high"]].itertuples():
        section.add("deviation", value, ends, n=n, unit="systems", note=verdicts[system], subject=system)


def length(part: Part, section: Section) -> None:
    """Ask whether, within segments, the metric follows the length of translations more than humans do."""
    es, characters = part.paired, lengths(part.paired, "translation", holes=True)
    known = ~np.isnan(es.human) & ~np.isnan(characters)
    if not known.any():
        raise Undefined("no scored translation has a text.")
    sides, weights = (es.human, es[part.metric]), part.weights(es)
    humans, metric = (pooled_pearson_in_draws(scores, characters, known, weights, within=True) for scores in sides)
    if np.isnan(humans[0] + metric[0]):
        raise Undefined("a side does not vary.")
    for side, values in {"humans": humans, "metric": metric, "gap": metric - humans}.items():
        ends = part.interval(values, part.n_units(known.any(axis=0)), (-2, 2))
        section.add(f"length.{side}", values[0], ends, n=known.sum(), unit="translations")


#: What fills each section, in the order of the page; the ranking is computed once for a set.
SECTIONS = {"data": data, "systems": systems, "segments": segments, "rank": rank, "baselines": baselines}
SECTIONS |= {"ties": ties, "system_dependence": treatment, "length": length}
