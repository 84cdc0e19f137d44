"""Run tests and chapters under several Pythons with the tested, newest and oldest packages: `make matrix`.

Each combination gets an environment of its own in _build/matrix; a Python that is not here is left out. The oldest
versions are the lower bounds that pyproject.toml states. PyTorch, which is large, is left out unless WITH=sentinel;
without it the chapter that trains transformers is skipped. One combination: nox --session "matrix(3.11:oldest)";
--reuse-existing-virtualenvs keeps its environment.
"""

import os
import re
from pathlib import Path

import nox

nox.options.envdir = "_build/matrix"
nox.options.error_on_missing_interpreters = False
EXTRAS = ["book", "test", *filter(None, os.environ.get("WITH", "").split(","))]
#: The oldest packages with the oldest Python: the later ones have no builds of them.
COMBINATIONS = ["3.11:oldest", "3.11:tested", "3.12:tested", "3.12:newest", "3.13:newest", "3.14:newest"]
#: The quick tests, and the chapters against their stored outputs.
QUICK = ["-m", "not slow and not browser and not exhaustive", "--ignore=tests/test_site.py"]
CHAPTERS = ["-m", "not data and not exhaustive", "tests/test_notebooks.py"]


def lower_bounds() -> list[str]:
    """Return one constraint for each requirement of the package with a lower bound: that bound.

    What builds the book and what tests it is not held back: nobody has to run an old linter.
    """
    project = nox.project.load_toml("pyproject.toml")["project"]
    held = {"local", *EXTRAS} - {"book", "test"}
    stated = project["dependencies"] + [r for extra in held for r in project["optional-dependencies"][extra]]
    found = (re.match(r"([A-Za-z0-9._-]+)(?:\[.*?\])?\s*>=\s*([0-9a-z.]+)", requirement) for requirement in stated)
    return sorted({f"{match[1]}=={match[2]}" for match in found if match})


@nox.session
@nox.parametrize("python,versions", [c.split(":") for c in COMBINATIONS], ids=COMBINATIONS)
def matrix(session: nox.Session, versions: str) -> None:
    """Install, and run the quick tests and the chapters."""
    constraints = Path("constraints.txt")
    if versions != "tested":
        constraints = Path(session.create_tmp()).absolute() / "constraints.txt"
        constraints.write_text("\n".join(lower_bounds() if versions == "oldest" else []) + "\n", encoding="utf-8")
    session.install("-c", str(constraints), "-e", f".[{','.join(EXTRAS)}]")
    session.run("python", "-m", "pip", "list")
    for checks in ([*QUICK, "--doctest-ignore-import-errors"], CHAPTERS):
        jobs = os.environ.get("JOBS", "2")
        session.run("python", "-m", "pytest", "-q", "-n", jobs, *checks, env={"MTMETA_DATA": None})
