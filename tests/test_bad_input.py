"""Bad input: one clear error each, which says what is wrong, where, and what to do."""

import io
import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from test_datasets import LP, MQM, MQM_ROWS, OUTPUTS, TABLE, make_tree, scores, write

from mtmeta.datasets import load, load_all, locate


@pytest.fixture
def tree(tmp_path) -> Path:
    return make_tree(tmp_path / "mine")


def refuses(message: str, *args, error: type[Exception] = ValueError, **options) -> None:
    with pytest.raises(error, match=message):
        load(*args, **options)


# -- tables -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"t\.csv is empty; expected a header"),
        ("system,segment,human,X\n", r"t\.csv: the table has no rows"),
        (
            TABLE.replace("human", "gold"),
            r"t\.csv: the table lacks .*'human'; found 'system', 'segment', 'gold'",
        ),
        ("system;segment;human;X\nA;1;1;1\n", r"has no ','; it seems to be separated by ';'"),
        ("system,segment,human,X\nA,1,1,1\nA,1,1,2\n", r"1 row\(s\) repeat a \(system, segment\) pair.*\('A', 1\)"),
        ("system,segment,human,X\nA,1,1,1\nA,2,1,2\nB,1,2,3\n", r"'B' has 1 of 2 segments; missing is.*missing='nan'"),
        ("system,segment,human,X\nA,1,1,good\n", r"column 'X' must hold numbers; found 'good' in data row 1"),
        ("system,segment,human,X\nA,1,one,1\n", r"column 'human' must hold numbers; found 'one' in data row 1"),
        ('system,segment,human,X\nA,1,1,"0,5"\n', r"column 'X' must hold numbers; found '0,5'"),
        ("system,segment,human,X\nA,1,1,inf\n", r"metric 'X' holds an infinite score"),
        ("system,segment,human,X\nA,1,,1\nB,1,NaN,2\n", r"no translation has a human score"),
        ("system,segment,human,X\nA,1,1,\nB,1,2,null\n", r"metric 'X' has no score at all"),
        ("system,segment,human,X\n,1,1,1\n", r"column 'system' is empty in data row 1"),
        ("system,segment,human,X\nA,,1,1\n", r"column 'segment' is empty in data row 1"),
        ("system,segment,human,X\nA,1,1\n", r"line 2: expected 4 fields, the header's; found 3"),
        ("system,segment,human,X\nA,1,1,1\nA,2,1", r"line 3: expected 4 fields.*may be truncated"),
        ('system,segment,human,source\nA,1,1,"open\nA,2,1,b\n', r"line 3: a quote is opened and never closed"),
        ('system,segment,human,source\nA,1,1,"a" b\n', r"line 2: ',' expected after '\"'"),
        ("system,segment,human,human\nA,1,1,1\n", r"column names must be distinct; found twice: 'human'"),
        (",system,segment,human,X\n0,A,1,1,1\n", r"column 1 has no name.*index=False"),
        ("lp,system,segment,human,X\nen-de,A,1,1,1\nde-en,A,1,2,2\n", r"several language pairs.*'de-en'.*load_all"),
        (
            "system,segment,human,source\nA,1,1,one\nB,1,2,two\n",
            r"column 'source' differs between the rows of segment 1",
        ),
    ],
)
def test_table(tmp_path, text, message):
    refuses(message, write(tmp_path / "t.csv", text))


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252"])
def test_table_in_a_wrong_encoding(tmp_path, encoding):
    path = tmp_path / "t.csv"
    path.write_bytes("system,segment,human,source\nA,1,1,schläft\n".encode(encoding))
    refuses(r"t\.csv is not UTF-8: found the byte 0x.. at or after line 2.*Save", path)


def test_wrong_encoding_names_the_line_far_into_a_file(tmp_path):
    path = tmp_path / "t.csv"
    rows = b"".join(b"A,%d,1,some text\n" % i for i in range(5000))
    path.write_bytes(b"system,segment,human,source\n" + rows + "A,x,1,\xe4\n".encode("latin-1"))
    refuses(r"byte 0xe4 at or after line 5002", path)


