"""Execute chapters on a reader's data."""

import re
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pandas as pd
from joblib import Parallel, delayed
from papermill.execute import remove_error_markers

from ... import __version__
from ..._checks import Undefined
from ..._escapes import file_name, markdown
from ..._files import check_not_input, claim, digest, whole_file
from ..._names import unknown
from ...evalset import EvalSet
from ...rankings import Rankings
from .. import CannotRun
from ._execute import about, execute, is_there, missing
from ._needs import NOTES, PARAMETERS, Data, facts, kind_of, unmet


@dataclass(frozen=True)
class Outcome:
    """The outcome of one chapter.

    Attributes
    ----------
    status : str
        "ran", "skipped" or "failed".
    seconds : float
        Wall time of its execution, start of the kernel included; 0 if it was not executed.
    reason : str
        Why it was skipped, or the last line of the failure.
    resumed : bool
        Whether an earlier run had already done this.
    """

    status: str
    seconds: float = 0.0
    reason: str = ""
    resumed: bool = False


def run(
    notebooks: Mapping[str, Path],
    data: Data,
    scores: str | None,
    out: str | Path,
    *,
    jobs: int = 2,
    progress: bool = True,
    reads: Iterable[Path] = (),
    metric: str | None = None,
) -> dict[str, Outcome]:
    """Execute chapters on a set of scores.

    The executed notebooks go to ``out/notebooks``. A chapter is skipped if the set does not meet its needs, or it
    raises `CannotRun` or an error of mtmeta that says what the data do not define: its notebook is then the book's,
    with the reason under the title. A cell whose own needs (its metadata ``mtmeta.needs``) are not met is replaced by
    the reason. Cells with the tag ``seen``, which tell what the book's own data show, are left out as well, and so is a
    cell whose condition (``mtmeta.if``) does not hold; under the title stands what the data are. A chapter that fails
    keeps what it computed until then, with the failure under the title. A chapter that already ran with the same
    notebook, scores, parameters and version does not run again; one that failed or was killed does.

    Chapters take translations by their parameter ``campaign``. A chapter that also takes transcripts or ranked lists
    says so in its metadata, with its needs: ``"takes": {"speech": ["transcripts>=20"], "ranking": ["queries"]}``.

    Parameters
    ----------
    notebooks : mapping
        The notebook by page, as `chapters` returns.
    data : EvalSet, DataFrame or Rankings
        The set, to see what it has: translations, transcripts or ranked lists.
    scores : str, optional
        Value of the parameter that takes it: the name of the same set, or the path of a table. By default the set is
        written to ``out/scores`` as a table, and chapters read that.
    out : path
        The folder to write to.
    jobs : int
        How many chapters are executed at a time.
    progress : bool
        Whether to write the outcome of each chapter to stderr.
    reads : iterable of Path
        Files and folders that must not be replaced, in addition to the notebooks.
    metric : str, optional
        The metric to examine, in chapters that look closely at one: the value of their parameter ``metric``.

    Returns
    -------
    dict of Outcome
        By page, in the order of `notebooks`.

    Raises
    ------
    ValueError
        If a notebook states its needs in the wrong form, or the folder was not made by a run, or is or holds an input.
    """
    out, outcomes = Path(out), {}
    check_not_input(out, [*reads, *notebooks.values()])
    claim(out, ".mtmeta-run")
    parameters = {PARAMETERS[kind_of(data)]: _write_scores(data, out) if scores is None else scores}
    if metric is not None and metric not in (known := getattr(data, "metrics", ())):
        raise unknown("metric", metric, known)
    found = facts(data)
    sizes = ", ".join(f"{found[name]} {name}" for name in ("systems", "segments", "metrics", "queries") if found[name])
    about_data = f"{getattr(data, 'name', 'your table')}: {sizes}."
    if people := sorted(getattr(data, "human_systems", ())):
        about_data += f" Human translations among the systems: {', '.join(people)}."
    common = parameters, metric, kind_of(data), found, fingerprint(data), about_data
    # In processes, since papermill changes the directory and is noisy when it is stopped.
    tasks = ((page, path, (out / f"{page}.ipynb").resolve(), *common) for page, path in notebooks.items())
    calls = (delayed(_run_one)(*task) for task in tasks)
    results = Parallel(min(jobs, len(notebooks)), batch_size=1, return_as="generator_unordered")(calls)
    with closing(results) as done:
        for number, (page, outcome) in enumerate(done, 1):
            outcomes[page] = outcome
            if progress:
                took = f" in {outcome.seconds:.1f} s" if outcome.seconds else ""
                about = " (done before)" * outcome.resumed + (f": {outcome.reason}" if outcome.reason else "")
                line = f"[{number}/{len(notebooks)}] {outcome.status} {Path(page).name}{took}{about}"
                print(line, file=sys.stderr, flush=True)
    return {page: outcomes[page] for page in notebooks}


