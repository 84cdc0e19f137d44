"""Execute chapters on a reader's data, and build the site around them."""

from __future__ import annotations

import hashlib
import importlib.util
import io
import json
import multiprocessing
import os
import re
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._checks import check_count
from .._files import claimed, keep, whole_file
from .._limits import MAX_JOBS
from .._processes import in_processes
from ._book import build, copy_sources, pages, read_yaml, write_execution
from ._execute import CannotRun, about, execute, missing
from ._needs import PARAMETERS, facts, kind_of, unmet

if TYPE_CHECKING:
    import nbformat
    import pandas as pd

    from ..evalset import EvalSet, Rankings

    Data = EvalSet | pd.DataFrame | Rankings

_CHAPTER = re.compile(r"notebooks/((?!00)\d\d)_\w+")
_PAGE = "book/your_run"
_SOURCES = ("book", "notebooks", "_toc.yml", "_config.yml")
_MADE = ("notebooks", "scores", "site", ".done", ".site")
#: Written last into a site: from what it was built. A site without it is not whole, or another's.
_BUILT = ".mtmeta-site"
_held = threading.local()


@dataclass(frozen=True)
class Outcome:
    """What became of one chapter.

    Attributes
    ----------
    status : str
        "ran", "skipped" or "failed".
    seconds : float
        Wall time of its execution, start of the kernel included; 0 where it was not executed.
    reason : str
        Why it was skipped, or the last line of the failure.
    resumed : bool
        Whether an earlier run had done this already.
    """

    status: str
    seconds: float = 0.0
    reason: str = ""
    resumed: bool = False


def find_project(start: str | Path | None = None, *, book: str | Path | None = None) -> Path:
    """Find the folder with the chapters: here, above, or where the package was installed from.

    Parameters
    ----------
    start : path, optional
        Where to begin. By default the working directory.
    book : path, optional
        The folder itself, if it is known. Then nothing is searched.

    Returns
    -------
    Path
        A folder with ``_config.yml``, ``_toc.yml`` and ``notebooks/01_….ipynb``.

    Raises
    ------
    ValueError
        If there is none.
    """
    if book is not None:
        if _is_project(Path(book)):
            return Path(book).resolve()
        raise ValueError(f"{book} is no folder of the book: expected _config.yml, _toc.yml and notebooks/01_….ipynb.")
    here = Path(start or Path.cwd()).resolve()
    beside = Path(__file__).resolve().parents[2]
    for folder in (here, *here.parents, beside):
        if _is_project(folder):
            return folder
    raise ValueError(
        f"the chapters are not here: neither {here} nor a folder above it holds _config.yml, _toc.yml and notebooks/. "
        "They are part of the book's sources, not of the installed package. Get a copy of the sources (a clone, or an "
        "unpacked archive) and name it with --book FOLDER, or run the command inside it. "
        "`mtmeta report` needs no chapters: it says on one page whether a metric is any good."
    )


def _is_project(folder: Path) -> bool:
    named = all((folder / name).is_file() for name in ("_config.yml", "_toc.yml"))
    return named and any((folder / "notebooks").glob("01_*.ipynb"))


def chapters(project: str | Path, names: Sequence[str] = ("all",)) -> dict[str, Path]:
    """Return the chapters that names stand for, in the order of the book.

    Parameters
    ----------
    project : path
        The folder that `find_project` finds.
    names : sequence of str
        ``all``; or numbers (``3``, ``03``), or names of files with or without ``.ipynb``.

    Returns
    -------
    dict of Path
        The notebook by page, such as ``notebooks/03_system_dependence``. Pages on one data set are no chapters.

    Raises
    ------
    ValueError
        If there is no such chapter, or it is no notebook.
    """
    project = Path(project)
    known = {page: project / f"{page}.ipynb" for page in pages(project) if _CHAPTER.fullmatch(page)}
    chosen = set()
    for name in names:
        stem = Path(name).name.removesuffix(".ipynb")
        number = f"{int(stem):02d}_" if stem.isascii() and stem.isdigit() else None
        found = [p for p in known if stem in ("all", Path(p).name) or (number and Path(p).name.startswith(number))]
        if not found:
            raise ValueError(
                f"there is no chapter {name!r}; expected all, or a number or name of: "
                f"{', '.join(Path(p).name for p in known)}."
            )
        chosen.update(found)
    found = {page: path for page, path in known.items() if page in chosen}
    for path in found.values():
        about(path)  # raises for what is no notebook, before anything is written
    return found


