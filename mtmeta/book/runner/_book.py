"""The book: where it is, its pages and chapters, a copy of its sources, and the site built from the copy."""

import datetime
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..._yaml import read_yaml
from ._execute import about

#: Copied beside the chapters, so that pages can include them.
ROOT_FILES = ("*.yml", "*.md", "*.cff", "LICENSE", "constraints.txt", "benchmarks/*.md", "tools/calibration/*.md")
_JUPYTER_BOOK = Path(sys.executable).parent / "jupyter-book"


def pages(root: Path) -> list[str]:
    """Return the pages that the table of contents of a project names, in its order."""
    toc = json.dumps(read_yaml(root / "_toc.yml"), ensure_ascii=False)
    return re.findall(r'"(?:root|file)": "([^"]+)"', toc)


def copy_sources(root: Path, to: Path) -> Path:
    """Copy the sources of the book to ``_build/src`` in a folder, replacing any there; return its path."""
    source = to / "_build" / "src"
    shutil.rmtree(source, ignore_errors=True)
    source.mkdir(parents=True)
    leave_out = shutil.ignore_patterns(".ipynb_checkpoints", "__pycache__")
    for name in ("book", "notebooks"):
        shutil.copytree(root / name, source / name, ignore=leave_out, copy_function=shutil.copyfile)
    for path in sorted(path for pattern in ROOT_FILES for path in root.glob(pattern)):
        target = source / path.relative_to(root)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    return source


def write_execution(source: Path, report: Mapping[str, Mapping[str, Any]], **more: Any) -> None:
    """Write ``execution.json``: what the site says about the outputs of each chapter, and about the machine."""
    about = {"date": datetime.date.today().isoformat(), "python": platform.python_version()}
    about |= {"platform": platform.platform(terse=True), "cores": os.cpu_count(), **more, "notebooks": report}
    (source / "execution.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")


def can_build() -> bool:
    """Tell whether jupyter-book is installed."""
    return _JUPYTER_BOOK.exists()


def build(root: str | Path, *, builder: str = "html", strict: bool = True) -> Path:
    """Build the staged site, from scratch.

    Parameters
    ----------
    root : path
        A folder with `copy_sources` of a book.
    builder : str
        ``html``; or ``linkcheck``, which checks the links instead and needs the network.
    strict : bool
        Whether a warning is an error. If not, warnings are hidden.

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
    arguments = ["build", str(root / "_build" / "src"), "--path-output", str(root), "--builder", builder]
    arguments += ["--keep-going", "-q", *(["-W"] * strict)]
    options = {"stdout": subprocess.PIPE, "stderr": None if strict else subprocess.STDOUT, "text": True}
    done = subprocess.run([sys.executable, "-P", str(_JUPYTER_BOOK), *arguments], check=False, **options)
    if done.returncode:
        print(done.stdout, file=sys.stderr)
        raise RuntimeError(f"jupyter-book ended with exit status {done.returncode}; its warnings are above.")
    return root / "_build" / builder


_CHAPTER = re.compile(r"notebooks/((?!00)\d\d)_\w+")


def find_project(book: str | Path | None = None) -> Path:
    """Find the folder with the chapters: here, in a folder above, or in the sources of the installed package.

    Parameters
    ----------
    book : path, optional
        The folder itself, if it is known. By default the search begins in the working directory.

    Returns
    -------
    Path
        A folder with ``_toc.yml`` and ``notebooks/01_….ipynb``.

    Raises
    ------
    ValueError
        If there is none.
    """
    here = Path.cwd().resolve()
    known = (here, *here.parents, Path(__file__).resolve().parents[3])
    for folder in known if book is None else [Path(book).resolve()]:
        if (folder / "_toc.yml").is_file() and any((folder / "notebooks").glob("01_*.ipynb")):
            return folder
    if book is not None:
        raise ValueError(f"{book} is not a folder of the book: expected _toc.yml and notebooks/01_….ipynb.")
    raise ValueError(
        f"neither {here} nor a folder above it holds the chapters, which are not in the installed package. Get a copy "
        "of the book's sources (a clone, or an unpacked archive), and name it with --book FOLDER or run the command "
        "inside it. `mtmeta report` needs no chapters: it says on one page whether a metric is any good."
    )


def chapters(project: str | Path, names: Sequence[str] = ("all",)) -> dict[str, Path]:
    """Return the chapters that names stand for, in the order of the book.

    Parameters
    ----------
    project : path
        The folder that `find_project` finds.
    names : sequence of str
        ``all``; or numbers (``3``, ``03``), or names of files with or without ``.ipynb``.

    Returns
    -------
    dict of Path
        The notebook by page, such as ``notebooks/03_system_dependence``. Pages on one data set are not chapters.

    Raises
    ------
    ValueError
        If there is no such chapter, or it is not a notebook.
    """
    project = Path(project)
    known = {page: project / f"{page}.ipynb" for page in pages(project) if _CHAPTER.fullmatch(page)}
    chosen = set()
    for name in names:
        stem = Path(name).name.removesuffix(".ipynb")
        found = [p for p in known if stem in ("all", Path(p).name, Path(p).name[:2].lstrip("0"), Path(p).name[:2])]
        if not found:
            there = ", ".join(Path(p).name for p in known)
            raise ValueError(f"there is no chapter {name!r}; expected all, or a number or name of: {there}.")
        chosen.update(found)
    found = {page: path for page, path in known.items() if page in chosen}
    for path in found.values():
        about(path)  # raises for a file that is not a notebook, before anything is written
    return found
