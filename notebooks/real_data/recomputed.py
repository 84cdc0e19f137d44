"""Published numbers computed again, for the ledger and the pages on sentinels and on ties."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from mtmeta import EvalSet, rank
from mtmeta.book.published import numbers
from mtmeta.evalset import as_evalset
from mtmeta.protocols import PROTOCOLS, Task

_KEY = ["quantity", "language_pair", "level", "statistic", "grouping", "metric"]


def recompute(
    sets: Sequence[EvalSet], *, sources: Sequence[str] | None = None
) -> pd.DataFrame:
    """Recompute published numbers and compare them at the printed precision.

    Parameters
    ----------
    sets : sequence of EvalSet
        The three WMT23 sets with the published sentinel metrics.
    sources : sequence of str, optional
        Which of the sources of `mtmeta.book.published.numbers`; by default all but those of aggregation, which are computed from texts
        (`mtmeta.aggregation`), those of local accuracy, whose data are not public, and those on differences
        (`mtmeta.differences`), which are about metrics that are not all in WMT23.

    Returns
    -------
    pandas.DataFrame
        The rows of `mtmeta.book.published.numbers` with ``ours`` (float), ``shown`` (``ours`` at the printed
        precision), ``difference`` (ours - printed) and ``agrees`` (``shown`` = ``printed``).
        A published rank is the place in the order by (-value, name), so equal values get
        different ranks; here it is computed in the same way.

    Raises
    ------
    ValueError
        If a source is unknown, or a metric is absent from the sets.
    """
    table = numbers()
    table = table[
        ~table["source"].str.startswith(
            ("aggregation-", "local-accuracy-", "differences-")
        )
    ]
    known = list(dict.fromkeys(table["source"]))
    if unknown := set(sources or ()) - set(known):
        raise ValueError(f"unknown sources {sorted(unknown)}; known are {known}.")
    table = table[table["source"].isin(sources or known)].reset_index(drop=True)
    ours = {}
    for source, rows in table.groupby("source", sort=False):
        if source in PROTOCOLS:
            values = _of_ranking(sets, source, list(dict.fromkeys(rows["metric"])))
        else:
            values = (
                _of_figures(sets, rows)
                if source == "sentinels-figures4-6"
                else _of_tables(sets, rows)
            )
        ours |= {(source, *key): value for key, value in values.items()}
    table["ours"] = [
        ours[key] for key in table[["source", *_KEY]].itertuples(index=False, name=None)
    ]
    decimals = table["printed"].str.partition(".")[2].str.len()
    table["shown"] = [
        f"{value:z.{places}f}"
        for value, places in zip(table["ours"], decimals, strict=True)
    ]
    table["difference"] = table["ours"] - table["printed"].astype(float)
    table["agrees"] = table["shown"] == [
        f"{float(p):z.{d}f}" for p, d in zip(table["printed"], decimals, strict=True)
    ]
    return table


def _of_tables(sets: Sequence[EvalSet], rows: pd.DataFrame) -> dict:
    """Map `_KEY` to our value, for tables of correlations."""
    by_pair = {es.language_pair: es for es in sets}
    values = {}
    for key, group in rows.groupby(_KEY[:-1], sort=False):
        _, pair, level, statistic, grouping = key
        metrics = group["metric"].tolist()
        found = Task(statistic, level, grouping or None).values(
            [by_pair[pair]], metrics, ties="published"
        )
        values |= {
            (*key, metric): value for metric, value in zip(metrics, found, strict=True)
        }
    return values


def _of_figures(sets: Sequence[EvalSet], rows: pd.DataFrame) -> dict:
    """Map `_KEY` to our value, for correlations between two metrics."""
    names = list(
        dict.fromkeys(name for both in rows["metric"] for name in both.split(" / "))
    )
    pairs = set(rows["language_pair"])
    matrices = {
        es.language_pair: metric_correlations(es, names)
        for es in sets
        if es.language_pair in pairs
    }
    return {
        key: matrices[key[1]].loc[*key[-1].split(" / ")]
        for key in rows[_KEY].itertuples(index=False, name=None)
    }


def _of_ranking(sets: Sequence[EvalSet], protocol: str, metrics: list[str]) -> dict:
    """Map `_KEY` to our value, for a ranking."""
    result = rank(
        sets, protocol=protocol, metrics=metrics, ties="published", n_resamples=0
    )
    average = result.table.assign(
        language_pair="all",
        level="",
        statistic="score",
        grouping="",
        value=lambda t: t["score"],
    )
    values = {}
    for frame in (result.tasks.fillna({"grouping": ""}), average):
        for task, rows in frame.groupby(_KEY[1:-1], sort=False):
            rows = rows.sort_values(["value", "metric"], ascending=[False, True])
            for place, (metric, value) in enumerate(
                zip(rows["metric"], rows["value"], strict=True), start=1
            ):
                values["value", *task, metric], values["rank", *task, metric] = (
                    value,
                    place,
                )
    return values


def metric_correlations(es: EvalSet, metrics: Sequence[str]) -> pd.DataFrame:
    """Return the Pearson correlation of each two metrics, over all translations that both scored."""
    es = as_evalset(es)
    return pd.DataFrame({name: es[name].ravel() for name in metrics}).corr()
