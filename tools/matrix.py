"""Run tests and chapters under several Pythons with the tested, newest and oldest packages: `make matrix`.

Each combination gets an environment of its own in _build/matrix. The oldest versions are the lower bounds that
pyproject.toml states. What passed and what failed is written to tools/MATRIX.md, one row a combination; the others
stay as they are.
PyTorch and the recommenders, which are large, are left out unless `--with` names them; without PyTorch the chapter that
trains transformers is skipped.
usage: python tools/matrix.py [--keep] [--with sentinel,recommend] [PYTHON:VERSIONS ...], such as 3.11:oldest
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "_build" / "matrix"
TABLE = ROOT / "tools" / "MATRIX.md"
#: The oldest packages with the oldest Python: the later ones have no builds of them.
COMBINATIONS = ("3.11:oldest", "3.11:tested", "3.12:tested", "3.12:newest", "3.13:newest", "3.14:newest")
EXTRAS = ("book", "sweep", "test")
#: What is run: the quick tests, and the chapters against their stored outputs.
CHECKS = {
    "tests": [
        "-m",
        "not slow and not browser and not exhaustive",
        "--ignore=tests/test_site.py",
        "--doctest-ignore-import-errors",
    ],
    "chapters": ["-m", "not data and not exhaustive", "tests/test_notebooks.py"],
}
#: The packages whose versions the table shows.
SHOWN = ("numpy", "pandas", "scipy", "scikit-learn", "numba", "matplotlib", "typer")
HEAD = """\
# What was seen to pass, and what was not

Written by `python tools/matrix.py`. *Tests* are the quick ones; *chapters* are executed and compared with their
stored outputs.

| Python | packages | {shown} | tests | chapters | date |
| --- | --- | {rules} | --- | --- | --- |
"""


def lower_bounds(project: dict, extras: tuple[str, ...]) -> list[str]:
    """Return one constraint for each requirement of the package with a lower bound: that bound.

    What builds the book and what tests it is not held back: nobody has to run an old linter.
    """
    held = {"local", *extras} - {"book", "test"}
    stated = project["dependencies"] + [r for extra in held for r in project["optional-dependencies"][extra]]
    found = (re.match(r"([A-Za-z0-9._-]+)(?:\[.*?\])?\s*>=\s*([0-9a-z.]+)", requirement) for requirement in stated)
    return sorted({f"{match[1]}=={match[2]}" for match in found if match})


def constraints(versions: str, extras: tuple[str, ...]) -> Path:
    """Return the file that holds pip to the tested, the newest or the oldest versions."""
    if versions == "tested":
        return ROOT / "constraints.txt"
    path = WORK / f"{versions}.txt"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    held = lower_bounds(project, extras) if versions == "oldest" else []
    path.write_text("\n".join(held) + "\n", encoding="utf-8")
    return path


def install(python: str, versions: str, extras: tuple[str, ...], keep: bool) -> Path:
    """Make an environment, unless one is kept; return its Python."""
    folder = WORK / f"{python}-{versions}"
    if not (keep and (folder / "bin" / "mtmeta").exists()):
        subprocess.run([f"python{python}", "-m", "venv", "--clear", folder], check=True)
        pip = [folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "-c", constraints(versions, extras), "-e", f"{ROOT}[{','.join(extras)}]"], check=True)
    return folder / "bin" / "python"


def installed(python: Path) -> list[str]:
    """Return the versions of the packages that the table shows."""
    code = f"import json; from importlib.metadata import version; print(json.dumps([version(p) for p in {SHOWN}]))"
    return json.loads(subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout)


def check(python: Path, options: list[str]) -> str:
    """Run tests; return how many passed, failed and were skipped."""
    command = [python, "-m", "pytest", "-q", "-n", os.environ.get("JOBS", "2"), *options]
    without_data = {name: value for name, value in os.environ.items() if name != "MTMETA_DATA"}
    done = subprocess.run(command, cwd=ROOT, env=without_data, capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stdout[-8000:] + done.stderr[-1000:], file=sys.stderr)
    counts = re.findall(r"\d+ (?:failed|passed|skipped|errors?)\b", done.stdout.strip().rpartition("\n")[2])
    return f"{'' if done.returncode == 0 else 'FAILED: '}{', '.join(counts) or 'nothing ran'}"


def is_here(python: str) -> bool:
    """Tell whether a Python starts; those of pyenv need to be named to it."""
    if shutil.which("pyenv"):
        listed = subprocess.run(["pyenv", "versions", "--bare"], capture_output=True, text=True, check=True).stdout
        os.environ["PYENV_VERSION"] = ":".join(listed.split())
    name = shutil.which(f"python{python}")
    return name is not None and subprocess.run([name, "--version"], capture_output=True, check=False).returncode == 0


def row_of(python: str, versions: str, extras: tuple[str, ...], keep: bool) -> list[str]:
    """Run one combination; return its row of the table."""
    try:
        there = install(python, versions, extras, keep)
    except subprocess.CalledProcessError:
        return [python, versions, *[""] * len(SHOWN), "FAILED: not installed", "", f"{date.today()}"]
    return [python, versions, *installed(there), *(check(there, c) for c in CHECKS.values()), f"{date.today()}"]


def write(row: list[str]) -> None:
    """Put a row into the table, in the place of the one for the same Python and packages."""
    lines = TABLE.read_text(encoding="utf-8").splitlines()[7:] if TABLE.exists() else []
    rows = {tuple(cells[:2]): cells for line in lines if (cells := [c.strip() for c in line.strip("|").split("|")])}
    rows[tuple(row[:2])] = row
    head = HEAD.format(shown=" | ".join(SHOWN), rules=" | ".join(["---"] * len(SHOWN)))
    body = ("| " + " | ".join(cells) + " |\n" for _, cells in sorted(rows.items()))
    TABLE.write_text(head + "".join(body), encoding="utf-8")


def main(arguments: list[str] | None = None) -> int:
    """Run the matrix; return 1 if anything failed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("combinations", nargs="*", default=COMBINATIONS, metavar="PYTHON:VERSIONS")
    parser.add_argument("--with", dest="more", default="", metavar="EXTRAS", help="more extras, such as sentinel")
    parser.add_argument("--keep", action="store_true", help="use the environments that are there")
    given = parser.parse_args(arguments)
    extras = (*EXTRAS, *filter(None, given.more.split(",")))
    WORK.mkdir(parents=True, exist_ok=True)
    failed = False
    for python, _, versions in (each.partition(":") for each in given.combinations):
        if not is_here(python):
            print(f"not here: Python {python}")
            continue
        start = time.perf_counter()
        row = row_of(python, versions, extras, given.keep)
        write(row)
        print(f"{' | '.join(row)} | {time.perf_counter() - start:.0f} s", flush=True)
        failed |= any("FAILED" in cell for cell in row)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
