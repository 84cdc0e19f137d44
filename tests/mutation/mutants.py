"""Break the statistics in one place at a time; does a test notice? python tests/mutation/mutants.py [GROUP ...].

Cosmic Ray makes the mutants. Here they are drawn (one for each place that can be changed), put into a process in which
everything is imported and compiled, and tried on the tests that call the changed function, quickest first, up to the
first that fails. Results go to _build/mutation/GROUP.jsonl; mutation_report.py makes tests/MUTATION.md of them.
"""

import argparse
import ast
import contextlib
import cProfile
import difflib
import gc
import importlib.util
import inspect
import itertools
import json
import os
import random
import resource
import select
import signal
import sys
import tempfile
import time
import tomllib
import types
from importlib.machinery import SourceFileLoader
from pathlib import Path

import hypothesis
import pytest
from _pytest.doctest import DoctestItem
from _pytest.runner import runtestprotocol

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "mtmeta"
RESULTS = ROOT / "_build" / "mutation"
CONFIG = tomllib.loads((Path(__file__).parent / "config.toml").read_text(encoding="utf-8"))
MEMORY = 3 << 30  # bytes more than before, for a mutant that asks for too much


# -- mutants -----------------------------------------------------------------------------


def files(group):
    """Return the files of a group; a folder stands for what is in it, less what is compiled."""
    paths = [PACKAGE / name for name in CONFIG["groups"][group]["files"]]
    every = [file for path in paths for file in (sorted(path.glob("*.py")) if path.is_dir() else [path])]
    return [file for file in every if not file.name.endswith("_kernels.py")]


def left_out(tree):
    """Yield what is not worth changing: annotations, what `raise` says, `strict=True`, which no right call meets."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise):
            yield node
        elif isinstance(node, ast.keyword) and node.arg == "strict":
            yield node.value
        yield from (a for name in ("annotation", "returns") if (a := getattr(node, name, None)) is not None)


def places(path):
    """Return the mutants of a file, by the place and the kind of change."""
    from cosmic_ray.commands.init import _all_work_items

    source = path.read_text(encoding="utf-8")
    spans = [
        ((node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)) for node in left_out(ast.parse(source))
    ]
    found = {}
    for item in _all_work_items([path], {}):
        (mutant,) = item.mutations
        if not any(start <= tuple(mutant.start_pos) < end for start, end in spans):
            kind = mutant.operator_name.split("/")[1].split("_")[0]
            found.setdefault((kind, tuple(mutant.start_pos)), []).append((mutant.operator_name, mutant.occurrence))
    return found


def sample(group, size, seed):
    """Draw a mutant for each of ``size`` places (0: all), spread evenly over files and kinds of change."""
    rng = random.Random(f"{seed} {group}")
    every = [(path, *place, rng.choice(mutants)) for path in files(group) for place, mutants in places(path).items()]
    every.sort(key=lambda place: place[:3])
    if size and size < len(every):
        start, step = rng.random(), len(every) / size
        every = [every[int((start + k) * step)] for k in range(size)]
    rng.shuffle(every)  # so that a run that is cut short has tried a random part
    return every


def mutate(path, operator, occurrence):
    """Return the changed source, and the lines that differ before and after."""
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator

    source = path.read_text(encoding="utf-8")
    mutated = mutate_code(source, get_operator(operator)(), occurrence)
    lines = list(difflib.ndiff(source.split("\n"), mutated.split("\n"), charjunk=None))
    was, now = (" ".join(line[2:].strip() for line in lines if line[0] == sign) for sign in "-+")
    return mutated, was, now


# -- putting a mutant in -----------------------------------------------------------------


def parts(code):
    """Return the code that runs on import, by name, and the functions, by name and line."""
    plain = [c for c in code.co_consts if not isinstance(c, types.CodeType)]
    importing, functions = {code.co_qualname: (code.co_code, plain, code.co_names)}, {}
    for inner in code.co_consts:
        if not isinstance(inner, types.CodeType):
            continue
        if inner.co_flags & inspect.CO_OPTIMIZED and not inner.co_name.startswith("<"):
            functions[inner.co_qualname, inner.co_firstlineno] = inner
        elif inner.co_flags & inspect.CO_OPTIMIZED:
            importing[inner.co_qualname, inner.co_firstlineno] = inner
        else:
            for have, more in zip((importing, functions), parts(inner), strict=True):
                have.update(more)
    return importing, functions


def changes(path, mutated):
    """Return the changed functions, by name and line, or None if what runs on import is another."""
    before, after = (parts(compile(s, str(path), "exec")) for s in (path.read_text(encoding="utf-8"), mutated))
    if before[0] != after[0] or before[1].keys() != after[1].keys():
        return None
    return {key: code for key, code in after[1].items() if code != before[1][key]}


def living(paths):
    """Return all functions of some files, whoever holds them."""
    return [f for f in gc.get_objects() if isinstance(f, types.FunctionType) and f.__code__.co_filename in paths]


def put_in(path, changed, functions):
    """Give every function of the file that changed its new code."""
    for function in functions:
        code = function.__code__
        if code.co_filename == str(path):
            function.__code__ = changed.get((code.co_qualname, code.co_firstlineno), code)


class Loader(SourceFileLoader):
    """Loads the changed source of a module."""

    def get_code(self, fullname):
        return compile(self.mutated, self.path, "exec")


class Finder:
    """Finds the changed module."""

    def __init__(self, path, mutated):
        self.name = module_name(path)
        self.loader = Loader(self.name, str(path))
        self.loader.mutated = mutated

    def find_spec(self, name, path=None, target=None):
        if name == self.name:
            return importlib.util.spec_from_file_location(name, self.loader.path, loader=self.loader)
        return None


def module_name(path):
    """Return the name under which a file is imported."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


