"""Simulated campaigns in which a null hypothesis holds, or fails by a known amount: one `Procedure` for each.

`measure.py` repeats them. A function simulates one campaign and returns what the package says about it, by label.
"""

import itertools
import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import optimize, stats

import mtmeta as mm
from mtmeta import agreement, local_accuracy, significance, sysdep
from mtmeta.aggregation import SegmentStatistics, aggregate, extract
from mtmeta.agreement.spa import one_sided_p
from mtmeta.reporting._claims import SHOWN
from mtmeta.significance.systems import order_p_value

sys.path.append(str(Path(__file__).parents[2] / "notebooks" / "real_data"))
import noise_nulls  # beside the page on system dependence

#: Draws of tests, and of intervals, which need more: the 2.5 % quantile of 199 draws lies too far in.
N_DRAWS, N_INTERVAL = 199, 399


@dataclass(frozen=True)
class PValue:
    """A p-value, and where the draws are known one with its lattice and ties broken at random: exactly uniform."""

    value: float
    randomised: float | None = None


@dataclass(frozen=True)
class Interval:
    """An interval of nominal level .95 and the true value."""

    low: float
    high: float
    truth: float


@dataclass(frozen=True)
class Claim:
    """Whether a claim was made that is false under the null, and how often it may be."""

    made: bool
    level: float = 0.05


Outcomes = dict[str, PValue | Interval | Claim]


@dataclass(frozen=True)
class Procedure:
    """What is simulated, how large, how often, and by how much the null fails for the power curve."""

    name: str
    area: str
    null: str
    simulate: Callable[[np.random.Generator, int, float], Outcomes]
    unit: str = "segments"
    sizes: tuple[int, int] = (30, 120)
    effect: str = ""
    effects: tuple[float, ...] = ()
    n: int = 800
    n_power: int = 120


# -- scores ------------------------------------------------------------------------------


def scores(
    rng: np.random.Generator,
    shape: tuple[int, int],
    gain: float = 0.0,
    *,
    metrics: str = "ab",
    drawn: bool = False,
    favour: float = 0.0,
    shared: float = 0.0,
    documents: float = 0.0,
    rounded: bool = False,
) -> mm.EvalSet:
    """Return a campaign of metrics that read the human score with noise of sd 1; the first one's is ``1 - gain``.

    Human scores are an effect of the system (``drawn``, or evenly spread from -.5 to .5), one of the segment and one of
    the translation, both of sd 1. ``favour`` is the sd of each metric's own liking for a system, ``shared`` that of an
    error that all translations of a segment share, ``documents`` that of the logarithm of its noise between documents
    of five segments.
    """
    n_systems, n_segments = shape
    of_system = 0.5 * rng.normal(size=n_systems) if drawn else np.linspace(-0.5, 0.5, n_systems)
    human = of_system[:, None] + rng.normal(size=n_segments) + rng.normal(size=shape)
    human = np.round(human) if rounded else human
    document = np.arange(n_segments) // 5
    columns = {}
    for name in metrics:
        noise = np.exp(documents * rng.normal(size=document[-1] + 1))[document] * rng.normal(size=shape)
        liked = favour * rng.normal(size=(n_systems, 1)) + shared * rng.normal(size=n_segments)
        values = human + (1 - gain * (name == "a")) * noise + liked
        columns[name] = np.round(2 * values) / 2 if rounded else values
    systems = [f"S{k}" for k in range(n_systems)]
    return mm.EvalSet(human, columns, systems=systems, documents=document.tolist())


def p_of(rng: np.random.Generator, null: np.ndarray, observed: float) -> PValue:
    """Return the share of null draws that reach the observed value, the observed one among them."""
    above, equal = np.sum(null > observed + 1e-12), np.sum(np.abs(null - observed) <= 1e-12)
    n = len(null) + 1
    return PValue((above + equal + 1) / n, (above + rng.random() * (equal + 1)) / n)


