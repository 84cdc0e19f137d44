"""Run notebooks and tests with each Python here, and with the tested, newest and oldest packages: `make matrix`.

Each combination gets an environment of its own in _build/matrix. The oldest versions are the lower bounds that
pyproject.toml states. PyTorch and the recommenders, which are large, are left to the workflows.
usage: python tools/matrix.py [tested|newest|oldest ...]
"""

import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "_build" / "matrix"
PYTHONS = ("python3.11", "python3.12", "python3.13", "python3.14")
EXTRAS = ("book", "sweep", "test")
#: What is run: the unit tests, and the notebooks against their stored outputs.
CHECKS = {
    "tests": ["-m", "not slow and not browser"],
    "notebooks": ["tests/test_notebooks.py"],
}


def lower_bounds(project: dict) -> list[str]:
    """Return one constraint for each requirement of the package with a lower bound: that bound.

    What builds the book and what tests it is not held back: nobody has to run an old linter.
    """
    extras = project["optional-dependencies"]
    stated = [*project["dependencies"], *extras["local"], *extras["sweep"]]
    found = (re.match(r"([A-Za-z0-9._-]+)(?:\[.*?\])?\s*>=\s*([0-9a-z.]+)", requirement) for requirement in stated)
    return sorted({f"{match[1]}=={match[2]}" for match in found if match})


def constraints(versions: str) -> Path:
    """Return the file that holds pip to the tested, the newest or the oldest versions."""
    if versions == "tested":
        return ROOT / "constraints.txt"
    path = WORK / f"{versions}.txt"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    path.write_text("\n".join(lower_bounds(project) if versions == "oldest" else []) + "\n", encoding="utf-8")
    return path


def install(python: str, versions: str) -> Path:
    """Make an environment; return its Python."""
    folder = WORK / f"{python}-{versions}"
    subprocess.run([python, "-m", "venv", "--clear", folder], check=True)
    pip = [folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "-c", constraints(versions), "-e", f"{ROOT}[{','.join(EXTRAS)}]"], check=True)
    return folder / "bin" / "python"


def check(python: Path, options: list[str]) -> str:
    """Run tests; return their closing line."""
    command = [python, "-m", "pytest", "-q", "-n", os.environ.get("JOBS", "2"), "--dist", "loadgroup", *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stdout[-4000:] + done.stderr[-1000:], file=sys.stderr)
    closing = [line for line in done.stdout.splitlines() if " in " in line]
    return f"{'passed' if done.returncode == 0 else 'FAILED'}: {closing[-1].strip('= ') if closing else 'nothing ran'}"


def pythons() -> list[str]:
    """Return the Pythons that start here; those of pyenv need to be named to it."""
    if shutil.which("pyenv"):
        listed = subprocess.run(["pyenv", "versions", "--bare"], capture_output=True, text=True, check=True).stdout
        os.environ["PYENV_VERSION"] = ":".join(listed.split())
    start = [python for python in PYTHONS if shutil.which(python)]
    return [p for p in start if subprocess.run([p, "--version"], capture_output=True, check=False).returncode == 0]


def main(wanted: list[str]) -> int:
    """Run the matrix; return 1 if anything failed."""
    WORK.mkdir(parents=True, exist_ok=True)
    results, here = [], pythons()
    for python in here:
        for versions in wanted or ["tested", "newest", "oldest"]:
            start = time.perf_counter()
            try:
                found = install(python, versions)
                results += [(python, versions, name, check(found, options)) for name, options in CHECKS.items()]
            except subprocess.CalledProcessError as error:
                results.append((python, versions, "install", f"FAILED: {error}"))
            print(f"{python} {versions}: {time.perf_counter() - start:.0f} s", file=sys.stderr)
    for row in results:
        print("{:<11} {:<7} {:<10} {}".format(*row))
    print(f"not here: {', '.join(p for p in PYTHONS if p not in here) or 'none'}")
    return int(any(row[-1].startswith("FAILED") for row in results))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
