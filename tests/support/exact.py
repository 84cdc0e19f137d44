"""The statistics once more, in exact arithmetic and straight from their definitions: no rounding, no hurry.

Scores are read as the decimals they print as. Where a definition compares rounded differences, so does `pair_counts`.
"""

import itertools
import math
from fractions import Fraction

import numpy as np
from scipy import stats


def interval(value, draws, level, n_units, bounds):
    """Return the percentiles of draws, as long as Student's interval below 20 units; NaN below 6."""
    if n_units < 6:
        return math.nan, math.nan
    draws = [float(v) for v in draws]
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
    if n_units >= 20:
        return low, high
    mean = sum(draws) / len(draws)
    error = math.sqrt(sum((v - mean) ** 2 for v in draws) / len(draws) * n_units / (n_units - 1))
    reach = [stats.t.isf((1 - level) / 2, n_units - 1) * error] * 2
    if max(draws) - min(draws) < 1e-12:  # n of n units are alike: the limit of Clopper and Pearson
        reach = [(1 - ((1 - level) / 2) ** (1 / n_units)) * abs(bound - value) for bound in bounds]
    return max(bounds[0], min(low, value - reach[0])), min(bounds[1], max(high, value + reach[1]))


def exact(values):
    """Return floats as the fractions that they print as."""
    return [Fraction(repr(float(v))) for v in values]


def pair_counts(human, metric, epsilon=0.0):
    """Count (concordant, discordant, tied human, tied metric, tied both), pair by pair."""
    counts = [0, 0, 0, 0, 0]
    for i, j in itertools.combinations(range(len(human)), 2):
        dh, dm = human[i] - human[j], metric[i] - metric[j]
        tied_metric = abs(dm) <= epsilon
        if dh == 0:
            counts[4 if tied_metric else 2] += 1
        elif tied_metric:
            counts[3] += 1
        else:
            counts[0 if (dh > 0) == (dm > 0) else 1] += 1
    return counts


def runs(values, tolerance):
    """Yield runs of values, ascending, in which each is within the tolerance of the one before."""
    run = []
    for value in sorted(values):
        if run and value - run[-1] > tolerance(value, run[-1]):
            yield run
            run = []
        run.append(value)
    if run:
        yield run


def once(values):
    """Give scores that differ by a share of 1e-12 the lowest of them; NaN stays."""
    values = np.asarray(values, float)
    known = set(values[~np.isnan(values)].tolist())
    same = {v: run[0] for run in runs(known, lambda a, b: 1e-12 * max(abs(a), abs(b))) for v in run}
    return np.array([same.get(v, np.nan) for v in values.ravel()]).reshape(values.shape)


def tolerance(human, metric):
    """Return how far apart two differences of the metric are that are equal: 1e-9 of its range, or rounding."""
    scored = metric[~(np.isnan(human) | np.isnan(metric))]
    return max(1e-9 * (scored.max() - scored.min()), 1e-12 * abs(scored).max())


def thresholds(human, metric, grouping, *more):
    """Return the observed differences, and more; of those that are equal only the largest."""
    apart, within = tolerance(human, metric), groups(human, metric, grouping)
    differences = {*more} | {abs(a - b) for _, m in within for a, b in itertools.combinations(m, 2)}
    return [run[-1] for run in runs(differences, lambda *_: apart)]


def groups(human, metric, grouping, *, published=False):
    """Yield the (human, metric) score lists of each group, holes left out; scores equal but for rounding are one."""
    human, metric = np.asarray(human, float), np.asarray(metric, float)
    if not published:
        scored = ~(np.isnan(human) | np.isnan(metric))
        human, metric = (once(np.where(scored, side, np.nan)) for side in (human, metric))
    if grouping == "none":
        human, metric = human.reshape(1, -1), metric.reshape(1, -1)
    elif grouping == "segment":
        human, metric = human.T, metric.T
    for h, m in zip(human, metric, strict=True):
        scored = ~(np.isnan(h) | np.isnan(m))
        if scored.sum() >= 2:
            yield h[scored], m[scored]