def _table(data: Data) -> pd.DataFrame:
    """Return a set as one table; what is judged and in no ranked list stays, because measures count it."""
    if isinstance(data, Rankings):
        return data.to_frame().drop(columns="relevance").merge(data.qrels, on=["query", "item"], how="outer")
    return data if isinstance(data, pd.DataFrame) else data.to_frame()


def _write_scores(data: Data, out: Path) -> str:
    """Write a set as a table, and return its whole path."""
    path = (out / "scores" / f"{file_name(getattr(data, 'name', 'transcripts'))}.parquet").resolve()
    with whole_file(path) as part:
        _table(data).to_parquet(part, index=False)
    return str(path)


def fingerprint(data: Data) -> str:
    """Return a hash of everything that chapters can see of a set; equal sets have equal hashes."""
    marks: list = [kind_of(data), getattr(data, "name", ""), _table(data).to_csv(index=False)]
    if isinstance(data, EvalSet):
        marks += [data.system_scores.to_csv(), data.language_pair, sorted(data.human_systems)]
        marks += [sorted(data.texts.references.items()) if data.texts else []]
    return digest(marks)


def _why_not(path: Path, kind: str, found: Mapping[str, int]) -> str:
    """Say why a chapter cannot run on a set with these facts on this machine; nothing if it can."""
    entry = about(path)
    needs = {"campaign": entry["needs"]} | entry["takes"]
    if PARAMETERS[kind] not in needs:
        return f"it needs translations and their scores; these are {kind}"
    if lacking := unmet(needs[PARAMETERS[kind]], found):
        return f"it needs {'; '.join(lacking)}"
    cells = nbformat.read(path, as_version=4).cells  # what only some of them require is left out alone
    alone = {name for cell in cells for name in cell.metadata.get("mtmeta", {}).get("requires", [])}
    if lacking := [name for name in missing(path) if name not in alone]:
        return f"not installed here, or not downloaded: {', '.join(lacking)}"
    return ""


def _read_outcome(notebook: Path, key: str) -> Outcome | None:
    """Return an earlier run's outcome of a chapter, if nothing has changed since and it did not fail."""
    with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):  # of an older run, or damaged
        stored = dict(nbformat.read(notebook, as_version=4).metadata["mtmeta_run"])
        if stored.pop("key") == key and stored["status"] != "failed":
            return Outcome(**stored, resumed=True)
    return None


