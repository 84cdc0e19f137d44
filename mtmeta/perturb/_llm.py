"""Perturbations by a language model, with the paper's prompts."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from tqdm import tqdm

from .._checks import check_count
from .._files import whole_file, word_lists
from .._pretrained import check_folder, check_size, only_data, refuse_pickles

_PROMPTS = word_lists("prompts")
_NAMES = dict(map(str.split, _PROMPTS["names"]))
_REFUSAL = re.compile(
    r"(?:i['’]?m sorry|i am sorry|sorry|i apologi[sz]e|i can(?:no|['’])t|i(?: a|['’])m unable|as an ai|i won['’]t)\b",
    re.IGNORECASE,
)
_PREAMBLE = re.compile(r"^(?:here(?:['’]s| is)|sure|certainly|okay)\b[^\n]*:\s*\n+", re.IGNORECASE)
_LABEL = re.compile(r"^(?:MT_OUTPUT_[A-Z]+|ASR_SYSTEM_OUTPUT)\s*:\s*")
_QUOTES = {'"': '"', "“": "”", "„": "“", "«": "»"}


@dataclass(frozen=True)
class Request:
    """A text to perturb, and what the prompt shows besides it."""

    text: str
    language: str
    task: str
    source: str | None
    reference: str | None
    source_language: str

    @property
    def prompt(self) -> str:
        """The prompt."""
        needed = {"reference": self.reference}
        if self.task == "translation":
            needed["source"] = self.source
        missing = [name for name, value in needed.items() if not isinstance(value, str)]
        if missing:
            raise ValueError(f"kind 'llm' needs {missing}, which its prompt shows; found None.")
        name, source_name = (_NAMES.get(c, c.upper()) for c in (self.language, self.source_language))
        shown = {"text": self.text, "source": self.source, "reference": self.reference}
        return "\n\n".join(_PROMPTS[self.task]).format(name=name, source_name=source_name, **shown)


def clean(answer: str) -> str:
    """Return what a model answered without preamble, label and quotation marks around it."""
    answer = _LABEL.sub("", _PREAMBLE.sub("", answer.strip()).strip())
    if len(answer) > 1 and _QUOTES.get(answer[0]) == answer[-1] and answer.count(answer[-1]) <= 2:
        answer = answer[1:-1]
    return answer.strip()


class LanguageModel:
    """A text-generation model that perturbs texts.

    Any causal language model of Hugging Face, by name or local folder. The settings are the paper's; its model is
    Llama-3-8B-instruct. Needs ``pip install 'mtmeta[sentinel]'``.

    Parameters
    ----------
    model : str or path
        Name or folder of the model and its tokeniser. Only its safetensors are read, and its code is not run.
    temperature : float
        0: the likeliest token each time.
    top_p : float
        Sample from the likeliest tokens with this total probability, in (0, 1].
    max_new_tokens : int
        Longest answer.
    batch_size : int
        Prompts at once.
    cache : path, optional
        Folder that keeps the answers, one file each, named by a hash of model, settings and prompt.
    seed : int
        The sampling starts from it and the content of a batch. Prompts are first sorted, so that the same call gives
        the same answers.
    device : str, optional
        Such as ``cuda``; by default a GPU if there is one.
    progress : bool
        Show a progress bar on standard error.

    Raises
    ------
    TypeError
        If an option is of the wrong type.
    ValueError
        If an option is out of range. On first use, if the extra is not installed, or the model cannot be loaded.

    References
    ----------
    Appendix A.2.2 of Deviyani & Diaz 2025: temperature 0.3, top_p 1.0, at most 200 tokens, no examples.

    Examples
    --------
    >>> from mtmeta import perturb
    >>> perturb.LanguageModel("some/model").signature
    'llm:some/model|temperature:0.3|top_p:1|max_new_tokens:200|seed:0'
    """

    def __init__(
        self,
        model: str | Path,
        *,
        temperature: float = 0.3,
        top_p: float = 1.0,
        max_new_tokens: int = 200,
        batch_size: int = 8,
        cache: str | Path | None = None,
        seed: int = 0,
        device: str | None = None,
        progress: bool = False,
    ) -> None:
        if not isinstance(model, str | os.PathLike):
            raise TypeError(f"`model` must be the name or folder of a model; found {type(model).__name__}.")
        if not temperature >= 0:
            raise ValueError(f"`temperature` must be at least 0; found {temperature!r}.")
        if not 0 < top_p <= 1:
            raise ValueError(f"`top_p` must lie in (0, 1]; found {top_p!r}.")
        for name, value in (("max_new_tokens", max_new_tokens), ("batch_size", batch_size)):
            check_count(name, value, 1)
        self.name, self.temperature, self.top_p = str(model), float(temperature), float(top_p)
        self.max_new_tokens, self.batch_size, self.seed = max_new_tokens, batch_size, int(seed)
        self.cache = None if cache is None else Path(cache)
        self.device, self.progress = device, progress
        self._counts: Counter[str] = Counter()
        self._loaded: tuple[Any, Any] | None = None

    @property
    def signature(self) -> str:
        """The model and its settings in one line."""
        return (
            f"llm:{self.name}|temperature:{self.temperature:g}|top_p:{self.top_p:g}|"
            f"max_new_tokens:{self.max_new_tokens}|seed:{self.seed}"
        )

    def __repr__(self) -> str:
        return f"LanguageModel({self.signature!r})"

    @property
    def counts(self) -> pd.Series:
        """How many texts were asked for so far, and what became of them.

        ``requests`` = ``perturbed`` + ``refused`` + ``empty`` + ``unchanged``; ``cached`` of them were read from the
        cache.
        """
        names = ("requests", "cached", "perturbed", "refused", "empty", "unchanged")
        return pd.Series({name: self._counts[name] for name in names}, name="count")

    def perturb(self, requests: Sequence[Request]) -> list[str | None]:
        """Return a perturbed text for each request; None if the model refused, gave no answer or changed nothing.

        Parameters
        ----------
        requests : sequence of Request
            What `perturb_table` makes of texts.

        Returns
        -------
        list of str or None
        """
        prompts = [r.prompt for r in requests]
        answers = self._answers(sorted(set(prompts)))
        return [self._judge(r.text, answers[p]) for r, p in zip(requests, prompts, strict=True)]

    def _judge(self, text: str, answer: str) -> str | None:
        new = clean(answer)
        kind = "perturbed"
        kept = np.mean([word in text.lower().split() for word in new.lower().split()] or 0)
        if not new:
            kind = "empty"
        elif _REFUSAL.match(new) and not (_REFUSAL.match(text) and kept > 0.5):
            kind = "refused"  # and not an apology that was to be perturbed
        elif new == text.strip():
            kind = "unchanged"
        self._counts.update(["requests", kind])
        return new if kind == "perturbed" else None

    def _answers(self, prompts: list[str]) -> dict[str, str]:
        """Return the answer to each prompt, from the cache where it is there."""
        names = {p: hashlib.sha256(json.dumps([self.signature, p]).encode()).hexdigest() + ".json" for p in prompts}
        files = {p: self.cache / name for p, name in names.items()} if self.cache else {}
        found = {
            prompt: json.loads(file.read_text(encoding="utf-8"))["answer"]
            for prompt, file in files.items()
            if file.is_file()
        }
        self._counts["cached"] += len(found)
        rest = [p for p in prompts if p not in found]
        batches = [rest[i : i + self.batch_size] for i in range(0, len(rest), self.batch_size)]
        for batch in tqdm(batches, desc="language model", unit_scale=self.batch_size, disable=not self.progress):
            for prompt, answer in zip(batch, self._generate(batch), strict=True):
                found[prompt] = answer
                if self.cache:
                    content = {"signature": self.signature, "prompt": prompt, "answer": answer}
                    with whole_file(files[prompt]) as part:
                        part.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
        return found

    def _load(self) -> tuple[Any, Any]:
        """Load model and tokeniser at first use."""
        if self._loaded is None:
            try:
                import torch
                import transformers
            except ImportError as error:
                raise ValueError(
                    f"a language model needs PyTorch and Transformers, and {error.name} is not installed: "
                    "pip install 'mtmeta[sentinel]'. Or use the rule-based kind 'composed'."
                ) from None
            refuse_pickles(self.name)
            advice = "Give the name or folder of a causal language model of Hugging Face."
            with only_data(f"the language model {self.name!r} cannot be loaded", advice):
                options: dict[str, Any] = {"local_files_only": check_folder(self.name)}
                of_text = transformers.AutoModelForCausalLM
                if options["local_files_only"]:
                    shape = transformers.AutoConfig.from_pretrained(self.name, trust_remote_code=False, **options)
                    with torch.device("meta"):
                        empty = of_text.from_config(shape, trust_remote_code=False, attn_implementation=None)
                    check_size(empty, self.name)
                tokeniser = transformers.AutoTokenizer.from_pretrained(
                    self.name, trust_remote_code=False, padding_side="left", **options
                )
                options |= {"dtype": "auto", "use_safetensors": True, "attn_implementation": None}
                model = of_text.from_pretrained(self.name, trust_remote_code=False, **options)
            if tokeniser.pad_token is None:
                tokeniser.pad_token = tokeniser.eos_token
            device = self.device or ("cuda" if torch.cuda.is_available() else "cpu")
            self._loaded = model.to(device).eval(), tokeniser
        return self._loaded

    def _generate(self, prompts: list[str]) -> list[str]:
        """Return the answers to a batch of prompts."""
        import torch

        model, tokeniser = self._load()
        special = not tokeniser.chat_template
        if not special:  # a model for conversations: each prompt is a turn
            turns = ([{"role": "user", "content": p}] for p in prompts)
            prompts = [tokeniser.apply_chat_template(t, tokenize=False, add_generation_prompt=True) for t in turns]
        batch = tokeniser(prompts, return_tensors="pt", padding=True, add_special_tokens=special).to(model.device)
        batch.pop("token_type_ids", None)
        settings = (True, self.temperature, self.top_p, 0) if self.temperature else (False, None, None, None)
        options: dict[str, Any] = dict(zip(("do_sample", "temperature", "top_p", "top_k"), settings, strict=True))
        start = hashlib.sha256(json.dumps([self.seed, prompts]).encode()).digest()
        devices = [model.device] if model.device.type == "cuda" else []
        with torch.random.fork_rng(devices=devices), torch.inference_mode():
            torch.manual_seed(int.from_bytes(start[:7], "little"))
            out = model.generate(
                **batch, max_new_tokens=self.max_new_tokens, pad_token_id=tokeniser.pad_token_id, **options
            )
        return tokeniser.batch_decode(out[:, batch["input_ids"].shape[1] :], skip_special_tokens=True)
