"""Measure how often each claim of a report is wrong, on campaigns whose truth is planted.

    python tools/calibration/claims.py --campaigns 400

A campaign has eight systems of different quality and fifty segments of different difficulty; a rater adds noise and
rounds. *noise* draws lots. *blind* knows the difficulty, and has read no translation. *biased* sees quality with noise,
adds two points for one system, and likes long translations. *perfect* is the quality. Of *equals*, three metrics with
noise of the same size, none is better than every other. The counts of verdicts go into `mtmeta/data/claims.json`, which
chapter 10 shows.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path

import numpy as np

import mtmeta as mm
from mtmeta.reporting._sections import SECTIONS

WHERE = Path(mm.__file__).parent / "data" / "claims.json"
N_SYSTEMS, N_SEGMENTS, N_DRAWS = 8, 50, 200
BEST = "Within segments it is better than every other metric of the table."
GOOD = {"biased", "perfect"}
#: Of which metrics a claim is true.
TRUE = {
    "It orders these systems as humans do more often than chance would.": GOOD,
    "It would order other systems of this kind better than a coin.": GOOD,
    "It tells better from worse translations of one segment.": GOOD,
    "Over all translations it agrees better than a metric that sees the source alone.": GOOD,
    BEST: {"perfect"},
    "With ties counted, it is right more often than a constant metric or random numbers.": GOOD,
    "Within segments it follows length as humans do.": {"noise", "blind", "perfect"},
}


def campaign(rng: np.random.Generator) -> tuple[mm.EvalSet, mm.EvalSet]:
    """Return a campaign with the four metrics, and the same with three that are equally good."""
    shape = N_SYSTEMS, N_SEGMENTS
    hard, quality = rng.normal(size=N_SEGMENTS), np.linspace(1, -1, N_SYSTEMS)[:, None]
    perfect = quality - hard + rng.normal(size=shape)
    human = np.round(perfect + 0.5 * rng.normal(size=shape))
    longer = rng.integers(-3, 4, size=shape)
    biased = perfect + rng.normal(size=shape) + 0.25 * longer
    biased[N_SYSTEMS // 2] += 2
    metrics = {"noise": rng.normal(size=shape), "blind": np.tile(-hard, (N_SYSTEMS, 1))}
    metrics |= {"biased": biased, "perfect": perfect}
    words = np.maximum(1, np.round(10 + 3 * hard)).astype(int)
    systems = list("ABCDEFGH")
    translations = {name: ["x" * n for n in 5 * words + 4 * row] for name, row in zip(systems, longer, strict=True)}
    texts = mm.evalset.Texts(sources=["word " * n for n in words], translations=translations)
    es = mm.EvalSet(human, metrics, systems=systems, texts=texts)
    return es, mm.EvalSet(human, {name: perfect + rng.normal(size=shape) for name in "abc"}, systems=systems)


def best_of_equals(es: mm.EvalSet, seed: int) -> str:
    """Return the verdict on the metric that ranks first, the only one that could be called better than every other."""
    first = mm.correlate(es).set_index("metric")["value"].idxmax()
    return mm.report(es, first, n_resamples=N_DRAWS, rng=seed).claims.query("claim == @BEST")["verdict"].item()


def main() -> None:
    """Measure, and write how often each verdict was given."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--campaigns", type=int, default=400)
    n, counts = parser.parse_args().campaigns, {}
    del SECTIONS["system_dependence"]  # slow, and no claim rests on it
    for number in range(n):
        es, equals = campaign(np.random.default_rng([10, number]))
        found = mm.report(es, n_resamples=N_DRAWS, rng=number).claims
        for row in found.itertuples():
            counts.setdefault((row.claim, row.metric), Counter())[row.verdict] += 1
        counts.setdefault((BEST, "equals"), Counter())[best_of_equals(equals, number)] += 1
    rows = [
        {"claim": claim, "metric": metric, "true": metric in TRUE[claim], "verdicts": dict(sorted(found.items()))}
        for (claim, metric), found in sorted(counts.items())
    ]
    content = {"n": n, "n_systems": N_SYSTEMS, "n_segments": N_SEGMENTS, "n_resamples": N_DRAWS, "rows": rows}
    WHERE.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
