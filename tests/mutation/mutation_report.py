"""Write tests/MUTATION.md from the sessions of Cosmic Ray: python tests/mutation/mutation_report.py [LOWEST SCORE].

Ends with an error where a score is lower. Why a mutant may survive stands in survivors.toml.
"""

import contextlib
import json
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
never entered. It is killed if a test fails. `make mutation` makes and tries them, and writes this page; last with
Cosmic Ray {cosmic_ray}, Python {python}, NumPy {numpy}, numba {numba}, seed {seed}.

Of the places of each module that Cosmic Ray can change some are drawn, spread evenly over files and kinds of
change, and one mutant at random for each; `tried` says how many, and is not the same in all rows.
Left out by rule: annotations, what stands in a `raise`, `strict=True`, what
compiles to the same code or to none, and compiled loops, of which `tests/exact.py` has slow versions. A mutant meets
the tests that the file of its group in `tests/mutation` names, doctests among them: the quickest first, up to the first
that fails. A test by hypothesis tries {examples} examples, always the same.

The score is the share that was killed, or did not come to an end in four minutes, of those that are not known to be
equivalent; with it a 95 % interval (Clopper and Pearson). Tests were written against survivors of this sample, so the
score says what becomes of these mutants. What becomes of all, a sample from another seed tells better.

Not all rows were measured at the same commit: the last column says of which time it is. Where it names two, what
survived at the first was tried again with the tests of the second. A row says nothing of tests changed since.

| module | places | tried | killed | no end | equivalent | other reason | no reason | score | 95 % | commit of |
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|
"""
HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SESSIONS = ROOT / "_build" / "mutation"
RESULTS = HERE / "results.json"  # of each group, from its last session
MUTANT = "- `{}`: `{}` → `{}`"
KINDS = ("killed", "timeout", "equivalent", "accepted", "unexplained")


def described(mutation, result):
    """Return a mutant as on the page: the file, and the lines that differ before and after."""
    lines = result.diff.split("\n")[3:]
    was, now = (" ".join(line[1:].strip() for line in lines if line[0] == sign) for sign in "-+")
    return MUTANT.format(str(mutation.module_path).removeprefix("mtmeta/"), was, now)


def reasons():
    text = (HERE / "survivors.toml").read_text(encoding="utf-8")
    return {MUTANT.format(*mutant): reason for reason in tomllib.loads(text)["reason"] for mutant in reason["mutants"]}


def row(name, places, kinds, commits=""):
    n, hits = kinds.total() - kinds["equivalent"], kinds["killed"] + kinds["timeout"]
    interval = stats.binomtest(hits, n).proportion_ci()
    counts = " | ".join(str(kinds[k]) for k in KINDS)
    shares = f"{hits / n:.3f} | {interval.low:.3f} to {interval.high:.3f}"
    return f"| {name} | {places} | {kinds.total()} | {counts} | {shares} | {commits} |", hits / n


def measured(session):
    tree = session.with_suffix("")
    with use_db(session) as db, contextlib.chdir(tree):  # the files as they were
        places = len(sample.places(db, load_config(HERE / f"{session.stem}.toml")["module-path"]))
        results = [pair for pair in db.completed_work_items if pair[1].worker_outcome != WorkerOutcome.SKIPPED]
    outputs = Counter(result.output == "timeout" for _, result in results if result.is_killed)
    survivors = [described(item.mutations[0], result) for item, result in results if not result.is_killed]
    commits = " and ".join(tree.joinpath("commits").read_text().splitlines())
    return {"commits": commits, "places": places, "killed": outputs[0], "timeout": outputs[1], "survivors": survivors}


def main(lowest):
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    results |= {session.stem: measured(session) for session in sorted(SESSIONS.glob("*.sqlite"))}
    RESULTS.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    known, lines, wrong, survivors, total = reasons(), [], [], {}, Counter()
    for group, found in results.items():
        kinds = Counter(killed=found["killed"], timeout=found["timeout"])
        for mutant in found["survivors"]:
            reason = known.get(mutant, {"kind": "unexplained", "why": "No reason yet."})
            kinds[reason["kind"]] += 1
            survivors.setdefault(reason["why"], []).append(mutant)
        line, score = row(group, found["places"], kinds, found["commits"])
        lines.append(line)
        total += kinds
        wrong += [f"{group}: the score {score:.3f} is below {lowest}"] * (score < lowest)
    lines.append(row("all", sum(found["places"] for found in results.values()), total)[0])
    versions = {name: version(name.replace("_", "-")) for name in ("cosmic_ray", "numpy", "numba")}
    text = HEADER.format(python=platform.python_version(), seed=sample.SEED, examples=quick.EXAMPLES, **versions)
    text += "\n".join(lines) + "\n\n## Survivors\n"
    text += "".join(f"\n{why}\n\n" + "\n".join(m) + "\n" for why, m in survivors.items())
    (ROOT / "tests" / "MUTATION.md").write_text(text, encoding="utf-8")
    print("\n".join(lines + wrong))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]) if len(sys.argv) > 1 else 0.0))
