"""System dependence in fractions: both directions, resamples and nulls with the same draws, and parts."""

import math
from functools import partial
from statistics import NormalDist

import exact
import noise_nulls
import numpy as np
import pytest
from campaigns import VALUES, agree, checks, near, refuses

import mtmeta as mm
from mtmeta import sysdep
from mtmeta.evalset import Computed
from mtmeta.sysdep._cells import cells_of

pytestmark = pytest.mark.slow
#: All null models by name: those of the package, and those beside the page on system dependence.
MODELS = sysdep._nulls._DRAWS | {model.__name__: model for model in noise_nulls.NULLS}


def sets(numbers, *, least=2, holes=True):
    """Yield number and set: two to four systems, each with a cell that has both scores."""
    kinds = ("normal", "integers", "tenths", "shifted", "huge", "tiny")
    for number in numbers:
        rng = np.random.default_rng([41, number])
        shape = (int(rng.integers(2, 5)), int(rng.integers(least, 7)))
        human, metric = (VALUES[kinds[k % 6]](rng, shape) for k in (number, number // 6))
        if number % 5 == 0:
            metric = np.where(rng.random(shape) < 0.6, human, metric)
        if holes and number % 3 == 0:
            human[:, 1:][rng.random((shape[0], shape[1] - 1)) < 0.25] = np.nan
        names = {"systems": [f"S{k}" for k in range(shape[0])], "documents": [f"d{j // 2}" for j in range(shape[1])]}
        yield number, mm.EvalSet(human, {"m": metric}, **names)


def unit_of(unit, segment):
    return segment // 2 if unit == "document" else segment


def rows_of(es):
    """Return system, segment, human and metric score (as fractions) of the cells with both scores."""
    scored = ~(np.isnan(es.human) | np.isnan(es["m"]))
    system, segment = (v.tolist() for v in np.nonzero(scored))
    return list(zip(system, segment, exact.exact(es.human[scored]), exact.exact(es["m"][scored]), strict=True))


def size(es, column="human"):
    """Return the largest human (or metric) score, by which all is divided before it is compared."""
    return float(np.nanmax(np.abs(es.human if column == "human" else es[column]))) or 1.0


def forward(rows, n_systems):
    """Return the Expected Deviations; None for a system without a row."""
    return exact.deviations([m for *_, m in rows], [h for _, _, h, _ in rows], [s for s, *_ in rows], n_systems)


def scaled(es, unit):
    unit = exact.exact([unit])[0]
    return [float(v / unit) for v in forward(rows_of(es), es.shape[0])]


def slope(rows):
    """Return cov(m, h) / var(h)."""
    h, m = exact.centred([h for _, _, h, _ in rows]), exact.centred([m for *_, m in rows])
    return exact.dot(h, m) / exact.dot(h, h) if any(h) else 0


def rise(rows, every):
    """Return variance and covariance as shares of the squares about the means of all rows, of which these are drawn."""
    means = [sum(row[k] for row in every) / len(every) for k in (2, 3)]
    squares = [sum((row[k] - mean) ** 2 for row in rows) for k, mean in zip((2, 3), means, strict=True)]
    if not all(squares):
        return 0.0, 0.0
    h, m = (exact.centred([row[k] for row in rows]) for k in (2, 3))
    covariance = exact.dot(h, m)
    share = abs(covariance) * covariance / (squares[0] * squares[1])
    return float(exact.dot(h, h) / squares[0]), math.copysign(math.sqrt(abs(share)), share)


def rounding(es, share):
    """Return the relative error of a slope: human scores are rounded to a share of their size, not of their spread."""
    spread = np.nanstd(es.human / size(es))
    return 64 * 2**-52 / (min(1, spread) * share) if spread else 0.0


def reverse(rows, n_systems, every):
    """Return (mean m - mean g(h)) / b; None where b <= 0, or for a system without a row."""
    if min(rise(rows, every)) <= 1e-12:
        return [None] * n_systems
    b = slope(rows)
    back = exact.deviations([h for _, _, h, _ in rows], [m for *_, m in rows], [s for s, *_ in rows], n_systems)
    return [None if v is None else -v / b for v in back]


def resampled(rows, n, rng, unit="segment"):
    """Draw rated segments or documents with replacement; yield the rows."""
    units = sorted({unit_of(unit, segment) for _, segment, *_ in rows})
    for _ in range(n):
        drawn = [units[k] for k in rng.integers(len(units), size=len(units))]
        yield [row for u in drawn for row in rows if unit_of(unit, row[1]) == u]


def tails(values, level):
    """Return the quantiles; None where more draws than a tail holds are undefined."""
    known = [float(v) for v in values if v is not None]
    if len(known) < len(values) * (1 - (1 - level) / 2):
        return None, None
    return np.quantile(known, [(1 - level) / 2, (1 + level) / 2])


@checks(sysdep.deviations_both_ways, first=24)
def test_both_ways(numbers):
    n, level = 4, 0.4
    for number, es in sets(numbers):
        rows, k, unit = rows_of(es), es.shape[0], size(es)
        options = {"unit": ("segment", "document")[number % 2], "rng": number}
        found = sysdep.deviations_both_ways(es, "m", n_resamples=n, level=level, **options).set_index("system")
        draws = list(resampled(rows, n, np.random.default_rng(number), options["unit"]))
        rises = [(one, rise(one, rows)) for one in (rows, *filter(None, draws))]
        if any(1e-14 < share < 1e-10 for _, shares in rises for share in shares):
            continue  # next to nothing: rounding decides whether a slope is defined
        # metric scores are rounded to a share of their size, and what is lost is divided by the slope
        one, slopes = exact.exact([unit])[0], [slope(own) for own, shares in rises if min(shares) > 1e-12]
        lost = 8 * 2**-52 * float(exact.exact([size(es, "m")])[0] / min(slopes) / one) if slopes else 0.0
        part = rounding(es, min([share for _, shares in rises for share in shares if share > 1e-12], default=1.0))
        ways = {"forward": forward, "reverse": partial(reverse, every=rows)}
        for name, way in ways.items():
            single, drawn = way(rows, k), [way(one, k) if one else [None] * k for one in draws]
            for s, system in enumerate(es.systems):
                line, wanted = found.loc[system], None if single[s] is None else float(single[s] / one)
                room = (1e-9 + part) * max(1, abs(wanted or 0)) + lost
                near(line[name] / unit, wanted, number, room)
                low, high = tails([None if v[s] is None else v[s] / one for v in drawn], level)
                room = (1e-8 + part) * max(1, abs(low or 0), abs(high or 0)) + lost
                near(line[f"{name}_low"] / unit, low, number, room)
                near(line[f"{name}_high"] / unit, high, number, room)


@checks(sysdep.system_dependence, first=24)
def test_bootstrap_of_deviations(numbers):
    """The mean of the fits of resamples at each row, less the human mean; ranges of the resamples."""
    n = 3
    for number, es in sets(numbers, holes=False):
        rows, k, unit = rows_of(es), es.shape[0], size(es)
        one, unit_drawn = exact.exact([unit])[0], ("segment", "document")[number % 2]
        found = mm.system_dependence(es, "m", n_resamples=n, unit=unit_drawn, rng=number)
        draws = list(resampled(rows, n, np.random.default_rng(number), unit_drawn))
        ours = found.draws.pivot(index="draw", columns="system", values="expected_deviation")[
            list(es.systems)
        ].to_numpy()
        for values, drawn in zip(ours, draws, strict=True):
            for value, wanted in zip(values, forward(drawn, k), strict=True):
                near(value / unit, wanted / one, number)
        row = found.summary.iloc[0]
        near(row["sysdep"] / unit, float(np.ptp(found.table["expected_deviation"])) / unit, number)
        table = found.table.set_index("system").loc[list(es.systems)]
        for s in range(k):
            low, high = np.quantile(ours[:, s], [0.025, 0.975])
            near(table["low"].iloc[s] / unit, low / unit, number)
            near(table["high"].iloc[s] / unit, high / unit, number)
        means = [exact.mean([h for s, _, h, _ in rows if s == system]) for system in range(k)]
        for s in range(k):
            near(table["human"].iloc[s] / unit, means[s] / one, number)
            near((table["remapped"] - table["human"] - table["expected_deviation"]).iloc[s] / unit, 0, number)
        spread = (max(means) - min(means)) / one
        relative = row["sysdep"] / unit / float(spread) if spread > 1e-12 else row["relative"]
        near(row["relative"], relative, number, 1e-6)


@checks(sysdep.system_dependence, first=36)
def test_summaries(numbers):
    for number, es in sets(numbers):
        found = sysdep.system_dependence([es], n_resamples=0).summary.iloc[0]
        unit = size(es)
        values = scaled(es, unit)
        agree(found, number, per=unit, sysdep=np.ptp(values), sd=np.std(values, ddof=1))
        r = exact.pearson(*([float(row[side]) for row in rows_of(es)] for side in (2, 3)))
        near(found["pearson"], 0.0 if r is None else r, number)


@checks(sysdep.centre_segments)
def test_centred_segments(numbers):
    for number, es in sets(numbers):
        whole = [j for j in range(es.shape[1]) if not np.isnan(es.human[:, j]).any()]
        if not whole:
            refuses("for every system", sysdep.centre_segments, es)
            continue
        found = sysdep.centre_segments(es)
        assert found.segments == tuple(es.segments[j] for j in whole)
        for column, values in (("human", es.human), ("m", es["m"])):
            unit, own = size(es, column), found.human if column == "human" else found["m"]
            for at, j in enumerate(whole):
                wanted = [v / exact.exact([unit])[0] for v in exact.centred(exact.exact(values[:, j]))]
                np.testing.assert_allclose(own[:, at] / unit, [float(v) for v in wanted], atol=1e-9, err_msg=number)


def strata(human, least):
    """Return the rows of equal human scores; from the lowest up, small ones take in the next, a small rest the last."""
    found, current = [], []
    for score in sorted(set(human)):
        current = current + [i for i, h in enumerate(human) if h == score]
        if len(current) >= least:
            found, current = [*found, current], []
    if current:
        found = [*found[:-1], found[-1] + current] if found else [current]
    return found


def moved(rows, unit, rng):
    """Return for each row the number of the row whose noise it gets: units in a new order, systems in new ones."""
    k, n_units = 1 + max(s for s, *_ in rows), 1 + max(unit_of(unit, j) for _, j, *_ in rows)
    keys, order = rng.random((k, n_units)), rng.permutation(n_units)
    laid, first = [], []
    for system in range(k):
        first.append(len(laid))
        for column, u in enumerate(order):
            chosen = sorted(range(k), key=keys[:, column].tolist().__getitem__)[system]
            laid += [i for i, (s, j, *_) in enumerate(rows) if (s, unit_of(unit, j)) == (chosen, u)]
    place = [sum(s == system for s, *_ in rows[:i]) for i, (system, *_) in enumerate(rows)]
    return [laid[(first[s] + p) % len(laid)] for (s, *_), p in zip(rows, place, strict=True)]


def ranked(human, metric, least, rng):
    """Return for each row its rank in its stratum, and the rows of the stratum from the lowest score up."""
    found = {}
    for stratum in strata(human, least):
        ties = rng.random(len(stratum))
        order = [i for _, _, i in sorted(zip([metric[i] for i in stratum], ties, stratum, strict=True))]
        found |= {i: (rank, order) for rank, i in enumerate(order)}
    return [found[i] for i in range(len(human))]


def noise_of(human, metric, least, rng):
    """Return normal scores of the ranks, each stratum with a mean square of 1."""
    ranks = ranked(human, metric, least, rng)
    normal = [NormalDist().inv_cdf((rank + 0.5) / len(order)) for rank, order in ranks]
    return np.array(
        [
            v / (math.hypot(*(normal[i] for i in order)) / len(order) ** 0.5 or 1)
            for v, (_, order) in zip(normal, ranks, strict=True)
        ]
    )


def null_scores(null, rows, unit, rng):
    """Return the metric scores of one draw of a null that draws scores, or moves them in units."""
    human, metric = [h for _, _, h, _ in rows], [m for *_, m in rows]
    n = len(human)
    if null == "constant":
        return np.zeros(n)
    if null == "human":
        ranks, wanted = ranked(human, metric, 3, rng), []
        for i, (_, order) in zip(moved(rows, unit, rng), ranks, strict=True):
            rank, of = ranks[i]
            wanted.append(float(metric[order[(2 * rank + 1) * len(order) // (2 * len(of))]]))
        return np.array(wanted)

    def noise(least):
        if unit == "cell":
            return rng.standard_normal(n)
        own = noise_of(human, metric, least, rng)
        return own[moved(rows, unit, rng)]

    if null == "gaussian":
        x = exact.centred(human)
        sd = exact.mean([v * v for v in x])
        r = exact.pearson([float(v) for v in human], [float(v) for v in metric]) or 0.0
        z = np.array([exact.root(v * abs(v) / sd) if sd else 0.0 for v in x])
        return r * z + np.sqrt(1 - r * r) * noise(30)
    if null == "heteroscedastic":
        one = max(map(abs, metric)) or 1
        mean, sd = np.empty(n), np.empty(n)
        for stratum in strata(human, 3):
            own = [float(metric[i] / one) for i in stratum]
            mean[stratum], sd[stratum] = np.mean(own), np.std(own)
        return (mean + sd * noise(3)) * float(one)
    fitted = exact.isotonic(human, metric)
    gaps = np.array([float(m - f) for m, f in zip(metric, fitted, strict=True)])
    drawn = rng.choice(gaps, n) if unit == "cell" else gaps[moved(rows, unit, rng)]
    return np.array([float(f) for f in fitted]) + drawn


def drawn_from(null, es, seed, unit):
    """Return the first draw of a null as a set of its own."""
    cells = cells_of(es, "m", unit=unit)
    human, points, at = next(MODELS[null](cells, np.random.default_rng(seed), 3, unit))
    found = np.full((2, *es.shape), np.nan)
    found[:, cells.system, cells.segment] = human, points[at]
    return Computed(found[0], {"m": found[1]}, systems=es.systems)


@checks(sysdep.permute_within_human_scores)
def test_nulls(numbers):
    """What a null draws, and what it keeps."""
    for number, es in sets(numbers):
        rows, scored = rows_of(es), ~(np.isnan(es.human) | np.isnan(es["m"]))
        human, unit_moved = [h for _, _, h, _ in rows], sysdep._nulls.UNITS[number % 3]
        for null in ("constant", "gaussian", "heteroscedastic", "residuals", "human"):
            if null == "human" and unit_moved == "cell":
                continue
            found = drawn_from(null, es, number, unit_moved)
            np.testing.assert_array_equal(found.human[scored], es.human[scored])
            wanted = null_scores(null, rows, unit_moved, np.random.default_rng(number))
            unit = 1.0 if null == "gaussian" else size(es, "m")
            np.testing.assert_allclose(found["m"][scored] / unit, wanted / unit, atol=1e-9, err_msg=f"{number} {null}")
        found = sysdep.permute_within_human_scores(es, "m", min_stratum=3, rng=number)
        np.testing.assert_array_equal(found.human[scored], es.human[scored])
        for stratum in strata(human, 3):
            assert sorted(found["m"][scored][stratum]) == sorted(es["m"][scored][stratum]), number
        found = drawn_from("systems", es, number, unit_moved)
        for u in {unit_of(unit_moved, j) for j in range(es.shape[1])}:
            columns = [j for j in range(es.shape[1]) if unit_of(unit_moved, j) == u]
            both = [
                sorted(
                    zip(*(np.where(scored, v, 9e299)[:, columns].tolist() for v in (one.human, one["m"])), strict=True)
                )
                for one in (found, es)
            ]
            assert both[0] == both[1], number


@checks(sysdep.compare_with_null, first=36)
def test_comparison_with_nulls(numbers):
    """The first draw is that of the function that draws one; p-values count draws on either side."""
    for number, es in sets(numbers):
        null = [*MODELS][number % 6]
        options = {"n_resamples": 39, "min_stratum": 3, "rng": number}
        options["unit"] = sysdep._nulls.UNITS[number // 6 % 3]
        given = null if null in sysdep.NULLS else MODELS[null]
        found, unit = sysdep.compare_with_null(es, "m", null=given, **options), size(es)
        assert found.summary["null"].tolist() == [null]
        row, draws_of = found.summary.iloc[0], {name: found.draws[name].to_numpy() for name in ("sysdep", "sd")}
        for k, one in enumerate((es, drawn_from(null, es, number, options["unit"]))):
            spreads = row[["sysdep", "sd"]] if k == 0 else [draws[0] for draws in draws_of.values()]
            spreads = list(spreads)
            near(spreads[0] / unit, np.ptp(scaled(one, unit)), number)
            near(spreads[1] / unit, np.std(scaled(one, unit), ddof=1), number)
        for value, draws, p in (
            (row["sysdep"], draws_of["sysdep"], row["p_value"]),
            (row["sd"], draws_of["sd"], row["sd_p_value"]),
        ):
            room = 1e-12 * max(abs(value), *np.abs(draws))
            sides = [(1 + sum(side * (draw - value) >= -room for draw in draws)) / 40 for side in (1, -1)]
            near(p, None if null == "constant" else min(1, 2 * min(sides)), number)
        near(row["null_mean"] / unit, np.mean(draws_of["sysdep"]) / unit, number, 1e-12)
