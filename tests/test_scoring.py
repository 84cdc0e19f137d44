"""Scores from text: sacreBLEU and its guard."""

import re

import pytest
import sacrebleu
from campaigns import refuses

import mtmeta as mm
from mtmeta import scoring
from mtmeta.scoring._references import check_references

HYPOTHESES = ["the cat sat on the mat .", "he said that it rains", "no"]
REFERENCES = ["the cat sat on a mat .", "he says it is raining today", "no"]


def test_a_second_reference_may_lack_segments():
    two = [REFERENCES, [*REFERENCES[:2], None]]
    assert scoring.score_texts(HYPOTHESES, two).score == sacrebleu.corpus_bleu(HYPOTHESES, two).score
    for level in ("corpus", "segment"):
        assert "nrefs:var" in scoring.score_texts(HYPOTHESES, two, level=level).signature


def test_effective_order_is_named_and_nothing_is_logged(caplog):
    ways = [("bleu", "segment"), ("bleu", "corpus"), ("chrf", "segment"), ("chrf", "corpus")]
    found = [scoring.score_texts(["a b"], ["a b"], metric, level=level).signature for metric, level in ways]
    assert [re.search("eff:(yes|no)", text)[1] for text in found] == ["yes", "no", "yes", "yes"]
    assert caplog.text == ""


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"metric": "rouge"}, "`metric` must be one of 'bleu', 'chrf'"),
        ({"metric": "chrf", "tokenize": "13a"}, "applies to BLEU alone"),
        ({"metric": "ter", "effective_order": True}, "TER does not have"),
    ],
)
def test_options_are_checked(options, match):
    refuses(match, scoring.scorer, **options)


@pytest.mark.parametrize("failure", [ImportError, RuntimeError, OSError, SystemExit])
def test_tokenizer_without_its_package_or_model(monkeypatch, failure):
    def fails(*_, **__):
        raise failure("no such package")

    monkeypatch.setattr(sacrebleu.metrics, "BLEU", fails)
    refuses("tokenizer 'flores200' .*no such package", scoring.scorer, tokenize="flores200")


@pytest.mark.parametrize(
    ("references", "verdict", "scored", "match"),
    [
        ([REFERENCES], "ok", 3, "each scored against one reference"),
        ([REFERENCES, REFERENCES], "ok", 3, "against 2 references"),
        (REFERENCES, "flat", 2, "single characters"),
        ([[r] for r in REFERENCES], "transposed", 1, "scores the first hypothesis against all 3 references"),
        ([[r, r] for r in REFERENCES], "one list per hypothesis", 2, "one list of references per hypothesis"),
        ([["a"], ["a", "b"], ["a"]], "one list per hypothesis", 1, "1 to 2 references"),
        ([[r] * 3 for r in REFERENCES], "ambiguous", 3, "transpose"),
        ([REFERENCES[:2]], "length mismatch", 2, "scores the first 2 of 3"),
        ([[*REFERENCES, "more"]], "length mismatch", 3, "no line is missing"),
        (["a", "b"], "length mismatch", 1, "plain list of 2"),
    ],
)
def test_shapes_are_explained(references, verdict, scored, match):
    shape = mm.scoring.explain_reference_shape(HYPOTHESES, references)
    assert (shape.verdict, shape.n_scored) == (verdict, scored)
    assert match in str(shape)
    assert shape.signature == f"references:{verdict}|scored:{scored}/3"
    # the number is what sacreBLEU really does
    metric = scoring.scorer()
    assert len(metric._extract_corpus_statistics(HYPOTHESES, references)) == scored
    if verdict in ("ok", "ambiguous", "flat"):
        assert len(check_references(HYPOTHESES, references)[0]) == 3
    else:
        refuses(f"^{re.escape(shape.explanation)}$", scoring.score_texts, HYPOTHESES, references)


@pytest.mark.parametrize(
    ("hypotheses", "references", "match"),
    [
        ([], [["a"]], "nothing to score"),
        (["a", "b"], [["a", None]], r"1 segment\(s\) have no reference, the first .* segment number 2"),
    ],
)
def test_what_is_no_reference_is_refused(hypotheses, references, match):
    refuses(match, check_references, hypotheses, references)


def test_one_hypothesis_is_not_transposed():
    for references in ([["a"]], [["a"], ["b"]]):
        assert scoring.explain_reference_shape(["a"], references).verdict == "ok"
