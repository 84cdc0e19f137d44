"""Build the site around the chapters of a run."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..._arrays import digest
from ._book import build, copy_sources, pages, read_yaml, write_execution
from ._run import Outcome, plain, take, write_text

_PAGE = "book/your_run"
_SOURCES = ("book", "notebooks", "_toc.yml", "_config.yml")
#: Written last into a site: from what it was built. A site without it is not whole, or another's.
_BUILT = ".mtmeta-site"


def show(project: str | Path, outcomes: Mapping[str, Outcome], out: str | Path, *, title: str) -> Path:
    """Build one site of the book's pages, with the chapters that `run` executed in place of the book's.

    Parameters
    ----------
    project : path
        The folder that `find_project` finds.
    outcomes : mapping
        The result of `run`.
    out : path
        The folder that `run` wrote to. The site goes to ``out/site`` and is built only if something has changed.
    title : str
        What the chapters were run on, for the page that lists them.

    Returns
    -------
    Path
        The page to open: the list of the chapters and their outcomes.

    Raises
    ------
    RuntimeError
        If jupyter-book is not installed, or fails.
    ValueError
        If no run has made the folder, or the site would replace the book's sources.
    """
    project, out = Path(project), Path(out).resolve()
    take(out, [project / name for name in _SOURCES])
    _build_in(out / "site", project, outcomes, title)
    return out / "site" / f"{_PAGE}.html"


def _build_in(site: Path, project: Path, outcomes: Mapping[str, Outcome], title: str) -> None:
    """Build the site next to its final place, and move it there once it is complete."""
    out = site.parent
    own = [path for name in _SOURCES for path in sorted([project / name, *(project / name).rglob("*")])]
    own += [out / f"{page}.ipynb" for page in outcomes]
    what = [(str(path), digest(path.read_bytes())) for path in own if path.is_file()]
    key = digest([title, what, [(page, outcome.status, outcome.reason) for page, outcome in outcomes.items()]])
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
    write_text(built / _BUILT, key)
    shutil.rmtree(site, ignore_errors=True)
    built.rename(site)
    shutil.rmtree(work, ignore_errors=True)


def _on_site(page: str, outcomes: Mapping[str, Outcome]) -> dict[str, Any]:
    """Return what the site says about the outputs of a page."""
    outcome = outcomes.get(page, Outcome("skipped", reason="it was not part of this run"))
    status = {"ran": "executed", "skipped": "stored", "failed": "failed"}[outcome.status]
    return {"status": status, "seconds": outcome.seconds, "reason": outcome.reason}


def _list_page(outcomes: Mapping[str, Outcome], title: str) -> str:
    rows = [
        f"| {{doc}}`/{page}` | {o.status} | {f'{o.seconds:.1f}' if o.seconds else ''} | {plain(o.reason)} |"
        for page, o in outcomes.items()
    ]
    lines = ["# Your Run", "", f"These chapters were run on {plain(title)}. All other pages are those of the book."]
    lines += ["", "| chapter | what became of it | seconds | why |", "|---|---|---:|---|", *rows, ""]
    return "\n".join(lines)


def _add_to_toc(path: Path) -> None:
    import yaml

    toc = read_yaml(path)
    toc["parts"].insert(0, {"caption": "Your data", "chapters": [{"file": _PAGE}]})
    path.write_text(yaml.safe_dump(toc, sort_keys=False), encoding="utf-8")
