"""`sweep`: many sets, metrics, options and seeds."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .._files import keep
from .._limits import MAX_JOBS
from ._choices import Format
from ._common import EXAMPLE, Force, How, Output, Quiet, app, guarded
from ._output import emit, emit_text, say

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pandas as pd

    from ..sweep import Progress

_REASONS_SHOWN = 10
_SECONDS_BETWEEN_LINES = 10


@app.command(epilog=EXAMPLE.format("sweep --example > plan.yaml\n  mtmeta sweep plan.yaml"))
@guarded
def sweep(
    context: typer.Context,
    plan: Annotated[
        Path | None,
        typer.Argument(metavar="PLAN", help="A YAML file: sets, metrics, statistics, seeds.", show_default=False),
    ] = None,
    example: Annotated[bool, typer.Option("--example", help="Print a plan to start from, and do nothing.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="List the tasks and what is done, and do none.")] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            file_okay=False,
            help="Write here: results.jsonl, results.csv, tasks.csv.",
            show_default="out/ and the name of the plan",
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(max=MAX_JOBS, metavar="N", help="Processes; -1 for all cores.", show_default="1; with local, all"),
    ] = None,
    dask: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS|local",
            help="Let a Dask cluster do it: the address of its scheduler, or local for one of --jobs workers here, "
            "which talk over encrypted ports of their own. Who reaches a scheduler without TLS can run code on it.",
            show_default=False,
        ),
    ] = None,
    how: How = Format.table,
    output: Output = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Compute statistics for many sets, metrics, options and seeds.

    Prints how many tasks of each statistic were done; the numbers are in results.csv. Given again, the command does
    only what is not done: after an interruption, tasks that failed, and what a change of the plan, of the data or of
    the version of the package affects. The exit code is 1 if a task fails; the others are there all the same.
    """
    if (plan is None) != example:
        raise typer.BadParameter("give a plan, or --example.", ctx=context, param_hint="PLAN")
    if jobs == 0 or (jobs is not None and jobs < -1):
        raise typer.BadParameter(
            "expected a number of processes, or -1 for all cores.", ctx=context, param_hint="--jobs"
        )
    if jobs is not None and dask not in (None, "local"):
        raise typer.BadParameter(
            "the cluster has its own number of workers; leave it out.", ctx=context, param_hint="--jobs"
        )
    from .. import sweep as package

    if plan is None:
        emit_text(package.EXAMPLE, output)
        return
    out = Path("out") / plan.stem if out is None else out
    if output is not None:
        keep([plan, *package.read_plan(plan).files()], output)
    if dry_run:
        frame = package.listed(plan, out)
        counts = frame["status"].value_counts()
        say(quiet, f"{len(frame)} tasks: {', '.join(f'{n} {status}' for status, n in counts.items())}")
        emit(frame, how, 3, output)
        return
    with _shown(quiet) as progress:
        result = package.run(plan, out, n_jobs=jobs, dask=dask, progress=progress, force=force)
    if result.n_damaged:
        say(quiet, f"{result.n_damaged} lines of {out / 'results.jsonl'} were damaged; their tasks were done again")
    say(quiet, f"results: {out / 'results.csv'}", result.signature)
    emit(_counted(result.tasks), how, 1, output)
    failed = result.tasks.query("status == 'failed'")
    for row in failed.head(_REASONS_SHOWN).itertuples():
        about = " ".join(filter(None, [row.set, row.statistic, row.metric, row.options]))
        typer.echo(f"mtmeta: error: {about}: {row.reason}", err=True)
    if len(failed) > _REASONS_SHOWN:
        typer.echo(f"mtmeta: error: {len(failed)} tasks failed; all reasons are in {out / 'tasks.csv'}", err=True)
    if len(failed):
        raise typer.Exit(1)


def _counted(tasks: pd.DataFrame) -> pd.DataFrame:
    """Return what became of the tasks of each statistic."""
    done = tasks["status"] == "done"
    flags = {"tasks": 1, "ran": done & ~tasks["resumed"], "done before": tasks["resumed"], "failed": ~done}
    frame = tasks[["statistic"]].assign(**flags, seconds=tasks["seconds"])
    return frame.groupby("statistic", sort=False, as_index=False).sum()


@contextmanager
def _shown(quiet: bool) -> Iterator[Callable[[Progress], None] | None]:
    """Yield what shows progress on stderr: a bar on a terminal, else a line now and then."""
    if quiet:
        yield None
        return
    from tqdm import tqdm

    bar: tqdm | None = None
    last = time.monotonic()

    def show(progress: Progress) -> None:
        nonlocal bar, last
        first = progress.seconds_left != progress.seconds_left  # NaN: nothing is known yet
        if sys.stderr.isatty():
            bar = bar or tqdm(total=progress.total, initial=progress.done, unit="task", file=sys.stderr, leave=False)
            bar.set_postfix(failed=progress.failed, refresh=False)
            bar.update(progress.done - bar.n)
        elif first:
            say(False, f"{progress.total} tasks, {progress.done} of them done before")
        elif progress.done == progress.total or time.monotonic() - last > _SECONDS_BETWEEN_LINES:
            last = time.monotonic()
            left = tqdm.format_interval(progress.seconds_left)
            say(False, f"{progress.done} of {progress.total} tasks, {progress.failed} failed, {left} left")

    try:
        yield show
    finally:
        if bar is not None:
            bar.close()
