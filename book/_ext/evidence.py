"""What the book claims, as a Sphinx directive.

`{evidence} overview` turns `evidence.toml`, which lies beside the page, into a table of all claims with their main
numbers and the finding of the front page that rests on each. `{evidence} cards` makes, by topic, a card for each claim:
how sure it is, what would refute it and, folded, what simulated campaigns, WMT23 and WMT24 show.
Numbers that were measured stand in `evidence.csv`, a row for each data set; the text holds places for them:

    [[blind: r]]             median and range of a column over the simulated campaigns
    [[en-de|blind: r]]       its value on one set, by the end of the set's name
    [[blind: r|%]]           the same as percentages
    [[blind: r|mean %]]      mean and range as percentages
    [[blind: r|median]]      the median alone, or as percentage with "median %"
    [[.485 / .65|%]]         a part of a whole as percentage
    [[saved: a > saved: b]]  in how many of the simulated campaigns the one exceeds the other

Every claim has a label, `evidence-` and its id; so has every topic. Anchors of claims that were folded into a claim
are listed under `also`.
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

KINDS = {"simulated": "Simulated", "wmt23": "WMT23", "wmt24": "WMT24's news"}
NOTHING = "–"  #: In the overview, where nothing was tested.
#: The texts of a claim; numbers in them are checked.
COLUMNS = (*KINDS, "refuted")
MARKS = {"holds": "✓ holds", "mixed": "≈ mixed", "part": "(✓) in part", "none": "– not tested"}
PLACE = re.compile(r"\[\[(?:(en-\w\w)\|)?(.+?)(?:\|(median|(?:mean |median )?%))?\]\]")


def read(folder: Path) -> tuple[dict, list[dict[str, str]]]:
    """Return the sizes, topics and claims, and the measured rows."""
    book = tomllib.loads((folder / "evidence.toml").read_text(encoding="utf-8"))
    with (folder / "evidence.csv").open(encoding="utf-8", newline="") as file:
        return book, list(csv.DictReader(file))


def shown(value: float, unit: str | None) -> str:
    """Return a number as the book writes it."""
    if unit and unit.endswith("%"):
        return f"{100 * value:.{int(unit == 'mean %')}f}".removesuffix(".0")
    if abs(value) >= 1 or value == 0:
        return f"{value:g}".replace("-", "−")
    return f"{value:.{3 if abs(value) >= 0.001 else 4}f}".replace("0.", ".", 1).replace("-", "−")


def fill_in(text: str, rows: list[dict[str, str]]) -> str:
    """Return the text with measured numbers in their places."""

    def measured(place: re.Match) -> str:
        pair, column, unit = place.groups()
        of = [row for row in rows if (row["set"].endswith(pair) if pair else row["set"].startswith("campaign"))]
        if " > " in column:
            more, less = column.split(" > ")
            return f"{sum(float(row[more]) > float(row[less]) for row in of)} of {len(of)}"
        if " / " in column:
            part, whole = map(float, column.split(" / "))
            return f"{shown(part / whole, unit)} %"
        values = [float(row[column]) for row in of if row[column]]
        if not values:
            raise ValueError(f"nothing was measured for {place[0]}")
        if pair:
            return shown(values[0], unit) + (" %" if unit else "")
        centre = statistics.mean if unit == "mean %" else statistics.median
        low, middle, high = (shown(f(values), unit) for f in (min, centre, max))
        middle += " %" if unit and unit.endswith("%") else ""
        alone = (unit or "").startswith("median") or min(values) == max(values)
        return middle if alone else f"{middle} ({low} to {high})"

    return PLACE.sub(measured, text)


def table(head: list[nodes.entry], rows: list[list[nodes.entry]], name: str) -> nodes.table:
    """Return a table; the widths of its columns are those of the style sheet."""
    group = nodes.tgroup("", *(nodes.colspec(colwidth=1) for _ in head), cols=len(head))
    group += nodes.thead("", nodes.row("", *head))
    group += nodes.tbody("", *(nodes.row("", *row) for row in rows))
    return nodes.table("", group, classes=[name])


def findings(front: str) -> dict[str, str]:
    """Return the number of the finding of the front page that names each claim."""
    parts = re.split(r"^### (\d)\. ", front.partition("## A way through")[0], flags=re.MULTILINE)
    numbered = zip(parts[1::2], parts[2::2], strict=True)
    return {claim: number for number, text in numbered for claim in re.findall(r"<evidence-(\w+)>", text)}


class Evidence(SphinxDirective):
    """The overview of all claims, or their cards by topic."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        folder = Path(self.env.doc2path(self.env.docname)).parent
        for name in ("evidence.toml", "evidence.csv", "index.md"):
            self.env.note_dependency(str(folder / name))
        self.book, self.rows = read(folder)
        if self.arguments[0] == "cards":
            return [*map(self.topic, self.book["topic"])]
        self.findings = findings((folder / "index.md").read_text(encoding="utf-8"))
        return [self.overview()]

    def overview(self) -> nodes.table:
        rows = []
        for topic in self.book["topic"]:
            rows.append([self.entry(f"{{ref}}`evidence-{topic['id']}`", morecols=3, classes=["topic"])])
            for claim in (claim for claim in self.book["claim"] if claim["topic"] == topic["id"]):
                marks = map(self.mark, claim["marks"], claim["short"])
                number = self.findings.get(claim["id"])
                found = f"\n\n{{ref}}`Finding {number} <finding-{number}>` of the front page" if number else ""
                rows.append([self.entry(f"{{ref}}`evidence-{claim['id']}`\n\n{claim['unit']}{found}"), *marks])
        head = [self.entry(label) for label in ("Claim", *KINDS.values())]
        return table(head, rows, "evidence-overview")

    def topic(self, topic: dict) -> nodes.section:
        section = self.section(topic["id"], topic["title"], topic["text"])
        section += [self.card(claim) for claim in self.book["claim"] if claim["topic"] == topic["id"]]
        return section

    def card(self, claim: dict) -> nodes.section:
        pages = ", ".join(f"{{doc}}`/{page}`" for page in claim["pages"])
        card = self.section(claim["id"], claim["claim"], f"{claim['why']}\n\n**What to do.** {claim['do']}")
        card["classes"].append("claim")
        card["ids"] += [f"evidence-{old}" for old in claim.get("also", [])]
        rows = []
        for kind, mark in zip(KINDS, claim["marks"], strict=True):
            n = "" if mark == "none" else claim.get("n", {}).get(kind, self.book["sizes"][kind])
            label = f"**{KINDS[kind]}**\n\n{MARKS[mark]}\n\n{n}"
            rows.append([self.entry(label, classes=["kind", f"mark-{mark}"]), self.entry(claim[kind])])
        card += self.parsed(f"**How sure.** {claim['sure']}\n\n**What would refute it.** {claim['refuted']}")
        card += self.parsed(":::{dropdown} The numbers\n:::")
        card[-1] += table([self.entry("Data"), self.entry("What they show")], rows, "evidence")
        card += self.parsed(f"**Shown in** {pages}.")
        return card

    def section(self, label: str, title: str, text: str) -> nodes.section:
        name = f"evidence-{label}"
        section = nodes.section("", nodes.title(title, title), ids=[name], names=[name])
        self.state.document.note_explicit_target(section, section)
        section += self.parsed(text)
        return section

    def mark(self, mark: str, number: str) -> nodes.entry:
        sign = MARKS[mark].split()[0]
        text = number if number == NOTHING else f"{sign} {number}"
        return self.entry(text, classes=["mark", f"mark-{mark}"])

    def entry(self, text: str, **options) -> nodes.entry:
        return nodes.entry("", *self.parsed(text), **options)

    def parsed(self, text: str) -> list[nodes.Node]:
        holder = nodes.Element()
        lines = fill_in(text, self.rows).splitlines()
        self.state.nested_parse(StringList(lines, "evidence.toml"), self.content_offset, holder)
        return holder.children


def setup(app) -> dict:
    """Register the directive."""
    app.add_directive("evidence", Evidence)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
