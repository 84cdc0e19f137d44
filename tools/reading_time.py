"""Count what a reader of a page reads, and write the time that it takes under "Time".

Words are what stands on the page, split at blanks: text, code and text outputs. What is removed does not count, and a
collapsed cell or output counts a third. Readers of all kinds needed about a minute for 85 words.
`normalise_notebooks.py` writes the time into each page, so that it is true by construction.

    python tools/reading_time.py                 # words, cells, figures and minutes of every page
    python tools/reading_time.py notebooks/0*    # of some
"""

import argparse
import math
import re
from pathlib import Path
from typing import NamedTuple

import nbformat

WORDS_A_MINUTE = 85
COLLAPSED = 3  #: A collapsed part counts as one of so many.
TIME = re.compile(r"(\*\*Time\.\*\* )\d+( minutes? to read)")


class Length(NamedTuple):
    """What a page holds: words and cells that are shown, and figures."""

    words: int
    cells: int
    figures: int

    @property
    def minutes(self) -> int:
        return math.ceil(self.words / WORDS_A_MINUTE)


def shown_words(cell) -> tuple[int, float]:
    """Return the words of a cell's source, and of its text outputs."""
    tags = set(cell.metadata.get("tags", []))
    outputs = 0
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        if not any(kind.startswith("image/") for kind in data):
            outputs += len((output.get("text") or data.get("text/plain", "")).split())
    source = 0 if "remove-input" in tags else len(cell.source.split())
    outputs = 0 if "remove-output" in tags else outputs
    source /= COLLAPSED if tags & {"hide-input", "hide-cell"} else 1
    outputs /= COLLAPSED if tags & {"hide-output", "hide-cell"} else 1
    return source, outputs


def is_figure(data: dict) -> bool:
    """Return whether an output is a picture or an interactive figure."""
    return any(kind.startswith("image/") for kind in data) or "<svg" in data.get("text/html", "")


def length(notebook) -> Length:
    """Return how much there is to read in a notebook."""
    shown = [cell for cell in notebook.cells if "remove-cell" not in cell.metadata.get("tags", [])]
    words = sum(sum(shown_words(cell)) for cell in shown)
    outputs = [output for cell in shown for output in cell.get("outputs", [])]
    figures = sum(is_figure(output.get("data", {})) for output in outputs)
    return Length(round(words), len(shown), figures)


def stamp(notebook) -> None:
    """Write the time that a page takes where it says "**Time.** … minutes to read"."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and TIME.search(cell.source):
            cell.source = TIME.sub(rf"\g<1>{length(notebook).minutes}\g<2>", cell.source)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="*", type=Path, default=sorted(Path("notebooks").rglob("*.ipynb")))
    print(f"{'words':>6} {'cells':>5} {'figures':>7} {'minutes':>7}")
    for path in parser.parse_args().paths:
        found = length(nbformat.read(path, as_version=4))
        print(f"{found.words:>6,} {found.cells:>5} {found.figures:>7} {found.minutes:>7}  {path}")


if __name__ == "__main__":
    main()
