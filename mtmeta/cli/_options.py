"""Options and arguments of commands: their choices, and how they get the words and limits of _options.toml.

Choices are written out, so that --help need not import the statistics. A test compares them with the package.
"""

import logging
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal, get_type_hints

from typer import Argument, Option

COEFFICIENTS = "pearson spearman kendall tau_b tau_a tau_c tau_10 tau_13 tau_14 acc_eq tau_eq".split()
GROUPINGS = ["none", "segment", "system"]
Coefficient, Grouping = Literal[*COEFFICIENTS], Literal[*GROUPINGS]
TABLES = Literal["table", "tsv", "csv", "json", "latex", "md", "seg-score"]
#: By command and parameter; those under "shared" are of all commands with such a parameter.
WORDS = tomllib.loads(Path(__file__).with_name("_options.toml").read_text(encoding="utf-8"))


def _hush(quiet: bool) -> bool:
    logging.getLogger("mtmeta").setLevel(logging.ERROR if quiet else logging.NOTSET)
    return quiet


def described(function: Callable) -> Callable:
    """Return a command whose parameters have their words and limits."""
    known, kinds = WORDS["shared"] | WORDS.get(function.__name__, {}), get_type_hints(function)
    for name in kinds.keys() & known.keys():
        about = dict(known[name])
        make = Argument if about.pop("argument", False) else Option
        about |= {"callback": _hush} if name == "quiet" else {}
        kinds[name] = Annotated[kinds[name], make(*about.pop("names", ()), **about)]
    function.__annotations__ = kinds
    return function
