"""Perturbations by a language model, with the paper's prompts."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from .._checks import check_count
from .._files import whole_file, word_lists

_PROMPTS = word_lists("prompts")
_NAMES = dict(map(str.split, _PROMPTS["names"]))
_REFUSAL = re.compile(
    r"(?:i['’]?m sorry|i am sorry|sorry|i apologi[sz]e|i can(?:no|['’])t|i(?: a|['’])m unable|as an ai|i won['’]t)\b",
    re.IGNORECASE,
)
_PREAMBLE = re.compile(r"^(?:here(?:['’]s| is)|sure|certainly|okay)\b[^\n]*:\s*\n+", re.IGNORECASE)
_LABEL = re.compile(r"^(?:MT_OUTPUT_[A-Z]+|ASR_SYSTEM_OUTPUT)\s*:\s*")
_QUOTES = {'"': '"', "“": "”", "„": "“", "«": "»"}


def prompt_of(text: str, task: str, language: str, source_language: str, reference: str, source: str | None) -> str:
    """Return the prompt for a text."""
    name, source_name = (_NAMES.get(c, c.upper()) for c in (language, source_language))
    shown = {"text": text, "source": source, "reference": reference}
    return "\n\n".join(_PROMPTS[task]).format(name=name, source_name=source_name, **shown)


def clean(answer: str) -> str:
    """Return what a model answered without preamble, label and quotation marks around it."""
    answer = _LABEL.sub("", _PREAMBLE.sub("", answer.strip()).strip())
    if len(answer) > 1 and _QUOTES.get(answer[0]) == answer[-1] and answer.count(answer[-1]) <= 2:
        answer = answer[1:-1]
    return answer.strip()


@dataclass(frozen=True, eq=False)
class LanguageModel:
    """A text-generation model that perturbs texts.

    Any causal language model of Hugging Face, by name or local folder. The settings are the paper's; its model is
    Llama-3-8B-instruct. Needs ``pip install 'mtmeta[sentinel]'``, and uses a GPU if there is one.

    Parameters
    ----------
    model : str or path
        Name or folder of the model and its tokeniser. Only its safetensors are read, and its code is not run.
    max_new_tokens : int
        Longest answer.
    batch_size : int
        Prompts at once.
    cache : path, optional
        Folder that keeps the answers, one file each, named by a hash of model, settings and prompt.
    seed : int
        The sampling starts from it and the content of a batch. Prompts are first sorted, so that the same call gives
        the same answers.

    Attributes
    ----------
    counts : collections.Counter
        How many texts were asked for so far, and what became of them: ``requests`` = ``perturbed`` + ``refused`` +
        ``empty`` + ``unchanged``; ``cached`` prompts were read from the cache.

    Raises
    ------
    TypeError, ValueError
        If an option is of the wrong type or out of range. On first use, if the extra is not installed, or the model
        cannot be loaded.

    References
    ----------
    Appendix A.2.2 of Deviyani & Diaz 2025: temperature 0.3, top_p 1.0, at most 200 tokens, no examples.

    Examples
    --------
    >>> from mtmeta import perturb
    >>> perturb.LanguageModel("some/model").signature
    'llm:some/model|temperature:0.3|top_p:1|max_new_tokens:200|seed:0'
    """

    model: str | Path
    _: KW_ONLY
    max_new_tokens: int = 200
    batch_size: int = 8
    cache: str | Path | None = None
    seed: int = 0
    counts: Counter[str] = field(default_factory=Counter, init=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.model, str | os.PathLike):
            raise TypeError(f"`model` must be the name or folder of a model; found {type(self.model).__name__}.")
        for name, least in (("max_new_tokens", 1), ("batch_size", 1), ("seed", 0)):
            check_count(name, getattr(self, name), least)

    @property
    def signature(self) -> str:
        """The model and its settings in one line."""
        return f"llm:{self.model}|temperature:0.3|top_p:1|max_new_tokens:{self.max_new_tokens}|seed:{self.seed}"

    def perturb(self, texts: Sequence[str], prompts: Sequence[str]) -> list[str | None]:
        """Return a perturbed text for each prompt; None if the model refused, gave no answer or changed nothing.

        Parameters
        ----------
        texts : sequence of str
        prompts : sequence of str
            What `perturb_table` asks for them.

        Returns
        -------
        list of str or None
        """
        answers = self._answers(sorted(set(prompts)))
        return [self._judge(text, answers[prompt]) for text, prompt in zip(texts, prompts, strict=True)]

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
        self.counts.update(["requests", kind])
        return new if kind == "perturbed" else None

    def _answers(self, prompts: list[str]) -> dict[str, str]:
        """Return the answer to each prompt, from the cache where it is there."""
        names = {p: hashlib.sha256(json.dumps([self.signature, p]).encode()).hexdigest() + ".json" for p in prompts}
        files = {p: Path(self.cache) / name for p, name in names.items()} if self.cache else {}
        found = {p: json.loads(f.read_text(encoding="utf-8"))["answer"] for p, f in files.items() if f.is_file()}
        self.counts["cached"] += len(found)
        rest = [p for p in prompts if p not in found]
        for batch in (rest[i : i + self.batch_size] for i in range(0, len(rest), self.batch_size)):
            for prompt, answer in zip(batch, self._generate(batch), strict=True):
                found[prompt] = answer
                if self.cache:
                    content = {"signature": self.signature, "prompt": prompt, "answer": answer}
                    with whole_file(files[prompt]) as part:
                        part.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
        return found

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        """Model and tokeniser."""
        try:
            import torch
            import transformers
        except ImportError as error:
            raise ValueError(f"a language model needs {error.name}: pip install 'mtmeta[sentinel]'.") from None
        name, options = str(self.model), {"dtype": "auto", "use_safetensors": True}
        try:
            tokeniser = transformers.AutoTokenizer.from_pretrained(name, padding_side="left", trust_remote_code=False)
            model = transformers.AutoModelForCausalLM.from_pretrained(name, trust_remote_code=False, **options)
        except (OSError, ValueError) as error:
            raise ValueError(
                f"the language model {name!r} cannot be loaded: {' '.join(str(error).split())[:300]} Give the name or "
                "folder of a causal language model of Hugging Face with safetensors."
            ) from None
        if tokeniser.pad_token is None:
            tokeniser.pad_token = tokeniser.eos_token
        return model.to("cuda" if torch.cuda.is_available() else "cpu").eval(), tokeniser

    def _generate(self, prompts: list[str]) -> list[str]:
        """Return the answers to a batch of prompts."""
        import torch

        model, tokeniser = self._loaded
        special = not tokeniser.chat_template
        if not special:  # a model for conversations: each prompt is a turn
            turns = ([{"role": "user", "content": p}] for p in prompts)
            prompts = [tokeniser.apply_chat_template(t, tokenize=False, add_generation_prompt=True) for t in turns]
        batch = tokeniser(prompts, return_tensors="pt", padding=True, add_special_tokens=special).to(model.device)
        batch.pop("token_type_ids", None)
        options = {"do_sample": True, "temperature": 0.3, "top_p": 1.0, "top_k": 0}
        start = hashlib.sha256(json.dumps([self.seed, prompts]).encode()).digest()
        devices = [model.device] if model.device.type == "cuda" else []
        with torch.random.fork_rng(devices=devices), torch.inference_mode():
            torch.manual_seed(int.from_bytes(start[:7], "little"))
            options |= {"max_new_tokens": self.max_new_tokens, "pad_token_id": tokeniser.pad_token_id}
            out = model.generate(**batch, **options)
        return tokeniser.batch_decode(out[:, batch["input_ids"].shape[1] :], skip_special_tokens=True)
