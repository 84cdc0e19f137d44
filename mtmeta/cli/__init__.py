"""The command line: ``mtmeta rank``, ``mtmeta report`` and the others.

Numbers come from the package; here are options, tables and messages. Results go to stdout and
messages to stderr. Exit codes: 0 done, 1 the data are at fault, 2 wrong usage.
"""

import logging

from .._processes import hush_joblib

from . import _sets, _report, _local, _run, _sweep, _sentinel  # noqa: F401 - in the order of --help  # isort: skip
from ._common import app

__all__ = ["app", "main"]


def main() -> None:
    """Run the command line."""
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # it would tell where its cache lies
    hush_joblib()
    app(prog_name="mtmeta")
