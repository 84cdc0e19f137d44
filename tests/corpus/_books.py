# ruff: noqa: E501 - the name of a case and what must come of it stay in one place
# fmt: off
"""Sources of a book, for `mtmeta run --book`: tables of contents and notebooks that are broken, hostile or no files."""

import json
import os

from mtmeta.book import runner

from ._case import Case
from ._trees import write

PAGE = "notebooks/01_first"
FILES = {"_toc.yml": f"format: jb-book\nroot: book/index\nparts:\n- chapters: [{{file: {PAGE}}}]\n", "_config.yml": "title: A book\n",
    "book/index.md": "# A book\n"}


def notebook(metadata):
    """Return a notebook of one cell."""
    cells = [{"cell_type": "markdown", "id": "a", "metadata": {}, "source": "# First"}]
    return json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5})


def _read(root):
    found = runner.chapters(runner.find_project(book=root))
    return tuple(page for page, path in found.items() if runner.missing(path) == [])


def _book(name, path, change, refused=""):
    def make(folder):
        root = folder / "clone"
        good = {**FILES, f"{PAGE}.ipynb": notebook({"mtmeta": {"requires": [], "needs": []}})}
        for other, text in good.items():
            write(root / other, text)
        if callable(change):
            (root / path).unlink()
            change(root / path)
        else:
            write(root / path, change)
        return root

    command = ("run", "all", "--scores", "teaching", "--no-site", "--quiet", "--book", "{}") if refused else None
    return Case(f"book: {name}", make, refused, {} if refused else {"value": (PAGE,)}, _read, command)


def _books():
    yield _book("good", "_toc.yml", FILES["_toc.yml"])
    for path, text in FILES.items():
        if path.endswith(".yml"):
            tag = text + "a: !!python/object/apply:os.system ['touch canary']\n"
            yield _book(f"{path} with a tag that applies a function", path, tag, rf"{path}: .*could not determine a constructor for the tag")
            yield _book(f"{path} in Latin-1", path, b"title: \xe4\n", rf"{path} is not UTF-8")
    for name, text in (
        ("no JSON", "{"), ("a list", "[]"), ("of cells that are numbers", '{"cells": [1], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'),
    ):
        yield _book(f"a notebook {name}", f"{PAGE}.ipynb", text, r"01_first\.ipynb is not a notebook: .")
    for says in ("x", {"needs": "metrics"}, {"takes": {"speech": "x"}}):
        refused = r"01_first\.ipynb: `mtmeta` in the metadata must be lists of names"
        yield _book(f"mtmeta in the metadata is {says}", f"{PAGE}.ipynb", notebook({"mtmeta": says}), refused)
    yield _book("a notebook is a pipe", f"{PAGE}.ipynb", os.mkfifo, r"cannot read .*01_first\.ipynb: it is not a regular")


BOOKS: tuple[Case, ...] = tuple(_books())
