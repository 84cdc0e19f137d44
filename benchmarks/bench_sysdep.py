"""Speed of system dependence, on simulated data of the size of WMT23.

    make bench

Three sets with as many systems and rated segments as en-de, he-en and zh-en, 44 metrics each. The last job is the loop
over copies of the rows that the first one replaces, for one metric of the largest set.
"""

import numpy as np
import pytest
from scores import score_campaign
from sklearn.isotonic import IsotonicRegression

import mtmeta as mm

SIZES = ((12, 460), (12, 820), (15, 1177))
ROUNDS = 2


@pytest.fixture(scope="module")
def sets():
    made = [score_campaign(k, n, n_continuous=40, n_discrete=4) for k, n in SIZES]
    assert [len(es.metrics) for es in made] == [44] * 3
    return made


@pytest.mark.job("SysDep, all maps and intervals, 44 metrics x 3 sets, 200 resamples, 2 workers", "<= 20 s")
def test_table(sets, timed):
    assert len(timed(lambda: mm.system_dependence(sets, n_jobs=2).summary)) == 132


@pytest.mark.job("SysDep, central null, 44 metrics x 3 sets, 200 draws, 2 workers", "<= 60 s")
def test_nulls(sets, timed):
    assert len(timed(lambda: mm.sysdep.compare_with_null(sets, n_jobs=2).summary)) == 132


@pytest.mark.job("SysDep, one metric, 200 resamples, scikit-learn on copies", "none (for comparison)")
def test_scikit_learn_loop(sets, timed):
    es, rng = sets[-1], np.random.default_rng(0)
    human, scores = es.human, es["C01"]

    def loop():
        for _ in range(200):
            drawn = rng.integers(human.shape[1], size=human.shape[1])
            h, m = human[:, drawn], scores[:, drawn]
            IsotonicRegression(out_of_bounds="clip").fit(m.ravel(), h.ravel()).predict(scores.ravel())
            for k in range(len(h)):
                IsotonicRegression(out_of_bounds="clip").fit(m[k], h[k]).predict(scores[k])

    timed(loop)
