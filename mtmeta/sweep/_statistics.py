"""The statistics that a plan can ask for: their functions, options and tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from .. import aggregation, agreement, protocols, significance, sysdep, ties
from .._limits import MAX_COUNT
from ..evalset import EvalSet
from ._values import Check, Choice, Count, Flag, Number, Several


def _never(_: Mapping[str, Any]) -> bool:
    return False


def _always(_: Mapping[str, Any]) -> bool:
    return True


def _frame(result: Any) -> pd.DataFrame:
    return result


@dataclass(frozen=True)
class Statistic:
    """One statistic.

    Attributes
    ----------
    function : callable
        The public function that computes it.
    options : mapping
        What a plan may set, and what each value must be.
    metrics : str
        "one": a task per metric; "all": the function takes a list; "system": so does this, of metrics that may have
        system scores alone; "none": it looks at human scores or at texts.
    draws : callable
        Says whether it draws with these options: then there is a task per seed.
    texts : bool
        Whether it reads texts, and not scores.
    table : callable
        Makes a table of what the function returns.
    """

    function: Callable[..., Any]
    options: Mapping[str, Check] = field(default_factory=dict)
    metrics: str = "all"
    draws: Callable[[Mapping[str, Any]], bool] = _never
    texts: bool = False
    table: Callable[[Any], pd.DataFrame] = _frame

    def compute(
        self, es: EvalSet, metrics: tuple[str, ...] | None, options: Mapping[str, Any], seed: int | None
    ) -> pd.DataFrame:
        """Return the table of this statistic for one set; with a seed where it draws."""
        named = dict(options) if seed is None else {**options, "rng": seed}
        if self.metrics == "none":
            return self.table(self.function(es, **named))
        if self.metrics == "one" and metrics:
            frame = self.table(self.function(es, metrics[0], **named)).copy()
            frame.insert(0, "metric", metrics[0])
            return frame
        return self.table(self.function(es, metrics=None if metrics is None else list(metrics), **named))


def _row(*names: str) -> Callable[[Any], pd.DataFrame]:
    """Return what makes one row of these attributes of a result."""
    return lambda result: pd.DataFrame([{name: getattr(result, name) for name in names}])


def _table(result: Any) -> pd.DataFrame:
    return result.table


def _pairs(result: significance.Comparison) -> pd.DataFrame:
    return result.to_frame()


def _share(share: float) -> pd.DataFrame:
    return pd.DataFrame({"value": [share]})


def _null(result: sysdep.NullComparison) -> pd.DataFrame:
    frame = _row("sysdep", "sd", "p_value", "sd_p_value", "verdict")(result)
    return frame.assign(null_median=float(np.median(result.sysdep_draws)))


def _comparison_draws(options: Mapping[str, Any]) -> bool:
    method = options.get("method")
    if method is None:  # the default of these two is exact
        return options.get("coefficient") not in ("acc_eq", "tau_eq")
    return method not in ("exact", "williams")


def _aggregation_draws(options: Mapping[str, Any]) -> bool:
    return "bootstrap" in (options.get("how"), options.get("interval"))


_GROUPING = Choice(agreement.GROUPINGS)
_DRAWS, _LEVEL = Count(1, MAX_COUNT), Number(0, 1)
_P_VALUE = Choice(("plus_one", "published"))
_AVERAGE = Choice(("segment", "pair"))
_SHARES = Several(Number(0, 1, closed="left"))
_AGREEMENT: dict[str, Check] = {
    "coefficient": Choice((*agreement.COEFFICIENTS, "spa")),
    "grouping": _GROUPING,
    "n_resamples": _DRAWS,
    "unit": Choice(("segment", "system", "both", "document")),
    "degenerate": Choice(("drop", "zero")),
}
_COMPARE: dict[str, Check] = {
    **_AGREEMENT,
    "method": Choice((*significance.METHODS, None)),
    "p_value": _P_VALUE,
    "correction": Choice(("holm", "bh", None)),
    "alpha": _LEVEL,
    "pairs": Choice(("all", "clusters")),
}
_SYSDEP: dict[str, Check] = {
    "n_resamples": Count(0, MAX_COUNT),
    "population": Choice(("paired", "full")),
    "unit": Choice(("segment", "cell")),
    "level": _LEVEL,
}


def _sysdep_draws(options: Mapping[str, Any]) -> bool:
    return options.get("n_resamples") != 0


STATISTICS: dict[str, Statistic] = {
    "correlate": Statistic(
        agreement.correlate,
        {
            "coefficient": Choice(agreement.COEFFICIENTS),
            "grouping": _GROUPING,
            "degenerate": Choice(("drop", "zero", "nan", "raise")),
            "epsilon": Number(0, np.inf, closed="left", other=("calibrate",)),
        },
    ),
    "pairwise_accuracy": Statistic(agreement.pairwise_accuracy, metrics="system"),
    "soft_pairwise_accuracy": Statistic(
        agreement.soft_pairwise_accuracy,
        {"n_resamples": _DRAWS, "ties": Choice(("half", "published"))},
        draws=_always,
    ),
    "calibrate_ties": Statistic(
        ties.calibrate_ties,
        {"grouping": _GROUPING, "coefficient": Choice(("acc_eq", "tau_eq"))},
        metrics="one",
        table=_row("value", "epsilon"),
    ),
    "human_tie_share": Statistic(ties.human_tie_share, {"grouping": _GROUPING}, metrics="none", table=_share),
    "expected_accuracy": Statistic(
        ties.expected_accuracy, {"grouping": _GROUPING, "human_ties": Choice(("drop", "half"))}
    ),
    "tie_area": Statistic(ties.tie_area, {"grouping": _GROUPING, "scale": Choice(("score", "rank"))}),
    "subsample_ties": Statistic(
        ties.subsample_ties, {"shares": _SHARES, "n_resamples": Count(1, 10_000), "average": _AVERAGE}, draws=_always
    ),
    "held_out_calibration": Statistic(
        ties.held_out_calibration,
        {"held_out": _LEVEL, "shares": _SHARES, "n_resamples": Count(1, 10_000), "average": _AVERAGE},
        draws=_always,
    ),
    "chance_levels": Statistic(
        ties.chance_levels,
        {"n_resamples": Count(2, 10_000), "n_levels": Count(2, 10_000)},
        metrics="none",
        draws=_always,
    ),
    "compare": Statistic(significance.compare, _COMPARE, draws=_comparison_draws, table=_table),
    "compare_pairs": Statistic(significance.compare, _COMPARE, draws=_comparison_draws, table=_pairs),
    "intervals": Statistic(significance.intervals, {**_AGREEMENT, "level": _LEVEL}, draws=_always),
    "rank": Statistic(
        protocols.rank,
        {
            "protocol": Choice(tuple(protocols.PROTOCOLS)),
            "ties": Choice(("half", "published")),
            "n_resamples": Count(0, MAX_COUNT),
            "p_value": _P_VALUE,
            "alpha": _LEVEL,
        },
        metrics="system",
        draws=lambda options: options.get("n_resamples") != 0,
        table=_table,
    ),
    "system_dependence": Statistic(
        sysdep.system_dependence,
        _SYSDEP,
        metrics="one",
        draws=_sysdep_draws,
        table=_row("sysdep", "low", "high", "relative", "sd"),
    ),
    "expected_deviations": Statistic(
        sysdep.system_dependence,
        _SYSDEP,
        metrics="one",
        draws=_sysdep_draws,
        table=lambda result: result.table.rename(columns={"metric": "score"}),
    ),
    "compare_with_null": Statistic(
        sysdep.compare_with_null,
        {
            "null": Choice(tuple(sysdep.NULLS)),
            "n_resamples": _DRAWS,
            "min_stratum": Count(2, MAX_COUNT),
            "level": _LEVEL,
        },
        metrics="one",
        draws=_always,
        table=_null,
    ),
    "aggregate": Statistic(
        aggregation.aggregate,
        {
            "metric": Choice(("bleu", "chrf", "chrf++", "ter")),
            "how": Choice(("corpus", "segment", "bootstrap")),
            "lowercase": Flag(other=(None,)),
            "effective_order": Flag(other=(None,)),
            "interval": Choice(("jackknife", "bootstrap", None)),
            "n_resamples": Count(2, MAX_COUNT),
            "sample_size": Count(1, MAX_COUNT, other=(None,)),
            "level": _LEVEL,
        },
        metrics="none",
        draws=_aggregation_draws,
        texts=True,
        table=_table,
    ),
}
