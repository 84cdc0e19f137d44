"""Execute chapters with papermill, and stage and build the site.

A notebook says in its metadata what it needs beyond the light installation::

    "mtmeta": {"requires": ["data:wmt23", "torch"]}

``data:NAME`` is the folder of a data set where `mm.load` looks (``MTMETA_DATA``, the cache that ``mtmeta fetch`` fills,
``~/.mt-metrics-eval``), at the first or second level; anything else is the name of a Python module. A chapter is
executed where all it needs is there, and shown from its stored outputs where not.

``python -m mtmeta.runner book`` builds the site; ``python -m mtmeta.runner refresh`` re-executes the stored notebooks.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.util
import json
import multiprocessing
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

__all__ = ["build", "execute", "missing", "refresh", "stage"]

#: Copied beside the chapters, so that pages can include them.
ROOT_FILES = (
    "_config.yml",
    "_toc.yml",
    "CHANGELOG.md",
    "CITATION.cff",
    "CONTRIBUTING.md",
    "LICENSE",
    "README.md",
    "benchmarks/RESULTS.md",
    "constraints.txt",
)


def _data_roots() -> list[Path]:
    """Return the folders that may hold data sets: those that `mm.load` looks in."""
    from platformdirs import user_cache_dir

    given = os.environ.get("MTMETA_DATA")
    cache = os.environ.get("MTMETA_CACHE") or user_cache_dir("mtmeta")
    return [Path(p).expanduser() for p in (given, cache, "~/.mt-metrics-eval") if p]


def _is_there(requirement: str) -> bool:
    """Tell whether one requirement of a notebook is met on this machine."""
    kind, _, name = requirement.rpartition(":")
    if kind == "data":
        return any((root / name).is_dir() or any(root.glob(f"*/{name}/")) for root in _data_roots())
    if kind or not name.isidentifier():
        raise ValueError(
            f"a notebook requires {requirement!r}; expected 'data:NAME' or the name of a Python module, such as "
            "'torch'. Correct `mtmeta.requires` in its metadata."
        )
    return importlib.util.find_spec(name) is not None


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
    try:
        metadata = json.loads(Path(notebook).read_text(encoding="utf-8"))["metadata"]
    except (json.JSONDecodeError, KeyError, TypeError) as error:
        raise ValueError(f"{notebook} is not a notebook: {error!r}.") from None
    return [r for r in metadata.get("mtmeta", {}).get("requires", []) if not _is_there(r)]


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
        Values for the cell tagged ``parameters``. None injects nothing, so that the copy has the cells of the original.
    cwd : path, optional
        The directory that the cells run in. The default is the one that `notebook` lies in.

    Returns
    -------
    float
        Wall time in seconds, start of the kernel included.

    Raises
    ------
    RuntimeError
        If a cell raises. The message holds the traceback; `out` keeps what was computed until then.
    """
    import papermill

    start = time.perf_counter()
    Path(out).parent.mkdir(parents=True, exist_ok=True)
    try:
        papermill.execute_notebook(
            str(notebook),
            str(out),
            parameters=dict(parameters or {}),
            cwd=str(cwd or Path(notebook).resolve().parent),
            kernel_name="python3",
            progress_bar=False,
            extra_arguments=["--log-level=CRITICAL"],  # else it warns of unencrypted talk, and of being stopped
        )
    except papermill.PapermillExecutionError as error:
        raise RuntimeError(f"{notebook} failed.\n{error}") from None
    return time.perf_counter() - start


def _pages(node: Any) -> Iterator[str]:
    """Yield the pages that a table of contents names, in its order."""
    if isinstance(node, Mapping):
        yield from (node[key] for key in ("root", "file") if key in node)
        for value in node.values():
            yield from _pages(value)
    elif isinstance(node, list):
        for item in node:
            yield from _pages(item)


