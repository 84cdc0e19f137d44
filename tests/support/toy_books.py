"""Notebooks of a few code cells, for tests of what executes and builds a book."""

import ast
import contextlib
import io
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import nbformat
from papermill.iorw import load_notebook_node
from papermill.parameterize import parameterize_notebook

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


def run_here(path, out, parameters=None, *, cwd):
    """Execute a notebook in this process, without a kernel; keep what its cells print and the text of their values."""
    notebook, scope = load_notebook_node(str(path)), {"__name__": "__main__"}
    if parameters:
        notebook = parameterize_notebook(notebook, parameters)
    with contextlib.chdir(cwd), mpl.rc_context():
        for cell in (c for c in notebook.cells if c.cell_type == "code"):
            said = {"stdout": io.StringIO(), "stderr": io.StringIO()}
            *body, last = ast.parse(cell.source).body
            is_value = isinstance(last, ast.Expr)
            with contextlib.redirect_stdout(said["stdout"]), contextlib.redirect_stderr(said["stderr"]):
                exec(compile(ast.Module(body if is_value else [*body, last], []), path.name, "exec"), scope)
                value = eval(compile(ast.Expression(last.value), path.name, "eval"), scope) if is_value else None
            texts = [nbformat.v4.new_output("stream", name=n, text=s.getvalue()) for n, s in said.items() if s.tell()]
            shown = [] if value is None else [nbformat.v4.new_output("display_data", {"text/plain": repr(value)})]
            cell.outputs = [*texts, *shown]
    plt.close("all")
    nbformat.write(notebook, out)


def one_by_one(_, **options):
    """Make joblib's delayed calls in this process, as its `Parallel` does in others."""
    return lambda calls: (function(*arguments) for function, arguments, _ in calls)