def that_a_is_better(rng: np.random.Generator, result: significance.Comparison) -> PValue:
    """Return the one-sided p-value of a fixed pair: `compare` sorts by value, which chooses the side."""
    value = result.table["value"]
    sign = 1 if result.table["metric"][0] == "a" else -1
    return p_of(rng, sign * result.draws[0], sign * (value[0] - value[1]))


def two_sided(p: float) -> float:
    """Double the p-value of a pair that was sorted by value."""
    return min(1.0, 2 * p)


def permutation(rng, size, effect, *, coefficient, label, n_resamples=N_DRAWS, **how) -> Outcomes:
    found = {}
    for grouping in ("none", "segment", "system") if coefficient != "spa" else ("segment",):
        es = scores(rng, (6, size), effect, rounded=coefficient not in ("pearson", "spa"), **how)
        options = {"coefficient": coefficient, "grouping": grouping, "n_resamples": n_resamples}
        result = mm.compare(es, rng=rng, method="published", **options)
        name = label if coefficient == "spa" else f"{label}, grouping {grouping}"
        found[name] = that_a_is_better(rng, result)
    return found


def pair_swap(rng, size, effect, *, n_systems, coefficient="acc_eq", grouping="segment") -> Outcomes:
    es = scores(rng, (n_systems, size), effect, rounded=True)
    options = {"coefficient": coefficient, "grouping": grouping}
    exact = mm.compare(es, **options, method="published").to_frame()["p_value"][0]
    more = {"level": "segment", "grouping": grouping, "n_resamples": N_DRAWS, "rng": rng}
    drawn = significance.published.null_differences([es], ["a", "b"], coefficient, **more)[0]
    value = mm.correlate(es, ["a", "b"], **options).set_index("metric")["value"]
    where = f"{coefficient}, grouping {grouping}, {n_systems} systems"
    return {
        f"pair swap, exact, {where}": PValue(two_sided(exact)),
        f"pair swap, drawn, {where}": p_of(rng, drawn, value["a"] - value["b"]),
    }


def williams(rng, size, effect) -> Outcomes:
    p = mm.compare(scores(rng, (6, size), effect), grouping="none", method="williams").p_values.iloc[0, 1]
    return {"Williams, Pearson, grouping none": PValue(p, p)}


# -- exchange of units -------------------------------------------------------------------

#: Coefficients and groupings.
EXCHANGED = (
    ("pearson", "none"), ("pearson", "segment"), ("acc_eq", "segment"), ("kendall", "none"), ("kendall", "segment"),
)  # fmt: skip
_NAMES = {"pearson": "Pearson", "spa": "SPA"}


def named(coefficient: str, grouping: str) -> str:
    name = _NAMES.get(coefficient, coefficient)
    return name if coefficient == "spa" else f"{name}, grouping {grouping}"


def of_exchange(rng, es: mm.EvalSet, coefficient: str, grouping: str, unit: str | None = None) -> PValue:
    """Return the p-value of the default of `compare`, or of a unit, and one whose lattice is broken at random."""
    units = agreement.units.exchange_units(es, unit)
    signs = units.signs(N_DRAWS, rng)
    if coefficient == "spa":
        drawn = significance.exchange.exchanged_systems(es, ["a", "b"], "spa", units, signs)
    else:
        drawn = significance.exchange.exchanged_coefficients(es, ["a", "b"], coefficient, grouping, units, signs)[0]
    p = significance.decisions.share_reached(np.abs(drawn[:, 1:]), np.abs(drawn[:, 0]))[0]
    return PValue(p, p - rng.random() / (N_DRAWS + 1))


def exchanged(rng, size, effect, *, label="exchange", **how) -> Outcomes:
    es = scores(rng, (6, size), effect, rounded=True, **how)
    return {
        f"{label}, {named(*options)}": of_exchange(rng, es, *options) for options in (*EXCHANGED, ("spa", "segment"))
    }


