"""What the pages say of their own tables and figures, in cells with the tag `seen`, is what these show.

Each number and name there has a source (tools/seen.py) that still gives it. Each order, as in
``{order}`Judge leads <Judge > chrF: pearson>` ``, holds in the last table above it that has the column and the rows.
"""

import re
from collections import Counter
from functools import cache
from itertools import pairwise

import nbformat
import numpy as np
import pytest
import seen
from bookfiles import NOTEBOOKS, ROOT, code_cells, label, tagged
from seen import tables

from mtmeta.book.published import numbers as published
from mtmeta.book.runner import _needs, _run

CHAPTERS = [p for p in NOTEBOOKS if p.name[:2].isdigit()]
CHI_SQUARES = {"real_data/local_accuracy_speech.ipynb": "table6", "real_data/local_accuracy_ranking.ipynb": "table7"}
CHI_SQUARES["real_data/local_accuracy.ipynb"] = "table5"
ORDER = re.compile(r"\{order\}`[^`<]*<([^`:]+?): ([^`]+)>`")


def column_of(table, column, names):
    """Return the values of some rows in a column of a table, or nothing if it lacks one of them."""
    columns, rows = table.columns(column), [table.lines(name) for name in names]
    return [seen.numbers(found[0][columns[0]])[0] for found in rows] if columns and all(rows) else None


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
    assert (list(seen.faults(nb)), list(unseen_orders(nb))) == ([], [])
    assert path.parent.name == "real_data" or list(unmarked(nb)) == []


@pytest.mark.parametrize("path", CHAPTERS[1:], ids=label)
def test_chapters_say_what_is_seen(path):
    assert [k for k, cell in seen.seen_cells(nbformat.read(path, 4)) if "?" in seen.sources_of(cell)] == []
    assert len(tagged(nbformat.read(path, as_version=4), "seen")) >= 5
    kept = _run._prepared(path, {"campaign": "mine.csv"}, dict.fromkeys(_needs.FACTS, 1000), "mine").cells
    assert [c for c in kept if "seen" in c.metadata.get("tags", []) and "if" not in c.metadata.get("mtmeta", {})] == []


@pytest.mark.parametrize(("name", "table"), CHI_SQUARES.items())
def test_pages_quote_the_published_chi_squares(name, table):
    page = nbformat.read(ROOT / "notebooks" / name, 4)
    of_code = [t for code in code_cells(page) for t in tables(code) if t.columns("published") and t.columns("chi2")]
    quoted = {row[0].lower(): row[t.columns("published")[0]] for t in of_code for row in t.rows}
    rows = published().query(f"quantity == 'value' and source == 'local-accuracy-{table}'")
    printed = dict(zip(rows["metric"].str.lower(), rows["printed"].astype(float), strict=True))
    assert quoted == {m: f"{printed[m]:.{len(q.partition('.')[2])}f}" for m, q in quoted.items()}
    assert quoted.keys() == printed.keys()


@cache
def page_and_names(path):
    nb = nbformat.read(path, as_version=4)
    return nb, seen.names_of(nb)


