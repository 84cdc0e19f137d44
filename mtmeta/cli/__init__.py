"""The command line: ``mtmeta rank``, ``mtmeta report`` and the others, one file a command.

Numbers come from the package; here are options, tables and messages. Results go to stdout and messages to stderr. Exit
codes: 0 done, 1 a chapter or task failed, 2 wrong usage or wrong data.
"""

from . import validate, rank, correlate, systems, difference, compare, power, drivers, fetch, report  # noqa: F401 - in this order in --help  # isort: skip
from . import import_, local_accuracy, run, exercises, class_, sweep, sentinel  # noqa: F401  # isort: skip
from ._app import app

__all__ = ["app", "main"]


def main() -> None:
    """Run the command line."""
    app(prog_name="mtmeta")
