"""References of chapter 9, on aggregation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from .. import scoring


def bug(outputs: np.ndarray, right: np.ndarray, tokenize: str | None) -> dict:
    texts, references = list(outputs[0][:20]), list(right[:20])
    metric = scoring.scorer("bleu", tokenize=tokenize, level="segment")

    def mean(pairs):
        return np.mean([metric.sentence_score(text, own).score for text, own in pairs])

    against_all = mean((text, references) for text in texts)
    aligned = (mean((t, [r]) for t, r in zip(texts, own, strict=True)) for own in (references, references[::-1]))
    return dict(zip(("order", "turned", "right", "right, turned"), (against_all, against_all, *aligned), strict=True))


def claims(tests: pd.DataFrame, told_apart: Mapping[str, int]) -> dict:
    (row,) = tests[(tests["metric"] == "bleu") & (tests["unit"] == "both")].to_dict("records")
    return {"a": row["low"] > 0, "b": row["high"] < 0.35, "c": told_apart["m-BLEU"] > told_apart["BLEU"]}


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
    reason = relative.loc[first, ["length", "curvature"]].astype(float).abs().idxmax()
    return {"gains most": first, "loses most": relative["gap"].idxmin(), "reason": reason}
