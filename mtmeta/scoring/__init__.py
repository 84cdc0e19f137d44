"""Metric scores from text: lexical metrics by sacreBLEU, neural metrics in their own processes, stored scores.

Higher is better everywhere: TER, an error rate, is negated.
"""

from ._external import NEURAL, MissingPackageError, score_neural, score_with_command
from ._references import ReferenceShape, check_references, explain_reference_shape
from ._stored import add_scores, read_scores
from ._text import METRICS, TOKENIZERS, SegmentScores, TextScore, score_corpus, score_segments, scorer, signature

__all__ = [
    "METRICS",
    "NEURAL",
    "TOKENIZERS",
    "MissingPackageError",
    "ReferenceShape",
    "SegmentScores",
    "TextScore",
    "add_scores",
    "check_references",
    "explain_reference_shape",
    "read_scores",
    "score_corpus",
    "score_neural",
    "score_segments",
    "score_with_command",
    "scorer",
    "signature",
]
