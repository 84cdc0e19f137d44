"""`mtmeta validate`: what was loaded, and what may be wrong with it."""

from typer import Context

import mtmeta as mm

from . import _options as opt
from ._app import app, example
from ._given import OnSets, together


@app.command(cls=OnSets, epilog=example("validate teaching"))
def validate(context: Context, sets: opt.Sets, metric: opt.Metric = None) -> None:
    """Check data: what was loaded, what was left out and why, what may be wrong.

    Each row is a finding: its subject, its name, how many there are, and of how many. The exit code is 2 if these
    ratings cannot rank any metric: one rated system, or one score throughout.
    """
    from .._names import names_of
    from ..evalset import as_evalset

    loaded = [as_evalset(data, unrated=True) for data in context.obj.load(sets, metrics=metric)]
    names_of((es.name for es in loaded), "names of sets")
    context.obj.write(together({es.name: mm.datasets.validate(es) for es in loaded}))
