"""Recompute the stored notebooks with nbval: what readers see is what the code gives.

Each runs alone in a folder, and in a pytest of its own, because nbval wants none of this project's options.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from mtmeta.book.runner import missing

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = sorted(p for p in (ROOT / "notebooks").rglob("*.ipynb") if ".ipynb_checkpoints" not in p.parts)


def nbval(notebook, env=None):
    """Run nbval on a notebook, in this environment or in another; return the finished process."""
    options = ["--nbval", "--nbval-current-env", "--nbval-cell-timeout=600"]
    options += ["--nbval-sanitize-with", str(ROOT / "tests" / "nbval_sanitize.cfg")]
    options += ["-c", os.devnull, "--rootdir", str(notebook.parent), "-p", "no:cacheprovider", "-p", "no:xdist", "-q"]
    command = [sys.executable, "-m", "pytest", *options, notebook.name]
    return subprocess.run(command, cwd=notebook.parent, env=env, capture_output=True, text=True, check=False)


def as_parameter(path):
    """Mark the notebooks that need real data; most of them take minutes, and are not executed with each change."""
    name = path.relative_to(ROOT / "notebooks").as_posix()
    long = path.parent.name == "real_data" and path.stem != "second_year"
    marks = [pytest.mark.exhaustive if long else pytest.mark.slow]
    if any(item.startswith("data:") for item in nbformat.read(path, 4).metadata.get("mtmeta", {}).get("requires", [])):
        marks.append(pytest.mark.data)
    return pytest.param(path, id=name, marks=marks)


@pytest.mark.parametrize("path", [as_parameter(path) for path in NOTEBOOKS])
def test_outputs_are_what_the_code_gives(path, tmp_path):
    lacking = missing(path)
    if lacking:
        pytest.skip(f"not here: {', '.join(lacking)}")
    done = nbval(Path(shutil.copy(path, tmp_path)))
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    cells = [cell for cell in nbformat.read(path, 4).cells if cell.cell_type == "code"]
    assert int(re.search(r"(\d+) passed", done.stdout).group(1)) == len(cells)
