"""What the site says about its own making, as Sphinx directives.

`{tested-versions}` lists the versions in `constraints.txt` beside those this build ran with.
`{execution-report}` lists which chapters were executed, from the `execution.json` that the runner writes.
`{build-times}` sets what this build took beside what it may take, from the same file and the clock of the build itself.
`{public-names}` lists what `import mtmeta` offers, with the first line of each docstring.
`{data-sets}` lists what `mtmeta fetch` can download.
The two files lie at the root of the source folder. Where one is absent the page says so; this is not an error.
Under the title of each chapter a line says where its outputs come from.
"""

from __future__ import annotations

import importlib
import inspect
import json
import os
import re
import time
from importlib import metadata
from pathlib import Path

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

#: What the book may take on two cores, in seconds of wall time: one chapter, each group of pages, the site.
TARGETS = {"chapter": 60, "notebooks": 360, "notebooks/real_data": 600, "site": 60}
GROUPS = {"notebooks": "the chapters", "notebooks/real_data": "the pages on real data"}
#: Stands in the page until the build is done and knows how long it took.
UNKNOWN = '<span class="site-{}">not measured</span>'


def canonical(name: str) -> str:
    """Return a distribution name in its normal form (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def read_constraints(root: Path) -> dict[str, str]:
    """Return the pinned versions by distribution name; empty where there is no file."""
    path = root / "constraints.txt"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    pins = (line.split("#")[0].split(";")[0].strip().split("==") for line in lines)
    return {canonical(pin[0].split("[")[0]): pin[1].strip() for pin in pins if len(pin) == 2}


def direct_requirements() -> list[str]:
    """Return the distributions that mtmeta itself asks for, extras included; empty where it is not installed."""
    try:
        requirements = metadata.requires("mtmeta") or []
    except metadata.PackageNotFoundError:
        return []
    return sorted({canonical(re.match(r"[\w.-]+", r).group()) for r in requirements} - {"mtmeta"})


def installed(name: str) -> str:
    """Return the installed version, or a dash."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"


def read_execution(root: Path) -> dict:
    """Return what the runner wrote about this build; empty where it wrote nothing."""
    path = root / "execution.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def outputs_note(report: dict, docname: str) -> str:
    """Say in one sentence where the outputs of a chapter come from."""
    entry = report.get("notebooks", {}).get(docname)
    if entry is None:
        return "The outputs on this page are those stored in the notebook."
    if entry["status"] == "executed":
        return f"The outputs on this page were computed for this site, in {entry['seconds']:.0f} s."
    if entry["status"] == "failed":
        return "The outputs on this page end where a cell failed when the site was built."
    return f"The outputs on this page are those stored in the notebook: it was not re-executed ({entry['reason']})."


def executed_in(report: dict, folder: str) -> tuple[dict[str, dict], int]:
    """Return the pages of a folder that this build executed, and how many pages it has."""
    pages = {name: entry for name, entry in report["notebooks"].items() if name.rpartition("/")[0] == folder}
    return {name: entry for name, entry in pages.items() if entry["status"] == "executed"}, len(pages)


def elapsed(entries: list[dict]) -> float:
    """Return the seconds from the begin of the first page to the end of the last."""
    return max(e["started"] + e["seconds"] for e in entries) - min(e["started"] for e in entries)


def kept(seconds: float, target: float) -> str:
    """Say whether a target was kept."""
    return "yes" if seconds <= target else "**no**"


