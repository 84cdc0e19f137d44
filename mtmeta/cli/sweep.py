"""`mtmeta sweep`: many sets, metrics, options and seeds."""

import sys
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Context, Option

import mtmeta as mm

from .._files import check_not_input
from . import _options as opt
from ._app import app, example
from ._given import Writes
from ._output import say

Plan = Annotated[Path | None, Argument(metavar="PLAN", help="A YAML file: sets, metrics, statistics, seeds.")]
Example = Annotated[bool, Option("--example", help="Print a plan to start from, and run nothing.")]
DryRun = Annotated[bool, Option("--dry-run", help="List the tasks and which are done, and run none.")]
Jobs = Annotated[int | None, Option(metavar="N", help="Processes, by default 1; -1 for all cores.")]


@app.command(cls=Writes, epilog=example("sweep --example > plan.yaml\n  mtmeta sweep plan.yaml"))
def sweep(
    context: Context,
    file: Plan = None,
    show: Example = False,
    dry_run: DryRun = False,
    out: opt.Folder = None,
    jobs: Jobs = None,
) -> None:
    """Compute statistics for many sets, metrics, options and seeds.

    Prints how many tasks of each statistic were done; the numbers are in results.csv. A second call does only what is
    left: tasks after an interruption, those that failed, and those that a change of the plan, the data or the version
    of the package affects. The exit code is 1 if a task fails; the results of the others are still written.
    """
    if (file is None) != show:
        raise typer.BadParameter("give a plan, or --example.", param_hint="PLAN")
    if file is None:
        typer.echo(mm.sweep.EXAMPLE, nl=False)
        return
    given, out = context.obj, out or Path("out") / file.stem
    if output := given.options["output"]:
        check_not_input(output, mm.sweep.read_plan(file)["files"])
    if dry_run:
        frame = mm.sweep.tasks(file, out)
        counts = frame["status"].value_counts()
        say(f"{len(frame)} tasks: {', '.join(f'{n} {status}' for status, n in counts.items())}")
        given.write(frame)
        return
    hidden = given.options["quiet"] or not sys.stderr.isatty()
    with typer.progressbar(length=1, label="tasks", hidden=hidden, file=sys.stderr) as bar:

        def progress(done: int, failed: int, total: int) -> None:
            bar.length, bar.label = total, f"{failed} of {total} tasks failed" if failed else f"{total} tasks"
            bar.update(done - bar.pos)

        result = mm.sweep.run(file, out, n_jobs=jobs, progress=progress)
    say(f"results: {out / 'results.csv'}", result.signature)
    done, before = result.tasks["status"] == "done", result.tasks["resumed"]
    flags = {"tasks": 1, "ran": done & ~before, "done before": before, "failed": ~done}
    frame = result.tasks[["statistic"]].assign(**flags, seconds=result.tasks["seconds"])
    given.write(frame.groupby("statistic", sort=False, as_index=False).sum(), places=1)
    for row in result.tasks[~done].itertuples():
        about = " ".join(filter(None, [row.set, row.statistic, row.metric, row.options]))
        typer.echo(f"mtmeta: error: {about}: {row.reason}", err=True)
    if not done.all():
        raise typer.Exit(1)
