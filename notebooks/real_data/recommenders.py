"""Recommenders trained on MovieLens, for the page `local_accuracy_ranking`.

Each gives every user a ranked list of films that the user has not rated. The settings
are the usual ones, nothing is tuned:

- baselines: ``Random``; ``Popularity``, the number of ratings; ``MeanRating``;
- neighbourhoods of 50 by cosine: ``UserKNN``, ``ItemKNN``; and the term-selection formulas
  ``Rocchio``, ``RSV``, ``CHI2`` and ``KLD`` over the ratings of the nearest users;
- relevance models over the nearest users: ``RM1``, ``RM2``;
- ``RandomWalk``: three steps over users and items;
- 50 factors: ``PureSVD``, ``NMF``, ``PLSA``, ``BPRMF``, ``WRMF``; ``SVD`` predicts ratings from
  20 factors;
- ``EASE``: every item as a linear function of the others.

The formulas of the neighbourhoods are those of Valcarce, Parapar and Barreiro (2016,
Efficient pseudo-relevance feedback methods for collaborative filtering
recommendation), those of the relevance models of Parapar, Bellogín, Castells and
Barreiro (2013, Relevance-based language modelling for recommender systems), with
uniform priors and half of the weight on all users. EASE is by Steck (2019), PureSVD
by Cremonesi, Koren and Turrin (2010). BPRMF and WRMF are those of the library
implicit. One thread computes everything, so the lists do not depend on the number of
threads; another version of a library may change them.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property, partial
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from mtmeta.datasets import locate
from mtmeta.rankings import Rankings

NEIGHBOURS = 50
FACTORS = 50
#: Items a list. Share of the ratings that is held out, and the least of these that is relevant.
DEPTH, TEST_SHARE, RELEVANT_FROM = 100, 0.2, 4


class _Training:
    """The ratings that recommenders see, (n_users, n_items) with 0 for none, and values that several use."""

    def __init__(self, ratings: np.ndarray, seed: int) -> None:
        self.ratings, self.seed = ratings, seed
        self.rank = min(FACTORS, *(n - 1 for n in ratings.shape))
        norm = np.linalg.norm(ratings, axis=1)
        self.cosine = (ratings @ ratings.T) / np.maximum(np.outer(norm, norm), 1e-12)
        np.fill_diagonal(self.cosine, -1.0)
        order = np.argsort(-np.round(self.cosine, 9), axis=1, kind="stable")
        self.neighbours = order[:, : min(NEIGHBOURS, len(order) - 1)]

    @cached_property
    def base(self) -> np.ndarray:
        """Share of every item in the sum of all ratings."""
        return self.ratings.sum(axis=0) / self.ratings.sum()

    @cached_property
    def near(self) -> tuple[np.ndarray, np.ndarray]:
        """Sums of the neighbours' ratings, (n_users, n_items), and these as distributions over items."""
        sums = np.stack([self.ratings[v].sum(axis=0) for v in self.neighbours])
        return sums, sums / np.maximum(sums.sum(axis=1, keepdims=True), 1e-12)


# -- baselines --------------------------------------------------------------------------------


def _random(t: _Training) -> np.ndarray:
    return np.random.default_rng([t.seed, 1]).random(t.ratings.shape)


def _popularity(t: _Training) -> np.ndarray:
    return np.broadcast_to((t.ratings > 0).sum(axis=0).astype(float), t.ratings.shape)


def _mean_rating(t: _Training) -> np.ndarray:
    """Mean rating of an item, drawn to the mean of all by ten ratings of that mean."""
    there = t.ratings > 0
    mean = t.ratings.sum() / there.sum()
    scores = (t.ratings.sum(axis=0) + 10 * mean) / (there.sum(axis=0) + 10)
    return np.broadcast_to(scores, t.ratings.shape)


# -- neighbourhoods ---------------------------------------------------------------------------


def _user_knn(t: _Training) -> np.ndarray:
    """Ratings of the nearest users, weighted by cosine, not normalised."""
    return np.stack([t.cosine[u, v] @ t.ratings[v] for u, v in enumerate(t.neighbours)])


