"""Find the book and its chapters."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from ._book import pages
from ._execute import about

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
        A folder with ``_config.yml``, ``_toc.yml`` and ``notebooks/01_….ipynb``.

    Raises
    ------
    ValueError
        If there is none.
    """
    if book is not None:
        if _is_project(Path(book)):
            return Path(book).resolve()
        raise ValueError(f"{book} is no folder of the book: expected _config.yml, _toc.yml and notebooks/01_….ipynb.")
    here = Path.cwd().resolve()
    beside = Path(__file__).resolve().parents[2]
    for folder in (here, *here.parents, beside):
        if _is_project(folder):
            return folder
    raise ValueError(
        f"the chapters are not here: neither {here} nor a folder above it holds _config.yml, _toc.yml and notebooks/. "
        "They are part of the book's sources, not of the installed package. Get a copy of the sources (a clone, or an "
        "unpacked archive) and name it with --book FOLDER, or run the command inside it. "
        "`mtmeta report` needs no chapters: it says on one page whether a metric is any good."
    )


def _is_project(folder: Path) -> bool:
    named = all((folder / name).is_file() for name in ("_config.yml", "_toc.yml"))
    return named and any((folder / "notebooks").glob("01_*.ipynb"))  # reading it shows whether it is a notebook


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
        The notebook by page, such as ``notebooks/03_system_dependence``. Pages on one data set are no chapters.

    Raises
    ------
    ValueError
        If there is no such chapter, or it is no notebook.
    """
    project = Path(project)
    known = {page: project / f"{page}.ipynb" for page in pages(project) if _CHAPTER.fullmatch(page)}
    chosen = set()
    for name in names:
        stem = Path(name).name.removesuffix(".ipynb")
        number = f"{int(stem):02d}_" if stem.isascii() and stem.isdigit() else None
        found = [p for p in known if stem in ("all", Path(p).name) or (number and Path(p).name.startswith(number))]
        if not found:
            raise ValueError(
                f"there is no chapter {name!r}; expected all, or a number or name of: "
                f"{', '.join(Path(p).name for p in known)}."
            )
        chosen.update(found)
    found = {page: path for page, path in known.items() if page in chosen}
    for path in found.values():
        about(path)  # raises for what is no notebook, before anything is written
    return found
