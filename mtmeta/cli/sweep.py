"""`mtmeta sweep`: many sets, metrics, options and seeds."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

import mtmeta as mm

from . import _options as opt
from ._app import app, example
from ._output import emit, form_of, say, written

if TYPE_CHECKING:
    import pandas as pd

_REASONS_SHOWN = 10

Plan = Annotated[Path | None, Argument(metavar="PLAN", help="A YAML file: sets, metrics, statistics, seeds.")]
Example = Annotated[bool, Option("--example", help="Print a plan to start from, and run nothing.")]
DryRun = Annotated[bool, Option("--dry-run", help="List the tasks and which are done, and run none.")]
Jobs = Annotated[int | None, Option(metavar="N", help="Processes, by default 1; -1 for all cores.")]


@app.command(epilog=example("sweep --example > plan.yaml\n  mtmeta sweep plan.yaml"))
def sweep(
    plan: Plan = None,
    show: Example = False,
    dry_run: DryRun = False,
    out: opt.Folder = None,
    jobs: Jobs = None,
    how: opt.How = None,
    output: opt.Output = None,
    quiet: opt.Quiet = False,
) -> None:
    """Compute statistics for many sets, metrics, options and seeds.

    Prints how many tasks of each statistic were done; the numbers are in results.csv. A second call does only what is
    left: tasks after an interruption, those that failed, and those that a change of the plan, the data or the version
    of the package affects. The exit code is 1 if a task fails; the results of the others are still written.
    """
    if (plan is None) != show:
        raise typer.BadParameter("give a plan, or --example.", param_hint="PLAN")
    if plan is None:
        typer.echo(mm.sweep.EXAMPLE, nl=False)
        return
    form = form_of(output, how, [plan, *mm.sweep.read_plan(plan)["files"]])
    out = out or Path("out") / plan.stem
    if dry_run:
        frame = mm.sweep.tasks(plan, out)
        counts = frame["status"].value_counts()
        say(f"{len(frame)} tasks: {', '.join(f'{n} {status}' for status, n in counts.items())}")
        emit(written(frame, form), output)
        return
    hidden = quiet or not sys.stderr.isatty()
    with typer.progressbar(length=1, label="tasks", hidden=hidden, file=sys.stderr) as bar:

        def progress(done: int, failed: int, total: int) -> None:
            bar.length, bar.label = total, f"{failed} of {total} tasks failed" if failed else f"{total} tasks"
            bar.update(done - bar.pos)

        result = mm.sweep.run(plan, out, n_jobs=jobs, progress=progress)
    say(f"results: {out / 'results.csv'}", result.signature)
    emit(written(_counted(result.tasks), form, 1), output)
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