# -- tests -------------------------------------------------------------------------------


def run_item(item, following):
    """Run a test; tell whether it passed."""
    if isinstance(item, DoctestItem):
        item.dtest.globs = dict(item.own_globs)
    return not any(report.failed for report in runtestprotocol(item, nextitem=following, log=False))


def first_failure(items):
    """Run tests up to the first that fails; return its name, or None."""
    for item, following in zip(items, [*items[1:], None], strict=True):
        if not run_item(item, following):
            return item.nodeid
    return None


def called(item, following, paths):
    """Run a test; return the functions of some files that it called."""
    profile = cProfile.Profile(builtins=False)
    profile.enable()
    passed = run_item(item, following)
    profile.disable()
    if not passed:
        raise SystemExit(f"{item.nodeid} fails without a mutant")
    codes = [entry.code for entry in profile.getstats() if not isinstance(entry.code, str)]
    return {(c.co_filename, c.co_qualname, c.co_firstlineno) for c in codes if c.co_filename in paths}


class Chosen:
    """Keeps the tests named, and notes the first that fails."""

    def __init__(self, names=None, finder=None):
        self.names, self.finder, self.failed = names, finder, None

    def pytest_configure(self):
        if self.finder is not None:
            sys.meta_path.insert(0, self.finder)  # before pytest's own finder, which reads the file

    def pytest_collection_modifyitems(self, config, items):
        shorten(items)
        if self.names is not None:
            rank = {name: k for k, name in enumerate(self.names)}
            items[:] = sorted((i for i in items if i.nodeid in rank), key=lambda i: rank[i.nodeid])

    def pytest_runtest_logreport(self, report):
        if report.failed and self.failed is None:
            self.failed = report.nodeid

    def pytest_collectreport(self, report):
        if report.failed and self.failed is None:
            self.failed = f"import of {report.nodeid}"


def shorten(items):
    """Let tests by hypothesis try less, and always the same."""
    for item in items:
        test = getattr(item, "obj", None)
        given = getattr(test, "_hypothesis_internal_use_settings", None)
        if given is not None:
            test._hypothesis_internal_use_settings = hypothesis.settings(
                given,
                max_examples=min(given.max_examples, CONFIG["examples"]),
                derandomize=True,
                database=None,
                deadline=None,
                suppress_health_check=list(hypothesis.HealthCheck),
            )


