"""Ceilings and favours in fractions, with the same draws."""

import itertools
import math
from fractions import Fraction

import exact
import numpy as np
import pytest
from campaigns import VALUES, agree, checks, near

import mtmeta as mm
from mtmeta import raters, sysdep

pytestmark = pytest.mark.slow


def sets(numbers, least=3):
    """Yield number, set and unit: two or three ratings, a metric that follows the first."""
    for number in numbers:
        rng = np.random.default_rng([52, number])
        shape = (int(rng.integers(2, 4)), int(rng.integers(least, least + 4)))
        quality, *errors = (VALUES["normal"](rng, shape) for _ in range(4))
        ratings = [2 * quality + error for error in errors[: 2 + number % 2]]
        if number % 4 == 1:
            ratings = [np.round(h) for h in ratings]
        scale = (1.0, 1e45, 1e-45)[number % 3]
        columns = {f"human_{a}": h * scale for a, h in enumerate(ratings[1:], 2)}
        columns["m"] = quality + errors[-1] / 2
        if number % 5 == 0:
            columns["m"][0, 0] = np.nan
        names = {"systems": [f"S{k}" for k in range(shape[0])], "documents": [f"d{j // 2}" for j in range(shape[1])]}
        yield number, mm.EvalSet(ratings[0] * scale, columns, **names), ("segment", "document")[number % 2]


