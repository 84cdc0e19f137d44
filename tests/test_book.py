"""Lints of the stored notebooks (each a function that yields complaints) and pages, and the commands on the pages."""

import ast
import base64
import os
import re
import shutil
from collections import Counter

import nbformat
import numpy as np
import pandas as pd
import pytest
import reading_time
from bookfiles import NOTEBOOKS, ROOT, code_cells, label, markdown, tagged, toc
from campaigns import refuses
from shell import run_lines

import mtmeta as mm
from mtmeta.datasets import available

PAGES = sorted((ROOT / "book").rglob("*.md"))
README = ROOT / "README.md"

MAX_LINES, MAX_FUNCTION_LINES, MIN_EXERCISES = 30, 12, 3
#: At most so many words and cells (with the one that is removed), at least so many figures.
LIMITS_OF_A_CHAPTER, LIMITS_OF_REAL_DATA = (2600, 50, 5), (3200, 50, 1)
#: Of a chapter that readers may leave out.
OPTIONAL, LIMITS_OF_AN_OPTIONAL_CHAPTER = "08_", (1800, 40, 5)
#: How the headings of a chapter begin, in this order. "On …" is the section that works on data.
ANATOMY = (
    "What you will learn", "The problem", "Definition", "From formula to code", "On ", "What to take away",
    "Exercises", "References",
)  # fmt: skip
LIMITS = "What this chapter does not show"
#: Width of a figure in inches: a wider one cannot be read on a telephone.
MAX_WIDTH, DPI = 7.6, 110
IMAGES = ("image/png", "image/svg+xml", "image/jpeg")
FOLDERS = "home root tmp mnt opt var usr srv work\\w* Users private".replace(" ", "|")
ABSOLUTE_PATH = re.compile(rf"(?<![\w.:/])/(?:{FOLDERS})/\S+|\b[A-Z]:\\\w+")


def has_figure(cell):
    return any(kind in output.get("data", {}) for output in cell.outputs for kind in IMAGES)


def is_chapter(name):  # the template follows the same rules
    return re.match(r"\d\d_", name) is not None


def code_is_short_and_ran(nb, name):
    counts = [cell.execution_count for cell in code_cells(nb)]
    if counts != list(range(1, len(counts) + 1)):
        yield f"execution counts are {counts}, not 1 to {len(counts)}: execute it from top to bottom"
    for cell in code_cells(nb):
        for output in cell.outputs:
            if output.output_type == "error" or output.get("name") == "stderr":
                yield f"a stored output is an error or went to stderr: {str(output)[:200]}"
        if (lines := len(cell.source.splitlines())) > MAX_LINES:
            yield f"a code cell has {lines} lines; at most {MAX_LINES}"
        is_magic = re.search(r"^[%!]", cell.source, re.M)  # which is not Python
        for node in [] if is_magic else ast.walk(ast.parse(cell.source)):
            is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            if is_function and (length := node.end_lineno - node.lineno + 1) > MAX_FUNCTION_LINES:
                yield f"function {node.name} has {length} lines; at most {MAX_FUNCTION_LINES}: move it to the package"


def figures_are_there_and_described(nb, name):
    referred = role_targets(markdown(nb), "numref")
    for cell in code_cells(nb):
        about, where = cell.metadata.get("mystnb", {}), f"cell [{cell.execution_count}]"
        if figure := about.get("figure", {}).get("name"):
            shown = [{*IMAGES, "text/html"} & set(o.get("data", {})) for o in cell.outputs if o.output_type != "stream"]
            if len(shown) != 1 or not shown[0]:  # each output would get the figure's name
                yield f"{where} shows something else than {figure}: put it into another cell, and execute it again"
            if figure not in referred:
                yield f"the text does not refer to {figure}: write {{numref}}`{figure}` where it is read"
        for place, key, begins in (("image", "alt", ""), ("figure", "caption", ""), ("figure", "name", "fig-")):
            found = about.get(place, {}).get(key, "").strip()
            if has_figure(cell) and not (found and found.startswith(begins)):
                yield f"the figure of {where} has no mystnb.{place}.{key} {begins}"
        for image in (o["data"]["image/png"] for o in cell.outputs if "image/png" in o.get("data", {})):
            width = int.from_bytes(base64.b64decode(image)[16:20]) / DPI
            if width > MAX_WIDTH:
                yield f"the figure of {where} is {width:.1f} inches wide; at most {MAX_WIDTH}"


