"""The simulated sets of the book as they are shipped: written once, and read without simulating."""

import copy
import functools
import json
import lzma
from typing import Any

import numpy as np
import pandas as pd

from ..evalset import EvalSet, Texts
from ..rankings import Rankings
from ._campaign import as_set
from ._random import DATA

SIZES = {"n_systems": 12, "n_segments": 300, "seed": 2024}


def teaching() -> EvalSet:
    """Load the teaching campaign: 12 systems x 300 segments, German to English, simulated.

    Its scores, texts and truth are read, not simulated; `campaign` describes them.

    Returns
    -------
    EvalSet
        The same as ``campaign(n_systems=12, n_segments=300, seed=2024)``, under the name ``teaching``, and with the
        places of errors and of raters' marks: ``spans``, and ``start`` and ``end`` of ``truth["errors"]``.

    See Also
    --------
    campaign : the same with other settings.
    mtmeta.load : the stored one, by ``load("teaching")``.

    Examples
    --------
    >>> from mtmeta import simulate
    >>> es = simulate.teaching()
    >>> es
    EvalSet 'teaching': 12 systems x 300 segments, 10 metrics, 3600 of 3600 translations rated
    >>> es.truth["bias"]["Biased"]
    {'Fjord': 0.05}
    """
    frame, stored, spans = copy.deepcopy(_stored())
    systems = list(dict.fromkeys(frame["system"]))
    shape = (len(systems), len(stored["sources"]))
    rows = frame.pop("translation").to_numpy(dtype=object).reshape(shape)
    scores = {name: np.reshape([*map(float, frame[name])], shape) for name in frame.columns[2:]}
    references = {name: tuple(texts) for name, texts in stored["references"].items()}
    texts = Texts(tuple(stored["sources"]), references, {s: tuple(row) for s, row in zip(systems, rows, strict=True)})
    truth = stored["truth"]
    for key in ("penalty", "difficulty", "visible_difficulty"):
        truth[key] = np.array(truth[key], dtype=np.float64)
    documents, domains = stored["documents"], stored["domains"]
    return as_set("teaching", scores.pop("human"), scores, systems, documents, domains, texts, truth, spans)


@functools.cache
def _stored() -> tuple[pd.DataFrame, dict[str, Any], pd.DataFrame]:
    """Read the files, once in a process; an error-free rating has no place and no text."""
    frame = pd.read_csv(DATA / "teaching.csv.xz", dtype=str, keep_default_na=False)
    types = {"start": "Int64", "end": "Int64", "weight": float, "text": object}
    empty = {"start": [""], "end": [""]}
    spans = pd.read_csv(DATA / "teaching_spans.csv.xz", keep_default_na=False, dtype=types, na_values=empty)
    spans["text"] = spans["text"].mask(spans["start"].isna(), None)
    with lzma.open(DATA / "teaching.json.xz") as file:
        return frame, json.load(file), spans.assign(is_source_error=False)


def teaching_speech() -> pd.DataFrame:
    """Load the transcripts of the book: 6 systems x 400 segments by 20 speakers, simulated.

    The references are sentences of `campaign`, as they are read out. Every second speaker is of quality ``clean``, the
    others of quality ``other``. Every word of a segment has a difficulty ``d`` (log-normal, mean 1), the same for all
    systems. A system errs there with probability

        1 - exp(-rate[system] * other[system] * rate[speaker] * d),

    where ``other`` counts in other speech only. An error at a content word mishears it in 86 % of cases, loses it in 5
    %, and adds a word after it in 9 %; for function words these are 55, 30 and 15 %. A misheard word becomes a word of
    the same texts that sounds similar, or is respelled if there is none. With probability 0.6 this word is the same for
    all systems.

    Returns
    -------
    pandas.DataFrame
        One row per transcript, systems outermost: ``system``, ``segment`` (speaker and a number),
        ``speaker``, ``quality`` ("clean" or "other"), ``reference``, ``transcript`` and ``truth``, the number
        of word errors that were planted: lower is better. ``attrs`` holds ``name`` and ``truth``: ``seed``,
        ``settings``, and ``system_rate``, ``other_factor`` and ``speaker_rate`` by name.

    See Also
    --------
    teaching_ranking : The simulated rankings of the book.

    Examples
    --------
    >>> from mtmeta import simulate
    >>> table = simulate.teaching_speech()
    >>> len(table), table["speaker"].nunique()
    (2400, 20)
    >>> bool((table["truth"][table["reference"] == table["transcript"]] == 0).all())
    True
    """
    table = pd.read_csv(DATA / "teaching_speech.csv.xz", keep_default_na=False)
    truth = json.loads((DATA / "teaching_speech.json").read_text(encoding="utf-8"))
    table.attrs = {"name": "teaching-speech", "truth": truth}
    return table


def teaching_ranking() -> Rankings:
    """Load the rankings of the book: 10 systems x 50 users, 100 of 300 items, simulated.

    A query is a user. Users have tastes and items have traits; the preference ``p`` of a user for an item is
    the sum of taste times trait, of the popularity of the item and of a whim, standardised for each user. The
    most preferred 3 to 15 % of the items are relevant: grade 1, the upper half of them 2, the upper fifth 3.
    System ``s`` of quality ``q`` scores an item with

        q p + sqrt(1 - q^2) z,

    where ``z`` is standard normal noise of its own, so that ``q`` is the correlation of score and preference; qualities
    are evenly spaced from 0.05 (near random) to 0.97 (near ideal). Its list has the items with the highest scores.

    Returns
    -------
    Rankings
        ``truth`` holds ``seed``, ``settings``, ``n_items``, ``quality`` by system (higher is better), and
        ``n_relevant`` by query. Items not in a list are judged too: ``qrels`` is complete.

    See Also
    --------
    teaching_speech : The simulated transcripts of the book.

    Examples
    --------
    >>> from mtmeta import simulate
    >>> simulate.teaching_ranking()
    Rankings 'teaching-ranking': 10 systems x 50 queries, 100 items a list, 15000 judged items, 1401 relevant
    """
    runs = pd.read_csv(DATA / "teaching_ranking.csv.xz", dtype=str).astype({"score": float})
    runs.insert(3, "rank", runs.groupby(["system", "query"]).cumcount() + 1)
    qrels = pd.read_csv(DATA / "teaching_ranking_qrels.csv.xz")
    truth = json.loads((DATA / "teaching_ranking.json").read_text(encoding="utf-8"))
    provenance = {"source": f"simulated with seed {truth['seed']}", "left_out": {}}
    return Rankings("teaching-ranking", runs, qrels, provenance, truth)
