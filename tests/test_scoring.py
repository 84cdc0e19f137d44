"""Scores from text: sacreBLEU and its guard, neural metrics in processes of their own."""

import os
import re
import subprocess
import sys
import textwrap
from functools import partial

import numpy as np
import pandas as pd
import pytest
import sacrebleu
from campaigns import refuses

import mtmeta as mm
from mtmeta import scoring

HYPOTHESES = ["the cat sat on the mat .", "he said that it rains", "no"]
REFERENCES = ["the cat sat on a mat .", "he says it is raining today", "no"]


def test_a_second_reference_may_lack_segments():
    two = [REFERENCES, [*REFERENCES[:2], None]]
    assert scoring.score_corpus(HYPOTHESES, two).score == sacrebleu.corpus_bleu(HYPOTHESES, two).score
    for score in (scoring.score_corpus, scoring.score_segments):
        assert "nrefs:var" in score(HYPOTHESES, two).signature


def test_effective_order_is_named_and_nothing_is_logged(caplog):
    ways = ((scoring.score_segments, "bleu", None), (scoring.score_segments, "bleu", False))
    ways += ((scoring.score_corpus, "bleu", None), (scoring.score_corpus, "chrf", False))
    found = [score(["a b"], ["a b"], metric, effective_order=order).signature for score, metric, order in ways]
    assert [re.search("eff:(yes|no)", text)[1] for text in found] == ["yes", "no", "no", "no"]
    assert caplog.text == ""


def test_chinese_has_a_tokenizer():
    translation, reference = ["今天天气很好,我们去公园。"], ["今天天气不错,我们去公园。"]
    characters = scoring.score_corpus(translation, reference, tokenize="zh")
    assert characters.score > scoring.score_corpus(translation, reference, tokenize="13a").score + 30


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"metric": "rouge"}, "`metric` must be one of 'bleu', 'chrf'"),
        ({"tokenize": "moses"}, "`tokenize` must be one of '13a'"),
        ({"metric": "chrf", "tokenize": "13a"}, "applies to BLEU alone"),
        ({"metric": "ter", "effective_order": True}, "TER does not have"),
        ({"level": "document"}, "`level` must be"),
        ({"effective_order": "yes"}, "`effective_order` must be one of True, False, None; found 'yes'"),
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
    shape = mm.aggregation.explain_reference_shape(HYPOTHESES, references)
    assert (shape.verdict, shape.n_scored) == (verdict, scored)
    assert match in str(shape)
    assert shape.signature == f"references:{verdict}|scored:{scored}/3"
    # the number is what sacreBLEU really does
    metric = scoring.scorer()
    assert len(metric._extract_corpus_statistics(HYPOTHESES, references)) == scored
    if verdict in ("ok", "ambiguous", "flat"):
        assert len(scoring.check_references(HYPOTHESES, references)[0]) == 3
    else:
        for score in (scoring.score_corpus, scoring.score_segments):
            refuses(f"^{re.escape(shape.explanation)}$", score, HYPOTHESES, references)


@pytest.mark.parametrize(
    ("hypotheses", "references", "error", "match"),
    [
        (["a"], "a", TypeError, "found str"),
        (["a", "b"], ["a", ["b"]], TypeError, "mix strings and lists"),
        (["a", "b"], [["a", 1]], TypeError, "list 1 of the references must hold strings; found int at position 2"),
        ("a", [["a"]], TypeError, "hypotheses must be a sequence of strings; found str"),
        (["a"], [], ValueError, "references are empty"),
        ([], [["a"]], ValueError, "nothing to score"),
        (["a", "b"], [["a", None]], ValueError, r"1 segment\(s\) have no reference, the first .* segment number 2"),
    ],
)
def test_what_is_no_reference_is_refused(hypotheses, references, error, match):
    refuses(match, scoring.check_references, hypotheses, references, error=error)


def test_one_hypothesis_is_not_transposed():
    for references in ([["a"]], [["a"], ["b"]]):
        assert scoring.explain_reference_shape(["a"], references).verdict == "ok"


