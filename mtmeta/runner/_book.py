"""Stage and build the book; re-execute the stored notebooks; ``python -m mtmeta.runner``."""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from .._files import read_text, whole_file
from .._processes import check_room, in_processes, run_program
from .._yaml import parse
from ._execute import execute, missing

#: Copied beside the chapters, so that pages can include them.
ROOT_FILES = ("*.yml", "*.md", "*.cff", "LICENSE", "constraints.txt", "benchmarks/*.md", "tools/calibration/*.md")
_JUPYTER_BOOK = Path(sys.executable).parent / "jupyter-book"


def pages(root: Path) -> list[str]:
    """Return the pages that the table of contents of a project names, in its order."""
    read_yaml(root / "_config.yml")  # which jupyter-book would stumble over
    return list(_named(read_yaml(root / "_toc.yml")))


def read_yaml(path: Path) -> Any:
    """Return the content of a YAML file of the book."""
    text = read_text(path)
    try:
        return parse(text)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _named(node: Any) -> Iterator[str]:
    if isinstance(node, Mapping):
        yield from (str(node[key]) for key in ("root", "file") if key in node)
        for value in node.values():
            yield from _named(value)
    elif isinstance(node, list):
        for item in node:
            yield from _named(item)


def copy_sources(root: Path, to: Path) -> Path:
    """Copy the sources of the book to ``_build/src`` in a folder, which is replaced; return that."""
    source = to / "_build" / "src"
    shutil.rmtree(source, ignore_errors=True)
    source.mkdir(parents=True)
    leave_out = shutil.ignore_patterns(".ipynb_checkpoints", "__pycache__")
    for name in ("book", "notebooks"):
        shutil.copytree(root / name, source / name, ignore=leave_out, copy_function=_copy)
    for path in (path for pattern in ROOT_FILES for path in root.glob(pattern)):
        target = source / path.relative_to(root)
        target.parent.mkdir(parents=True, exist_ok=True)
        _copy(path, target)
    return source


def _copy(source: str | Path, target: str | Path) -> None:
    if not os.path.isfile(source):  # a pipe or a device: to read it may have no end
        raise ValueError(f"cannot read {source}: it is no regular file.")
    shutil.copy2(source, target)


def write_execution(source: Path, report: Mapping[str, Mapping[str, Any]], **more: Any) -> None:
    """Write ``execution.json``: what the site says about the outputs of each chapter, and about the machine."""
    about = {
        "date": datetime.date.today().isoformat(),
        "python": platform.python_version(),
        "platform": platform.platform(terse=True),
        "cores": os.cpu_count(),
        **more,
        "notebooks": report,
    }
    (source / "execution.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")


def _measured(path: Path, out: Path) -> dict[str, float]:
    """Execute a notebook; return wall and processor seconds, those of its processes included, and when it began."""
    before, started = sum(os.times()[:4]), time.monotonic()
    seconds = execute(path, out, cwd=path.parent)
    return {"seconds": seconds, "cpu_seconds": sum(os.times()[:4]) - before, "started": started}


def _execute_all(notebooks: Mapping[Path, Path], jobs: int) -> dict[Path, dict[str, float]]:
    """Execute notebooks, `jobs` at a time, each into its own target; return what `_measured` says of each."""
    measured, failures = {}, []
    calls = {path: (path, out) for path, out in notebooks.items()}
    with closing(in_processes(_measured, calls, jobs)) as done:
        for path, task in done:
            try:
                measured[path] = task.result()
                print(f"executed {path.name} in {measured[path]['seconds']:.1f} s", file=sys.stderr)
            except RuntimeError as error:
                failures.append(str(error))
    if failures:
        raise RuntimeError("\n\n".join(failures))
    return measured


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
        By page: ``status`` ("executed" or "stored"), ``seconds``, ``reason``; of those executed also ``cpu_seconds``,
        used by the notebook and the processes it started, and ``started``, seconds after the first.

    Raises
    ------
    RuntimeError
        If a chapter fails; all others are executed first.
    """
    root = Path(root)
    source = copy_sources(root, root)
    chapters = {page: path for page in pages(root) if (path := source / f"{page}.ipynb").exists()}
    lacking = {page: missing(path) for page, path in chapters.items()}
    measured = _execute_all({path: path for page, path in chapters.items() if run and not lacking[page]}, jobs)
    begin = min((one["started"] for one in measured.values()), default=0.0)
    report = {}
    for page, path in chapters.items():
        if path in measured:
            one = measured[path] | {"started": measured[path]["started"] - begin}
            report[page] = {"status": "executed", "reason": "", **{key: round(value, 1) for key, value in one.items()}}
        else:
            reason = f"not here: {', '.join(lacking[page])}" if lacking[page] else "execution was turned off"
            report[page] = {"status": "stored", "seconds": 0.0, "reason": reason}
    write_execution(source, report, jobs=jobs)
    return report


def can_build() -> bool:
    """Tell whether jupyter-book is installed."""
    return _JUPYTER_BOOK.exists()


def build(root: str | Path, *, builder: str = "html", strict: bool = True) -> Path:
    """Build the staged site, from scratch.

    Parameters
    ----------
    root : path
        The project, after `stage`.
    builder : str
        ``html``, or ``linkcheck`` to check the links instead, which needs the network.
    strict : bool
        Whether a warning is an error. If not, warnings are not shown.

    Returns
    -------
    Path
        The folder with the result: ``_build/html`` for the site.

    Raises
    ------
    RuntimeError
        If jupyter-book is not installed, or the build fails.
    """
    root = Path(root).resolve()
    for name in (builder, ".doctrees"):
        shutil.rmtree(root / "_build" / name, ignore_errors=True)
    if not can_build():
        raise RuntimeError("jupyter-book is not installed: pip install 'mtmeta[book]'.")
    paths = [str(root / "_build" / "src"), "--path-output", str(root)]
    arguments = ["build", *paths, "--builder", builder, *(["-W"] * strict), "--keep-going", "-q"]
    warnings = None if strict else subprocess.STDOUT
    done = run_program(str(_JUPYTER_BOOK), *arguments, stdout=subprocess.PIPE, stderr=warnings, text=True)
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
            with whole_file(path) as part:
                shutil.copyfile(out, part)
                shutil.copymode(path, part)
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
        check_room()
        if given.verb == "refresh":
            refresh(given.notebooks, jobs=given.jobs)
        else:
            stage(given.root, run=not given.no_execute, jobs=given.jobs)
            print(f"The result: {build(given.root, builder=given.builder)}")
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except (RuntimeError, ValueError, OSError, MemoryError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0
