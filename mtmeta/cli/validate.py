"""`mtmeta validate`: what was loaded, and what may be wrong with it."""

from typer import Context

import mtmeta as mm

from . import _options as opt
from ._app import app, example
from ._output import emit, form_of, together, written
from ._sets import OnSets, load


@app.command(cls=OnSets, epilog=example("validate teaching"))
def validate(
    context: Context,
    sets: opt.Sets,
    metric: opt.Metric = None,
    how: opt.How = None,
    output: opt.Output = None,
    quiet: opt.Quiet = False,
) -> None:
    """Check data: what was loaded, what was left out and why, what may be wrong.

    Each row is a finding: its subject, its name, how many there are, and of how many. The exit code is 2 if these
    ratings cannot rank any metric: one rated system, or one score throughout.
    """
    from .._names import names_of
    from ..evalset import as_evalset

    form = form_of(output, how, [*sets, *context.obj["metrics_from"]])
    loaded = [as_evalset(data, unrated=True) for data in load(context.obj, sets, metrics=metric)]
    names_of((es.name for es in loaded), "names of sets")
    emit(written(together({es.name: mm.datasets.validate(es) for es in loaded}), form), output)
