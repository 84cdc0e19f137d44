"""Nulls made of real scores of WMT23: whole units of two metrics change hands, so that nothing tells the two apart.

Both metrics are brought to mean 0 and standard deviation 1, and exchange their scores of each segment (or document)
with probability 1/2. Whatever a metric is like, which of the two is called a is then a matter of coins, so that a test
at .05 should reject in 5 % of such campaigns. Only counts leave this file.
"""

import zlib

import numpy as np
from joblib import Parallel, delayed
from null_campaigns import misses, two_sided

import mtmeta as mm
from mtmeta import agreement, significance
from mtmeta.resampling import units_of

NAME = "nulls from real scores"
LANGUAGE_PAIRS = ("en-de", "he-en", "zh-en")
PAIRS = (
    ("XCOMET-Ensemble", "MetricX-23"),
    ("COMET", "BLEURT-20"),
    ("chrF", "BERTscore"),
    ("GEMBA-MQM", "CometKiwi"),
    ("prismRef", "YiSi-1"),
)
#: Two groups of metrics; those of one change places, and every one of the first is better than any of the second.
GROUPS = (("XCOMET-Ensemble", "MetricX-23", "COMET"), ("chrF", "BLEU", "f200spBLEU"))
MADE = ("segment", "document")
#: Label, coefficient, grouping.
TESTS = (
    ("Pearson, no grouping", "pearson", "none"),
    ("Pearson, within segments", "pearson", "segment"),
    ("acc_eq, within segments", "acc_eq", "segment"),
    ("Kendall, no grouping", "kendall", "none"),
    ("Kendall, within segments", "kendall", "segment"),
    ("soft pairwise accuracy", "spa", "segment"),
)
ACCURACY = "pairwise accuracy"
#: What is ranked, and what the published tests are asked most often: the rest is slow.
FIRST = TESTS[:3]
#: Campaigns for each pair of metrics, unit and language pair; those of slow published tests; rank sets; rank sets by
#: the first label, of which 167 did not settle whether they hold.
N, N_SLOW, N_RANKED, N_FIRST = 67, 16, 167, 835
#: Draws of a test, and of a published one, where 39 are the fewest that allow .05 on two sides.
N_DRAWS, N_PUBLISHED = 199, 99


def standardised(es: mm.EvalSet, names) -> list[np.ndarray]:
    """Return the scores of each metric at mean 0 and standard deviation 1."""
    return [(es[name] - np.nanmean(es[name])) / np.nanstd(es[name]) for name in names]


def shuffled(es: mm.EvalSet, groups, unit: str, rng: np.random.Generator) -> mm.EvalSet:
    """Return a set in which the metrics of each group, now a, b, ..., have changed places in whole units at random."""
    codes, columns = units_of(es, unit), {}
    for group in groups:
        scores = np.array(standardised(es, group))
        places = np.array([rng.permutation(len(group)) for _ in range(codes.max() + 1)])[codes]
        for k in range(len(group)):
            drawn = np.take_along_axis(scores, places[None, None, :, k], axis=0)[0]
            columns["abcdefghij"[len(columns)]] = drawn
    parts = {"systems": es.systems, "segments": es.segments, "documents": es.documents, "name": es.name}
    return mm.EvalSet(es.human, columns, **parts)


def p_values(es: mm.EvalSet, seed: int, *, slow: bool = True) -> dict[tuple[str, str], float]:
    """Return two-sided p-values of metrics a and b by test and label; those of slow published tests on request.

    The p-values of the default are those of `compare`, from draws that all coefficients share.
    """
    pair, rng, found = ["a", "b"], np.random.default_rng(seed), {}
    units = agreement.units.exchange_units(es)
    signs = units.signs(N_DRAWS, rng)
    for label, coefficient, grouping in (*TESTS, (ACCURACY, "pairwise_accuracy", "")):
        if coefficient in ("spa", "pairwise_accuracy"):
            drawn = significance.exchange.exchanged_systems(es, pair, coefficient, units, signs)
        else:
            drawn = significance.exchange.exchanged_coefficients(es, pair, coefficient, grouping, units, signs)[0]
        found["new default", label] = significance.decisions.share_reached(np.abs(drawn[:, 1:]), np.abs(drawn[:, 0]))[0]
    for label, coefficient, grouping in TESTS if slow else FIRST:
        n = N_PUBLISHED if coefficient == "pearson" else 39
        options = {"coefficient": coefficient, "grouping": grouping, "n_resamples": n, "rng": seed}
        p = mm.compare(es, method="published", **options).p_values.iloc[0, 1]
        found["published", label] = two_sided(p)
    null = significance.published.null_differences(
        [es], pair, "pairwise_accuracy", level="system", n_resamples=N_DRAWS, rng=rng
    )
    difference = np.abs(np.diff(mm.pairwise_accuracy(es, pair)["value"]))
    found["published", ACCURACY] = two_sided(significance.decisions.share_reached(null, difference)[0])
    williams = mm.compare(es, coefficient="pearson", grouping="none", method="williams")
    found["Williams", TESTS[0][0]] = williams.p_values.iloc[0, 1]
    return found


