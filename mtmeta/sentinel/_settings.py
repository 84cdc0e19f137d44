"""How a transformer sentinel is built and trained; plain data, so that PyTorch is not needed to read it."""

from dataclasses import dataclass

#: The encoder for a CPU: of XLM-R's architecture, small, with random weights.
SCRATCH = "scratch-small"
SMALL = {"hidden_size": 128, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 512}


@dataclass(frozen=True)
class TransformerConfig:
    """How a transformer sentinel is built and trained; the defaults are the paper's recipe.

    Attributes
    ----------
    encoder : str
        A Hugging Face checkpoint or a local folder (only its safetensors are read, and no code is run); or
        ``scratch-small``, which has random weights. Its vocabulary, of byte-level pairs, is then learnt from the
        training text.
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
    checks : int
        How often per stage to write a checkpoint, if there is a folder for them.
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
    checks: int = 4
    seed: int = 12
