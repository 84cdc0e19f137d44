"""Options and arguments that several commands have.

Choices are written out, so that --help need not import the statistics. A test compares them with the package.
"""

import logging
from pathlib import Path
from typing import Annotated, Literal

from typer import Argument, Option


def _hush(quiet: bool) -> bool:
    logging.getLogger("mtmeta").setLevel(logging.ERROR if quiet else logging.NOTSET)
    return quiet


_SETS = "Tables (.csv, .tsv, .jsonl, .parquet, .xlsx, or packed as .csv.gz; - reads CSV or TSV from stdin), folders, "
_SETS += "or names of sets: teaching, wmt23/zh-en; wmt23 alone means all its language pairs."
Sets = Annotated[list[str], Argument(metavar="FILE|SET", help=_SETS)]
Metric = Annotated[list[str] | None, Option(metavar="NAME", help="Use only this metric; repeatable.")]

# Two metrics, and how their agreement with humans is measured.
File = Annotated[str, Argument(metavar="FILE|SET", help="A table, a folder, or the name of a set.")]
Duel = Annotated[tuple[str, str], Argument(metavar="METRIC METRIC", help="The two metrics.")]
COEFFICIENTS = "pearson spearman kendall tau_b tau_a tau_c tau_10 tau_13 tau_14 acc_eq tau_eq".split()
GROUPINGS = ["none", "segment", "system"]
COMPARED = "none compares any translations, segment those of a segment, system those of a system"
Coefficient = Annotated[Literal[*COEFFICIENTS], Option(help="How agreement with humans is measured.")]
Grouping = Annotated[Literal[*GROUPINGS], Option(help=f"{COMPARED}.")]
Draws = Annotated[int, Option(metavar="N", help="Draws of the test, of intervals and of null models.")]
Seed = Annotated[int, Option(metavar="N", help="Seed of the draws.")]

# Results.
TABLES = Literal["table", "tsv", "csv", "json", "latex", "md", "seg-score"]
_HOW = "By default as --output ends; tsv, csv and json keep full precision."
How = Annotated[TABLES | None, Option("--format", help=_HOW)]
Places = Annotated[int, Option(metavar="N", min=0, max=17, help="Decimals in table, latex and md.")]
Output = Annotated[Path | None, Option("--output", "-o", metavar="FILE", dir_okay=False, help="Write to this file.")]
Quiet = Annotated[bool, Option("--quiet", "-q", callback=_hush, help="Print no messages except errors.")]

# Chapters of the book.
Chapters = Annotated[list[str], Argument(metavar="CHAPTER|all", help="Numbers or names of chapters, such as 4.")]
Folder = Annotated[Path | None, Option(metavar="DIR", file_okay=False, help="Write all results into this folder.")]
