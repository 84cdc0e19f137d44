"""The house: versions, pins, licences, what may import what, and every command of the README."""

import ast
import contextlib
import io
import os
import re
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml

import mtmeta

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "mtmeta"

#: Which siblings a module may import: the design of the package. `_name` is a private module of its own.
ANY = object()
#: These import no sibling, and any module may import them.
BASE = {"_checks", "_compiled", "_escapes", "_files", "_limits", "_pearson", "_pretrained", "_processes", "_yaml"}
MAY_IMPORT = {
    **dict.fromkeys(BASE, frozenset()),
    "evalset": set(),
    "_agreement_kernels": set(),
    "_significance_kernels": {"_agreement_kernels"},
    "simulate": {"evalset", "scoring"},
    "datasets": {"evalset", "simulate"},
    "agreement": {"evalset", "_agreement_kernels"},
    "ties": {"agreement", "evalset", "_agreement_kernels"},
    "significance": {"agreement", "ties", "evalset", "_significance_kernels"},
    "protocols": {"agreement", "ties", "significance", "evalset"},
    "sysdep": {"evalset"},
    "sentinel": {"evalset"},
    "perturb": set(),
    "local_accuracy": {"evalset", "perturb", "scoring"},
    "scoring": set(),
    "aggregation": {"evalset", "scoring"},
    "sweep": ANY,  # all statistics
    "plots": ANY,
    "report": ANY,
    "exercises": ANY,
    "runner": {"evalset"},
    "cli": ANY,
    "__init__": ANY,
    "__main__": {"cli"},
}


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pins() -> dict[str, str]:
    return dict(line.split("==") for line in read("constraints.txt").splitlines())


