"""The built site: in `MTMETA_SITE`, in `_build/html`, or built here; and what a browser sees of it."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import make_book
import pytest
from bookfiles import ROOT

from mtmeta.book import runner

BROWSER = ROOT / "tests" / "browser"
NARROW = 390
#: What the theme itself says on the console, word for word.
THEME_CONSOLE = ("Got invalid theme mode: . Resetting to auto.",)


def is_stale(folder):
    """Say whether there is no site, or a source has changed since it was built: `make` leaves a stamp then."""
    stamp = folder / ".built"
    sources = [ROOT / name for name in ("_config.yml", "_toc.yml", "CHANGELOG.md")]
    for folder, kinds in (("book", "*.*"), ("notebooks", "*.ipynb"), ("mtmeta", "*.py")):
        sources += [path for path in (ROOT / folder).rglob(kinds) if "__pycache__" not in path.parts]
    return not stamp.exists() or stamp.stat().st_mtime < max(path.stat().st_mtime for path in sources)


def site_folder() -> Path:
    """Return the folder of the built site; build it where it is not there or a source is newer."""
    folder = Path(os.environ.get("MTMETA_SITE", ROOT / "_build" / "html"))
    if "MTMETA_SITE" in os.environ:
        if not (folder / "index.html").exists():
            pytest.fail(f"MTMETA_SITE is {str(folder)!r}, but there is no index.html")
    else:
        folder.parent.mkdir(exist_ok=True)
        if is_stale(folder):
            make_book.stage(ROOT, run=False)
            (runner.build(ROOT) / ".built").touch()
    return folder


def drive(script, *arguments):
    """Run a script in the browser; return what it saw."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    chromium = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    packages = (BROWSER / "node_modules" / "playwright-core").is_dir()
    needs = {"node": shutil.which("node"), "the packages of tests/browser (npm ci)": packages}
    needs["a Chromium (set CHROMIUM)"] = chromium
    if lacking := [what for what, there in needs.items() if not there]:
        pytest.skip(f"not here: {', '.join(lacking)}")
    folder, *others = map(str, arguments)
    command = ["node", str(BROWSER / script), folder, chromium, *others]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1200, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


def network_faults(seen):
    return [f"asked for {url}" for url in seen["external"]] + [f"not found: {path}" for path in seen["missing"]]


def console_faults(seen):
    return [f"{entry['page']}: {entry['text']}" for entry in seen["console"] if entry["text"] not in THEME_CONSOLE]
