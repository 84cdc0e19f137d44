"""The light sentinel: a ridge regression on character n-grams and length."""

import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.linear_model import Ridge
from sklearn.model_selection import PredefinedSplit, cross_val_predict

from .._checks import Undefined
from ._frame import examples_of
from ._sentinel import Sentinel

SHAPE = ("log_characters", "log_bytes", "log_words", "digits", "capitals", "marks")
#: A character that is neither a letter or digit nor white space.
_MARK = re.compile(r"[^\w\s]|_")
_NGRAMS = (1, 3)  # characters
_OF_NGRAMS, _OF_SHAPE = ("idf", "ngram_weights"), ("mean", "scale", "shape_weights")


@dataclass(frozen=True)
class LightConfig:
    """How the penalty of a light sentinel is chosen.

    The features are the 20,000 most frequent of those n-grams of 1 to 3 characters that occur in two texts or more,
    and the look of a text. This and the defaults were chosen on training data alone: folds of WMT17 DA, TED and
    newstest2021 MQM.

    Attributes
    ----------
    alphas : tuple of float
        Ridge penalties to choose from.
    folds : int
        Folds of the validation that chooses.
    """

    alphas: tuple[float, ...] = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
    folds: int = 5


def shape_of(texts: list[str]) -> np.ndarray:
    """Return length and look of each text, shape (n_texts, len(SHAPE)).

    Logarithms of 1 + the number of characters, UTF-8 bytes and words; the shares of digits, capitals
    and punctuation among the characters.
    """
    rows = []
    for text in texts:
        n = max(len(text), 1)
        sizes = len(text), len(text.encode("utf-8", "surrogatepass")), len(text.split())
        marks = len(_MARK.findall(text))
        shares = sum(map(str.isdigit, text)) / n, sum(map(str.isupper, text)) / n, marks / n
        rows.append((*(np.log1p(size) for size in sizes), *shares))
    return np.array(rows, dtype=np.float64).reshape(-1, len(SHAPE))


def _most_frequent(texts: list[str], n: int = 20_000) -> tuple[list[str], Any]:
    """Return the n-grams of the features, and their counts in each text.

    They are in alphabetical order; of equally frequent ones, the first stay.
    """
    # Not `max_features`: with it, the processor's way to sort decides which of these stay.
    counter = CountVectorizer(analyzer="char", ngram_range=_NGRAMS, min_df=2)
    counts = counter.fit_transform(texts)
    kept = np.sort(np.argsort(-np.asarray(counts.sum(axis=0)).ravel(), kind="stable")[:n])
    return counter.get_feature_names_out()[kept].tolist(), counts[:, kept]


class LightSentinel(Sentinel):
    """A ridge regression on character n-grams (TF-IDF) and the length of one text.

    Attributes
    ----------
    sees : {"source", "candidate", "reference"}
    config : LightConfig
    alpha : float
        The penalty chosen.
    validation : dict of float to float
        The mean squared error of each penalty on held-out folds.
    """

    kind = "light"

    def __init__(self, sees: str, config: LightConfig, state: dict[str, Any]) -> None:
        self.sees = sees
        self.config = config
        self.alpha: float = state["alpha"]
        self.validation: dict[float, float] = state["validation"]
        self._state = state
        self._vectoriser = TfidfVectorizer(
            analyzer="char", ngram_range=_NGRAMS, sublinear_tf=True, vocabulary=state["ngrams"]
        )
        self._vectoriser.idf_ = state["idf"]

    @property
    def signature(self) -> str:
        """The kind, its settings and its training, in one line."""
        return (
            f"sentinel:light|sees:{self.sees}|ngrams:1-3|features:{len(self._state['ngrams'])}|"
            f"alpha:{self.alpha:g}|n:{self._state['n']}"
        )

    def _score(self, texts: list[str]) -> np.ndarray:
        s = self._state
        shape = (shape_of(texts) - s["mean"]) / s["scale"]
        # Row by row, not as a matrix product: a score must not depend on the texts scored beside it.
        by_shape = (shape * s["shape_weights"]).sum(axis=1)
        return self._vectoriser.transform(texts) @ s["ngram_weights"] + by_shape + s["intercept"]

    def _write(self, folder: Path) -> dict[str, Any]:
        arrays = {name: self._state[name].tolist() for name in (*_OF_NGRAMS, *_OF_SHAPE)}
        tables = {"config": asdict(self.config), "validation": [*self.validation.items()]}
        return {**self._state, **arrays, **tables}