def autocorrelated(rng, n: int, rho: float) -> np.ndarray:
    """Return numbers of mean 0 and sd 1, of which each passes on a share ``rho`` to the next."""
    values, new = np.empty(n), np.sqrt(1 - rho**2) * rng.normal(size=n)
    values[0] = rng.normal()
    for k in range(1, n):
        values[k] = rho * values[k - 1] + new[k]
    return values


def neighbours(rng, size, effect, *, rho: float) -> Outcomes:
    """Exchange segments and blocks where noise and shared errors pass to neighbours."""
    es, found = along_a_text(rng, size, effect, rho), {}
    for options in (*EXCHANGED[:3], ("spa", "segment")):
        for unit in ("segment", "block"):
            label = f"exchange of {unit}s, neighbours {rho:g}, {named(*options)}"
            found[label] = of_exchange(rng, es, *options, unit)
    return found


def dependence(rng, size, effect) -> Outcomes:
    """Test whether neighbours depend on each other."""
    es, found = along_a_text(rng, size, 0.0, effect), {}
    units = agreement.units.exchange_units(es)
    for options in EXCHANGED[:3]:
        added = [significance.exchange.contributions(es, name, *options, units) for name in "ab"]
        p = significance.exchange.dependence(np.array(added))[0]
        found[f"dependence of neighbours, {named(*options)}"] = PValue(p)
    return found


def along_a_text(rng, size: int, gain: float, rho: float) -> mm.EvalSet:
    """Return a campaign without documents; ``rho`` is the autocorrelation of noise and of shared errors."""
    human = np.linspace(-0.5, 0.5, 6)[:, None] + rng.normal(size=size) + rng.normal(size=(6, size))
    columns = {}
    for name in "ab":
        noise = np.exp(0.7 * autocorrelated(rng, size, rho)) * rng.normal(size=(6, size))
        columns[name] = human + (1 - gain * (name == "a")) * noise + 0.7 * autocorrelated(rng, size, rho)
    return mm.EvalSet(np.round(human), columns, systems=[f"S{k}" for k in range(6)])


ROUNDED, SKEWED, NOISY = "b rounded", "b skewed", "b twice the noise, half the bias"
VERY_SKEWED = "b very skewed"


def shaped(rng, n_segments: int, shape: str, knob: float) -> mm.EvalSet:
    """Return a campaign of six systems whose metrics a and b differ in shape; ``knob`` sets how well they agree."""
    of_system = np.linspace(-0.5, 0.5, 6)[:, None]
    human = np.round(of_system + rng.normal(size=n_segments) + rng.normal(size=(6, n_segments)))
    noise = rng.normal(size=(2, *human.shape))
    if shape == NOISY:
        bias = knob * np.array([1, -1, 1, -1, 1, -1])[:, None]
        a, b = human + bias + 0.7 * noise[0], human + bias / 2 + 1.4 * noise[1]
    else:
        a, b = human + noise[0], human + knob * noise[1]
        b = 2 * np.round(b / 2) if shape == ROUNDED else np.exp(b / (4 if shape == SKEWED else 2))
    return mm.EvalSet(human, {"a": a, "b": b}, systems=[f"S{k}" for k in range(6)])


def apart(shape: str, coefficient: str, grouping: str, knob: float, seed: int = 1) -> float:
    """Return by how much a agrees better than b in a campaign of 40,000 segments, always of the same noise.

    Pearson's r of a skewed metric settles more slowly, and gets 200,000.
    """
    n = 200_000 if coefficient == "pearson" and shape in (SKEWED, VERY_SKEWED) else 40_000
    es = shaped(np.random.default_rng(seed), n, shape, knob)
    value = mm.correlate(es, coefficient=coefficient, grouping=grouping).set_index("metric")["value"]
    return value["a"] - value["b"]


