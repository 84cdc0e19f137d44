"""Execute one notebook if this machine has what it requires."""

import importlib.util
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat
import papermill

from ..._checks import Undefined
from ..._files import data_dirs, read_text
from .. import CannotRun


def is_there(requirement: str) -> bool:
    """Return whether one requirement of a notebook, or of a cell, is met on this machine."""
    kind, _, name = requirement.rpartition(":")
    if kind == "data":
        return any((root / name).is_dir() or any(root.glob(f"*/{name}/")) for root in data_dirs().values())
    return importlib.util.find_spec(name) is not None


def about(notebook: str | Path) -> dict[str, Any]:
    """Return the entry ``mtmeta`` in the metadata of a notebook: ``requires``, ``needs`` and ``takes``."""
    text = read_text(Path(notebook))
    try:
        metadata = nbformat.reads(text, as_version=4).metadata
    except Exception as error:  # whatever comes up in a file that is not a notebook
        raise ValueError(f"{notebook} is not a notebook: {str(error).partition(chr(10))[0]}.") from None
    return {"requires": [], "needs": [], "takes": {}} | metadata.get("mtmeta", {})


def missing(notebook: str | Path) -> list[str]:
    """Return what a notebook requires and this machine lacks.

    Parameters
    ----------
    notebook : path
        An ``.ipynb`` file. Its metadata ``mtmeta.requires`` is a list of ``data:NAME`` and module names.

    Returns
    -------
    list of str
        The requirements that are not met; empty if the notebook can be executed here.

    Raises
    ------
    ValueError
        If the file is not a notebook.
    """
    return [r for r in about(notebook)["requires"] if not is_there(r)]


def execute(
    notebook: str | Path,
    out: str | Path,
    parameters: Mapping[str, Any] | None = None,
    *,
    cwd: str | Path | None = None,
) -> float:
    """Execute one notebook with papermill.

    Parameters
    ----------
    notebook, out : path
        The notebook to execute, and where to write the executed copy. They may be the same file.
    parameters : mapping, optional
        Values for the cell tagged ``parameters``. By default nothing is injected, so the copy has the original's cells.
    cwd : path, optional
        The directory that the cells run in; by default that of `notebook`.

    Returns
    -------
    float
        Wall time in seconds, start of the kernel included.

    Raises
    ------
    CannotRun
        If a cell raises it, or Undefined, because the data are not what the notebook needs.
    RuntimeError
        If a cell raises anything else. The message holds the traceback; `out` keeps what was computed until then.
    """
    start = time.perf_counter()
    Path(out).parent.mkdir(parents=True, exist_ok=True)
    options = {"cwd": str(cwd or Path(notebook).resolve().parent), "kernel_name": "python3", "progress_bar": False}
    log = ["--log-level=CRITICAL"]  # otherwise the kernel warns of connections without encryption, and of being stopped
    try:
        papermill.execute_notebook(str(notebook), str(out), dict(parameters or {}), extra_arguments=log, **options)
    except papermill.PapermillExecutionError as error:
        if error.ename in (CannotRun.__name__, Undefined.__name__):
            raise CannotRun(error.evalue) from None
        raise RuntimeError(f"{notebook} failed.\n{error}") from None
    return time.perf_counter() - start
