"""Figures with sliders and menus: HTML and SVG that need nothing else.

Every position is computed here and travels with the figure; `interactive.js` moves what is drawn.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from matplotlib.ticker import MaxNLocator

from .._checks import check_number
from .._escapes import visible
from ..evalset import EvalSet, as_evalset
from ..plots import COLOURS
from ..ties import calibrate_ties

__all__ = ["Interactive", "lines", "threshold"]

DIGITS = 6  # what values are rounded to, so that two machines write the same text
#: The size of a panel and its margins, in units of the SVG.
SIZE = {"width": 440, "height": 190, "left": 46, "right": 10, "top": 10, "bottom": 38}
_DASHES = ("", "7 3", "2 3", "9 3 2 3")


@dataclass(frozen=True)
class Panel:
    """Axes: the corners of lines by key, marks ``(x, y, shape, colour)``, and what moves with the value ``knob``.

    ``x_ticks`` and ``y_ticks`` say where they are, and the text there; of ``x_ticks`` it may be a name in ``shown``.
    """

    x_label: str
    y_label: str
    x_range: tuple[float, float]
    y_range: tuple[float, float]
    knob: str
    lines: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    marks: tuple[tuple[float, float, str, str], ...] = ()
    x_ticks: tuple[tuple[float, str], ...] = ()
    y_ticks: tuple[tuple[float, str], ...] = ()
    shaded: bool = False

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Return where a point of the data lies, in units of the SVG."""
        return tuple(round(start + factor * v, 2) for v, (start, factor) in zip((x, y), self.scale(), strict=True))

    def scale(self) -> list[list[float]]:
        """Return offset and factor of both axes."""
        (a, b), (c, d) = self.x_range, self.y_range
        kx = (SIZE["width"] - SIZE["left"] - SIZE["right"]) / (b - a)
        ky = -(SIZE["height"] - SIZE["top"] - SIZE["bottom"]) / (d - c)
        x0, y0 = SIZE["left"] - kx * a, SIZE["height"] - SIZE["bottom"] - ky * c
        return [[round(x0, 4), round(kx, 6)], [round(y0, 4), round(ky, 6)]]


