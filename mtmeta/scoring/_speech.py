"""Scores of transcripts by jiwer: word, match and character error rates, word information."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version

import numpy as np
import pandas as pd

from .._checks import check_choice
from .._compiled import njit
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


@njit
def _sclite(text, reference):
    """Return hits, substitutions, deletions and insertions where an error costs 3 and a substitution 4.

    Own code, because jiwer knows only unit costs.
    """
    n, m = len(reference), len(text)
    cost = np.empty((n + 1, m + 1), np.int64)
    cost[:, 0], cost[0] = 3 * np.arange(n + 1), 3 * np.arange(m + 1)
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            change = 0 if reference[i - 1] == text[j - 1] else 4
            cost[i, j] = min(cost[i - 1, j - 1] + change, cost[i - 1, j] + 3, cost[i, j - 1] + 3)
    counts = np.zeros(4)
    i, j = n, m
    while i > 0 or j > 0:
        change = 4 if i == 0 or j == 0 or reference[i - 1] != text[j - 1] else 0
        if i > 0 and j > 0 and cost[i, j] == cost[i - 1, j - 1] + change:
            counts[1 if change else 0] += 1
            i, j = i - 1, j - 1
        elif j > 0 and cost[i, j] == cost[i, j - 1] + 3:
            counts[3] += 1
            j -= 1
        else:
            counts[2] += 1
            i -= 1
    return counts


def _sclite_counts(texts: Sequence[str], references: Sequence[str], characters: bool) -> np.ndarray:
    numbers: dict[str, int] = {}

    def units(text: str) -> np.ndarray:
        found = text.strip() if characters else text.split()
        return np.array([numbers.setdefault(unit, len(numbers)) for unit in found], dtype=np.int64)

    return np.array([_sclite(units(t), units(r)) for t, r in zip(texts, references, strict=True)]).reshape(-1, 4)


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
    alignment: str = "unit",
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
    alignment : {"unit", "sclite"}
        ``"unit"`` is jiwer's: the fewest errors. ``"sclite"`` has the costs of NIST's scorer, 4 for a substitution and
        3 for a deletion or insertion, which in places puts these two for a substitution and may count more errors.

    Returns
    -------
    pandas.DataFrame
        One row per group, in order of appearance: the columns of ``by``, ``segments``, ``words`` (of the references),
        ``substitutions``, ``deletions``, ``insertions`` (of words), and the metrics. Higher is better: all but WIP
        are negated rates, so ``wer`` is -0.1 where one word in ten is wrong.

    Raises
    ------
    TypeError, ValueError
        If the table lacks a column or holds an empty cell, or a metric is unknown.

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
    check_choice("alignment", alignment, ("unit", "sclite"))
    texts, references = frame["transcript"].tolist(), frame["reference"].tolist()
    count = _counts if alignment == "unit" else _sclite_counts
    words = count(texts, references, False)
    characters = count(texts, references, True) if "cer" in metrics else words
    groups = frame.groupby(keys, sort=False, observed=True)
    code = groups.ngroup().to_numpy()
    out = groups.size().rename("segments").reset_index()

    def total(counts: np.ndarray) -> np.ndarray:
        return np.stack([np.bincount(code, column, len(out)) for column in counts.T], axis=1)

    summed = total(words).astype(int)
    out["words"] = summed[:, :3].sum(axis=1)
    out[list(_COUNTS[1:])] = summed[:, 1:]
    return out.assign(**{m: _rates(total(characters if m == "cer" else words), m) for m in metrics})
