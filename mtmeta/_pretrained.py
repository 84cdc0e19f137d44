"""Checkpoints of Hugging Face, read as data: their code is never run, and nobody is asked to allow it."""

import json
import os
import shlex
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

#: Options that the library names in its errors, and what is wrong then.
_SAID = {
    "trust_remote_code": "it needs code of its own, and code of a checkpoint is never run",
    "ignore_mismatched_sizes": "its weights are of other sizes than its configuration says",
    "use_safetensors": "it has no weights in safetensors, and others are not read",
}
_OBJECTS = "config generation_config tokenizer_config tokenizer special_tokens_map".split()
_CONVERTS = (
    "import pathlib, torch; from safetensors.torch import save_file; d = pathlib.Path({folder!r}); "
    "w = dict(p for f in d.glob('pytorch_model*.bin') for p in torch.load(f, weights_only=True).items()); "
    "save_file({{k: v.contiguous().clone() for k, v in w.items()}}, d / 'model.safetensors', {{'format': 'pt'}})"
)


@contextmanager
def only_data(fault: str, advice: str) -> Iterator[None]:
    """Turn every error into one `ValueError` of ``fault``, the reason and ``advice``; prevent questions about code.

    A model within a model is loaded without `trust_remote_code`: it asks on standard input, if there is time to answer.
    """
    from transformers import dynamic_module_utils as asking

    seconds, asking.TIME_OUT_REMOTE_CODE = asking.TIME_OUT_REMOTE_CODE, 0
    try:
        with warnings.catch_warnings(action="ignore"):
            yield
    except BaseException as error:  # each library has errors of its own for what it cannot read
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":  # of Rust
            raise
        said = " ".join(str(error).split())
        if not isinstance(error, OSError | ValueError):
            said = f"a part of it is malformed ({type(error).__name__}: {said:.200})"
        said = next((ours for word, ours in _SAID.items() if word in said), said)
        raise ValueError(f"{fault}: {said[:300].removesuffix('.')}. {advice}") from None
    finally:
        asking.TIME_OUT_REMOTE_CODE = seconds


def check_folder(name: str | Path) -> bool:
    """Say whether a checkpoint is a folder; refuse files in it that are no JSON objects."""
    local = os.path.isdir(name)
    for file in [f"{name}.json" for name in _OBJECTS] if local else ():
        if (path := Path(name) / file).is_file():
            try:
                value = json.loads(path.read_text(encoding="utf-8"))
            except (ValueError, RecursionError) as error:
                raise ValueError(f"its {file} is no JSON: {error}") from None
            if not isinstance(value, dict):
                raise ValueError(f"its {file} must hold an object; found {value!r:.40}")
    return local


def check_size(model: Any, name: str | Path) -> None:
    """Refuse a model, built on the device `meta`, which takes no memory, of more weights than its files can hold."""
    wanted = sum(p.numel() for p in model.parameters())
    stored = sum(path.stat().st_size for path in Path(name).glob("*.safetensors"))
    if wanted > 2 * stored:  # a weight may have 4 bits
        raise ValueError(f"its configuration asks for {wanted:,} weights, and its safetensors have {stored:,} bytes")


def refuse_pickles(name: str | Path) -> None:
    """Refuse a folder whose weights are pickled, and say how they are converted."""
    folder = Path(name)
    if not os.path.isdir(name) or any(folder.glob("*.safetensors")) or not any(folder.glob("pytorch_model*.bin")):
        return
    raise ValueError(
        f"the weights in {folder} are pickled, and a pickle may run code. Convert them first: "
        f"python -c {shlex.quote(_CONVERTS.format(folder=str(folder)))}"
    )
