"""`sweep`: many sets, metrics, options and seeds."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from .._files import check_not_input
from .._limits import MAX_JOBS
from ._common import Writing, command
from ._options import How, argument, flag, folder, number, wrong
from ._output import written

if TYPE_CHECKING:
    import pandas as pd

_REASONS_SHOWN = 10


@command("sweep --example > plan.yaml\n  mtmeta sweep plan.yaml")
def sweep(
    plan: argument(Path | None, "PLAN", "A YAML file: sets, metrics, statistics, seeds.") = None,
    example: flag("Print a plan to start from, and run nothing.", "--example") = False,
    dry_run: flag("List the tasks and which are done, and run none.", "--dry-run") = False,
    out: folder(Path | None, "Write all results into this folder.", "out/ and the name of the plan") = None,
    jobs: number(int | None, "Processes; -1 for all cores.", -MAX_JOBS, MAX_JOBS, "1") = None,
    how: How = None,
    *,
    writing: Writing,
) -> None:
    """Compute statistics for many sets, metrics, options and seeds.

    Prints how many tasks of each statistic were done; the numbers are in results.csv. A second call does only what is
    left: tasks after an interruption, those that failed, and those that a change of the plan, the data or the version
    of the package affects. The exit code is 1 if a task fails; the results of the others are still written.
    """
    if (plan is None) != example:
        raise wrong("PLAN", "give a plan, or --example.")
    if example and how != "yaml":
        raise wrong("--format", "does not go with --example, which writes YAML.")
    from tqdm import tqdm

    from .. import sweep as package

    if plan is None:
        writing.text(package.EXAMPLE)
        return
    out = out or Path("out") / plan.stem
    if writing.output is not None:
        check_not_input(writing.output, package.read_plan(plan)["files"])
    if dry_run:
        frame = package.tasks(plan, out)
        counts = frame["status"].value_counts()
        writing.say(f"{len(frame)} tasks: {', '.join(f'{n} {status}' for status, n in counts.items())}")
        writing.text(written(frame, how, 3))
        return
    with tqdm(unit="task", file=sys.stderr, leave=False, disable=writing.quiet or not sys.stderr.isatty()) as bar:

        def progress(done: int, failed: int, total: int) -> None:
            bar.total, bar.n = total, done
            bar.set_postfix(failed=failed)

        result = package.run(plan, out, n_jobs=jobs, progress=progress)
    writing.say(f"results: {out / 'results.csv'}", result.signature)
    writing.text(written(_counted(result.tasks), how, 1))
    failed = result.tasks.query("status == 'failed'")
    for row in failed.head(_REASONS_SHOWN).itertuples():
        about = " ".join(filter(None, [row.set, row.statistic, row.metric, row.options]))
        typer.echo(f"mtmeta: error: {about}: {row.reason}", err=True)
    if len(failed) > _REASONS_SHOWN:
        typer.echo(f"mtmeta: error: {len(failed)} tasks failed; all reasons are in {out / 'tasks.csv'}", err=True)
    if len(failed):
        raise typer.Exit(1)


def _counted(tasks: pd.DataFrame) -> pd.DataFrame:
    """Return how many tasks of each statistic were done, done before, or failed."""
    done = tasks["status"] == "done"
    flags = {"tasks": 1, "ran": done & ~tasks["resumed"], "done before": tasks["resumed"], "failed": ~done}
    frame = tasks[["statistic"]].assign(**flags, seconds=tasks["seconds"])
    return frame.groupby("statistic", sort=False, as_index=False).sum()
