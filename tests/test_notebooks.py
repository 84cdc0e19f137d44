"""The stored notebooks: they are in normal form, were executed, and nbval computes every stored output again."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mtmeta import runner

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted(p for p in (ROOT / "notebooks").rglob("*.ipynb") if ".ipynb_checkpoints" not in p.parts)


def _requires(path: Path) -> list[str]:
    return json.loads(path.read_text(encoding="utf-8"))["metadata"].get("mtmeta", {}).get("requires", [])


def _parameters():
    for path in NOTEBOOKS:
        marks = [pytest.mark.data] if any(r.startswith("data:") for r in _requires(path)) else []
        yield pytest.param(path, id=path.relative_to(ROOT).as_posix(), marks=marks)


def _code_cells(path: Path) -> list[dict]:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


def test_there_are_notebooks():
    assert NOTEBOOKS


@pytest.mark.parametrize("path", list(_parameters()))
def test_outputs_are_recomputed(path):
    lacking = runner.missing(path)
    if lacking:
        pytest.skip(f"not here: {', '.join(lacking)}")
    command = [sys.executable, "-m", "pytest", "--nbval", "--nbval-current-env", "--nbval-cell-timeout=900"]
    command += ["-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:benchmark", "-q", "--no-header", "--tb=short"]
    done = subprocess.run([*command, str(path)], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.fail(done.stdout[-8000:] + done.stderr[-2000:], pytrace=False)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_every_cell_was_executed_without_error(path):
    cells = _code_cells(path)
    # nbval passes a notebook that was never executed, and the site shows a stored traceback without a warning.
    assert [c["execution_count"] for c in cells if "".join(c["source"]).strip()] == list(range(1, len(cells) + 1))
    outputs = [o for c in cells for o in c["outputs"]]
    assert not [o for o in outputs if o["output_type"] == "error" or o.get("name") == "stderr"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_no_cell_ends_in_a_semicolon(path):
    # nbval does not heed it: the value is printed, and the outputs differ. Write `_ = ...`.
    assert [source for c in _code_cells(path) if (source := "".join(c["source"]).rstrip()).endswith(";")] == []


def test_notebooks_are_in_normal_form():
    command = [sys.executable, "tools/normalise_notebooks.py", "--check", "notebooks"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=os.environ)
    assert done.returncode == 0, done.stderr