def test_gigantic_field(tmp_path):
    path = write(tmp_path / "t.csv", f"system,segment,human,source\nA,1,1,{'x' * 1_000_001}\n")
    refuses(r"t\.csv, line 2: a field has more than 1,000,000 characters; is a quote left open\?", path)
    path = write(tmp_path / "u.csv", 'system,segment,human,source\nA,1,1,"' + "x\n" * 600_000)
    refuses(r"more than 1,000,000 characters; is a quote left open\?", path)


def test_gigantic_line(tmp_path):
    path = write(tmp_path / "t.jsonl", json.dumps({"system": "A" * 20_000_001}))
    refuses(r"t\.jsonl, line 1 has more than 20,000,000 characters", path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"t\.jsonl is empty"),
        ('{"system": "A"\n', r"line 1: not valid JSON"),
        ("[1, 2]\n", r"line 1: expected a JSON object"),
        ('{"system": "A", "human": [1]}\n', r"line 1: 'human' must be a text, a number or null; found \[1\]"),
        ('{"system": "A", "human": true}\n', r"'human' must be a text, a number or null; found true"),
        ('{"system": "A", "system": "B"}\n', r"line 1: not valid JSON \(a field occurs twice\)"),
        ('{"system": "A", "X": 1}\n{"system": "A"}\n', r"line 2: the fields differ from the first line's in \['X'\]"),
        ('{"system": "A", "segment": 1, "human": 1, "X": "bad"}\n', r"column 'X' must hold numbers; found 'bad'"),
        ('{"system": null, "segment": 1, "human": 1}\n', r"column 'system' is empty"),
        ('{"system": "A", "segment": 1, "human": Infinity}\n', r"infinite score"),
    ],
)
def test_json_lines(tmp_path, text, message):
    refuses(message, write(tmp_path / "t.jsonl", text))


def test_parquet(tmp_path):
    refuses(r"t\.parquet is empty", write(tmp_path / "t.parquet", ""))
    refuses(r"u\.parquet is not a readable Parquet file", write(tmp_path / "u.parquet", TABLE))
    frame = pd.DataFrame({"system": ["A"], "segment": [1], "human": [1.0], "X": [[1, 2]]})
    frame.to_parquet(tmp_path / "v.parquet")
    refuses(r"column 'X' must hold numbers", tmp_path / "v.parquet")


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    refuses(r"standard input is empty", "-")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"system,segment\nA,\xff\n")))
    refuses(r"standard input is not UTF-8", "-")


def test_table_options(tmp_path):
    path = write(tmp_path / "t.csv", TABLE)
    refuses(r"unknown metric column 'Y'. .*Available: 'X'", path, metrics=["Y"])
    for option in ({"reference": "refA"}, {"protocol": "mqm"}, {"spans": True}, {"metrics_from": "wmt23-sentinels"}):
        refuses(rf"`{next(iter(option))}` does not apply to a table", path, **option)
    refuses(r"`missing` must be 'raise' or 'nan'; found 'drop'", path, missing="drop")
    refuses(r"`metrics` must be a sequence of names", path, metrics="X", error=TypeError)
    refuses(r"`spans` must be True or False", path, spans="yes", error=TypeError)
    refuses(r"`reference` must be a string or None", path, reference=1, error=TypeError)
    with pytest.raises(ValueError, match=r"column 'lp' is empty in 1 rows"):
        load_all(write(tmp_path / "u.csv", "lp,system,segment,human\nen-de,A,1,1\n,A,1,2\n"))


def test_arguments_that_are_no_path(tmp_path):
    refuses(r"expected a set name or a path; found DataFrame.*from_frame", pd.DataFrame(), error=TypeError)
    refuses(r"expected a set name or a path; found NoneType", None, error=TypeError)
    refuses(r"there is no file .*gone\.csv", tmp_path / "gone.csv")
    refuses(
        r"cannot tell the format from '.xlsx'; expected one of .csv, .tsv, .jsonl, .parquet",
        write(tmp_path / "t.xlsx", "x"),
    )
    refuses(r"a folder without human-scores.*metrics_from", tmp_path)


