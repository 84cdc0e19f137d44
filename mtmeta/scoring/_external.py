"""Neural metrics in their own packages and processes: texts go out as CSV, scores come back as CSV."""

from __future__ import annotations

import csv
import hashlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
from tqdm import tqdm

from .._checks import check_choice, to_numbers
from .._tables import check_table

_WORKER = Path(__file__).with_name("_worker.py")
_TEXTS = ("source", "translation", "reference")
#: COMET imports a module that newer releases of setuptools no longer have.
_COMET = "unbabel-comet 'setuptools<81'"
#: By metric: the package that owns it, the texts it needs, its default model, what is given to pip.
NEURAL = {
    "comet": ("unbabel-comet", ("source", "translation"), "Unbabel/wmt22-comet-da", _COMET),
    **{f"unite_{part}": ("unbabel-comet", _TEXTS, "Unbabel/unite-mup", _COMET) for part in ("src", "ref", "unified")},
    "metricx": (
        "metricx",
        ("source", "translation"),
        "google/metricx-24-hybrid-large-v2p6",
        "git+https://github.com/google-research/metricx sentencepiece protobuf",
    ),
    "bleurt": ("bleurt", ("translation", "reference"), "BLEURT-20", "git+https://github.com/google-research/bleurt"),
    "bertscore": ("bert-score", ("translation", "reference"), "", "bert-score"),
}


class MissingPackageError(ValueError):
    """The package that owns a metric is not installed in the environment that should run it."""


def _texts(frame: pd.DataFrame, needed: Sequence[str]) -> pd.DataFrame:
    """Return the texts of a frame with an ``id``; refuse missing ones that are needed.

    UTF-8 has no half of a surrogate pair: it becomes U+FFFD.
    """
    check_table(frame, needed)
    out = {c: ["" if pd.isna(text) else str(text) for text in frame[c]] for c in _TEXTS if c in frame}
    whole = {c: [t.encode("utf-16", "surrogatepass").decode("utf-16", "replace") for t in out[c]] for c in out}
    return pd.DataFrame({"id": np.arange(len(frame)), **whole})


def _run(command: Sequence[str], timeout: float | None, output: Path, n: int, progress: bool) -> None:
    """Run a command; if it fails, raise with the end of its stderr. Its output grows by a line per score."""
    try:
        pipes = dict.fromkeys(("stdout", "stderr"), subprocess.PIPE)
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, encoding="utf-8", errors="replace", **pipes)
    except FileNotFoundError:
        raise MissingPackageError(
            f"there is no command {command[0]!r}. Install the metric's package in an environment of its own and give "
            "the path of its command."
        ) from None
    except PermissionError:
        raise ValueError(f"{command[0]!r} cannot be executed.") from None
    began, error = time.monotonic(), None
    before = _lines(output)
    with process, tqdm(total=n, unit="text", disable=not progress) as bar:
        try:
            while error is None:
                with suppress(subprocess.TimeoutExpired):
                    left = 1.0 if timeout is None else min(1.0, max(0.0, began + timeout - time.monotonic()))
                    error = process.communicate(timeout=left)[1]
                bar.update(_lines(output) - before - bar.n)
                if error is None and timeout is not None and time.monotonic() > began + timeout:
                    raise ValueError(f"{command[0]!r} was still running after {timeout:g} s. Raise `timeout`.")
        finally:
            process.kill()
    said = error.strip().splitlines()
    if process.returncode == 3 and str(_WORKER) in command:
        metric = json.loads(command[2])["metric"]
        package, *_, source = NEURAL[metric]
        raise MissingPackageError(
            f"{metric} needs the package {package}: {command[0]} cannot import {said[-1]!r}. "
            f"Install it in an environment of its own (pip install {source}) and pass that environment's `python`."
        )
    if process.returncode:
        raise ValueError("\n".join([f"{command[0]!r} ended with exit status {process.returncode}:", *said[-5:]]))


def _lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.is_file() else 0


def _read_back(path: Path, n: int) -> np.ndarray:
    """Return the scores of the output file in the order of the input, joined by ``id``."""
    if not path.is_file():
        raise ValueError("the command ended well but wrote no output file.")
    frame = pd.read_csv(path, dtype={"score": str})
    if not {"id", "score"} <= set(frame.columns):
        raise ValueError(f"the output needs columns 'id' and 'score'; found {', '.join(map(repr, frame.columns))}.")
    if sorted(frame["id"].tolist()) != list(range(n)):
        raise ValueError(f"the output must have one score for each of the {n} rows, by id; found {len(frame)} rows.")
    return _finite(frame.set_index("id").loc[range(n), "score"])


