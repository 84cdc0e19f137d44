"""Transcripts and rankings: hand-made files first, then the real data."""

import numpy as np
import pandas as pd
import pytest
from campaigns import refuses
from trees import write

from mtmeta.datasets import _sets, load, load_all, load_any, load_rankings, load_transcripts

REFERENCES = "7-1-0001\tb c\t[]\n7-1-0000\ta b\t[]\n61-2-0000\td\t[]\n"
TRANSCRIPTS = "7-1-0000\ta\n61-2-0000\t\n7-1-0001\tb c\n"


@pytest.fixture
def places(tmp_path, monkeypatch):
    """Return an empty data directory, with an empty cache beside it."""
    (tmp_path / "data").mkdir()
    monkeypatch.setenv("MTMETA_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("MTMETA_CACHE", str(tmp_path / "cache"))
    return tmp_path / "data"


@pytest.fixture
def librispeech(places):
    folder = places / "librispeech-rnnt"
    write(folder / "ref/test-clean.ref_rare.tsv", REFERENCES)
    write(folder / "ref/test-other.ref_rare.tsv", "9-9-0000\tx y\t[]\n")
    write(folder / "hyp/test-clean.b1.base.tsv", TRANSCRIPTS)
    write(folder / "hyp/test-clean.s1.more_100.tsv", TRANSCRIPTS.replace("\ta\n", "\ta b\n"))
    write(folder / "hyp/test-other.b1.base.tsv", "9-9-0000\tx\n")
    return folder


def test_transcripts_by_hand(librispeech):
    table = load_transcripts("librispeech/test-clean")
    assert list(table) == ["system", "segment", "speaker", "quality", "reference", "transcript"]
    assert ["|".join(row) for row in table.values.tolist()] == [
        f"{system}|{row}"
        for system, first in (("b1.base", "a"), ("s1.more_100", "a b"))
        for row in (f"7-1-0000|7|clean|a b|{first}", "7-1-0001|7|clean|b c|b c", "61-2-0000|61|clean|d|")
    ]
    other = load_transcripts("librispeech/test-other")
    assert (other["quality"].unique().tolist(), other.attrs["name"]) == (["other"], "librispeech/test-other")
    refuses(
        "'librispeech' holds 2 parts: librispeech/test-clean, librispeech/test-other", load_transcripts, "librispeech"
    )


@pytest.mark.parametrize(("text", "message"), [
    (TRANSCRIPTS.replace("7-1-0001\tb c\n", ""), r"differ in 1 utterances, such as '7-1-0001'"),
    (TRANSCRIPTS + "7-1-0000\tx\n", r"several rows of UTTERANCE '7-1-0000'; expected one"),
    (TRANSCRIPTS + "7-1", r"line 4: expected `UTTERANCE TEXT`; found '7-1'"),
])  # fmt: skip
def test_damaged_transcripts(librispeech, text, message):
    write(librispeech / "hyp/test-clean.b1.base.tsv", text)
    refuses(message, load_transcripts, "librispeech/test-clean")
    (librispeech / "hyp/test-other.b1.base.tsv").unlink()
    refuses(r"has no files test-other", load_transcripts, "librispeech/test-other")


@pytest.mark.parametrize(("function", "name", "message"), [
    (load, "teaching-speach", r"Did you mean 'teaching-speech'\? Available: .*'librispeech/test-clean', "),
    (load_transcripts, "teaching", "holds translations with human scores; expected transcripts"),
    (load_rankings, "dl-hard/doc", r"not on this computer.*mtmeta fetch dl-hard`"),
    (load_all, "teaching-ranking", "holds rankings; expected translations with human scores.*load_rankings"),
])  # fmt: skip
def test_names(librispeech, function, name, message):
    refuses(message, function, name)


@pytest.mark.parametrize("name", ["librispeech/test-clean", "teaching-speech", "teaching-ranking"])
@pytest.mark.parametrize("option", [{"metrics": ["X"]}, {"reference": "refA"}, {"missing": "nan"}])
def test_options_of_translations_are_refused(librispeech, name, option):
    refuses(rf"`{next(iter(option))}` does not apply to .*Leave it out", load_any, name, **option)


SPOKEN = """system,segment,reference,transcript,speaker,quality
A,1,na,na,S1,clean
A,2,two words,,S2,other
B,1,na,nah,S1,clean
B,2,two words,to words,S2,other
"""
RANKED = """system,query,item,rank,relevance
A,q,x,1,
A,q,y,2,1
B,q,y,1,1
,q,z,,2
"""


def test_own_transcripts(tmp_path):
    (tmp_path / "a.csv").write_text(SPOKEN)
    (heard,) = load_any(tmp_path / "a.csv")
    assert heard["transcript"].tolist() == ["na", None, "nah", "to words"]  # "na" was said; an empty cell is not a text
    assert heard["segment"].tolist() == [1, 2, 1, 2]
    assert load_transcripts(tmp_path / "a.csv").equals(heard)
    refuses("`metrics` does not apply to a table of transcripts", load_any, tmp_path / "a.csv", metrics=["wer"])
    refuses("a.csv holds transcripts; expected translations", load, tmp_path / "a.csv")
    refuses("a.csv holds transcripts; expected rankings", load_rankings, tmp_path / "a.csv")


def test_own_lists(tmp_path):
    (tmp_path / "a.csv").write_text(RANKED)
    lists = load_rankings(tmp_path / "a.csv")
    assert lists.runs[["system", "item", "rank", "score"]].values.tolist() == [
        ["A", "x", 1, -1.0],
        ["A", "y", 2, -2.0],
        ["B", "y", 1, -1.0],
    ]
    assert lists.qrels.values.tolist() == [["q", "y", 1], ["q", "z", 2]]


@pytest.mark.parametrize(("text", "message"), [
    (SPOKEN + "A,1,na,na,S1,clean\n", "several rows of system 'A', segment 1"),
    (RANKED.replace("relevance", "grade"), r"need the columns system, query, item"),
])  # fmt: skip
def test_own_tables_are_checked(tmp_path, text, message):
    (tmp_path / "a.csv").write_text(text)
    refuses(message, load_any, tmp_path / "a.csv")


@pytest.fixture
def dl_hard(places):
    folder = places / "dl-hard"
    write(folder / "dl_hard-doc.qrels", "2 Q0 D1 3\n2 Q0 D7 0\n10 Q0 D2 1")
    write(
        folder / "runs_top100/doc.one(zs).run", "2 Q0 D1 0 1.5 T\n2 Q0 D9 1 2.5 T\n2 Q0 D10 2 2.5 T\n10 Q0 D2 0 -1 T\n"
    )
    write(folder / "runs_top100/doc.two.run", "2 Q0 D1 1 9e-1 T\n10 Q0 D2 1 7 T\n10\tQ0\tD3\t2\t3\tT\n")
    return folder


def test_runs_are_in_the_order_of_trec_eval(dl_hard):
    found = load_rankings("dl-hard/doc")
    # D9 and D10 tie: trec_eval puts the greater name, as a string, first; the rank in the file says nothing.
    assert found.runs.groupby(["system", "query"], sort=False)["item"].agg(list).to_dict() == {
        ("one(zs)", "2"): ["D9", "D10", "D1"], ("one(zs)", "10"): ["D2"],
        ("two", "2"): ["D1"], ("two", "10"): ["D2", "D3"],
    }  # fmt: skip
    assert found.qrels.values.tolist() == [["2", "D1", 3], ["2", "D7", 0], ["10", "D2", 1]]
    assert found.to_frame()["relevance"].tolist() == [pd.NA, pd.NA, 3, 1, 3, 1, pd.NA]
    assert found.provenance["relevance_level"] == 2


def test_runs_are_cut_at_100():
    run = pd.DataFrame({"query": "q", "item": [f"d{i:03d}" for i in range(130)], "score": np.arange(130.0)})
    cut = _sets.in_trec_order(run, "S")
    assert (len(cut), cut["rank"].max(), cut["item"].iloc[0], cut["item"].iloc[-1]) == (100, 100, "d129", "d030")


@pytest.mark.parametrize(("text", "message"), [
    ("2 Q0 D1 1 0.5\n", r"line 1: expected `query Q0 item rank score tag`; found '2 Q0 D1 1 0.5'"),
    ("2 Q0 D1 1 2 T\n", r"system 'two' has no list for query '10' .1 lists"),
])  # fmt: skip
def test_damaged_runs(dl_hard, text, message):
    write(dl_hard / "runs_top100/doc.two.run", text)
    refuses(message, load_rankings, "dl-hard/doc")
