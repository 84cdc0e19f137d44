"""A plugin of pytest for the tests of mutants: the quickest first, few examples, a limit of memory, a cache of its own.

`python -m pytest -p quick` with this folder in PYTHONPATH. The first run writes how long each test takes.
"""

import json
import os
import resource
import tempfile
from pathlib import Path

import hypothesis

MEMORY = 6 << 30  # bytes, for a mutant that asks for too much
SECONDS = Path("seconds.json")
EXAMPLES = 25  # of a test by hypothesis, at most
seconds = {}


def pytest_configure():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    os.environ["MTMETA_CACHE"] = tempfile.mkdtemp(prefix="mutant-", dir=Path.cwd())  # what a mutant keeps is wrong


def pytest_collection_modifyitems(items):
    known = json.loads(SECONDS.read_text()) if SECONDS.exists() else {}
    items.sort(key=lambda item: known.get(item.nodeid, 0))
    for item in items:
        test = getattr(item, "obj", None)
        given = getattr(test, "_hypothesis_internal_use_settings", None)
        if given is not None:
            few = {"max_examples": min(given.max_examples, EXAMPLES), "derandomize": True, "database": None}
            few |= {"deadline": None, "suppress_health_check": list(hypothesis.HealthCheck)}
            test._hypothesis_internal_use_settings = hypothesis.settings(given, **few)


def pytest_runtest_logreport(report):
    seconds[report.nodeid] = seconds.get(report.nodeid, 0) + report.duration


def pytest_sessionfinish(exitstatus):
    if exitstatus == 0 and not SECONDS.exists():
        SECONDS.write_text(json.dumps(seconds))
