"""Loading: trees, MQM tables, own tables, places. Hand-made files first, then the real data."""

import gzip
import io
import json
import lzma
import shutil
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import three_ratings
import wmt24_news
from campaigns import refuses
from trees import LP, MQM_ROWS, OUTPUTS, SOURCES, make_tree, scores, write

import mtmeta as mm
from mtmeta.datasets import _mqm, load, load_all, locate


@pytest.fixture
def tree(tmp_path) -> Path:
    return make_tree(tmp_path / "mine")


def test_tree_scores_are_those_of_the_files(tree):
    es = load(tree / LP)
    assert es.name == "mine/en-de"
    assert es.language_pair == LP
    assert es.systems == ("Alpha", "Beta", "refB")  # natural order, without the reference
    assert es.segments == (1, 2, 3)
    np.testing.assert_array_equal(es.human, [[-1, np.nan, 0], [-6, np.nan, -5.1], [0, np.nan, -1]])
    assert es.metrics == ("BLEU", "Good-QE")
    np.testing.assert_allclose(es["Good-QE"], [[0, 0.1, 0.2], [1, 1.1, 1.2], [3, 3.1, 3.2]])
    assert es.human_systems == {"refB"}
    assert (es.documents, es.domains) == (("doc one", "doc one", "doc2"), ("news", "news", "chat"))
    official = es.system_scores
    assert list(official.index) == ["Alpha", "Beta", "refB"]
    assert official["human"].tolist() == [-0.25, -5.55, -0.5]
    assert official["Good-QE"].tolist() == [0.5, 1.5, 3.5]
    assert official["OnlySystem"].tolist() == [0, 1, 3]  # exists at system level alone
    np.testing.assert_allclose(official["BLEU"], [0.1, 1.1, 3.1])  # no official score: mean over segments
    about = es.provenance
    assert (about["annotation"], about["reference"]) == ("mqm", "refA")
    assert about["variants"] == {"BLEU": "refA", "Good-QE": "src", "OnlySystem": "refA"}
    assert about["left_out"] == {
        "refA": "the reference", "synthetic_ref": "no human scores",
        "3 metric variants": "scored against other references than refA: All-all, BLEU-refB, Both-refA.refB",
    }  # fmt: skip
    assert "left out: refA (the reference)" in repr(es)
    chosen = load(tree / LP, metrics=["Good-QE", "BLEU-refA", "OnlySystem"])
    assert chosen.metrics == ("Good-QE", "BLEU")
    assert list(chosen.system_scores.columns) == ["human", "Good-QE", "BLEU", "OnlySystem"]


