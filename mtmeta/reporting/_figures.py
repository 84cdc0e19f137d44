"""The figures of a report: each as a PNG with a caption and a text for those who cannot see it."""

from __future__ import annotations

import io
import warnings
from contextlib import suppress

import numpy as np
import pandas as pd

from .. import plots  # isort: skip - it decides what Matplotlib reads

import matplotlib.pyplot as plt

from .._checks import Undefined
from ._facts import GROUPINGS, PAGE, Figure, Part
from ._words import number


def figures(part: Part) -> dict[str, Figure]:
    """Return the figures of a part by the section that they belong to; a figure that cannot be drawn is left out."""
    found = {}
    for section, make in _MAKERS.items():
        # where numbers behind a figure are undefined, its section says why
        with suppress(Undefined), plt.rc_context(), warnings.catch_warnings():
            # names are no formulas, and may be in a script that the font lacks
            warnings.filterwarnings("ignore", message="Glyph .* missing from|constrained_layout not applied")
            plots.use_style()
            plt.rcParams["text.parse_math"] = False
            before = set(plt.get_fignums())
            try:
                axes, words = make(part)
                alt = PAGE["sections"][section]["alt"].format(metric=part.metric, **words)
                found[section] = Figure(PAGE["sections"][section]["figure"], alt, _png(axes))
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
    rows = {grouping: part.sections["segments"].row(f"pearson.{grouping}") for grouping in GROUPINGS}
    human = pd.DataFrame(part.paired.human)
    if rows["none"] is None or any(human.nunique(axis=axis).max() < 2 for axis in (0, 1)):
        raise Undefined("nothing varies.")
    words = {grouping: number(row.value) if row else "not computed" for grouping, row in rows.items()}
    return plots.three_views(part.paired, part.metric), words


def _ranks(part: Part):
    rows, name = part.sections["rank"].rows, "pearson.segment"
    columns = {f"{name}.{what}": what for what in ("rank", "best_rank", "worst_rank")}
    table = pd.DataFrame([(r.subject, columns[r.key], r.value) for r in rows if r.key in columns])
    if len(columns) * len(part.es.metrics) != len(table):
        raise Undefined("there are no sets of ranks.")
    table = table.pivot(index=0, columns=1, values=2).reset_index(names="metric")
    rank, best, worst = table.set_index("metric").loc[part.metric, list(columns.values())].astype(int)
    return plots.rank_intervals(table, highlight=[part.metric]), {"rank": rank, "best": best, "worst": worst}


def _between(part: Part):
    es = part.es
    scores = {m: pd.DataFrame({"human": es.human.ravel(), "metric": es[m].ravel()}).dropna() for m in es.metrics}
    names = [m for m, both in scores.items() if both.nunique().min() > 1][:40]
    if len(es.metrics) < 2 or part.metric not in names:
        raise Undefined("there is nothing to compare.")
    words = {what: number(part.sections["segments"].need(f"parts.{what}").value) for what in ("between", "within")}
    axes = plots.decomposition(es, names)
    for label in axes.get_yticklabels():
        label.set_fontweight("bold" if label.get_text() == part.metric else "normal")
    return axes, words


def _ties(part: Part):
    best, chosen = (part.sections["ties"].need(key).value for key in ("acc_eq.calibrated", "threshold"))
    words = {"best": number(best), "threshold": f"{chosen:.3g}"}
    return plots.tie_calibration_curves(part.paired, [part.metric]), words


def _deviations(part: Part):
    section = part.sections["system_dependence"]
    section.need("sysdep")
    found, null = section.found["sysdep"], section.found.get("null")
    values = found.table.set_index("system")["expected_deviation"]
    words = {"lowest": values.idxmin(), "low": number(values.min())}
    words |= {"highest": values.idxmax(), "high": number(values.max())}
    axes = plots.expected_deviations(found, null=None if null is None else null.table)
    axes.legend(loc="best")
    return axes, words


def _lengths(part: Part):
    es, section = part.paired, part.sections["length"]
    humans, own = (number(section.need(f"length.{side}.within").value) for side in ("humans", "metric"))
    if any(text is None for system in es.systems for text in es.texts.translations.get(system, (None,))):
        raise Undefined("some translations have no text.")
    return plots.score_against_length(es, ["human", part.metric], within=True), {"humans": humans, "own": own}


_MAKERS = {"segments": _views, "rank": _ranks, "baselines": _between, "ties": _ties}
_MAKERS |= {"system_dependence": _deviations, "length": _lengths}
