"""The figures of a report: each as a PNG with a caption and a text for those who cannot see it."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable

import numpy as np

from .._checks import Undefined
from ._display import number
from ._facts import Figure, Part
from ._labels import GROUPINGS

#: With more metrics and sets than this, figures would make the page too large to open.
UP_TO = 12


def figures(part: Part) -> dict[str, Figure]:
    """Return the figures of a part by the section that they belong to; a figure that cannot be drawn is left out."""
    from ..plots import use_style  # isort: skip - it decides what Matplotlib reads

    import matplotlib.pyplot as plt

    found = {}
    for section, make in _MAKERS.items():
        with plt.rc_context(), warnings.catch_warnings():
            # names are no formulas, and may be in a script that the font lacks
            warnings.filterwarnings("ignore", message="Glyph .* missing from|constrained_layout not applied")
            use_style()
            plt.rcParams["text.parse_math"] = False
            before = set(plt.get_fignums())
            try:
                made = make(part)
                if made is not None:
                    axes, caption, alt = made
                    found[section] = Figure(caption, alt, _png(axes))
            except Undefined:  # the section says why: the numbers behind the figure are not there either
                pass
            finally:
                for number_ in set(plt.get_fignums()) - before:
                    plt.close(number_)
    return found


def _png(axes) -> bytes:
    out = io.BytesIO()
    figure = np.ravel(axes)[0].figure
    figure.savefig(out, format="png", dpi=130, facecolor="white", metadata={"Software": None})
    return out.getvalue()


def _views(part: Part):
    from ..plots import three_views

    section = part.sections["segments"]
    rows = [section.row(f"pearson.{grouping}") for grouping in GROUPINGS]
    human = part.paired.human
    varied = (_some_vary(human), _some_vary(human.T))
    if rows[0] is None or not all(varied):
        return None
    values = ", ".join(number(row["value"]) if row else "not computed" for row in rows)
    alt = (
        f"Three scatter plots of the same translations, {part.metric} against human score: all together, by segment, "
        f"by system. Pearson correlations in this order: {values}."
    )
    caption = "The same translations three times. Lines are fits; coloured are some segments, then some systems."
    return three_views(part.paired, part.metric), caption, alt


def _between(part: Part):
    from ..plots import decomposition

    es = part.es
    if len(es.metrics) < 2:
        return None
    names = [m for m in es.metrics if _varies(es.human, es[m])][:40]
    if part.metric not in names:
        return None
    row = part.sections["segments"]
    inside = row.row("parts.within")
    outside = row.row("parts.between")
    if inside is None or outside is None:
        return None
    alt = (
        "Bars: for each metric the two parts of its pooled Pearson correlation. "
        f"{part.metric}: {number(outside['value'])} between segments and {number(inside['value'])} within."
    )
    caption = (
        "Pooled correlation of each metric: what it earns by knowing hard segments, and by telling translations apart."
    )
    axes = decomposition(es, names)
    for label in axes.get_yticklabels():
        label.set_fontweight("bold" if label.get_text() == part.metric else "normal")
    return axes, caption, alt


def _some_vary(scores: np.ndarray) -> bool:
    """Return whether some row has two different scores."""
    return any(np.ptp(row[~np.isnan(row)]) > 0 for row in scores if not np.isnan(row).all())


def _varies(human: np.ndarray, scores: np.ndarray) -> bool:
    both = ~(np.isnan(human) | np.isnan(scores))
    return both.sum() > 1 and np.ptp(scores[both]) > 0 and np.ptp(human[both]) > 0


def _ties(part: Part):
    from ..plots import tie_calibration_curves

    section = part.sections["ties"]
    best, chosen = section.row("acc_eq.calibrated"), section.row("threshold")
    if best is None or chosen is None:
        return None
    alt = (
        f"A curve: acc_eq of {part.metric} over the tie threshold. The best value is {number(best['value'])} at a "
        f"threshold of {chosen['value']:.3g}; a dotted line marks a constant metric."
    )
    caption = "acc_eq over the threshold below which two metric scores count as tied."
    return tie_calibration_curves(part.paired, [part.metric]), caption, alt


def _deviations(part: Part):
    from ..plots import expected_deviations

    found = part.sections["system_dependence"].found
    if "sysdep" not in found:
        return None
    table = found["sysdep"].table
    ends = table.loc[table["expected_deviation"].idxmin()], table.loc[table["expected_deviation"].idxmax()]
    alt = (
        f"Expected Deviation of each system by {part.metric}, best system on top. "
        f"Lowest: {ends[0]['system']}, {number(ends[0]['expected_deviation'])}; "
        f"highest: {ends[1]['system']}, {number(ends[1]['expected_deviation'])}."
    )
    caption = "How far the metric overrates each system; grey: metrics as noisy that are blind to the system."
    null = found["null"].table if "null" in found else None
    return expected_deviations(found["sysdep"], null=null), caption, alt


def _lengths(part: Part):
    from ..plots import score_against_length

    section = part.sections["length"]
    rows = [section.row(f"length.{side}.within") for side in ("humans", "metric")]
    if None in rows:
        return None
    es = part.paired
    if any(text is None for system in es.systems for text in es.texts.translations.get(system, (None,))):
        return None
    alt = (
        "Two scatter plots: score against length of the translation, both less the mean of their segment. Correlation "
        f"{number(rows[0]['value'])} for humans, {number(rows[1]['value'])} for {part.metric}."
    )
    caption = "Score and length within segments, for humans and the metric."
    return score_against_length(es, ["human", part.metric], within=True), caption, alt


_MAKERS: dict[str, Callable] = {
    "segments": _views,
    "rank": _between,
    "ties": _ties,
    "system_dependence": _deviations,
    "length": _lengths,
}
