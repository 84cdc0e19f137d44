"""Intervals of soft pairwise accuracy (SPA): which target they hold, and how long they need to be.

python tools/calibration/spa_targets.py systems     variances over systems, in simulated campaigns of ten kinds
python tools/calibration/spa_targets.py segments    SPA at a named number of segments; populations are sets of WMT23

The numbers in the notes of `mtmeta.significance.intervals` and `mtmeta.soft_pairwise_accuracy` come from here.
P-values are normal, as in `mtmeta.agreement.spa_in_draws`.
"""

import sys

import numpy as np

import mtmeta as mm
from mtmeta.agreement.spa import spa_in_draws
from mtmeta.resampling import fisher_interval, units_of

#: Standard deviations of the quality of systems, of the noise of the metric, and of its liking for a system.
KINDS = {
    "a liking": (0.3, 1.5, 0.15),
    "no liking": (0.3, 1.5, 0.0),
    "noise": (0.1, 50.0, 0.0),
    "far apart": (0.6, 1.5, 0.1),
    "far apart, a strong liking": (1.0, 1.5, 0.3),
}
METRICS = ("XCOMET-Ensemble", "MetricX-23", "COMET", "chrF", "BLEU", "GEMBA-MQM")


def agreements(rng, n_systems: int, n_segments: int, kind: tuple[float, float, float]) -> np.ndarray:
    """Return 1 - |p - p| of each pair of systems of a campaign, (n_systems, n_systems), NaN on the diagonal."""
    quality, noise, liking = kind
    shape, i, j = (n_systems, n_segments), *np.triu_indices(n_systems, 1)
    human = quality * rng.normal(size=(n_systems, 1)) + rng.normal(size=shape)
    metric = human + noise * rng.normal(size=shape) + liking * rng.normal(size=(n_systems, 1))
    found = np.full((n_systems, n_systems), np.nan)
    for k, m in zip(i, j, strict=True):
        es = mm.evalset.Computed(human[[k, m]], {"m": metric[[k, m]]}, systems=["a", "b"])
        found[k, m] = found[m, k] = spa_in_draws(es, "m", np.ones((1, n_segments)))[0]
    return found


def variances(pairs: np.ndarray) -> tuple[float, float]:
    """Return the jackknife's variance over systems, and the unbiased one of a mean over pairs (see `intervals`)."""
    n, d = len(pairs), np.nan_to_num(pairs - np.nanmean(pairs))
    without = (np.nansum(pairs) - 2 * np.nansum(pairs, axis=1)) / ((n - 1) * (n - 2))
    unbiased = (4 * (d.sum(axis=1) ** 2).sum() - 2 * (d**2).sum()) / (n * (n - 1) * (n - 2) * (n - 3))
    jackknife = (n - 1) / n * ((without - without.mean()) ** 2).sum()
    return jackknife, max(unbiased, 2 * (d**2).sum() / (n * (n - 1)) ** 2)


def systems(n_campaigns: int) -> None:
    for name, kind in KINDS.items():
        for n_segments in (100, 400):
            rng = np.random.default_rng(1)
            truth = np.mean([np.nanmean(agreements(rng, 60, n_segments, kind)) for _ in range(20)])
            for k in (6, 8, 12, 24):
                drawn = [
                    agreements(np.random.default_rng([k, n_segments, c]), k, n_segments, kind)
                    for c in range(n_campaigns)
                ]
                values = np.array([np.nanmean(pairs) for pairs in drawn])
                jackknife, unbiased = np.array([variances(pairs) for pairs in drawn]).T
                shown = []
                for variance in (jackknife, unbiased, (jackknife + unbiased) / 2):
                    low, high = fisher_interval(values, variance, "spa", k - 1.0, 0.95)
                    held = ((low <= truth) & (truth <= high)).mean()
                    shown.append(f"{held:.3f} (length {(high - low).mean() / (3.92 * values.std()):.2f})")
                print(f"{name}, {n_segments} segments, {k} systems, SPA {truth:.3f}:", *shown, sep="  ", flush=True)


def segments(n_campaigns: int) -> None:
    for pair in ("en-de", "he-en", "zh-en"):
        full = mm.load(f"wmt23/{pair}").select(metrics=METRICS)
        rated = ~np.isnan(full.human).all(axis=0)
        full = full.select(segments=[s for s, some in zip(full.segments, rated, strict=True) if some])
        documents, rng = units_of(full, "document"), np.random.default_rng(0)
        for n in (50, 100):
            times = [np.bincount(rng.integers(full.shape[1], size=n), minlength=full.shape[1]) for _ in range(4000)]
            truth = [spa_in_draws(full, m, np.array(times, dtype=float)).mean() for m in METRICS]
            for size in (150, 300):
                for whole in (False, True):
                    held = []
                    for k in range(n_campaigns):
                        es = campaign(full, documents, size, whole, np.random.default_rng([3, size, n, k]))
                        row = mm.soft_pairwise_accuracy(es, METRICS, n_segments=n, rng=k)
                        held.append((row["low"] <= truth) & (truth <= row["high"]))
                    how = "documents" if whole else "segments"
                    print(f"{pair}, SPA of {n}, from {size} in {how}: {np.mean(held):.3f}", flush=True)


def campaign(full: mm.EvalSet, documents: np.ndarray, size: int, whole: bool, rng) -> mm.EvalSet:
    """Draw segments, or documents until there are as many segments, with replacement."""
    columns, names = rng.integers(full.shape[1], size=0 if whole else size).tolist(), []
    while whole and len(columns) < size:
        own = np.flatnonzero(documents == rng.integers(documents.max() + 1))
        names += [f"d{len(columns)}"] * len(own)
        columns += own.tolist()
    scores = {m: full[m][:, columns] for m in METRICS}
    return mm.EvalSet(full.human[:, columns], scores, systems=full.systems, documents=names or None)


if __name__ == "__main__":
    {"systems": systems, "segments": segments}[sys.argv[1]](int(sys.argv[2]) if len(sys.argv) > 2 else 60)
