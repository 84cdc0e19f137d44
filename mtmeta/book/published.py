"""Numbers that were published."""

from pathlib import Path

import pandas as pd

__all__ = ["numbers"]

_FOLDER = Path(__file__).parents[1] / "data" / "published"


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
        - ``wmt23``: the preliminary ranking of WMT23, as given by Kocmi and Federmann 2023, table 1
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