@lru_cache
def equal_knob(shape: str, coefficient: str, grouping: str) -> float:
    """Return the knob at which a and b agree equally well; 1 by construction where only ranks count.

    What 40,000 segments leave open moves a test on 120 by an eighteenth of its standard deviation, which changes its
    level by less than .001.
    """
    if shape in (SKEWED, VERY_SKEWED) and coefficient == "kendall":
        return 1.0
    return optimize.brentq(lambda knob: apart(shape, coefficient, grouping, knob), 0.05, 1.8, xtol=1e-3)


def other_shape(rng, size, effect, *, shape) -> Outcomes:
    found = {}
    for options in EXCHANGED:
        es = shaped(rng, size, shape, equal_knob(shape, *options))
        found[f"exchange, {named(*options)}, {shape}"] = of_exchange(rng, es, *options)
    return found


def sorted_table(rng, size, effect) -> Outcomes:
    es = scores(rng, (6, size), effect, metrics="abcde")
    published = mm.compare(es, method="published", n_resamples=N_DRAWS, rng=rng).table
    seed = int(rng.integers(2**31))
    found = {"any cluster boundary, 5 metrics, published": published["cluster"].max() > 1}
    for correction in (None, "holm", "bh", "maxT"):
        p = mm.compare(es, n_resamples=999, correction=correction, rng=seed).to_frame()["p_value"]
        found[f"any claim, 5 metrics, {_CORRECTIONS[correction]}"] = (p <= 0.05).any()
    return {label: Claim(bool(made)) for label, made in found.items()}


_CORRECTIONS = {None: "uncorrected", "holm": "Holm", "bh": "Benjamini-Hochberg", "maxT": "max-T"}
#: Noise of eight metrics of five qualities, and the ranks that each may call its own.
_NOISE = {"a": 0.7, "b": 0.7, "c": 1.0, "d": 1.0, "e": 1.0, "f": 1.4, "g": 1.4, "h": 2.2}
_RANKS = {"a": (1, 2), "b": (1, 2), "c": (3, 5), "d": (3, 5), "e": (3, 5), "f": (6, 7), "g": (6, 7), "h": (8, 8)}


def misses(table: pd.DataFrame, ranks: dict[str, tuple[int, int]]) -> bool:
    """Say whether a rank set lacks one of its metric's true ranks; metrics that are equally good share several."""
    return any(
        row.best_rank > ranks[row.metric][0] or row.worst_rank < ranks[row.metric][1] for row in table.itertuples()
    )


def planted(rng, size, effect) -> Outcomes:
    human = scores(rng, (6, size), rounded=True).human
    columns = {m: human + sd * rng.normal(size=human.shape) for m, sd in _NOISE.items()}
    es = mm.EvalSet(human, columns, systems=[f"S{k}" for k in range(6)])
    found = {}
    for coefficient, grouping in EXCHANGED[:3]:
        table = mm.compare(es, coefficient=coefficient, grouping=grouping, n_resamples=N_DRAWS, rng=rng).table
        found[f"rank sets miss a true rank, {named(coefficient, grouping)}"] = Claim(misses(table, _RANKS))
    return found


# -- bootstrap ---------------------------------------------------------------------------


def bootstrap(
    rng, size, effect, *, coefficient, grouping, redrawn, label, truth=None, n_resamples=N_INTERVAL, **how
) -> Outcomes:
    """Give the p-value of `compare` and the interval of `intervals`."""
    shape = (size, 30) if redrawn in ("system", "both") else (6, size)
    es = scores(rng, shape, effect, drawn=redrawn in ("system", "both"), **how)
    n_resamples = 99 if effect else n_resamples
    options = {"coefficient": coefficient, "grouping": grouping, "unit": redrawn, "n_resamples": n_resamples}
    result = mm.compare(es, method="bootstrap", rng=rng, **options)
    sign = 1 if result.table["metric"][0] == "a" else -1
    found: Outcomes = {f"{label}: test": p_of(rng, -sign * result.draws[0], 0.0)}
    if not effect and truth is not None:
        row = significance.intervals(es, ["b"], rng=rng, **options).iloc[0]
        name = label.replace("bootstrap", row["method"], 1)
        found[f"{name}: interval"] = Interval(row["low"], row["high"], truth(es))
    return found