def exercises_have_solutions(nb, name):
    text = markdown(nb)
    exercises = re.findall(r"\{exercise(?:-start)?\}[^\n]*\n(?:[^\n`]*\n)*?:label:\s*(\S+)", text)
    solutions = re.findall(r"\{solution(?:-start)?\}\s+(\S+)[^\n]*\n((?::[\w-]+:[^\n]*\n?)*)", text)
    if unlabelled := len(re.findall(r"\{exercise(?:-start)?\}", text)) - len(exercises):
        yield f"{unlabelled} exercise(s) have no label"
    for exercise in exercises:
        if exercise not in [target for target, _ in solutions]:
            yield f"exercise {exercise} has no solution"
    for target, options in solutions:
        if target not in exercises:
            yield f"a solution answers {target}, which is not an exercise here"
        if "dropdown" not in options:
            yield f"the solution of {target} is not folded (:class: dropdown)"
    if is_chapter(name) and len(exercises) < MIN_EXERCISES:
        yield f"there are {len(exercises)} exercises; at least {MIN_EXERCISES}"


def metadata_say_what_is_needed(nb, name):
    cells = tagged(nb, "parameters")
    if is_chapter(name) and len(cells) != 1:
        yield f"{len(cells)} cells are tagged parameters; expected one"
    requires = nb.metadata.get("mtmeta", {}).get("requires", None if name.startswith("real_data/") else [])
    if not isinstance(requires, list) or not all(isinstance(item, str) for item in requires):
        yield f"metadata mtmeta.requires must be a list of names; found {requires!r}"
    elif name.startswith("real_data/") and "data:wmt23" not in requires:
        yield f"metadata mtmeta.requires of a page on real data must name data:wmt23; found {requires!r}"


def no_absolute_paths(nb, name):
    text = markdown(nb)
    for cell in code_cells(nb):
        shown = [str(o.get("text", "") or o.get("data", {}).get("text/plain", "")) for o in cell.outputs]
        text = "\n".join([text, cell.source, *shown])
    for found in ABSOLUTE_PATH.findall(text):
        yield f"the absolute path {found[:40]!r} exists on one machine only"


def chapters_have_the_anatomy(nb, name):
    if not is_chapter(name):
        return
    text = re.sub(r"```.*?```", "", markdown(nb), flags=re.S)
    if len(re.findall(r"^# ", text, flags=re.M)) != 1:
        yield "there must be one title"
    headings = [h.strip() for h in re.findall(r"^## (.+)$", text, flags=re.M)]
    found = [next((start for start in ANATOMY if heading.startswith(start)), "") for heading in headings]
    if list(filter(None, dict.fromkeys(found))) != list(ANATOMY):
        yield f"expected sections that begin with {list(ANATOMY)}, in this order; found {headings}"
    if LIMITS not in text:
        yield f"nothing is said under '{LIMITS}'"


def length_and_time_are_fitting(nb, name):
    found, says = reading_time.length(nb), reading_time.TIME.search(markdown(nb))
    if is_chapter(name) or name.startswith("real_data/"):
        words, cells, figures = LIMITS_OF_A_CHAPTER if is_chapter(name) else LIMITS_OF_REAL_DATA
        words, cells, figures = LIMITS_OF_AN_OPTIONAL_CHAPTER if name.startswith(OPTIONAL) else (words, cells, figures)
        if found.words > words or len(nb.cells) > cells:
            yield f"the page has {found.words} words and {len(nb.cells)} cells; at most {words} and {cells}"
        if found.figures < figures and not name.startswith("00_"):
            yield f"the page has {found.figures} figures; at least {figures}"
    if is_chapter(name) and not says:
        yield "the page does not say '**Time.** … minutes to read'"
    if says and says[0] != reading_time.TIME.sub(rf"\g<1>{found.minutes}\g<2>", says[0]):
        yield f"the page says {says[0]!r}; run tools/normalise_notebooks.py"


