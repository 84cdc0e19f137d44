# ruff: noqa: E501 - the name of a case and what must come of it stay in one place
# fmt: off
"""Folders with the encoder of a transformer sentinel: what asks for code, is malformed, or has no end."""

import json
import pickle
import struct

import pandas as pd

from mtmeta import sentinel

from ._case import Case

CONFIG, WORDS, SETTINGS, WEIGHTS = "config.json", "tokenizer.json", "tokenizer_config.json", "model.safetensors"
SHAPE = {"model_type": "xlm-roberta", "hidden_size": 4, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 4,
         "vocab_size": 3, "max_position_embeddings": 16, "pad_token_id": 1}  # fmt: skip
TOKENS = {"version": "1.0", "model": {"type": "WordLevel", "vocab": {"<s>": 0, "<pad>": 1, "?": 2}, "unk_token": "?"},
          "added_tokens": [], "normalizer": None, "pre_tokenizer": None, "post_processor": None, "decoder": None}  # fmt: skip
NAMES = {"tokenizer_class": "PreTrainedTokenizerFast", "pad_token": "<pad>", "unk_token": "?"}


def _safetensors(header, size=None):
    return struct.pack("<Q", len(header) if size is None else size) + header + b"\0\0\0\0"


ONE = _safetensors(b'{"x": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}')


def _train(folder):
    import pytest

    pytest.importorskip("transformers")
    frame = pd.DataFrame({"source": [f"text {k}" for k in range(12)], "human": range(12)})
    config = sentinel.TransformerConfig(encoder=str(folder))
    return sentinel.fit(frame, sees="source", kind="transformer", config=config)


def _encoder(name, file, content, refused=""):
    def make(place):
        folder = place / "encoder"
        folder.mkdir()
        (folder / "evil.py").write_text("open('canary', 'w')\nclass Evil: pass\n")
        good = {CONFIG: SHAPE, WORDS: TOKENS, SETTINGS: NAMES, WEIGHTS: ONE}
        for path, data in (good | {file: content}).items():
            if data is not None:
                (folder / path).write_bytes(data if isinstance(data, bytes) else json.dumps(data).encode())
        return folder

    command = ("sentinel", "train", "teaching", "--sees", "source", "--save", "s", "--kind", "transformer", "--encoder", "{}")  # fmt: skip
    refused = rf"the encoder '.*encoder' cannot be loaded: .*{refused}.*\. Give a Hugging Face"
    return Case(f"encoder: {name}", make, refused, {}, _train, command)


def _encoders():
    code = "code of a checkpoint is never run"
    for file, good in ((CONFIG, SHAPE), (WORDS, TOKENS), (SETTINGS, NAMES)):
        for name, content in (
            ("empty", b""), ("cut", json.dumps(good).encode()[:-9]), ("a list", []), ("a number", 1), ("null", b"null"), ("not UTF-8", b"\xff"),
            ("deep", b'{"x": ' + b"[" * 100_000), ("a pickle", pickle.dumps(good)),
        ):  # fmt: skip
            yield _encoder(f"{file} is {name}", file, content, rf"its {file} (is no JSON: |must hold an object; found )")
    evil = {"auto_map": {"AutoConfig": "evil.Evil", "AutoModel": "evil.Evil"}, "model_type": "evil"}
    yield _encoder("a type that is code", CONFIG, evil, code)
    yield _encoder("a tokenizer that is code", SETTINGS, {"auto_map": {"AutoTokenizer": ["evil.Evil", None]}, "tokenizer_class": "Evil"})
    for field, value, says in (
        ("model_type", "evil", "evil"), ("model_type", [], "malformed"), ("auto_map", 1, "malformed"), ("quantization_config", "x", ""),
        ("hidden_act", "os.system", "os.system"), ("hidden_size", "4", "hidden_size"), ("hidden_size", None, "hidden_size"),
        ("hidden_size", 0, ""), ("hidden_size", 10**12, ""), ("vocab_size", 10**9, "asks for .* weights"), ("num_attention_heads", 3, ""),
    ):  # fmt: skip
        yield _encoder(f"{field} is {value!r}", CONFIG, SHAPE | {field: value}, says)
    panics = {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": [["a", "b"]], "continuing_subword_prefix": "longer"}
    yield _encoder("a tokenizer that panics", WORDS, TOKENS | {"model": panics}, "PanicException")
    yield _encoder("a tokenizer of an unknown model", WORDS, TOKENS | {"model": {"type": "Evil"}})
    yield _encoder("a tokenizer of another class", SETTINGS, NAMES | {"tokenizer_class": "AutoModel"})
    for name, content in (
        ("gone", None), ("empty", b""), ("noise", b"noise" * 99), ("a pickle", pickle.dumps({})), ("cut", ONE[:-2]),
        ("a header of terabytes", _safetensors(b"{}", 10**13)), ("a deep header", _safetensors(b"[" * 100_000)),
    ):  # fmt: skip
        yield _encoder(f"weights: {name}", WEIGHTS, content)


CHECKPOINTS: tuple[Case, ...] = tuple(_encoders())
