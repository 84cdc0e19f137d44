"""Scores of single translations by sacreBLEU, nltk and rouge-score, each library called as it is."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib.metadata import version
from importlib.util import find_spec

import numpy as np

from ._speech import SPEECH
from ._ter import score_ter
from ._text import TextScores, score_texts

Scores = dict[str, np.ndarray]
#: Metrics of translations. METEOR needs WordNet, which nltk downloads.
LEXICAL = ("bleu", "bleu_nltk", "chrf", "chrf++", "ter", "rouge1", "rouge2", "rougeL", "meteor")
_ROUGE = ("rouge1", "rouge2", "rougeL")
#: The package of a metric that is not sacreBLEU's, and not always there.
_PACKAGES = dict.fromkeys(_ROUGE, "rouge-score") | dict.fromkeys(("bleu_nltk", "meteor"), "nltk")
_PACKAGES |= dict.fromkeys(SPEECH, "jiwer")
_WORDS = re.compile(r"[^\W_]+")


class _Words:
    """A tokenizer for rouge-score: runs of letters and digits of any script, lower-cased."""

    @staticmethod
    @lru_cache(maxsize=4096)
    def tokenize(text: str) -> list[str]:
        return _WORDS.findall(text.lower())


def trouble(metric: str) -> str:
    """Return why a metric cannot be computed here, or an empty string."""
    package = _PACKAGES.get(metric)
    if package and not find_spec(package.replace("-", "_")):
        return f"the package {package} is not installed: pip install 'mtmeta[local]'"
    if metric == "meteor":
        from nltk.corpus import wordnet

        try:
            wordnet.synsets("word")
        except LookupError:
            return "WordNet is not installed: python -m nltk.downloader wordnet omw-1.4"
    return ""


def lexical_signature(metric: str, tokenize: str | None) -> str:
    """Return library, version and options of a metric in one line."""
    if metric in _ROUGE:
        return f"{metric}|measure:f|tok:unicode|case:lc|rouge-score:{version('rouge-score')}"
    if metric == "bleu_nltk":
        return f"BLEU|smooth:none|tok:nltk|case:mixed|nltk:{version('nltk')}"
    if metric == "meteor":
        return f"METEOR|tok:nltk|case:lc|nltk:{version('nltk')}"
    return _sacrebleu(["a"], ["a"], metric, tokenize).signature


def _sacrebleu(texts: Sequence[str], references: Sequence[str], metric: str, tokenize: str | None) -> TextScores:
    return score_texts(texts, references, metric, level="segment", tokenize=tokenize if metric == "bleu" else None)


def score_lexical(
    texts: Sequence[str], references: Sequence[str], metrics: Sequence[str], *, tokenize: str | None = None
) -> Scores:
    """Return one array per metric, higher is better."""
    out: Scores = {}
    for metric in metrics:
        if metric in ("bleu_nltk", "meteor"):
            with warnings.catch_warnings(action="ignore", category=UserWarning):  # of segments without a common 4-gram
                score = _nltk(metric)
                found = [score(*pair) for pair in zip(texts, references, strict=True)]
            out[metric] = np.array(found, dtype=float)
        elif metric == "ter":
            out[metric] = score_ter(texts, references)
        elif metric not in _ROUGE:
            out[metric] = _sacrebleu(texts, references, metric, tokenize).score
    if rouge := [m for m in metrics if m in _ROUGE]:
        from rouge_score.rouge_scorer import RougeScorer

        scorer = RougeScorer(rouge, tokenizer=_Words)
        rows = [scorer.score(reference, text) for text, reference in zip(texts, references, strict=True)]
        out |= {m: np.array([row[m].fmeasure for row in rows]) for m in rouge}
    return out


def _nltk(metric: str) -> Callable[[str, str], float]:
    from nltk.tokenize import NLTKWordTokenizer
    from nltk.translate.bleu_score import sentence_bleu
    from nltk.translate.meteor_score import single_meteor_score

    tokens = lru_cache(maxsize=4096)(NLTKWordTokenizer().tokenize)
    if metric == "meteor":
        return lambda text, reference: single_meteor_score(tokens(reference), tokens(text))
    return lambda text, reference: sentence_bleu([tokens(reference)], tokens(text))
