"""Neural metrics in their own packages and processes: texts go out as CSV, scores come back as CSV."""

from __future__ import annotations

import csv
import hashlib
import json
import subprocess
import sys
import tempfile
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


def _whole(text: object) -> str:
    """Return a text as UTF-8 can hold it: half of a surrogate pair becomes U+FFFD."""
    return "" if pd.isna(text) else str(text).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _run(command: Sequence[str], metric: str, output: Path, n: int, progress: bool) -> None:
    """Run the worker; if it fails, raise with the end of its stderr. Its output grows by a line per score."""
    options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    try:
        process = subprocess.Popen(command, encoding="utf-8", errors="replace", **options)
    except OSError as error:
        raise ValueError(f"`python` must be a Python that has the metric's package: {error}.") from None
    before, error = len(_stored(output)), None
    with process, tqdm(total=n, unit="text", disable=not progress) as bar:
        try:
            while error is None:
                with suppress(subprocess.TimeoutExpired):
                    error = process.communicate(timeout=1)[1]
                bar.update(len(_stored(output)) - before - bar.n)
        finally:
            process.kill()
    said = error.strip().splitlines()
    if process.returncode == 3:
        package, *_, source = NEURAL[metric]
        raise ValueError(
            f"{metric} needs the package {package}: {command[0]} cannot import {said[-1]!r}. "
            f"Install it in an environment of its own (pip install {source}) and pass that environment's `python`."
        )
    if process.returncode:
        raise ValueError("\n".join([f"{metric} ended with exit status {process.returncode}:", *said[-5:]]))


def _stored(path: Path) -> dict[str, str]:
    """Return the scores of a cache by key, without a line that was cut off when its writer was stopped."""
    if not path.is_file():
        return {}
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    return dict(line.strip().split(",", 1) for line in lines if line.endswith("\n") and "," in line)


def score_neural(
    frame: pd.DataFrame,
    metric: str,
    *,
    model: str | Path | None = None,
    python: str | Path | None = None,
    language: str = "en",
    batch_size: int = 16,
    cache: str | Path | None = None,
    progress: bool = False,
) -> np.ndarray:
    """Score translations with COMET, UniTE, MetricX, BLEURT or BERTScore, in the package that owns the metric.

    The package runs in a process of its own, under another Python if necessary: unbabel-comet requires old numpy and
    pandas and cannot share an environment with this package. It uses one GPU if there is one; the environment variable
    ``CUDA_VISIBLE_DEVICES`` can hide it. Rows with the same texts are scored once.

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
    TypeError
        If ``frame`` is no DataFrame.
    ValueError
        If a text is missing, or the package is missing or fails.

    References
    ----------
    Rei et al. 2022 (COMET); Wan et al. 2022 (UniTE); Sellam, Das and Parikh 2020 (BLEURT); Zhang et al. 2020
    (BERTScore).
    """
    check_choice("metric", metric, NEURAL)
    _, needs, default, _ = NEURAL[metric]
    named = {"metric": metric, "model": str(model or default), "language": language}
    check_table(frame, needs)
    texts = frame[[c for c in _TEXTS if c in frame]].map(_whole)
    path = Path(named["model"])  # a file that is written anew is another model
    files = sorted([path, *path.rglob("*")]) if path.exists() else []
    known = [named, [(str(file.resolve()), file.stat().st_mtime_ns) for file in files]]
    texts["id"] = [hashlib.sha256(json.dumps([*known, row]).encode()).hexdigest() for row in texts.to_dict("records")]
    with tempfile.TemporaryDirectory() as folder:
        source, output = Path(folder, "in.csv"), Path(cache or Path(folder, "out.csv"))
        new = texts[~texts["id"].isin(_stored(output))].drop_duplicates("id")
        if len(new):
            new.to_csv(source, index=False, quoting=csv.QUOTE_NONNUMERIC)
            output.parent.mkdir(parents=True, exist_ok=True)
            output.touch()
            with output.open("r+b") as file:  # a line may be cut off
                file.truncate(file.read().rfind(b"\n") + 1)
            given = json.dumps(named | {"batch_size": batch_size})
            command = [str(python or sys.executable), str(_WORKER), given, str(source), str(output)]
            _run(command, metric, output, len(new), progress)
        scores = to_numbers(texts["id"].map(_stored(output))).to_numpy(dtype=float)
    if len(wrong := np.flatnonzero(~np.isfinite(scores))):
        raise ValueError(f"{metric} returned something that is no finite number for row {wrong[0] + 1}.")
    return scores
