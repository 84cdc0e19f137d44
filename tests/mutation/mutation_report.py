"""Write the tables of tests/MUTATION.md from the sessions of Cosmic Ray: mutation_report.py [LOWEST SCORE].

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

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SESSIONS = ROOT / "_build" / "mutation"
PAGE = ROOT / "tests" / "MUTATION.md"
TABLE = f"|---{'|---:' * 9}|---|\n"  # below the head of the table: what stands above is kept
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
    commits = " and ".join(dict.fromkeys(tree.joinpath("commits").read_text().splitlines()))
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
    versions = {"Cosmic Ray": version("cosmic_ray"), "Python": platform.python_version(), "NumPy": version("numpy")}
    versions |= {"numba": version("numba"), "seed": sample.SEED, "examples at most": quick.EXAMPLES}
    text = PAGE.read_text(encoding="utf-8").partition(TABLE)[0] + TABLE + "\n".join(lines)
    text += f"\n\nLast with {', '.join(f'{name} {value}' for name, value in versions.items())}.\n\n## Survivors\n"
    for why, mutants in survivors.items():  # of files that are still there
        if there := [m for m in mutants if (ROOT / "mtmeta" / m.split("`")[1]).exists()]:
            text += f"\n{why}\n\n" + "\n".join(there) + "\n"
    PAGE.write_text(text, encoding="utf-8")
    print("\n".join(lines + wrong))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]) if len(sys.argv) > 1 else 0.0))
