"""The example and the counts on the front page are those of the campaign and of the ledger."""

import base64
import json
import re
from pathlib import Path

import pytest
import sacrebleu

import mtmeta as mm

ROOT = Path(__file__).parent.parent
FRONT = (ROOT / "book" / "index.md").read_text(encoding="utf-8")
SEGMENT = 8


def real_page(name):
    return json.loads((ROOT / "notebooks" / "real_data" / f"{name}.ipynb").read_text(encoding="utf-8"))


@pytest.mark.parametrize("system", ["Ember", "Aster"])
def test_example_is_in_the_campaign(system):
    es = mm.load("teaching")
    i, j = es.systems.index(system), es.segments.index(SEGMENT)
    assert es.texts.sources[j] in FRONT
    assert next(iter(es.texts.references.values()))[j] in FRONT
    row = re.search(rf"^\| {system} \| (.*?) \|(.*)\|$", FRONT, re.MULTILINE)
    assert row[1].replace("**", "") == es.texts.translations[system][j]
    scores = (round(float(es[m][i, j]), digits) for m, digits in [("BLEU", 1), ("RegressorQE", 3)])
    wanted = [es.human[i, j], *scores, len(es.texts.sources[j])]
    assert [float(cell.replace("−", "-")) for cell in row[2].split("|")] == wanted
    if system == "Aster":
        spans = es.spans.query("system == @system and segment == @SEGMENT")
        assert spans[["text", "weight"]].to_numpy().tolist() == [["waited", 5]]


def test_both_calls_of_sacrebleu_print_what_the_page_shows():
    texts = mm.load("teaching").texts
    hypotheses, references = list(texts.translations["Ember"]), list(next(iter(texts.references.values())))
    for call, given in ("[references]", [references]), ("[[r] for r in references]", [[r] for r in references]):
        assert f"{call})  # BLEU {sacrebleu.corpus_bleu(hypotheses, given).score:.1f}" in FRONT
    assert f"for the {len(hypotheses)} translations by Ember" in FRONT


def test_counts_are_those_of_the_ledger():
    table = "\n".join("".join(cell["source"]) for cell in real_page("ledger")["cells"])
    for paper, compared, agree, said in (
        ("perrella2024guardians", "3,856", "3,855", "3,856 of their numbers: all but one agree"),
        ("vondaniken2025sysdep", "19", "17", "19 of their numbers: 17 agree"),
        ("cavalin2024aggregation", "8", "4; 8 if", "8 of their numbers: 4 agree"),
        ("deviyani2025local", "0 of 84", "", "none of their 84 numbers"),
    ):
        cells = re.search(rf"^\| {{cite:t}}`{paper}`.*?\| (.*)$", table, re.MULTILINE)[1].split(" | ")
        assert (cells[0], cells[2].startswith(agree), said in FRONT) == (compared, True, True)


def test_figure_is_that_of_the_page_on_sentinels():
    cells = (c for c in real_page("sentinels")["cells"] if "'name': 'fig-wmt23-count'" in str(c["metadata"]))
    (picture,) = (o["data"]["image/png"] for cell in cells for o in cell["outputs"] if "data" in o)
    assert (ROOT / "book/_static/counting-characters.png").read_bytes() == base64.b64decode(picture)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["README.md", "book/how_to_use.md"])
def test_tables_are_what_the_commands_print(name, command_line, tmp_path, monkeypatch):
    monkeypatch.delenv("MTMETA_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    page = (ROOT / name).read_text(encoding="utf-8")
    Path("six.csv").write_text(page.partition("```text\n")[2].partition("```")[0])
    command, *shown = page.split("```console\n$ mtmeta ")[1].partition("```")[0].splitlines()
    _, printed, _ = command_line(*command.split())
    lines = printed[printed.index("metric  ") :].splitlines()
    rows = [line[: len(shown[1])].rstrip() for line in lines]  # further columns are left out
    assert [line for line in shown if line != "..."] == [*rows[:10], *rows[22:23], *rows[25:26]]
    for claim in re.findall(r"^> (- .*) \[…\]$", page, re.MULTILINE):
        assert claim in command_line("report", "teaching", "--metric", "BLEU")[1]
