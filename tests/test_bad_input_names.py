# ruff: noqa: E501 - names stay in one place
"""Hostile names of systems, metrics and documents: every output shows them as they are, and none acts on them."""

import csv
import io
import json
import re

import nbformat
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from markdown_it import MarkdownIt
from pages import Page
from typer.main import get_command

from mtmeta import EvalSet, report
from mtmeta.book.runner._run import Outcome, _write_page
from mtmeta.book.runner._site import _list_page
from mtmeta.cli import app
from mtmeta.cli._output import visible

#: What a name must not do: be an element, a formula, a link, a command, a cell, a row, a formula of a spreadsheet.
NAMES = (
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", '"><svg/onload=alert(1)>', "' onmouseover='alert(1)", "</style><b>", "</script><b>",
    "<!-- x -->", "a&lt;b&#60;", "]]>", "{{ 7*7 }}", "{% raw %}", "{{ ''.__class__ }}", "{role}`x`", "`code`", "```", "$x$", "$\\frac{$", "$", "$$x$$", "_x_", "__init__",
    "*b*", "**b**", "~~s~~", "[a](javascript:alert(1))", "![a](http://127.0.0.1:9/x.png)", "<javascript:alert(1)>", "[^1]", "|cell|x|", "a|b", "\\", "\\\\", "\\|",
    "\\input{/etc/passwd}", "\\write18{touch canary}", "[1cm]", "* star", "- item", "+ item", "# head", "1. one", "> quote", "    four", "===", "---", "a--b", ",,", "<<q>>", "?`", "``q''", "www.example.com", "https://e.com", "=1+1", "=cmd|' /C calc'!A0", "@SUM(A1)", "%comment",
    "a~b^c", "\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "\u202eevil", "a\nb", "a\r\nb", "a\rb", "a\tb", "a\x0bb", "a\u2028b", "\x00", "日本", "é", "😀", "'", '"', ",", ";", "x" * 300, "None", "nan", "0", "true",
)  # fmt: skip
BENIGN = tuple(f"n{k}" for k in range(len(NAMES)))
N = 12


def table(systems, metrics, documents):
    """Return a table in TSV: scores depend on the places of names alone."""
    rng, out = np.random.default_rng(0), io.StringIO()
    writer = csv.writer(out, delimiter="\t", lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writerow(["system", "segment", "doc", "source", "translation", "human", *metrics])
    for row, system in enumerate(systems):
        for k in range(N):
            texts = [documents[k % len(documents)], f"text {k}", "word " * (1 + (row + k) % 4)]
            writer.writerow([system, k, *texts, *np.round(rng.normal(size=1 + len(metrics)), 6)])
    return out.getvalue()


def tell(tmp_path, content, *line):
    path = tmp_path / "t.tsv"
    path.write_text(content, encoding="utf-8", newline="")
    result = CliRunner().invoke(get_command(app), [line[0], str(path), *line[1:], "--quiet"])
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout_bytes.decode()


#: NUL cannot stand in a table that is read; tabs, line ends and the rest can.
IN_TABLES = tuple(n for n in NAMES if "\0" not in n)


@pytest.fixture(scope="module")
def as_metrics():
    return table(("A", "B", "C"), IN_TABLES, ("d",))


def test_json_and_tsv_give_names_back_and_a_terminal_has_one_line_a_row(tmp_path, as_metrics):
    found = json.loads(tell(tmp_path, as_metrics, "correlate", "--format", "json"))
    assert [row["metric"] for row in found] == list(IN_TABLES)
    text = tell(tmp_path, as_metrics, "correlate", "--format", "tsv")
    rows = list(csv.DictReader(io.StringIO(text, newline=""), delimiter="\t"))
    assert [row["metric"] for row in rows] == list(IN_TABLES)
    lines = tell(tmp_path, as_metrics, "correlate").splitlines()
    assert len(lines) == 2 + len(IN_TABLES)
    assert all(line.isprintable() for line in lines)
    assert all(line.startswith(visible(name).rstrip()) for name, line in zip(IN_TABLES, lines[2:], strict=True))


_COMMANDS = {r"\textbackslash{}": "\\", r"\textasciitilde{}": "~", r"\textasciicircum{}": "^", r"\textbar{}": "|", r"\textless{}": "<", r"\textgreater{}": ">", r"\textquotesingle{}": "'", r"\textasciigrave{}": "`", r"\symbol{34}": '"', "-{}": "-", ",{}": ","}  # fmt: skip


_TOKEN = "|".join(map(re.escape, _COMMANDS)) + r"|\\[&%$#_{}]|\{[\[\]*]\}|(?!--|,,)[^\\&%$#_{}~^|<>\[\]*'`\"]"


def from_latex(cell):
    """Return what LaTeX sets for a cell; refuse anything that is not an escape."""
    assert re.fullmatch(f"({_TOKEN})*", cell), f"not escaped: {cell[:40]!r}"
    return re.sub(_TOKEN, lambda token: _COMMANDS.get(token[0]) or re.sub(r"^[\\{](.)\}?$", r"\1", token[0]), cell)


def test_latex(tmp_path, as_metrics):
    rows = tell(tmp_path, as_metrics, "correlate", "--format", "latex").splitlines()[4:-2]
    cells = [re.split(r"(?<!\\) & ", row.removesuffix(r" \\"))[0] for row in rows]
    assert [from_latex(cell) for cell in cells] == [visible(name) for name in IN_TABLES]
    # a row that began so would be an option of the end of the row before it
    assert [row for row in rows if row.lstrip().startswith(("[", "*"))] == []


def inline_kinds(text):
    """Return the tokens of CommonMark with tables and strikethrough, as deep as they go."""
    kinds = []
    for token in MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text):
        kinds.append(token.type + (f" {token.tag}" if token.tag else ""))
        kinds += sorted({child.type for child in token.children or () if child.type not in ("text", "text_special")})
    return kinds