def project_files() -> list[Path]:
    """Return the files that are, or are about to be, in the repository."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout")
    return [path for name in listed if (path := ROOT / name).is_file()]


# Versions and pins


def test_constraints_are_plain_sorted_pins():
    lines = read("constraints.txt").splitlines()
    assert len(lines) > 100
    assert [line for line in lines if not re.fullmatch(r"[a-z0-9.-]+==[a-z0-9.!]+", line)] == []
    assert lines == sorted(lines)


def test_constraints_pin_every_dependency_within_its_range():
    from packaging.requirements import Requirement

    project = tomllib.loads(read("pyproject.toml"))["project"]
    extras = project["optional-dependencies"]
    requirements = [Requirement(r) for r in sum(extras.values(), project["dependencies"])]
    pinned = {canonical(name): version for name, version in pins().items()}
    wanted = [r for r in requirements if canonical(r.name) != "mtmeta"]
    assert len(wanted) > 20
    assert [str(r) for r in wanted if not r.specifier.contains(pinned.get(canonical(r.name), "0"))] == []


def test_all_is_every_extra():
    extras = tomllib.loads(read("pyproject.toml"))["project"]["optional-dependencies"]
    assert extras["all"] == [f"mtmeta[{','.join(sorted(set(extras) - {'all'}))}]"]


def test_versions_agree():
    assert yaml.safe_load(read("CITATION.cff"))["version"] == mtmeta.__version__
    assert re.search(r"^## \[(.+?)\]", read("CHANGELOG.md"), re.MULTILINE)[1] == mtmeta.__version__


def test_citation_names_the_four_papers():
    citation = yaml.safe_load(read("CITATION.cff"))
    assert citation["cff-version"] == "1.2.0"
    assert {"message", "title", "authors", "license"} <= set(citation)
    assert len(citation["references"]) == 4
    assert all({"type", "title", "authors", "year"} <= set(paper) for paper in citation["references"])


def test_environment_installs_what_make_book_installs():
    environment = yaml.safe_load(read("environment.yml"))
    assert environment["dependencies"][-1] == {"pip": ["-c constraints.txt", "-e .[book]"]}


def steps_of_workflows() -> Iterator[tuple[str, dict, dict]]:
    """Yield the name of a workflow, the environment of one of its steps, and the step."""
    for path in sorted((ROOT / ".github" / "workflows").glob("*.yml")):
        workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
        for job in workflow["jobs"].values():
            for step in job["steps"]:
                yield path.name, workflow.get("env", {}) | job.get("env", {}) | step.get("env", {}), step


def test_workflows_that_test_install_pytorch_for_cpus():
    # The runners have no GPU, and the build for GPUs is several gigabytes.
    testing = [(name, env) for name, env, step in steps_of_workflows() if step.get("run") in (".ci/run", "make test")]
    assert {name for name, _ in testing} >= {"check.yml", "weekly.yml"}
    index = "https://download.pytorch.org/whl/cpu"
    assert [name for name, env in testing if env.get("PIP_EXTRA_INDEX_URL") != index] == []


def test_licence_is_apache():
    licence = read("LICENSE")
    assert "Apache License" in licence
    assert "END OF TERMS AND CONDITIONS" in licence
    assert "creativecommons.org/licenses/by/4.0" in read("LICENSE-TEXT.md")


# Modules


def module_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def siblings_imported(path: Path) -> Iterator[str]:
    """Yield the modules of the package that a file imports, wherever in the file it does."""
    here = ["mtmeta", *path.relative_to(PACKAGE).with_suffix("").parts][:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = here[: len(here) - node.level + 1] if node.level else []
            base = [*base, node.module] if node.module else base
            names = [".".join([*base, alias.name]) for alias in node.names]
        for name in names:
            package, *rest = name.split(".")
            if package == "mtmeta":
                is_module = rest and ((PACKAGE / f"{rest[0]}.py").exists() or (PACKAGE / rest[0]).is_dir())
                yield rest[0] if is_module else "__init__"


@pytest.mark.slow
def test_modules_import_only_what_the_design_allows():
    files = list(PACKAGE.rglob("*.py"))
    unknown = {module_of(p) for p in files} - set(MAY_IMPORT)
    assert not unknown, f"add to MAY_IMPORT what these may import: {sorted(unknown)}"
    wrong = []
    for path in files:
        module = module_of(path)
        if MAY_IMPORT[module] is not ANY:
            found = set(siblings_imported(path)) - {module}
            wrong += [f"{path.relative_to(ROOT)} imports {name}" for name in sorted(found - MAY_IMPORT[module] - BASE)]
    assert wrong == []


def test_tests_and_modules_go_one_to_one():
    modules = {module_of(p) for p in PACKAGE.rglob("*.py")} - {"__init__", "__main__", "_limits", "_yaml"}
    modules = {module for module in modules if not module.endswith("_kernels")}
    assert sorted(m for m in modules if not (ROOT / "tests" / f"test_{m.lstrip('_')}.py").exists()) == []


# Text


def test_no_path_of_a_machine_is_in_the_repository():
    paths = ["/" + p for p in ("work/", "root/", "tmp/w/", "opt/pypi", "opt/wheels")]
    pattern = re.compile(rf"(?<![\w.~}}$)])({'|'.join(map(re.escape, paths))})[\w.]")
    found = []
    for path in project_files():
        text = path.read_bytes()
        if path != Path(__file__) and b"\0" not in text:
            lines = text.decode("utf-8", "replace").splitlines()
            found += [f"{path.relative_to(ROOT)}:{n}" for n, line in enumerate(lines, 1) if pattern.search(line)]
    assert found == []


def test_no_test_file_is_skipped_whole():
    # A skip of a whole file is not counted, so nobody would see that the tests of a chapter no longer run.
    files = [p for p in (ROOT / "tests").rglob("test_*.py") if p != Path(__file__)]
    assert [
        p.name for p in files if re.search(r"allow_module_level|^pytest\.importorskip", p.read_text(), re.MULTILINE)
    ] == []


@pytest.mark.slow
def test_stored_notebooks_are_in_normal_form():
    command = [sys.executable, "tools/normalise_notebooks.py", "--check", "notebooks"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


# README


def fences() -> list[tuple[str, str, str | None]]:
    """Return the code blocks of the README: language, text, and the `text` block after it as the expected output."""
    if not (ROOT / "README.md").exists():
        return []
    blocks = re.findall(
        r"^```(\w+)\n(.*?)^```$(?=(?:\s*^```text\n(.*?)^```$)?)", read("README.md"), re.MULTILINE | re.DOTALL
    )
    return [(language, text, expected or None) for language, text, expected in blocks]


def commands() -> list[tuple[str, str]]:
    """Return the commands in the README's shell blocks, and the output that a `console` block shows below each."""
    found = []
    for language, text, _ in fences():
        if language not in ("bash", "console"):
            continue
        for line in text.replace("\\\n", " ").splitlines():
            if language == "console" and not line.startswith("$ "):
                found[-1][1].append(line)
                continue
            line = re.sub(r"(^|\s)#.*", "", line.removeprefix("$ ")).strip()
            found += [(part.strip(), []) for part in line.split(" && ") if part.strip()]
    inline = re.findall(r"`((?:mtmeta|papermill) [^`]+)`", read("README.md"))
    return [(command, "\n".join(output)) for command, output in [*found, *((c, []) for c in inline)]]


