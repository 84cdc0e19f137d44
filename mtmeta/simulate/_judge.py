"""The correct translations of a simulated source, and the distance of a text from them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd
from joblib import delayed
from rapidfuzz.distance import Levenshtein

from .._checks import check_jobs
from .._processes import parallel
from .._tables import check_table
from ..evalset import EvalSet
from ._sentences import Sentence, drawn
from ._wordings import Style, translate

#: Segments with more correct wordings than this are left unjudged.
LIMIT = 1000
_TOKEN = re.compile(r"\w+(?:['’.,-]\w+)*|[^\w\s]")


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


def _wordings(sentence: Sentence, limit: int) -> frozenset[str] | None:
    """Spell out a sentence in every way; return None if there are more than ``limit`` ways."""
    found, plan, tried = set(), [], 0
    while True:
        style = _Planned(plan)
        found.add(translate(sentence, style)[0])
        tried += 1
        plan = plan + [0] * (len(style.sizes) - len(plan))
        while plan and plan[-1] + 1 == style.sizes[len(plan) - 1]:
            plan.pop()
        if not plan:
            return frozenset(found)
        if tried == limit:
            return None
        plan[-1] += 1


def _sentences_of(es: EvalSet) -> dict[Any, Sentence]:
    """Return the sentence of each segment, drawn again from the seed."""
    if not isinstance(es, EvalSet):
        raise TypeError(f"`es` must be an EvalSet of `campaign` or `teaching`; found {type(es).__name__}.")
    truth = es.truth or {}
    if es.texts is None or not {"seed", "n_segments"} <= set(truth):
        raise ValueError(
            f"{es.name!r} is no simulated campaign with texts: nobody knows which translations of it are correct. "
            "Take one of `mtmeta.simulate.campaign` or `teaching`."
        )
    by_source = {s.source: s for s in drawn(int(truth["seed"]), int(truth["n_segments"]))[0]}
    found = {seg: by_source.get(text) for seg, text in zip(es.segments, es.texts.sources, strict=True)}
    unknown = [seg for seg, sentence in found.items() if sentence is None]
    if unknown:
        raise ValueError(
            f"{len(unknown)} source(s) of {es.name!r}, the first of segment {unknown[0]!r}, do not come from its seed "
            f"{truth['seed']}: they were changed, or made by another version."
        )
    return found


def _segment(sentences: dict[Any, Sentence], segment: Any) -> Sentence:
    if segment not in sentences:
        segment = getattr(segment, "item", lambda: segment)()  # a number of numpy is written like any other
        raise ValueError(f"unknown segment {segment!r}; found {len(sentences)}, such as {next(iter(sentences))!r}.")
    return sentences[segment]


def correct_wordings(es: EvalSet, segment: Any, *, limit: int = LIMIT) -> frozenset[str] | None:
    """Return every correct translation of a simulated source that the grammar knows.

    Parameters
    ----------
    es : EvalSet
        Made by `campaign` or `teaching`, with texts.
    segment : int or str
        One of ``es.segments``.
    limit : int
        Give up if the grammar's choices combine in more ways than this; two ways may read the same.

    Returns
    -------
    frozenset of str or None
        None if there are more than ``limit``.

    Raises
    ------
    TypeError
        If ``es`` is no EvalSet.
    ValueError
        If ``es`` is not simulated or has no texts, or the segment is unknown.

    Examples
    --------
    >>> from mtmeta import simulate
    >>> es = simulate.teaching()
    >>> sorted(simulate.correct_wordings(es, 12))[-2:]
    ["The menu overall wasn't good.", 'The menu was not overall good.']
    """
    return _wordings(_segment(_sentences_of(es), segment), limit)


def _distances(wordings: frozenset[str], texts: Iterable[str]) -> dict[str, int]:
    """Return for each text the fewest tokens to insert, delete or replace to make it one of the wordings."""
    correct = [_TOKEN.findall(wording) for wording in wordings]
    tokens = {text: _TOKEN.findall(text) for text in texts}
    return {text: min(Levenshtein.distance(own, other) for other in correct) for text, own in tokens.items()}


def _judged(sentence: Sentence, pairs: Sequence[tuple[str, str]], limit: int) -> list[tuple[int, int] | None]:
    wordings = _wordings(sentence, limit)
    if wordings is None:
        return [None] * len(pairs)
    known = _distances(wordings, {text for pair in pairs for text in pair})
    return [(known[a], known[b]) for a, b in pairs]


def judge(es: EvalSet, table: pd.DataFrame, *, limit: int = LIMIT, n_jobs: int = 1) -> pd.DataFrame:
    r"""Say which perturbed translations of a simulated campaign are worse than their originals.

    The distance of a text is the smallest number of tokens to insert, delete or replace that makes it a
    correct wording of its source,

    .. math:: d(y) = \min_{w \in W} \mathrm{lev}(y, w),

    where :math:`W` are all correct wordings that the grammar knows (`correct_wordings`). Words and punctuation marks
    are tokens, and case counts. A perturbation degrades if :math:`d(y') > d(y)`.

    The grammar is a closed world: a synonym that it does not know counts as an error, even if a reader would accept it.
    All tokens weigh the same: a lost "not" is one error, and so is a lost comma.

    Parameters
    ----------
    es : EvalSet
        Made by `campaign` or `teaching`, with texts.
    table : DataFrame
        Columns ``segment``, ``translation`` and ``perturbed``, and others.
    limit : int
        Segments with more wordings than this are not judged.
    n_jobs : int
        Workers of joblib: 1 by default, -1 for all cores.

    Returns
    -------
    DataFrame
        The table with ``distance`` and ``distance_perturbed`` (tokens, lower is better), and ``degraded``
        (boolean). They are missing (``<NA>``) where a segment has more than ``limit`` wordings.

    Raises
    ------
    TypeError
        If ``es`` is no EvalSet or ``table`` no DataFrame.
    ValueError
        If ``es`` is not simulated or has no texts, a column is absent, or a segment unknown.

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
    sentences = _sentences_of(es)
    check_table(table, ["segment"], texts=["translation", "perturbed"], name="table")
    rows = table.reset_index(drop=True).groupby("segment", sort=False).indices
    pairs = list(table[["translation", "perturbed"]].itertuples(index=False, name=None))
    jobs = [(_segment(sentences, s), [pairs[i] for i in where], limit) for s, where in rows.items()]
    found = parallel(check_jobs(n_jobs), (delayed(_judged)(*job) for job in jobs))
    distances: list[tuple[int, int] | None] = [None] * len(table)
    for where, values in zip(rows.values(), found, strict=True):
        for i, value in zip(where, values, strict=True):
            distances[i] = value
    before, after = (pd.array([d and d[k] for d in distances], dtype="Int64") for k in (0, 1))
    return table.assign(distance=before, distance_perturbed=after, degraded=after > before)
