"""Ranked lists of items, validated, as `perturb`, `scoring` and `local_accuracy` take them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from ._checks import check_scores, numbers_of
from ._names import counted, listed, numbered
from ._tables import check_once, check_table

__all__ = ["Rankings"]


@dataclass(frozen=True, eq=False, repr=False)
class Rankings:
    """Ranked lists of items by several systems for the same queries, and which items are relevant.

    Parameters
    ----------
    name : str
        What to call the set.
    runs : pandas.DataFrame
        One row per ranked item, columns ``system, query, item, rank, score``. ``rank`` counts from 1 (top) without gaps
        in each list and decides the order; ``score`` is the system's own: it may tie, but must not increase down a
        list. Every system ranks every query; lists may differ in length.
    qrels : pandas.DataFrame
        One row per judged item, columns ``query, item, relevance``: a whole number, at least 0; higher is better. Items
        that were not judged have no row.
    provenance : mapping, optional
        Where the data come from, what was left out and why.
    truth : mapping, optional
        What was planted; simulated sets only.

    Attributes
    ----------
    runs, qrels : pandas.DataFrame
        As given, with these columns only; ``runs`` in order of system, query and rank, ``qrels`` in order of query.
        Names of queries and items are strings.

    Raises
    ------
    TypeError
        If ``runs`` or ``qrels`` is not a DataFrame.
    ValueError
        If a column is missing or holds what it should not, an item occurs twice in a list or is judged twice, ranks
        have gaps, a score increases down a list, a query has no judgement, or a system lacks a query.

    Examples
    --------
    >>> import pandas as pd
    >>> from mtmeta.rankings import Rankings
    >>> runs = pd.DataFrame({"system": ["A", "A"], "query": ["q", "q"], "item": ["x", "y"], "rank": [1, 2],
    ...                      "score": [0.9, 0.2]})
    >>> qrels = pd.DataFrame({"query": ["q"], "item": ["y"], "relevance": [1]})
    >>> Rankings("mine", runs, qrels)
    Rankings 'mine': 1 system x 1 query, 2 items a list, 1 judged item, 1 relevant
    """

    name: str
    runs: pd.DataFrame
    qrels: pd.DataFrame
    provenance: Mapping[str, Any] = field(default_factory=dict)
    truth: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        runs = _checked(self.runs, "runs", ["system", "query", "item"], ["rank", "score"])
        qrels = _checked(self.qrels, "qrels", ["query", "item"], ["relevance"])
        codes = [numbered(runs[c])[0] for c in ("system", "query")]
        runs = runs.iloc[np.lexsort((runs["rank"], codes[1], codes[0]))].reset_index(drop=True)
        _check_lists(runs)
        judged = set(qrels["query"])
        unjudged = [q for q in runs["query"].unique() if q not in judged]
        if unjudged:
            raise ValueError(f"queries of `runs` have no judgement in `qrels`: {listed(unjudged)}.")
        qrels = qrels.iloc[np.argsort(numbered(qrels["query"])[0], kind="stable")].reset_index(drop=True)
        object.__setattr__(self, "runs", runs)
        object.__setattr__(self, "qrels", qrels)
        object.__setattr__(self, "provenance", dict(self.provenance))

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of the systems, in natural order."""
        return tuple(self.runs["system"].unique())

    @property
    def queries(self) -> tuple[str, ...]:
        """Names of the queries that are ranked for, in natural order."""
        return tuple(self.runs["query"].unique())

    def __repr__(self) -> str:
        sizes = self.runs.groupby(["system", "query"], sort=False, observed=True).size()
        length = f"{sizes.min()}" if sizes.min() == sizes.max() else f"{sizes.min()} to {sizes.max()}"
        queries = len(self.queries)
        text = (
            f"Rankings {self.name!r}: {counted(len(self.systems), 'system')} x "
            f"{queries} quer{'y' if queries == 1 else 'ies'}, {length} items a list, "
            f"{counted(len(self.qrels), 'judged item')}, {int((self.qrels['relevance'] > 0).sum())} relevant"
        )
        for what, why in self.provenance.get("left_out", {}).items():
            text += f"\n  left out: {what} ({why})"
        return text

    def to_frame(self) -> pd.DataFrame:
        """Return the runs with a column ``relevance``: missing (``<NA>``) where an item is not judged."""
        frame = self.runs.merge(self.qrels, on=["query", "item"], how="left")
        return frame.astype({"relevance": "Int64"})


def _checked(frame: Any, what: str, names: list[str], numbers: list[str]) -> pd.DataFrame:
    """Return these columns of ``runs`` or ``qrels``: names as strings, and numbers that were checked."""
    check_table(frame, [*names, *numbers], name=what)
    out = pd.DataFrame(
        {c: frame[c].astype(str).to_numpy() for c in names} | {c: numbers_of(frame[c], c) for c in numbers}
    )
    for column, low in (("rank", 1), ("relevance", 0)):
        values = out.get(column, pd.Series(dtype=float))
        bad = (values != np.floor(values)) | (values < low) | np.isinf(values)
        if bad.any():
            row = int(np.argmax(bad))
            found = f"found {values[row]:g} in data row {row + 1}"
            raise ValueError(f"`{what}`: column {column!r} must hold whole numbers of at least {low}; {found}.")
    if "score" in out:
        check_scores(out["score"].to_numpy(), f"`{what}`: column 'score'", computed=True)
    check_once(out, names, what)
    return out.astype(dict.fromkeys({"rank", "relevance"} & {*numbers}, np.int64))


def _check_lists(runs: pd.DataFrame) -> None:
    """Check sorted runs: ranks from 1 without gaps, scores that do not rise, all queries of all systems."""
    place = runs.groupby(["system", "query"], sort=False).cumcount().to_numpy() + 1

    def where(row: int) -> str:
        return "`runs`: system {!r}, query {!r}, rank {}".format(*runs.loc[row, ["system", "query", "rank"]])

    wrong = np.flatnonzero(runs["rank"] != place)
    if len(wrong):
        raise ValueError(f"{where(wrong[0])}: expected {place[wrong[0]]}; ranks count from 1 without gaps.")
    rises = np.flatnonzero((np.diff(runs["score"]) > 0) & (place[1:] > 1))
    if len(rises):
        raise ValueError(f"{where(rises[0] + 1)}: the score must not increase down a list.")
    there = set(zip(runs["system"], runs["query"], strict=True))
    gone = [pair for pair in product(runs["system"].unique(), runs["query"].unique()) if pair not in there]
    if gone:
        what = f"`runs`: system {gone[0][0]!r} has no list for query {gone[0][1]!r} ({len(gone)} lists are absent)"
        raise ValueError(f"{what}. Every system needs a list for every query.")