def test_markdown(tmp_path, as_metrics):
    text = tell(tmp_path, as_metrics, "correlate", "--format", "md")
    plain = tell(tmp_path, table(("A", "B", "C"), BENIGN[: len(IN_TABLES)], ("d",)), "correlate", "--format", "md")
    assert inline_kinds(text) == inline_kinds(plain)
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    inline, width = [t for t in tokens if t.type == "inline"], text.split("\n")[1].count("|") - 1
    first = ["".join(child.content for child in t.children) for t in inline[width::width]]
    assert [name.strip() for name in first] == [visible(name).strip() for name in IN_TABLES]


def evalset(systems, metrics, documents, name):
    content = io.StringIO(table(systems, metrics, documents), newline="")
    frame = pd.read_csv(content, sep="\t", dtype={"system": str, "doc": str}, keep_default_na=False)
    return EvalSet.from_frame(frame, name=name)


class Skeleton(Page):
    """Refuses what a page of a report must not hold."""

    def handle_starttag(self, tag, attrs):
        super().handle_starttag(tag, attrs)
        assert tag not in ("script", "iframe", "object", "embed", "link", "base", "form", "svg")
        for name, value in attrs:
            assert not name.startswith("on")
            assert not (name in ("href", "src") and not (value or "").startswith(("#", "data:image/png;base64,")))

    def handle_comment(self, data):
        raise AssertionError(f"a comment: {data!r}")


def skeleton(text):
    """Return the elements with the names of their attributes, but for classes of cells, which follow length; words."""
    page = Skeleton(text)
    return [(tag, [a for a in names if (tag, a) != ("td", "class")]) for tag, names in page.tags], page.words


def reports(count, start):
    """Yield a report on hostile names and the same report on plain ones."""
    for names in (NAMES, BENIGN):
        taken = [names[(start + k) % len(names)] for k in range(count + 6)]
        es = evalset(taken[:count], taken[count : count + 3], taken[count + 3 : count + 5], taken[-1])
        yield report(es, [es.metrics[0]], n_resamples=40, rng=0)


@pytest.mark.slow
@pytest.mark.parametrize(
    "start", [0, pytest.param(26, marks=pytest.mark.exhaustive), 52, pytest.param(78, marks=pytest.mark.exhaustive)]
)
def test_report(start):
    hostile, plain = reports(7, start)
    found, text = skeleton(hostile.to_html())
    expected, _ = skeleton(plain.to_html())
    assert found == expected
    assert visible(NAMES[(start + 7) % len(NAMES)]) in text
    assert inline_kinds(hostile.to_markdown()) == inline_kinds(plain.to_markdown())
    assert json.loads(hostile.to_json())


@pytest.mark.slow
def test_the_pages_of_a_run(tmp_path):
    """The page that lists the chapters, and the note in a chapter that was not executed."""
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# Title\n\nText.")])
    nbformat.write(book, tmp_path / "a.ipynb")

    def texts(name):
        yield _list_page({"notebooks/01_x": Outcome("skipped", reason=f"it needs {name}")}, f"{name}: 2 systems")
        for status in ("skipped", "failed"):
            _write_page(tmp_path / "a.ipynb", tmp_path / "b.ipynb", Outcome(status, reason=f"why {name} end"))
            yield nbformat.read(tmp_path / "b.ipynb", as_version=4).cells[0].source

    plain = [*map(inline_kinds, texts("n"))]
    for name in filter(str.strip, NAMES):
        found = [*texts(name)]
        assert [*map(inline_kinds, found)] == plain, repr(name)
        assert not re.search(r"(?<!\\)(\{\{|\{%|\$)", found[0])  # substitutions, templates and formulas of MyST
