"""The statistics that a plan can ask for: their functions, options and tables."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd
from pydantic import Field, ValidationError, WrapValidator

from .. import aggregation, agreement, protocols, significance, sysdep, ties
from .._limits import MAX_COUNT
from ..evalset import EvalSet
from ._types import Several, count, grid, number, shown


def _epsilon(value: Any, handler: Callable) -> float | str:
    try:
        return value if value == "calibrate" else handler(value)
    except ValidationError:
        raise ValueError(f"expected a number of at least 0, or 'calibrate'; found {shown(value)}.") from None


_LEVEL = grid(number(gt=0, lt=1))
_SWITCH = grid(Annotated[bool, Field(strict=True)] | None)
#: What the value of an option must be; by its name, or by name and function where that differs from the others.
_OPTIONS: dict[str, Any] = {
    "alpha": _LEVEL,
    "average": grid(Literal["segment", "pair"]),
    "coefficient": grid(Literal[*agreement.COEFFICIENTS, "spa"]),
    "coefficient of calibrate_ties": grid(Literal["acc_eq", "tau_eq"]),
    "coefficient of correlate": grid(Literal[agreement.COEFFICIENTS]),
    "correction": grid(Literal["holm", "bh", "maxT", None]),
    "degenerate": grid(Literal["drop", "zero"]),
    "degenerate of correlate": grid(Literal["drop", "zero", "nan", "raise"]),
    "effective_order": _SWITCH,
    "epsilon": grid(Annotated[number(ge=0), WrapValidator(_epsilon)]),
    "grouping": grid(Literal[agreement.GROUPINGS]),
    "held_out": _LEVEL,
    "how": grid(Literal["corpus", "segment", "bootstrap"]),
    "interval": grid(Literal["jackknife", "bootstrap", None]),
    "level": _LEVEL,
    "method": grid(Literal[significance.METHODS]),
    "method of intervals": grid(Literal["bootstrap", "jackknife", None]),
    "method of rank": grid(Literal["exchange", "published"]),
    "metric": grid(Literal["bleu", "chrf", "chrf++", "ter"]),
    "min_stratum": grid(count(2, MAX_COUNT)),
    "n_resamples": grid(count(0, MAX_COUNT)),
    "n_segments": grid(count(1, MAX_COUNT) | None),
    "null": grid(Literal[tuple(sysdep.NULLS)]),
    "population": grid(Literal["paired", "full"]),
    "protocol": grid(Literal[tuple(protocols.PROTOCOLS)]),
    "sample_size": grid(count(1, MAX_COUNT) | None),
    "shares": grid(Several[number(ge=0, lt=1)], of_lists=True),
    "ties": grid(Literal["half", "published"]),
    "unit": grid(Literal["segment", "block", "document", "system", "both", None]),
    "unit of compare_with_null": grid(Literal["segment", "document", "cell"]),
    "unit of system_dependence": grid(Literal["segment", "document", "cell"]),
}
#: Parameters that are no options: seeds and metrics are the plan's; the others do not fit many sets, or no table.
_NO_OPTIONS = {"metrics", "rng", "keep_draws", "references", "tokenize", "n_jobs"}


@dataclass(frozen=True)
class Statistic:
    """One statistic.

    Attributes
    ----------
    function : callable
        The public function that computes it.
    metrics : str
        "one": a task per metric; "all": the function takes a list; "system": a list of metrics that may have only
        system scores; "none": the function looks at human scores or at texts.
    table : callable
        Makes a table of the function's result: by default the result itself, or its attribute ``table``.
    texts : bool
        Whether it reads texts rather than scores.
    """

    function: Callable[..., Any]
    metrics: str = "all"
    table: Callable[[Any], pd.DataFrame] = lambda result: getattr(result, "table", result)
    texts: bool = False

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """The parameters of the function, apart from the set."""
        return tuple(inspect.signature(self.function).parameters)[1:]

    @property
    def options(self) -> dict[str, Any]:
        """The options that a plan may set, and the type of each value."""
        names = [n for n in self.parameters if n not in _NO_OPTIONS and not (n == "metric" and self.metrics == "one")]
        return {n: _OPTIONS.get(f"{n} of {self.function.__name__}") or _OPTIONS[n] for n in names}

    def draws(self, options: Mapping[str, Any]) -> bool:
        """Tell whether there is a task for each seed, because these options do not rule out that it draws."""
        if self.texts:
            return "bootstrap" in options.values()
        exact = options.get("n_resamples") == 0 or {"williams", "jackknife"} & {*options.values()}
        return "rng" in self.parameters and not exact

    def compute(self, es: EvalSet, metrics: Sequence[str] | None, options: Mapping, seed: int | None) -> pd.DataFrame:
        """Return the table of this statistic for one set; with a seed if it draws."""
        named = dict(options) if seed is None else {**options, "rng": seed}
        if self.metrics != "one":
            named |= {} if self.metrics == "none" else {"metrics": metrics and list(metrics)}
            return self.table(self.function(es, **named))
        frame = self.table(self.function(es, metrics[0], **named)).copy()
        frame.insert(0, "metric", metrics[0])
        return frame


def _row(*names: str) -> Callable[[Any], pd.DataFrame]:
    """Return what makes one row of these attributes of a result."""
    return lambda result: pd.DataFrame([{name: getattr(result, name) for name in names}])


def _null(result: sysdep.NullComparison) -> pd.DataFrame:
    frame = _row("sysdep", "sd", "p_value", "sd_p_value", "verdict")(result)
    return frame.assign(null_median=float(np.median(result.sysdep_draws)))


STATISTICS: dict[str, Statistic] = {
    "correlate": Statistic(agreement.correlate),
    "pairwise_accuracy": Statistic(agreement.pairwise_accuracy, "system"),
    "soft_pairwise_accuracy": Statistic(agreement.soft_pairwise_accuracy),
    "calibrate_ties": Statistic(ties.calibrate_ties, "one", _row("value", "epsilon")),
    "human_tie_share": Statistic(ties.human_tie_share, "none", lambda share: pd.DataFrame({"value": [share]})),
    "expected_accuracy": Statistic(ties.expected_accuracy),
    "tie_area": Statistic(ties.tie_area),
    "subsample_ties": Statistic(ties.subsample_ties),
    "held_out_calibration": Statistic(ties.held_out_calibration),
    "compare": Statistic(significance.compare),
    "compare_pairs": Statistic(significance.compare, table=lambda found: found.to_frame()),
    "intervals": Statistic(significance.intervals),
    "rank": Statistic(protocols.rank, "system"),
    "system_dependence": Statistic(sysdep.system_dependence, "one", _row("sysdep", "low", "high", "relative", "sd")),
    "expected_deviations": Statistic(
        sysdep.system_dependence, "one", lambda result: result.table.rename(columns={"metric": "score"})
    ),
    "compare_with_null": Statistic(sysdep.compare_with_null, "one", _null),
    "aggregate": Statistic(aggregation.aggregate, "none", texts=True),
}
