"""Write tests/MUTATION.md from what mutants.py found: python tests/mutation/mutation_report.py [LOWEST SCORE].

Ends with an error where a score is lower. Why a mutant may survive stands in survivors.toml.
"""

import datetime
import platform
import sys
import tomllib
from collections import Counter
from importlib.metadata import version
from pathlib import Path

import mutants
from scipy import stats

HEADER = """# Mutation tests

Are the tests able to fail? A mutant is the package with one place changed: `<` becomes `<=`, 2 becomes 3, a loop is
never entered. It is killed if a test fails. `make mutation` makes and tries them, and writes this page: {today}, Cosmic
Ray {cosmic_ray}, Python {python}, NumPy {numpy}, numba {numba}, seed {seed}.

Of the places of each module that Cosmic Ray can change up to {size} are drawn, spread evenly over files and kinds of
change, and one mutant at random for each. Left out by rule: annotations, what stands in a `raise`, `strict=True`, what
compiles to the same code or to none, and compiled loops, of which `tests/exact.py` has slow versions. A mutant meets
the tests that `tests/mutation/config.toml` names, doctests among them, as far as they call the changed function: the
quickest first, up to the first that fails. A test by hypothesis tries {examples} examples, always the same.

The score is the share that was killed, or took five times as long as all its tests, of those that are not known to be
equivalent; with it a 95 % interval (Clopper and Pearson). Tests were written against survivors of this sample, so the
score says what becomes of these mutants. What becomes of all, a sample from another seed tells better.

| module | places | tried | killed | no end | equivalent | other reason | no reason | score | 95 % |
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|
"""
KINDS = ("killed", "timeout", "equivalent", "accepted", "unexplained")


def key(result):
    """Return what names a mutant in survivors.toml."""
    return result["file"].removeprefix("mtmeta/"), result["was"], result["now"]


def reasons():
    """Return why mutants may survive, by file and what they change."""
    text = (Path(__file__).parent / "survivors.toml").read_text(encoding="utf-8")
    return {tuple(mutant): reason for reason in tomllib.loads(text)["reason"] for mutant in reason["mutants"]}


def kind(result, known):
    """Return killed, timeout, or how the mutant's survival is explained."""
    if result["outcome"] in KINDS:
        return result["outcome"]
    return known.get(key(result), {"kind": "unexplained"})["kind"]


def row(name, places, kinds):
    """Return a row of the table, and the score."""
    n, hits = kinds.total() - kinds["equivalent"], kinds["killed"] + kinds["timeout"]
    if not n:
        return f"| {name} | {places} | 0 | | | | | | | |", 1.0
    interval = stats.binomtest(hits, n).proportion_ci()
    counts = " | ".join(str(kinds[k]) for k in KINDS)
    shares = f"{hits / n:.3f} | {interval.low:.3f} to {interval.high:.3f}"
    return f"| {name} | {places} | {kinds.total()} | {counts} | {shares} |", hits / n


def survivors(found, known):
    """Return the survivors as Markdown, by the reason why they may."""
    by_reason = {}
    for result in found:
        if result["outcome"] not in KINDS:
            why = known.get(key(result), {"why": "No reason yet."})["why"]
            by_reason.setdefault(why, []).append("- `{}`: `{}` → `{}`".format(*key(result)))
    return "".join(f"\n{why}\n\n" + "\n".join(lines) + "\n" for why, lines in by_reason.items())


def main(lowest):
    known, lines, wrong, every = reasons(), [], [], []
    total, all_places = Counter(), 0
    for group in mutants.CONFIG["groups"]:
        found = [r for r in mutants.earlier(group) if r["outcome"] not in ("no program", "same code")]
        kinds, places = Counter(kind(r, known) for r in found), len(mutants.sample(group, 0, 0))
        line, score = row(group, places, kinds)
        lines.append(line)
        total, all_places = total + kinds, all_places + places
        wrong += [f"{group}: the score {score:.3f} is below {lowest}"] * (score < lowest)
        every += found
    lines.append(row("all", all_places, total)[0])
    versions = {name: version(name.replace("_", "-")) for name in ("cosmic_ray", "numpy", "numba")}
    settings = {name: value for name, value in mutants.CONFIG.items() if name != "groups"}
    today = f"{datetime.date.today():%-d %B %Y}"
    text = HEADER.format(today=today, python=platform.python_version(), **versions, **settings) + "\n".join(lines)
    text += "\n\n## Survivors\n" + survivors(every, known)
    (mutants.ROOT / "tests" / "MUTATION.md").write_text(text, encoding="utf-8")
    print("\n".join(lines + wrong))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]) if len(sys.argv) > 1 else 0.0))