# -- names ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("wmt32/zh-en", r"unknown set 'wmt32/zh-en'.*Did you mean 'wmt23/zh-en'\? Sets: teaching, wmt23/<lp>"),
        ("teachin", r"unknown set 'teachin'.*Did you mean 'teaching'\?"),
        ("ted/en-ed", r"unknown language pair of ted 'en-ed'. Did you mean 'en-de'\?"),
        ("teaching/en-de", r"unknown language pair of teaching"),
        ("ted", r"'ted' holds 2 language pairs: ted/en-de, ted/zh-en. Name one of these, or use load_all"),
        ("../../etc", r"unknown set '../../etc'"),
        ("wmt23/../..", r"unknown set"),
        ("", r"a folder without human-scores|unknown set"),
    ],
)
def test_unknown_sets(name, message, monkeypatch, tmp_path):
    (tmp_path / "google-mqm/ted").mkdir(parents=True)
    monkeypatch.setenv("MTMETA_DATA", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    refuses(message, name)


def test_data_that_are_not_here(tmp_path, monkeypatch):
    monkeypatch.setenv("MTMETA_DATA", str(tmp_path))
    monkeypatch.setenv("MTMETA_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    for name, fetch in (("wmt23/zh-en", "wmt23"), ("ted/en-de", "ted"), ("newstest2021/en-de", "newstest2021")):
        refuses(rf"not on this computer. Looked in \$MTMETA_DATA.*`mtmeta fetch {fetch}`", name)
    monkeypatch.setenv("MTMETA_DATA", str(tmp_path / "gone"))
    refuses(r"\$MTMETA_DATA is '.*gone', which is not a directory", "wmt23/zh-en")


@pytest.mark.parametrize("relative", ["../secret", "/etc/passwd", "a/../../b", "a\\b", ""])
def test_locate_stays_in_the_data_directory(relative):
    with pytest.raises(ValueError, match="expected a path within the data directory"):
        locate(relative)


# -- trees ------------------------------------------------------------------------------------


def test_tree_options(tree, tmp_path):
    refuses(r"unknown language pair of mine 'de-en'.*'en-de'", tree / "de-en")
    refuses(r"unknown protocol of mine/en-de 'esa'. Available: 'da-sqm', 'mqm'", tree / LP, protocol="esa")
    refuses(r"unknown reference of mine/en-de 'refC'. Did you mean .*'refA', 'refB'", tree / LP, reference="refC")
    refuses(r"unknown reference of mine/en-de 'refC'", tree / LP, reference="refA.refC")
    refuses(r"unknown metric 'BLEURT'. Did you mean 'BLEU'\?", tree / LP, metrics=["BLEURT"])
    refuses(
        r"'Both' was not scored against refA; there is Both-refA.refB.*reference='refA.refB'",
        tree / LP,
        metrics=["Both"],
    )
    refuses(
        r"'BLEU' is asked for more than once|'BLEU-refA' is asked for more than once",
        tree / LP,
        metrics=["BLEU", "BLEU-refA"],
    )
    refuses(r"metrics_from: there is no folder 'nix'", tree / LP, metrics_from="nix")
    refuses(r"metrics_from: .*empty holds no .seg.score files", tree / LP, metrics_from=(tmp_path / "empty"))
    make_tree(tree, "cs-uk")
    refuses(r"holds 2 language pairs: mine/cs-uk, mine/en-de", tree)


def test_tree_with_several_references_and_no_standard(tree):
    for folder in (f"references/{LP}.", f"system-outputs/{LP}/"):
        (tree / f"{folder}refA.txt").rename(tree / f"{folder}refC.txt")
    refuses(r"has several references, refB, refC: name one with reference=", tree / LP)


def cut(path: Path, n_lines: int) -> None:
    write(path, "".join(path.read_bytes().decode().split("\n", n_lines)[k] + "\n" for k in range(n_lines)))


@pytest.mark.parametrize(
    ("name", "n_lines", "message"),
    [
        (
            "human-scores/en-de.mqm.seg.score",
            11,
            r"'refA' has 2 scores, the last in line 11 of 11; expected 3, one per segment",
        ),
        ("metric-scores/en-de/Good-QE-src.seg.score", 5, r"system 'Beta' has 2 scores.*may be truncated"),
        ("documents/en-de.docs", 2, r"en-de\.docs has 2 lines; expected 3, one per segment"),
        ("system-outputs/en-de/Beta.txt", 2, r"Beta\.txt has 2 lines; expected 3"),
        ("references/en-de.refA.txt", 1, r"en-de\.refA\.txt has 1 lines; expected 3"),
        ("sources/en-de.txt", 2, r"en-de\.docs has 3 lines; expected 2"),
    ],
)
def test_truncated_tree(tree, name, n_lines, message):
    cut(tree / name, n_lines)
    refuses(message, tree / LP)


def test_tree_without_a_file(tree):
    (tree / f"system-outputs/{LP}/Alpha.txt").unlink()
    refuses(r"has no file for system 'Alpha', which has human scores. The tree is incomplete", tree / LP)
    for path in (tree / "human-scores").glob("*.seg.score"):
        path.unlink()
    refuses(r"no human segment scores: expected files human-scores/<lp>.<protocol>.seg.score", tree)


@pytest.mark.parametrize(
    ("name", "line", "message"),
    [
        ("human-scores/en-de.mqm.seg.score", "Beta", r"mqm\.seg\.score, line 2: expected `SYSTEM SCORE`; found 'Beta'"),
        ("human-scores/en-de.mqm.seg.score", "Beta\tx", r"line 2: 'x' is not a finite number"),
        ("human-scores/en-de.mqm.seg.score", "Beta nan", r"line 2: 'nan' is not a finite number"),
        ("human-scores/en-de.mqm.seg.score", "", r"line 2: expected `SYSTEM SCORE`; found ''"),
        (
            "metric-scores/en-de/BLEU-refA.seg.score",
            "Alpha None",
            r"BLEU-refA.*line 2: 'None'.*Only human scores may be None",
        ),
        ("metric-scores/en-de/BLEU-refA.seg.score", "Alpha inf", r"line 2: 'inf' is not a finite number"),
        ("metric-scores/en-de/BLEU-refA.seg.score", "Al pha 1", r"line 2: expected `SYSTEM SCORE`; found 'Al pha 1'"),
        ("metric-scores/en-de/Good-QE-src.sys.score", "Alpha 2", r"'Alpha' occurs more than once"),
        ("metric-scores/en-de/Good-QE-src.sys.score", "Bata 2", r"line 2: unknown system 'Bata'. Did you mean 'Beta'"),
        ("metric-scores/en-de/Good-QE-src.domain.score", "news Beta", r"line 2: expected `DOMAIN SYSTEM SCORE`"),
        ("documents/en-de.docs", "news", r"en-de\.docs, line 2: expected `DOMAIN DOCUMENT`; found 'news'"),
    ],
)
def test_bad_line_in_a_tree(tree, name, line, message):
    lines = (tree / name).read_bytes().decode().split("\n")
    lines[1] = line
    write(tree / name, "\n".join(lines))
    refuses(message, tree / LP)


def test_misspelt_system_in_a_metric_file(tree):
    path = tree / f"metric-scores/{LP}/BLEU-refA.seg.score"
    write(path, path.read_text().replace("Beta", "beta"))
    refuses(r"BLEU-refA\.seg\.score, line 4: unknown system 'beta'. Did you mean 'Beta'", tree / LP)


def test_empty_and_misplaced_files_in_a_tree(tree):
    write(tree / f"metric-scores/{LP}/BLEU-refA.seg.score", "")
    refuses(r"BLEU-refA\.seg\.score is empty; expected lines `SYSTEM SCORE`", tree / LP)
    write(tree / f"metric-scores/{LP}/BLEU-refA.seg.score", scores({s: [1, 2, 3, 4] for s in OUTPUTS}))
    refuses(r"system 'Alpha' has 4 scores.*expected 3.*belong to another set", tree / LP)


def test_metric_that_occurs_twice(tree, tmp_path):
    write(tmp_path / "more/BLEU-refA.seg.score", scores({s: [1, 2, 3] for s in OUTPUTS}))
    refuses(r"metric 'BLEU-refA' occurs twice: .*Rename one of them", tree / LP, metrics_from=(tmp_path / "more"))


def test_tree_in_a_wrong_encoding(tree):
    (tree / f"sources/{LP}.txt").write_bytes("eins\nzwei\nschläft\n".encode("latin-1"))
    refuses(r"en-de\.txt is not UTF-8: found the byte 0xe4 at or after line 3", tree / LP)


def test_tree_without_ratings(tree):
    write(tree / f"human-scores/{LP}.mqm.seg.score", scores({s: ["None"] * 3 for s in MQM}))
    refuses(r"no candidate system has a human score under protocol 'mqm'", tree / LP)


def test_tree_jsonl_texts(tree):
    (tree / f"sources/{LP}.txt").unlink()
    write(tree / f"sources/{LP}.jsonl", '{"source": "a"}\n{"text": "b"}\n{"source": "c"}\n')
    refuses(r"en-de\.jsonl, line 2: expected a JSON object with the field 'source'", tree / LP)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("Beta", r"line 2: expected `SYSTEM<tab>JSON or None`"),
        ('Beta\t{"errors": [', r"line 2: not a valid rating"),
        ('Beta\t{"mistakes": []}', r"line 2: not a valid rating \('errors'\)"),
        (
            'Beta\t{"errors": [{"start": 0, "end": 99, "category": "a", "severity": "major"}]}',
            r"span 0-99 does not lie within",
        ),
        ('Beta\t{"errors": [{"start": 0, "end": 1, "category": "a", "severity": "huge"}]}', r"unknown severity 'huge'"),
    ],
)
def test_bad_ratings(tree, line, message):
    write(tree / f"human-scores/{LP}.mqm.r1.seg.rating", f"Beta\tNone\n{line}\nBeta\tNone\n")
    if "span" in message:  # segment 2 of Beta has no translation to hold the span against
        write(tree / f"system-outputs/{LP}/Beta.txt", "eins\nzwei\ndrei\n")
    refuses(message, tree / LP, spans=True)