def tally(parts: list[str], draws: range, one) -> dict:
    """Return how often something happened, and in how many draws, by what ``one(k, rng)`` asks of draw k.

    The seeds depend on the names in ``parts`` and on k.
    """
    key, found = zlib.crc32("|".join(parts).encode()), {}
    for k in draws:
        for what, happened in one(k, np.random.default_rng([key, k])).items():
            counts = found.setdefault(what, [0, 0])
            counts[0] += int(happened)
            counts[1] += 1
    return found


def count(es: mm.EvalSet, pair: tuple[str, str], unit: str, draws: range) -> dict[tuple, list[int]]:
    """Return rejections at .05 and campaigns by test and label."""

    def rejected(k, rng):
        found = p_values(shuffled(es, [pair], unit, rng), k, slow=k < N_SLOW)
        return {what: p <= 0.05 + 1e-9 for what, p in found.items()}

    return tally([es.name, *pair, unit], draws, rejected)


def count_misses(es: mm.EvalSet, unit: str, draws: range) -> dict[str, list[int]]:
    """Return by label how often the rank sets of shuffled metrics lack one of the true ranks, and in how many."""
    ranks = {m: (1, 3) if m in "abc" else (4, 6) for m in "abcdef"}

    def missed(k, rng):
        drawn, found = shuffled(es, GROUPS, unit, rng), {}
        for label, coefficient, grouping in FIRST if k < N_RANKED else FIRST[:1]:
            table = mm.compare(drawn, coefficient=coefficient, grouping=grouping, n_resamples=N_DRAWS, rng=k).table
            found[label] = misses(table, ranks)
        return found

    return tally([es.name, "ranks", unit], draws, missed)


def load(pair: str) -> mm.EvalSet:
    """Return a set of WMT23 with the metrics that are used."""
    return mm.load(f"wmt23/{pair}").select(metrics=sorted({m for p in (*PAIRS, *GROUPS) for m in p}))


def measure(jobs: int, limit: int | None = None) -> list[dict] | None:
    """Return counts, one row for language pair, unit that changed hands, test and label; None without the data."""
    try:
        sets = [load(pair) for pair in LANGUAGE_PAIRS]
    except ValueError as error:
        print(f"The {NAME} are left out: {error}")
        return None
    draws, ranked_draws = (range(min(number, limit or number)) for number in (N, N_FIRST))
    tasks = [(es, pair, unit) for es in sets for unit in MADE for pair in PAIRS]
    done = Parallel(n_jobs=jobs, verbose=1)(delayed(count)(*task, draws) for task in tasks)
    ranked = [(es, unit) for es in sets for unit in MADE]
    misses_of = Parallel(n_jobs=jobs, verbose=1)(delayed(count_misses)(*task, ranked_draws) for task in ranked)
    rows: dict[tuple, dict] = {}
    for (es, _, unit), counts in zip(tasks, done, strict=True):
        for (test, label), (rejected, n) in counts.items():
            add(rows, es.language_pair, unit, test, label, rejected, n)
    for (es, unit), counts in zip(ranked, misses_of, strict=True):
        for label, (missed, n) in counts.items():
            add(rows, es.language_pair, unit, "rank sets", label, missed, n)
    return list(rows.values())


def add(rows: dict[tuple, dict], pair: str, unit: str, test: str, label: str, rejected: int, n: int) -> None:
    """Append counts to the row of their language pair, unit, test and label."""
    about = {"language_pair": pair, "unit": unit, "test": test, "label": label}
    row = rows.setdefault(tuple(about.values()), {**about, "rejected": [], "n": []})
    row["rejected"].append(rejected)
    row["n"].append(n)