def _prepared(path: Path, parameters: Mapping[str, str], found: Mapping[str, int], about_data: str) -> dict:
    """Return a chapter as it is executed on these data, without the cells whose needs they do not meet.

    Under the title of a chapter on other data than the book's stands what they are.

    Cells with the tag ``seen`` say what the book's data show, and are left out on other data unless they have a
    condition, such as ``True`` for text on examples that the chapter brings along. Descriptions of figures
    also tell what the book's data show; on other data they say so, and captions no longer begin with "Simulated: ".
    Before a cell with a condition comes one that tests it, for `_settled`.
    """
    notebook = nbformat.read(path, as_version=4)
    defaults = "\n".join(c.source for c in notebook.cells if "parameters" in c.metadata.get("tags", []))
    own = not all(re.search(rf"^{n} = (['\"]){re.escape(v)}\1", defaults, re.M) for n, v in parameters.items())
    cells: list = []
    for cell in notebook.cells:
        stated = cell.metadata.get("mtmeta", {})
        lacking = unmet(stated.get("needs", []), found)
        lacking += [f"{name}, which is not installed here" for name in stated.get("requires", []) if not is_there(name)]
        if lacking:
            note = NOTES["part"].format(plain=plain("; ".join(lacking)))
            if not cells or cells[-1].source != note:
                cells.append(nbformat.v4.new_markdown_cell(note))
            continue
        if own and "seen" in cell.metadata.get("tags", []) and "if" not in stated:
            continue
        if own and (image := cell.metadata.get("mystnb", {}).get("image", {})).get("alt"):
            image["alt"] = f"As it is on the book's data: {image['alt']}"
        if own and (figure := cell.metadata.get("mystnb", {}).get("figure", {})).get("caption"):
            figure["caption"] = figure["caption"].removeprefix("Simulated: ")
        if "if" in stated:
            test = f"print(bool({stated['if']}))"
            cells.append(nbformat.v4.new_code_cell(test, metadata={"mtmeta": {"tests": True}}))
        cells.append(cell)
    notebook.cells = cells
    if own:
        _note_under_title(notebook, NOTES["own"].format(plain=plain(about_data)))
    return notebook


def _note_under_title(notebook: dict, note: str) -> None:
    first = next(cell for cell in notebook.cells if cell.cell_type == "markdown")
    first.source = re.sub("(?m)^# .*", lambda found: f"{found[0]}\n\n{note}\n", first.source, count=1)


def _settled(cells: list) -> Iterator:
    """Yield executed cells without the tests of conditions, and without the cells whose condition does not hold."""
    holds = True
    for cell in cells:
        if cell.metadata.get("mtmeta", {}).get("tests"):
            holds = any(output.get("text") == "True\n" for output in cell.outputs)
        else:
            if holds:
                yield cell
            holds = True


def _run_one(
    page: str, path: Path, target: Path, parameters: dict, metric: str | None, kind: str, found: dict, seen: str,
    about_data: str,
) -> tuple[str, Outcome]:  # fmt: skip
    """Execute a chapter unless it was done before or cannot run, and store its notebook with its outcome."""
    if metric is not None and re.search(r'"metric = (None|\\")', path.read_text(encoding="utf-8")):
        parameters = parameters | {"metric": metric}
    key = digest([digest(path.read_bytes()), seen, parameters, __version__])
    if reason := _why_not(path, kind, found):
        outcome = Outcome("skipped", reason=reason)
        _write_page(path, target, outcome)
        return page, outcome
    if stored := _read_outcome(target, key):
        return page, stored
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        part = Path(folder) / target.name
        nbformat.write(_prepared(path, parameters, found, about_data), part)
        try:
            execute(part, part, parameters, cwd=path.resolve().parent)
            status, reason = "ran", ""
        except (CannotRun, Undefined) as error:
            status, reason, part = "skipped", str(error), path
        except Exception as error:  # whatever a kernel may die of must not take the other chapters along
            status, reason = "failed", (str(error).strip() or type(error).__name__).splitlines()[-1].strip()
        outcome = Outcome(status, round(time.perf_counter() - start, 1), reason)
        _write_page(part, target, outcome, key)
    return page, outcome


def _write_page(source: Path, target: Path, outcome: Outcome, key: str = "") -> None:
    """Write a notebook with its outcome, and a note under its title if it was skipped or failed."""
    notebook = remove_error_markers(nbformat.read(source, as_version=4))
    notebook.cells = list(_settled(notebook.cells))
    stored = {"status": outcome.status, "seconds": outcome.seconds, "reason": outcome.reason}
    notebook.metadata["mtmeta_run"] = {"key": key, **stored}
    if outcome.status in NOTES:
        fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", outcome.reason))])
        words = {"reason": outcome.reason, "plain": plain(outcome.reason), "fence": fence}
        _note_under_title(notebook, NOTES[outcome.status].format(**words))
    with whole_file(target) as part:
        part.write_text(nbformat.writes(notebook), encoding="utf-8")


def plain(text: str) -> str:
    """Return a text as one line of Markdown, for a paragraph or a table, with all markup escaped."""
    return markdown(" ".join(text.split()))
