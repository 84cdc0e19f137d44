"""References of chapter 3, on system dependence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from .. import sysdep
from ..evalset import EvalSet
from ._chapter01 import judged_function
from ._compare import complaints


def rate(answer: object) -> Iterator[str]:
    yield from judged_function(answer, toy, [(0.0,), (0.05,), (0.1,), (0.2,), (0.35,), (0.5,)])


def toy(e: float, n: int = 200) -> float:
    """Return SysDep of the toy, from translations: A has nine perfect ones in ten, B one."""
    human, said = [], []
    for perfect in (round(0.9 * n), round(0.1 * n)):
        good = np.arange(n) < perfect
        wrong = np.concatenate([np.arange(k) < round(e * k) for k in (perfect, n - perfect)])
        human.append(np.where(good, 0.0, -10.0))
        said.append((good ^ wrong).astype(float))
    return sysdep.system_dependence(EvalSet(human, {"m": said}, systems=["A", "B"]), "m", n_resamples=0).sysdep


def claims() -> list[str]:
    return ["c"]


def drop(es: EvalSet, metric: str) -> pd.DataFrame:
    worst = es.systems[int(np.nanargmin(np.nanmean(es.human, axis=1)))]
    kept = es.select(systems=[s for s in es.systems if s != worst])
    results = [sysdep.system_dependence(part, metric, n_resamples=0) for part in (es, kept)]
    return pd.DataFrame(
        [[r.sysdep, r.relative] for r in results], index=["all", "without the worst"], columns=["sysdep", "relative"]
    )


def rater(answer: object) -> Iterator[str]:
    if not isinstance(answer, Mapping) or not isinstance(answer.get("favoured"), list | tuple | set):
        yield "expected a dict with direction, a word, and favoured, a list of systems"
        return
    yield from complaints({"direction": answer.get("direction")}, {"direction": "reverse"})
    # Regression to the mean: systems above it are favoured. The fourth of eight is too near it to tell.
    yield from (f"favoured, {said}" for said in complaints({*answer["favoured"]} - {"D"}, {"A", "B", "C"}))


def own(answer: object, es: EvalSet) -> Iterator[str]:
    standard = [(es[m] - np.nanmean(es[m])) / np.nanstd(es[m]) for m in es.metrics]
    mean = np.ma.masked_invalid(standard).mean(axis=0).filled(np.nan)  # nanmean warns where nobody has a score
    mine = sysdep.centre_segments(es.with_metrics({"mine": mean}))
    found = {}
    for level in (0.9, 0.95, 0.98):
        both = sysdep.deviations_both_ways(mine, "mine", level=level, rng=0)
        found[level] = set(both.loc[both["verdict"] != "undecided", "system"])
    expected = sorted(found[0.95])
    if isinstance(answer, list | tuple | set):  # a system near the limit may be on either side of it
        expected = sorted((set(map(str, answer)) & found[0.9]) | found[0.98])
    yield from complaints(answer, expected)
