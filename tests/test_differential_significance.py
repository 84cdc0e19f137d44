"""Tests of pairs of metrics, and rankings, against enumeration and naive resampling with the same draws."""

import itertools
import math

import exact
import numpy as np
import pytest
from campaigns import KINDS, VALUES, campaigns, checks, comparable, near, refuses
from scipy import stats

import mtmeta as mm
from mtmeta import agreement, significance

pytestmark = pytest.mark.slow

SWAPPED = ("pearson", "tau_b", "tau_a", "tau_10", "tau_13", "tau_14")


def with_rival(number, human, metric, es):
    """Add a second metric: other scores, or now and then a part of the first, a copy on another scale, a constant."""
    rng, long = np.random.default_rng([5, number]), KINDS[number % len(KINDS)][1] == "normal"
    scale = 1 if long else 2  # twice a long decimal is another long decimal
    sizes = np.abs(metric[~np.isnan(metric) & (metric != 0)])
    if sizes.size and not 2e-50 <= sizes.min() <= sizes.max() <= 5e49:
        scale = 1  # twice or half of it is beyond the bounds of scores
    other = [
        VALUES["normal"](rng, human.shape), VALUES["tenths"](rng, human.shape),
        np.where(rng.random(human.shape) < 0.7, metric, np.nanmin(metric)), scale * metric, metric / scale,
        np.full(human.shape, 0.1),
    ][int(rng.integers(6))]  # fmt: skip
    other[np.isnan(metric)] = np.nan
    return mm.EvalSet(human, {"m": metric, "n": other}, systems=es.systems)


def standardised(human, scores):
    """Return human scores (moderate floats in their order) and z |z| of each metric by group, and how to cut so."""
    sizes = [len(h) for h in human]

    def cut(flat):
        flat = iter(flat)
        return [[next(flat) for _ in range(n)] for n in sizes]

    z = {name: cut(exact.z_scores([v for own in by_group for v in own])) for name, by_group in scores.items()}
    human = [exact.centred(h) for h in human]
    return [[float(v / (max(map(abs, x)) or 1)) for v in x] for x in human], z, cut


def in_groups(es, grouping):
    """Return `standardised` scores of the groups of a set."""
    groups = {name: list(exact.groups(es.human, es[name], grouping)) for name in es.metrics}
    human = [exact.exact(h) for h, _ in groups[es.metrics[0]]]
    return standardised(human, {name: [exact.exact(m) for _, m in own] for name, own in groups.items()})


def offset(scores):
    """Return how many standard deviations scores reach from 0: their z-scores lose as many digits."""
    values = scores[~np.isnan(scores)] / (np.nanmax(np.abs(scores)) or 1)
    return 1 / np.std(values) if np.ptp(values) else 0