def test_sets_of_the_archive_are_loaded_by_name(tmp_path, monkeypatch):
    """The shape that readers of the archive document: WMT20's `ref`, WMT24's folders, WMT25's regions and raters."""
    make_tree(tmp_path / "cache/mtme/wmt24")
    wmt25 = make_tree(tmp_path / "cache/mtme/wmt25", "en-sr_Cyrl_RS")
    for path in (wmt25 / "human-scores").glob("*.mqm.seg.score"):
        for rater in ("esa-human1", "esa-human2", "esa-merged"):
            write(path.with_name(f"en-sr_Cyrl_RS.{rater}.seg.score"), path.read_text())
        path.unlink()
    make_tree(tmp_path / "home/.mt-metrics-eval/mt-metrics-eval-v2/wmt24", "ja-zh")
    monkeypatch.delenv("MTMETA_DATA", raising=False)
    monkeypatch.setenv("MTMETA_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    es = load("mtme/wmt24/en-de")
    assert (es.name, es.shape, es.provenance["annotation"]) == ("wmt24/en-de", (3, 3), "mqm")
    assert es.provenance["reference"] == "refB"
    assert mm.datasets.path_of("mtme/wmt24/en-de") == tmp_path / "cache/mtme/wmt24"
    assert [es.name for es in mm.datasets.load_all("mtme/wmt25")] == ["wmt25/en-sr_Cyrl_RS"]
    assert load("mtme/wmt25").provenance["annotation"] == "esa-human1"
    assert load("mtme/wmt25", annotation="esa").provenance["annotation"] == "esa-human1"
    assert load("mtme/wmt25", annotation="esa-human2").provenance["annotation"] == "esa-human2"
    assert load("wmt24/ja-zh").name == "wmt24/ja-zh"  # of the package's own folder
    refuses("Get it with `mtmeta fetch mt-metrics-eval/wmt19`", load, "mtme/wmt19/en-de")


#: Set, pair, what a small tree calls otherwise, the annotation, the reference, and the candidates.
YEARS = [
    ("wmt19", "de-cs", {"refA": "ref", "mqm": "wmt-raw", "da-sqm": "wmt-z"}, "wmt-raw", "ref", "Alpha Beta refB"),
    ("wmt20", "en-de", {"refA": "ref", "Beta": "zlabs-nlp.179"}, "mqm", "ref", "Alpha refB"),
    ("wmt21.news", "en-de", {"refB": "refC"}, "mqm", "refC", "Alpha Beta refA"),
    ("wmt21.news", "zh-en", {}, "mqm", "refB", "Alpha Beta refA"),
    ("wmt21.tedtalks", "zh-en", {}, "mqm", "refB", "Alpha Beta refA"),
    ("wmt21.flores", "bn-hi", {"mqm": "wmt-raw", "da-sqm": "wmt-z"}, "wmt-raw", "refA", "Alpha Beta refB"),
    ("wmt22", "en-de", {"Beta": "M2M100_1.2B-B4"}, "mqm", "refA", "Alpha refB"),
    ("wmt22", "en-cs", {"mqm": "wmt-appraise", "da-sqm": "wmt-appraise-z"}, "wmt-appraise", "refB", "Alpha Beta refA"),
    ("wmt23", "he-en", {}, "mqm", "refB", "Alpha Beta refA"),
    ("wmt23.sent", "en-de", {}, "mqm", "refA", "Alpha Beta refB"),
    ("wmt24", "en-de", {"Beta": "MSLC"}, "mqm", "refB", "Alpha refA"),
    ("wmt24", "en-cs", {"mqm": "esa", "da-sqm": "auto"}, "esa", "refA", "Alpha Beta refB"),
    ("wmt25", "en-cs_CZ", {"mqm": "esa-human1", "da-sqm": "esa-merged"}, "esa-human1", "refA", "Alpha Beta refB"),
    ("wmt25", "ja-zh_CN", {"da-sqm": "esa-merged"}, "mqm", "refA", "Alpha Beta refB"),
]


@pytest.mark.parametrize(("name", "lp", "renamed", "annotation", "reference", "systems"), YEARS)
def test_peculiarities_of_each_year(tmp_path, monkeypatch, name, lp, renamed, annotation, reference, systems):
    def rename(text):
        for old, new in renamed.items():
            text = text.replace(old, new)
        return text

    root = make_tree(tmp_path / "mtme" / name, lp)
    for path in [path for path in root.rglob("*") if path.is_file()]:
        text = rename(path.read_text())
        path.unlink()
        write(path.with_name(rename(path.name)), text)
    monkeypatch.delenv("MTMETA_DATA", raising=False)
    monkeypatch.setenv("MTMETA_CACHE", str(tmp_path))
    es = load(f"mtme/{name}/{lp}")
    assert (es.name, es.systems) == (f"{name}/{lp}", tuple(systems.split()))
    assert (es.provenance["annotation"], es.provenance["reference"]) == (annotation, reference)
    assert es.human_systems == {s for s in es.systems if s.startswith("ref")}
    if outlier := renamed.get("Beta", "synthetic_ref" if name == "wmt23" else None):
        assert es.provenance["left_out"][outlier] == "an outlier under the published protocol"


def test_nothing_after_a_tab_is_not_rated(tree):
    path = tree / "human-scores/en-de.mqm.seg.score"
    before = load(tree / LP).human
    write(path, path.read_text().replace(" None", "\t").replace("\tNone", "\t"))
    assert "None" not in path.read_text()
    np.testing.assert_array_equal(load(tree / LP).human, before)
    metric = tree / "metric-scores/en-de/Good-QE-src.seg.score"
    write(metric, metric.read_text().replace("0.1\n", "\n", 1))
    refuses("expected `SYSTEM SCORE`", load, tree / LP)


def test_tree_texts(tree):
    texts = load(tree / LP).texts
    assert texts.sources == tuple(SOURCES)  # U+2028 and U+0085 do not end a line
    assert texts.translations["Beta"] == ("Der Katze schläft.", None, "Wir links früh.")
    assert list(texts.references) == ["refA", "refB"]
    assert texts.references["refA"][1] == "Es\u2028regnet."
    assert list(load(tree / LP, reference="refB").texts.references) == ["refB", "refA"]  # the chosen one first
    fields = {"sources/{}": "source", "references/{}.refA": "target", "system-outputs/{}/Alpha": "hypothesis"}
    for place, field in fields.items():
        path = tree / f"{place.format(LP)}.txt"
        lines = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
        write(path.with_suffix(".jsonl"), "".join(json.dumps({field: t, "other": 1}) + "\n" for t in lines))
        path.unlink()
    assert load(tree / LP).texts == texts


def test_tree_reference_and_annotation_choose_candidates_and_variants(tree):
    es = load(tree / LP, reference="refB")
    assert (es.systems, es.human_systems) == (("Alpha", "Beta", "refA"), {"refA"})
    assert es.provenance["variants"]["BLEU"] == "refB"
    both = load(tree / LP, reference="refA.refB")
    assert both.systems == ("Alpha", "Beta")
    # two variants of one metric are kept: both keep their full names
    assert both.metrics == ("All", "BLEU-refA", "BLEU-refB", "Both", "Good-QE")
    es = load(tree / LP, annotation="da-sqm")
    assert es.systems == ("Alpha", "Beta")
    np.testing.assert_array_equal(es.human, [[80, 90, np.nan], [10, 20, 30]])
    (tree / f"human-scores/{LP}.mqm.seg.score").unlink()
    assert load(tree / LP).provenance["annotation"] == "da-sqm"
    assert load(tree / LP, annotation="da").provenance["annotation"] == "da-sqm"
    for name in ("esa-human1", "esa-merged"):  # of no known year: all raters together
        shutil.copy(tree / f"human-scores/{LP}.da-sqm.seg.score", tree / f"human-scores/{LP}.{name}.seg.score")
    assert load(tree / LP).provenance["annotation"] == "esa-merged"


def test_columns_that_are_no_metrics_are_left_out_and_named(tmp_path):
    head = "system,segment,adequacy,fluency,M,year,comment"
    path = write(tmp_path / "t.csv", f"{head}\nA,1,1,4,5,2023,good\nB,1,2,3,6,2024,\n")
    refuses("People seem to rate 'adequacy', 'fluency': name one, --human adequacy", load, path)
    es = load(path, columns={"human": "fluency"})
    assert (es.metrics, es.human.ravel().tolist()) == (("M",), [4, 3])
    left_out = {name.split("'")[1]: why for name, why in es.provenance["left_out"].items()}
    assert [*left_out] == ["adequacy", "year", "comment"]
    assert left_out["adequacy"] == "another human dimension"
    assert load(path, columns={"human": "fluency"}, metrics=["year", "adequacy"]).metrics == ("year", "adequacy")
    write(path, "system,segment,human,M\nA,1,1,n/a?\nB,1,2,0.5\n")
    refuses("column 'M' must hold numbers; found 'n/a\\?'", load, path)  # some numbers: a metric with a fault


def test_a_table_says_what_its_human_scores_are(tmp_path):
    path = write(tmp_path / "t.csv", "system,segment,esa,M\nA,1,0,1\nB,1,100,2\n")
    es = load(path, annotation="esa")
    assert (es.metrics, es.human.ravel().tolist(), es.provenance["annotation"]) == (("M",), [0, 100], "esa")
    assert "esa" in mm.datasets.validate(es).query("what == 'annotation'")["name"].tolist()
    options = {"annotation": "mqm", "columns": {"human": "esa"}}
    refuses("human scores of the annotation 'mqm' are at most 0; found 100", load, path, **options)
    write(path, "system,segment,human,M\nA,1,-1,1\nB,1,100,2\n")
    refuses("human scores of the annotation 'esa' are between 0 and 100; found -1", load, path, annotation="esa")
    assert load(path, annotation="da-z").human[0, 0] == -1  # a name without a known range


def test_tree_metric_that_lacks_a_candidate_is_left_out_or_kept_with_holes(tree):
    write(tree / f"metric-scores/{LP}/Part-src.seg.score", scores({"Alpha": [1, 2, 3], "Beta": [4, 5, 6]}))
    es = load(tree / LP)
    assert "Part" not in es
    assert "no scores for refB" in es.provenance["left_out"]["metric Part"]
    np.testing.assert_array_equal(load(tree / LP, missing="nan")["Part"], [[1, 2, 3], [4, 5, 6], [np.nan] * 3])
    refuses(r"Part-src\.seg\.score: metric Part has no scores for refB", load, tree / LP, metrics=["Part"])
    assert load(tree).language_pair == LP  # one pair: it need not be named
    make_tree(tree, "cs-uk")
    assert [es.name for es in load_all(tree)] == ["mine/cs-uk", "mine/en-de"]
    assert load(tree / "cs-uk").language_pair == "cs-uk"


def test_metrics_from_folder_and_from_folder_by_language_pair(tree, tmp_path, monkeypatch):
    extra = {s: [9, 9, 8] for s in OUTPUTS}
    write(tmp_path / "flat/Mine-src.seg.score", scores(extra))
    write(tmp_path / f"deep/{LP}/Plain.seg.score", scores(extra))
    es = load(tree / LP, metrics_from=[tmp_path / "flat", str(tmp_path / "deep")])
    np.testing.assert_array_equal(es["Mine"], [[9, 9, 8]] * 3)
    assert es.provenance["variants"]["Mine"] == "src"
    assert es.provenance["variants"]["Plain"] is None  # the name does not say what it saw
    monkeypatch.setenv("MTMETA_DATA", str(tmp_path))
    assert "Plain" in load(tree / LP, metrics_from="deep")


@pytest.fixture
def mqm_file(tmp_path) -> Path:
    return write(tmp_path / "errors.tsv", "\n".join(MQM_ROWS) + "\n")


def test_mqm_scores_sum_per_rater_and_average_over_raters(mqm_file):
    es = load(mqm_file)
    assert es.systems == ("A", "B")
    assert es.segments == (9, 10)  # in numeric order
    # A, segment 10: rater r1 5 + 0.1, rater r2 none: mean 2.55; segment 9: an omission, and an attention check
    np.testing.assert_allclose(es.human, [[-1, -2.55], [0, -25]])
    assert not np.signbit(es.human[1, 0])
    assert es.documents == ("d1", "d1")
    assert es.texts.sources == ("It really rains.", 'A "dog" barks.')  # marks removed, quotes literal
    assert es.texts.translations["A"] == ("Es regnet.", 'Ein "Katze" bellt.')
    assert es.texts.references == {"refA": (None, 'Ein "Hund" bellt.')}
    assert es.provenance["left_out"] == {"refA": "the reference"}


TABLE = "system,segment,human,X\nNA,1,-1,0.5\nNA,2,,NaN\nNone,1,0,None\nNone,2,NA,0.25\n"


def test_texts_and_holes_of_all_formats(tmp_path):
    texts = ["a\tb", 'say "x",\nthen', None, "ü\u2028"]
    frame = pd.DataFrame({"system": ["A", "A", "NA", "NA"], "segment": [1, 2, 1, 2], "human": [0.5, None, -25, 1e-50]})
    frame = frame.assign(X=[0.25, 2, None, 4], source=["null", "None"] * 2, translation=texts)
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_csv(tmp_path / "t.tsv", index=False, sep="\t")
    frame.to_json(tmp_path / "t.jsonl", orient="records", lines=True, force_ascii=False)
    frame.to_parquet(tmp_path / "t.parquet")
    for suffix in ("csv", "tsv", "parquet", "jsonl"):
        es = load(tmp_path / f"t.{suffix}")
        assert (es.name, es.systems, es.segments) == ("t", ("A", "NA"), (1, 2))
        np.testing.assert_allclose(es.human, [[0.5, np.nan], [-25, 1e-50]], atol=1e-15)
        np.testing.assert_array_equal(es["X"], [[0.25, 2], [np.nan, 4]])
        assert es.texts.sources == ("null", "None")
        assert es.texts.translations == {"A": ("a\tb", 'say "x",\nthen'), "NA": (None, "ü\u2028")}


def test_table_from_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TABLE.replace(",", "\t").encode())))
    es = load("-")
    assert (es.name, es.systems) == ("stdin", ("NA", "None"))


