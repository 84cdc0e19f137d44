"""Awkward campaigns for tests that compare the package with slow versions: ties, holes, constants, extreme scores.

Each campaign is its number, so a failure names what to run again.
"""

import itertools

import exact
import numpy as np
import pytest

import mtmeta as mm

N_CAMPAIGNS = 2000
BLOCK = 125


def checks(*functions, first=64):
    """Say which functions a test checks; parametrise it over campaigns, the first so many (if any) with each change."""
    cuts = [0, *range(first, N_CAMPAIGNS, BLOCK), N_CAMPAIGNS]
    marks = [(), *([pytest.mark.exhaustive] * (len(cuts) - 2))]
    parts = zip(itertools.pairwise(cuts), marks, strict=True)
    numbers = [pytest.param(range(*c), marks=m, id=f"{c[0]}") for c, m in parts]

    def mark(test):
        test.checks = functions
        return pytest.mark.parametrize("numbers", numbers)(test) if first else test

    return mark


def _digits(rng, shape, exponent):
    """Return whole numbers times a power of ten, rounded as they print, so that equal means are equal in fractions."""
    return np.array([float(f"{k}e{exponent}") for k in rng.integers(-9, 10, shape).ravel()]).reshape(shape)


VALUES = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "integers": lambda rng, shape: -rng.integers(0, 5, shape).astype(float),
    "tenths": lambda rng, shape: rng.integers(-9, 10, shape) / 10,
    "shifted": lambda rng, shape: 1e6 + rng.integers(0, 30, shape) / 10,
    "huge": lambda rng, shape: _digits(rng, shape, 49),
    "tiny": lambda rng, shape: _digits(rng, shape, -50),
    "small": lambda rng, shape: _digits(rng, shape, -30),
    "both ends": lambda rng, shape: np.sign(rng.normal(size=shape)) * 10.0 ** rng.uniform(-50, 50, shape),
}
KINDS = tuple(itertools.product(VALUES, VALUES))


def scores(rng, kind, shape):
    """Draw scores of a kind; sometimes a system, a segment or everything is constant."""
    values, constant = VALUES[kind](rng, shape), rng.integers(6)
    if constant == 0:
        values[rng.integers(shape[0])] = values[0, 0]
    elif constant == 1:
        values[:, rng.integers(shape[1])] = values[0, 0]
    elif constant == 2 and rng.random() < 0.3:
        values[:] = values[0, 0]
    return values


def campaign(number):
    rng = np.random.default_rng([2024, number])
    shape = (int(rng.choice([1, 2, 2, 3, 3, 5])), int(rng.integers(1, 8)))
    human, metric = (scores(rng, kind, shape) for kind in KINDS[number % len(KINDS)])
    if number % 3 == 0:
        human[rng.random(shape) < 0.2] = np.nan
        metric[rng.random(shape) < 0.2] = np.nan
    return human, metric


def as_set(human, metric):
    """Return a set, or None where nobody rated or scored anything."""
    systems = [f"S{k}" for k in range(len(human))]
    if np.isnan([human, metric]).all(axis=(1, 2)).any():
        return None
    return mm.EvalSet(human, {"m": metric}, systems=systems)


def campaigns(numbers):
    """Yield number, human scores, metric scores and set of campaigns."""
    for number in numbers:
        human, metric = campaign(number)
        es = as_set(human, metric)
        if es is not None:
            yield number, human, metric, es


def comparable(human, metric, grouping):
    """Tell whether some group has two cells with both scores."""
    return any(True for _ in exact.groups(human, metric, grouping))


def grouped(numbers):
    """Yield what `campaigns` does with each grouping in which some group has two cells with both scores."""
    for made in campaigns(numbers):
        yield from ((*made, grouping) for grouping in mm.agreement.GROUPINGS if comparable(*made[1:3], grouping))


def near(value, expected, number, tolerance=1e-9):
    """Assert that a value is as expected; None stands for NaN."""
    expected = np.nan if expected is None else float(expected)
    assert value == pytest.approx(expected, abs=tolerance, nan_ok=True), f"campaign {number}"


def agree(line, number, tolerance=1e-9, /, *, per=1, **wanted):
    """Assert that the columns of a row, in units of ``per``, are near what is wanted."""
    for column, value in wanted.items():
        near(line[column] / per, value, f"{number} {column}", tolerance)


def refuses(message, function, /, *args, error=ValueError, **options):
    """Assert that a call fails with an error of this kind, whose message matches."""
    with pytest.raises(error, match=message):
        function(*args, **options)


def column(human, metric):
    """One segment, one system per score."""
    return mm.EvalSet([[h] for h in human], {"m": [[m] for m in metric]}, systems=[str(i) for i in range(len(human))])


#: Perrella et al. 2024, appendix F: C = 1, D = 2, T_h = 2, T_m = 0, T_hm = 1.
WORKED = ([5, 3, 5, 5], [0.6, 0.5, 0.4, 0.4])


def source_only(n_systems=6, n_segments=40):
    rng, quality = np.random.default_rng(5), np.arange(n_systems)[:, None]
    human = -rng.integers(0, 6, (n_systems, n_segments)) + 0.4 * quality
    return mm.EvalSet(
        human, {"src": np.tile(rng.random(n_segments), (n_systems, 1))}, systems=list("ABCDEF")[:n_systems]
    )
