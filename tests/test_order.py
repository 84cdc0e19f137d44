"""The order of rows and of systems in the input changes no result, not even of one that draws at random."""

import numpy as np
import pandas as pd
import pytest
from digests import written
from pandas.testing import assert_frame_equal

import mtmeta as mm
from mtmeta import local_accuracy as la


def test_row_order_changes_nothing():
    """The sets are the same to the last bit, and so is what is computed of them: a result has no other input."""
    es = mm.load("teaching")
    frame = es.select(segments=es.segments[5:35], systems=es.systems[2:9]).to_frame()
    straight, shuffled = (mm.EvalSet.from_frame(t) for t in (frame, frame.sample(frac=1, random_state=3)))
    assert written(vars(straight)) == written(vars(shuffled))
    assert_frame_equal(straight.system_scores, shuffled.system_scores, check_exact=True)
    assert_frame_equal(straight.to_frame(), shuffled.to_frame(), check_exact=True)


@pytest.fixture(scope="module")
def pairs():
    """Pairs of texts, in order and shuffled: 20 segments, 4 systems, 2 kinds of damage; one metric ties."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(index=pd.MultiIndex.from_product([range(20), list("VWXY"), ["insertion", "removal"]]))
    frame = frame.rename_axis(["segment", "system", "perturbation"]).reset_index()
    frame["third"] = frame["segment"] % 3
    for k, name in enumerate(["m1", "m2", "m3"]):
        frame[name] = rng.normal(size=len(frame)).round(1) + 0.4 * k
        frame[f"{name}_perturbed"] = rng.normal(size=len(frame)).round(1)
    return frame, frame.sample(frac=1, random_state=5)


@pytest.mark.parametrize(("name", "context"), [
    ("local_accuracy", "system"), ("local_accuracy", None), ("ranking_effect", "system"), ("stability", "system"),
    ("context_effect", "third"), ("context_effect", "system"), ("context_effect", "perturbation"),
])  # fmt: skip
def test_row_order_of_pairs_changes_nothing(pairs, name, context):
    straight, shuffled = (getattr(la, name)(table, context=context, n_resamples=50) for table in pairs)
    assert_frame_equal(straight, shuffled, check_exact=True)
