"""Perturbations by a language model, with the paper's prompts."""

import re
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from .._files import word_lists

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


def perturbed_by(answer: str, text: str) -> str | None:
    """Return the text that a model answered; None if there is none, the model refused, or nothing has changed."""
    new = _LABEL.sub("", _PREAMBLE.sub("", answer.strip()).strip())
    if len(new) > 1 and _QUOTES.get(new[0]) == new[-1] and new.count(new[-1]) <= 2:
        new = new[1:-1]
    new = new.strip()
    kept = np.mean([word in text.lower().split() for word in new.lower().split()] or 0)
    refused = _REFUSAL.match(new) and not (_REFUSAL.match(text) and kept > 0.5)  # the text may itself be an apology
    return None if refused or new in ("", text.strip()) else new


@dataclass(frozen=True)
class LanguageModel:
    """A causal language model of Hugging Face, which answers prompts, for the ``model`` of `perturb_table`.

    The settings are the paper's; its model is Llama-3-8B-instruct. Needs ``pip install 'mtmeta[sentinel]'``, and uses a
    GPU if there is one. Only safetensors are read, and no code of a model is run.

    Parameters
    ----------
    name : str or path
        Name or folder of the model and its tokeniser.
    max_new_tokens : int
        Longest answer, in tokens.
    batch_size : int
        Prompts at once.
    seed : int
        Of the sampling: the same call gives the same answers.

    Raises
    ------
    ValueError
        On first use, if the extra is not installed, or the model cannot be loaded.

    References
    ----------
    Appendix A.2.2 of Deviyani & Diaz 2025: temperature 0.3, top_p 1.0, at most 200 tokens, no examples.

    Examples
    --------
    >>> from mtmeta import perturb
    >>> perturb.LanguageModel("some/model", batch_size=16)
    LanguageModel(name='some/model', max_new_tokens=200, batch_size=16, seed=0)
    """

    name: str | Path
    _: KW_ONLY
    max_new_tokens: int = 200
    batch_size: int = 8
    seed: int = 0

    @cached_property
    def _pipeline(self) -> Any:
        try:
            import transformers
        except ImportError as error:
            raise ValueError(f"a language model needs {error.name}: pip install 'mtmeta[sentinel]'.") from None
        options = {"trust_remote_code": False, "model_kwargs": {"use_safetensors": True}, "dtype": "auto"}
        try:
            made = transformers.pipeline("text-generation", str(self.name), **options)
        except (OSError, ValueError) as error:
            raise ValueError(
                f"the language model {str(self.name)!r} cannot be loaded: {' '.join(str(error).split())[:300]} "
                "Give the name or folder of a causal language model of Hugging Face with safetensors."
            ) from None
        made.tokenizer.padding_side = "left"
        if made.tokenizer.pad_token is None:
            made.tokenizer.pad_token = made.tokenizer.eos_token
        return made

    def __call__(self, prompts: Sequence[str]) -> list[str]:
        """Return the answer to each prompt."""
        made = self._pipeline
        import torch

        asked = list(prompts)
        if made.tokenizer.chat_template:  # a model for conversations: each prompt is a turn
            asked = [[{"role": "user", "content": prompt}] for prompt in asked]
        how = {"do_sample": True, "temperature": 0.3, "top_p": 1.0, "top_k": 0, "return_full_text": False}
        with torch.random.fork_rng():
            torch.manual_seed(self.seed)
            found = made(asked, batch_size=self.batch_size, max_new_tokens=self.max_new_tokens, **how)
        return [answers[0]["generated_text"] for answers in found]