def test_table_of_several_language_pairs_or_with_holes(tmp_path):
    path = write(tmp_path / "h.csv", "system,segment,human,X,note\nA,1,1,1,hm\nA,2,1,2,hm\nB,1,2,3,hm\n")
    es = load(path, metrics=["X"], missing="nan")
    np.testing.assert_array_equal(es["X"], [[1, 2], [3, np.nan]])
    assert (es.metrics, [*es.provenance["left_out"]]) == (("X",), ["column 'note'"])
    rows = "lp,system,segment,human,X,Y\nen-de,A,1,1,1,\nen-de,B,1,2,2,\nde-en,A,1,3,3,5\n"
    second, first = load_all(write(tmp_path / "t.csv", rows))
    assert (first.name, first.language_pair, first.systems) == ("t/en-de", "en-de", ("A", "B"))
    assert (first.metrics, second.metrics) == (("X",), ("X", "Y"))
    assert first.provenance["left_out"] == {"metric Y": "no score in en-de"}
    assert len(load_all(write(tmp_path / "u.csv", TABLE))) == 1


def test_locate_looks_in_the_data_directory_then_the_cache_then_the_home(tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    for variable, name in (("MTMETA_DATA", "data"), ("MTMETA_CACHE", "cache"), ("HOME", "home")):
        monkeypatch.setenv(variable, str(tmp_path / name))
    for place in ("home/.mt-metrics-eval", "cache", "data"):
        write(tmp_path / place / "mt-metrics-eval-v2/wmt99/x", "")
        assert locate("mt-metrics-eval-v2/wmt99") == tmp_path / place / "mt-metrics-eval-v2/wmt99"
    make_tree(tmp_path / "cache/mt-metrics-eval-v2/wmt23")  # a download that was not finished
    refuses(r"download of 'wmt23' is not complete: \d+ files .*mtmeta fetch wmt23", load, "wmt23/en-de")


@pytest.mark.data
@pytest.mark.parametrize(
    ("lp", "n_systems", "n_segments", "n_rated", "pearson"),
    # pooled Pearson of XCOMET-Ensemble: Perrella et al. 2024 (ACL), tables 5 to 10
    [("en-de", 12, 557, 460, 0.6953), ("he-en", 13, 1910, 820, 0.5561), ("zh-en", 15, 1976, 1177, 0.6503)],
)
def test_wmt23(data_dir, lp, n_systems, n_segments, n_rated, pearson):
    es = load(f"wmt23/{lp}", metrics_from="wmt23-sentinels")
    assert es.shape == (n_systems, n_segments)
    rated = ~np.isnan(es.human)
    assert rated.any(axis=0).sum() == rated.all(axis=0).sum() == n_rated
    assert len(es.metrics) == 43 + 6
    assert {"slide", "HuaweiTSC_EE_Metric"} <= set(es.system_scores.columns)
    assert not es.system_scores.isna().any(axis=None)
    assert es.human_systems == ({"refA"} if lp == "he-en" else set())
    # the official system scores are means over rated segments
    np.testing.assert_allclose(es.system_scores["human"], np.nanmean(es.human, axis=1), atol=1e-12)
    value = np.corrcoef(es.human[rated], es["XCOMET-Ensemble"][rated])[0, 1]
    assert value == pytest.approx(pearson, abs=5e-5)


@pytest.mark.data
@pytest.mark.parametrize(("lp", "reference", "n_systems"), [("en-de", "refA", 13), ("zh-en", "refB", 14)])
def test_ted_scores_are_the_published_averages(data_dir, lp, reference, n_systems):
    es = load(f"ted/{lp}")
    assert es.shape == (n_systems, 529)
    assert es.provenance["reference"] == reference
    assert not np.isnan(es.human).any()
    folder = lp.replace("-", "")
    rows = _mqm._read_averages(data_dir / f"google-mqm/ted/{folder}/mqm_ted_{folder}.avg_seg_scores.tsv")
    averages = rows.pivot(index="system", columns="segment", values="human").loc[[*es.systems], [*es.segments]]
    np.testing.assert_allclose(es.human, averages, atol=5e-7)  # six decimals are published


@pytest.mark.data
def test_newstest2021(data_dir):
    en_de, zh_en = load_all("newstest2021")
    assert en_de.shape == (10, 1002)
    assert en_de.human_systems == {"refA", "refD"}
    assert next(iter(en_de.texts.references)) == en_de.provenance["reference"] == "refC"
    assert zh_en.shape == (8, 1948)
    assert not zh_en.human_systems
    assert (~np.isnan(en_de.human)).all(axis=0).sum() == 527
    assert (~np.isnan(zh_en.human)).all(axis=0).sum() == 650
    # the table of system means in the README of the MQM collection
    assert en_de.system_scores.loc["VolcTrans-GLAT", "human"] == pytest.approx(-1.04, abs=0.005)
    assert zh_en.system_scores.loc["NiuTrans", "human"] == pytest.approx(-4.63, abs=0.005)


@pytest.mark.data
def test_wmt17_da(data_dir):
    sets = load_all("wmt17-da")
    assert [(~np.isnan(es.human)).sum() for es in sets] == [560, 560, 560, 435, 560, 560, 560]
    for es in sets:
        rated = ~np.isnan(es.human)
        has_text = np.array([[t is not None for t in es.texts.translations[s]] for s in es.systems])
        np.testing.assert_array_equal(rated, has_text)
        np.testing.assert_array_equal(rated, ~np.isnan(es["sentBLEU"]))
    official = pd.read_csv(data_dir / "wmt17-da/DA-seglevel.csv", sep=" ")
    for es in sets:
        part = official[official["LP"] == es.language_pair].set_index(["SYSTEM", "SID"])["HUMAN"]
        table = es.to_frame().dropna(subset="human").set_index(["system", "segment"])["human"]
        np.testing.assert_allclose(table, part.loc[list(table.index)], atol=1e-9)


def test_wmt24_news_comes_with_the_package(monkeypatch, tmp_path):
    monkeypatch.delenv("MTMETA_DATA", raising=False)
    monkeypatch.setenv("MTMETA_CACHE", str(tmp_path))
    german, spanish = load_all("wmt24-news")
    assert [(es.name, es.language_pair, es.shape) for es in (german, spanish)] == [
        ("wmt24-news/en-de", "en-de", (17, 90)), ("wmt24-news/en-es", "en-es", (13, 124)),
    ]  # fmt: skip
    assert (len(german.metrics), german.metrics) == (24, spanish.metrics)
    assert {"sentinel-cand", "sentinel-ref", "sentinel-src"} < {*german.metrics}
    assert (german.human_systems, spanish.human_systems, german.texts) == ({"refB"}, frozenset(), None)
    assert (german.segments[:3], german.systems[0], spanish.systems[-1]) == ((1, 2, 3), "Aya23", "Unbabel-Tower70B")
    for es, means in ((german, (-1.9791, 25.1669, 0.8481)), (spanish, (-0.4246, 41.8425, 0.8585))):
        assert not np.isnan([es.human, *(es[metric] for metric in es.metrics)]).any()
        assert not np.signbit(es.human[es.human == 0]).any()
        assert (es.human.mean(), es["BLEU"].mean(), es["COMET-22"].mean()) == pytest.approx(means, abs=5e-5)
    about = german.provenance
    assert (about["annotation"], about["reference"]) == ("mqm", "refA")
    assert about["source"].startswith("MSLC24: https://github.com/nrc-cnrc/MSLC/tree/2d2e57f")
    assert about["licence"].startswith("CC BY 4.0")
    assert load("wmt24-news/en-de", metrics=["BLEU"], annotation="mqm").metrics == ("BLEU",)
    refuses("`reference` does not apply to wmt24-news", load, "wmt24-news/en-de", reference="refA")


@pytest.mark.data
def test_wmt24_news_are_the_published_scores(data_dir):
    del data_dir
    for es in load_all("wmt24-news"):
        rows = wmt24_news.published(es.language_pair).set_index(["system", "segment"]).drop(columns="lp").astype(float)
        found = es.to_frame().astype({"segment": str}).set_index(["system", "segment"])
        pd.testing.assert_frame_equal(found, rows.loc[found.index, list(found)], check_exact=True)


# -- tables as people have them ---------------------------------------------------------------

WIDE = "system,segment,human,X\nA,1,0,.9\nA,2,-6,.2\nB,1,-1,.9\nB,2,-7,.2\n"


#: Without the time, which would stand in the names of tests: each process must collect the same.
PACKED = gzip.compress(WIDE.encode(), mtime=0)


@pytest.mark.parametrize(("name", "write"), [
    ("t.csv.gz", lambda path: path.write_bytes(PACKED)),
    ("t.tsv.xz", lambda path: path.write_bytes(lzma.compress(WIDE.replace(",", "\t").encode("utf-16")))),
])  # fmt: skip
def test_packed_tables(tmp_path, name, write):
    (tmp_path / "plain.csv").write_text(WIDE)
    write(tmp_path / name)
    es = mm.load(tmp_path / name)
    assert es.to_frame().equals(mm.load(tmp_path / "plain.csv").to_frame())
    assert es.name == "t"


def test_excel_is_read_or_says_what_it_needs(tmp_path, monkeypatch):
    frame = pd.read_csv(io.StringIO(WIDE))
    try:
        frame.assign(system=["NA", "NA", "B", "B"]).to_excel(tmp_path / "t.xlsx", index=False)
        assert mm.load(tmp_path / "t.xlsx").systems == ("B", "NA")
    except ModuleNotFoundError:
        (tmp_path / "t.xlsx").write_bytes(b"")
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    refuses(r"need openpyxl: pip install 'mtmeta\[excel\]'", load, tmp_path / "t.xlsx")


def test_columns_have_the_names_that_they_are_given(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(WIDE.replace("system,segment,human", "Sys,seg_id,mqm"))
    says = "'Sys' seems to be 'system', 'mqm' seems to be 'human', 'seg_id' seems .*"
    refuses(f"{says}if so, pass columns='system=Sys,human=mqm,segment=seg_id'", load, path)
    names = {"system": "Sys", "human": "mqm", "segment": "seg_id"}
    wide = mm.EvalSet.from_frame(pd.read_csv(io.StringIO(WIDE)))
    assert mm.load(path, columns=names).to_frame().equals(wide.to_frame())
    refuses(r"has a column 'X' already", load, path, columns={"X": "mqm"})


def test_a_long_table_becomes_one_column_a_metric(tmp_path):
    wide = pd.read_csv(io.StringIO(WIDE))
    long = wide.melt(["system", "segment"], var_name="metric", value_name="score")
    long.to_csv(tmp_path / "t.csv", index=False)
    assert mm.load(tmp_path / "t.csv").to_frame().equals(mm.EvalSet.from_frame(wide).to_frame())
    pd.concat([long, long.head(1)]).to_csv(tmp_path / "t.csv", index=False)
    refuses("several rows of system 'A', segment '1', metric 'human'", load, tmp_path / "t.csv")


@pytest.mark.parametrize("name", ["index", "Unnamed: 0"])
def test_what_numbers_the_rows_is_no_metric(tmp_path, name):
    pd.read_csv(io.StringIO(WIDE)).assign(**{name: range(4)}).to_csv(tmp_path / "t.csv", index=False)
    assert mm.load(tmp_path / "t.csv").metrics == ("X",)
    assert mm.load(tmp_path / "t.csv", metrics=["X", name]).metrics == ("X", name)


def test_several_references(tmp_path):
    path = tmp_path / "t.csv"
    frame = pd.read_csv(io.StringIO(WIDE)).assign(reference=["a", "b"] * 2, reference_B=["c", "d"] * 2)
    frame.to_csv(path, index=False)
    es = mm.load(path)
    assert es.metrics == ("X",)
    assert es.texts.references == {"reference": ("a", "b"), "reference_B": ("c", "d")}
    refuses("must hold one text a row", mm.EvalSet.from_frame, frame.assign(reference=[["a", "b"]] * 4))


@pytest.mark.data
@pytest.mark.parametrize(("lp", "shape", "paired"), [
    ("en-de", (12, 145), (8, 104)), pytest.param("zh-en", (15, 687), (10, 377), marks=pytest.mark.exhaustive),
])  # fmt: skip
def test_segments_with_three_ratings(lp, shape, paired):
    """Each segment's official ratings are those of one set; a fortieth of zh-en is of none."""
    whole = load(f"wmt23/{lp}")
    es, pairs = three_ratings.human_parity(lp), three_ratings.side_by_side(lp)
    for found, expected in ((es, shape), (pairs, paired)):
        assert (found.shape, found.ratings.shape) == (expected, (3, *expected))
        official = whole.select(systems=found.systems, segments=found.segments)
        assert np.array_equal(found["chrF"], official["chrF"])
    assert np.corrcoef(pairs.ratings.mean(axis=0).ravel(), official.human.ravel())[0, 1] > 0.5
    assert (es.metrics, np.isnan(es.ratings).any()) == (whole.metrics, False)
    same = np.isclose(es.ratings, whole.select(segments=es.segments).human, atol=1e-6).all(axis=1).any(axis=0)
    assert same.mean() > 0.97
