"""The correct translations of a simulated source, and the distance of a text from them."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from .._names import positions
from .._tables import check_table
from ..evalset import EvalSet, as_evalset
from ._sentences import Sentence, drawn
from ._wordings import Style, translate


class _Planned(Style):
    """Makes the choices of a plan, and the first one once the plan has ended; notes how many options there were."""

    def __init__(self, plan: Sequence[int]) -> None:
        self.plan, self.sizes = plan, []

    def pick(self, n: int) -> int:
        """Return the planned one of ``n`` options."""
        place = len(self.sizes)
        self.sizes.append(n)
        return self.plan[place] if place < len(self.plan) else 0

    def chance(self, probability: float) -> bool:
        """Return the planned answer."""
        return self.pick(2) == 1


def wordings_of(sentence: Sentence, limit: int) -> frozenset[str] | None:
    """Spell out a sentence in every correct way; return None if there are more than ``limit`` ways."""
    found, plan = set(), []
    for _ in range(limit):
        style = _Planned(plan)
        found.add(translate(sentence, style))
        plan = plan + [0] * (len(style.sizes) - len(plan))
        while plan and plan[-1] + 1 == style.sizes[len(plan) - 1]:
            plan.pop()
        if not plan:
            return frozenset(found)
        plan[-1] += 1
    return None


def _sentences_of(es: EvalSet) -> dict[Any, Sentence]:
    """Return the sentence of each segment, drawn again from the seed."""
    truth, sources = es.truth or {}, es.texts.sources if es.texts else [None]
    simulated = {"seed", "n_segments"} <= set(truth)
    by_source = {s.source: s for s in drawn(truth["seed"], truth["n_segments"])[0]} if simulated else {}
    if not simulated or not set(sources) <= set(by_source):
        raise ValueError(
            f"{es.name!r} is not a simulated campaign with its own texts, so the correct translations are not known. "
            "Take one of `mtmeta.simulate.campaign` or `teaching`."
        )
    return {segment: by_source[source] for segment, source in zip(es.segments, sources, strict=True)}


def tokens(text: str) -> list[str]:
    """Return the words and punctuation marks of a text."""
    return re.findall(r"\w+(?:['’.,-]\w+)*|[^\w\s]", text)


def distance(text: str, wordings: Iterable[Sequence[str]]) -> int:
    """Return the fewest tokens to insert, delete or replace to make a text one of the wordings, which are tokenised."""
    from rapidfuzz.distance import Levenshtein  # comes with jiwer

    own = tokens(text)
    return min(Levenshtein.distance(own, other) for other in wordings)


def judge(es: EvalSet, table: pd.DataFrame, *, limit: int = 1000) -> pd.DataFrame:
    r"""Decide which perturbed translations of a simulated campaign are worse than their originals.

    The distance of a text is the smallest number of tokens to insert, delete or replace that makes it a
    correct wording of its source,

    .. math:: d(y) = \min_{w \in W} \mathrm{lev}(y, w),

    where :math:`W` are all correct wordings that the grammar knows. Words and punctuation marks
    are tokens, and case counts. A perturbation degrades if :math:`d(y') > d(y)`.

    The grammar is a closed world: a synonym that it does not know counts as an error, even if a reader would accept it.
    All tokens weigh the same: a lost "not" is one error, and so is a lost comma. Needs ``pip install 'mtmeta[local]'``.

    Parameters
    ----------
    es : EvalSet
        Made by `campaign` or `teaching`, with texts.
    table : DataFrame
        Columns ``segment``, ``translation`` and ``perturbed``, and others.
    limit : int
        Segments with more wordings than this are not judged.

    Returns
    -------
    DataFrame
        The table with ``distance`` and ``distance_perturbed`` (tokens, lower is better), and ``degraded``
        (boolean). They are missing (``<NA>``) where a segment has more than ``limit`` wordings.

    Raises
    ------
    TypeError
        If ``es`` is not an EvalSet, or ``table`` not a DataFrame.
    ValueError
        If ``es`` is not simulated or has no texts, a column is absent, or a segment unknown.

    See Also
    --------
    campaign : what it judges.

    Examples
    --------
    >>> import pandas as pd
    >>> from mtmeta import simulate
    >>> es = simulate.teaching()
    >>> good = "All in all, the menu was not good."
    >>> perturbed = ["All in all, the menu was good.", "Overall, the menu was not good."]
    >>> table = pd.DataFrame({"segment": 12, "translation": good, "perturbed": perturbed})
    >>> simulate.judge(es, table)[["distance", "distance_perturbed", "degraded"]]
       distance  distance_perturbed  degraded
    0         0                   1      True
    1         0                   0     False
    """
    sentences, columns = _sentences_of(as_evalset(es, unrated=True)), ["translation", "perturbed"]
    check_table(table, ["segment"], texts=columns, name="table")
    positions("segment", table["segment"].unique(), list(sentences))
    found = ((segment, wordings_of(sentences[segment], limit)) for segment in table["segment"].unique())
    wordings = {segment: list(map(tokens, known or ())) for segment, known in found}
    cells = [list(zip(table["segment"], table[column], strict=True)) for column in columns]
    known = {(s, text): distance(text, wordings[s]) if wordings[s] else None for s, text in {*cells[0], *cells[1]}}
    before, after = (pd.array([known[cell] for cell in column], dtype="Int64") for column in cells)
    return table.assign(distance=before, distance_perturbed=after, degraded=after > before)
