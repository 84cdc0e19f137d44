"""A data set a student: what is planted can be found, sheets run where they lie, and answers are marked."""

import json

import nbformat
import numpy as np
import pandas as pd
import pytest
from campaigns import refuses

import mtmeta as mm
from mtmeta import sysdep
from mtmeta.book import students

PLANTS = ("favour", "ties", "sentinel")


@pytest.fixture(scope="module")
def room(tmp_path_factory):
    folder = tmp_path_factory.mktemp("room") / "class"
    return folder, students.write(["Ada Lovelace", "Bo"], PLANTS, folder)


def test_what_is_planted_can_be_found_in_each_table(room):
    truths = json.loads((room[0] / students.TRUTHS).read_text(encoding="utf-8"))
    assert list(truths) == ["ada-lovelace", "bo"]
    tables = [mm.load(folder / "scores.csv") for folder in room[1]]
    assert not np.array_equal(tables[0].human[:8, :8], tables[1].human[:8, :8])
    for es, truth in zip(tables, truths.values(), strict=True):
        assert es.metrics == tuple(f"M{k}" for k in range(1, 7))
        assert np.ptp(es[truth["sentinel"]], axis=0).max() == 0
        whole = [m for m in es.metrics if np.array_equal(es[m], es[m].round())]
        assert whole == [truth["ties"]]
        ways = sysdep.deviations_both_ways(sysdep.centre_segments(es), truth["favour"]["metric"], rng=0)
        assert truth["favour"]["system"] in ways.query("verdict == 'favoured'")["system"].tolist()


def test_sheets_run_where_they_lie_and_answers_are_marked(room, tmp_path, monkeypatch):
    folder, (ada, bo) = room
    truths = json.loads((folder / students.TRUTHS).read_text(encoding="utf-8"))
    for place in (ada, bo):
        monkeypatch.chdir(place)
        sheet = nbformat.read("sheet.ipynb", as_version=4)
        nbformat.validate(sheet)
        exec("\n".join(cell.source for cell in sheet.cells if cell.cell_type == "code"), {})
        assert str(folder) not in (place / "sheet.ipynb").read_text(encoding="utf-8")
    marks = students.mark(folder, folder)
    assert marks[[*PLANTS]].eq("open").all(axis=None)
    (tmp_path / "ada-lovelace.json").write_text(json.dumps(truths["ada-lovelace"]))
    wrong = truths["bo"] | {"ties": truths["bo"]["sentinel"], "favour": {"metric": truths["bo"]["favour"]["metric"]}}
    (tmp_path / "bo.json").write_text(json.dumps(wrong))
    marks = students.mark(folder, tmp_path)
    assert marks["points"].tolist() == [3, 1]
    assert marks.loc[1, "ties"] == f"it is not '{truths['bo']['sentinel']}'"
    assert "system: missing" in marks.loc[1, "favour"]
    (tmp_path / "bo.json").write_text("[]")
    refuses("expected a JSON object with favour, ties, sentinel; found list", students.mark, folder, tmp_path)


def test_the_same_names_give_the_same_files_and_nothing_is_overwritten(room, tmp_path):
    again = students.write(["Ada Lovelace", "Bo"], PLANTS, tmp_path / "class")
    for mine, theirs in zip(again, room[1], strict=True):
        pd.testing.assert_frame_equal(*(pd.read_csv(f / "scores.csv") for f in (mine, theirs)))
    refuses("is not empty", students.write, ["Bo"], PLANTS, tmp_path / "class")
    refuses("plant", students.write, ["Bo"], ["ghost"], tmp_path / "b")
