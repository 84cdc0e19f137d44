"""The published tests of a whole ranking, and of its parts, on nulls and spreads from real scores.

Two questions. *How wide is the null distribution of a test?* For neighbours in a ranking, the standard deviation of the
null differences is set against that of the difference itself when whole documents are drawn with replacement (segments,
where a set names no documents). This needs no null hypothesis: a test whose null is too narrow rejects too often,
whichever metrics are equal. *How often is a whole ranking wrong?* Two metrics exchange their scores of whole documents
at random (`real_nulls`), and `mtmeta.rank` tests the weighted average of all tasks.

Only counts and ratios leave this file. It asks `mtmeta.rank` and `mtmeta.compare`, so it measures whatever they do now.
"""

import numpy as np
import real_nulls
from joblib import Parallel, delayed
from null_campaigns import two_sided
from scipy import stats

import mtmeta as mm
from mtmeta import agreement, significance
from mtmeta.agreement.coefficients import values_of_groups
from mtmeta.agreement.groups import grouped
from mtmeta.agreement.units import correlations
from mtmeta.resampling import times_drawn

NAME = "published ranking"
YEARS = {
    "WMT23": ("wmt23/en-de", "wmt23/he-en", "wmt23/zh-en"),
    "WMT24": ("wmt24-news/en-de", "wmt24-news/en-es"),
}
#: Year, protocol and campaigns of a pair of metrics.
RANKINGS = (("WMT23", "wmt23", 48), ("WMT23", "wmt24", 12), ("WMT24", "wmt24", 84))
#: Label, coefficient, grouping.
PARTS = (*real_nulls.FIRST, real_nulls.TESTS[-1])
PUBLISHED, INPUTS, DEFAULT = "published", "PERM-INPUTS", "new default"
#: Draws of the test of a ranking, of a null whose spread is measured, and of documents.
N_DRAWS, N_SPREAD, N_DOCUMENTS = 79, 100, 400
#: Campaigns of PERM-INPUTS for each pair of metrics and set.
N_PARTS = 14


def neighbours(sets: list[mm.EvalSet]) -> list[tuple[str, str]]:
    """Return the first and second metric of the ranking by Pearson's r, the third and fourth, and so on."""
    names = mm.rank(sets, protocol="sentinels-pearson", n_resamples=0).table["metric"].tolist()
    return list(zip(names[::2], names[1::2], strict=False))


def unit(es: mm.EvalSet) -> str:
    return "segment" if es.documents is None else "document"


# -- spreads -----------------------------------------------------------------------------


def spread_of_documents(es: mm.EvalSet, pair: tuple[str, str], coefficient: str, grouping: str) -> float:
    """Return the standard deviation of a difference over documents drawn with replacement.

    Thresholds of acc_eq stay those of the whole set.
    """
    units = agreement.units.exchange_units(es, unit(es))
    drawn = np.random.default_rng(1).integers(units.n, size=(N_DOCUMENTS, units.n))
    times = times_drawn(drawn, units.n).T  # (n_units, n_draws)
    human, x, y = (np.where(np.isnan(es.human), np.nan, v) for v in (es.human, *real_nulls.standardised(es, pair)))

    def sums(values: np.ndarray) -> np.ndarray:
        """Add up cells of the last axis by unit, and the units of each draw."""
        by_unit = np.zeros((*values.shape[:-1], units.n))
        rated = units.of_segment < units.n
        for at, column in zip(units.of_segment[rated], np.nan_to_num(values)[..., rated].T, strict=True):
            by_unit[..., at] += column.T
        return by_unit @ times

    if grouping == "none":
        moments = [
            np.array([sums(v).sum(axis=0) for v in (np.isfinite(human + m), human, m, human**2, m**2, human * m)])
            for m in (x, y)
        ]
        values = [correlations(np.moveaxis(of, 0, -1)) for of in moments]
    else:
        groups = [grouped(es, metric, grouping) for metric in pair]
        of_groups = [values_of_groups(cells, coefficient, "calibrate") for cells in groups]
        values = []
        for cells, own in zip(groups, of_groups, strict=True):
            rows = np.full((2, es.shape[1]), np.nan)
            place = {label: k for k, label in enumerate(es.segments)}
            at = [place[label] for label in cells.labels]
            rows[:, at] = own, np.where(np.isnan(own), np.nan, 1.0)
            total, n = sums(rows)
            values.append(total / n)
    return float(np.std(values[0] - values[1], ddof=1))


