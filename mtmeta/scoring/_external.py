"""Neural metrics in their own packages and processes: texts go out as CSV, scores come back as CSV."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from .._checks import check_choice, to_numbers
from .._tables import check_table

_WORKER = Path(__file__).with_name("_worker.py")
_TEXTS = ("source", "translation", "reference")
#: By metric: the package that owns it, the texts it needs, its default model, where it is installed from.
NEURAL = {
    "comet": ("unbabel-comet", ("source", "translation"), "Unbabel/wmt22-comet-da", "unbabel-comet"),
    **{
        f"unite_{part}": ("unbabel-comet", _TEXTS, "Unbabel/unite-mup", "unbabel-comet")
        for part in ("src", "ref", "unified")
    },
    "bleurt": ("bleurt", ("translation", "reference"), "BLEURT-20", "git+https://github.com/google-research/bleurt"),
    "bertscore": ("bert-score", ("translation", "reference"), "", "bert-score"),
}


class MissingPackageError(ValueError):
    """The package that owns a metric is not installed in the environment that should run it."""


def _texts(frame: pd.DataFrame, needed: Sequence[str]) -> pd.DataFrame:
    """Return the texts of a frame with an ``id``; refuse missing ones that are needed."""
    check_table(frame, needed)
    out = {c: frame[c].fillna("").astype(str).to_numpy() for c in _TEXTS if c in frame}
    return pd.DataFrame({"id": np.arange(len(frame)), **out})


def _run(command: Sequence[str], timeout: float | None) -> None:
    """Run a command; raise with the end of what it wrote to stderr where it fails."""
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=timeout
        )
    except FileNotFoundError:
        raise MissingPackageError(
            f"there is no command {command[0]!r}. Install the metric's package in an environment of its own and give "
            "the path of its command."
        ) from None
    except PermissionError:
        raise ValueError(f"{command[0]!r} cannot be executed.") from None
    except subprocess.TimeoutExpired:
        raise ValueError(f"{command[0]!r} was still running after {timeout:g} s. Raise `timeout`.") from None
    if done.returncode == 3 and str(_WORKER) in command:
        metric = json.loads(command[2])["metric"]
        last = done.stderr.strip().splitlines()[-1]
        package, *_, source = NEURAL[metric]
        raise MissingPackageError(
            f"{metric} needs the package {package}: {command[0]} cannot import {last!r}. "
            f"Install it in an environment of its own (pip install {source}) and pass that environment's `python`."
        )
    if done.returncode:
        tail = "\n".join(done.stderr.strip().splitlines()[-5:])
        raise ValueError(f"{command[0]!r} ended with exit status {done.returncode}:\n{tail}")


def _read_back(path: Path, n: int) -> np.ndarray:
    """Return the scores of the output file in the order of the input, joined by ``id``."""
    if not path.is_file():
        raise ValueError("the command ended well but wrote no output file.")
    frame = pd.read_csv(path, dtype={"score": str})
    if not {"id", "score"} <= set(frame.columns):
        raise ValueError(f"the output needs columns 'id' and 'score'; found {', '.join(map(repr, frame.columns))}.")
    if sorted(frame["id"].tolist()) != list(range(n)):
        raise ValueError(f"the output must have one score for each of the {n} rows, by id; found {len(frame)} rows.")
    values = to_numbers(frame.set_index("id").loc[range(n), "score"]).to_numpy(dtype=float)
    if not np.isfinite(values).all():
        row = int(np.flatnonzero(~np.isfinite(values))[0]) + 1
        raise ValueError(f"the metric returned something that is no finite number for row {row}.")
    return values


def score_with_command(
    frame: pd.DataFrame,
    command: Sequence[str],
    *,
    needs: Sequence[str] = ("translation", "reference"),
    timeout: float | None = None,
) -> np.ndarray:
    """Score translations with any command that reads and writes CSV.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per translation; columns of ``source, translation, reference`` are passed on.
    command : sequence of str
        Program and arguments, run without a shell. ``{input}`` and ``{output}`` stand for the two files: input has
        columns ``id`` and the texts, output must have ``id, score``, in any order.
    needs : sequence of str
        Texts that no row may lack.
    timeout : float, optional
        Seconds.

    Returns
    -------
    numpy.ndarray, shape (n_rows,)
        Scores in the order of the rows, as the command gave them.

    Raises
    ------
    TypeError
        If ``frame`` is no DataFrame or ``command`` is a string.
    MissingPackageError
        If there is no such command.
    ValueError
        If a text is missing, the command fails, or its output lacks a score.

    Examples
    --------
    >>> import sys, pandas as pd
    >>> from mtmeta.scoring import score_with_command
    >>> program = (
    ...     "import sys, pandas as pd; t = pd.read_csv(sys.argv[1]);"
    ...     "t.assign(score=t.translation.str.len())[['id', 'score']].to_csv(sys.argv[2], index=False)"
    ... )
    >>> table = pd.DataFrame({"translation": ["one", "three"], "reference": ["a", "b"]})
    >>> score_with_command(table, [sys.executable, "-c", program, "{input}", "{output}"]).tolist()
    [3.0, 5.0]
    """
    if isinstance(command, str):
        raise TypeError("`command` must be a list of arguments, not one string: it is run without a shell.")
    missing = [p for p in ("{input}", "{output}") if p not in command]
    if missing:
        raise ValueError(f"`command` must hold the argument {missing[0]!r}, which stands for a file.")
    texts = _texts(frame, needs)
    with tempfile.TemporaryDirectory() as folder:
        files = {"{input}": str(Path(folder, "in.csv")), "{output}": str(Path(folder, "out.csv"))}
        texts.to_csv(files["{input}"], index=False)
        _run([files.get(part, str(part)) for part in command], timeout)
        return _read_back(Path(files["{output}"]), len(texts))


def score_neural(
    frame: pd.DataFrame,
    metric: str,
    *,
    model: str | None = None,
    python: str | Path | None = None,
    language: str = "en",
    batch_size: int = 16,
    gpus: int = 0,
    timeout: float | None = None,
) -> np.ndarray:
    """Score translations with COMET, UniTE, BLEURT or BERTScore, in the package that owns the metric.

    The package runs in a process of its own, under another Python if need be: unbabel-comet holds back numpy and
    pandas and cannot share an environment with this package.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per translation: ``source, translation, reference`` (COMET: reference only for models that see one;
        BLEURT and BERTScore: no source).
    metric : {"comet", "unite_src", "unite_ref", "unite_unified", "bleurt", "bertscore"}
        UniTE is one model with three scores: from the source, the reference, or both. COMET's package runs it.
    model : str, optional
        A model name or checkpoint of the package. By default ``Unbabel/wmt22-comet-da``, ``Unbabel/unite-mup``,
        ``BLEURT-20``, and for BERTScore its own choice for the language.
    python : path, optional
        The Python that has the package; by default the running one.
    language : str
        Target language code, for BERTScore.
    batch_size, gpus : int
    timeout : float, optional
        Seconds.

    Returns
    -------
    numpy.ndarray, shape (n_rows,)
        Higher is better.

    Raises
    ------
    MissingPackageError
        If the package or command is not there; it is a ValueError and says how to install it.
    TypeError, ValueError
        As in `score_with_command`.

    References
    ----------
    Rei et al. 2022 (COMET); Wan et al. 2022 (UniTE); Sellam, Das and Parikh 2020 (BLEURT); Zhang et al. 2020
    (BERTScore).
    """
    check_choice("metric", metric, NEURAL)
    _, needs, default, _ = NEURAL[metric]
    options = {"metric": metric, "model": model or default, "batch_size": batch_size, "gpus": gpus}
    given = json.dumps(options | {"language": language})
    command = [str(python or sys.executable), str(_WORKER), given, "{input}", "{output}"]
    return score_with_command(frame, command, needs=needs, timeout=timeout)
