"""The notebooks of the book and its table of contents; cells of a notebook; nbval."""

import os
import subprocess
import sys
from pathlib import Path

from sphinx_external_toc.parsing import parse_toc_yaml

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted(p for p in (ROOT / "notebooks").rglob("*.ipynb") if ".ipynb_checkpoints" not in p.parts)
#: Why a notebook is not executed again.
UNCHANGED = "unchanged since it passed"


def label(path):
    return path.relative_to(ROOT / "notebooks").as_posix()


def toc():
    """Return the pages of the book, the start page first and the first chapter second."""
    return list(parse_toc_yaml(ROOT / "_toc.yml"))


def code_cells(nb):
    return [cell for cell in nb.cells if cell.cell_type == "code"]


def markdown(nb):
    return "\n\n".join(cell.source for cell in nb.cells if cell.cell_type == "markdown")


def tagged(nb, tag):
    return [cell for cell in nb.cells if tag in cell.metadata.get("tags", [])]


def nbval(notebook, env=None):
    """Run nbval on a notebook, in this environment or in another; return the finished process."""
    options = ["--nbval", "--nbval-current-env", "--nbval-cell-timeout=1800"]
    options += ["--nbval-sanitize-with", str(ROOT / "tests" / "nbval_sanitize.cfg")]
    options += ["-c", os.devnull, "--rootdir", str(notebook.parent), "-p", "no:cacheprovider", "-p", "no:xdist", "-q"]
    command = [sys.executable, "-m", "pytest", *options, notebook.name]
    return subprocess.run(command, cwd=notebook.parent, env=env, capture_output=True, text=True, check=False)
