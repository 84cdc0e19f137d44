"""Scores of texts and of their perturbed copies, in chunks that are cached and can be resumed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .._arrays import digest, read_array, write_array
from .._checks import check_choice, check_count, check_jobs
from .._names import positions
from .._processes import parallel
from .._tables import check_table
from ._lexical import LEXICAL, Scores, lexical_signature, score_lexical, trouble
from ._speech import SPEECH, score_speech, speech_signature
from ._text import TOKENIZERS

#: By task: the metrics that `score_pairs` computes when none is named.
PAIR_METRICS = {
    "translation": ("bleu", "bleu_nltk", "chrf", "ter", "rouge1", "rouge2", "rougeL"),
    "speech": SPEECH,
}
_KNOWN = {"translation": LEXICAL, "speech": SPEECH}
_TEXT = {"translation": "translation", "speech": "transcript"}
Extra = Callable[[pd.DataFrame], np.ndarray]
#: Takes distinct texts and names of metrics.
Scorer = Callable[[pd.DataFrame, list[str]], Scores]


def _signature(metric: str, lowercase: Any = False, tokenize: str | None = None) -> str:
    own = speech_signature(metric) if metric in SPEECH else lexical_signature(metric, tokenize)
    return own + {True: "|input:lc", "perturbed": "|input:perturbed-lc"}.get(lowercase, "")


def available_metrics(task: str = "translation") -> pd.DataFrame:
    """List the metrics of `score_pairs`: which of them can be computed here, and their signatures.

    Parameters
    ----------
    task : {"translation", "speech"}

    Returns
    -------
    pandas.DataFrame
        One row per metric: ``metric, default`` (computed when none is named), ``available``, ``signature`` (with the
        options by default; empty where not available), ``missing`` (what to install).

    Raises
    ------
    ValueError
        If the task is unknown.

    Examples
    --------
    >>> from mtmeta.scoring import available_metrics
    >>> available_metrics("speech").metric.tolist()
    ['wer', 'mer', 'wil', 'wip', 'cer']
    """
    check_choice("task", task, _KNOWN)
    rows = []
    for metric in _KNOWN[task]:
        missing = trouble(metric)
        rows.append((metric, metric in PAIR_METRICS[task], not missing, "" if missing else _signature(metric), missing))
    return pd.DataFrame(rows, columns=["metric", "default", "available", "signature", "missing"])


def score_pairs(
    frame: pd.DataFrame,
    metrics: Sequence[str] | None = None,
    *,
    task: str = "translation",
    lowercase: bool | str = False,
    tokenize: str | None = None,
    extra: Mapping[str, Extra] | None = None,
    n_jobs: int = 1,
    chunk: int = 1000,
    cache: str | Path | None = None,
    progress: bool = False,
) -> pd.DataFrame:
    r"""Score texts y and their perturbed copies y' against the same references.

    Equal texts with equal references are scored once: y of four perturbations costs one score, not four.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per perturbation: ``translation`` (or ``transcript``), ``perturbed``, ``reference``, and any others.
    metrics : sequence of str, optional
        By default those of `PAIR_METRICS`; `available_metrics` lists all of them. ``()`` for those of ``extra`` alone.
    task : {"translation", "speech"}
    lowercase : bool or "perturbed"
        Whether y, y' and the reference are lower-cased first, all alike. ``"perturbed"`` lower-cases y' alone, as
        a pipeline does that perturbs lower-cased tokens: every metric that sees case is then handed a difference that
        no perturbation made. Use it to show this, never to measure.
    tokenize : str, optional
        The tokenizer of sacreBLEU's BLEU; see `scorer`. Choose ``"zh"`` for Chinese references.
    extra : mapping of str to callable, optional
        Further metrics by name, such as ``{"comet": functools.partial(score_neural, metric="comet")}``. Each is called
        with a table of ``translation`` (or ``transcript``), ``reference`` and, where the frame has one, ``source``, and
        returns one number per row, higher is better. It is cached if it is a ``functools.partial`` with only keywords,
        or has a string ``signature``, since the name does not say which model was used.
    n_jobs : int
        Processes, as in joblib; metrics of ``extra`` run in this one.
    chunk : int
        Texts per piece of work, and per file of the cache.
    cache : path, optional
        A folder. Scores are stored by the content of texts and the signature of the metric, so that an interrupted run
        continues where it stopped.
    progress : bool
        Whether to show a bar.

    Returns
    -------
    pandas.DataFrame
        The rows and columns of ``frame``, and for every metric M the columns ``M`` (of y) and ``M_perturbed``. Higher
        is better: error rates are negated. ``attrs["signatures"]`` holds library, version and options by metric.

    Raises
    ------
    TypeError, ValueError
        If a column is missing or already there, a text is missing, an option or metric is unknown, or what a metric
        needs is not installed.

    Notes
    -----
    ``bleu`` is sacreBLEU's for segments (effective order), in [0, 100]; ``bleu_nltk`` is `sentence_bleu` without
    smoothing, in [0, 1], on the words of `NLTKWordTokenizer`. Where no 4-gram matches, nltk does not return 0 but puts
    the smallest positive float in the place of the precision. Such scores are near 1e-78 or less, and a strict
    comparison still ranks them. ``ter`` and ROUGE ignore case whatever ``lowercase`` says.

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
    check_choice("task", task, _KNOWN)
    check_choice("lowercase", lowercase, (True, False, "perturbed"))
    check_choice("tokenize", tokenize, (*TOKENIZERS, None))
    extra = dict(extra or {})
    names = PAIR_METRICS[task] if metrics is None else metrics
    if len(names) or not extra:
        positions("metric", names, _KNOWN[task])
    if clash := set(names) & set(extra):
        raise ValueError(f"`extra` names a metric that is known already: {sorted(clash)[0]!r}. Choose another name.")
    new = [column for m in (*names, *extra) for column in (m, f"{m}_perturbed")]
    check_table(frame, texts=[_TEXT[task], "perturbed", "reference"], new=new)
    for metric in names:
        if missing := trouble(metric):
            raise ValueError(f"metric {metric!r} cannot be computed here: {missing}.")
    check_count("chunk", chunk, 1)
    texts, places = _unique_texts(frame, _TEXT[task], lowercase)
    signatures = {m: _signature(m, lowercase, tokenize) for m in names}
    score: Callable[..., Scores] = score_speech
    if task == "translation":
        score = partial(score_lexical, tokenize=tokenize)
    folder = None if cache is None else Path(cache)
    if folder is not None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ValueError(f"`cache` must be a folder that can be made: {error}.") from None
    scores = {}
    if names:
        alike = texts.drop(columns="source", errors="ignore")
        scores = _in_chunks(partial(_by_library, score), alike, signatures, chunk, n_jobs, folder, progress)
    for name, function in extra.items():
        own = signatures[name] = _extra_signature(function)
        # In chunks where there is a cache to fill, else at once, because a neural model loads slowly.
        step = chunk if folder is not None and own else len(texts)
        scores |= _in_chunks(partial(_by_function, function), texts, {name: own}, step, 1, folder, False)
    out = frame.copy()
    for name, values in scores.items():
        out[name], out[f"{name}_perturbed"] = values[places]
    out.attrs["signatures"] = signatures
    return out


