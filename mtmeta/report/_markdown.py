"""The report as Markdown."""

from __future__ import annotations

import numpy as np

from .._escapes import markdown, visible
from ._claims import by_verdict
from ._display import between, number, percent, sample, tables
from ._facts import Facts
from ._labels import AGAIN


def _e(text: object) -> str:
    return markdown(visible(text))


def _table(headings: list[str], rows: list[list[str]]) -> str:
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join(
        "| " + " | ".join(cell if k == 1 else _e(cell) for cell in line) + " |" for k, line in enumerate(lines)
    )


def text(report: Facts) -> str:
    """Return the whole report."""
    out = ["# Is this metric any good?"]
    for found in report.findings:
        out.append(f"## {_e(found.metric)} on {_e(found.set)}")
        out.append("### What to claim, and what not to")
        rows = []
        for c in by_verdict(found.claims):
            value = "" if np.isnan(c["value"]) else f"{c['statistic']}: {number(c['value'])}"
            size = between(c["low"], c["high"]), sample(c["n"], c["unit"])
            rows.append([c["verdict"], c["claim"], value, *size, c["reason"], c["chapter"]])
        interval = f"{percent(report.level)} interval"
        out.append(_table(["verdict", "claim", "number", interval, "n", "why", "chapter"], rows))
        for section in found.sections.values():
            out.append(f"### {_e(section.words['title'])}")
            out += [_e(line) for line in section.sentences]
            for table in tables(section, found.metric, report.level):
                out += [f"{_e(table.caption)}:", _table(table.headings, table.rows)]
            if section.skipped:
                out.append("Not computed:")
                out.append("\n".join(f"- {_e(row['what'])}: {_e(row['reason'])}" for row in section.skipped))
    out += [
        "## How this was computed",
        f"mtmeta {_e(report.version)}, seed {report.seed}. {AGAIN}",
        _e(report.signature),
    ]
    return "\n\n".join(out) + "\n"
