"""The transformer sentinel: an encoder, its first token, and a small head. Needs the extra ``sentinel``."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import inspect
import json
import math
import os
import platform
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
import transformers
from safetensors.torch import load_file, save_file
from scipy.stats import kendalltau
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import AutoConfig, AutoModel, AutoTokenizer, PreTrainedTokenizerFast, TrainingArguments
from transformers.trainer_callback import PrinterCallback, ProgressCallback, TrainerCallback
from transformers.trainer_pt_utils import LengthGroupedSampler

from .._files import claimed, whole_file
from .._pretrained import check_folder, check_size, only_data, refuse_pickles
from ._frame import examples_of
from ._report import TrainingReport, read_report, write_json
from ._sentinel import Sentinel
from ._settings import EncoderShape, TransformerConfig

__all__ = ["TransformerSentinel", "fit_transformer", "load_transformer"]

_WEIGHTS, _ENCODER, _TOKENISER, _REPORT = "model.safetensors", "encoder", "tokenizer", "report.json"
_SPECIAL = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
_LONGEST = 512
_SCORED_AT_ONCE = 64


# -- the network -------------------------------------------------------------------------


class Network(torch.nn.Module):
    """An encoder and a head on the last hidden state of its first token.

    Each layer of the head but the last is followed by tanh and dropout; the last has one unit and nothing after it.
    """

    def __init__(self, encoder: torch.nn.Module, head: tuple[int, ...], dropout: float) -> None:
        super().__init__()
        self.encoder = encoder
        sizes = (encoder.config.hidden_size, *head)
        layers: list[torch.nn.Module] = []
        for size, following in zip(sizes[:-1], sizes[1:], strict=True):
            layers += [torch.nn.Linear(size, following), torch.nn.Tanh(), torch.nn.Dropout(dropout)]
        self.head = torch.nn.Sequential(*layers, torch.nn.Linear(sizes[-1], 1))

    def forward(self, input_ids, attention_mask, labels=None):
        """Return the scores as ``logits``, and with ``labels`` their mean squared error as ``loss``."""
        hidden = self.encoder(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        scores = self.head(hidden[:, 0]).squeeze(-1).float()
        if labels is None:
            return {"logits": scores}
        return {"loss": torch.nn.functional.mse_loss(scores, labels), "logits": scores}


def _encoder_options(config: Any) -> dict[str, Any]:
    """Leave out the pooling layer, which nothing would train, and an attention that would be fetched and run."""
    kind = AutoModel._model_mapping[type(config)]
    kind = kind[0] if isinstance(kind, tuple) else kind
    pooling = {"add_pooling_layer": False} if "add_pooling_layer" in inspect.signature(kind).parameters else {}
    return pooling | {"attn_implementation": "eager" if config.output_attentions else None}


def _network(shape: Any, config: TransformerConfig) -> Network:
    """Return a network with random weights, by the configuration of its encoder."""
    encoder = AutoModel.from_config(shape, trust_remote_code=False, **_encoder_options(shape))
    return Network(encoder, config.head, config.dropout)


def _from_scratch(shape: EncoderShape, texts: list[str]) -> tuple[Any, Any]:
    """Return the configuration of an encoder, and a tokeniser trained on the texts."""
    tokeniser = Tokenizer(models.BPE(unk_token="<unk>"))
    tokeniser.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokeniser.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=shape.vocabulary, special_tokens=list(_SPECIAL), initial_alphabet=alphabet, show_progress=False
    )
    tokeniser.train_from_iterator(sorted(set(texts)), trainer)
    tokeniser.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[(token, tokeniser.token_to_id(token)) for token in ("<s>", "</s>")]
    )
    names = dict(zip(("bos_token", "pad_token", "eos_token", "unk_token", "mask_token"), _SPECIAL, strict=True))
    wrapped = PreTrainedTokenizerFast(
        tokenizer_object=tokeniser, cls_token="<s>", sep_token="</s>", model_max_length=_LONGEST, **names
    )
    config = transformers.XLMRobertaConfig(
        vocab_size=len(wrapped),
        hidden_size=shape.hidden_size,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        intermediate_size=shape.intermediate_size,
        max_position_embeddings=_LONGEST + 2,
        type_vocab_size=1,
    )
    return config, wrapped


def _from_checkpoint(sees: str, config: TransformerConfig) -> TransformerSentinel:
    """Return a sentinel with an encoder from a checkpoint, after a trial."""
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
        if local:
            with torch.device("meta"):
                check_size(AutoModel.from_config(shape, trust_remote_code=False, **_encoder_options(shape)), name)
        weights = {"config": shape, "dtype": torch.float32, "use_safetensors": True} | _encoder_options(shape)
        encoder = AutoModel.from_pretrained(name, trust_remote_code=False, local_files_only=local, **weights)
        sentinel = TransformerSentinel(sees, config, Network(encoder, config.head, config.dropout), tokeniser)
        _try(sentinel)
        with tempfile.TemporaryDirectory() as folder:  # better now than after hours of training
            _save_shape(sentinel, Path(folder))
    return sentinel


def _try(sentinel: TransformerSentinel) -> None:
    """Raise unless network and tokeniser score two texts, and go together."""
    network, tokeniser = sentinel.network, sentinel.tokeniser
    known = getattr(network.encoder.get_input_embeddings(), "num_embeddings", math.inf)
    if max(tokeniser.get_vocab().values()) >= known or tokeniser.pad_token_id is None:
        raise ValueError(f"its tokenizer has no padding, or tokens beyond the {known} that the encoder knows.")
    with torch.inference_mode():
        scores = network(**_padded(_token_ids(sentinel, ["a", "a text"]), tokeniser.pad_token_id))["logits"]
    if scores.shape != (2,) or not scores.isfinite().all():
        raise ValueError(f"it must give a finite number for each of two texts; found {scores.tolist()}.")


# -- the sentinel ------------------------------------------------------------------------


def _has_bf16() -> bool:
    return torch.cuda.is_available() and torch.cuda.is_bf16_supported()


def _bf16(config: TransformerConfig) -> bool:
    if config.precision == "bf16" and not _has_bf16():
        raise ValueError("precision 'bf16' needs a GPU that has it, and there is none here. Use 'auto' or 'fp32'.")
    return config.precision != "fp32" and _has_bf16()


class TransformerSentinel(Sentinel):
    """An encoder and a head that predict the human score from one text.

    Attributes
    ----------
    sees : {"source", "candidate", "reference"}
    config : TransformerConfig
    network : torch.nn.Module
    tokeniser : transformers.PreTrainedTokenizerBase
    report : TrainingReport or None
        What the training did.
    """

    kind = "transformer"

    def __init__(
        self,
        sees: str,
        config: TransformerConfig,
        network: Network,
        tokeniser: Any,
        report: TrainingReport | None = None,
    ) -> None:
        self.sees = sees
        self.config = config
        self.network = network.eval()
        self.tokeniser = tokeniser
        self.report = report

    @property
    def signature(self) -> str:
        """What it is and how it was trained, in one line."""
        c = self.config
        return (
            f"sentinel:transformer|sees:{self.sees}|encoder:{_called(c)}|lr:{c.learning_rate:g}|"
            f"batch:{c.batch_size}x{c.accumulation}|epochs:{c.epochs}|seed:{c.seed}"
        )

    def _score(self, texts: list[str]) -> np.ndarray:
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        network = self.network.to(device).eval()
        ids = _token_ids(self, texts)
        order = sorted(range(len(ids)), key=lambda i: len(ids[i]))
        scores = np.empty(len(ids))
        with torch.inference_mode(), torch.autocast(device.type, torch.bfloat16, enabled=_bf16(self.config)):
            for start in range(0, len(order), _SCORED_AT_ONCE):
                some = order[start : start + _SCORED_AT_ONCE]
                batch = _padded([ids[i] for i in some], self.tokeniser.pad_token_id)
                found = network(**{name: tensor.to(device) for name, tensor in batch.items()})
                scores[some] = found["logits"].double().cpu().numpy()
        return scores

    def _write(self, folder: Path) -> dict[str, Any]:
        _save_weights(self.network, folder / _WEIGHTS)
        _save_shape(self, folder)
        if self.report is not None:
            self.report.write(folder / _REPORT)
        return {"config": asdict(self.config)}


def _save_weights(network: Network, path: Path) -> None:
    save_file({name: tensor.detach().cpu().contiguous() for name, tensor in network.state_dict().items()}, path)


def _save_shape(sentinel: TransformerSentinel, folder: Path) -> None:
    with _quiet():
        sentinel.network.encoder.config.save_pretrained(folder / _ENCODER)
        sentinel.tokeniser.save_pretrained(folder / _TOKENISER)


def _called(config: TransformerConfig) -> str:
    """Return the name of an encoder for a signature."""
    if not isinstance(config.encoder, EncoderShape):
        return config.encoder
    shape = config.encoder
    return f"scratch-{shape.layers}x{shape.hidden_size}"


def _token_ids(sentinel: TransformerSentinel, texts: list[str]) -> list[list[int]]:
    positions = getattr(sentinel.network.encoder.config, "max_position_embeddings", None) or math.inf
    longest = int(min(sentinel.config.max_length, sentinel.tokeniser.model_max_length, positions - 2))
    return sentinel.tokeniser(texts, truncation=True, max_length=longest, return_attention_mask=False)["input_ids"]


def _padded(ids: list[list[int]], filler: int) -> dict[str, torch.Tensor]:
    rows = [torch.tensor(row) for row in ids]
    pad = torch.nn.utils.rnn.pad_sequence
    mask = pad([torch.ones_like(row) for row in rows], batch_first=True)
    return {"input_ids": pad(rows, batch_first=True, padding_value=filler), "attention_mask": mask}


def load_transformer(folder: Path, card: dict[str, Any]) -> TransformerSentinel:
    """Return the sentinel that `TransformerSentinel.save` wrote."""
    with _quiet(), only_data(f"{folder}: the transformer sentinel in it is damaged", "Train it again."):
        config = TransformerConfig.from_dict(card["config"])
        check_folder(folder / _ENCODER)
        check_folder(folder / _TOKENISER)
        shape = AutoConfig.from_pretrained(folder / _ENCODER, trust_remote_code=False, local_files_only=True)
        weights = load_file(folder / _WEIGHTS)
        with torch.device("meta"):  # without memory: the sizes may be anything
            sizes = {name: tensor.shape for name, tensor in _network(shape, config).state_dict().items()}
        if sizes != {name: tensor.shape for name, tensor in weights.items()}:
            raise ValueError("its weights are of other sizes than its configuration says.")
        network = _network(shape, config)
        network.load_state_dict(weights)
        tokeniser = AutoTokenizer.from_pretrained(folder / _TOKENISER, trust_remote_code=False, local_files_only=True)
        report = read_report(folder / _REPORT) if (folder / _REPORT).exists() else None
        sentinel = TransformerSentinel(card["sees"], config, network, tokeniser, report)
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
def _seeded(seed: int) -> Iterator[None]:
    """Seed the global generators, which the trainer draws from, and put them back as they were."""
    states = random.getstate(), np.random.get_state()  # noqa: NPY002
    with torch.random.fork_rng(range(torch.cuda.device_count())):
        transformers.set_seed(seed)
        try:
            yield
        finally:
            random.setstate(states[0])
            np.random.set_state(states[1])  # noqa: NPY002


# -- training ----------------------------------------------------------------------------


class ByLength(LengthGroupedSampler):
    """Texts of similar length together, in an order that depends on seed and epoch alone.

    The trainer's own sampler goes from long to short texts over and over; here the batches are shuffled, so that
    training does not end on short ones.
    """

    def __init__(self, lengths: list[int], batch_size: int, seed: int) -> None:
        super().__init__(batch_size, lengths=lengths)
        self.seed, self.epoch = seed, 0

    def set_epoch(self, epoch: int) -> None:
        """Say which epoch comes next."""
        self.epoch = epoch

    def __iter__(self) -> Iterator[int]:
        self.generator = torch.Generator().manual_seed(self.seed + self.epoch)
        order = list(super().__iter__())
        whole = len(order) // self.batch_size
        starts = torch.randperm(whole, generator=self.generator) * self.batch_size
        batches = [order[start : start + self.batch_size] for start in starts.tolist()]
        return iter([i for batch in batches for i in batch] + order[whole * self.batch_size :])


class SentinelTrainer(transformers.Trainer):
    """The trainer of Hugging Face, with an order that can be resumed, and with counters."""

    counts: Any = 0.0

    def _get_train_sampler(self, train_dataset=None):
        args = self.args
        lengths = [len(row["input_ids"]) for row in train_dataset or self.train_dataset]
        return ByLength(lengths, args.train_batch_size * args.gradient_accumulation_steps, args.seed)

    def training_step(self, model, inputs, *args, **options):
        """Count texts, tokens, tokens squared and padded tokens; do the step."""
        mask = inputs["attention_mask"]
        n = mask.sum(dim=1, dtype=torch.float64)
        each = torch.stack([torch.ones_like(n), n, n**2, torch.full_like(n, mask.shape[1])])
        self.counts = self.counts + each.sum(dim=1)
        return super().training_step(model, inputs, *args, **options)


class Watch(TrainerCallback):
    """Measures the steps, and asks for a last validation and checkpoint."""

    def __init__(self) -> None:
        self.seconds, self.first_step, self._start = 0.0, 0, None

    @staticmethod
    def _now() -> float:
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        return time.perf_counter()

    def on_step_begin(self, args, state, control, **_):
        """Start the clock."""
        if self._start is None:
            self.first_step = state.global_step
        self._start = self._now()

    def on_step_end(self, args, state, control, **_):
        """Stop the clock."""
        self.seconds += self._now() - self._start
        if state.global_step >= state.max_steps:
            control.should_evaluate = args.eval_strategy != "no"
            control.should_save = True


def _last_checkpoint(folder: Path) -> str | None:
    """Return the last checkpoint that is whole: the trainer writes its state last, and then removes older ones."""
    whole = {}
    for state in folder.glob("checkpoint-*/trainer_state.json"):
        with contextlib.suppress(ValueError):
            whole[json.loads(state.read_text(encoding="utf-8"))["global_step"]] = str(state.parent)
    return whole[max(whole)] if whole else None


def _is_first() -> bool:
    """Say whether this is the first, or only, of the processes that train together."""
    return os.environ.get("RANK", "0") == "0"


class Bar(ProgressCallback):
    """One bar on standard error, with the loss beside it."""

    def on_prediction_step(self, *_, **__):
        """Show no second bar."""

    def on_log(self, args, state, control, logs=None, **_):
        """Show the loss in the bar; print nothing."""
        shown = {k.removeprefix("eval_"): f"{v:.3g}" for k, v in (logs or {}).items() if k in ("loss", "eval_kendall")}
        if state.is_world_process_zero and self.training_bar is not None and shown:
            self.training_bar.set_postfix(shown)


def _agreement(found: Any) -> dict[str, float]:
    tau = kendalltau(found.predictions, found.label_ids).statistic
    return {"kendall": 0.0 if np.isnan(tau) else float(tau)}


def _arguments(
    config: TransformerConfig, n: int, folder: Path, validated: bool, progress: bool, stage: int
) -> TrainingArguments:
    on_gpu = torch.cuda.is_available()
    per_step = config.batch_size * config.accumulation * int(os.environ.get("WORLD_SIZE", 1))
    steps = config.epochs * math.ceil(n / per_step)
    every = math.ceil(steps / config.checks)
    return TrainingArguments(
        output_dir=str(folder),
        per_device_train_batch_size=config.batch_size,
        per_device_eval_batch_size=_SCORED_AT_ONCE,
        gradient_accumulation_steps=config.accumulation,
        num_train_epochs=config.epochs,
        learning_rate=config.learning_rate,
        lr_scheduler_type="constant",
        max_grad_norm=config.max_grad_norm,
        bf16=_bf16(config),
        use_cpu=not on_gpu,
        dataloader_pin_memory=on_gpu,
        seed=config.seed + stage,
        train_sampling_strategy="group_by_length",
        logging_steps=max(1, steps // 50),
        logging_nan_inf_filter=False,
        save_steps=every,
        save_total_limit=2,
        eval_strategy="steps" if validated else "no",
        eval_steps=every if validated else None,
        load_best_model_at_end=validated,
        metric_for_best_model=config.select if validated else None,
        remove_unused_columns=False,
        label_names=["labels"],
        report_to="none",
        disable_tqdm=not progress,
    )


def _rows(sentinel: TransformerSentinel, examples: list[tuple[str, str, float]]) -> list[dict]:
    ids = _token_ids(sentinel, [text for text, *_ in examples])
    return [{"input_ids": row, "labels": score} for row, (*_, score) in zip(ids, examples, strict=True)]


def _train_stage(
    sentinel: TransformerSentinel,
    stage: int,
    rows: list[dict],
    validation: list[dict] | None,
    folder: Path,
    progress: bool,
) -> dict[str, Any]:
    """Train the network on one stage; return what was done."""
    network, config = sentinel.network, sentinel.config

    def collate(batch: list[dict]) -> dict[str, torch.Tensor]:
        labels = torch.tensor([row["labels"] for row in batch], dtype=torch.float32)
        return _padded([row["input_ids"] for row in batch], sentinel.tokeniser.pad_token_id) | {"labels": labels}

    watch = Watch()
    trainer = SentinelTrainer(
        model=network,
        args=_arguments(config, len(rows), folder, validation is not None, progress, stage),
        train_dataset=rows,
        eval_dataset=validation,
        data_collator=collate,
        compute_metrics=_agreement,
        optimizer_cls_and_kwargs=(torch.optim.RAdam, {"lr": config.learning_rate}),
    )
    trainer.remove_callback(PrinterCallback)
    trainer.remove_callback(ProgressCallback)
    trainer.add_callback(watch)
    if progress:
        trainer.add_callback(Bar())
    trainer.train(resume_from_checkpoint=_last_checkpoint(folder))
    if not all(torch.isfinite(p).all() for p in network.parameters()):
        raise ValueError(
            f"the weights are no longer finite after stage {stage + 1}: training diverged. Take a smaller learning "
            f"rate than {config.learning_rate:g}."
        )
    best = trainer.state.best_model_checkpoint
    return {
        "texts": len(rows),
        "steps": trainer.state.global_step,
        "resumed_from": watch.first_step,
        "seconds": watch.seconds,
        "counts": (torch.zeros(4) + torch.as_tensor(trainer.counts).cpu()).tolist(),
        "curve": _curve(trainer.state.log_history, stage),
        "best": None if best is None else int(best.rsplit("-", 1)[1]),
    }


def _curve(history: list[dict], stage: int) -> list[dict[str, Any]]:
    names = {"loss": "loss", "eval_loss": "validation_loss", "eval_kendall": "validation_kendall"}
    points: dict[int, dict[str, Any]] = {}
    for entry in history:
        found = {new: entry[old] for old, new in names.items() if old in entry}
        if found:
            empty = {"stage": stage + 1, "step": entry["step"], **dict.fromkeys(names.values())}
            points.setdefault(entry["step"], empty).update(found)
    return [points[step] for step in sorted(points)]


@contextlib.contextmanager
def _claim(folder: Path, fingerprint: str) -> Iterator[Path]:
    """Take a folder for checkpoints, or go on with one that belongs to this very run; nobody else may meanwhile."""
    with claimed(folder, "training", ["run.json", "stage-1"]) if _is_first() else contextlib.nullcontext():
        mark = folder / "run.json"
        if _is_first() and not mark.exists():
            write_json(mark, {"fingerprint": fingerprint})
        elif _is_first() and json.loads(mark.read_text(encoding="utf-8")).get("fingerprint") != fingerprint:
            raise ValueError(
                f"{folder} holds checkpoints of another training run (other texts, scores or configuration). "
                "Name a new folder, or delete this one."
            )
        yield folder


def _begin(
    sees: str, config: TransformerConfig, start: TransformerSentinel | None, texts: list[str]
) -> TransformerSentinel:
    """Return the sentinel to train."""
    _bf16(config)
    if start is None:
        if config.shape is None:
            return _from_checkpoint(sees, config)
        shape, tokeniser = _from_scratch(config.shape, texts)
        return TransformerSentinel(sees, config, _network(shape, config), tokeniser)
    if start.sees != sees:
        raise ValueError(f"`start` sees the {start.sees}; expected one that sees the {sees}.")
    if (config.encoder, config.head) != (start.config.encoder, start.config.head):
        raise ValueError(f"`config` must have the encoder and head of `start`; found {config}.")
    network = _network(start.network.encoder.config, config)
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
    checked = None if validation is None else examples_of(validation, sees)
    began = time.perf_counter()
    if torch.cuda.is_available():
        torch.cuda.reset_peak_memory_stats()
    config = config or (start.config if start else TransformerConfig())
    with _seeded(config.seed), _quiet():
        sentinel = _begin(sees, config, start, [text for examples in stages for text, *_ in examples])
        data = [[(text, score) for text, _, score in examples] for examples in (*stages, checked or ())]
        weights = [] if start is None else [float(p.double().sum()) for p in start.network.state_dict().values()]
        parts = json.dumps([asdict(config), sees, data, weights], ensure_ascii=False, default=list)
        held_out = None if checked is None else _rows(sentinel, checked)
        done = []
        place = contextlib.nullcontext(checkpoints) if checkpoints else tempfile.TemporaryDirectory()
        with place as given, _claim(Path(given), hashlib.sha256(parts.encode()).hexdigest()) as folder:
            for i, examples in enumerate(stages):
                done.append(_stage(sentinel, i, examples, held_out, folder / f"stage-{i + 1}", progress))
    sentinel.network.eval()
    sentinel.report = _report(sentinel, done, time.perf_counter() - began, peak_flops)
    return sentinel


def _stage(
    sentinel: TransformerSentinel, i: int, examples: list, held_out: list | None, folder: Path, progress: bool
) -> dict[str, Any]:
    """Train on one stage, or take what is stored of it; the facts are written last and say that it is all there."""
    weights_file, facts_file = folder / _WEIGHTS, folder / "done.json"
    if facts_file.exists():
        sentinel.network.load_state_dict(load_file(weights_file))
        facts = json.loads(facts_file.read_text(encoding="utf-8"))
        return facts | {"resumed_from": facts["steps"], "seconds": 0.0, "counts": [0.0] * 4}
    facts = _train_stage(sentinel, i, _rows(sentinel, examples), held_out, folder, progress)
    if _is_first():
        with whole_file(weights_file) as part:
            _save_weights(sentinel.network, part)
        write_json(facts_file, facts)
    return facts


# -- the report --------------------------------------------------------------------------


def _n(module: torch.nn.Module) -> int:
    return sum(p.numel() for p in module.parameters())


def _report(
    sentinel: TransformerSentinel, done: list[dict[str, Any]], wall: float, peak_flops: float | None
) -> TrainingReport:
    network, config, shape = sentinel.network, sentinel.config, sentinel.network.encoder.config
    texts, tokens, squares, padded = np.sum([stage["counts"] for stage in done], axis=0).tolist()
    seconds = float(sum(stage["seconds"] for stage in done))
    embeddings = getattr(network.encoder, "embeddings", None) or network.encoder.get_input_embeddings()
    in_layers = _n(network.encoder) - _n(embeddings)
    flops = 6 * tokens * in_layers + 12 * shape.num_hidden_layers * shape.hidden_size * squares
    flops += 6 * texts * _n(network.head)
    amounts = {"texts": texts, "tokens": tokens, "flops": flops}
    speed = {f"{name}_per_second": n / seconds if seconds else 0.0 for name, n in amounts.items()}
    return TrainingReport(
        signature=sentinel.signature,
        encoder=f"{_called(config)}, from random weights" if config.shape else str(config.encoder),
        n_parameters=_n(network),
        n_layer_parameters=in_layers,
        stages=[{k: stage[k] for k in ("texts", "steps", "resumed_from", "seconds")} for stage in done],
        n_texts=int(texts),
        n_tokens=int(tokens),
        n_padded_tokens=int(padded),
        seconds=seconds,
        wall_seconds=wall,
        **speed,
        flops=flops,
        peak_flops=peak_flops,
        share_of_peak=None if peak_flops is None else speed["flops_per_second"] / peak_flops,
        peak_memory=_peak_memory(),
        precision="bf16" if _bf16(config) else "fp32",
        curve=[point for stage in done for point in stage["curve"]],
        best=[stage["best"] for stage in done],
        device=torch.cuda.get_device_name() if torch.cuda.is_available() else f"CPU, {torch.get_num_threads()} threads",
        versions={"python": platform.python_version()}
        | {name: importlib.metadata.version(name) for name in ("torch", "transformers", "accelerate", "mtmeta")},
    )


def _peak_memory() -> int | None:
    if torch.cuda.is_available():
        return int(torch.cuda.max_memory_allocated())
    try:
        import resource
    except ImportError:  # Windows
        return None
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
