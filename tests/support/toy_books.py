"""Notebooks of a few code cells, for tests of what executes and builds a book."""

from pathlib import Path

import nbformat

CONFIG = 'title: A book\nonly_build_toc_files: true\nexecute: {execute_notebooks: "off"}\n'


def write(path: Path, *sources: str, requires: list[str] | None = None) -> Path:
    """Write a notebook of code cells; those that hold `# parameters` are tagged so."""
    cells = [nbformat.v4.new_markdown_cell("# A chapter")]
    for source in sources:
        tags = {"metadata": {"tags": ["parameters"]}} if "# parameters" in source else {}
        cells.append(nbformat.v4.new_code_cell(source, **tags))
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    if requires is not None:
        metadata["mtmeta"] = {"requires": requires}
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=metadata), path)
    return path


def printed(path: Path) -> str:
    cells = nbformat.read(path, as_version=4).cells
    return "".join(o.get("text", "") for c in cells if c.cell_type == "code" for o in c.outputs)
