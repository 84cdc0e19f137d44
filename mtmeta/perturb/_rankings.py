"""Perturbed rankings: items that change places."""

import numpy as np
import pandas as pd

from .._checks import check_choice, check_count
from .._tables import check_once, check_table
from ..resampling import base_seed, generator_of


def _shuffled(relevance: np.ndarray, n_swaps: int, rng: np.random.Generator) -> np.ndarray | None:
    n = len(relevance)
    if n < 2 or (n == 2 and n_swaps % 2 == 0):
        return None
    while True:
        places = np.arange(n)
        for _ in range(n_swaps):
            i = int(rng.integers(n))
            j = (i + 1 + int(rng.integers(n - 1))) % n
            places[[i, j]] = places[[j, i]]
        if (places != np.arange(n)).any():
            return places


def _degraded(relevance: np.ndarray, n_swaps: int, rng: np.random.Generator) -> np.ndarray | None:
    places, relevance = np.arange(len(relevance)), relevance.copy()
    for swap in range(n_swaps):
        pairs = np.argwhere(np.triu(relevance[:, None] > relevance[None, :], 1))
        if not len(pairs):
            return places if swap else None
        pair = pairs[int(rng.integers(len(pairs)))]
        relevance[pair], places[pair] = relevance[pair[::-1]], places[pair[::-1]]
    return places


#: By ``how``: the name in the column ``perturbation``, and what returns the new order of a ranking.
_HOW = {"random": ("swapping", _shuffled), "degrade": ("degrading", _degraded)}


def perturb_rankings(
    runs: pd.DataFrame,
    qrels: pd.DataFrame | None = None,
    *,
    n_swaps: int = 5,
    how: str = "random",
    n_resamples: int = 1,
    rng: int | np.random.Generator | None = 0,
) -> pd.DataFrame:
    """Swap items in every ranking of every system.

    Each swap exchanges two items. ``random``: any two, so that a swap may well improve the ranking. ``degrade``: a
    random pair of which the upper item is the more relevant one, so that no measure that rewards relevance at the top
    can gain.

    Ranks and scores stay where they are, and items change places between them. The draws for a ranking depend on
    ``rng``, its system, its query and the number of the draw, not on other rankings or the order of the rows.

    Parameters
    ----------
    runs : DataFrame
        Columns ``system, query, item, rank`` (1 is the top), and others such as ``score``.
    qrels : DataFrame, optional
        Columns ``query, item, relevance``; needed for ``how="degrade"``. An item that is not in it has relevance 0.
    n_swaps : int
        Swaps in each ranking. The paper swaps "several" items and gives no number. ``degrade`` makes fewer where no
        such pair is left.
    how : {"random", "degrade"}
    n_resamples : int
        Perturbed rankings per ranking.
    rng : None, int or Generator

    Returns
    -------
    DataFrame
        ``perturbation`` and the columns of ``runs``, sorted by system, query, perturbation and rank. ``perturbation``
        is ``swapping`` (random) or ``degrading``; with several draws followed by their number, ``swapping-1``. Every
        ranking is changed. Those that cannot be perturbed have no rows: of fewer than two items, of two with an even
        number of swaps, or for ``degrade`` with no item above a less relevant one.

    Raises
    ------
    TypeError
        If a table is not a DataFrame, or a number not a whole number.
    ValueError
        If a column is absent, an item or a rank occurs twice in a ranking, an option is unknown, or ``qrels`` is
        absent for ``degrade``.

    See Also
    --------
    perturb_table : the same for texts.
    mtmeta.scoring.score_ranking_pairs : score rankings and their perturbations.

    References
    ----------
    Appendix A.2.2 ("Swapping") of Deviyani & Diaz 2025; ``degrade`` is ours.

    Examples
    --------
    >>> import pandas as pd
    >>> from mtmeta import perturb
    >>> runs = pd.DataFrame({"system": "a", "query": 1, "item": ["x", "y", "z"], "rank": [1, 2, 3]})
    >>> perturb.perturb_rankings(runs, n_swaps=1, rng=3)[["perturbation", "item", "rank"]]
      perturbation item  rank
    0     swapping    z     1
    1     swapping    y     2
    2     swapping    x     3
    """
    n_swaps, n_resamples = check_count("n_swaps", n_swaps, 1), check_count("n_resamples", n_resamples, 1)
    check_choice("how", how, _HOW)
    check_table(runs, ("system", "query", "item", "rank"), new=["perturbation"], name="runs")
    for column in ("item", "rank"):
        check_once(runs, ["system", "query", column], "runs")
    table = runs.sort_values(["system", "query", "rank"], kind="stable").reset_index(drop=True)
    relevance = _judged(table, qrels) if how == "degrade" else np.zeros(len(table))
    name, reordered = _HOW[how]
    seed, places, kinds = base_seed(rng), [], []
    for (system, query), rows in table.groupby(["system", "query"], sort=True).indices.items():
        for draw in range(1, n_resamples + 1):
            order = reordered(relevance[rows], n_swaps, generator_of(seed, system, query, draw))
            if order is not None:
                places.append((rows, rows[order]))
                kinds += [f"{name}-{draw}" if n_resamples > 1 else name] * len(rows)
    before, after = np.concatenate(places, axis=1) if places else np.empty((2, 0), dtype=int)
    made = table.iloc[before].reset_index(drop=True)
    made["item"] = table["item"].iloc[after].reset_index(drop=True)
    made["perturbation"] = kinds
    return made


def _judged(table: pd.DataFrame, qrels: pd.DataFrame | None) -> np.ndarray:
    """Return the relevance of each row."""
    if qrels is None:
        raise ValueError("how='degrade' needs `qrels`, a table with the columns query, item and relevance.")
    check_table(qrels, ("query", "item", "relevance"), name="qrels")
    check_once(qrels, ["query", "item"], "qrels")
    known = qrels.set_index(["query", "item"])["relevance"]
    return known.reindex(pd.MultiIndex.from_frame(table[["query", "item"]])).fillna(0).to_numpy(dtype=float)