def arguments(group):
    """Return what pytest is called with."""
    config = CONFIG["groups"][group]
    tests = [f"tests/test_{name}" for name in config["tests"]]
    blocks = config.get("first_blocks", {})
    tests += [f"tests/test_{file}.py::test_{name}[0]" for file, names in blocks.items() for name in names]
    tests += [str(path.relative_to(ROOT)) for path in files(group)]
    absent = [word for name in ("terminal", "cacheprovider", "faulthandler") for word in ("-p", f"no:{name}")]
    return [*tests, "-s", *absent, "-W", "ignore::pytest.PytestAssertRewriteWarning"]


def usable(item):
    """Tell whether a test may notice a mutant; those that take longest are named in the configuration."""
    return not any(item.get_closest_marker(name) for name in ("exhaustive", "browser", "data"))


class Server(Chosen):
    """Runs all tests once, notes how long each takes and what it calls, then tries mutants."""

    def __init__(self, group, mutants, output, budget):
        super().__init__()
        self.group, self.mutants, self.output, self.budget = group, mutants, output, budget

    def pytest_runtestloop(self, session):
        left_out = CONFIG["groups"][self.group].get("left_out", [])
        items = [item for item in session.items if usable(item) and getattr(item, "originalname", None) not in left_out]
        paths = {str(path) for path in files(self.group)}
        self.seconds, self.calls = {}, {}
        for item, following in zip(items, [*items[1:], None], strict=True):
            if isinstance(item, DoctestItem):
                item.own_globs = dict(item.dtest.globs)
            start = time.process_time()
            self.calls[item.nodeid] = called(item, following, paths)
            self.seconds[item.nodeid] = time.process_time() - start
        self.items = sorted(items, key=lambda item: self.seconds[item.nodeid])
        print(f"{self.group}: {len(items)} tests, {sum(self.seconds.values()):.0f} s", flush=True)
        self.living = living(paths)
        gc.freeze()  # so that no child copies memory only to look at it
        for k, (path, kind, place, (operator, occurrence)) in enumerate(self.mutants, 1):
            result = {"file": str(path.relative_to(ROOT)), "line": place[0], "kind": kind}
            result |= {"operator": operator, "occurrence": occurrence}
            self.output.write(json.dumps(result | self.tried(path, operator, occurrence)) + "\n")
            self.output.flush()
            if k % 50 == 0:
                print(f"{self.group}: {k} of {len(self.mutants)}", flush=True)
        return True

    def affordable(self, items):
        """Return the quickest tests, as many as fit into the time for a mutant."""
        spent = itertools.accumulate(self.seconds[item.nodeid] for item in items)
        return [item for item, total in zip(items, spent, strict=True) if total <= self.budget]

    def tried(self, path, operator, occurrence):
        """Return what became of a mutant."""
        try:
            mutated, was, now = mutate(path, operator, occurrence)
        except AttributeError:  # Cosmic Ray cannot change an exception with a dotted name
            return {"was": "", "now": "", "outcome": "no program"}
        try:
            functions = changes(path, mutated)
        except SyntaxError:
            return {"was": was, "now": now, "outcome": "no program"}
        items = self.items
        if functions == {}:
            return {"was": was, "now": now, "outcome": "same code"}
        if functions is not None:
            keys = {(str(path), *key) for key in functions}
            items = [item for item in items if keys & self.calls[item.nodeid]]
        items = self.affordable(items)
        limit = int(5 + 5 * sum(self.seconds[item.nodeid] for item in items))
        start = time.time()
        outcome, by = self.forked(path, mutated, functions, items, limit) if items else ("not called", None)
        return {"was": was, "now": now, "outcome": outcome, "by": by, "seconds": round(time.time() - start, 2)}

    def forked(self, path, mutated, functions, items, limit):
        """Try a mutant in a process of its own; return the outcome and the test that failed."""
        reading, writing = os.pipe()
        with tempfile.TemporaryDirectory(prefix="mutant-", ignore_cleanup_errors=True) as cache:
            child = os.fork()
            if child == 0:
                os.close(reading)
                self.in_child(writing, cache, limit, path, mutated, functions, items)
            os.close(writing)
            answered = bool(select.select([reading], [], [], 10 * limit)[0])
            text = os.read(reading, 10_000) if answered else b""
            os.close(reading)
            if answered:
                os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
            for end in (os.killpg, os.kill):  # the workers it started, if any, and itself
                with contextlib.suppress(ProcessLookupError):
                    end(child, signal.SIGKILL)
            status = os.waitpid(child, 0)[1]
        if not answered or (os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU):
            return "timeout", None
        failed = json.loads(text) if text else "the process died"
        return ("killed", failed) if failed else ("survived", None)

    def in_child(self, writing, cache, limit, path, mutated, functions, items):
        """Write the first test that fails to a pipe, and end this process."""
        try:
            os.setpgid(0, 0)
            quiet = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(quiet, stream)
            used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))  # not the clock: the machine may be busy
            os.environ["MTMETA_CACHE"] = cache  # what a mutant keeps there is wrong
            failed = self.fails(path, mutated, functions, items)
            os.write(writing, json.dumps(failed).encode())
        except BaseException as error:
            os.write(writing, json.dumps(f"{type(error).__name__}: {error}"[:200]).encode())
        finally:
            os._exit(0)

    def fails(self, path, mutated, functions, items):
        """Return the first test that fails with a mutant, or None."""
        if functions is not None:
            put_in(path, functions, self.living)
            return first_failure(items)
        stems = {path.stem for path in (ROOT / "tests").glob("*.py")}
        for name in list(sys.modules):
            own = name.split(".")[0] == "mtmeta" and not name.endswith("_kernels")
            if own or name in stems:
                del sys.modules[name]
        chosen = Chosen([item.nodeid for item in items], Finder(path, mutated))
        code = pytest.main([*arguments(self.group), "-x"], plugins=[chosen])
        return chosen.failed or (None if code == 0 else f"exit {code}")


