"""References of chapter 10, on one's own metric."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import permutations
from numbers import Number

import numpy as np
import pandas as pd

from ..agreement import correlate_groups
from ..evalset import EvalSet
from ..report import decide


def _inversions(order: tuple[int, ...]) -> int:
    return sum(a > b for i, a in enumerate(order) for b in order[i + 1 :])


def orders() -> dict:
    wrong = {k: np.array([_inversions(order) for order in permutations(range(k))]) for k in range(2, 6)}
    systems = next(k for k, w in wrong.items() if np.mean(w == 0) <= 0.05)
    return {"systems": systems, "wrong": max(w for w in range(11) if np.mean(wrong[5] <= w) <= 0.05)}


def hunt(answer: object) -> Iterator[str]:
    names = ("chosen", "elsewhere")
    if not isinstance(answer, Mapping) or not set(names) <= set(answer):
        yield "expected a dict with chosen and elsewhere"
        return
    shares = [answer[name] for name in names]
    if not all(isinstance(share, Number) and 0 <= share <= 1 for share in shares):
        yield "expected shares from 0 to 1; a percentage, or a count of campaigns?"
        return
    # Twenty chances of one in forty, and intervals on few segments that are a little short.
    if not 0.15 <= shares[0] <= 0.8:
        yield f"chosen: too {'low' if shares[0] < 0.5 else 'high'}; is it the best of the twenty on these segments?"
    if shares[1] > 0.2:
        yield "elsewhere: too high; are these the other segments?"


def name(answer: object, cheat: EvalSet) -> Iterator[str]:
    if isinstance(answer, str) or not isinstance(answer, Collection):
        yield "expected a list of names of metrics"
        return
    whole = cheat.documents if len(set(cheat.documents or ())) >= 20 else cheat.segments
    unit = dict(zip(cheat.segments, whole, strict=True))
    taus = {m: correlate_groups(cheat, m, coefficient="kendall").set_index("group")["value"] for m in cheat.metrics}
    low = {m: _lowest(tau - taus["names only"], unit) for m, tau in taus.items() if m != "names only"}
    # What lies near the threshold hangs on the draws.
    if missing := sum(end > 0.01 for m, end in low.items() if m not in answer):
        yield f"{missing} missing"
    if extra := [m for m in answer if not low.get(m, -1) > -0.01]:
        yield f"{len(extra)} too many: {', '.join(map(str, extra))}"


def _lowest(lead: pd.Series, unit: Mapping) -> float:
    """Return the lower end of the interval of a mean over segments when their units are redrawn."""
    by_unit = lead.groupby(lead.index.map(unit)).agg(["sum", "count"]).to_numpy()
    sums, sizes = by_unit[np.random.default_rng(0).integers(len(by_unit), size=(2000, len(by_unit)))].sum(axis=1).T
    return float(np.quantile(sums / np.maximum(sizes, 1), 0.025))


def margin() -> dict[str, str]:
    values = np.linspace(-0.3, 0.3, 13)
    found = {}
    for value in values:
        for low in values[values <= value]:
            for high in values[values >= value]:
                before, *_, after = (decide(value, low, high, 0.0, margin)[0] for margin in (0, 0.05, 0.1, 0.2))
                found |= {before: after} if after != before else {}
    return found
