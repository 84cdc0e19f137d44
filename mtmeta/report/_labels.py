"""Names of the sections and numbers of a report: keys for programs, the words of _page.toml for readers."""

from __future__ import annotations

import tomllib
from pathlib import Path

COEFFICIENTS = {"pearson": "Pearson", "kendall": "Kendall", "acc_eq": "acc_eq"}
GROUPINGS = {"none": "no grouping", "segment": "segment grouping", "system": "system grouping"}

_PAGE = tomllib.loads(Path(__file__).with_name("_page.toml").read_text(encoding="utf-8"))
#: Title, chapter, caption and text of each section.
HEADS = _PAGE["sections"]
#: What of a report is the same when it is made again.
AGAIN = _PAGE["page"]["again"]
#: What is claimed, by what decides.
CLAIMS = _PAGE["claims"]
#: Pieces of the page.
HTML = _PAGE["html"]
#: Labels of numbers by key.
LABELS = {f"{c}.{g}": f"{name}, {how}" for c, name in COEFFICIENTS.items() for g, how in GROUPINGS.items()}
LABELS |= _PAGE["labels"]
for _key in ("pearson.none", "pearson.segment", "kendall.segment", "pairwise", "spa.short"):
    _places = {"rank": "rank", "best_rank": "best rank", "worst_rank": "worst rank"}
    LABELS |= {f"{_key}.{place}": f"{LABELS[_key]}: {words}" for place, words in _places.items()}
    LABELS[f"{_key}.sets"] = f"sets of ranks by {LABELS[_key]}"


def label(key: str) -> str:
    """Return the label of a key. A name after "=" in the key is shown unchanged."""
    kind, _, name = key.partition("=")
    return LABELS[kind] + name