def mean(values):
    return sum(values, Fraction(0)) / len(values)


def centred(values):
    middle = mean(values)
    return [v - middle for v in values]


def dot(x, y):
    return sum((a * b for a, b in zip(x, y, strict=True)), Fraction(0))


def cosine(xy, xx, yy):
    """Return xy / sqrt(xx yy) as a float; None where that is undefined."""
    return sign(xy) * math.sqrt(xy * xy / (xx * yy)) if xx and yy else None


def pearson(h, m):
    """Return Pearson's r; None where a side is constant."""
    x, y = centred(exact(h)), centred(exact(m))
    return cosine(dot(x, y), dot(x, x), dot(y, y))


def ranks(values):
    values = [float(v) for v in values]
    return [sum(v < w for v in values) + Fraction(1 + sum(v == w for v in values), 2) for w in values]


def spearman(h, m):
    x, y = centred(ranks(h)), centred(ranks(m))
    return cosine(dot(x, y), dot(x, x), dot(y, y))


def tau(name, h, m, epsilon):
    """Return a coefficient of counted pairs; None where it is undefined."""
    c, d, t_h, t_m, t_hm = pair_counts(h, m, epsilon)
    pairs = c + d + t_h + t_m + t_hm
    if name == "tau_b":
        under = (c + d + t_h) * (c + d + t_m)
        return cosine(Fraction(c - d), Fraction(c + d + t_h), Fraction(c + d + t_m)) if under else None
    if name == "tau_c":
        k = min(len(set(h)), len(set(m)))
        return 2 * (c - d) / (len(h) ** 2 * (k - 1) / k) if k > 1 else None
    over, under = {
        "tau_a": (c - d, pairs), "tau_10": (c - d - t_m, c + d + t_m), "tau_13": (c - d, c + d),
        "tau_14": (c - d, c + d + t_m), "tau_eq": (c + t_hm - d - t_h - t_m, pairs), "acc_eq": (c + t_hm, pairs),
    }[name]  # fmt: skip
    return over / under if under else None


def in_groups(coefficient, human, metric, grouping, epsilon):
    """Return a coefficient of each group; None where it is undefined."""
    name = "tau_b" if coefficient == "kendall" else coefficient
    one, every = {"pearson": pearson, "spearman": spearman}.get(name), groups(human, metric, grouping)
    return [one(h, m) if one else tau(name, h, m, epsilon) for h, m in every]


def accuracy(human, metric, grouping, epsilon):
    """Return acc_eq as a fraction: the mean over groups of the share of pairs."""
    shares = []
    for h, m in groups(human, metric, grouping):
        c, _, _, _, both = pair_counts(h, m, epsilon)
        shares.append(Fraction(c + both, math.comb(len(h), 2)))
    return mean(shares)


def calibrate(human, metric, grouping):
    """Try 0 and every observed difference; return the smallest best epsilon, and acc_eq there."""
    candidates = thresholds(human, metric, grouping, 0.0)
    best = max((accuracy(human, metric, grouping, epsilon), -epsilon) for epsilon in candidates)
    return -best[1], best[0]


def decomposition(human, metric):
    """Return (pooled, between, within, share of human, share of metric); None where humans are constant."""
    scored = ~(np.isnan(human) | np.isnan(metric))
    labels = np.nonzero(scored)[1].tolist()
    x, y = centred(exact(human[scored])), centred(exact(metric[scored]))
    xx, yy = dot(x, x), dot(y, y)
    if not xx:
        return None

    def group_means(values):
        means = {g: mean([v for v, k in zip(values, labels, strict=True) if k == g]) for g in set(labels)}
        return [means[g] for g in labels]

    between = group_means(x), group_means(y)
    within = [[a - b for a, b in zip(v, w, strict=True)] for v, w in zip((x, y), between, strict=True)]
    sums = dot(x, y), dot(*between), dot(*within)
    parts = [sign(v) * math.sqrt(v * v / (xx * yy)) if yy else 0 for v in sums]
    return (
        *parts, float(dot(between[0], between[0]) / xx), float(dot(between[1], between[1]) / yy) if yy else math.nan,
    )  # fmt: skip


