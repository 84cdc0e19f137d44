"""Lexical metrics: sacreBLEU computes them, this module checks what goes in and carries the signature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from .._checks import check_choice
from ._references import check_references

METRICS = ("bleu", "chrf", "chrf++", "ter")
#: Tokenizers of BLEU. Those of Japanese, Korean and SentencePiece need packages (or a model) of their own.
TOKENIZERS = ("13a", "intl", "zh", "char", "none", "ja-mecab", "ko-mecab", "flores101", "flores200", "spBLEU-1K")


@dataclass(frozen=True)
class TextScore:
    """The score of a test set and how it was computed.

    Attributes
    ----------
    score : float
        BLEU and chrF in [0, 100]; TER negated, at most 0.
    signature : str
        That of sacreBLEU, with the metric's name before it.
    """

    score: float
    signature: str

    def to_frame(self) -> pd.DataFrame:
        """Return one row: ``score, signature``."""
        return pd.DataFrame([{"score": self.score, "signature": self.signature}])


@dataclass(frozen=True)
class SegmentScores:
    """The scores of single segments and how they were computed.

    Attributes
    ----------
    scores : numpy.ndarray, shape (n_segments,)
    signature : str
    """

    scores: np.ndarray = field(repr=False)
    signature: str

    def to_frame(self) -> pd.DataFrame:
        """Return one row per segment: ``segment`` (from 1), ``score``."""
        return pd.DataFrame({"segment": np.arange(1, len(self.scores) + 1), "score": self.scores})


def scorer(
    metric: str = "bleu",
    *,
    tokenize: str | None = None,
    effective_order: bool | None = None,
    level: str = "corpus",
) -> Any:
    """Return sacreBLEU's metric object for these options.

    Parameters
    ----------
    metric : {"bleu", "chrf", "chrf++", "ter"}
    tokenize : str, optional
        Only for BLEU; one of `TOKENIZERS`, by default ``"13a"``, which does not fit Chinese and Japanese.
    effective_order : bool, optional
        Whether n-gram orders that a text is too short for are left out. By default what sacreBLEU does at this
        ``level``: for BLEU no for a corpus and yes for a segment; for chrF yes at both. For chrF, False adds an
        epsilon, as chrF++.py does.
    level : {"corpus", "segment"}
        Decides the default of ``effective_order`` only.

    Returns
    -------
    sacrebleu.metrics.base.Metric
        Its own TER is an error rate, not negated.

    Raises
    ------
    ValueError
        If an option is not one of those above, does not apply, or the tokenizer's package or model is missing.

    Examples
    --------
    >>> from mtmeta.scoring import scorer
    >>> scorer("bleu").effective_order, scorer("bleu", level="segment").effective_order
    (False, True)
    """
    check_choice("metric", metric, METRICS)
    check_choice("tokenize", tokenize, (*TOKENIZERS, None))
    check_choice("effective_order", effective_order, (True, False, None))
    check_choice("level", level, ("corpus", "segment"))
    if tokenize is not None and metric != "bleu":
        raise ValueError(f"`tokenize` applies to BLEU alone; metric {metric!r} has its own units. Leave it out.")
    if effective_order is not None and metric == "ter":
        raise ValueError("`effective_order` is about n-grams, which TER does not have. Leave it out.")
    from sacrebleu.metrics import BLEU, CHRF, TER  # slow to import

    if metric == "ter":
        return TER()
    if metric != "bleu":
        return CHRF(word_order=2 if metric == "chrf++" else 0, eps_smoothing=effective_order is False)
    effective = level == "segment" if effective_order is None else bool(effective_order)
    tokenize = tokenize or "13a"
    try:
        return BLEU(tokenize=tokenize, effective_order=effective, force=True)
    except (ImportError, RuntimeError, OSError, SystemExit) as error:  # it exits where a model cannot be downloaded
        message = " ".join(str(error).split())
        raise ValueError(f"tokenizer {tokenize!r} lacks its package or its model: {message}") from None


def signature(metric: Any) -> str:
    """Return the signature of a sacreBLEU metric that has seen references, its name first.

    Parameters
    ----------
    metric : sacrebleu.metrics.base.Metric

    Returns
    -------
    str
        For TER with a minus sign, because this package negates it.
    """
    name = {"TER": "-TER"}.get(type(metric).__name__, type(metric).__name__)
    if name == "CHRF":
        name = f"chrF{metric.beta}{'+' * metric.word_order}"
    return f"{name}|{metric.get_signature().format()}"


def _sign(metric: str) -> float:
    return -1.0 if metric == "ter" else 1.0


def score_corpus(
    translations: Sequence[str],
    references: Sequence[Any],
    metric: str = "bleu",
    *,
    tokenize: str | None = None,
    effective_order: bool | None = None,
) -> TextScore:
    """Score a test set with sacreBLEU: sums of counts first, then one ratio.

    Parameters
    ----------
    translations : sequence of str
        One per segment.
    references : sequence of str, or sequence of sequences of str
        As in `check_references`, which refuses other shapes.
    metric, tokenize, effective_order
        As in `scorer`.

    Returns
    -------
    TextScore
        Higher is better; TER is negated.

    Raises
    ------
    TypeError, ValueError
        As in `scorer` and `check_references`.

    References
    ----------
    Post 2018 (sacreBLEU).

    Examples
    --------
    >>> from mtmeta.scoring import score_corpus
    >>> score_corpus(["the cat sat on the mat"], ["the cat sat on a mat"], "ter").to_frame().score[0].round(2)
    np.float64(-16.67)
    """
    computed = scorer(metric, tokenize=tokenize, effective_order=effective_order)
    streams = check_references(translations, references)
    score = _sign(metric) * computed.corpus_score(list(translations), streams).score
    return TextScore(score, signature(computed))


def score_segments(
    translations: Sequence[str],
    references: Sequence[Any],
    metric: str = "bleu",
    *,
    tokenize: str | None = None,
    effective_order: bool | None = None,
) -> SegmentScores:
    """Score every segment of a test set with sacreBLEU.

    Parameters
    ----------
    translations, references, metric, tokenize, effective_order
        As in `score_corpus`; ``effective_order`` is on by default for BLEU.

    Returns
    -------
    SegmentScores
        Higher is better; TER is negated.

    Raises
    ------
    TypeError, ValueError
        As in `score_corpus`.

    Examples
    --------
    >>> from mtmeta.scoring import score_segments
    >>> score_segments(["the cat sat", "no"], ["the cat sat", "yes"]).scores.round(1).tolist()
    [100.0, 0.0]
    """
    computed = scorer(metric, tokenize=tokenize, effective_order=effective_order, level="segment")
    streams = check_references(translations, references)
    from sacrebleu.metrics.base import Metric

    scores = [  # the method of the base class: that of BLEU logs a warning per segment without effective order
        Metric.sentence_score(computed, text, [r for r in own if r is not None]).score
        for text, own in zip(translations, zip(*streams, strict=True), strict=True)
    ]
    numbers = {sum(r is not None for r in own) for own in zip(*streams, strict=True)}
    computed.num_refs = numbers.pop() if len(numbers) == 1 else -1
    return SegmentScores(_sign(metric) * np.array(scores), signature(computed))
