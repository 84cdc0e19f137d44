"""Metric scores: of texts by sacreBLEU, nltk, rouge-score and jiwer, of rankings by trec_eval.

Higher is better everywhere: error rates are negated.
"""

from ._pairs import PAIR_METRICS, score_pairs
from ._ranking import RANKING_MEASURES, score_ranking_pairs, score_rankings
from ._references import ReferenceShape, explain_reference_shape
from ._text import METRICS, TOKENIZERS, TextScores, score_texts, scorer, signature, tokenizer_of

__all__ = [
    "METRICS", "PAIR_METRICS", "RANKING_MEASURES", "TOKENIZERS", "ReferenceShape", "TextScores",
    "explain_reference_shape", "score_pairs", "score_ranking_pairs", "score_rankings", "score_texts",
    "scorer", "signature", "tokenizer_of",
]  # fmt: skip