def system_means(values):
    """Return the mean of each system's scores; None where it has none."""
    return [mean(exact(row[~np.isnan(row)])) if (~np.isnan(row)).any() else None for row in values]


def on_shared_cells(human, metric):
    """Return both sides with a score only where both have one."""
    shared = ~(np.isnan(human) | np.isnan(metric))
    return np.where(shared, human, np.nan), np.where(shared, metric, np.nan)


def sign(value):
    return (value > 0) - (value < 0)


def pairwise_accuracy(human, metric):
    """Return the share of system pairs in the same order; None without a pair. Cells need both scores."""
    human, metric = on_shared_cells(human, metric)
    both = [s for s in zip(system_means(human), system_means(metric), strict=True) if None not in s]
    right = [sign(a[0] - b[0]) == sign(a[1] - b[1]) for a, b in itertools.combinations(both, 2)]
    return sum(right) / len(right) if right else None


def one_sided_p(x, y, signs):
    """Return how often random signs make the sum of differences as large as it is, a tie counting half."""
    differences = [a - b for a, b in zip(exact(x), exact(y), strict=True)]
    observed, reached = sum(differences), Fraction(0)
    for draw in signs:
        value = dot([Fraction(int(s)) for s in draw], differences)
        reached += 1 if value > observed else Fraction(1, 2) if value == observed else 0
    return reached / len(signs)


def soft_pairwise_accuracy(human, metric, signs):
    """Return SPA given the random signs of each segment that anybody rated; None without a pair."""
    columns, gaps = np.flatnonzero((~np.isnan(human)).any(axis=0)), []
    for i, j in itertools.combinations(range(len(human)), 2):
        used = ~np.isnan(human[[i, j]]).any(axis=0) & ~np.isnan(metric[[i, j]]).any(axis=0)
        if used.any():
            chosen = signs[:, np.isin(columns, np.flatnonzero(used))]
            p = [one_sided_p(v[i, used], v[j, used], chosen) for v in (human, metric)]
            gaps.append(abs(p[0] - p[1]))
    return float(1 - mean(gaps)) if gaps else None


def isotonic(x, y):
    """Fit y on x by the min-max formula: at x, the largest over starts of the smallest over ends of block means."""
    points = sorted(set(x))
    held = [[b for a, b in zip(x, y, strict=True) if a == point] for point in points]
    n = len(points)

    def block(a, b):
        return mean([v for values in held[a : b + 1] for v in values])

    fitted = [max(min(block(a, b) for b in range(i, n)) for a in range(i + 1)) for i in range(n)]
    return [fitted[points.index(a)] for a in x]


def deviations(x, y, system, n_systems):
    """Return each system's mean of the fit of y on x less its mean of y; None for a system without a row."""
    gaps = [a - b for a, b in zip(isotonic(x, y), y, strict=True)]
    rows = [[gap for gap, s in zip(gaps, system, strict=True) if s == k] for k in range(n_systems)]
    return [mean(values) if values else None for values in rows]


def expected_accuracy(human, metric, grouping):
    """Return the mean over groups of (C + T_m / 2) / (C + D + T_m); None where humans tie everything."""
    shares = []
    for h, m in groups(human, metric, grouping):
        c, d, _, t_m, _ = pair_counts(h, m)
        if c + d + t_m:
            shares.append(Fraction(2 * c + t_m, 2 * (c + d + t_m)))
    return float(mean(shares)) if shares else None


def tie_curve(human, metric, grouping):
    """Return (share tied, acc_eq, epsilon) corner by corner; the first has no epsilon."""
    within = list(groups(human, metric, grouping))
    corners = [(Fraction(0), mean([_right_at_random(h, m) for h, m in within]), None)]
    for epsilon in thresholds(human, metric, grouping):
        counts = [(pair_counts(h, m, epsilon), math.comb(len(h), 2)) for h, m in within]
        tied = mean([Fraction(c[3] + c[4], n) for c, n in counts])
        corners.append((tied, mean([Fraction(c[0] + c[4], n) for c, n in counts]), epsilon))
    return corners


