"""Recompute the stored notebooks with nbval: what readers see is what the code gives.

Each runs alone in a folder, and in a pytest of its own, because nbval wants none of this project's options. A notebook
that passed is skipped until it, the package, the data or an installed package changes; under CI none is skipped.
"""

import functools
import hashlib
import os
import re
import shutil
from importlib.metadata import distributions
from pathlib import Path

import nbformat
import pytest
from bookfiles import NOTEBOOKS, ROOT, UNCHANGED, nbval

from mtmeta.book.runner import missing


def as_parameter(path):
    """Mark the notebooks that need real data, and those on real data: they take minutes; `make test-real-data`."""
    name = path.relative_to(ROOT / "notebooks").as_posix()
    marks = [pytest.mark.exhaustive if path.parent.name == "real_data" else pytest.mark.slow]
    if any(item.startswith("data:") for item in nbformat.read(path, 4).metadata.get("mtmeta", {}).get("requires", [])):
        marks.append(pytest.mark.data)
    return pytest.param(path, id=name, marks=marks)


#: A file for each notebook that passed, with its state then.
PASSED = ROOT / "_build" / "nbval"


@functools.cache
def surroundings() -> bytes:
    """Return a digest of the package, the helpers of notebooks, installed versions, and the folder of real data."""
    files = sorted(path for folder in ("mtmeta", "notebooks") for path in (ROOT / folder).rglob("*") if path.is_file())
    found = [path.read_bytes() for path in files if path.suffix not in (".ipynb", ".pyc")]
    found += sorted(f"{d.name} {d.version}".encode() for d in distributions())
    found += [(ROOT / "tests" / "nbval_sanitize.cfg").read_bytes(), os.environ.get("MTMETA_DATA", "").encode()]
    return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in found)).digest()


def state(path: Path) -> str:
    """Return a digest of a notebook and its surroundings."""
    return hashlib.sha256(surroundings() + path.read_bytes()).hexdigest()


def test_the_state_of_a_notebook_is_its_content_and_that_of_the_package(tmp_path, monkeypatch):
    path, stored = tmp_path / "a.ipynb", set()
    for content, package in (("x", b"1"), ("x", b"1"), ("y", b"1"), ("x", b"2")):
        path.write_text(content)
        monkeypatch.setitem(globals(), "surroundings", lambda package=package: package)
        stored.add(state(path))
    assert len(stored) == 3


@pytest.mark.parametrize("path", [as_parameter(path) for path in NOTEBOOKS])
def test_outputs_are_what_the_code_gives(path, tmp_path):
    lacking = missing(path)
    if lacking:
        pytest.skip(f"not here: {', '.join(lacking)}")
    stored = PASSED / f"{path.stem}.{path.parent.name}"
    if "CI" not in os.environ and stored.exists() and stored.read_text() == state(path):
        pytest.skip(UNCHANGED)
    for module in path.parent.glob("*.py"):  # that a page imports
        shutil.copy(module, tmp_path)
    done = nbval(Path(shutil.copy(path, tmp_path)))
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    cells = [cell for cell in nbformat.read(path, 4).cells if cell.cell_type == "code"]
    assert int(re.search(r"(\d+) passed", done.stdout).group(1)) == len(cells)
    PASSED.mkdir(parents=True, exist_ok=True)
    stored.write_text(state(path))
