"""The house: versions, pins, licences, what may import what, and the targets of make."""

import ast
import importlib.metadata
import inspect
import re
import subprocess
import tomllib
from collections.abc import Iterator
from importlib import import_module
from importlib.util import resolve_name
from inspect import isfunction
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

import mtmeta

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "mtmeta"

#: Which siblings a module may import: the design of the package. `_name` is a private module of its own.
ANY = object()
#: These import no sibling, and any module may import them.
BASE = {path.stem for path in PACKAGE.glob("_[a-z]*.py")} | {"resampling"}
MAY_IMPORT = {
    **dict.fromkeys([*BASE, "rankings", "perturb"], frozenset()),
    **dict.fromkeys(
        ["_copies", "_systems", "resampling", "raters", "estimation", "sysdep", "sentinel"], frozenset({"evalset"})
    ),
    "evalset": {"rankings"},
    "simulate": {"evalset", "rankings", "scoring"},
    "datasets": {"evalset", "rankings", "scoring", "simulate"},
    "agreement": {"evalset"},
    "ties": {"agreement", "evalset"},
    "significance": {"agreement", "ties", "evalset"},
    "protocols": {"agreement", "ties", "significance", "evalset"},
    "differences": {"agreement", "significance", "evalset"},
    "local_accuracy": {"evalset", "perturb", "rankings", "scoring"},
    "scoring": {"evalset", "rankings"},
    "aggregation": {"evalset", "scoring"},
    "__main__": {"cli"},
    **dict.fromkeys(["sweep", "plots", "reporting", "cli", "__init__", "book"], ANY),  # but only cli imports book
}


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def project_files() -> list[Path]:
    """Return the files that are, or are about to be, in the repository."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout")
    return [path for name in listed if (path := ROOT / name).is_file()]


def test_pins_versions_and_citation():
    pins = read("constraints.txt").splitlines()
    assert [line for line in pins if not re.fullmatch(r"[a-z0-9.-]+==[a-z0-9.!]+", line)] == []
    assert pins == sorted(pins)
    project = tomllib.loads(read("pyproject.toml"))["project"]
    extras = project["optional-dependencies"]
    requirements = [Requirement(r) for r in sum(extras.values(), project["dependencies"])]
    pinned = dict(pin.split("==") for pin in pins)
    wanted = [r for r in requirements if r.name != "mtmeta"]
    assert [str(r) for r in wanted if not r.specifier.contains(pinned.get(canonicalize_name(r.name), "0"))] == []
    assert extras["all"] == [f"mtmeta[{','.join(sorted(set(extras) - {'all'}))}]"]
    environment = yaml.safe_load(read("environment.yml"))
    assert environment["dependencies"][-1] == {"pip": ["-c constraints.txt", "-e .[all]", "implicit"]}
    here = {f"{canonicalize_name(d.name)}=={d.version}": d.metadata for d in importlib.metadata.distributions()}
    ranges = {pin: SpecifierSet(here[pin].get("Requires-Python", "")) for pin in pins if pin in here}
    assert [pin for pin, supported in ranges.items() if not supported.contains("3.11.0")] == []
    assert re.search(r"^## \[(.+?)\]", read("CHANGELOG.md"), re.MULTILINE)[1] == mtmeta.__version__
    citation = yaml.safe_load(read("CITATION.cff"))
    assert (citation["version"], len(citation["references"])) == (mtmeta.__version__, 4)
    assert f"version = {{{mtmeta.__version__}}}" in read("book/index.md")
    assert {"cff-version", "message", "title", "authors", "license"} <= set(citation)
    assert all({"type", "title", "authors", "year"} <= set(paper) for paper in citation["references"])
    assert re.search(r"(?s)Apache License.*END OF TERMS AND CONDITIONS", read("LICENSE"))
    assert "creativecommons.org/licenses/by/4.0" in read("LICENSE-TEXT.md")


def module_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def siblings_imported(path: Path) -> Iterator[str]:
    """Yield the modules of the package that a file imports, wherever in the file it does."""
    here = ".".join(["mtmeta", *path.relative_to(PACKAGE).parent.parts])
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import | ast.ImportFrom):
            base = resolve_name("." * getattr(node, "level", 0) + (getattr(node, "module", None) or ""), here)
            for name in (f"{base}.{alias.name}".strip(".") for alias in node.names):
                package, first, *_ = [*name.split("."), "__init__"]
                if package == "mtmeta":
                    yield first if (PACKAGE / f"{first}.py").exists() or (PACKAGE / first).is_dir() else "__init__"


@pytest.mark.slow
def test_modules_import_only_what_the_design_allows():
    files = list(PACKAGE.rglob("*.py"))
    unknown = {module_of(p) for p in files} - set(MAY_IMPORT)
    assert not unknown, f"add to MAY_IMPORT what these may import: {sorted(unknown)}"
    wrong = []
    for path in files:
        module = module_of(path)
        found = set(siblings_imported(path)) - {module}
        forbidden = {"book"} - {module} if MAY_IMPORT[module] is ANY else found - MAY_IMPORT[module] - BASE
        if module != "cli":
            wrong += [f"{path.relative_to(ROOT)} imports {name}" for name in sorted(found & forbidden)]
    assert wrong == []


def test_tests_and_modules_go_one_to_one_and_no_path_of_a_machine_is_in_the_repository():
    modules = {module for path in PACKAGE.rglob("*.py") if not (module := module_of(path)).startswith("_")}
    assert sorted(m for m in modules if not (ROOT / "tests" / f"test_{m}.py").exists()) == []
    paths = ["/" + p for p in ("work/", "root/", "tmp/w/", "opt/pypi", "opt/wheels")]
    pattern = re.compile(rf"(?<![\w.~}}$)])({'|'.join(map(re.escape, paths))})[\w.]")
    found = []
    for path in project_files():
        text = path.read_bytes()
        if path != Path(__file__) and b"\0" not in text:
            lines = text.decode("utf-8", "replace").splitlines()
            found += [f"{path.relative_to(ROOT)}:{n}" for n, line in enumerate(lines, 1) if pattern.search(line)]
    assert found == []


def test_the_namespace_is_what_its_docstring_lists():
    listed = re.findall(r"`([A-Za-z_]+)`", mtmeta.__doc__)
    assert dir(mtmeta) == sorted(listed)
    assert all(hasattr(mtmeta, name) for name in listed)
    with pytest.raises(AttributeError, match="has no attribute 'Texts'"):
        mtmeta.Texts  # noqa: B018
    modules = {module for path in PACKAGE.rglob("*.py") if not (module := module_of(path)).startswith("_")}
    assert modules - {"cli"} <= set(listed)


def public_functions() -> dict[str, object]:
    """Return the public functions of the library; what serves the book alone is not for readers."""
    modules = {name: import_module(f"mtmeta.{name}") for name in mtmeta._MODULES if name != "book"}
    names = [(module, name) for module, owner in modules.items() for name in getattr(owner, "__all__", ())]
    return {f"{m}.{n}": value for m, n in names if isfunction(value := getattr(modules[m], n))}


#: Public functions that estimate nothing: they prepare data, choose among options, or quote a mistake.
NO_STATISTICS = {
    *("ties.discrete_to_continuous", "sysdep.centre_segments", "sysdep.permute_within_human_scores"),
    *("local_accuracy.length_metric", "local_accuracy.metrics_of", "local_accuracy.natural_pairs"),
    *("local_accuracy.scored_pairs", "aggregation.aggregate", "aggregation.extract"),
}
STATISTICS = "agreement significance ties sysdep local_accuracy aggregation estimation differences raters protocols"


def test_every_public_function_has_an_example_and_leads_on_and_a_statistic_states_its_target():
    docs = {name: inspect.getdoc(function) for name, function in public_functions().items()}
    assert len(docs) > 90
    assert [name for name, text in docs.items() if ">>> " not in text.partition("\nExamples\n---")[2]] == []
    assert [name for name, text in docs.items() if not re.search(r"^See Also\n-+\n\S", text, re.MULTILINE)] == []
    statistics = {name: text for name, text in docs.items() if name.partition(".")[0] in STATISTICS.split()}
    missing = {name for name, text in statistics.items() if not re.search(r"^Target: \w.{20,}", text, re.MULTILINE)}
    assert missing == NO_STATISTICS
