"""Jackknife variances: how much a value depends on each system, on each segment or document, and on both at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import stats

from .._checks import Undefined
from ..agreement import grouped
from ..evalset import Computed, EvalSet
from ._exchange import Units, _mean, _without_each, exchange_units, freedom, of_cells
from ._values import observed_values


def jackknife(
    es: EvalSet, names: Sequence[str], coefficient: str, grouping: str, unit: str, degenerate: str
) -> tuple[np.ndarray, np.ndarray, str, int]:
    """Return each metric's variance, its degrees of freedom, the unit left out, and the number of the fewest units.

    Parameters
    ----------
    es : EvalSet
        With human scores where all metrics have scores, as `common_cells` gives it.
    unit : {"system", "segment", "document", "both"}
        ``"both"`` takes systems, and documents if at least 20 have human scores, otherwise segments.

    Raises
    ------
    ValueError
        If there are fewer than two units, the value is undefined without one of the systems, or segments are to be left
        out of SPA, whose p-values are no sums over segments.
    """
    if coefficient == "spa" and unit != "system":
        raise Undefined("soft pairwise accuracy has a jackknife only over systems. Use method='bootstrap'.")
    rated = np.flatnonzero((~np.isnan(es.human)).any(axis=1))
    units = None if unit == "system" else exchange_units(es, None if unit == "both" else unit)
    sizes = {"system": len(rated)} if unit in ("system", "both") else {}
    sizes |= {units.unit: units.n} if units else {}
    if min(sizes.values()) < 2:
        few = min(sizes, key=sizes.get)
        raise Undefined(
            f"set {es.name!r}: the jackknife needs at least two {few}s with human scores; found {sizes[few]}."
        )
    variances, known = np.zeros(len(names)), np.full(len(names), min(sizes.values()) - 1.0)
    if unit in ("system", "both"):
        without = np.array([_without_system(es, s, names, coefficient, grouping, degenerate) for s in rated])
        n = len(rated)
        variances = (n - 1) / n * ((without - without.mean(axis=0)) ** 2).sum(axis=0)
    if units:
        for k, name in enumerate(names):
            blocks = block_influences(es, name, coefficient, grouping, units, degenerate)
            added = blocks.sum(axis=0)
            other, known[k] = _variance(added), min(known[k], freedom(added[None] - added.mean())[0])
            both = variances[k] + other - _variance(blocks[rated].ravel())
            variances[k] = max(variances[k], other, both if unit == "both" else other)
    return variances, known, " and ".join(sizes), min(sizes.values())


def _without_system(es, system, names, coefficient, grouping, degenerate) -> np.ndarray:
    human = es.human.copy()
    human[system] = np.nan
    part = Computed(human, {name: es[name] for name in names}, systems=es.systems, name=es.name)
    try:
        return observed_values(part, names, coefficient, grouping, degenerate)
    except Undefined as error:
        raise Undefined(
            f"the jackknife leaves one system out at a time; the value is undefined without {es.systems[system]!r}: "
            f"{error}"
        ) from None


def _variance(influences: np.ndarray) -> float:
    n = len(influences)
    return float(n / (n - 1) * ((influences - influences.mean()) ** 2).sum())


def block_influences(es, metric, coefficient, grouping, units: Units, degenerate) -> np.ndarray:
    r"""Return how far the translations of each system in each unit move the value, shape (n_systems, n_units).

    The value T is the mean of the groups' :math:`r_g`. A *member* is an element of a group: a system with segment
    grouping, a unit with system grouping, and without grouping the part of one unit that is from one system. If a group
    has :math:`M_g` members and there are G groups, a member moves T by

    .. math:: e_{mg} = \frac{1}{G} \left( d_{mg} - \bar d_g + \frac{r_g - T}{M_g} \right)

    with :math:`d_{mg}` the group's value less that without the member, so that the sum over a group is :math:`(r_g -
    T)/G`, its part of a mean. Ranks and thresholds of ties are those of the whole set.
    """
    cells = grouped(es, metric, grouping)
    system, unit = (of_cells(v, es, metric, grouping) for v in (np.arange(es.shape[0])[:, None], units.of_segment))
    group = np.repeat(np.arange(len(cells.sizes)), cells.sizes)
    block = system * units.n + unit
    member = np.unique({"segment": system, "system": unit, "none": block}[grouping], return_inverse=True)[1]
    n_members, n_groups = member.max() + 1, len(cells.sizes)
    whole, without = _without_each(cells, coefficient, member, n_members)
    if degenerate == "zero":
        whole, without = np.nan_to_num(whole), np.nan_to_num(without)
    counted = ~np.isnan(whole)
    n_cells = np.bincount(member * n_groups + group, minlength=without.size).reshape(without.shape)
    present = (n_cells > 0) & counted
    if not present.any():
        return np.zeros((es.shape[0], units.n))
    value, n = _mean(whole[None])[0], counted.sum()
    # a group that is undefined without a member leaves the mean
    lost = np.isnan(without) & present
    moved = np.where(lost, (whole - value) * (n / max(n - 1, 1)), whole - without)
    moved = np.where(present, moved, 0.0)
    members = np.maximum(present.sum(axis=0), 1)
    moved = moved + np.where(counted, whole - value, 0.0) / members - moved.sum(axis=0) / members
    moved = np.where(present, moved, 0.0) / n / np.maximum(n_cells, 1)
    influences = np.bincount(block, moved[member, group], minlength=es.shape[0] * units.n)
    return influences.reshape(es.shape[0], units.n)


def fisher_interval(values, variances, coefficient: str, known, level: float) -> tuple[np.ndarray, np.ndarray]:
    r"""Return the ends of intervals around the values on the scale of Fisher's z, with t of ``known`` freedom.

    .. math:: \tanh\left(\operatorname{artanh} r \pm t \frac{s}{1 - r^2}\right)

    with the standard error s of r. For acc_eq and SPA, which lie in [0, 1], r = 2 value - 1. If r is 1 or -1, the
    interval is :math:`r \pm ts`, within [-1, 1].
    """
    scale = 2.0 if coefficient in ("acc_eq", "spa") else 1.0
    r = scale * values - (scale - 1)
    reach = stats.t.ppf((1 + level) / 2, known) * scale * np.sqrt(variances)
    inside = 1 - r**2 > 1e-12
    z, slope = np.arctanh(np.where(inside, r, 0.0)), np.where(inside, 1 - r**2, 1.0)
    ends = [np.where(inside, np.tanh(z + s * reach / slope), np.clip(r + s * reach, -1, 1)) for s in (-1, 1)]
    low, high = ((end + scale - 1) / scale for end in ends)
    return low, high
