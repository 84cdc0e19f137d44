"""Write what lets a chapter run alone, elsewhere: its first code cell, Binder's files, the buttons of the site.

All of it follows from two addresses in pyproject.toml, from the extras there, and from environment.yml::

    [project.urls]
    Repository = "https://github.com/OWNER/NAME"   # for Colab, Binder and the buttons
    Homepage = "https://OWNER.github.io/NAME"      # of the site: for its sitemap and its card

Both may be absent: there are no buttons then, and the cell says what to do instead.

    python tools/launch.py           # rewrite
    python tools/launch.py --check   # exit 1 if something would change
"""

import argparse
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import nbformat
import yaml
from normalise_notebooks import normalise

from mtmeta.datasets import available

TAG = "install"
#: Packages that one page needs and no extra of mtmeta installs; environment.yml names them.
ALONE = ("implicit",)
BRANCH = "main"
TORCH = "https://download.pytorch.org/whl/cpu"
#: From this line on, the rest of _config.yml is written here.
MARK = "      # From here on this file is written by tools/launch.py.\n"
WRITTEN = "Written by tools/launch.py"
CELL = f"""# Does nothing where mtmeta is installed. {WRITTEN}.
import importlib.util

if importlib.util.find_spec("mtmeta") is None:
"""
NO_ADDRESS = """\
    how = "in a clone of its sources: pip install -e '.[book]'"
    raise ModuleNotFoundError(f"mtmeta is not installed; {how}")
"""


def addresses(project: Mapping) -> tuple[str, str]:
    """Return the addresses of the sources and of the site; empty where none is given."""
    urls = project.get("urls", {})
    repository, homepage = (urls.get(name, "").removesuffix("/") for name in ("Repository", "Homepage"))
    if repository and not re.fullmatch(r"https://github\.com/[\w.-]+/[\w.-]+", repository):
        raise ValueError(f"project.urls.Repository must be https://github.com/OWNER/NAME; found {repository!r}.")
    if homepage and not homepage.startswith("https://"):
        raise ValueError(f"project.urls.Homepage must begin with https://; found {homepage!r}.")
    return repository, homepage


# -- the first code cell of a chapter ----------------------------------------------------


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def extras(requires: Iterable[str], project: Mapping) -> list[str]:
    """Return the extras that install the modules which a notebook requires."""
    found = set()
    for module in (name for name in requires if ":" not in name and name not in ALONE):
        having = [
            extra
            for extra, distributions in project["optional-dependencies"].items()
            if any(canonical(d).startswith(canonical(module)) for d in distributions)
        ]
        if not having:
            raise ValueError(f"no extra in pyproject.toml installs {module!r}, which a notebook requires.")
        found.add(having[0])
    return sorted(found)


def data_sets(requires: Iterable[str]) -> list[str]:
    """Return the names to fetch for the data that a notebook requires."""
    wanted = {name.removeprefix("data:") for name in requires if name.startswith("data:")}
    folders = {
        name: {part for file in data.files for part in Path(file.path).parts[:2]} for name, data in available().items()
    }
    if lacking := wanted - set().union(*folders.values()):
        raise ValueError(f"no set that can be fetched holds {sorted(lacking)}, which a notebook requires.")
    by_folder = wanted - set(folders)
    return [name for name, found in folders.items() if name in wanted or by_folder & found]


def install_cell(requires: Iterable[str], project: Mapping) -> str:
    """Return the source of the cell that makes a notebook run where mtmeta is not installed."""
    repository, _ = addresses(project)
    if not repository:
        return (CELL + NO_ADDRESS).rstrip("\n")
    chosen = ",".join(extras(requires, project))
    package = f"mtmeta{f'[{chosen}]' if chosen else ''} @ git+{repository}"
    alone = "".join(f" {name}" for name in requires if name in ALONE)
    lines = [f'    package = "{package}"', f'    %pip install --quiet "{{package}}"{alone}']
    if sets := data_sets(requires):
        lines.append(f"    !mtmeta fetch {' '.join(sets)}")
    return CELL + "\n".join(lines)


