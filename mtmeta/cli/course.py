"""`mtmeta exercises` and `mtmeta class`: sheets of exercises; a data set a student, and marks."""

from pathlib import Path

from typer import BadParameter, Context, Typer

from ._app import Program, app, command
from ._options import described
from ._output import emit, say, written


@command("exercises 1 --out sheets")
def exercises(
    chapters: list[str],
    out: Path | None = Path("exercises"),
    solutions: bool = False,
    quiet: bool = False,
) -> None:
    """Write the exercises of chapters as notebooks without solutions.

    Each runs by itself, offline: the cells of the chapter that the exercises need, the statements, cells for the
    answers, and checks that name what is wrong but not the answer. It needs a clone of the book, as `mtmeta run` does.
    A notebook that is there and has been changed is not overwritten.
    """
    from ..book import exercises, runner

    found = runner.chapters(runner.find_project(), chapters)
    for path in exercises.export(found.values(), out, solutions=solutions):
        say(f"written: {path}")


_EXAMPLE = "\b\nExample:\n  printf 'Ada\\nBo\\n' > names.txt\n  mtmeta class --students names.txt -o class\n"
_EXAMPLE += "  mtmeta class check class class"
room = Typer(cls=Program, context_settings={"help_option_names": ["-h", "--help"]})


@room.callback(invoke_without_command=True, epilog=_EXAMPLE)
@described
def make(
    context: Context,
    students: Path | None = None,
    plant: str = "favour,ties,sentinel",
    out: Path = Path("class"),
    seed: int = 1,
) -> None:
    """Write a simulated campaign and a sheet for each student of a class.

    Each campaign has its own systems, scores and planted facts; truths.json, which is for the lecturer, has them all.
    The planted facts are a metric that favours a system (favour), one that calls different translations equal (ties),
    and one that reads no translation (sentinel).
    """
    if context.invoked_subcommand:
        return
    if students is None:
        raise BadParameter("give a file with the names of the students.", param_hint="--students")
    from ..book import students as room_of

    names = [line for line in students.read_text(encoding="utf-8").splitlines() if line.strip()]
    folders = room_of.write(names, plant.split(","), out, seed=seed)
    say(*(f"written: {folder}" for folder in folders), f"for the lecturer: {out / room_of.TRUTHS}")


@room.command(epilog=_EXAMPLE)
@described
def check(folder: Path, answers: Path) -> None:
    """Mark the answers: one point for each planted fact that was found."""
    from ..book import students

    emit(written(students.mark(folder, answers), "table"), None)


app.add_typer(room, name="class")
