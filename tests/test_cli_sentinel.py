"""The commands `mtmeta sentinel train | score`: what they write, and how they fail."""

import csv
import dataclasses
import io
import json
from functools import partial

import numpy as np
import pandas as pd
import pytest

import mtmeta as mm
from mtmeta.sentinel import SEES, _settings

TINY = ("--kind", "transformer", "--encoder", "scratch-small", "--learning-rate", "1e-3", "--max-length", "16")


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


def test_defaults_are_those_of_the_package(run):
    words = " ".join(run("train", "--help")[1].split())
    recipe = mm.sentinel.TransformerConfig()
    names = "encoder dropout learning_rate batch_size accumulation epochs max_length"
    for name in (*names.split(), "checks", "seed"):
        shown = words.partition(f"--{name.replace('_', '-')} ")[2].partition("[default: (")[2].partition(")")[0]
        assert shown == str(getattr(recipe, name)), name
    assert _settings.SCRATCH in words


@pytest.mark.slow
@pytest.mark.parametrize("sees", list(SEES))
def test_scores_are_those_of_the_package(run, table, rows, sees, tmp_path):
    code, out, err = run("train", table, "--sees", sees, "--save", "s", "--format", "tsv", "-o", "f.tsv")
    assert (code, out) == (0, ""), err
    facts = pd.read_csv("f.tsv", sep="\t").set_index("what")["value"]
    frame = mm.sentinel.read_texts(table)
    expected = mm.sentinel.fit(frame, sees=sees)
    assert (float(facts["texts"]), float(facts["penalty"])) == (900, expected.alpha)
    assert err == f"{expected.signature}|mtmeta:{mm.__version__}\n"
    code, out, err = run("score", "s", table)
    assert (code, err.startswith(f"sentinel:light|sees:{sees}|")) == (0, True)
    found = pd.read_csv(io.StringIO(out), dtype={"system": str})
    assert found.columns.tolist() == ["system", "segment", "score"]
    assert found["system"].tolist() == rows["system"].tolist()
    np.testing.assert_array_equal(found["score"], expected.score_frame(frame))


def test_set_is_scored_whole(run, table):
    assert run("train", table, "--sees", "reference", "--save", "s", "--quiet")[0] == 0
    assert run("score", "s", table, "--reference", "refA")[0] == 2
    es = mm.load("teaching")
    expected = mm.sentinel.load("s").score_set(es)
    found = pd.DataFrame(json.loads(run("score", "s", "teaching", "--format", "json", "--quiet")[1]))
    assert found["system"].tolist() == np.repeat(es.systems, es.shape[1]).tolist()
    np.testing.assert_array_equal(found["score"].to_numpy().reshape(es.shape), expected)
    lines = run("score", "s", "teaching", "--format", "seg-score", "--quiet")[1].splitlines()
    assert lines == [f"{s}\t{score}" for s, score in zip(found["system"], found["score"].tolist(), strict=True)]


def test_several_tables_and_sets_make_stages(run, table):
    assert run("train", table, f"teaching+{table}", "--sees", "source", "--save", "s", "--quiet")[0] == 0
    frame = mm.sentinel.read_texts(table)
    teaching = mm.sentinel.training_frame(mm.load("teaching"))
    expected = mm.sentinel.fit([frame, pd.concat([teaching, frame])], sees="source")
    texts = frame["source"].tolist()
    assert (mm.sentinel.load("s").score(texts) == expected.score(texts)).all()


@pytest.mark.slow
def test_table_without_names_of_rows_gets_numbers(run, table, tmp_path):
    assert run("train", table, "--sees", "source", "--save", "s", "--quiet")[0] == 0
    (tmp_path / "new.tsv").write_text("source\nGuten Tag.\nGuten Tag.\n")
    found = list(csv.DictReader(io.StringIO(run("score", "s", "new.tsv", "--quiet")[1])))
    assert [row["row"] for row in found] == ["1", "2"]
    assert found[0]["score"] == found[1]["score"]
    assert "needs a column 'system'" in run("score", "s", "new.tsv", "--format", "seg-score")[2]


@pytest.mark.slow
def test_transformer_is_trained_and_reported(run, table, rows, tmp_path):
    arguments = ("train", table, "--sees", "source", "--save", "s", *TINY)
    code, out, err = run(*arguments, "--validation", table, "--checkpoints", "c", "--format", "json")
    assert code == 0, err
    facts = {row["what"]: row["value"] for row in json.loads(out)}
    assert facts["texts"] == 900
    assert facts["parameters"] > 1000
    assert len(err.splitlines()) == 1
    assert (tmp_path / "c" / "run.json").exists()
    found = pd.read_csv(io.StringIO(run("score", "s", table)[1]))
    assert found.groupby("segment")["score"].nunique().eq(1).all()


@pytest.mark.slow
def test_training_goes_on_from_a_saved_sentinel_with_its_settings(run, table):
    train = ("train", table, "--sees", "source", "--quiet")
    recipe = "--head 8 --head 4 --dropout 0 --checks 2"
    assert run(*train, "--save", "da", *TINY, *recipe.split())[0] == 0
    again = "--save mqm --kind transformer --start da --learning-rate 1e-4"
    assert run(*train, *again.split())[0] == 0
    first, second = (mm.sentinel.load(folder) for folder in ("da", "mqm"))
    assert (first.config.head, first.config.dropout, first.config.checks) == ((8, 4), 0, 2)
    assert dataclasses.replace(first.config, learning_rate=1e-4) == second.config


@pytest.mark.data
def test_seg_score_is_read_back_by_the_loader(run, table, data_dir, tmp_path):
    assert run("train", table, "--sees", "source", "--save", "s", "--quiet")[0] == 0
    (tmp_path / "scores").mkdir()
    target = tmp_path / "scores" / "light-src.seg.score"
    assert run("score", "s", "wmt23/en-de", "--format", "seg-score", "--quiet", "-o", target) == (0, "", "")
    es = mm.load("wmt23/en-de", metrics_from=tmp_path / "scores", metrics=["light"])
    np.testing.assert_array_equal(es["light"], mm.sentinel.load("s").score_set(es))
