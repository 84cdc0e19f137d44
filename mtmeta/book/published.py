"""Numbers that were published, and the same numbers computed again."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from .._checks import check_choice
from ..agreement import metric_correlations
from ..evalset import EvalSet
from ..protocols import PROTOCOLS, Task, rank

__all__ = ["numbers", "recompute"]

_FOLDER = Path(__file__).parents[1] / "data" / "published"
_KEY = ["quantity", "language_pair", "level", "statistic", "grouping", "metric"]


def numbers() -> pd.DataFrame:
    """Return published numbers, as printed; all but those on local accuracy are about the WMT23 data.

    Returns
    -------
    pandas.DataFrame
        One row per number: ``source, language_pair, level, statistic, grouping, metric,
        quantity`` (``value``, ``rank``, ``dof``, ``ceiling`` or ``slope``) and ``printed``, a string that
        keeps the printed precision. Sources:

        - ``sentinels-tables5-10``: Perrella et al. 2024, tables 5 to 10 and the acc_eq and
          system-level Pearson published beside them, four decimals;
          ``sentinels-logs``: the authors' log files of the same numbers, seven decimals
        - ``sentinels-segment``, ``-segment-grouped``, ``-pearson``, ``-pearson-grouped``: their
          four published rankings (the first is tables 1 and 3)
        - ``sentinels-figures4-6``: their correlations between metrics; ``metric`` names two, ``"A / B"``
        - ``gemba-v2``: the WMT24 protocol on WMT23 data without human translations, published with GEMBA v2
        - ``wmt23``: the official ranking as given by Kocmi and Federmann 2023, table 1
        - ``aggregation-table1-mqm``, ``-table1-da``, ``-figures1-2``, ``-figure3``, ``-figure5``, ``-survey2``,
          ``-survey3``: Cavalin et al. 2024; ``m-`` is the mean of segment scores, ``x-`` that of a bootstrap. The
          surveys count papers: tables 2 (of 345) and 3 (of 341)
        - ``local-accuracy-table5``, ``-table6``, ``-table7``: Deviyani and Diaz 2025, chi-square of metrics of
          translations (between 62 systems), transcripts (73 speakers) and rankings (21 algorithms), on data of their
          own; ``quantity`` is ``value`` or ``dof``
        - ``differences-accuracy``, ``-curve``: Kocmi et al. 2024, accuracies in percent on the 249 pairs of systems of
          WMT23, and their curves from a difference to an accuracy: ``ceiling`` (percent) and ``slope`` (per point)

    Examples
    --------
    >>> import mtmeta as mm
    >>> mm.book.published.numbers().query("source == 'wmt23' and metric == 'BLEU'")["printed"].tolist()
    ['0.859', '0.696']
    """
    tables = [pd.read_csv(t, sep="\t", dtype=str, keep_default_na=False) for t in sorted(_FOLDER.glob("*.tsv"))]
    return pd.concat(tables, ignore_index=True)


def recompute(sets: Sequence[EvalSet], *, sources: Sequence[str] | None = None) -> pd.DataFrame:
    """Recompute published numbers and compare them at the printed precision.

    Parameters
    ----------
    sets : sequence of EvalSet
        The three WMT23 sets with the published sentinel metrics.
    sources : sequence of str, optional
        Which of the sources of `numbers`; by default all but those of aggregation, which are computed from texts
        (`mtmeta.aggregation`), those of local accuracy, whose data are not public, and those on differences
        (`mtmeta.differences`), which are about metrics that are not all in WMT23.

    Returns
    -------
    pandas.DataFrame
        The rows of `numbers` with ``ours`` (float), ``shown`` (``ours`` at the printed
        precision), ``difference`` (ours - printed) and ``agrees`` (``shown`` = ``printed``).
        A published rank is the place in the order by (-value, name), so equal values get
        different ranks; here it is computed in the same way.

    Raises
    ------
    ValueError
        If a source is unknown, or a metric is absent from the sets.
    """
    table = numbers()
    table = table[~table["source"].str.startswith(("aggregation-", "local-accuracy-", "differences-"))]
    known = list(dict.fromkeys(table["source"]))
    for source in sources or ():
        check_choice("sources", source, known)
    table = table[table["source"].isin(sources or known)].reset_index(drop=True)
    ours = {}
    for source, rows in table.groupby("source", sort=False):
        if source in PROTOCOLS:
            values = _of_ranking(sets, source, list(dict.fromkeys(rows["metric"])))
        else:
            values = _of_figures(sets, rows) if source == "sentinels-figures4-6" else _of_tables(sets, rows)
        ours |= {(source, *key): value for key, value in values.items()}
    table["ours"] = [ours[key] for key in table[["source", *_KEY]].itertuples(index=False, name=None)]
    decimals = table["printed"].str.partition(".")[2].str.len()
    table["shown"] = [f"{value:z.{places}f}" for value, places in zip(table["ours"], decimals, strict=True)]
    table["difference"] = table["ours"] - table["printed"].astype(float)
    table["agrees"] = table["shown"] == [f"{float(p):z.{d}f}" for p, d in zip(table["printed"], decimals, strict=True)]
    return table


def _of_tables(sets: Sequence[EvalSet], rows: pd.DataFrame) -> dict:
    """Map `_KEY` to our value, for tables of correlations."""
    by_pair = {es.language_pair: es for es in sets}
    values = {}
    for key, group in rows.groupby(_KEY[:-1], sort=False):
        _, pair, level, statistic, grouping = key
        metrics = group["metric"].tolist()
        found = Task(statistic, level, grouping or None).values([by_pair[pair]], metrics, ties="published")
        values |= {(*key, metric): value for metric, value in zip(metrics, found, strict=True)}
    return values


def _of_figures(sets: Sequence[EvalSet], rows: pd.DataFrame) -> dict:
    """Map `_KEY` to our value, for correlations between two metrics."""
    names = list(dict.fromkeys(name for both in rows["metric"] for name in both.split(" / ")))
    pairs = set(rows["language_pair"])
    matrices = {es.language_pair: metric_correlations(es, names) for es in sets if es.language_pair in pairs}
    return {key: matrices[key[1]].loc[*key[-1].split(" / ")] for key in rows[_KEY].itertuples(index=False, name=None)}


def _of_ranking(sets: Sequence[EvalSet], protocol: str, metrics: list[str]) -> dict:
    """Map `_KEY` to our value, for a ranking."""
    result = rank(sets, protocol=protocol, metrics=metrics, ties="published", n_resamples=0)
    average = result.table.assign(
        language_pair="all", level="", statistic="score", grouping="", value=lambda t: t["score"]
    )
    values = {}
    for frame in (result.tasks.fillna({"grouping": ""}), average):
        for task, rows in frame.groupby(_KEY[1:-1], sort=False):
            rows = rows.sort_values(["value", "metric"], ascending=[False, True])
            for place, (metric, value) in enumerate(zip(rows["metric"], rows["value"], strict=True), start=1):
                values["value", *task, metric], values["rank", *task, metric] = value, place
    return values
