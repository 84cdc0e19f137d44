"""References of chapter 9, on aggregation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from .. import scoring
from ._compare import complaints


def bug(outputs: np.ndarray, right: np.ndarray, tokenize: str | None) -> dict:
    texts, references = list(outputs[0][:20]), list(right[:20])
    metric = scoring.scorer("bleu", tokenize=tokenize, level="segment")

    def mean(pairs):
        return np.mean([metric.sentence_score(text, own).score for text, own in pairs])

    against_all = mean((text, references) for text in texts)
    aligned = (mean((t, [r]) for t, r in zip(texts, own, strict=True)) for own in (references, references[::-1]))
    return dict(zip(("order", "turned", "right", "right, turned"), (against_all, against_all, *aligned), strict=True))


def identity(matches: np.ndarray, lengths: np.ndarray) -> dict:
    r = matches / lengths
    found = {}
    for name, v in (("w", lengths), ("root", np.sqrt(lengths))):
        found["by w" if name == "w" else "by root of w"] = (v * r).sum() / v.sum()
        found[f"term of {name}"] = (v * r).sum() / v.sum() - r.mean()
    return found


def ranks(answer: object, counted: Mapping[str, Sequence[Any]]) -> Iterator[str]:
    if not isinstance(answer, Mapping):
        yield f"expected a dict with a, b, planted and not planted; found a {type(answer).__name__}"
        return
    shares = {}
    for kind, campaigns in counted.items():
        turned = []
        for statistics in campaigns:
            corpus, segment = statistics.corpus_scores(), statistics.segment_scores().mean(axis=1)
            i, j = np.triu_indices(len(corpus), 1)
            turned.append(np.mean((corpus[i] - corpus[j] > 0) ^ (segment[i] - segment[j] > 0)))
        shares[kind] = np.mean(turned)
    yield from _example(answer.get("a"), answer.get("b"))
    yield from complaints({key: answer[key] for key in shares if key in answer}, shares)


def _example(a: object, b: object) -> Iterator[str]:
    """Yield what is off with two systems that the two aggregations should put in opposite orders."""
    try:
        matches, lengths = np.swapaxes(np.asarray([a, b], dtype=float).reshape(2, 2, -1), 0, 1)
    except (TypeError, ValueError):
        yield "a, b: expected two lists each, matches and lengths, of as many sentences for both systems"
        return
    if (lengths <= 0).any() or (matches < 0).any() or (matches > lengths).any():
        yield "a, b: matches must lie between 0 and the lengths"
        return
    means, sums = (matches / lengths).mean(axis=1), matches.sum(axis=1) / lengths.sum(axis=1)
    if not (means[0] - means[1]) * (sums[0] - sums[1]) < 0:
        yield "a, b: both aggregations put them in the same order, or see a tie"


def guard(answer: object) -> Iterator[str]:
    texts = ["a", "b", "c"]
    allowed = {"one list of references": [["a", "b", "c"]], "two lists": [["a", "b", "c"], ["x", "y", "z"]]}
    refused = {"a transposed list": [["a"], ["b"], ["c"]], "a flat list": ["a", "b", "c"], "a short list": [["a", "b"]]}
    if not callable(answer):
        yield f"expected a function; found a {type(answer).__name__}"
        return
    for name, references in (allowed | refused).items():
        try:
            answer(texts, references)
            stopped = False
        except ValueError:
            stopped = True
        except Exception as error:
            yield f"{name}: expected a ValueError or nothing; it raises {type(error).__name__}"
            continue
        if stopped != (name in refused):
            yield f"{name} {'is stopped, but is right' if stopped else 'passes'}"


def own(parts: pd.DataFrame) -> dict:
    relative = parts - parts.mean()
    first = relative["gap"].idxmax()
    reason = relative.loc[first, ["order", "length", "curvature"]].astype(float).abs().idxmax()
    return {"gains most": first, "loses most": relative["gap"].idxmin(), "reason": reason}
