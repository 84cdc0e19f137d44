"""`mtmeta validate`, `mtmeta fetch` and `mtmeta import`: what was loaded, public sets, and the files of other tools."""

from typing import Literal

from typer import BadParameter, Context

import mtmeta as mm

from ._app import command
from ._given import OnSets, Writes, columns_of, together
from ._output import say


@command("validate teaching", cls=OnSets)
def validate(context: Context, sets: list[str], metric: list[str] | None = None) -> None:
    """Check data: what was loaded, what was left out and why, what may be wrong.

    Each row is a finding: its subject, its name, how many there are, and of how many. The exit code is 2 if these
    ratings cannot rank any metric: one rated system, or one score throughout.
    """
    from .._names import names_of
    from ..evalset import as_evalset

    loaded = [as_evalset(data, unrated=True) for data in context.obj.load(sets, metrics=metric)]
    names_of((es.name for es in loaded), "names of sets")
    context.obj.write(together({es.name: mm.datasets.validate(es) for es in loaded}))


@command("fetch --list", cls=Writes)
def fetch(context: Context, names: list[str] | None = None, show: bool = False) -> None:
    """Download public data sets into the cache.

    The output names their place, their licence, and what to cite. Files are checked by sha256. To continue an
    interrupted download, give the command again. The archive mt-metrics-eval has 0.9 GB; name the part of it that you
    want to unpack: mt-metrics-eval/wmt24, or mt-metrics-eval/wmt24/en-de.
    """
    if bool(names) == show:
        raise BadParameter("give names of sets, or --list.", param_hint="NAME")
    import pandas as pd

    known, rows = mm.datasets.available(), []
    for name in dict.fromkeys(known if show else names):
        folder = None if show else mm.datasets.fetch(name, progress=not context.obj.options["quiet"])
        terms = known[name.partition("/")[0]]
        size = f"{terms.size / 1e6:.1f} MB, {len(terms.files)} files"
        facts = [("title", terms.title), ("size", size), ("licence", terms.licence), ("restriction", terms.restriction)]
        facts += [("note", terms.note), *(("cite", text) for text in terms.cite), ("folder", folder and str(folder))]
        rows += [(name, what, text) for what, text in facts if text]
    context.obj.write(pd.DataFrame(rows, columns=["set", "what", "text"]))


@command("import --list", name="import", cls=Writes)
def import_(
    context: Context,
    files: list[str] | None = None,
    layout: str = "auto",
    human: str | None = None,
    raters: Literal["mean", "standardise", "apart"] = "mean",
    weights: str = "google",
    columns: str | None = None,
    show: bool = False,
) -> None:
    """Turn what other tools wrote into a table that the other commands take.

    Human scores may come from one file and metrics from others: they are joined by system and segment. Messages list
    what was turned, left out and joined. Without --output or --format the table is printed as CSV.
    """
    if bool(files) == show:
        raise BadParameter("give files, or --list.", param_hint="FILE")
    given = context.obj
    if show:
        given.write(mm.datasets.layouts())
        return
    if given.options["output"] is None and given.options["how"] is None:
        given.form = "csv"
    names = columns_of(columns or "")
    table = mm.datasets.read(files, layout, human=human, raters=raters, columns=names, weights=weights)
    say(*table.attrs["notes"], f"{len(table)} rows; columns: {', '.join(table)}")
    given.write(table)
