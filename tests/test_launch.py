"""`tools/launch.py`: install cells, Binder's files and the buttons, with no address and with an example."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import launch
import nbformat
import pytest
import yaml

ROOT = Path(__file__).parents[1]


REPOSITORY, HOMEPAGE = "https://github.com/example/mtmeta", "https://example.github.io/mtmeta"
EXTRAS = {"local": ["jiwer>=4", "pytrec-eval-terrier>=0.5"], "sentinel": ["torch>=2.4"], "all": ["mtmeta[local]"]}


SOMEWHERE = {"optional-dependencies": EXTRAS, "urls": {"Repository": REPOSITORY, "Homepage": HOMEPAGE + "/"}}


@pytest.fixture
def project(tmp_path):
    """Return a small project with one chapter, an address and nothing written yet."""
    (tmp_path / "notebooks").mkdir()
    for name in ("pyproject.toml", "environment.yml", "_config.yml", "notebooks/00_template.ipynb"):
        shutil.copy(ROOT / name, tmp_path / name)
    urls = f'[project.urls]\nRepository = "{REPOSITORY}"\nHomepage = "{HOMEPAGE}"\n'
    text = re.sub(r"\[project\.urls\]\n[^\[]*", f"{urls}\n", (tmp_path / "pyproject.toml").read_text(), count=1)
    (tmp_path / "pyproject.toml").write_text(text)
    return tmp_path


@pytest.fixture
def tool(project, monkeypatch, capsys):
    """Return a function that runs the tool on the project, and gives its exit code and what it says."""

    def run(*options):
        monkeypatch.setattr(sys, "argv", ["launch.py", "--root", str(project), *options])
        return launch.main(), capsys.readouterr().err

    return run


def test_cell_stands_first_once_and_nothing_else_changes():
    text = (ROOT / "notebooks" / "00_template.ipynb").read_text(encoding="utf-8")
    once = launch.with_cell(text, SOMEWHERE)
    assert launch.with_cell(once, SOMEWHERE) == once
    cells = nbformat.reads(once, 4).cells
    own = [cell for cell in cells if launch.TAG in cell.metadata.get("tags", [])]
    assert own == [next(cell for cell in cells if cell.cell_type == "code")]
    assert own[0].metadata["tags"] == [launch.TAG, "remove-cell"]
    assert REPOSITORY in own[0].source
    before = nbformat.reads(text, 4).cells
    before = [(c.source, c.get("outputs")) for c in before if launch.TAG not in c.metadata.get("tags", [])]
    assert [(c.source, c.get("outputs")) for c in cells if c not in own] == before


def test_binder_installs_what_the_environment_names():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    binder = yaml.safe_load((ROOT / ".binder" / "environment.yml").read_text(encoding="utf-8"))
    assert binder["dependencies"] == environment["dependencies"][:-1]
    script = ROOT / ".binder" / "postBuild"
    assert script.stat().st_mode & 0o111, "Binder runs postBuild, so it must be executable"
    subprocess.run(["bash", "-n", str(script)], check=True)
    last = script.read_text(encoding="utf-8").splitlines()[-1]
    assert last.endswith(" -c constraints.txt -e '.[all]' implicit")
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert {"book", "sentinel"} <= set(extras)


def test_with_an_address_everything_follows_and_a_config_without_the_line_is_refused(project, tool):
    code, said = tool("--check")
    assert (code, (project / ".binder").exists()) == (1, False)
    assert "_config.yml: not as tools/launch.py writes it" in said
    assert (tool()[0], tool("--check")[0]) == (0, 0)
    config = yaml.safe_load((project / "_config.yml").read_text(encoding="utf-8"))["sphinx"]["config"]
    theme = config["html_theme_options"]
    assert (theme["use_repository_button"], theme["repository_url"]) == (True, REPOSITORY)
    assert set(theme["launch_buttons"]) == {"notebook_interface", "binderhub_url", "colab_url"}
    assert config["html_baseurl"] == f"{HOMEPAGE}/"
    assert f"@ git+{REPOSITORY}" in (project / "notebooks" / "00_template.ipynb").read_text(encoding="utf-8")
    (project / "_config.yml").write_text("sphinx: {}\n")
    code, said = tool()
    assert (code, "_config.yml must have this line once" in said) == (1, True)