RULES = (
    code_is_short_and_ran, figures_are_there_and_described, exercises_have_solutions, metadata_say_what_is_needed,
    no_absolute_paths, chapters_have_the_anatomy, length_and_time_are_fitting,
)  # fmt: skip


@pytest.fixture(scope="module")
def notebooks():
    return {label(path): nbformat.read(path, as_version=4) for path in NOTEBOOKS}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=label)
def test_notebook_follows_the_rules(path):
    nb = nbformat.read(path, as_version=4)
    nbformat.validate(nb)
    assert [f"{rule.__name__}: {message}" for rule in RULES for message in rule(nb, label(path))] == []


def faults_of_figures(text):
    """Return what the figures of a page lack: name, alt text, caption without full stop, reference in the text."""
    for options in re.findall(r"^```\{figure\}[^\n]*\n(.*?)^```", text, flags=re.M | re.S):
        name = re.search(r"^:name: (fig-\S+)$", options, re.M)
        caption = options.strip().splitlines()[-1]
        if not name:
            yield f"no name that begins with fig-: {caption}"
        elif name.group(1) not in role_targets(text, "numref"):
            yield f"the text does not refer to {name.group(1)}"
        if not re.search(r"^:alt: \S", options, re.M):
            yield f"no alt text: {caption}"
        if caption.startswith(":") or caption.endswith("."):
            yield f"no caption, or one with a full stop: {caption}"


def test_figures_of_the_pages_are_described_and_the_toc_and_the_map_are_whole():
    assert sum("```{figure}" in text for text in pages().values()) >= 2
    assert {name: faults for name, text in pages().items() if (faults := list(faults_of_figures(text)))} == {}
    there = [p.relative_to(ROOT).with_suffix("").as_posix() for p in [*PAGES, *NOTEBOOKS]]
    assert sorted([*toc(), "notebooks/00_template"]) == sorted(there)
    links = role_targets((ROOT / "book" / "index.md").read_text(encoding="utf-8"), "doc")
    assert [page for page in toc() if page.startswith("notebooks/") and f"/{page}" not in links] == []


def pages():
    return {page.relative_to(ROOT).as_posix(): page.read_text(encoding="utf-8") for page in PAGES}


def role_targets(text, role):
    """Return what a role names: ``{role}`x` `` and ``{role}`text <x>` ``."""
    found = re.findall(r"\{" + role + r"\}`([^`]+)`", text)
    return [match.group(1) if (match := re.search(r"<([^>]+)>$", item)) else item for item in found]


def test_terms_and_citations_exist(notebooks):
    glossary = re.search(r"```\{glossary\}\n(.*?)```", pages()["book/glossary.md"], flags=re.S).group(1)
    terms = {line for line in glossary.splitlines() if line and not line.startswith((" ", ":"))}
    works = re.findall(r"^@\w+\{([^,]+),", (ROOT / "book" / "references.bib").read_text(encoding="utf-8"), flags=re.M)
    for name, text in (pages() | {name: markdown(nb) for name, nb in notebooks.items()}).items():
        assert set(role_targets(text, "term")) <= terms, name
        cited = {key.strip() for keys in role_targets(text, r"cite(?::\w+)?") for key in keys.split(",")}
        assert cited <= set(works), name


def test_pages_name_every_pinned_commit_and_every_public_module():
    registry = "".join(path.read_text() for path in (ROOT / "mtmeta" / "datasets" / "registry").glob("*.tsv"))
    page = (ROOT / "book" / "data.md").read_text(encoding="utf-8")
    assert set(re.findall(r"`([0-9a-f]{40})`", page)) == set(re.findall(r"/([0-9a-f]{40})/", registry))
    package = ROOT / "mtmeta"
    modules = {path.stem for path in package.glob("[a-z]*.py")}
    modules |= {path.parent.name for path in package.glob("*/__init__.py")}
    pages = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "book" / "api").glob("*.md"))
    modules |= {"book.exercises", "book.interactive", "book.published", "book.sheets", "book.students"}
    assert sorted(re.findall(r"automodule:: mtmeta\.([\w.]+)\n", pages)) == sorted(
        modules - {"cli", "book", "resampling"}
    )


