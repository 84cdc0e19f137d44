"""What the pages say of their own tables and figures, in cells with the tag `seen`, is what these show.

Each number there stands in an output or in code. Each order, as in ``{order}`Judge leads <Judge > chrF: pearson>` ``,
holds in the last table above it that has the column and the rows.
"""

import ast
import re
from html import unescape
from itertools import pairwise

import nbformat
import pytest
from test_book import ROOT, code_cells, label, markdown, tagged
from test_notebooks import NOTEBOOKS

from mtmeta.published import numbers as published
from mtmeta.runner import _needs, _run

NUMBER = re.compile(r"(?<![\w.@/*])(\d[\d,]*\.?\d*|\.\d+)(?![\w/]|\.\d)( ?%)?")
#: Levels of tests and intervals, and counts up to ten: no results.
NOMINAL = {*range(11), 100, 90, 95, 97.5, 99, 0.01, 0.05, 0.95}
NUMBERS = "no one two three four five six seven eight nine ten eleven".split()
CHI_SQUARES = {"real_data/local_accuracy_speech.ipynb": "table6", "real_data/local_accuracy_ranking.ipynb": "table7"}
ORDER = re.compile(r"\{order\}`[^`<]*<([^`:]+?): ([^`]+)>`")


def as_number(text):
    return float(re.sub("[,%]", "", text).replace("−", "-").split()[0].rstrip("."))


def prose(cell):
    """Return the text of a cell without code, links and what roles name."""
    return re.sub(r"\{order\}`([^`<]*)<[^`]*`|\{[\w:]+\}`[^`]*`|`[^`]*`|\]\([^)]*\)", r"\1", cell.source)


def numbers(text):
    """Yield each number of a text as the values that it may have in an output: 12 % is 12 or .12."""
    for digits, percent in NUMBER.findall(text.replace("−", "-")):
        value = as_number(digits)
        yield f"{digits}{percent}", {value, round(value / 100, 12)} if percent else {value}


def shown(cell):
    outputs = cell.get("outputs", [])
    return "\n".join(output.get("text") or output.get("data", {}).get("text/plain", "") for output in outputs)


def typed(cell):
    """Yield the numbers in the code of a cell: parameters, toy cases, published values."""
    try:
        constants = [node.value for node in ast.walk(ast.parse(cell.source)) if isinstance(node, ast.Constant)]
    except SyntaxError:
        return
    for value in constants:
        yield from [value] if isinstance(value, int | float) else [as_number(n) for n, _ in NUMBER.findall(str(value))]


def unprinted(nb):
    """Yield the numbers that are said to be seen and stand in no output and no code of the page."""
    there = {float(value) for cell in code_cells(nb) for value in typed(cell)} | NOMINAL
    for cell in code_cells(nb):
        there |= {value for _, values in numbers(shown(cell)) for value in values}
        there |= {as_number(n) for n in re.findall(r"\d[\d,]*\.?\d*|\.\d+", shown(cell))}
    for cell in tagged(nb, "seen"):
        yield from (number for number, values in numbers(prose(cell)) if not values & there)


def tables(cell):
    """Yield each table among the outputs of a code cell as rows of texts, the head first."""
    for output in cell.get("outputs", []):
        html = output.get("data", {}).get("text/html", "")
        for table in re.findall(r"<table.*?</table>", html, re.S):
            rows = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S) for row in table.split("<tr")[1:]]
            yield [[unescape(re.sub(r"<[^>]+>", "", text)).strip() for text in row] for row in rows if row]


def column_of(table, column, names):
    """Return the values of some rows in a column of a table, or nothing if it lacks one of them."""
    heads = [len(row) - row.index(column) for row in table[:3] if column in row]
    found = {name: [row for row in table[1:] if name in row] for name in names}
    if not heads or not all(found.values()):
        return None
    return [as_number(found[name][0][-heads[0]]) for name in names]


def unseen_orders(nb):
    """Yield the marked orders that no table above has, or that do not hold there."""
    above = []
    for cell in nb.cells:
        above = [*tables(cell), *above] if cell.cell_type == "code" else above
        if cell.cell_type == "code":
            continue
        for chain, column in ORDER.findall(cell.source):
            names = [name.strip() for name in chain.split(" > ")]
            values = next((found for table in above if (found := column_of(table, column, names))), None)
            if values is None or not all(x > y for x, y in pairwise(values)):
                yield f"{chain}: in the table above, {column} is {values}"


