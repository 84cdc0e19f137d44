"""Write tests/MUTATION.md from the sessions of Cosmic Ray: python tests/mutation/mutation_report.py [LOWEST SCORE].

Ends with an error where a score is lower. Why a mutant may survive stands in survivors.toml.
"""

import datetime
import platform
import sys
import tomllib
from collections import Counter
from importlib.metadata import version
from pathlib import Path

import quick
import sample
from cosmic_ray.config import load_config
from cosmic_ray.work_db import use_db
from cosmic_ray.work_item import WorkerOutcome
from scipy import stats

HEADER = """# Mutation tests

Are the tests able to fail? A mutant is the package with one place changed: `<` becomes `<=`, 2 becomes 3, a loop is
never entered. It is killed if a test fails. `make mutation` makes and tries them, and writes this page: {today}, Cosmic
Ray {cosmic_ray}, Python {python}, NumPy {numpy}, numba {numba}, seed {seed}.

Of the places of each module that Cosmic Ray can change up to {size} are drawn, spread evenly over files and kinds of
change, and one mutant at random for each. Left out by rule: annotations, what stands in a `raise`, `strict=True`, what
compiles to the same code or to none, and compiled loops, of which `tests/exact.py` has slow versions. A mutant meets
the tests that the file of its group in `tests/mutation` names, doctests among them: the quickest first, up to the first
that fails. A test by hypothesis tries {examples} examples, always the same.

The score is the share that was killed, or took more than ten minutes, of those that are not known to be
equivalent; with it a 95 % interval (Clopper and Pearson). Tests were written against survivors of this sample, so the
score says what becomes of these mutants. What becomes of all, a sample from another seed tells better.

| module | places | tried | killed | no end | equivalent | other reason | no reason | score | 95 % |
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|
"""
HERE = Path(__file__).parent
ROOT = HERE.parents[1]
KINDS = ("killed", "timeout", "equivalent", "accepted", "unexplained")


def key(mutation, result):
    """Return what names a mutant in survivors.toml: the file, and the lines that differ before and after."""
    lines = result.diff.split("\n")[3:]
    was, now = (" ".join(line[1:].strip() for line in lines if line[0] == sign) for sign in "-+")
    return str(mutation.module_path).removeprefix("mtmeta/"), was, now


def reasons():
    """Return why mutants may survive, by file and what they change."""
    text = (HERE / "survivors.toml").read_text(encoding="utf-8")
    return {tuple(mutant): reason for reason in tomllib.loads(text)["reason"] for mutant in reason["mutants"]}


def row(name, places, kinds):
    """Return a row of the table, and the score."""
    n, hits = kinds.total() - kinds["equivalent"], kinds["killed"] + kinds["timeout"]
    if not n:
        return f"| {name} | {places} | 0 | | | | | | | |", 1.0
    interval = stats.binomtest(hits, n).proportion_ci()
    counts = " | ".join(str(kinds[k]) for k in KINDS)
    shares = f"{hits / n:.3f} | {interval.low:.3f} to {interval.high:.3f}"
    return f"| {name} | {places} | {kinds.total()} | {counts} | {shares} |", hits / n


def main(lowest):
    known, lines, wrong, survivors = reasons(), [], [], {}
    total, all_places = Counter(), 0
    for session in sorted((ROOT / "_build" / "mutation").glob("*.sqlite")):
        group, kinds = session.stem, Counter()
        with use_db(session) as db:
            modules = load_config(HERE / f"{group}.toml")["module-path"]
            places, results = len(sample.places(db, modules)), db.completed_work_items
        for item, result in (pair for pair in results if pair[1].worker_outcome != WorkerOutcome.SKIPPED):
            if result.is_killed:
                kinds["timeout" if result.output == "timeout" else "killed"] += 1
                continue
            mutant = key(item.mutations[0], result)
            reason = known.get(mutant, {"kind": "unexplained", "why": "No reason yet."})
            kinds[reason["kind"]] += 1
            survivors.setdefault(reason["why"], []).append("- `{}`: `{}` → `{}`".format(*mutant))
        line, score = row(group, places, kinds)
        lines.append(line)
        total, all_places = total + kinds, all_places + places
        wrong += [f"{group}: the score {score:.3f} is below {lowest}"] * (score < lowest)
    lines.append(row("all", all_places, total)[0])
    versions = {name: version(name.replace("_", "-")) for name in ("cosmic_ray", "numpy", "numba")}
    settings = {"seed": sample.SEED, "size": sample.SIZE, "examples": quick.EXAMPLES}
    today = f"{datetime.date.today():%-d %B %Y}"
    text = HEADER.format(today=today, python=platform.python_version(), **versions, **settings) + "\n".join(lines)
    text += "\n\n## Survivors\n" + "".join(f"\n{why}\n\n" + "\n".join(m) + "\n" for why, m in survivors.items())
    (ROOT / "tests" / "MUTATION.md").write_text(text, encoding="utf-8")
    print("\n".join(lines + wrong))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]) if len(sys.argv) > 1 else 0.0))
