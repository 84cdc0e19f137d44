"""The command `mtmeta local-accuracy`: what it prints, and how it fails."""

import json
from functools import partial

import numpy as np
import pandas as pd
import pytest

import mtmeta as mm
from mtmeta import local_accuracy as la
from mtmeta.cli.local_accuracy import PARTS


@pytest.fixture
def run(command_line, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    return partial(command_line, "local-accuracy")


@pytest.fixture
def pairs() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"segment": np.arange(240) // 4, "system": np.tile(["A", "A", "B", "B"], 60)})
    frame["domain"] = np.where(frame["segment"] % 3, "news", "chat")
    for name, shift in (("good", 1.5), ("poor", 0.2)):
        frame[name] = rng.normal(size=240) + shift
        frame[f"{name}_perturbed"] = rng.normal(size=240)
    return frame


@pytest.fixture
def table(pairs, tmp_path):
    path = tmp_path / "pairs.csv"
    pairs.to_csv(path, index=False)
    return path


def test_guide_has_all_parts(run, table):
    code, out, err = run(table, "--n-resamples", 99)
    assert code == 0, err
    titles = [line for line in out.splitlines() if line in PARTS.values()]
    assert titles == list(PARTS.values())
    local = la.local_accuracy(pd.read_csv(table), context="system", n_resamples=99)
    row = local[(local["context"] == "A") & (local["metric"] == "good")].iloc[0]
    assert f"{row['accuracy']:.3f} ±{(row['high'] - row['low']) / 2:.3f}" in out
    assert "loss" in out
    assert err == f"average:segment|ties:failure|unit:segment|draws:99|seed:0|mtmeta:{mm.__version__}\n"


def test_columns_of_no_metric_are_named(run, pairs, tmp_path):
    path = tmp_path / "t.csv"
    pairs.assign(chrF=1.0, chrF_pert=0.5, size=3).to_csv(path, index=False)
    err = run(path, "--context", "size", "--n-resamples", 99)[2]
    assert err.startswith("left out of " + str(path) + ": 'chrF', 'chrF_pert' (a metric M needs the columns M and")


def test_one_metric_and_one_context_leave_out_what_cannot_be_compared(run, table, tmp_path, pairs):
    code, out, _ = run(table, "--metric", "good", "--format", "json", "--n-resamples", 99)
    assert code == 0
    assert list(json.loads(out)) == ["accuracy", "effect", "stability"]
    pairs.assign(system="A").to_parquet(tmp_path / "one.parquet")
    code, out, _ = run("one.parquet", "--format", "json", "--n-resamples", 99)
    assert list(json.loads(out)) == ["accuracy"]
    code, _, err = run("one.parquet", "--table", "effect")
    assert (code, "needs at least two contexts" in err) == (2, True)
    pairs.assign(good=pairs["good"].mask(pairs.index == 3)).to_csv(tmp_path / "holes.csv", index=False)
    code, out, _ = run("holes.csv", "--missing", "drop", "--table", "accuracy", "--format", "json")
    assert (code, sum(row["n_missing"] for row in json.loads(out))) == (0, 1)


@pytest.mark.parametrize(("task", "column"), [("translation", "translation"), ("speech", "transcript")])
def test_texts_are_perturbed_and_scored(run, tmp_path, task, column):
    sentences = "the old man gave her a red book", "we did not see the train in the rain", "she likes tea and he likes"
    rows = [
        {"system": s, "segment": k, "reference": text, column: text.replace("the", s)}
        for s in ("a", "this")
        for k, text in enumerate(sentences)
    ]
    rows.append({"system": "a", "segment": 9, "reference": "x", column: None})
    pd.DataFrame(rows).to_csv(tmp_path / "texts.csv", index=False)
    metrics = {"translation": ["chrf", "rouge1"], "speech": ["wer", "cer"]}[task]
    arguments = ("--table", "accuracy", "--format", "json", "--n-resamples", 99)
    code, out, err = run("texts.csv", *arguments, *(x for m in metrics for x in ("--metric", m)))
    assert code == 0, err
    assert "left out of texts.csv: 1 of 7 rows (no text or no reference)" in err
    assert "perturbed 6 texts, " in err
    texts = pd.DataFrame(rows[:6])
    perturbed = mm.perturb.perturb_table(texts, task=task, rng=0)
    scored = mm.scoring.score_pairs(perturbed, metrics, task=task)
    expected = la.local_accuracy(scored, context="system", n_resamples=99)
    columns = ["context", "metric", "accuracy"]
    pd.testing.assert_frame_equal(pd.DataFrame(json.loads(out))[columns], expected[columns], check_dtype=False)