def load_light(folder: Path, card: dict[str, Any]) -> LightSentinel:
    """Return the sentinel that `LightSentinel.save` wrote."""
    try:
        state = {name: np.array(card[name], dtype=np.float64) for name in (*_OF_NGRAMS, *_OF_SHAPE)}
        if not all(np.isfinite(values).all() for values in state.values()):
            raise ValueError("it does not have a finite number for each feature")
        state |= {"alpha": float(card["alpha"]), "intercept": float(card["intercept"]), "n": int(card["n"])}
        state |= {"ngrams": [*card["ngrams"]], "validation": dict(card["validation"])}
        config = card["config"] | {"alphas": tuple(card["config"]["alphas"])}
        sentinel = LightSentinel(card["sees"], LightConfig(**config), state)
        sentinel.score(["text"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ValueError(f"{folder}: the light sentinel in it is damaged: {error!r:.200}. Train it again.") from None
    return sentinel


def fit_light(frames: list[pd.DataFrame], sees: str, config: LightConfig) -> LightSentinel:
    """Fit a light sentinel; see `mtmeta.sentinel.fit`."""
    examples = sorted(row for frame in frames for row in examples_of(frame, sees))
    # Rows with the same text differ in the score only: their mean, weighted, is the same regression.
    rows = pd.DataFrame(examples, columns=["text", "group", "human"])
    rows = rows.groupby(["text", "group"], sort=False)["human"].agg(["mean", "size"]).reset_index()
    texts, y, weight = rows["text"].tolist(), rows["mean"].to_numpy(), rows["size"].to_numpy(dtype=np.float64)

    try:
        names, counts = _most_frequent(texts)
    except ValueError as error:
        raise Undefined(f"no character n-gram occurs in two of the {len(texts)} texts: {error}") from None
    weighter = TfidfTransformer(sublinear_tf=True).fit(counts)
    ngrams, shape = weighter.transform(counts), shape_of(texts)
    mean = np.average(shape, axis=0, weights=weight)
    scale = np.sqrt(np.average((shape - mean) ** 2, axis=0, weights=weight))
    scale[scale == 0] = 1
    x = sp.hstack([ngrams, sp.csr_array((shape - mean) / scale)], format="csr")

    validation = _validate(x, y, weight, pd.factorize(rows["group"])[0], config)
    alpha = min(validation, key=validation.get)
    ridge = _ridge(alpha).fit(x, y, sample_weight=weight)
    n = ngrams.shape[1]
    state = {
        "ngrams": names,
        "idf": weighter.idf_,
        "mean": mean,
        "scale": scale,
        "ngram_weights": ridge.coef_[:n],
        "shape_weights": ridge.coef_[n:],
        "intercept": float(ridge.intercept_),
        "alpha": alpha,
        "validation": validation,
        "n": len(examples),
    }
    return LightSentinel(sees, config, state)


def _ridge(alpha: float, tolerance: float = 1e-8) -> Ridge:
    return Ridge(alpha=alpha, solver="sparse_cg", tol=tolerance)


def _validate(x: Any, y: np.ndarray, weight: np.ndarray, groups: np.ndarray, config: LightConfig) -> dict[float, float]:
    """Return the error of every penalty on held-out folds; no source is on both sides of a split."""
    if groups.max() == 0:
        raise ValueError("every row has the same source, so that none can be held out to choose the penalty.")
    # The largest first, dealt out in turn. scikit-learn orders ties as the processor happens to sort them.
    ranks = np.argsort(np.argsort(-np.bincount(groups), kind="stable"))
    folds = PredefinedSplit(ranks[groups] % min(config.folds, len(ranks)))
    errors = {}
    for alpha in config.alphas:
        guess = cross_val_predict(_ridge(alpha, 1e-4), x, y, cv=folds, params={"sample_weight": weight})
        errors[float(alpha)] = float(np.average((guess - y) ** 2, weights=weight))
    return errors
