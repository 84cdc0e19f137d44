"""Processes that do a share of the work: they end when the one that started them ends, and Ctrl-C is one line."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc to see which processes there are"),
]
#: A share of the work that takes for ever, and a program that gives three processes two shares of it.
SCRIPT = """
import os, sys, time
from pathlib import Path
from mtmeta import _processes

def share(number):
    Path(f"{number}.begun").touch()
    time.sleep(600)

def parallel():
    import joblib
    list(_processes.parallel(3, [joblib.delayed(share)(n) for n in range(2)]))

def in_processes():
    list(_processes.in_processes(share, {n: (n,) for n in range(2)}, 3))

def run_program():
    Path("other.py").write_text("import time\\nfor n in range(2): open(f'{n}.begun', 'w')\\ntime.sleep(600)")
    _processes.run_program("other.py")

if __name__ == "__main__":
    _processes.hush_joblib()
    try:
        globals()[sys.argv[1]]()
    except KeyboardInterrupt:
        sys.exit(130)
"""


def until(what, seconds=120):
    """Wait for something; that it does not come is a failure."""
    end = time.monotonic() + seconds
    while not (found := what()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)
    return found


def children(pid):
    return {int(child) for task in Path(f"/proc/{pid}/task").glob("*/children") for child in task.read_text().split()}


def alive(pids):
    stats = [(pid, Path(f"/proc/{pid}/stat")) for pid in pids]
    return {pid for pid, path in stats if path.exists() and path.read_text().rpartition(")")[2].split()[0] != "Z"}


@pytest.fixture
def start(tmp_path):
    """Return a function that starts the script in a session of its own; what is left of it is killed at the end."""
    (tmp_path / "script.py").write_text(SCRIPT)
    started = []

    def begin(way):
        command = [sys.executable, "script.py", way]
        process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, start_new_session=True)
        started.append(process)
        return process

    yield begin
    for process in started:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


@pytest.mark.parametrize(("end", "moment"), [
    (signal.SIGTERM, "at work"), (signal.SIGKILL, "at work"), (signal.SIGINT, "at work"), (signal.SIGINT, "at once"),
])  # fmt: skip
@pytest.mark.parametrize("way", ["parallel", "in_processes", "run_program"])
def test_processes_end_with_the_one_that_started_them(start, tmp_path, way, end, moment):
    main = start(way)
    until(lambda: children(main.pid) if moment == "at once" else len(list(tmp_path.glob("*.begun"))) == 2)
    begun = children(main.pid)
    assert len(begun) >= 1 + (way != "run_program" and moment == "at work")
    if end == signal.SIGINT:  # it reaches all of them, and the main process alone heeds it
        os.killpg(main.pid, end)
        assert (main.communicate(timeout=60)[1], main.returncode) == ("", 130)
    else:
        main.send_signal(end)
        assert main.wait(60) == -end
    until(lambda: not alive(begun), 60)
