"""Lexical metrics: sacreBLEU computes them, this module checks what goes in and carries the signature."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

from .._checks import check_choice
from ._references import check_references
from ._ter import negated_ter

METRICS = ("bleu", "chrf", "chrf++", "ter")
#: Tokenizers of BLEU. Those of Japanese, Korean and SentencePiece need packages (or a model) of their own.
TOKENIZERS = ("13a", "intl", "zh", "char", "none", "ja-mecab", "ko-mecab", "flores101", "flores200", "spBLEU-1K")
#: By target language: the tokenizer that sacreBLEU's own command chooses, and the package that it needs.
_TOKENIZERS = {"zh": ("zh", ""), "ja": ("ja-mecab", "MeCab"), "ko": ("ko-mecab", "mecab_ko")}


@dataclass(frozen=True)
class TextScores:
    """Scores of texts, and how they were computed.

    Attributes
    ----------
    score : float or numpy.ndarray, shape (n_segments,)
        Of the test set, or of each segment. BLEU and chrF in [0, 100]; TER negated, at most 0.
    signature : str
        That of sacreBLEU, with the metric's name before it.
    """

    score: float | np.ndarray
    signature: str


def tokenizer_of(language: str | None) -> str | None:
    """Return BLEU's tokenizer for a language or the target of a language pair, as sacreBLEU's command chooses it.

    None stands for the default, 13a, which splits at blanks. Where the package for Japanese or Korean is not installed,
    single characters count instead.

    See Also
    --------
    scorer : takes the tokenizer by name.

    Examples
    --------
    >>> from mtmeta.scoring import tokenizer_of
    >>> tokenizer_of("en-zh"), tokenizer_of("zh-en")
    ('zh', None)
    """
    name, package = _TOKENIZERS.get((language or "").rpartition("-")[2].lower()[:2], (None, ""))
    return "char" if package and not find_spec(package) else name


def scorer(metric: str = "bleu", *, tokenize: str | None = None, effective_order: bool | None = None) -> Any:
    """Return sacreBLEU's metric object for these options.

    Parameters
    ----------
    metric : {"bleu", "chrf", "chrf++", "ter"}
    tokenize : str, optional
        Only for BLEU; one of `TOKENIZERS`, by default ``"13a"``, which does not fit Chinese, Japanese and Korean; see
        `tokenizer_of`.
    effective_order : bool, optional
        Whether n-gram orders that a text is too short for are left out. By default no for BLEU, as sacreBLEU scores a
        corpus (for single segments it leaves them out), and yes for chrF. For chrF, False adds an epsilon, as chrF++.py
        does.

    Returns
    -------
    sacrebleu.metrics.base.Metric
        Its own TER is an error rate, not negated.

    Raises
    ------
    ValueError
        If an option is not one of those above, does not apply, or the tokenizer's package or model is missing.

    See Also
    --------
    score_texts : Scores of texts, with the references checked.

    Examples
    --------
    >>> from mtmeta.scoring import scorer
    >>> scorer("bleu").effective_order, scorer("bleu", effective_order=True).effective_order
    (False, True)
    """
    check_choice("metric", metric, METRICS)
    check_choice("tokenize", tokenize, (*TOKENIZERS, None))
    check_choice("effective_order", effective_order, (True, False, None))
    if tokenize is not None and metric != "bleu":
        raise ValueError(f"`tokenize` applies to BLEU alone; metric {metric!r} has its own units. Leave it out.")
    if effective_order is not None and metric == "ter":
        raise ValueError("`effective_order` is about n-grams, which TER does not have. Leave it out.")
    from sacrebleu.metrics import BLEU, CHRF, TER  # slow to import

    if metric == "ter":
        return TER()
    if metric != "bleu":
        return CHRF(word_order=2 if metric == "chrf++" else 0, eps_smoothing=effective_order is False)
    tokenize = tokenize or "13a"
    try:
        return BLEU(tokenize=tokenize, effective_order=bool(effective_order), force=True)
    except (ImportError, RuntimeError, OSError, SystemExit) as error:  # it exits where a model cannot be downloaded
        message = " ".join(str(error).split())
        raise ValueError(f"tokenizer {tokenize!r} lacks its package or its model: {message}") from None


def signature(metric: Any) -> str:
    """Return the signature of a sacreBLEU metric that has seen references, its name first.

    TER has a minus sign, because this package negates it.

    See Also
    --------
    score_pairs : scores of these metrics.

    Examples
    --------
    >>> from sacrebleu.metrics import CHRF
    >>> from mtmeta.scoring import signature
    >>> metric = CHRF()
    >>> score = metric.corpus_score(["A cat."], [["A cat."]])
    >>> signature(metric).partition("|")[0]
    'chrF2'
    """
    name = {"TER": "-TER"}.get(type(metric).__name__, type(metric).__name__)
    if name == "CHRF":
        name = f"chrF{metric.beta}{'+' * metric.word_order}"
    return f"{name}|{metric.get_signature().format()}"


def score_texts(
    translations: Sequence[str],
    references: Sequence[Any],
    metric: str = "bleu",
    *,
    level: str = "corpus",
    tokenize: str | None = None,
) -> TextScores:
    """Score a test set or each of its segments with sacreBLEU, after a check of the references.

    Parameters
    ----------
    translations : sequence of str
        One per segment.
    references : sequence of str, or sequence of sequences of str
        One reference per translation; or one list per reference translation of the test set, each as long as the
        translations, with None where a segment lacks this reference. Other shapes are refused.
    metric : {"bleu", "chrf", "chrf++", "ter"}
    level : {"corpus", "segment"}
        One score of the test set, from sums of counts; or one per segment, for BLEU with effective order.
    tokenize : str, optional
        As in `scorer`.

    Returns
    -------
    TextScores
        Higher is better; TER is negated.

    Raises
    ------
    TypeError, ValueError
        As in `scorer`, if references are transposed or missing, or if ``level`` is unknown.

    See Also
    --------
    score_pairs : Scores of texts and of their perturbed copies.

    References
    ----------
    Post 2018 (sacreBLEU).

    Examples
    --------
    >>> from mtmeta.scoring import score_texts
    >>> round(score_texts(["the cat sat on the mat"], ["the cat sat on a mat"], "ter").score, 2)
    -16.67
    >>> score_texts(["the cat sat", "no"], ["the cat sat", "yes"], level="segment").score.round(1).tolist()
    [100.0, 0.0]
    """
    check_choice("level", level, ("corpus", "segment"))
    single = level == "segment"
    computed = scorer(metric, tokenize=tokenize, effective_order=True if single and metric == "bleu" else None)
    streams = check_references(translations, references)
    sign = -1.0 if metric == "ter" else 1.0
    if not single:
        return TextScores(sign * computed.corpus_score(list(translations), streams).score, signature(computed))
    own = [[r for r in given if r is not None] for given in zip(*streams, strict=True)]
    numbers = {len(given) for given in own}
    if metric == "ter" and numbers == {1}:
        scores = negated_ter(translations, [given[0] for given in own])
    else:
        pairs = zip(translations, own, strict=True)
        scores = sign * np.array([computed.sentence_score(text, given).score for text, given in pairs])
    computed.num_refs = numbers.pop() if len(numbers) == 1 else -1
    return TextScores(scores, signature(computed))