def swappable(numbers):
    """Yield campaigns that a float can standardise, and one coefficient and grouping for each."""
    for number, human, metric, es in campaigns(numbers):
        grouping = agreement.GROUPINGS[number % 3]
        if "both ends" in KINDS[number % len(KINDS)] or not comparable(human, metric, grouping):
            continue
        yield number, SWAPPED[number // 3 % 6], grouping, with_rival(number, human, metric, es)


@checks(significance.compare)
def test_permutation_with_the_same_swaps(numbers):
    n = 25
    for number, coefficient, grouping, es in swappable(numbers):
        degenerate = ("drop", "zero")[number % 2]
        options = {"coefficient": coefficient, "grouping": grouping, "degenerate": degenerate, "n_resamples": n}
        found = mm.compare(es, **options, method="published", rng=number)
        human, z, cut = in_groups(es, grouping)
        both = [z[name] for name in found.pairs[0]]
        swaps = np.random.default_rng(number).integers(0, 2, size=(n, sum(map(len, human))), dtype=np.uint8).tolist()
        expected = [exact.hybrid_difference(coefficient, human, *both, cut(swap), degenerate) for swap in swaps]
        room = 1e-12 + 1e-15 * max(map(offset, (es.human, es["m"], es["n"])))
        for value, (wanted, lost) in zip(found.draws[0], expected, strict=True):
            near(value, wanted, number, room + 1e-14 * lost)
        observed = exact.hybrid_difference(coefficient, human, *both, cut([0] * len(swaps[0])), degenerate)[0]
        values = found.table["value"]
        near(values[0] - values[1], observed, number)
        reached = sum(value >= observed - 1e-10 for value, _ in expected)
        near(found.p_values.loc[found.pairs[0]], (reached + 1) / (n + 1), number)


def unit_of_cells(es, unit):
    """Return the number of each cell's unit, units that anybody rated first, and how many these are."""
    names = {"segment": es.segments, "document": es.documents, "system": es.systems}[unit]
    rated = ~np.isnan(es.human).all(axis=int(unit == "system"))
    first = dict.fromkeys(name for name, known in zip(names, rated, strict=True) if known)
    places = {name: place for place, name in enumerate(dict.fromkeys([*first, *names]))}
    numbers = np.array([places[name] for name in names])
    return np.broadcast_to(numbers[:, None] if unit == "system" else numbers, es.shape), len(first)


def added(coefficient, es, metric, grouping, degenerate, units, whole):
    """Return the value, and what each unit adds: its part of the mean if made of whole groups, or what is lost."""
    human, scores, n = es.human, es[metric], units.max() + 1
    ties = coefficient in ("acc_eq", "tau_eq")
    epsilon = float(exact.calibrate(human, scores, grouping)[0]) if ties else 0.0
    defined = [v is not None for v in exact.in_groups(coefficient, human, scores, grouping, epsilon)]
    n_counted = max(1, len(defined) if degenerate == "zero" else sum(defined))

    def values(kept):
        found = exact.in_groups(coefficient, np.where(kept, human, np.nan), scores, grouping, epsilon)
        return [float(v) for v in found if v is not None]

    def mean(kept):  # with "zero", a group that is too small now counts 0 as well
        known = values(kept)
        return sum(known) / (n_counted if degenerate == "zero" else max(1, len(known)))

    value = mean(units >= 0)
    if whole:
        return value, np.array([sum(values(units == u)) for u in range(n)]) / n_counted
    scored = ~(np.isnan(human) | np.isnan(scores))
    if grouping != "none":
        scored &= scored.sum(axis=int(grouping == "system"), keepdims=True) >= 2
    share = np.array([(scored & (units == u)).sum() / scored.sum() for u in range(n)])
    found = share * value + (1 - share) * (value - np.array([mean(units != u) for u in range(n)]))
    return value, found + share * (value - found.sum())


def wider(difference):
    """Return the factor of null differences where a value is not a sum: by the kurtosis of what segments add."""
    fourth = float(np.sum(np.square(np.square(difference))))
    if not fourth:
        return 1.0
    n = len(difference)
    kurtosis = n * fourth / float(np.sum(np.square(difference))) ** 2
    freedom = 2 * n / (kurtosis - 1) if kurtosis - 1 > 1e-12 else np.inf
    return max(1.0, stats.t.isf(0.025, freedom) / stats.t.isf(0.025, n))


@checks(significance.compare)
def test_exchange_of_units(numbers):
    """P-values from signs of what each unit adds, one by one, with the same draws."""
    n, tested = 30, 0
    for number, human, metric, es in campaigns(numbers):
        grouping, unit = agreement.GROUPINGS[number % 3], ("segment", "document", "system")[number // 5 % 3]
        degenerate, kinds = ("drop", "zero")[number % 2], KINDS[number % len(KINDS)]
        if number % 4 == 0 and human.shape[1] > 3:
            human[:, :2] = np.nan  # a unit that nobody rated comes first
        if "both ends" in kinds or "shifted" in kinds or not comparable(human, metric, grouping):
            continue
        if np.isnan(metric[~np.isnan(human)]).any():
            continue  # which segments count as rated follows from both; a unit test has such sets
        whole = grouping == ("system" if unit == "system" else "segment")
        coefficient = (*SWAPPED, "acc_eq", *(("spearman", "tau_c") if whole else ()))[number // 3 % (9 if whole else 7)]
        es = with_rival(number, human, metric, es)
        documents = [f"d{j // 2}" for j in range(es.shape[1])]
        es = mm.EvalSet(human, {m: es[m] for m in "mn"}, systems=es.systems, documents=documents)
        units, n_rated = unit_of_cells(es, unit)
        both = {m: added(coefficient, es, m, grouping, degenerate, units, whole) for m in "mn"}
        options = {"coefficient": coefficient, "grouping": grouping, "degenerate": degenerate, "unit": unit}
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(significance.comparison, "ALPHA", 0.4)
            found = mm.compare(es, **options, n_resamples=n, rng=number)
        a, b = found.pairs[0]
        signs = 1 - 2.0 * np.random.default_rng(number).integers(0, 2, size=(n, units.max() + 1), dtype=np.int8)
        difference = np.subtract(both[a][1], both[b][1])
        draws = signs @ difference * (1 if whole else wider(difference[:n_rated]))
        np.testing.assert_allclose(found.draws[0], draws, atol=1e-8, err_msg=str(number))
        near(sum(difference), both[a][0] - both[b][0], number, 1e-8)
        p = (sum(np.abs(draws) >= abs(sum(difference)) - 1e-10) + 1) / (n + 1)
        near(found.p_values.loc[a, b], p, number)
        told = p <= 0.4 and np.sqrt((draws**2).mean()) > 1e-9
        best, worst = significance.decisions.rank_sets(found.p_values if told else np.ones((2, 2)), 0.4)
        assert found.table[["best_rank", "worst_rank"]].T.to_numpy().tolist() == [best.tolist(), worst.tolist()], number
        assert found.table[["unit", "n_units"]].to_numpy().tolist() == [[unit, n_rated]] * 2
        tested += 1
    assert tested > len(numbers) / 10


def resamples(number, es, unit, n):
    """Return the rows and columns of each resample, as drawn by a generator of this seed."""
    rng = np.random.default_rng(number)
    for _ in range(n):
        rows, columns = range(es.shape[0]), range(es.shape[1])
        if unit in ("system", "both"):
            rows = rng.integers(es.shape[0], size=es.shape[0])
        if unit in ("segment", "both"):
            columns = rng.integers(es.shape[1], size=es.shape[1])
        if unit == "document":
            names = list(dict.fromkeys(es.documents))
            drawn = [names[k] for k in rng.integers(len(names), size=len(names))]
            columns = [j for name in drawn for j in range(es.shape[1]) if es.documents[j] == name]
        yield np.ix_(rows, columns)


@checks(significance.compare, significance.intervals)
def test_bootstrap(numbers):
    n, tested = 8, 0
    for number, human, metric, es in campaigns(numbers):
        grouping = agreement.GROUPINGS[number % 3]
        unit = ("segment", "system", "both", "document")[number // 3 % 4]
        coefficient = ("pearson", "spearman", "tau_b", "acc_eq", "tau_13")[number % 5]
        degenerate = ("drop", "zero")[number // 2 % 2]
        if (
            unit in ("system", "both") and grouping != "system"
        ):  # pairs of a system with itself have a test of their own
            coefficient = ("pearson", "spearman")[number % 2]
        if not comparable(human, metric, grouping) or human.size > 12:
            continue
        there = (~np.isnan(human) & ~np.isnan(metric)).any(axis=1)
        rated = [s for s, some in zip(es.systems, there, strict=True) if some]
        es = with_rival(number, human, metric, es).select(systems=rated)
        documents = [f"d{j % 3}" for j in range(es.shape[1])]
        es = mm.EvalSet(es.human, {m: es[m] for m in "mn"}, systems=es.systems, documents=documents)
        parts = list(resamples(number, es, unit, n))
        draws = {
            m: [exact.resampled(coefficient, es.human[cut], es[m][cut], grouping, degenerate) for cut in parts]
            for m in "mn"
        }
        draws = {m: [v for v in values if v is not None] for m, values in draws.items()}
        options = {"coefficient": coefficient, "grouping": grouping, "unit": unit, "degenerate": degenerate}
        options |= {"n_resamples": n, "rng": number}
        if n - len(draws["m"]) > n // 2:
            refuses("the set is too small", mm.compare, es, method="bootstrap", **options)
            continue
        over_segments = unit in ("segment", "document")  # over systems, intervals are those of the jackknife
        for m in "mn" * over_segments:
            table = mm.significance.intervals(es, **options, level=0.8).set_index("metric")
            value, n_units = float(table.loc[m, "value"]), int(table.loc[m, "n_units"])
            bounds = (0 if coefficient == "acc_eq" else -1, 1)
            cells = agreement.units.common_cells(es, [*"mn"])
            adds = agreement.intervals.n_added(cells, m, coefficient, grouping, unit, degenerate)
            low, high = exact.interval(value, draws[m], 0.8, adds if n_units >= 6 else 0, bounds)
            near(table.loc[m, "low"], None if low is None or np.isnan(low) else low, number)
            near(table.loc[m, "high"], None if high is None or np.isnan(high) else high, number)
            assert table.loc[m, "n_resamples"] == len(draws[m])
        found = mm.compare(es, method="bootstrap", **options)
        a, b = found.pairs[0]
        np.testing.assert_allclose(found.draws[0], np.subtract(draws[a], draws[b]), atol=1e-9, err_msg=number)
        sides = [sum(s * (x - y) <= 1e-12 for x, y in zip(draws[a], draws[b], strict=True)) for s in (1, -1)]
        near(found.p_values.loc[a, b], min(1, 2 * (min(sides) + 1) / (len(draws[a]) + 1)), number)
        tested += 1
    assert tested > len(numbers) / 10


@checks(significance.compare, first=250)
def test_williams(numbers):
    tested = 0
    for number, human, metric, es in campaigns(numbers):
        es, cells = with_rival(number, human, metric, es), ~(np.isnan(human) | np.isnan(metric))
        sides, n = [es.human[cells], es["m"][cells], es["n"][cells]], int(cells.sum())
        if n < 4 or any(np.ptp(side) == 0 for side in sides):
            continue
        found = mm.compare(es, grouping="none", method="williams")
        a, b = found.pairs[0]
        value = found.p_values.loc[a, b]
        first, second = es[a][cells], es[b][cells]
        r = [exact.pearson(*pair) for pair in ((sides[0], first), (sides[0], second), (first, second))]
        t = exact.williams(*r, n)
        assert np.isnan(value) or 0 <= value <= 1, number
        if t is not None:
            near(value, 2 * stats.t.sf(abs(t), n - 3), number, 1e-6)
            tested += 1
    assert tested > len(numbers) / 10


def pairs_of(number):
    """Return one to three language pairs with three metrics, some scores missing, some systems human."""
    rng = np.random.default_rng([9, number])
    kind = ("normal", "integers", "tenths", "shifted", "huge", "tiny")[number % 6]
    of_metric = {name: str(rng.choice(["normal", "tenths", "huge"])) for name in "ab"}
    sets = []
    for pair in ("aa-bb", "cc-dd", "ee-ff")[: 1 + number % 3]:
        shape = (int(rng.integers(3, 5)), int(rng.integers(2, 7)))
        human = VALUES[kind](rng, shape)
        metrics = {name: VALUES[of_metric[name]](rng, shape) for name in "ab"}
        metrics["c"] = np.where(rng.random(shape) < 0.7, human, human[0, 0])
        if number % 4 == 0:
            human[:, 0] = np.nan
        systems = [f"S{k}" for k in range(shape[0])]
        people = systems[-1:] if number % 5 == 0 else ()
        about = {"language_pair": pair, "human_systems": people}
        es = mm.EvalSet(human, metrics, systems=systems, about=about, name=pair)
        sets.append(es.with_system_scores("published"))  # the mean of all segments that a metric scored
    return sets


def task_values(task, sets, name):
    if task.statistic == "pairwise_accuracy":
        right = [
            exact.sign(a[0] - b[0]) == exact.sign(a[1] - b[1])
            for es in sets
            for a, b in itertools.combinations(
                zip(exact.system_means(es.human), exact.system_means(es[name]), strict=True), 2
            )
        ]
        return sum(right) / len(right)
    (es,) = sets
    if task.statistic == "spa":
        columns = int((~np.isnan(es.human)).any(axis=0).sum())
        signs = np.rint(np.random.default_rng(4).random((1000, columns), dtype=np.float32)) * 2 - 1
        return exact.soft_pairwise_accuracy(es.human, es[name], signs[:, :])
    if task.level == "system":
        r = exact.pearson(*([float(v) for v in exact.system_means(side)] for side in (es.human, es[name])))
        return 0.0 if r is None else r
    return exact.resampled(task.statistic, es.human, es[name], task.grouping, "drop")


PLAIN = [name for name, protocol in mm.protocols.PROTOCOLS.items() if name not in ("wmt24", "wmt25", "gemba-v2")]


@checks(mm.rank, first=40)
def test_rankings_of_metrics(numbers):
    """The weighted mean of (r + 1) / 2 and accuracies; a rank is one more than the number of better metrics."""
    for number in numbers:
        sets = pairs_of(number)
        # SPA counts 1,000 signs in exact arithmetic, so it has its turn now and then
        name = ("wmt24", "gemba-v2", "wmt25")[number % 3] if number % 125 == 0 else PLAIN[number % len(PLAIN)]
        protocol, found = mm.protocols.PROTOCOLS[name], mm.rank(sets, protocol=name, n_resamples=0)
        if not protocol.human_systems:
            sets = [es.select(systems=[s for s in es.systems if s not in es.human_systems]) for es in sets]
        expected = {}
        for metric in "abc":
            over = under = 0.0
            for task in protocol.tasks:
                for group in [sets] if task.pooled else [[es] for es in sets]:
                    value = task_values(task, group, metric)
                    linear = task.statistic in ("pairwise_accuracy", "spa", "acc_eq")
                    weight = len(group)
                    over, under = over + weight * (value if linear else (value + 1) / 2), under + weight
            expected[metric] = over / under
        table = found.table.set_index("metric")
        for metric, value in expected.items():
            near(table.loc[metric, "score"], value, f"{number} {name}")
            higher = [sum(v > value + tolerance for v in expected.values()) for tolerance in (1e-9, -1e-9)]
            assert higher[0] < table.loc[metric, "rank"] <= higher[1], number


@checks(mm.rank, first=40)
def test_p_values_of_rankings(numbers):
    """Each task's null differences with the same swaps, weighted and added."""
    n = 15
    for number in numbers[::4]:
        sets, name = pairs_of(number), PLAIN[number % len(PLAIN)]
        found = mm.rank(sets, protocol=name, method="published", n_resamples=n, rng=number, alpha=0.3)
        order, rng = found.table["metric"].tolist(), np.random.default_rng(number)
        pairs = list(itertools.combinations(order, 2))
        draws, total = np.zeros((len(pairs), n)), 0.0
        for task in mm.protocols.PROTOCOLS[name].tasks:
            for group in [sets] if task.pooled else [[es] for es in sets]:
                total += len(group)
                scale = len(group) / (2 if task.is_correlation else 1)
                draws += scale * null_of_task(task, group, pairs, n, rng)
        score = found.table.set_index("metric")["score"]
        for (a, b), row in zip(pairs, draws / total, strict=True):
            reached = sum(row >= score[a] - score[b] - 1e-10)
            near(found.p_values.loc[a, b], (reached + 1) / (n + 1), f"{number} {name}")
        told = sum(mm.agreement.units.exchange_units(es).n for es in sets) >= 6
        assert ("cannot be told" in found.note) is not told
        expected = exact.clusters(found.p_values.to_numpy().tolist(), 0.3) if told else [1] * len(order)
        assert found.table["cluster"].tolist() == expected


def null_of_task(task, sets, pairs, n, rng):
    """Return the differences of hybrids, (n_pairs, n_resamples), for one task."""
    if task.statistic == "acc_eq":
        return np.array(pair_swaps(sets[0], pairs, n, rng))
    if task.level == "system":  # standardised once over the systems of all sets
        human = [exact.system_means(es.human) for es in sets]
        scores = {m: [exact.system_means(es[m]) for es in sets] for m in sets[0].metrics}
        human, z, _ = standardised(human, scores)
        parts = [([h], {m: [own[k]] for m, own in z.items()}, lambda swap: [swap]) for k, h in enumerate(human)]
    else:
        parts = [in_groups(sets[0], task.grouping)]
    over, under = np.zeros((len(pairs), n)), 0
    coefficient = "acc_eq" if task.statistic == "pairwise_accuracy" else "pearson"
    for human, z, cut in parts:
        n_cells = sum(map(len, human))
        n_pairs = math.comb(n_cells, 2) if task.statistic == "pairwise_accuracy" else 1
        for k, swap in enumerate(rng.integers(0, 2, size=(n, n_cells), dtype=np.uint8).tolist()):
            for p, (a, b) in enumerate(pairs):
                over[p, k] += n_pairs * exact.hybrid_difference(coefficient, human, z[a], z[b], cut(swap))[0]
        under += n_pairs
    return over / under


def pair_swaps(es, pairs, n, rng):
    """Return draws of the pair-swap test: by weight of a pair, how many of those in dispute fall to the first."""
    right = {}
    for m in es.metrics:
        epsilon = exact.calibrate(es.human, es[m], "segment")[0]
        groups = list(exact.groups(es.human, es[m], "segment"))
        right[m] = [
            (math.comb(len(h), 2), exact.pair_counts(h[[i, j]], v[[i, j]], epsilon))
            for h, v in groups
            for i, j in itertools.combinations(range(len(h)), 2)
        ]
    n_groups, sizes = len(groups), sorted({size for size, _ in right["a"]}, reverse=True)
    draws = np.zeros((len(pairs), n))
    for size in sizes:  # small weights first, as the package draws
        in_dispute = []
        for a, b in pairs:
            good = [[c[0] + c[4] for k, c in right[m] if k == size] for m in (a, b)]
            in_dispute.append(sum(x != y for x, y in zip(*good, strict=True)))
        heads = rng.binomial(np.array(in_dispute)[:, None], 0.5, size=draws.shape)
        draws += (2.0 * heads - np.array(in_dispute)[:, None]) / size / n_groups
    return draws
