"""The report as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from .. import __version__
from ._claims import VERDICTS
from ._words import between, number, sample, tables, visible

if TYPE_CHECKING:
    from ._report import Report

_ESCAPES = str.maketrans({c: f"\\{c}" for c in r"\`*_[]<>|&~$#"})


def _e(text: object) -> str:
    return visible(text).translate(_ESCAPES)


def _table(headings: list[str], rows: list[list[str]]) -> str:
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join(
        "| " + " | ".join(cell if k == 1 else _e(cell) for cell in line) + " |" for k, line in enumerate(lines)
    )


def text(report: Report) -> str:
    """Return the whole report."""
    out = ["# Is this metric any good?"]
    for part in report._parts:
        out.append(f"## {_e(part.metric)} on {_e(part.es.name)}")
        out.append("### What to claim, and what not to")
        rows = [
            [
                c["verdict"],
                c["claim"],
                "" if pd.isna(c["value"]) else f"{c['statistic']}: {number(c['value'])}",
                between(c["low"], c["high"]),
                sample(c["n"], c["unit"]),
                c["reason"],
                c["chapter"],
            ]
            for verdict in VERDICTS
            for c in part.claims
            if c["verdict"] == verdict
        ]
        level = f"{part.settings.level:.0%} interval".replace("%", " %")
        out.append(_table(["verdict", "claim", "number", level, "n", "why", "chapter"], rows))
        for section in part.sections.values():
            out.append(f"### {_e(section.title)}")
            out += [_e(line) for line in section.text if section.rows]
            for caption, headings, lines in tables(section, part):
                out += [f"{_e(caption)}:", _table(headings, lines)]
            if section.skipped:
                out.append("Not computed:")
                out.append("\n".join(f"- {_e(what)}: {_e(why)}" for what, why in section.skipped))
    out += ["## How this was computed", f"mtmeta {__version__}, seed {report.seed}.", _e(report.signature)]
    return "\n\n".join(out) + "\n"