def needs_data(text: str) -> list:
    return [pytest.mark.data] if re.search(r"wmt|newstest|ted/", text) else []


def environment_of_reader() -> dict[str, str]:
    return {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "120"}


def targets() -> set[str]:
    phony = re.search(r"^\.PHONY: (.*)$", read("Makefile"), re.MULTILINE)[1].split()
    return {target for target in phony if re.search(rf"^{target}:", read("Makefile"), re.MULTILINE)}


COMMANDS = [(c, out) for c, out in commands() if c.startswith(("mtmeta ", "papermill "))]


def same(found: str, expected: str) -> bool:
    return [line.rstrip() for line in found.splitlines()] == [line.rstrip() for line in expected.splitlines()]


@pytest.mark.skipif(not (ROOT / "README.md").exists(), reason="there is no README.md")
def test_readme_commands_are_of_a_kind_that_is_tested():
    assert {language for language, _, _ in fences()} <= {"bash", "console", "python", "text", "bibtex"}
    known = r"(make (?P<targets>[a-z -]+)|mtmeta .+|papermill .+|git clone \S+( \S+)?|cd \S+)"
    matches = {command: re.fullmatch(known, command) for command, _ in commands()}
    assert [command for command, match in matches.items() if match is None] == []
    made = {target for match in matches.values() if match["targets"] for target in match["targets"].split()}
    assert {"book", "test"} <= made <= targets()


@pytest.mark.slow
@pytest.mark.parametrize(("command", "expected"), [pytest.param(*c, marks=needs_data(c[0]), id=c[0]) for c in COMMANDS])
def test_readme_command_runs(command, expected, tmp_path, request):
    for name in re.findall(r"\bmy_\w+\.csv\b", command):  # the reader's own table
        mtmeta.load("teaching").to_frame().to_csv(tmp_path / name, index=False)
    (tmp_path / "notebooks").symlink_to(ROOT / "notebooks")
    env = environment_of_reader()
    if command.startswith("mtmeta fetch "):  # from a mirror on this machine, into an empty cache
        command += f" --mirror {request.getfixturevalue('mirror')}"
        env = {k: v for k, v in env.items() if k != "MTMETA_DATA"} | {"MTMETA_CACHE": str(tmp_path / "cache")}
    done = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 0, done.stderr
    assert not expected or same(done.stdout, expected), done.stdout


@pytest.fixture
def mirror(data_dir):
    """Serve the real data as a mirror of the upstream sources."""

    class Quiet(SimpleHTTPRequestHandler):
        def __init__(self, *args):
            super().__init__(*args, directory=str(data_dir))

        def log_message(self, *args):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Quiet) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


PYTHON_BLOCKS = [(text, expected) for language, text, expected in fences() if language == "python"]


def run_block(text: str) -> str:
    """Execute a block as a notebook cell would be; return what it prints, with the value of a last expression."""
    *body, last = ast.parse(text).body
    space: dict = {}
    with contextlib.redirect_stdout(io.StringIO()) as out:
        if isinstance(last, ast.Expr):
            exec(compile(ast.Module(body, []), "README.md", "exec"), space)
            value = eval(compile(ast.Expression(last.value), "README.md", "eval"), space)
            if value is not None:
                print(value)
        else:
            exec(compile(text, "README.md", "exec"), space)
    return out.getvalue()


@pytest.mark.parametrize(("text", "expected"), [pytest.param(*b, marks=needs_data(b[0])) for b in PYTHON_BLOCKS])
def test_readme_python_prints_what_it_says(text, expected):
    found = run_block(text)
    assert expected is None or same(found, expected), found


def test_make_help_lists_every_target():
    env = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}  # `make test` runs us
    done = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True, env=env)
    listed = {line.split()[1] for line in done.stdout.splitlines() if line.startswith("  make ")}
    assert listed == targets()
