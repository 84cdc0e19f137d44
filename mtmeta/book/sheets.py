"""The exercises of the chapters as notebooks without solutions.

`export` writes a chapter's exercises as a notebook that runs by itself: what of the chapter they need, each statement,
an empty cell for the answer and a `check`. It reads the chapter's own notebook, so that statements, solutions and
checks have one source. The command line has it as ``mtmeta exercises``.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from .._files import whole_file
from .exercises import described

__all__ = ["Exercise", "export", "read", "to_notebook"]

_MARK = re.compile(
    r"^`{3,}\{((?:exercise|solution)-(?:start|end))\}[ \t]*([^\n]*)\n"
    r"(?::label:[ \t]*(\S+)[^\n]*\n|:[^\n]*\n)*`{3,}[ \t]*$",
    flags=re.MULTILINE,
)
#: Tags of cells that go with the exercises.
_NEEDED = {"install", "parameters", "exercises"}
_ROLE = re.compile(r"\{(\w+(?::\w+)?)\}`([^`]+)`")


@dataclass
class Exercise:
    """An exercise of a chapter.

    Attributes
    ----------
    label, title : str
        As in the chapter.
    statement : list of cells
        What is asked, with the code that belongs to it.
    solution, discussion : list of cells
        What of the solution stands before its answer and check, and what after them.
    answer, check : str
        The line or lines that name the answer, and the call that checks it; "" where nothing is checked.
    """

    label: str
    title: str
    statement: list[NotebookNode] = field(default_factory=list)
    solution: list[NotebookNode] = field(default_factory=list)
    discussion: list[NotebookNode] = field(default_factory=list)
    answer: str = ""
    check: str = ""


def code(source: str, *tags: str) -> NotebookNode:
    """Return a cell of code."""
    return new_code_cell(source, metadata={"tags": [*tags]} if tags else {})


def with_ids(cells: list[NotebookNode], **metadata: object) -> NotebookNode:
    """Return a notebook whose cells are numbered, so that it is the same each time."""
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    return new_notebook(cells=cells, metadata=metadata)


def read(notebook: NotebookNode) -> tuple[list[NotebookNode], list[Exercise]]:
    """Return the cells that the exercises of a chapter need, and the exercises.

    Parameters
    ----------
    notebook : NotebookNode
        A chapter, as nbformat reads it. Its exercises are between ``exercise-start`` and ``exercise-end``, their
        solutions between ``solution-start`` and ``solution-end``. Code cells before them that they need have the tag
        ``exercises``, ``parameters`` or ``install``.

    Returns
    -------
    tuple of (list of cells, list of Exercise)

    Raises
    ------
    ValueError
        If the notebook has no exercise.
    """
    needed: list[NotebookNode] = []
    found: list[Exercise] = []
    inside = ""
    for cell in notebook.cells:
        parts = _MARK.split(cell.source) if cell.cell_type == "markdown" else [cell]
        for k in range(0, len(parts), 4):  # before each part but the first stand a mark, a title and a label
            if k:
                mark, title, label = parts[k - 3 : k]
                found += [Exercise(label, title.strip())] if mark == "exercise-start" else []
                inside = "" if mark == "solution-end" else mark
            if isinstance(part := parts[k], str):
                if not part.strip():
                    continue
                part = new_markdown_cell(part.strip())
            if not found:
                needed += [part] if _NEEDED & {*part.metadata.get("tags", [])} else []
            elif inside:
                (found[-1].solution if inside == "solution-start" else found[-1].statement).append(part)
    if not found:
        raise ValueError("the notebook has no exercise: expected ```{exercise-start} in its prose.")
    for exercise in found:
        _take_the_check_out(exercise)
    return needed, found


def _take_the_check_out(exercise: Exercise) -> None:
    """Part the solution at the cell that checks, which holds ``answer = …`` and the call."""
    for place, cell in enumerate(exercise.solution):
        if cell.cell_type == "code" and "mm.book.check(" in cell.source:
            exercise.check = ast.get_source_segment(cell.source, ast.parse(cell.source).body[-1])
            exercise.answer = cell.source[: cell.source.rindex(exercise.check)].strip()
            exercise.discussion = exercise.solution[place + 1 :]
            del exercise.solution[place:]
            return


def _left_open(form: str) -> str:
    """Return the code of an answer in this form with its values left open."""
    keys = re.findall("`([^`]+)`", form) if re.match("A dict(?! from)", form) else ()
    return "answer = {\n" + "".join(f'    "{key}": ...,\n' for key in keys) + "}" if keys else "answer = ..."


#: What roles refer to in a chapter.
_THINGS = {"eq": "an equation of ", "numref": "a figure of ", "prf:ref": "a definition of ", "doc": ""}


def _plain(text: str) -> str:
    """Return prose without the roles of the book, which a notebook viewer does not know."""

    def word(match: re.Match) -> str:
        role, target = match.groups()
        if role.startswith("cite"):
            return re.sub(r"([a-z]+)(\d{4})\w*", lambda key: f"{key[1].title()} {key[2]}", target)
        number = re.search(r"(?:-|^|/)(\d\d)[-_]", target) if role in _THINGS and "<" not in target else None
        return f"{_THINGS[role]}chapter {int(number[1])}" if number else target.partition("<")[0].strip()

    return _ROLE.sub(word, text)


def to_notebook(chapter: NotebookNode, *, solutions: bool = False) -> NotebookNode:
    """Return the exercises of a chapter as a notebook that runs by itself.

    Parameters
    ----------
    chapter : NotebookNode
        The chapter, as nbformat reads it.
    solutions : bool
        Whether to fill in the solutions: the lecturer's copy.

    Returns
    -------
    NotebookNode
        Title; the cells of the chapter that the exercises need; and for each exercise its statement, a cell for the
        answer, and the check where there is one. No cell has an output.

    Raises
    ------
    ValueError
        If the notebook has no exercise.
    """
    needed, exercises = read(chapter)
    title = re.search(r"^# (.+)$", chapter.cells[0].source, flags=re.MULTILINE)[1]
    kind = "exercises, with solutions" if solutions else "exercises"
    cells = [new_markdown_cell(f"# {title}: {kind}\n\n## Set-up\n\n{_INTRODUCTION}")]
    cells += [code(cell.source, *{"parameters"} & {*cell.metadata.get("tags", [])}) for cell in needed]
    for number, exercise in enumerate(exercises, 1):
        cells += _cells_of(exercise, number, solutions)
    about = {key: chapter.metadata[key] for key in ("kernelspec", "language_info", "mtmeta") if key in chapter.metadata}
    return with_ids(cells, **about)


_INTRODUCTION = (
    "Run these cells first: they are what the exercises need of the chapter. Then replace each `...`, and run the cell "
    "below it: it says what is off, and does not tell the answer."
)


def _cells_of(exercise: Exercise, number: int, solutions: bool) -> Iterator[NotebookNode]:
    def for_a_viewer(cell: NotebookNode) -> NotebookNode:
        return code(cell.source) if cell.cell_type == "code" else new_markdown_cell(_plain(cell.source))

    yield new_markdown_cell(f"## Exercise {number}: {exercise.title}")
    form = [new_markdown_cell(f"**The answer to give.** {described(exercise.label)}")] if exercise.check else []
    yield from map(for_a_viewer, (*exercise.statement, *form, *(exercise.solution if solutions else ())))
    empty = f"# Write your code here.\n{_left_open(described(exercise.label)) if exercise.check else ''}".strip()
    answer = exercise.answer if solutions else empty
    yield from (code(text, tag) for text, tag in ((answer, "answer"), (exercise.check, "check")) if text)
    yield from map(for_a_viewer, exercise.discussion if solutions else ())


def export(chapters: Iterable[Path], out: str | Path, *, solutions: bool = False) -> list[Path]:
    """Write the exercises of chapters, one notebook each.

    Parameters
    ----------
    chapters : iterable of Path
        Notebooks of the book, such as `mtmeta.book.runner.chapters` returns.
    out : path
        The folder to write to; it is made if it is not there.
    solutions : bool
        As in `to_notebook`.

    Returns
    -------
    list of Path
        The files: the name of the chapter and ``_exercises.ipynb``, or ``_solutions.ipynb``.

    Raises
    ------
    ValueError
        If a notebook has no exercise, or a file that is there has other content: it may hold answers.
    """
    ending = "_solutions.ipynb" if solutions else "_exercises.ipynb"
    made = {}
    for path in map(Path, chapters):
        notebook = to_notebook(nbformat.read(path, 4), solutions=solutions)
        made[Path(out) / f"{path.stem}{ending}"] = nbformat.writes(notebook) + "\n"
    if taken := [str(path) for path, text in made.items() if path.exists() and path.read_bytes() != text.encode()]:
        raise ValueError(
            f"Not overwritten because these files may contain answers: {', '.join(taken)}. Move them away, or choose "
            "another folder."
        )
    for path, text in made.items():
        with whole_file(path) as part:
            part.write_text(text, encoding="utf-8")
    return list(made)
