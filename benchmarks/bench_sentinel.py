"""Speed of training a small transformer sentinel by the published recipe.

make bench

The weights are random, which takes as long. The texts are those of the teaching campaign, as often as it takes.
"""

import pandas as pd
import pytest

import mtmeta as mm

pytest.importorskip("torch")
pytest.importorskip("transformers")

ENCODER, N_TEXTS = "scratch-small", 1200


def test_recipe(benchmark):
    frame = mm.sentinel.training_frame(mm.load("teaching"))
    frame = pd.concat([frame] * (N_TEXTS // len(frame) + 1)).head(N_TEXTS)
    options = {"kind": "transformer", "config": mm.sentinel.TransformerConfig(encoder=ENCODER)}
    trained = benchmark.pedantic(lambda: mm.sentinel.fit(frame, sees="candidate", **options), rounds=1)
    benchmark.extra_info |= {"job": f"{N_TEXTS} texts, {ENCODER}, on {trained.device}", "target": "none"}
    assert any("loss" in entry for entry in trained.history)