def time_rows(report: dict) -> list[str]:
    """Return the rows of the table of times: what, pages, wall and processor seconds, target, whether it was kept."""
    rows, chapters = [], executed_in(report, "notebooks")[0]
    if chapters:
        name, slowest = max(chapters.items(), key=lambda item: item[1]["seconds"])
        wall, cpu, target = slowest["seconds"], slowest.get("cpu_seconds"), TARGETS["chapter"]
        shown = "" if cpu is None else f"{cpu:.0f}"
        rows.append(
            f"| the slowest chapter, {{doc}}`/{name}` | 1 | {wall:.0f} | {shown} | {target} | {kept(wall, target)} |"
        )
    for folder, label in GROUPS.items():
        done, n = executed_in(report, folder)
        if done and all("started" in entry for entry in done.values()):
            wall, cpu = elapsed(list(done.values())), sum(entry["cpu_seconds"] for entry in done.values())
            times = f"{wall:.0f} | {cpu:.0f} | {TARGETS[folder]} | {kept(wall, TARGETS[folder])}"
            rows.append(f"| {label}, {report['jobs']} at a time | {len(done)} of {n} | {times} |")
    unknown = " | ".join(UNKNOWN.format(what) for what in ("wall", "cpu"))
    return [*rows, f"| the site | all | {unknown} | {TARGETS['site']} | {UNKNOWN.format('kept')} |"]


def since_start() -> tuple[float, float]:
    """Return the wall and the processor seconds of this process and those it started."""
    import psutil

    return time.time() - psutil.Process().create_time(), sum(os.times()[:4])


def fill_in(page: str, wall: float, cpu: float) -> str:
    """Return the HTML of a page with what the site took in the place of what was unknown."""
    verdict = kept(wall, TARGETS["site"]).strip("*")
    for what, value in {"wall": f"{wall:.0f}", "cpu": f"{cpu:.0f}", "kept": verdict}.items():
        page = page.replace(UNKNOWN.format(what), f'<span class="site-{what}">{value}</span>')
    return page


def public_names() -> list[tuple[str, str, str]]:
    """Return name, reference target and one-line description of what the package exports, modules left out."""
    package = importlib.import_module("mtmeta")
    found = [(name, getattr(package, name)) for name in sorted(package.__all__, key=str.lower)]
    return [
        (name, f"{thing.__module__}.{thing.__qualname__}", (inspect.getdoc(thing) or "").partition("\n")[0])
        for name, thing in found
        if callable(thing)
    ]


class _Markdown(SphinxDirective):
    """A directive whose content is Markdown made by `lines`."""

    def run(self) -> list[nodes.Node]:
        for name in ("constraints.txt", "execution.json"):
            self.env.note_dependency(str(Path(self.env.srcdir) / name))
        box = nodes.container()
        self.state.nested_parse(StringList(self.lines(Path(self.env.srcdir)), "generated"), self.content_offset, box)
        return box.children

    def lines(self, root: Path) -> list[str]:
        raise NotImplementedError


class TestedVersions(_Markdown):
    def lines(self, root: Path) -> list[str]:
        pins = read_constraints(root)
        if not pins:
            return ["The list of tested versions was not at hand when this page was built; it is `constraints.txt`."]
        names = [name for name in direct_requirements() if name in pins] or sorted(pins)
        rows = [f"| `{name}` | {pins[name]} | {installed(name)} |" for name in names]
        return ["| package | tested | this build |", "|---|---|---|", *rows]


class ExecutionReport(_Markdown):
    def lines(self, root: Path) -> list[str]:
        report = read_execution(root)
        if not report:
            return ["Nothing was executed for this build: every chapter shows the outputs stored in its notebook."]
        intro = f"Built on {report['date']} with Python {report['python']} on {report['platform'].split('-')[0]}"
        intro += f", {report['cores']} cores." if "cores" in report else "."
        rows = []
        for name, entry in report["notebooks"].items():
            done = entry["status"] == "executed"
            stored = "failed" if entry["status"] == "failed" else "shown from stored outputs"
            what = "executed" if done else f"{stored} ({entry['reason']})"
            seconds = f"{entry['seconds']:.1f}" if done else ""
            processor = f"{entry['cpu_seconds']:.1f}" if done and "cpu_seconds" in entry else ""
            rows.append(f"| {{doc}}`/{name}` | {what} | {seconds} | {processor} |")
        return [intro, "", "| chapter | outputs | seconds | processor seconds |", "|---|---|---:|---:|", *rows]


