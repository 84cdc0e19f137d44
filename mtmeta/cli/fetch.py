"""`mtmeta fetch`: download public data sets."""

from typing import Annotated

import typer
from typer import Argument, Context, Option

import mtmeta as mm

from ._app import app, example
from ._given import Writes

Names = Annotated[list[str] | None, Argument(metavar="NAME", help="Sets to download.")]
Show = Annotated[bool, Option("--list", help="List what can be downloaded, and download nothing.")]


@app.command(cls=Writes, epilog=example("fetch --list"))
def fetch(context: Context, names: Names = None, show: Show = False) -> None:
    """Download public data sets into the cache.

    The output names their place, their licence, and what to cite. Files are checked by sha256. To continue an
    interrupted download, give the command again. The archive mt-metrics-eval has 0.9 GB; name the part of it that you
    want to unpack: mt-metrics-eval/wmt24, or mt-metrics-eval/wmt24/en-de.
    """
    if bool(names) == show:
        raise typer.BadParameter("give names of sets, or --list.", param_hint="NAME")
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