# -- command -----------------------------------------------------------------------------


def earlier(group):
    """Return the results that a group has already."""
    path = RESULTS / f"{group}.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def run(group, size, seed, again, budget):
    """Try the mutants of a group that have no result yet, or those that survived once more."""
    path = RESULTS / f"{group}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    results = [r for r in earlier(group) if not again or r["outcome"] not in ("survived", "not called")]
    done = {(r["file"], r["operator"], r["occurrence"]) for r in results}
    mutants = [m for m in sample(group, size, seed) if (str(m[0].relative_to(ROOT)), *m[3]) not in done]
    path.write_text("".join(json.dumps(r) + "\n" for r in results))
    print(f"{group}: {len(mutants)} mutants to try", flush=True)
    if not mutants:
        return
    with path.open("a") as output:
        os.chdir(ROOT)
        pytest.main(arguments(group), plugins=[Server(group, mutants, output, budget)])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("groups", nargs="*", default=list(CONFIG["groups"]), metavar="GROUP")
    parser.add_argument("--size", type=int, default=CONFIG["size"], help="places a group; 0 for all")
    parser.add_argument("--seed", type=int, default=CONFIG["seed"])
    parser.add_argument("--again", action="store_true", help="try those that survived once more")
    parser.add_argument("--budget", type=float, default=CONFIG["budget"], help="seconds of tests a mutant")
    options = parser.parse_args()
    os.nice(10)
    for variable in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[variable] = "1"
    os.environ["NUMBA_THREADING_LAYER"] = "workqueue"  # the one that survives a fork
    os.environ.pop("MTMETA_DATA", None)
    for group in options.groups:
        if os.fork() == 0:  # each group in a process of its own
            run(group, options.size, options.seed, options.again, options.budget)
            os._exit(0)
        os.wait()
