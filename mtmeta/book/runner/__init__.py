"""Execute chapters with papermill, on the book's data or on a reader's, and stage and build the site.

The metadata of a notebook say what it needs beyond the light installation, and what it needs of the data::

    "mtmeta": {"requires": ["data:wmt23", "torch"], "needs": ["translations", "metrics>=2"]}

``data:NAME`` is the folder of a data set where `mm.load` looks (``MTMETA_DATA``, the cache that ``mtmeta fetch`` fills,
``~/.mt-metrics-eval``), at the first or second level; any other requirement is the name of a Python module. A chapter
is executed if everything it requires is there, and otherwise shown from its stored outputs. A need of the data is a
name in `_needs.FACTS`, alone or with a least number. `run` executes chapters on a reader's data and leaves out those
whose needs are not met; a chapter that discovers this only while it runs raises `mtmeta.book.CannotRun`. A cell may
state needs and modules in the same way, and is then left out alone; the modules stand in the notebook's metadata as
well, so that the site shows the stored outputs where they are not installed. Text that is true of some data only stands
in a cell with a condition, ``"mtmeta": {"if": "len(blind) > 0"}``: an expression that is evaluated where the cell
stands, in the names of the chapter; the cell is left out where it is false.

``mtmeta run`` is `run` and `show`; ``make book`` and ``make notebooks`` are ``tools/make_book.py``.
"""

from ._book import build, can_build, chapters, find_project
from ._execute import execute, missing
from ._run import run
from ._site import show

__all__ = ["build", "can_build", "chapters", "execute", "find_project", "missing", "run", "show"]
