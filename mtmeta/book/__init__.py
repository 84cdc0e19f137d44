"""The machinery of the book, which no other part of the package imports but the command line.

`runner` executes chapters and builds the site, `exercises` checks answers, `sheets` writes the exercises as notebooks,
`students` writes a data set for each student, `published` holds published numbers, `interactive`
draws figures with sliders. The chapters use `check` and `CannotRun` from here.
"""

from importlib import import_module

__all__ = ["CannotRun", "check", "exercises", "interactive", "published", "runner", "sheets", "students"]


class CannotRun(ValueError):
    """Raised in a chapter that cannot run on the data it is given; the message says why.

    `mtmeta run` then skips the chapter, gives this reason, and continues.

    Examples
    --------
    >>> raise CannotRun("this chapter needs segments that are rated for all systems")
    Traceback (most recent call last):
    mtmeta.book.CannotRun: this chapter needs segments that are rated for all systems
    """


def __getattr__(name: str) -> object:
    """Import a name when it is first used."""
    if name == "check":
        return import_module(".exercises", __name__).check
    if name in __all__:
        return import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
