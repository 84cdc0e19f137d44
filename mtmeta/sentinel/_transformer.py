"""The transformer sentinel: an encoder, its first token, and a small head. Needs the extra ``sentinel``."""

import contextlib
import random
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import torch
import transformers
import yaml
from safetensors.torch import load_model, save_model
from transformers import AutoConfig, AutoModel, AutoTokenizer, DataCollatorWithPadding, Trainer, TrainingArguments

from .._files import claim, digest
from . import _settings
from ._frame import examples_of
from ._sentinel import Sentinel, read_card
from ._settings import SCRATCH, TransformerConfig

_WEIGHTS, _RUN = "model.safetensors", "run.json"
#: What published sentinels call what they see.
_SEEN_AS = {"source": "src", "candidate": "mt", "reference": "ref"}


class Network(torch.nn.Module):
    """An encoder and a head on the last hidden state of its first token.

    Each layer of the head but the last is followed by tanh and dropout; the last has one unit and nothing after it.
    """

    def __init__(self, encoder: Any, head: tuple[int, ...], dropout: float) -> None:
        super().__init__()
        if hasattr(encoder, "pooler"):
            encoder.pooler = None  # nothing would train it
        self.encoder, sizes = encoder, (encoder.config.hidden_size, *head)
        layers: list[torch.nn.Module] = []
        for size, following in zip(sizes[:-1], sizes[1:], strict=True):
            layers += [torch.nn.Linear(size, following), torch.nn.Tanh(), torch.nn.Dropout(dropout)]
        self.head = torch.nn.Sequential(*layers, torch.nn.Linear(sizes[-1], 1))

    def forward(self, input_ids, attention_mask, labels=None):
        """Return the scores as ``logits``, and with ``labels`` their mean squared error as ``loss``."""
        hidden = self.encoder(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        scores = self.head(hidden[:, 0]).squeeze(-1)
        loss = {} if labels is None else {"loss": torch.nn.functional.mse_loss(scores, labels.float())}
        return loss | {"logits": scores}


def _built(shape: Any) -> Any:
    """Return an encoder with random weights."""
    return AutoModel.from_config(shape, trust_remote_code=False, dtype=torch.float32)


def _from_scratch(texts: list[str]) -> tuple[Any, Any]:
    """Return a small encoder with random weights, and a tokenizer of byte-level pairs trained on the texts."""
    empty = transformers.RobertaTokenizer(model_max_length=512)
    tokenizer = empty.train_new_from_iterator([sorted(set(texts))], vocab_size=4000, show_progress=False)
    sizes = _settings.SMALL | {"max_position_embeddings": 514, "type_vocab_size": 1}
    tokens = {f"{name}_token_id": getattr(tokenizer, f"{name}_token_id") for name in ("bos", "pad", "eos")}
    return _built(transformers.XLMRobertaConfig(vocab_size=len(tokenizer), **sizes, **tokens)), tokenizer


def _from_checkpoint(name: str) -> tuple[Any, Any]:
    """Return the encoder and the tokenizer of a checkpoint of Hugging Face; only data are read."""
    with _errors(f"the encoder {name!r} cannot be loaded. Give a checkpoint with safetensors, or {SCRATCH}"):
        tokenizer = AutoTokenizer.from_pretrained(name, trust_remote_code=False)
        options = {"dtype": torch.float32, "use_safetensors": True, "output_loading_info": True}
        encoder, found = AutoModel.from_pretrained(name, trust_remote_code=False, **options)
        missing = [*found["missing_keys"], *found["mismatched_keys"]]
        if absent := [weights for weights in missing if "pooler" not in str(weights)]:
            raise ValueError(f"its files lack {len(absent)} weights, such as {absent[0]!r}")
    return encoder, tokenizer


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep transformers from printing warnings and progress bars of its own."""
    logging = transformers.utils.logging
    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()


@contextlib.contextmanager
def _errors(fault: str) -> Iterator[None]:
    """Turn whatever a library raises for a file that it cannot use into one `ValueError`, and keep it quiet."""
    try:
        with _quiet():
            yield
    except Exception as error:
        raise ValueError(f"{fault}: {' '.join(str(error).split())[:300]}") from error


@dataclass(repr=False, eq=False)
class TransformerSentinel(Sentinel):
    """An encoder and a head that predict the human score from one text.

    Attributes
    ----------
    sees : {"source", "candidate", "reference"}
    config : TransformerConfig
    network : torch.nn.Module
    tokenizer : transformers.PreTrainedTokenizerBase
    history : list of dict
        The log of the `Trainer`, and the stage of each entry: ``loss`` is the mean squared error since the entry
        before.
    device : str
        What it was trained on.
    """

    kind: ClassVar[str] = "transformer"

    sees: str
    config: TransformerConfig
    network: Network
    tokenizer: Any
    history: list[dict[str, Any]] = field(default_factory=list)
    device: str = ""

    @property
    def signature(self) -> str:
        """The encoder and the training, in one line."""
        c = self.config
        return (
            f"sentinel:transformer|sees:{self.sees}|encoder:{c.encoder}|lr:{c.learning_rate:g}|"
            f"batch:{c.batch_size}x{c.accumulation}|epochs:{c.epochs}|seed:{c.seed}|device:{self.device}"
        )

    def tokens(self, texts: list[str]) -> list[list[int]]:
        """Return the tokens of each text, cut to the greatest length."""
        positions = getattr(self.network.encoder.config, "max_position_embeddings", None) or 10**9
        longest = min(self.config.max_length, self.tokenizer.model_max_length, positions - 2)
        return self.tokenizer(texts, truncation=True, max_length=longest)["input_ids"]

    def _score(self, texts: list[str]) -> np.ndarray:
        device = "cuda" if torch.cuda.is_available() else "cpu"
        network, ids = self.network.to(device).eval(), self.tokens(texts)
        order, scores = np.argsort([len(row) for row in ids], kind="stable"), np.empty(len(ids))
        with torch.inference_mode():
            for some in np.array_split(order, -(-len(ids) // 64)):
                batch = self.tokenizer.pad({"input_ids": [ids[i] for i in some]}, return_tensors="pt").to(device)
                scores[some] = network(batch["input_ids"], batch["attention_mask"])["logits"].double().cpu().numpy()
        return scores

    def _write(self, folder: Path) -> dict[str, Any]:
        save_model(self.network.cpu(), folder / _WEIGHTS)
        self.network.encoder.config.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)
        return {"config": asdict(self.config), "history": self.history, "device": self.device}


def _published_name(name: str) -> str:
    """Return the name that a weight has in published checkpoints."""
    part, _, rest = name.partition(".")
    return f"{'encoder.model' if part == 'encoder' else 'estimator.ff'}.{rest}"


def load_published(folder: Path) -> TransformerSentinel:
    """Return a published sentinel."""
    with _errors(f"{folder}: the published sentinel in it cannot be loaded"):
        values = yaml.safe_load((folder / "hparams.yaml").read_text(encoding="utf-8"))
        sees = next(ours for ours, theirs in _SEEN_AS.items() if theirs == values["sent_to_use"])
        name, head = values["pretrained_model"], tuple(values["hidden_sizes"])
        network = Network(_built(AutoConfig.from_pretrained(name, trust_remote_code=False)), head, values["dropout"])
        stored = torch.load(folder / "checkpoints" / "model.ckpt", map_location="cpu", weights_only=True)["state_dict"]
        network.load_state_dict({ours: stored.pop(_published_name(ours)) for ours in network.state_dict()})
        if others := [other for other in stored if not other.endswith("position_ids")]:
            raise ValueError(f"it has weights that no sentinel has, such as {others[0]!r}")
        rate = {"learning_rate": values["learning_rate"], "batch_size": values["batch_size"]}
        config = TransformerConfig(encoder=name, head=head, dropout=values["dropout"], **rate)
        tokenizer = AutoTokenizer.from_pretrained(name, trust_remote_code=False)
    return TransformerSentinel(sees, config, network, tokenizer)


def load_transformer(folder: Path, card: dict[str, Any]) -> TransformerSentinel:
    """Return the sentinel that `TransformerSentinel.save` wrote."""
    with _errors(f"{folder}: the transformer sentinel in it is damaged; train it again"):
        config = TransformerConfig(**card["config"] | {"head": tuple(card["config"]["head"])})
        shape = AutoConfig.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
        network = Network(_built(shape), config.head, config.dropout)
        load_model(network, folder / _WEIGHTS)
        tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
        return TransformerSentinel(card["sees"], config, network, tokenizer, card["history"], card["device"])


@contextlib.contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Seed the global generators that the trainer draws from, and restore them afterwards."""
    states = random.getstate(), np.random.get_state()  # noqa: NPY002
    with torch.random.fork_rng(range(torch.cuda.device_count())):
        transformers.set_seed(seed)
        try:
            yield
        finally:
            random.setstate(states[0])
            np.random.set_state(states[1])  # noqa: NPY002


def _rows(sentinel: TransformerSentinel, frame: pd.DataFrame) -> list[dict[str, Any]]:
    texts, _, scores = zip(*examples_of(frame, sentinel.sees), strict=True)
    return [{"input_ids": i, "labels": s} for i, s in zip(sentinel.tokens(list(texts)), scores, strict=True)]


def _train_stage(
    sentinel: TransformerSentinel, stage: int, rows: list, folder: Path, *, kept: bool, progress: bool
) -> None:
    """Train on one stage by the published recipe, from the last checkpoint in the folder if there is one."""
    config = sentinel.config
    share = 1 / config.checks - 1e-9  # of all steps; a little less, since the trainer rounds up
    arguments = TrainingArguments(
        output_dir=str(folder),
        seed=config.seed + stage,
        num_train_epochs=config.epochs,
        per_device_train_batch_size=config.batch_size,
        gradient_accumulation_steps=config.accumulation,
        learning_rate=config.learning_rate,
        lr_scheduler_type="constant",
        max_grad_norm=config.max_grad_norm,
        use_cpu=not torch.cuda.is_available(),
        logging_steps=share / 4,
        save_strategy="steps" if kept else "no",
        save_steps=share,
        save_total_limit=1,
        report_to="none",
        remove_unused_columns=False,
        label_names=["labels"],
        disable_tqdm=not progress,
    )
    trainer = Trainer(
        sentinel.network,
        arguments,
        DataCollatorWithPadding(sentinel.tokenizer),
        train_dataset=rows,
        optimizer_cls_and_kwargs=(torch.optim.RAdam, {"lr": config.learning_rate}),
    )
    trainer.remove_callback(transformers.trainer_callback.PrinterCallback)
    whole = [path.parent for path in folder.glob("checkpoint-*/trainer_state.json")]
    last = max(whole, key=lambda path: int(path.name.rpartition("-")[2]), default=None)
    with _quiet():  # such as: checkpoints saved within one second are sorted by number
        trainer.train(resume_from_checkpoint=last and str(last))
    if not all(torch.isfinite(p).all() for p in sentinel.network.parameters()):
        raise ValueError("the weights are no longer finite: training diverged. Take a smaller learning rate.")
    sentinel.history = [*sentinel.history, *({"stage": stage + 1, **entry} for entry in trainer.state.log_history)]


def fit_transformer(
    frames: list[pd.DataFrame],
    sees: str,
    config: TransformerConfig | None,
    *,
    start: Sentinel | None,
    checkpoints: str | Path | None,
    progress: bool,
) -> TransformerSentinel:
    """Train a transformer sentinel; see `mtmeta.sentinel.fit`."""
    config, kept = config or (start.config if start else TransformerConfig()), checkpoints is not None
    texts = [text for frame in frames for text, *_ in examples_of(frame, sees)]
    with _seeded(config.seed), contextlib.ExitStack() as stack:
        sentinel = _begin(sees, config, start, texts)
        stages = [_rows(sentinel, frame) for frame in frames]
        folder = Path(checkpoints or stack.enter_context(tempfile.TemporaryDirectory()))
        if kept:
            begun = [float(p.detach().double().sum()) for p in sentinel.network.parameters()]
            _check_run(folder, digest([asdict(config), sees, stages, begun]))
        for number, rows in enumerate(stages):
            done = folder / f"stage-{number + 1}" / "sentinel"
            if (done / "sentinel.json").exists():
                sentinel = load_transformer(done, read_card(done))
                continue
            _train_stage(sentinel, number, rows, done.parent, kept=kept, progress=progress)
            if kept:
                sentinel.save(done)
                for checkpoint in done.parent.glob("checkpoint-*"):
                    shutil.rmtree(checkpoint)
    return sentinel


def _begin(
    sees: str, config: TransformerConfig, start: TransformerSentinel | None, texts: list[str]
) -> TransformerSentinel:
    """Return the sentinel that training begins from: a new one, or a copy of another."""
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else "CPU"
    if start is None:
        make = _from_scratch(texts) if config.encoder == SCRATCH else _from_checkpoint(config.encoder)
        return TransformerSentinel(sees, config, Network(make[0], config.head, config.dropout), make[1], device=device)
    if start.sees != sees or (config.encoder, config.head) != (start.config.encoder, start.config.head):
        raise ValueError(f"`start` must see the {sees} and have the same encoder and head; found {start.signature}.")
    network = Network(_built(start.network.encoder.config), config.head, config.dropout)
    network.load_state_dict(start.network.state_dict())
    return TransformerSentinel(sees, config, network, start.tokenizer, device=device)


def _check_run(folder: Path, fingerprint: str) -> None:
    """Raise if the folder has the checkpoints of another training run."""
    claim(folder, _RUN)
    known = (folder / _RUN).read_text(encoding="utf-8")
    if known not in ("", fingerprint):
        raise ValueError(f"{folder} holds checkpoints of another training run (other data, options or start).")
    (folder / _RUN).write_text(fingerprint, encoding="utf-8")