def pooled_pearson(
    es: mm.EvalSet, *, of_systems: float | None = None, of_segments: float | None = None, favour: float
) -> float:
    """Return Pearson's r over all cells in the population; None: the systems or segments of this campaign are it."""
    system, segment = np.linspace(-0.5, 0.5, es.shape[0]), es.human.mean(axis=0)
    variance = 1 + (system.var() if of_systems is None else of_systems)
    variance += segment.var() - 1 / es.shape[0] if of_segments is None else of_segments
    return float(np.sqrt(variance / (variance + 1 + favour**2)))


@lru_cache
def _long_run(coefficient: str, grouping: str, documents: float) -> float:
    es = scores(np.random.default_rng(1), (6, 60_000), documents=documents, rounded=coefficient == "acc_eq")
    return float(mm.correlate(es, ["b"], coefficient=coefficient, grouping=grouping)["value"][0])


def long_run(es: mm.EvalSet, *, coefficient: str, grouping: str, documents: float = 0.0) -> float:
    """Return the value in a campaign of 60,000 segments and the same systems."""
    return _long_run(coefficient, grouping, documents)


@lru_cache
def _mean_spa(size: int) -> float:
    rng = np.random.default_rng(1)
    return float(np.mean([mm.soft_pairwise_accuracy(scores(rng, (6, size)), ["b"])["value"][0] for _ in range(1500)]))


def mean_spa(es: mm.EvalSet) -> float:
    """Return the mean over 1,500 campaigns of this size: soft pairwise accuracy depends on the number of segments."""
    return _mean_spa(es.shape[1])


def one_system_against_another(rng, size, effect) -> Outcomes:
    values = rng.normal(size=(2, size)) + rng.normal(size=size)
    values[0] += effect
    signs = np.rint(np.random.default_rng(4).random((1000, size))) * 2.0 - 1
    p = one_sided_p(values, np.ones(values.shape, dtype=bool), signs, "half")[0]
    return {"p-values inside soft pairwise accuracy": PValue(p, (1000 * p + rng.random()) / 1001)}


# -- system dependence -------------------------------------------------------------------

_MEANS = np.linspace(-1, 1, 6)


def treated(rng, n_segments: int, bias: float = 0.0, *, null: str = "human") -> mm.EvalSet:
    """Return a campaign of six systems in which the metric ``m`` is as the null says, but for a bias for the third."""
    shape = (6, n_segments)
    human = (0 if null == "systems" else _MEANS[:, None]) + 1.5 * rng.normal(size=shape)
    if null == "systems":
        human = human + rng.normal(size=n_segments)
    human = human if null == "gaussian" else np.round(human)
    noise = rng.normal(size=shape)
    if null == "heteroscedastic":
        noise = noise * (1 + np.abs(human) / 2)
    elif null == "residuals":
        noise = noise + np.exp(noise)
    values = human + 1.5 * noise
    values[2] += bias
    return mm.EvalSet(human, {"m": values}, systems=[f"S{k}" for k in range(6)])


def against_null(rng, size, effect, *, null, min_stratum=30) -> Outcomes:
    es = treated(rng, size, effect, null=null)
    options = {"n_resamples": 99, "min_stratum": min_stratum, "rng": rng}
    model = null if null in sysdep.NULLS else getattr(noise_nulls, null)
    found = sysdep.compare_with_null(es, "m", null=model, **options).summary.iloc[0]
    strata = f", strata of {min_stratum}" if null in ("human", "heteroscedastic") else ""
    label, step = f"compare_with_null, {null}{strata}", 2 * rng.random() / 100
    p_values = {"SysDep": found["p_value"], "sd": found["sd_p_value"]}
    return {f"{label}: {what}": PValue(p, p - step) for what, p in p_values.items()}


