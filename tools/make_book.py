"""Execute the book's chapters and build its site: ``make book``, ``make notebooks``.

``python tools/make_book.py book`` builds the site; ``python tools/make_book.py refresh`` re-executes stored notebooks.
"""

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from joblib import Parallel, delayed

from mtmeta._files import whole_file
from mtmeta.book.runner import build, execute, missing
from mtmeta.book.runner._book import copy_sources, pages, write_execution


def _measured(path: Path, out: Path) -> tuple[Path, dict[str, float] | str]:
    """Execute a notebook; return wall and processor seconds, those of its processes included, and when it began.

    If it fails, return the error instead, because the others go on.
    """
    before, started = sum(os.times()[:4]), time.monotonic()
    try:
        seconds = execute(path, out, cwd=path.parent)
    except RuntimeError as error:
        return path, str(error)
    return path, {"seconds": seconds, "cpu_seconds": sum(os.times()[:4]) - before, "started": started}


def _execute_all(notebooks: Mapping[Path, Path], jobs: int) -> dict[Path, dict[str, float]]:
    """Execute notebooks, `jobs` at a time, each into its own target; return what `_measured` says of each."""
    measured, failures = {}, []
    calls = (delayed(_measured)(path, out) for path, out in notebooks.items())
    for path, found in Parallel(jobs, batch_size=1, return_as="generator_unordered")(calls):
        if isinstance(found, str):
            failures.append(found)
        else:
            measured[path] = found
            print(f"executed {path.name} in {found['seconds']:.1f} s", file=sys.stderr)
    if failures:
        raise RuntimeError("\n\n".join(failures))
    return measured


def stage(root: str | Path, *, run: bool = True, jobs: int = 2) -> dict[str, dict]:
    """Copy the book's sources to ``_build/src`` and execute its chapters there.

    The copy mirrors the project. ``execution.json`` at its root says of each chapter whether it was executed, in how
    many seconds, or why not; the versions page shows it. The report that is
    returned has for each page ``status`` ("executed" or "stored"), ``seconds`` and ``reason``, and for those executed
    ``cpu_seconds``, which the notebook and its processes used, and ``started``, seconds after the first. All chapters
    are executed before the failure of one is raised.
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


def refresh(notebooks: Sequence[str | Path], *, jobs: int = 2) -> list[Path]:
    """Re-execute stored notebooks in place, with their default parameters.

    Those that require what this machine lacks are left as they are, and named on stderr; if one fails, all are.
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
    """Run the command line; return the exit status."""
    parser = argparse.ArgumentParser(description="Execute chapters, build the site.")
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
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except (RuntimeError, ValueError, OSError, MemoryError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