TEXTS = pd.DataFrame({
    "source": ["eins", "zwei, 3", "„drei“"], "translation": ["one", 'two, "3"\nlines', "three"],
    "reference": ["one", "two", "trois"],
})  # fmt: skip
#: Packages with the interface of the real ones; they score by length, and check what they are given.
STUBS = {
    "torch/__init__.py": """
        from contextlib import nullcontext as inference_mode

        class cuda:
            device_count = staticmethod(lambda: 2)
            is_available = staticmethod(lambda: True)
        """,
    "transformers/__init__.py": """
        class Inputs(dict):
            def to(self, device):
                assert device == "cuda"
                return self

        class AutoTokenizer:
            def from_pretrained(name, *, trust_remote_code):
                assert (name, trust_remote_code) == ("google/mt5-xl", False)
                return AutoTokenizer()

            def __call__(self, texts, max_length, truncation):
                return {"input_ids": [[*text, "end"] for text in texts]}

            def pad(self, batch, return_tensors):
                return Inputs(batch)
        """,
    "metricx24/__init__.py": "",
    "metricx24/models.py": """
        class Errors(list):
            float = flatten = lambda self: self
            tolist = lambda self: list(self)

        class MT5ForRegression:
            to = lambda self, device: self
            eval = lambda self: self

            def from_pretrained(name, *, trust_remote_code):
                assert (name, trust_remote_code) == ("google/metricx-24-hybrid-large-v2p6", False)
                return MT5ForRegression()

            def __call__(self, input_ids):
                self.predictions = Errors(len(ids) / 8 for ids in input_ids)
                return self
        """,
    "comet/__init__.py": """
        import os

        def download_model(model):
            if os.path.exists(model):
                raise KeyError(f"Model '{model}' not supported by COMET.")
            return "/models/" + model

        class Prediction(dict):
            __getattr__ = dict.__getitem__

        UNITE = (("src", "src"), ("ref", "ref"), ("unified", "mt"))

        class Model:
            def __init__(self, path):
                assert path.startswith("/models/") or os.path.isfile(path)
                self.path = path
                self.optional = "kiwi" in path or "xcomet" in path

            def requires_references(self):
                return not self.optional

            def predict(self, samples, batch_size=16, gpus=1, progress_bar=True):
                assert batch_size == 4 and gpus == 1
                assert all({"src", "mt"} <= set(s) and (self.optional or s["ref"]) for s in samples)
                assert len({"ref" in s for s in samples}) == 1  # the real one takes what the first has
                if "STOPS" in os.environ and any("stop" in s["mt"] for s in samples):
                    os.write(2, bytes([255]))
                    raise SystemExit("stopped")
                scores = [(len(s["mt"]) + len(s.get("ref", "")) * ("xcomet" in self.path)) / 8 for s in samples]
                parts = {f"{p}_scores": [len(s[k]) for s in samples] for p, k in UNITE} if "unite" in self.path else {}
                return Prediction(scores=scores, system_score=sum(scores) / len(scores), metadata=parts)

        load_from_checkpoint = Model
        """,
    "bleurt/__init__.py": "",
    "bleurt/score.py": """
        class BleurtScorer:
            def __init__(self, checkpoint=None):
                assert checkpoint == "BLEURT-20"

            def score(self, *, references=[], candidates=[], batch_size=None):
                return [len(c) - len(r) for c, r in zip(candidates, references)]
        """,
    "bert_score/__init__.py": """
        class Tensor(list):
            def tolist(self):
                return list(self)

        class BERTScorer:
            def __init__(self, model_type=None, lang=None, batch_size=64, device=None):
                assert (model_type is None) != (lang is None)

            def score(self, cands, refs):
                return Tensor([0.0] * len(cands)), Tensor([1.0] * len(cands)), Tensor([len(r) / 4 for r in refs])
        """,
}


@pytest.fixture
def stubs(tmp_path, monkeypatch):
    for name, text in STUBS.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(textwrap.dedent(text))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)


@pytest.mark.usefixtures("stubs")
def test_neural_metrics_run_in_their_own_process():
    lengths = TEXTS.translation.str.len()
    np.testing.assert_allclose(scoring.score_neural(TEXTS, "comet", batch_size=4), lengths / 8)
    options = {"model": "Unbabel/wmt22-cometkiwi-da", "batch_size": 4}
    kiwi = scoring.score_neural(TEXTS.drop(columns="reference"), "comet", **options)
    np.testing.assert_allclose(kiwi, lengths / 8)
    np.testing.assert_allclose(scoring.score_neural(TEXTS, "bleurt"), lengths - TEXTS.reference.str.len())
    for options in ({"language": "de"}, {"model": "bert-base-multilingual-cased"}):
        scores = scoring.score_neural(TEXTS, "bertscore", python=sys.executable, **options)
        np.testing.assert_allclose(scores, TEXTS.reference.str.len() / 4)
    for part, column in (("src", "source"), ("ref", "reference"), ("unified", "translation")):
        found = scoring.score_neural(TEXTS, f"unite_{part}", batch_size=4)
        assert found.tolist() == TEXTS[column].str.len().tolist()
    unite = partial(scoring.score_neural, metric="unite_unified", batch_size=4)
    pairs = scoring.score_pairs(TEXTS.assign(perturbed="g"), (), extra={"unite": unite})
    assert pairs["unite"].tolist() == lengths.tolist()
    assert pairs["unite_perturbed"].tolist() == [1, 1, 1]
    refuses("ended with exit status 1", scoring.score_neural, TEXTS, "comet", batch_size=5)
    found = scoring.score_neural(TEXTS.assign(reference=["a", "", None]), "metricx")
    texts = "source: " + TEXTS.source + " candidate: " + TEXTS.translation + pd.Series([" reference: a", "", ""])
    assert found.tolist() == (-texts.str.len() / 8).tolist()


