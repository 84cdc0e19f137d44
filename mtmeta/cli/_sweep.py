"""`sweep`: many sets, metrics, options and seeds."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from .._files import keep
from .._limits import MAX_JOBS
from ._common import Writing, command
from ._options import How, argument, flag, folder, number, option, wrong
from ._output import say, written

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pandas as pd

    from ..sweep import Progress

_REASONS_SHOWN = 10
_SECONDS_BETWEEN_LINES = 10


@command("sweep --example > plan.yaml\n  mtmeta sweep plan.yaml")
def sweep(
    plan: argument(Path | None, "PLAN", "A YAML file: sets, metrics, statistics, seeds.") = None,
    example: flag("Print a plan to start from, and run nothing.", "--example") = False,
    dry_run: flag("List the tasks and which are done, and run none.", "--dry-run") = False,
    out: folder(Path | None, "Write all results into this folder.", "out/ and the name of the plan") = None,
    jobs: number(int | None, "Processes; -1 for all cores.", -MAX_JOBS, MAX_JOBS, "1; with --dask local, all") = None,
    dask: option(
        str | None,
        "Run on a Dask cluster: give the address of its scheduler, or local to start --jobs workers here, which "
        "talk over encrypted ports. Whoever reaches a scheduler without TLS can run code on it.",
        "ADDRESS|local",
    ) = None,
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
    if jobs is not None and dask not in (None, "local"):
        raise wrong("--jobs", "the cluster has its own number of workers; leave it out.")
    from .. import sweep as package

    if plan is None:
        writing.text(package.EXAMPLE)
        return
    out = out or Path("out") / plan.stem
    if writing.output is not None:
        keep([plan, *package.read_plan(plan).files()], writing.output)
    if dry_run:
        frame = package.listed(plan, out)
        counts = frame["status"].value_counts()
        writing.say(f"{len(frame)} tasks: {', '.join(f'{n} {status}' for status, n in counts.items())}")
        writing.text(written(frame, how, 3))
        return
    with _shown(writing.quiet) as progress:
        result = package.run(plan, out, n_jobs=jobs, dask=dask, progress=progress, force=writing.force)
    if result.n_damaged:
        writing.say(f"{result.n_damaged} lines of {out / 'results.jsonl'} were damaged; their tasks were done again")
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
    """Return what became of the tasks of each statistic."""
    done = tasks["status"] == "done"
    flags = {"tasks": 1, "ran": done & ~tasks["resumed"], "done before": tasks["resumed"], "failed": ~done}
    frame = tasks[["statistic"]].assign(**flags, seconds=tasks["seconds"])
    return frame.groupby("statistic", sort=False, as_index=False).sum()


@contextmanager
def _shown(quiet: bool) -> Iterator[Callable[[Progress], None]]:
    """Yield a display of progress on stderr: a bar on a terminal, otherwise a line now and then."""
    from tqdm import tqdm

    last = time.monotonic()
    with tqdm(unit="task", file=sys.stderr, leave=False, disable=quiet or not sys.stderr.isatty()) as bar:

        def show(progress: Progress) -> None:
            nonlocal last
            lines = bar.disable and not quiet
            if progress.seconds_left != progress.seconds_left:  # NaN: nothing is known yet
                bar.total, bar.initial, bar.n = progress.total, progress.done, progress.done
                bar.refresh()
                say(not lines, f"{progress.total} tasks, {progress.done} of them done before")
            elif progress.done == progress.total or time.monotonic() - last > _SECONDS_BETWEEN_LINES:
                last, left = time.monotonic(), tqdm.format_interval(progress.seconds_left)
                say(not lines, f"{progress.done} of {progress.total} tasks, {progress.failed} failed, {left} left")
            bar.set_postfix(failed=progress.failed, refresh=False)
            bar.update(progress.done - bar.n)

        yield show
