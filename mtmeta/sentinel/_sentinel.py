"""The common base of both kinds of sentinel."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .._files import whole_file
from ..evalset import EvalSet
from ._frame import SEES, texts_of

_CARD = "sentinel.json"
#: The version of what is stored, by kind.
_FORMATS = {"light": 3, "transformer": 4}


def write_json(path: Path, values: dict[str, Any]) -> None:
    """Write an object as JSON: it is whole, or not there."""
    with whole_file(path) as part:
        part.write_text(json.dumps(values, ensure_ascii=False, indent=1, allow_nan=False) + "\n", encoding="utf-8")


class Sentinel:
    """A metric that sees one text only: the source, the candidate or the reference.

    Made by `fit` and `load`. Scores are in the units of the human scores it was trained on; higher
    is better.

    Attributes
    ----------
    sees : {"source", "candidate", "reference"}
    kind : {"light", "transformer"}
    signature : str
        The settings and the training, in one line.
    """

    # Each kind has `_score(texts)`, one score per distinct text, and `_write(folder)`, which writes large arrays there
    # and returns everything else that `load` needs, as JSON values.

    sees: str
    kind: str
    signature: str

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.signature!r})"

    def score(self, texts: Iterable[str]) -> np.ndarray:
        """Score texts; equal texts get equal scores.

        Parameters
        ----------
        texts : iterable of str
            Sources, candidates or references: whatever this sentinel sees.

        Returns
        -------
        numpy.ndarray, shape (n_texts,)
            Higher is better.

        Raises
        ------
        TypeError, ValueError
            If an item is missing or is not a text.
        """
        codes, distinct = pd.factorize(np.array([*texts], dtype=object), use_na_sentinel=False)
        if not len(distinct):
            return np.empty(0)
        return self._score(list(distinct))[codes]

    def score_frame(self, frame: pd.DataFrame) -> np.ndarray:
        """Score the rows of a tidy table by the column that this sentinel sees.

        Parameters
        ----------
        frame : pandas.DataFrame
            With ``source``, ``translation`` or ``reference``.

        Returns
        -------
        numpy.ndarray, shape (n_rows,)

        Raises
        ------
        TypeError, ValueError
            If the column is absent or a text is missing.
        """
        return self.score(texts_of(frame, self.sees))

    def score_set(self, es: EvalSet) -> np.ndarray:
        """Score every translation of a set.

        Parameters
        ----------
        es : EvalSet
            With texts. A reference sentinel sees the first reference.

        Returns
        -------
        numpy.ndarray, shape (n_systems, n_segments)
            Ready for `EvalSet.with_metrics`; NaN where the text is missing. Constant within each
            segment for source and reference sentinels.

        Raises
        ------
        ValueError
            If the set lacks the texts.

        Examples
        --------
        >>> import mtmeta as mm
        >>> es = mm.load("teaching")
        >>> sentinel = mm.sentinel.fit(mm.sentinel.training_frame(es), sees="source")
        >>> es = es.with_metrics({"S_SRC": sentinel.score_set(es)})
        >>> float(mm.correlate(es, grouping="segment")["value"].iloc[0])
        0.0
        """
        texts = es.to_frame().get(SEES[self.sees], pd.Series(dtype=object)).dropna()
        if texts.empty:
            raise ValueError(f"set {es.name!r} has no {SEES[self.sees]} texts, which this sentinel sees.")
        scores = np.full(es.shape, np.nan)
        scores.flat[texts.index] = self.score(texts)
        return scores

    def save(self, folder: str | Path) -> None:
        """Write the sentinel into a folder, for `load`; a sentinel that is there is replaced.

        A missing folder is created. It holds JSON, plain arrays and safetensors, no pickle and no code. The file that
        `load` looks for is written last, so a sentinel is whole or not there.

        Parameters
        ----------
        folder : str or pathlib.Path

        Raises
        ------
        OSError
            If it cannot be written.
        """
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / _CARD).unlink(missing_ok=True)
        card = {"format": _FORMATS[self.kind], "kind": self.kind, "sees": self.sees}
        write_json(folder / _CARD, card | self._write(folder))


def read_card(folder: Path) -> dict[str, Any]:
    """Return what `Sentinel.save` wrote as JSON."""
    path = folder / _CARD
    if not path.is_file():
        raise ValueError(f"{folder} contains no sentinel: {_CARD} is missing. Give the folder that `save` wrote.")
    try:
        card = json.loads(path.read_text(encoding="utf-8"))
        known = _FORMATS[card["kind"]] == card["format"] and card["sees"] in SEES
    except (ValueError, TypeError, KeyError):
        known = False
    if not known:
        raise ValueError(f"{path} is damaged, or from another version of mtmeta. Train the sentinel again.")
    return card
