"""Texts of the WMT23 general translation task: all 14 pairs, of which 8 have human scores of whole systems."""

from __future__ import annotations

import re
import tarfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from mtmeta import EvalSet
from mtmeta.datasets import locate
from mtmeta.evalset import Texts

_FOLDER = "wmt23-news-systems"
_MEMBER = re.compile(
    r"txt/(sources|references|system-outputs)/generaltest2023\.([a-z]{2}-[a-z]{2})\.(src|ref|hyp)\.([\w-]+\.)?[a-z]{2}"
)
_LANGUAGES = {
    "ces": "cs",
    "deu": "de",
    "eng": "en",
    "jpn": "ja",
    "ukr": "uk",
    "zho": "zh",
}
#: Names in the results, and of the same system in the archive. The scores of LanguageX are those of ZengHuiMT in
#: the metrics task; GTCOM is the only name left on either side.
_ALIASES = {"LanguageX": "ZengHuiMT", "GTCOM_DLUT": "GTCOM_Peter"}
_RESULT = re.compile(r"-?[\d.]+ \('(.+)', (\d+), [-\d.]+, ([-\d.]+), [-\d.]+\)")


def load_news(language_pairs: Sequence[str] | None = None) -> list[EvalSet]:
    """Load texts and system-level scores of the WMT23 general translation task.

    Parameters
    ----------
    language_pairs : sequence of str, optional
        Such as ``["cs-uk"]``; all 14 by default. The archive is read in memory and not unpacked.

    Returns
    -------
    list of EvalSet
        In the order asked for, by default alphabetical. No single translation has a human score (``es.human`` is NaN).
        ``es.system_scores`` has ``human`` (average of DA+SQM, 0 to 100, NaN where not rated), ``n_ratings``, and the
        official corpus scores against refA, ``bleu`` and ``chrf``. Human translators are left out.

    Raises
    ------
    ValueError
        If the data are not on this computer, or a pair does not exist.

    Notes
    -----
    Two systems have other names in the results than in the archive: LanguageX is ZengHuiMT (both have the same
    averages where the metrics task has them), GTCOM_DLUT is GTCOM_Peter (no other name is left). The rated
    reference is left out.

    References
    ----------
    Kocmi et al. 2023, Findings of the 2023 Conference on Machine Translation (WMT23).
    """
    root = locate(_FOLDER)
    texts = _read_archive(root / "txt.tar.xz", language_pairs)
    human = _read_results(root / "scores" / "WMT23.results.txt")
    automatic = _read_automatic(root / "scores" / "automatic-scores.tsv")
    wanted = sorted(texts) if language_pairs is None else language_pairs
    return [
        _news_set(pair, texts[pair], human.get(pair, {}), automatic, root)
        for pair in wanted
    ]


def _read_archive(path: Path, wanted: Sequence[str] | None) -> dict[str, dict]:
    """Return texts by pair, then by kind and name."""
    found: dict[str, dict] = defaultdict(
        lambda: {"sources": {}, "references": {}, "system-outputs": {}}
    )
    with tarfile.open(path, mode="r:xz") as archive:
        for member in archive:
            if match := _MEMBER.fullmatch(member.name) if member.isreg() else None:
                kind, pair, _, name = match.groups()
                text = archive.extractfile(member).read().decode("utf-8")
                found[pair][kind][(name or "").rstrip(".")] = tuple(
                    text.removesuffix("\n").split("\n")
                )
    for pair in wanted or ():
        if pair not in found:
            raise ValueError(
                f"there is no language pair {pair!r}; expected one of {', '.join(sorted(found))}."
            )
    return found


def _read_results(path: Path) -> dict[str, dict[str, tuple[float, int]]]:
    """Return mean and number of ratings by pair and system."""
    found: dict[str, dict] = {}
    pair = None
    for line in path.read_text(encoding="utf-8").splitlines():
        if head := re.fullmatch(r"\[(\w{3})-->(\w{3})\]", line):
            pair = "-".join(_LANGUAGES.get(code, code) for code in head.groups())
        elif row := _RESULT.fullmatch(line):
            system, n, mean = row.groups()
            found.setdefault(pair, {})[_ALIASES.get(system, system)] = (
                float(mean),
                int(n),
            )
    return found


def _read_automatic(path: Path) -> pd.DataFrame:
    """Return the official corpus scores against refA: index pair and system."""
    table = pd.read_csv(path, sep="\t", converters={"score": float})
    table = table[table["metric"].isin(["bleu-refA", "chrf-refA"])]
    table = table.pivot(index=["pair", "system"], columns="metric", values="score")
    return table.rename(columns=lambda name: name.removesuffix("-refA"))


def _news_set(
    pair: str, texts: dict, human: dict, automatic: pd.DataFrame, root: Path
) -> EvalSet:
    source = next(iter(texts["sources"].values()), ())
    systems = tuple(sorted(texts["system-outputs"]))
    rated = [human.get(s, (np.nan, 0)) for s in systems]
    scores = pd.DataFrame(
        rated, columns=["human", "n_ratings"], index=pd.Index(systems, name="system")
    )
    scores = scores.join(automatic.xs(pair, level="pair"))
    left_out = {
        name: "rated, but no text of a system" for name in human if name not in systems
    }
    return EvalSet(
        np.full((len(systems), len(source)), np.nan),
        {},
        systems=systems,
        name=f"wmt23-news/{pair}",
        texts=Texts(
            source, dict(sorted(texts["references"].items())), texts["system-outputs"]
        ),
        about={
            "language_pair": pair,
            "system_scores": scores,
            "provenance": {
                "source": str(root),
                "annotation": "da-sqm",
                "reference": "refA",
                "left_out": left_out,
            },
        },
        unrated="keep",
    )