@contextmanager
def claim(out: str | Path, reads: Iterable[Path] = (), *, force: bool = False) -> Iterator[None]:
    """Hold a folder for a run; `run` and `show` do so by themselves, and stay within what this thread holds already.

    Parameters
    ----------
    out : path
        The folder. It is made where it is not there.
    reads : iterable of Path
        Files and folders that must not be replaced.
    force : bool
        Whether to replace what no run has made in the folder.

    Raises
    ------
    ValueError
        If it holds what no run has made, or what is read, or another run writes to it.
    """
    out, held = Path(out), getattr(_held, "folder", None)
    for name in _MADE:
        keep(reads, out / name)
    with nullcontext() if out.resolve() == held else claimed(out, "run", _MADE, force=force):
        _held.folder = out.resolve()
        try:
            yield
        finally:
            _held.folder = held


def run(
    notebooks: Mapping[str, Path],
    data: Data,
    scores: str,
    out: str | Path,
    *,
    version: str,
    jobs: int = 2,
    progress: bool = True,
) -> dict[str, Outcome]:
    """Execute chapters on a set of scores.

    The executed notebooks go to ``out/notebooks``. A chapter whose needs the set does not meet, or that raises
    `CannotRun`, is skipped: its notebook is the book's, with the reason under the title. Cells whose own needs (their
    metadata ``mtmeta.needs``) are not met are left out of a chapter, with the reason in their place. A chapter that
    fails leaves what it computed until then, with the failure under the title. What was done before with the same
    notebook, scores, parameters and version is not done again; failures are, and what was killed.

    Chapters take translations by their parameter ``campaign``. One that also takes transcripts or ranked lists says so
    in its metadata, with what it needs of them: ``"takes": {"speech": ["transcripts>=20"], "ranking": ["queries"]}``.

    Parameters
    ----------
    notebooks : mapping
        The notebook by page, as `chapters` returns.
    data : EvalSet, DataFrame or Rankings
        The set, to see what it has: translations, transcripts or ranked lists.
    scores : str
        Value of the parameter that takes it: the name of the same set, or the path of a table.
    out : path
        The folder to write to.
    version : str
        That of the package. A result of another version is computed anew.
    jobs : int
        How many chapters are executed at a time.
    progress : bool
        Whether to write to stderr what becomes of each chapter, and which cell it is at: a bar on a terminal, else a
        line now and then.

    Returns
    -------
    dict of Outcome
        By page, in the order of `notebooks`.

    Raises
    ------
    ValueError
        If papermill is not installed; what a notebook says of its needs has another form than it should; or the folder
        holds what no run has made, is that of the notebooks, or is written to by another run.
    """
    for name in ("papermill", "ipykernel"):
        if importlib.util.find_spec(name) is None:
            raise ValueError(f"{name} is not installed; chapters are executed with it: pip install 'mtmeta[book]'.")
    check_count("jobs", jobs, 1, MAX_JOBS)
    out = Path(out)
    found, kind, seen = facts(data), kind_of(data), fingerprint(data)
    parameters = {PARAMETERS[kind]: scores}
    outcomes: dict[str, Outcome] = {}
    todo: dict[str, tuple] = {}
    with claim(out, notebooks.values()):
        for page, path in notebooks.items():
            reason = _why_not(path, kind, found)
            key = _digest(path.read_bytes(), seen, json.dumps(parameters), version)
            if reason:
                outcomes[page] = Outcome("skipped", reason=reason)
                _write_page(path, out / f"{page}.ipynb", outcomes[page])
            elif (stored := _read_outcome(out, page, key)) is not None:
                outcomes[page] = stored
            else:
                todo[page] = (path, out, page, parameters, found, key)
            if page in outcomes and progress:
                _tell(page, outcomes[page], len(outcomes), len(notebooks))
        with closing(_run_all(todo, jobs, progress)) as done:
            for page, outcome in done:
                outcomes[page] = outcome
                if progress:
                    _tell(page, outcome, len(outcomes), len(notebooks))
    return {page: outcomes[page] for page in notebooks}


