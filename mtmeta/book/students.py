"""A data set a student: simulated campaigns with planted facts, a sheet for each, and a file of truths to mark with."""

import json
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path

import nbformat
import numpy as np
import pandas as pd
from nbformat.v4 import new_markdown_cell

from .. import simulate
from .._checks import check_choice
from .._files import whole_file
from .exercises._compare import complaints, is_open
from .sheets import code, with_ids

__all__ = ["mark", "write"]

#: What can be planted, what is asked, and the form of the answer.
PLANTS = tomllib.loads((Path(__file__).parents[1] / "data" / "plants.toml").read_text(encoding="utf-8"))
TRUTHS = "truths.json"
_SHEET = """import json

import mtmeta as mm

es = mm.load("scores.csv")  # the file beside this notebook
answer = {}"""


def _planted(plants: Sequence[str], seed: int, rng: np.random.Generator) -> tuple[pd.DataFrame, dict]:
    """Return a campaign as a table in which metrics have no telling names, and what was planted."""
    es = simulate.campaign(n_systems=int(rng.integers(8, 13)), n_segments=150, seed=seed, texts=False)
    of = {"favour": "Biased", "ties": str(rng.choice(["Judge", "Tagger"])), "sentinel": "SourceOnly"}
    chosen = ["Regressor", "RegressorQE", "Random", *(of[plant] for plant in plants)]
    named = {name: f"M{k}" for k, name in enumerate(rng.permutation(chosen), 1)}
    truth = {plant: named[of[plant]] for plant in plants}
    if "favour" in truth:
        truth["favour"] = {"metric": truth["favour"], "system": next(iter(es.truth["bias"]["Biased"]))}
    return es.select(metrics=sorted(named, key=named.get)).to_frame().rename(columns=named), truth


def _sheet(name: str, file: str, plants: Sequence[str]) -> str:
    head = (
        f"# {name}\n\nThe scores are simulated, and no other table has the same facts. Write down how you found each."
    )
    cells = [new_markdown_cell(head), code(_SHEET)]
    for number, plant in enumerate(plants, 1):
        question, form = PLANTS[plant].values()
        cells += [new_markdown_cell(f"## {number}. {plant.capitalize()}\n\n{question}")]
        cells += [code(f"# Your code.\nanswer[{plant!r}] = {form}")]
    last = f'# Hand in the file that this cell writes, and the notebook.\nwith open({file!r}, "w") as file:\n'
    last += "    json.dump(answer, file, default=lambda left_open: None)"
    return nbformat.writes(with_ids([*cells, code(last)])) + "\n"


def write(students: Sequence[str], plants: Sequence[str], out: str | Path, *, seed: int = 1) -> list[Path]:
    """Write a campaign and a sheet for each student, and the truths for the lecturer.

    Parameters
    ----------
    students : sequence of str
        Their names. Each gets a folder with ``scores.csv`` and ``sheet.ipynb``, which find each other by relative path.
    plants : sequence of {"favour", "ties", "sentinel"}
        What to plant in each campaign.
    out : path
        A folder that is not there yet, or is empty.
    seed : int
        The same names, plants and seed give the same files.

    Returns
    -------
    list of Path
        The folders of the students.

    Raises
    ------
    ValueError
        If there is no student or plant, two students have the same folder, a plant is unknown, or files are there.

    See Also
    --------
    mark : marks the answers.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = write(["Ada Lovelace"], ["ties"], folder)
    ...     (made[0].name, sorted(path.name for path in made[0].iterdir()), mark(folder, folder)["ties"].tolist())
    ('ada-lovelace', ['scores.csv', 'sheet.ipynb'], ['open'])
    """
    out = Path(out)
    for plant in plants:
        check_choice("plant", plant, PLANTS)
    names = {re.sub(r"\W+", "-", student.strip().lower()).strip("-"): student.strip() for student in students}
    if not plants or not names or "" in names or len(names) < len(students):
        raise ValueError("expected at least one plant, and names of students that differ in letters or digits.")
    if out.exists() and any(out.iterdir()):
        raise ValueError(f"{out} is not empty. Choose another folder, so that no answers are lost.")
    truths = {}
    for number, (folder, student) in enumerate(names.items()):
        table, truths[folder] = _planted(plants, 1000 * seed + number, np.random.default_rng([seed, number]))
        (out / folder).mkdir(parents=True)
        table.to_csv(out / folder / "scores.csv", index=False, lineterminator="\n")
        (out / folder / "sheet.ipynb").write_text(_sheet(student, f"{folder}.json", plants), encoding="utf-8")
    with whole_file(out / TRUTHS) as part:
        part.write_text(json.dumps(truths, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return [out / folder for folder in names]


def mark(out: str | Path, answers: str | Path) -> pd.DataFrame:
    """Mark the answers of students: one point for each planted fact that was found.

    Parameters
    ----------
    out : path
        The folder that `write` wrote.
    answers : path
        A folder with ``NAME.json`` for each student, as the sheets write it; also in folders within.

    Returns
    -------
    DataFrame
        A row for each student: for each plant "right", "open" or what is off, and the ``points``.

    Raises
    ------
    ValueError
        If an answer is not JSON, or has another form.
    OSError
        If there are no truths.

    See Also
    --------
    write : has an example.
    """
    truths = json.loads((Path(out) / TRUTHS).read_text(encoding="utf-8"))
    rows = {}
    for student, truth in truths.items():
        found = next(iter(sorted(Path(answers).rglob(f"{student}.json"))), None)
        given = json.loads(found.read_text(encoding="utf-8")) if found else {}
        if not isinstance(given, dict):
            raise ValueError(f"{found}: expected a JSON object with {', '.join(truth)}; found {type(given).__name__}.")
        rows[student] = {plant: _judged(given.get(plant), right) for plant, right in truth.items()}
    table = pd.DataFrame(rows).T.rename_axis("student")
    return table.assign(points=(table == "right").sum(axis=1)).reset_index()


def _judged(answer: object, right: object) -> str:
    return "open" if is_open(answer) else "; ".join(complaints(answer, right)) or "right"
