"""Figures with knobs: HTML and SVG without any library, and a picture of the start state where HTML is not shown.

Every position of the knobs is computed here and travels with the figure; `interactive.js` moves what is drawn.
"""

from __future__ import annotations

import base64
import io
import itertools
import json
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from .._checks import check_number
from .._escapes import Markup, fill
from ..evalset import EvalSet, as_evalset
from ..plots._style import COLOURS, MARKERS, in_legend, names_as_written
from ..ties import calibrate_ties

__all__ = ["Interactive", "lines", "threshold"]

DIGITS = 6  # what values are rounded to, so that two machines write the same text
WIDTH, HEIGHT = 440, 190  # of a panel, in units of the SVG
LEFT, RIGHT, TOP, BOTTOM = 46, 10, 10, 38
_DASHES = ("", "7 3", "2 3", "9 3 2 3")
_MPL_DASHES = ("-", "--", ":", "-.")
_FILES = {kind: Path(__file__).with_suffix(f".{kind}").read_text("utf-8") for kind in ("css", "js", "toml")}
_HTML = tomllib.loads(_FILES["toml"])


def _fill(template: str, **values: object) -> Markup:
    """Return a piece of HTML with values in it."""
    return fill(_HTML[template], **values)


@dataclass(frozen=True)
class Line:
    """A line of a panel, and the value on it that a point follows; None is left out."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    key: str

    def corners(self) -> list[tuple[float, float]]:
        """Return the points that the line goes through."""
        return [(x, y) for x, y in zip(self.x, self.y, strict=True) if y is not None]


@dataclass(frozen=True)
class Panel:
    """Axes: lines, marks ``(x, y, shape, colour)``, and what moves with the value ``knob``.

    ``x_ticks``: where they are, and the name in ``shown`` of the text below each.
    """

    x_label: str
    y_label: str
    x_range: tuple[float, float]
    y_range: tuple[float, float]
    knob: str
    lines: tuple[Line, ...] = ()
    marks: tuple[tuple[float, float, str, str], ...] = ()
    y_names: tuple[str, ...] = ()
    shaded: bool = False
    x_ticks: tuple[tuple[float, str], ...] = ()

    def at(self, x: float, y: float) -> dict[str, float]:
        """Return where a point of the data lies, in units of the SVG."""
        (x0, kx), (y0, ky) = self.scale()
        return {"x": round(x0 + kx * x, 2), "y": round(y0 + ky * y, 2)}

    def scale(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return offset and factor of both axes."""
        (a, b), (c, d) = self.x_range, self.y_range
        kx, ky = (WIDTH - LEFT - RIGHT) / (b - a), -(HEIGHT - TOP - BOTTOM) / (d - c)
        return (round(LEFT - kx * a, 4), round(kx, 6)), (round(HEIGHT - BOTTOM - ky * c, 4), round(ky, 6))


