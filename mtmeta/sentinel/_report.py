"""Reports of training runs: their steps, speed and data."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import pandas as pd

from .._files import whole_file

__all__ = ["TrainingReport", "read_report"]


@dataclass(frozen=True)
class TrainingReport:
    r"""The steps, speed and data of a training run.

    Speed is per second of training, with validation and checkpoints, over all processes; tokens are
    counted without padding. Operations are counted as the trainer of Hugging Face does: :math:`6 T N` for a
    batch of T tokens, padding included, forward and backward, where N weights are not in embeddings.

    Attributes
    ----------
    signature : str
        What was trained.
    encoder : str
        Checkpoint, or the shape and that it started from random weights.
    n_parameters : int
    stages : list of dict
        ``texts, steps, seconds, learning_rate`` and ``resumed_from`` (step, 0: from the start) of each stage.
    n_texts, n_tokens, n_padded_tokens : int
        Seen in this run; without and with padding.
    seconds, wall_seconds : float
        Of training alone; of everything, with loading and tokenisation.
    texts_per_second, tokens_per_second : float
    flops : float
        Operations, as above.
    flops_per_second : float
    peak_flops, share_of_peak : float or None
        What one device can do, as given, and the share of all devices that was used, in [0, 1].
    peak_memory : int or None
        Bytes of the first GPU's memory; ``None`` on a CPU.
    precision : str
        bf16 or fp32, of the encoder in training.
    seed, world_size : int
        ``world_size``: how many processes trained together, each on a device.
    data : list of dict
        Per stage ``rows``, and ``sets`` by name as far as the table names them.
    overlap : int or None
        How many distinct texts of the validation rows are training text, too (see `find_overlap`).
    curve : list of dict
        ``stage, step, loss`` (mean squared error since the entry before), and ``validation_loss,
        validation_kendall`` where validated; ``None`` elsewhere.
    best : list
        Per stage the step whose weights were kept; ``None``: the last.
    device : str
    versions : dict
    command : str or None
        What was run, as given to `write`.
    """

    signature: str
    encoder: str
    n_parameters: int
    stages: list[dict[str, Any]]
    n_texts: int
    n_tokens: int
    n_padded_tokens: int
    seconds: float
    wall_seconds: float
    texts_per_second: float
    tokens_per_second: float
    flops: float
    flops_per_second: float
    peak_flops: float | None
    share_of_peak: float | None
    peak_memory: int | None
    precision: str
    seed: int
    world_size: int
    data: list[dict[str, Any]]
    overlap: int | None
    curve: list[dict[str, Any]]
    best: list[int | None]
    device: str
    versions: dict[str, str]
    command: str | None = None

    def to_frame(self) -> pd.DataFrame:
        """Return the loss curve: ``stage, step, loss, validation_loss, validation_kendall``."""
        columns = ["stage", "step", "loss", "validation_loss", "validation_kendall"]
        return pd.DataFrame(self.curve, columns=columns).astype(dict.fromkeys(columns[2:], float))

    def write(self, path: str | Path, *, command: str | None = None) -> None:
        """Write the report as JSON; ``command`` says what was run."""
        values = asdict(self) | ({"command": command} if command else {})
        write_json(Path(path), values)

    def card(self) -> str:
        """Return a model card: the model, its data and training, and how much of the validation was training text."""
        data = "\n".join(
            f"{i}. {stage['rows']} rows{', sets ' * bool(stage['sets'])}{', '.join(stage['sets'])}"
            for i, stage in enumerate(self.data, 1)
        )
        overlap = "none" if self.overlap is None else f"{self.overlap} of their texts are training text, too"
        versions = ", ".join(f"{name} {version}" for name, version in self.versions.items())
        page = (Path(__file__).parents[1] / "data" / "sentinel.md").read_text(encoding="utf-8")
        return page.format(**vars(self) | {"data": data, "overlap": overlap, "versions": versions})


def write_json(path: Path, values: dict[str, Any]) -> None:
    """Write an object as JSON: it is whole, or not there."""
    with whole_file(path) as part:
        part.write_text(json.dumps(values, ensure_ascii=False, indent=1, allow_nan=False) + "\n", encoding="utf-8")


def read_report(path: str | Path) -> TrainingReport:
    """Read a report that `TrainingReport.write` wrote.

    Parameters
    ----------
    path : str or pathlib.Path

    Returns
    -------
    TrainingReport

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If it is no report.
    """
    try:
        values = json.loads(Path(path).read_text(encoding="utf-8"))
        return TrainingReport(**{field.name: values[field.name] for field in fields(TrainingReport)})
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is no training report: {error!r}.") from None