def percent(share):
    return f"{share:.0%}".replace("%", " %")


def facts_of_the_teaching_campaign():
    """Return what the page says about the campaign, with the numbers computed."""
    es = mm.load("teaching")
    size = sum(path.stat().st_size for path in (ROOT / "mtmeta" / "data").glob("teaching*"))
    lengths = [len(source.split()) for source in es.texts.sources]
    documents, errors = Counter(es.documents).values(), pd.DataFrame(es.truth["errors"])
    clean, reference = es.truth["penalty"] == 0, next(iter(es.texts.references.values()))
    same = np.array([[a == b for a, b in zip(es.texts.translations[s], reference, strict=True)] for s in es.systems])
    kinds = errors["category"].value_counts(normalize=True)
    truth = np.corrcoef(-es.truth["penalty"].ravel(), es.human.ravel())[0, 1]
    weights = es.truth["difficulty_coefficient"]
    return [
        f"{len(es.systems)} systems translate {len(es.segments)} segments", f"({size / 1000:.0f} kB)",
        f"{len(documents)} documents of {min(documents)} to {max(documents)} consecutive segments",
        f"{min(lengths)} to {max(lengths)} German words a segment, {np.mean(lengths):.0f} on average",
        f"Of the {clean.sum()} outputs without an error {percent(same[clean].mean())} are the reference",
        f"There are {len(errors):,} errors, {percent((errors['severity'] == 'major').mean())} of them major",
        f"{percent(kinds['Accuracy/Mistranslation'])} are mistranslations, {percent(kinds['Fluency/Grammar'])} grammar",
        f"{percent(kinds['Style/Awkward'])} awkward style", f"One of {len(es.truth['raters'])} raters",
        f"loses {weights['Regressor']} per unit of visible difficulty", f"the same, weaker: {weights['RegressorQE']}",
        f"Truth and human scores correlate at {truth:.2f}",
    ]  # fmt: skip


def facts_of_its_siblings():
    speech, ranking = mm.datasets.load_transcripts("teaching-speech"), mm.datasets.load_rankings("teaching-ranking")
    words = speech["reference"].str.split().str.len()
    rates = speech["truth"].groupby(speech["system"]).sum() / words.groupby(speech["system"]).sum()
    sizes = speech[["system", "segment", "speaker"]].nunique()
    qualities = ranking.truth["quality"].values()
    return [
        f"{sizes['system']} systems transcribe {sizes['segment']} segments by {sizes['speaker']} speakers",
        f"{percent((speech['truth'] == 0).mean())} of the transcripts have none",
        f"lie between {percent(rates.min())} and {percent(rates.max())}",
        f"{len(ranking.systems)} systems rank {ranking.truth['n_items']} items for {len(ranking.queries)} users",
        f"return {ranking.runs['rank'].max()}.",
        f"{percent((ranking.qrels['relevance'] > 0).mean())} of the items are relevant",
        f"from {min(qualities):g}, near random, to {max(qualities):g}, near ideal",
    ]


@pytest.mark.slow
def test_data_page_describes_the_teaching_campaign():
    page = " ".join((ROOT / "book" / "data.md").read_text(encoding="utf-8").split())
    facts = facts_of_the_teaching_campaign() + facts_of_its_siblings()
    assert [fact for fact in facts if fact not in page] == []


def table(**columns):
    given = {"system": ["A", "A", "B", "B"], "segment": [1, 2, 1, 2], "human": [0, -1, 0, -5], "chrF": [3, 2, 3, 1]}
    frame = pd.DataFrame(given | columns)
    return frame.loc[:, [name for name in frame if name not in columns or columns[name] is not None]]


