"""The needs of chapters, and the facts of a set that meet them."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from ..._checks import Undefined
from ...evalset import EvalSet, Texts
from ...rankings import Rankings

Data = EvalSet | pd.DataFrame | Rankings
_WORDS = tomllib.loads((Path(__file__).parents[2] / "data" / "needs.toml").read_text(encoding="utf-8"))
#: What a chapter may need in its metadata, and how it is called; notes in the pages of a run.
FACTS, NOTES = _WORDS["needs"], _WORDS["notes"]
#: What a set can be, and the parameter of a chapter that takes it.
PARAMETERS: dict[str, str] = {"translations": "campaign", "transcripts": "speech", "ranked lists": "ranking"}
_NEED = re.compile(r"(\w+)(?:>=(\d+))?")


def kind_of(data: Data) -> str:
    """Return what a set holds: a name in `PARAMETERS`."""
    if isinstance(data, Rankings):
        return "ranked lists"
    return "transcripts" if isinstance(data, pd.DataFrame) else "translations"


def facts(data: Data) -> dict[str, int]:
    """Count what chapters may need of the data.

    Parameters
    ----------
    data : EvalSet, DataFrame or Rankings
        The set, as `mtmeta.datasets.load_any` returns it: translations, transcripts or ranked lists.

    Returns
    -------
    dict of int
        By name, as in `FACTS`.

    Examples
    --------
    >>> import mtmeta as mm
    >>> es = mm.EvalSet([[0, -1, None], [-1, None, None]], {"m": [[1, 2, 3], [1, 2, 3]]}, systems=["A", "B"])
    >>> found = facts(es)
    >>> found["segments"], found["comparable_segments"], found["translations"]
    (3, 1, 0)
    """
    if isinstance(data, Rankings):
        found = {"systems": len(data.systems), "queries": len(data.queries)}
    else:
        found = _of_transcripts(data) if isinstance(data, pd.DataFrame) else _of_translations(data)
    return dict.fromkeys(FACTS, 0) | found


def _of_transcripts(heard: pd.DataFrame) -> dict[str, int]:
    whole = heard[heard[["reference", "transcript"]].notna().all(axis=1)]
    sizes = [whole[c].nunique() for c in ("system", "speaker", "quality") if c in whole]
    return {
        "systems": sizes[0],
        "segments": whole["segment"].nunique(),
        "transcripts": len(whole),
        "speech_contexts": sum(size > 1 for size in sizes),
    }


def _of_translations(es: EvalSet) -> dict[str, int]:
    rated = ~np.isnan(es.human)
    scored = np.logical_and.reduce([rated, *(~np.isnan(es[metric]) for metric in es.metrics)])
    texts = es.texts or Texts()
    return {
        "systems": es.shape[0],
        "segments": es.shape[1],
        "metrics": len(es.metrics),
        "rated_systems": int(rated.any(axis=1).sum()),
        "comparable_segments": int((rated.sum(axis=0) > 1).sum()),
        "complete_segments": int(rated.all(axis=0).sum()),
        "compared_segments": int((scored.sum(axis=0) > 1).sum()),
        "scored_segments": int(scored.all(axis=0).sum()),
        "distinct_scores": len(np.unique(es.human[rated])),
        "ratings": len(es.ratings) + ("raters" in (es.truth or {})),  # simulated raters rate again
        "documents": len(set(es.documents or ()) - {None}),
        "sources": sum(text is not None for text in texts.sources or ()),
        "references": max((sum(text is not None for text in own) for own in texts.references.values()), default=0),
        "translations": sum(text is not None for own in texts.translations.values() for text in own),
        "whole_segments": _n_whole(es),
    }


def _n_whole(es: EvalSet) -> int:
    try:
        return es.with_texts().shape[1]
    except Undefined:
        return 0


def unmet(needs: Sequence[str], found: Mapping[str, int]) -> list[str]:
    """Say which needs of a chapter a set does not meet.

    Parameters
    ----------
    needs : sequence of str
        Names in `FACTS`, each alone or with the least number, such as ``"metrics>=2"``.
    found : mapping
        What `facts` returns for the set.

    Returns
    -------
    list of str
        One phrase for each need that is not met; empty if the chapter can run.

    Examples
    --------
    >>> unmet(["metrics>=2", "sources"], {"metrics": 1, "sources": 20})
    ['2 metrics with segment scores (there is 1)']
    """
    reasons = []
    for need in needs:
        match = _NEED.fullmatch(need)
        name, least = match[1], int(match[2] or 1)
        if (count := found[name]) < least:
            asked = FACTS[name] if match[2] is None else f"{least} {FACTS[name]}"
            reasons.append(f"{asked} (there {'is' if count == 1 else 'are'} {count or 'none'})")
    return reasons
