"""Bring stored notebooks into one form, so that a change in the repository is a change of content.

Kept: sources, outputs, the cell metadata `mystnb`, `mtmeta`, `seen` and `tags`. Dropped: timings, widgets, all other
metadata. Set: kernel, language, execution counts (1 to n over the executed cells; a cell that was never executed stays
without, which the tests refuse), the time that a page takes to read, cell ids (from the cell's content, so that they
change only with it).

    python tools/normalise_notebooks.py notebooks           # rewrite
    python tools/normalise_notebooks.py --check notebooks   # exit 1 if one would change
"""

import argparse
import hashlib
import sys
from pathlib import Path

import nbformat
from reading_time import stamp

CELL_METADATA = ("mystnb", "mtmeta", "seen", "tags")
NOTEBOOK_METADATA = ("mystnb", "mtmeta")
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
LANGUAGE = {"name": "python", "pygments_lexer": "ipython3"}
WIDGET = "application/vnd.jupyter.widget-view+json"


def merged_streams(outputs: list) -> list:
    """Join neighbouring outputs to the same stream: where they are cut is chance."""
    merged: list = []
    for output in outputs:
        before = merged[-1] if merged else {}
        if output["output_type"] == "stream" == before.get("output_type") and output["name"] == before["name"]:
            before["text"] += output["text"]
        else:
            merged.append(output)
    return merged


def normalise(text: str) -> str:
    """Return the notebook `text` in its normal form."""
    notebook = nbformat.reads(text, as_version=4)
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    kept = {key: notebook.metadata[key] for key in NOTEBOOK_METADATA if notebook.metadata.get(key)}
    notebook.metadata = nbformat.from_dict({**kept, "kernelspec": KERNEL, "language_info": LANGUAGE})
    stamp(notebook)
    count, ids = 0, set()
    for cell in notebook.cells:
        cell.metadata = nbformat.from_dict({k: cell.metadata[k] for k in CELL_METADATA if cell.metadata.get(k)})
        digest = hashlib.sha256(f"{cell.cell_type}\n{cell.source}".encode()).hexdigest()[:8]
        number = 1
        while (cell_id := digest if number == 1 else f"{digest}-{number}") in ids:
            number += 1
        ids.add(cell_id)
        cell["id"] = cell_id
        if cell.cell_type != "code":
            continue
        if cell.execution_count is not None:
            count += 1
            cell.execution_count = count
        cell.outputs = merged_streams(cell.outputs)
        for output in cell.outputs:
            if "execution_count" in output:
                output.execution_count = cell.execution_count
            if "data" in output:
                output.data.pop(WIDGET, None)
    nbformat.validate(notebook)
    return nbformat.writes(notebook, indent=1).rstrip("\n") + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="+", type=Path, help="notebooks, or folders of notebooks")
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 if a notebook would change")
    given = parser.parse_args()
    files = [f for p in given.paths for f in (sorted(p.rglob("*.ipynb")) if p.is_dir() else [p])]
    changed = 0
    for file in files:
        if ".ipynb_checkpoints" in file.parts:
            continue
        before = file.read_text(encoding="utf-8")
        after = normalise(before)
        if after == before:
            continue
        changed += 1
        print(f"{file}: {'not in normal form' if given.check else 'rewritten'}", file=sys.stderr)
        if not given.check:
            file.write_text(after, encoding="utf-8", newline="\n")
    if given.check and changed:
        print(f"{changed} notebooks to rewrite: python tools/normalise_notebooks.py notebooks", file=sys.stderr)
    return int(bool(given.check and changed))


if __name__ == "__main__":
    sys.exit(main())