def with_cell(text: str, project: Mapping) -> str:
    """Return a notebook with its install cell, as first code cell and hidden from the site."""
    notebook = nbformat.reads(text, as_version=4)
    notebook.cells = [cell for cell in notebook.cells if TAG not in cell.metadata.get("tags", [])]
    source = install_cell(notebook.metadata.get("mtmeta", {}).get("requires", []), project)
    cell = nbformat.v4.new_code_cell(source, execution_count=1, metadata={"tags": [TAG, "remove-cell"]})
    first = next(i for i, cell in enumerate(notebook.cells) if cell.cell_type == "code")
    notebook.cells.insert(first, cell)
    return normalise(nbformat.writes(notebook))


# -- Binder and the buttons --------------------------------------------------------------


def binder_environment(environment: Mapping) -> str:
    """Return the conda packages of environment.yml, without what pip installs."""
    packages = [item for item in environment["dependencies"] if isinstance(item, str)]
    own = {"channels": environment["channels"], "dependencies": packages}
    return f"# {WRITTEN} from environment.yml.\n" + yaml.safe_dump(own, sort_keys=False)


def post_build(environment: Mapping) -> str:
    """Return the script that installs on Binder what pip installs in environment.yml, PyTorch for CPUs."""
    pip = next(item["pip"] for item in environment["dependencies"] if isinstance(item, Mapping))
    options = " ".join(f"-e '{o[3:]}'" if o.startswith("-e ") else o for o in pip)
    return (
        f"#!/usr/bin/env bash\n# {WRITTEN} from environment.yml.\nset -euo pipefail\n"
        f"python -m pip install --no-cache-dir --extra-index-url {TORCH} {options}\n"
    )


def config_end(project: Mapping) -> str:
    """Return the end of _config.yml: the last options of the theme, and the address of the site."""
    repository, homepage = addresses(project)
    theme = {"use_repository_button": bool(repository), "use_issues_button": bool(repository)}
    if repository:
        buttons = {"notebook_interface": "jupyterlab", "binderhub_url": "https://mybinder.org"}
        buttons["colab_url"] = "https://colab.research.google.com"
        theme |= {"repository_url": repository, "repository_branch": BRANCH, "launch_buttons": buttons}
    lines = yaml.safe_dump(theme, sort_keys=False).splitlines()
    return "".join(f"      {line}\n" for line in lines) + f'    html_baseurl: "{homepage and homepage + "/"}"\n'


# -- all files ---------------------------------------------------------------------------


def written(root: Path) -> Iterator[tuple[Path, str]]:
    """Yield each file that is written here, with its text."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    environment = yaml.safe_load((root / "environment.yml").read_text(encoding="utf-8"))
    yield root / ".binder" / "environment.yml", binder_environment(environment)
    yield root / ".binder" / "postBuild", post_build(environment)
    config = (root / "_config.yml").read_text(encoding="utf-8")
    if config.count(MARK) != 1:
        raise ValueError(f"_config.yml must have this line once, as last one of html_theme_options: {MARK!r}.")
    yield root / "_config.yml", config[: config.index(MARK)] + MARK + config_end(project)
    for path in sorted((root / "notebooks").rglob("*.ipynb")):
        if ".ipynb_checkpoints" not in path.parts:
            yield path, with_cell(path.read_text(encoding="utf-8"), project)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 if a file would change")
    parser.add_argument("--root", type=Path, default=Path(__file__).parents[1], help="the project (default: this one)")
    given = parser.parse_args()
    try:
        changed = [(p, t) for p, t in written(given.root) if not p.exists() or p.read_text(encoding="utf-8") != t]
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    for path, text in changed:
        print(f"{path}: {'not as tools/launch.py writes it' if given.check else 'rewritten'}", file=sys.stderr)
        if not given.check:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
    if not given.check:
        (given.root / ".binder" / "postBuild").chmod(0o755)
    elif changed:
        print("rewrite them: python tools/launch.py", file=sys.stderr)
    return int(bool(given.check and changed))


if __name__ == "__main__":
    sys.exit(main())