@dataclass(frozen=True)
class Interactive:
    """A figure with knobs, as `threshold` and `lines` make it.

    Notebooks and the site show HTML, with sliders and menus that the keyboard moves too. If JavaScript or HTML is not
    available, and in print, it is a picture of the start position.

    Attributes
    ----------
    label : str
        What the last knob turns.
    positions : tuple of str
        What the last knob stands at, at each position of the knobs; the last one turns fastest.
    start : int
        The position at first.
    values : dict of str to list
        By name, a value for each position; None where there is none.
    shown : dict of str to list of str
        The same as text, for the table below the figure. In a shorter list, a text holds for several positions in a
        row.
    panels : tuple
        What is drawn.
    table : tuple of tuples
        The rows below the figure, the first one its head. The others have a symbol (kind of line or mark, and colour),
        a text, then names in ``shown``, or nothing.
    description : str
        The figure in words, for those who do not see it.
    choices : dict of str to tuple
        What the other knobs turn, and their positions: a menu of texts, or a slider along numbers.
    """

    label: str
    positions: tuple[str, ...]
    start: int
    values: dict[str, list]
    shown: dict[str, list[str]]
    panels: tuple[Panel, ...]
    table: tuple[tuple, ...]
    description: str
    choices: dict[str, tuple] = field(default_factory=dict)

    def now(self, name: str) -> str:
        """Return the text at the start position."""
        texts = self.shown[name]
        return texts[self.start * len(texts) // len(self.positions)]

    def knobs(self) -> list[Markup]:
        """Return what is turned, at the start position."""
        found, left = [], len(self.positions)
        for k, (label, options) in enumerate(self.choices.items()):
            left //= len(options)
            about = {"label": label, "key": f"choice {k}", "position": self.now(f"choice {k}")}
            names = [_fill("option", value=value, text=text) for value, text in enumerate(options)]
            about |= {"options": names, "start": self.start // left % len(options), "last": len(options) - 1}
            found.append(_fill("menu" if isinstance(options[0], str) else "slider", **about))
        about = {"label": self.label, "key": "position", "position": self.positions[self.start]}
        return [*found, _fill("slider", start=self.start % left, last=left - 1, **about)]

    def to_html(self) -> str:
        """Return the figure as a piece of HTML that needs nothing else."""
        data = {key: getattr(self, key) for key in ("positions", "values", "shown")}
        text = json.dumps(data, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
        for character in "<>&":  # no name can end the script element
            text = text.replace(character, f"\\u{ord(character):04x}")
        panels = [_fill("place", y=k * HEIGHT, panel=_panel(panel, self)) for k, panel in enumerate(self.panels)]
        head, *rows = self.table
        lines = [[_fill("heading", text=cell) if cell else _fill("corner") for cell in head]]
        for symbol, first, *keys in rows:
            cells = [_fill("cell", key=key, text=self.now(key)) if key else _fill("corner") for key in keys]
            lines.append([_fill("first", swatch=_swatch(*symbol), text=first), *cells])
        return _fill(
            "figure", drawn=panels, rows=[_fill("row", cells=cells) for cells in lines], knobs=self.knobs(),
            description=self.description, width=WIDTH, height=HEIGHT * len(panels), start=self.start,
            style=Markup(_FILES["css"]), script=Markup(_FILES["js"]), data=Markup(text),
        )  # fmt: skip

    @names_as_written
    def figure(self) -> Figure:
        """Return the start position as a matplotlib figure."""
        figure = Figure(figsize=(6.4, 2.8 * len(self.panels)), facecolor="white", layout="constrained", dpi=110)
        for panel, ax in zip(self.panels, np.atleast_1d(figure.subplots(len(self.panels), 1)), strict=True):
            _draw(ax, panel, self)
        return figure

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        picture = io.BytesIO()
        self.figure().savefig(picture, format="png", metadata={"Software": None})
        return {
            "text/html": self.to_html(),
            "image/png": base64.b64encode(picture.getvalue()).decode("ascii"),
            "text/plain": f"<Interactive: {self.label}, {len(self.positions)} positions>",
        }


# -- drawing -----------------------------------------------------------------------------


def _swatch(kind: int | str, colour: str) -> Markup:
    """Return the symbol of a row of the table, as it is drawn: a stretch of a line, or a mark."""
    if isinstance(kind, int):
        return _fill("swatch", fill="none", colour=colour, drawn=_fill("stretch", dash=_DASHES[kind]))
    return _fill("swatch", fill=colour, colour=colour, drawn=_fill(kind, x=15, y=7))


def _ticks(low: float, high: float) -> np.ndarray:
    ticks = MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)
    return ticks[(ticks >= low) & (ticks <= high)] + 0.0


def _panel(panel: Panel, figure: Interactive) -> Markup:
    """Return the panel at the start position; what moves says with which value."""
    (a, b), (c, d) = panel.x_range, panel.y_range
    knob, now = panel.knob, figure.values[panel.knob][figure.start]
    x, bottom = panel.at(now, c).values()
    parts = [_fill("paper", width=WIDTH, height=HEIGHT)]
    if panel.shaded:
        size = {"width": round(max(x - LEFT, 0), 2), "height": round(bottom - TOP, 2)}
        parts.append(_fill("tied", knob=knob, x=LEFT, y=TOP, **size))
    parts.append(_fill("now", knob=knob, x=x, top=TOP, bottom=bottom))
    spots = []
    for k, line in enumerate(panel.lines):
        colour, dash = COLOURS[k % len(COLOURS)], _DASHES[k % len(_DASHES)]
        points = " ".join("{x},{y}".format(**panel.at(*corner)) for corner in line.corners())
        moves = _fill("moves", knob=knob, key=line.key) if figure.choices else Markup()
        parts.append(_fill("line", moves=moves, points=points, colour=colour, dash=dash))
        height = figure.values[line.key][figure.start]
        place = panel.at(now, c if height is None else height)
        hidden = Markup(' visibility="hidden"' if height is None else "")
        spots.append(_fill("spot", knob=knob, key=line.key, hidden=hidden, colour=colour, **place))
    parts += [_fill("mark", colour=colour, shape=_fill(shape, **panel.at(*at))) for *at, shape, colour in panel.marks]
    parts += spots
    for tick, key in panel.x_ticks or [(tick, "") for tick in _ticks(a, b)]:
        name = {"key": _fill("text_key", key=key), "text": figure.now(key)} if key else {"key": "", "text": f"{tick:g}"}
        parts.append(_fill("x_tick", x=panel.at(tick, c)["x"], y=bottom, below=bottom + 16, **name))
    for tick, name in enumerate(panel.y_names) if panel.y_names else [(t, f"{t:g}") for t in _ticks(c, d)]:
        y = panel.at(a, tick)["y"]
        parts += [] if panel.y_names else [_fill("y_tick", x=LEFT, y=y)]
        parts.append(_fill("y_name", x=LEFT - 7, y=y + 4, text=name))
    labels = {"x_label": panel.x_label, "x": (LEFT + WIDTH - RIGHT) / 2, "y": HEIGHT - 5}
    labels |= {"y_label": panel.y_label, "middle": (TOP + bottom) / 2}
    parts.append(_fill("axes", left=LEFT, right=WIDTH - RIGHT, top=TOP, bottom=bottom, **labels))
    return _fill("panel", scale=json.dumps(panel.scale(), separators=(",", ":")), parts=parts)


def _draw(ax: Axes, panel: Panel, figure: Interactive) -> None:
    """Draw the panel at the start position with matplotlib."""
    now = figure.values[panel.knob][figure.start]
    if panel.shaded:
        ax.axvspan(panel.x_range[0], now, color=COLOURS[4], alpha=0.25, linewidth=0)
    ax.axvline(now, color="black", linewidth=1)
    for k, line in enumerate(panel.lines):
        style = {"color": COLOURS[k % len(COLOURS)], "linestyle": _MPL_DASHES[k % len(_MPL_DASHES)]}
        ax.plot(*np.array(line.corners()).reshape(-1, 2).T, label=in_legend(line.name), **style)
        if (height := figure.values[line.key][figure.start]) is not None:
            ax.plot(now, height, MARKERS[0], color=style["color"])
    for x, y, shape, colour in panel.marks:
        ax.plot(x, y, shape, color=colour, markersize=5)
    if panel.y_names:
        ax.set_yticks(range(len(panel.y_names)), panel.y_names)
    ax.set(xlim=panel.x_range, ylim=panel.y_range, xlabel=panel.x_label, ylabel=panel.y_label)
    ax.set_xticks(_ticks(*panel.x_range))
    if panel.x_ticks:
        ax.set_xticks([tick for tick, _ in panel.x_ticks], [figure.now(key) for _, key in panel.x_ticks])
    ax.spines[["top", "right"]].set_visible(False)
    if len(panel.lines) > 1:
        ax.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)


def _numbers(values: Sequence[float]) -> list:
    """Return numbers that JSON can hold, rounded; None replaces any that is not finite."""
    return [round(float(v), DIGITS) + 0.0 if np.isfinite(v) else None for v in values]


def _words(values: Sequence, digits: int) -> list[str]:
    return ["–" if v is None else f"{v:,.{digits}f}" for v in values]


# -- the figures -------------------------------------------------------------------------

#: Three kinds of pairs, by what becomes of them when the metric calls them equal: name, key, mark, colour.
_KINDS = (
    ("humans: equal", "equal", "o", COLOURS[0]),
    ("same order", "same", "^", COLOURS[2]),
    ("other order", "other", "X", COLOURS[1]),
)
_MOST_MARKS, _POSITIONS = 200, 60


def _pairs(es: EvalSet, metric: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the size of the metric's difference and the kind (an index of `_KINDS`) of each pair within segments."""
    i, j = np.triu_indices(len(es.systems), 1)
    dh, dm = (scores[i] - scores[j] for scores in (es.human, es[metric]))
    kinds = np.where(dh == 0, 0, np.where(np.sign(dh) == np.sign(dm), 1, 2))
    return np.abs(dm)[~np.isnan(dh + dm)], kinds[~np.isnan(dh + dm)]


def _thinned(array: np.ndarray, n: int, *kept: int) -> np.ndarray:
    """Return at most about ``n`` indices of an array, evenly spread, with the ends and those to be kept."""
    return np.unique([*np.linspace(0, len(array) - 1, min(n, len(array))).round().astype(int), *kept])


def threshold(es: EvalSet | pd.DataFrame, metric: str, *, start: float = 0) -> Interactive:
    """Let a knob turn the tie threshold: which pairs the metric then calls equal, and what acc_eq becomes.

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
        Where there are at most 200 pairs, each is drawn. The knob stops at about 60 thresholds, if there are more: at
        0, the best and the largest, the others evenly spread.

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
    found, (sizes, kinds) = calibrate_ties(es, metric), _pairs(es, metric)
    end = 1.15 * float(found.thresholds[-1]) or 1.0
    stops = found.thresholds[_thinned(found.thresholds, _POSITIONS, int(np.argmax(found.curve)))]
    at = np.searchsorted(found.thresholds, stops)
    values = {"epsilon": _numbers(stops), "acc_eq": _numbers(found.curve[at])}
    marks = []  # one lane a kind; neighbours stand at different heights
    for k, (_, key, shape, colour) in enumerate(_KINDS):
        own = np.sort(sizes[kinds == k])
        values[f"tied_{key}"] = np.searchsorted(own, stops, side="right").tolist()
        values[f"apart_{key}"] = [len(own) - n for n in values[f"tied_{key}"]]
        marks += [(x, 2 - k + 0.14 * (n % 5 - 2), shape, colour) for n, x in enumerate(own.tolist())]
    drawn = _thinned(found.thresholds, 400, *at)
    x, y = (_numbers(np.repeat(column[drawn], 2)) for column in (found.thresholds, found.curve))
    curve = Line("acc_eq", [*x[1:], end], y, "acc_eq")  # a step keeps its height until the next threshold
    low, high = float(found.curve.min()), float(found.curve.max())
    room = 0.08 * (high - low) or 0.05
    height, across = (low - room, high + room), {"x_range": (0, end), "knob": "epsilon", "shaded": True}
    panels = [Panel(f"threshold, in units of {metric}", "acc_eq", y_range=height, lines=(curve,), **across)]
    if len(sizes) <= _MOST_MARKS:
        names = {"y_names": ("other", "same", "equal"), "y_range": (-0.5, 2.5)}
        panels.insert(0, Panel(f"difference of two scores of {metric}", "", marks=tuple(marks), **names, **across))
    rows = [((shape, colour), name, f"tied_{key}", f"apart_{key}") for name, key, shape, colour in _KINDS]
    shown = {key: _words(column, 3 if key == "acc_eq" else 0) for key, column in values.items() if key != "epsilon"}
    return Interactive(
        label="Threshold",
        positions=tuple(f"{stop:.4g}" for stop in stops),
        start=int(np.argmin(np.abs(stops - start))),
        values=values,
        shown=shown,
        panels=tuple(panels),
        table=(("pairs", "called equal", "told apart"), *rows, ((0, COLOURS[0]), "acc_eq", "acc_eq", "")),
        description=f"acc_eq of {metric} against the tie threshold. Pairs whose difference is at most the threshold "
        "a shaded part; the table below counts them. The slider moves the threshold.",
    )


def lines(
    table: pd.DataFrame, *, knob: str, value: str, columns: pd.DataFrame | None = None, start: object = None
) -> Interactive:
    """Let a knob move along the x-axis of a line chart, with the values there in a table below it.

    Parameters
    ----------
    table : pandas.DataFrame
        One row for each position of the knob, by ascending number; one column for each line. Missing values are left
        out. An index of several levels gives each level but the last a knob of its own, under its name: a menu for
        texts, a slider for numbers. Each choice then has its own lines, with the same number of positions, at least 0.
    knob, value : str
        What the knob turns (the x-axis), and what the lines show (the y-axis).
    columns : pandas.DataFrame, optional
        More values to show with that of a line: the same rows, and columns ``(heading, line)``; texts or numbers.
    start : optional
        The row at first; the last one by default.

    Returns
    -------
    Interactive
        Its ``values`` are ``knob`` and, by its number from 0, ``line 0`` and so on.

    Raises
    ------
    ValueError
        If there is no position, no line or no finite value, the positions do not ascend, choices are not complete,
        ``start`` is no row, or ``columns`` has other rows or unknown lines.

    Examples
    --------
    >>> import pandas as pd
    >>> import mtmeta as mm
    >>> lines = pd.DataFrame({"constant": [0, .5, 1], "noise": [.5, .25, 0]}, index=[0, .5, 1])
    >>> figure = mm.book.interactive.lines(lines, knob="share of ties", value="acc_eq")
    >>> figure.positions, figure.values["line 1"]
    (('0', '0.5', '1'), [0.5, 0.25, 0.0])
    """
    *levels, x = (table.index.get_level_values(k) for k in range(table.index.nlevels))
    choices = {str(level.name): tuple(level.unique()) for level in levels}
    x, heights = x.to_numpy(dtype=float), table.to_numpy(dtype=float)
    finite, some = heights[np.isfinite(heights)], list(table.index)[:5]
    if not finite.size:
        raise ValueError(f"`table` must hold a row, a column and a finite value; its shape is {table.shape}.")
    groups = list(itertools.product(*choices.values()))
    n = len(x) // len(groups)
    if (
        list(zip(*levels, strict=True)) != [group for group in groups if choices for _ in range(n)]
        or not np.isfinite(x).all()
        or (np.diff(x.reshape(-1, n)) <= 0).any()
        or (choices and not 0 <= x.min() < x[n - 1])
    ):
        raise ValueError(f"the rows of `table` must ascend, as many for each choice in turn; found {some}.")
    if start is not None and start not in list(table.index):
        raise ValueError(f"`start` must be a row of `table`; found {start!r}, and rows {some}.")
    columns = pd.DataFrame(index=table.index) if columns is None else columns
    headings = list(dict.fromkeys(heading for heading, _ in columns))
    unknown = sorted({str(line) for _, line in columns} - set(map(str, table)))
    if unknown or not columns.index.equals(table.index):
        raise ValueError(f"`columns` must have the rows of `table`, and its lines; unknown lines: {unknown}.")
    now = len(x) - 1 if start is None else list(table.index).index(start)
    keys = {name: f"line {k}" for k, name in enumerate(table.columns)}
    values = {"knob": _numbers(x)} | {key: _numbers(table[name]) for name, key in keys.items()}
    shown = {key: _words(values[key], 3) for key in keys.values()}
    for heading, name in columns:
        shown[f"{keys[name]}, {headings.index(heading)}"] = [*map(str, columns[heading, name])]
    x_ticks = ()
    if choices:  # each has its own scale on x
        ends = x.reshape(-1, n)[:, -1]
        values["knob"] = _numbers(x / ends.repeat(n))
        x_ticks = tuple((k / 4, f"tick {k}") for k in range(5))
        shown |= {key: [f"{tick * end:.3g}" for end in ends] for tick, key in x_ticks}
        shown |= {f"choice {k}": [str(group[k]) for group in groups] for k in range(len(choices))}
    own = slice(now - now % n, now - now % n + n)
    at = np.array(values["knob"][own])
    drawn = tuple(Line(str(name), values["knob"][own], values[key][own], key) for name, key in keys.items())
    rows = []
    for k, (name, key) in enumerate(keys.items()):
        extra = (f"{key}, {h}" for h in range(len(headings)))
        rows.append(((k % 4, COLOURS[k % len(COLOURS)]), str(name), key, *(e if e in shown else "" for e in extra)))
    room, margin = 0.06 * np.ptp(finite) or 0.05, 0.02 * np.ptp(at) or 0.5
    ranges = {"x_range": (at[0] - margin, at[-1] + margin), "y_range": (finite.min() - room, finite.max() + room)}
    panel = Panel(knob, value, **ranges, knob="knob", lines=drawn, x_ticks=x_ticks)
    return Interactive(
        label=knob[:1].upper() + knob[1:],
        positions=tuple(f"{position:g}" for position in x),
        start=now,
        values=values,
        shown=shown,
        panels=(panel,),
        table=(("", value, *headings), *rows),
        description=f"{value} against {knob}, one line each for {', '.join(map(str, keys))}. "
        "The slider moves along the lines; the table below has the values there.",
        choices={label[:1].upper() + label[1:]: options for label, options in choices.items()},
    )