def _right_at_random(h, m):
    """Return the share of pairs in the right order when a coin breaks the metric's ties."""
    c, _, _, t_m, _ = pair_counts(h, m)
    return Fraction(2 * c + t_m, 2 * math.comb(len(h), 2))


def pair_swap_p(human, first, second, grouping, epsilons):
    """Return the exact pair-swap p-value, by every assignment of the pairs that one metric alone orders rightly."""
    weights = []  # of a pair in the mean over groups, negative if the second metric is right
    both = (groups(human, metric, grouping, published=True) for metric in (first, second))
    for (h, a), (_, b) in zip(*both, strict=True):
        for pair in itertools.combinations(range(len(h)), 2):
            counts = [pair_counts(h[[*pair]], m[[*pair]], e) for m, e in zip((a, b), epsilons, strict=True)]
            right = [c[0] + c[4] for c in counts]
            if right[0] != right[1]:
                weights.append(Fraction(right[0] - right[1], math.comb(len(h), 2)))
    draws = [sum(map(abs, weights)) - 2 * sum(chosen) for chosen in subsets([abs(w) for w in weights])]
    return sum(draw >= sum(weights) for draw in draws) / len(draws)


def subsets(values):
    return [list(itertools.compress(values, chosen)) for chosen in itertools.product((0, 1), repeat=len(values))]


def holm(p):
    order = sorted(range(len(p)), key=p.__getitem__)
    return [
        min(1.0, max((len(p) - k) * p[j] for k, j in enumerate(order[: order.index(i) + 1]))) for i in range(len(p))
    ]


def clusters(p, alpha):
    """Number metrics, best first: a new cluster opens where some metric of the current one is significantly better."""
    found, current = [1], [0]
    for k in range(1, len(p)):
        opens = any(p[i][k] <= alpha for i in current)
        current = [k] if opens else [*current, k]
        found.append(found[-1] + opens)
    return found


def z_scores(values):
    """Return (v - mean) |v - mean| / variance, exact and in the order of z, for each fraction; 0 if constant."""
    x = centred(values)
    variance = dot(x, x) / len(x)
    return [v * abs(v) / variance if variance else Fraction(0) for v in x]


def root(z):
    return sign(z) * math.sqrt(abs(z))


def float_pearson(x, y):
    """Return Pearson's r of floats of moderate size by the textbook formula."""
    x, y = ([v - math.fsum(side) / len(side) for v in side] for side in (x, y))
    xx, yy, xy = (math.fsum(a * b for a, b in zip(p, q, strict=True)) for p, q in ((x, x), (y, y), (x, y)))
    return xy / math.sqrt(xx * yy)


def hybrid_difference(coefficient, human, first, second, swap, degenerate="drop"):
    """Swap cells of two metrics, given as z |z| by group; return the difference of the hybrids' coefficients.

    And by how much more z varies in a group than in a hybrid of it: sums of squares lose as many digits.
    """
    means, lost = [], 1.0
    for one, other in ((first, second), (second, first)):
        values = []
        for g, h in enumerate(human):
            m = [b if s else a for a, b, s in zip(one[g], other[g], swap[g], strict=True)]
            if coefficient != "pearson":
                values.append(tau(coefficient, h, m, 0))
            elif len(set(h)) == 1 or len(set(m)) == 1:
                values.append(None)
            else:
                z = [root(v) for v in m]
                values.append(float_pearson(h, z))
                lost = max(lost, float(sum(map(abs, one[g] + other[g]))) / (len(z) * float(np.var(z))))
        known = [v for v in values if v is not None]
        means.append(sum(known) / (len(values) if degenerate == "zero" else len(known)) if known else 0.0)
    return means[0] - means[1], lost