def drawn_units(unit, segments, n, number):
    """Return which units the segments belong to, and the units of each draw."""
    unit_of = [j // 2 if unit == "document" else j for j in segments]
    units = sorted(set(unit_of))
    drawn = np.random.default_rng(number).integers(len(units), size=(n, len(units)))
    return unit_of, units, [[units[u] for u in row] for row in drawn]


@checks(raters.ceiling)
def test_ceiling(numbers):
    n = 5
    for number, es, unit in sets(numbers):
        found = raters.ceiling(es, "m", n_resamples=n, unit=unit, rng=number).iloc[0]
        cells = [(k, j) for k, j in np.ndindex(es.shape) if not np.isnan(es["m"][k, j])]

        def means(js, es=es, cells=cells):
            rows = [cell for j in js for cell in cells if cell[1] == j]
            m, *hs = ([v[cell] for cell in rows] for v in (es["m"], *es.ratings))
            pairs = [exact.pearson(a, b) for a, b in itertools.combinations(hs, 2)]
            with_m = [exact.pearson(h, m) for h in hs]
            if None in pairs + with_m:
                return None, None
            return sum(with_m) / len(hs), sum(pairs) / len(pairs)

        value, reliability = means(range(es.shape[1]))
        agree(found, number, value=value, reliability=reliability)
        agree(found, number, corrected=value / math.sqrt(reliability) if reliability > 0 else None)
        unit_of, _, draws = drawn_units(unit, sorted({j for _, j in cells}), n, number)
        segments = sorted({j for _, j in cells})
        several = [
            means([j for u in draw for j, own in zip(segments, unit_of, strict=True) if own == u]) for draw in draws
        ]
        values = [v / math.sqrt(r) for v, r in several if r is not None and r > 0]
        known_reliabilities = [r for _, r in several if r is not None]
        for columns, known in (
            (("low", "high"), values), (("reliability_low", "reliability_high"), known_reliabilities),
        ):  # fmt: skip
            bounds = np.quantile(known, [0.025, 0.975]) if known else [None, None]
            for column, wanted in zip(columns, bounds, strict=True):
                near(found[column], wanted, number, 1e-7)


def solve(matrix, right):
    """Return the solution of linear equations in fractions; None where there is none."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for k in range(len(rows)):
        pivot = next((i for i in range(k, len(rows)) if rows[i][k]), None)
        if pivot is None:
            return None
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [v / rows[k][k] for v in rows[k]]
        for i in range(len(rows)):
            if i != k:
                rows[i] = [v - rows[i][k] * w for v, w in zip(rows[i], rows[k], strict=True)]
    return [row[-1] for row in rows]


def favours_of(m, ratings, degree, weights):
    """Return the favours and the slope, from the definition; segments have weights."""
    systems, segments = range(len(m)), range(len(m[0]))

    def less_segment(x):
        middle = [exact.mean([x[k][j] for k in systems]) for j in segments]
        return [[x[k][j] - middle[j] for j in segments] for k in systems]

    def total(x, y):
        return sum(weights[j] * x[k][j] * y[k][j] for k in systems for j in segments)

    m = less_segment(m)
    powers = [[less_segment([[v**p for v in row] for row in h]) for p in range(1, degree + 1)] for h in ratings]
    pairs = list(itertools.permutations(range(len(ratings)), 2))
    cross = [[sum(total(powers[b][p], powers[a][q]) for a, b in pairs) for q in range(degree)] for p in range(degree)]
    along = [sum(total(powers[b][p], m) for _, b in pairs) for p in range(degree)]
    curve = solve(cross, along)
    if curve is None:
        return None, None

    def left(k, j):
        return m[k][j] - sum(c * h[p][k][j] for h in powers for p, c in enumerate(curve)) / len(ratings)

    return [sum(weights[j] * left(k, j) for j in segments) / sum(weights) for k in systems], along[0] / cross[0][0]


@checks(sysdep.favours, first=24)
def test_favours(numbers):
    n, step = 4, Fraction(1, 10**12)
    for number, es, unit in sets(numbers, 5):
        degree = 1 + number % 2
        whole = [j for j in range(es.shape[1]) if not np.isnan(es["m"][:, j]).any()]
        size = exact.exact([np.abs(es.ratings[..., whole]).max()])[0]
        ratings = [[[v / size for v in exact.exact(row)] for row in h] for h in es.ratings[..., whole]]
        m = [exact.exact(row) for row in es["m"][:, whole]]
        unit_of, units, draws = drawn_units(unit, whole, n, number)

        def of(counts, unit_of=unit_of, m=m, ratings=ratings, degree=degree):
            return favours_of(m, ratings, degree, [counts.get(u, 0) for u in unit_of])

        def with_errors(counts, of=of, units=units):
            middle, slope = of(counts)
            moved = {u: of(counts | {u: counts[u] + step})[0] for u in units if counts.get(u)}
            squares = [
                sum(counts[u] * ((v[k] - middle[k]) / step) ** 2 for u, v in moved.items()) for k in range(len(middle))
            ]
            return middle, [math.sqrt(s) for s in squares], slope

        found = sysdep.favours(es, "m", degree=degree, n_resamples=n, unit=unit, rng=number)
        wanted, errors, slope = with_errors(dict.fromkeys(units, Fraction(1)))
        largest = []
        for draw in draws:
            counts = {u: Fraction(draw.count(u)) for u in draw}
            if of(counts)[0] is not None and all(of(counts | {u: counts[u] + step})[0] for u in counts):
                other, own, _ = with_errors(counts)
                if min(own) < 1e-7:  # one unit alone fits the curve exactly: 0 but for rounding
                    break
                largest.append(max(float(abs(o - w)) / e for o, w, e in zip(other, wanted, own, strict=True)))
        else:
            near(found.slope * float(size), slope, number, 1e-7)
            table, half = found.table.set_index("system"), np.quantile(largest, 0.95)
            for system, favour, error in zip(es.systems, wanted, errors, strict=True):
                line, points = table.loc[system], float(slope)
                inside = (1 + sum(one >= abs(float(favour)) / error for one in largest)) / (len(largest) + 1)
                near(line["p_value"], inside, number)
                ends = {"favour": 0, "low": -half * error, "high": half * error}
                for column, more in ends.items():
                    at = (float(favour) + more) / points if points > 0 else None
                    near(line[column] / float(size), at, number, 1e-5 * max(1, abs(at or 0)))
            near(found.p_value, table["p_value"].min(), number)