def _item_knn(t: _Training) -> np.ndarray:
    """Own ratings of the nearest items, weighted by cosine, not normalised."""
    norm = np.linalg.norm(t.ratings, axis=0)
    unit = sparse.csr_matrix(t.ratings / np.maximum(norm, 1e-12))
    cosine = sparse.csr_matrix(unit.T @ unit)
    cosine.setdiag(0.0)
    for start, end in itertools.pairwise(cosine.indptr):
        row = cosine.data[start:end]
        if len(row) > NEIGHBOURS:
            row[row < np.partition(row, -NEIGHBOURS)[-NEIGHBOURS]] = 0.0
    cosine.eliminate_zeros()
    return np.asarray((cosine @ sparse.csr_matrix(t.ratings.T)).todense()).T


def _rocchio(t: _Training) -> np.ndarray:
    sums, _ = t.near
    return sums / t.neighbours.shape[1]


def _rsv(t: _Training) -> np.ndarray:
    sums, p = t.near
    return np.where(sums > 0, sums / t.neighbours.shape[1] * (p - t.base), 0.0)


def _chi2(t: _Training) -> np.ndarray:
    sums, p = t.near
    return np.where(sums > 0, (p - t.base) ** 2 / np.maximum(t.base, 1e-12), 0.0)


def _kld(t: _Training) -> np.ndarray:
    sums, p = t.near
    return np.where(
        sums > 0, p * np.log(np.maximum(p, 1e-12) / np.maximum(t.base, 1e-12)), -1.0
    )


# -- relevance models -------------------------------------------------------------------------


def _smoothed(t: _Training) -> np.ndarray:
    """Return p(item | user): shares of the ratings, mixed with those of all users (Jelinek-Mercer)."""
    own = t.ratings / np.maximum(t.ratings.sum(axis=1, keepdims=True), 1e-12)
    return 0.5 * own + 0.5 * t.base


def _rm1(t: _Training) -> np.ndarray:
    """sum_v p(v) p(i|v) prod_j p(j|v), over neighbours v and the items j of the user."""
    p = _smoothed(t)
    logs = np.log(np.maximum(p, 1e-300))
    scores = np.empty_like(p)
    for u, v in enumerate(t.neighbours):
        weight = logs[v][:, t.ratings[u] > 0].sum(axis=1)
        scores[u] = np.exp(weight - weight.max()) @ p[v]
    return np.log(np.maximum(scores, 1e-300))


def _rm2(t: _Training) -> np.ndarray:
    """prod_j sum_v p(i|v) p(j|v), over neighbours v and the items j of the user, for items that a neighbour rated."""
    p = _smoothed(t)
    scores = np.full_like(p, -np.inf)
    for u, v in enumerate(t.neighbours):
        rated = (t.ratings[v] > 0).any(axis=0)
        given = p[v][:, rated].T @ p[v][:, t.ratings[u] > 0]
        scores[u, rated] = np.log(np.maximum(given, 1e-300)).sum(axis=1)
    return scores


# -- factors and linear models ----------------------------------------------------------------


def _svd(t: _Training) -> np.ndarray:
    """Predicted ratings: biases and 20 factors fitted to the known ratings by alternating least squares."""
    there = t.ratings > 0
    mean = t.ratings.sum() / there.sum()
    rest = np.where(there, t.ratings - mean, 0.0)
    item = rest.sum(axis=0) / (there.sum(axis=0) + 10)
    rest = np.where(there, rest - item, 0.0)
    user = rest.sum(axis=1, keepdims=True) / (there.sum(axis=1, keepdims=True) + 5)
    rest = np.where(there, rest - user, 0.0)
    factors = np.random.default_rng([t.seed, 2]).normal(
        0, 0.1, (t.ratings.shape[1], 20)
    )
    users = _least_squares(rest, there, factors)
    for _ in range(8):
        factors = _least_squares(rest.T, there.T, users)
        users = _least_squares(rest, there, factors)
    return mean + item + user + users @ factors.T


def _least_squares(
    rest: np.ndarray, there: np.ndarray, other: np.ndarray, penalty: float = 5.0
) -> np.ndarray:
    """Return, for every row, the ridge regression of its known entries on the factors of the other side."""
    ridge = penalty * np.eye(other.shape[1])
    out = np.zeros((len(rest), other.shape[1]))
    for i, known in enumerate(there):
        x = other[known]
        out[i] = np.linalg.solve(x.T @ x + ridge, x.T @ rest[i, known])
    return out


