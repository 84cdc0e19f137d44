"""Scores that look as if a file was damaged: repeated, shifted, copied, or far from all others."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from .._names import counted
from .._systems import means
from ..evalset import EvalSet

#: Blocks that recur by chance are expected so often in the scores of a metric, or less.
_BY_CHANCE = 1e-6
#: Shorter blocks are not looked at.
_SHORTEST = 8
#: A score is far from the others if the gap between them is so many times as wide as the range of the others.
_FAR = 2
#: Human scores no lower than minus the weight of one MQM error are not failures, however few values there are.
_WORST_ERROR = -25
#: A system is on another scale if its scores spread so many times as much as those of the others, or as little.
_SCALE = 10
#: Fewer scores are not looked at.
_ENOUGH = 30
#: Failures, and translations that are the source, are at most or more than this share.
_RARE = 0.05
#: Equal translations are scored differently if their scores are so far apart, as a share of those of other pairs.
_ALIKE = 0.8
#: Scores of failures lie so far below the others, as a share of the range of these.
_GAP = 0.25
#: A correlation after a shift counts if it exceeds that before it, and 0, by so many standard errors of a zero one.
_ERRORS = 4
#: So many processes may have shared the work.
_PROCESSES = (2, 3, 4, 8)
#: Fewer changes from segment to segment do not show that scores were sorted.
_STEPS = 10


def oddities(es: EvalSet) -> Iterator[tuple[Any, str]]:
    """Yield what is odd about the scores of each metric, and of humans: its name, and what was found."""
    human = np.array(es.human)
    for name, scores in [("human", human), *((metric, np.asarray(es[metric])) for metric in es.metrics)]:
        known = scores[~np.isnan(scores)]
        if len(known) < _ENOUGH or known.min() == known.max():
            continue
        one_error = name == "human" and known.max() <= 0 and known.min() >= _WORST_ERROR
        found = [
            *(() if one_error else _far(known) or (_failures(known) if name != "human" else ())),
            *_other_scales(es, scores),
            *_copies(es, scores),
            *_repeats(es, scores, known),
            *_sorted(es, scores),
            *(_unequal(es, scores) if name != "human" else ()),
        ]
        for i, system in enumerate(es.systems if len(scores) > 2 else ()):
            others = means(np.delete(scores, i, axis=0), 0)
            notes = _out_of_step(scores[i], others, "the other systems")
            found += [f"system {system!r}: {note}" for note in notes]
        if name != "human":
            sides = means(scores, 0), means(human, 0), "the human scores"
            found += _out_of_step(*sides)
        yield from ((name, note) for note in found)
    yield from _untranslated(es)


def _far(known: np.ndarray) -> list[str]:
    """Return the few scores that lie far from the others, such as -999 for a failure."""
    values, found = np.unique(known), []
    below, above = values[:-1] - values[0], values[-1] - values[1:]
    for k in np.flatnonzero(np.diff(values) > _FAR * np.maximum(below, above)):
        few = known <= values[k]
        few = few if few.sum() < len(known) / 2 else ~few
        if len(np.unique(known[~few])) > 1:
            where, others = (
                " to ".join(dict.fromkeys(f"{v:.4g}" for v in (s.min(), s.max()))) for s in (known[few], known[~few])
            )
            found.append(f"has {counted(int(few.sum()), 'score')} ({where}) far from all others ({others}): a failure?")
    return found


def _failures(known: np.ndarray) -> Iterator[str]:
    """Yield a lowest score of exactly -1 or 0 that a few translations share, a gap below the others."""
    values, counts = np.unique(known, return_counts=True)
    if len(values) < 3 or values[0] not in (-1, 0) or not 3 <= counts[0] <= _RARE * len(known):
        return
    if (values[0] == -1 and values[1] >= 0) or values[1] - values[0] > _GAP * (values[-1] - values[1]):
        yield f"has {counts[0]} scores of {values[0]:g}, the others are {values[1]:.4g} or more: failures of a judge?"


def _other_scales(es: EvalSet, scores: np.ndarray) -> Iterator[str]:
    """Yield the systems whose scores spread far more or less than those of the others; none if most are constant."""
    rows = {s: row[~np.isnan(row)] for s, row in zip(es.systems, scores, strict=True)}
    spread = {s: float(np.std(row)) for s, row in rows.items() if len(row) >= _ENOUGH}
    usual = float(np.median([*spread.values()])) if len(spread) > 2 else 0.0
    for system, own in spread.items() if usual else ():
        if not usual / _SCALE <= own <= usual * _SCALE:
            yield f"system {system!r}: standard deviation {own:.3g}, usually {usual:.3g}: another scale?"


def _copies(es: EvalSet, scores: np.ndarray) -> Iterator[str]:
    """Yield the systems with all scores of an earlier one but other translations; none if no system differs."""
    first: dict[bytes, int] = {}
    same = [(i, first.setdefault(row.tobytes(), i)) for i, row in enumerate(scores) if not np.isnan(row).all()]
    texts = es.texts.translations if es.texts is not None else {}
    for i, other in same if len(first) > 1 else ():
        one, two = es.systems[i], es.systems[other]
        if i != other and not (one in texts and two in texts and texts[one] == texts[two]):
            yield f"systems {two!r} and {one!r} have the same scores: was one scored twice?"


def _repeats(es: EvalSet, scores: np.ndarray, known: np.ndarray) -> Iterator[str]:
    """Yield the systems in which a block of scores recurs that is too long for chance, a constant one included."""
    share = np.unique(known, return_counts=True)[1].max() / len(known)
    length = max(_SHORTEST, math.ceil(math.log(len(known) ** 2 / _BY_CHANCE) / -math.log(share)))
    for system, row in zip(es.systems, scores, strict=True):
        seen: dict[bytes, int] = {}
        whole = ~sliding_window_view(np.isnan(row), min(length, len(row))).any(axis=1)
        starts = np.flatnonzero(whole).tolist() if length <= len(row) else []
        again = [(seen.setdefault(row[k : k + length].tobytes(), k), k) for k in starts]
        again = [(first, k) for first, k in again if first != k]
        if again:
            first, k = again[0]
            where = f"from segment {es.segments[k]!r} repeat those from segment {es.segments[first]!r}"
            yield f"system {system!r}: {length - 1 + len(again)} scores {where}: written twice, or filled in?"


def _sorted(es: EvalSet, scores: np.ndarray) -> Iterator[str]:
    """Yield the systems whose scores only rise or only fall from segment to segment."""
    for system, row in zip(es.systems, scores, strict=True):
        steps = np.diff(row[~np.isnan(row)])
        if np.count_nonzero(steps) >= _STEPS and (steps.min() >= 0 or steps.max() <= 0):
            yield f"system {system!r}: its scores are in ascending or descending order: were they sorted?"


def _unequal(es: EvalSet, scores: np.ndarray) -> Iterator[str]:
    """Yield the systems whose equal translations are scored as differently as others; none if most systems' are."""
    from scipy.stats import rankdata  # loading need not wait for it

    texts = es.texts.translations if es.texts is not None else {}
    own = np.array([texts.get(s, (None,) * es.shape[1]) for s in es.systems], dtype=object)
    shares, ranks = {}, rankdata(scores, nan_policy="omit").reshape(scores.shape)  # an outlier counts little
    for k, system in enumerate(es.systems):
        gaps, equal = np.abs(ranks - ranks[k]), (own == own[k]) & (own != None)  # noqa: E711
        equal[k], gaps[k] = False, np.nan
        known = ~np.isnan(gaps)
        if (equal & known).sum() >= _ENOUGH and (known & ~equal).sum() >= _ENOUGH:
            shares[system] = gaps[equal & known].mean() / max(gaps[known & ~equal].mean(), 1e-300)
    usual = np.median([*shares.values()]) if len(shares) > 2 else np.inf
    for system, share in shares.items():
        if share > _ALIKE > 2 * usual:
            same = f"scores of equal translations differ {share:.0%} as much as others"
            yield f"system {system!r}: {same}: are its rows in order?"


