"""The figures of a report: each as a PNG with a caption and a text for those who cannot see it."""

import base64
import io
import warnings
from contextlib import suppress

import numpy as np
import pandas as pd

from .. import plots  # isort: skip - it decides what Matplotlib reads

import matplotlib.pyplot as plt

from .._checks import Undefined
from ._facts import PAGE, Part
from ._pages import number
from ._sections import GROUPINGS


def figures(part: Part) -> dict[str, dict[str, str]]:
    """Return the figures of a part by the section that they belong to; a figure that cannot be drawn is left out.

    Each has a caption, a text for those who cannot see it, and the picture in base64.
    """
    found = {}
    for section, make in _MAKERS.items():
        # where numbers behind a figure are undefined, its section says why
        with suppress(Undefined), plt.rc_context(), warnings.catch_warnings():
            # names are not formulas, and may be in a script that the font lacks
            warnings.filterwarnings("ignore", message="Glyph .* missing from|constrained_layout not applied")
            plots.use_style()
            plt.rcParams["text.parse_math"] = False
            words, (axes, values) = PAGE["sections"][section], make(part)
            picture, png = np.ravel(axes)[0].figure, io.BytesIO()
            picture.savefig(png, format="png", dpi=130, facecolor="white", metadata={"Software": None})
            plt.close(picture)
            alt, data = words["alt"].format(metric=part.metric, **values), base64.b64encode(png.getvalue()).decode()
            found[section] = {"caption": words["figure"], "alt": alt, "base64": data}
    return found


def _views(part: Part):
    rows = {grouping: part.sections["segments"].row(f"pearson.{grouping}") for grouping in GROUPINGS}
    human = pd.DataFrame(part.paired.human)
    if rows["none"] is None or any(human.nunique(axis=axis).max() < 2 for axis in (0, 1)):
        raise Undefined("nothing varies.")
    words = {grouping: number(row.value) if row else "not computed" for grouping, row in rows.items()}
    return plots.three_views(part.paired, part.metric), words


def _ranks(part: Part):
    rows = [row for row in part.sections["rank"].rows if row.key == "rank"]
    table = pd.DataFrame([(r.subject, r.value, r.low, r.high) for r in rows])
    if table.isna().any(axis=None) or table.empty:
        raise Undefined("there are no sets of ranks.")
    table = table.set_axis(["metric", "rank", "best_rank", "worst_rank"], axis=1)
    rank, best, worst = table.set_index("metric").loc[part.metric].astype(int)
    return plots.rank_intervals(table, highlight=[part.metric]), {"rank": rank, "best": best, "worst": worst}


def _ties(part: Part):
    best, chosen = (part.sections["ties"].need(key).value for key in ("acc_eq.segment", "threshold"))
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


_MAKERS = {"segments": _views, "rank": _ranks, "ties": _ties, "system_dependence": _deviations}
