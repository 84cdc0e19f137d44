"""What is left of ties against fractions: curves, shares, sub-samples with the same draws, and levels of chance."""

import itertools
from fractions import Fraction

import exact
import numpy as np
import pytest
from campaigns import agree, campaigns, checks, comparable, near, refuses
from scipy import stats

import mtmeta as mm
from mtmeta.ties._subsample import drop_probabilities

pytestmark = pytest.mark.slow


@checks(mm.ties.human_tie_share)
def test_human_ties(numbers):
    for number, human, _, es in campaigns(numbers):
        groups = [h for h, _ in exact.groups(human, human, "segment")]
        if not groups:
            refuses("no segment has two rated", mm.ties.human_tie_share, es)
            continue
        pairs = [list(itertools.combinations(h, 2)) for h in groups]
        shares = [Fraction(sum(a == b for a, b in group), len(group)) for group in pairs]
        near(mm.ties.human_tie_share(es), exact.mean(shares), number, 1e-12)


@checks(mm.ties.tie_curve)
def test_curves(numbers):
    for number, human, metric, es in campaigns(numbers):
        if not comparable(human, metric, "segment"):
            continue
        corners = exact.tie_curve(human, metric, "segment")
        found = mm.ties.tie_curve(es, "m").to_numpy()
        assert len(found) == len(corners), number
        for row, corner in zip(found, corners, strict=True):
            for value, wanted in zip(row, corner, strict=True):
                near(value, wanted, number, 1e-12)


@checks(first=2000)
def test_shares_after_dropping(numbers):
    for number in numbers:
        t, wanted = np.random.default_rng([31, number]).integers(0, 11, 2) / 10
        share, aim = exact.exact([t, wanted])
        if (t == 0 and wanted > 0) or (t == 1 and wanted < 1):
            refuses("cannot be reached", drop_probabilities, t, wanted)
            continue
        # keep x tied and y untied pairs of each kind's share: x : y is given, and the larger of both shares kept is 1
        odds = (aim * (1 - share), (1 - aim) * share) if 0 < share < 1 else (1, 1)
        kept = [o / max(odds) for o in odds] if max(odds) else [1, 1]
        found = drop_probabilities(t, wanted)
        near(found[0], 1 - kept[0], number, 1e-12)
        near(found[1], 1 - kept[1], number, 1e-12)


@checks(mm.ties.discrete_to_continuous, first=500)
def test_noise(numbers):
    """Drawn from the truncated normal of the docstring; order stays, and old ties are closer than all else."""
    for number in numbers:
        rng, unit = np.random.default_rng([32, number]), (1.0, 0.1, 1e49, 1e-49)[number % 4]
        scores = unit * rng.integers(-3, 4, int(rng.integers(1, 8)))
        if len(set(scores)) == 1 and abs(scores[0]) > 1e20:
            refuses("noise of standard deviation 1 is lost", mm.ties.discrete_to_continuous, scores)
            continue
        gap = min((abs(a - b) for a, b in itertools.combinations(scores, 2) if a != b), default=None)
        noisy = mm.ties.discrete_to_continuous(scores, rng=number)
        sigma = 1.0 if gap is None else gap / 20
        cut = np.inf if gap is None else 0.24 * gap / sigma
        drawn = stats.truncnorm.rvs(
            -cut, cut, scale=sigma, size=len(scores), random_state=np.random.default_rng(number)
        )
        np.testing.assert_allclose(noisy - scores, drawn, atol=1e-9 * sigma, err_msg=number)
        for (a, x), (b, y) in itertools.combinations(zip(scores, noisy, strict=True), 2):
            if a != b:
                assert (a > b) == (x > y), number
                assert abs(x - y) > gap / 2
            elif gap is not None:
                assert abs(x - y) < gap / 2


def pairs_in(es, metric):
    """Return (segment, are humans tied, |difference| of the metric, is its order right) of rated pairs in order.

    Differences that are equal but for rounding are the largest of them, or 0.
    """
    scored = np.where(np.isnan(es.human), np.nan, metric)
    apart = exact.tolerance(es.human, metric) if not np.isnan(scored).all() else 0.0
    found, human, metric = [], exact.once(es.human), exact.once(metric)
    for j in range(es.shape[1]):
        for a, b in itertools.combinations(range(es.shape[0]), 2):
            dh = human[a, j] - human[b, j]
            if not np.isnan(dh):
                dm = metric[a, j] - metric[b, j]
                found.append((j, dh == 0, None if np.isnan(dm) else abs(dm), dh * np.sign(dm) > 0))
    runs = exact.runs({0.0} | {pair[2] for pair in found} - {None}, lambda *_: apart)
    one = {None: None} | {v: run[-1] if run[0] else 0.0 for run in runs for v in run}
    return [(j, tied, one[difference], right) for j, tied, difference, right in found]