def unmarked(nb):
    """Yield what a cell about what is seen must not hold, because other data leave the cell out."""
    for cell in tagged(nb, "seen"):
        if cell.cell_type != "markdown" or re.search(r"^(#|```|:::|\([\w-]+\)=)", cell.source, re.M):
            yield f"a heading, directive or label stands in a cell that other data leave out: {cell.source[:60]!r}"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=label)
def test_what_is_said_to_be_seen_is_there(path):
    nb = nbformat.read(path, as_version=4)
    assert (list(unprinted(nb)), list(unseen_orders(nb))) == ([], [])
    assert path.parent.name == "real_data" or list(unmarked(nb)) == []


@pytest.mark.parametrize("path", [p for p in NOTEBOOKS if p.name[:2].isdigit() and p.name[:2] != "00"], ids=label)
def test_chapters_say_what_is_seen(path):
    assert len(tagged(nbformat.read(path, as_version=4), "seen")) >= 5
    kept = _run._prepared(path, {"campaign": "mine.csv"}, dict.fromkeys(_needs.FACTS, 1000)).cells
    assert [cell for cell in kept if "seen" in cell.metadata.get("tags", [])] == []


def test_chapter_14_counts_the_verdicts_of_the_page_on_wmt24():
    names = ("14_second_year.ipynb", "real_data/second_year.ipynb")
    chapter, evidence = (nbformat.read(ROOT / "notebooks" / name, 4) for name in names)
    (table,) = [table for cell in code_cells(evidence) for table in tables(cell) if "lesson" in table[0]]
    verdicts = [[row[k] for row in table[1:]] for k in (-2, -1)]
    told = ("held", "not contradicted", "did not")
    german, spanish = ([NUMBERS[column.count(verdict)] for verdict in told] for column in verdicts)
    assert german[2] == "no"
    text = markdown(chapter)
    assert "Into German {} hold and {} are not contradicted".format(*german) in text
    assert "into Spanish {} hold, {} are not contradicted, and {} do not hold".format(*spanish) in text


def test_the_ledger_quotes_the_chi_squares_of_their_pages():
    ledger = nbformat.read(ROOT / "notebooks" / "real_data" / "ledger.ipynb", 4)
    (cell,) = [cell for cell in ledger.cells if "Tables 6 and 7, printed and ours" in cell.source]
    quoted = [re.split(r" *\| *", line)[1:4] for line in cell.source.splitlines() if line.startswith("| ")]
    printed = published().query("quantity == 'value'").set_index("source")
    expected = []
    for name, table in CHI_SQUARES.items():
        page = nbformat.read(ROOT / "notebooks" / name, 4)
        of_code = [t for code in code_cells(page) for t in tables(code) if {"published", "chi2"} <= set(t[0])]
        ours = {row[0].lower(): row[t[0].index("chi2")] for t in of_code for row in t[1:]}
        rows = printed.loc[f"local-accuracy-{table}", ["metric", "printed"]].itertuples(index=False)
        expected += [["metric", "printed", "ours"], *([m, value, ours[m.lower()]] for m, value in rows)]
    assert quoted == expected


TABLE = "<table><tr><th></th><th>r</th></tr><tr><th>A</th><td>.4</td></tr><tr><th>B</th><td>.2</td></tr></table>"


@pytest.mark.parametrize(("said", "wrong"), [
    ("A has .4 of 12, 40 % of all.", 0), ("A has .41.", 1), ("A has 41 %.", 1), ("{order}`A leads <A > B: r>`.", 0),
    ("{order}`B leads <B > A: r>`.", 1), ("{order}`A leads <A > C: r>`.", 1), ("## A leads", 1),
])  # fmt: skip
def test_a_false_statement_is_found(said, wrong):
    v4, shown = nbformat.v4, {"text/html": TABLE, "text/plain": "     r\nA  0.4\nB  0.2"}
    code = v4.new_code_cell("n = 12", outputs=[v4.new_output("display_data", data=shown)])
    nb = v4.new_notebook(cells=[code, v4.new_markdown_cell(said, metadata={"tags": ["seen"]})])
    assert len([*unprinted(nb), *unseen_orders(nb), *unmarked(nb)]) == wrong