def _finite(scores: pd.Series) -> np.ndarray:
    values = to_numbers(scores).to_numpy(dtype=float)
    if not np.isfinite(values).all():
        row = int(np.flatnonzero(~np.isfinite(values))[0]) + 1
        raise ValueError(f"the metric returned something that is no finite number for row {row}.")
    return values


def _stored(path: Path) -> dict[str, str]:
    """Return the scores of a cache by key, without a line that was cut off when its writer was stopped."""
    if not path.is_file():
        return {}
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    return dict(line.strip().split(",", 1) for line in lines if line.endswith("\n") and "," in line)


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
        Program and arguments, run without a shell. ``{input}`` and ``{output}`` stand for the two files, CSV in
        UTF-8: input has columns ``id`` and the texts, output must have ``id, score``, in any order. Texts may hold
        commas, quotes and line breaks of all kinds, or be words like ``None``, so read them as text. Half a surrogate
        pair, which UTF-8 does not have, becomes U+FFFD.
    needs : sequence of str
        Texts that every row needs.
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
    ...     "import sys, pandas as pd; t = pd.read_csv(sys.argv[1], keep_default_na=False);"
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
        texts.to_csv(files["{input}"], index=False, quoting=csv.QUOTE_NONNUMERIC)
        output = Path(files["{output}"])
        _run([files.get(part, str(part)) for part in command], timeout, output, len(texts), progress=False)
        return _read_back(output, len(texts))


def score_neural(
    frame: pd.DataFrame,
    metric: str,
    *,
    model: str | Path | None = None,
    python: str | Path | None = None,
    language: str = "en",
    batch_size: int = 16,
    gpus: int | None = None,
    timeout: float | None = None,
    cache: str | Path | None = None,
    progress: bool = False,
) -> np.ndarray:
    """Score translations with COMET, UniTE, MetricX, BLEURT or BERTScore, in the package that owns the metric.

    The package runs in a process of its own, under another Python if necessary: unbabel-comet requires old numpy and
    pandas and cannot share an environment with this package. Rows with the same texts are scored once.

    COMET, UniTE and BERTScore compute in 32 bits, and so does MetricX unless its checkpoint is stored in 16. Published
    scores may come from 16 bits, which keep about three digits and make ties that are not in scores from 32.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per translation: ``source, translation, reference`` (COMET and MetricX: reference only for models that
        need one; BLEURT and BERTScore: no source).
    metric : {"comet", "unite_src", "unite_ref", "unite_unified", "metricx", "bleurt", "bertscore"}
        UniTE is one model with three scores: from the source, the reference, or both. COMET's package runs it. MetricX
        predicts errors from 0 to 25: its score is minus that.
    model : str or path, optional
        A model name or checkpoint of the package; of COMET also a file ``.ckpt``, or the folder with ``hparams.yaml``
        and ``checkpoints``. By default ``Unbabel/wmt22-comet-da``, ``Unbabel/unite-mup``,
        ``google/metricx-24-hybrid-large-v2p6``, ``BLEURT-20``, and for BERTScore its own choice for the language.
    python : path, optional
        The Python that has the package; by default the running one.
    language : str
        Target language code, for BERTScore.
    batch_size : int
    gpus : int, optional
        By default one if there is one; 0 for the CPU. BLEURT decides for itself.
    timeout : float, optional
        Seconds.
    cache : path, optional
        A file that keeps the scores by metric, model and texts. If scoring stops, the same call continues from there.
        One process at a time may write to it.
    progress : bool
        Show a progress bar on standard error.

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
    named = {"metric": metric, "model": str(model or default), "language": language}
    texts = _texts(frame, needs)
    rows = texts.drop(columns="id").to_dict("records")
    path = Path(named["model"])  # a file that is written anew is another model
    files = sorted([path, *path.rglob("*")]) if path.exists() else []
    known = [named, [(str(file.resolve()), file.stat().st_mtime_ns) for file in files]]
    texts["id"] = [hashlib.sha256(json.dumps([*known, row]).encode()).hexdigest() for row in rows]
    with tempfile.TemporaryDirectory() as folder:
        source, output = Path(folder, "in.csv"), Path(cache or Path(folder, "out.csv"))
        new = texts[~texts["id"].isin(_stored(output))].drop_duplicates("id")
        if len(new):
            new.to_csv(source, index=False, quoting=csv.QUOTE_NONNUMERIC)
            output.parent.mkdir(parents=True, exist_ok=True)
            with output.open("a+b") as file:
                if file.tell() and not output.read_bytes().endswith(b"\n"):
                    file.write(b"\n")
            given = json.dumps(named | {"batch_size": batch_size, "gpus": gpus})
            command = [str(python or sys.executable), str(_WORKER), given, str(source), str(output)]
            _run(command, timeout, output, len(new), progress)
        return _finite(texts["id"].map(_stored(output)))
