"""The page of evidence: each number was measured or stands in the page that it is quoted from."""

import importlib.util
import json
import re
import sys
from pathlib import Path

import pytest

import mtmeta as mm

ROOT = Path(__file__).parent.parent
BOOK = ROOT / "book"
#: Numbers that define something: bounds of a coefficient, the usual levels.
DEFINED = {"0", "1", ".05", ".95"}
NUMBER = re.compile(r"(?<![\w.])[−-]?\d*\.?\d+(?: %)?(?!\w)")


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


PAGE = load(BOOK / "_ext" / "evidence.py")
TEXT, ROWS = PAGE.read(BOOK)
CLAIMS = TEXT["claim"]
FRONT = (BOOK / "index.md").read_text(encoding="utf-8")
CELLS = [(claim, column) for claim in CLAIMS for column in PAGE.COLUMNS]


def numbers(text):
    found = NUMBER.findall(re.sub(r"(?<=\d),(?=\d{3})", "", text).replace("−", "-"))
    found = (re.sub(r"^(-?)0\.", r"\1.", f"{float(n[:-2]) / 100:.9g}" if n[-1] == "%" else n) for n in found)
    return {number.rstrip("0").rstrip(".") if "." in number else number for number in found}


def text_of(path):
    if path.suffix != ".ipynb":
        return path.read_text(encoding="utf-8")
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    printed = [part for output in outputs for part in output.get("text", output.get("data", {}).get("text/plain", []))]
    return "\n".join(["".join(cell["source"]) for cell in cells] + printed)


@pytest.mark.parametrize(("claim", "column"), CELLS, ids=lambda x: x if isinstance(x, str) else x["id"])
def test_every_number_was_measured_or_is_quoted(claim, column):
    given = PAGE.PLACE.sub("", claim[column] + " " + claim.get("n", {}).get(column, ""))
    quoted = numbers(" ".join(text for _, text in claim["quotes"]))
    assert numbers(given) - quoted - DEFINED == set()
    assert "[[" not in PAGE.fill_in(claim[column], ROWS)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim["id"])
def test_a_claim_has_a_mark_for_each_kind_of_data_and_a_topic(claim):
    assert len(claim["marks"]) == len(PAGE.KINDS)
    assert claim["topic"] in {topic["id"] for topic in TEXT["topic"]}
    for kind, mark in zip(PAGE.KINDS, claim["marks"], strict=True):
        assert mark in PAGE.MARKS
        assert claim[kind].startswith(("Not asked", "Not testable")) == (mark == "none")
    for kind, mark, number in zip(PAGE.KINDS, claim["marks"], claim["short"], strict=True):
        assert (number == PAGE.NOTHING) == (mark == "none")
        assert numbers(PAGE.fill_in(number, ROWS)) <= numbers(PAGE.fill_in(claim[kind], ROWS)) | DEFINED
    said = " ".join(claim[key] for key in ("claim", "unit", "why", "sure", "do"))
    assert numbers(said) <= numbers(" ".join(text for _, text in claim["quotes"])) | DEFINED


def test_sizes_are_those_of_the_sets():
    simulated, wmt24 = mm.simulate.campaign(seed=1), [mm.load(f"wmt24-news/en-{x}") for x in ("de", "es")]
    assert TEXT["sizes"]["simulated"] == "{} campaigns: {} systems × {} segments".format(
        len(ROWS) - 2, *simulated.shape
    )
    n = "into German: {} systems × {} segments; into Spanish: {} × {}"
    assert TEXT["sizes"]["wmt24"] == n.format(*wmt24[0].shape, *wmt24[1].shape)
    page = text_of(ROOT / "notebooks" / "real_data" / "fewer_labels.ipynb")
    printed = [
        re.search(rf"{pair}: (\d+) systems, (\d+) segments", page).groups() for pair in ("zh-en", "en-de", "he-en")
    ]
    n = "from Chinese: {} systems × {} segments; into German: {} × {}; from Hebrew: {} × {}"
    assert TEXT["sizes"]["wmt23"].replace(",", "") == n.format(*(x for pair in printed for x in pair))


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim["id"])
def test_quotes_stand_where_they_are_said_to(claim):
    for name, text in claim["quotes"]:
        assert text in text_of(ROOT / name), name
    for text in claim.get("front", []):
        assert text in FRONT
        cells = " ".join(PAGE.fill_in(claim[column], ROWS) for column in PAGE.COLUMNS)
        assert numbers(text) - numbers(cells) == set()
    assert claim["id"] in PAGE.findings(FRONT) or "front" not in claim


@pytest.mark.parametrize("finding", re.split(r"^### (?=\d\. )", FRONT.partition("## A way")[0], flags=re.M)[1:])
def test_findings_of_the_front_page_have_the_numbers_of_their_claims(finding):
    named = re.findall(r"<evidence-(\w+)>`", finding)
    assert {PAGE.findings(FRONT)[name] for name in named} == {finding[0]}
    (sizes,) = re.findall(r"^\|[^|\n]*\| Simulated \|.*\n(?:\|.*\n)+", finding, re.M)
    (_, *kinds), _, *rows = ([cell.strip() for cell in row.split("|")[1:-1]] for row in sizes.splitlines())
    assert [kind.partition(",")[0] for kind in kinds] == list(PAGE.KINDS.values())[: len(kinds)]  # without WMT24
    for column, said in zip(PAGE.KINDS, zip(*(row[1:] for row in rows), strict=True), strict=False):
        of = [claim for claim in CLAIMS if claim["id"] in named]
        cells = " ".join(PAGE.fill_in(claim[column], ROWS) + claim.get("n", {}).get(column, "") for claim in of)
        assert numbers(" ".join(said)) - numbers(cells) - DEFINED == set()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["campaign 3", "wmt24-news/en-es"])
def test_a_row_comes_out_again(name):
    evidence = load(ROOT / "tools" / "calibration" / "evidence.py")
    row = next(row for row in ROWS if row["set"] == name)
    seed = int(name.split()[1]) if name.startswith("campaign") else 0
    es = mm.simulate.campaign(seed=seed) if seed else mm.load(name)
    found = [evidence.blind(es), evidence.constant(es), evidence.saved(es), evidence.noise(es, seed)]
    found += [evidence.worth(es, seed)]
    found += [evidence.ceiling(es, seed), evidence.aggregations(es)] if seed else []
    for part in found:
        for column, value in part:
            assert float(row[column]) == pytest.approx(value, abs=1e-4), column
