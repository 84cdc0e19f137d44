"""Speed of training a transformer sentinel with both recipes: XLM-R large's shape on a GPU, a small one on a CPU.

    make bench
    PEAK_FLOPS=989e12 .venv/bin/pytest --benchmark-only -s benchmarks/bench_sentinel.py

The weights are random, which takes as long. With PEAK_FLOPS, what the device can do a second in bf16, the share of it
that was used is printed. The texts are those of the teaching campaign, as often as it takes.
"""

import os

import pandas as pd
import pytest

import mtmeta as mm

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

GPU = torch.cuda.is_available()
ENCODER, N_TEXTS = ("scratch-large", 12_000) if GPU else ("scratch-small", 1200)


@pytest.mark.parametrize("recipe", ["published", "fast"])
def test_recipe(recipe, benchmark):
    frame = mm.sentinel.training_frame(mm.load("teaching"))
    frame = pd.concat([frame] * (N_TEXTS // len(frame) + 1)).head(N_TEXTS)
    config = mm.sentinel.TransformerConfig(encoder=ENCODER, recipe=recipe)
    peak = float(os.environ["PEAK_FLOPS"]) if "PEAK_FLOPS" in os.environ else None
    options = {"sees": "candidate", "kind": "transformer", "config": config, "peak_flops": peak}
    report = benchmark.pedantic(lambda: mm.sentinel.fit(frame, **options), rounds=1).report
    share = "" if peak is None else f", {report.share_of_peak:.1%} of peak"
    speed = f"{report.texts_per_second:.0f} texts and {report.tokens_per_second:.0f} tokens a second{share}"
    job = f"{N_TEXTS} texts, {ENCODER}, the {recipe} recipe: {speed}"
    benchmark.extra_info |= {"job": job, "target": "none", "seconds": report.seconds}
    print(f"\n{report.device}, {report.precision}, {recipe}: {speed}")
    assert report.n_texts == N_TEXTS