def falsified(nb, names, text, kind, rng):
    """Return a false version of a text as new words by place, or nothing where it allows no error of this kind."""
    found = seen.tokens(text, names)
    named, worded, counted = ([t for t in found if t[group]] for group in ("name", "word", "number"))
    counted = [
        t for t in counted if kind not in ("sign", "percent") or re.search("[1-9]", t[0])
    ]  # −0 is 0, and 0 % too
    pool = {"elsewhere": [t for t in counted if "." in t[0]], "word": worded, "name": named, "names": named}
    pool = pool.get(kind, [t for t in counted if t[0].isdigit() or kind != "count"])
    if not pool:
        return None
    token, other = (pool[k] for k in rng.integers(len(pool), size=2))
    new, edits = token[0], {}
    if kind == "elsewhere":
        texts = [text for cell in code_cells(nb) for t in tables(cell) for row in t.rows for text in row]
        texts += [text for cell in code_cells(nb) for text in seen.printed(cell)]
        digits = len(token[0].partition(".")[2].rstrip("% \\"))
        shown = [n for text in texts for n in seen.numbers(text) if n % 1 and not seen.holds(token, n)]
        new = re.sub("^(-?)0", r"\1", f"{shown[rng.integers(len(shown))]:.{digits}f}") if shown else new
    elif kind == "sign":
        new = token[0][1:] if token[0][0] in "-−" else f"−{token[0]}"
    elif kind == "word":
        words = next(w for w in (seen.ORDINALS, seen.WORDS[1:], [*seen.PARTS]) if token[0].lower() in w)
        new = words[rng.integers(len(words))]
    elif kind == "count":
        new = str(int(token[0]) + rng.choice([-2, -1, 1, 2]))
    elif kind == "percent":
        new = token[0].rstrip(" %\\") if "%" in token[0] else f"{token[0]} %"
    elif kind == "name":
        said = [seen.tokens(seen.prose(cell.source), names) for _, cell in seen.seen_cells(nb)]
        said = sorted({t[0] for found in said for t in found if t["name"]})
        new = said[rng.integers(len(said))]
    else:
        new, edits = other[0], {other.span(): token[0]}
    return None if new.lower() == token[0].lower() else {token.span(): new} | edits


KINDS = "elsewhere sign word count percent numbers name names".split()


def alarms(paths, n, seed):
    """Make `n` errors on pages, of each kind in turn; count those that are noticed, and return the others."""
    rng, noticed, missed = np.random.default_rng(seed), Counter(), []
    while (made := noticed.total() + len(missed)) < n:
        path, kind = paths[rng.integers(len(paths))], KINDS[made % len(KINDS)]
        nb, names = page_and_names(path)
        cells = seen.seen_cells(nb)
        here, cell = cells[rng.integers(len(cells))]
        true = cell.source
        if (wrong := falsified(nb, names, seen.prose(true), kind, rng)) is None:
            continue
        for (start, end), new in sorted(wrong.items(), reverse=True):
            cell.source = cell.source[:start] + new + cell.source[end:]
        found, cell.source = list(seen.faults_of(nb, here, names)), true
        noticed[kind] += bool(found)
        missed += [] if found else [(path.name, here, kind, wrong)]
    return noticed, missed


@pytest.mark.parametrize(("pages", "n", "most"), [("chapters", 50, 2), ("real_data", 100, 10)])
def test_false_sentences_are_noticed(pages, n, most):
    paths = CHAPTERS[1:] if pages == "chapters" else [path for path in NOTEBOOKS if path.parent.name == pages]
    noticed, missed = alarms(paths, n, seed=35)
    assert len(missed) <= most, (noticed, missed)


def test_exchanged_figures_are_noticed():
    nb, names = page_and_names(CHAPTERS[1])
    pictures = [o["data"] for cell in code_cells(nb) for o in cell.outputs if "image/png" in o.get("data", {})]
    first, last = pictures[0], pictures[-1]
    first["image/png"], last["image/png"] = last["image/png"], first["image/png"]
    wrong = [fault for here, _ in seen.seen_cells(nb) for fault in seen.faults_of(nb, here, names)]
    first["image/png"], last["image/png"] = last["image/png"], first["image/png"]
    assert len(wrong) == 2
    assert all("look at the figures again" in fault for fault in wrong)


HEAD = "<thead><tr><th></th><th>r</th><th>p</th></tr></thead>"
ROWS = ("<th>Judge</th><td>.41</td><td>.3</td>", "<th>BLEU</th><td>-.2</td><td>.03</td>")
TABLE = f"<table>{HEAD}<tbody>{''.join(f'<tr>{row}</tr>' for row in ROWS)}</tbody></table>"