def acc_eq(pairs, epsilon, average):
    """Return acc_eq, the share of metric ties and of human ties, averaged over segments or pairs."""
    groups = {}
    for pair in pairs:
        groups.setdefault(pair[0] if average == "segment" else 0, []).append(pair)

    def over(tell):
        return exact.mean([Fraction(sum(map(tell, group)), len(group)) for group in groups.values()])

    return (
        over(lambda pair: pair[1] if pair[2] <= epsilon else pair[3]),
        over(lambda pair: pair[2] <= epsilon),
        over(lambda pair: pair[1]),
    )


def best(pairs, average):
    return max(({0.0} | {pair[2] for pair in pairs}), key=lambda e: (acc_eq(pairs, e, average)[0], -e))


def kept(pairs, uniforms, share, among):
    """Return which pairs a draw keeps, and the probabilities of being dropped."""
    tied = [pair[1] for pair, here in zip(pairs, among, strict=True) if here]
    p = drop_probabilities(sum(tied) / len(tied), share)
    return [here and u >= p[0 if pair[1] else 1] for pair, u, here in zip(pairs, uniforms, among, strict=True)], p


@checks(mm.ties.subsample_ties)
def test_subsamples(numbers):
    tested = 0
    for number, _, metric, es in campaigns(numbers):
        pairs = pairs_in(es, metric)
        ties = sum(pair[1] for pair in pairs)
        if not 0 < ties < len(pairs) or all(pair[2] is None for pair in pairs):
            continue
        average, share = ("segment", "pair")[number % 2], (0.3, 0.5, 0.7)[number % 3]
        rng, wanted = np.random.default_rng(number), []
        for _ in range(2):
            keep, p = kept(pairs, rng.random(len(pairs)), share, [True] * len(pairs))
            mine = [pair for pair, here in zip(pairs, keep, strict=True) if here and pair[2] is not None]
            wanted.append((mine, p))
        options = {"shares": [share], "n_resamples": 2, "average": average, "rng": number}
        if not all(mine for mine, _ in wanted):
            refuses("no pair is left", mm.ties.subsample_ties, es, **options)
            continue
        found = mm.ties.subsample_ties(es, **options)
        for (_, line), (mine, p) in zip(found.iterrows(), wanted, strict=True):
            epsilon = best(mine, average)
            value, metric_ties, human_ties = acc_eq(mine, epsilon, average)
            near(line["epsilon"], epsilon, number, exact.tolerance(es.human, metric))
            agree(line, number, 1e-12, value=value, metric_ties=metric_ties, human_ties=human_ties)
            agree(line, number, 1e-12, tie_share=Fraction(sum(pair[1] for pair in mine), len(mine)))
            assert (line["p_tied"], line["p_untied"], line["n_pairs"]) == (*p, len(mine))
            segments = {pair[0] for pair in mine}
            assert line["n_segments"] == len(segments)
            assert line["n_empty"] == len({pair[0] for pair in pairs if pair[2] is not None} - segments)
        tested += 1
    assert tested > len(numbers) / 10


@checks(mm.ties.held_out_calibration)
def test_held_out(numbers):
    """Segments are shuffled and the first half held out; what is calibrated there is tested on the rest."""
    tested = 0
    for number, _, metric, es in campaigns(numbers):
        pairs = pairs_in(es, metric)
        segments = sorted({pair[0] for pair in pairs})
        if len(segments) < 2 or np.isnan(metric).any():
            continue
        average, size = "segment", round(0.5 * len(segments))
        rng = np.random.default_rng(number)
        options = {"shares": None, "n_resamples": 2, "rng": number}
        for _, line in mm.ties.held_out_calibration(es, **options).iterrows():
            away = set(rng.permutation(segments)[:size].tolist())
            rng.random(len(pairs))
            train, test = ([p for p in pairs if (p[0] in away) is side] for side in (True, False))
            thresholds = []
            for column, part in (("epsilon", train), ("in_sample_epsilon", test)):
                threshold = best(part, average)
                if line[column] != pytest.approx(float(threshold), abs=exact.tolerance(es.human, metric)):
                    equally_good = acc_eq(part, threshold, average)[0]  # of two such, rounding decides
                    threshold = line[column]
                    near(acc_eq(part, threshold, average)[0], equally_good, number, 1e-12)
                thresholds.append(threshold)
            value, in_sample = (acc_eq(test, e, average)[0] for e in thresholds)
            agree(line, number, 1e-12, value=value, in_sample=in_sample, loss=in_sample - value)
            agree(line, number, 1e-12, tie_share=Fraction(sum(p[1] for p in train), len(train)))
            agree(line, number, 1e-12, test_tie_share=Fraction(sum(p[1] for p in test), len(test)))
            assert (line["n_pairs"], line["n_pairs_test"]) == (len(train), len(test))
        tested += 1
    assert tested > len(numbers) / 10
