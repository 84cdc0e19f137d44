# ruff: noqa: E501 - lists stay in one place
"""Security: input is never run, nothing speaks to the network unless asked, and the policy names what is done."""

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
SOURCES = sorted(p for folder in ("mtmeta", "tools", "book") for p in (ROOT / folder).rglob("*.py"))

#: Calls that run what they read. A method such as model.eval() or re.compile() is another thing than the function.
FORBIDDEN = re.compile(
    r"(eval|exec|compile|__import__|(pickle|marshal|joblib|dill|cloudpickle)\.loads?|shelve\.open|os\.(system|popen)|"
    r"yaml\.(load|load_all|unsafe_load|full_load)|(.*\.)?(Unpickler|read_pickle|extractall|unpack_archive|mktemp|literal_eval))"
)
#: Calls that are safe with this argument alone, by the ends of their names.
SAFE = {
    "from_pretrained": ("trust_remote_code", False), "from_config": ("trust_remote_code", False),
    "torch.load": ("weights_only", True), "np.load": ("allow_pickle", False), "numpy.load": ("allow_pickle", False),
}  # fmt: skip
#: Calls that a reason is given for: file and function.
ALLOWED = {
    ("mtmeta/datasets/_pickles.py", "pickle.Unpickler"): "a base class that refuses every import",
    ("tools/seen.py", "ast.literal_eval"): "reads numbers that a page of the book assigns to a name",
    ("tools/seen.py", "compile"): "sources of the book's own pages, of allowed nodes only",
    ("tools/seen.py", "eval"): "the same, without builtins",
}


def is_fault(call, name):
    """Tell whether a call runs what it reads."""
    keywords = {k.arg: getattr(k.value, "value", None) for k in call.keywords}
    if keywords.get("shell") is True or keywords.get("trust_remote_code") is True or FORBIDDEN.fullmatch(name):
        return True
    return any(f".{name}".endswith(f".{end}") and keywords.get(key) != value for end, (key, value) in SAFE.items())


def faults(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and is_fault(node, name := ast.unparse(node.func)):
            yield name
        elif isinstance(node, ast.ClassDef):
            yield from (name for base in node.bases if (name := ast.unparse(base)) == "pickle.Unpickler")
        elif isinstance(node, ast.ImportFrom) and node.module in ("pickle", "marshal", "shelve", "dill", "cloudpickle"):
            yield f"from {node.module} import"


@pytest.mark.slow
def test_nothing_in_the_package_runs_what_it_reads():
    found = [(path.relative_to(ROOT).as_posix(), name) for path in SOURCES for name in faults(path.read_text("utf-8"))]
    assert [f for f in found if f not in ALLOWED] == []
    assert set(ALLOWED) == set(found)  # a reason that is no longer needed goes


_TABLE = "system,segment,human,X\n"
_TABLE += "".join(f"{s},{k},{k * s % 3},{(k + s) % 4}\n" for s in range(3) for k in range(6))
_COMMANDS = [
    "validate teaching", "rank teaching --n-resamples 5", "correlate teaching --format json",
    "fetch --list", "local-accuracy teaching-ranking --metric map --metric P_10 --n-resamples 99", "sentinel train teaching --sees source --save s",
    "sentinel score s teaching", "report teaching --metric Judge --n-resamples 40 -o r.html", "validate wmt23/zh-en", "validate http://127.0.0.1:9/t.csv",
]  # fmt: skip
#: Imports every module and runs the commands; prints what was tried on the network.
_WATCHED = f"""
import importlib, json, pkgutil, sys
calls = []
def hook(event, args):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto", "socket.bind", "urllib.Request"):
        calls.append((event, repr(args)[:100]))
sys.addaudithook(hook)
import mtmeta
for module in pkgutil.walk_packages(mtmeta.__path__, "mtmeta."):
    if not module.name.endswith("__main__") and "_transformer" not in module.name:
        importlib.import_module(module.name)
from click.testing import CliRunner
from typer.main import get_command
for line in {_COMMANDS!r}:
    result = CliRunner().invoke(get_command(mtmeta.cli.app), line.split())
    assert result.exit_code == (2 if line.startswith(("validate wmt23", "validate http")) else 0), (line, result.output)
print(json.dumps(calls))
"""


@pytest.mark.exhaustive
def test_no_connection_is_opened(tmp_path):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("MTMETA", "HF_", "TRANSFORMERS"))}
    env |= {"HOME": str(tmp_path), "MTMETA_CACHE": str(tmp_path / "cache"), "PYTHONPATH": str(ROOT)}
    line = [sys.executable, "-W", "ignore", "-c", _WATCHED]
    done = subprocess.run(line, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert json.loads(done.stdout.splitlines()[-1]) == []


def test_workflows_may_read_only():
    for path in (ROOT / ".github/workflows").glob("*.yml"):
        workflow = yaml.safe_load(path.read_text("utf-8"))
        assert workflow["permissions"] == {"contents": "read"}, path.name
        for job in workflow["jobs"].values():
            uses = [step["uses"] for step in job["steps"] if "uses" in step]
            assert [u for u in uses if not re.fullmatch(r"[\w./-]+@(v\d+\.\d+\.\d+|[0-9a-f]{40})", u)] == [], path.name