def null_of(es: mm.EvalSet, pair, coefficient: str, grouping: str, test: str, n: int, rng) -> np.ndarray:
    """Return the observed difference of two metrics and n null differences of a test that exchanges whole units.

    PERM-INPUTS exchanges whole segments of two standardised metrics and scores both hybrids; where the value is a mean
    over segments that is the sum of signed contributions, at the thresholds of the whole set.
    """
    units = agreement.units.exchange_units(es, "segment" if test == INPUTS else unit(es))
    signs = units.signs(n, rng)
    if coefficient == "spa":
        return significance.exchange.exchanged_systems(es, pair, "spa", units, signs)[0]
    if test == INPUTS and grouping == "none":
        return of_hybrids(es, pair, signs[units.of_segment])
    return significance.exchange.exchanged_coefficients(es, pair, coefficient, grouping, units, signs)[0, 0]


def of_hybrids(es: mm.EvalSet, pair, signs: np.ndarray) -> np.ndarray:
    """Return the difference in Pearson's r, without grouping, of the hybrids of two standardised metrics."""
    human = es.human - np.nanmean(es.human)
    x, y = (np.where(np.isnan(human), np.nan, m) for m in real_nulls.standardised(es, pair))

    def moments(m: np.ndarray) -> np.ndarray:
        return np.nansum([m * 0 + 1, human + m * 0, m, human**2 + m * 0, m**2, human * m], axis=1)

    mean, half = (moments(x) + moments(y)) / 2, (moments(x) - moments(y)) / 2
    a, b = (correlations((mean.sum(axis=1)[:, None] + sign * (half @ signs)).T) for sign in (1, -1))
    return a - b


def spreads(es: mm.EvalSet, pair: tuple[str, str]) -> list[dict]:
    """Return the spread of each null over that of the difference, by agreement and test.

    SPA's p-values have noise of their own, and redrawing documents adds to it. What documents leave open of SPA is
    therefore the spread of its difference when they are exchanged.
    """
    es = agreement.units.common_cells(es, pair)
    rows = []
    for label, coefficient, grouping in PARTS:
        rng = np.random.default_rng(2)
        options = {"level": "segment", "grouping": grouping, "n_resamples": N_SPREAD, "rng": rng}
        found = {PUBLISHED: significance.published.null_differences([es], pair, coefficient, **options).std()}
        for test in (INPUTS, DEFAULT):
            found[test] = null_of(es, pair, coefficient, grouping, test, N_DOCUMENTS, rng)[1:].std()
        true = found.pop(DEFAULT) if coefficient == "spa" else spread_of_documents(es, pair, coefficient, grouping)
        if true > 1e-12:  # otherwise both metrics tie all pairs
            rows += [{"label": label, "test": test, "ratio": float(sd / true)} for test, sd in found.items()]
    return rows


def implied_level(ratios: np.ndarray) -> float:
    """Return how often a test at .05 rejects if its null is so many times as wide as the difference; normal."""
    return float(2 * stats.norm.sf(stats.norm.isf(0.025) * ratios).mean())


# -- rates -------------------------------------------------------------------------------


def null_of_documents(es: mm.EvalSet, pair, rng) -> mm.EvalSet:
    """Return a set whose metrics a and b have changed places in whole documents at random."""
    null = real_nulls.shuffled(es, [pair], unit(es), rng)
    about = {"language_pair": es.language_pair, "human_systems": es.human_systems}
    parts = {"systems": es.systems, "segments": es.segments, "documents": es.documents, "name": es.name}
    return mm.EvalSet(null.human, {m: null[m] for m in "ab"}, **parts, about=about)