def fingerprint(data: Data) -> str:
    """Return a hash of all that chapters can see of a set, so that equal sets have equal hashes."""
    kind = kind_of(data)
    if kind == "transcripts":
        return _digest(kind, data.to_csv(index=False))
    if kind == "ranked lists":
        return _digest(kind, data.name, data.runs.to_csv(index=False), data.qrels.to_csv(index=False))
    es = data
    references = sorted(es.texts.references.items()) if es.texts else []
    marks = json.dumps([es.name, es.language_pair, sorted(es.human_systems), sorted(es.reference_free), references])
    return _digest(es.to_frame().to_csv(index=False), es.system_scores.to_csv(), marks)


def _digest(*parts: str | bytes) -> str:
    digest = hashlib.sha256()
    for part in parts:
        raw = part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass")
        digest.update(f"{len(raw)}:".encode() + raw)
    return digest.hexdigest()


def _why_not(path: Path, kind: str, found: Mapping[str, int]) -> str:
    """Say why a chapter cannot run on a set with these facts on this machine; nothing if it can."""
    says = about(path)
    needs = {"campaign": says.get("needs", [])} | says.get("takes", {})
    if PARAMETERS[kind] not in needs:
        return f"it needs translations and their scores; these are {kind}"
    if lacking := unmet(needs[PARAMETERS[kind]], found):
        return f"it needs {'; '.join(lacking)}"
    if lacking := missing(path):
        return f"not installed here, or not downloaded: {', '.join(lacking)}"
    return ""


def _outcome_file(out: Path, page: str) -> Path:
    return out / ".done" / f"{Path(page).name}.json"


def _read_outcome(out: Path, page: str, key: str) -> Outcome | None:
    """Return what an earlier run made of a chapter, if nothing has changed since and it did not fail."""
    try:
        stored = json.loads(_outcome_file(out, page).read_text(encoding="utf-8"))
        written = _digest((out / f"{page}.ipynb").read_bytes())
        if (stored.pop("key"), stored.pop("notebook")) == (key, written) and stored["status"] != "failed":
            return Outcome(**{**stored, "resumed": True})
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        pass  # an interrupted or older run: it is done again
    return None


def _run_all(todo: Mapping[str, tuple], jobs: int, progress: bool) -> Iterator[tuple[str, Outcome]]:
    """Execute chapters, `jobs` at a time, in processes: papermill changes the directory, and says much when stopped."""
    if not todo:
        return
    jobs = min(jobs, len(todo))
    context = multiprocessing.get_context("spawn")
    places, lock = context.SimpleQueue(), context.RLock()  # a thread of a queue might hold a lock when tests fork
    for place in range(jobs):
        places.put(place)
    calls = {page: (*job, progress) for page, job in todo.items()}
    with closing(in_processes(_run_one, calls, jobs, _begin, (places, lock))) as done:
        for page, task in done:
            try:
                yield page, task.result()
            except BrokenProcessPool as error:
                yield page, Outcome("failed", reason=f"its process was killed: {error}")


_place = 0


def _begin(places: Any, lock: Any) -> None:
    """Begin a process: take a line of the terminal for its bars, and turns with the others in writing to it.

    The main process takes no turns: it would wait for ever for one that was killed in its turn.
    """
    from tqdm import tqdm

    global _place
    _place = places.get()
    if sys.stderr.isatty():
        tqdm.set_lock(lock)


class _Lines(io.TextIOBase):
    """A bar for where there is no terminal: each state is a line. A chapter does not fail for want of a reader."""

    def write(self, text: str) -> int:
        if state := text.strip():
            with suppress(OSError):
                print(state, file=sys.stderr, flush=True)
        return len(text)


def _bar(name: str) -> dict[str, Any]:
    """Return how the bar of a chapter looks."""
    if sys.stderr.isatty():
        return {"desc": name, "position": _place, "leave": False}
    state = "{desc}: cell {n_fmt} of {total_fmt}, {elapsed}"
    return {"desc": name, "leave": False, "file": _Lines(), "mininterval": 10, "miniters": 1, "bar_format": state}


