"""Compiled functions where no folder can be written to: in a container, as a user without a home."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "mtmeta"
TABLE = "system,segment,human,X\n" + "".join(f"{s},{k},{k * s % 3},{(k + s) % 4}\n" for s in range(3) for k in range(6))
PLAN = "sets: [t.csv]\nstatistics:\n  - correlate: {coefficient: [pearson, kendall]}\n"
#: A user of no name, who may read all and write nothing: Python itself may lie in somebody's home.
READER = ["setpriv", "--reuid", "54321", "--regid", "54321", "--clear-groups"]
READER += ["--inh-caps", "+dac_read_search", "--ambient-caps", "+dac_read_search"]


@pytest.fixture(scope="module")
def read_only(tmp_path_factory):
    """Return a copy of the package that cannot be written to, and the start of a command of a user who cannot."""
    who = [] if os.getuid() else READER
    if subprocess.run([*(who or ["true"]), "true"], capture_output=True, check=False).returncode:
        pytest.skip("tests run by root need setpriv, and the right to hand on a right")
    site = tmp_path_factory.mktemp("site")
    shutil.copytree(PACKAGE, site / "mtmeta", ignore=shutil.ignore_patterns("__pycache__"))
    for path in (site, *site.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    yield site, who
    for path in (site, *site.rglob("*")):
        path.chmod(0o755)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "getuid"), reason="users are another matter on this system")
@pytest.mark.parametrize(("command", "home", "made"), [
    ("report t.csv --n-resamples 40 -o r.html", None, {"r.html"}),
    pytest.param("sweep plan.yaml --jobs 2", "/nonexistent", {"out"}, marks=pytest.mark.exhaustive),
])  # fmt: skip
def test_without_a_folder_to_write_to(read_only, tmp_path, command, home, made):
    site, who = read_only
    if home is None and not who:
        pytest.skip("only root can become a user without a home")
    here, temporary = tmp_path / "here", tmp_path / "temporary"
    for folder in (here, temporary):
        folder.mkdir()
        folder.chmod(0o777)
    (here / "t.csv").write_text(TABLE)
    (here / "plan.yaml").write_text(PLAN)
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(site), "TMPDIR": str(temporary), "LANG": "C.UTF-8"}
    env |= {"HOME": home} if home else {}
    line = [*who, sys.executable, "-P", "-m", "mtmeta", *command.split()]
    done = subprocess.run(line, cwd=here, env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, "error" in done.stderr) == (0, False), done.stderr
    assert {path.name for path in here.iterdir()} == {"t.csv", "plan.yaml", *made}
    assert list(temporary.iterdir()) == []