def test_truncated_ratings(tree):
    write(tree / f"human-scores/{LP}.mqm.r1.seg.rating", "Beta\tNone\nBeta\tNone\n")
    refuses(r"system 'Beta' has 2 ratings; expected 3", tree / LP, spans=True)


# -- MQM --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("A\td1\t1\t10\tr1\tA", r"errors\.tsv, line 10: expected 9 tab-separated fields; found 6.*truncated"),
        ("A\td1\t2\t9\tr1\tIt really rains.\tEs regnet.\tStyle\tTerrible", r"line 10: unknown severity 'terrible'"),
        ("A\td1\t2\t9\tr1\tIt really rains.\tEs schneit.\tStyle\tMinor", r"target of system 'A', segment 9 differs"),
        ("A\td1\t2\t9\tr1\tIt snows.\tEs regnet.\tStyle\tMinor", r"source of segment 9 differs"),
        ("A\td1\t2\t\tr1\tIt really rains.\tEs regnet.\tStyle\tMinor", r"line 10: seg_id is empty"),
    ],
)
def test_bad_mqm_rows(tmp_path, row, message):
    refuses(message, write(tmp_path / "errors.tsv", "\n".join([*MQM_ROWS, row]) + "\n"))


def test_bad_mqm_tables(tmp_path):
    refuses(r"has no rows with ratings", write(tmp_path / "errors.tsv", MQM_ROWS[0] + "\n"))
    header = MQM_ROWS[0].replace("seg_id", "number")
    refuses(r"needs the columns .* and seg_id", write(tmp_path / "errors.tsv", header + "\n"))
    path = write(tmp_path / "errors.tsv", "\n".join(MQM_ROWS) + "\n")
    refuses(r"unknown protocol of errors 'da-sqm'. Available: 'mqm'", path, protocol="da-sqm")
    refuses(r"unknown reference of errors 'refB'", path, reference="refB")
    refuses(r"`metrics_from` does not apply", path, metrics_from="x")
    refuses(r"unknown metric 'BLEU'. Available: none", path, metrics=["BLEU"])


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("A -1", r"avg\.tsv, line 3: expected `SYSTEM SCORE SEGMENT`; found 'A -1'"),
        ("A bad 2", r"line 3: expected"),
        ("A 0 1", r"line 3: \('A', 1\) occurs twice"),
    ],
)
def test_bad_averages(tmp_path, row, message):
    refuses(message, write(tmp_path / "avg.tsv", f"system mqm_avg_score seg_id\nA -1 1\n{row}\n"))


