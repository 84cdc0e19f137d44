"""Scores of transcripts by jiwer: word, match and character error rates, word information."""

from collections.abc import Sequence
from importlib.metadata import version

import numpy as np
import pandas as pd

from .._names import positions
from .._tables import check_table

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


def score_transcripts(
    frame: pd.DataFrame,
    metrics: Sequence[str] = SPEECH,
    *,
    by: str | Sequence[str] = "system",
) -> pd.DataFrame:
    r"""Score groups of transcripts: errors are summed over the segments first, then divided.

    With hits :math:`H`, substitutions :math:`S`, deletions :math:`D` and insertions :math:`I` of the alignments,

    .. math::

        \text{WER} = \frac{S + D + I}{H + S + D}, \quad \text{MER} = \frac{S + D + I}{H + S + D + I}, \quad
        \text{WIP} = \frac{H}{H + S + D} \cdot \frac{H}{H + S + I} = 1 - \text{WIL}.

    CER is the WER of characters, spaces included.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per transcript, with ``transcript``, ``reference`` and the columns of ``by``.
    metrics : sequence of {"wer", "mer", "wil", "wip", "cer"}
    by : str or sequence of str
        Columns whose values name a group.

    Returns
    -------
    pandas.DataFrame
        One row per group, in order of appearance: the columns of ``by``, ``segments``, ``words`` (of the references),
        ``substitutions``, ``deletions``, ``insertions`` (of words), and the metrics. Higher is better: all but WIP
        are negated rates, so ``wer`` is -0.1 where one word in ten is wrong.

    Raises
    ------
    TypeError, ValueError
        If the table lacks a column or has an empty cell, or a metric is unknown.

    See Also
    --------
    score_pairs : of transcripts and their perturbations.

    References
    ----------
    Morris, Maier and Green 2004 (MER, WIL).

    Examples
    --------
    >>> import pandas as pd
    >>> from mtmeta.scoring import score_transcripts
    >>> table = pd.DataFrame({
    ...     "system": ["A", "A"],
    ...     "reference": ["one two three four", "five"],
    ...     "transcript": ["one two tree four", "five"],
    ... })
    >>> score_transcripts(table, ["wer", "wip"])
      system  segments  words  substitutions  deletions  insertions  wer   wip
    0      A         2      5              1          0           0 -0.2  0.64
    """
    keys = [by] if isinstance(by, str) else list(by)
    positions("metric", metrics, SPEECH)
    check_table(frame, keys, texts=["transcript", "reference"])
    texts, references = frame["transcript"].tolist(), frame["reference"].tolist()
    words = _counts(texts, references, False)
    characters = _counts(texts, references, True) if "cer" in metrics else words
    groups = frame.groupby(keys, sort=False, observed=True)
    counts = pd.DataFrame(np.hstack([words, characters])).groupby(groups.ngroup().to_numpy()).sum().to_numpy()
    words, characters = np.hsplit(counts, 2)
    out = groups.size().rename("segments").reset_index()
    out["words"] = words[:, :3].sum(axis=1).astype(int)
    out[list(_COUNTS[1:])] = words[:, 1:].astype(int)
    return out.assign(**{m: _rates(characters if m == "cer" else words, m) for m in metrics})
