"""How a transformer sentinel is built and trained; plain data, so that PyTorch is not needed to read it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from .._checks import check_choice, check_count

__all__ = ["SCRATCH", "TransformerConfig"]

#: Encoders of XLM-R's architecture with random weights: one for a CPU, and the sizes of XLM-R base and large. Hidden
#: size, layers, heads, intermediate size, and the most tokens, which are byte-level pairs of the training text.
SCRATCH: Mapping[str, tuple[int, int, int, int, int]] = {
    "scratch-small": (128, 2, 2, 512, 4000),
    "scratch-base": (768, 12, 12, 3072, 64_000),
    "scratch-large": (1024, 24, 16, 4096, 64_000),
}


@dataclass(frozen=True)
class TransformerConfig:
    """How a transformer sentinel is built and trained; the defaults are the paper's recipe.

    Attributes
    ----------
    encoder : str
        A Hugging Face checkpoint or a local folder (only its safetensors are read, and no code is run); or, for random
        weights, ``scratch-small``, ``scratch-base`` or ``scratch-large``. Its vocabulary, of byte-level pairs, is then
        learnt from the training text.
    head : tuple of int
        Units between the encoder and the score; each layer is followed by tanh and dropout.
    dropout : float
        Of the head. The encoder keeps its own.
    learning_rate : float
        Of RAdam; constant.
    batch_size, accumulation : int
        Texts per batch and device, and batches per step.
    epochs : int
        Per stage.
    max_grad_norm : float
        Gradients are scaled down to this norm.
    max_length : int
        Tokens; longer texts are cut.
    precision : {"auto", "bf16", "fp32"}
        Of the encoder while it is trained. ``auto``: bf16 on a GPU that computes in it, otherwise 32 bits. Weights,
        head and scoring always have 32 bits.
    checks : int
        How often per stage to validate, if there are validation rows, and to write a checkpoint, if there is a folder.
    seed : int
        Of the initial weights, the order of the texts and dropout.

    References
    ----------
    Perrella et al. 2024, appendix B and table 4. The clipping norm and the seed are those of the published
    configuration files.
    """

    encoder: str = "FacebookAI/xlm-roberta-large"
    head: tuple[int, ...] = (512, 128)
    dropout: float = 0.1
    learning_rate: float = 1e-6
    batch_size: int = 8
    accumulation: int = 2
    epochs: int = 1
    max_grad_norm: float = 1.0
    max_length: int = 512
    precision: str = "auto"
    checks: int = 4
    seed: int = 12

    def __post_init__(self) -> None:
        """Refuse what cannot be trained."""
        for name in ("batch_size", "accumulation", "epochs", "checks"):
            check_count(name, getattr(self, name), 1)
        check_count("max_length", self.max_length, 3)  # a text stands between two tokens
        check_count("seed", self.seed, 0, 2**32 - 1)  # as PyTorch and NumPy allow
        if not 0 <= self.dropout < 1:
            raise ValueError(f"`dropout` must be in [0, 1); found {self.dropout!r}.")
        for name in ("learning_rate", "max_grad_norm"):
            if not 0 < getattr(self, name) < math.inf:
                raise ValueError(f"`{name}` must be a positive number; found {getattr(self, name)!r}.")
        check_choice("precision", self.precision, ("auto", "bf16", "fp32"))
