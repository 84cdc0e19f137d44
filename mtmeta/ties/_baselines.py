"""The value that each coefficient gives to metrics that know nothing."""

from __future__ import annotations

import numpy as np
import pandas as pd

from .._checks import check_count, generator
from ..agreement import correlate
from ..evalset import EvalSet, as_evalset
from ._calibration import human_tie_share
from ._free import expected_accuracy, tie_area

__all__ = ["chance_levels"]

_TAUS = ("tau_a", "tau_b", "tau_c", "tau_10", "tau_13", "tau_14", "tau_eq", "acc_eq")
_KNOW_NOTHING = ("constant", "noise", "levels")


def chance_levels(
    es: EvalSet | pd.DataFrame, *, n_resamples: int = 20, n_levels: int = 3, rng: int | np.random.Generator | None = 0
) -> pd.DataFrame:
    r"""Compute every pair-counting coefficient, within segments, of metrics that know nothing.

    There are three kinds: a *constant*; *noise* that never ties; and noise with a few *levels*, which ties often, and
    at random. None has read a translation, so their values differ only by how the coefficient treats ties.

    Parameters
    ----------
    es : EvalSet or pandas.DataFrame
        Only its human scores are used.
    n_resamples : int
        How many random metrics of each kind are drawn, at least 2.
    n_levels : int
        Number of equally likely scores of the third kind, at least 2.
    rng : None, int or numpy.random.Generator

    Returns
    -------
    pandas.DataFrame
        One row per coefficient (those of `mtmeta.correlate` with threshold 0, acc_eq with calibration, and the two
        without threshold, `expected_accuracy` and `tie_area`): ``coefficient``; ``constant``, 0 by convention where it
        is undefined everywhere; ``undefined``, the share of segments in which a constant has no value;
        ``expected_noise``, by formula, NaN where there is none: with t the human tie share, :math:`-t` for tau_eq,
        :math:`(1-t)/2` for acc_eq, 1/2 and :math:`(1+t)/4` for the last two, and 0 for the others; ``noise, noise_se,
        levels, levels_se``, the mean over draws and its standard error.

    Raises
    ------
    ValueError
        If ``n_resamples`` or ``n_levels`` is too small, or no segment has two rated translations.

    References
    ----------
    Deutsch, Foster and Freitag 2023, "Ties Matter", section 3, has the variants.

    Examples
    --------
    >>> import mtmeta as mm
    >>> table = mm.ties.chance_levels(mm.load("teaching"), n_resamples=3).set_index("coefficient")
    >>> table.loc[["tau_10", "tau_14", "acc_eq"], "constant"].round(3).to_dict()
    {'tau_10': -1.0, 'tau_14': 0.0, 'acc_eq': 0.248}
    """
    for name, value in (("n_resamples", n_resamples), ("n_levels", n_levels)):
        check_count(name, value, 2)
    es = as_evalset(es)
    t = human_tie_share(es)
    rng = generator(rng)
    metrics = {"constant": np.zeros(es.shape)}
    for k in range(n_resamples):
        metrics[f"noise {k}"] = rng.random(es.shape)
        metrics[f"levels {k}"] = rng.integers(0, n_levels, es.shape).astype(float)
    es = es.with_metrics(metrics)
    tables = {
        c: correlate(es, coefficient=c, epsilon=0) if c != "tau_c" else correlate(es, coefficient=c) for c in _TAUS
    }
    tables["acc_eq, calibrated"] = correlate(es, coefficient="acc_eq")
    tables |= {"expected_accuracy": expected_accuracy(es), "tie_area": tie_area(es)}
    formula = {"tau_eq": -t, "acc_eq": (1 - t) / 2, "acc_eq, calibrated": np.nan, "expected_accuracy": 0.5}
    formula["tie_area"] = (1 + t) / 4
    rows = []
    for name, table in tables.items():
        flat, noise, levels = (table[table["metric"].str.startswith(kind)] for kind in _KNOW_NOTHING)
        undefined = (flat["n_degenerate"] / flat["n_groups"]).iloc[0] if "n_degenerate" in flat else 0.0
        spread = [x for part in (noise, levels) for x in (part["value"].mean(), part["value"].sem())]
        rows.append((name, flat["value"].iloc[0], undefined, formula.get(name, 0.0), *spread))
    columns = "coefficient constant undefined expected_noise noise noise_se levels levels_se"
    return pd.DataFrame(rows, columns=columns.split())