@dataclass(frozen=True, repr=False)
class Interactive:
    """A figure with sliders and menus, as `threshold` and `lines` make it; without JavaScript it shows the start.

    Attributes
    ----------
    label : str
        What the last slider changes.
    positions : tuple of str
        What it stands at, at each position of all sliders and menus; the last one turns fastest.
    start : int
        The position at first.
    values : dict of str to list
        By name, a value for each position; None where there is none.
    shown : dict of str to list of str
        The same as text, for the table below the figure. In a shorter list, a text holds for several positions in a
        row.
    panels : tuple
        What is drawn.
    headings : tuple of str
        The head of the table below the figure.
    rows : tuple of tuples
        Its rows: kind of line or mark, colour, text, and names in ``shown``.
    description : str
        The figure in words, for those who do not see it.
    choices : dict of str to tuple
        What the other knobs change, and their positions: a menu of texts, or a slider along numbers.
    """

    label: str
    positions: tuple[str, ...]
    start: int
    values: dict[str, list]
    shown: dict[str, list[str]]
    panels: tuple[Panel, ...]
    headings: tuple[str, ...]
    rows: tuple[tuple, ...]
    description: str
    choices: dict[str, tuple] = field(default_factory=dict)

    def now(self, name: str) -> str:
        """Return the text at the start position."""
        texts = self.shown[name]
        return texts[self.start * len(texts) // len(self.positions)]

    def knobs(self) -> list[tuple]:
        """Return each knob: label, options of a menu, key and text of its position, where it starts, and its end."""
        found, left = [], len(self.positions)
        for k, (label, options) in enumerate(self.choices.items()):
            left //= len(options)
            menu, key = options if isinstance(options[0], str) else (), f"choice {k}"
            found.append((label, menu, key, self.start // left % len(options), len(options) - 1, self.now(key)))
        return [*found, (self.label, (), "position", self.start % left, left - 1, self.positions[self.start])]

    def __repr__(self) -> str:
        return f"<Interactive: {self.label}, {len(self.positions)} positions>"

    def _repr_html_(self) -> str:
        here = Path(__file__)
        environment = Environment(
            loader=FileSystemLoader(here.parent), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
            finalize=lambda value: value if hasattr(value, "__html__") else visible(value),
        )  # fmt: skip
        about = {"figure": self, "colours": COLOURS, "dashes": _DASHES, **SIZE}
        script = here.with_suffix(".js").read_text("utf-8")
        return environment.get_template("interactive.html.j2").render(script=script, **about)


def _ticks(low: float, high: float) -> tuple[tuple[float, str], ...]:
    ticks = MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high) + 0.0
    return tuple((float(tick), f"{tick:g}") for tick in ticks[(ticks >= low) & (ticks <= high)])


def _numbers(values: Sequence[float]) -> list:
    """Return numbers that JSON can hold, rounded; None replaces any that is not finite."""
    return [round(float(v), DIGITS) + 0.0 if np.isfinite(v) else None for v in values]


def _words(values: Sequence, digits: int) -> list[str]:
    return ["–" if v is None else f"{v:,.{digits}f}" for v in values]


#: Three kinds of pairs, by what becomes of them when the metric calls them equal: name, key, mark, colour.
_KINDS = (
    ("humans: equal", "equal", "o", COLOURS[0]),
    ("same order", "same", "^", COLOURS[2]),
    ("other order", "other", "X", COLOURS[1]),
)


def threshold(es: EvalSet | pd.DataFrame, metric: str, *, start: float = 0) -> Interactive:
    """Show which pairs a metric calls equal at each tie threshold, and what acc_eq becomes, with a slider.

    Parameters
    ----------
    es : EvalSet or pandas.DataFrame
        Pairs are formed within segments.
    metric : str
    start : float
        The threshold at first: the position of the knob next to it.

    Returns
    -------
    Interactive
        Its ``values`` are ``epsilon`` (the threshold, in units of the metric), ``acc_eq`` (mean over segments, in
        [0, 1]; higher is better), and numbers of pairs: ``tied_equal, tied_same, tied_other`` of those that the metric
        calls equal, ``apart_equal, apart_same, apart_other`` of those that it tells apart. *equal*: humans tie them;
        *same*: metric and humans have one order; *other*: they have not, or the metric itself ties what humans do not.
        Each pair is drawn, and the knob stops at each threshold, so a few translations are enough.

    Raises
    ------
    ValueError
        If the metric is unknown, no segment has two scored translations, or ``start`` is not finite.

    Examples
    --------
    >>> import mtmeta as mm
    >>> es = mm.EvalSet([[5], [3], [5], [5]], {"m": [[.6], [.5], [.4], [.4]]}, systems=list("ABCD"))
    >>> figure = mm.book.interactive.threshold(es, "m")
    >>> figure.values["acc_eq"]
    [0.333333, 0.166667, 0.5]
    >>> [figure.values[f"tied_{kind}"] for kind in ("equal", "same", "other")]
    [[1, 1, 3], [0, 1, 1], [0, 2, 2]]
    """
    es, start = as_evalset(es), check_number("start", start)
    found = calibrate_ties(es, metric)
    i, j = np.triu_indices(len(es.systems), 1)
    dh, dm = (scores[i] - scores[j] for scores in (es.human, es[metric]))
    kinds = np.where(np.isnan(dh + dm), -1, np.where(dh == 0, 0, np.where(np.sign(dh) == np.sign(dm), 1, 2)))
    stops, values, marks = found.thresholds, {}, []
    for k, (_, key, shape, colour) in enumerate(_KINDS):  # one lane a kind; neighbours stand at different heights
        own = np.sort(np.abs(dm)[kinds == k])
        values[f"tied_{key}"] = np.searchsorted(own, stops, side="right").tolist()
        values[f"apart_{key}"] = [len(own) - n for n in values[f"tied_{key}"]]
        marks += [(x, 2 - k + 0.14 * (n % 5 - 2), shape, colour) for n, x in enumerate(own.tolist())]
    values |= {"epsilon": _numbers(stops), "acc_eq": _numbers(found.curve)}
    end, (low, high) = 1.15 * float(stops[-1]) or 1.0, (float(found.curve.min()), float(found.curve.max()))
    x, y = (np.repeat(values[key], 2).tolist() for key in ("epsilon", "acc_eq"))
    curve = list(zip([*x[1:], end], y, strict=True))  # a step keeps its height until the next threshold
    room = 0.08 * (high - low) or 0.05
    across = {"x_range": (0, end), "x_ticks": _ticks(0, end), "knob": "epsilon", "shaded": True}
    lanes = {"y_ticks": ((0, "other"), (1, "same"), (2, "equal")), "y_range": (-0.5, 2.5), "marks": tuple(marks)}
    height = {"y_ticks": _ticks(low - room, high + room), "y_range": (low - room, high + room)}
    above = Panel(f"difference of two scores of {metric}", "", **lanes, **across)
    below = Panel(f"threshold, in units of {metric}", "acc_eq", lines={"acc_eq": curve}, **height, **across)
    rows = [(shape, colour, name, (f"tied_{key}", f"apart_{key}")) for name, key, shape, colour in _KINDS]
    return Interactive(
        label="Threshold",
        positions=tuple(f"{stop:.4g}" for stop in stops),
        start=int(np.argmin(np.abs(stops - start))),
        values=values,
        shown={key: _words(column, 3 if key == "acc_eq" else 0) for key, column in values.items() if key != "epsilon"},
        panels=(above, below),
        headings=("pairs", "called equal", "told apart"),
        rows=(*rows, (0, COLOURS[0], "acc_eq", ("acc_eq", ""))),
        description=f"acc_eq of {metric} against the tie threshold. Pairs whose difference is at most the threshold "
        "lie in a shaded part; the table below counts them. The slider moves the threshold.",
    )


def lines(table: pd.DataFrame, *, knob: str, value: str, start: tuple) -> Interactive:
    """Draw lines with a slider along the x-axis, a menu or slider for each set of them, and the values below.

    Parameters
    ----------
    table : pandas.DataFrame
        One row for each position of the knob, by ascending number; one column for each line. Missing values are left
        out. The index has at least two levels. Each level but the last has a knob of its own, under its name: a menu
        for texts, a slider for numbers. Each choice has its own lines, with the same number of positions, at least 0.
    knob, value : str
        What the knob turns (the x-axis), and what the lines show (the y-axis).
    start : tuple
        The row at first.

    Returns
    -------
    Interactive
        Its ``values`` are ``knob``, as a share of the last position of the choice, and, by its number from 0,
        ``line 0`` and so on.

    Examples
    --------
    >>> import pandas as pd
    >>> import mtmeta as mm
    >>> rows = pd.MultiIndex.from_product([["A", "B"], [0, 2]], names=["metric", "difference"])
    >>> lines = pd.DataFrame({"chance": [0.5, 0.7, 0.5, 0.9]}, index=rows)
    >>> figure = mm.book.interactive.lines(lines, knob="difference", value="chance", start=("B", 2))
    >>> figure.positions, figure.values["line 0"]
    (('0', '2', '0', '2'), [0.5, 0.7, 0.5, 0.9])
    """
    *levels, x = (table.index.get_level_values(k) for k in range(table.index.nlevels))
    choices = {str(level.name): tuple(level.unique()) for level in levels}
    groups, now = list(itertools.product(*choices.values())), list(table.index).index(start)
    x, heights, n = x.to_numpy(dtype=float), table.to_numpy(dtype=float), len(table) // len(groups)
    ends = x.reshape(-1, n)[:, -1]  # each choice has its own scale on x
    keys = {f"line {k}": name for k, name in enumerate(table)}
    values = {"knob": _numbers(x / ends.repeat(n))} | {key: _numbers(table[name]) for key, name in keys.items()}
    shown = {key: _words(values[key], 3) for key in keys}
    shown |= {f"tick {k}": [f"{k / 4 * end:.3g}" for end in ends] for k in range(5)}
    shown |= {f"choice {k}": [str(group[k]) for group in groups] for k in range(len(choices))}
    own = slice(now - now % n, now - now % n + n)
    at, low, high = values["knob"][own], np.nanmin(heights), np.nanmax(heights)
    margin, room = 0.02 * (at[-1] - at[0]) or 0.5, 0.06 * (high - low) or 0.05
    across, height = (at[0] - margin, at[-1] + margin), (low - room, high + room)
    drawn = {key: list(zip(at, values[key][own], strict=True)) for key in keys}
    ticks = {"x_ticks": tuple((k / 4, f"tick {k}") for k in range(5)), "y_ticks": _ticks(*height)}
    looks = [(k % len(_DASHES), COLOURS[k % len(COLOURS)]) for k in range(len(keys))]
    return Interactive(
        label=knob[:1].upper() + knob[1:],
        positions=tuple(f"{position:g}" for position in x),
        start=now,
        values=values,
        shown=shown,
        panels=(Panel(knob, value, across, height, "knob", drawn, **ticks),),
        headings=("", value),
        rows=tuple((*look, str(name), (key,)) for look, (key, name) in zip(looks, keys.items(), strict=True)),
        description=f"{value} against {knob}, one line each for {', '.join(map(str, table))}. "
        "The slider moves along the lines; the table below has the values there.",
        choices={label[:1].upper() + label[1:]: options for label, options in choices.items()},
    )
