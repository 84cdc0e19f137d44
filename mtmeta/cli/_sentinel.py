"""`sentinel train` and `sentinel score`: metrics that see one text only."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from .. import __version__
from .._files import check_not_input
from .._limits import MAX_COUNT
from ._choices import Kind, ScoreFormat, Sees
from ._common import Loading, Printing, Writing, app, command
from ._options import Places, argument, folder, form, number, option, word, wrong
from ._output import inputs, written

if TYPE_CHECKING:
    import pandas as pd


_TRAIN = "sentinel train teaching --sees source --save my-sentinel"
sentinel = typer.Typer(
    name="sentinel",
    help="Train metrics that see one text only, and score with them.",
    epilog=f"\b\nExample:\n  mtmeta {_TRAIN}",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(sentinel)


@dataclass(frozen=True)
class Transformer:
    """Options of a transformer; None stands for the default of `mtmeta.sentinel`."""

    validation: word("Keep the checkpoint that does best on this.", "FILE|SET", "the last") = None
    encoder: word(
        "A Hugging Face checkpoint or a folder; or scratch-small, which has random weights.",
        "NAME|DIR",
        "FacebookAI/xlm-roberta-large",
    ) = None
    start: folder(Path | None, "Continue from this saved sentinel.", "none") = None
    head: number(list[int] | None, "Units of a layer of the head; repeatable.", 1, MAX_COUNT, "512, 128") = None
    dropout: option(float | None, "Dropout of the head.", "NUMBER", "0.1") = None
    learning_rate: option(float | None, "Learning rate of RAdam.", "NUMBER", "1e-06") = None
    batch_size: number(int | None, "Texts per batch.", 1, MAX_COUNT, "8") = None
    accumulation: number(int | None, "Batches per step.", 1, MAX_COUNT, "2") = None
    epochs: number(int | None, "Epochs per stage.", 1, MAX_COUNT, "1") = None
    max_length: number(int | None, "Cut texts to this many tokens.", 3, MAX_COUNT, "512") = None
    checks: number(int | None, "Validations and checkpoints per stage.", 1, MAX_COUNT, "4") = None
    seed: number(int | None, "Seed of the training.", 0, 2**32 - 1, "12") = None
    checkpoints: folder(Path | None, "Keep checkpoints here; the same command continues from them.", "none") = None


@command(_TRAIN, "train", sentinel)
def train_sentinel(
    context: typer.Context,
    stages: argument(
        list[str],
        "FILE|SET",
        "What to train on, in this order: CSV or TSV with source, candidate, reference (what --sees needs) "
        "and score, used as they are; or names of sets, whose scores are standardised. A plus sign joins several "
        "into one stage: wmt17-da ted+newstest2021.",
    ),
    sees: option(Sees, "The one text that the sentinel sees."),
    save: option(Path, "Save the sentinel in this folder.", "DIR", file_okay=False),
    kind: option(Kind, "A ridge regression, or a transformer (pip install 'mtmeta[sentinel]').") = "light",
    *,
    transformer: Transformer,
    printing: Printing,
) -> None:
    """Train a sentinel: a metric that predicts the human score from one text.

    Options from --validation to --checkpoints go with --kind transformer; its defaults are the published recipe.
    """
    chosen = {name: value for name, value in vars(transformer).items() if value is not None}
    given = {name: tuple(value) if isinstance(value, list) else value for name, value in chosen.items()}
    if given and kind == "light":
        names = ", ".join(f"--{name.replace('_', '-')}" for name in given)
        raise wrong(names, "goes only with --kind transformer.")
    from .. import sentinel as package

    check_not_input(save, inputs(context.params))
    frames = [_to_learn(stage) for stage in stages]
    options: dict[str, Any] = {}
    if kind == "transformer":
        recipe = {f.name: given[f.name] for f in fields(package.TransformerConfig) if f.name in given}
        start = package.load(transformer.start) if transformer.start else None
        config = replace(start.config if start and start.kind == kind else package.TransformerConfig(), **recipe)
        options = {"config": config, "start": start, "progress": not printing.quiet and sys.stderr.isatty()}
        options["validation"] = _to_learn(transformer.validation) if transformer.validation else None
        options["checkpoints"] = transformer.checkpoints
    trained = package.fit(frames, sees=sees, kind=kind, **options)
    trained.save(save)
    printing.say(f"{trained.signature}|mtmeta:{__version__}")
    printing.table(_facts(trained, save, sum(map(len, frames))))


@command(f"{_TRAIN} && mtmeta sentinel score my-sentinel teaching", "score", sentinel)
def score_with_sentinel(
    folder: argument(Path, "DIR", "A saved sentinel."),
    what: argument(
        str, "FILE|SET", "CSV or TSV with the column that the sentinel sees (see train --sees); or the name of a set."
    ),
    reference: word("For a set: the reference that the sentinel sees.", "NAME", "the published one") = None,
    how: form(ScoreFormat, "seg-score: system and score, as in .seg.score files of mt-metrics-eval.", "csv") = None,
    places: Places = 3,
    *,
    writing: Writing,
) -> None:
    """Score texts with a sentinel.

    One row per translation: system, segment and score for a set; for a table those that it has, or its row number.
    """
    from ..sentinel import load as load_sentinel

    loaded = load_sentinel(folder)
    if _is_file(what):
        if reference is not None:
            raise wrong("--reference", "goes only with the name of a set.")
        frame = _scored_table(loaded, what)
    else:
        frame = _scored_set(loaded, what, reference, writing.quiet)
    writing.say(f"{loaded.signature}|mtmeta:{__version__}")
    writing.text(_scores_written(frame, how, places))


def _is_file(what: str) -> bool:
    return Path(what).suffix.lower() in (".csv", ".tsv")


def _to_learn(stage: str) -> pd.DataFrame:
    """Return one stage: tables as they are, and sets with standardised scores."""
    import pandas as pd

    from ..datasets import load_all
    from ..sentinel import read_texts, training_frame

    parts = (read_texts(part) if _is_file(part) else training_frame(load_all(part)) for part in stage.split("+"))
    return pd.concat(parts, ignore_index=True)


def _facts(trained: Any, folder: Path, n: int) -> pd.DataFrame:
    """Return what was trained, as a table."""
    import pandas as pd

    rows: list[tuple[str, float | None, str | None]] = [("saved", None, str(folder)), ("texts", float(n), None)]
    if trained.kind == "light":
        best = trained.validation.set_index("alpha").loc[trained.alpha]
        rows += [("penalty", trained.alpha, "alpha with the smallest error in validation")]
        rows += [("mean squared error", float(best["mse"]), "in validation, of each text's mean score")]
        rows += [("Pearson", float(best["pearson"]), "in validation, no grouping")]
    else:
        losses = [entry["loss"] for entry in trained.history if "loss" in entry]
        rows += [("loss", loss, "mean squared error, last logged") for loss in losses[-1:]]
        rows += [("parameters", float(sum(p.numel() for p in trained.network.parameters())), trained.config.encoder)]
    return pd.DataFrame(rows, columns=["what", "value", "note"])


def _scored_table(loaded: Any, path: str) -> pd.DataFrame:
    import pandas as pd

    from ..sentinel import read_texts

    frame = read_texts(path)
    kept = [c for c in ("system", "segment") if c in frame]
    scores = loaded.score_frame(frame)
    return (frame[kept] if kept else pd.DataFrame({"row": range(1, len(frame) + 1)})).assign(score=scores)


def _scored_set(loaded: Any, name: str, reference: str | None, quiet: bool) -> pd.DataFrame:
    es = Loading(reference=reference).rated([name], quiet)
    if len(es) > 1:
        raise ValueError(f"{name!r} stands for {len(es)} sets; name one of them: {', '.join(e.name for e in es)}.")
    scored = es[0].with_metrics({"score": loaded.score_set(es[0])})
    return scored.to_frame()[["system", "segment", "score"]]


def _scores_written(frame: pd.DataFrame, how: ScoreFormat, places: int) -> str:
    if how != "seg-score":
        return written(frame, how, places)
    if "system" not in frame:
        raise ValueError("the format seg-score needs a column 'system'; the table has none. Take --format csv.")
    lines = zip(frame["system"], frame["score"].tolist(), strict=True)
    return "".join(f"{system}\t{'None' if math.isnan(score) else score}\n" for system, score in lines)