def _execute_all(notebooks: Mapping[Path, Path], jobs: int) -> dict[Path, float]:
    """Execute notebooks, `jobs` at a time, each into its own target; return the seconds by notebook."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=jobs, mp_context=context) as pool:
        running = {path: pool.submit(execute, path, out, cwd=path.parent) for path, out in notebooks.items()}
        seconds, failures = {}, []
        for path, task in running.items():
            try:
                seconds[path] = task.result()
                print(f"executed {path.name} in {seconds[path]:.1f} s", file=sys.stderr)
            except RuntimeError as error:
                failures.append(str(error))
    if failures:
        raise RuntimeError("\n\n".join(failures))
    return seconds


def stage(root: str | Path, *, run: bool = True, jobs: int = 2) -> dict[str, dict]:
    """Copy the book's sources to ``_build/src`` and execute its chapters there.

    The copy mirrors the project. ``execution.json`` at its root says of each chapter whether it was executed, in how
    many seconds, or why not; the versions page shows it.

    Parameters
    ----------
    root : path
        The project, with ``_config.yml``, ``_toc.yml``, ``book/`` and ``notebooks/``. Its ``_build/src`` is replaced.
    run : bool
        Whether to execute the chapters. If not, all are shown from their stored outputs.
    jobs : int
        How many chapters are executed at a time.

    Returns
    -------
    dict
        By page: ``status`` ("executed" or "stored"), ``seconds``, ``reason``.

    Raises
    ------
    RuntimeError
        If a chapter fails; all others are executed first.
    """
    import yaml

    root = Path(root)
    source = root / "_build" / "src"
    shutil.rmtree(source, ignore_errors=True)
    source.mkdir(parents=True)
    for name in ("book", "notebooks"):
        shutil.copytree(root / name, source / name, ignore=shutil.ignore_patterns(".ipynb_checkpoints", "__pycache__"))
    for name in ROOT_FILES:
        if (root / name).exists():
            (source / name).parent.mkdir(exist_ok=True)
            shutil.copy2(root / name, source / name)

    toc = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
    chapters = {page: path for page in _pages(toc) if (path := source / f"{page}.ipynb").exists()}
    lacking = {page: missing(path) for page, path in chapters.items()}
    seconds = _execute_all({path: path for page, path in chapters.items() if run and not lacking[page]}, jobs)
    report = {}
    for page, path in chapters.items():
        if path in seconds:
            report[page] = {"status": "executed", "seconds": round(seconds[path], 1), "reason": ""}
        else:
            reason = f"not here: {', '.join(lacking[page])}" if lacking[page] else "execution was turned off"
            report[page] = {"status": "stored", "seconds": 0.0, "reason": reason}
    about = {
        "date": datetime.date.today().isoformat(),
        "python": platform.python_version(),
        "platform": platform.platform(terse=True),
        "notebooks": report,
    }
    (source / "execution.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    return report


def build(root: str | Path, *, builder: str = "html") -> Path:
    """Build the staged site, from scratch and with warnings as errors.

    Parameters
    ----------
    root : path
        The project, after `stage`.
    builder : str
        ``html``, or ``linkcheck`` to check the links instead, which needs the network.

    Returns
    -------
    Path
        The folder with the result: ``_build/html`` for the site.

    Raises
    ------
    RuntimeError
        If the build warns or fails.
    """
    root = Path(root).resolve()
    for name in (builder, ".doctrees"):
        shutil.rmtree(root / "_build" / name, ignore_errors=True)
    jupyter_book = Path(sys.executable).parent / "jupyter-book"
    paths = [str(root / "_build" / "src"), "--path-output", str(root)]
    command = [str(jupyter_book), "build", *paths, "--builder", builder, "-W", "--keep-going", "-q"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        print(done.stdout, file=sys.stderr)
        raise RuntimeError(f"jupyter-book ended with exit status {done.returncode}; its warnings are above.")
    return root / "_build" / builder


def refresh(notebooks: Sequence[str | Path], *, jobs: int = 2) -> list[Path]:
    """Re-execute stored notebooks in place, with their default parameters.

    Parameters
    ----------
    notebooks : sequence of paths
        The notebooks. Those that require what this machine lacks are left as they are, and named on stderr.
    jobs : int
        How many are executed at a time.

    Returns
    -------
    list of Path
        The notebooks that were executed.

    Raises
    ------
    RuntimeError
        If a notebook fails. All notebooks are then left as they were.
    """
    todo = []
    for path in map(Path, notebooks):
        if lacking := missing(path):
            print(f"left {path} as it is; not here: {', '.join(lacking)}", file=sys.stderr)
        else:
            todo.append(path)
    with tempfile.TemporaryDirectory() as folder:
        executed = {path: Path(folder) / f"{number}.ipynb" for number, path in enumerate(todo)}
        _execute_all(executed, jobs)
        for path, out in executed.items():
            path.write_bytes(out.read_bytes())
    return todo


def main(arguments: Sequence[str] | None = None) -> int:
    """Run ``python -m mtmeta.runner``; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m mtmeta.runner", description="Execute chapters, build the site.")
    parser.add_argument("--jobs", type=int, default=2, help="chapters executed at a time (default: 2)")
    verbs = parser.add_subparsers(dest="verb", required=True)
    book = verbs.add_parser("book", help="stage, execute and build the site")
    book.add_argument("--root", type=Path, default=Path(), help="the project (default: here)")
    book.add_argument("--no-execute", action="store_true", help="show the stored outputs of every chapter")
    book.add_argument("--builder", choices=["html", "linkcheck"], default="html")
    again = verbs.add_parser("refresh", help="re-execute stored notebooks in place")
    again.add_argument("notebooks", nargs="+", type=Path)
    given = parser.parse_args(arguments)
    try:
        if given.verb == "refresh":
            refresh(given.notebooks, jobs=given.jobs)
        else:
            stage(given.root, run=not given.no_execute, jobs=given.jobs)
            print(f"The result: {build(given.root, builder=given.builder)}")
    except (RuntimeError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
