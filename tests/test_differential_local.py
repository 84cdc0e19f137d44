"""Local accuracy row by row in fractions, its tests by enumerating every permutation, and resamples unit by unit."""

import itertools
import math
import re
from collections import Counter, defaultdict
from fractions import Fraction

import buckets
import exact
import numpy as np
import pandas as pd
import pytest
from campaigns import VALUES, agree, campaigns, checks, near, refuses
from scipy import stats

from mtmeta import local_accuracy as la

pytestmark = pytest.mark.slow

HALF = Fraction(1, 2)
CONTEXTS = ("system", "domain", "perturbation", ["system", "perturbation"])


def pairs_of(number, *, n_metrics=2, most=24):
    """Return a pairs table: ties, holes, rows that occur twice, contexts within and between segments."""
    rng = np.random.default_rng([11, number])
    n, kind = int(rng.integers(2, most)), list(VALUES)[number % len(VALUES)]
    frame = pd.DataFrame({"segment": np.sort(rng.integers(0, 1 + n // 3, n))})
    if number % 4 == 0:
        frame.insert(0, "lp", np.where(np.arange(n) < n // 2, "aa-bb", "cc-dd"))
    frame["doc"] = "d" + (frame["segment"] // 2).astype(str) + frame.get("lp", "")
    frame["domain"] = np.array(["chat", "news", "talk"])[frame["segment"] % 3]
    frame["system"] = rng.choice(list("ABC")[: 1 + number % 3], n)
    frame["perturbation"] = rng.choice(["cut", "put", "swap"], n)
    for name in "mnk"[:n_metrics]:
        before, after = VALUES[kind](rng, (2, n))
        after = np.where(rng.random(n) < 0.3, before, after)
        if number % 3 == 0:
            before[rng.random(n) < 0.15] = np.nan
        frame[name], frame[f"{name}_perturbed"] = before, after
    return frame


def options_of(number):
    """Return options that change from campaign to campaign."""
    return {
        "ties": ("failure", "half")[number % 2], "unit": ("segment", "doc")[number // 2 % 2], "missing": "drop",
    }  # fmt: skip


def outcome(row, metric, ties):
    """Return 1, 0 or what a tie counts; None where a score is missing."""
    before, after = row[metric], row[f"{metric}_perturbed"]
    if math.isnan(before) or math.isnan(after):
        return None
    return HALF * (ties == "half") if before == after else Fraction(before > after)


def unit_of(row, unit):
    return row.get("lp", ""), row[unit]


def context_of(row, context):
    if context is None:
        return "all"
    return row[context] if isinstance(context, str) else " / ".join(row[c] for c in context)


def accuracy(rows, metric, ties, average="segment"):
    """Return equation 2 (or the share of pairs); None without a scored pair. Rows may be taken several times."""
    by_segment = defaultdict(list)
    for copy, row in rows:
        value = outcome(row, metric, ties)
        if value is not None:
            by_segment[copy, unit_of(row, "segment")].append(value)
    if not by_segment:
        return None
    if average == "pair":
        return exact.mean([v for values in by_segment.values() for v in values])
    return exact.mean([exact.mean(values) for values in by_segment.values()])


def by_context(rows, context):
    """Return the rows of each context, contexts in order of their names."""
    names = sorted({context_of(row, context) for _, row in rows})
    return {name: [(copy, row) for copy, row in rows if context_of(row, context) == name] for name in names}


def rows_of(frame):
    return [(0, row) for row in frame.to_dict("records")]


def scored(frame):
    """Tell whether every metric scored some pair."""
    return all((frame[m] + frame[f"{m}_perturbed"]).notna().any() for m in la.metrics_of(frame))


def tables(numbers, **options):
    """Yield campaigns whose metrics scored something."""
    for number in numbers:
        frame = pairs_of(number, **options)
        if scored(frame):
            yield number, frame


def resamples(frame, context, unit, n, rng):
    """Draw units with replacement, within contexts where each unit has one; yield the rows, each copy apart."""
    rows = rows_of(frame)
    units = sorted({unit_of(row, unit) for _, row in rows})
    held = {u: {context_of(row, context) for _, row in rows if unit_of(row, unit) == u} for u in units}
    strata = [units]
    if all(len(contexts) == 1 for contexts in held.values()):
        strata = [[u for u in units if held[u] == {c}] for c in sorted(set().union(*held.values()))]
    drawn = [rng.multinomial(len(part), np.full(len(part), 1 / len(part)), n) for part in strata]
    for draw in range(n):
        times = {}
        for part, counts in zip(strata, drawn, strict=True):
            times |= zip(part, counts[draw].tolist(), strict=True)
        yield [(copy, row) for _, row in rows for copy in range(times[unit_of(row, unit)])]


def units_scored(rows, metric, options):
    """Count the units with a pair that the metric scored."""
    unit = options.get("unit", "segment")
    return len({unit_of(row, unit) for _, row in rows if outcome(row, metric, "failure") is not None})


@checks(la.local_accuracy)
def test_local_accuracy(numbers):
    for number, frame in tables(numbers):
        context, options = (*CONTEXTS, None)[number % 5], options_of(number)
        ties = options["ties"]
        n = 9 if number % 5 == 0 else 0
        found = la.local_accuracy(frame, context=context, n_resamples=n, rng=number, **options)
        parts = by_context(rows_of(frame), context)
        assert found["context"].drop_duplicates().tolist() == list(parts)
        draws = list(resamples(frame, context, options["unit"], n, np.random.default_rng(number))) if n else []
        for _, line in found.iterrows():
            rows, metric = parts[line["context"]], line["metric"]
            near(line["accuracy"], accuracy(rows, metric, ties), number, 1e-12)
            values = [outcome(row, metric, "failure") for _, row in rows]
            assert line["n_pairs"] == sum(v is not None for v in values)
            assert line["n_missing"] == sum(v is None for v in values)
            present = [row for (_, row), v in zip(rows, values, strict=True) if v is not None]
            assert line["n_segments"] == len({unit_of(row, "segment") for row in present})
            loss, coin = (accuracy(rows, metric, rule) for rule in ("failure", "half"))
            near(line["tie_rate"], None if coin is None else 2 * (coin - loss), number, 1e-12)
            drawn = [by_context(one, context).get(line["context"], []) for one in draws]
            values, n_units = [accuracy(part, metric, ties) for part in drawn], units_scored(rows, metric, options)
            known = [v for v in values if v is not None]
            value = accuracy(rows, metric, ties)
            low, high = exact.interval(float(value), known, 0.95, n_units, (0, 1)) if known else (None, None)
            agree(line, number, 1e-12, low=None if low is None or np.isnan(low) else low)
            agree(line, number, 1e-12, high=None if high is None or np.isnan(high) else high)


def chi_square(cells):
    """Return chi-square of (context, won) cells in fractions, and the number of contexts."""
    count, won, of = Counter(cells), sum(w for _, w in cells), Counter(c for c, _ in cells)
    total = Fraction(0)
    for context, n in of.items():
        for outcome_, share in ((True, Fraction(won, len(cells))), (False, Fraction(len(cells) - won, len(cells)))):
            if share:
                total += (count[context, outcome_] - n * share) ** 2 / (n * share)
    return total, len(of)


def members(frame, context, unit):
    """Return the scheme, and the exchangeable members of each block: lists of rows."""
    rows = [row for _, row in rows_of(frame)]
    system = [row["system"] for row in rows]
    units, segments = [unit_of(row, unit) for row in rows], [unit_of(row, "segment") for row in rows]
    text, labels = list(zip(segments, system, strict=True)), [context_of(row, context) for row in rows]
    options = (
        ("between", units, [0] * len(rows)), ("within", list(zip(units, system, strict=True)), units),
        ("within", text, units), ("pairs", list(range(len(rows))), text),
    )  # fmt: skip
    fits = (len(set(zip(member, labels, strict=True))) == len(set(member)) for _, member, _ in options)
    scheme, member, block = next(option for option, fit in zip(options, fits, strict=True) if fit)
    held = defaultdict(lambda: defaultdict(list))
    for i, key in enumerate(zip(block, member, strict=True)):
        held[key[0]][key[1]].append(i)
    return scheme, rows, labels, [list(of_block.values()) for of_block in held.values()]


def relabelled(labels, exchangeable, limit):
    """Yield the labels of all rows in every permutation; nothing if there are more than ``limit``."""
    if math.prod(math.factorial(len(block)) for block in exchangeable) > limit:
        return
    for orders in itertools.product(*(itertools.permutations(block) for block in exchangeable)):
        new = list(labels)
        for block, order in zip(exchangeable, orders, strict=True):
            for rows, source in zip(block, order, strict=True):
                for i in rows:
                    new[i] = labels[source[0]]
        yield new


def within(value, draws, n, number):
    """Assert that the mean of n draws of an enumerated distribution lies within five standard errors."""
    near(value, np.mean(draws), number, 5 * np.std(draws) / np.sqrt(n) + 1e-9)


@checks(la.context_effect)
def test_chi_square_and_all_its_permutations(numbers):
    n, tested = 250, 0
    for number, frame in itertools.chain(tables(numbers), tables(numbers, most=9)):
        how = {"context": CONTEXTS[number % 4], "unit": options_of(number)["unit"], "missing": "drop"}
        scheme, rows, labels, exchangeable = members(frame, how["context"], how["unit"])
        if len(set(labels)) < 2:
            refuses("at least two contexts", la.context_effect, frame, **how)
            continue
        every = list(relabelled(labels, exchangeable, 720))
        found = la.context_effect(frame, **how, n_resamples=n if every else 0, rng=number)
        assert (found["scheme"] == scheme).all(), number
        for _, line in found.iterrows():
            wins = [outcome(row, line["metric"], "failure") for row in rows]
            cells, *null = (
                [(c, w == 1) for c, w in zip(new, wins, strict=True) if w is not None] for new in (labels, *every)
            )
            chi2, n_contexts = chi_square(cells)
            agree(line, number, chi2=float(chi2), cramers_v=math.sqrt(chi2 / len(cells)))
            assert (line["dof"], line["n_pairs"]) == (n_contexts - 1, len(cells))
            if n_contexts > 1 and len({won for _, won in cells}) == 2:
                near(line["p_value"], stats.chi2.sf(float(chi2), n_contexts - 1), number)
            else:
                assert (line["chi2"], line["p_value"]) == (0, 1)
            if every:
                null = np.array([chi_square(one)[0] for one in null], dtype=float)
                within((line["p_permutation"] * (n + 1) - 1) / n, null >= line["chi2"] - 1e-9, n, number)
                within(line["null_v"], np.sqrt(null / line["n_pairs"]), n, number)
                if line["dof"]:
                    within(line["inflation"], null / line["dof"], n, number)
        tested += bool(every)
    assert tested > len(numbers) / 10


def tau_b(truth, ranking):
    """Return tau_AP,b of Urbano and Marrero: tied groups are one step; None where all items tie."""
    shares = []
    for mine, score in zip(truth, ranking, strict=True):
        above = [other for other, s in zip(truth, ranking, strict=True) if s > score]
        if above:
            shares.append(Fraction(sum(other > mine for other in above), len(above)))
    return 2 * exact.mean(shares) - 1 if shares else None


def symmetric(x, y):
    both = tau_b(x, y), tau_b(y, x)
    return None if None in both else sum(both) / 2


@checks(la.tau_ap, first=400)
def test_tau_ap(numbers):
    for number in numbers:
        rng = np.random.default_rng([12, number])
        n = int(rng.integers(2, 5 if number % 4 == 0 else 9))
        x, y = rng.integers(0, int(rng.choice([1, 2, 3, 50])), (2, n)) / 10
        y = np.round(x * (1 if number % 7 else -1), 1) if number % 5 == 0 else y
        first, second = x.tolist(), y.tolist()
        near(la.tau_ap(first, second), tau_b(first, second), number, 1e-12)
        near(la.tau_ap(first, second, symmetric=True), symmetric(first, second), number, 1e-12)


def measured(rows, context, names, ties):
    """Return the accuracies of the three metrics in each context, and in all pairs."""
    parts = by_context(rows, context) | {"global": rows}
    return {name: [accuracy(parts.get(name, []), m, ties) for m in "mnk"] for name in (*names, "global")}


def ranked(numbers, n, **rule):
    """Yield campaigns of three metrics, two or more contexts, a score in each; accuracies, and those of n draws."""
    for number, frame in tables(numbers, n_metrics=3):
        options = {"context": CONTEXTS[number % 4], **options_of(number)} | rule
        parts = by_context(rows_of(frame), options["context"])
        if len(parts) > 1 and all(scored(pd.DataFrame([row for _, row in rows])) for rows in parts.values()):
            given = options["context"], parts, options["ties"]
            draws = resamples(frame, options["context"], options["unit"], n, np.random.default_rng(number))
            yield number, frame, options, measured(rows_of(frame), *given), [measured(d, *given) for d in draws]


def mean_taus(cells):
    """Return mean tau between contexts and with all pairs, from (context, wins of three metrics); None if undefined."""

    def shares(rows):
        columns = list(zip(*(wins for _, wins in rows), strict=True))
        known = [[w for w in column if w is not None] for column in columns]
        return [exact.mean(values) if values else None for values in known]

    names = sorted({c for c, _ in cells})
    local = [shares([cell for cell in cells if cell[0] == name]) for name in names]

    def mean(couples):
        taus = [None if None in (*x, *y) else symmetric(x, y) for x, y in couples]
        known = [t for t in taus if t is not None]
        return exact.mean(known) if known else None

    return mean(itertools.combinations(local, 2)), mean((shares(cells), one) for one in local)


@checks(la.ranking_effect)
def test_order_of_metrics_against_all_permutations(numbers):
    n, tested = 200, 0
    for number in numbers:
        frame, context, unit = pairs_of(number, most=8, n_metrics=3), CONTEXTS[number % 4], options_of(number)["unit"]
        if not scored(frame) or len(by_context(rows_of(frame), context)) < 2:
            continue
        _, rows, labels, exchangeable = members(frame, context, unit)
        every = list(relabelled(labels, exchangeable, 120))
        if not every:
            continue
        wins = [[outcome(row, m, "failure") for m in "mnk"] for row in rows]
        null = [mean_taus(list(zip(new, wins, strict=True))) for new in every]
        observed = mean_taus(list(zip(labels, wins, strict=True)))
        options = {"context": context, "missing": "drop", "unit": unit}
        found = la.ranking_effect(frame, **options, n_resamples=n, rng=number)
        for k in range(2):
            near(found["tau_ap"][k], observed[k], number, 1e-12)
            known = np.array([float(one[k]) for one in null if one[k] is not None])
            if len(known) == len(null) and observed[k] is not None:
                within(found["null_mean"][k], known, n, number)
                within((found["p_value"][k] * (n + 1) - 1) / n, known <= observed[k] + 1e-9, n, number)
        tested += 1
    assert tested > len(numbers) / 10


def spread(values):
    """Return the standard deviation (n - 1) and range of the values that are defined."""
    known = [float(v) for v in values if v is not None]
    return (np.std(known, ddof=1) if len(known) > 1 else None), max(known) - min(known) if known else None


@checks(la.stability, first=24)
def test_stability(numbers):
    for number, frame, options, local, draws in ranked(numbers, 6):
        found = la.stability(frame, **options, n_resamples=6, rng=number).set_index("metric")
        del local["global"]
        for m, metric in enumerate("mnk"):
            own, line = {name: values[m] for name, values in local.items()}, found.loc[metric]
            noise = [spread([None if d[c][m] is None else d[c][m] - v for c, v in own.items()]) for d in draws]
            sd, range_ = spread(own.values())
            near(line["mean"], exact.mean(list(own.values())), number, 1e-12)
            agree(line, number, sd=sd, range=range_)
            agree(line, number, 1e-12, worst=min(own.values()), best=max(own.values()))
            near(own[line["worst_context"]], float(min(own.values())), number, 1e-12)
            variances = [one**2 for one, _ in noise if one is not None]
            of_noise = math.sqrt(np.mean(variances)) if variances else None
            near(line["sd_noise"], of_noise, number)
            if of_noise is not None:
                near(line["sd_true"], math.sqrt(max(0, sd**2 - of_noise**2)), number, 1e-7)
            near(line["range_noise"], np.mean([r for _, r in noise if r is not None]), number)


@checks(la.recommend, first=24)
def test_recommendation(numbers):
    for number, frame, options, local, draws in ranked(numbers, 8):
        found = la.recommend(frame, **options, n_resamples=8, rng=number)
        overall = dict(zip("mnk", local.pop("global"), strict=True))
        assert overall[found.global_winner] == max(overall.values())
        table = found.table.set_index(["context", "metric"])
        for name, own in local.items():
            known = [d[name] for d in draws if None not in d[name]]
            errors = [[float(a - b) for a, b in zip(one, own, strict=True)] for one in known]
            best = own.index(max(own))
            apart = {(i, j): [e[i] - e[j] for e in errors] for i, j in itertools.combinations(range(3), 2)}
            se = {pair: np.std(v, ddof=1) if len(v) > 1 else np.nan for pair, v in apart.items()}
            largest = [max(abs(apart[p][k]) / se[p] if se[p] > 1e-12 else 0 for p in apart) for k in range(len(errors))]
            c = np.quantile(largest, 0.95) if len(errors) > 1 else np.nan
            rows = by_context(rows_of(frame), options["context"])[name]
            n = min(units_scored(rows, metric, options) for metric in "mnk")
            if 1 < n < 40:
                c = max(c, stats.t.isf(0.025 / 3, n - 1) * math.sqrt(n / (n - 1)))
            for m, metric in enumerate("mnk"):
                line, loss = table.loc[(name, metric)], float(own[best] - own[m])
                agree(line, number, 1e-12, accuracy=own[m], loss=loss)
                assert line["rank"] == 1 + sum(v > own[m] for v in own)
                width = 0 if m == best else c * se[min(m, best), max(m, best)]
                if n < 6:
                    assert (np.isnan(line["loss_low"]), line["verdict"]) == (True, "cannot be told apart")
                    continue
                near(line["loss_low"], loss - width, number)
                worse = "worse" if loss - width > 1e-9 else "cannot be told apart"
                assert line["verdict"] == ("best" if loss == 0 else worse)
        for _, line in found.summary.iterrows():
            own = table.xs(line["metric"], level="metric")
            agree(line, number, 1e-12, global_accuracy=overall[line["metric"]], mean_loss=sum(own["loss"]) / len(own))
            agree(line, number, 1e-12, max_loss=max(own["loss"]))
            assert line["n_best"] == sum(own["verdict"] == "best")
            assert line["n_not_worse"] == sum(own["verdict"] != "worse")


@checks()
def test_quality_buckets(numbers):
    """Edges are quantiles by their definition, equal ones merged; a value belongs below the first edge it reaches."""
    for number, human, _, _ in campaigns(numbers):
        n, values = 2 + number % 6, human.ravel()
        rated = sorted(exact.exact(values[~np.isnan(values)]))
        if not rated:
            continue
        found, edges = buckets.quality_buckets(values, n), set()
        for k in range(n + 1):
            at = Fraction(k * (len(rated) - 1), n)
            low = math.floor(at)
            edges.add(rated[low] + (at - low) * (rated[min(low + 1, len(rated) - 1)] - rated[low]))
        inner = sorted(edges)[1:-1]
        bins = [None if math.isnan(v) else sum(e < exact.exact([v])[0] for e in inner) for v in values]
        names = {b: k for k, b in enumerate(sorted({b for b in bins if b is not None}), 1)}
        labels = [None if b is None else names[b] for b in bins]
        assert [None if pd.isna(v) else int(v) for v in found.labels] == labels, number
        for _, line in found.table.iterrows():
            mine = [v for v, b in zip(values, labels, strict=True) if b == line["bucket"]]
            assert (line["low"], line["high"], line["n"]) == (min(mine), max(mine), len(mine))
            largest = max(map(abs, mine)) or 1
            near(line["mean"] / largest, (exact.mean(exact.exact(mine)) / exact.exact([largest])[0]), number)


@checks(la.natural_pairs)
def test_natural_pairs(numbers):
    for number, human, metric, es in campaigns(numbers):
        wanted = {}
        for j in range(es.shape[1]):
            for a, b in itertools.permutations(range(es.shape[0]), 2):
                if human[a, j] > human[b, j]:
                    wanted[es.segments[j], es.systems[a], es.systems[b]] = (metric[a, j], metric[b, j])
        if not wanted:
            refuses("of a segment differently", la.natural_pairs, es)
            continue
        found = la.natural_pairs(es)
        keys = list(zip(found["segment"], found["system"], found["worse"], strict=True))
        assert sorted(keys) == sorted(wanted), number
        np.testing.assert_array_equal(found[["m", "m_perturbed"]], [wanted[key] for key in keys])


@checks(la.swap_effects)
def test_swap_effects(numbers):
    for number, frame in tables(numbers):
        by = (None, *CONTEXTS)[number % 5]
        found = la.swap_effects(frame, context=by).set_index(["context", "metric"])
        for name, rows in by_context(rows_of(frame), by).items():
            for metric in "mn":
                counts = Counter(outcome(row, metric, "half") for _, row in rows)
                line = found.loc[(name, metric)]
                lowered, kept, raised = counts[1], counts[HALF], counts[0]
                assert (line["lowered"], line["kept"], line["raised"]) == (lowered, kept, raised), number
                n = lowered + kept + raised
                assert line["n_pairs"] == n
                near(line["share_kept"], Fraction(kept, n) if n else None, number, 1e-12)


@checks(la.length_metric)
def test_length_metric(numbers):
    for number in numbers:
        rng = np.random.default_rng([13, number])
        texts = ["".join(rng.choice(list("ab \té\u3000"), int(rng.integers(0, 8)))) for _ in range(6)]
        frame = pd.DataFrame({"segment": 1, "transcript": texts[:3], "perturbed": texts[3:]})
        found = la.length_metric(frame)
        for column, own in (("length", texts[:3]), ("length_perturbed", texts[3:])):
            assert found[column].tolist() == [len(re.findall(r"\S+", t)) for t in own], number


@checks()
def test_combination_variance(numbers):
    for number, frame in tables(numbers):
        kinds = sorted(frame["perturbation"].unique())
        if len(kinds) < 3:
            refuses("at least three kinds", buckets.combination_variance, frame)
            continue
        context = (None, "system", "domain")[number % 3]

        def mean(metric, chosen, frame=frame, context=context):
            parts = by_context([(c, row) for c, row in rows_of(frame) if row["perturbation"] in chosen], context)
            known = [v for v in (accuracy(rows, metric, "failure", "pair") for rows in parts.values()) if v is not None]
            return exact.mean(known) if known else None

        means = {(m, k): [mean(m, c) for c in itertools.combinations(kinds, k)] for m in "mn" for k in (1, 2)}
        if any(None in values for values in means.values()):
            continue
        found = buckets.combination_variance(frame, context=context)
        variance = {key: exact.mean([v**2 for v in exact.centred(values)]) for key, values in means.items()}
        for _, line in found.iterrows():
            near(line["variance"], float(variance[line["metric"], line["k"]]), number, 1e-12)
            wanted = float(variance[line["metric"], 1]) / line["k"] * (3 - line["k"]) / 2
            near(line["expected"], wanted, number, 1e-12)