#: A table that is wrong, and the words of its message that the page quotes, cut at each "…".
WRONG_TABLES = [
    (table(segment=None), "the table lacks … 'segment'; found …"),
    (table(segment=[1, 1, 1, 2]), "the table has several rows of system …, segment …"),
    (table().iloc[:3], "system … has … of … segments"),
    (table(chrF=["3", "2", "n/a", "1"]), "column … must hold numbers; found …"),
    (table(source=["x", "y", "x", "z"]), "column 'source' differs between the rows of segment …"),
    (table(lp=["de-en", "de-en", "zh-en", "zh-en"]), "the table holds several language pairs"),
    (table().assign(chrF=float("nan")), "metric … has no score at all"),
    (table().assign(human=float("nan")), "no translation has a human score"),
]


@pytest.mark.parametrize(("frame", "quoted"), WRONG_TABLES, ids=[quoted for _, quoted in WRONG_TABLES])
def test_quoted_messages_are_real(frame, quoted):
    assert f'"{quoted}"' in (ROOT / "book" / "troubleshooting.md").read_text(encoding="utf-8")
    pattern = ".*".join(re.escape(part.strip()) for part in quoted.split("…"))
    refuses(f"(?s){pattern}", mm.EvalSet.from_frame, frame)


def fenced(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), flags=re.M | re.S)


@pytest.mark.parametrize("page", [p for p in [*PAGES, README] if fenced(p, "python")], ids=lambda p: p.name)
def test_python_on_the_pages_runs(page, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scope = {}
    for block in fenced(page, "python"):
        lines = [line for line in block.splitlines() if "wmt23" not in line or os.environ.get("MTMETA_DATA")]
        exec(compile("\n".join(lines), page.name, "exec"), scope)
    assert "mm" in scope
    if page == README:
        assert capsys.readouterr().out == "".join(fenced(README, "text"))


def commands():
    """Return the shell commands of the pages, less those that need the network or are run by other tests."""
    blocks = [(page, block) for page in [*PAGES, README] for block in fenced(page, "bash")]
    lines = {line for _, block in blocks for line in block.splitlines()}
    shown = re.findall(r"`(mtmeta [^`]+)`", README.read_text(encoding="utf-8"))
    blocks += [(README, line) for line in shown if line not in lines]
    for block, page in {block: page for page, block in blocks}.items():
        if not re.match(r"make |mtmeta fetch", block):
            name = f"{page.name}-{block.splitlines()[0][:40]}"
            marks = [pytest.mark.data] if re.search(r"(?<!protocol )wmt(?!24-news|25-genmt)", block) else []
            if re.search(r"mtmeta run|papermill|sweep|wmt23/zh-en|rank wmt23 ", block):  # each has tests of its own
                marks.append(pytest.mark.exhaustive)
            yield pytest.param(block, id=name, marks=marks)


@pytest.fixture(scope="module")
def own_tables(tmp_path_factory):
    """Return a folder with the reader's own tables."""
    folder, es = tmp_path_factory.mktemp("own"), mm.load("teaching")
    for name, n_segments in {"my_scores.csv": 120, "my_texts.csv": 30}.items():
        es.select(segments=es.segments[:n_segments]).to_frame().to_csv(folder / name, index=False)
    layouts = ROOT / "tests" / "layouts"
    shutil.copy(layouts / "wmt25-humeval.jsonl", folder / "wmt25-genmt-humeval.jsonl")
    shutil.copytree(layouts / "automatic", folder / "automatic_scores")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("block", list(commands()))
def test_commands_on_the_pages_run(block, own_tables, tmp_path, command_line, monkeypatch):
    shutil.copytree(own_tables, tmp_path, dirs_exist_ok=True)
    (tmp_path / "notebooks").symlink_to(ROOT / "notebooks")
    monkeypatch.chdir(tmp_path)
    for code, _, err in run_lines(block, command_line):
        assert code == 0, err[-2000:]


def test_sets_that_the_pages_fetch_exist():
    texts = "".join(page.read_text(encoding="utf-8") for page in [*PAGES, README])
    named = {name for names in re.findall(r"mtmeta fetch ([a-z][\w -]*)", texts) for name in names.split()}
    assert {"wmt23", "wmt23-sentinels"} <= named <= set(available())
