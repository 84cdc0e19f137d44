# ruff: noqa: E501 - the name of a case and what must come of it stay in one place
# fmt: off
"""Sources of a book, for `mtmeta run --book`: tables of contents and notebooks that are broken, hostile or no files."""

import json

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
    tag = FILES["_toc.yml"] + "a: !!python/object/apply:os.system ['touch canary']\n"
    yield _book("_toc.yml with a tag that applies a function", "_toc.yml", tag, r"_toc.yml: .*could not determine a constructor for the tag")
    yield _book("_toc.yml in Latin-1", "_toc.yml", b"title: \xe4\n", r"_toc.yml is not UTF-8")
    for name, text in (("no JSON", "{"), ("a list", "[]")):
        yield _book(f"a notebook {name}", f"{PAGE}.ipynb", text, r"01_first\.ipynb is not a notebook: .")


BOOKS: tuple[Case, ...] = tuple(_books())