class BuildTimes(_Markdown):
    def lines(self, root: Path) -> list[str]:
        report = read_execution(root)
        if not report:
            return ["Nothing was executed for this build, so there are no times."]
        head = ["| what | pages | seconds | processor seconds | target | kept |", "|---|---:|---:|---:|---:|---|"]
        return [*head, *time_rows(report)]


class DataSets(_Markdown):
    def lines(self, root: Path) -> list[str]:
        sets = importlib.import_module("mtmeta.datasets").available().values()
        rows = [f"| `{s.name}` | {s.title} | {s.licence} | {s.size / 1e6:.0f}&nbsp;MB |" for s in sets]
        return ["| name to fetch | what it is | licence seen upstream | size |", "|---|---|---|---:|", *rows]


class PublicNames(_Markdown):
    def lines(self, root: Path) -> list[str]:
        rows = [f"| {{py:obj}}`{name} <{target}>` | {what} |" for name, target, what in public_names()]
        return ["| name | what it does |", "|---|---|", *rows]


def list_members(app, what, name, module, options, lines) -> None:
    """Put a list of the public names of a module behind its docstring."""
    if what == "module":
        names = [name for name in module.__all__ if callable(getattr(module, name))]
        lines += ["", ".. autosummary::", "   :nosignatures:", "", *(f"   {name}" for name in names), ""]


def add_outputs_note(app, doctree: nodes.document) -> None:
    """Put the note on where the outputs come from under the title of each chapter."""
    docname = app.env.docname
    if not docname.startswith("notebooks/"):
        return
    title = next(doctree.findall(nodes.title), None)
    if title is not None:
        note = nodes.paragraph("", outputs_note(read_execution(Path(app.srcdir)), docname), classes=["outputs-note"])
        title.parent.insert(title.parent.index(title) + 1, note)


def add_site_time(app, exception) -> None:
    """Write into the pages how long the site took, which nobody knows before it is done."""
    if exception is None and app.builder.format == "html":
        for path in Path(app.outdir).rglob("*.html"):
            page = path.read_text(encoding="utf-8")
            if UNKNOWN.format("wall") in page:
                path.write_text(fill_in(page, *since_start()), encoding="utf-8")


def prefer_the_bibliography(app, env) -> list[str]:
    """Let citations on pages without references of their own lead to the bibliography: of equals, the last is taken."""
    env.get_domain("cite").citations.sort(key=lambda citation: citation.bibliography_key.docname == "book/bibliography")
    return []


#: What screen readers stumble over, and what it becomes: the empty corner of a table, the outdated role of a
#: citation, the name of a folded cell that differs from what it shows; and an id that each exercise would have.
FIXED_MARKUP = {
    "<th></th>": "<td></td>",
    '<th class="head"><p></p></th>': '<td class="head"></td>',
    'role="doc-biblioentry"': 'role="listitem"',
    '<summary aria-label="Toggle hidden content">': "<summary>",
    **{f'<section id="{kind}-content">': "<section>" for kind in ("exercise", "solution", "proof")},
}


def fix_markup(app, pagename, templatename, context, doctree) -> None:
    """Fix the markup that myst-nb, pandas and docutils give."""
    for wrong, right in FIXED_MARKUP.items():
        context["body"] = context.get("body", "").replace(wrong, right)


def setup(app) -> dict:
    app.add_directive("tested-versions", TestedVersions)
    app.add_directive("execution-report", ExecutionReport)
    app.add_directive("build-times", BuildTimes)
    app.add_directive("public-names", PublicNames)
    app.add_directive("data-sets", DataSets)
    # jupyter-book always sets this value of sphinx_comments, which the book does without.
    app.add_config_value("comments_config", {}, "html")
    app.connect("autodoc-process-docstring", list_members)
    app.connect("doctree-read", add_outputs_note)
    app.connect("env-updated", prefer_the_bibliography, priority=900)
    app.connect("html-page-context", fix_markup)
    app.connect("build-finished", add_site_time)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
