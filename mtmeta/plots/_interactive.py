"""Figures with a knob: HTML and SVG without any library, and a picture of the start state where HTML is not shown.

Every position of the knob is computed here and travels with the figure; `_interactive.js` moves what is drawn.
"""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from importlib import resources

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from .._checks import check_count
from ..agreement import grouped
from ..evalset import EvalSet, as_evalset
from ..ties import calibrate_ties
from ._style import COLOURS, MARKERS, in_legend, names_as_written

DIGITS = 6  # what values are rounded to, so that two machines write the same text
WIDTH, HEIGHT = 440, 190  # of a panel, in units of the SVG
LEFT, RIGHT, TOP, BOTTOM = 46, 10, 10, 38
_DASHES = ("", "7 3", "2 3", "9 3 2 3")
_MPL_DASHES = ("-", "--", ":", "-.")
_SHAPES = {
    "o": '<circle cx="{x}" cy="{y}" r="4"/>',
    "^": '<path d="M{x} {y}m0 -5l5 9h-10z"/>',
    "X": '<path d="M{x} {y}m-4 -4l8 8m0 -8l-8 8" fill="none" stroke-width="2.4"/>',
}


@dataclass(frozen=True)
class Line:
    """A line of a panel, and the value on it that a point follows."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    key: str | None = None
    style: int = 0
    colour: str | None = None
    steps: bool = False


@dataclass(frozen=True)
class Panel:
    """Axes: lines, marks ``(x, y, shape, colour)``, what moves with the value ``knob``; ``whole``: no halves on x."""

    x_label: str
    y_label: str
    x_range: tuple[float, float]
    y_range: tuple[float, float]
    knob: str
    lines: tuple[Line, ...] = ()
    marks: tuple[tuple[float, float, str, str], ...] = ()
    y_names: tuple[str, ...] = ()
    shaded: bool = False
    whole: bool = False

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Return where a point of the data lies, in units of the SVG."""
        (x0, kx), (y0, ky) = self.scale()
        return round(x0 + kx * x, 2), round(y0 + ky * y, 2)

    def scale(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return offset and factor of both axes."""
        (a, b), (c, d) = self.x_range, self.y_range
        kx, ky = (WIDTH - LEFT - RIGHT) / (b - a), -(HEIGHT - TOP - BOTTOM) / (d - c)
        return (round(LEFT - kx * a, 4), round(kx, 6)), (round(HEIGHT - BOTTOM - ky * c, 4), round(ky, 6))


@dataclass(frozen=True)
class Interactive:
    """A figure with a knob, as `interactive_threshold` and `interactive_lines` make it.

    Notebooks and the site show HTML, with a slider that the keyboard moves too. Without JavaScript, in print, and where
    HTML is not shown, it is a picture of the start position.

    Attributes
    ----------
    label : str
        What the knob turns.
    positions : tuple of str
        What the knob shows at each position.
    start : int
        The position at first.
    values : dict of str to list
        By name, a value for each position; None where there is none.
    shown : dict of str to list of str
        The same as text, for the table below the figure.
    panels : tuple
        What is drawn.
    table : tuple of tuples
        The rows below the figure, the first one its head. A cell is a text, or a pair ``("key", name)``.
    description : str
        The figure in words, for those who do not see it.
    """

    label: str
    positions: tuple[str, ...]
    start: int
    values: dict[str, list]
    shown: dict[str, list[str]]
    panels: tuple[Panel, ...]
    table: tuple[tuple, ...]
    description: str
    swatches: dict[str, tuple] = field(default_factory=dict)

    def to_html(self) -> str:
        """Return the figure as a piece of HTML that needs nothing else."""
        data = {key: getattr(self, key) for key in ("positions", "values", "shown")}
        text = json.dumps(data, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
        for character in "<>&":  # no name can end the script element
            text = text.replace(character, f"\\u{ord(character):04x}")
        files = resources.files(__package__)
        style, script = (files.joinpath(f"_interactive.{kind}").read_text(encoding="utf-8") for kind in ("css", "js"))
        height = HEIGHT * len(self.panels)
        drawn = "".join(
            f'<g transform="translate(0 {k * HEIGHT})">{_svg(panel, self)}</g>' for k, panel in enumerate(self.panels)
        )
        return (
            f'<div class="mtmeta-knob" data-start="{self.start}">\n<style>\n{style}</style>\n'
            f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(self.description)}">{drawn}</svg>\n'
            f'<div class="knob"><label><span>{escape(self.label)}</span><input type="range" min="0" '
            f'max="{len(self.positions) - 1}" step="1" value="{self.start}" hidden></label>'
            f'<output data-text="position">{escape(self.positions[self.start])}</output></div>\n'
            f"{self._table()}\n"
            f'<script type="application/json">{text}</script>\n<script>\n{script}</script>\n</div>'
        )

    def _table(self) -> str:
        head, *rows = self.table
        lines = ["".join(f'<th scope="col">{escape(cell)}</th>' if cell else "<td></td>" for cell in head)]
        for first, *cells in rows:
            start = f'<th scope="row">{_swatch(self.swatches.get(first))}{escape(first)}</th>'
            lines.append(start + "".join(map(self._cell, cells)))
        return "<table>" + "".join(f"<tr>{line}</tr>\n" for line in lines) + "</table>"

    def _cell(self, cell: str | tuple[str, str]) -> str:
        if isinstance(cell, str):
            return f"<td>{escape(cell)}</td>"
        key = cell[1]
        return f'<td data-text="{escape(key)}">{escape(self.shown[key][self.start])}</td>'

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


def _colour(line: Line, k: int) -> str:
    return line.colour or COLOURS[k % len(COLOURS)]


def _swatch(about: tuple | None) -> str:
    """Return what a row of the table stands for, as it is drawn: a stretch of a line, or a mark."""
    if about is None:
        return ""
    kind, colour = about
    drawn = (
        f'<path d="M0 7h30" stroke-width="2.4" stroke-dasharray="{_DASHES[kind % len(_DASHES)]}"/>'
        if isinstance(kind, int)
        else _SHAPES[kind].format(x=15, y=7)
    )
    fill = "none" if isinstance(kind, int) else colour
    return f'<svg viewBox="0 0 30 14" aria-hidden="true" fill="{fill}" stroke="{colour}">{drawn}</svg>'


def _ticks(low: float, high: float, whole: bool = False) -> np.ndarray:
    ticks = MaxNLocator(5, steps=[1, 2, 2.5, 5, 10], integer=whole).tick_values(low, high)
    return ticks[(ticks >= low) & (ticks <= high)] + 0.0


def _corners(line: Line) -> list[tuple[float, float]]:
    """Return the corners of a line; a step keeps its height until the next one."""
    points = [(x, y) for x, y in zip(line.x, line.y, strict=True) if np.isfinite(y)]
    if line.steps:
        ends = [*(x for x, _ in points[1:]), line.x[-1]]
        return [corner for (x, y), end in zip(points, ends, strict=True) for corner in ((x, y), (end, y))]
    return points


def _axes_svg(panel: Panel) -> str:
    (a, b), (c, d) = panel.x_range, panel.y_range
    bottom, parts = panel.at(a, c)[1], []
    for tick in _ticks(a, b, panel.whole):
        x = panel.at(tick, c)[0]
        parts.append(f'<path class="tick" d="M{x} {bottom}v4"/><text x="{x}" y="{bottom + 16}">{tick:g}</text>')
    heights = dict(enumerate(panel.y_names)) if panel.y_names else {t: f"{t:g}" for t in _ticks(c, d)}
    for tick, name in heights.items():
        y = panel.at(a, tick)[1]
        mark = "" if panel.y_names else f'<path class="tick" d="M{LEFT} {y}h-4"/>'
        parts.append(f'{mark}<text class="y" x="{LEFT - 7}" y="{y + 4}">{escape(str(name))}</text>')
    parts.append(f'<path class="tick" d="M{LEFT} {TOP}V{bottom}H{WIDTH - RIGHT}"/>')
    middle = (TOP + bottom) / 2
    parts.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 5}">{escape(panel.x_label)}</text>')
    parts.append(f'<text transform="translate(12 {middle}) rotate(-90)">{escape(panel.y_label)}</text>')
    return "".join(parts)


def _svg(panel: Panel, figure: Interactive) -> str:
    """Return the panel at the start position; what moves says with which value."""
    c, now = panel.y_range[0], figure.values[panel.knob][figure.start]
    x, bottom = panel.at(now, c)
    parts = [f'<rect class="paper" width="{WIDTH}" height="{HEIGHT}"/>']
    if panel.shaded:
        size = round(max(x - LEFT, 0), 2)
        box = f'x="{LEFT}" y="{TOP}" width="{size}" height="{round(bottom - TOP, 2)}"'
        parts.append(f'<rect class="tied" data-width="{escape(panel.knob)}" {box}/>')
    parts.append(
        f'<path class="now" data-x="{escape(panel.knob)}" transform="translate({x} 0)" d="M0 {TOP}V{bottom}"/>'
    )
    for k, line in enumerate(panel.lines):
        points = " ".join("{},{}".format(*panel.at(*corner)) for corner in _corners(line))
        dash = _DASHES[line.style % len(_DASHES)]
        parts.append(
            f'<polyline points="{points}" fill="none" stroke="{_colour(line, k)}" stroke-width="2" '
            f'stroke-dasharray="{dash}"/>'
        )
    for mark_x, mark_y, shape, colour in panel.marks:
        place = dict(zip("xy", panel.at(mark_x, mark_y), strict=True))
        parts.append(f'<g fill="{colour}" stroke="{colour}">{_SHAPES[shape].format(**place)}</g>')
    for k, line in enumerate(panel.lines):
        if line.key is not None:
            height = figure.values[line.key][figure.start]
            spot = panel.at(now, c if height is None else height)
            where = f'data-x="{escape(panel.knob)}" data-y="{escape(line.key)}"'
            where += ' visibility="hidden"' if height is None else ""
            at = f'transform="translate({spot[0]} {spot[1]})"'
            parts.append(f'<circle class="spot" {where} {at} r="5" fill="{_colour(line, k)}"/>')
    scale = json.dumps(panel.scale(), separators=(",", ":"))
    return f'<g data-scale="{scale}">{"".join(parts)}{_axes_svg(panel)}</g>'


def _draw(ax: Axes, panel: Panel, figure: Interactive) -> None:
    """Draw the panel at the start position with matplotlib."""
    now = figure.values[panel.knob][figure.start]
    if panel.shaded:
        ax.axvspan(panel.x_range[0], now, color=COLOURS[4], alpha=0.25, linewidth=0)
    ax.axvline(now, color="black", linewidth=1)
    for k, line in enumerate(panel.lines):
        style = {"color": _colour(line, k), "linestyle": _MPL_DASHES[line.style % len(_MPL_DASHES)]}
        corners = np.array(_corners(line)).reshape(-1, 2)
        ax.plot(*corners.T, label=in_legend(line.name), **style)
        if line.key is not None and figure.values[line.key][figure.start] is not None:
            ax.plot(now, figure.values[line.key][figure.start], MARKERS[0], color=style["color"])
    for x, y, shape, colour in panel.marks:
        ax.plot(x, y, shape, color=colour, markersize=5)
    if panel.y_names:
        ax.set_yticks(range(len(panel.y_names)), panel.y_names)
    ax.set(xlim=panel.x_range, ylim=panel.y_range, xlabel=panel.x_label, ylabel=panel.y_label)
    ax.set_xticks(_ticks(*panel.x_range, panel.whole))
    ax.spines[["top", "right"]].set_visible(False)
    if len(panel.lines) > 1:
        ax.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)


def _numbers(values: Sequence[float]) -> list:
    """Return numbers that JSON can hold, rounded; None for what is not finite."""
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
_MOST_MARKS = 200


def _pairs(es: EvalSet, metric: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the size of the metric's difference and the kind (an index of `_KINDS`) of each pair within segments."""
    cells, sizes, kinds = grouped(es, metric, "segment"), [], []
    for begin, end in zip(cells.starts[:-1], cells.starts[1:], strict=True):
        i, j = np.triu_indices(end - begin, 1)
        dh, dm = (v[begin:end][i] - v[begin:end][j] for v in (cells.human, cells.metric))
        sizes.append(np.abs(dm))
        kinds.append(np.where(dh == 0, 0, np.where(np.sign(dh) == np.sign(dm), 1, 2)))
    return np.concatenate(sizes), np.concatenate(kinds)


def _marks(sizes: np.ndarray, kinds: np.ndarray) -> list[tuple[float, float, str, str]]:
    """Place pairs in one lane a kind; neighbours stand at different heights."""
    marks = []
    for k, (_, _, shape, colour) in enumerate(_KINDS):
        own = np.sort(sizes[kinds == k])
        marks += [(x, 2 - k + 0.14 * (n % 5 - 2), shape, colour) for n, x in enumerate(own.tolist())]
    return marks


def _thinned(array: np.ndarray, n: int, *kept: int) -> np.ndarray:
    """Return at most about ``n`` indices of an array, evenly spread, with the ends and those to be kept."""
    return np.unique([*np.linspace(0, len(array) - 1, min(n, len(array))).round().astype(int), *kept])


def interactive_threshold(es: EvalSet | pd.DataFrame, metric: str, *, n_positions: int = 60) -> Interactive:
    """Let a knob turn the tie threshold: which pairs the metric then calls equal, and what acc_eq becomes.

    Parameters
    ----------
    es : EvalSet or pandas.DataFrame
        Pairs are formed within segments.
    metric : str
    n_positions : int
        At how many thresholds the knob can stop, about, if there are more: at 0, the best and the largest, the others
        evenly spread.

    Returns
    -------
    Interactive
        Its ``values`` are ``epsilon`` (the threshold, in units of the metric), ``acc_eq`` (mean over segments, in
        [0, 1]; higher is better), and numbers of pairs: ``tied_equal, tied_same, tied_other`` of those that the metric
        calls equal, ``apart_equal, apart_same, apart_other`` of those that it tells apart. *equal*: humans tie them;
        *same*: metric and humans have one order; *other*: they have not, or the metric itself ties what humans do not.
        Where there are at most 200 pairs, each is drawn.

    Raises
    ------
    ValueError
        If the metric is unknown, no segment has two scored translations, or ``n_positions`` is below 2.

    Examples
    --------
    >>> import mtmeta as mm
    >>> es = mm.EvalSet([[5], [3], [5], [5]], {"m": [[.6], [.5], [.4], [.4]]}, systems=list("ABCD"))
    >>> figure = mm.plots.interactive_threshold(es, "m")
    >>> figure.values["acc_eq"]
    [0.333333, 0.166667, 0.5]
    >>> figure.values["tied_equal"]
    [1, 1, 3]
    """
    n_positions = check_count("n_positions", n_positions, 2)
    es = as_evalset(es)
    found, (sizes, kinds) = calibrate_ties(es, metric), _pairs(es, metric)
    end = 1.03 * float(found.thresholds[-1]) or 1.0
    stops = found.thresholds[_thinned(found.thresholds, n_positions, int(np.argmax(found.curve)))]
    at = np.searchsorted(found.thresholds, stops)
    values = {"epsilon": _numbers(stops), "acc_eq": _numbers(found.curve[at])}
    for k, (_, key, *_) in enumerate(_KINDS):
        own = np.sort(sizes[kinds == k])
        values[f"tied_{key}"] = np.searchsorted(own, stops, side="right").tolist()
        values[f"apart_{key}"] = [len(own) - n for n in values[f"tied_{key}"]]
    drawn = _thinned(found.thresholds, 400, *at)
    curve = Line("acc_eq", _numbers(found.thresholds[drawn]), _numbers(found.curve[drawn]), "acc_eq", steps=True)
    low, high = float(found.curve.min()), float(found.curve.max())
    room = 0.08 * (high - low) or 0.05
    x_axis = f"threshold, in units of {metric}"
    panels = [Panel(x_axis, "acc_eq", (0, end), (low - room, high + room), "epsilon", (curve,), shaded=True)]
    if len(sizes) <= _MOST_MARKS:
        names = tuple(key for _, key, *_ in reversed(_KINDS))
        marks = Panel(
            f"difference of two scores of {metric}", "", (0, end), (-0.5, 2.5), "epsilon",
            marks=tuple(_marks(sizes, kinds)), y_names=names, shaded=True,
        )  # fmt: skip
        panels.insert(0, marks)
    rows = [(name, ("key", f"tied_{key}"), ("key", f"apart_{key}")) for name, key, *_ in _KINDS]
    shown = {key: _words(column, 3 if key == "acc_eq" else 0) for key, column in values.items() if key != "epsilon"}
    return Interactive(
        label="Threshold",
        positions=tuple(f"{stop:.4g}" for stop in stops),
        start=0,
        values=values,
        shown=shown,
        panels=tuple(panels),
        table=(("pairs", "called equal", "told apart"), *rows, ("acc_eq", ("key", "acc_eq"), "")),
        description=f"acc_eq of {metric} against the tie threshold. Pairs whose difference is at most the threshold "
        "a shaded part; the table below counts them. The slider moves the threshold.",
        swatches={name: (shape, colour) for name, _, shape, colour in _KINDS} | {"acc_eq": (0, COLOURS[0])},
    )


def interactive_lines(
    lines: pd.DataFrame,
    *,
    knob: str,
    value: str,
    columns: pd.DataFrame | None = None,
    start: float | None = None,
    digits: int = 3,
    description: str | None = None,
) -> Interactive:
    """Let a knob move along the x-axis of a line chart, with the values there in a table below it.

    Parameters
    ----------
    lines : pandas.DataFrame
        One row for each position of the knob, by ascending number; one column for each line. Missing values are left
        out.
    knob, value : str
        What the knob turns (the x-axis), and what the lines show (the y-axis).
    columns : pandas.DataFrame, optional
        More to show beside the value of a line: the same rows, and columns ``(heading, line)``; texts or numbers.
    start : float, optional
        The position at first; the last one by default.
    digits : int
        How many digits of a value to show.
    description : str, optional
        The figure in words, for those who do not see it; made from the other arguments by default.

    Returns
    -------
    Interactive
        Its ``values`` are ``knob`` and, by its number from 0, ``line 0`` and so on.

    Raises
    ------
    ValueError
        If there is no position, no line or no finite value, the positions do not ascend, ``start`` is none of them, or
        ``columns`` has other rows or unknown lines.

    Examples
    --------
    >>> import pandas as pd
    >>> import mtmeta as mm
    >>> lines = pd.DataFrame({"constant": [0, .5, 1], "noise": [.5, .25, 0]}, index=[0, .5, 1])
    >>> figure = mm.plots.interactive_lines(lines, knob="share of ties", value="acc_eq")
    >>> figure.positions, figure.values["line 1"]
    (('0', '0.5', '1'), [0.5, 0.25, 0.0])
    """
    x = lines.index.to_numpy(dtype=float)
    if not lines.size or not np.isfinite(lines.to_numpy(dtype=float)).any():
        raise ValueError(f"`lines` must hold a row, a column and a finite value; its shape is {lines.shape}.")
    if not np.isfinite(x).all() or (np.diff(x) <= 0).any():
        raise ValueError(f"the rows of `lines` must ascend; found {list(lines.index)[:5]}.")
    if start is not None and start not in lines.index:
        raise ValueError(f"`start` must be a row of `lines`; found {start!r}, and rows {list(lines.index)[:5]}.")
    columns = pd.DataFrame(index=lines.index) if columns is None else columns
    headings = list(dict.fromkeys(heading for heading, _ in columns.columns))
    unknown = sorted({str(line) for _, line in columns.columns} - set(map(str, lines.columns)))
    if unknown or not columns.index.equals(lines.index):
        raise ValueError(f"`columns` must have the rows of `lines`, and its lines; unknown lines: {unknown}.")
    keys = {name: f"line {k}" for k, name in enumerate(lines.columns)}
    values = {"knob": _numbers(x)} | {key: _numbers(lines[name]) for name, key in keys.items()}
    shown = {key: _words(values[key], digits) for key in keys.values()}
    for heading, name in columns.columns:
        shown[f"{keys[name]}, {headings.index(heading)}"] = [str(cell) for cell in columns[heading, name]]
    drawn = tuple(
        Line(str(name), values["knob"], [np.nan if v is None else v for v in values[key]], key, style=k % 4)
        for k, (name, key) in enumerate(keys.items())
    )
    extra = {name: [(f"{key}, {h}") for h in range(len(headings))] for name, key in keys.items()}
    rows = [
        (str(name), ("key", key), *(("key", cell) if cell in shown else "" for cell in extra[name]))
        for name, key in keys.items()
    ]
    finite = lines.to_numpy(dtype=float)[np.isfinite(lines.to_numpy(dtype=float))]
    room, margin = 0.06 * np.ptp(finite) or 0.05, 0.02 * np.ptp(x) or 0.5
    panel = Panel(
        knob, value, (x[0] - margin, x[-1] + margin), (finite.min() - room, finite.max() + room), "knob", drawn,
        whole=bool((x == np.round(x)).all()),
    )  # fmt: skip
    return Interactive(
        label=knob[:1].upper() + knob[1:],
        positions=tuple(f"{position:g}" for position in x),
        start=len(x) - 1 if start is None else int(lines.index.get_loc(start)),
        values=values,
        shown=shown,
        panels=(panel,),
        table=(("", value, *headings), *rows),
        description=description
        or f"{value} against {knob}, one line each for {', '.join(map(str, keys))}. "
        "The slider moves along the lines; the table below has the values there.",
        swatches={str(name): (k % 4, COLOURS[k % len(COLOURS)]) for k, name in enumerate(keys)},
    )
