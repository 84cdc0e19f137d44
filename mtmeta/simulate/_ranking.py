"""The simulated ranked lists of the book: written once, and read."""

import json

import pandas as pd

from ..rankings import Rankings
from ._random import DATA


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
