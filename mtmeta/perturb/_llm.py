"""Perturbations by a language model: the paper's prompts, and what is taken from an answer."""

from __future__ import annotations

import re

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
