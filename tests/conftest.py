"""What all tests share: threads, fixtures, and what becomes of tests that this machine cannot run.

Tests without real data or a browser are skipped and counted; if `MTMETA_DATA` or `CI` is set, a skip is a failure.
"""

import os
import signal
import sys
from pathlib import Path

import hypothesis
import pytest

# One thread a process: this runs before numpy is imported.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

# nbformat's checker of formats, which no notebook uses, would compile 38 grammars with it: four seconds a process.
sys.modules["rfc3987_syntax"] = None

# A shell starts its background jobs deaf to Ctrl-C, and so would be what the tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)

hypothesis.settings.register_profile("mtmeta", deadline=None, derandomize="CI" in os.environ, print_blob=True)
hypothesis.settings.load_profile("mtmeta")

pytest_plugins = ["servers"]
collect_ignore = ["mutation"]  # holds no tests, and imports Cosmic Ray
NO_DATA = "MTMETA_DATA is not set"
#: By marker: the variable that makes a skipped test a failure.
NEEDS = {"data": "MTMETA_DATA", "browser": "CI"}


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    """Keep Numba, too, to one thread: tests run side by side already."""
    import numba

    numba.set_num_threads(1)


@pytest.fixture(scope="session")
def transformers():
    """Skip where the extra `sentinel`, which `make test` installs, is not there."""
    pytest.importorskip("torch")
    return pytest.importorskip("transformers")


@pytest.fixture(scope="session")
def teaching():
    import mtmeta

    return mtmeta.load("teaching")


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Return the directory with the real data; skip where there is none."""
    path = os.environ.get("MTMETA_DATA")
    if not path:
        pytest.skip(NO_DATA)
    if not Path(path).is_dir():
        pytest.fail(f"MTMETA_DATA is {path!r}, which is not a directory")
    return Path(path)


@pytest.fixture(scope="session")
def site() -> Path:
    """Return the folder of the built site."""
    from sites import site_folder

    return site_folder()


@pytest.fixture
def command_line(capsys, monkeypatch):
    """Return a function that runs the command line here, and gives exit code, stdout and stderr."""
    from mtmeta import cli

    def run_here(*arguments):
        monkeypatch.setattr(sys, "argv", ["mtmeta", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            cli.main()
        captured = capsys.readouterr()
        return end.value.code, captured.out, captured.err

    return run_here


#: Files whose tests take long and share nothing: each test goes to any worker. Those of other files stay together.
SPREAD = tuple(f"tests/test_{name}.py" for name in ("notebooks", "run", "book", "determinism", "exercises", "house"))
#: Files that import PyTorch, which takes seconds: they stay together.
TORCH = tuple(f"tests/test_{name}.py" for name in ("sentinel", "perturb", "cli_sentinel"))
#: Files with the longest tests, which begin first.
FIRST = tuple(f"test_{name}" for name in "notebooks sentinel site interactive determinism run book".split())


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Keep the tests of a file on one worker; pytest-xdist 3.8 ignores its groups with pytest 9.2, without a word."""
    from xdist.scheduler import LoadScopeScheduling

    config.option.loadscopereorder = False  # it would put files with one long test each last

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            file = nodeid.partition("::")[0]
            return nodeid if file in SPREAD else "torch" if file in TORCH else file

    return ByFile(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark as slow the tests that use real data, PyTorch or a browser, skip those that cannot run; long ones first."""
    items.sort(key=lambda item: FIRST.index(item.path.stem) if item.path.stem in FIRST else len(FIRST))
    for item in items:
        if "data_dir" in getattr(item, "fixturenames", ()) and item.get_closest_marker("data") is None:
            item.add_marker("data")
        if "transformers" in getattr(item, "fixturenames", ()) or item.get_closest_marker("browser"):
            item.add_marker("slow")  # to import PyTorch alone takes seconds, as does reading the data
        if item.get_closest_marker("data"):
            item.add_marker("slow")
            if not os.environ.get("MTMETA_DATA"):
                item.add_marker(pytest.mark.skip(reason=NO_DATA))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    """Turn the skip of a test that must run here into a failure; a notebook that has not changed need not run."""
    report = yield
    if report.skipped and not hasattr(report, "wasxfail"):
        from bookfiles import UNCHANGED

        for marker, variable in NEEDS.items():
            if item.get_closest_marker(marker) and os.environ.get(variable) and UNCHANGED not in report.longrepr[2]:
                report.outcome = "failed"
                report.longrepr = f"skipped, which is a failure where {variable} is set: {report.longrepr[2]}"
    return report
