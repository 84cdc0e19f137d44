"""Scores of transcripts by jiwer: word, match and character error rates, word information."""

from collections.abc import Sequence
from importlib.metadata import version

import numpy as np

#: Metrics of transcripts. All but WIP are error rates, which this package negates.
SPEECH = ("wer", "mer", "wil", "wip", "cer")
_COUNTS = ("hits", "substitutions", "deletions", "insertions")


def speech_signature(metric: str) -> str:
    """Return library, version and options of a metric in one line."""
    name = metric.upper() if metric == "wip" else f"-{metric.upper()}"
    return f"{name}|tok:{'characters' if metric == 'cer' else 'spaces'}|case:mixed|jiwer:{version('jiwer')}"


def _counts(texts: Sequence[str], references: Sequence[str], characters: bool) -> np.ndarray:
    """Return hits, substitutions, deletions and insertions of every pair, aligned by jiwer."""
    import jiwer

    process = jiwer.process_characters if characters else jiwer.process_words
    done = [process(reference, text) for text, reference in zip(texts, references, strict=True)]
    return np.array([[getattr(one, name) for name in _COUNTS] for one in done], dtype=float).reshape(-1, 4)


def _rates(counts: np.ndarray, metric: str) -> np.ndarray:
    """Return a metric from counts as jiwer defines it, higher is better."""
    hits, substitutions, deletions, insertions = counts.T
    errors, n = substitutions + deletions + insertions, hits + substitutions + deletions
    with np.errstate(divide="ignore", invalid="ignore"):
        if metric in ("wer", "cer"):
            return 0.0 - np.where(n > 0, errors / n, insertions)  # and not -0.0
        if metric == "mer":
            return 0.0 - np.where(errors > 0, errors / (errors + hits), 0.0)
        # One division. jiwer multiplies two ratios, whose rounding parts equal WIPs: 3/5 * 3/9 and 1/5 * 1/1.
        length = hits + substitutions + insertions
        kept = np.where(errors > 0, np.where(hits > 0, hits**2 / (n * length), 0.0), 1.0)
    return kept if metric == "wip" else kept - 1


def score_speech(texts: Sequence[str], references: Sequence[str], metrics: Sequence[str]) -> dict[str, np.ndarray]:
    """Return one array per metric, higher is better."""
    counts = {c: _counts(texts, references, c) for c in {m == "cer" for m in metrics}}
    return {m: _rates(counts[m == "cer"], m) for m in metrics}
