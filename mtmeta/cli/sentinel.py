"""`mtmeta sentinel train` and `mtmeta sentinel score`: metrics that see one text only."""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import typer
from typer import Argument, Option

import mtmeta as mm

from .._files import check_not_input
from . import _options as opt
from ._app import app, example
from ._output import emit, form_of, say, written
from ._sets import report_left_out

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
FORMS = Literal["csv", "seg-score", "table", "tsv", "json"]
_STAGES = """
What to train on, in this order: CSV or TSV with score and what --sees needs of source, candidate, reference, used as
they are; or names of sets, whose scores are standardised. A plus sign joins several into one stage: ted+newstest2021.
"""
_ENCODER = "A Hugging Face checkpoint or a folder (FacebookAI/xlm-roberta-large), or scratch-small for random weights."
_SETTING = "Another setting of mtmeta.sentinel.TransformerConfig, such as learning_rate=1e-5; repeatable."
_CHECKPOINTS = "Keep checkpoints here; the same command continues from them."
Stages = Annotated[list[str], Argument(metavar="FILE|SET", help=_STAGES)]
Sees = Annotated[SEES, Option(help="The one text that the sentinel sees.")]
Save = Annotated[Path, Option(metavar="DIR", file_okay=False, help="Save the sentinel in this folder.")]
Kind = Annotated[KINDS, Option(help="A ridge regression, or a transformer (pip install 'mtmeta[sentinel]').")]
Validation = Annotated[str | None, Option(metavar="FILE|SET", help="Keep the checkpoint that does best on this.")]
Encoder = Annotated[str | None, Option(metavar="NAME|DIR", help=_ENCODER)]
Start = Annotated[Path | None, Option(metavar="DIR", file_okay=False, help="Continue from this saved sentinel.")]
Settings = Annotated[list[str] | None, Option("--set", metavar="NAME=VALUE", help=_SETTING)]
Checkpoints = Annotated[Path | None, Option(metavar="DIR", file_okay=False, help=_CHECKPOINTS)]
What = Annotated[str, Argument(metavar="FILE|SET", help="CSV or TSV with the text that the sentinel sees; or a set.")]
Reference = Annotated[str | None, Option(help="For a set: the reference that the sentinel sees.")]
_SEG_SCORE = "seg-score: system and score, as in .seg.score files of mt-metrics-eval."
Form = Annotated[FORMS | None, Option("--format", help=_SEG_SCORE, show_default="as --output ends, otherwise csv")]


@commands.command(epilog=example(_TRAIN))
def train(
    stages: Stages,
    sees: Sees,
    save: Save,
    kind: Kind = "light",
    validation: Validation = None,
    encoder: Encoder = None,
    start: Start = None,
    settings: Settings = None,
    checkpoints: Checkpoints = None,
    quiet: opt.Quiet = False,
) -> None:
    """Train a sentinel: a metric that predicts the human score from one text.

    Options from --validation to --checkpoints go with --kind transformer; its defaults are the published recipe.
    """
    chosen = {"encoder": encoder, "validation": validation, "start": start, "set": settings, "checkpoints": checkpoints}
    if kind == "light" and (given := [f"--{name}" for name, value in chosen.items() if value is not None]):
        raise typer.BadParameter("goes only with --kind transformer.", param_hint=", ".join(given))
    read = [part for stage in [*stages, *filter(None, [validation, start])] for part in str(stage).split("+")]
    check_not_input(save, map(Path, read))
    frames = [_to_learn(stage) for stage in stages]
    options: dict[str, Any] = {}
    if kind == "transformer":
        first = mm.sentinel.load(start) if start else None
        recipe = first.config if first and first.kind == kind else mm.sentinel.TransformerConfig()
        config = replace(recipe, **({"encoder": encoder} if encoder else {}), **_values(settings or (), recipe))
        options = {"config": config, "start": first, "checkpoints": checkpoints}
        options |= {"validation": _to_learn(validation) if validation else None}
        options |= {"progress": not quiet and sys.stderr.isatty()}
    trained = mm.sentinel.fit(frames, sees=sees, kind=kind, **options)
    trained.save(save)
    say(f"{trained.signature}|mtmeta:{mm.__version__}")
    say(f"saved: {save}, trained on {sum(map(len, frames))} texts")


@commands.command(epilog=example(f"{_TRAIN} && mtmeta sentinel score my-sentinel teaching"))
def score(
    folder: Annotated[Path, Argument(metavar="DIR", help="A saved sentinel.")],
    what: What,
    reference: Reference = None,
    how: Form = None,
    places: opt.Places = 3,
    output: opt.Output = None,
    quiet: opt.Quiet = False,
) -> None:
    """Score texts with a sentinel.

    One row per translation: system, segment and score for a set; for a table those that it has, or its row number.
    """
    form = form_of(output, how, [folder, what], get_args(FORMS))
    loaded = mm.sentinel.load(folder)
    if _is_file(what):
        if reference is not None:
            raise typer.BadParameter("goes only with the name of a set.", param_hint="--reference")
        frame = mm.sentinel.read_texts(what)
        kept = frame[[name for name in ("system", "segment") if name in frame]]
        numbers = kept if len(kept.columns) else kept.assign(row=range(1, len(frame) + 1))
        scores = numbers.assign(score=loaded.score_frame(frame))
    else:
        sets = mm.load_all(what, reference=reference)
        if len(sets) > 1:
            names = ", ".join(es.name for es in sets)
            raise ValueError(f"{what!r} stands for {len(sets)} sets; name one of them: {names}.")
        report_left_out(sets)
        es = sets[0]
        scores = es.with_metrics({"score": loaded.score_set(es)}).to_frame()[["system", "segment", "score"]]
    say(f"{loaded.signature}|mtmeta:{mm.__version__}")
    emit(_seg_score(scores) if form == "seg-score" else written(scores, form, places), output)


def _values(settings: list[str], recipe: mm.sentinel.TransformerConfig) -> dict[str, Any]:
    """Return settings NAME=VALUE as values of the types that a recipe has."""
    values = {}
    for name, _, text in (setting.partition("=") for setting in settings):
        if not isinstance(default := getattr(recipe, name, None), int | float | str):
            raise typer.BadParameter(f"mtmeta.sentinel.TransformerConfig has no setting {name!r}.", param_hint="--set")
        values[name] = type(default)(text)
    return values


def _is_file(what: str) -> bool:
    return Path(what).suffix.lower() in (".csv", ".tsv")


def _to_learn(stage: str) -> pd.DataFrame:
    """Return one stage: tables as they are, and sets with standardised scores."""
    import pandas as pd

    from ..sentinel import read_texts, training_frame

    parts = [read_texts(part) if _is_file(part) else training_frame(mm.load_all(part)) for part in stage.split("+")]
    return pd.concat(parts, ignore_index=True)


def _seg_score(frame: pd.DataFrame) -> str:
    if "system" not in frame:
        raise ValueError("the format seg-score needs a column 'system'; the table has none. Use --format csv.")
    lines = zip(frame["system"], frame["score"].tolist(), strict=True)
    return "".join(f"{system}\t{'None' if math.isnan(score) else score}\n" for system, score in lines)