@lru_cache
def _true_deviations(bias: float) -> tuple[float, float, float]:
    es = treated(np.random.default_rng(1), 50_000, bias)
    result = sysdep.system_dependence(es, "m", n_resamples=0)
    both = sysdep.deviations_both_ways(es, "m", n_resamples=2).set_index("system")
    deviation = result.table.set_index("system").loc["S2", "expected_deviation"]
    return result.summary["sysdep"][0], float(deviation), float(both.loc["S2", "reverse"])


def deviations(rng, size, effect, *, bias, label) -> Outcomes:
    sysdep_, deviation, reverse = _true_deviations(bias)
    es = treated(rng, size, bias)
    result = sysdep.system_dependence(es, "m", n_resamples=N_INTERVAL, rng=rng)
    row = result.table.set_index("system").loc["S2"]
    both = sysdep.deviations_both_ways(es, "m", n_resamples=N_INTERVAL, rng=rng).set_index("system").loc["S2"]
    return {
        f"SysDep, {label}": Interval(*result.summary.loc[0, ["low", "high"]], sysdep_),
        f"Expected Deviation, {label}": Interval(row["low"], row["high"], deviation),
        f"forward deviation, {label}": Interval(both["forward_low"], both["forward_high"], deviation),
        f"reverse deviation, {label}": Interval(both["reverse_low"], both["reverse_high"], reverse),
    }


def alike(rng, size, effect) -> Outcomes:
    """Let the human score, the metric and the systems be as if drawn from one population: every deviation is 0."""
    human = np.round(rng.normal(size=size) + rng.normal(size=(6, size)))
    es = mm.EvalSet(human, {"m": human + rng.normal(size=human.shape)}, systems=[f"S{k}" for k in range(6)])
    result = sysdep.system_dependence(es, "m", n_resamples=N_INTERVAL, rng=rng)
    row = result.table.set_index("system").loc["S2"]
    return {
        "SysDep, equal systems treated alike": Interval(*result.summary.loc[0, ["low", "high"]], 0.0),
        "Expected Deviation, equal systems treated alike": Interval(row["low"], row["high"], 0.0),
    }


def favoured(rng, size, effect) -> Outcomes:
    es = treated(rng, size, effect)
    plain = sysdep.deviations_both_ways(es, "m", n_resamples=N_DRAWS, rng=rng).set_index("system")
    strict = sysdep.deviations_both_ways(es, "m", n_resamples=599, level=1 - 0.05 / 6, rng=rng)
    one, some = plain.loc["S2", "verdict"] != "undecided", (strict["verdict"] != "undecided").any()
    return {
        "deviations_both_ways: verdict on one system": Claim(one),
        "deviations_both_ways: any verdict on 6 systems, level 1 - .05 / 6": Claim(bool(some)),
    }


# -- local accuracy ----------------------------------------------------------------------


def pairs(rng, n_segments, shifts, *, context="domain", documents=0.0, n_systems=4) -> pd.DataFrame:
    """Return pairs of four systems and three perturbations; a segment's outcomes share an effect, and a text's do.

    ``shifts``, (n_metrics, 3), is the mean of what decides a pair, by metric and context; ``documents`` the sd of
    an effect that the five segments of a document share.
    """
    index = itertools.product(range(n_segments), range(n_systems), range(3))
    frame = pd.DataFrame(index, columns=["segment", "system", "perturbation"])
    frame["doc"] = frame["segment"] // 5
    frame["domain"] = frame["doc" if documents else "segment"] % 3
    shifts = np.asarray(shifts, dtype=float)
    for m, shift in enumerate(shifts):
        easy = 0.8 * rng.normal(size=n_segments)[frame["segment"]]
        text = 0.8 * rng.normal(size=(n_segments, n_systems))[frame["segment"], frame["system"]]
        same = documents * rng.normal(size=frame["doc"].max() + 1)[frame["doc"]]
        frame[f"m{m}"] = shift[frame[context] % 3] + easy + text + same + rng.normal(size=len(frame))
        frame[f"m{m}_perturbed"] = 0.0
    return frame