@pytest.mark.usefixtures("stubs")
def test_comet_reads_a_checkpoint_or_its_folder(tmp_path, monkeypatch):
    lengths = (TEXTS.translation.str.len() / 8).tolist()
    path = tmp_path / "mine" / "checkpoints" / "model.ckpt"
    path.parent.mkdir(parents=True)
    path.touch()
    monkeypatch.chdir(path.parent)
    for model in (tmp_path / "mine", str(path), "model.ckpt"):
        assert scoring.score_neural(TEXTS, "comet", model=model, batch_size=4).tolist() == lengths


@pytest.mark.usefixtures("stubs")
def test_a_missing_reference_is_refused_where_the_model_needs_one():
    part = TEXTS.assign(reference=["a", "", None])
    refuses("needs a reference, and 2 rows have none", scoring.score_neural, part, "comet", batch_size=4)
    kiwi = scoring.score_neural(part, "comet", model="kiwi", batch_size=4)
    assert kiwi.tolist() == (TEXTS.translation.str.len() / 8).tolist()
    # a model that can do without takes each reference that there is
    found = scoring.score_neural(TEXTS.assign(reference=[None, "abcdefgh", ""]), "comet", model="xcomet", batch_size=4)
    assert found.tolist() == (TEXTS.translation.str.len() / 8 + [0, 1, 0]).tolist()


@pytest.mark.usefixtures("stubs")
def test_a_model_that_is_written_anew_scores_anew(tmp_path):
    model, cache = tmp_path / "model.ckpt", tmp_path / "cache.csv"
    score = partial(scoring.score_neural, TEXTS, "comet", model=model, batch_size=4, cache=cache)
    model.touch()
    lines = []
    for time in (1, 1, 2):
        os.utime(model, (time, time))
        score()
        lines.append(len(cache.read_text().splitlines()))
    assert lines[1:] == [lines[0], 2 * lines[0]]


#: Texts that are hard to pass on, and their lengths.
HARD = {
    "lone \rreturn": 12,
    "\r": 1,
    "half \ud83d pair": 11,
    "None": 4,
    "NA": 2,
    'a "b"\n, c': 9,
    "x\u2028y\x85z": 5,
    "": 0,
}


@pytest.mark.usefixtures("stubs")
def test_texts_of_all_kinds_come_through():
    frame = pd.DataFrame({"source": "s", "translation": list(HARD), "reference": "r"}, dtype=object)
    assert (8 * scoring.score_neural(frame, "comet", batch_size=4)).tolist() == list(HARD.values())


@pytest.mark.usefixtures("stubs")
def test_what_was_scored_before_an_interruption_is_not_scored_again(tmp_path, monkeypatch, capfd):
    texts = [f"text {i}" for i in range(290)] + ["stop"] * 9
    frame = pd.DataFrame({"source": "s", "translation": texts, "reference": "r"})
    score = partial(scoring.score_neural, frame, "comet", batch_size=4, cache=tmp_path / "new" / "cache.csv")
    with monkeypatch.context() as patch:
        patch.setenv("STOPS", "1")
        refuses("exit status 1:\n.*stopped", score)
    kept = (tmp_path / "new" / "cache.csv").read_text().splitlines()
    assert len(kept) == 256  # 64 batches of 4
    (tmp_path / "new" / "cache.csv").write_text("\n".join(kept)[:-3])  # killed while it wrote a line
    expected = [len(text) / 8 for text in texts]
    assert score(progress=True).tolist() == expected
    assert "36/36" in capfd.readouterr().err  # the cut line, 34 new texts, and one that stands nine times
    monkeypatch.setenv("PYTHONPATH", "")
    assert score(python=sys.executable).tolist() == expected
    refuses("is no finite number|needs the package", score, model="another")


