"""Scores of ranked lists by trec_eval, through pytrec_eval."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pandas as pd

from .._checks import check_count
from .._names import positions
from .._tables import check_once, check_table

_CUTS = (5, 10, 15, 20, 30)
#: The 23 measures of the third paper, by their trec_eval names: its Table 7.
RANKING_MEASURES = (
    "map",
    "Rprec",
    "recip_rank",
    *(f"iprec_at_recall_{level:.2f}" for level in (0, 0.1, 0.2, 0.3, 0.4)),
    *(f"{name}_{k}" for name in ("P", "recall", "ndcg_cut") for k in _CUTS),
)
_LIST = ("item", "rank", "score", "relevance")
_INTERPOLATED = "iprec_at_recall_"


def score_rankings(
    runs: pd.DataFrame,
    qrels: pd.DataFrame,
    measures: Sequence[str] = RANKING_MEASURES,
    *,
    relevance_level: int = 1,
) -> pd.DataFrame:
    """Score ranked lists, one per query and system, with trec_eval.

    Parameters
    ----------
    runs : pandas.DataFrame
        One row per retrieved item: ``system, query, item, rank`` (1 is the top). Other columns (``perturbation``) tell
        lists apart as well, except ``score`` and ``relevance``, which are not read.
    qrels : pandas.DataFrame
        One row per judged item: ``query, item, relevance`` (an integer, 0 is not relevant). Items that are not judged
        count as not relevant.
    measures : sequence of str
        trec_eval names, by default the 23 of `RANKING_MEASURES`. In [0, 1], higher is better.
    relevance_level : int
        The smallest relevance that counts as relevant in the measures that know only yes and no (nDCG uses the
        grades). 2 for passages of TREC Deep Learning.

    Returns
    -------
    pandas.DataFrame
        One row per list, in order of appearance: ``system, query``, further columns that tell lists apart, and the
        measures. A query without a relevant item has 0 everywhere.

    Raises
    ------
    TypeError, ValueError
        If a column is missing, a list holds an item or a rank twice, a query has no judgement, a relevance is not an
        integer, or a measure is unknown.

    See Also
    --------
    score_ranking_pairs : of rankings and their perturbations.

    Notes
    -----
    The measures see no deeper than the list. Where runs were cut at 100 items, MAP and the interpolated precisions are
    those of the first 100.

    The interpolated precision at recall r is the largest precision at a rank whose recall is at least r. It is computed
    here, because trec_eval 9 rounds the number of relevant items that r asks for: with 57, 67, 77, 87, 97 or 197
    relevant ones it takes one too few at r = .3 (23 of 77 instead of 24).

    References
    ----------
    Van Gysel and de Rijke 2018 (pytrec_eval).

    Examples
    --------
    >>> import pandas as pd
    >>> from mtmeta.scoring import score_rankings
    >>> runs = pd.DataFrame({"system": "A", "query": "q", "item": ["x", "y", "z"], "rank": [1, 2, 3]})
    >>> qrels = pd.DataFrame({"query": "q", "item": ["y", "z"], "relevance": [1, 1]})
    >>> score_rankings(runs, qrels, ["P_5", "recip_rank"])
      system query  P_5  recip_rank
    0      A     q  0.4         0.5
    """
    check_count("relevance_level", relevance_level, 1)
    judged = _qrels(qrels)
    keys = _check_runs(runs)
    absent = sorted({q for q in runs["query"].unique() if str(q) not in judged}, key=str)
    if absent:
        raise ValueError(
            f"{len(absent)} queries of `runs` have no row in `qrels`, the first of them {absent[0]!r}. "
            "Check the names, or leave these queries out."
        )
    positions("measure", measures, measures)  # a sequence, and none twice
    code = runs.groupby(keys, sort=False, observed=True).ngroup().to_numpy()
    lists = np.split(np.argsort(code, kind="stable"), np.cumsum(np.bincount(code))[:-1])
    queries, items = (runs[name].astype(str).to_numpy() for name in ("query", "item"))
    values, scores = -runs["rank"].to_numpy(dtype=float), []
    import pytrec_eval

    try:
        evaluator = pytrec_eval.RelevanceEvaluator(judged, set(measures), relevance_level=relevance_level)
        for rows in lists:
            query = queries[rows[0]]
            found = evaluator.evaluate({query: dict(zip(items[rows], values[rows].tolist(), strict=True))})[query]
            relevant = {item for item, grade in judged[query].items() if grade >= relevance_level}
            hits = np.array([item in relevant for item in items[rows][np.argsort(-values[rows])]])
            for m in measures:
                if m.startswith(_INTERPOLATED):
                    found[m] = _interpolated_precision(hits, len(relevant), Fraction(m.removeprefix(_INTERPOLATED)))
            scores.append([found[m] for m in measures])
    except (ValueError, TypeError, KeyError) as error:  # "P" is a known family, but no number
        raise ValueError(f"trec_eval does not know one of the measures: {error}. A name is such as 'P_5'.") from None
    first = runs[keys].iloc[[rows[0] for rows in lists]].reset_index(drop=True)
    return pd.concat([first, pd.DataFrame(scores, columns=list(measures))], axis=1)


def _interpolated_precision(hits: np.ndarray, n_relevant: int, recall: Fraction) -> float:
    """Return the largest precision at a rank whose recall is at least ``recall``; 0 if there is none."""
    found = np.cumsum(hits)
    reached = hits & (found >= recall * n_relevant) if n_relevant else hits & False
    return float((found / np.arange(1, len(hits) + 1))[reached].max(initial=0.0))


def _qrels(qrels: pd.DataFrame) -> dict[str, dict[str, int]]:
    """Return the judgements as pytrec_eval wants them: by query, by item."""
    check_table(qrels, ["query", "item", "relevance"], name="qrels")
    if not pd.api.types.is_integer_dtype(qrels["relevance"]):
        raise ValueError(f"column 'relevance' must hold integers; found {qrels['relevance'].dtype}. Round or scale it.")
    check_once(qrels, ["query", "item"], "qrels")
    named = qrels.assign(item=qrels["item"].astype(str)).groupby(qrels["query"].astype(str), sort=False)
    return {query: dict(zip(part["item"], part["relevance"].tolist(), strict=True)) for query, part in named}


def _check_runs(runs: pd.DataFrame, name: str = "runs") -> list[str]:
    """Return the columns that tell lists apart."""
    check_table(runs, ["system", "query", "item", "rank"], name=name)
    keys = ["system", "query", *(c for c in runs if c not in ("system", "query", *_LIST))]
    for column in ("item", "rank"):
        check_once(runs, [*keys, column], name)
    return keys


def score_ranking_pairs(
    runs: pd.DataFrame,
    perturbed_runs: pd.DataFrame,
    qrels: pd.DataFrame,
    measures: Sequence[str] = RANKING_MEASURES,
    *,
    relevance_level: int = 1,
) -> pd.DataFrame:
    """Score ranked lists and their perturbed copies.

    Parameters
    ----------
    runs : pandas.DataFrame
        As in `score_rankings`; one list per system and query.
    perturbed_runs : pandas.DataFrame
        The same with a column ``perturbation``, and as many lists per system and query as there are perturbations.
        Further columns (such as the number of a draw) tell lists apart and are kept.
    qrels, measures, relevance_level
        As in `score_rankings`.

    Returns
    -------
    pandas.DataFrame
        One row per perturbed list: ``segment`` (the query), ``system``, ``perturbation``, further columns, and for
        every measure M the columns ``M`` (of the list) and ``M_perturbed``. Higher is better.

    Raises
    ------
    TypeError, ValueError
        As in `score_rankings`, and if a perturbed list has no original.

    See Also
    --------
    mtmeta.perturb.perturb_rankings : make the pairs.
    score_rankings : the scores of one ranking.

    Examples
    --------
    >>> import pandas as pd
    >>> from mtmeta.scoring import score_ranking_pairs
    >>> runs = pd.DataFrame({"system": "A", "query": "q", "item": ["x", "y"], "rank": [1, 2]})
    >>> swapped = runs.assign(rank=[2, 1], perturbation="swap")
    >>> qrels = pd.DataFrame({"query": "q", "item": ["x"], "relevance": [1]})
    >>> score_ranking_pairs(runs, swapped, qrels, ["recip_rank"])
      segment system perturbation  recip_rank  recip_rank_perturbed
    0       q      A         swap         1.0                   0.5
    """
    check_table(perturbed_runs, ["perturbation"], name="perturbed_runs")
    _check_runs(runs)
    _check_runs(perturbed_runs, "perturbed_runs")
    keys = ["system", "query"]
    own = runs[[*keys, "item", "rank"]]
    before = score_rankings(own, qrels, measures, relevance_level=relevance_level)
    after = score_rankings(perturbed_runs, qrels, measures, relevance_level=relevance_level)
    after = after.rename(columns={m: f"{m}_perturbed" for m in measures})
    both = after.merge(before, on=keys, how="left", validate="many_to_one").rename(columns={"query": "segment"})
    if len(lost := both[both[list(measures)].isna().any(axis=1)]):
        system, query = lost[["system", "segment"]].iloc[0]
        raise ValueError(f"`runs` has no list of system {system!r}, query {query!r}, but `perturbed_runs` has.")
    first = ["segment", "system", "perturbation"]
    scores = [column for m in measures for column in (m, f"{m}_perturbed")]
    return both[[*first, *(c for c in both if c not in {*first, *scores}), *scores]]
