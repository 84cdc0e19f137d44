"""Execute one notebook if this machine has what it requires."""

from __future__ import annotations

import importlib.util
import json
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from ..._files import data_dirs, read_text


class CannotRun(ValueError):
    """Raised in a chapter that cannot run on the data it is given; the message says why.

    `mtmeta run` then skips the chapter, gives this reason, and continues.

    Examples
    --------
    >>> raise CannotRun("this chapter needs segments that are rated for all systems")
    Traceback (most recent call last):
    mtmeta.book.runner._execute.CannotRun: this chapter needs segments that are rated for all systems
    """


def _is_there(requirement: str) -> bool:
    """Tell whether one requirement of a notebook is met on this machine."""
    kind, _, name = requirement.rpartition(":")
    if kind == "data":
        return any((root / name).is_dir() or any(root.glob(f"*/{name}/")) for root in data_dirs().values())
    if kind or not name.isidentifier():
        raise ValueError(f"`mtmeta.requires` has {requirement!r}; expected 'data:NAME' or the name of a Python module.")
    return importlib.util.find_spec(name) is not None


@dataclass(frozen=True)
class About:
    """The entry ``mtmeta`` in the metadata of a notebook or a cell."""

    requires: list[str] = field(default_factory=list)
    needs: list[str] = field(default_factory=list)
    takes: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, entry: Any) -> About:
        """Return an entry after checking that it holds lists of names."""
        if not isinstance(entry, dict) or not isinstance(takes := entry.get("takes", {}), dict):
            raise ValueError(str(entry)[:100])
        known = {f.name: entry[f.name] for f in fields(cls) if f.name in entry}
        lists = [known.get("requires", []), known.get("needs", []), *takes.values()]
        for one in lists:
            if not isinstance(one, list) or not all(isinstance(name, str) for name in one):
                raise ValueError(str(one)[:100])
        return cls(**known)


def about(notebook: str | Path) -> About:
    """Return what the metadata of a notebook say; raise if it is no notebook."""
    import nbformat

    text = read_text(Path(notebook))
    try:
        content = json.loads(text)
        with warnings.catch_warnings(action="ignore"):  # that it would be repaired
            nbformat.validate(content)
    except Exception as error:  # whatever comes up in a file that is no notebook
        raise ValueError(f"{notebook} is not a notebook: {str(error).partition(chr(10))[0]}.") from None
    try:
        first, *_ = [About.of(part["metadata"].get("mtmeta", {})) for part in (content, *content["cells"])]
    except ValueError as error:
        wanted = 'lists of names, such as {"needs": ["metrics"]}'
        raise ValueError(f"{notebook}: `mtmeta` in the metadata must be {wanted}; found {error}.") from None
    return first


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
        If the file is no notebook, or a requirement has neither form.
    """
    return [r for r in about(notebook).requires if not _is_there(r)]


def execute(
    notebook: str | Path,
    out: str | Path,
    parameters: Mapping[str, Any] | None = None,
    *,
    cwd: str | Path | None = None,
    progress: Mapping[str, Any] | None = None,
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
    progress : mapping, optional
        Options of `tqdm.tqdm` for a bar that counts cells. By default there is none.

    Returns
    -------
    float
        Wall time in seconds, start of the kernel included.

    Raises
    ------
    CannotRun
        If a cell raises it because the data are not what the notebook needs.
    RuntimeError
        If a cell raises anything else. The message holds the traceback; `out` keeps what was computed until then.
    """
    import papermill

    start = time.perf_counter()
    Path(out).parent.mkdir(parents=True, exist_ok=True)
    options: dict[str, Any] = {"cwd": str(cwd or Path(notebook).resolve().parent), "kernel_name": "python3"}
    options["progress_bar"] = dict(progress) if progress else False
    options["extra_arguments"] = ["--log-level=CRITICAL"]  # else it warns of unencrypted talk, and of being stopped
    try:
        papermill.execute_notebook(str(notebook), str(out), dict(parameters or {}), **options)
    except papermill.PapermillExecutionError as error:
        if error.ename == CannotRun.__name__:
            raise CannotRun(error.evalue) from None
        raise RuntimeError(f"{notebook} failed.\n{error}") from None
    return time.perf_counter() - start
