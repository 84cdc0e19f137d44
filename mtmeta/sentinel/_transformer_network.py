"""The network of a transformer sentinel.

Every saved sentinel has a copy of this file, which Transformers runs where mtmeta is not installed; so it imports
nothing of mtmeta.
"""

import inspect
from typing import Any, ClassVar

import torch
from transformers import AutoConfig, AutoModel, PreTrainedConfig, PreTrainedModel


class NetworkConfig(PreTrainedConfig):
    """The configuration of an encoder, and what stands on it."""

    model_type = "mtmeta-sentinel"
    sub_configs: ClassVar = {"encoder": AutoConfig}

    def __init__(self, encoder=None, head=(), dropout=0.0, **options):
        self.encoder = AutoConfig.for_model(**encoder) if isinstance(encoder, dict) else encoder
        self.head, self.dropout = list(head), dropout
        super().__init__(**options)


class Network(PreTrainedModel):
    """An encoder and a head on the last hidden state of its first token.

    Each layer of the head but the last is followed by tanh and dropout; the last has one unit and nothing after it.
    The head computes in 32 bits, and so does the encoder unless it is being trained.
    """

    config_class = NetworkConfig
    supports_gradient_checkpointing = True

    def __init__(self, config: NetworkConfig, encoder: torch.nn.Module | None = None) -> None:
        super().__init__(config)
        shape = config.encoder
        options = encoder_options(shape)
        self.encoder = encoder or AutoModel.from_config(shape, trust_remote_code=False, **options)
        sizes = (shape.hidden_size, *config.head)
        layers: list[torch.nn.Module] = []
        for size, following in zip(sizes[:-1], sizes[1:], strict=True):
            layers += [torch.nn.Linear(size, following), torch.nn.Tanh(), torch.nn.Dropout(config.dropout)]
        self.head = torch.nn.Sequential(*layers, torch.nn.Linear(sizes[-1], 1))
        self.post_init()

    def init_weights(self):
        """Leave the weights as PyTorch and the encoder made them."""

    def forward(self, input_ids, attention_mask, labels=None):
        """Return the scores as ``logits``, and with ``labels`` their mean squared error as ``loss``."""
        device = input_ids.device.type
        with torch.autocast(device, torch.bfloat16, enabled=self.training and torch.is_autocast_enabled(device)):
            hidden = self.encoder(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        with torch.autocast(device, enabled=False):
            scores = self.head(hidden[:, 0].float()).squeeze(-1)
        if labels is None:
            return {"logits": scores}
        return {"loss": torch.nn.functional.mse_loss(scores, labels), "logits": scores}


NetworkConfig.register_for_auto_class()
Network.register_for_auto_class()


def encoder_options(config: Any) -> dict[str, Any]:
    """Ask for 32 bits, no pooling layer (nothing would train it), and no attention whose code is fetched."""
    kind = AutoModel._model_mapping[type(config)]
    kind = kind[0] if isinstance(kind, tuple) else kind
    pooling = {"add_pooling_layer": False} if "add_pooling_layer" in inspect.signature(kind).parameters else {}
    return pooling | {"attn_implementation": "eager" if config.output_attentions else None, "dtype": torch.float32}
