"""The transformer sentinel: an encoder, its first token, and a small head. Needs the extra ``sentinel``."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.metadata
import json
import math
import os
import platform
import random
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar
from unittest.mock import patch

import numpy as np
import pandas as pd
import torch
import transformers
from accelerate import PartialState
from accelerate.data_loader import prepare_data_loader
from accelerate.utils import broadcast_object_list, gather_object
from safetensors.torch import load_file
from scipy.stats import kendalltau
from tokenizers import ByteLevelBPETokenizer, processors
from torch.utils.data import DataLoader
from transformers import AutoConfig, AutoModel, AutoTokenizer, TrainingArguments
from transformers.trainer_callback import PrinterCallback, ProgressCallback, TrainerCallback
from transformers.trainer_pt_utils import get_length_grouped_indices

from .._files import claimed
from .._pretrained import check_folder, check_size, only_data, refuse_pickles
from .._yaml import parse
from ._frame import SEES, examples_of, find_overlap
from ._report import TrainingReport, read_report, write_json
from ._sentinel import Sentinel
from ._settings import SCRATCH, TransformerConfig
from ._transformer_network import Network, NetworkConfig, encoder_options

__all__ = ["TransformerSentinel", "fit_transformer", "load_transformer"]

_REPORT = "report.json"
_SPECIAL = {"bos": "<s>", "pad": "<pad>", "eos": "</s>", "unk": "<unk>", "mask": "<mask>"}
_LONGEST = 512
#: What published sentinels call what they see.
_SEEN_AS = {"source": "src", "candidate": "mt", "reference": "ref"}
#: Tokens that are scored at once, padding included; texts that are tokenised at once.
_SCORED_AT_ONCE, _CHUNK = 16_384, 4096
#: What is said where memory runs out. Processes exchange gradients while they compute them, and cannot begin again.
_TOO_LARGE = (
    "memory ran out, and batches cannot be split any further; where several processes train, they cannot be split at "
    "all. Take a smaller `batch_size` and a larger `accumulation`, fewer `tokens` in the fast recipe, a smaller "
    "`max_length`, `gradient_checkpointing`, or another encoder."
)
#: Newer releases of Transformers have another name for this, and warn of the old one.
_RECOMPUTING = f"{'activation' if hasattr(TrainingArguments, 'activation_checkpointing') else 'gradient'}_checkpointing"
#: A vocabulary may be padded in the encoder; where a larger share than that is missing, files are.
_COMPLETE = 0.95


AutoConfig.register(NetworkConfig.model_type, NetworkConfig)
AutoModel.register(NetworkConfig, Network)


def _loaded(name: str | Path, local: bool, shape: Any, **options: Any) -> Any:
    """Load the model of a checkpoint from safetensors; refuse it if weights are missing."""
    if local:
        with torch.device("meta"):
            check_size(AutoModel.from_config(shape, trust_remote_code=False, **options), name)
    options |= {"config": shape, "local_files_only": local, "use_safetensors": True, "output_loading_info": True}
    model, found = AutoModel.from_pretrained(name, trust_remote_code=False, **options)
    absent = sorted(found["missing_keys"]) + sorted(map(str, found["mismatched_keys"]))
    if absent:
        raise ValueError(
            f"{len(absent)} of its {len(model.state_dict())} weights are not in its files, or of other sizes, such as "
            f"{absent[0]!r}, and would be random"
        )
    for weight in model.parameters():  # how a mapped file is aligned can change the last bit
        weight.data = weight.data.clone()
    return model


def _from_scratch(name: str, texts: list[str]) -> tuple[Any, Any]:
    """Return the configuration of an encoder, and a tokeniser trained on the texts."""
    hidden, layers, heads, intermediate, vocabulary = SCRATCH[name]
    tokeniser = ByteLevelBPETokenizer()
    options = {"vocab_size": vocabulary, "min_frequency": 0, "special_tokens": [*_SPECIAL.values()]}
    tokeniser.train_from_iterator(sorted(set(texts)), show_progress=False, **options)
    tokeniser.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[(token, tokeniser.token_to_id(token)) for token in ("<s>", "</s>")]
    )
    names = {f"{name}_token": token for name, token in _SPECIAL.items()} | {"cls_token": "<s>", "sep_token": "</s>"}
    wrapped = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokeniser._tokenizer, model_max_length=_LONGEST, **names
    )
    sizes = {"hidden_size": hidden, "num_hidden_layers": layers, "num_attention_heads": heads}
    sizes |= {"intermediate_size": intermediate, "max_position_embeddings": _LONGEST + 2}
    return transformers.XLMRobertaConfig(vocab_size=len(wrapped), type_vocab_size=1, **sizes), wrapped


def _from_checkpoint(sees: str, config: TransformerConfig, texts: list[str]) -> TransformerSentinel:
    """Return a sentinel with an encoder from a checkpoint, once a trial has succeeded."""
    name = config.encoder
    refuse_pickles(name)
    advice = (
        "Give a Hugging Face checkpoint, a folder with one, or scratch-small, scratch-base or scratch-large to start "
        "from random weights."
    )
    with only_data(f"the encoder {name!r} cannot be loaded", advice):
        local = check_folder(name)
        shape = AutoConfig.from_pretrained(name, trust_remote_code=False, local_files_only=local)
        tokeniser = AutoTokenizer.from_pretrained(name, trust_remote_code=False, local_files_only=local)
        encoder = _loaded(name, local, shape, **encoder_options(shape))
        network = Network(NetworkConfig(shape, config.head, config.dropout), encoder)
        sentinel = TransformerSentinel(sees, config, network, tokeniser)
        _try(sentinel, texts)
        with tempfile.TemporaryDirectory() as folder:  # better now than after hours of training
            network.config.save_pretrained(folder)
            tokeniser.save_pretrained(folder)
    return sentinel


def _try(sentinel: TransformerSentinel, texts: Iterable[str] = ()) -> None:
    """Raise unless the tokenizer fits the network and knows most of the texts, and both score two texts."""
    network, tokeniser = sentinel.network.eval(), sentinel.tokeniser
    known = getattr(network.encoder.get_input_embeddings(), "num_embeddings", math.inf)
    if max(tokeniser.get_vocab().values()) >= known or tokeniser.pad_token_id is None:
        raise ValueError(f"its tokenizer has no padding, or tokens beyond the {known} that the encoder knows.")
    if len(tokeniser) < _COMPLETE * (expected := getattr(network.config.encoder, "vocab_size", None) or 0):
        raise ValueError(
            f"its tokenizer has {len(tokeniser):,} tokens, and its configuration says {expected:,}; add tokenizer.json "
            "of the same checkpoint"
        )
    some = [*texts][:_CHUNK]
    ids = tokeniser(some, add_special_tokens=False)["input_ids"] if some else []
    unknown = np.concatenate([*ids, []]) == tokeniser.unk_token_id
    if len(unknown) and unknown.mean() > 0.5:
        raise ValueError(f"its tokenizer does not know {unknown.mean():.0%} of the tokens in the texts")
    with torch.inference_mode():
        scores = network(**_padded(_token_ids(sentinel, ["a", "a text"]), tokeniser.pad_token_id))["logits"]
    if scores.shape != (2,) or not scores.isfinite().all():
        raise ValueError(f"it must give a finite number for each of two texts; found {scores.tolist()}.")


# -- the sentinel ------------------------------------------------------------------------


def _compiles() -> bool:
    return torch.cuda.is_available()  # elsewhere there may be no compiler


def _bf16(config: TransformerConfig) -> bool:
    on_gpu = torch.cuda.is_available()
    known = on_gpu and torch.cuda.is_bf16_supported(including_emulation=False)
    if config.precision == "bf16" and on_gpu and not known:
        raise ValueError("precision 'bf16' needs a GPU that computes in it, and the one here does not. Use 'fp32'.")
    return config.precision == "bf16" or (config.precision == "auto" and known)


def _processes() -> PartialState:
    """Return how many processes train together, under torchrun, and which one this is."""
    return PartialState(cpu=not torch.cuda.is_available())


@dataclass(repr=False, eq=False)
class TransformerSentinel(Sentinel):
    """An encoder and a head that predict the human score from one text.

    Attributes
    ----------
    sees : {"source", "candidate", "reference"}
    config : TransformerConfig
    network : torch.nn.Module
    tokeniser : transformers.PreTrainedTokenizerBase
    report : TrainingReport or None
        The report of its training.
    world_size : int
        How many processes trained it together.
    """

    kind: ClassVar[str] = "transformer"

    sees: str
    config: TransformerConfig
    network: Network
    tokeniser: Any
    report: TrainingReport | None = None
    world_size: int = 1

    @property
    def signature(self) -> str:
        """What it is and how it was trained, in one line."""
        c = self.config
        batch = f"{c.batch_size}x{c.accumulation}" if c.recipe == "published" else f"{c.tokens}tokens"
        batch += f"x{self.world_size}" if self.world_size > 1 else ""
        return (
            f"sentinel:transformer|sees:{self.sees}|encoder:{c.encoder}|lr:{c.learning_rate:g}|"
            f"batch:{batch}|epochs:{c.epochs}|seed:{c.seed}"
        )

    def _score(self, texts: list[str]) -> np.ndarray:
        return _scores(self, _token_ids(self, texts))

    def save(self, folder: str | Path) -> None:
        """Write the sentinel into a folder; if several processes trained together, only the first one writes."""
        if _processes().is_main_process:
            super().save(folder)
        _processes().wait_for_everyone()

    def export(self, folder: str | Path) -> None:
        """Write the sentinel as the published ones are: ``hparams.yaml`` and ``checkpoints/model.ckpt``.

        The class of Perrella et al. loads it, and so does `load`. The encoder is named, not written: its configuration
        and tokenizer must be where `TransformerConfig.encoder` says.

        Parameters
        ----------
        folder : str or pathlib.Path

        Raises
        ------
        ValueError
            If the encoder is not XLM-R from a checkpoint: that class knows no other.
        OSError
            If the folder has ``checkpoints`` already, or cannot be made.
        """
        folder, c = Path(folder), self.config
        if c.encoder in SCRATCH or self.network.config.encoder.model_type != "xlm-roberta":
            raise ValueError(f"the published class knows only checkpoints of XLM-R; the encoder is {c.encoder}.")
        (folder / "checkpoints").mkdir(parents=True)
        values = {"class_identifier": "sentinel_regression_metric", "encoder_model": "XLM-RoBERTa"}
        values |= {"pretrained_model": c.encoder, "hidden_sizes": c.head, "dropout": c.dropout, "activations": "Tanh"}
        values |= {"optimizer": "RAdam", "learning_rate": c.learning_rate, "batch_size": c.batch_size}
        values["sent_to_use"] = _SEEN_AS[self.sees]
        weights = {_published_name(name): tensor for name, tensor in self.network.state_dict().items()}
        stored = {"state_dict": weights, "hyper_parameters": values, "pytorch-lightning_version": "2.0.0"}
        torch.save(stored, folder / "checkpoints" / "model.ckpt")
        write_json(folder / "hparams.yaml", values)  # JSON is YAML

    def _write(self, folder: Path) -> dict[str, Any]:
        with _quiet():
            self.network.save_pretrained(folder)
            self.tokeniser.save_pretrained(folder)
        if self.report is not None:
            self.report.write(folder / _REPORT)
            (folder / "README.md").write_text(self.report.card(), encoding="utf-8")
        return {"config": asdict(self.config), "world_size": self.world_size}


def _token_ids(sentinel: TransformerSentinel, texts: list[str]) -> list[np.ndarray]:
    """Return the tokens of each text; a chunk at a time, since the tokenizer holds 12 KB a text."""
    positions = getattr(sentinel.network.config.encoder, "max_position_embeddings", None) or math.inf
    longest = int(min(sentinel.config.max_length, sentinel.tokeniser.model_max_length, positions - 2))
    options = {"truncation": True, "max_length": longest, "return_attention_mask": False}
    chunks = (texts[start : start + _CHUNK] for start in range(0, len(texts), _CHUNK))
    return [np.array(row, np.int32) for some in chunks for row in sentinel.tokeniser(some, **options)["input_ids"]]


def _by_tokens(lengths: np.ndarray, order: Iterable[int], most: int) -> list[list[int]]:
    """Cut an order of texts into batches of at most ``most`` tokens, padding included, but at least one text."""
    batches: list[list[int]] = [[]]
    longest = 0
    for i in map(int, order):
        longest = max(longest, lengths[i])
        if batches[-1] and longest * (len(batches[-1]) + 1) > most:
            batches.append([])
            longest = lengths[i]
        batches[-1].append(i)
    return batches


def _padded(ids: list[np.ndarray], filler: int) -> dict[str, torch.Tensor]:
    rows = [torch.as_tensor(row, dtype=torch.long) for row in ids]
    pad = torch.nn.utils.rnn.pad_sequence
    mask = pad([torch.ones_like(row) for row in rows], batch_first=True)
    return {"input_ids": pad(rows, batch_first=True, padding_value=filler), "attention_mask": mask}


def _scores(sentinel: TransformerSentinel, ids: list[np.ndarray], rank: int = 0, world_size: int = 1) -> np.ndarray:
    """Score texts by their tokens; if several processes share them, 0 stands for those of the others."""
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    network, lengths = sentinel.network.to(device).eval(), np.array([len(row) for row in ids])
    batches = _by_tokens(lengths, np.argsort(lengths, kind="stable"), _SCORED_AT_ONCE)[rank::world_size]
    found, scores = [], np.zeros(len(ids))
    with torch.no_grad():
        for some in batches:
            batch = _padded([ids[i] for i in some], sentinel.tokeniser.pad_token_id)
            found.append(network(**{k: v.to(device, non_blocking=True) for k, v in batch.items()})["logits"])
    for some, values in zip(batches, found, strict=True):
        scores[some] = values.double().cpu()
    return scores


def _published_name(name: str) -> str:
    """Return the name that a weight has in published checkpoints."""
    part, _, rest = name.partition(".")
    return f"{'encoder.model' if part == 'encoder' else 'estimator.ff'}.{rest}"


def load_published(folder: Path) -> TransformerSentinel:
    """Return a published sentinel, or one that `TransformerSentinel.export` wrote."""
    with _quiet(), only_data(f"{folder}: the published sentinel in it cannot be loaded", "Fetch it again."):
        values = parse((folder / "hparams.yaml").read_text(encoding="utf-8"))
        sees = next(ours for ours, theirs in _SEEN_AS.items() if theirs == values["sent_to_use"])
        name, head = values["pretrained_model"], tuple(values["hidden_sizes"])
        local = check_folder(name)
        shape = AutoConfig.from_pretrained(name, trust_remote_code=False, local_files_only=local)
        network = Network(NetworkConfig(shape, head, values["dropout"]))
        path = folder / "checkpoints" / "model.ckpt"
        stored = torch.load(path, map_location="cpu", weights_only=True)["state_dict"]
        network.load_state_dict({ours: stored.pop(_published_name(ours)) for ours in network.state_dict()})
        if others := [other for other in stored if not other.endswith("position_ids")]:
            raise ValueError(f"it has weights that no sentinel has, such as {others[0]!r}")
        tokeniser = AutoTokenizer.from_pretrained(name, trust_remote_code=False, local_files_only=local)
        rate = {"learning_rate": values["learning_rate"], "batch_size": values["batch_size"]}
        config = TransformerConfig(encoder=name, head=head, dropout=values["dropout"], **rate)
        sentinel = TransformerSentinel(sees, config, network, tokeniser)
        _try(sentinel)
    return sentinel


def load_transformer(folder: Path, card: dict[str, Any]) -> TransformerSentinel:
    """Return the sentinel that `TransformerSentinel.save` wrote."""
    with _quiet(), only_data(f"{folder}: the transformer sentinel in it is damaged", "Train it again."):
        config = TransformerConfig(**card["config"] | {"head": tuple(card["config"]["head"])})
        check_folder(folder)
        shape = NetworkConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
        network = _loaded(folder, True, shape)
        tokeniser = AutoTokenizer.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
        report = read_report(folder / _REPORT) if (folder / _REPORT).exists() else None
        sentinel = TransformerSentinel(card["sees"], config, network, tokeniser, report, card["world_size"])
        _try(sentinel)
    return sentinel


# -- quiet and reproducible --------------------------------------------------------------


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep Transformers from writing to the terminal."""
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
def _seeded(config: TransformerConfig) -> Iterator[None]:
    """Seed the global generators that the trainer draws from, and restore them afterwards."""
    states = random.getstate(), np.random.get_state(), torch.are_deterministic_algorithms_enabled()  # noqa: NPY002
    cudnn = torch.backends.cudnn
    flags = cudnn.deterministic, cudnn.benchmark
    with torch.random.fork_rng(range(torch.cuda.device_count())), patch.dict(os.environ):
        (transformers.enable_full_determinism if config.deterministic else transformers.set_seed)(config.seed)
        try:
            yield
        finally:
            random.setstate(states[0])
            np.random.set_state(states[1])  # noqa: NPY002
            torch.use_deterministic_algorithms(states[2])
            cudnn.deterministic, cudnn.benchmark = flags


