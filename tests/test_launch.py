"""`tools/launch.py`: install cells, Binder's files and the buttons, with no address and with an example."""

import re
import shutil
import sys
from pathlib import Path

import launch
import pytest
import yaml

ROOT = Path(__file__).parents[1]


REPOSITORY, HOMEPAGE = "https://github.com/example/mtmeta", "https://example.github.io/mtmeta"


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
