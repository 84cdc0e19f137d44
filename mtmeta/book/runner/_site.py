"""Build the site around the chapters of a run."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..._yaml import read_yaml
from ._book import build, copy_sources, pages, write_execution
from ._run import Outcome, plain

_PAGE = "book/your_run"


def show(project: str | Path, outcomes: Mapping[str, Outcome], out: str | Path, *, title: str) -> Path:
    """Build one site of the book's pages, with the chapters that `run` executed in place of the book's.

    Parameters
    ----------
    project : path
        The folder that `find_project` finds.
    outcomes : mapping
        The result of `run`.
    out : path
        The folder that `run` wrote to. The site goes to ``out/site``.
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
    """
    project, out = Path(project), Path(out).resolve()
    work, site = out / ".site", out / "site"
    source = copy_sources(project, work)
    for page in outcomes:
        shutil.copy2(out / f"{page}.ipynb", source / f"{page}.ipynb")
    (source / f"{_PAGE}.md").write_text(_list_page(outcomes, title), encoding="utf-8")
    toc = read_yaml(source / "_toc.yml")
    toc["parts"].insert(0, {"caption": "Your data", "chapters": [{"file": _PAGE}]})
    (source / "_toc.yml").write_text(json.dumps(toc), encoding="utf-8")  # which is YAML
    notebooks = [page for page in pages(project) if (source / f"{page}.ipynb").exists()]
    write_execution(source, {page: _on_site(page, outcomes) for page in notebooks})
    built = build(work, strict=False)
    shutil.rmtree(site, ignore_errors=True)
    built.rename(site)
    shutil.rmtree(work, ignore_errors=True)
    return site / f"{_PAGE}.html"


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