@pytest.mark.parametrize(("said", "sources", "wrong"), [
    ("Judge has .41 of 12, 41 % of all.", "Judge; at('Judge', 'r'); given('n'); at('Judge', 'r')", ""),
    ("Judge has .42.", "Judge; at('Judge', 'r')", "is 0.41"),
    ("Judge has .4 %.", "Judge; at('Judge', 'r')", "is 0.41"),
    ("BLEU has .2.", "BLEU; at('BLEU', 'r')", "is -0.2"),
    ("BLEU has −.2 and .03.", "BLEU; at('BLEU', 'r'); at('BLEU', 'p')", ""),
    ("BLEU has .03 and −.2.", "BLEU; at('BLEU', 'r'); at('BLEU', 'p')", "is -0.2"),
    ("BLEU has .41.", "Judge; at('Judge', 'r')", "the source is Judge"),
    ("Judge has .41.", "Judge", "1 sources"),
    ("It has .41.", "at('chrF', 'r')", "no output has"),
    ("It has 41 of 50.", "41; 50", "not a source"),
    ("The lead is .61.", "at('Judge', 'r') - at('BLEU', 'r')", ""),
    ("Judge is first, BLEU second.", "Judge; rank('Judge', 'r'); BLEU; rank('BLEU', 'r')", ""),
    ("Judge is third.", "Judge; rank('Judge', 'r')", "is 1"),
    ("Of the two, a half is clear.", "count('r'); mean(col('p') < .05)", ""),
    ("It is so in two.", "count('r', '.41')", "is 1"),
    ("It prints 6 of 66.", "after('wrong:'); after('pairs', -1)", ""),
    ("It prints 66 of 6.", "after('wrong:'); after('pairs', -1)", "is 6"),
    ("It has 7.", "open('x')", "not allowed"),
    ("It has 7.", "(1).__class__", "not allowed"),
    ("It is 12.", "?", ""),
    ("It is 13.", "?", "no output"),
    ("{order}`Judge leads <Judge > BLEU: r>`.", "Judge", ""),
    ("{order}`BLEU leads <BLEU > Judge: r>`.", "BLEU", "in the table above"),
    ("{order}`BLEU leads <BLEU > TER: r>`.", "BLEU", "in the table above"),
    ("## Judge leads", "Judge", "a heading"),
])  # fmt: skip
def test_a_false_statement_is_found(said, sources, wrong):
    v4, shown = nbformat.v4, {"text/html": TABLE, "text/plain": "     r\nA  0.4\nB  0.2"}
    outputs = [v4.new_output("display_data", data=shown), v4.new_output("stream", text="wrong: 6 of 66 pairs")]
    cell = v4.new_markdown_cell(said, metadata={"tags": ["seen"], "seen": {"sources": [sources]}})
    nb = v4.new_notebook(cells=[v4.new_code_cell("n = 12", outputs=outputs), cell])
    faults = [*seen.faults(nb), *unseen_orders(nb), *unmarked(nb)]
    assert [wrong in fault for fault in faults[:1]] == [True] * bool(wrong), faults


def test_the_tool_fills_in_what_has_one_source_and_keeps_what_holds(capsys):
    v4 = nbformat.v4
    code = v4.new_code_cell("", outputs=[v4.new_output("display_data", data={"text/html": TABLE, "text/plain": ""})])
    cell = v4.new_markdown_cell("Judge has .41, BLEU −.2, a lead of .61.", metadata={"tags": ["seen"]})
    nb = v4.new_notebook(cells=[v4.new_markdown_cell("# A"), code, cell])
    assert seen.annotate(nb) == 1
    assert ">>.61<<" in capsys.readouterr().out
    assert seen.sources_of(cell) == ["Judge", "at('Judge', 'r')", "BLEU", "at('BLEU', 'r')", "?"]
    lead = "at('Judge', 'r') - at('BLEU', 'r')"
    seen.put(nb, "lead of .61", lead)
    cell.source = "Judge has .41, BLEU has −.2; the lead is .61 and 7.7."
    assert seen.annotate(nb) == 1
    assert seen.sources_of(cell) == ["Judge", "at('Judge', 'r')", "BLEU", "at('BLEU', 'r')", lead, "?"]
    assert ">>7.7<<" in capsys.readouterr().out
    seen.put(nb, "and 7.7", "7.7")
    assert [fault.rpartition(": ")[2] for fault in seen.faults(nb)] == ["7.7 repeats the number and is not a source"]
    with pytest.raises(SystemExit, match="no cell has"):
        seen.put(nb, "and 8", "8")