def _pure_svd(t: _Training) -> np.ndarray:
    """Ratings rebuilt from 50 singular vectors; a missing rating counts as 0."""
    from sklearn.utils.extmath import randomized_svd

    u, s, v = randomized_svd(t.ratings, t.rank, n_iter=5, random_state=t.seed)
    return (u * s) @ v


def _factorised(t: _Training, **options: Any) -> np.ndarray:
    """Non-negative factors; under the Kullback-Leibler divergence this is PLSA."""
    from sklearn.decomposition import NMF
    from sklearn.exceptions import ConvergenceWarning

    model = NMF(t.rank, init="nndsvda", random_state=t.seed, max_iter=60, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        users = model.fit_transform(sparse.csr_matrix(t.ratings))
    return users @ model.components_


def _ease(t: _Training, penalty: float = 500.0) -> np.ndarray:
    """Items as a linear function of the other items, ridge regression in closed form.

    With P = (X'X + l I)^-1 the weights are I - P diag(P)^-1. X P = (XX' + l I)^-1 X
    needs the users' matrix only.
    """
    x = (t.ratings > 0).astype(float)
    xp = np.linalg.solve(x @ x.T + penalty * np.eye(len(x)), x)
    diagonal = (1 - np.einsum("ui,ui->i", x, xp)) / penalty
    return x - xp / diagonal


def _random_walk(t: _Training) -> np.ndarray:
    """Three steps from the user over items and users, with popular items damped (RP3beta, beta 0.6)."""
    x = (t.ratings > 0).astype(float)
    to_items = x / np.maximum(x.sum(axis=1, keepdims=True), 1)
    popularity = np.maximum(x.sum(axis=0), 1)
    return (to_items @ (x / popularity).T) @ to_items / popularity**0.6


def _bprmf(t: _Training) -> np.ndarray:
    from implicit.cpu.bpr import BayesianPersonalizedRanking as Model

    return _fitted(t, Model, learning_rate=0.01, regularization=0.01, iterations=100)


def _wrmf(t: _Training) -> np.ndarray:
    from implicit.cpu.als import AlternatingLeastSquares as Model

    # In 64 bits: in 32 the lists differ from one processor to another.
    return _fitted(
        t, Model, regularization=0.05, iterations=15, alpha=1.0, dtype=np.float64
    )


def _fitted(t: _Training, kind: Callable[..., Any], **options: Any) -> np.ndarray:
    model = kind(factors=t.rank, random_state=t.seed, num_threads=1, **options)
    model.fit(sparse.csr_matrix(t.ratings, dtype=np.float32), show_progress=False)
    return model.user_factors.astype(float) @ model.item_factors.astype(float).T


@contextmanager
def _one_thread() -> Iterator[None]:
    """Compute in one thread, for the same sums in the same order. This binds only libraries that are already loaded."""
    import scipy.linalg  # noqa: F401
    import sklearn.decomposition  # noqa: F401
    from threadpoolctl import threadpool_limits

    with warnings.catch_warnings():
        # Its progress bar warns in notebooks without ipywidgets.
        warnings.simplefilter("ignore")
        import implicit.cpu.als  # noqa: F401
    with threadpool_limits(1):
        yield


#: The function of each algorithm that scores all items for all users.
ALGORITHMS: dict[str, Callable[[_Training], np.ndarray]] = {
    "Random": _random,
    "Popularity": _popularity,
    "MeanRating": _mean_rating,
    "UserKNN": _user_knn,
    "ItemKNN": _item_knn,
    "Rocchio": _rocchio,
    "RSV": _rsv,
    "CHI2": _chi2,
    "KLD": _kld,
    "RM1": _rm1,
    "RM2": _rm2,
    "RandomWalk": _random_walk,
    "SVD": _svd,
    "PureSVD": _pure_svd,
    "NMF": _factorised,
    "PLSA": partial(_factorised, beta_loss="kullback-leibler", solver="mu"),
    "BPRMF": _bprmf,
    "WRMF": _wrmf,
    "EASE": _ease,
}


# -- training ----------------------------------------------------------------------------


def movielens() -> Rankings:
    """Train all recommenders on MovieLens latest-small; it takes half a minute."""
    path = locate("movielens-latest-small/ratings.csv")
    names = {"userId": "user", "movieId": "item"}
    ratings = pd.read_csv(path, dtype=str).rename(columns=names)
    ratings["rating"] = ratings["rating"].astype(float)
    return train(ratings)


def train(ratings: pd.DataFrame, *, seed: int = 0) -> Rankings:
    """Train recommenders on part of every user's ratings, and rank the other items for the user.

    For every user, 20 % of the ratings are drawn for testing; at least one stays in
    training. A held-out rating of 4 has relevance 1, and every half point above it
    adds 1; lower ratings have 0. A query is a user, and a list has 100 items; the
    candidates are all items that anybody rated in training, except the user's own.
    Most of a list is therefore not judged: a user may like items without rating them.
    Ties are broken at random, in the same way for all algorithms.

    Parameters
    ----------
    ratings : pandas.DataFrame
        Columns ``user, item, rating``: strings, and a number above 0; higher is better.
    seed : int
        Seed of the split, of the starting values and of the order of ties.

    Returns
    -------
    Rankings
        ``system`` is the algorithm. Users without a relevant item are left out, and counted in
        ``provenance``, which also describes the split.
    """
    names = list(ALGORITHMS)
    users, items, training, test = _split(ratings, seed)
    judged = np.flatnonzero((test >= RELEVANT_FROM).any(axis=1))
    top, scores = _lists(names, training, judged, seed)
    runs = pd.DataFrame(
        {
            "system": np.repeat(np.array(names, dtype=object), len(judged) * DEPTH),
            "query": np.tile(np.repeat(users[judged], DEPTH), len(names)),
            "item": items[top.ravel()],
            "rank": np.tile(np.arange(1, DEPTH + 1), len(names) * len(judged)),
            "score": scores.ravel().astype(float),
        }
    )
    row, column = np.nonzero(test[judged])
    value = test[judged][row, column]
    grade = np.where(
        value >= RELEVANT_FROM, 1 + np.floor(2 * (value - RELEVANT_FROM)), 0
    ).astype(int)
    qrels = pd.DataFrame(
        {"query": users[judged][row], "item": items[column], "relevance": grade}
    )
    left_out = {}
    if without := len(users) - len(judged):
        left_out[f"{without} users"] = f"no held-out rating of {RELEVANT_FROM} or more"
    provenance = {
        "split": f"{TEST_SHARE} of every user's ratings held out, drawn with seed {seed}",
        "relevance": f"1 from a rating of {RELEVANT_FROM}, and 1 more for every half point above",
        "left_out": left_out,
    }
    return Rankings("movielens-small", runs, qrels, provenance)


def _split(
    ratings: pd.DataFrame, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Hold out part of the ratings of every user; return users, items and the ratings in training and test."""
    user, users = pd.factorize(ratings["user"])
    item, items = pd.factorize(ratings["item"])
    order = np.lexsort((np.random.default_rng([seed, 0]).random(len(user)), user))
    place = np.empty(len(user))
    n = np.bincount(user)
    place[order] = np.arange(len(user)) - np.repeat(np.cumsum(n) - n, n)
    held_out = place < np.minimum(np.round(TEST_SHARE * n), n - 1)[user]
    matrices = np.zeros((2, len(users), len(items)))
    matrices[held_out.astype(int), user, item] = ratings["rating"]
    return np.asarray(users, dtype=object), np.asarray(items, dtype=object), *matrices


def _lists(
    names: list[str], training: np.ndarray, users: np.ndarray, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return items and scores of every list: (n_systems, n_users, DEPTH)."""
    candidates = (training > 0).any(axis=0) & (training[users] == 0)
    ties = np.random.default_rng([seed, 3]).permutation(training.shape[1])
    top = np.empty((len(names), len(users), DEPTH), dtype=np.int32)
    scores = np.empty(top.shape, dtype=np.float32)
    with _one_thread():
        data = _Training(training, seed)
        for k, name in enumerate(names):
            given = np.array(ALGORITHMS[name](data), dtype=np.float32)
            for row, u in enumerate(users):
                allowed = np.flatnonzero(candidates[row])
                own = given[u, allowed]
                known = np.isfinite(own)
                own[~known] = own[known].min() - 1 if known.any() else 0
                chosen = np.lexsort((ties[allowed], -own))[:DEPTH]
                top[k, row], scores[k, row] = allowed[chosen], own[chosen]
    return top, scores