def accuracy_of(shift: float) -> float:
    """Return the true accuracy of a metric with this mean."""
    return float(stats.norm.cdf(shift / np.sqrt(1 + 2 * 0.8**2)))


def context(rng, size, effect, *, by, documents=0.0, unit="segment") -> Outcomes:
    shift = 0.6 + effect * np.arange(3)
    frame = pairs(rng, size, [shift], context=by, documents=documents)
    row = local_accuracy.context_effect(frame, context=by, unit=unit, n_resamples=N_DRAWS, rng=rng).iloc[0]
    where = f"{by}" + (f", alike within documents, unit {unit}" if documents else "")
    jittered = row["p_permutation"] - rng.random() / (N_DRAWS + 1)
    return {
        f"H1, chi-square, by {where}": PValue(row["p_value"]),
        f"H1, permutation, by {where}": PValue(row["p_permutation"], jittered),
    }


def order(rng, size, effect, *, by) -> Outcomes:
    shift = 0.4 + 0.1 * np.arange(4)[:, None] + effect * np.outer([1, -1, 1, -1], [-1, 0, 1])
    frame = pairs(rng, size, shift, context=by)
    table = local_accuracy.ranking_effect(frame, context=by, n_resamples=N_DRAWS, rng=rng)
    names = (f"H2, between contexts, by {by}", f"H2, with all pairs, by {by}")
    return {name: PValue(p) for name, p in zip(names, table["p_value"], strict=True)}


def accuracies(rng, size, effect) -> Outcomes:
    frame = pairs(rng, size, [[0.6] * 3] * 3)
    local = local_accuracy.local_accuracy(frame, context="system", metrics=["m0"], n_resamples=N_INTERVAL, rng=rng)
    whole = local_accuracy.local_accuracy(frame, context=None, metrics=["m0"], n_resamples=N_INTERVAL, rng=rng)
    truth = accuracy_of(0.6)
    found = {"local accuracy, one system": local.iloc[0], "global accuracy, all pairs": whole.iloc[0]}
    return {name: Interval(row["low"], row["high"], truth) for name, row in found.items()}


def best_in_context(rng, size, effect) -> Outcomes:
    shifts = np.full((3, 3), 0.6)
    shifts[0] += effect
    frame = pairs(rng, size, shifts)
    table = local_accuracy.recommend(frame, context="system", n_resamples=N_INTERVAL, rng=rng).table.query(
        "context == 0"
    )
    return {"recommend: any of 3 metrics worse in a context": Claim(bool((table["verdict"] == "worse").any()))}


# -- aggregation -------------------------------------------------------------------------


@lru_cache
def _counts(metric: str) -> SegmentStatistics:
    return extract(mm.load("teaching").select(systems=["Aster"]), metric)


def aggregated(rng, size, effect, *, metric) -> Outcomes:
    population = _counts(metric)
    segments = [population.segments[j] for j in rng.integers(len(population.segments), size=size)]
    sample, found = population.select(segments=segments), {}
    for how, kind in itertools.product(("corpus", "segment"), ("jackknife", "bootstrap")):
        truth = aggregate(population, metric, how=how).table["score"][0]
        options = {"n_resamples": N_INTERVAL, "rng": rng} if kind == "bootstrap" else {}
        row = aggregate(sample, metric, how=how, interval=kind, **options).table.iloc[0]
        found[f"{metric}, {how}, {kind}"] = Interval(row["low"], row["high"], truth)
    return found


# -- report ------------------------------------------------------------------------------


def order_of_systems(rng, size, effect) -> Outcomes:
    human = rng.normal(size=size)
    metric = effect * human + rng.normal(size=size)
    p = order_p_value(human, metric, int(rng.integers(2**31)), n_resamples=999)[0]
    return {"report: p of the order": PValue(p)}


