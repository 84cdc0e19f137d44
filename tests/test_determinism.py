"""The same bits whatever the number of threads and processes, the hash seed, the locale and the folder.

digests.py computes many results here, and in a process where all settings differ: one with each change and others
every week.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import digests
import pytest
from bookfiles import ROOT

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
#: Locales with a decimal comma; in Turkish, the capital of i is not I.
LOCALES = ("de_DE", "tr_TR")
PLAIN = {"PYTHONHASHSEED": "0", "LC_ALL": "C", "PYTHONUTF8": "1", "TZ": "UTC", **dict.fromkeys(THREADS, "1")}
#: Where all else differs from the plain setting; `jobs`, `umask` and `folder` are not environment variables.
GERMAN = {
    "LC_ALL": "de_DE.UTF-8", "PYTHONUTF8": "0", "PYTHONHASHSEED": "1", "TZ": "Asia/Kathmandu", "jobs": 2,
    "umask": 0o077, "folder": "a b/ı", **dict.fromkeys(THREADS, "2"),
}  # fmt: skip
TURKISH = {"LC_ALL": "tr_TR.UTF-8", "PYTHONHASHSEED": "random", "TZ": "America/St_Johns"} | dict.fromkeys(THREADS, "5")
ASCII = {
    "LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "jobs": 3, "NUMBA_NUM_THREADS": "2",
    "NUMBA_THREADING_LAYER": "workqueue",
}  # fmt: skip


@pytest.fixture(scope="session")
def locale_path(tmp_path_factory):
    """Return a folder with the locales, compiled here; skip where that cannot be done."""
    folder = tmp_path_factory.mktemp("locales")
    if shutil.which("localedef") is None or not Path("/usr/share/i18n/locales/tr_TR").exists():
        pytest.skip("no localedef, or no sources of locales")
    for name in LOCALES:
        command = ["localedef", "--no-archive", "-i", name, "-f", "UTF-8", folder / f"{name}.UTF-8"]
        subprocess.run(command, check=True, capture_output=True)
    return str(folder)


@pytest.fixture
def computed(setting, request, tmp_path):
    """Compute the digests under a setting, and tell what was found there."""
    folder = tmp_path / setting.get("folder", "")
    folder.mkdir(parents=True, exist_ok=True)
    env = {key: value for key, value in os.environ.items() if not key.startswith(("LC_", "LANG"))}
    env |= {key: value for key, value in {**PLAIN, **setting}.items() if key.isupper()}
    if env["LC_ALL"][:5] in LOCALES:
        env["LOCPATH"] = request.getfixturevalue("locale_path")
    command = [sys.executable, ROOT / "tests" / "support" / "digests.py", str(setting.get("jobs", 1))]
    options = {"cwd": folder, "env": env, "umask": setting.get("umask", 0o022)}
    done = subprocess.run(command, capture_output=True, check=False, **options)
    assert done.returncode == 0, done.stderr.decode("utf-8", "replace")[-3000:]
    return json.loads(done.stdout)


@pytest.fixture(scope="session")
def plain():
    return digests.digests(1)


@pytest.mark.slow
@pytest.mark.parametrize(
    "setting", [GERMAN, *(pytest.param(s, marks=pytest.mark.exhaustive) for s in (TURKISH, ASCII))]
)
def test_no_result_depends_on_where_it_is_computed(setting, computed, plain):
    here = computed["here"]
    assert here["decimal_point"] == ("," if setting["LC_ALL"][:5] in LOCALES else ".")
    assert here["threads"] == int(setting["NUMBA_NUM_THREADS"])
    assert (here["umask"], here["utf8"]) == (setting.get("umask", 0o022), int(setting.get("PYTHONUTF8", "1")))
    assert len(plain) > 80
    differ = {name for name, digest in plain.items() if computed["digests"][name] != digest}
    assert (computed["digests"].keys(), differ) == (plain.keys(), set())
