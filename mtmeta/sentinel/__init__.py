"""Sentinel metrics: trained to predict human scores from the source, the candidate or the reference alone.

Such a metric earns its score in a meta-evaluation without knowing whether a translation is right.
"""

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from .._checks import check_choice
from ._frame import SEES, find_overlap, read_texts, training_frame
from ._light import LightConfig, LightSentinel, fit_light, load_light
from ._sentinel import Sentinel, read_card
from ._settings import TransformerConfig

__all__ = [
    "KINDS", "SEES", "LightConfig", "LightSentinel", "Sentinel", "TransformerConfig", "find_overlap", "fit", "load",
    "read_texts", "training_frame",
]  # fmt: skip

KINDS = ("light", "transformer")


def _with_torch() -> Any:
    """Import what needs the extra ``sentinel``."""
    try:
        with warnings.catch_warnings():  # in a notebook without ipywidgets, of a bar that is not shown
            warnings.filterwarnings("ignore", message="IProgress not found")
            from . import _transformer as module
    except ImportError as error:
        raise ValueError(
            f"a transformer sentinel needs PyTorch and Transformers, and {error.name or error} is not installed: "
            "pip install 'mtmeta[sentinel]'. Or train a light one: kind='light'."
        ) from None
    return module


def fit(
    frame: pd.DataFrame | Sequence[pd.DataFrame],
    *,
    sees: str,
    kind: str = "light",
    config: LightConfig | TransformerConfig | None = None,
    start: Sentinel | None = None,
    checkpoints: str | Path | None = None,
    progress: bool = False,
) -> Sentinel:
    r"""Train a sentinel: a metric that predicts the human score of a translation from one text.

    ``kind="light"``: a ridge regression on character n-grams (TF-IDF) and length,

    .. math:: \min_{w, b} \sum_i (h_i - w^\top x_i - b)^2 + \alpha \|w\|^2.

    It takes the penalty :math:`\alpha` of the grid with the smallest squared error in 5-fold validation, the smallest
    of equals; no source is on both sides of a fold. It is deterministic and takes seconds on a CPU.

    ``kind="transformer"``: an encoder and a head of 512, 128 and 1 units on the last hidden state of its first token,
    trained to the least squared error by the `Trainer` of Hugging Face. The defaults of `TransformerConfig` are the
    paper's recipe. Needs ``pip install 'mtmeta[sentinel]'``, and uses a GPU if there is one.

    Parameters
    ----------
    frame : DataFrame or sequence of DataFrame
        Tidy table with ``human`` and the column that ``sees`` names: ``source``, ``translation`` or ``reference``.
        Several tables are stages: a transformer is trained on one after another (in the paper, DA and then MQM), a
        ridge on all at once. `training_frame` makes such tables.
    sees : {"source", "candidate", "reference"}
        The one text it sees.
    kind : {"light", "transformer"}
    config : LightConfig or TransformerConfig, optional
        How it is built and trained.
    start : Sentinel, optional
        Transformer: continue from this one, which does not change.
    checkpoints : path, optional
        Transformer: a folder for checkpoints. If training stops, the same call continues from the last complete one.
        The sentinel of each stage is kept in ``stage-1/sentinel`` and so on, for `load`.
    progress : bool
        Transformer: show a progress bar on standard error.

    Returns
    -------
    Sentinel

    Raises
    ------
    TypeError
        If a table is not a DataFrame.
    ValueError
        If a column is absent, a text or score is missing, there are too few texts, all scores are
        equal, an option is unknown or does not go with ``kind``, or the extra is not installed.

    See Also
    --------
    training_frame : a table to train on.
    find_overlap : is test text in it?
    load : read a sentinel that was saved.

    References
    ----------
    Perrella et al. 2024, section 3.1 and appendix B.

    Examples
    --------
    >>> import mtmeta as mm
    >>> es = mm.load("teaching")
    >>> sentinel = mm.sentinel.fit(mm.sentinel.training_frame(es), sees="candidate")
    >>> sentinel.score(["A short one.", "A short one."]).shape
    (2,)
    """
    check_choice("sees", sees, SEES)
    check_choice("kind", kind, KINDS)
    frames = [frame] if isinstance(frame, pd.DataFrame) else frame
    options = {"start": start, "checkpoints": checkpoints}
    if kind == "transformer":
        return _with_torch().fit_transformer(list(frames), sees, config, **options, progress=progress)
    if given := [name for name, value in options.items() if value is not None]:
        raise ValueError(f"`{given[0]}` goes only with kind='transformer': a ridge is fitted in one step.")
    return fit_light(list(frames), sees, config or LightConfig())


def load(folder: str | Path) -> Sentinel:
    """Load a sentinel that was saved.

    Parameters
    ----------
    folder : str or pathlib.Path
        A folder that `Sentinel.save` wrote; or a published sentinel, with ``hparams.yaml`` and
        ``checkpoints/model.ckpt``. None of its code is run. The encoder that it names is loaded for its configuration
        and tokenizer.

    Returns
    -------
    Sentinel
        It gives the same scores as the one that was saved.

    Raises
    ------
    ValueError
        If the folder contains no sentinel or a damaged one, or a transformer while the extra is not installed.

    See Also
    --------
    fit : train one.

    Examples
    --------
    >>> import tempfile
    >>> import mtmeta as mm
    >>> sentinel = mm.sentinel.fit(mm.sentinel.training_frame(mm.load("teaching")), sees="source")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sentinel.save(folder)
    ...     again = mm.sentinel.load(folder)
    >>> bool((again.score(["Guten Tag."]) == sentinel.score(["Guten Tag."])).all())
    True
    """
    folder = Path(folder)
    if (folder / "hparams.yaml").is_file():
        return _with_torch().load_published(folder)
    card = read_card(folder)
    if card["kind"] == "transformer":
        return _with_torch().load_transformer(folder, card)
    return load_light(folder, card)