def test_newstest2021_cut_short(tmp_path, monkeypatch):
    average = "system mqm_avg_score seg_id\n" + "".join(f"{s}\t-{k} {k}\n" for s in ("Nemo", "ref-C") for k in (1, 2))
    write(tmp_path / "google-mqm/newstest2021/ende/mqm_newstest2021_ende.avg_seg_scores.tsv", average)
    texts = tmp_path / "wmt21-news-systems/txt"
    monkeypatch.setenv("MTMETA_DATA", str(tmp_path))
    refuses(r"wmt21-news-systems/txt is not on this computer.*mtmeta fetch newstest2021", "newstest2021/en-de")
    write(texts / "sources/newstest2021.en-de.src.en", "one\ntwo\n")
    refuses(r"no texts of newstest2021 en-de", "newstest2021/en-de")
    write(texts / "references/newstest2021.en-de.ref.C.de", "eins\nzwei\n")
    write(texts / "system-outputs/newstest2021.en-de.hyp.NVIDIA-NeMo.de", "eins\n")
    refuses(r"NVIDIA-NeMo\.de has 1 lines; expected 2", "newstest2021/en-de")
    write(texts / "system-outputs/newstest2021.en-de.hyp.NVIDIA-NeMo.de", "eins\nzwo\n")
    np.testing.assert_array_equal(load("newstest2021/en-de").human, [[-1, -2]])


