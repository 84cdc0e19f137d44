"""The command line: ``mtmeta rank``, ``mtmeta report`` and the others.

Numbers come from the package; here are options, tables and messages. Results go to stdout and
messages to stderr. Exit codes: 0 done, 1 the data are at fault, 2 wrong usage.
"""

import io
import logging
import os
import sys
from contextlib import suppress

from .._processes import hush_joblib

from . import _sets, _report, _local, _run, _sweep, _sentinel  # noqa: F401 - in the order of --help  # isort: skip
from ._common import app, complain

__all__ = ["app", "main"]


def main() -> None:
    """Run the command line. Failing to write to stdout is an error; messages may be lost."""
    _open_streams()
    os.environ.setdefault("PYTHONSAFEPATH", "1")  # processes that are started from here on run nothing that lies here
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # it would tell where its cache lies
    hush_joblib()
    try:
        app(prog_name="mtmeta")
    except SystemExit as end:
        status = end.code
    except OSError as error:  # the parser could not write its help, or nobody reads messages
        status = complain(OSError(error.errno, error.strerror, error.filename or "standard output"))
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError as error:
            status = status or complain(OSError(error.errno, error.strerror, "standard output"))
            with suppress(OSError):  # else Python would fail once more on its way out
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    sys.exit(status)


def _open_streams() -> None:
    """Use UTF-8; replace closed streams, so that no file gets their numbers and writing to them fails."""
    for number, how in enumerate((os.O_WRONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, how)
    sys.stdout = sys.stdout or open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = sys.stderr or open(2, "w", closefd=False)  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