def _prepared(path: Path, parameters: Mapping[str, str], found: Mapping[str, int]) -> nbformat.NotebookNode:
    """Return a chapter as it is executed on these data: without the cells that need what they lack.

    The descriptions of its figures say what is seen on the book's data, so on other data they must say that.
    """
    import nbformat

    notebook = nbformat.read(path, as_version=4)
    own = not _are_defaults(notebook, parameters)
    cells: list = []
    for cell in notebook.cells:
        if lacking := unmet(cell.metadata.get("mtmeta", {}).get("needs", []), found):
            text = f"This part needs {_plain('; '.join(lacking))}."
            note = f":::{{admonition}} Left out on your data\n:class: warning\n{text}\n:::"
            if not cells or cells[-1].source != note:
                cells.append(nbformat.v4.new_markdown_cell(note))
            continue
        if own and (image := cell.metadata.get("mystnb", {}).get("image", {})).get("alt"):
            image["alt"] = f"As it is on the book's data: {image['alt']}"
        cells.append(cell)
    notebook.cells = cells
    return notebook


def _are_defaults(notebook: nbformat.NotebookNode, parameters: Mapping[str, str]) -> bool:
    defaults = "\n".join(c.source for c in notebook.cells if "parameters" in c.metadata.get("tags", []))
    return all(re.search(rf"^{n} = (['\"]){re.escape(v)}\1", defaults, re.M) for n, v in parameters.items())


def _run_one(path: Path, out: Path, page: str, parameters: dict, found: dict, key: str, progress: bool) -> Outcome:
    """Execute a chapter and store its notebook, then what became of it: each whole or not at all."""
    import nbformat

    target = out / f"{page}.ipynb"
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        part = Path(folder) / target.name
        try:
            _write(part, nbformat.writes(_prepared(path, parameters, found)))
            bar = _bar(target.stem) if progress else False
            execute(part, part, parameters, cwd=path.resolve().parent, progress=bar)
            outcome = Outcome("ran")
        except CannotRun as error:
            outcome, part_of = Outcome("skipped", reason=str(error)), path
        except Exception as error:  # whatever a kernel may die of must not take the other chapters along
            lines = [line for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
            outcome, part_of = Outcome("failed", reason=lines[-1].strip()), part if part.exists() else path
        outcome = Outcome(outcome.status, round(time.perf_counter() - start, 1), outcome.reason)
        if outcome.status == "ran":
            _write(target, part.read_text(encoding="utf-8"))
        else:
            _write_page(part_of, target, outcome)
    stored = {**asdict(outcome), "key": key, "notebook": _digest(target.read_bytes())}
    _write(_outcome_file(out, page), json.dumps(stored) + "\n")
    return outcome


def _write(path: Path, text: str) -> None:
    with whole_file(path) as part:
        part.write_text(text, encoding="utf-8")


def _write_page(source: Path, target: Path, outcome: Outcome) -> None:
    """Write a notebook with a note under its title: why it was skipped, or how it failed."""
    import nbformat
    from papermill.execute import remove_error_markers

    notebook = remove_error_markers(nbformat.read(source, as_version=4))
    if outcome.status == "skipped":
        title, kind = "Skipped on your data", "warning"
        text = (
            f"This chapter cannot run on your data: {_plain(outcome.reason)}. What follows is the book's own version."
        )
    else:
        title, kind = "Failed on your data", "danger"
        text = "A cell of this chapter failed, and those after it were not executed. The last line of the failure:"
        text += f"\n\n{_code(outcome.reason)}"
    note = f":::{{admonition}} {title}\n:class: {kind}\n{text}\n:::"
    heading = re.compile("^# .*", re.MULTILINE)
    titled = [cell for cell in notebook.cells if cell.cell_type == "markdown" and heading.search(cell.source)]
    if titled:
        titled[0].source = heading.sub(lambda found: f"{found[0]}\n\n{note}\n", titled[0].source, count=1)
    else:
        notebook.cells.insert(0, nbformat.v4.new_markdown_cell(note))
    _write(target, nbformat.writes(notebook))


def _code(text: str) -> str:
    """Return a text as a block of code, whatever is in it."""
    fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", text))])
    return f"{fence}text\n{text}\n{fence}"


def _tell(page: str, outcome: Outcome, number: int, of: int) -> None:
    from tqdm import tqdm

    what = f"[{number}/{of}] {outcome.status} {Path(page).name}"
    what += f" in {outcome.seconds:.1f} s" if outcome.seconds else ""
    what += " (done before)" if outcome.resumed else ""
    tqdm.write(what + (f": {outcome.reason}" if outcome.reason else ""), file=sys.stderr, nolock=True)


def show(
    project: str | Path, outcomes: Mapping[str, Outcome], out: str | Path, *, title: str, force: bool = False
) -> Path:
    """Build one site of the book's pages with the chapters that `run` executed in their places.

    Parameters
    ----------
    project : path
        The folder that `find_project` finds.
    outcomes : mapping
        What `run` returned.
    out : path
        The folder that `run` wrote to. The site goes to ``out/site``, and is built only if something has changed.
    title : str
        What the chapters were run on, for the page that lists them.
    force : bool
        Whether to replace a folder ``out/site`` that was not made here. The book's sources are never replaced.

    Returns
    -------
    Path
        The page to open: the list of the chapters and of what became of them.

    Raises
    ------
    RuntimeError
        If jupyter-book is not installed, or fails.
    ValueError
        If the folder, or the site in it, holds what was not made here, or another run writes to it.
    """
    project, out = Path(project), Path(out).resolve()
    with claim(out, [project / name for name in _SOURCES]):
        site = out / "site"
        if not force and os.path.lexists(site) and not (site / _BUILT).is_file():
            raise ValueError(
                f"{site} was not made by a run, and is left as it is. Move it away, or name another folder; on the "
                "command line, --force replaces it."
            )
        _build_in(site, project, outcomes, title)
    return site / f"{_PAGE}.html"


def _build_in(site: Path, project: Path, outcomes: Mapping[str, Outcome], title: str) -> None:
    """Build the site beside its place; when it is whole, it takes the place in one step."""
    out = site.parent
    own = [path for name in _SOURCES for path in _files(project / name)]
    own += [out / f"{page}.ipynb" for page in outcomes]
    what = [part for path in own for part in (str(path), path.read_bytes())]
    key = _digest(title, *what, *(f"{page} {o.status} {o.reason}" for page, o in outcomes.items()))
    if all((site / name).is_file() for name in (_BUILT, f"{_PAGE}.html")) and (site / _BUILT).read_text() == key:
        return
    work = out / ".site"
    source = copy_sources(project, work)
    for page in outcomes:
        shutil.copy2(out / f"{page}.ipynb", source / f"{page}.ipynb")
    (source / f"{_PAGE}.md").write_text(_list_page(outcomes, title), encoding="utf-8")
    _add_to_toc(source / "_toc.yml")
    notebooks = [page for page in pages(project) if (source / f"{page}.ipynb").exists()]
    write_execution(source, {page: _on_site(page, outcomes) for page in notebooks})
    built = build(work, strict=False)
    _write(built / _BUILT, key)
    if os.path.lexists(site):
        site.rename(Path(tempfile.mkdtemp(dir=work)) / "old")
    built.rename(site)
    shutil.rmtree(work, ignore_errors=True)


def _files(path: Path) -> list[Path]:
    return sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]


