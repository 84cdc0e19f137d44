"""Scores of texts and of their perturbed copies, in chunks that are cached and can be resumed."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
import pandas as pd

from .._checks import check_choice
from .._names import positions
from .._tables import check_table
from ._lexical import LEXICAL, check_installed, lexical_signature, score_lexical
from ._speech import SPEECH, score_speech, speech_signature
from ._text import TOKENIZERS

#: By task: the metrics that `score_pairs` computes when none is named.
PAIR_METRICS = {
    "translation": ("bleu", "bleu_nltk", "chrf", "ter", "rouge1", "rouge2", "rougeL"),
    "speech": SPEECH,
}
_KNOWN = {"translation": LEXICAL, "speech": SPEECH}
_TEXT = {"translation": "translation", "speech": "transcript"}
#: Texts per piece of work.
_CHUNK = 1000


def score_pairs(
    frame: pd.DataFrame,
    metrics: Sequence[str] | None = None,
    *,
    task: str = "translation",
    tokenize: str | None = None,
    scorers: Mapping[str, Callable[[pd.DataFrame], np.ndarray]] | None = None,
    n_jobs: int = 1,
) -> pd.DataFrame:
    r"""Score texts y and their perturbed copies y' against the same references.

    Equal texts with equal references are scored once: y of four perturbations costs one score, not four.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per perturbation: ``translation`` (or ``transcript``), ``perturbed``, ``reference``, and any others.
    metrics : sequence of str, optional
        By default those of `PAIR_METRICS`; for translations also ``chrf++``. ``()`` for those of ``scorers`` alone.
    task : {"translation", "speech"}
    tokenize : str, optional
        The tokenizer of sacreBLEU's BLEU; see `scorer`. Choose ``"zh"`` for Chinese references.
    scorers : mapping of str to callable, optional
        Further metrics by name, such as COMET (a recipe of the book). Each is called once with a table of
        ``translation`` (or ``transcript``), ``reference`` and, if the frame has it, ``source``. It returns one number
        per row, higher is better.
    n_jobs : int
        Processes, as in joblib; ``scorers`` run in this one.

    Returns
    -------
    pandas.DataFrame
        The rows and columns of ``frame``, and for every metric M the columns ``M`` (of y) and ``M_perturbed``. Higher
        is better: error rates are negated. ``attrs["signatures"]`` holds library, version and options of each metric
        that is not in ``scorers``.

    Raises
    ------
    TypeError, ValueError
        If a column is missing or already there, a text is missing, an option or metric is unknown, or what a metric
        needs is not installed.

    See Also
    --------
    mtmeta.perturb.perturb_table : make the pairs.
    mtmeta.local_accuracy.local_accuracy : what follows from the scores.

    Notes
    -----
    ``bleu`` is sacreBLEU's for segments (effective order), in [0, 100]; ``bleu_nltk`` is `sentence_bleu` without
    smoothing, in [0, 1], on the words of `NLTKWordTokenizer`. Where no 4-gram matches, nltk does not return 0 but puts
    the smallest positive float in the place of the precision. Such scores are near 1e-78 or less, and a strict
    comparison still ranks them. ``ter`` and ROUGE ignore case.

    The words of ROUGE are runs of letters and digits of any script. The tokenizer of rouge-score splits ASCII text at
    the same places, but takes every letter outside a-z for a space: German "für" would become "f" and "r", and a
    Russian text would have no words at all. Neither finds words in Chinese.

    References
    ----------
    The metrics of appendix A.1 of the paper on local metric accuracy.

    Examples
    --------
    >>> import pandas as pd
    >>> from mtmeta.scoring import score_pairs
    >>> table = pd.DataFrame({
    ...     "segment": [1], "perturbation": ["swapping"], "translation": ["the cat sat"], "perturbed": ["cat the sat"],
    ...     "reference": ["the cat sat"],
    ... })
    >>> score_pairs(table, ["rouge1", "rouge2"]).filter(like="rouge").to_dict("list")
    {'rouge1': [1.0], 'rouge1_perturbed': [1.0], 'rouge2': [1.0], 'rouge2_perturbed': [0.0]}
    """
    from joblib import Parallel, delayed

    check_choice("task", task, _KNOWN)
    check_choice("tokenize", tokenize, (*TOKENIZERS, None))
    scorers = dict(scorers or {})
    names = list(PAIR_METRICS[task] if metrics is None else metrics)
    if names or not scorers:
        positions("metric", metrics, _KNOWN[task])
    if clash := set(names) & set(scorers):
        raise ValueError(f"`scorers` names a metric that is known already: {sorted(clash)[0]!r}. Choose another name.")
    new = [column for m in (*names, *scorers) for column in (m, f"{m}_perturbed")]
    check_table(frame, texts=[_TEXT[task], "perturbed", "reference"], new=new)
    check_installed(names)
    texts, places = _unique_texts(frame, _TEXT[task])
    score, signature = score_speech, speech_signature
    if task == "translation":
        score, signature = (partial(f, tokenize=tokenize) for f in (score_lexical, lexical_signature))
    columns = texts[_TEXT[task]].tolist(), texts["reference"].tolist()
    starts = range(0, len(texts), _CHUNK)
    calls = (delayed(score)(*(column[i : i + _CHUNK] for column in columns), names) for i in starts)
    parts = Parallel(n_jobs)(calls)
    scores = {m: np.concatenate([part[m] for part in parts]) for m in names}
    for name, function in scorers.items():
        values = scores[name] = np.asarray(function(texts), dtype=float)
        if values.shape != (len(texts),) or not np.isfinite(values).all():
            raise ValueError(f"metric {name!r} must return {len(texts)} finite numbers, one per row.")
    out = frame.copy()
    for name, values in scores.items():
        out[name], out[f"{name}_perturbed"] = values[places]
    out.attrs["signatures"] = {m: signature(m) for m in names}
    return out


def _unique_texts(frame: pd.DataFrame, column: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Return the different texts with what they are scored against, and the rows of y and of y' among them."""
    context = [c for c in ("reference", "source") if c in frame]
    both = [frame[[name, *context]].set_axis([column, *context], axis=1) for name in (column, "perturbed")]
    stacked = pd.concat(both, ignore_index=True)
    code = stacked.groupby([column, *context], sort=False, dropna=False).ngroup().to_numpy()
    return stacked.drop_duplicates(ignore_index=True), code.reshape(2, len(frame))
