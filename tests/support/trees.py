"""A small folder in the layout of mt-metrics-eval v2, and a table of MQM errors."""

from pathlib import Path

LP = "en-de"
SOURCES = ["The cat sleeps.", "It\u2028rains.", "We left\x85early."]
OUTPUTS = {
    "Alpha": ["Die Katze schläft.", "Es regnet.", "Wir gingen früh."],
    "Beta": ["Der Katze schläft.", "[No translation supplied]", "Wir links früh."],
    "refA": ["Die Katze schlummert.", "Es\u2028regnet.", "Wir sind früh gegangen."],
    "refB": ["Die Katze ruht.", "Regen fällt.", "Früh brachen wir auf."],
    "synthetic_ref": ["Katze schläft.", "Regen.", "Wir früh."],
}
MQM = {"Beta": ["-6", "None", "-5.1"], "refB": ["0", "None", "-1"], "Alpha": ["-1", "None", "-0.0"], "refA": ["0"] * 3}


def write(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
    return path


def scores(table: dict[str, list]) -> str:
    return "".join(f"{system}\t{score}\n" for system, values in table.items() for score in values)


def make_tree(root: Path, lp: str = LP) -> Path:
    """Write a small tree: 3 segments, 4 systems with MQM scores, two references, one outlier."""
    n = len(SOURCES)
    write(root / f"sources/{lp}.txt", "\n".join(SOURCES) + "\n")
    write(root / f"documents/{lp}.docs", "news\tdoc one\nnews\tdoc one\nchat\tdoc2\n")
    for name in ("refA", "refB"):
        write(root / f"references/{lp}.{name}.txt", "\n".join(OUTPUTS[name]) + "\n")
    for name, lines in OUTPUTS.items():
        write(root / f"system-outputs/{lp}/{name}.txt", "\n".join(lines) + "\n")
    human = root / "human-scores"
    write(human / f"{lp}.mqm.seg.score", scores(MQM))
    write(human / f"{lp}.mqm.sys.score", "Alpha -0.25\nBeta -5.55\nrefA 0\nrefB -0.5\n")
    write(human / f"{lp}.da-sqm.seg.score", scores({"Alpha": [80, 90, "None"], "Beta": [10, 20, 30], "refA": [99] * n}))
    metrics = root / f"metric-scores/{lp}"
    all_scored = {s: [i + j / 10 for j in range(n)] for i, s in enumerate(OUTPUTS)}
    write(metrics / "Good-QE-src.seg.score", scores(all_scored))
    write(metrics / "Good-QE-src.sys.score", "".join(f"{s} {i}.5\n" for i, s in enumerate(OUTPUTS)))
    write(metrics / "BLEU-refA.seg.score", scores({s: v for s, v in all_scored.items() if s != "refA"}))
    write(metrics / "BLEU-refB.seg.score", scores({s: v for s, v in all_scored.items() if s != "refB"}))
    write(metrics / "Both-refA.refB.seg.score", scores(all_scored))
    write(metrics / "All-all.seg.score", scores(all_scored))
    write(metrics / "OnlySystem-refA.sys.score", "".join(f"{s}\t{i}\n" for i, s in enumerate(OUTPUTS)))
    return root


MQM_ROWS = [
    "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\t# No row has this field",
    'A\td1\t1\t10\tr1\tA "dog" barks.\tEin <v>"Katze"</v> bellt.\tAccuracy/Mistranslation\tMajor',
    'A\td1\t1\t10\tr1\tA "dog" barks.\tEin "Katze" bellt<v>.</v>\tFluency/Punctuation\tMinor',
    'A\td1\t1\t10\tr2\tA "dog" barks.\tEin "Katze" bellt.\tNo-error\tNo-error',
    "A\td1\t2\t9\tr1\tIt <v>really</v> rains.\tEs regnet.\tAccuracy/Omission\tminor",
    "A\td1\t2\t9\tr1\tIt rains!\tEs regnet!\tFound\tHOTW-test",
    'B\td1\t1\t10\tr1\tA "dog" barks.\t<v>xyz\tNon-translation!\tMajor',
    "B\td1\t2\t9\tr1\tIt really rains.\tEs regnet.\tStyle\tNeutral",
    'ref-A\td1\t1\t10\tr1\tA "dog" barks.\tEin "Hund" bellt.\tNo-error\tNo-error',
]