def test_wmt17_da_that_does_not_match(tmp_path, monkeypatch):
    folder = tmp_path / "wmt17-da"
    official = write(folder / "DA-seglevel.csv", "LP DATA SYSTEM SID HUMAN\ncs-en n A 7 0.5\ncs-en n B 7 -0.25\n")
    header = "LP\tsource\ttranslation\treference\tHUMAN_score\tsentBLEU\n"
    table = folder / "testset/testset_cs-en.tsv"
    write(table, header + "cs-en\tano\tyes\tyes !\t0.5000000000001\t1\n")
    monkeypatch.setenv("MTMETA_DATA", str(tmp_path))
    es = load("wmt17-da/cs-en")
    assert (es.systems, es.segments, es.human[0, 0]) == (("A",), (7,), 0.5000000000001)
    assert es.provenance["left_out"] == {"1 rated translations": "no text in this collection"}
    write(table, header + "cs-en\tano\tyes\tyes !\t0.4\t1\n")
    refuses(r"data row 1 does not match exactly one row of DA-seglevel.csv", "wmt17-da/cs-en")
    write(table, header + "cs-en\tano\tyes\tyes !\t0.5\t1\ncs-en\tne\tno\tyes !\t-0.25\t1\n")
    refuses(r"segment 7 has two sources or references", "wmt17-da/cs-en")
    write(official, "LP DATA SYSTEM SID HUMAN\ncs-en n A 7 0.5\ncs-en n B 8 0.5\n")
    refuses(r"line 3: 0.500000000 occurs twice for cs-en", "wmt17-da/cs-en")
