"""The commands `mtmeta sentinel train | score`: what they write, and how they fail."""

import csv
import io
import json
from functools import partial

import numpy as np
import pandas as pd
import pytest

import mtmeta as mm
from mtmeta.sentinel import SEES


@pytest.fixture
def run(command_line, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    return partial(command_line, "sentinel")


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    """Return a table with the column names of COMET."""
    frame = mm.sentinel.training_frame(mm.load("teaching")).head(900)
    names = {"source": "src", "translation": "candidate", "reference": "ref", "human": "score"}
    return frame.rename(columns=names)[[*names.values(), "system", "segment"]]


@pytest.fixture
def table(rows, tmp_path):
    path = tmp_path / "t.csv"
    rows.to_csv(path, index=False)
    return path


@pytest.mark.slow
@pytest.mark.parametrize("sees", list(SEES))
def test_scores_are_those_of_the_package(run, table, rows, sees, tmp_path):
    code, out, err = run("train", table, "--sees", sees, "--save", "s")
    assert (code, out) == (0, ""), err
    frame = mm.sentinel.read_texts(table)
    expected = mm.sentinel.fit(frame, sees=sees)
    assert err == f"{expected.signature}|mtmeta:{mm.__version__}\nsaved: s, trained on 900 texts\n"
    code, out, err = run("score", "s", table, "--format", "csv")
    assert (code, err.startswith(f"sentinel:light|sees:{sees}|")) == (0, True)
    found = pd.read_csv(io.StringIO(out), dtype={"system": str})
    assert found.columns.tolist() == ["system", "segment", "score"]
    assert found["system"].tolist() == rows["system"].tolist()
    np.testing.assert_array_equal(found["score"], expected.score_frame(frame))


def test_set_is_scored_whole(run, table):
    assert run("train", table, "--sees", "reference", "--save", "s", "--quiet")[0] == 0
    es = mm.load("teaching")
    expected = mm.sentinel.load("s").score_set(es)
    found = pd.DataFrame(json.loads(run("score", "s", "teaching", "--format", "json", "--quiet")[1]))
    assert found["system"].tolist() == np.repeat(es.systems, es.shape[1]).tolist()
    np.testing.assert_array_equal(found["score"].to_numpy().reshape(es.shape), expected)
    lines = run("score", "s", "teaching", "--format", "seg-score", "--quiet")[1].splitlines()
    assert lines == [f"{s}\t{score}" for s, score in zip(found["system"], found["score"].tolist(), strict=True)]


@pytest.mark.slow
def test_table_without_names_of_rows_gets_numbers(run, table, tmp_path):
    assert run("train", table, "--sees", "source", "--save", "s", "--quiet")[0] == 0
    (tmp_path / "new.tsv").write_text("source\nGuten Tag.\nGuten Tag.\n")
    found = list(csv.DictReader(io.StringIO(run("score", "s", "new.tsv", "--quiet", "--format", "csv")[1])))
    assert [row["row"] for row in found] == ["1", "2"]
    assert found[0]["score"] == found[1]["score"]
    assert "needs a column 'system'" in run("score", "s", "new.tsv", "--format", "seg-score")[2]


@pytest.mark.slow
def test_transformer_is_trained_and_goes_on_with_its_settings(run, rows, tmp_path):
    rows.head(60).to_csv(tmp_path / "t.csv", index=False)
    train = ("train", "t.csv", "--sees", "source", "--kind", "transformer")
    code, out, err = run(*train, "--encoder", "scratch-small", "--save", "da", "--checkpoints", "c")
    assert (code, out) == (0, ""), err
    assert err.endswith("\nsaved: da, trained on 60 texts\n")
    assert any((tmp_path / "c").iterdir())
    found = pd.read_csv(io.StringIO(run("score", "da", "t.csv", "--format", "csv")[1]))
    assert found.groupby("segment")["score"].nunique().eq(1).all()
    assert run(*train, "--save", "mqm", "--start", "da")[0] == 0
    assert mm.sentinel.load("da").config == mm.sentinel.load("mqm").config
