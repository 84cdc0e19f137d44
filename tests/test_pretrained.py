"""Checkpoints of Hugging Face: what is read of them, through whatever reads one."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from campaigns import refuses

import mtmeta as mm

_EVIL = {f"Auto{name}": "evil.Evil" for name in ("Config", "Model", "ModelForCausalLM")}
_INNER = {"model_type": "blip_text_model", "auto_map": {"AutoModel": "{folder}--evil.Evil"}}
#: Files of a checkpoint that ask for the code beside them. A type of its own; a part of another type, without a model.
CODE = {
    "a configuration": {"config.json": {"model_type": "evil", "auto_map": _EVIL}},
    "a model within a model": {"config.json": {"model_type": "llava", "text_config": _INNER}},
    "a tokenizer": {
        "config.json": {"model_type": "evil"},
        "tokenizer_config.json": {"auto_map": {"AutoTokenizer": [None, "evil.Evil"]}},
    },
}


def from_encoder(folder: Path) -> None:
    frame = mm.sentinel.training_frame(mm.load("teaching")).head(40)
    config = mm.sentinel.TransformerConfig(encoder=str(folder))
    mm.sentinel.fit(frame, sees="source", kind="transformer", config=config)


def from_saved(folder: Path) -> None:
    saved = folder.parent / "saved"
    shutil.copytree(folder, saved)
    card = {"format": 2, "kind": "transformer", "sees": "source", "config": {"head": [4]}, "world_size": 1}
    (saved / "sentinel.json").write_text(json.dumps(card))
    encoder = json.loads((folder / "config.json").read_text())
    (saved / "config.json").write_text(json.dumps({"model_type": "mtmeta-sentinel", "encoder": encoder, "head": [4]}))
    mm.sentinel.load(saved)


def from_language_model(folder: Path) -> None:
    frame = pd.DataFrame({"system": ["A"], "segment": [1], "source": ["a"], "reference": ["b"], "translation": ["a"]})
    mm.perturb.perturb_table(frame, kinds=["llm"], model=mm.perturb.LanguageModel(folder))


READERS = [from_encoder, from_saved, from_language_model]


@pytest.mark.usefixtures("transformers")
@pytest.mark.filterwarnings("ignore")  # of the library, about what it is asked to load
@pytest.mark.parametrize("where", CODE)
@pytest.mark.parametrize("read", READERS)
def test_code_of_a_checkpoint_is_not_run_though_all_questions_are_answered_yes(read, where, tmp_path, monkeypatch):
    import torch
    from safetensors.torch import save_file

    monkeypatch.setattr("builtins.input", lambda *_: "y")
    folder = tmp_path / "checkpoint"
    folder.mkdir()
    (folder / "evil.py").write_text(f"open({str(tmp_path / 'canary')!r}, 'w')\nclass Evil: pass\n")
    for name, content in CODE[where].items():
        (folder / name).write_text(json.dumps(content).replace("{folder}", str(folder)))
    save_file({"x": torch.zeros(1)}, folder / "model.safetensors", {"format": "pt"})
    refuses(r"cannot be loaded: |sentinel in it is damaged: ", read, folder)
    assert not (tmp_path / "canary").exists()


@pytest.mark.slow
@pytest.mark.usefixtures("transformers")
@pytest.mark.parametrize("other", [None, "adapter.safetensors"])
@pytest.mark.parametrize("read", [from_encoder, from_language_model])
def test_pickled_weights_are_not_read(read, other, tmp_path):
    import torch
    from tokenizers import Tokenizer, models
    from transformers import GPT2Config, GPT2Model, PreTrainedTokenizerFast

    model = GPT2Model(GPT2Config(vocab_size=2, n_positions=512, n_embd=4, n_layer=1, n_head=1))
    model.config.save_pretrained(tmp_path)
    words = Tokenizer(models.WordLevel({"a": 0, "?": 1}, unk_token="?"))
    PreTrainedTokenizerFast(tokenizer_object=words, pad_token="?", eos_token="?").save_pretrained(tmp_path)
    torch.save(model.state_dict(), tmp_path / "pytorch_model.bin")
    if other:
        (tmp_path / other).write_bytes(bytes(10_000))
    with pytest.raises(ValueError, match="safetensors") as refusal:
        read(tmp_path)
    assert other or "are pickled" in str(refusal.value)
    if other is None:
        line = str(refusal.value).partition("Convert them first: ")[2].replace("python", sys.executable, 1)
        subprocess.run(line, shell=True, check=True)
        read(tmp_path)


def checkpoint(folder: Path, **names: str) -> Path:
    """Write a tiny encoder with a tokenizer; a keyword replaces the beginning of the names of weights."""
    from safetensors.torch import load_file, save_file
    from transformers import XLMRobertaModel

    from mtmeta.sentinel._transformer import _from_scratch

    config, tokeniser = _from_scratch("scratch-small", ["some text", "other text"])
    XLMRobertaModel(config, add_pooling_layer=False).save_pretrained(folder)
    tokeniser.save_pretrained(folder)
    weights = load_file(folder / "model.safetensors")
    for old, new in names.items():
        weights = {name.replace(old, new, 1): tensor for name, tensor in weights.items()}
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    return folder


@pytest.mark.usefixtures("transformers")
def test_encoders_without_some_weights_and_tokenizers_that_are_not_whole_are_refused(tmp_path):
    from_encoder(checkpoint(tmp_path / "whole"))
    part = checkpoint(tmp_path / "part", encoder="backbone")
    refuses(r"32 of its 37 weights are not in its files, .*, such as 'encoder\.layer\.0", from_encoder, part)
    folder = checkpoint(tmp_path / "c")
    tokens = json.loads((folder / "tokenizer.json").read_text())
    vocabulary = {f"word {i}": i for i in range(5, len(tokens["model"]["vocab"]))}
    vocabulary |= {token["content"]: token["id"] for token in tokens["added_tokens"]}
    tokens["model"] = {"type": "WordLevel", "vocab": vocabulary, "unk_token": "<unk>"}
    (folder / "tokenizer.json").write_text(json.dumps(tokens))
    refuses("does not know 100% of the tokens in the texts", from_encoder, folder)
    (folder / "tokenizer.json").unlink()
    (folder / "tokenizer_config.json").unlink()
    refuses("tokenizer has 5 tokens, and its configuration says 2", from_encoder, folder)