def _on_site(page: str, outcomes: Mapping[str, Outcome]) -> dict[str, Any]:
    """Return what the site says about the outputs of a page."""
    outcome = outcomes.get(page)
    if outcome is None:
        return {"status": "stored", "seconds": 0.0, "reason": "it was not part of this run"}
    status = {"ran": "executed", "skipped": "stored", "failed": "failed"}[outcome.status]
    return {"status": status, "seconds": outcome.seconds, "reason": outcome.reason}


def _list_page(outcomes: Mapping[str, Outcome], title: str) -> str:
    rows = [
        f"| {{doc}}`/{page}` | {o.status} | {f'{o.seconds:.1f}' if o.seconds else ''} | {_plain(o.reason)} |"
        for page, o in outcomes.items()
    ]
    lines = ["# Your Run", "", f"These chapters were run on {_plain(title)}. All other pages are those of the book."]
    lines += ["", "| chapter | what became of it | seconds | why |", "|---|---|---:|---|", *rows, ""]
    return "\n".join(lines)


def _plain(text: str) -> str:
    """Return a text as one line of Markdown, in a paragraph or a table, with nothing in it that is markup."""
    return re.sub(r"([\\`*_\[\]<>|&~$#{}])", r"\\\1", " ".join(text.split()))


def _add_to_toc(path: Path) -> None:
    import yaml

    toc = read_yaml(path)
    if not (isinstance(toc, dict) and isinstance(toc.get("parts"), list)):
        raise ValueError(f"{path} has no list `parts`, to which the list of your chapters could be added.")
    toc["parts"].insert(0, {"caption": "Your data", "chapters": [{"file": _PAGE}]})
    path.write_text(yaml.safe_dump(toc, sort_keys=False), encoding="utf-8")