def _unique_texts(frame: pd.DataFrame, column: str, lowercase: bool | str) -> tuple[pd.DataFrame, np.ndarray]:
    """Return the distinct rows ``column, reference[, source]``, and for y and y' the row of each."""
    context = [c for c in ("reference", "source") if c in frame]
    both = []
    for name in (column, "perturbed"):
        part = frame[[name, *context]].rename(columns={name: column})
        if lowercase == "perturbed":
            part = part.assign(**{column: part[column].str.lower()}) if name == "perturbed" else part
        elif lowercase:
            part = part.assign(**{c: part[c].str.lower() for c in (column, "reference")})
        both.append(part)
    stacked = pd.concat(both, ignore_index=True)
    code = stacked.groupby([column, *context], sort=False, dropna=False).ngroup().to_numpy()
    texts = stacked[~pd.Series(code).duplicated().to_numpy()].reset_index(drop=True)
    return texts, code.reshape(2, len(frame))


def _file(folder: Path | None, texts: pd.DataFrame, signature: str) -> Path | None:
    """Return the path of the stored scores of these texts, named by a hash of the texts and the way of scoring."""
    if folder is None or not signature:
        return None
    return folder / f"{digest([signature, texts.fillna('').to_numpy().tolist()])}.npz"


def _score_chunk(score: Scorer, texts: pd.DataFrame, paths: dict) -> Scores:
    """Score what the cache lacks of one chunk, and store it."""
    out = {name: path and read_array(path, (len(texts),)) for name, path in paths.items()}
    todo = [name for name, values in out.items() if values is None]
    if todo:
        out |= score(texts, todo)
        for name in todo:
            if paths[name]:
                write_array(paths[name], out[name])
    return out


def _in_chunks(
    score: Scorer,
    texts: pd.DataFrame,
    signatures: Mapping[str, str],
    chunk: int,
    n_jobs: int,
    folder: Path | None,
    progress: bool,
) -> Scores:
    from joblib import delayed
    from tqdm import tqdm

    pieces = [texts.iloc[start : start + chunk].reset_index(drop=True) for start in range(0, len(texts), chunk)]
    jobs = (delayed(_score_chunk)(score, p, {m: _file(folder, p, s) for m, s in signatures.items()}) for p in pieces)
    done = parallel(check_jobs(n_jobs), jobs)
    parts = list(tqdm(done, total=len(pieces), unit="chunk", disable=not progress))
    return {m: np.concatenate([part[m] for part in parts]) for m in signatures}


def _extra_signature(function: Extra) -> str:
    """Return the identity of a further metric, or nothing if only its name could identify it."""
    own = getattr(function, "signature", None)
    if isinstance(own, str):
        return own
    if not isinstance(function, partial) or function.args or not hasattr(function.func, "__qualname__"):
        return ""
    options = "".join(f"|{k}:{v}" for k, v in sorted(function.keywords.items()))
    return f"{function.func.__module__}.{function.func.__qualname__}{options}"


def _by_library(score: Callable[..., Scores], texts: pd.DataFrame, metrics: list[str]) -> Scores:
    return score(texts.iloc[:, 0].tolist(), texts["reference"].tolist(), metrics)


def _by_function(function: Extra, texts: pd.DataFrame, metrics: list[str]) -> Scores:
    values = np.asarray(function(texts), dtype=float)
    if values.shape != (len(texts),) or not np.isfinite(values).all():
        raise ValueError(
            f"metric {metrics[0]!r} must return {len(texts)} finite numbers, one per row; found an array of shape "
            f"{values.shape} with {int((~np.isfinite(values)).sum())} that are not finite."
        )
    return {metrics[0]: values}
