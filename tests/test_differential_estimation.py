"""Corrected means and saved ratings against exact sums, on 2,000 awkward campaigns."""

import itertools
from fractions import Fraction

import exact
import numpy as np
import pytest
from campaigns import checks, refuses, scores
from scipy.stats import t

import mtmeta as mm
from mtmeta.estimation import ratings_saved, system_means

KINDS = tuple(itertools.product(("normal", "integers", "tenths", "shifted", "huge", "tiny", "small"), repeat=2))
LEAST = Fraction(1, 10**300)  # flatter or steeper lines have no slope that is a float


def rated_in_part(number):
    """Return a set of which some is rated and most is scored, with documents, and its cells as fractions."""
    rng = np.random.default_rng([13, number])
    shape = int(rng.choice([1, 2, 3])), int(rng.integers(2, 13))
    human, metric = (scores(rng, kind, shape) for kind in KINDS[number % len(KINDS)])
    documents = np.sort(rng.integers(0, max(2, shape[1] // 2), shape[1]))
    drawn = np.isin(documents, rng.permutation(documents.max() + 1)[: 1 + documents.max() // 2])
    human[np.broadcast_to(~drawn, shape) if number % 2 else rng.random(shape) < 0.4] = np.nan
    if number % 3 == 0:
        metric[rng.random(shape) < 0.15] = np.nan
    if np.isnan(human).all() or np.isnan(metric).all():
        return None
    systems = [f"S{k}" for k in range(shape[0])]
    es = mm.EvalSet(human, {"m": metric}, systems=systems, documents=[f"d{d}" for d in documents])
    rows = [
        [
            {"h": None if np.isnan(h) else exact.exact([h])[0], "m": exact.exact([m])[0], "seg": j}
            for j, (h, m) in enumerate(zip(*row, strict=True))
            if not np.isnan(m)
        ]
        for row in zip(human, metric, strict=True)
    ]
    return es, rows, documents.tolist(), bool(number % 2)


def difference(first, second):
    """Return the cells of the differences of two systems."""
    other = {c["seg"]: c for c in second}
    return [
        c | {"h": None if None in (c["h"], o["h"]) else c["h"] - o["h"], "m": c["m"] - o["m"]}
        for c in first
        if (o := other.get(c["seg"]))
    ]


def largest(rows, side):
    return max((abs(c[side]) for row in rows for c in row if c[side] is not None), default=0) or Fraction(1)


@checks(system_means)
def test_means_and_differences_of_awkward_campaigns(numbers):
    for number in numbers:
        if not (made := rated_in_part(number)):
            continue
        es, rows, documents, whole = made
        unit = "document" if whole and number % 3 else "segment"
        size, size_m = largest(rows, "h"), largest(rows, "m")
        for row in rows:
            for c in row:
                c["unit"] = documents[c["seg"]] if unit == "document" else c["seg"]
        options = {"unit": unit, "level": 0.9}
        wanted = [exact.corrected_mean(row) for row in rows]
        if all(w is None for w in wanted):
            refuses("no system has enough", system_means, es, "m", **options)
            continue
        found = system_means(es, "m", **options)
        pairs = [difference(a, b) for a, b in itertools.combinations(rows, 2)]
        wanted_pairs = [exact.corrected_mean(row) for row in pairs]
        for table, every, cells in ((found.table, wanted, rows), (found.pairs, wanted_pairs, pairs)):
            assert len(table) == len(every)
            for (_, line), want, row in zip(table.iterrows(), every, cells, strict=True):
                counts = [sum(c["h"] is not None for c in row), len(row)]
                assert line[["n_rated", "n_segments"]].tolist() == counts, f"campaign {number}"
                agrees(line, want, size, size_m, number)


def agrees(line, want, size, size_m, number):
    """Assert that a row is what was wanted, to 1e-9 of the largest score."""
    if want is None:
        assert line[["value", "se", "low", "weight", "saved"]].isna().all(), f"campaign {number}"
        return
    value, variance, weight, alone, free = want
    se = float(variance / size**2) ** 0.5
    half, middle, scale = se * t.ppf(0.95, free), float(value / size), float(size)
    got = [line[name] / scale for name in ("value", "se", "low", "high")]
    slack = 1e-9 * max(1, abs(float(weight * size_m / size)))  # a steep line loses as many digits
    assert got == pytest.approx([middle, se, middle - half, middle + half], rel=1e-9, abs=slack), f"campaign {number}"
    if not weight or LEAST < abs(weight) < 1 / LEAST:
        steepness = float(Fraction(line["weight"]) * size_m / size)
        # Differences of scores near 1e6 that are some tenths apart have nine digits.
        assert steepness == pytest.approx(float(weight * size_m / size), rel=1e-8, abs=1e-9), f"campaign {number}"
    if not alone:
        assert np.isnan(line["saved"]) or 0 < got[1] < 1e-15, f"campaign {number}"  # 1e6 + .3 less 1e6 + .1 is not .2
    else:
        lost = 1e-5 * slack * float(size**2 / alone) ** 0.5 * max(1, float(variance / alone))  # far from 0, and alike
        assert line["saved"] == pytest.approx(float(1 - variance / alone), abs=max(1e-9, lost)), f"campaign {number}"


@checks(ratings_saved)
def test_saved_ratings_of_awkward_campaigns(numbers):
    for number in numbers:
        if not (made := rated_in_part(number)):
            continue
        es, rows, documents, whole = made
        unit = "document" if whole else "segment"
        sides = [rows, [difference(a, b) for a, b in itertools.combinations(rows, 2)]]
        known = [
            [
                [(c["h"], c["m"], documents[c["seg"]] if whole else c["seg"]) for c in row if c["h"] is not None]
                for row in side
            ]
            for side in sides
        ]
        rated = {c["seg"] for row in rows for c in row if c["h"] is not None}
        n_units = len({documents[j] for j in rated}) if whole else len(rated)
        wanted = [exact.saved(side, n_units) for side in known]
        if wanted[0] is None:
            refuses("too few ratings that differ", ratings_saved, es, "m", unit=unit)
            continue
        found = ratings_saved(es, "m", unit=unit, level=0.9).iloc[0]
        for what, want in zip(("mean", "difference"), wanted, strict=True):
            value, error = want or (np.nan, np.nan)
            half = error * t.ppf(0.95, n_units - 1)
            expected = [float(value), float(value) - half, float(value) + half]
            got = found[[what, f"{what}_low", f"{what}_high"]].astype(float)
            assert got.tolist() == pytest.approx(expected, abs=1e-7, nan_ok=True), f"campaign {number}"
        (own, n), (gaps, n_pairs) = (exact.variance_by_unit(side, False) for side in known)
        expected = 1 - sum(gaps.values()) / n_pairs / (2 * sum(own.values()) / n) if n_pairs else np.nan
        assert found["pairing"] == pytest.approx(float(expected), abs=1e-7, nan_ok=True), f"campaign {number}"
        assert [found["n_systems"], found["n_segments"]] == [n, len(rated)]
