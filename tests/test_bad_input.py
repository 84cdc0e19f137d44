"""Bad input: one clear error each, which says what is wrong, where, and what to do."""

import campaigns
import numpy as np
import pandas as pd
from corpus._tables import GOOD
from trees import LP, MQM, OUTPUTS, make_tree, scores, write

from mtmeta.datasets import load


def refuses(message, *args, **options):
    campaigns.refuses(message, load, *args, **options)


def test_table_options_and_arguments_that_are_no_path(tmp_path):
    path = write(tmp_path / "t.csv", GOOD)
    for option in ({"reference": "refA"}, {"metrics_from": "wmt23-sentinels"}):
        refuses(rf"`{next(iter(option))}` does not apply to a table", path, **option)
    refuses(r"`missing` must be one of 'raise', 'nan'; found 'drop'", path, missing="drop")
    refuses(r"expected a set name or a path; found DataFrame.*from_frame", pd.DataFrame(), error=TypeError)
    refuses(r"a folder without human-scores.*metrics_from", tmp_path)


def test_data_that_are_not_here(tmp_path, monkeypatch):
    monkeypatch.setenv("MTMETA_DATA", str(tmp_path))
    monkeypatch.setenv("MTMETA_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path))
    for name, fetch in (("wmt23/zh-en", "wmt23"), ("ted/en-de", "ted"), ("newstest2021/en-de", "newstest2021")):
        refuses(rf"not on this computer. Looked in \$MTMETA_DATA.*`mtmeta fetch {fetch}`", name)
    monkeypatch.setenv("MTMETA_DATA", str(tmp_path / "gone"))
    refuses(r"\$MTMETA_DATA is '.*gone', which is not a directory", "wmt23/zh-en")


def test_tree_options(tmp_path):
    tree = make_tree(tmp_path / "mine")
    refuses(r"unknown part of mine 'de-en'.*'en-de'", tree / "de-en")
    refuses(r"unknown annotation of mine/en-de 'esa'. Available: 'da-sqm', 'mqm'", tree / LP, annotation="esa")
    both = r"'Both'.* was not scored against refA; load with reference='refA.refB'"
    refuses(both, tree / LP, metrics=["Both"])
    refuses(r"metrics_from: .*empty holds no .seg.score files", tree / LP, metrics_from=(tmp_path / "empty"))
    make_tree(tree, "cs-uk")
    refuses(r"holds 2 parts: mine/cs-uk, mine/en-de", tree)
    write(tmp_path / "more/BLEU-refA.seg.score", scores({s: [1, 2, 3] for s in OUTPUTS}))
    refuses(r"metric 'BLEU-refA' occurs twice: .*Rename one of them", tree / LP, metrics_from=(tmp_path / "more"))
    write(tree / f"human-scores/{LP}.mqm.seg.score", scores({s: ["None"] * 3 for s in MQM}))
    refuses(r"no candidate system has a human score under annotation 'mqm'", tree / LP)


def test_newstest2021_cut_short(tmp_path, monkeypatch):
    average = "system mqm_avg_score seg_id\n" + "".join(f"{s}\t-{k} {k}\n" for s in ("Nemo", "ref-C") for k in (1, 2))
    write(tmp_path / "google-mqm/newstest2021/ende/mqm_newstest2021_ende.avg_seg_scores.tsv", average)
    texts = tmp_path / "wmt21-news-systems/txt"
    monkeypatch.setenv("MTMETA_DATA", str(tmp_path))
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
    refuses(r"data row 1 matches no row of DA-seglevel.csv", "wmt17-da/cs-en")
    write(table, header + "cs-en\tano\tyes\tyes !\t0.5\t1\ncs-en\tne\tno\tyes !\t-0.25\t1\n")
    refuses(r"column '.*' differs between the rows of segment 7", "wmt17-da/cs-en")
    write(official, "LP DATA SYSTEM SID HUMAN\ncs-en n A 7 0.5\ncs-en n B 8 0.5\n")
    refuses(r"are not the published ones .*\n.*\n.*\n0\.500000000", "wmt17-da/cs-en")
