"""The table of what the book claims, as a Sphinx directive.

`{evidence}` makes one table of `evidence.toml`, which lies beside the page: a claim and the pages that show it, then
what is known of it from simulated campaigns, WMT23 and WMT24, and what would refute it. Numbers that were measured
stand in `evidence.csv`, a row for each data set; the text holds places for them:

    [[blind: r]]             median and range of a column over the simulated campaigns
    [[en-de|blind: r]]       its value on one set, by the end of the set's name
    [[blind: r|%]]           the same as percentages
    [[blind: r|mean %]]      mean and range as percentages

Every claim has a label, `evidence-` and its id.
"""

from __future__ import annotations

import csv
import re
import statistics
import tomllib
from pathlib import Path

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

COLUMNS = {"simulated": "Simulated", "wmt23": "WMT23", "wmt24": "WMT24", "refuted": "What would refute it"}
PLACE = re.compile(r"\[\[(?:(en-\w\w)\|)?(.+?)(?:\|((?:mean )?%))?\]\]")


def read(folder: Path) -> tuple[list[dict], list[dict[str, str]]]:
    """Return the claims and the measured rows."""
    claims = tomllib.loads((folder / "evidence.toml").read_text(encoding="utf-8"))["claim"]
    with (folder / "evidence.csv").open(encoding="utf-8", newline="") as file:
        return claims, list(csv.DictReader(file))


def shown(value: float, unit: str | None) -> str:
    """Return a number as the book writes it."""
    if unit:
        return f"{100 * value:.0f}"
    if abs(value) >= 1 or value == 0:
        return f"{value:g}".replace("-", "−")
    return f"{value:.{3 if abs(value) >= 0.001 else 4}f}".replace("0.", ".", 1).replace("-", "−")


def fill_in(text: str, rows: list[dict[str, str]]) -> str:
    """Return the text with measured numbers in their places."""

    def measured(place: re.Match) -> str:
        pair, column, unit = place.groups()
        of = [row for row in rows if (row["set"].endswith(pair) if pair else row["set"].startswith("campaign"))]
        values = [float(row[column]) for row in of if row[column]]
        if not values:
            raise ValueError(f"nothing was measured for {place[0]}")
        if pair:
            return shown(values[0], unit) + (" %" if unit else "")
        centre = statistics.mean if unit == "mean %" else statistics.median
        low, middle, high = (shown(f(values), unit) for f in (min, centre, max))
        middle += " %" if unit else ""
        return middle if min(values) == max(values) else f"{middle} ({low} to {high})"

    return PLACE.sub(measured, text)


class Evidence(SphinxDirective):
    """All claims, one after the other."""

    def run(self) -> list[nodes.Node]:
        folder = Path(self.env.doc2path(self.env.docname)).parent
        for name in ("evidence.toml", "evidence.csv"):
            self.env.note_dependency(str(folder / name))
        claims, rows = read(folder)
        group = nodes.tgroup("", *(nodes.colspec(colwidth=1) for _ in COLUMNS), cols=len(COLUMNS))
        head = nodes.row("", *(nodes.entry("", nodes.paragraph("", label)) for label in COLUMNS.values()))
        body = nodes.tbody()
        for claim in claims:
            pages = ", ".join(f"{{doc}}`/{page}`" for page in claim["pages"])
            lines = [f"(evidence-{claim['id']})=", f"**{claim['claim']}** Shown in {pages}."]
            body += nodes.row("", self.cell(lines, morecols=len(COLUMNS) - 1, classes=["claim"]))
            body += nodes.row("", *(self.cell([fill_in(claim[column], rows)]) for column in COLUMNS))
        group += [nodes.thead("", head), body]
        return [nodes.table("", group, classes=["evidence"])]

    def cell(self, lines: list[str], **options) -> nodes.entry:
        entry = nodes.entry("", **options)
        self.state.nested_parse(StringList(lines, "evidence.toml"), self.content_offset, entry)
        return entry


def setup(app) -> dict:
    """Register the directive."""
    app.add_directive("evidence", Evidence)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