def _untranslated(es: EvalSet) -> Iterator[tuple[Any, str]]:
    """Yield the systems of which many translations are the source."""
    texts = es.texts
    for system, own in texts.translations.items() if texts is not None and texts.sources is not None else ():
        same = sum(a is not None and a == b for a, b in zip(texts.sources, own, strict=True))
        if same >= 3 and same > _RARE * len(own):
            yield system, f"{same} of {len(own)} translations are the source: not translated?"


def _out_of_step(row: np.ndarray, others: np.ndarray, whom: str) -> Iterator[str]:
    """Yield how a row must be reordered to follow others, if it then follows them far better than as it is."""
    from .._pearson import pearson

    padded, now, found = np.append(row, np.nan), None, []
    for note, errors, order in _orders(len(row)):
        there = padded[order]
        both = ~(np.isnan(there) | np.isnan(others))
        if both.sum() < 2:
            return
        r = float(np.nan_to_num(pearson(there[both], others[both])))
        now = r if now is None else now
        if (r - max(0.0, now)) * math.sqrt(both.sum()) > errors:
            found.append((r, note))
    if found:
        r, note = max(found)
        yield f"follows {whom} if {note.format(f'correlation {r:.2f} instead of {now:.2f}')}"


def _orders(n: int) -> Iterator[tuple[str, int, np.ndarray]]:
    """Yield orders of n segments, that of the file first, with a note and a threshold; -1 and n stand for no score."""
    as_it_is = np.arange(n)
    yield "", 0, as_it_is
    for way, step in (("late", 1), ("early", -1)):
        note = f"moved by one segment ({{}}): do its scores come one segment too {way}?"
        yield note, _ERRORS, as_it_is + step
    for k in _PROCESSES:
        note = f"reordered as the output of {k} processes ({{}}): were files of several GPUs joined in the wrong order?"
        dealt = np.concatenate([as_it_is[start::k] for start in range(k)])
        yield from ((note, _ERRORS + 1, order) for order in (dealt, np.argsort(dealt)))