def count_parts(es: mm.EvalSet, pair: tuple[str, str]) -> dict[str, list[int]]:
    """Return rejections at .05 and campaigns of PERM-INPUTS, by agreement."""

    def rejected(k, rng):
        null, found = agreement.units.common_cells(null_of_documents(es, pair, rng), ["a", "b"]), {}
        for label, coefficient, grouping in PARTS:
            drawn = np.abs(null_of(null, ["a", "b"], coefficient, grouping, INPUTS, 199, rng))[None]
            found[label] = significance.decisions.share_reached(drawn[:, 1:], drawn[:, 0])[0] <= 0.05 + 1e-9
        return found

    return real_nulls.tally([es.name, *pair], range(N_PARTS), rejected)


def count(sets: list[mm.EvalSet], protocol: str, pair: tuple[str, str], n: int) -> dict[str, list[int]]:
    """Return rejections at .05 and campaigns of the published ranking and of the default, by test."""

    def rejected(k, rng):
        drawn, found = [null_of_documents(es, pair, rng) for es in sets], {}
        for test, method in ((PUBLISHED, "published"), (DEFAULT, "exchange")):
            p = mm.rank(drawn, protocol=protocol, method=method, n_resamples=N_DRAWS, rng=k).p_values.iloc[0, 1]
            found[test] = (two_sided(p) if test == PUBLISHED else p) <= 0.05 + 1e-9
        return found

    return real_nulls.tally([sets[0].name, protocol, *pair], range(n), rejected)


def load(name: str) -> mm.EvalSet:
    """Return the rated systems and segments of a set."""
    es = mm.load(name)
    rated = ~np.isnan(es.human)
    keep = [s for s, some in zip(es.systems, rated.any(axis=1), strict=True) if some]
    return es.select(systems=keep, segments=[s for s, some in zip(es.segments, rated.any(axis=0), strict=True) if some])


def measure(jobs: int, limit: int | None = None) -> list[dict] | None:
    """Return one row for each year, agreement or protocol, and test; None without the data.

    ``limit`` is the most campaigns of a pair of metrics, and the most pairs.
    """
    try:
        years = {year: [load(name) for name in names] for year, names in YEARS.items()}
    except ValueError as error:
        print(f"The {NAME} is left out: {error}")
        return None
    pairs = {year: neighbours(sets)[:limit] for year, sets in years.items()}
    single = [(y, es.select(metrics=pair), pair) for y, sets in years.items() for es in sets for pair in pairs[y]]
    work = Parallel(n_jobs=jobs, verbose=1)
    rows: dict[tuple, dict] = {}

    def row(*about: str) -> dict:
        return rows.setdefault(about, dict(zip(("year", "label", "test"), about, strict=True)))

    for (year, *_), found in zip(single, work(delayed(spreads)(es, pair) for _, es, pair in single), strict=True):
        for one in found:
            row(year, one["label"], one["test"]).setdefault("ratios", []).append(one["ratio"])
    for (year, *_), found in zip(single, work(delayed(count_parts)(es, pair) for _, es, pair in single), strict=True):
        for label, counts in found.items():
            add(row(year, label, INPUTS), counts)
    for year, protocol, n in RANKINGS:
        own = [([es.select(metrics=pair) for es in years[year]], protocol, pair) for pair in pairs[year]]
        for found in work(delayed(count)(*task, min(n, limit or n)) for task in own):
            for test, counts in found.items():
                add(row(year, f"ranking, protocol {protocol}", test), counts)
    return list(rows.values())


def add(row: dict, counts: list[int]) -> None:
    row["rejected"], row["n"] = row.get("rejected", 0) + counts[0], row.get("n", 0) + counts[1]