_BEST = "Within segments it is better than every other metric of the table."
#: How often a claim may be made of a metric of which it is false, and these metrics.
_CLAIMS = {
    "It orders these systems as humans do more often than chance would.": (0.05, ["noise", "blind"]),
    "It would order other systems of this kind better than a coin.": (0.025, ["noise", "blind"]),
    "It tells better from worse translations of one segment.": (0.025, ["noise", "blind"]),
    "Over all translations it agrees better than a metric that sees the source alone.": (0.025, ["noise", "blind"]),
    "With ties counted, it is right more often than a constant metric or random numbers.": (0.025, ["noise", "blind"]),
    "Within segments it follows length as humans do.": (0.025, ["biased"]),
    _BEST: (0.05, ["noise", "blind", "biased"]),
}


def with_four_metrics(rng, size) -> mm.EvalSet:
    """Return eight rated systems with random numbers, a source-only metric, a biased one, and the quality itself."""
    shape = 8, size
    hard, longer = rng.normal(size=size), rng.integers(-3, 4, size=shape)
    quality = np.linspace(1, -1, 8)[:, None] - hard + rng.normal(size=shape)
    metrics = {"noise": rng.normal(size=shape), "blind": np.tile(-hard, (8, 1))}
    metrics |= {"biased": quality + rng.normal(size=shape) + 0.25 * longer, "perfect": quality}
    metrics["biased"][4] += 2
    words = np.maximum(1, np.round(10 + 3 * hard)).astype(int)
    systems = list("ABCDEFGH")
    translations = {name: ["x" * n for n in 5 * words + 4 * row] for name, row in zip(systems, longer, strict=True)}
    texts = mm.evalset.Texts(sources=["word " * n for n in words], translations=translations)
    return mm.EvalSet(np.round(quality + 0.5 * rng.normal(size=shape)), metrics, systems=systems, texts=texts)


def claims(rng, size, effect) -> Outcomes:
    """Report on three metrics of which some claims are false, and on the best of three that are equally good."""
    es, seed = with_four_metrics(rng, size), int(rng.integers(2**31))
    of = mm.report(es, ["noise", "blind", "biased"], n_resamples=N_DRAWS, rng=seed).claims.set_index("claim")
    made = of[of["verdict"].isin(SHOWN)].groupby("claim")["metric"].agg(set).to_dict()
    found = {f"“{claim[:-1]}”": (made.get(claim, set()) & {*false}, p) for claim, (p, false) in _CLAIMS.items()}
    equal = mm.EvalSet(es.human, {m: es["perfect"] + rng.normal(size=es.shape) for m in "abc"}, systems=es.systems)
    first = mm.correlate(equal).set_index("metric")["value"].idxmax()
    best = mm.report(equal, first, n_resamples=N_DRAWS, rng=seed).claims.set_index("claim")["verdict"][_BEST]
    found["the best of three equal metrics is better than the others"] = (best in SHOWN, 0.05)
    return {f"report: {claim}": Claim(bool(made), p) for claim, (made, p) in found.items()}


# -- all of them -------------------------------------------------------------------------


def _function(name: str, options: dict) -> Callable:
    """Return a function of this module with its options, of which a table with ``of`` is one more function."""
    given = {
        key: _function(value["of"], {k: v for k, v in value.items() if k != "of"}) if isinstance(value, dict) else value
        for key, value in options.items()
    }
    return partial(globals()[name], **given)


def procedures() -> list[Procedure]:
    """Read the procedures: ``procedures.toml`` says what is simulated, how often and under which null hypothesis."""
    areas = tomllib.loads(Path(__file__).with_name("procedures.toml").read_text(encoding="utf-8"))["area"]
    rows = [(area["name"], row) for area in areas for row in area["procedure"]]
    lists = {"sizes", "effects"}
    return [
        Procedure(
            area=area,
            simulate=_function(row.pop("run"), row.pop("with", {})),
            **{key: tuple(value) if key in lists else value for key, value in row.items()},
        )
        for area, row in rows
    ]


PROCEDURES = procedures()
