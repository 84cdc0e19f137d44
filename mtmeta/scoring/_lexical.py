"""Scores of single translations by sacreBLEU, nltk and rouge-score, with their own settings."""

import re
import warnings
from collections.abc import Sequence
from functools import lru_cache
from importlib.metadata import version
from importlib.util import find_spec

import numpy as np

from ._speech import SPEECH
from ._text import TextScores, score_texts

Scores = dict[str, np.ndarray]
_ROUGE = ("rouge1", "rouge2", "rougeL")
#: Metrics of translations.
LEXICAL = ("bleu", "bleu_nltk", "chrf", "chrf++", "ter", *_ROUGE)
#: The packages of the extra ``local``, by metric.
_PACKAGES = dict.fromkeys(_ROUGE, "rouge-score") | dict.fromkeys(SPEECH, "jiwer") | {"bleu_nltk": "nltk"}
_WORDS = re.compile(r"[^\W_]+")


class _Words:
    """A tokenizer for rouge-score: runs of letters and digits of any script, lower-cased."""

    @staticmethod
    @lru_cache(maxsize=4096)
    def tokenize(text: str) -> list[str]:
        return _WORDS.findall(text.lower())


def check_installed(metrics: Sequence[str]) -> None:
    """Raise `ValueError` if the package of a metric is not installed."""
    for metric in metrics:
        package = _PACKAGES.get(metric)
        if package and not find_spec(package.replace("-", "_")):
            raise ValueError(f"metric {metric!r} needs {package}, which is not installed: pip install 'mtmeta[local]'")


def lexical_signature(metric: str, tokenize: str | None) -> str:
    """Return library, version and options of a metric in one line."""
    if metric in _ROUGE:
        return f"{metric}|measure:f|tok:unicode|case:lc|rouge-score:{version('rouge-score')}"
    if metric == "bleu_nltk":
        return f"BLEU|smooth:none|tok:nltk|case:mixed|nltk:{version('nltk')}"
    return _sacrebleu(["a"], ["a"], metric, tokenize).signature


def _sacrebleu(texts: Sequence[str], references: Sequence[str], metric: str, tokenize: str | None) -> TextScores:
    return score_texts(texts, references, metric, level="segment", tokenize=tokenize if metric == "bleu" else None)


def score_lexical(
    texts: Sequence[str], references: Sequence[str], metrics: Sequence[str], *, tokenize: str | None = None
) -> Scores:
    """Return one array per metric, higher is better."""
    out: Scores = {}
    for metric in metrics:
        if metric == "bleu_nltk":
            out[metric] = _nltk_bleu(texts, references)
        elif metric not in _ROUGE:
            out[metric] = _sacrebleu(texts, references, metric, tokenize).score
    if rouge := [m for m in metrics if m in _ROUGE]:
        from rouge_score.rouge_scorer import RougeScorer

        scorer = RougeScorer(rouge, tokenizer=_Words)
        rows = [scorer.score(reference, text) for text, reference in zip(texts, references, strict=True)]
        out |= {m: np.array([row[m].fmeasure for row in rows]) for m in rouge}
    return out


def _nltk_bleu(texts: Sequence[str], references: Sequence[str]) -> np.ndarray:
    from nltk.tokenize import NLTKWordTokenizer
    from nltk.translate.bleu_score import sentence_bleu

    tokens = lru_cache(maxsize=4096)(NLTKWordTokenizer().tokenize)
    with warnings.catch_warnings(action="ignore", category=UserWarning):  # of segments without a common 4-gram
        pairs = zip(texts, references, strict=True)
        return np.array([sentence_bleu([tokens(reference)], tokens(text)) for text, reference in pairs], dtype=float)
