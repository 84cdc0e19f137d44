"""Recommenders: each algorithm by hand on ratings small enough to check, lists, splits, seeds and refusals."""

import numpy as np
import recommenders
from recommenders import ALGORITHMS

#: Users 0 and 1 like items 0 and 1, user 2 likes items 2 and 3, user 3 rated item 0 alone.
TASTES = np.array([[5, 4, 0, 0, 0], [4, 5, 0, 0, 3], [0, 0, 5, 4, 0], [5, 0, 0, 0, 0]], dtype=float)


def scores(name, ratings=TASTES, seed=0):
    return np.asarray(ALGORITHMS[name](recommenders._Training(ratings, seed)), dtype=float)


def test_baselines_by_hand():
    assert scores("Popularity").tolist() == [[3, 2, 1, 1, 1]] * 4
    mean = 35 / 8
    expected = [(14 + 10 * mean) / 13, (9 + 10 * mean) / 12, (5 + 10 * mean) / 11]
    np.testing.assert_allclose(scores("MeanRating")[0, :3], expected)
    assert len(np.unique(scores("Random"))) == TASTES.size


def test_neighbours_by_hand():
    # cosines of user 3 with users 0, 1, 2: 5/sqrt(41), 4/sqrt(50), 0
    near, far = 5 / np.sqrt(41), 4 / np.sqrt(50)
    expected = [5 * near + 4 * far, 4 * near + 5 * far, 0, 0, 3 * far]
    np.testing.assert_allclose(scores("UserKNN")[3], expected, atol=1e-12)
    # user 3 rated item 0 alone, with 5: each item scores 5 times its cosine with item 0, and item 0 nothing
    norm = np.linalg.norm(TASTES, axis=0)
    cosine = TASTES[:, 0] @ TASTES / (norm * norm[0])
    np.testing.assert_allclose(scores("ItemKNN")[3], 5 * cosine * [0, 1, 1, 1, 1], atol=1e-12)


def test_term_selection_by_hand():
    # all three others are neighbours of user 3: their sums 9, 9, 5, 4, 3 of 30 ratings points; shares of all: /35
    sums, base = np.array([9, 9, 5, 4, 3.0]), np.array([14, 9, 5, 4, 3.0]) / 35
    p = sums / 30
    np.testing.assert_allclose(scores("Rocchio")[3], sums / 3)
    np.testing.assert_allclose(scores("RSV")[3], sums / 3 * (p - base))
    np.testing.assert_allclose(scores("CHI2")[3], (p - base) ** 2 / base)
    np.testing.assert_allclose(scores("KLD")[3], p * np.log(p / base))


def test_relevance_models_by_hand():
    base = TASTES.sum(axis=0) / 35
    p = 0.5 * TASTES[:3] / TASTES[:3].sum(axis=1, keepdims=True) + 0.5 * base
    np.testing.assert_allclose(np.diff(scores("RM1")[3]), np.diff(np.log(p[:, 0] @ p)))  # in proportion
    np.testing.assert_allclose(scores("RM2")[3], np.log(p.T @ p[:, 0]))
    # two rated items: products over them, inside the sum over neighbours or outside
    others = [1, 2, 3]
    q = 0.5 * TASTES[others] / TASTES[others].sum(axis=1, keepdims=True) + 0.5 * base
    np.testing.assert_allclose(np.diff(scores("RM1")[0]), np.diff(np.log((q[:, 0] * q[:, 1]) @ q)))
    np.testing.assert_allclose(scores("RM2")[0], np.log(q.T @ q[:, 0]) + np.log(q.T @ q[:, 1]))


def test_ease_is_the_closed_form_over_items():
    rng = np.random.default_rng(1)
    x = (rng.random((12, 7)) < 0.4).astype(float)
    inverse = np.linalg.inv(x.T @ x + 500 * np.eye(7))
    weights = np.eye(7) - inverse / np.diag(inverse)
    assert np.allclose(np.diag(weights), 0)
    np.testing.assert_allclose(scores("EASE", x * 4), x @ weights, atol=1e-12)


def test_random_walk_by_hand():
    x = (TASTES > 0).astype(float)
    steps = x / x.sum(axis=1, keepdims=True)
    back = x.T / x.sum(axis=0)[:, None]
    np.testing.assert_allclose(scores("RandomWalk"), steps @ back @ steps / x.sum(axis=0) ** 0.6)