# -- training ----------------------------------------------------------------------------


class ByLength(torch.utils.data.Sampler):
    """Batches of texts of similar length, in an order that depends on seed and epoch alone.

    In the published recipe a batch has ``batch_size`` texts, and all texts of a step are of similar length. The
    remaining texts, too few for a step, are drawn at random and come last. In the fast recipe a batch has at most
    ``tokens`` tokens, padding included. Processes that train together take turns; if their number does not divide that
    of the batches, large batches are split, and of batches of one text some count twice.
    """

    def __init__(self, lengths: Any, config: TransformerConfig, seed: int, rank: int = 0, world_size: int = 1) -> None:
        self.lengths, self.config, self.seed = np.asarray(lengths), config, seed
        self.rank, self.world_size, self.epoch = rank, world_size, 0

    def __len__(self) -> int:
        return len(self.batches(0)) // self.world_size

    def __iter__(self) -> Iterator[list[int]]:
        return iter(self.batches(self.epoch)[self.rank :: self.world_size])

    @functools.lru_cache(2)  # noqa: B019 - the sampler lives as long as a stage
    def batches(self, epoch: int) -> list[list[int]]:
        """Return the batches of an epoch, of all processes."""
        config, draws = self.config, torch.Generator().manual_seed(self.seed + epoch)
        if config.recipe == "fast":  # the batches are the same in each epoch, so that their number is
            tied = np.random.default_rng(self.seed).permutation(len(self.lengths))
            made = _by_tokens(self.lengths, tied[np.argsort(-self.lengths[tied], kind="stable")], config.tokens)
            made = [made[i] for i in torch.randperm(len(made), generator=draws)]
        else:
            size, step = config.batch_size, config.batch_size * config.accumulation
            order = torch.randperm(len(self.lengths), generator=draws)
            whole, rest = order.split([len(order) // step * step, len(order) % step])
            if len(whole):
                whole = whole[get_length_grouped_indices(self.lengths[whole].tolist(), step, generator=draws)]
                whole = whole.view(-1, step)[torch.randperm(len(whole) // step, generator=draws)].flatten()
            made = [part.tolist() for part in (*whole.split(size), *rest.split(size)) if len(part)]
        for _ in range(-len(made) % self.world_size):
            largest = made.pop(int(np.argmax([len(batch) for batch in made])))
            made += [largest[::2], largest[1::2] or largest]
        return made


class SentinelTrainer(transformers.Trainer):
    """The trainer of Hugging Face; it has batches of its own, and splits those that do not fit into memory."""

    sampler: ByLength
    agreement: Callable[[], dict[str, float]]
    parts, share, begun = 1, 1.0, -1

    def get_train_dataloader(self):
        """Return the batches of this process."""
        options = {"collate_fn": self.data_collator, "pin_memory": torch.cuda.is_available()}
        loader = DataLoader(self.train_dataset, batch_sampler=self.sampler, **options)
        device = {"device": self.args.device, "put_on_device": True, "non_blocking": True}
        return prepare_data_loader(loader, num_processes=1, process_index=0, **device)

    def evaluate(self, *_, **__):
        """Score the rows held out as all texts are scored, and log how well the scores agree."""
        found = self.agreement()
        self.log(found)
        self.control = self.callback_handler.on_evaluate(self.args, self.state, self.control, found)
        return found

    def create_optimizer(self, *args, **options):
        """Compile the step of the optimizer in the fast recipe."""
        fresh, optimizer = self.optimizer is None, super().create_optimizer(*args, **options)
        if fresh and self.sampler.config.recipe == "fast" and _compiles():
            optimizer.step = torch.compile(optimizer.step)
        return optimizer

    def compute_loss(self, *args, **options):
        """Weigh the loss by the share of the batch."""
        return super().compute_loss(*args, **options) * self.share

    def training_step(self, model, inputs, *args, **options):
        """Add the gradients of a batch.

        If memory runs out, begin the step again, each batch in twice as many parts, whose gradients add up to the same.
        """
        if self.begun != self.state.global_step:
            self.begun, self.step = self.state.global_step, []
        self.step.append(inputs)
        todo = [inputs]
        while True:
            try:
                return [self._in_parts(model, batch, *args, **options) for batch in todo][-1]
            except torch.OutOfMemoryError as error:
                if self.args.world_size > 1 or max(len(batch["labels"]) for batch in todo) <= self.parts:
                    raise ValueError(_TOO_LARGE) from error
            model.zero_grad()
            torch.cuda.empty_cache()
            self.parts *= 2
            todo = self.step

    def _in_parts(self, model, batch, *args, **options):
        losses = []
        for part in zip(*(tensor.chunk(self.parts) for tensor in batch.values()), strict=True):
            self.share = len(part[0]) / len(batch["labels"])
            losses.append(super().training_step(model, dict(zip(batch, part, strict=True)), *args, **options))
        return sum(losses)


class Watch(TrainerCallback):
    """Says which epoch comes next, and asks for a last validation."""

    def __init__(self, sampler: ByLength) -> None:
        self.sampler = sampler

    def on_epoch_begin(self, args, state, control, **_):
        """Turn to the batches of the epoch."""
        self.sampler.epoch = int(state.epoch or 0)

    def on_step_end(self, args, state, control, **_):
        """Ask for the last validation, which older releases of Transformers leave out."""
        if state.global_step >= state.max_steps:
            control.should_evaluate |= args.eval_strategy == "steps"


def _last_checkpoint(folder: Path) -> str | None:
    """Return the last checkpoint that is whole: the trainer writes its state last, and then removes older ones."""
    whole = {}
    for state in folder.glob("checkpoint-*/trainer_state.json"):
        with contextlib.suppress(ValueError):
            whole[json.loads(state.read_text(encoding="utf-8"))["global_step"]] = str(state.parent)
    return whole[max(whole)] if whole else None


class Bar(ProgressCallback):
    """One bar on standard error, with the loss beside it."""

    def on_log(self, args, state, control, logs=None, **_):
        """Show the loss in the bar; print nothing."""
        shown = {k.removeprefix("eval_"): f"{v:.3g}" for k, v in (logs or {}).items() if k in ("loss", "eval_kendall")}
        if state.is_world_process_zero and self.training_bar is not None and shown:
            self.training_bar.set_postfix(shown)


def _arguments(
    config: TransformerConfig, folder: Path, stage: int, *, validated: bool, selected: bool, kept: bool, progress: bool
) -> TrainingArguments:
    """Return the settings of the trainer; no checkpoint is written unless it is asked for or may be the best."""
    when = "epoch" if config.select == "published" else "steps"
    share = 1 / config.checks - 1e-9  # of all steps; a little less, since the trainer rounds up
    options: dict[str, Any] = {"output_dir": str(folder), "seed": config.seed + stage, "report_to": "none"}
    options |= {"num_train_epochs": config.epochs, "per_device_train_batch_size": config.batch_size}
    options["gradient_accumulation_steps"] = config.accumulation if config.recipe == "published" else 1
    options |= {"learning_rate": config.learning_rate, "lr_scheduler_type": "constant"}
    options |= {"max_grad_norm": config.max_grad_norm, "bf16": _bf16(config), "use_cpu": not torch.cuda.is_available()}
    options |= {"logging_steps": 0.02, "logging_nan_inf_filter": False, "disable_tqdm": not progress}
    options[_RECOMPUTING] = config.gradient_checkpointing
    options |= {"eval_strategy": when if validated else "no", "eval_steps": share}
    options |= {"save_strategy": when if kept or selected else "no", "save_steps": share, "save_only_model": not kept}
    options |= {"save_total_limit": 1, "remove_unused_columns": False, "load_best_model_at_end": selected}
    if selected:
        by_error = config.select == "loss"
        options |= {"metric_for_best_model": "error" if by_error else "kendall", "greater_is_better": not by_error}
    arguments = TrainingArguments(**options)
    arguments._n_gpu = min(1, arguments.n_gpu)  # or the trainer would spread larger batches over all of them
    return arguments


def _agreement(sentinel: TransformerSentinel, validation: pd.DataFrame) -> Callable[[], dict[str, float]]:
    """Return a function that measures how well the scores of rows agree with people's; processes share the rows."""
    whole = sentinel.config.select != "published" or "set" not in validation
    sets = validation.groupby(np.zeros(len(validation)) if whole else "set", sort=True)
    parts = [examples_of(part, sentinel.sees) for _, part in sets]
    ids = _token_ids(sentinel, [text for part in parts for text, *_ in part])
    human = np.array([score for part in parts for *_, score in part])
    ends, processes = np.cumsum([len(part) for part in parts])[:-1], _processes()

    def agreement() -> dict[str, float]:
        own = _scores(sentinel, ids, processes.process_index, processes.num_processes)
        found = np.sum(gather_object([own]), axis=0)
        pairs = zip(np.split(found, ends), np.split(human, ends), strict=True)
        taus = np.nan_to_num([kendalltau(*pair).statistic for pair in pairs])
        return {"eval_kendall": float(np.mean(taus)), "eval_error": float(np.mean((found - human) ** 2))}

    return agreement


def _train_stage(
    sentinel: TransformerSentinel, stage: int, examples: list, agreement: Callable | None, folder: Path, **how: bool
) -> dict[str, Any]:
    """Train the network on one stage; return what was done."""
    network, config, world_size = sentinel.network, sentinel.config, sentinel.world_size
    ids, counts = _token_ids(sentinel, [text for text, *_ in examples]), np.zeros(3)

    def collate(rows: list[tuple[np.ndarray, float]]) -> dict[str, torch.Tensor]:
        some, labels = zip(*rows, strict=True)
        batch = _padded(list(some), sentinel.tokeniser.pad_token_id)
        counts[:] += len(some), sum(map(len, some)), batch["input_ids"].numel()
        return batch | {"labels": torch.tensor(labels, dtype=torch.float32)}

    selected = agreement is not None and (config.select != "published" or sentinel.sees == "candidate")
    arguments = _arguments(config, folder, stage, validated=agreement is not None, selected=selected, **how)
    lengths = [len(row) for row in ids]
    sampler = ByLength(lengths, config, config.seed + stage, _processes().process_index, world_size)
    rate, resumed = config.learning_rate, _last_checkpoint(folder)
    if config.recipe == "fast":
        rate *= math.sqrt(len(ids) / len(sampler) / (config.batch_size * config.accumulation))
    rows = [(row, score) for row, (*_, score) in zip(ids, examples, strict=True)]
    trainer = SentinelTrainer(
        model=network,
        args=arguments,
        train_dataset=rows,
        eval_dataset=rows,  # it must be there, but `evaluate` reads none
        data_collator=collate,
        optimizer_cls_and_kwargs=(torch.optim.RAdam, {"lr": rate}),
    )
    trainer.sampler, trainer.agreement = sampler, agreement
    trainer.remove_callback(PrinterCallback)
    trainer.remove_callback(ProgressCallback)
    trainer.add_callback(Watch(sampler))
    if how["progress"]:
        trainer.add_callback(Bar())
    done = trainer.train(resume_from_checkpoint=resumed)
    if not all(torch.isfinite(p).all() for p in network.parameters()):
        raise ValueError(
            f"the weights are no longer finite after stage {stage + 1}: training diverged. Take a smaller learning "
            f"rate than {rate:g}."
        )
    return {
        "texts": len(ids),
        "steps": trainer.state.global_step,
        "resumed_from": _step_of(resumed) or 0,
        "seconds": done.metrics["train_runtime"],
        "learning_rate": rate,
        "counts": np.sum(gather_object([counts]), axis=0).tolist(),
        "curve": _curve(trainer.state.log_history, stage),
        "best": _step_of(trainer.state.best_model_checkpoint),
    }


def _step_of(checkpoint: str | None) -> int | None:
    return None if checkpoint is None else int(checkpoint.rsplit("-", 1)[1])


def _curve(history: list[dict], stage: int) -> list[dict[str, Any]]:
    names = {"loss": "loss", "eval_error": "validation_loss", "eval_kendall": "validation_kendall"}
    table = pd.DataFrame(history).reindex(columns=["step", *names]).rename(columns=names)
    table = table.groupby("step").last().dropna(how="all").reset_index().astype(object)
    return table.where(table.notna(), None).assign(stage=stage + 1).to_dict("records")


@contextlib.contextmanager
def _claim(folder: Path, fingerprint: str) -> Iterator[Path]:
    """Claim a folder for checkpoints, or continue with one of this same run; no other process may use it meanwhile."""
    with claimed(folder, "training", ["run.json", "stage-1"]):
        mark = folder / "run.json"
        if not mark.exists():
            write_json(mark, {"fingerprint": fingerprint})
        elif json.loads(mark.read_text(encoding="utf-8")).get("fingerprint") != fingerprint:
            raise ValueError(
                f"{folder} holds checkpoints of another training run (other texts, scores, configuration or number of "
                "processes). Name a new folder, or delete this one."
            )
        yield folder


@contextlib.contextmanager
def _shared(checkpoints: str | Path | None, fingerprint: str) -> Iterator[Path]:
    """Yield the same folder to all processes: the first one makes and claims it, and removes a temporary one."""
    processes = _processes()
    with contextlib.ExitStack() as stack:
        place = [checkpoints]
        if processes.is_main_process:
            place = [str(checkpoints or stack.enter_context(tempfile.TemporaryDirectory()))]
            stack.enter_context(_claim(Path(place[0]), fingerprint))
        yield Path(broadcast_object_list(place)[0])
        processes.wait_for_everyone()


def _begin(
    sees: str, config: TransformerConfig, start: TransformerSentinel | None, texts: list[str]
) -> TransformerSentinel:
    """Return the sentinel to train."""
    _bf16(config)
    if start is None:
        if config.encoder not in SCRATCH:
            return _from_checkpoint(sees, config, texts)
        shape, tokeniser = _from_scratch(config.encoder, texts)
        return TransformerSentinel(sees, config, Network(NetworkConfig(shape, config.head, config.dropout)), tokeniser)
    if start.sees != sees:
        raise ValueError(f"`start` sees the {start.sees}; expected one that sees the {sees}.")
    if (config.encoder, config.head) != (start.config.encoder, start.config.head):
        raise ValueError(f"`config` must have the encoder and head of `start`; found {config}.")
    network = Network(NetworkConfig(start.network.config.encoder, config.head, config.dropout))
    network.load_state_dict(start.network.state_dict())
    return TransformerSentinel(sees, config, network, start.tokeniser)


def fit_transformer(
    frames: list[pd.DataFrame],
    sees: str,
    config: TransformerConfig | None,
    *,
    validation: pd.DataFrame | None,
    start: Sentinel | None,
    checkpoints: str | Path | None,
    peak_flops: float | None,
    progress: bool,
) -> TransformerSentinel:
    """Train a transformer sentinel; see `mtmeta.sentinel.fit`."""
    if peak_flops is not None and not 0 < peak_flops < math.inf:
        raise ValueError(f"`peak_flops` must be a positive number of operations per second; found {peak_flops!r}.")
    if start is not None and not isinstance(start, TransformerSentinel):
        raise TypeError(f"`start` must be a transformer sentinel; found {type(start).__name__}.")
    stages = [examples_of(frame, sees) for frame in frames]
    checked = () if validation is None else examples_of(validation, sees)
    began = time.perf_counter()
    if torch.cuda.is_available():
        torch.cuda.reset_peak_memory_stats()
    config = config or (start.config if start else TransformerConfig())
    with _seeded(config), _quiet():
        sentinel = _begin(sees, config, start, [text for examples in stages for text, *_ in examples])
        sentinel.world_size = _processes().num_processes
        pairs = [[(text, score) for text, _, score in examples] for examples in (*stages, checked)]
        weights = [] if start is None else [float(p.double().sum()) for p in start.network.state_dict().values()]
        parts = [asdict(config), sees, pairs, weights, sentinel.world_size]
        fingerprint = hashlib.sha256(json.dumps(parts, ensure_ascii=False, default=list).encode()).hexdigest()
        agreement = None if validation is None else _agreement(sentinel, validation)
        named = [sorted(map(str, frame["set"].unique())) if "set" in frame else [] for frame in frames]
        data = [{"rows": len(frame), "sets": sets} for frame, sets in zip(frames, named, strict=True)]
        facts = {"data": data, "overlap": None, "peak_flops": peak_flops}
        if validation is not None:
            seen = [SEES[sees]]
            facts["overlap"] = len(find_overlap(pd.concat([frame[seen] for frame in frames]), validation[seen]))
        done = []
        how = {"kept": checkpoints is not None, "progress": progress}
        with _shared(checkpoints, fingerprint) as folder:
            for i, examples in enumerate(stages):
                place = folder / f"stage-{i + 1}"
                stored = _stored_stage(sentinel, place)
                done.append(stored or _train_stage(sentinel, i, examples, agreement, place, **how))
                sentinel.network.eval()
                sentinel.report = _report(sentinel, done, time.perf_counter() - began, facts)
                if checkpoints is not None:
                    _keep_stage(sentinel, place, done[-1])
    return sentinel


def _stored_stage(sentinel: TransformerSentinel, folder: Path) -> dict[str, Any] | None:
    """Load the weights of a finished stage; return its facts, which are written last."""
    facts_file = folder / "done.json"
    if not facts_file.exists():
        return None
    sentinel.network.load_state_dict(load_file(folder / "sentinel" / "model.safetensors"))
    facts = json.loads(facts_file.read_text(encoding="utf-8"))
    return facts | {"resumed_from": facts["steps"], "seconds": 0.0, "counts": [0.0] * 3}


def _keep_stage(sentinel: TransformerSentinel, folder: Path, facts: dict[str, Any]) -> None:
    """Save the result of a stage as a sentinel, and remove the files that only served to resume it."""
    _processes().wait_for_everyone()  # all have read the best checkpoint
    if _processes().is_main_process:
        if not (folder / "done.json").exists():
            Sentinel.save(sentinel, folder / "sentinel")
            write_json(folder / "done.json", facts)
        for checkpoint in folder.glob("checkpoint-*"):
            shutil.rmtree(checkpoint)
    _processes().wait_for_everyone()


# -- the report --------------------------------------------------------------------------


def _report(
    sentinel: TransformerSentinel, done: list[dict[str, Any]], wall: float, facts: dict[str, Any]
) -> TrainingReport:
    network, config = sentinel.network, sentinel.config
    texts, tokens, padded = np.sum([stage["counts"] for stage in done], axis=0).tolist()
    flops = 6 * padded * network.num_parameters(exclude_embeddings=True)
    seconds = float(sum(stage["seconds"] for stage in done))
    amounts = {"texts": texts, "tokens": tokens, "flops": flops}
    speed = {f"{name}_per_second": n / seconds if seconds else 0.0 for name, n in amounts.items()}
    peak = facts["peak_flops"]
    versions = {name: importlib.metadata.version(name) for name in ("torch", "transformers", "accelerate", "mtmeta")}
    on_gpu, encoder = torch.cuda.is_available(), config.encoder + ", from random weights" * (config.encoder in SCRATCH)
    made = {"signature": sentinel.signature, "encoder": encoder}
    made |= {"stages": [{k: v for k, v in s.items() if k not in ("counts", "curve", "best")} for s in done]}
    made |= {"curve": [point for stage in done for point in stage["curve"]], "best": [stage["best"] for stage in done]}
    made |= {"n_texts": int(texts), "n_tokens": int(tokens), "n_padded_tokens": int(padded), "flops": flops} | speed
    made |= {"share_of_peak": None if peak is None else speed["flops_per_second"] / (peak * sentinel.world_size)}
    made |= {"precision": "bf16" if _bf16(config) else "fp32", "seed": config.seed, "world_size": sentinel.world_size}
    made |= {"peak_memory": torch.cuda.max_memory_allocated() if on_gpu else None, "seconds": seconds}
    made |= {"device": torch.cuda.get_device_name() if on_gpu else f"CPU, {torch.get_num_threads()} threads"}
    made |= {"versions": {"python": platform.python_version()} | versions, "n_parameters": network.num_parameters()}
    return TrainingReport(**made, **facts, wall_seconds=wall)
