"""The command line: ``mtmeta validate | rank | correlate | fetch | local-accuracy | sentinel | run | report | sweep``.

Numbers come from the package; here are options, tables and messages. Results go to stdout and
messages to stderr. Exit codes: 0 done, 1 the data are at fault, 2 wrong usage.
"""

import io
import sys

from . import _exercises, _local, _report, _run, _sentinel, _sets, _sweep  # noqa: F401 - each adds its commands, in the order of --help
from ._common import app

__all__ = ["app", "main"]


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    app(prog_name="mtmeta")
