"""`mtmeta correlate`: how well metrics agree with humans."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal

from typer import Context, Option

import mtmeta as mm

from . import _options as opt
from ._app import app, example
from ._given import OnSets, together
from ._output import Alike, Best, say

if TYPE_CHECKING:
    import pandas as pd

    from ..evalset import EvalSet

#: Level of the test that marks a metric as no worse than the best.
_ALPHA = 0.05
_COEFFICIENTS = "|".join(opt.COEFFICIENTS)
Coefficients = Annotated[list[str], Option(metavar=_COEFFICIENTS, help="How agreement is measured; repeatable.")]
Groupings = Annotated[list[str], Option(metavar="|".join(opt.GROUPINGS), help=f"{opt.COMPARED}; repeatable.")]
Level = Annotated[Literal["segment", "system"], Option(help="Compare translations, or systems.")]
Interval = Annotated[bool, Option("--interval", help="Add 95 % intervals, and p-values of the difference to the best.")]
_WIDE = "Print a row per metric; * or bold: the best, =: no worse by --interval."


@app.command(cls=OnSets, epilog=example("correlate teaching --coefficient kendall --grouping segment --grouping none"))
def correlate(
    context: Context,
    sets: opt.Sets,
    coefficient: Coefficients = ["pearson"],  # noqa: B006
    grouping: Groupings = ["segment"],  # noqa: B006
    level: Level = "segment",
    interval: Interval = False,
    wide: Annotated[bool, Option("--wide", help=_WIDE)] = False,
    metric: opt.Metric = None,
) -> None:
    """Correlate metrics with human scores.

    One row per coefficient, grouping and metric. --interval redraws and exchanges documents if 20 are rated, otherwise
    segments; with --level system, it leaves out systems one at a time and exchanges them. The p-value is about the
    translations that all metrics scored.
    """
    import pandas as pd

    from .._enough import too_few
    from ..evalset import is_rating
    from ..protocols import Task, decided_by_one, without_each_system

    tables = {}
    for es in context.obj.rated(sets, only=metric, by_system=level == "system"):
        sets_of: dict[tuple[str, ...] | None, EvalSet] = {tuple(metric) if metric else None: es}
        compared = es
        if level == "system":
            grouping, names = ["none"], metric or [m for m in es.system_scores if m != "human" and not is_rating(m)]
            if "pearson" in coefficient:
                say(*decided_by_one(without_each_system(es, metric or es.metrics, Task("pearson", "system"))))
            sets_of, compared = {(name,): _means(es, [name]) for name in names}, _means(es, names)
        blocks = []
        for c, g in dict.fromkeys((c, g) for c in coefficient for g in grouping):
            settings = {"coefficient": c, "grouping": g}
            unit = "system" if interval and level == "system" else None
            options = {"interval": interval, "unit": unit, **settings}
            table = pd.concat([mm.correlate(one, own, **options) for own, one in sets_of.items()], ignore_index=True)
            blocks.append(_against_best(compared, table, settings, unit) if interval else table)
        few = too_few(int(table["n"].min()), table["unit"].iloc[0]) if interval else ""
        say(f"{es.name}: cannot be told: {few}" if few else "")
        tables[es.name] = pd.concat(blocks, ignore_index=True).drop(columns=["grouping"] * (level == "system"))
    say(f"{'level:0.95|draws:1000|seed:0|' if interval else ''}mtmeta:{mm.__version__}")
    context.obj.write(_wide(together(tables)) if wide else together(tables))


def _means(es: EvalSet, metrics: Sequence[str]) -> EvalSet:
    """Return the scores of systems as a set of one segment, over the translations that all these metrics scored."""
    from ..agreement.units import common_cells
    from ..evalset import Computed

    if es.scores != "published" and all(metric in es for metric in metrics):
        es = common_cells(es, metrics)
    scores, about = es.system_scores, {"language_pair": es.language_pair}
    columns = {metric: scores[[metric]] for metric in metrics}
    return Computed(scores[["human"]], columns, systems=es.systems, name=es.name, about=about)


def _against_best(es: EvalSet, table: pd.DataFrame, settings: dict[str, str], unit: str | None) -> pd.DataFrame:
    """Replace the p-value of each metric by that of its difference to the best one."""
    names = table["metric"].tolist()
    table = table.drop(columns=["p", "n", "unit"]).assign(p_value=float("nan"))
    if len(names) > 1:
        table["p_value"] = table["metric"].map(mm.compare(es, names, unit=unit, **settings).p_values.iloc[0])
    return table


def _wide(table: pd.DataFrame) -> pd.DataFrame:
    """Return one row a metric and one column a correlation; marks show the best number and those as good."""
    import pandas as pd

    keys = [key for key in ("set", "coefficient", "grouping") if key in table and table[key].nunique() > 1]
    columns = {}
    for name, part in table.groupby(keys or ["coefficient"], sort=False):
        best, cells = part["value"].max(), zip(part["value"], part.get("p_value", part["value"] * 0), strict=True)
        cells = [Best(v) if v == best else Alike(v) if p > _ALPHA else float(v) for v, p in cells]
        columns[" ".join(name)] = pd.Series(cells, index=part["metric"], dtype=object)
    wide = pd.concat(columns, axis=1)
    order = wide.iloc[:, 0].astype(float).sort_values(ascending=False, kind="stable").index
    return wide.loc[order].rename_axis("metric").reset_index()
