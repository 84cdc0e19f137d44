"""`mtmeta sentinel train` and `mtmeta sentinel score`: metrics that see one text only."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer import Argument, Context, Option

import mtmeta as mm

from .._files import check_not_input
from . import _options as opt
from ._app import app, example
from ._given import Writes, only
from ._output import say

if TYPE_CHECKING:
    import pandas as pd

_TRAIN = "sentinel train teaching --sees source --save my-sentinel"
commands = typer.Typer(
    name="sentinel",
    help="Train metrics that see one text only, and score with them.",
    epilog=example(_TRAIN),
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(commands)

SEES, KINDS = Literal["source", "candidate", "reference"], Literal["light", "transformer"]
_STAGES = """
What to train on, in this order: CSV or TSV with score and what --sees needs of source, candidate, reference, used as
they are; or names of sets, whose scores are standardised. A plus sign joins several into one stage: ted+newstest2021.
"""
_ENCODER = "A Hugging Face checkpoint or a folder (FacebookAI/xlm-roberta-large), or scratch-small for random weights."
_CHECKPOINTS = "Keep checkpoints here; the same command continues from them."
Stages = Annotated[list[str], Argument(metavar="FILE|SET", help=_STAGES)]
Sees = Annotated[SEES, Option(help="The one text that the sentinel sees.")]
Save = Annotated[Path, Option(metavar="DIR", file_okay=False, help="Save the sentinel in this folder.")]
Kind = Annotated[KINDS, Option(help="A ridge regression, or a transformer (pip install 'mtmeta[sentinel]').")]
Encoder = Annotated[str | None, Option(metavar="NAME|DIR", help=_ENCODER)]
Start = Annotated[Path | None, Option(metavar="DIR", file_okay=False, help="Continue from this saved sentinel.")]
Checkpoints = Annotated[Path | None, Option(metavar="DIR", file_okay=False, help=_CHECKPOINTS)]
Texts = Annotated[str, Argument(metavar="FILE|SET", help="CSV or TSV with the text that the sentinel sees; or a set.")]


@commands.command(epilog=example(_TRAIN))
def train(
    stages: Stages,
    sees: Sees,
    save: Save,
    kind: Kind = "light",
    encoder: Encoder = None,
    start: Start = None,
    checkpoints: Checkpoints = None,
    quiet: opt.Quiet = False,
) -> None:
    """Train a sentinel: a metric that predicts the human score from one text.

    Options from --encoder to --checkpoints go with --kind transformer; its defaults are the published recipe.
    """
    chosen = {"encoder": encoder, "start": start, "checkpoints": checkpoints}
    if kind == "light" and (given := [f"--{name}" for name, value in chosen.items() if value is not None]):
        raise typer.BadParameter("goes only with --kind transformer.", param_hint=", ".join(given))
    check_not_input(save, [Path(part) for stage in [*stages, str(start or "")] for part in stage.split("+") if part])
    frames = [_to_learn(stage) for stage in stages]
    options: dict[str, Any] = {}
    if kind == "transformer":
        first = mm.sentinel.load(start) if start else None
        config = first.config if first and first.kind == kind else mm.sentinel.TransformerConfig()
        options = {"config": replace(config, encoder=encoder) if encoder else config, "start": first}
        options |= {"checkpoints": checkpoints, "progress": not quiet and sys.stderr.isatty()}
    trained = mm.sentinel.fit(frames, sees=sees, kind=kind, **options)
    trained.save(save)
    say(f"{trained.signature}|mtmeta:{mm.__version__}")
    say(f"saved: {save}, trained on {sum(map(len, frames))} texts")


@commands.command(cls=Writes, epilog=example(f"{_TRAIN} && mtmeta sentinel score my-sentinel teaching"))
def score(
    context: Context,
    folder: Annotated[Path, Argument(metavar="DIR", help="A saved sentinel.")],
    file: Texts,
) -> None:
    """Score texts with a sentinel.

    One row per translation: system, segment and score for a set; for a table those that it has, or its row number. An
    output that ends in .seg.score has the form of mt-metrics-eval.
    """
    loaded = mm.sentinel.load(folder)
    if _is_table(file):
        frame = mm.sentinel.read_texts(file)
        kept = frame[[name for name in ("system", "segment") if name in frame]]
        numbers = kept if len(kept.columns) else kept.assign(row=range(1, len(frame) + 1))
        scores = numbers.assign(score=loaded.score_frame(frame))
    else:
        es = only(mm.load_all(file), file)
        scores = es.with_metrics({"score": loaded.score_set(es)}).to_frame()[["system", "segment", "score"]]
    say(f"{loaded.signature}|mtmeta:{mm.__version__}")
    context.obj.write(scores)


def _is_table(name: str) -> bool:
    return Path(name).suffix.lower() in (".csv", ".tsv")


def _to_learn(stage: str) -> pd.DataFrame:
    """Return one stage: tables as they are, and sets with standardised scores."""
    import pandas as pd

    from ..sentinel import read_texts, training_frame

    parts = [read_texts(part) if _is_table(part) else training_frame(mm.load_all(part)) for part in stage.split("+")]
    return pd.concat(parts, ignore_index=True)