@pytest.mark.skipif("MTMETA_COMET" not in os.environ, reason="MTMETA_COMET names no Python with unbabel-comet")
@pytest.mark.parametrize("kind", ["RegressionMetric", "ReferencelessRegression", "UnifiedMetric", "XCOMETMetric"])
def test_comet_itself_scores_with_each_of_its_models(kind, tmp_path):
    python = os.environ["MTMETA_COMET"]
    made = subprocess.run([python, "-c", textwrap.dedent(TINY_COMET), kind, tmp_path], capture_output=True, text=True)
    assert made.returncode == 0, made.stderr[-3000:]
    frame = TEXTS.drop(columns="reference") if kind == "ReferencelessRegression" else TEXTS
    score = partial(scoring.score_neural, frame, "comet", python=python, batch_size=2)
    found = score(model=tmp_path / "model")
    assert len(set(found)) == 3
    assert score(model=tmp_path / "model" / "checkpoints" / "model.ckpt").tolist() == found.tolist()
    if kind == "UnifiedMetric":
        parts = [
            scoring.score_neural(TEXTS, f"unite_{part}", python=python, model=tmp_path / "model")
            for part in ("src", "ref", "unified")
        ]
        np.testing.assert_allclose(np.mean(parts, axis=0), found, atol=1e-6)


#: Writes a tiny random model of one of COMET's classes, with an encoder and a tokenizer of its own.
TINY_COMET = """
    import sys
    from pathlib import Path
    import torch, yaml
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import XLMRobertaConfig, XLMRobertaModel, XLMRobertaTokenizerFast
    import comet.models as package

    kind, folder = sys.argv[1], Path(sys.argv[2])
    encoder, model = folder / "encoder", folder / "model"
    words = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", *map(chr, range(33, 127))]
    tokens = Tokenizer(models.Unigram([(word, -1.0) for word in words], unk_id=3))
    tokens.pre_tokenizer = pre_tokenizers.Metaspace()
    XLMRobertaTokenizerFast(tokenizer_object=tokens).save_pretrained(encoder)
    shape = dict(hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32)
    config = XLMRobertaConfig(vocab_size=len(words), max_position_embeddings=130, **shape)
    XLMRobertaModel(config).save_pretrained(encoder)
    torch.manual_seed(0)
    names = {"RegressionMetric": "regression_metric", "ReferencelessRegression": "referenceless_regression_metric",
             "UnifiedMetric": "unified_metric", "XCOMETMetric": "xcomet_metric"}
    options = {"encoder_model": "XLM-RoBERTa", "pretrained_model": str(encoder), "hidden_sizes": [8, 4]}
    options |= {"layer_transformation": "softmax"}
    if kind in ("UnifiedMetric", "XCOMETMetric"):
        options |= {"word_layer": 2}
    made = {cls.__name__: cls for cls in package.str2model.values()}[kind](**options)
    (model / "checkpoints").mkdir(parents=True)
    import pytorch_lightning
    whole = {"state_dict": made.state_dict(), "hyper_parameters": options, "epoch": 0, "global_step": 0}
    whole |= {"pytorch-lightning_version": pytorch_lightning.__version__}
    torch.save(whole, model / "checkpoints" / "model.ckpt")
    (model / "hparams.yaml").write_text(yaml.safe_dump(options | {"class_identifier": names[kind]}))
    """


@pytest.mark.parametrize("metric", [name for name in scoring.NEURAL if name[:5] != "unite"])
def test_missing_package_says_what_to_install(metric, monkeypatch):
    monkeypatch.delenv("PYTHONPATH", raising=False)
    message = f"{metric} needs the package {scoring.NEURAL[metric][0]}.*pip install"
    refuses(message + ".*'setuptools<81'" * (metric == "comet"), scoring.score_neural, TEXTS, metric)
    refuses("No such file .*'/nowhere/python'", scoring.score_neural, TEXTS, metric, python="/nowhere/python")


def test_texts_are_checked():
    refuses("lacks the column 'reference'", scoring.score_neural, TEXTS[["translation"]], "bleurt")
    holes = TEXTS.assign(source=["a", None, "b"])
    refuses("'source' of `frame` is empty in 1 rows, the first row 2", scoring.score_neural, holes, "comet")
    refuses("`metric` must be one of 'comet'", scoring.score_neural, TEXTS, "gemba")