def resampled(coefficient, human, metric, grouping, degenerate, epsilon=None):
    """Return the mean coefficient over groups; None where no group has two cells. Ties are calibrated for acc_eq."""
    if not any(True for _ in groups(human, metric, grouping)):
        return None
    if epsilon is None:
        epsilon = float(calibrate(human, metric, grouping)[0]) if coefficient in ("acc_eq", "tau_eq") else 0.0
    values = in_groups(coefficient, human, metric, grouping, epsilon)
    known = [v for v in values if v is not None]
    return sum(known) / (len(values) if degenerate == "zero" else len(known)) if known else 0.0


def williams(r1, r2, r12, n):
    """Return Williams' t as Steiger 1980 has it, or None where it is 0 / 0."""
    determinant = 1 - r1 * r1 - r2 * r2 - r12 * r12 + 2 * r1 * r2 * r12
    under = 2 * (n - 1) / (n - 3) * determinant + ((r1 + r2) / 2) ** 2 * (1 - r12) ** 3
    return (r1 - r2) * math.sqrt((n - 1) * (1 + r12) / under) if under > 1e-9 else None


def edits(text, reference, substitution=1, other=1):
    """Return the least cost that turns one sequence into another."""
    row = [other * j for j in range(len(text) + 1)]
    for i, r in enumerate(reference, 1):
        last, row = row, [other * i]
        for j, t in enumerate(text, 1):
            row.append(min(last[j - 1] + substitution * (r != t), last[j] + other, row[-1] + other))
    return row[-1]


def slope(cells):
    """Return the least-squares slope of human on metric scores; 0 if the metric is constant."""
    h, m = (centred([c[side] for c in cells]) for side in "hm")
    return dot(h, m) / dot(m, m) if dot(m, m) else Fraction(0)


def corrected_variance(drawn, rest, weight):
    """Return the variance of the corrected mean, from the sums of deviations in each unit."""
    g, every = len({c["unit"] for c in drawn}), len({c["unit"] for c in drawn + rest})
    sums = dict.fromkeys({c["unit"] for c in drawn}, Fraction(0))
    for value, cell in zip(centred([c["h"] - weight * c["m"] for c in drawn]), drawn, strict=True):
        sums[cell["unit"]] += value / len(drawn)
    return Fraction(g, g - 1) * (1 - Fraction(g, every)) * sum(s * s for s in sums.values())


def corrected_mean(cells):
    """Return the mean, its variance, the weight, the variance without metric and the degrees of freedom; None: too few.

    Cells are those with a metric score: ``h`` (None if not rated), ``m`` and ``unit``.
    """
    rated, rest = ([c for c in cells if (c["h"] is None) == missing] for missing in (False, True))
    units = len({c["unit"] for c in rated})
    free = units - 2
    if free < 1:
        return None
    weight = slope(rated)
    value = mean([c["h"] for c in rated]) - weight * (mean([c["m"] for c in rated]) - mean([c["m"] for c in cells]))
    variance = Fraction(free + 1, free) * corrected_variance(rated, rest, weight)
    return value, variance, weight, corrected_variance(rated, rest, Fraction(0)), free


def variance_by_unit(rows, left):
    """Return what each unit adds to the variance of human scores or residuals, over rows of 3 or more; and how many."""
    added, kept = {}, [row for row in rows if len(row) > 2]
    for row in kept:
        h, m = (centred([cell[side] for cell in row]) for side in (0, 1))
        b = dot(h, m) / dot(m, m) if left and dot(m, m) else Fraction(0)
        for x, y, (*_, unit) in zip(h, m, row, strict=True):
            added[unit] = added.get(unit, Fraction(0)) + (x - b * y) ** 2 / (len(row) - (2 if left else 1))
    return added, len(kept)


def saved(rows, n_units):
    """Return the share of ratings saved by the metric and its standard error; None if humans are constant."""
    (spread, _), (rest, _) = (variance_by_unit(rows, left) for left in (False, True))
    total = sum(spread.values(), Fraction(0))
    if not total:
        return None
    ratio = sum(rest.values(), Fraction(0)) / total
    square = sum(((rest[u] - ratio * spread[u]) ** 2 for u in spread), Fraction(0)) / total**2
    return 1 - ratio, math.sqrt(square * n_units / (n_units - 1)) if n_units > 1 else math.nan
