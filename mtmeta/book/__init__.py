"""The machinery of the book, which no other part of the package imports but the command line.

`runner` executes chapters and builds the site, `exercises` checks answers, `students` writes a data set for each
student, `published` holds published numbers and recomputes them, `interactive` draws figures with sliders. The
chapters use `check` and `CannotRun` from here.
"""

from importlib import import_module

_OWNERS = {"check": "exercises", "CannotRun": "runner"}
__all__ = ["CannotRun", "check", "exercises", "interactive", "published", "runner", "students"]


def __getattr__(name: str) -> object:
    """Import a name when it is first used."""
    if name in _OWNERS:
        return getattr(import_module(f".{_OWNERS[name]}", __name__), name)
    if name in __all__:
        return import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
