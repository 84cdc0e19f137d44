"""Perturbed rankings: items that change places."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import numpy as np
import pandas as pd

from .._checks import check_count, generator
from ._seeds import base_seed, generator_of

HOW = ("random", "degrade")
#: The name of each variant in the column ``perturbation``.
NAMES = {"random": "swapping", "degrade": "degrading"}
#: The paper swaps several items and does not say how many.
N_SWAPS = 5


def _check_how(how: str) -> None:
    if how not in HOW:
        raise ValueError(f"`how` must be one of {list(HOW)}; found {how!r}.")


def _relevances(items: Sequence[Hashable], relevance: Mapping | Sequence | None) -> np.ndarray:
    if relevance is None:
        raise ValueError("how='degrade' needs `relevance`: a mapping from item to relevance, or one number per item.")
    if isinstance(relevance, Mapping):
        return np.array([relevance.get(item, 0) for item in items], dtype=float)
    found = np.asarray(relevance, dtype=float)
    if found.shape != (len(items),):
        raise ValueError(f"`relevance` must hold one number per item, {len(items)}; found shape {found.shape}.")
    return found


def swap_items(
    items: Sequence[Hashable],
    *,
    n_swaps: int = N_SWAPS,
    how: str = "random",
    relevance: Mapping | Sequence | None = None,
    rng: int | np.random.Generator | None = None,
) -> list | None:
    """Swap items of a ranking.

    Each swap exchanges two items. ``random``: any two, so that a swap may well improve the ranking.
    ``degrade``: a random pair of which the upper item is the more relevant one, so that no measure that
    rewards relevance at the top can gain.

    Parameters
    ----------
    items : sequence
        The ranking, best first, without duplicates.
    n_swaps : int
        Number of swaps. The paper swaps "several" items and gives no number. ``degrade`` makes fewer where
        no such pair is left.
    how : {"random", "degrade"}
    relevance : mapping or sequence, optional
        For ``degrade``: relevance by item (0 where absent), or one number per item; higher is more relevant.
    rng : None, int or Generator

    Returns
    -------
    list or None
        The new ranking, never the same as ``items``. None where that is impossible: fewer than two items, or for
        ``degrade`` no item above a less relevant one.

    Raises
    ------
    TypeError
        If ``n_swaps`` is no whole number.
    ValueError
        If ``n_swaps`` is below 1, ``how`` unknown, an item occurs twice, or ``relevance`` is absent or of another
        length.

    References
    ----------
    Appendix A.2.2 ("Swapping") of Deviyani & Diaz 2025; ``degrade`` is ours.

    Examples
    --------
    >>> from mtmeta import perturb
    >>> perturb.swap_items(["cake", "pie", "cookie"], n_swaps=1, rng=1)
    ['pie', 'cake', 'cookie']
    >>> perturb.swap_items(["cake", "pie"], n_swaps=1, how="degrade", relevance={"cake": 1}, rng=1)
    ['pie', 'cake']
    >>> perturb.swap_items(["cake", "pie"], n_swaps=1, how="degrade", relevance={"pie": 1}, rng=1) is None
    True
    """
    n_swaps = check_count("n_swaps", n_swaps, 1)
    _check_how(how)
    order = list(items)
    if len(set(order)) < len(order):
        raise ValueError(f"an item occurs twice in the ranking of {len(order)} items. Drop the duplicates.")
    rng = generator(rng)
    if how == "degrade":
        places = _degraded(_relevances(order, relevance), n_swaps, rng)
    else:
        places = _shuffled(len(order), n_swaps, rng)
    return None if places is None else [order[i] for i in places]


def _shuffled(n: int, n_swaps: int, rng: np.random.Generator) -> np.ndarray | None:
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


def perturb_rankings(
    runs: pd.DataFrame,
    qrels: pd.DataFrame | None = None,
    *,
    n_swaps: int = N_SWAPS,
    how: str = "random",
    n_resamples: int = 1,
    rng: int | np.random.Generator | None = 0,
) -> pd.DataFrame:
    """Swap items in every ranking of every system, as `swap_items` does.

    Ranks and scores stay where they are, and items change places between them. What is drawn for a ranking
    depends on ``rng``, its system, its query and the number of the draw, and not on other rankings or the order
    of the rows.

    Parameters
    ----------
    runs : DataFrame
        Columns ``system, query, item, rank`` (1 is the top), and others such as ``score``.
    qrels : DataFrame, optional
        Columns ``query, item, relevance``; needed for ``how="degrade"``. An item that is not in it has relevance 0.
    n_swaps : int
        Swaps in each ranking.
    how : {"random", "degrade"}
    n_resamples : int
        Perturbed rankings per ranking.
    rng : None, int or Generator

    Returns
    -------
    DataFrame
        ``perturbation`` and the columns of ``runs``, sorted by system, query, perturbation and rank.
        ``perturbation`` is ``swapping`` (random) or ``degrading``; with several draws followed by their number,
        ``swapping-1``. Rankings to which it does not apply have no rows.

    Raises
    ------
    TypeError
        If a table is no DataFrame, or a number no whole number.
    ValueError
        If a column is absent, an item or a rank occurs twice in a ranking, an option is unknown, or ``qrels`` is
        absent for ``degrade``.

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
    _check_how(how)
    _check_table(runs, "runs", ("system", "query", "item", "rank"))
    for column in ("item", "rank"):
        if runs.duplicated(["system", "query", column]).any():
            row = runs[runs.duplicated(["system", "query", column])].iloc[0]
            raise ValueError(
                f"{column} {row[column]!r} occurs twice in the ranking of system {row['system']!r}, query "
                f"{row['query']!r}. Drop the duplicates."
            )
    if "perturbation" in runs:
        raise ValueError("`runs` has a column 'perturbation' already: these rankings have been perturbed.")
    table = runs.sort_values(["system", "query", "rank"], kind="stable").reset_index(drop=True)
    relevance = _judged(table, qrels) if how == "degrade" else None
    seed, parts = base_seed(rng), []
    items = table["item"].to_numpy(dtype=object)
    for (system, query), rows in table.groupby(["system", "query"], sort=True).indices.items():
        for draw in range(1, n_resamples + 1):
            local = generator_of(seed, system, query, draw)
            if relevance is None:
                places = _shuffled(len(rows), n_swaps, local)
            else:
                places = _degraded(relevance[rows], n_swaps, local)
            if places is not None:
                parts.append((f"{NAMES[how]}-{draw}" if n_resamples > 1 else NAMES[how], rows, items[rows[places]]))
    if not parts:
        return table.iloc[:0].assign(perturbation=pd.Series(dtype=object))
    made = table.iloc[np.concatenate([rows for _, rows, _ in parts])].reset_index(drop=True)
    made["item"] = pd.Series(np.concatenate([new for *_, new in parts])).astype(runs["item"].dtype)
    made["perturbation"] = np.repeat([name for name, *_ in parts], [len(rows) for _, rows, _ in parts])
    return made


def _check_table(table: object, name: str, columns: Sequence[str]) -> None:
    if not isinstance(table, pd.DataFrame):
        raise TypeError(f"`{name}` must be a DataFrame with the columns {list(columns)}; found {type(table).__name__}.")
    missing = [c for c in columns if c not in table]
    if missing:
        raise ValueError(f"`{name}` lacks the column(s) {missing}; found {list(table.columns)}. Rename the columns.")


def _judged(table: pd.DataFrame, qrels: pd.DataFrame | None) -> np.ndarray:
    """Return the relevance of each row."""
    if qrels is None:
        raise ValueError("how='degrade' needs `qrels`, a table with the columns query, item and relevance.")
    _check_table(qrels, "qrels", ("query", "item", "relevance"))
    if qrels.duplicated(["query", "item"]).any():
        raise ValueError("a pair of query and item occurs twice in `qrels`. Drop the duplicates.")
    merged = table[["query", "item"]].merge(qrels[["query", "item", "relevance"]], on=["query", "item"], how="left")
    return merged["relevance"].fillna(0).to_numpy(dtype=float)
